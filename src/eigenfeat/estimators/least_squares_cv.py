"""The least-squares family with its penalty chosen by leave-one-out or on held-out folds."""

from __future__ import annotations

from eigenfeat._sklearn import StrOptions
from eigenfeat.estimators.least_squares_base import LeastSquaresBase
from eigenfeat.estimators.least_squares_choice import by_leave_one_out
from eigenfeat.estimators.least_squares_docs import FRAGMENTS, REFERENCE, filled
from eigenfeat.estimators.least_squares_models import (
    GRAPH_CONSTRAINTS,
    ClassTargets,
    CorrelatedTargets,
    GivenTargets,
    HypergraphTargets,
    TargetRegression,
)
from eigenfeat.estimators.search import keep_search
from eigenfeat.least_squares.paths import SPARSE_PENALTIES
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.spectrum import RowSpectrum


class LeastSquaresSearch(LeastSquaresBase):
    """Base of the estimators that search for their alpha among ``alphas``."""

    _parameter_constraints: dict = {
        **LeastSquaresBase._parameter_constraints,
        "penalty": [StrOptions({"ridge", *SPARSE_PENALTIES})],
        "alphas": [None, "array-like"],
        "cv": ["cv_object"],
    }

    def __init__(
        self,
        n_components=None,
        *,
        penalty="ridge",
        alphas=None,
        cv=None,
        l1_ratio=0.5,
        ridge=0.0,
        solver="auto",
        kernel=None,
        gamma=None,
        degree=3,
        coef0=1.0,
        smoothness=1.0,
        n_neighbors=5,
        tol=1e-8,
        max_iter=1000,
    ):
        self.n_components = n_components
        self.penalty = penalty
        self.alphas = alphas
        self.cv = cv
        self.l1_ratio = l1_ratio
        self.ridge = ridge
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.tol = tol
        self.max_iter = max_iter

    def _choose_alpha(self, X, y, weights, quotient: LeastSquaresQuotient) -> tuple[float, RowSpectrum | None]:
        alphas = None if self.alphas is None else self._checked_alphas(self.alphas)
        if self.cv is None and self.penalty == "ridge":
            choice = by_leave_one_out(quotient, alphas)
        else:
            choice = self._on_folds(X, y, weights, quotient, alphas, self.cv)
        self.alphas_, self.cv_errors_ = choice.alphas, choice.errors.mean(axis=0)
        params = [{"alpha": float(alpha)} for alpha in choice.alphas]
        best = keep_search(self, params, -choice.errors.T, ties=-choice.alphas)  # of equals the most regularised
        return best["alpha"], choice.spectrum


_OPTIONS = """penalty : {"ridge", "lasso", "elasticnet", "group"}
    alphas : array, optional
        Candidates; by default for the ridge powers of ten of the trace of XᵀX, from ten down to a hundredth of its
        smallest eigenvalue, and thirds of powers beside the best of them; for a sparse penalty 20 values below the
        smallest that leaves no weight, down to a thousandth of it.
    cv : int, splitter or iterable, optional
        Folds on which the squared error of predicting H from X is measured. By default exact leave-one-out for the
        ridge, from one decomposition of X, and five folds for the sparse penalties.
    n_components, l1_ratio, ridge, solver, kernel, gamma, degree, coef0, smoothness, n_neighbors, tol, max_iter
        As in `{NAME}`.

    Attributes
    ----------
    alpha_ : float
        The candidate of least error; of equal ones the largest.
    alphas_, cv_errors_ : arrays
        The candidates, and the error of each.
    best_params_, best_score_, best_index_ : dict, float and int
        The choice as scikit-learn's searches give it: ``{"alpha": ...}``, minus its error, its place in ``alphas_``.
    cv_results_ : dict
        As scikit-learn's searches have it, scores being minus the errors: one split a fold, a single one for
        leave-one-out.
    components_, eigenvalues_, ...
        As in `{NAME}`, refitted on all rows at ``alpha_``. Unlabelled rows stay while others are left out one by one,
        and take no part in folds."""


_SEARCH = f"""Parameters
    ----------
    {_OPTIONS}

    References
    ----------
    {REFERENCE}"""


def _documented(cls):
    name = cls.__name__.removesuffix("CV")
    cls.__doc__ = filled(cls.__doc__ or "", {"SEARCH": _SEARCH, "OPTIONS": _OPTIONS, "NAME": name, **FRAGMENTS})
    return cls


@_documented
class LeastSquaresLDACV(ClassTargets, LeastSquaresSearch):
    """`LeastSquaresLDA` with its penalty chosen from the training rows.

    {SEARCH}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import LeastSquaresLDACV
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LeastSquaresLDACV().fit(X, y).alpha_, 2)
    1.47
    """


@_documented
class LeastSquaresCCACV(CorrelatedTargets, LeastSquaresSearch):
    """`LeastSquaresCCA` with its penalty chosen from the training rows.

    {SEARCH}

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from eigenfeat import LeastSquaresCCACV
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> LeastSquaresCCACV(alphas=[1, 1000], cv=5).fit(X, Y).alpha_
    1000.0
    """


@_documented
class LeastSquaresOPLSCV(TargetRegression, LeastSquaresSearch):
    """`LeastSquaresOPLS` with its penalty chosen from the training rows.

    {SEARCH}

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from eigenfeat import LeastSquaresOPLSCV
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> LeastSquaresOPLSCV(penalty="group", alphas=[1, 10, 100]).fit(X, Y).components_.shape
    (3, 3)
    """


@_documented
class HypergraphFeaturesCV(HypergraphTargets, LeastSquaresSearch):
    """`HypergraphFeatures` with its penalty chosen from the training rows.

    Parameters
    ----------
    graph : {"star", "clique", "zhou"}
        How the hypergraph becomes a graph.
    {OPTIONS}

    References
    ----------
    {REFERENCE}

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from eigenfeat import HypergraphFeaturesCV
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> HypergraphFeaturesCV(alphas=[1, 10, 100, 1000]).fit(X, Y).alpha_
    100.0
    """

    _parameter_constraints: dict = {**LeastSquaresSearch._parameter_constraints, **GRAPH_CONSTRAINTS}

    def __init__(
        self,
        n_components=None,
        *,
        graph="star",
        penalty="ridge",
        alphas=None,
        cv=None,
        l1_ratio=0.5,
        ridge=0.0,
        solver="auto",
        kernel=None,
        gamma=None,
        degree=3,
        coef0=1.0,
        smoothness=1.0,
        n_neighbors=5,
        tol=1e-8,
        max_iter=1000,
    ):
        super().__init__(
            n_components,
            penalty=penalty,
            alphas=alphas,
            cv=cv,
            l1_ratio=l1_ratio,
            ridge=ridge,
            solver=solver,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            smoothness=smoothness,
            n_neighbors=n_neighbors,
            tol=tol,
            max_iter=max_iter,
        )
        self.graph = graph


@_documented
class LeastSquaresFeaturesCV(GivenTargets, LeastSquaresSearch):
    """`LeastSquaresFeatures` with its penalty chosen from the training rows.

    {SEARCH}

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from eigenfeat import LeastSquaresFeaturesCV
    >>> X, H = load_linnerud(return_X_y=True)
    >>> LeastSquaresFeaturesCV(alphas=[1, 10]).fit(X, H).components_.shape
    (3, 3)
    """
