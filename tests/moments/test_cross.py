"""Joint moments of inputs and targets: any split of the rows, weights, sparse targets, sources, refusals."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import CrossMoments, DenseMoments, collect_cross_moments
from eigenfeat.rows import ArrayRows


def rows(seed=0, n=120, d=4, q=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 5
    return X, X[:, :q] + rng.normal(size=(n, q)), rng.exponential(size=n)


@pytest.mark.parametrize("cut", [0, 1, 50, 119])
def test_halves_merge_to_the_whole(cut):
    X, Y, w = rows()
    whole = CrossMoments().update(X, Y, w)
    merged = CrossMoments().update(X[:cut], Y[:cut], w[:cut]).merge(CrossMoments().update(X[cut:], Y[cut:], w[cut:]))
    for read in ("input_covariance", "target_covariance", "cross"):
        np.testing.assert_allclose(getattr(merged, read)(), getattr(whole, read)(), rtol=1e-11)
    np.testing.assert_allclose(merged.target_mean, np.average(Y, axis=0, weights=w), rtol=1e-12)
    assert merged.weight == pytest.approx(w.sum())
    assert merged.effective_count() == pytest.approx(w.sum() ** 2 / (w @ w))


def test_weights_count_as_repeated_rows():
    X, Y, _ = rows()
    counts = np.random.default_rng(1).integers(0, 3, size=len(X))
    weighted = CrossMoments().update(X, Y, counts.astype(float))
    repeated = CrossMoments().update(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    np.testing.assert_allclose(weighted.cross(), repeated.cross(), rtol=1e-10)
    assert weighted.weight == repeated.weight == counts.sum()


@pytest.mark.parametrize("sparse_inputs", [False, True])
@pytest.mark.parametrize("sparse_targets", [False, True])
def test_sparse_rows_and_targets_are_those_they_stand_for(sparse_inputs, sparse_targets):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(60, 3)), (rng.random((60, 2)) < 0.3).astype(float)
    X[rng.random(X.shape) < 0.5] = 0
    given = (sparse.csr_array(X) if sparse_inputs else X, sparse.csr_array(Y) if sparse_targets else Y)
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    for moments in (CrossMoments().update(*given), collect_cross_moments(*given)):
        np.testing.assert_allclose(moments.cross(), joint[:3, 3:], atol=1e-12)
        np.testing.assert_allclose(moments.target_covariance(), joint[3:, 3:], atol=1e-12)


def test_a_pass_over_a_source_takes_its_labels_or_the_targets_given():
    X, Y, w = rows()
    whole = CrossMoments().update(X, Y, w)

    class InBatches(ArrayRows):
        def blocks(self, batch_size=None):
            return super().blocks(batch_size or 17)

    for moments in (
        collect_cross_moments(InBatches(X, Y, w)),
        InBatches(X, Y, w).reduce(CrossMoments()),
        collect_cross_moments(InBatches(X), Y, w),
    ):
        np.testing.assert_allclose(moments.cross(), whole.cross(), rtol=1e-11)
        assert moments.weight == pytest.approx(w.sum())


def test_a_vector_of_targets_is_one_column_and_remembered():
    X, Y, _ = rows()
    flat, column = collect_cross_moments(X, Y[:, 0]), collect_cross_moments(X, Y[:, :1])
    np.testing.assert_allclose(flat.cross(), column.cross())
    assert flat.targets_are_flat and not column.targets_are_flat
    assert CrossMoments().merge(flat).targets_are_flat
    for one, other, words in (
        (flat, column, "a vector of targets, the new rows 4 inputs and 1 columns"),
        (column, flat, "1 columns of targets, the new rows 4 inputs and a vector"),
    ):
        with pytest.raises(ValueError, match=words):
            one.merge(other)
    with pytest.raises(ValueError, match=r"a vector of targets: bring all to one shape, targets by y\.ravel"):
        column.update(X, Y[:, 0])


def test_what_does_not_fit_is_refused():
    X, Y, _ = rows()
    moments = CrossMoments().update(X, Y)
    with pytest.raises(ValueError, match="4 inputs and 3 columns of targets, the new rows 4 inputs and 2"):
        moments.update(X, Y[:, :2])
    with pytest.raises(ValueError, match="4 inputs and 3 columns of targets, the new rows 2 inputs and 3"):
        moments.merge(CrossMoments().update(X[:, :2], Y))
    with pytest.raises(TypeError, match="not with DenseMoments"):
        moments.merge(DenseMoments().update(X))
    with pytest.raises(ValueError, match="X has 120 rows, Y has 119"):
        moments.update(X, Y[1:])
    with pytest.raises(ValueError, match="no row of positive weight"):
        CrossMoments().cross()
    with pytest.raises(ValueError, match="need targets"):
        collect_cross_moments(X)
    assert CrossMoments().weight == 0
