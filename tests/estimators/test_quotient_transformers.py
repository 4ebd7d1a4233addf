"""The classical members against independent implementations, by subspace, prediction and probability."""

import numpy as np
import pytest
from pyriemann.spatialfilters import CSP
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from statsmodels.regression.dimred import SlicedInverseReg

from eigenfeat import FisherLDA, OrientedPCA, RayleighFeatures, SlicedInverseRegression, VanishingComponents
from eigenfeat.moments import collect_moments


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


def test_oriented_pca_without_noise_is_pca():
    X, _ = load_wine(return_X_y=True)
    ours, theirs = OrientedPCA(4).fit(X), PCA(4).fit(X)
    assert subspace_angles(ours.components_.T, theirs.components_.T).max() < 1e-6
    np.testing.assert_allclose(ours.eigenvalues_, theirs.explained_variance_ * (len(X) - 1) / len(X))
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X)))


def test_noise_rows_and_their_second_moment_are_the_same_noise():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(100, 4)), rng.normal(size=(80, 4)) * [1, 2, 3, 4]
    rows = OrientedPCA(2, ridge=0.1).fit(X, noise=Z)
    matrix = OrientedPCA(2, ridge=0.1, noise=Z.T @ Z / 80).fit(X)
    np.testing.assert_allclose(rows.components_, matrix.components_, atol=1e-9)
    values = eigh(np.cov(X.T, bias=True), Z.T @ Z / 80 + 0.1 * np.trace(Z.T @ Z / 80) / 4 * np.eye(4))[0]
    np.testing.assert_allclose(rows.eigenvalues_, values[::-1][:2])
    with pytest.raises(ValueError, match="4 features, but the noise has 3"):
        OrientedPCA().fit(X, noise=Z[:, :3])
    with pytest.raises(ValueError, match="given twice"):
        OrientedPCA(noise=np.eye(4)).fit(X, noise=Z)


def test_common_spatial_patterns_are_one_vs_all():
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(6, 6))
    trials = np.stack([(mixing * (1 + 0.5 * (t % 2) * np.eye(6)[0])) @ rng.normal(size=(6, 400)) for t in range(40)])
    trials -= trials.mean(axis=2, keepdims=True)
    y = np.arange(40) % 2
    covariances = np.stack([t @ t.T / 400 for t in trials])
    csp = CSP(nfilter=6, metric="euclid", log=False).fit(covariances, y)
    samples, labels = trials.transpose(0, 2, 1).reshape(-1, 6), np.repeat(y, 400)
    ours = RayleighFeatures(
        signal=lambda m: m.second_moment(1), noise="second_moment", centred=False, labels=True, n_components=1
    ).fit(samples, labels)
    best = csp.filters_[np.argmax([abs(f @ covariances[y == 1].mean(0) @ f) for f in csp.filters_])]
    assert subspace_angles(ours.components_.T, best[:, None]).max() < 1e-5


def test_vanishing_components_are_the_relations_of_the_data():
    rng = np.random.default_rng(2)
    latent = rng.normal(size=(200, 3))
    X = latent @ rng.normal(size=(3, 5))
    found = VanishingComponents(max_eigenvalue=1e-10).fit(X)
    assert found.components_.shape == (2, 5)
    np.testing.assert_allclose(found.transform(X), 0, atol=1e-7)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(2), atol=1e-10)
    assert VanishingComponents(n_components=3).fit(X).eigenvalues_[2] == pytest.approx(
        np.linalg.eigvalsh(X.T @ X / 200)[2]
    )


def test_sliced_inverse_regression_is_statsmodels():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 6)) @ rng.normal(size=(6, 6))
    y = X[:, 0] ** 3 + (X @ [0, 1, 1, 0, 0, 0]) + 0.1 * rng.normal(size=1000)
    ours = SlicedInverseRegression(n_components=2, n_slices=20).fit(X, y)
    theirs = SlicedInverseReg(y, X).fit(slice_n=50)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigs[:2], rtol=1e-6)
    assert subspace_angles(ours.components_.T, theirs.params[:, :2]).max() < 1e-6


def test_slices_have_equal_weight_and_ties_stay_together():
    y = np.array([0.0] * 10 + list(range(1, 31)))
    X = np.random.default_rng(4).normal(size=(40, 2))
    model = SlicedInverseRegression(n_slices=4).fit(X, y)
    np.testing.assert_array_equal(model.moments_.counts, [10, 10, 10, 10])
    by_name = SlicedInverseRegression(n_slices=4).fit(X, np.where(y < 5, "low", "high"))
    assert by_name.slice_edges_ is None


def test_rayleigh_takes_names_matrices_functions_and_sums():
    X, y = load_wine(return_X_y=True)
    named = RayleighFeatures(n_components=2).fit(X, y)
    np.testing.assert_allclose(named.eigenvalues_, FisherLDA().fit(X, y).eigenvalues_)
    S, N = named.moments_.between().toarray(), named.moments_.within().toarray()
    given = RayleighFeatures(signal=S, noise=N, n_components=2).fit(X)
    np.testing.assert_allclose(given.eigenvalues_, named.eigenvalues_, rtol=1e-6)
    mixed = RayleighFeatures(signal=lambda m: m.between(), noise=["within", (0.5, np.eye(13))], n_components=2)
    values = eigh(S, N + 0.5 * np.eye(13))[0][::-1][:2]
    np.testing.assert_allclose(mixed.fit(X, y).eigenvalues_, values, rtol=1e-6)
    with pytest.raises(ValueError, match="13 × 13 matrix"):
        RayleighFeatures(signal=np.eye(4)).fit(X, y)
    with pytest.raises(ValueError, match="symmetric"):
        RayleighFeatures(noise=np.triu(np.ones((13, 13)))).fit(X, y)


@pytest.mark.parametrize("make", [FisherLDA, OrientedPCA, RayleighFeatures, VanishingComponents])
def test_batches_add_up_to_the_whole(make):
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    streamed = make()
    for part in np.array_split(order, 5):
        streamed.partial_fit(X[part], y[part], classes=[0, 1, 2])
    whole = make().fit(X, y)
    np.testing.assert_allclose(streamed.eigenvalues_, whole.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(streamed.transform(X), whole.transform(X), atol=1e-4)


def test_a_pattern_is_what_the_component_looks_like():
    """x = a s + noise: the pattern of the component that recovers s is a, though the direction is not."""
    rng = np.random.default_rng(5)
    y = rng.integers(2, size=5000)
    a, distractor = np.array([1.0, 0.0]), np.array([1.0, 1.0])
    X = np.outer(3.0 * y, a) + np.outer(rng.normal(size=5000), distractor) + 0.1 * rng.normal(size=(5000, 2))
    model = FisherLDA().fit(X, y)
    direction, pattern = model.components_[0], model.patterns_[0]
    assert abs(pattern @ a) / np.linalg.norm(pattern) > 0.99
    assert abs(direction @ a) / np.linalg.norm(direction) < 0.9
    np.testing.assert_allclose(model.components_ @ model.patterns_.T, np.eye(1), atol=1e-8)


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


OF_MOMENTS = {
    "FisherLDA": FisherLDA(shrinkage="auto"),
    "OrientedPCA": OrientedPCA(3),
    "VanishingComponents": VanishingComponents(),
    "RayleighFeatures": RayleighFeatures("between", [(0.5, "within"), "identity"]),
    "SlicedInverseRegression": SlicedInverseRegression(),
}


@pytest.mark.parametrize("name", OF_MOMENTS)
def test_moments_of_partitions_merge_to_the_model_of_all_rows(name):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0) + 0.3
    model = clone(OF_MOMENTS[name])
    parts = [collect_moments(X[part::3], y[part::3], track_fourth=True) for part in range(3)]
    merged = parts[0].empty_copy()
    for part in parts:
        merged.merge(part)
    if name in ("OrientedPCA", "VanishingComponents"):  # they ignore labels: one class of all rows
        merged = collect_moments(X)
    from_moments, from_rows = clone(model).fit_moments(merged), model.fit(X, y)
    np.testing.assert_allclose(from_moments.transform(X), from_rows.transform(X), atol=1e-9)
    if name == "FisherLDA":
        np.testing.assert_allclose(from_moments.predict_proba(X), from_rows.predict_proba(X), atol=1e-10)


def test_what_is_no_moments_is_refused_with_the_way_out():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"got ndarray: make them with eigenfeat.moments.collect_moments"):
        FisherLDA().fit_moments(X)
    with pytest.raises(ValueError, match="at least two classes; these have seen 1 class"):
        FisherLDA().fit_moments(collect_moments(X))
    with pytest.raises(ValueError, match="track_fourth=True"):
        FisherLDA(shrinkage="auto").fit_moments(collect_moments(X, y))


def test_noise_of_an_earlier_fit_is_forgotten():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(80, 4)) * [4, 2, 1, 1], rng.normal(size=(60, 4)) * [4, 0.1, 1, 1]
    model = OrientedPCA(2).fit(X, noise=Z)
    assert model.noise_moments_ is not None
    np.testing.assert_array_equal(model.fit(X).components_, OrientedPCA(2).fit(X).components_)
    moments = model.fit_moments(collect_moments(X), noise=collect_moments(Z))
    np.testing.assert_allclose(moments.components_, OrientedPCA(2).fit(X, noise=Z).components_, rtol=1e-10)


def test_names_of_earlier_versions_say_what_they_are_called_now():
    with pytest.raises(TypeError, match="no parameter 'centre' any more: it is called centred"):
        OrientedPCA(centre=False)
    model = FisherLDA().fit(*load_iris(return_X_y=True))
    with pytest.raises(AttributeError, match="it is now offsets_"):
        model.offset_  # noqa: B018
    X, _ = load_iris(return_X_y=True)
    np.testing.assert_allclose(X @ model.components_.T + model.offsets_, model.transform(X), atol=1e-10)
