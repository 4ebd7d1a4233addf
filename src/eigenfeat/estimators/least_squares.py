"""The least-squares family: LDA, CCA, OPLS, hypergraphs and any H, an estimator each."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from eigenfeat._sklearn import NON_NEGATIVE, StrOptions, checked_fit
from eigenfeat.estimators.least_squares_base import LeastSquaresBase
from eigenfeat.estimators.least_squares_choice import DECOMPOSED, LEFT_OUT, by_leave_one_out
from eigenfeat.estimators.least_squares_docs import documented
from eigenfeat.estimators.least_squares_models import (
    GRAPH_CONSTRAINTS,
    ClassTargets,
    CorrelatedTargets,
    GivenTargets,
    HypergraphTargets,
    TargetRegression,
)
from eigenfeat.estimators.streaming import streamed
from eigenfeat.least_squares.moment_form import MomentForm, Scatters
from eigenfeat.least_squares.paths import SPARSE_PENALTIES
from eigenfeat.least_squares.quotient import LeastSquaresQuotient
from eigenfeat.least_squares.spectrum import RowSpectrum
from eigenfeat.quotients import Regularisation
from eigenfeat.rows.rows import Rows


class LeastSquaresTransformer(LeastSquaresBase):
    """Base of the estimators with an ``alpha``, of rows or of moments."""

    _parameter_constraints: dict = {
        **LeastSquaresBase._parameter_constraints,
        "alpha": [NON_NEGATIVE, StrOptions({"loo"})],
    }

    def __init__(
        self,
        n_components=None,
        *,
        penalty="ridge",
        alpha="loo",
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
        self.alpha = alpha
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

    @checked_fit
    def fit_moments(self, moments):
        """Fit from moments alone: least squares in its moment form, of rows seen elsewhere or by other machines.

        The same components as `fit` on the rows, up to rounding, at the same alpha. Only the ridge can be asked for:
        sparse penalties and kernels need the rows. So does leaving rows out: ``alpha="loo"`` is here generalized
        cross-validation, which puts the mean influence of rows in the place of each row's own.

        Parameters
        ----------
        moments : CrossMoments
            Of X with the rows of H (for CCA and OPLS: y), from `eigenfeat.moments.collect_cross_moments`, merged or
            not. `LeastSquaresLDA` takes the class moments of `eigenfeat.moments.collect_moments`;
            `HypergraphFeatures` takes none, see `LeastSquaresFeatures`.

        Returns
        -------
        self
        """
        scatters = self._scatters(moments)
        self._check_moment_settings(scatters.solver)
        form = MomentForm.of(scatters, self._project, Regularisation(self.ridge), self._label)
        self._refuse_no_targets(form.space.rank)
        self.alpha_ = self._moment_alpha(form, scatters)
        form = form.shifted(self.alpha_)
        self.n_features_in_ = len(scatters.input_mean)
        found = form.directions(self.n_components)
        vectors = found.toarray()
        self._check_found(found.n_directions)
        self.eigenvalues_, self.residuals_, self.solver_ = found.values, found.residuals, scatters.solver
        self.n_iter_, self.converged_ = 1, np.ones(form.space.rank, dtype=bool)
        self.criterion_ = form.quotient.kind
        self._keep_components(vectors, scatters.input_mean)
        self._store_targets(form.quotient, vectors, lambda: form.relation(vectors))
        return self

    def _moment_alpha(self, form: MomentForm, scatters: Scatters) -> float:
        if self.penalty is None:
            return 0.0
        if self.alpha != "loo":
            return float(self.alpha)
        chosen = form.chosen_alpha(scatters)
        if chosen is None:
            raise ValueError(
                "alpha='loo' cannot be chosen from the moments of about as many rows as columns, which do not tell one "
                "row from another: give alpha a number (0 for none), or call fit(X, y)."
            )
        return chosen

    def _scatters(self, moments) -> Scatters:
        """Sums over rows and targets from moments."""
        raise NotImplementedError

    def _fit_source(self, source: Rows, y, sample_weight, X_unlabelled):
        self._check_moment_settings(self.solver)  # before the pass, not after it
        if X_unlabelled is not None:
            raise ValueError("X_unlabelled needs rows in memory, for neighbours are found among them; X is a stream.")
        return self.fit_moments(self._collect(streamed(self, source, y, sample_weight, self._label_kind)))

    def _check_moment_settings(self, solver: str) -> None:
        for name, allowed in {"penalty": (None, "ridge"), "kernel": (None,), "solver": ("auto", solver)}.items():
            value = getattr(self, name)
            if value not in allowed:
                ways_out = " or ".join(repr(choice) for choice in allowed)
                raise ValueError(
                    f"{name}={value!r} works on rows, not on these moments: set {name}={ways_out}, or call fit(X, y)."
                )

    def _choose_alpha(self, X, y, weights, quotient: LeastSquaresQuotient) -> tuple[float, RowSpectrum | None]:
        if self.penalty is None:
            return 0.0, None
        if self.alpha == 0 and self.penalty in SPARSE_PENALTIES:
            raise ValueError(
                f"alpha=0 with penalty={self.penalty!r} is no penalty: set penalty=None, or a positive alpha."
            )
        if self.alpha != "loo":
            return float(self.alpha), None
        if self.penalty in SPARSE_PENALTIES:
            return self._on_folds(X, y, weights, quotient, None).best, None
        if min(quotient.rows.shape) <= DECOMPOSED:
            few = self._drawn(X, y, weights, LEFT_OUT) if X.shape[0] > LEFT_OUT else None
            choice = by_leave_one_out(quotient, few=few)
            return choice.best, choice.spectrum
        # The best ridge is one of noise over signal, which do not change with the number of rows.
        some = self._drawn(X, y, weights, DECOMPOSED)
        fewer = X[some][:, some] if self.kernel == "precomputed" else X[some]
        _, smaller = clone(self)._posed(fewer, y[some], None if weights is None else weights[some], None)
        return by_leave_one_out(smaller).best, None

    def _drawn(self, X, y, weights, count: int) -> np.ndarray:
        """So many rows, drawn with a fixed seed from those of positive weight."""
        order = self._order(X, y, weights)
        present = order if weights is None else order[weights[order] > 0]
        return np.sort(np.random.default_rng(0).permutation(present)[:count])


@documented
class LeastSquaresLDA(ClassTargets, LeastSquaresTransformer):
    r"""Linear discriminant analysis by least squares, on sparse data of any width.

    Maximises the between-class over the total scatter of projected rows,

    .. math:: \frac{w^\top X^\top S X w}{w^\top X^\top X w}, \qquad S = J (J^\top J)^\dagger J^\top

    with X and the class indicators J centred: the subspace of Fisher's discriminant, at most k - 1 directions, whose
    eigenvalues λ are λ / (1 - λ) in the within-class form. The solution is the regression of X on orthonormal targets
    that span J, rotated by an eigenproblem of size k - 1.

    {SHARED}
    classes_ : (k,) array

    See Also
    --------
    FisherLDA : From class moments, with shrinkage and prediction.

    References
    ----------
    {REFERENCE}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import LeastSquaresLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = LeastSquaresLDA().fit(X, y)
    >>> lda.transform(X).shape, round(lda.alpha_, 2)
    ((150, 2), 1.47)
    >>> LeastSquaresLDA(alpha=0).fit(X, y).eigenvalues_.round(2)  # no ridge: the plain eigenproblem
    array([0.97, 0.22])
    """


@documented
class LeastSquaresCCA(CorrelatedTargets, LeastSquaresTransformer):
    r"""Canonical correlation analysis by least squares, on sparse data of any width.

    Finds directions of X and of y whose projections correlate most: the eigenproblem

    .. math:: X^\top Y (Y^\top Y)^\dagger Y^\top X w = \lambda\, X^\top X w

    with X and Y centred. Y may be continuous, multi-label (zeros and ones, also sparse) or of deficient rank.

    {SHARED}
    canonical_correlations_ : (n_components,) array
        Square roots of the eigenvalues; with a ridge, of the regularised problem.
    y_components_ : (n_components, q) array
        Directions of y as rows, scaled so that projections of the centred training targets have unit norm.
    x_loadings_ : (n_components, d) array
        Regression of X on its projections. Without ``kernel``.
    y_mean_, y_loadings_ : (q,) and (n_components, q) arrays
        Mean of y, and its regression on the projections of X.

    See Also
    --------
    sklearn.cross_decomposition.CCA : One pair of directions at a time, dense.

    References
    ----------
    {REFERENCE}

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from eigenfeat import LeastSquaresCCA
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> cca = LeastSquaresCCA(alpha=0).fit(X, Y)  # no ridge: canonical correlations as they are
    >>> cca.canonical_correlations_.round(3)
    array([0.796, 0.201, 0.073])
    >>> x_scores, y_scores = cca.transform(X, Y)
    >>> round(float(x_scores[:, 0] @ y_scores[:, 0]), 3)
    0.796
    """


@documented
class LeastSquaresOPLS(TargetRegression, LeastSquaresTransformer):
    r"""Orthonormalised partial least squares: reduced-rank regression as features.

    Projections of unit variance that covary most with y:

    .. math:: X^\top Y Y^\top X w = \lambda\, X^\top X w

    with X and Y centred. The first k components are the best k for a linear prediction of y, which `predict` makes.

    {SHARED}
    y_mean_, y_loadings_ : (q,) and (n_components, q) arrays
        Mean of y, and its regression on the projections of X.

    References
    ----------
    {REFERENCE} Rosipal & Krämer (2006), *Overview and recent advances in partial least squares*.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from eigenfeat import LeastSquaresOPLS
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> opls = LeastSquaresOPLS(n_components=1).fit(X, Y)
    >>> opls.predict(X[:2]).round(1)
    array([[176.2,  35. ,  56.4],
           [183.8,  36.3,  55.4]])
    """


@documented
class HypergraphFeatures(HypergraphTargets, LeastSquaresTransformer):
    r"""Hypergraph spectral learning: directions along which rows that share labels stay together.

    Labels are hyperedges over the rows; with L the normalised Laplacian of their graph,

    .. math:: X^\top S X w = \lambda\, X^\top X w, \qquad S = I - L = H H^\top,

    so that correlations between labels shape the features. Rows may have any number of labels, none included.

    Parameters
    ----------
    graph : {"star", "clique", "zhou"}
        How the hypergraph becomes a graph: a node for every label; an edge for every pair of rows and label they share
        (a row with itself too, so that S is semi-definite); Zhou's normalised hypergraph.
    {PARAMETERS}

    Attributes
    ----------
    {ATTRIBUTES}

    References
    ----------
    {REFERENCE} Sun, Ji & Ye (2008), *Hypergraph spectral learning for multi-label classification*. Agarwal, Branson &
    Belongie (2006), *Higher order learning with graphs*.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from eigenfeat import HypergraphFeatures
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> HypergraphFeatures(penalty="ridge").fit_transform(X, Y).shape
    (100, 5)
    """

    _parameter_constraints: dict = {**LeastSquaresTransformer._parameter_constraints, **GRAPH_CONSTRAINTS}

    def __init__(
        self,
        n_components=None,
        *,
        graph="star",
        penalty="ridge",
        alpha="loo",
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
            alpha=alpha,
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


@documented
class LeastSquaresFeatures(GivenTargets, LeastSquaresTransformer):
    r"""Directions of X that follow any matrix H you choose.

    .. math:: X^\top H H^\top X w = \lambda\, X^\top X w

    with X and H centred: LDA, CCA, OPLS and hypergraphs are this for their own H. Pass H as ``y``, a row for every row
    of X.

    {SHARED}

    References
    ----------
    {REFERENCE}

    Examples
    --------
    Directions along which rows of neighbouring times stay together: H holds local averages.

    >>> import numpy as np
    >>> from eigenfeat import LeastSquaresFeatures
    >>> time = np.arange(200)
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([np.sin(time / 20), *rng.normal(size=(3, 200))]) @ rng.normal(size=(4, 4))
    >>> H = np.exp(-((time[:, None] - np.arange(0, 200, 10)) / 10.0) ** 2)
    >>> slow = LeastSquaresFeatures(n_components=1).fit_transform(X, H)
    >>> bool(abs(np.corrcoef(slow[:, 0], np.sin(time / 20))[0, 1]) > 0.99)
    True
    """
