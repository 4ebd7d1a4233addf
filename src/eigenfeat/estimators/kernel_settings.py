"""What the parameters of a kernel estimator ask for, as a value, and the problem that it poses over given rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from eigenfeat.estimators.validation import check_kernel_takes
from eigenfeat.features.tangents import Transformation, transformed, weighted_transformations
from eigenfeat.kernel import Loss, Squared
from eigenfeat.kernel.conditional import about_mean
from eigenfeat.kernel.problem import DEFAULTS, KernelProblem
from eigenfeat.kernel.table import draws_centers
from eigenfeat.rows.block import Matrix
from eigenfeat.stages.kernels import Kernel, KernelRows, default_gamma

#: Centres that many classes may ask for: more make a fit of 10,000 rows take minutes.
MOST_CENTERS = 4000


@dataclass(frozen=True, eq=False)
class KernelSettings:
    """Kernel, loss, penalty and expansion, named as the parameters of `KernelFisherClassifier`.

    ``solver`` is None where none of the table is to run: it may draw centres (`eigenfeat.kernel.table.draws_centers`).
    """

    kernel: str | Callable
    degree: float
    coef0: float
    penalty: str
    centers: str | np.ndarray | None
    n_centers: int | None
    invariances: Sequence[Transformation | tuple[float, Transformation]] | None
    expand_over: str
    gamma: float | None = None
    alpha: float | str = 1.0
    loss: Loss = Squared()  # noqa: RUF009  (frozen)
    solver: str | None = None

    @property
    def is_precomputed(self) -> bool:
        return self.kernel == "precomputed"


def posed(
    settings: KernelSettings,
    X: Matrix,
    targets: np.ndarray,
    weights: np.ndarray,
    copies: np.ndarray | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> KernelProblem:
    """The problem of these settings over these rows.

    Raises
    ------
    ValueError
        For a kernel, centres or invariances that these rows cannot have.
    """
    kernel = _kernel_rows(settings, X, weights)
    if settings.penalty == "function" and kernel.is_indefinite():
        kernel = _anchored(kernel, weights, settings.kernel)
    problem = KernelProblem(
        kernel,
        targets.astype(kernel.dtype, copy=False),
        weights.astype(kernel.dtype, copy=False),
        1.0 if isinstance(settings.alpha, str) else float(settings.alpha),
        settings.loss,
        settings.penalty,
        invariances=tuple(weighted_transformations(settings.invariances or ())),
        copies=copies,
    )
    asked_for = settings.centers is not None or settings.n_centers is not None
    if asked_for or draws_centers(settings.solver, problem, DEFAULTS):
        problem = replace(problem, centers=_centers(settings, problem, weights, check_random_state(random_state)))
    return _over_moved_rows(problem, settings.expand_over) if problem.invariances else problem


def _kernel_rows(settings: KernelSettings, X: Matrix, weights: np.ndarray) -> KernelRows:
    if settings.is_precomputed:
        _check_precomputed(settings, X)
    check_kernel_takes(settings.kernel, X)
    gamma = settings.gamma
    if gamma is None:
        gamma = 1.0 if settings.is_precomputed else default_gamma(X, weights)
    name = "linear" if settings.is_precomputed else settings.kernel
    return KernelRows(Kernel(name, gamma, settings.degree, settings.coef0), X, precomputed=settings.is_precomputed)


def _anchored(kernel: KernelRows, weights: np.ndarray, name: str | Callable) -> KernelRows:
    """A conditionally positive definite kernel, valid with "function" too; any other indefinite one is refused."""
    anchored = about_mean(kernel, weights)
    if anchored is not None:
        return anchored
    centred = ", or a matrix centred by sklearn.preprocessing.KernelCenterer" if kernel.precomputed else ""
    raise ValueError(
        f"The kernel {name!r} is not positive semi-definite on these rows, so penalty='function' "
        f"(½‖w‖² = ½αᵀKα) has no minimum. Use penalty='coefficients' or 'sparse', or another kernel{centred}."
    )


def _check_precomputed(settings: KernelSettings, X: Matrix) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' takes the square kernel matrix of the training rows, got shape {X.shape}. "
            "Give K(train, train) to fit and K(test, train) to predict, or name a kernel."
        )
    if sparse.issparse(X):
        raise ValueError("kernel='precomputed' takes a dense kernel matrix: call .toarray() on it first.")
    if settings.invariances or (isinstance(settings.centers, str) and settings.centers == "kmeans"):
        raise ValueError(
            "invariances and centers='kmeans' move points, which kernel='precomputed' cannot see. "
            "Give the rows themselves and name a kernel."
        )


def default_centers(n_rows: int, n_outputs: int) -> int:
    """√n log n for one function, as theory has it for its accuracy; √(classes / 2) times as many for one a class.

    The functions of many classes have less in common: on held-out rows (benchmarks/speed/kfd_centers.py) √n log n alone
    left 45 classes at 36.7 % where this has 25.5, and 10 classes at 5.2 where this has 3.7.
    """
    single = int(np.ceil(np.sqrt(n_rows) * np.log(n_rows + 1)))
    return max(single, min(int(single * np.sqrt(max(n_outputs, 2) / 2)), MOST_CENTERS))


def _centers(
    settings: KernelSettings, problem: KernelProblem, weights: np.ndarray, draw: np.random.RandomState
) -> np.ndarray:
    """Row numbers or points of a restricted expansion; rows of weight zero are not there."""
    kernel = problem.kernel
    if settings.centers is not None and not isinstance(settings.centers, str):
        return _given_centers(np.asarray(settings.centers), kernel)
    there = problem.in_order(np.flatnonzero(weights > 0))
    n = len(there)
    n_centers = min(n, settings.n_centers or default_centers(n, problem.targets.shape[1]))
    if settings.centers == "kmeans" and n_centers < n:
        model = MiniBatchKMeans(n_centers, batch_size=max(1024, 2 * n_centers), n_init=1, random_state=draw)
        share = None if np.ptp(weights[there]) == 0 else weights[there]
        return model.fit(kernel.rows[there], sample_weight=share).cluster_centers_.astype(kernel.dtype)
    return np.sort(there[_drawn(weights[there], n_centers, draw)])


def _drawn(weights: np.ndarray, count: int, draw: np.random.RandomState) -> np.ndarray:
    """So many indices without repetition, the first of them with chances in proportion to the weights."""
    if np.ptp(weights) == 0:
        return draw.permutation(len(weights))[:count]
    # The first events of Poisson processes with these rates (Efraimidis & Spirakis 2006).
    return np.argsort(draw.exponential(size=len(weights)) / weights)[:count]


def _given_centers(centers: np.ndarray, kernel: KernelRows) -> np.ndarray:
    if centers.ndim == 1 and np.issubdtype(centers.dtype, np.integer):
        if centers.size == 0 or centers.min() < 0 or centers.max() >= len(kernel):
            raise ValueError(
                f"centers as row numbers must lie in [0, {len(kernel)}); got {centers.size} of them "
                f"{'' if centers.size == 0 else f'from {centers.min()} to {centers.max()}'}."
            )
        return np.unique(centers)
    if centers.ndim != 2 or centers.shape[1] != kernel.rows.shape[1] or kernel.precomputed:
        raise ValueError(
            f"centers must be 'random', 'kmeans', integer row numbers, or points with {kernel.rows.shape[1]} "
            f"columns (not with kernel='precomputed'); got an array of shape {centers.shape}."
        )
    return centers.astype(kernel.dtype)


def _over_moved_rows(problem: KernelProblem, expand_over: str) -> KernelProblem:
    """A problem with invariances over its rows, or over these and the transformed rows (3.4.5)."""
    if sparse.issparse(problem.kernel.rows):
        raise ValueError("invariances transform dense rows: call X.toarray() first.")
    centers = problem.expanded_over
    if expand_over == "transformed":
        points = problem.kernel.points(centers)
        centers = np.vstack([points, *(transformed(points, move) for _, move in problem.invariances)])
    return replace(problem, centers=centers)
