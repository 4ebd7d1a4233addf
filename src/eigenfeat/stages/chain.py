"""Stages one after the other, and what a fit leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat._runtime.threads import limit_blas_off_main, one_blas_thread
from eigenfeat.rows.block import Matrix, map_parts, row_blocks
from eigenfeat.rows.rows import Rows, as_rows
from eigenfeat.stages.stage import Stage

FEW_ROWS = 256
"""Up to so many rows, preparing quicker steps takes longer than they save."""


@dataclass(frozen=True, eq=False)
class Chain(Stage):
    """Stages applied in order: rows in, the last one's result out.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.stages import Affine, Chain, Softmax
    >>> scores = Chain((Affine.of(np.array([[1.0, 0.0], [0.0, 2.0]])),))
    >>> scores.then(Softmax()).at(np.zeros((1, 2))).round(2)
    array([[-0.69, -0.69]])
    """

    stages: tuple[Stage, ...] = ()

    def then(self, *stages: Stage) -> Chain:
        """This chain with further stages behind it."""
        return Chain((*self.stages, *stages))

    def apply(self, rows: Matrix) -> np.ndarray:
        for stage in self.stages:
            rows = stage.apply(rows)
        return rows

    def n_columns(self, n_inputs: int) -> int:
        for stage in self.stages:
            n_inputs = stage.n_columns(n_inputs)
        return n_inputs

    def widest(self, n_inputs: int) -> int:
        widest = n_inputs
        for stage in self.stages:
            widest = max(widest, stage.widest(n_inputs))
            n_inputs = stage.n_columns(n_inputs)
        return widest

    @property
    def projecting(self) -> Chain | None:
        """The chain as far as its first projection."""
        for i, stage in enumerate(self.stages):
            if stage.projecting is not None:
                return Chain((*self.stages[:i], stage.projecting))
        return None

    def astype(self, dtype: np.dtype) -> Chain:
        return Chain(tuple(stage.astype(dtype) for stage in self.stages))

    def fused(self) -> Chain:
        stages: list[Stage] = []
        for stage in self.stages:
            joint = stages[-1].with_next(stage) if stages else None
            stages[-1:] = [joint] if joint is not None else [*stages[-1:], stage.fused()]
        return Chain(tuple(stages))

    def over(self, source: Rows) -> Rows:
        """The chain's results as a source of rows, made when they are asked for."""
        return source.apply(self.astype(source.dtype)) if self.stages else source

    def at(self, X: Rows | Matrix, n_jobs: int | None = None) -> np.ndarray:
        """The chain's results at all rows as one array, made in blocks that stay in cache, several at a time.

        Parameters
        ----------
        X : array, CSR matrix or row source
        n_jobs : int, optional
            Threads; by default as many as linear algebra may use. The result does not depend on it.
        """
        source = as_rows(X)
        if not source.random_access:
            return self.over(source).to_array(batch_size=None)
        if source.n_rows == 0:
            return np.empty((0, self.n_columns(source.n_columns)), dtype=source.dtype)
        chain = self.astype(source.dtype)
        if source.n_rows > FEW_ROWS:
            chain = chain.fused()
        blocks = row_blocks(source.n_rows, chain.widest(source.n_columns), source.dtype.itemsize)
        if len(blocks) == 1:
            with limit_blas_off_main():  # no threads of ours: BLAS may use the cores
                return chain.apply(source.rows(blocks[0]))
        with one_blas_thread():  # threads of BLAS go on turning for a while after a call, in the way of ours
            first = chain.apply(source.rows(blocks[0]))
        results = np.empty((source.n_rows, first.shape[1]), dtype=first.dtype)
        results[blocks[0]] = first

        def run(part: Sequence[slice]) -> None:
            for chosen in part:
                results[chosen] = chain.apply(source.rows(chosen))

        map_parts(run, blocks[1:], n_jobs)
        return results


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves behind: everything that is asked of a model later is read off these chains.

    Attributes
    ----------
    features : Chain or None
        Rows to what `transform` returns.
    scores : Chain or None
        Rows to decision values: a column a class, or one column for two classes.
    probabilities : Stage or None
        Decision values to logarithms of class probabilities, (n, k).
    predictions : Chain or None
        Rows to predicted targets of a regression, (n, q).
    """

    features: Chain | None = None
    scores: Chain | None = None
    probabilities: Stage | None = None
    predictions: Chain | None = None
