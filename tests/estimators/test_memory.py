"""What a fit takes is expected about right, and told where it is more than there is."""

import tracemalloc
import warnings

import numpy as np
import pytest
from gem_data import plain

from eigenfeat.estimators import memory
from eigenfeat.estimators.memory import expected_bytes, warn_of_memory


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
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    with pytest.warns(UserWarning, match=r"It will take about 2.0 GB beside its rows, and 1.0 GB are free"):
        warn_of_memory(2 * 10**9, "It")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_memory(10**8, "It")
        monkeypatch.setattr(memory, "available_bytes", lambda: None)
        warn_of_memory(10**18, "It")
