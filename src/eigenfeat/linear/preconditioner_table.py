"""Which preconditioner serves which rows, and what it costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import has_sparse_rows
from eigenfeat.linear.preconditioners import DiagonalPreconditioner, GramPreconditioner, PreconditionerRequest
from eigenfeat.linear.row_basis import is_wide
from eigenfeat.linear.sample_preconditioner import SamplePreconditioner
from eigenfeat.rows import RandomRows
from eigenfeat.solvers import Solver, SolverTable

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
# `pass_width` where features are not formed.
PASS_SLOWNESS = 8.0


def _suits_gram(objective: LogitObjective, request: PreconditionerRequest | None) -> bool:
    source = objective.passes.source
    is_sparse = has_sparse_rows(source)
    too_wide = source.n_columns > (MAX_SPARSE_GRAM_COLUMNS if is_sparse else MAX_GRAM_COLUMNS)
    return not too_wide or (isinstance(source, RandomRows) and is_wide(source) and not is_sparse)


def _suits_sample(objective: LogitObjective, request: PreconditionerRequest | None) -> bool:
    source = objective.passes.source
    few = isinstance(source, RandomRows) and is_wide(source)
    if not MIN_SAMPLE_COLUMNS <= source.n_columns <= MAX_SAMPLE_COLUMNS or few or has_sparse_rows(source):
        return False
    if request is None or source.n_columns > MAX_GRAM_COLUMNS:
        return True
    return damping_in_penalties(objective, request) <= BLUNT


def damping_in_penalties(objective: LogitObjective, request: PreconditionerRequest) -> float:
    """What few rows need to be damped by, as a multiple of the penalty: large where that is weak."""
    probe = SamplePreconditioner.build(objective, replace(request, n_rows=PROBE_ROWS))
    return probe.damping / objective.alpha if objective.alpha else np.inf


#: What "auto" takes for which rows; solving is building the preconditioner.
#:
#: ============================================  ==========
#: rows                                          solver
#: ============================================  ==========
#: sparse, over `MAX_SPARSE_GRAM_COLUMNS` wide   "diagonal"
#: few (see ``row_basis.is_wide``)               "gram"
#: over `MAX_SAMPLE_COLUMNS` wide                "diagonal"
#: over `MAX_GRAM_COLUMNS` wide                  "sample"
#: over `MIN_SAMPLE_COLUMNS`, penalty not weak   "sample"
#: all others                                    "gram"
#: ============================================  ==========
#:
#: How weak a penalty is, is known when something is to be built: a request tells.
PRECONDITIONERS = SolverTable(
    (
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
    operations = {"diagonal": 2 * n * d, "gram": r * d**2 + d**3 / 3, "sample": r**2 * d + r**3}[name]
    if operations < FREE_OPERATIONS:
        return 0.0
    return 1.0 if name == "diagonal" else operations / (PASS_SLOWNESS * 4 * n * (width or d) * n_classes)
