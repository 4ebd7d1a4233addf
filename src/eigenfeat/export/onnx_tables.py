"""Tables as ONNX: an input a column, numbers or words, and what `TableEncoder` makes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.export.onnx_stages import applied
from eigenfeat.tables import TableEncoder
from eigenfeat.tables.cells import NOTHING
from eigenfeat.tables.plans import CategoryPlan, DatePlan, NumberPlan

TRUE = ("true", "1")
"""Words for yes where the column was one of truth values by its type."""


def encoded(graph: Graph, encoder: TableEncoder) -> tuple[str, int]:
    """The encoder's outputs, and how many there are; every column that it uses becomes an input of the graph."""
    names = [plan.name for plan in encoder.plans_]
    if len(set(names)) < len(names) or not all(names):
        raise ValueError(
            "The columns of a table are the inputs of the graph, and need names of their own: rename some."
        )
    columns = [_plan_of(plan)(graph, plan) for plan in encoder.plans_]
    width = len(encoder.inputs_)
    return applied(graph, encoder.scaler_, graph.beside(*columns), width), width


def _plan_of(plan: Any) -> Callable[[Graph, Any], str]:
    write = PLANS.get(type(plan))
    if write is None:
        kind = "a date" if isinstance(plan, DatePlan) else f"of a kind of your own ({type(plan).__name__})"
        raise ValueError(
            f"The column {plan.name!r} is {kind}, which ONNX has no operators for. Make numbers of it before the table "
            f"is encoded, such as days since a day and the month, or leave it out: "
            f"TableEncoder(kinds={{{plan.name!r}: 'drop'}})."
        )
    return write


def _number(graph: Graph, plan: NumberPlan) -> str:
    """NaN, and infinity, is a gap, as an empty cell is."""
    if plan.yes:
        return _truth(graph, plan)
    cells = graph.input(plan.name, 1)
    missing = graph.add("Or", graph.add("IsNaN", cells), graph.add("IsInf", cells))
    filled = graph.add("Where", missing, np.array([plan.fill]), cells)
    return graph.beside(filled, graph.indicator(missing)) if plan.indicator else filled


def _truth(graph: Graph, plan: NumberPlan) -> str:
    yes = _written(TRUE if plan.yes == "true" else (plan.yes,))
    no, nothing = (0.0, 0.0), (plan.fill, 1.0)
    return _looked_up(graph, plan, [(yes, (1.0, 0.0)), (_written(NOTHING), nothing)], no)


def _category(graph: Graph, plan: CategoryPlan) -> str:
    width = len(plan.outputs)
    rows = np.eye(width)
    rare = rows[len(plan.values)] if plan.rare else np.zeros(width)
    nothing = rows[-1] if plan.indicator else np.zeros(width)
    known = [([value], row) for value, row in zip(plan.values.tolist(), rows)]
    return _looked_up(graph, plan, [*known, (_written(NOTHING), nothing)], rare)


def _looked_up(graph: Graph, plan: Any, words: list[tuple[list[str], Any]], otherwise: Any) -> str:
    """A row of numbers for every cell, by its word; the last row of the table, -1, is that of words not in it."""
    width = len(plan.outputs)
    keys = [word for group, _ in words for word in group]
    rows = [row for group, row in words for _ in group]
    table = np.array([*rows, otherwise], dtype=np.float64)[:, :width]
    place = graph.add(
        "LabelEncoder",
        graph.input(plan.name, 1, words=True),
        classes_strings=keys,
        default_int64=-1,
        domain="ai.onnx.ml",
    )
    return graph.add("Gather", table, graph.reshape(place, -1), axis=0)


def _written(words: Iterable[str]) -> list[str]:
    """In small letters, large ones, and with a large first one: ONNX compares letter by letter."""
    return list(dict.fromkeys(form for word in words for form in (word, word.upper(), word.capitalize())))


PLANS: dict[type, Callable[[Graph, Any], str]] = {NumberPlan: _number, CategoryPlan: _category}
