"""Where FEAST's score tensors live: labels as numbers, rows on leading axes, the score and its noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from eigenfeat.estimators.column_scaler import learn_columns
from eigenfeat.estimators.edge import Estimator
from eigenfeat.estimators.gaussian_mixture_score import GaussianMixtureScore
from eigenfeat.estimators.validation import check_class_labels
from eigenfeat.moments.forms import DenseForm, SymmetricForm
from eigenfeat.quotients import Regularisation
from eigenfeat.rows.rows import ArrayRows
from eigenfeat.scores.axes import LeadingAxes, leading_axes
from eigenfeat.scores.cross_tensor import score_second_moment
from eigenfeat.scores.tensors import ScoreFunction
from eigenfeat.stages import Stage


class ScoreCoordinates(Estimator):
    """The part of `ScoreTensorFeatures` that needs no tensor."""

    # What the subclass takes.
    score_model: Any
    prefit: bool
    order: Any
    columns: Any
    n_axes: Any
    noise: str
    ridge: float

    # ------------------------------------------------------------------ rows and their coordinates

    @property
    def _several(self) -> bool:
        return isinstance(self.order, tuple | list)

    def _orders(self) -> tuple[int, ...]:
        if self._several:
            if not self.order or any(not isinstance(m, int | np.integer) or not 1 <= m <= 16 for m in self.order):
                raise ValueError(f"order={self.order!r}: give one order or several, each from 1 to 16.")
            return tuple(sorted({int(m) for m in self.order}))
        return (int(self.order),)

    @property
    def _knows_columns(self) -> bool:
        return self.prefit or isinstance(self.score_model, ScoreFunction)

    def _label_matrix(self, y, weight: np.ndarray) -> np.ndarray:
        y = y.toarray() if sparse.issparse(y) else np.asarray(y)
        if y.ndim == 1 and y.dtype.kind != "f":
            classes, codes = check_class_labels(y, weight, estimator=type(self).__name__)
            self.classes_: np.ndarray | None = classes
            return np.eye(len(classes))[codes]
        self.classes_ = None
        Y = y.reshape(len(y), -1).astype(np.float64)
        if not np.ptp(Y, axis=0).any():
            raise ValueError(f"{type(self).__name__} needs a target that varies; y is the same in all {len(y)} rows.")
        return Y

    def _unlabelled(self, unlabelled: Any) -> Any:
        return None if unlabelled is None else self._check(unlabelled, reset=False)

    def _coordinates(self, rows: Any, share: np.ndarray) -> tuple[tuple[Stage, ...], np.ndarray]:
        """What is done to the columns, and all rows on the axes, of which the first ``n_axes_`` are coordinates."""
        inputs: tuple[Stage, ...] = ()
        self.columns_ = None
        if self._knows_columns:
            self.axes_ = LeadingAxes.identity(rows.shape[1])
        else:
            stage, self.columns_ = learn_columns(self, ArrayRows(rows, None, share), self.columns)
            inputs, rows = (stage,), stage.apply(rows.astype(np.float64, copy=False))
            whole = self.n_axes == "all"
            self.axes_ = LeadingAxes.identity(rows.shape[1]) if whole else leading_axes(rows, share, self.n_axes)
        self.n_axes_ = self.axes_.n_leading
        return inputs, self.axes_.coordinates(rows)

    # ------------------------------------------------------------------ score and noise

    def _learn_score(self, Z: np.ndarray, share: np.ndarray) -> None:
        if self.score_model is None and self.prefit:
            raise ValueError("prefit=True needs a fitted score model: pass one as score_model, or set prefit=False.")
        if isinstance(self.score_model, ScoreFunction):
            self.score_function_ = self.score_model
        elif self.prefit:
            check_is_fitted(self.score_model)
            known = getattr(self.score_model, "n_features_in_", Z.shape[1])
            if known != Z.shape[1]:
                raise ValueError(
                    f"score_model was fitted on {known} features, X has {Z.shape[1]}: give both the same columns."
                )
            self.score_function_ = self.score_model.score_function_
        else:
            model = GaussianMixtureScore() if self.score_model is None else clone(self.score_model)
            weighted = np.ptp(share) > 0 and has_fit_parameter(model, "sample_weight")
            with config_context(skip_parameter_validation=False):  # its parameters are not ours: nobody checked them
                model.fit(Z, **({"sample_weight": share} if weighted else {}))
            self.score_function_ = model.score_function_

    def _noise_matrix(self, Z: np.ndarray, share: np.ndarray) -> SymmetricForm:
        if self.noise == "identity":
            return DenseForm(np.eye(Z.shape[1]))
        return Regularisation(self.ridge).with_ridge(score_second_moment(self.score_function_, Z, share))


def in_spreads(Y: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Labels in units of their standard deviations: rare classes, and targets of any unit, count like others."""
    share = share / share.sum()
    spread = np.sqrt(share @ (Y - share @ Y) ** 2)
    return Y / np.where(spread > 0, spread, 1.0)
