"""Sparse matrices that contradict themselves are refused before compiled loops see them; others stay as they are."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigenfeat import FisherLDA, LeastSquaresLDA, OrientedPCA
from eigenfeat.estimators.storage import canonical, check_gaps, check_table, check_targets

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 4)) * (rng.random((20, 4)) < 0.6), np.arange(20) % 2


def spoilt(kind, **parts):
    matrix = kind(X)
    for name, (place, value) in parts.items():
        array = getattr(matrix, name).copy()
        array[place] = value
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize(
    "matrix, reason",
    [
        (spoilt(sparse.csr_array, indices=(2, 1000)), "index 1000 of 4"),
        (spoilt(sparse.csr_array, indices=(2, -7)), "index -7 of 4"),
        (spoilt(sparse.csr_array, indptr=(3, 0)), "do not rise"),
        (spoilt(sparse.csr_array, indptr=(-1, 10**6)), "do not rise"),
        (spoilt(sparse.csr_array, indptr=(0, 1)), "do not rise"),
        (spoilt(sparse.csr_matrix, indptr=(1, -5)), "do not rise"),
        (spoilt(sparse.csc_array, indices=(2, 500)), "index 500 of 20"),
        (spoilt(sparse.coo_array, row=(2, 500)), "index 500 of 20"),
    ],
)
def test_damaged_matrices_are_refused(matrix, reason):
    with pytest.raises(ValueError, match=f"damaged .* matrix.*{reason}.*Make it anew"):
        FisherLDA().fit(matrix, y)


def test_pointers_and_entries_must_be_as_many_as_said():
    for name, expected in (("indptr", "18 index pointers for 20 rows"), ("data", "do not rise")):
        matrix = sparse.csr_array(X)
        setattr(matrix, name, getattr(matrix, name)[:18].copy())
        with pytest.raises(ValueError, match=expected):
            check_table(matrix)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_sound_matrices_pass(kind):
    check_table(sparse.csr_array(X).asformat(kind))


def test_a_frame_with_a_name_twice_is_refused():
    with pytest.raises(ValueError, match="several columns called 'a'"):
        FisherLDA().fit(pd.DataFrame(X, columns=list("abca")), y)


@pytest.mark.parametrize(
    "labels, message",
    [
        (np.array(["a", 1, 2.5], dtype=object), "types number, str, which cannot be sorted"),
        (np.array(["a", None, "b"], dtype=object), "NoneType"),
        (np.array(["2020", "2021"], dtype="datetime64[D]"), "holds dates"),
    ],
)
def test_labels_without_an_order_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        check_targets(labels)


def test_labels_of_one_kind_pass():
    for labels in (np.array(["a", "b"], dtype=object), np.array([1, 2.5, True], dtype=object), np.array([1, 2])):
        check_targets(labels)


def unsorted():
    matrix = sparse.csr_array(X)
    data, indices = matrix.data.copy(), matrix.indices.copy()
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:]):
        data[start:stop], indices[start:stop] = data[start:stop][::-1].copy(), indices[start:stop][::-1].copy()
    return sparse.csr_array((data, indices, matrix.indptr), shape=X.shape)


def test_entries_are_sorted_in_a_copy():
    matrix = unsorted()
    data, indices = matrix.data.copy(), matrix.indices.copy()
    sorted_rows = canonical(matrix)
    np.testing.assert_array_equal(sorted_rows.toarray(), X)
    assert sorted_rows.has_sorted_indices and sorted_rows is not matrix
    LeastSquaresLDA().fit(matrix, y)
    np.testing.assert_array_equal(matrix.data, data)
    np.testing.assert_array_equal(matrix.indices, indices)


def test_what_is_canonical_is_not_copied():
    matrix = sparse.csr_array(X)
    assert canonical(matrix) is matrix and canonical(X) is X


@pytest.mark.parametrize("missing", [np.nan, None, float("nan")])
def test_missing_targets_are_refused_even_where_they_are_not_used(missing):
    gaps = np.array([*y[:-1].tolist(), missing], dtype=object if missing is None else float)
    with pytest.raises(ValueError, match="no value in 1 of 20"):
        OrientedPCA().fit(X, gaps, noise=X)
    check_gaps(y)
    check_gaps(["a", "b"])
    check_gaps(np.array([[1.0, np.inf], [0.0, 2.0]]))
