"""Kernel Rayleigh coefficients as transformers: references, noise, invariances."""

import numpy as np
import pytest
from kernel_data import CLOUD, CLOUD_LABELS, DIGITS, LABELS, TEST, X, Y, kfd, kfd_features, rotate, shift
from scipy.linalg import eigh
from sklearn.decomposition import KernelPCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel

from eigenfeat import OrientedKernelPCA
from eigenfeat.stages import KernelExpansion
from eigenfeat.stages.kernels import Kernel


def up_to_sign(found, expected):
    return found * np.sign(np.sum(found * expected, axis=0))


def test_linear_kernel_features_span_fisher_lda():
    ours = kfd_features(kernel="linear", alpha=1e-6).fit(DIGITS, LABELS).transform(DIGITS)
    theirs = LinearDiscriminantAnalysis(solver="svd", tol=1e-9).fit(DIGITS, LABELS).transform(DIGITS)
    theirs -= theirs.mean(axis=0)
    angles = np.linalg.svd(np.linalg.qr(ours)[0].T @ np.linalg.qr(theirs)[0], compute_uv=False)
    assert angles.min() > 1 - 1e-9


def test_oriented_kernel_pca_without_noise_is_kernel_pca():
    ours = OrientedKernelPCA(3, gamma=1.0, alpha=0.04).fit(X)
    theirs = KernelPCA(3, kernel="rbf", gamma=1.0).fit(X)
    features = theirs.transform(X)
    np.testing.assert_allclose(np.abs(np.sqrt(0.04) * ours.transform(X)), np.abs(features), atol=1e-6)
    np.testing.assert_allclose(0.04 * ours.eigenvalues_, theirs.eigenvalues_ / 200, rtol=1e-8)


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_fisher_features_are_the_written_out_eigenvectors_at_new_rows(penalty):
    """M α = λ (N + alpha·P) α over all kernel columns, at rows that were not fitted."""
    rows, labels = DIGITS[:80], LABELS[:80]
    model = kfd_features(2, gamma=0.05, alpha=0.3, penalty=penalty).fit(rows, labels)
    K = rbf_kernel(rows, gamma=0.05)
    means = np.array([K[labels == c].mean(axis=0) for c in range(10)])
    within = (K - means[labels]).T @ (K - means[labels])
    between = (means - K.mean(axis=0))[labels].T @ (means - K.mean(axis=0))[labels]
    values, vectors = eigh(between, within + 0.3 * (K if penalty == "function" else np.eye(80)))
    expected = (rbf_kernel(DIGITS[80:120], rows, gamma=0.05) - K.mean(axis=0)) @ vectors[:, [-1, -2]]
    np.testing.assert_allclose(model.eigenvalues_, values[[-1, -2]], rtol=1e-8)
    np.testing.assert_allclose(up_to_sign(model.transform(DIGITS[80:120]), expected), expected, atol=1e-7)


def test_noise_rows_are_the_denominator():
    """With a linear kernel: Cv = λ (weight·C_noise + alpha·I) v in the columns, at rows that were not fitted."""
    rng = np.random.RandomState(0)
    train, test = rng.randn(100, 6) @ rng.randn(6, 6), rng.randn(20, 6)
    noise = rng.randn(50, 6) * np.linspace(0, 2, 6)
    model = OrientedKernelPCA(3, kernel="linear", alpha=0.01, noise_weight=0.5).fit(train, noise=noise)
    signal, against = (np.cov(rows.T, bias=True) for rows in (train, noise))
    values, vectors = eigh(signal, 0.5 * against + 0.01 * np.eye(6))
    expected = (test - train.mean(axis=0)) @ vectors[:, [-1, -2, -3]]
    np.testing.assert_allclose(model.eigenvalues_, values[[-1, -2, -3]], rtol=1e-9)
    np.testing.assert_allclose(up_to_sign(model.transform(test), expected), expected, atol=1e-8)


def test_a_second_fit_without_noise_has_none():
    noise = np.random.RandomState(0).randn(100, 1) * [[0.0, 1.0]]
    model = OrientedKernelPCA(1, gamma=0.3)
    oriented = model.fit(X, noise=noise).transform(TEST)
    again = model.fit(X).transform(TEST)
    np.testing.assert_array_equal(again, OrientedKernelPCA(1, gamma=0.3).fit(X).transform(TEST))
    assert np.abs(oriented - again).max() > 0.1


def test_noise_is_refused_where_it_cannot_be_seen_or_has_another_width():
    with pytest.raises(ValueError, match="noise rows need a named kernel"):
        OrientedKernelPCA(kernel="precomputed").fit(rbf_kernel(X), noise=X)
    with pytest.raises(ValueError, match="features"):
        OrientedKernelPCA().fit(X, noise=DIGITS)


def variance_change_and_norm(model, transformation):
    """Of the first feature f: its variance, its mean squared change on the rows it was fitted to, and ‖w‖²."""
    f, moved = model.transform(CLOUD)[:, 0], model.transform(transformation(CLOUD))[:, 0]
    a = model.dual_coef_[model.support_, 0]
    K = Kernel("rbf", model.gamma_)(model.support_vectors_, model.support_vectors_)
    return np.var(f), np.mean((f - moved) ** 2), a @ K @ a


@pytest.mark.parametrize("transformation", [shift, rotate])
@pytest.mark.parametrize("expand_over", ["rows", "transformed"])
def test_an_oriented_feature_has_the_largest_quotient_and_changes_less_than_kernel_pca(transformation, expand_over):
    """Its quotient is the eigenvalue and above kernel PCA's; the heavier the invariance, the smaller the change."""
    plain = OrientedKernelPCA(1, gamma=0.5).fit(CLOUD)
    changes = []
    for weight in (0.0, 0.1, 1.0, 10.0):
        moves = [(weight, transformation)]
        model = OrientedKernelPCA(1, gamma=0.5, invariances=moves, expand_over=expand_over).fit(CLOUD)
        variance, change, norm = variance_change_and_norm(model, transformation)
        # αᵀKα is summed anew here, of large coefficients that cancel: K is nearly singular.
        assert variance / (weight * change + 1e-3 * norm) == pytest.approx(model.eigenvalues_[0], rel=1e-5)
        theirs = variance_change_and_norm(plain, transformation)
        assert model.eigenvalues_[0] >= theirs[0] / (weight * theirs[1] + 1e-3 * theirs[2]) * (1 - 1e-5)
        changes.append(change / variance)
    assert (np.diff(changes) < 0).all()


def test_classifier_and_features_become_invariant():
    for make in (
        lambda **p: kfd(gamma=0.5, alpha=0.1, **p).fit(CLOUD, CLOUD_LABELS).decision_function,
        lambda **p: kfd_features(gamma=0.5, alpha=0.1, **p).fit(CLOUD, CLOUD_LABELS).transform,
        lambda **p: (
            kfd_features(gamma=0.5, alpha=0.1, n_centers=40, random_state=0, **p).fit(CLOUD, CLOUD_LABELS).transform
        ),
    ):
        plain, invariant = make(), make(invariances=[(10.0, shift)])
        changes = [
            np.sum((f(CLOUD) - f(shift(CLOUD))) ** 2) / np.sum((f(CLOUD) - f(CLOUD).mean(axis=0)) ** 2)
            for f in (plain, invariant)
        ]
        assert changes[1] < changes[0]


def test_a_fit_leaves_a_chain_of_one_expansion():
    model = kfd_features(gamma=1.0).fit(X, Y)
    (expansion,) = model.fitted_.features.stages
    assert isinstance(expansion, KernelExpansion)
    np.testing.assert_array_equal(expansion.apply(TEST), model.transform(TEST))
    np.testing.assert_array_equal(expansion.bias, model.intercept_)
    assert model.offsets_ is model.intercept_
    assert not hasattr(kfd_features(), "offsets_")


def test_directions_are_expanded_over_all_rows_unless_centres_are_asked_for(monkeypatch):
    models = kfd_features(gamma=1.0), OrientedKernelPCA(gamma=1.0), kfd(gamma=1.0)
    before = [model.fit(X, Y).dual_coef_ for model in models]
    monkeypatch.setattr("eigenfeat.kernel.linear.MAX_ROWS", 50)  # beyond, a classifier draws centres
    same = [np.array_equal(model.fit(X, Y).dual_coef_, coefficients) for model, coefficients in zip(models, before)]
    assert same == [True, True, False]


def test_components_that_are_not_there_are_told():
    with pytest.warns(UserWarning, match="components instead of n_components"):
        OrientedKernelPCA(50, kernel="linear").fit(X)
