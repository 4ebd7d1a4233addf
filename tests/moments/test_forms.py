"""Symmetric matrices in two forms: every question has the answer of the formed matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.moments import (
    CombinedRows,
    DenseForm,
    FactoredForm,
    GramCache,
    RowTerm,
    as_form,
    identity_like,
    weighted_sum,
)


def factored(seed, as_sparse=False, shift=0.0, rows=None):
    """A form of three kinds of terms: scaled rows, centred rows, combinations of rows."""
    rng = np.random.default_rng(seed)
    if rows is None:
        X = np.where(rng.random((14, 9)) < 0.5, rng.normal(size=(14, 9)), 0.0)
        rows = GramCache(sparse.csr_array(X) if as_sparse else X)
    terms = (
        RowTerm(np.array([0, 3, 5]), scale=rng.uniform(0.5, 1, 3)),
        RowTerm(np.arange(6, 12), scale=rng.uniform(0.5, 1, 6), centred=True),
        CombinedRows(np.array([1, 12, 13]), coefficients=rng.normal(size=(3, 2))),
    )
    return FactoredForm(rows, terms, shift)


def by_hand(form):
    """The matrix, from the definition of the terms."""
    X = form.rows.X.toarray() if sparse.issparse(form.rows.X) else form.rows.X
    total = np.zeros(form.shape)
    for term in form.terms:
        rows = X[term.index]
        if isinstance(term, CombinedRows):
            F = rows.T @ term.coefficients
        elif term.centred:
            w = term.scale**2
            F = (rows - w @ rows / w.sum()).T * term.scale
        else:
            F = rows.T * term.scale
        total += F @ F.T
    return total + np.diag(np.broadcast_to(form.shift, form.shape[0]))


FORMS = {
    "dense": lambda seed: DenseForm(by_hand(factored(seed))),
    "dense, a number as shift": lambda seed: DenseForm(by_hand(factored(seed)), 0.7),
    "dense, a diagonal as shift": lambda seed: DenseForm(by_hand(factored(seed)), np.linspace(0, 1, 9)),
    "rows": lambda seed: factored(seed),
    "sparse rows": lambda seed: factored(seed, as_sparse=True),
    "rows, a number as shift": lambda seed: factored(seed, shift=0.7),
    "rows, a diagonal as shift": lambda seed: factored(seed, shift=np.linspace(0, 1, 9)),
}


@pytest.mark.parametrize("kind", FORMS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 1000))
def test_every_answer_is_that_of_the_matrix(kind, seed):
    form = FORMS[kind](seed)
    matrix = by_hand(form) if isinstance(form, FactoredForm) else form.matrix + np.diag(np.broadcast_to(form.shift, 9))
    V = np.random.default_rng(seed).normal(size=(9, 4))
    np.testing.assert_allclose(form.toarray(), matrix, atol=1e-12)
    np.testing.assert_allclose(form @ V, matrix @ V, atol=1e-12)
    np.testing.assert_allclose(form.diagonal(), np.diag(matrix), atol=1e-12)
    np.testing.assert_allclose(form.quadratic(V), np.einsum("ij,ik,kj->j", V, matrix, V), atol=1e-11)
    assert form.trace() == pytest.approx(np.trace(matrix))
    assert form.mean_diagonal() == pytest.approx(np.trace(matrix) / 9)
    assert form.shape == (9, 9) and form.dtype == np.float64
    np.testing.assert_allclose(form.scaled(2.5).toarray(), 2.5 * matrix, atol=1e-12)
    np.testing.assert_allclose(form.shifted(0.3).toarray(), matrix + 0.3 * np.eye(9), atol=1e-12)
    np.testing.assert_allclose((form + form).toarray(), 2 * matrix, atol=1e-12)
    np.testing.assert_allclose(identity_like(form).toarray(), np.eye(9), atol=1e-15)


@pytest.mark.parametrize("kind", ["dense", "rows", "sparse rows"])
def test_the_squared_norm_is_that_of_all_entries(kind):
    form = FORMS[kind](3)
    assert form.squared_norm() == pytest.approx(np.sum(form.toarray() ** 2))


def test_a_factor_times_its_transpose_is_the_form():
    form = factored(0)
    F = form.factor()
    np.testing.assert_allclose(F @ F.T, by_hand(form), atol=1e-12)
    assert F.shape[1] == form.rank == 11
    other = factored(1, rows=form.rows)
    np.testing.assert_allclose(form.inner(other), F.T @ other.factor(), atol=1e-12)


def test_forms_over_one_store_add_up_without_a_matrix():
    first = factored(0)
    second = factored(1, rows=first.rows)
    total = weighted_sum([first, second], [0.25, 2.0])
    assert isinstance(total, FactoredForm)
    np.testing.assert_allclose(total.toarray(), 0.25 * by_hand(first) + 2 * by_hand(second), atol=1e-12)
    mixed = weighted_sum([first, DenseForm(np.eye(9))])
    np.testing.assert_allclose(mixed.toarray(), by_hand(first) + np.eye(9), atol=1e-12)


def test_a_matrix_becomes_a_form_and_a_form_stays_one():
    A = np.diag([1.0, 2.0])
    form = DenseForm(A)
    assert as_form(form) is form
    np.testing.assert_array_equal(as_form(A).toarray(), A)
    np.testing.assert_array_equal(as_form(sparse.csr_array(A)).toarray(), A)
