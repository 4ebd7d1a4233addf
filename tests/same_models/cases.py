"""All cases by name."""

from __future__ import annotations

from itertools import chain

from column_cases import column_cases
from default_cases import default_cases
from gem_cases import gem_cases
from kernel_cases import kernel_cases
from least_squares_cases import least_squares_cases
from quotient_cases import quotient_cases
from recording import Case
from score_cases import score_cases
from signal_cases import signal_cases

FAMILIES = (
    default_cases,
    quotient_cases,
    gem_cases,
    kernel_cases,
    least_squares_cases,
    score_cases,
    signal_cases,
    column_cases,
)


def all_cases() -> dict[str, Case]:
    """Every case by its name, which no two share."""
    cases: dict[str, Case] = {}
    for case in chain.from_iterable(family() for family in FAMILIES):
        if case.name in cases:
            raise ValueError(f"Two cases are called {case.name!r}.")
        cases[case.name] = case
    return cases


CASES = all_cases()
