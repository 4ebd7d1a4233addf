"""The factor of each model against its definition, and the reduction to orthonormal targets."""

import numpy as np
import pytest
from ls_problems import inputs, labels
from scipy import sparse

from eigenfeat.least_squares import targets as module
from eigenfeat.least_squares.rows import centre, centre_kernel
from eigenfeat.least_squares.targets import ExplicitTargets, ImplicitTargets, hypergraph_factor, reduce


def adjacency(J, graph):
    """I - L as the hypergraph papers define it, pair by pair and edge by edge."""
    k = J.shape[1]
    size = J.sum(axis=0)
    if graph == "clique":
        W = sum(np.outer(J[:, e], J[:, e]) for e in range(k))
        return W, W.sum(axis=1)
    if graph == "zhou":
        W = sum(np.outer(J[:, e], J[:, e]) / size[e] for e in range(k) if size[e])
        return W, J.sum(axis=1)
    # star: two steps of a walk on the graph of rows and labels, whose edge v - e weighs 1 / δ(e)
    edges = np.divide(J, size, out=np.zeros_like(J), where=size > 0)
    label_degree = edges.sum(axis=0)
    W = sum(np.outer(edges[:, e], edges[:, e]) / label_degree[e] for e in range(k) if size[e])
    return W, edges.sum(axis=1)


@pytest.mark.parametrize("graph", ["star", "clique", "zhou"])
def test_hypergraph_factor_is_a_root_of_the_normalised_adjacency(graph):
    J = labels(np.random.default_rng(0), 18)
    W, degree = adjacency(J, graph)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    H = hypergraph_factor(J, graph).toarray()
    np.testing.assert_allclose(H @ H.T, scale[:, None] * W * scale, atol=1e-12)
    assert np.linalg.eigvalsh(H @ H.T).max() <= 1 + 1e-12
    assert not H[:2].any()


@pytest.mark.parametrize("graph", ["star", "clique", "zhou"])
def test_hypergraph_weights_equal_repeated_rows(graph):
    rng = np.random.default_rng(1)
    J, weight = labels(rng, 15), rng.integers(1, 4, size=15)
    repeated = hypergraph_factor(J.repeat(weight, axis=0), graph).toarray()
    weighted = hypergraph_factor(J, graph, weight.astype(float)).toarray()
    np.testing.assert_allclose(weighted.repeat(weight, axis=0), repeated, atol=1e-12)


@pytest.mark.parametrize("project", [False, True])
def test_targets_rebuild_the_centred_factor(project):
    rng = np.random.default_rng(2)
    H, weight = labels(rng, 20) + 3.0, rng.uniform(0.5, 2, size=20)
    root = np.sqrt(weight)
    targets = reduce(H, root, project=project)
    B = root[:, None] * (H - np.average(H, axis=0, weights=weight))
    assert targets.rank == np.linalg.matrix_rank(B) == 3
    T = targets.orthonormal
    np.testing.assert_allclose(T.T @ T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(root @ T, 0, atol=1e-12)
    S = B @ np.linalg.pinv(B.T @ B, rcond=1e-10) @ B.T if project else B @ B.T
    np.testing.assert_allclose(targets.factor @ targets.factor.T, S, atol=1e-10)
    np.testing.assert_allclose(T @ targets.writing.T, B, atol=1e-12)
    np.testing.assert_allclose(T @ np.diag(targets.singular_values) @ targets.loadings.T, B, atol=1e-12)
    np.testing.assert_allclose(B @ targets.reading, T, atol=1e-12)


def test_a_constant_column_has_no_rank():
    H = np.column_stack([np.full(30, 0.1), np.full(30, 1e9)])
    assert reduce(H, np.ones(30)).rank == 0


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel"])
def test_targets_by_products_are_those_written_out(monkeypatch, project, is_sparse, kind):
    rng = np.random.default_rng(3)
    H, X, weight = labels(rng, 20), inputs(rng, 20, 6), rng.uniform(0.5, 2, size=20)
    rows = {"dense": lambda: centre(X, weight), "sparse": lambda: centre(sparse.csr_array(X), weight)}
    rows = rows.get(kind, lambda: centre_kernel(X @ X.T, weight))()
    explicit = reduce(H, rows.root, project=project)
    monkeypatch.setattr(module, "MANY_COLUMNS", 2)
    implicit = reduce(sparse.csr_array(H) if is_sparse else H, rows.root, project=project)
    assert isinstance(explicit, ExplicitTargets) and isinstance(implicit, ImplicitTargets)
    assert implicit.rank == 3 if project else 4  # unreduced: all columns but the empty one
    F, G, block = explicit.factor, implicit.factor, rng.normal(size=(20, 2))
    np.testing.assert_allclose(G @ G.T, F @ F.T, atol=1e-10)
    np.testing.assert_allclose(implicit.transpose_times(block), G.T @ block, atol=1e-10)
    np.testing.assert_allclose(implicit.times(G.T @ block), G @ (G.T @ block), atol=1e-10)
    np.testing.assert_allclose(implicit.rows_of(np.array([3, 0])), G[[3, 0]], atol=1e-10)
    np.testing.assert_allclose(implicit.against(rows), rows.combine(G), atol=1e-10)
    np.testing.assert_allclose(
        implicit.writing @ implicit.along(block), explicit.writing @ explicit.along(block), atol=1e-10
    )
    assert implicit.largest_column == pytest.approx(explicit.largest_column)
    padded = implicit.padded(3).factor
    np.testing.assert_allclose(padded, np.vstack([G, np.zeros((3, G.shape[1]))]), atol=1e-12)


def test_a_rank_that_products_leave_in_doubt_is_read_off_the_columns(monkeypatch):
    rng = np.random.default_rng(4)
    H = rng.normal(size=(30, 3))
    H[:, 2] = H[:, 1] + 1e-5 * rng.normal(size=30)
    monkeypatch.setattr(module, "MANY_COLUMNS", 2)
    assert isinstance(reduce(H, np.ones(30), project=True), ExplicitTargets)


def test_constant_columns_have_no_rank_among_many():
    H = np.hstack([np.full((30, 150), 0.1), np.zeros((30, 1))])
    for given in (H, sparse.csr_array(H)):
        assert [reduce(given, np.ones(30), project=project).rank for project in (False, True)] == [0, 0]
