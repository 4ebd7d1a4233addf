"""Layers of GEM on top of each other, fitted by one function from values to a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from eigenfeat.features.layer import LayerDirections, LayerSettings, find_layer, unit_scale
from eigenfeat.features.maps import FeatureMap
from eigenfeat.moments import Moments, collect_moments
from eigenfeat.rows import RandomRows, RowSource, in_proportion, mapped
from eigenfeat.stages import Affine, Chain, FeatureLayer, LayerRows, Stage, WithConstant

MAP_SAMPLE = 20_000
"""Rows whose projections a fitted map (a spline's knots) learns from."""

Seconds = dict[str, float]
"""What the stages of a fit took, by name."""


@dataclass(frozen=True)
class StackSettings:
    """What every layer is asked for, from the first to the last."""

    layers: tuple[LayerSettings, ...]

    @property
    def needs_rows(self) -> bool:
        """Whether moments alone will not do."""
        return len(self.layers) > 1 or self.layers[0].feature_map.learns


@dataclass(frozen=True, eq=False)
class FittedLayer:
    """A layer's directions and the stages that make its rows."""

    directions: LayerDirections
    stage: FeatureLayer
    constant: bool

    @property
    def stages(self) -> tuple[Stage, ...]:
        return (WithConstant(), self.stage) if self.constant else (self.stage,)

    def held(self, rows: RandomRows) -> RandomRows:
        """The layer's rows, with its projections in memory and the features made of them when they are asked for."""
        return LayerRows.of(_with_constant(rows, self.constant), self.stage)  # type: ignore[arg-type]

    def feature_names(self, inputs: Sequence[str], prefix: str = "") -> list[str]:
        """Names of the columns: inputs, where kept, then pair, rank within the pair and function of the projection."""
        found = self.directions
        names = [f"{prefix}{a}_vs_{b}_{rank}" for (a, b), rank in zip(found.pairs, found.rank_in_contrast)]
        kept = [*inputs, *(["constant"] if self.constant else [])] if self.stage.input_scale is not None else []
        return [*kept, *self.stage.feature_map.feature_names(names)]


@dataclass(frozen=True, eq=False)
class Stack:
    """Fitted layers: rows in, features out."""

    layers: tuple[FittedLayer, ...] = ()

    @property
    def chain(self) -> Chain:
        return Chain(tuple(stage for layer in self.layers for stage in layer.stages))

    def held(self, rows: RandomRows) -> RandomRows:
        """The features of training rows, with the last layer's projections, which every pass needs, in memory."""
        below: RandomRows = Stack(self.layers[:-1]).chain.over(rows)  # type: ignore[assignment]
        return self.layers[-1].held(below)

    def feature_names(self, inputs: Sequence[str]) -> list[str]:
        names = list(inputs)
        for number, layer in enumerate(self.layers, start=1):
            names = layer.feature_names(names, "" if number == 1 else f"layer{number}_")
        return names


def fit_stack(
    moments: Moments,
    rows: RowSource | None,
    settings: StackSettings,
    rng: np.random.RandomState,
    seconds: Seconds,
) -> Stack:
    """Algorithm 1, lines 1-7, as often as there are layers.

    Parameters
    ----------
    moments : Moments
        Of the rows of the first layer, as `layer_moments` collects them.
    rows : RowSource, optional
        With random access, and labels that are indices into ``moments.classes``, where there are several layers; not
        needed where ``settings.needs_rows`` is false.
    settings : StackSettings
    rng : RandomState
        Draws pairs and starts of iterative solvers.
    seconds : dict
        Added to: what "moments" and "directions" took.

    Returns
    -------
    Stack
    """
    stack = Stack()
    dtype = np.dtype(np.float64) if rows is None else rows.dtype
    for index, layer in enumerate(settings.layers):
        if index > 0:
            assert isinstance(rows, RandomRows)
            rows = stack.layers[-1].held(rows)
            moments = layer_moments(rows, layer, moments.classes, seconds)
        with timed(seconds, "directions"):
            directions = find_layer(moments, layer, rng, dtype)
        stack = Stack((*stack.layers, with_map(directions, moments, rows, layer)))
    return stack


def layer_moments(
    rows: RowSource, settings: LayerSettings, classes: np.ndarray | None, seconds: Seconds, n_rows: int | None = None
) -> Moments:
    """Class moments of the rows that one layer sees, whose labels are indices into ``classes``, or (None) themselves.

    ``n_rows`` is how many rows there will be when these are a part that will be merged with others.
    """
    with timed(seconds, "moments"):
        moments = collect_moments(
            _with_constant(rows, settings.constant),
            classes=None if classes is None else np.arange(len(classes)),
            track_fourth=settings.regularisation.needs_fourth_moment,
            n_rows=n_rows,
        )
        return moments if classes is None else moments.rename(classes)


def with_map(
    directions: LayerDirections, moments: Moments, rows: RowSource | None, settings: LayerSettings
) -> FittedLayer:
    """The layer that directions make, its map fitted to their projections (Algorithm 1, line 7)."""
    feature_map = _fitted_map(settings, directions.projection, rows)
    scale = unit_scale(moments) if settings.keep_inputs else None
    return FittedLayer(directions, FeatureLayer(directions.projection, feature_map, scale), settings.constant)


def without_inputs(chain: Chain) -> Chain:
    """A stack's chain whose last layer does not keep its inputs."""
    *below, last = chain.stages
    return Chain((*below, replace(last, input_scale=None)))  # type: ignore[type-var]


@contextmanager
def timed(seconds: Seconds, stage: str) -> Iterator[None]:
    """Adds the seconds of what it surrounds."""
    start = perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + perf_counter() - start


def _with_constant(rows: RowSource, constant: bool) -> RowSource:
    return mapped(rows, WithConstant()) if constant else rows


def _fitted_map(settings: LayerSettings, projection: Affine, rows: RowSource | None) -> FeatureMap:
    if rows is None:
        return settings.feature_map.fit(np.zeros((2, projection.vectors.shape[1])))
    count = MAP_SAMPLE if settings.feature_map.learns else 2
    block = next(iter(_with_constant(rows, settings.constant).blocks(count)))
    sample = block.rows.astype(rows.dtype, copy=False)
    if block.weights is not None:
        sample = sample[in_proportion(block.weights)]
    return settings.feature_map.fit(projection.astype(rows.dtype).apply(sample))
