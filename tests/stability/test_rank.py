"""Effective ranks: their order, their invariances, and factored forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigenfeat.moments import GramCache
from eigenfeat.moments.forms import FactoredForm, RowTerm
from eigenfeat.stability import effective_rank, participation_ratio


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**31), d=st.integers(1, 12), r=st.integers(1, 12), scale=st.floats(1e-6, 1e6))
def test_order_and_invariance(seed, d, r, scale):
    F = np.random.default_rng(seed).standard_normal((d, min(r, d)))
    M = F @ F.T
    low, high = effective_rank(M), participation_ratio(M)
    assert 1 - 1e-9 <= low <= high * (1 + 1e-9) <= (min(r, d)) * (1 + 1e-8)
    assert effective_rank(scale * M) == pytest.approx(low)
    assert participation_ratio(scale * M) == pytest.approx(high)


@pytest.mark.parametrize("n_columns", [30, 600])
def test_factored_forms_need_not_be_written_out(n_columns):
    rows = GramCache(np.random.default_rng(0).standard_normal((9, n_columns)))
    form = FactoredForm(rows, (RowTerm(np.arange(9), np.full(9, 1 / 3)),), shift=0.25)
    written = form.toarray()
    values = np.linalg.eigvalsh(written)
    assert effective_rank(form) == pytest.approx(values.sum() / values.max())
    assert participation_ratio(form) == pytest.approx(values.sum() ** 2 / np.sum(values**2))
