"""The least-squares family: LDA, CCA, OPLS, hypergraphs and any H, an estimator each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from eigenfeat._sklearn import StrOptions
from eigenfeat.estimators.edge import FLOATS, PredictionsMixin, renamed_parameters
from eigenfeat.estimators.least_squares_base import LeastSquaresTransformer
from eigenfeat.estimators.least_squares_docs import documented
from eigenfeat.estimators.validation import check_class_labels, check_moments
from eigenfeat.least_squares.moment_form import Scatters
from eigenfeat.least_squares.relation import TargetRelation, input_loadings
from eigenfeat.least_squares.targets import class_indicator, hypergraph_factor
from eigenfeat.moments import Moments, collect_moments
from eigenfeat.quotients import Quotient
from eigenfeat.rows import RowSource
from eigenfeat.stages import Affine


@documented
class LeastSquaresLDA(LeastSquaresTransformer):
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
    >>> lda = LeastSquaresLDA(penalty="ridge", alpha=0.1).fit(X, y)
    >>> lda.transform(X).shape, lda.solver_
    ((150, 2), 'primal')
    >>> lda.eigenvalues_.round(2)
    array([0.97, 0.22])
    """

    _project = True
    _label = "between classes"
    _label_kind = "classes"
    _multi_output = False

    def _factor(self, y, weights):
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return class_indicator(codes, len(self.classes_))

    def _collect(self, source: RowSource) -> Moments:
        return collect_moments(source)

    def _scatters(self, moments) -> Scatters:
        check_moments(moments, needs_labels=True, needs_fourth=False, estimator=type(self).__name__)
        self.classes_ = moments.classes
        return Scatters.of_classes(moments)


class TargetRegression(PredictionsMixin, MultiOutputMixin, LeastSquaresTransformer):
    """Prediction of y from X through the components, for models whose H is y itself.

    The regression of y on the components, under the same ridge: with all components that of y on X, with fewer the
    best one of that rank (OPLS: in the plain norm of y; CCA: in the whitened one).
    """

    def _factor(self, y, weights):
        self._y_is_flat = y.ndim == 1
        return _numbers(y)

    def _scatters(self, moments) -> Scatters:
        scatters = super()._scatters(moments)
        self._y_is_flat = moments.targets_are_flat
        return scatters

    def _store_targets(self, quotient: Quotient, vectors: np.ndarray, relate: Callable[[], TargetRelation]) -> None:
        self._store_relation(quotient, vectors, relate())

    def _store_relation(self, quotient: Quotient, vectors: np.ndarray, relation: TargetRelation) -> None:
        dtype = self.eigenvalues_.dtype
        self.y_mean_ = relation.space.mean.astype(dtype)
        self.y_loadings_ = relation.target_loadings().astype(dtype)
        features = self.fitted_.features
        predictions = features.then(Affine.of(self.y_loadings_, self.y_mean_))  # type: ignore[union-attr]
        self.fitted_ = replace(self.fitted_, predictions=predictions)


@documented
class LeastSquaresCCA(TargetRegression):
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
    >>> cca = LeastSquaresCCA().fit(X, Y)
    >>> cca.canonical_correlations_.round(3)
    array([0.796, 0.201, 0.073])
    >>> x_scores, y_scores = cca.transform(X, Y)
    >>> round(float(x_scores[:, 0] @ y_scores[:, 0]), 3)
    0.796
    """

    _project = True
    _label = "correlation with y"

    def _store_relation(self, quotient: Quotient, vectors: np.ndarray, relation: TargetRelation) -> None:
        super()._store_relation(quotient, vectors, relation)
        dtype = self.eigenvalues_.dtype
        self.y_components_ = relation.target_directions().T.astype(dtype)
        self.canonical_correlations_ = np.sqrt(self.eigenvalues_)
        if self.kernel is None:
            self.x_loadings_ = input_loadings(quotient.noise, vectors).astype(dtype)

    def transform(self, X, y=None):
        """Project rows on the components, and targets on theirs.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe
        y : (n,) or (n, q) array, optional

        Returns
        -------
        (n, n_components) array, or a pair of them where y is given
        """
        X = self._check_new(X, streams=True)
        scores = self.fitted_.features.at(X)  # type: ignore[union-attr]
        if y is None:
            return scores
        y = check_array(y, accept_sparse="csr", ensure_2d=False, dtype=list(FLOATS), input_name="y")
        y = _numbers(y).astype(scores.dtype, copy=False)
        if y.shape[1] != len(self.y_mean_):
            raise ValueError(f"y has {y.shape[1]} columns, the one that was fitted had {len(self.y_mean_)}.")
        return scores, np.asarray(y @ self.y_components_.T) - self.y_components_ @ self.y_mean_

    def inverse_transform(self, X):
        """Rows reconstructed from their projections, by the regression of X on them.

        Parameters
        ----------
        X : (n, n_components) array
            Projections.

        Returns
        -------
        (n, d) array
        """
        check_is_fitted(self, "eigenvalues_")
        if self.kernel is not None:
            raise ValueError(
                "inverse_transform needs kernel=None: a kernel's feature space has no inputs to return to."
            )
        scores = check_array(X, dtype=list(FLOATS))
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"Expected projections on {self._n_features_out} components, got {scores.shape[1]} columns."
            )
        return scores @ self.x_loadings_ + self.mean_


@documented
class LeastSquaresOPLS(TargetRegression):
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
    array([[176.1,  34.9,  56.5],
           [188.9,  37.3,  54.6]])
    """

    _label = "covariance with y"


@renamed_parameters(expansion='write graph="star", "clique" or "zhou"')
@documented
class HypergraphFeatures(LeastSquaresTransformer):
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

    _parameter_constraints: dict = {
        **LeastSquaresTransformer._parameter_constraints,
        "graph": [StrOptions({"star", "clique", "zhou"})],
    }
    _label = "shared labels"

    def __init__(
        self,
        n_components=None,
        *,
        graph="star",
        penalty=None,
        alpha=1.0,
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

    def _factor(self, y, weights):
        if y.ndim == 1:
            check_classification_targets(y)
            y = LabelBinarizer(sparse_output=True).fit_transform(y)
        J = sparse.csr_array(y)
        other = J.data[(J.data != 0) & (J.data != 1)]
        if len(other):
            raise ValueError(
                f"HypergraphFeatures needs labels as zeros and ones, or one class a row; y holds {other[0]!r}. "
                "Threshold it, or use LeastSquaresOPLS for continuous targets."
            )
        return hypergraph_factor(J, self.graph, weights)

    def _collect(self, source: RowSource):
        raise ValueError(
            "HypergraphFeatures weighs labels by how many rows have them, which a stream tells only at its end: hold "
            "the rows (eigenfeat.rows.held), or give the cross moments of X and H to fit_moments."
        )


@documented
class LeastSquaresFeatures(LeastSquaresTransformer):
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

    def _factor(self, y, weights):
        return _numbers(y)


def _numbers(y):
    """Targets as a two-dimensional array of floats."""
    return (y.reshape(-1, 1) if y.ndim == 1 else y).astype(np.float64)
