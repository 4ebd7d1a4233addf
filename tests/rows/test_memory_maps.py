"""Memory maps and .npy files: columns by index, any order, a block at a time."""

import numpy as np
import pytest
from row_tables import CODES, WEIGHTS, X, assert_same, chunkings

import eigenfeat.rows
from eigenfeat.rows import RandomAccessRows

ALL = np.column_stack([X, CODES, WEIGHTS])


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "t.npy", ALL)
    return tmp_path / "t.npy"


@chunkings
def test_the_rows_that_were_written(path, batch_size):
    source = eigenfeat.rows.open(path, label=4, weight=5)
    assert isinstance(source.array, np.memmap)
    assert source.n_rows == len(X) and isinstance(source, RandomAccessRows)
    assert_same(source, labels=CODES, weights=WEIGHTS, batch_size=batch_size)


def test_any_order(path):
    source = eigenfeat.rows.open(path, label=4, weight=5, columns=[2, 0])
    chosen = np.array([7, 3, 7, 200])
    np.testing.assert_array_equal(source.rows(chosen), X[chosen][:, [2, 0]])
    np.testing.assert_array_equal(source.rows(slice(3, 9)), X[3:9][:, [2, 0]])
    np.testing.assert_array_equal(source.y, CODES)
    np.testing.assert_array_equal(source.weight, WEIGHTS)


@pytest.mark.parametrize(("stored", "asked", "read"), [("f4", None, "f4"), ("f4", "f8", "f8"), ("i2", None, "f8")])
def test_types(tmp_path, stored, asked, read):
    np.save(tmp_path / "t.npy", X.astype(stored))
    source = eigenfeat.rows.open(tmp_path / "t.npy", dtype=asked)
    assert source.dtype == np.dtype(read)
    assert_same(source, X.astype(stored))


def test_a_memory_map_is_opened_as_it_is(path):
    assert_same(eigenfeat.rows.open(np.load(path, mmap_mode="r")), ALL)


def test_missing_values(tmp_path):
    holes = X.copy()
    holes[120, 2] = np.nan
    np.save(tmp_path / "t.npy", holes)
    with pytest.raises(ValueError, match=r"column 2 of .*t\.npy has a missing value in row 121"):
        list(eigenfeat.rows.open(tmp_path / "t.npy").blocks(50))
    filled = holes.copy()
    filled[120, 2] = np.nanmean(holes[:, 2])
    (block,) = eigenfeat.rows.open(tmp_path / "t.npy", missing="mean").blocks()
    np.testing.assert_allclose(block.X, filled, rtol=1e-14)


@pytest.mark.parametrize(
    ("array", "options", "words"),
    [
        (X[:, 0], {}, r"rows and columns of numbers; it is an array of float64 of shape \(211,\)"),
        (np.array([["a"]]), {}, "array of <U1"),
        (X[:0], {}, "has no rows"),
        (X, {"label": 9}, "has no column 9 for the label"),
        (X, {"missing": "drop"}, "need a file of named columns: write Parquet"),
        (X, {"filter": [("a", ">", 1)]}, "need a file of named columns"),
    ],
)
def test_what_is_refused(tmp_path, array, options, words):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(ValueError, match=words):
        eigenfeat.rows.open(tmp_path / "t.npy", **options)


@pytest.mark.parametrize("kept", [0, 50, 500])
def test_a_truncated_file(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"t\.npy cannot be read"):
        eigenfeat.rows.open(path)
