"""Least squares as a quotient: the signal of the targets over the scatter of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from eigenfeat.least_squares.forms import RowScatter, TargetFactor, TargetReferences, TargetScatter
from eigenfeat.least_squares.rows import CentredKernel, CentredRows
from eigenfeat.least_squares.targets import Targets
from eigenfeat.quotients import NO_REGULARISATION, Quotient, Regularisation

KIND = "least-squares"


@dataclass(frozen=True, eq=False)
class LeastSquaresQuotient(Quotient):
    """``wᵀAᵀHHᵀAw / wᵀ(AᵀA + shift·I)w`` over centred rows A; equally, the regression of H on A under a ridge.

    A `Quotient` like any other, so that every solver of `eigenfeat.solvers` could run on it; those of
    `eigenfeat.least_squares.solve` never form its matrices. At a shift of 0 the problem lives in the range of Aᵀ (the
    pseudo-inverse).
    """

    signal: TargetScatter
    noise: RowScatter
    # Arrays for numpy, and nothing at all before it asks: AᵀH of all targets may be larger than the rows.
    signal_factor: TargetFactor  # type: ignore[assignment]
    references: TargetReferences  # type: ignore[assignment]

    @property
    def rows(self) -> CentredRows | CentredKernel:
        """A."""
        return self.noise.rows

    @property
    def targets(self) -> Targets:
        """H, reduced."""
        return self.signal.targets

    @property
    def shift(self) -> float:
        """The ridge, absolute."""
        return self.noise.shift

    def shifted(self, alpha: float) -> LeastSquaresQuotient:
        """The same with ``alpha`` more of a ridge."""
        return replace(self, noise=self.noise.shifted(alpha))

    def over(self, rows: CentredRows | CentredKernel) -> LeastSquaresQuotient:
        """The same with more rows below A, of targets of zero: noise alone, such as differences of neighbours."""
        targets = self.targets.padded(rows.matrix.shape[0] - self.rows.matrix.shape[0])
        return _over(rows, targets, RowScatter(rows, self.shift), self.label)


def pose(
    rows: CentredRows | CentredKernel,
    targets: Targets,
    regularisation: Regularisation = NO_REGULARISATION,
    label: str = "",
) -> LeastSquaresQuotient:
    """The quotient that rows and targets pose; the ridge is relative to the mean diagonal of AᵀA."""
    noise = regularisation.with_ridge(RowScatter(rows))
    assert isinstance(noise, RowScatter)
    return _over(rows, targets, noise, label)


def _over(rows: CentredRows | CentredKernel, targets: Targets, noise: RowScatter, label: str) -> LeastSquaresQuotient:
    return LeastSquaresQuotient(
        signal=TargetScatter(rows, targets),
        noise=noise,
        signal_factor=TargetFactor(rows, targets),
        references=TargetReferences(rows, targets),
        origin=rows.mean if isinstance(rows, CentredRows) else None,
        label=label,
        kind=KIND,
    )
