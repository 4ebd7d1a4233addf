"""Missing values: refused by name, filled in, or left out."""

import numpy as np
import pytest

from eigenfeat.rows import ArrayRows
from eigenfeat.rows.missing import column_means, without_gaps
from eigenfeat.rows.streams import Batch

ROWS = np.array([[1.0, 2.0], [np.nan, 4.0], [5.0, np.nan]], dtype=np.float32)
BATCH = Batch(ROWS, np.array(list("xyz")), np.array([1.0, 2.0, 3.0]))


def mended(missing, batch=BATCH):
    return without_gaps(batch, missing, ["a", "b"], "the file", 10)


def test_whole_rows_are_left_alone():
    whole = Batch(ROWS[:1])
    assert mended("refuse", whole) is whole


def test_refused_by_column_place_and_row():
    with pytest.raises(ValueError, match=r"column 'a' of the file has a missing value in row 12: fill it in .*drop"):
        mended("refuse")


def test_rows_left_out_take_labels_and_weights_along():
    batch = mended("drop")
    np.testing.assert_array_equal(batch.X, ROWS[:1])
    assert batch.y.tolist() == ["x"] and batch.weight.tolist() == [1.0]


@pytest.mark.parametrize(("missing", "expected"), [(0.5, [0.5, 0.5]), ({"a": -1, "b": 7.0}, [-1, 7])])
def test_filled_in(missing, expected):
    rows = mended(missing).X
    assert rows.dtype == np.float32 and [rows[1, 0], rows[2, 1]] == expected
    assert np.isnan(ROWS[1, 0])  # the reader's own array is untouched


def test_columns_a_mapping_does_not_name_are_refused():
    with pytest.raises(ValueError, match="column 'b' of the file has a missing value in row 13"):
        mended({"a": 0.0})


def test_means_of_what_is_there():
    np.testing.assert_allclose(column_means(ArrayRows(ROWS)), [3.0, 3.0])
    with pytest.raises(ValueError, match="column 0 is missing in every row"):
        column_means(ArrayRows(np.array([[np.nan, 1.0]])))
