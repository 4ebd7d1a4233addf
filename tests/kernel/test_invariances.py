"""Tangent covariances and image transformations."""

import numpy as np
import pytest

from eigenfeat import KernelFisherClassifier, KernelFisherFeatures, OrientedKernelPCA
from eigenfeat.kernel.basis import basis_of
from eigenfeat.kernel.invariances import Rotation, Thickening, Translation, tangent_covariance
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.stages.kernels import Kernel, KernelRows

RNG = np.random.RandomState(0)
X = RNG.randn(80, 2)
Y = (X[:, 0] + 0.5 * RNG.randn(80) > 0).astype(int)


def shift(rows):
    return rows + np.array([0.0, 0.2])


def rotate(rows):
    c, s = np.cos(0.1), np.sin(0.1)
    return rows @ np.array([[c, s], [-s, c]])


def variance_change_and_norm(model, transformation):
    """Of the first feature f: its variance, its mean squared change on the rows it was fitted to, and ‖w‖²."""
    f, moved = model.transform(X)[:, 0], model.transform(transformation(X))[:, 0]
    a = model.dual_coef_[model.support_, 0]
    K = Kernel("rbf", model.gamma_)(model.support_vectors_, model.support_vectors_)
    return np.var(f), np.mean((f - moved) ** 2), a @ K @ a


def test_tangent_covariance_is_the_squared_change_of_outputs():
    kernel, weights = KernelRows(Kernel("rbf", 0.5), X), RNG.rand(80)
    T = tangent_covariance(kernel, np.arange(80), weights, [(2.0, shift), (1.0, rotate)])
    alpha = RNG.randn(80)
    f = kernel.matrix() @ alpha
    moved = [kernel.to_rows(t(X)) @ alpha for t in (shift, rotate)]
    expected = 2 * weights @ (f - moved[0]) ** 2 + weights @ (f - moved[1]) ** 2
    assert alpha @ T @ alpha == pytest.approx(expected)


@pytest.mark.parametrize("transformation", [shift, rotate])
@pytest.mark.parametrize("expansion", ["short", "long"])
def test_an_oriented_feature_has_the_largest_quotient_and_changes_less_than_kernel_pca(transformation, expansion):
    """Its quotient is the eigenvalue and above kernel PCA's; the heavier the invariance, the smaller the change."""
    plain = OrientedKernelPCA(1, gamma=0.5).fit(X)
    changes = []
    for weight in (0.0, 0.1, 1.0, 10.0):
        moves = [(weight, transformation)]
        model = OrientedKernelPCA(1, gamma=0.5, invariances=moves, expansion=expansion).fit(X)
        variance, change, norm = variance_change_and_norm(model, transformation)
        assert variance / (weight * change + 1e-3 * norm) == pytest.approx(model.eigenvalues_[0], rel=1e-5)
        theirs = variance_change_and_norm(plain, transformation)
        assert model.eigenvalues_[0] >= theirs[0] / (weight * theirs[1] + 1e-3 * theirs[2]) * (1 - 1e-5)
        changes.append(change / variance)
    assert (np.diff(changes) < 0).all()


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
def test_invariance_is_extra_rows_with_target_zero(penalty):
    """½ weight Σ(f(x) - f(Lx))² written out as least squares without intercept on differences of kernel rows."""
    kernel = Kernel("rbf", 0.5)
    K, D = kernel(X, X), kernel(X, X) - kernel(shift(X), X)
    y = np.where(Y == 1, 1.0, -1.0)
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.maximum(values, 0)) if penalty == "function" else np.eye(80)
    zeros = np.zeros((80, 1))
    design = np.block([[K, np.ones((80, 1))], [np.sqrt(3) * D, zeros], [np.sqrt(0.1) * root.T, zeros]])
    solution = np.linalg.lstsq(design, np.concatenate([y, np.zeros(160)]), rcond=1e-13)[0]
    model = KernelFisherClassifier(gamma=0.5, alpha=0.1, penalty=penalty, invariances=[(3.0, shift)], threshold=0.0)
    np.testing.assert_allclose(model.fit(X, Y).decision_function(X), K @ solution[:-1] + solution[-1], atol=1e-6)


def test_tangent_covariance_of_single_precision_rows_is_positive_semi_definite():
    """Also in coordinates divided by the small eigenvalues of a wide kernel."""
    kernel = KernelRows(Kernel("rbf", 0.02), X.astype(np.float32))
    basis = basis_of(KernelProblem(kernel, np.ones((80, 1)), np.ones(80), 1.0, centers=np.arange(80)))
    T = tangent_covariance(kernel, np.arange(80), np.ones(80), [(1.0, shift)])
    values = np.linalg.eigvalsh(basis.congruent(T))
    assert values[0] > -1e-9 * values[-1]


def test_classifier_and_features_become_invariant():
    for make in (
        lambda **p: KernelFisherClassifier(gamma=0.5, alpha=0.1, **p).fit(X, Y).decision_function,
        lambda **p: KernelFisherFeatures(gamma=0.5, alpha=0.1, **p).fit(X, Y).transform,
        lambda **p: KernelFisherFeatures(gamma=0.5, alpha=0.1, n_centers=40, random_state=0, **p).fit(X, Y).transform,
    ):
        plain, invariant = make(), make(invariances=[(10.0, shift)])
        changes = [
            np.sum((f(X) - f(shift(X))) ** 2) / np.sum((f(X) - f(X).mean(axis=0)) ** 2) for f in (plain, invariant)
        ]
        assert changes[1] < changes[0]


def test_image_transformations():
    image = np.zeros((1, 7, 7))
    image[0, 3, 2:5] = 1.0
    row = image.reshape(1, -1)
    down = Translation((7, 7), down=1)(row).reshape(7, 7)
    np.testing.assert_allclose(down[4, 2:5], 1)
    np.testing.assert_allclose(Translation((7, 7), right=-1)(row).reshape(7, 7)[3, 1:4], 1)
    turned = Rotation((7, 7), 90)(row).reshape(7, 7)
    np.testing.assert_allclose(turned[2:5, 3], 1, atol=1e-9)
    assert Thickening((7, 7), 0.5)(row).sum() > row.sum()
    assert row.sum() == 3


def test_bad_transformations_are_named():
    with pytest.raises(ValueError, match="rows of the same shape"):
        KernelFisherClassifier(invariances=[lambda rows: rows[:, :1]]).fit(X, Y)
    with pytest.raises(ValueError, match="precomputed"):
        KernelFisherClassifier(kernel="precomputed", invariances=[shift]).fit(X @ X.T, Y)
    for options in ({"loss": "absolute"}, {"solver": "nystrom"}, {"solver": "linear"}):
        with pytest.raises(ValueError, match=r"quadratic penalty and the solvers subset, eigen"):
            KernelFisherClassifier(invariances=[shift], **options).fit(X, Y)
