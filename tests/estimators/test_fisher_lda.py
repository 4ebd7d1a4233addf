"""Fisher's discriminant against scikit-learn, Bayes' rule and LAPACK."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from eigenfeat import FisherLDA


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("noise", ["within", "total"])
def test_fisher_is_scikit_learns_lda(load, noise):
    X, y = load(return_X_y=True)
    ours = FisherLDA(noise=noise).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_angles(ours.components_.T, theirs.scalings_[:, :2]).max() < 1e-6
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_priors_give_bayes_rule_for_gaussian_classes_of_one_covariance():
    X, y = load_wine(return_X_y=True)
    priors = np.array([0.7, 0.2, 0.1])
    model = FisherLDA(priors=priors).fit(X, y)
    within = model.moments_.within().matrix
    joint = np.column_stack(
        [np.log(p) + multivariate_normal(X[y == c].mean(0), within).logpdf(X) for c, p in enumerate(priors)]
    )
    np.testing.assert_allclose(model.predict_log_proba(X), joint - logsumexp(joint, axis=1, keepdims=True), atol=1e-6)
    with pytest.raises(ValueError, match="3 non-negative numbers"):
        FisherLDA(priors=[0.5, 0.5]).fit(X, y)


def test_keeping_fewer_components_does_not_change_the_classifier():
    X, y = load_wine(return_X_y=True)
    np.testing.assert_allclose(FisherLDA(1).fit(X, y).predict_proba(X), FisherLDA().fit(X, y).predict_proba(X))
    assert FisherLDA(1).fit(X, y).transform(X).shape == (len(X), 1)
    with pytest.raises(ValueError, match="more than the 2 discriminant directions"):
        FisherLDA(5).fit(X, y)


@pytest.mark.parametrize("shrinkage", ["auto", "oas", 0.4])
def test_shrinkage_keeps_eigenvalues_meaningful(shrinkage):
    """A between-class matrix that is a difference of shrunk matrices gets negative eigenvalues; ours cannot."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    few = np.concatenate([np.flatnonzero(y == c)[:8] for c in range(3)])
    model = FisherLDA(shrinkage=shrinkage).fit(X[few], y[few])
    assert (model.eigenvalues_ > 0).all()
    rest = np.setdiff1d(np.arange(len(X)), few)
    assert model.score(X[rest], y[rest]) > FisherLDA().fit(X[few], y[few]).score(X[rest], y[rest])


def test_more_columns_than_rows_is_the_same_problem_in_fewer_numbers():
    X, y = load_digits(return_X_y=True)
    X, y = X[:50], y[:50]  # 64 columns
    wide = FisherLDA(ridge=0.1).fit(X, y)
    assert wide.solver_ == "dual"
    moments = wide.moments_
    S, N = moments.between().toarray(), moments.within().toarray()
    N += 0.1 * np.trace(N) / 64 * np.eye(64)
    values, vectors = eigh(S, N)
    np.testing.assert_allclose(wide.eigenvalues_, values[::-1][:9], rtol=1e-7)
    assert subspace_angles(wide.components_.T, vectors[:, -9:]).max() < 1e-6
    np.testing.assert_allclose(wide.transform(X), (X - X.mean(0)) @ wide.components_.T, atol=1e-8)
    thin = FisherLDA(ridge=0.1).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.transform(sparse.csr_array(X)), wide.transform(X), atol=1e-8)


def test_a_singular_noise_is_restricted_with_a_warning():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(UserWarning, match="ridge > 0"):
        model = FisherLDA().fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), FisherLDA().fit(X[:, :-1], y).predict_proba(X[:, :-1]), atol=1e-6
    )


def test_sample_weight_is_routed():
    import sklearn
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    weights = np.where(y == 0, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        lda = FisherLDA().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = make_pipeline(scaler, lda).fit(X, y, sample_weight=weights)
    assert model[-1].priors_[0] == pytest.approx(weights[y == 0].sum() / weights.sum())
