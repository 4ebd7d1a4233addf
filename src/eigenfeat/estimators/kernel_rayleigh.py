"""Any signal over any noise in a kernel feature space, weighted sums of them included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat._sklearn import StrOptions, checked_fit
from eigenfeat.estimators.kernel_base import KernelEstimator
from eigenfeat.estimators.kernel_features import KernelFeatures
from eigenfeat.estimators.validation import check_class_labels, check_weights
from eigenfeat.kernel.basis import Basis
from eigenfeat.kernel.invariances import tangent_covariance
from eigenfeat.kernel.problem import KernelProblem
from eigenfeat.kernel.scatter import between_factor, class_means, within_scatter
from eigenfeat.moments.forms import DenseForm
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.solvers import DenseVectors, Directions
from eigenfeat.solvers import solve as solve_quotients
from eigenfeat.solvers.canonical import skewness_signs

#: Scatter of the rows in feature space that has a name; the first two look at classes.
SCATTERS = ("between", "within", "total", "second_moment", "identity")


class KernelRayleighFeatures(KernelFeatures):
    r"""Directions in a kernel feature space that maximise any ratio of signals to noises.

    The coefficients α of every feature maximise

    .. math:: \frac{\alpha^\top \left(\sum_i s_i S_i\right) \alpha}
              {\alpha^\top \left(\sum_i n_i N_i + T + \text{alpha} \cdot P\right) \alpha}

    P the kernel matrix ("function") or the identity ("coefficients"), T the tangent covariance of ``invariances``.

    Parameters
    ----------
    signal, noise : str, array, callable, or list of these
        What S and N are, as functions of f over the rows (sums, not means):

        - "between", "within": scatter of the classes (y is needed); "total": scatter about the mean; "second_moment":
          Σf² about zero; "identity": the penalty αᵀPα itself;
        - an (n, n) symmetric positive semi-definite array A over the rows, dense or sparse: f(X)ᵀAf(X), as for a graph
          Laplacian or a covariance of one's own;
        - a function from rows to transformed rows L: Σ(f(x) - f(Lx))²;
        - a list of these, or of pairs ``(weight, term)``: their weighted sum (thesis, eq. 3.24).
    n_components : int, optional
        n_classes - 1 for the signal "between" alone, else all that stand above rounding.
    which : {"largest", "smallest"}
        End of the spectrum: "smallest" finds functions with little signal for their noise, as for vanishing ones.
    alpha : float
        Weight of P; positive unless the noise has full rank.
    kernel, gamma, penalty, columns, degree, coef0, centers, n_centers, invariances, expand_over, random_state
        As in `KernelFisherClassifier`.

    Attributes
    ----------
    dual_coef_, intercept_, offsets_, eigenvalues_, residuals_, support_, support_vectors_, gamma_, alpha_, columns_
        As in `KernelFisherFeatures`; scaled so that the noise with alpha·P of a feature is one.
    classes_ : (n_classes,) array or None
    solver_, n_features_in_

    References
    ----------
    Mika (2002), *Kernel Fisher Discriminants*, eq. 3.20 to 3.24, section 3.4.5.

    Examples
    --------
    Classes apart and much variance, against scatter within classes and changes under a small shift:

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from eigenfeat import KernelRayleighFeatures
    >>> X, y = load_wine(return_X_y=True)
    >>> both = KernelRayleighFeatures(
    ...     signal=["between", (0.1, "total")], noise=["within", (2.0, lambda rows: rows + 0.1)], n_components=2
    ... )
    >>> both.fit_transform(scale(X), y).shape
    (178, 2)
    """

    _parameter_constraints: dict = {
        **KernelFeatures._parameter_constraints,
        **KernelEstimator._columns_constraints,
        "signal": [str, callable, list, tuple, "array-like", "sparse matrix"],
        "noise": [str, callable, list, tuple, "array-like", "sparse matrix"],
        "which": [StrOptions({"largest", "smallest"})],
    }

    def __init__(
        self,
        signal="between",
        noise="within",
        n_components=None,
        kernel="rbf",
        gamma=None,
        alpha=1e-3,
        penalty="function",
        *,
        which="largest",
        columns="auto",
        degree=3,
        coef0=1.0,
        centers=None,
        n_centers=None,
        invariances=None,
        expand_over="rows",
        random_state=0,
    ):
        self.signal = signal
        self.noise = noise
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.penalty = penalty
        self.which = which
        self.columns = columns
        self.degree = degree
        self.coef0 = coef0
        self.centers = centers
        self.n_centers = n_centers
        self.invariances = invariances
        self.expand_over = expand_over
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Find the directions.

        Parameters
        ----------
        X : (n, d) array or sparse matrix; the (n, n) kernel matrix when ``kernel="precomputed"``
        y : (n,) array
            Classes, where "between" or "within" is asked for; ignored elsewhere.
        sample_weight : (n,) array, optional
            Of the rows in scatters and under transformations; arrays over the rows are taken as they are.

        Returns
        -------
        self
        """
        codes, self.classes_ = None, None
        if self._needs_labels():
            X, y = self._check(X, y)
            self.classes_, codes = check_class_labels(y, check_weights(sample_weight, X), estimator=type(self).__name__)
        else:
            self._check_unused(X, y)
            X = self._check(X, ensure_min_samples=2)
        weights = check_weights(sample_weight, X)
        weights = np.ones(X.shape[0]) if weights is None else weights
        return self._fit_directions(X, weights, partial(self._directions, codes))

    def _directions(self, codes: np.ndarray | None, basis: Basis, problem: KernelProblem) -> Directions:
        design, weights = basis.design.astype(np.float64, copy=False), problem.weights.astype(np.float64)
        signal, noise = (self._summed(part, codes, basis, problem) for part in ("signal", "noise"))
        noise += basis.penalty(problem.alpha, problem.invariance)
        n_components = self.n_components
        if n_components is None and self.classes_ is not None and _is_name(self.signal, "between"):
            n_components = len(self.classes_) - 1
        quotient = Quotient(DenseForm(symmetric(signal)), DenseForm(symmetric(noise)), label="signal over noise")
        found = solve_quotients([quotient], n_components, which=self.which)[0]
        if self.which == "largest":
            found = found.take(
                found.values > np.sqrt(np.finfo(problem.kernel.dtype).eps) * found.values.max(initial=0.0)
            )
        if not found.n_directions:
            raise ValueError(
                f"{type(self).__name__} found no direction with any signal: give another signal, kernel or gamma."
            )
        centred = design - weights @ design / weights.sum()
        signs = skewness_signs(found.vectors.projected(centred), weights)
        return replace(found, vectors=DenseVectors(found.toarray() * signs))

    def _summed(self, part: str, codes: np.ndarray | None, basis: Basis, problem: KernelProblem) -> np.ndarray:
        """The weighted sum of the terms of a parameter."""
        terms = terms_of(getattr(self, part))
        if not terms:
            raise ValueError(f"{part} is an empty list: name at least one term.")
        total = np.zeros((basis.design.shape[1],) * 2)
        for weight, term in terms:
            total += weight * self._matrix(term, part, codes, basis, problem)
        return total

    def _matrix(
        self, term: Any, part: str, codes: np.ndarray | None, basis: Basis, problem: KernelProblem
    ) -> np.ndarray:
        """A term as a quadratic form in the coordinates of the basis."""
        design, weights = basis.design.astype(np.float64, copy=False), problem.weights.astype(np.float64)
        if isinstance(term, str):
            return scatter(term, part, codes, design, weights)
        if callable(term):
            if problem.kernel.precomputed:
                raise ValueError(
                    f"{part} has a transformation of rows, which kernel='precomputed' cannot see: name a kernel."
                )
            moves = [(1.0, term)]
            return basis.congruent(tangent_covariance(problem.kernel, problem.expanded_over, weights, moves))
        A = over_rows(term, part, len(design))
        return design.T @ np.asarray(A @ design)

    def _needs_labels(self) -> bool:
        named = [term for part in (self.signal, self.noise) for _, term in terms_of(part) if isinstance(term, str)]
        return any(name in ("between", "within") for name in named)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_labels()
        return tags


def terms_of(given: Any) -> list[tuple[float, Any]]:
    """Weighted terms of a parameter; a matrix written as a list of lists is one term."""
    is_list = isinstance(given, list | tuple)
    if is_list and len(given) and not (isinstance(given[0], Sequence | np.ndarray) and _is_row(given[0])):
        return [term if _is_pair(term) else (1.0, term) for term in given]
    return [] if is_list and not len(given) else [(1.0, given)]


def _is_row(first: Any) -> bool:
    """The first row of a matrix: numbers, and not a pair of a number and a term."""
    return not isinstance(first, str) and np.ndim(first) == 1 and not _is_pair(first)


def _is_pair(term: Any) -> bool:
    return isinstance(term, tuple) and len(term) == 2 and np.isscalar(term[0]) and not isinstance(term[0], str)


def _is_name(given: Any, name: str) -> bool:
    return isinstance(given, str) and given == name


def symmetric(matrix: np.ndarray) -> np.ndarray:
    return (matrix + matrix.T) / 2


def scatter(name: str, part: str, codes: np.ndarray | None, design: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Scatter of the rows of a design, by its name."""
    if name not in SCATTERS:
        raise ValueError(
            f"{part} must be one of {', '.join(SCATTERS)}, a square array over the rows, a function of rows, or a list "
            f"of these; got {name!r}."
        )
    if name == "identity":
        return np.eye(design.shape[1])
    if name == "second_moment":
        return design.T @ (weights[:, None] * design)
    one_class = np.zeros(len(design), dtype=int)
    codes = one_class if name == "total" or codes is None else codes
    means, totals = class_means(design, codes, weights)
    if name == "between":
        H = between_factor(means, totals)
        return H @ H.T
    return within_scatter(design, codes, weights, means)


def over_rows(given: Any, part: str, n_rows: int) -> np.ndarray | sparse.csr_matrix:
    """A symmetric array over the rows."""
    A: Any = sparse.csr_matrix(given, dtype=float) if sparse.issparse(given) else np.asarray(given, dtype=float)
    if A.shape != (n_rows, n_rows):
        raise ValueError(f"{part} must be a {n_rows} × {n_rows} array, one row of X each way; got shape {A.shape}.")
    values = A.data if sparse.issparse(A) else A
    if not np.isfinite(values).all():
        raise ValueError(f"{part} has NaN or infinite entries.")
    away = abs(A - A.T).max()
    if away > 1e-8 * max(float(abs(values).max(initial=0)), np.finfo(float).tiny):
        raise ValueError(f"{part} must be symmetric; pass (A + A.T) / 2 if it is so up to rounding.")
    return A
