"""Sparse columns: factors only, and those of dense rows where these are not shifted either."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.features.columns import treat_columns
from eigenfeat.features.sparse_columns import UNSHIFTED
from eigenfeat.rows import ArrayRows
from eigenfeat.rows.sampling import sampled

rng = np.random.default_rng(0)
COUNTS = rng.poisson(rng.uniform(0.1, 0.8, size=20), size=(400, 20)).astype(float)


def treat(X, columns="auto", weights=None):
    return treat_columns(sampled(ArrayRows(X, None, weights), 10_000), columns, [f"x{j}" for j in range(X.shape[1])])


def test_counts_are_treated_as_those_of_dense_rows_are():
    X = np.column_stack([COUNTS, np.zeros(400)])
    for weights in (None, rng.integers(0, 3, size=400).astype(float)):
        (dense, table), (thin, thin_table) = treat(X, weights=weights), treat(sparse.csr_array(X), weights=weights)
        assert thin.keeps_zeros and table.treatment.tolist() == thin_table.treatment.tolist()
        assert set(table.treatment) == {"common", "drop"}
        np.testing.assert_allclose(thin.factor, dense.factor, rtol=1e-12)


def test_columns_of_their_own_units_have_nonzero_entries_of_size_one():
    X = sparse.csr_array(np.where(rng.random((300, 3)) < 0.2, rng.normal(size=(300, 3)) * [1, 1e3, 1e-3], 0))
    stage, table = treat(X)
    entries = stage.apply(X).tocsc()
    for j in range(3):
        assert np.mean(entries[:, [j]].data ** 2) == pytest.approx(1)
    assert all(UNSHIFTED in line.reason for line in table)


def test_explicit_zeros_do_not_count():
    X = sparse.csr_array(COUNTS[:, :3])
    thick = X.copy()
    thick.data[::4] = 0
    thin = thick.copy()
    thin.eliminate_zeros()
    np.testing.assert_array_equal(treat(thick)[0].factor, treat(thin)[0].factor)


def test_indicators_become_zero_and_one():
    stage, table = treat(sparse.csr_array(np.where(rng.random((100, 2)) < 0.3, [1.0, -5.0], 0)))
    assert table.treatment.tolist() == ["indicator"] * 2 and stage.factor.tolist() == [1, -0.2]


def test_what_is_asked_for_is_done_where_it_keeps_zeros():
    X = sparse.csr_array(COUNTS[:, :4])
    stage, table = treat(X, ["none", "drop", "common", "standardise"])
    assert table.treatment.tolist() == ["none", "drop", "common", "standardise"]
    assert stage.factor[:2].tolist() == [1, 0]
    with pytest.raises(ValueError, match="dense"):
        treat(X, "quantile-normal")
