"""Batches that a function makes: arrays, sparse matrices and dataframes, alone or with labels and weights."""

import numpy as np
import pytest
from row_tables import CODES, NAMES, TEXT, WEIGHTS, X, assert_same, chunkings, table
from scipy import sparse

import eigenfeat.rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

PARTS = np.split(np.arange(len(X)), [10, 100, 100, 150])
FRAMES = {
    "pandas": lambda rows: pd.DataFrame({k: v[rows] for k, v in table().items()}, index=rows * 3),
    "polars": lambda rows: pl.DataFrame({k: v[rows] for k, v in table().items()}),
    "arrow table": lambda rows: pa.table({k: v[rows] for k, v in table().items()}),
    "arrow batch": lambda rows: pa.RecordBatch.from_pydict({k: pa.array(v[rows]) for k, v in table().items()}),
}
MATRICES = {"array": np.asarray, "float32": np.float32, "csr": sparse.csr_matrix, "coo": sparse.coo_array}

frames = pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
matrices = pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)


@frames
@chunkings
def test_frames_by_the_names_of_their_columns(make, batch_size):
    source = eigenfeat.rows.open(lambda: map(make, PARTS), label="kind", weight="w", drop=["code"])
    assert source.names == tuple(NAMES)
    assert_same(source, labels=TEXT, weights=WEIGHTS, batch_size=batch_size)


@frames
def test_frames_with_labels_and_weights_beside_them(make):
    def batches():
        for rows in PARTS:
            yield make(rows), TEXT[rows], WEIGHTS[rows]

    assert_same(eigenfeat.rows.open(batches, columns=NAMES), labels=TEXT, weights=WEIGHTS)
    assert_same(eigenfeat.rows.open(batches, columns=NAMES, label="code"), labels=CODES, weights=WEIGHTS)


@frames
def test_filters_missing_values_and_a_label_named_later(make):
    source = eigenfeat.rows.open(lambda: map(make, PARTS), columns=NAMES, filter=[("code", "==", 1)]).with_label("kind")
    assert_same(source, X[CODES == 1], labels=TEXT[CODES == 1])


@matrices
@chunkings
def test_matrices(make, batch_size):
    source = eigenfeat.rows.open(lambda: (make(X[rows]) for rows in PARTS))
    assert source.dtype == (np.float32 if make is np.float32 else np.float64)
    assert_same(source, batch_size=batch_size)


@matrices
def test_matrices_with_labels_and_weights(make):
    source = eigenfeat.rows.open(lambda: ((make(X[r]), TEXT[r], WEIGHTS[r]) for r in PARTS))
    assert_same(source, labels=TEXT, weights=WEIGHTS)
    source = eigenfeat.rows.open(lambda: ((make(X[r]), CODES[r].tolist()) for r in PARTS), columns=[2, 0])
    assert_same(source, X[:, [2, 0]], labels=CODES)


def test_missing_values_of_arrays():
    holes = X.copy()
    holes[120, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"column 2 of batch 3 of the batches of <lambda>\(\) has a missing value in row 21"
    ):
        list(eigenfeat.rows.open(lambda: (holes[rows] for rows in PARTS)).blocks())
    assert_same(eigenfeat.rows.open(lambda: (holes[rows] for rows in PARTS), missing="drop"), np.delete(X, 120, axis=0))


@pytest.mark.parametrize(
    ("batches", "options", "words"),
    [
        ([], {}, "are none: at least one batch"),
        ([[1, 2]], {}, "must be tables .* got list"),
        ([np.ones(3)], {}, r"got ndarray of shape \(3,\)"),
        ([X, X[:, :2]], {}, r"batch 1 of .* is ndarray of shape \(211, 2\); the first has 4 columns"),
        ([X, sparse.csr_matrix(X)], {}, "batch 1 of .* the first has 4 columns"),
        ([(X, CODES), X], {}, "batch 1 of .* has labels or weights where the first has none, or none"),
        ([(X, CODES[:5])], {}, "every row needs its label and its weight, and their numbers differ"),
        ([(pd.DataFrame(X, columns=NAMES), CODES[:5])], {}, "every row needs its label"),
        ([X], {"filter": [("a", ">", 1)]}, "are matrices: choose rows"),
        (
            [pd.DataFrame(X, columns=NAMES), pd.DataFrame(X[:, :3], columns=NAMES[:3])],
            {},
            "batch 1 .* has no column 'd' that the first has",
        ),
        ([pd.DataFrame({"a": ["x"]})], {}, "column 'a' holds 'x' in row 1"),
    ],
)
def test_what_is_refused(batches, options, words):
    with pytest.raises(ValueError, match=words):
        list(eigenfeat.rows.open(lambda: batches, **options).blocks())


def test_what_fails_in_the_function_comes_out():
    def batches():
        yield X
        raise RuntimeError("no connection")

    with pytest.raises(RuntimeError, match="no connection"):
        list(eigenfeat.rows.open(batches).blocks(10))
