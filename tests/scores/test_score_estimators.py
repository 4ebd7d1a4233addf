"""The three estimators: what they learn against theory, labels of every kind, bad input."""

import numpy as np
import pytest
from scipy import sparse
from score_models_for_tests import autoencoder, spd
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture

from eigenfeat import DenoisingAutoencoder, GaussianMixtureScore, ScoreTensorFeatures
from eigenfeat.scores.tensors import ScoreFunction


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_mixture_density_is_scikit_learns(covariance_type):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)), rng.normal(3.0, 0.5, size=(150, 3))])
    ours = GaussianMixtureScore(2, covariance_type=covariance_type, ridge=1e-3).fit(X)
    theirs = GaussianMixture(2, covariance_type=covariance_type, reg_covar=1e-3 * X.var(0).mean(), random_state=0).fit(
        X
    )
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)


def test_factor_gaussian_has_the_precision_of_factor_analysis():
    from sklearn.decomposition import FactorAnalysis

    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 8)) + rng.normal(size=(500, 8))
    model = GaussianMixtureScore(covariance_type="factor", n_factors=3, ridge=0).fit(X)
    reference = FactorAnalysis(3, random_state=0, max_iter=200).fit(X)
    expected = (X - reference.mean_) @ reference.get_precision()
    np.testing.assert_allclose(model.score1(X), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.score_samples(X), reference.score_samples(X), rtol=1e-4)


def test_autoencoder_of_a_gaussian_learns_the_gaussian_denoiser():
    """The score of rows N(0, Σ) seen through noise σ² is (Σ + σ²I)⁻¹ x, whatever the unit of the data."""
    rng = np.random.default_rng(0)
    C = spd(rng, 4)
    for unit in (1.0, 100.0):
        X = unit * rng.multivariate_normal(np.zeros(4), C, size=8000)
        model = DenoisingAutoencoder(100, noise_level=0.7).fit(X)
        assert model.noise_variance_ == pytest.approx(0.49 * X.var(0).mean(), rel=1e-5)
        exact = np.linalg.solve(unit**2 * C + model.noise_variance_ * np.eye(4), X.T).T
        assert np.linalg.norm(model.score1(X) - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.parametrize("noise", ["gaussian", "masking"])
@pytest.mark.parametrize("output", ["linear", "sigmoid"])
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_autoencoder_denoises_better_than_the_mean_and_the_input(noise, output, solver):
    X = load_digits().data.astype(np.float32) / 16
    options = {"learning_rate": 0.02} if solver == "sgd" and output == "linear" else {}
    level = 1.0 if noise == "gaussian" else 0.3
    model = DenoisingAutoencoder(
        60, noise=noise, noise_level=level, output=output, solver=solver, max_iter=15, **options
    )
    model.fit(X[:1200])
    rng = np.random.default_rng(0)
    clean = X[1200:]
    if noise == "gaussian":
        noisy = clean + np.sqrt(model.noise_variance_).astype(np.float32) * rng.standard_normal(clean.shape, np.float32)
    else:
        noisy = clean * (rng.random(clean.shape) > level)
        assert model.noise_variance_ == pytest.approx(level * np.mean(X[:1200] ** 2), rel=1e-4)
    error = np.mean((model.reconstruct(noisy) - clean) ** 2)
    assert error < min(np.mean((noisy - clean) ** 2), np.mean((X[:1200].mean(0) - clean) ** 2))


def test_partial_fit_goes_on_where_it_was():
    X = load_digits().data / 16
    model = DenoisingAutoencoder(30)
    errors = []
    for _ in range(10):
        for block in np.array_split(X, 3):
            model.partial_fit(block)
        errors.append(np.mean((model.reconstruct(X) - X) ** 2))
    assert model.n_iter_ == 30
    assert errors[-1] < 0.7 * errors[0]


def test_early_stopping_keeps_the_best_epoch_and_reports_progress(capsys):
    X = np.random.default_rng(0).normal(size=(200, 5))
    model = DenoisingAutoencoder(20, max_iter=200, n_iter_no_change=3, verbose=True).fit(X)
    assert model.n_iter_ == len(model.loss_curve_) < 200
    assert capsys.readouterr().out.count("validation loss") == model.n_iter_
    assert np.argmin(model.loss_curve_) < model.n_iter_ - 1


LABELS = {
    "integers": lambda c: c,
    "strings": lambda c: np.array(["ant", "bee", "cow"])[c],
    "indicators": lambda c: np.eye(3, dtype=int)[c],
    "floats in columns": lambda c: np.eye(3)[c],
}


def test_the_kind_of_label_does_not_matter():
    """One-hot rows say what class labels say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    codes = np.digitize(X @ [1.0, 1.0, 0.0, 0.0], [-1.0, 1.0])
    models = {kind: ScoreTensorFeatures(n_components=3).fit(X, make(codes)) for kind, make in LABELS.items()}
    for kind, model in models.items():
        np.testing.assert_allclose(model.components_, models["integers"].components_, atol=1e-6, err_msg=kind)
        assert (model.classes_ is None) == (kind in ("indicators", "floats in columns"))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", ["score", "identity"])
def test_every_order_finds_the_direction_of_a_ridge_function(order, noise):
    """y = g(w·x) under a Gaussian with covariance C: every tensor is rank one along w, whatever C and the noise.

    The fourth link is bounded: y S4 of a fourth power has moments that 60000 rows do not settle.
    """
    rng = np.random.default_rng(order)
    C = spd(rng, 4)
    X = rng.multivariate_normal(rng.normal(size=4), C, size=60_000)
    w = rng.normal(size=4)
    t = (X - X.mean(0)) @ w / np.sqrt(w @ C @ w)
    y = {1: t, 2: t**2, 3: t**3 - 3 * t, 4: np.cos(1.5 * t)}[order]
    model = ScoreTensorFeatures(order=order, n_components=1, noise=noise).fit(X, y)
    assert abs(model.components_[0] @ w) / np.linalg.norm(w) > 0.98
    assert model.relative_error_ < 0.5 and model.fit_[0] > 0.7


def test_components_do_not_depend_on_the_basis_of_the_input():
    """With the score as noise, features of A x are those of x."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 1] + X[:, 2])
    A = rng.normal(size=(4, 4)) + 2 * np.eye(4)
    options = {"n_components": 2, "ridge": 0, "feature_map": "identity", "score_model": GaussianMixtureScore(ridge=0)}
    plain = ScoreTensorFeatures(**options).fit(X, y)
    moved = ScoreTensorFeatures(**options).fit(X @ A, y)
    P, Q = plain.transform(X), moved.transform(X @ A)
    P, Q = (Z - Z.mean(0) for Z in (P, Q))
    cosines = np.abs(P.T @ Q) / np.outer(np.linalg.norm(P, axis=0), np.linalg.norm(Q, axis=0))
    np.testing.assert_allclose(np.sort(cosines.max(axis=1)), 1.0, atol=1e-4)
    np.testing.assert_allclose(plain.weights_, moved.weights_, rtol=1e-3)


def test_prefit_scores_are_used_as_they_are():
    rng = np.random.default_rng(0)
    unlabelled, X = rng.normal(size=(5000, 3)), rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    score = GaussianMixtureScore().fit(unlabelled)
    model = ScoreTensorFeatures(score, prefit=True).fit(X, y)
    assert model.score_function_ is score.score_function_
    assert ScoreTensorFeatures(score).fit(X, y).score_function_ is not score.score_function_
    with pytest.raises(NotFittedError):
        ScoreTensorFeatures(GaussianMixtureScore(), prefit=True).fit(X, y)
    with pytest.raises(ValueError, match="fitted on 3 features, X has 2"):
        ScoreTensorFeatures(score, prefit=True).fit(X[:, :2], y)


def test_a_users_own_score_function_is_welcome():
    class Shifted(ScoreFunction):
        def __init__(self, inner):
            self.inner = inner

        def score1(self, X):
            return self.inner.score1(X - 1)

        def tensors_at(self, X):
            return self.inner.tensors_at(X - 1)

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    own = ScoreTensorFeatures(Shifted(autoencoder(False)), n_components=2).fit(X + 1, X[:, 0])
    plain = ScoreTensorFeatures(autoencoder(False), n_components=2).fit(X, X[:, 0])
    np.testing.assert_allclose(own.components_, plain.components_, atol=1e-4)


def test_the_joint_fit_does_not_depend_on_the_unit_of_the_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 12))
    y = (X @ rng.normal(size=(12, 5))) ** 3 @ np.ones(5)
    small, large = (ScoreTensorFeatures(n_components=5, n_init=1).fit(X, unit * y) for unit in (1e-8, 1e8))
    np.testing.assert_allclose(small.components_, large.components_, atol=1e-6)
    np.testing.assert_allclose(small.weights_ * 1e16, large.weights_, rtol=1e-6)


def test_sparse_rows_are_refused():
    """Scores of sparse rows are dense: S1 is zero nowhere."""
    X = sparse.random_array((50, 3), density=0.5, rng=0)
    with pytest.raises(TypeError, match="dense"):
        ScoreTensorFeatures().fit(X, np.arange(50) % 2)


def test_als_and_power_agree_on_a_clear_case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] ** 3 + X[:, 1] ** 3
    for solver in ("power", "als"):
        model = ScoreTensorFeatures(solver=solver, n_components=2, batch_size=2000).fit(X, y)
        assert model.solver_ == solver
        assert np.abs(model.components_[:, :2]).max(axis=0).min() > 0.95


def test_too_many_components_are_replaced_or_counted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    with pytest.warns(UserWarning, match="distinct components instead of the 40 asked for"):
        model = ScoreTensorFeatures(n_components=40).fit(X, X[:, 0] ** 3)
    cosines = np.abs(model.components_ @ model.components_.T) - np.eye(len(model.components_))
    assert cosines.max() < 0.9999
    with pytest.warns(UserWarning, match="2 distinct components instead of the 5"):
        ScoreTensorFeatures(order=1, n_components=5).fit(rng.normal(size=(300, 6)), rng.integers(3, size=300))


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"order": 4, "score_model": DenoisingAutoencoder(3, max_iter=1)}, {}, "up to order 3"),
        ({"prefit": True}, {}, "needs a fitted score model"),
        ({}, {"y": np.zeros(50)}, "needs a target that varies"),
        ({}, {"y": np.zeros(50, dtype=int)}, "at least two classes"),
        ({"feature_map": "no such map"}, {}, "feature_map"),
        ({"score_model": GaussianMixtureScore(2)}, {"sample_weight": np.arange(50)}, "sample_weight cannot be used"),
        ({"score_model": GaussianMixtureScore(2, covariance_type="factor")}, {}, "one Gaussian"),
        ({"score_model": DenoisingAutoencoder(output="sigmoid")}, {}, r"scale X to \[0, 1\]"),
        ({"score_model": DenoisingAutoencoder(noise="masking", noise_level=1.5)}, {}, "noise_level < 1"),
    ],
)
def test_bad_input_is_refused_with_a_way_out(options, fit, message):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    given = {"y": rng.integers(2, size=50), **fit}
    with pytest.raises(ValueError, match=message):
        ScoreTensorFeatures(**options).fit(X, **given)
