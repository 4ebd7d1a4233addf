"""The contract of every family's solvers: who "auto" takes, who cannot run, and what the message says."""

import pytest

from eigenfeat.solvers import SOLVERS, Requirement, Solver, SolverTable
from eigenfeat.solvers.contract import always, never


def at_least(size):
    return Requirement(lambda problem, request: problem >= size, f"a problem of at least {size}")


def solver(name, *requires, suits=always):
    return Solver(name, lambda problem, request: (name, problem), requires, suits)


LARGE = solver("large", at_least(100))
EVEN = solver("even", Requirement(lambda p, r: p % 2 == 0, "an even problem"), at_least(10))
ASKED_FOR = solver("asked_for", suits=never)
TABLE = SolverTable((LARGE, EVEN, ASKED_FOR), describe=lambda problem: f"problem {problem}")


@pytest.mark.parametrize(("problem", "name"), [(100, "large"), (101, "large"), (12, "even"), (98, "even")])
def test_auto_is_the_first_that_suits_and_lacks_nothing(problem, name):
    chosen = TABLE.choose("auto", problem, None)
    assert chosen.name == name
    assert chosen.solve(problem, None) == (name, problem)


def test_the_order_of_the_table_is_the_order_of_auto():
    assert SolverTable((EVEN, LARGE)).choose("auto", 100, None) is EVEN
    assert SolverTable((LARGE, EVEN)).choose("auto", 100, None) is LARGE


def test_auto_never_takes_what_does_not_suit_but_a_name_does():
    with pytest.raises(ValueError, match="No solver can run on problem 3"):
        TABLE.choose("auto", 3, None)
    assert TABLE.choose("asked_for", 3, None) is ASKED_FOR


def test_what_suits_may_depend_on_the_request():
    table = SolverTable((solver("few", suits=lambda p, wanted: wanted < 5), solver("many")))
    assert [table.choose("auto", 1, wanted).name for wanted in (4, 5)] == ["few", "many"]


def test_a_refusal_names_every_need_and_who_can():
    with pytest.raises(ValueError) as refusal:
        TABLE.choose("even", 7, None)
    assert str(refusal.value) == (
        "Solver 'even' cannot run on problem 7: it needs an even problem; and a problem of at least 10 "
        "(solvers that can: asked_for)."
    )


def test_a_refusal_says_so_where_nobody_can():
    with pytest.raises(ValueError, match=r"it needs a problem of at least 100 \(no solver can\)"):
        SolverTable((LARGE, EVEN)).choose("large", 9, None)


def test_auto_says_what_each_lacks_where_nobody_can():
    with pytest.raises(ValueError) as refusal:
        SolverTable((LARGE, EVEN), describe=lambda p: "it").choose("auto", 9, None)
    assert str(refusal.value) == (
        "No solver can run on it: large needs a problem of at least 100. even needs an even problem; and a problem of "
        "at least 10."
    )


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="Unknown solver 'magic': choose one of auto, large, even, asked_for"):
        TABLE.choose("magic", 1, None)


def test_options_are_the_names_and_auto():
    assert TABLE.options == {"auto", "large", "even", "asked_for"}
    assert TABLE.names == ("large", "even", "asked_for")
    assert TABLE["even"] is EVEN
    assert TABLE.able(10, None) == ["even", "asked_for"]


def test_every_solver_of_quotients_has_a_name_of_its_own_and_requirements_in_words():
    assert len(set(SOLVERS.names)) == len(SOLVERS.names)
    assert all(requirement.words for chosen in SOLVERS.solvers for requirement in chosen.requires)
