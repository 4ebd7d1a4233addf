"""Keys say which rows are equal, wherever and however they are stored, and stand for them in every draw."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.rows import ArrayRows, as_rows
from eigenfeat.rows.keys import (
    KEY_RANGE,
    DistinctKeys,
    are_cells,
    copy_keys,
    distinct_keys,
    group_keys,
    key_order,
    n_distinct,
    row_keys,
    row_order,
    uniforms,
)
from eigenfeat.stages import Affine


@given(st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5]), min_size=3, max_size=3), min_size=1, max_size=20))
def test_equal_rows_have_equal_keys_and_others_other_ones(rows):
    rows = np.array(rows)
    keys = row_keys(rows)
    _, code = np.unique(rows + 0.0, axis=0, return_inverse=True)
    same_row, same_key = code[:, None] == code, keys[:, None] == keys
    np.testing.assert_array_equal(same_row, same_key)
    np.testing.assert_array_equal(row_keys(rows[::-1]), keys[::-1])


def test_keys_of_sparse_rows_tell_rows_apart_too():
    rows = np.array([[0.0, 1, 2], [0, 1, 2], [1, 0, 2], [0, 0, 0]])
    keys = row_keys(sparse.csr_array(rows))
    np.testing.assert_array_equal(keys == keys[0], [True, True, False, False])


def test_keys_do_not_depend_on_storage():
    rows = np.random.default_rng(0).integers(-1, 2, size=(20, 6)).astype(float)
    with_zeros = sparse.csr_array(np.ones_like(rows))
    with_zeros.data[:] = rows.ravel()
    np.testing.assert_array_equal(row_keys(sparse.csr_array(rows)), row_keys(rows))
    np.testing.assert_array_equal(row_keys(with_zeros), row_keys(rows))


@pytest.mark.parametrize("shape", [(1, 1), (1025, 3), (7, 40)])
def test_compiled_sums_are_those_of_arrays(shape):
    rows = np.random.default_rng(0).normal(size=shape).astype(np.float32).astype(float)
    with np.errstate(over="ignore"):
        columns = mixed(np.arange(shape[1], dtype=np.uint64))
        sums = mixed(rows.view(np.uint64) ^ columns).sum(axis=1, dtype=np.uint64)
        expected = (mixed(sums) >> np.uint64(11)).astype(np.int64)
    np.testing.assert_array_equal(row_keys(rows), expected)


def mixed(bits):
    """The finaliser of splitmix64, by numpy."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@given(st.integers(0, 1000))
def test_rows_of_either_precision_have_the_keys_of_float32_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(50, 4)) * 10.0 ** rng.integers(-30, 30, size=4)
    np.testing.assert_array_equal(row_keys(rows), row_keys(rows.astype(np.float32)))


def test_numbers_beyond_float32_tell_rows_apart():
    rows = np.array([[1e60], [2e60], [-1e300], [1e-60]])
    assert len(np.unique(row_keys(rows))) == 4


def test_distinct_keys_sort_alike_in_both_types():
    rows = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    np.testing.assert_array_equal(distinct_keys(rows)[:, 0], distinct_keys(rows.astype(np.float64) + 1e-12)[:, 0])


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_no_two_different_rows_of_many_have_a_key(store):
    X = np.random.default_rng(0).integers(0, 3, size=(20_000, 12)).astype(float)
    _, same = np.unique(X, axis=0, return_inverse=True)
    keys = row_keys(store(X))
    assert len(np.unique(np.column_stack([keys, same.ravel()]), axis=0)) == len(np.unique(keys)) == same.max() + 1


def test_rows_made_of_others_have_the_keys_of_those():
    X = np.random.default_rng(0).normal(size=(60, 3))
    rows, index = as_rows(X, np.arange(60)), np.arange(0, 60, 7)
    made = rows.apply(Affine.of(np.eye(3)[:, :2]))
    for other, expected in (
        (rows.with_labels(np.zeros(60)), row_keys(X)),
        (made, row_keys(X)),
        (made.take(index), row_keys(X[index])),
        (ArrayRows(made.to_array(), made_of=rows).take(index), row_keys(X[index])),
    ):
        np.testing.assert_array_equal(other.keys, expected)
        np.testing.assert_array_equal(np.concatenate([b.keys for b in other.with_keys().blocks(7)]), expected)


@given(st.integers(0, 1000))
def test_copies_of_rows_have_keys_of_their_own_in_any_order(seed):
    """A weight of zero is absence, and copies may change places."""
    rng = np.random.default_rng(seed)
    cells, labels = rng.integers(0, 2, size=(60, 2)).astype(float), rng.integers(0, 3, 60)
    weights = rng.integers(0, 3, 60).astype(float)
    keys = copy_keys(row_keys(cells), labels, weights)
    assert are_cells(row_keys(cells)) and len(np.unique(keys)) == 60
    order = rng.permutation(60)
    again = copy_keys(row_keys(cells[order]), labels[order], weights[order])
    rows = np.column_stack([cells, labels, weights])
    np.testing.assert_array_equal(in_rows(rows, keys), in_rows(rows[order], again))
    there = weights > 0
    without = copy_keys(row_keys(cells[there]), labels[there], weights[there])
    np.testing.assert_array_equal(in_rows(rows[there], keys[there]), in_rows(rows[there], without))


def in_rows(rows, keys):
    return np.array(sorted(map(tuple, np.column_stack([rows, keys]))))


def test_numbers_drawn_for_keys_are_uniform_and_others_for_every_seed():
    keys = row_keys(np.arange(10_000.0)[:, None])
    one, two = uniforms(keys, 0), uniforms(keys, 1)
    for drawn in (one, two):
        assert drawn.min() >= 0 and drawn.max() < 1
        assert np.abs(np.sort(drawn) - np.linspace(0, 1, 10_000)).max() < 1.63 / 100  # Kolmogorov at 1 %
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.03
    np.testing.assert_array_equal(uniforms(np.arange(5))[::-1], uniforms(np.arange(5)[::-1]))


def test_the_order_of_keys_is_one_of_rows_and_of_kernel_matrices():
    rng = np.random.default_rng(0)
    X, labels = rng.integers(0, 3, size=(80, 2)).astype(float), rng.integers(0, 2, 80)
    order = rng.permutation(80)
    table = np.column_stack([X, labels])
    np.testing.assert_array_equal(table[row_order(X, labels)], table[order][row_order(X[order], labels[order])])
    Z = rng.normal(size=(40, 3))
    K, shuffled = Z @ Z.T, rng.permutation(40)
    moved = K[np.ix_(shuffled, shuffled)]
    np.testing.assert_array_equal(row_order(K, kernel=True), shuffled[row_order(moved, kernel=True)])
    np.testing.assert_array_equal(key_order(np.array([2, 1, 1]), np.array([0, 5, 4])), [2, 1, 0])


def test_groups_are_keys_of_their_own():
    keys = group_keys(np.array(["a", "b", "a", "c"]))
    np.testing.assert_array_equal(keys == keys[0], [True, False, True, False])


# ---------------------------------------------------------------------- different keys are counted

many = np.random.default_rng(0).integers(0, KEY_RANGE, 60_000)


def test_few_are_counted_exactly_and_many_nearly():
    assert n_distinct(np.repeat(many[:1000], 3), most=1000) == len(np.unique(many[:1000]))
    assert n_distinct(many, most=2**13) == pytest.approx(len(np.unique(many)), rel=0.04)


@pytest.mark.parametrize("most", [100, 10**5])
def test_parts_make_the_sketch_of_all(most):
    whole, parts, merged = DistinctKeys(most), DistinctKeys(most), DistinctKeys(most)
    whole.add(many)
    for part in np.array_split(many[::-1], 7):
        parts.add(part)
        own = DistinctKeys(most)
        own.add(part)
        merged.add(own.smallest, own.is_full)
    for other in (parts, merged):
        assert np.array_equal(other.smallest, whole.smallest) and other.count == whole.count
