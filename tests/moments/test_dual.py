"""Moments as rows answer what matrices answer, and no d × d matrix is formed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from eigenfeat.moments import DenseMoments, DualMoments, FactoredForm


def labelled_rows(rng, n=200, d=4, k=3, shift=0.0):
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, size=d) + shift
    return X, rng.integers(k, size=n)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), as_sparse=st.booleans())
def test_rows_and_matrices_answer_alike(seed, as_sparse):
    rng = np.random.default_rng(seed)
    X, y = labelled_rows(rng, n=25, d=40)
    X[np.abs(X) < 0.7] = 0
    weights = rng.exponential(size=25)
    given_rows = sparse.csr_array(X) if as_sparse else X
    y[:3] = [0, 1, 2]
    dense = DenseMoments(track_fourth=True).update(X, y, weights)
    rows = DualMoments().update(given_rows[:10], y[:10], weights[:10])
    rows.merge(DualMoments().update(given_rows[10:], y[10:], weights[10:]))
    pool = dense.pool(np.array([0, 2]))
    questions = [
        lambda m: m.second_moment(1),
        lambda m: m.covariance(2),
        lambda m: m.covariance(),
        lambda m: m.second_moment(pool, center=1),
        lambda m: m.within(),
        lambda m: m.between(pool),
    ]
    V = rng.normal(size=(40, 3))
    for question in questions:
        a, b = question(dense), question(rows).shifted(0.3)
        np.testing.assert_allclose(b.toarray(), a.toarray() + 0.3 * np.eye(40), atol=1e-10)
        np.testing.assert_allclose(b @ V, a @ V + 0.3 * V, atol=1e-10)
        np.testing.assert_allclose(b.diagonal(), a.diagonal() + 0.3, atol=1e-10)
        assert question(rows).squared_norm() == pytest.approx(np.sum(a.toarray() ** 2))
    for center in ("origin", "class", 1):
        assert rows.fourth_moment(pool, center) == pytest.approx(dense.fourth_moment(pool, center))
    assert rows.effective_count(pool) == pytest.approx(dense.effective_count(pool))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_forms_stay_factored_over_the_same_rows(as_sparse):
    X = np.random.default_rng(0).normal(size=(12, 50))
    y = np.arange(12) % 3
    moments = DualMoments().update(sparse.csr_array(X) if as_sparse else X, y)
    forms = [moments.second_moment(0), moments.covariance(), moments.within(), moments.between()]
    assert all(isinstance(form, FactoredForm) and form.rows is moments.rows for form in forms)
    assert [form.rank for form in forms] == [4, 15, 12, 3]
    np.testing.assert_allclose(moments.means, [X[y == c].mean(0) for c in range(3)], atol=1e-12)


def test_classes_known_beforehand_and_renamed():
    X = np.random.default_rng(1).normal(size=(6, 9))
    moments = DualMoments(np.array([0, 1, 2])).update(X, np.array([0, 0, 2, 2, 2, 0]))
    np.testing.assert_array_equal(moments.counts, [3, 0, 3])
    moments.rename(np.array(["a", "b", "c"]))
    moments.update(X[:2], np.array(["b", "b"]))
    np.testing.assert_array_equal(moments.classes, ["a", "b", "c"])
    np.testing.assert_array_equal(moments.counts, [3, 2, 3])


def test_rows_of_weight_zero_are_not_there():
    X = np.random.default_rng(2).normal(size=(8, 20))
    weights = np.array([1.0, 0, 2, 0, 1, 1, 0, 1])
    kept = DualMoments().update(X[weights > 0], sample_weight=weights[weights > 0])
    assert DualMoments().update(X, sample_weight=weights).covariance().rank == kept.covariance().rank
    np.testing.assert_allclose(
        DualMoments().update(X, sample_weight=weights).covariance().toarray(), kept.covariance().toarray(), atol=1e-12
    )


def test_what_does_not_fit_is_refused():
    X = np.ones((2, 5))
    with pytest.raises(ValueError, match="5 columns, the new rows 4"):
        DualMoments().update(X).update(X[:, :4])
    with pytest.raises(TypeError, match=r"merge these into those, or use eigenfeat\.moments\.merged_moments"):
        DualMoments().update(X).merge(DenseMoments().update(X))
