"""Least squares from moments: the same quotient with dense forms, of rows that are no longer there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh, svd

from eigenfeat.least_squares.leave_one_out import decades, generalized_cross_validation, search
from eigenfeat.least_squares.quotient import KIND
from eigenfeat.least_squares.relation import TargetRelation
from eigenfeat.least_squares.second_stage import tie_of
from eigenfeat.least_squares.targets import TargetSpace
from eigenfeat.moments import CrossMoments, DenseForm, FactoredForm, GramCache, Moments, RowTerm, SymmetricForm
from eigenfeat.quotients import Quotient, Regularisation
from eigenfeat.solvers import DenseVectors, Directions, orient, solve
from eigenfeat.solvers.canonical import rank_cutoff, shortest_first

#: Of targets at unit diagonal, eigenvalues up to this share of the largest are rounding in the sums over many rows.
COLLINEAR = 1e-11
#: Up to this share of directions in rows, their mean influence still tells left-out rows from fitted ones.
MEANINGFUL = 0.9


@dataclass(frozen=True, eq=False)
class Scatters:
    """Sums over centred rows A and targets H, weights included: all that least squares needs of them.

    Attributes
    ----------
    inputs : SymmetricForm
        AᵀA.
    cross : (d, s) array
        AᵀH.
    targets : (s, s) array
        HᵀH.
    input_mean, target_mean : (d,) and (s,) arrays
    weight : float
        Of all rows.
    """

    inputs: SymmetricForm
    cross: np.ndarray
    targets: np.ndarray
    input_mean: np.ndarray
    target_mean: np.ndarray
    weight: float

    @classmethod
    def of_classes(cls, moments: Moments) -> Scatters:
        """With H the class indicators."""
        weights, total, mean = moments.weights, float(moments.weights.sum()), moments.mean()
        cross = (moments.means - mean).T * weights
        targets = np.diag(weights) - np.outer(weights, weights / total)
        return cls(moments.covariance().scaled(total), cross, targets, mean, moments.class_fractions, total)

    @classmethod
    def of_targets(cls, moments: CrossMoments) -> Scatters:
        """With H the targets of the rows."""
        W = moments.weight
        inputs = DenseForm(W * moments.input_covariance())
        cross, targets = W * moments.cross(), W * moments.target_covariance()
        return cls(inputs, cross, targets, moments.input_mean, moments.target_mean, float(W))

    @property
    def solver(self) -> str:
        """The way of `eigenfeat.least_squares.solve` they go: by columns, or by rows where moments hold those."""
        return "dual" if isinstance(self.inputs, FactoredForm) else "primal"

    def space(self, project: bool) -> TargetSpace:
        """Orthonormal targets that span the columns of H, as combinations of those.

        The rank is read off at unit diagonal, so that it does not depend on the units of the columns.
        """
        spread = np.sqrt(np.maximum(self.targets.diagonal(), 0.0))
        # A constant column is empty once centred; what rounding leaves of it must not count towards the rank.
        present = spread > 1e-13 * np.abs(self.target_mean)
        unit = np.where(present, spread, 1.0)
        values, U = eigh(self.targets * np.outer(present / unit, present / unit), check_finite=False)
        kept = values > COLLINEAR * values.max(initial=0.0)
        root, U = np.sqrt(values[kept]), U[:, kept]
        loadings, s, _ = svd(unit[:, None] * U * root, full_matrices=False, check_finite=False)
        return TargetSpace(s, loadings, self.target_mean, np.ones(len(s)) if project else s)


@dataclass(frozen=True, eq=False)
class MomentForm:
    """A quotient posed by moments, and the targets behind its signal."""

    quotient: Quotient
    space: TargetSpace

    @classmethod
    def of(cls, scatters: Scatters, project: bool, regularisation: Regularisation, label: str) -> MomentForm:
        space = scatters.space(project)
        factor = (scatters.cross @ space.reading) * space.scale
        rows = GramCache(np.ascontiguousarray(factor.T))
        quotient = Quotient(
            signal=FactoredForm(rows, (RowTerm(np.arange(space.rank), scale=np.ones(space.rank)),)),
            noise=regularisation.with_ridge(scatters.inputs),
            signal_factor=factor,
            references=scatters.cross.T,
            origin=scatters.input_mean,
            label=label,
            kind=KIND,
        )
        return cls(quotient, space)

    def shifted(self, alpha: float) -> MomentForm:
        """The same with ``alpha`` more of a ridge."""
        return replace(self, quotient=replace(self.quotient, noise=self.quotient.noise.shifted(alpha)))

    def directions(self, n_components: int | None) -> Directions:
        """The first directions, with the signs and the order of ties that rows would give."""
        found = solve([self.quotient], solver="low_rank")[0]
        found = found.first(min(self.space.rank, found.noise_rank))
        V = found.toarray()
        rotation = shortest_first(found.values, V.T @ V, tie_of(V.dtype))
        if rotation is not None:
            V = orient(V @ rotation, self.quotient.references)
        return replace(found, vectors=DenseVectors(V)).take(slice(0, n_components))

    def chosen_alpha(self, scatters: Scatters) -> float | None:
        """The further ridge of least generalized cross-validation: each row's own influence is not in the moments.

        None where nearly as many directions as rows leave that without meaning.
        """
        inputs, weight = scatters.inputs.toarray(), scatters.weight
        shift = float(np.mean(self.quotient.noise.diagonal() - inputs.diagonal()))
        squares, Q = eigh(inputs, check_finite=False)
        kept = squares > rank_cutoff(squares, squares.dtype)
        squares, Q = squares[kept], Q[:, kept]
        if len(squares) > MEANINGFUL * (weight - 1):
            return None
        power = np.sum((Q.T @ self.quotient.signal_factor) ** 2, axis=1) / squares
        outside = max(float(np.sum(self.space.scale**2)) - float(power.sum()), 0.0)
        alphas, errors = search(
            lambda alphas: generalized_cross_validation(squares, power, outside, weight, shift + alphas),
            decades(squares),
        )
        return float(alphas[np.argmin(errors)])

    def relation(self, vectors: np.ndarray) -> TargetRelation:
        """The directions beside the targets."""
        along = (self.quotient.signal_factor / self.space.scale).T @ vectors
        return TargetRelation(self.space, along, vectors.T @ (self.quotient.noise @ vectors))
