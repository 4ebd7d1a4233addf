"""What a column is taken for."""

import numpy as np
import pyarrow as pa
import pytest

from eigenfeat.tables.rules import Limits, find, informs

LIMITS = Limits(30, 5)
N = 200
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", RNG.standard_normal(N), "number"),
        ("id", np.arange(N) * 17 + 5, "id"),
        ("row", RNG.permutation(N), "id"),
        ("code", [f"K{i:05d}" for i in range(N)], "id"),
        ("note", [f"this is a sentence, number {i}" for i in range(N)], "text"),
        ("zip", RNG.choice(["01234", "56789", "04444"], N), "category"),
        ("age", RNG.integers(18, 90, N), "number"),
        ("flag", RNG.choice(["Yes", "No"], N), "boolean"),
        ("when", np.datetime64("2020-01-01") + RNG.integers(0, 999, N), "date"),
        ("day", [f"{d:02d}.03.2021" for d in RNG.integers(1, 28, N)], "date"),
        ("one", ["x"] * N, "constant"),
        ("none", [None] * N, "empty"),
        ("list", [[1]] * N, "nested"),
        ("price", [f"{v:,.2f}" for v in RNG.lognormal(9, 1, N)], "number"),
    ],
)
def test_kinds(name, cells, kind):
    finding = find(name, pa.chunked_array([pa.array(cells)]), None, LIMITS)
    assert finding.kind == kind
    assert finding.reason
    assert (finding.plan is None) == (kind in ("id", "text", "constant", "empty", "nested"))


def test_rare_values_are_pooled():
    finding = find("c", pa.chunked_array([pa.array(["a"] * 150 + ["b"] * 46 + ["c", "c", "d", "e"])]), None, LIMITS)
    assert finding.plan.outputs == ["c=a", "c=b", "c=(rare)"]


def test_missing_cells_inform_where_they_go_with_y():
    y = np.arange(N) % 2
    missing = (y == 1) & (np.arange(N) % 3 == 0)
    assert informs(missing, y)
    assert not informs(RNG.permutation(missing), y)
    assert not informs(np.zeros(N, bool), y)
    assert informs(missing, np.where(missing, 5.0, 0.0) + RNG.standard_normal(N))


def test_what_was_asked_for_is_done():
    column = pa.chunked_array([pa.array(np.arange(N))])
    assert find("id", column, None, LIMITS, "number").kind == "number"
    assert find("id", column, None, LIMITS, "drop").plan is None
