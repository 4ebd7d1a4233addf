"""Loss x penalty x solver: every cell works or says which cells do."""

from dataclasses import replace

import numpy as np
import pytest
from written_out import optimum, small_problem, two_classes

from eigenfeat.kernel import LOSSES
from eigenfeat.kernel.losses import as_loss
from eigenfeat.kernel.problem import DEFAULTS, PENALTIES, KernelProblem, KernelRequest
from eigenfeat.kernel.table import SOLVERS, draws_centers
from eigenfeat.stages.kernels import Kernel, KernelRows

LEAST_SQUARES = {"subset", "linear", "nystrom", "eigen", "greedy"}
TABLE = {
    ("squared", "function"): LEAST_SQUARES | {"smo", "greedy_smo", "qp", "newton"},
    ("squared", "coefficients"): LEAST_SQUARES | {"qp", "newton"},
    ("squared", "sparse"): {"qp"},
    ("absolute", "function"): {"smo", "greedy_smo", "qp"},
    ("absolute", "coefficients"): {"qp"},
    ("absolute", "sparse"): {"lp", "column_generation"},
    ("huber", "function"): {"smo", "greedy_smo", "qp", "newton"},
    ("huber", "coefficients"): {"qp", "newton"},
    ("huber", "sparse"): {"qp"},
    ("epsilon", "function"): {"smo", "greedy_smo", "qp"},
    ("epsilon", "coefficients"): {"qp"},
    ("epsilon", "sparse"): {"lp", "column_generation"},
    ("polynomial", "function"): {"newton"},
    ("polynomial", "coefficients"): {"newton"},
    ("polynomial", "sparse"): set(),
    ("piecewise", "function"): {"newton"},
    ("piecewise", "coefficients"): {"newton"},
    ("piecewise", "sparse"): set(),
}
TIGHT = KernelRequest(tol=1e-9, max_iter=1000, max_terms=40)


def shift(rows):
    return rows + 0.1


def labelled(loss, penalty):
    return replace(two_classes(penalty, 0.3), loss=as_loss(loss))


@pytest.mark.parametrize(("loss", "penalty"), TABLE)
def test_every_solver_of_a_cell_reaches_its_minimum(loss, penalty):
    """The greedy ones too, where they may use all rows."""
    problem = labelled(loss, penalty)
    best = optimum(problem)
    assert set(SOLVERS.able(problem, DEFAULTS)) == TABLE[loss, penalty]
    for name in TABLE[loss, penalty]:
        solution = SOLVERS.choose(name, problem, TIGHT).solve(problem, TIGHT)
        assert solution.solver == name
        np.testing.assert_allclose(solution.objective, best, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", SOLVERS.names)
def test_an_empty_cell_is_refused_with_those_that_are_not(loss, penalty, solver):
    if solver in TABLE[loss, penalty]:
        return
    with pytest.raises(ValueError, match=f"{solver!r} cannot run on loss={loss!r} with penalty={penalty!r}") as error:
        SOLVERS.choose(solver, labelled(loss, penalty), DEFAULTS)
    for name in TABLE[loss, penalty]:
        assert name in str(error.value).split("solvers that can: ")[1]


def problem_of(loss, penalty, n_rows, **more):
    """A problem of any size: nothing but its numbers is looked at."""
    rows, labels = np.zeros((n_rows, 1)), np.where(np.arange(n_rows) % 2, 1.0, -1.0)
    return KernelProblem(
        KernelRows(Kernel(), rows), labels[:, None], np.ones(n_rows), 1.0, as_loss(loss), penalty, **more
    )


@pytest.mark.parametrize(
    ("problem", "solver"),
    [
        (problem_of("squared", "function", 5000), "linear"),
        (problem_of("squared", "coefficients", 8000), "linear"),
        (problem_of("squared", "function", 500_000), "nystrom"),
        (problem_of("squared", "coefficients", 5000, centers=np.arange(300)), "subset"),
        (problem_of("squared", "function", 500_000, centers=np.arange(400)), "subset"),
        (problem_of("squared", "function", 500_000, centers=np.arange(500)), "nystrom"),
        (problem_of("squared", "function", 500_000, centers=np.arange(500), invariances=((1.0, shift),)), "subset"),
        (problem_of("squared", "sparse", 5000), "qp"),
        (problem_of("absolute", "function", 5000), "smo"),
        (problem_of("absolute", "coefficients", 5000), "qp"),
        (problem_of("absolute", "sparse", 500), "lp"),
        (problem_of("epsilon", "sparse", 501), "column_generation"),
        (problem_of("huber", "function", 5000), "smo"),
        (problem_of("huber", "sparse", 5000), "qp"),
        (problem_of("huber", "function", 5000, centers=np.arange(300)), "qp"),
        (problem_of("absolute", "sparse", 5000, centers=np.arange(300)), "lp"),
        (problem_of("polynomial", "coefficients", 500), "newton"),
    ],
)
def test_what_auto_takes(problem, solver):
    assert SOLVERS.choose("auto", problem, DEFAULTS).name == solver


def test_centres_are_drawn_where_the_full_system_is_too_large_or_the_solver_is_about_them():
    small, large = problem_of("squared", "function", 8000), problem_of("squared", "function", 8001)
    moved = replace(small, invariances=((1.0, shift),))
    assert [draws_centers("auto", p, DEFAULTS) for p in (small, large, moved)] == [False, True, False]
    assert [draws_centers("subset", p, DEFAULTS) for p in (small, large, moved)] == [True, True, False]
    assert draws_centers("nystrom", small, DEFAULTS)
    assert not draws_centers("linear", large, DEFAULTS)
    assert not draws_centers(None, large, DEFAULTS)
    assert not draws_centers("auto", problem_of("absolute", "function", 8001), DEFAULTS)


def test_what_a_solver_lacks_is_named():
    centred = replace(small_problem("absolute", "function", 1.0), centers=np.arange(5))
    with pytest.raises(ValueError, match=r"'smo' cannot run on loss='absolute' .* over 5 centers.* over all rows"):
        SOLVERS.choose("smo", centred, DEFAULTS)
    assert SOLVERS.choose("auto", centred, DEFAULTS).name == "qp"
    moved = replace(centred, penalty="sparse", invariances=((1.0, shift),))
    words = r"No solver can run .* subset needs loss 'squared'; and .*smo needs .*lp needs no invariances"
    with pytest.raises(ValueError, match=words):
        SOLVERS.choose("auto", moved, DEFAULTS)
    with pytest.raises(
        ValueError, match=r"'nystrom' .* and invariances: it needs no invariances .*subset, qp, newton, eigen"
    ):
        SOLVERS.choose("nystrom", replace(labelled("squared", "function"), invariances=((1.0, shift),)), DEFAULTS)
    with pytest.raises(ValueError, match=r"'eigen' .*\(real targets: 'linear'.*solvers that can: .*linear"):
        SOLVERS.choose("eigen", small_problem("squared", "function", 1.0), DEFAULTS)


def test_classes_jointly_are_the_eigenproblem_and_nothing_else():
    joint = replace(labelled("squared", "function"), classes=np.arange(40) % 3)
    assert SOLVERS.able(joint, DEFAULTS) == ["eigen"]
    assert SOLVERS.choose("auto", joint, DEFAULTS).name == "eigen"
    assert SOLVERS.choose("eigen", joint, DEFAULTS).solve(joint, DEFAULTS).coefficients.shape == (40, 3)
    words = r"'smo' cannot run on the joint eigenproblem .*multi_class='one-vs-rest'\) \(solvers that can: eigen\)"
    with pytest.raises(ValueError, match=words):
        SOLVERS.choose("smo", joint, DEFAULTS)
    with pytest.raises(ValueError, match=r"No solver can run on the joint eigenproblem.*eigen needs loss 'squared'"):
        SOLVERS.choose("auto", replace(joint, loss=as_loss("absolute")), DEFAULTS)
