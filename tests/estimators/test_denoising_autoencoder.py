"""The auto-encoder: what it learns against theory, training in parts, names that have changed."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from eigenfeat import DenoisingAutoencoder


def test_autoencoder_of_a_gaussian_learns_the_gaussian_denoiser():
    """The score of rows N(0, Σ) corrupted with variance σ² is (Σ + σ²I)⁻¹ x, whatever the unit of the data."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 6))
    C = A @ A.T / 4 + 0.3 * np.eye(4)
    for unit in (1.0, 100.0):
        X = unit * rng.multivariate_normal(np.zeros(4), C, size=8000)
        model = DenoisingAutoencoder(100, corruption_level=0.7).fit(X)
        assert model.corruption_variance_ == pytest.approx(0.49 * X.var(0).mean(), rel=1e-5)
        exact = np.linalg.solve(unit**2 * C + model.corruption_variance_ * np.eye(4), X.T).T
        assert np.linalg.norm(model.score1(X) - exact) < 0.1 * np.linalg.norm(exact)


@pytest.mark.parametrize("corruption", ["gaussian", "masking"])
@pytest.mark.parametrize("output", ["linear", "sigmoid"])
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_autoencoder_denoises_better_than_the_mean_and_the_input(corruption, output, solver):
    X = load_digits().data.astype(np.float32) / 16
    options = {"learning_rate": 0.02} if solver == "sgd" and output == "linear" else {}
    level = 1.0 if corruption == "gaussian" else 0.3
    model = DenoisingAutoencoder(
        60, corruption=corruption, corruption_level=level, output=output, solver=solver, max_iter=15, **options
    )
    model.fit(X[:1200])
    rng = np.random.default_rng(0)
    clean = X[1200:]
    if corruption == "gaussian":
        spread = np.sqrt(model.corruption_variance_).astype(np.float32)
        corrupted = clean + spread * rng.standard_normal(clean.shape, np.float32)
    else:
        corrupted = clean * (rng.random(clean.shape) > level)
        assert model.corruption_variance_ == pytest.approx(level * np.mean(X[:1200] ** 2), rel=1e-4)
    error = np.mean((model.reconstruct(corrupted) - clean) ** 2)
    assert error < min(np.mean((corrupted - clean) ** 2), np.mean((X[:1200].mean(0) - clean) ** 2))


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


def test_the_hidden_layer_is_what_transform_returns():
    X = np.random.default_rng(0).normal(size=(50, 4))
    model = DenoisingAutoencoder(7, max_iter=2).fit(X)
    np.testing.assert_allclose(model.transform(X), model.score_function_.encode(X), rtol=1e-12)
    assert list(model.get_feature_names_out()) == [f"denoisingautoencoder{h}" for h in range(7)]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"output": "sigmoid"}, r"scale X to \[0, 1\]"),
        ({"corruption": "masking", "corruption_level": 1.5}, "corruption_level < 1"),
    ],
)
def test_what_cannot_be_trained_is_refused_with_a_way_out(parameters, message):
    with pytest.raises(ValueError, match=message):
        DenoisingAutoencoder(**parameters).fit(np.random.default_rng(0).normal(size=(50, 3)))


def two_windings(n):
    angle = np.concatenate([np.linspace(5, 8, n // 2), np.linspace(9, 12, n // 2)])
    return angle[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def test_width_and_corruption_come_from_the_rows():
    """A curved density asks for less corruption than a Gaussian; the unit does not matter."""
    X = np.random.default_rng(0).normal(size=(600, 2))
    plain, curved = (DenoisingAutoencoder(max_iter=1).fit(rows) for rows in (X, two_windings(600)))
    assert curved.corruption_level_ < plain.corruption_level_
    assert plain.score_function_.weights.shape == (2, plain.n_hidden_)
    tried = {(trial["n_hidden"], trial["corruption_level"]) for trial in plain.trials_}
    assert (plain.n_hidden_, plain.corruption_level_) in tried and len(tried) == len(plain.trials_) == 7
    large = DenoisingAutoencoder(max_iter=1).fit(1024 * X)
    assert large.corruption_level_ == plain.corruption_level_  # other rows are left out: their keys are other ones


def test_what_is_given_is_kept():
    X = np.random.default_rng(0).normal(size=(60, 2))
    given = DenoisingAutoencoder(7, corruption_level=0.3, max_iter=1).fit(X)
    assert (given.n_hidden_, given.corruption_level_, given.trials_) == (7, 0.3, [])
    half = DenoisingAutoencoder(7, max_iter=1).fit(X)
    assert half.n_hidden_ == 7 and {trial["n_hidden"] for trial in half.trials_} == {7}
    few = DenoisingAutoencoder(max_iter=1).fit(X[:30])
    assert (few.n_hidden_, few.corruption_level_, few.trials_) == (100, 0.2, [])
