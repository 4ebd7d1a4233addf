"""Layers of GEM on top of each other, fitted by one function from values to a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from eigenfeat._runtime.config import current
from eigenfeat._runtime.memory import total_memory
from eigenfeat._runtime.progress import report
from eigenfeat.features.layer import (
    LayerDirections,
    LayerEvidence,
    LayerSettings,
    find_layer,
    has_codes,
    most_kept,
    unit_scale,
)
from eigenfeat.features.maps import FeatureMap
from eigenfeat.features.pairs import draws_pairs
from eigenfeat.features.subclasses import Subclasses, clustered
from eigenfeat.features.tangents import Transformation, tangent_moment
from eigenfeat.moments import BoundedMoments, Moments, collect_moments, matrix_bytes, max_scatters
from eigenfeat.moments.bounded import COPIES, FEWEST
from eigenfeat.rows.rows import Rows
from eigenfeat.rows.sampling import in_proportion, sampled
from eigenfeat.stages import Affine, Chain, FeatureLayer, Stage, WithConstant, layer_rows

MAP_SAMPLE = 20_000
"""Rows whose projections a fitted map (a spline's knots) learns from."""

MEMBER_SUBCLASSES = 2
"""Sub-classes of a class in the members of an ensemble that draw no pairs."""

SAME_MEMBERS = 1e-6
"""Relative difference of eigenvalues up to which two members have found the same directions."""

Known = tuple[LayerDirections, Any]
"""Directions of a first layer, and the state that finding them leaves random numbers in."""

Seconds = dict[str, float]
"""What the stages of a fit took, by name."""


@dataclass(frozen=True)
class StackSettings:
    """What every layer is asked for, from the first to the last.

    Attributes
    ----------
    layers : tuple of LayerSettings
    subclasses : int, optional
        Clusters that each class is cut into, for the moments of all layers.
    invariances : tuple of (weight, transformation)
        Of the first layer's rows, whose tangents are noise there.
    """

    layers: tuple[LayerSettings, ...]
    subclasses: int | None = None
    invariances: tuple[tuple[float, Transformation], ...] = ()

    @property
    def needs_rows(self) -> bool:
        """Whether moments alone will not do."""
        cut = self.subclasses is not None and self.subclasses > 1
        return len(self.layers) > 1 or self.layers[0].feature_map.learns or cut or bool(self.invariances)

    def narrowed(self, n_columns: int, n_given: int) -> StackSettings:
        """With so many columns at most in every layer that leaves their number to us, and so many in one that does not.

        Of directions that are asked for, the strongest are kept; a map of several together has all of them. Hidden
        layers have half as many of those: problems of the next layer cost the cube of their columns.
        """
        *hidden, last = self.layers
        narrow = (*(layer.narrowed(n_columns, n_given // 2) for layer in hidden), last.narrowed(n_columns, n_given))
        return replace(self, layers=narrow)

    def cuts(self, stack: Stack) -> bool:
        """Whether a layer may have found more directions than ``max_components``, of a number that is asked for."""
        return any(
            layer.n_components is not None and found.directions.n_directions == layer.max_components
            for layer, found in zip(self.layers, stack.layers)
        )

    def of_member(self, n_members: int, n_classes: int, has_events: bool = False) -> StackSettings:
        """The settings of a member of an ensemble, whose own random numbers make it differ from the others.

        Where pairs are drawn, members draw their own; otherwise each cuts the classes into sub-classes of its own.
        """
        first = self.layers[0]
        random = draws_pairs(first.class_pairs, n_classes, first.n_pairs)
        if n_members == 1 or random or has_events or self.subclasses is not None:
            return self
        return replace(self, subclasses=MEMBER_SUBCLASSES)


@dataclass(frozen=True, eq=False)
class FittedLayer:
    """A layer's directions and the stages that make its rows."""

    directions: LayerDirections
    stage: FeatureLayer
    constant: bool

    @property
    def stages(self) -> tuple[Stage, ...]:
        return (WithConstant(), self.stage) if self.constant else (self.stage,)

    def cached_rows(self, rows: Rows) -> Rows:
        """The layer's rows for many passes, its projections cached and the features made of them when asked for."""
        return layer_rows(_with_constant(rows, self.constant), self.stage)

    def over(self, rows: Rows) -> Rows:
        """The layer's rows for one more pass or two: those of a stream are not kept."""
        return self.cached_rows(rows) if rows.random_access else Chain(self.stages).over(rows)

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

    def cached_rows(self, rows: Rows) -> Rows:
        """The features of training rows, with the last layer's projections, which every pass needs, in memory."""
        return self.layers[-1].cached_rows(Stack(self.layers[:-1]).chain.over(rows))

    def feature_names(self, inputs: Sequence[str]) -> list[str]:
        names = list(inputs)
        for number, layer in enumerate(self.layers, start=1):
            names = layer.feature_names(names, "" if number == 1 else f"layer{number}_")
        return names


def fit_stack(
    moments: Moments,
    rows: Rows | None,
    settings: StackSettings,
    rng: np.random.RandomState,
    seconds: Seconds,
    events: np.ndarray | None = None,
    known: Known | None = None,
) -> Stack:
    """Algorithm 1, lines 1-7, as often as there are layers.

    Parameters
    ----------
    moments : Moments
        Of the rows of the first layer, as `layer_moments` collects them.
    rows : Rows, optional
        With labels that are indices into ``moments.classes`` where there are several layers or sub-classes; not needed
        where ``settings.needs_rows`` is false.
    settings : StackSettings
    rng : RandomState
        Draws sub-classes, pairs and starts of iterative solvers.
    seconds : dict
        Added to: what "moments" and "directions" took.
    events : (n,) array, optional
        Labels of the user's that cut the classes into sub-classes, instead of clusters.
    known : Known, optional
        The first layer, found before with settings that keep no fewer directions.

    Returns
    -------
    Stack
    """
    stack = Stack()
    dtype = np.dtype(np.float64) if rows is None else rows.dtype
    if rows is not None and isinstance(moments, BoundedMoments):  # sent to a worker, they have lost theirs
        moments = moments.reading(_with_constant(rows, settings.layers[0].constant))
    with timed(seconds, "moments"):
        cut = tangents = None
        if known is None:
            tangents = tangent_moment(rows, settings.invariances, settings.layers[0].constant)
        if known is None or len(settings.layers) > 1:
            cut = _subclasses(rows, moments, settings.subclasses, rng, events)
    of_parts = None if cut is None or rows is None else cut.relabelled(rows)
    for index, layer in enumerate(settings.layers):
        if index > 0:
            assert rows is not None
            below, tangents = stack.layers[-1], None
            rows = below.over(rows)
            if cut is not None and of_parts is not None:  # of arrays the projections are there already
                of_parts = cut.relabelled(rows) if rows.random_access else below.over(of_parts)
        evidence = _evidence(moments if index == 0 else None, (rows, of_parts), moments.classes, cut, layer, seconds)
        with timed(seconds, "directions"):
            if index == 0 and known is not None:
                directions = known[0].at_most(most_kept(layer))
                rng.set_state(known[1])
            else:
                directions = _recalled_layer(replace(evidence, tangents=tangents), layer, rng, dtype)
        stack = Stack((*stack.layers, with_map(directions, evidence.moments, rows, layer)))
    return stack


def _recalled_layer(
    evidence: LayerEvidence, layer: LayerSettings, rng: np.random.RandomState, dtype: np.dtype
) -> LayerDirections:
    """`find_layer`, which a fit that goes on from a checkpoint does not repeat; ``rng`` is left as it leaves it."""
    if evidence.rows is None or evidence.rows.random_access:
        return find_layer(evidence, layer, rng, dtype)
    directions, state = current().recall(
        "directions",
        (evidence, layer, rng.get_state(legacy=True), dtype),
        lambda: (find_layer(evidence, layer, rng, dtype), rng.get_state(legacy=True)),
    )
    rng.set_state(state)
    return directions


def refuse_equal_members(first: Stack, other: Stack) -> None:
    """An ensemble whose members are alike is one model at the cost of several.

    Raises
    ------
    ValueError
        When two stacks have found the same directions.
    """
    one, two = (np.sort(stack.layers[0].directions.eigenvalues) for stack in (first, other))
    if len(one) == len(two) and np.allclose(one, two, rtol=SAME_MEMBERS, atol=0):
        raise ValueError(
            "The members of the ensemble would be identical: their pairs are the same and their classes are cut alike. "
            'Use n_estimators=1, class_pairs="hypercube", "random" or "stratified" with fewer than all pairs, or '
            f"subclasses={MEMBER_SUBCLASSES} with enough rows of each class."
        )


def layer_moments(
    rows: Rows, settings: LayerSettings, classes: np.ndarray | None, seconds: Seconds, n_rows: int | None = None
) -> Moments:
    """Class moments of the rows that one layer sees, whose labels are indices into ``classes``, or (None) themselves.

    ``n_rows`` is how many rows there will be when these are a part that will be merged with others. Where the scatters
    of all classes exceed the memory budget (`eigenfeat.runtime`), they are collected when they are needed.

    Raises
    ------
    ValueError
        When not even the matrices of one problem fit into memory.
    """
    total, inputs = n_rows or rows.n_rows, _with_constant(rows, settings.constant)
    known = None if classes is None else np.arange(len(classes))
    fourth = settings.regularisation.needs_fourth_moment
    dual = known is not None and settings.uses_dual_moments(len(known), total, inputs.n_columns, largest_class(rows))
    budget = None
    if known is not None and not dual and total is not None and inputs.n_columns <= total:
        _refuse_beyond_memory(inputs.n_columns)
        budget = current().memory_budget
    with timed(seconds, "moments"):
        if known is not None and budget is not None and max_scatters(inputs.n_columns, budget) < len(known):
            moments: Moments = BoundedMoments([inputs], known, budget, track_fourth=fourth)
        else:
            form = "dual" if dual else "auto"
            moments = collect_moments(inputs, classes=known, track_fourth=fourth, n_rows=n_rows, form=form)
        return moments if classes is None else moments.rename(classes)


def with_map(directions: LayerDirections, moments: Moments, rows: Rows | None, settings: LayerSettings) -> FittedLayer:
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
    report(stage)
    start = perf_counter()
    yield
    seconds[stage] = seconds.get(stage, 0.0) + perf_counter() - start


def _subclasses(
    rows: Rows | None,
    moments: Moments,
    count: int | None,
    rng: np.random.RandomState,
    events: np.ndarray | None,
) -> Subclasses | None:
    if events is None and (count is None or count == 1):
        return None
    if rows is None or not has_codes(rows):
        raise ValueError("Sub-classes need rows that are labelled, as an array, a sparse matrix or in GEMClassifier.")
    if events is not None:
        return Subclasses.of(rows.y, events, moments.classes, rows.weight)
    assert count is not None
    return clustered(rows, moments.classes, moments.counts, count, rng)


def _evidence(
    moments: Moments | None,
    sources: tuple[Rows | None, Rows | None],
    classes: np.ndarray,
    cut: Subclasses | None,
    layer: LayerSettings,
    seconds: Seconds,
) -> LayerEvidence:
    """What a layer's directions are found from; class moments are collected where they are not given.

    The sources are the rows labelled with classes, and with the sub-classes these are cut into.
    """
    rows, of_parts = sources
    if cut is None:
        if moments is None:
            assert rows is not None
            moments = layer_moments(rows, layer, classes, seconds)
        return LayerEvidence(moments, None if rows is None else _with_constant(rows, layer.constant))
    assert of_parts is not None
    parts = layer_moments(of_parts, layer, cut.names, seconds)
    moments = parts.merge_classes(classes[cut.owners]) if moments is None else moments
    return LayerEvidence(moments, _with_constant(of_parts, layer.constant), cut, parts)


def largest_class(rows: Rows) -> int | None:
    """Rows of the largest class, where labels are codes that are at hand."""
    return int(np.bincount(rows.y).max()) if rows.random_access and has_codes(rows) else None


def _refuse_beyond_memory(n_columns: int) -> None:
    """Refuse matrices of which memory does not hold those of one signal over one noise."""
    needed, memory = COPIES * matrix_bytes(FEWEST, n_columns), total_memory()
    if memory is not None and needed > memory:
        raise ValueError(
            f"Second moments of two classes in {n_columns} columns, and the problem made of them, take "
            f"{needed / 1e9:.1f} GB, and the machine or container has {memory / 1e9:.1f} GB. Take fewer n_components "
            "or a map of fewer columns in the layer below, max_components, or keep_inputs=False there."
        )


def _with_constant(rows: Rows, constant: bool) -> Rows:
    return rows.apply(WithConstant()) if constant else rows


def _fitted_map(settings: LayerSettings, projection: Affine, rows: Rows | None) -> FeatureMap:
    if rows is None:
        return settings.feature_map.fit(np.zeros((2, projection.vectors.shape[1])))
    inputs = _with_constant(rows, settings.constant)
    if settings.feature_map.learns:
        found = sampled(inputs, MAP_SAMPLE)
        sample = found.X[in_proportion(found.weight)]
    else:
        sample = inputs.head(2).X
    return settings.feature_map.fit(projection.astype(rows.dtype).apply(sample.astype(rows.dtype, copy=False)))
