"""The solvers of cross-tensors: singular vectors, eigenvectors, the power method and alternating least squares."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from eigenfeat.moments.forms import SymmetricForm
from eigenfeat.scores.components import Components, Fit
from eigenfeat.scores.cross_tensor import CrossTensor, StreamedTensor
from eigenfeat.scores.decomposition import Search, decompose
from eigenfeat.scores.spectral import extreme_components, singular_components
from eigenfeat.scores.stochastic import Batches, decompose_stochastically
from eigenfeat.solvers.contract import Requirement, Solver, SolverTable, never
from eigenfeat.solvers.noise import factor_noise


@dataclass(frozen=True, eq=False)
class TensorProblem:
    """A cross-tensor T and the noise N that makes directions comparable: components are found where N is the identity.

    Parameters
    ----------
    tensor : StreamedTensor
        T, in the coordinates of the rows.
    noise : SymmetricForm
        N.
    """

    tensor: StreamedTensor
    noise: SymmetricForm

    @property
    def order(self) -> int:
        return self.tensor.order

    @cached_property
    def basis(self) -> np.ndarray:
        """K with ``KᵀNK = I``."""
        factor = factor_noise(self.noise, np.dtype(np.float64), "the score")
        return factor.unwhiten(np.eye(factor.rank))

    @cached_property
    def whitened(self) -> StreamedTensor:
        """``T(I, K, ..., K)``."""
        return self.tensor.in_basis(self.basis)


@dataclass(frozen=True, eq=False)
class TensorRequest:
    """How many components are wanted, how hard to look for them, and the random numbers to do it with."""

    n_components: int
    rng: np.random.Generator
    search: Search = field(default_factory=Search)
    batches: Batches = field(default_factory=Batches)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Components where N is the identity, and the whitened tensor in the form in which it was decomposed."""

    fit: Fit
    tensor: CrossTensor

    @property
    def components(self) -> Components:
        return self.fit.components


def of_order(order: int) -> Requirement:
    return Requirement(lambda problem, request: problem.order == order, f"order={order}")


HIGHER_ORDER = Requirement(lambda problem, request: problem.order >= 3, "order=3 or above")


def by_singular_vectors(problem: TensorProblem, request: TensorRequest) -> Decomposition:
    return Decomposition(Fit(singular_components(problem.whitened, request.n_components)), problem.whitened)


def by_eigenvectors(problem: TensorProblem, request: TensorRequest) -> Decomposition:
    found = extreme_components(problem.tensor, problem.noise, problem.basis, request.n_components)
    return Decomposition(Fit(found), problem.whitened)


def by_power_method(problem: TensorProblem, request: TensorRequest) -> Decomposition:
    tensor = problem.whitened.condensed()
    return Decomposition(decompose(tensor, request.n_components, request.rng, request.search), tensor)


def by_least_squares(problem: TensorProblem, request: TensorRequest) -> Decomposition:
    fit = decompose_stochastically(problem.whitened, request.n_components, request.rng, request.batches, request.search)
    return Decomposition(fit, problem.whitened)


TENSOR_SOLVERS = SolverTable(
    (
        Solver("svd", by_singular_vectors, (of_order(1),)),
        Solver("eigen", by_eigenvectors, (of_order(2),)),
        Solver("power", by_power_method, (HIGHER_ORDER,)),
        # Mini-batches are for rows too many to pass over often: asked for, not chosen.
        Solver("als", by_least_squares, (HIGHER_ORDER,), suits=never),
    ),
    describe=lambda problem: f"a cross-moment of order {problem.order}",
)
