"""Joint moments of inputs and targets against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from eigenfeat.moments import CrossMoments


@pytest.mark.parametrize("as_sparse", [False, True])
def test_cross_moments_against_numpy(as_sparse):
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(400, 5)) + 2, rng.normal(size=(400, 3))
    X[X < 1] = 0
    given_rows = sparse.csr_array(X) if as_sparse else X
    moments = CrossMoments().update(given_rows[:150], Y[:150]).merge(CrossMoments().update(given_rows[150:], Y[150:]))
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(moments.input_covariance(), joint[:5, :5], atol=1e-12)
    np.testing.assert_allclose(moments.cross(), joint[:5, 5:], atol=1e-12)
    np.testing.assert_allclose(moments.target_covariance(), joint[5:, 5:], atol=1e-12)
    np.testing.assert_allclose(moments.input_mean, X.mean(0))
