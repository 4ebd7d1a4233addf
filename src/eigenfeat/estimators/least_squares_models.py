"""What H is in each model of the least-squares family, from rows or from moments, and what is kept of it.

The estimators with an alpha and those that search for one are siblings: each takes its model from here.
"""

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
from eigenfeat.estimators.edge import FLOATS, PredictionsMixin
from eigenfeat.estimators.least_squares_base import LeastSquaresBase
from eigenfeat.estimators.validation import check_class_labels, check_moments
from eigenfeat.least_squares.moment_form import Scatters
from eigenfeat.least_squares.relation import TargetRelation, input_loadings
from eigenfeat.least_squares.targets import class_indicator, hypergraph_factor
from eigenfeat.moments import CrossMoments, Moments, collect_cross_moments, collect_moments
from eigenfeat.quotients import Quotient
from eigenfeat.rows.rows import Rows
from eigenfeat.stages import Affine

#: Of the models over a hypergraph.
GRAPH_CONSTRAINTS = {"graph": [StrOptions({"star", "clique", "zhou"})]}


class ClassTargets(LeastSquaresBase):
    """LDA: H indicates classes, S is the projection on it."""

    _project = True
    _label = "between classes"
    _label_kind = "classes"
    _multi_output = False

    def _factor(self, y, weights):
        self.classes_, codes = check_class_labels(y, weights, estimator=type(self).__name__)
        return class_indicator(codes, len(self.classes_))

    def _collect(self, source: Rows) -> Moments:
        return collect_moments(source)

    def _scatters(self, moments) -> Scatters:
        check_moments(moments, needs_labels=True, needs_fourth=False, estimator=type(self).__name__)
        self.classes_ = moments.classes
        return Scatters.of_classes(moments)


class GivenTargets(LeastSquaresBase):
    """H is y as it was given."""

    def _factor(self, y, weights):
        return _numbers(y)

    def _collect(self, source: Rows) -> CrossMoments:
        return collect_cross_moments(source)

    def _scatters(self, moments) -> Scatters:
        if not isinstance(moments, CrossMoments) or not moments.weight:
            given = "moments of no rows" if isinstance(moments, CrossMoments) else type(moments).__name__
            raise ValueError(
                f"{type(self).__name__}.fit_moments takes the CrossMoments of rows and targets, got {given}: make them "
                "with eigenfeat.moments.collect_cross_moments(X, y), or fit on the rows themselves."
            )
        return Scatters.of_targets(moments)


class TargetRegression(PredictionsMixin, MultiOutputMixin, GivenTargets):
    """Prediction of y from X through the components, for models whose H is y itself.

    The regression of y on the components, under the same ridge: with all components that of y on X, with fewer the
    best one of that rank (OPLS: in the plain norm of y; CCA: in the whitened one).
    """

    _label = "covariance with y"

    def _factor(self, y, weights):
        self._y_is_flat = y.ndim == 1
        return super()._factor(y, weights)

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


class CorrelatedTargets(TargetRegression):
    """CCA: S is the projection on y, whose own directions are kept too."""

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
        scores = self._finite(self.fitted_.features.at(X), "features")  # type: ignore[union-attr]
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


class HypergraphTargets(LeastSquaresBase):
    """H with ``HHᵀ = I - L`` of the hypergraph that labels make of the rows."""

    graph: str

    _label = "shared labels"

    def _factor(self, y, weights):
        if y.ndim == 1:
            check_classification_targets(y)
            y = LabelBinarizer(sparse_output=True).fit_transform(y)
        J = sparse.csr_array(y)
        other = J.data[(J.data != 0) & (J.data != 1)]
        if len(other):
            raise ValueError(
                f"{type(self).__name__} needs labels as zeros and ones, or one class a row; y holds {other[0]!r}. "
                "Threshold it, or use LeastSquaresOPLS for continuous targets."
            )
        return hypergraph_factor(J, self.graph, weights)

    def _collect(self, source: Rows):
        return self._scatters(None)

    def _scatters(self, moments) -> Scatters:
        raise ValueError(
            "Moments of labels do not tell the hypergraph, which scales every row by the labels of all: make the "
            f"rows of H first, with hypergraph_factor of eigenfeat.least_squares.targets, and use "
            f"LeastSquaresFeatures().fit_moments(collect_cross_moments(X, hypergraph_factor(labels, {self.graph!r}))), "
            "the same model. Or call fit(X, y)."
        )


def _numbers(y):
    """Targets as a two-dimensional array of floats."""
    return (y.reshape(-1, 1) if y.ndim == 1 else y).astype(np.float64)
