"""The kernel problem as a value: loss × penalty over a kernel expansion; what is wanted of it, and its solution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat.features.tangents import Transformation
from eigenfeat.kernel.invariances import tangent_covariance, tangents
from eigenfeat.kernel.losses import Loss, Squared
from eigenfeat.rows.keys import row_order
from eigenfeat.stages.kernels import KernelRows

PENALTIES = ("function", "coefficients", "sparse")


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """Minimise ``L(ξ) + alpha·P`` over f(x) = Σⱼ αⱼ k(zⱼ, x) + b, with ξ = y - f(x) (thesis 3.37).

    ``L`` is a weighted sum of a loss over rows. ``P`` is ½αᵀKα ("function"), ½‖α‖² ("coefficients") or ‖α‖₁
    ("sparse"). The expansion runs over all rows unless there are ``centers``.
    """

    kernel: KernelRows
    targets: np.ndarray
    """(n, m): one column a problem; all columns share the kernel work."""
    weights: np.ndarray
    """(n,) non-negative row weights."""
    alpha: float
    loss: Loss = Squared()  # noqa: RUF009  (frozen)
    penalty: str = "function"
    centers: np.ndarray | None = None
    """Row numbers (one-dimensional) or points (two-dimensional): the zⱼ of a restricted expansion (3.57)."""
    invariances: tuple[tuple[float, Transformation], ...] = ()
    """Transformations, weighted: outputs that change under them are penalised (thesis 3.23, 3.24)."""
    copies: np.ndarray | None = None
    """(n,) how many copies of a row its weight stands for: leaving one out leaves the others (None: one)."""
    classes: np.ndarray | None = None
    """(n,) codes of classes that are to be told apart jointly; None: every column of the targets on its own."""

    @property
    def n_rows(self) -> int:
        return len(self.weights)

    @cached_property
    def order(self) -> np.ndarray:
        """Numbers of the rows in the order of their keys: what is drawn is drawn from this."""
        return row_order(self.kernel.rows, self.targets, weights=self.weights, kernel=self.kernel.precomputed)

    def in_order(self, rows: np.ndarray) -> np.ndarray:
        """Some of the rows, by number, in the order of their keys."""
        chosen = np.zeros(self.n_rows, dtype=bool)
        chosen[rows] = True
        return self.order[chosen[self.order]]

    @property
    def expanded_over(self) -> np.ndarray:
        """The centres, or the numbers of all rows."""
        return np.arange(len(self.kernel)) if self.centers is None else self.centers

    def columns(self) -> np.ndarray:
        """(n, q) kernel between the rows and the expansion."""
        return self.kernel.matrix() if self.centers is None else self.kernel.columns(self.centers)

    @property
    def tangents(self) -> Iterator[np.ndarray]:
        """For every transformation how the kernel columns of the rows change, over the expansion."""
        return tangents(self.kernel, self.expanded_over, self.invariances)

    @cached_property
    def invariance(self) -> np.ndarray | None:
        """(q, q) matrix T over the expansion: ½αᵀTα is added to the objective."""
        if not self.invariances:
            return None
        return tangent_covariance(self.kernel, self.expanded_over, self.weights, self.invariances)


@dataclass(frozen=True)
class KernelRequest:
    """How a problem is to be solved; None leaves a solver its own default, and no solver reads all of these.

    Attributes
    ----------
    tol : float or None
        How exact, in the measure of the solver.
    max_iter : int or None
    max_terms : int or None
        Rows in the expansion of a greedy solver, at most.
    random_state : int, RandomState or None
        Of the solvers that draw candidates.
    """

    tol: float | None = None
    max_iter: int | None = None
    max_terms: int | None = None
    random_state: int | np.random.RandomState | None = 0

    def filled(self, **defaults: Any) -> Any:
        """The request with a solver's defaults where it leaves something open: these are not None any more."""
        return replace(self, **{name: value for name, value in defaults.items() if getattr(self, name) is None})

    def draw(self) -> np.random.RandomState:
        return check_random_state(self.random_state)


#: Everything left to the solver.
DEFAULTS = KernelRequest()


@dataclass(frozen=True, eq=False)
class KernelSolution:
    """What a solver returns.

    Attributes
    ----------
    coefficients : (n, m) array
        α, of full length, with exact zeros where a row is not used; (q, m) over ``centers`` that are points.
    intercept : (m,) array
    objective : (m,) array
        ``L(ξ) + alpha·P`` (and the invariance term) at the solution.
    converged : bool
    n_iter : int
    solver : str
    outputs : (n, m) array, optional
        f at the rows; None when the solver never forms it.
    loo_outputs : (n, m) array, optional
        f at every row, fitted without that row; None where this is not exact.
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    objective: np.ndarray
    converged: bool
    n_iter: int
    solver: str
    outputs: np.ndarray | None = None
    loo_outputs: np.ndarray | None = None
