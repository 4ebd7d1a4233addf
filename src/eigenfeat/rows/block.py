"""A block of rows with their labels and weights, and how rows are cut into blocks and shared among threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from eigenfeat._runtime.threads import one_blas_thread, thread_pool, usable_threads

Matrix = Any
"""Some rows: a dense (n, d) array or a CSR matrix (which has no types to check)."""

Selection = slice | np.ndarray
"""Rows by a slice of step one or an array of indices."""

CACHE_BYTES = 4_000_000
"""A block of this many bytes stays in the caches of one core between two products."""

N_PARTS = 8
"""Parts of a pass that are summed on their own: enough to occupy the threads of a desktop machine."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of a pass.

    Attributes
    ----------
    X : (n, d) array or CSR matrix
    y, weight : (n,) arrays or None
        Labels or targets, and weights, where the rows have any.
    start : int
        Number of rows before this block.
    keys : (n,) array of int or None
        Of the rows that these were made of, once somebody has asked for them (`eigenfeat.rows.keys`).
    """

    X: Matrix
    y: Any = None
    weight: np.ndarray | None = None
    start: int = 0
    keys: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    @property
    def positions(self) -> slice:
        """Positions of these rows among all."""
        return slice(self.start, self.start + self.n_rows)

    def take(self, selection: Selection) -> Block:
        """Some of these rows; only a slice keeps their positions among all."""
        start = self.start + (selection.start or 0) if isinstance(selection, slice) else self.start
        labels, weights, keys = (take(values, selection) for values in (self.y, self.weight, self.keys))
        return Block(self.X[selection], labels, weights, start, keys)

    def __sizeof__(self) -> int:
        """Bytes of the arrays: what a scheduler weighs."""
        return array_bytes(self)


def take(values: Any, selection: Selection) -> Any:
    """Some of the labels or weights, or None where there are none."""
    return None if values is None else values[selection]


def dense(X: Matrix) -> np.ndarray:
    """Rows as a dense array."""
    return X.toarray() if sparse.issparse(X) else X


def array_bytes(value: Any) -> int:
    """Bytes of the arrays in a value, its attributes and theirs."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, list | tuple):
        return sum(map(array_bytes, value))
    return sum(map(array_bytes, vars(value).values())) if hasattr(value, "__dict__") else 8


def concatenate(blocks: Sequence[Block]) -> Block:
    """Join blocks, all with labels and weights or all without; their rows need not be consecutive."""
    if len(blocks) == 1:
        return blocks[0]
    X = [block.X for block in blocks]
    joined = sparse.vstack(X, format="csr") if sparse.issparse(X[0]) else np.concatenate(X)
    labels, weights, keys = (_concatenate([getattr(b, name) for b in blocks]) for name in ("y", "weight", "keys"))
    return Block(joined, labels, weights, blocks[0].start, keys)


def concatenate_and_free(blocks: list[Block]) -> Block:
    """Join blocks as `concatenate` does and empty the list meanwhile, so that dense rows are never in memory twice."""
    if len(blocks) < 2 or sparse.issparse(blocks[0].X):
        return concatenate(blocks)
    lengths = [block.n_rows for block in blocks]
    X = np.empty((sum(lengths), *blocks[0].X.shape[1:]), blocks[0].X.dtype)
    labels = concatenate([replace(block, X=np.empty((block.n_rows, 0))) for block in blocks])
    for start in np.cumsum([0, *lengths[:-1]])[::-1].tolist():
        block = blocks.pop()
        X[start : start + block.n_rows] = block.X
    return replace(labels, X=X)


def _concatenate(parts: Sequence[Any]) -> Any:
    present = [part for part in parts if part is not None]
    if not present:
        return None
    return sparse.vstack(present, format="csr") if sparse.issparse(present[0]) else np.concatenate(present)


# ---------------------------------------------------------------------- blocks of a pass in memory


def row_blocks(n_rows: int, n_columns: int, itemsize: int, batch_size: int | None = None) -> list[slice]:
    """Cut rows into consecutive slices, each small enough for a block to stay in cache."""
    if batch_size is None:
        batch_size = min(4096, max(32, CACHE_BYTES // max(1, n_columns * itemsize)))
    return [slice(start, min(start + batch_size, n_rows)) for start in range(0, n_rows, batch_size)]


def map_parts(
    function: Callable[[Sequence[slice]], Result], blocks: Sequence[slice], n_jobs: int | None = None
) -> list[Result]:
    """Apply a function to a few parts of the blocks, in threads with one BLAS thread each.

    The parts do not depend on the number of threads (``n_jobs``; by default as many as linear algebra may use), so
    neither do sums over them.
    """
    edges = np.linspace(0, len(blocks), min(N_PARTS, len(blocks)) + 1).astype(int)
    parts = [blocks[a:b] for a, b in pairwise(edges)]
    n_threads = 1  # of one part: nothing to share, and asking for more takes longer than a small block
    if len(parts) > 1:
        n_threads = min(len(parts), usable_threads() if n_jobs is None else effective_n_jobs(n_jobs))
    if n_threads <= 1:
        with one_blas_thread():
            return [function(part) for part in parts]
    with thread_pool(n_threads) as pool:
        return list(pool.map(function, parts))
