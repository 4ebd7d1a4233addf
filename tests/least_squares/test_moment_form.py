"""What moments know of targets, and the quotient they pose, against rows."""

import numpy as np
import pytest
from ls_problems import MODELS, factor, inputs, labels, problem

from eigenfeat.least_squares.moment_form import MomentForm, Scatters
from eigenfeat.least_squares.relation import TargetRelation
from eigenfeat.least_squares.solve import solve
from eigenfeat.moments import collect_cross_moments, collect_moments
from eigenfeat.quotients import Regularisation


@pytest.mark.parametrize("project", [False, True])
def test_targets_are_read_and_written_through_their_space(project):
    rng = np.random.default_rng(0)
    H, weight = labels(rng, 30) * [1, 1, 1, 1e3, 1e-2] + 3.0, rng.uniform(0.5, 2, size=30)
    space = Scatters.of_targets(collect_cross_moments(inputs(rng, 30, 2), H, weight)).space(project)
    B = np.sqrt(weight)[:, None] * (H - np.average(H, axis=0, weights=weight))
    T = B @ space.reading
    assert space.rank == 3  # one column is a copy, one is constant, and units do not matter
    np.testing.assert_allclose(T.T @ T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(T @ space.writing.T, B, atol=1e-9 * np.abs(B).max())
    S = B @ np.linalg.pinv(B, rcond=1e-12) if project else B @ B.T
    np.testing.assert_allclose((T * space.scale**2) @ T.T, S, atol=1e-8 * np.abs(S).max())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("alpha", [0.0, 0.8])
@pytest.mark.parametrize("d", [2, 9])
def test_moments_pose_the_problem_of_their_rows(model, alpha, d):
    rng = np.random.default_rng(1)
    X, (H, project), weight = inputs(rng, 70, d), factor(model, rng, 70), rng.uniform(0.5, 2, size=70)
    one = problem(X, H, project, alpha, weight)
    of_rows = solve(one)
    scatters = Scatters.of_targets(collect_cross_moments(X, H, weight))
    form = MomentForm.of(scatters, project, Regularisation(), "moments").shifted(alpha)
    found = form.directions(None)
    np.testing.assert_allclose(found.values, of_rows.values, rtol=1e-9)
    np.testing.assert_allclose(found.toarray(), of_rows.vectors, atol=1e-8)
    here, there = form.relation(found.toarray()), TargetRelation.of_rows(one, of_rows)
    np.testing.assert_allclose(here.target_loadings(), there.target_loadings(), atol=1e-8)
    np.testing.assert_allclose(here.target_directions(), there.target_directions(), atol=1e-8)


def test_class_moments_are_cross_moments_of_indicators():
    rng = np.random.default_rng(2)
    X, y, weight = inputs(rng, 40, 5), np.arange(40) % 4, rng.uniform(0.5, 2, size=40)
    classes = Scatters.of_classes(collect_moments(X, y, weight))
    targets = Scatters.of_targets(collect_cross_moments(X, np.eye(4)[y], weight))
    np.testing.assert_allclose(classes.inputs.toarray(), targets.inputs.toarray(), atol=1e-10)
    for part in ("cross", "targets", "input_mean", "target_mean"):
        np.testing.assert_allclose(getattr(classes, part), getattr(targets, part), atol=1e-10)


def test_ties_are_settled_as_rows_settle_them():
    """Wide rows: every eigenvalue of LDA is one, and only the shortest-first rule tells directions apart."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 30)), np.arange(12) % 3
    of_rows = solve(problem(X, np.eye(3)[y], True))
    scatters = Scatters.of_classes(collect_moments(X, y))
    with pytest.warns(UserWarning, match="restricted to its range"):
        found = MomentForm.of(scatters, True, Regularisation(), "wide").directions(None)
    np.testing.assert_allclose(of_rows.values, 1)
    np.testing.assert_allclose(found.toarray(), of_rows.vectors, atol=1e-7)
