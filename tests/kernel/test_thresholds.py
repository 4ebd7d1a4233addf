"""Cuts of one-dimensional outputs."""

import numpy as np
import pytest
from sklearn.svm import SVC
from written_out import outputs

from eigenfeat.kernel.thresholds import (
    COMPARED,
    _derivative_and_offset,
    gaussian_threshold,
    least_error_threshold,
    margin_threshold,
    thresholds,
)

RULES = [margin_threshold, gaussian_threshold, least_error_threshold]

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("gap", [1.5, 3.0, 12.0])
def test_margin_is_the_cut_of_a_support_vector_machine(gap):
    q, positive, weights = outputs(RNG, gap=gap)
    centre = np.average(q, weights=weights)
    spread = np.sqrt(np.average((q - centre) ** 2, weights=weights))
    svm = SVC(kernel="linear", C=1.0, tol=1e-9).fit(((q - centre) / spread)[:, None], positive, weights)
    cut = centre - spread * svm.intercept_[0] / svm.coef_[0, 0]
    # LIBSVM keeps kernel values in float32.
    assert margin_threshold(q, positive, weights) == pytest.approx(cut, abs=1e-6)


def test_margin_halves_the_gap_of_separable_classes():
    q = np.array([-3.0, -1.0, 2.0, 5.0])
    assert margin_threshold(q, q > 0, np.full(4, 1e6)) == pytest.approx(0.5)


@pytest.mark.parametrize("rule", RULES)
def test_weights_are_copies_and_the_order_does_not_matter(rule):
    q, positive, weights = outputs(RNG)
    copies = weights.astype(int)
    repeated = rule(np.repeat(q, copies), np.repeat(positive, copies), np.ones(copies.sum()))
    assert rule(q, positive, weights) == pytest.approx(repeated, rel=1e-11)
    assert rule(q[::-1], positive[::-1], weights[::-1]) == pytest.approx(repeated, rel=1e-11)


def test_gaussian_cut_is_bayes_optimal():
    positive = np.arange(400_000) % 4 == 0
    q = np.where(positive, 2 + 0.5 * RNG.randn(400_000), RNG.randn(400_000))
    cut = gaussian_threshold(q, positive, np.ones(len(q)))
    grid = np.linspace(0.5, 2, 301)
    errors = [np.mean((q > t) != positive) for t in grid]
    # The error is flat about its minimum: counted on 4·10⁵ rows it is found no better than this.
    assert cut == pytest.approx(grid[np.argmin(errors)], abs=0.02)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("share", [0.2, 0.8])
def test_constant_outputs_go_to_the_larger_class(rule, share):
    positive = np.arange(10) < 10 * share
    cut = rule(np.full(10, 0.3), positive, np.ones(10))
    assert (cut < 0.3) == (share > 0.5)


def test_overlapping_classes_still_get_a_cut_between_them():
    q, positive, weights = outputs(RNG, share=0.3, gap=0.0)
    assert np.isfinite(margin_threshold(q, positive, weights))


@pytest.mark.parametrize("weight", [np.inf, np.nan, -1.0])
def test_a_walk_over_rows_ends_with_them(weight):
    q = np.array([2.0, 1.0, -1.0])
    w = np.array([weight, 1.0, 1.0])
    _derivative_and_offset(q, w, q - 3, w, 1.0, 1.0)


@pytest.mark.parametrize("rule", RULES)
def test_outputs_an_ulp_apart_are_constant(rule):
    """Averages of equal numbers are not equal in their last digit: the larger class wins all the same."""
    for seed in range(200):
        rng = np.random.RandomState(seed)
        output = rng.randn()
        positive = rng.rand(rng.randint(3, 60)) < 0.3
        positive[:2] = [True, False]
        if 2 * positive.sum() == len(positive):
            continue
        for q in (np.full(len(positive), output), output * (1 + 1e-15 * rng.randn(len(positive)))):
            cut = rule(q, positive, np.ones(len(q)))
            assert ((q > cut) == (positive.mean() > 0.5)).all()


@pytest.mark.parametrize("rule", RULES)
def test_outputs_that_point_the_wrong_way_go_to_the_larger_class(rule):
    q = np.array([1.0, 1.1, -1.0, -1.1, -1.2])
    assert (q <= rule(q, q > 0, np.ones(5)) + 1e-9).sum() == 3  # as they should
    assert (-q <= rule(-q, q > 0, np.ones(5))).all()


def test_least_error_is_the_widest_gap_of_all_cuts_tried():
    """Thesis 5.3.1: the least empirical risk, then the largest margin; every cut between two outputs is tried."""
    for seed in range(50):
        q, positive, weights = outputs(np.random.RandomState(seed), n=25, gap=1.0)
        q = q.round(1)
        values = np.unique(q)
        middles = (values[1:] + values[:-1]) / 2
        errors = np.array([weights @ ((q > cut) != positive) for cut in middles])
        one_side = min(weights[positive].sum(), weights[~positive].sum())
        cut = least_error_threshold(q, positive, weights)
        if errors.min() > one_side:
            assert ((q > cut) == (positive @ weights > weights.sum() / 2)).all()
            continue
        best = np.flatnonzero(errors <= errors.min() + 1e-9)
        assert weights @ ((q > cut) != positive) == pytest.approx(errors.min())
        assert cut in middles[best]
        width = np.diff(values)
        assert width[np.argmin(np.abs(middles - cut))] == pytest.approx(width[best].max())


def test_auto_is_the_rule_with_the_least_error():
    taken = set()
    for seed in range(30):
        rng = np.random.RandomState(seed)
        q, positive, weights = outputs(rng, n=40, gap=1.0)
        q = (q - 0.5) * rng.choice([1.0, 3.0]) + rng.choice([0.0, 0.4])
        codes = positive.astype(int)
        cuts = {rule: thresholds(q[:, None], codes, weights, rule) for rule in COMPARED}
        errors = {rule: weights @ ((q > cut[0]) != positive) for rule, cut in cuts.items()}
        best = min(errors, key=errors.get)
        taken.add(best)
        np.testing.assert_array_equal(thresholds(q[:, None], codes, weights, "auto"), cuts[best])
    assert len(taken) > 1
