"""What GEM's transformer, classifier and regressor share: parameters, and the fit of a stack of layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from eigenfeat.estimators.base import REGULARISATION_CONSTRAINTS, SOLVER_CONSTRAINTS
from eigenfeat.features.expansion import Expansion, RowSource, as_row_source
from eigenfeat.features.layer import (
    Layer,
    LayerSettings,
    TransformedRows,
    WithConstant,
    expanded,
    find_layer,
    source_moments,
    unit_scale,
)
from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.moments import Moments
from eigenfeat.quotients import Regularisation
from eigenfeat.solvers import DualVectors

MAP_SAMPLE = 20_000
"""Rows whose projections a fitted map (a spline's knots) learns from."""


@dataclass(frozen=True, eq=False)
class FittedLayer:
    """A layer with the rest of what makes its rows."""

    layer: Layer
    feature_map: FeatureMap
    input_scale: np.ndarray | None
    """What kept inputs are multiplied by: they share a penalty with features of unit noise."""
    constant: bool

    def rows(self, source: RowSource, hold: bool = False) -> Expansion:
        source = WithConstant(source) if self.constant else source
        return expanded(self.layer, source, self.feature_map, self.input_scale, hold)


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers on top of each other: rows in, features out."""

    layers: list[FittedLayer] = field(default_factory=list)

    def rows(self, source: RowSource, hold: bool = False) -> Expansion:
        """The features of the rows of a source; ``hold`` keeps the last layer's projections in memory."""
        for layer in self.layers[:-1]:
            source = layer.rows(source)
        return self.layers[-1].rows(source, hold)


class GEMBase(BaseEstimator):
    """Parameters of a GEM layer and how they become a fitted stack."""

    n_layers = 1  # the classifier makes this a parameter
    base_map: Any = None

    _parameter_constraints: dict = {
        "n_components": [None, Interval(Integral, 1, None, closed="left"), list],
        "class_pairs": [str, list, "array-like"],
        "n_pairs": [None, Interval(Integral, 1, None, closed="left")],
        "noise": [StrOptions({"second_moment", "covariance"})],
        "feature_map": [str, callable, FeatureMap, list],
        "ridge": [*REGULARISATION_CONSTRAINTS["ridge"], list],
        "ridge_shape": [StrOptions({"identity", "diagonal"})],
        "shrinkage": [*REGULARISATION_CONSTRAINTS["shrinkage"], list],
        "min_eigenvalue": [None, Interval(Real, 0, None, closed="left"), list],
        "max_features": [None, Interval(Integral, 1, None, closed="left"), list],
        "keep_inputs": ["boolean", list],
        "constant": ["boolean"],
        **SOLVER_CONSTRAINTS,
        "n_jobs": [None, Integral],
    }

    # What every subclass takes.
    class_pairs: Any
    n_pairs: int | None
    noise: str
    ridge_shape: str
    constant: bool
    solver: str
    tol: float | None
    n_jobs: int | None
    random_state: Any

    def _of_layer(self, name: str, index: int):
        """A parameter's value for one layer."""
        value = getattr(self, name)
        if not isinstance(value, list):
            return value
        if len(value) != self.n_layers:
            raise ValueError(f"{name} is a list of {len(value)} values for n_layers={self.n_layers}: give one a layer.")
        return value[index]

    def _settings(self, index: int) -> LayerSettings:
        rule = Regularisation(self._of_layer("ridge", index), self._of_layer("shrinkage", index), self.ridge_shape)
        return LayerSettings(
            class_pairs=self.class_pairs,
            n_pairs=self.n_pairs,
            n_components=self._of_layer("n_components", index),
            min_eigenvalue=self._of_layer("min_eigenvalue", index),
            max_features=self._of_layer("max_features", index),
            noise=self.noise,
            regularisation=rule,
            solver=self.solver,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )

    def _input_rows(self, X, fit_with: np.ndarray | None = None) -> RowSource:
        """X as a source, after the base map where there is one (fitted here when labels are given)."""
        source = as_row_source(X)
        if self.base_map is None:
            return source
        if fit_with is not None:
            self.base_map_ = clone(self.base_map)
            self.base_map_.fit(X, fit_with)
        width = self.base_map_.transform(source.rows(slice(0, 1))).shape[1]
        return TransformedRows(source, self.base_map_, width)

    classes_: np.ndarray

    def _moments(self, index: int, source: RowSource, codes, weights, n_rows: int | None = None) -> Moments:
        """Class moments of the rows that one layer sees."""
        source = WithConstant(source) if self.constant else source
        track_fourth = self._of_layer("shrinkage", index) == "auto"
        with self._timed("moments"):
            return source_moments(source, codes, weights, track_fourth, n_rows).rename(self.classes_)

    def _fit_stack(self, moments: Moments, source: RowSource, codes, weights, rng: np.random.RandomState) -> Stack:
        """Algorithm 1, lines 1-7, as often as there are layers; the first layer's moments are given."""
        stack = Stack()
        for index in range(self.n_layers):
            settings = self._settings(index)
            if index > 0:
                moments = self._moments(index, source, codes, weights)
            with self._timed("directions"):
                layer = find_layer(moments, settings, rng, source.dtype)
            stack.layers.append(self._mapped(layer, moments, source, index))
            if index + 1 < self.n_layers:
                source = stack.layers[-1].rows(source, hold=True)
        return stack

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        """Adds the seconds of what it surrounds to ``stage_seconds_``, which every fit starts with ``{}``."""
        start = perf_counter()
        yield
        self.stage_seconds_[stage] = self.stage_seconds_.get(stage, 0.0) + perf_counter() - start

    def _mapped(self, layer: Layer, moments: Moments, source: RowSource, index: int) -> FittedLayer:
        feature_map = as_feature_map(self._of_layer("feature_map", index))
        if feature_map.learns:
            inner = WithConstant(source) if self.constant else source
            feature_map = feature_map.fit(layer.project(inner).rows(slice(0, min(MAP_SAMPLE, source.n_rows))))
        scale = unit_scale(moments) if self._of_layer("keep_inputs", index) else None
        return FittedLayer(layer, feature_map, scale, self.constant)

    # ------------------------------------------------------------------ what was found, in the first layer

    def _first_layer(self) -> Layer:
        check_is_fitted(self, "_stacks")
        return self._stacks[0].layers[0].layer

    @property
    def components_(self) -> np.ndarray:
        """(m, d): directions of the first layer as rows, pair by pair, strongest first."""
        vectors = self._first_layer().vectors
        V = vectors.toarray() if isinstance(vectors, DualVectors) else vectors
        return V.T[:, : V.shape[0] - self.constant]

    @property
    def offsets_(self) -> np.ndarray:
        """(m,): what is added to the projection of each component (zero but for a constant or a covariance)."""
        layer = self._first_layer()
        offsets = np.zeros(layer.n_directions)
        if layer.constants is not None:
            offsets -= layer.constants
        if self.constant:
            vectors = layer.vectors
            offsets += (vectors.toarray() if isinstance(vectors, DualVectors) else vectors)[-1]
        return offsets

    @property
    def eigenvalues_(self) -> np.ndarray:
        """(m,): signal-to-noise ratio of each component."""
        return self._first_layer().eigenvalues

    @property
    def residuals_(self) -> np.ndarray:
        """(m,): relative residual of each component as a solution of its problem."""
        return self._first_layer().residuals

    @property
    def solver_(self) -> str:
        """The solver that ran."""
        return self._first_layer().solver

    @property
    def pairs_(self) -> np.ndarray:
        """(m, 2): labels of numerator and denominator of each component."""
        layer = self._first_layer()
        return layer.names[layer.contrast]

    def as_linear_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (m, d) and biases (m,) of the first layer's projections, to start a neural network from.

        ``X @ weights.T + biases`` are the projections; the network's nonlinearity takes the place of the map.
        """
        return self.components_, self.offsets_
