"""Features from score tensors: directions against theory, labels of every kind, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from eigenfeat import DenoisingAutoencoder, GaussianMixtureScore, ScoreTensorFeatures
from eigenfeat.scores.autoencoder import TiedAutoencoder
from eigenfeat.scores.tensors import ScoreFunction

# The theory's directions are those of the columns themselves, of one order alone.
AS_IT_IS = {"columns": "none", "n_axes": "all"}
THIRD = {"order": 3, **AS_IT_IS}


class ThreeDerivatives(ScoreFunction):
    """A model of one's own that knows two derivatives of its score."""

    inner = TiedAutoencoder(np.ones((3, 2)), np.zeros(2), np.zeros(3), 1.0, 1.0, True)

    def score1(self, X):
        return self.inner.score1(X)

    def tensors_at(self, X):
        tensors = self.inner.tensors_at(X)
        tensors.max_order = 3
        return tensors


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
    models = {kind: ScoreTensorFeatures(n_components=3, order=3).fit(X, make(codes)) for kind, make in LABELS.items()}
    for kind, model in models.items():
        np.testing.assert_allclose(model.components_, models["integers"].components_, atol=1e-6, err_msg=kind)
        assert (model.classes_ is None) == (kind in ("indicators", "floats in columns"))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("noise", ["score", "identity"])
def test_every_order_finds_the_direction_of_a_ridge_function(order, noise):
    """y = g(w·x) under a Gaussian with covariance C: every cross-moment is rank one along w, whatever C and the noise.

    The fourth link is bounded: y S4 of a fourth power has moments that 60000 rows do not settle.
    """
    # What is left is sampling error of 60000 rows, which grows with the order (and falls like 1/n: 1 - cos is quadratic
    # in the angle). Over five seeds 1 - cos was at most 3e-6, 3e-4 and 2e-3 for the first three orders with the score
    # as noise; the bounds are about three times that, and that of order 3 serves order 4, whose link is bounded.
    gap, error = {1: (1e-5, 0.01), 2: (1e-3, 0.05), 3: (6e-3, 0.1), 4: (6e-3, 0.2)}[order]
    rng = np.random.default_rng(order)
    A = rng.normal(size=(4, 6))
    C = A @ A.T / 4 + 0.3 * np.eye(4)
    X = rng.multivariate_normal(rng.normal(size=4), C, size=60_000)
    w = rng.normal(size=4)
    t = (X - X.mean(0)) @ w / np.sqrt(w @ C @ w)
    y = {1: t, 2: t**2, 3: t**3 - 3 * t, 4: np.cos(1.5 * t)}[order]
    model = ScoreTensorFeatures(order=order, n_components=1, noise=noise, **AS_IT_IS).fit(X, y)
    assert 1 - abs(model.components_[0] @ w) / np.linalg.norm(w) < gap
    assert model.relative_error_ < error
    assert model.fit_[0] > 1 - error


@pytest.mark.parametrize("output", ["linear", "sigmoid"])
def test_fourth_order_of_an_auto_encoder(output):
    """The score of rows in [0, 1] that are nearly Gaussian, learnt by an auto-encoder, shows the same direction."""
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(0.5, 0.12, size=(20_000, 3)), 0, 1)
    w = np.array([0.6, 0.0, 0.8])
    y = np.cos(1.5 * (X - 0.5) @ w / 0.12)
    score = DenoisingAutoencoder(30, corruption_level=1.0, output=output, max_iter=10).fit(X)
    options = {"max_iter": 5, "n_restarts": 4, "n_init": 1}
    model = ScoreTensorFeatures(score, prefit=True, order=4, n_components=1, **options).fit(X[:1500], y[:1500])
    assert abs(model.components_[0] @ w) > 0.95


def test_components_do_not_depend_on_the_basis_of_the_input():
    """With the score as noise, features of A x are those of x."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = np.sin(2 * X[:, 0]) + np.sin(2 * X[:, 1] + X[:, 2])
    A = rng.normal(size=(4, 4)) + 2 * np.eye(4)
    options = {
        "n_components": 2,
        "ridge": 0,
        "feature_map": "identity",
        "score_model": GaussianMixtureScore(ridge=0),
    } | THIRD
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
    score = TiedAutoencoder(rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=5), 0.7, 0.3, False)
    X = rng.normal(size=(300, 5))
    own = ScoreTensorFeatures(Shifted(score), n_components=2, order=3).fit(X + 1, X[:, 0])
    plain = ScoreTensorFeatures(score, n_components=2, order=3).fit(X, X[:, 0])
    np.testing.assert_allclose(own.components_, plain.components_, atol=1e-4)


def test_the_joint_fit_does_not_depend_on_the_unit_of_the_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 12))
    y = (X @ rng.normal(size=(12, 5))) ** 3 @ np.ones(5)
    small, large = (ScoreTensorFeatures(n_components=5, n_init=1, order=3).fit(X, unit * y) for unit in (1e-8, 1e8))
    np.testing.assert_allclose(small.components_, large.components_, atol=1e-6)
    np.testing.assert_allclose(small.weights_, large.weights_, rtol=1e-6)


def test_sparse_rows_give_what_dense_rows_give():
    """The leading axes are dense whatever the rows are."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 6), density=0.5, random_state=0).tocsr()
    y = (X.toarray() @ rng.normal(size=6) > 0.5).astype(int)
    few, dense = (ScoreTensorFeatures(columns="none").fit(rows, y) for rows in (X, X.toarray()))
    np.testing.assert_allclose(few.transform(X), dense.transform(X.toarray()), atol=1e-6)


def test_neither_unit_nor_origin_nor_float_type_matters():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    unit, origin = 10 ** rng.uniform(-6, 6, size=13), rng.normal(size=13)
    plain = ScoreTensorFeatures().fit(X, y)
    moved = ScoreTensorFeatures().fit(unit * (X + origin), y)
    single = ScoreTensorFeatures().fit(X.astype(np.float32), y)
    np.testing.assert_allclose(moved.transform(unit * (X + origin)), plain.transform(X), atol=1e-8)
    np.testing.assert_allclose(single.transform(X.astype(np.float32)), plain.transform(X), atol=1e-4)
    np.testing.assert_array_equal(moved.orders_, plain.orders_)


def test_labels_that_say_nothing_leave_the_axes_alone():
    """Twenty sets of random labels: a component above the noise is a rare accident."""
    rng = np.random.default_rng(0)
    n_found = []
    for _ in range(20):
        model = ScoreTensorFeatures().fit(rng.normal(size=(300, 6)), rng.integers(3, size=300))
        assert (model.orders_ == 0).sum() == model.n_axes_ == 6
        n_found.append((model.strengths_ > 1).sum())
    assert np.mean(n_found) < 2.5  # one of three orders in two draws is above the mean of five maxima


def test_axes_that_hardly_vary_are_directions_but_no_coordinates():
    """What tells the classes apart has a ten-thousandth of the variance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1, 1, 0.01]
    y = (X[:, 2] > 0).astype(int)
    model = ScoreTensorFeatures(columns="none").fit(X, y)
    assert (model.n_axes_, model.axes_.count) == (2, 3)
    assert np.abs(model.components_[model.orders_ == 0, 2]).max() > 0.999
    np.testing.assert_allclose(model.components_[model.orders_ > 0, 2], 0, atol=1e-3)
    P = model.transform(X)
    assert np.abs(np.corrcoef(P.T, y)[-1, :-1]).max() > 0.7


def test_every_order_has_its_say():
    """A line, a square and a cube of three directions: each is above the noise in its own order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] + (X[:, 1] ** 2 - 1) + (X[:, 2] ** 3 - 3 * X[:, 2]) / 2
    model = ScoreTensorFeatures().fit(X, y)
    for order, column in ((1, 0), (2, 1), (3, 2)):
        first = np.flatnonzero(model.orders_ == order)[0]
        assert model.strengths_[first] > 3
        assert abs(model.components_[first, column]) > 0.98


def test_rows_without_labels_help_to_learn_axes_and_score():
    rng = np.random.default_rng(0)
    spread = np.linspace(3, 1, 8)
    X, U = rng.normal(size=(60, 8)) * spread, rng.normal(size=(5000, 8)) * spread
    y = (X[:, 0] > 0).astype(int)
    model = ScoreTensorFeatures(columns="none").fit(X, y, unlabelled=U)
    assert model.n_axes_ == 8
    np.testing.assert_allclose(model.axes_.scales, spread, rtol=0.05)
    alone = ScoreTensorFeatures(columns="none").fit(X, y)
    gaps = [np.abs(fit.axes_.scales - spread[: fit.axes_.count]).max() for fit in (alone, model)]
    assert gaps[0] > gaps[1]
    with pytest.raises(ValueError, match="both be sparse or both be dense"):
        ScoreTensorFeatures().fit(X, y, unlabelled=sparse.csr_array(U))


def test_stochastic_updates_may_stand_alone():
    """The paper's form: nothing after the mini-batches."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = X[:, 0] ** 3
    model = ScoreTensorFeatures(solver="als", n_components=1, batch_size=5000, n_batches=5, max_iter=0, **THIRD)
    assert abs(model.fit(X, y).components_[0, 0]) > 0.95


def test_als_and_power_agree_on_a_clear_case():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] ** 3 + X[:, 1] ** 3
    for solver in ("power", "als"):
        model = ScoreTensorFeatures(solver=solver, n_components=2, batch_size=2000, order=3).fit(X, y)
        assert model.solver_ == solver
        assert np.abs(model.components_[:, :2]).max(axis=0).min() > 0.95


def test_too_many_components_are_replaced_or_counted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    with pytest.warns(UserWarning, match="distinct components instead of the 40 asked for"):
        model = ScoreTensorFeatures(n_components=40, order=3).fit(X, X[:, 0] ** 3)
    cosines = np.abs(model.components_ @ model.components_.T) - np.eye(len(model.components_))
    assert cosines.max() < 0.9999
    with pytest.warns(UserWarning, match="2 distinct components instead of the 5"):
        ScoreTensorFeatures(order=1, n_components=5).fit(rng.normal(size=(300, 6)), rng.integers(3, size=300))


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"order": 4, "score_model": ThreeDerivatives()}, {}, "up to order 3"),
        ({"prefit": True}, {}, "needs a fitted score model"),
        ({}, {"y": np.zeros(50)}, "needs a target that varies"),
        ({}, {"y": np.zeros(50, dtype=int)}, "at least two classes"),
        ({"feature_map": "no such map"}, {}, "feature_map"),
        ({"order": 1, "solver": "als"}, {}, r"needs order=3 or above \(solvers that can: svd\)"),
        ({"score_model": DenoisingAutoencoder(n_hidden=0)}, {}, "The 'n_hidden' parameter of DenoisingAutoencoder"),
        ({"score_model": GaussianMixtureScore(2)}, {"sample_weight": np.arange(50)}, "sample_weight cannot be used"),
        ({"score_model": GaussianMixtureScore(2, covariance_type="factor")}, {}, "one Gaussian"),
        ({"score_model": DenoisingAutoencoder(output="sigmoid")}, {}, r"scale X to \[0, 1\]"),
        ({"score_model": DenoisingAutoencoder(corruption="masking", corruption_level=1.5)}, {}, "corruption_level < 1"),
    ],
)
def test_bad_input_is_refused_with_a_way_out(options, fit, message):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    given = {"y": rng.integers(2, size=50), **fit}
    with pytest.raises(ValueError, match=message):
        ScoreTensorFeatures(**options).fit(X, **given)


@pytest.mark.parametrize(("order", "solver"), [(1, "svd"), (2, "eigen"), (3, "power"), (4, "power")])
def test_every_order_has_a_solver_that_may_be_asked_for(order, solver):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.cos(X[:, 0]) + X[:, 1]
    chosen = ScoreTensorFeatures(order=order, n_components=1).fit(X, y)
    asked_for = ScoreTensorFeatures(order=order, n_components=1, solver=solver).fit(X, y)
    assert chosen.solver_ == asked_for.solver_ == solver
    np.testing.assert_array_equal(chosen.components_, asked_for.components_)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_signs_follow_the_labels_for_odd_orders_and_the_largest_entry_for_even(order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    model = ScoreTensorFeatures(order=order, n_components=2).fit(X, rng.integers(3, size=2000))
    signed = model.label_factors_ if order % 2 else model.components_
    largest = np.take_along_axis(signed, np.abs(signed).argmax(axis=1)[:, None], axis=1)
    assert (largest > 0).all()


def test_features_are_the_map_of_the_projections():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) + 5
    model = ScoreTensorFeatures(feature_map="rectified", columns="none").fit(X, (X[:, 0] - 5) ** 3)
    projections = model.scale_ * (X @ model.components_.T + model.offsets_)
    expected = np.hstack([np.maximum(projections, 0), np.maximum(-projections, 0)])
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.square(projections).sum(axis=1).mean(), model.n_axes_)
    np.testing.assert_allclose(projections.mean(axis=0), 0, atol=1e-12)
    assert len(model.get_feature_names_out()) == expected.shape[1]
