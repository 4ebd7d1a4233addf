"""How a pass is cut into blocks, and how blocks are shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from eigenfeat._threads import blas_threads, one_blas_thread, own_threads
from eigenfeat.rows.source import Block, Matrix, RandomRows, Rows, joined_blocks

# A block of this many bytes stays in the caches of one core between the two products it is used in.
BLOCK_BYTES = 4_000_000
# Parts of a pass that are summed on their own: enough to occupy the threads of a desktop machine.
N_PARTS = 8

Result = TypeVar("Result")


def row_blocks(n_rows: int, n_columns: int, itemsize: int, batch_size: int | None = None) -> list[slice]:
    """Consecutive slices that cover the rows, each small enough for a block to stay in cache."""
    if batch_size is None:
        batch_size = min(4096, max(32, BLOCK_BYTES // max(1, n_columns * itemsize)))
    return [slice(start, min(start + batch_size, n_rows)) for start in range(0, n_rows, batch_size)]


def over_parts(
    blocks: Sequence[slice], run: Callable[[Sequence[slice]], Result], n_jobs: int | None = None
) -> list[Result]:
    """``run`` on a few parts of the blocks, in threads with BLAS held to one thread each.

    The parts do not depend on the number of threads (``n_jobs``; by default as many as linear algebra may use), so
    neither do sums over them.
    """
    edges = np.linspace(0, len(blocks), min(N_PARTS, len(blocks)) + 1).astype(int)
    parts = [blocks[a:b] for a, b in pairwise(edges)]
    n_threads = 1  # of one part: nothing to share, and asking for more takes longer than a small block
    if len(parts) > 1:
        n_threads = min(len(parts), blas_threads() if n_jobs is None else effective_n_jobs(n_jobs))
    if n_threads <= 1:
        with one_blas_thread():
            return [run(part) for part in parts]
    with own_threads(n_threads) as pool:
        return list(pool.map(run, parts))


def held(source: Rows, batch_size: int | None = 1024) -> np.ndarray:
    """All rows of a source as one dense array in its type, filled block by block: larger ones are fresh memory each."""
    if source.n_rows is None:
        return np.concatenate([dense(block.X).astype(source.dtype) for block in source.blocks(batch_size)])
    rows = np.empty((source.n_rows, source.n_columns), dtype=source.dtype)
    if not isinstance(source, RandomRows):
        for block in source.blocks(batch_size):
            rows[block.selection] = dense(block.X)
        return rows

    def run(part: Sequence[slice]) -> None:
        for chosen in part:
            rows[chosen] = dense(source.rows(chosen))

    over_parts(row_blocks(source.n_rows, 1, 1, batch_size or source.default_batch), run)
    return rows


def first_rows(source: Rows, count: int) -> Matrix:
    """The first rows of a source, ``count`` of them where it has as many, in its type."""
    if isinstance(source, RandomRows):
        return source.rows(slice(0, min(count, source.n_rows)))
    return first_block(source, count).X.astype(source.dtype, copy=False)


def first_block(source: Rows, count: int) -> Block:
    """The same with labels and weights, however the source is cut."""
    parts: list[Block] = []
    missing = count
    for block in source.blocks(count):
        parts.append(block.part(slice(0, missing)))
        missing -= parts[-1].n_rows
        if not missing:
            break
    return joined_blocks([part for part in parts if part.n_rows] or parts[:1])


def dense(block: Matrix) -> np.ndarray:
    """A block as a dense array."""
    return block.toarray() if sparse.issparse(block) else block


def in_proportion(weights: np.ndarray) -> np.ndarray:
    """(n,) weights as sorted indices, as many as there are positive ones, each about as often as its weight says.

    Every row once where all weights are the same; a row of weight zero never.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.rows import in_proportion
    >>> in_proportion(np.array([1.0, 0.0, 3.0, 1.0, 1.0]))
    array([0, 2, 2, 4])
    """
    total = np.cumsum(weights, dtype=np.float64)
    count = np.count_nonzero(weights)
    return np.searchsorted(total, total[-1] * (np.arange(count) + 0.5) / count, side="right")
