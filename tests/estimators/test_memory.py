"""What a fit takes is expected about right, and told where it is more than there is."""

import tracemalloc
import warnings

import numpy as np
import pytest
from gem_data import plain

from eigenfeat import GEMClassifier, GEMClassifierCV
from eigenfeat.estimators import memory
from eigenfeat.estimators.memory import expected_bytes, expected_of_settings, warn_of_memory
from eigenfeat.features.pairs import STRATEGIES
from eigenfeat.stages import Chain

#: Nothing to be searched for.
ALL_SET = {"columns": None, "ridge": 0.1, "label_smoothing": 0, "alpha": 1e-3}


@pytest.mark.parametrize("n_rows, n_components", [(600, 12), (5000, 12)], ids=["wide", "long"])
def test_the_expectation_is_within_a_factor_of_two(n_rows, n_components, monkeypatch):
    monkeypatch.setattr(memory, "BLOCKS", 0)  # what does not grow
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 6
    X = rng.normal(size=(n_rows, 15)) + rng.normal(size=(6, 15))[y]
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = plain(n_components, label_smoothing=0, alpha=1e-3, max_iter=2, n_jobs=1).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n_features = model.fitted_.features.n_columns(15)
    expected = expected_bytes(n_rows, 15, 6, len(model.eigenvalues_), n_features)
    assert peak - 50e6 < 2 * expected
    assert expected < 2 * peak


def test_more_of_anything_takes_more():
    plain = (1000, 10, 3, 100, 600)
    for i in range(5):
        more = [value * (2 if i == j else 1) for j, value in enumerate(plain)]
        assert expected_bytes(*more) > expected_bytes(*plain)
    assert expected_bytes(*plain, itemsize=4) < expected_bytes(*plain)


def test_a_warning_where_it_is_too_much(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10**9)
    with pytest.warns(UserWarning, match=r"It will take about 2.0 GB beside its rows, and 1.0 GB are free"):
        warn_of_memory(2 * 10**9, "It")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_memory(10**8, "It")
        monkeypatch.setattr(memory, "available_memory", lambda: None)
        warn_of_memory(10**18, "It")


@pytest.mark.parametrize("strategy", [*STRATEGIES, [(0, 1), (2, 3)]], ids=str)
@pytest.mark.parametrize(
    "settings", [{}, {"n_components": 4}, {"subclasses": 2}, {"n_layers": 2, "n_components": 3}], ids=str
)
def test_settings_tell_the_most_that_a_fit_may_find(strategy, settings, monkeypatch):
    """Known before the fit, and never less than what it has found."""
    monkeypatch.setattr(memory, "BLOCKS", 0)
    rng = np.random.default_rng(0)
    y = np.arange(400) % 5
    X = rng.normal(size=(400, 6)) + rng.normal(size=(5, 6))[y]
    asked = {"n_components": None, "class_pairs": strategy, "alpha": 1e-2, "max_iter": 1, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = plain(**asked).fit(X, y)
    planned = model._settings(model.n_layers)
    layer = model.stacks_[0].layers[-1]
    inputs = model.stacks_[0].chain.stages[:-1] if model.n_layers > 1 else ()
    width = Chain(inputs).n_columns(6)
    most = planned.layers[-1].most_directions(5, 400, width, model.subclasses or 1)
    assert layer.directions.n_directions <= most
    found = expected_bytes(400, width, 5, layer.directions.n_directions, model.fitted_.features.n_columns(6))
    assert expected_of_settings(planned, 400, 6, 5, 8) >= found


@pytest.mark.parametrize("model", [GEMClassifier(feature_map="cubic"), GEMClassifierCV(ridges=(0.1,))], ids=repr)
def test_it_is_told_before_the_moments_are_collected(model, monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1000)
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.arange(60) % 2

    def start(*arguments, **options):
        raise RuntimeError("moments")

    for module in ("gem_classifier", "gem_classifier_cv"):
        monkeypatch.setattr(f"eigenfeat.estimators.{module}.layer_moments", start)
    with (
        pytest.warns(UserWarning, match=f"{type(model).__name__} will take about"),
        pytest.raises(RuntimeError, match="moments"),
    ):
        model.set_params(base_map=None, **({} if "CV" in repr(model) else ALL_SET)).fit(X, y)
