"""Numbers that cannot be squared and summed are refused by column, with what to do."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from eigenfeat import FisherLDA, KernelFisherClassifier, SPoC
from eigenfeat.estimators.magnitudes import (
    BOUNDS,
    check_magnitudes,
    check_target_magnitudes,
    check_weight_magnitudes,
)

rng = np.random.default_rng(0)
X, y = rng.normal(size=(30, 3)), np.arange(30) % 2


def scaled(factor, dtype=np.float64, column=1):
    rows = X.astype(dtype)
    rows[:, column] *= dtype(factor)
    return rows


@pytest.mark.parametrize("dtype, bounds", BOUNDS.items(), ids=str)
def test_what_is_allowed_can_be_squared_and_summed(dtype, bounds):
    for bound in bounds:
        square = dtype.type(bound) ** 2
        assert np.finfo(dtype).tiny < square and np.isfinite(1000 * square)
    assert BOUNDS[np.dtype(np.float64)][0] ** 4 > 1e-300 and np.isfinite(1000 * BOUNDS[np.dtype(np.float64)][1] ** 4)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize(
    "factor, dtype, message",
    [
        (1e150, np.float64, "Column 1 of X reaches .*e.150, beyond the 1e.70"),
        (1e-150, np.float64, "Column 1 of X has no entry above .*e-150"),
        (1e-320, np.float64, "multiply it by a constant"),
        (1e20, np.float32, "float32 rows can be squared.*or give float64 rows"),
        (1e-30, np.float32, "float32 rows can be squared"),
    ],
)
def test_columns_too_large_and_too_small_are_refused(make, factor, dtype, message):
    with pytest.raises(ValueError, match=message):
        check_magnitudes(make(scaled(factor, dtype)))


def test_columns_go_by_their_names():
    with pytest.raises(ValueError, match="Column 'b' of X"):
        check_magnitudes(scaled(1e200), ["a", "b", "c"])


def test_zeros_and_small_new_rows_are_numbers():
    check_magnitudes(np.zeros((3, 2)))
    check_magnitudes(np.array([[1.0, 0.0], [1e-320, 0.0]]))
    check_magnitudes(scaled(1e-300), new=True)
    check_magnitudes(scaled(1.0).astype(int))
    check_magnitudes(np.empty((0, 3)))


@pytest.mark.filterwarnings("ignore:Column 1")
def test_rows_that_will_become_float32_are_held_to_that():
    check_magnitudes(scaled(1e30))
    with pytest.raises(ValueError, match="float32"):
        check_magnitudes(scaled(1e30), dtype=np.float32)


def test_a_column_that_drowns_another_is_told():
    with pytest.warns(UserWarning, match=r"Column 'b' of X is .*e.09 times as large as column .*Scale the columns"):
        check_magnitudes(scaled(1e9), ["a", "b", "c"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_magnitudes(scaled(1e6))
        check_magnitudes(scaled(0.0))
        check_magnitudes(scaled(1e9), new=True)


def test_targets():
    check_target_magnitudes(np.array([0.0, 1e50]))
    check_target_magnitudes(np.array(["a"]))
    for size in (1e200, 1e-200):
        with pytest.raises(ValueError, match="scale them"):
            check_target_magnitudes(np.array([0.0, size]))


def test_weights():
    check_weight_magnitudes(np.array([0.0, 1.0]), "They")
    for weights in ([1e307, 1], [1e-300, 1], [5e-324, 5e-324]):
        with pytest.raises(ValueError, match=r"They range from .* Divide them by their mean"):
            check_weight_magnitudes(np.array(weights), "They")
    with pytest.raises(ValueError, match="in float32"):
        check_weight_magnitudes(np.array([1e30]), "They", np.dtype(np.float32))


def test_estimators_ask():
    with pytest.raises(ValueError, match="squared and summed"):
        FisherLDA().fit(scaled(1e160), y)
    with pytest.raises(ValueError, match="range from"):
        KernelFisherClassifier().fit(X, y, sample_weight=np.full(30, 1e307))
    with pytest.raises(ValueError, match="range from"):
        KernelFisherClassifier().fit(X.astype(np.float32), y, sample_weight=np.full(30, 1e39))
    with pytest.raises(ValueError, match="reaches"):
        FisherLDA().fit(X, y).transform(scaled(1e300))
    trials = rng.normal(size=(20, 3, 30)) * 1e200
    with pytest.raises(ValueError, match="squared and summed"):
        SPoC().fit(trials, np.arange(20.0))
