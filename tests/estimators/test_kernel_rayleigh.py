"""Any signal over any noise in kernel space: against the eigenproblem written out, and against those with a name."""

import numpy as np
import pytest
from kernel_data import CLOUD, CLOUD_LABELS, shift
from scipy import sparse
from scipy.linalg import eigh
from sklearn.neighbors import kneighbors_graph

from eigenfeat import KernelFisherFeatures, KernelRayleighFeatures, OrientedKernelPCA, RayleighFeatures
from eigenfeat.stages.kernels import Kernel

K = Kernel("rbf", 8.0)(CLOUD, CLOUD)
N = len(CLOUD)
MEAN = np.eye(N) - 1 / N
CLASS = np.eye(2)[CLOUD_LABELS]
WITHIN = np.eye(N) - CLASS @ np.diag(1 / CLASS.sum(axis=0)) @ CLASS.T
BETWEEN = MEAN - WITHIN
GRAPH = sparse.csgraph.laplacian(kneighbors_graph(CLOUD, 5).maximum(kneighbors_graph(CLOUD, 5).T))
MOVED = K - Kernel("rbf", 8.0)(shift(CLOUD), CLOUD)


def features(*parts, **settings):
    return KernelRayleighFeatures(*parts, **{"gamma": 8.0, "alpha": 0.1, "columns": None, **settings})


def written_out(S, M, penalty, alpha=0.1):
    """Eigenvalues and outputs of the problem in α itself, over the span of K."""
    vectors = np.linalg.eigh(K)
    kept = vectors[0] > 1e-13
    V = vectors[1][:, kept]
    P = K if penalty == "function" else np.eye(N)
    values, theta = eigh(V.T @ S @ V, V.T @ (M + alpha * P) @ V)
    return values[::-1], (K @ V @ theta)[:, ::-1]


CASES = {
    "fisher": ("between", "within", K @ BETWEEN @ K, K @ WITHIN @ K),
    "sums": (
        ["between", (0.3, "total"), (0.2, GRAPH)],
        [(2.0, "within"), (3.0, shift)],
        K @ (BETWEEN + 0.3 * MEAN + 0.2 * GRAPH.toarray()) @ K,
        2 * K @ WITHIN @ K + 3 * MOVED.T @ MOVED,
    ),
    "named": (
        ["second_moment", (0.5, "between")],
        ["within", (0.3, "identity")],
        K @ K + 0.5 * K @ BETWEEN @ K,
        K @ WITHIN @ K + 0.3 * K,
    ),
    "given": (np.diag(np.arange(N) + 1.0), GRAPH, K @ np.diag(np.arange(N) + 1.0) @ K, K @ GRAPH.toarray() @ K),
}


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("case", CASES)
def test_directions_are_those_of_the_written_out_eigenproblem(case, penalty):
    signal, noise, S, M = CASES[case]
    if case == "named" and penalty == "coefficients":
        M = M - 0.3 * K + 0.3 * np.eye(N)
    count = 1 if case == "fisher" else 3
    model = features(signal, noise, count, penalty=penalty).fit(CLOUD, CLOUD_LABELS)
    values, outputs = written_out(S, M, penalty)
    np.testing.assert_allclose(model.eigenvalues_, values[:count], rtol=1e-5)
    ours = model.transform(CLOUD)
    for k in range(count):
        reference = outputs[:, k] - outputs[:, k].mean()
        assert abs(np.corrcoef(ours[:, k], reference)[0, 1]) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(ours.mean(axis=0), 0, atol=1e-9)


def test_the_bottom_of_the_spectrum():
    model = features("total", GRAPH, 2, which="smallest", penalty="coefficients").fit(CLOUD)
    values, _ = written_out(K @ MEAN @ K, K @ GRAPH.toarray() @ K, "coefficients")
    np.testing.assert_allclose(np.sort(model.eigenvalues_), np.sort(values[-2:]), atol=1e-8)
    top = features("total", GRAPH, 2, penalty="coefficients").fit(CLOUD)
    assert model.eigenvalues_.max() < top.eigenvalues_.min()


def test_named_ones_are_special_cases():
    fisher = KernelFisherFeatures(gamma=8.0, alpha=0.1, columns=None).fit(CLOUD, CLOUD_LABELS)
    ours = features().fit(CLOUD, CLOUD_LABELS)
    np.testing.assert_allclose(ours.eigenvalues_, fisher.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(CLOUD)), np.abs(fisher.transform(CLOUD)), atol=1e-6)
    oriented = OrientedKernelPCA(2, gamma=8.0, alpha=0.1, invariances=[shift]).fit(CLOUD)
    same = features([(1 / N, "total")], [(1 / N, shift)], 2).fit(CLOUD)
    np.testing.assert_allclose(same.eigenvalues_, oriented.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(same.transform(CLOUD), oriented.transform(CLOUD), atol=1e-5)


def test_a_linear_kernel_is_the_linear_estimator():
    rng = np.random.RandomState(0)
    X = rng.randn(120, 4) @ rng.randn(4, 4)
    y = rng.randint(3, size=120)
    X += y[:, None] * [1.0, 0.5, 0, 0]
    linear = RayleighFeatures(["between", (0.1, "total")], [(2.0, "within")], 2).fit(X, y)
    ours = features(["between", (0.1, "total")], [(2.0, "within")], 2, kernel="linear", alpha=1e-9).fit(X, y)
    np.testing.assert_allclose(ours.eigenvalues_, linear.eigenvalues_, rtol=1e-5)
    for a, b in zip(ours.transform(X).T, linear.transform(X).T):
        assert abs(np.corrcoef(a, b)[0, 1]) == pytest.approx(1, abs=1e-6)


def test_over_centres_and_with_weights():
    weights = np.random.RandomState(0).randint(1, 4, size=N)
    repeated = np.repeat(np.arange(N), weights)
    centres = CLOUD[::4]
    one = features(["between", "total"], "within", 2, centers=centres).fit(CLOUD, CLOUD_LABELS, weights)
    two = features(["between", "total"], "within", 2, centers=centres).fit(CLOUD[repeated], CLOUD_LABELS[repeated])
    np.testing.assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(one.transform(CLOUD)), np.abs(two.transform(CLOUD)), atol=1e-7)


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        ("spread", "signal must be one of between, within, total"),
        (np.eye(3), "80 × 80 array"),
        (np.triu(np.ones((N, N))), "must be symmetric"),
        (np.full((N, N), np.nan), "NaN or infinite"),
        (np.zeros((N, N)), "no direction with any signal"),
    ],
)
def test_bad_signals_are_named(signal, message):
    with pytest.raises(ValueError, match=message):
        features(signal, "total", 1).fit(CLOUD)


def test_a_transformation_needs_rows():
    with pytest.raises(ValueError, match="kernel='precomputed' cannot see"):
        features("total", shift, 1, kernel="precomputed").fit(K)
