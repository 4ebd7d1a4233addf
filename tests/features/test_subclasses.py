"""Sub-classes: the whole is the sum of its parts, and contrasts are between classes only."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from eigenfeat import GEMClassifier, GEMClassifierCV, GEMFeatures
from eigenfeat.features.layer import AUTO_PER_PAIR
from eigenfeat.features.pairs import STRATEGIES, auto_directions, choose_contrasts
from eigenfeat.features.subclasses import ROWS_EACH, Subclasses, between_subclasses, clustered, nearest
from eigenfeat.moments import collect_moments
from eigenfeat.rows import ArrayRows


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X / 16, y


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000), n=st.integers(20, 80), weighted=st.booleans(), form=st.sampled_from(["dense", "rows"])
)
def test_pooled_moments_of_subclasses_are_those_of_the_class(seed, n, weighted, form):
    rng = np.random.default_rng(seed)
    X, y, events = rng.normal(size=(n, 4)) + 5, np.arange(n) % 3, rng.integers(3, size=n)
    weights = rng.uniform(0.5, 2, n) if weighted else None
    cut = Subclasses.of(y, events, np.arange(3))
    whole = collect_moments(X, y, weights, form=form)
    grouped = collect_moments(X, cut.codes, weights, form=form).merge_classes(np.arange(3)[cut.owners])
    np.testing.assert_allclose(grouped.means, whole.means, rtol=1e-12)
    np.testing.assert_allclose(grouped.weights, whole.weights, rtol=1e-12)
    for c in range(3):
        expected = whole.second_moment(c).toarray()
        np.testing.assert_allclose(grouped.second_moment(c).toarray(), expected, rtol=1e-10)
        parts = collect_moments(X, cut.codes, weights, form=form)
        pooled = parts.second_moment(parts.pool(np.flatnonzero(cut.owners == c))).toarray()
        np.testing.assert_allclose(pooled, expected, rtol=1e-10)


def test_names_and_owners():
    cut = Subclasses.of(np.array([0, 0, 1, 1, 1]), np.array(["b", "a", "a", "a", "c"]), np.array([3, 5]))
    assert cut.names.tolist() == ["3/a", "3/b", "5/a", "5/c"]
    assert cut.owners.tolist() == [0, 0, 1, 1]
    assert cut.codes.tolist() == [1, 0, 2, 2, 3]
    # A row of weight zero makes no sub-class.
    light = Subclasses.of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([3, 5]), np.array([1, 0, 1, 1.0]))
    assert light.names.tolist() == ["3", "5/0", "5/1"]


def test_clusters_are_those_of_nearest_centres_and_small_classes_are_cut_less(digits):
    X, y = digits
    few = np.flatnonzero(y != 3).tolist() + np.flatnonzero(y == 3)[: 2 * ROWS_EACH - 1].tolist()
    X, y = X[few], y[few]
    cut = clustered(ArrayRows(X, y), np.arange(4), np.bincount(y), 3, np.random.RandomState(0))
    assert np.bincount(cut.owners).tolist() == [3, 3, 3, 1]
    assert np.array_equal(cut.owners[cut.codes], y)
    again = clustered(ArrayRows(csr_matrix(X), y), np.arange(4), np.bincount(y), 3, np.random.RandomState(0))
    assert np.array_equal(again.codes, cut.codes)
    centres = X[:3]
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert np.array_equal(nearest(X, np.zeros(len(X), dtype=int), {0: centres}), distances.argmin(axis=1))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_contrasts_are_between_subclasses_of_different_classes(digits, strategy):
    X, y = digits
    cut = clustered(ArrayRows(X, y), np.arange(4), np.bincount(y), 2, np.random.RandomState(0))
    moments, parts = collect_moments(X, y), collect_moments(X, cut.codes)
    of_classes = choose_contrasts(moments, strategy, np.random.RandomState(0))
    chosen = between_subclasses(of_classes, cut, parts)
    assert len({tuple(pair) for pair in chosen.names.tolist()}) == len(chosen)
    for above, below in chosen.mixtures:
        if isinstance(above, int) and isinstance(below, int):
            assert cut.owners[above] != cut.owners[below]
        for end in (above, below):
            if isinstance(end, np.ndarray):
                assert end.sum() == pytest.approx(1)
    if strategy == "all":
        assert len(chosen) == 4 * 12


def test_one_subclass_is_none(digits):
    X, y = digits
    for parameters in ({}, {"class_pairs": "hypercube"}):
        plain, one = (GEMFeatures(2, subclasses=s, **parameters).fit(X, y) for s in (None, 1))
        np.testing.assert_array_equal(one.transform(X), plain.transform(X))


def test_directions_solve_the_problem_of_their_subclasses(digits):
    """Against scipy, with the user's own events."""
    X, y = digits
    event = np.where(np.arange(len(y)) % 3 == 0, "x", "y")
    model = GEMFeatures(2, ridge=0.3, solver="dense").fit(X, y, subclass_labels=event)
    second = {
        f"{c}/{e}": X[(y == c) & (event == e)].T @ X[(y == c) & (event == e)] / np.sum((y == c) & (event == e))
        for c in range(4)
        for e in "xy"
    }
    assert len(model.eigenvalues_) == 2 * 48
    for column in (0, 17, 95):
        above, below = model.pairs_[column]
        noise = second[below] + 0.3 * np.trace(second[below]) / 64 * np.eye(64)
        exact = eigh(second[above], noise, eigvals_only=True)[::-1]
        assert model.eigenvalues_[column] == pytest.approx(exact[column % 2], rel=1e-8)
    assert list(model.classes_) == [0, 1, 2, 3]
    assert model.moments_.n_classes == 4
    assert len(set(model.get_feature_names_out())) == model.transform(X[:2]).shape[1]


def test_budgets_hold_as_pairs_grow(digits):
    X, y = digits
    sizes = [len(GEMFeatures(subclasses=s).fit(X, y).eigenvalues_) for s in (None, 4, 8)]
    assert sizes[0] == 12 * AUTO_PER_PAIR
    assert sizes[1] == 12 * 16 * (auto_directions(4, len(y)) // (12 * 16))
    assert max(sizes) <= 2400


def test_classifiers_take_them(digits):
    X, y = digits
    event = np.arange(len(y)) % 2
    model = GEMClassifier(1, subclasses=2, n_layers=2, constant=[True, False]).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.95
    assert "/" in model.pairs_[0][0]
    grid = {"ridges": (0.5,), "min_eigenvalues": (0.0,), "n_components_grid": (1,), "alphas": (1e-2,)}
    search = GEMClassifierCV(**grid).fit(X, y, subclass_labels=event)
    assert {name.split("/")[1] for name in search.pairs_.ravel()} == {"0", "1"}
    together = GEMClassifierCV(**grid, n_estimators=2).fit(X, y)
    assert all("/" in name for name in together.pairs_.ravel())
    with pytest.raises(ValueError, match="one label a row"):
        GEMFeatures(1).fit(X, y, subclass_labels=event[:-1])
    with pytest.raises(ValueError, match="found from rows"):
        GEMFeatures(1, subclasses=2).fit_moments(collect_moments(X, y))


def test_members_of_an_ensemble_differ_or_are_refused(digits):
    X, y = digits
    few = {"n_components": 1, "alpha": 1.0}
    members = GEMClassifier(**few, n_estimators=2).fit(X, y).stacks_
    found = [stack.layers[0].directions for stack in members]
    assert all("/" in name for name in found[0].names.ravel())
    assert not np.allclose(np.sort(found[0].eigenvalues), np.sort(found[1].eigenvalues), rtol=1e-3)
    drawn = GEMClassifier(**few, n_estimators=2, class_pairs="random", n_pairs=4).fit(X, y).stacks_
    assert not np.array_equal(drawn[0].layers[0].directions.names, drawn[1].layers[0].directions.names)
    for parameters, fit in (({"subclasses": 1}, {}), ({}, {"subclass_labels": np.arange(len(y)) % 2})):
        with pytest.raises(ValueError, match="would be identical"):
            GEMClassifier(**few, n_estimators=2, **parameters).fit(X, y, **fit)
