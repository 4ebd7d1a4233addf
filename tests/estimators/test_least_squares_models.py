"""A model is shared by the estimator with an alpha and the one that searches for it, which are siblings."""

import numpy as np
import pytest
from ls_problems import inputs, labels
from sklearn.datasets import load_linnerud

import eigenfeat
from eigenfeat import HypergraphFeatures, LeastSquaresFeatures
from eigenfeat.least_squares.targets import hypergraph_factor
from eigenfeat.moments import collect_cross_moments

PLAIN = ["LeastSquaresLDA", "LeastSquaresCCA", "LeastSquaresOPLS", "HypergraphFeatures", "LeastSquaresFeatures"]


@pytest.mark.parametrize("name", PLAIN)
def test_a_search_is_a_sibling_with_alphas_for_alpha_and_without_moments(name):
    plain, search = getattr(eigenfeat, name), getattr(eigenfeat, f"{name}CV")
    assert not issubclass(search, plain) and not issubclass(plain, search)
    assert hasattr(plain, "fit_moments") and not hasattr(search, "fit_moments")
    ours, theirs = plain().get_params(), search().get_params()
    assert ours.keys() ^ theirs.keys() == {"alpha", "alphas", "cv"}
    assert all(ours[key] == theirs[key] for key in ours.keys() & theirs.keys())


@pytest.mark.parametrize("graph", ["star", "clique", "zhou"])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_a_hypergraph_are_those_of_its_factor(graph, weighted):
    rng = np.random.default_rng(21)
    X, Y = inputs(rng, 90, 7) + 4.0, labels(rng, 90)
    X[:, :5] += Y
    weight = rng.uniform(0.2, 2, size=90) if weighted else None
    rows = HypergraphFeatures(graph=graph, alpha=0).fit(X, Y, weight)
    H = hypergraph_factor(Y, graph, weight)
    moments = LeastSquaresFeatures(alpha=0).fit_moments(collect_cross_moments(X, H, weight))
    for name in ("components_", "eigenvalues_", "offsets_", "mean_"):
        np.testing.assert_allclose(getattr(moments, name), getattr(rows, name), atol=1e-8)
    np.testing.assert_allclose(moments.transform(X), rows.transform(X), atol=1e-8)


def test_moments_of_labels_are_no_hypergraph():
    way_out = (
        r"LeastSquaresFeatures\(\)\.fit_moments\(collect_cross_moments\(X, hypergraph_factor\(labels, 'zhou'\)\)\)"
    )
    with pytest.raises(ValueError, match=way_out):
        HypergraphFeatures(graph="zhou").fit_moments(collect_cross_moments(*load_linnerud(return_X_y=True)))
