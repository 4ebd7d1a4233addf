"""What GEM's transformer, classifiers and regressor share: parameters as a value, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenfeat._sklearn import COUNT, N_JOBS, NON_NEGATIVE, StrOptions, check_feature_names_in
from eigenfeat.estimators.base import REGULARISATION_CONSTRAINTS, SOLVER_CONSTRAINTS
from eigenfeat.estimators.column_scaler import COLUMNS_CONSTRAINT, learn_columns, treated_rows
from eigenfeat.estimators.edge import Estimator, FeaturesMixin
from eigenfeat.features.layer import LayerDirections, LayerSettings
from eigenfeat.features.maps import FeatureMap, as_feature_map
from eigenfeat.features.stack import Stack, StackSettings
from eigenfeat.features.tangents import weighted_transformations
from eigenfeat.moments import Moments
from eigenfeat.quotients import Regularisation
from eigenfeat.rows.rows import Rows
from eigenfeat.stages import Chain

INNER_COLUMNS = 3000
"""Columns that a layer below another one makes of its directions where ``n_components`` does not say how many: second
moments of ten classes in as many columns take 0.7 GB."""

PER_LAYER = (
    "n_components",
    "min_eigenvalue",
    "max_components",
    "ridge",
    "shrinkage",
    "feature_map",
    "keep_inputs",
    "constant",
)
"""Parameters that may be lists, one value a layer."""


class GEMBase(Estimator):
    """Parameters of a GEM layer, and the directions of a fitted stack's first layer."""

    _parameter_constraints: dict = {
        "n_components": [None, COUNT, list],
        "class_pairs": [str, list, "array-like"],
        "n_pairs": [None, COUNT],
        "noise": [StrOptions({"second_moment", "covariance"})],
        "feature_map": [str, callable, FeatureMap, list],
        "ridge": [*REGULARISATION_CONSTRAINTS["ridge"], list],
        "ridge_shape": [StrOptions({"identity", "diagonal"})],
        "shrinkage": [*REGULARISATION_CONSTRAINTS["shrinkage"], list],
        "min_eigenvalue": [None, NON_NEGATIVE, list],
        "max_components": [None, COUNT, list],
        "keep_inputs": ["boolean", list],
        "columns": [None, *COLUMNS_CONSTRAINT],
        "constant": ["boolean", list],
        "subclasses": [None, COUNT],
        "invariances": [None, list, tuple],
        **SOLVER_CONSTRAINTS,
        "n_jobs": N_JOBS,
    }

    # What every subclass takes.
    columns: Any
    random_state: Any

    moments_: Moments
    stacks_: tuple[Stack, ...]

    def _settings(self, n_layers: int = 1, **chosen: Any) -> StackSettings:
        """The estimator's parameters as a value; ``chosen`` ones stand for parameters it does not have."""
        return stack_settings(self.get_params(deep=False) | chosen, n_layers)

    def _treated(self, rows: Rows, more: Rows | None = None) -> Rows:
        """Rows after the treatment of their columns, which is learnt here and is the first of ``_inputs``.

        It is learnt from ``more`` rows, where there are: these and others without labels.
        """
        self._inputs = Chain()
        self.columns_ = None
        if self.columns is None:
            return rows
        stage, self.columns_ = learn_columns(self, rows if more is None else more, self.columns)
        self._inputs = Chain((stage,))
        return treated_rows(stage, rows)

    # ------------------------------------------------------------------ what was found, in the first layer

    def _first_layer(self) -> LayerDirections:
        check_is_fitted(self, "fitted_")
        return self.stacks_[0].layers[0].directions

    @property
    def _has_constant(self) -> bool:
        """Whether the first layer saw a coordinate that is always one, last."""
        return self.stacks_[0].layers[0].constant

    @property
    def components_(self) -> np.ndarray:
        """(m, d): directions of the first layer as rows, pair by pair, strongest first, of the treated columns."""
        V = self._first_layer().projection.vectors.toarray()
        return V.T[:, : V.shape[0] - self._has_constant]

    @property
    def offsets_(self) -> np.ndarray:
        """(m,): what is added to the projection of each component (zero but for a constant or a covariance)."""
        layer = self._first_layer()
        bias = layer.projection.bias
        offsets = np.zeros(layer.n_directions) if bias is None else bias.astype(np.float64)
        return offsets + layer.projection.vectors.toarray()[-1] if self._has_constant else offsets

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
    def criterion_(self) -> str:
        """The criterion of the pairs, "contrast" or "centred_contrast"."""
        return self._first_layer().criterion

    @property
    def pairs_(self) -> np.ndarray:
        """(m, 2): labels of numerator and denominator of each component."""
        return self._first_layer().pairs

    @property
    def patterns_(self) -> np.ndarray:
        """(m, d): what each component looks like in the input, ``Cov(x) v / (vᵀ Cov(x) v)``.

        A direction says what to weigh, a pattern by how much the inputs change, on average, as its projection grows by
        one (Haufe et al. 2014). Each component is taken alone: those of many pairs overlap, and together they would
        explain each other away.
        """
        V = self._first_layer().projection.vectors.toarray().astype(np.float64)
        spread = self.moments_.covariance() @ V
        variance = np.einsum("ij,ij->j", V, spread)
        patterns = (spread / np.where(variance > 0, variance, 1.0)).T
        return patterns[:, : patterns.shape[1] - self._has_constant]

    def as_linear_layer(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (m, d) and biases (m,) of the first layer's projections, to start a neural network from.

        ``X @ weights.T + biases`` are the projections; the network's nonlinearity takes the place of the map.
        """
        return self.components_, self.offsets_


class GEMFeaturesMixin(FeaturesMixin, GEMBase):
    """`transform` to the features of all stacks, and their names."""

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of `transform`: pair, rank within the pair, and function of the projection.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the input columns, where `fit` saw none.

        Returns
        -------
        (n_features_out,) array of str
        """
        check_is_fitted(self, "fitted_")
        inputs = self._input_names(check_feature_names_in(self, input_features))
        names = [stack.feature_names(inputs) for stack in self.stacks_]
        if len(names) > 1:
            names = [[f"member{m}_{name}" for name in of_member] for m, of_member in enumerate(names)]
        return np.asarray([name for of_member in names for name in of_member], dtype=object)

    def _input_names(self, names: Sequence[str]) -> Sequence[str]:
        """What the first layer calls its columns."""
        return names


def check_events(subclass_labels: Any, rows: Rows) -> np.ndarray | None:
    """Events of the rows, one each."""
    if subclass_labels is None:
        return None
    events = np.asarray(subclass_labels)
    if events.ndim != 1 or len(events) != rows.n_rows:
        raise ValueError(f"subclass_labels has shape {events.shape} for {rows.n_rows} rows: give one label a row.")
    return events


def stack_settings(parameters: dict[str, Any], n_layers: int = 1) -> StackSettings:
    """Parameters of a GEM estimator as a value, a list's values one a layer.

    Raises
    ------
    ValueError
        For a list of another length, or a map that is not known.
    """
    return StackSettings(
        tuple(_layer_settings(parameters, index, n_layers) for index in range(n_layers)),
        parameters.get("subclasses"),
        tuple(weighted_transformations(parameters.get("invariances") or ())),
    )


def _layer_settings(parameters: dict[str, Any], index: int, n_layers: int) -> LayerSettings:
    def of_layer(name: str) -> Any:
        value = parameters[name]
        if not isinstance(value, list):
            return value
        if len(value) != n_layers:
            raise ValueError(f"{name} is a list of {len(value)} values for n_layers={n_layers}: give one a layer.")
        return value[index]

    return LayerSettings(
        n_components=of_layer("n_components"),
        min_eigenvalue=of_layer("min_eigenvalue"),
        max_components=of_layer("max_components"),
        regularisation=Regularisation(of_layer("ridge"), of_layer("shrinkage"), parameters["ridge_shape"]),
        feature_map=as_feature_map(of_layer("feature_map")),
        keep_inputs=of_layer("keep_inputs"),
        constant=of_layer("constant"),
        max_columns=INNER_COLUMNS if index < n_layers - 1 else None,
        **{name: parameters[name] for name in ("class_pairs", "n_pairs", "noise", "solver", "tol", "n_jobs")},
    )
