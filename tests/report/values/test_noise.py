"""The model's own eigenvalues stand against those of shuffled labels."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import FisherLDA, GEMClassifier, GEMClassifierCV, GEMFeatures, KernelFisherClassifier, OrientedPCA
from eigenfeat.report.values.noise import _spectrum_of, against_noise
from eigenfeat.report.values.subject import Rows, Subject

X, y = load_wine(return_X_y=True)
GRID = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1.0,)}


@pytest.mark.parametrize(
    "model",
    [
        GEMFeatures(3, ridge=0.2),
        GEMClassifier(2, label_smoothing=0.0, alpha=0.1, feature_map="spline"),
        GEMClassifier([2, 3], n_layers=2, base_map="splines", ridge=0.3, label_smoothing=0.0, alpha=0.1),
        GEMClassifierCV(**GRID),
        FisherLDA(shrinkage="auto"),
    ],
    ids=["features", "classifier", "deep", "search", "fisher"],
)
def test_the_problem_that_is_shuffled_is_that_of_the_model(model):
    model.fit(X, y)
    rows, spectrum = _spectrum_of(model, Rows.of(X, y))
    np.testing.assert_allclose(np.sort(spectrum(rows.X, rows.y)), np.sort(model.eigenvalues_), rtol=1e-5)


def test_signal_stands_out_and_noise_does_not():
    scaled = make_pipeline(StandardScaler(), FisherLDA()).fit(X, y)
    found = against_noise(Subject.of(scaled, None, Rows.of(X, y)))
    assert found.found.n_distinguishable == 2 and found.n_shuffles == 99 and not found.fewer_rows
    np.testing.assert_allclose(found.found.values, scaled[-1].eigenvalues_)
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 5)), rng.integers(3, size=100)
    found = against_noise(Subject.of(FisherLDA().fit(*noise), None, Rows.of(*noise)))
    assert found.found.n_distinguishable == 0


def test_rows_that_are_not_those_of_the_fit_do_as_well():
    found = against_noise(Subject.of(FisherLDA().fit(X[::2], y[::2]), Rows.of(X[1::2], y[1::2])))
    assert found.fewer_rows and found.found.n_distinguishable == 2


@pytest.mark.parametrize(
    ("model", "rows", "words"),
    [
        (KernelFisherClassifier(), Rows.of(X, y), "no eigenvalues"),
        (OrientedPCA(2), Rows.of(X, y), "does not look at labels"),
        (FisherLDA(), None, "no labelled rows"),
    ],
)
def test_reasons_in_the_place_of_a_test(model, rows, words):
    assert words in against_noise(Subject.of(model.fit(X / X.std(axis=0), y), rows))


def test_a_test_that_would_take_too_long_is_not_run():
    assert "longer" in against_noise(Subject.of(FisherLDA().fit(X, y), Rows.of(X, y)), seconds=0.0)
