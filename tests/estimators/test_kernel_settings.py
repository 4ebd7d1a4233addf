"""Settings as a value: the problem they pose depends on nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from kernel_data import CLOUD, CLOUD_LABELS, shift

from eigenfeat import KernelFisherClassifier
from eigenfeat.estimators.kernel_settings import KernelSettings, posed
from eigenfeat.kernel import Huber, Squared

SETTINGS = KernelSettings(
    kernel="rbf",
    degree=3,
    coef0=1.0,
    penalty="function",
    centers=None,
    n_centers=None,
    invariances=(),
    expand_over="rows",
)
TARGETS = np.where(CLOUD_LABELS == 1, 1.0, -1.0)[:, None]


def problem_of(**changes):
    return posed(replace(SETTINGS, **changes), CLOUD, TARGETS, np.ones(80))


def test_candidates_differ_in_what_was_replaced():
    problem = problem_of(alpha=0.3, gamma=2.0, loss=Huber(0.2))
    assert (problem.alpha, problem.kernel.kernel.gamma, problem.loss) == (0.3, 2.0, Huber(0.2))
    assert (SETTINGS.alpha, SETTINGS.gamma, SETTINGS.loss) == (1.0, None, Squared())
    assert problem.kernel.rows is CLOUD


def test_centres_are_those_asked_for():
    assert problem_of().centers is None
    assert problem_of(n_centers=7).centers.shape == (7,)
    np.testing.assert_array_equal(problem_of(n_centers=7).centers, problem_of(n_centers=7).centers)
    assert problem_of(centers="kmeans", n_centers=7).centers.shape == (7, 2)
    np.testing.assert_array_equal(problem_of(centers=[5, 3, 5]).centers, [3, 5])
    assert problem_of(solver="auto").centers is None
    assert problem_of(solver="nystrom").centers.shape == (int(np.ceil(np.sqrt(80) * np.log(81))),)


def test_invariances_expand_over_the_rows_or_over_the_transformed_too():
    assert problem_of(invariances=[shift]).centers.shape == (80,)
    both = problem_of(invariances=[shift, (0.5, shift)], expand_over="transformed")
    np.testing.assert_array_equal(both.centers, np.vstack([CLOUD, shift(CLOUD), shift(CLOUD)]))
    assert both.invariance.shape == (240, 240)


def test_a_generator_draws_centres_and_then_candidates():
    """One generator for both: two fits of one seed are one model, as they were with a seed."""
    models = [
        KernelFisherClassifier(solver="greedy", max_terms=5, random_state=state).fit(CLOUD, CLOUD_LABELS)
        for state in (0, np.random.RandomState(0))
    ]
    np.testing.assert_array_equal(models[0].dual_coef_, models[1].dual_coef_)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernel": "precomputed"}, "square kernel matrix"),
        ({"kernel": "sigmoid", "coef0": -1.0, "gamma": 1.0}, "not positive semi-definite"),
        ({"centers": np.zeros((3, 5))}, "points with 2 columns"),
        ({"centers": []}, "points with 2 columns"),
    ],
)
def test_what_rows_cannot_have_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        problem_of(**changes)
