"""Which preconditioner serves which rows, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat.linear.class_preconditioner import ClassPreconditioner
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.preconditioners import DiagonalPreconditioner, GramPreconditioner, PreconditionerRequest
from eigenfeat.linear.row_basis import few_rows, is_wide
from eigenfeat.linear.sample_preconditioner import SamplePreconditioner
from eigenfeat.solvers import Requirement, Solver, SolverTable
from eigenfeat.stages.layer import FACTORED

# A d × d factor above this many columns costs more than it saves (and at 20,000 columns 1.6 GB in float32).
MAX_GRAM_COLUMNS = 20_000
# Rows of a sample: so many a column, but never more; columns from which it is cheaper than a Gram matrix, and columns
# up to which it is drawn: 1 GB.
SAMPLE_ROWS_PER_COLUMN = 0.5
SAMPLE_ROWS = 4000
MIN_SAMPLE_COLUMNS = 6000
MAX_SAMPLE_COLUMNS = 60_000
# A sample knows too little of what a weak penalty leaves free: where so few rows need a damping of more than so many
# penalties, it is not drawn (benchmarks/speed/constants.py prints what serves where).
PROBE_ROWS = 1000
BLUNT = 1000.0
# Classes times columns a row from which smoothed labels need the rows of every class beside a Gram matrix of all, and
# columns a class up to which these cost no more than the passes they save. Measured (benchmarks/speed/constants.py).
CROWDED = 20
MOST_COLUMNS_PER_CLASS = 20
# Sparse rows have cheap passes, and a dense factor throws that away.
MAX_SPARSE_GRAM_COLUMNS = 1000
# Rows in the Gram matrix: enough, per column, for a sample to stand for all; all of them when they are few.
GRAM_ROWS_PER_COLUMN = 1
MIN_GRAM_ROWS = 10_000
# A preconditioner of fewer operations than this is built at every step: it takes no longer than the step itself. Up to
# 1e8, some milliseconds, searches on small tables took up to a third longer (benchmarks/gem_constants.py).
FREE_OPERATIONS = 1e6
# A pass does few operations on a number it has read: it takes this many times as long as a matrix product of
# equal work. Measured (benchmarks/speed/constants.py) 3.2-3.4 with ten classes, 8.5-10.6 with two; 9 and 15 a number of
# `floats_per_row` where features are not formed.
PASS_SLOWNESS = 8.0


def _suits_gram(objective: LogitObjective, request: PreconditionerRequest | None) -> bool:
    source = objective.passes.source
    is_sparse = source.is_sparse
    too_wide = source.n_columns > (MAX_SPARSE_GRAM_COLUMNS if is_sparse else MAX_GRAM_COLUMNS)
    return not too_wide or (source.random_access and is_wide(source) and not is_sparse)


def _suits_sample(objective: LogitObjective, request: PreconditionerRequest | None) -> bool:
    source = objective.passes.source
    few = source.random_access and is_wide(source)
    if not MIN_SAMPLE_COLUMNS <= source.n_columns <= MAX_SAMPLE_COLUMNS or few or source.is_sparse:
        return False
    if request is None or source.n_columns > MAX_GRAM_COLUMNS:
        return True
    return damping_in_penalties(objective, request) <= BLUNT


def _suits_classes(objective: LogitObjective, request: PreconditionerRequest | None) -> bool:
    """Whether smoothed rows, which curve in their own class to the end, are few beside columns and classes.

    Of a sample, only some of the rows that all steps need are at hand.
    """
    of_sample = request is not None and request.curvature is not None
    if of_sample or not objective.smoothing or not _suits_gram(objective, request):
        return False
    n_rows, n_classes = objective.passes.n_rows, objective.n_classes
    n_columns = min(objective.passes.source.n_columns, n_rows)
    return n_classes * n_columns >= CROWDED * n_rows and n_columns <= MOST_COLUMNS_PER_CLASS * n_classes


def damping_in_penalties(objective: LogitObjective, request: PreconditionerRequest) -> float:
    """What few rows need to be damped by, as a multiple of the penalty: large where that is weak."""
    probe = SamplePreconditioner.build(objective, replace(request, n_rows=PROBE_ROWS))
    return probe.damping / objective.alpha if objective.alpha else np.inf


IN_MEMORY = Requirement(lambda objective, request: objective.passes.source.random_access, "rows in memory")

#: What "auto" takes for which rows; solving is building the preconditioner.
#:
#: ============================================  ==========
#: rows                                          solver
#: ============================================  ==========
#: sparse, over `MAX_SPARSE_GRAM_COLUMNS` wide   "diagonal"
#: few (see ``row_basis.is_wide``)               "gram"
#: over `MAX_SAMPLE_COLUMNS` wide                "diagonal"
#: of so many classes that they are `CROWDED`    "classes"
#: over `MAX_GRAM_COLUMNS` wide                  "sample"
#: over `MIN_SAMPLE_COLUMNS`, penalty not weak   "sample"
#: all others                                    "gram"
#: ============================================  ==========
#:
#: How weak a penalty is, is known when something is to be built: a request tells.
PRECONDITIONERS = SolverTable(
    (
        Solver("classes", ClassPreconditioner.build, requires=(IN_MEMORY,), suits=_suits_classes),
        Solver("sample", SamplePreconditioner.build, suits=_suits_sample),
        Solver("gram", GramPreconditioner.build, suits=_suits_gram),
        Solver("diagonal", DiagonalPreconditioner.build),
    ),
    describe=lambda objective: f"{objective.passes.n_rows} rows of {objective.passes.source.n_columns} columns",
)


def rows_to_draw(name: str, n_columns: int) -> int:
    """Rows that a preconditioner is made of, where there are more."""
    if name == "sample":
        return min(SAMPLE_ROWS, int(SAMPLE_ROWS_PER_COLUMN * n_columns))
    return max(MIN_GRAM_ROWS, GRAM_ROWS_PER_COLUMN * n_columns)


def build_cost(name: str, n_rows: int, n_columns: int, n_classes: int, width: int | None = None) -> float:
    """What a preconditioner costs in passes over rows of ``width`` numbers; nothing if it takes less than a blink."""
    n, d, r = n_rows, n_columns, min(n_rows, rows_to_draw(name, n_columns))
    gram, own = r * d**2 + d**3 / 3, n * d**2
    operations = {"diagonal": 2 * n * d, "gram": gram, "classes": gram + own, "sample": r**2 * d + r**3}[name]
    if operations < FREE_OPERATIONS:
        return 0.0
    slowness = 1.0 if name == "classes" else PASS_SLOWNESS  # with many classes a pass is a matrix product
    return 1.0 if name == "diagonal" else operations / (slowness * 4 * n * (width or d) * n_classes)


def preconditioner_bytes(n_rows: int, n_columns: int, itemsize: int) -> float:
    """What "auto" holds at most of dense rows: a factored Gram matrix, a sample, or the rows and what they span."""
    if few_rows(n_rows, n_columns):
        return (n_rows * n_columns + 2 * n_rows**2) * itemsize
    if n_columns <= MAX_GRAM_COLUMNS:
        return FACTORED * n_columns**2 * itemsize
    n_drawn = rows_to_draw("sample", n_columns) if n_columns <= MAX_SAMPLE_COLUMNS else 0
    return (n_drawn * n_columns + n_drawn**2) * itemsize
