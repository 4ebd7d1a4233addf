"""The density of a Gaussian mixture: scikit-learn's, and what it refuses."""

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis
from sklearn.mixture import GaussianMixture

from eigenfeat import GaussianMixtureScore


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_mixture_density_is_scikit_learns(covariance_type):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 3)), rng.normal(3.0, 0.5, size=(150, 3))])
    ours = GaussianMixtureScore(2, covariance_type=covariance_type, ridge=1e-3).fit(X)
    theirs = GaussianMixture(2, covariance_type=covariance_type, reg_covar=1e-3 * X.var(0).mean(), random_state=0).fit(
        X
    )
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)


def test_factor_gaussian_has_the_precision_of_factor_analysis():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 8)) + rng.normal(size=(500, 8))
    model = GaussianMixtureScore(covariance_type="factor", n_factors=3, ridge=0).fit(X)
    reference = FactorAnalysis(3, random_state=0, max_iter=200).fit(X)
    expected = (X - reference.mean_) @ reference.get_precision()
    np.testing.assert_allclose(model.score1(X), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.score_samples(X), reference.score_samples(X), rtol=1e-4)


def test_columns_that_do_not_vary_have_a_density():
    """The ridge has a floor: a covariance of zeros, and no ridge asked for, is still inverted."""
    X = np.ones((20, 3))
    assert np.isfinite(GaussianMixtureScore(ridge=0).fit(X).score_samples(X)).all()
    X = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 1.0, 0.0]
    assert np.isfinite(GaussianMixtureScore(ridge=0).fit(X).score1(X)).all()
