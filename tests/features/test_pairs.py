"""Strategies for choosing contrasts: what each promises about which classes meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from eigenfeat.features.pairs import (
    STRATEGIES,
    all_pairs,
    auto_directions,
    choose_contrasts,
    confusion_contractions,
    default_count,
    hypercube_pairs,
    most_contrasts,
    random_pairs,
    stratified_pairs,
)
from eigenfeat.moments import DenseMoments
from eigenfeat.quotients import IDENTITY


def moments_of(k, seed=0, d=3):
    rng = np.random.default_rng(seed)
    y = np.arange(8 * k) % k
    return DenseMoments().update(rng.normal(size=(8 * k, d)) + 3 * rng.normal(size=(k, d))[y], y)


@settings(max_examples=30, deadline=None)
@given(k=st.integers(2, 60), seed=st.integers(0, 1000))
def test_a_hypercube_connects_all_classes_by_few_symmetric_pairs(k, seed):
    pairs = hypercube_pairs(k, np.random.RandomState(seed))
    chosen = {tuple(p) for p in pairs.tolist()}
    assert len(chosen) == len(pairs)
    assert all((j, i) in chosen and i != j for i, j in chosen)
    assert len(pairs) <= k * np.ceil(np.log2(k))
    reached = {0}
    while True:
        new = {j for i, j in chosen if i in reached} - reached
        if not new:
            break
        reached |= new
    assert reached == set(range(k))


@pytest.mark.filterwarnings("ignore:n_pairs")
@settings(max_examples=20, deadline=None)
@given(k=st.integers(3, 40), rounds=st.integers(1, 4), seed=st.integers(0, 1000))
def test_stratified_pairs_use_every_class_equally_often_on_both_sides(k, rounds, seed):
    n_pairs = min(rounds, k - 1) * k - seed % k
    pairs = stratified_pairs(k, n_pairs, np.random.RandomState(seed))
    assert len(pairs) == n_pairs
    assert len({tuple(p) for p in pairs.tolist()}) == len(pairs)
    assert (pairs[:, 0] != pairs[:, 1]).all()
    for side in (0, 1):
        counts = np.bincount(pairs[:, side], minlength=k)
        assert counts.max() - counts.min() <= 1


def test_random_pairs_are_distinct_and_as_many_as_asked():
    pairs = random_pairs(10, 37, np.random.RandomState(0))
    assert len({tuple(p) for p in pairs.tolist()}) == 37
    assert (pairs[:, 0] != pairs[:, 1]).all()


def test_auto_takes_all_pairs_while_few_and_at_most_four_problems_a_class_beyond():
    rng = np.random.RandomState(0)
    assert len(choose_contrasts(moments_of(10), "auto", rng)) == 90
    assert len(choose_contrasts(moments_of(100), "auto", rng)) <= 400
    assert auto_directions(1000) == 240
    assert len(choose_contrasts(moments_of(1000), "auto", rng)) == 1000
    assert default_count(180) == 180 * 8
    assert len(all_pairs(5)) == 20


@pytest.mark.parametrize("k", [5, 13, 26, 180, 1000])
@pytest.mark.parametrize("strategy", ["auto", "hypercube", "random", "stratified"])
def test_how_many_there_may_be_is_known_beforehand(k, strategy):
    for n_pairs in (None, k):
        found = len(choose_contrasts(moments_of(k), strategy, np.random.RandomState(0), n_pairs))
        assert found <= most_contrasts(strategy, k, n_pairs)
        if strategy == "auto" and n_pairs is None:
            assert 0.8 * most_contrasts(strategy, k) <= found


def parts(pairs, k):
    """Into how many parts the classes fall when pairs connect them."""
    joined = coo_matrix((np.ones(len(pairs)), pairs.T), shape=(k, k))
    return connected_components(joined, directed=False)[0]


@pytest.mark.parametrize("k", [3, 13, 180, 1000])
def test_auto_has_every_class_on_both_sides(k):
    chosen = choose_contrasts(moments_of(k), "auto", np.random.RandomState(k))
    for side in (0, 1):
        assert {pair[side] for pair in chosen.mixtures} == set(range(k))
    if k < 1000:
        assert parts(np.array(chosen.mixtures), k) == 1


@pytest.mark.parametrize("k", [3, 13, 180, 1000])
@pytest.mark.parametrize("strategy", ["hypercube", "random", "stratified"])
def test_every_class_is_in_a_pair_at_any_budget_that_can_hold_all(k, strategy):
    half = -(-k // 2)
    for budget in sorted({half, half + 1, 2 * half, k + half, 2 * k}):
        n_pairs = min(budget, k * (k - 1))
        draw = {
            "hypercube": lambda n: hypercube_pairs(k, np.random.RandomState(n), n),
            "random": lambda n: random_pairs(k, n, np.random.RandomState(n)),
            "stratified": lambda n: stratified_pairs(k, n, np.random.RandomState(n)),
        }[strategy]
        pairs = draw(n_pairs)
        assert len({tuple(pair) for pair in pairs.tolist()}) == len(pairs) <= n_pairs
        assert (pairs[:, 0] != pairs[:, 1]).all()
        assert set(pairs.ravel().tolist()) == set(range(k))


@settings(max_examples=40, deadline=None)
@given(k=st.integers(3, 200), share=st.floats(0, 1), seed=st.integers(0, 100))
def test_a_thinned_hypercube_is_made_of_edges_and_connected_once_its_budget_allows(k, share, seed):
    whole = {tuple(pair) for pair in hypercube_pairs(k, np.random.RandomState(seed)).tolist()}
    n_pairs = round(k + share * (len(whole) - k))
    pairs = hypercube_pairs(k, np.random.RandomState(seed), n_pairs)
    assert {tuple(pair) for pair in pairs.tolist()} <= whole
    assert n_pairs - 1 <= len(pairs) <= n_pairs
    assert set(pairs.ravel().tolist()) == set(range(k))
    if len(pairs) >= 2 * (k - 1):
        assert parts(pairs, k) == 1


def test_a_budget_that_cannot_hold_all_classes_is_said():
    rng = np.random.RandomState(0)
    for draw in (lambda: hypercube_pairs(20, rng, 9), lambda: random_pairs(20, 9, rng)):
        with pytest.warns(UserWarning, match="at most 18 of 20 classes"):
            assert len(draw()) == 9


def test_contractions_mix_whole_groups_and_each_class_within_its_group():
    moments = moments_of(9)
    contrasts = choose_contrasts(moments, "contractions", np.random.RandomState(0))
    mixtures = [np.asarray(moments.proportions(m)) for pair in contrasts.mixtures for m in pair]
    for u in mixtures:
        assert (u >= 0).all()
        assert u.sum() == pytest.approx(1)
    covered = sum(mixtures) > 0
    assert covered.all()
    assert len(contrasts) < 72  # fewer than all pairs


def test_given_pairs_are_labels():
    moments = moments_of(3)
    moments.rename(np.array(["a", "b", "c"]))
    chosen = choose_contrasts(moments, [("c", "a"), ("b", "c")], np.random.RandomState(0))
    assert chosen.mixtures == [(2, 0), (1, 2)]
    assert chosen.names.tolist() == [["c", "a"], ["b", "c"]]
    for bad in ([("a", "a")], [("a", "z")], []):
        with pytest.raises(ValueError, match="class_pairs"):
            choose_contrasts(moments, bad, np.random.RandomState(0))
    with pytest.raises(ValueError, match="one of auto, all, hypercube"):
        choose_contrasts(moments, "pairs", np.random.RandomState(0))


def test_confusions_become_contrasts_with_the_rivals():
    confusion = np.array([[90, 8, 2, 0], [4, 95, 1, 0], [0, 1, 99, 0], [0, 0, 0, 50]])
    contrasts = confusion_contractions(confusion, n_confused=2)
    assert contrasts.shape == (8, 2, 4)
    np.testing.assert_allclose(contrasts[0], [[1, 0, 0, 0], [0, 12 / 14, 2 / 14, 0]])
    np.testing.assert_allclose(contrasts[4], contrasts[0, ::-1])
    np.testing.assert_allclose(contrasts[3, 1], [1 / 3, 1 / 3, 1 / 3, 0])  # never confused: all others
    with pytest.raises(ValueError, match="square"):
        confusion_contractions(np.ones((2, 3)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_names_and_mixtures_of_classes(strategy):
    moments = moments_of(6)
    chosen = choose_contrasts(moments, strategy, np.random.RandomState(0))
    assert len(chosen) == len(chosen.names) > 0
    for above, below in chosen.mixtures:
        assert moments.proportions(above).sum() == pytest.approx(1)
        assert below == IDENTITY if isinstance(below, str) else moments.proportions(below).sum() == pytest.approx(1)


def test_a_class_stands_over_the_rest_all_rows_or_nothing():
    moments = moments_of(3)
    rest, everyone, alone = (
        choose_contrasts(moments, strategy, np.random.RandomState(0)).mixtures[1]
        for strategy in ("one-vs-rest", "one-vs-all", "per-class")
    )
    np.testing.assert_allclose(rest[1], [0.5, 0, 0.5])
    np.testing.assert_allclose(moments.proportions(everyone[1]), moments.class_fractions)
    assert alone == (1, IDENTITY) and rest[0] == everyone[0] == 1
