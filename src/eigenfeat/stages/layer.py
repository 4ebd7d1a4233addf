"""Projections and the features made of them: one stage, and the rows it makes while projections are held."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenfeat._runtime.config import current
from eigenfeat.rows.block import Block, Matrix, Selection, dense, take
from eigenfeat.rows.cache import CacheDecision, cache_at, decide, persisted, shown
from eigenfeat.rows.functions import ApplyRowMap
from eigenfeat.rows.products import BlockProducts, RowProducts
from eigenfeat.rows.rows import ArrayRows, Decoder, MappedRows, RandomAccessRows, Rows
from eigenfeat.solvers import DenseVectors
from eigenfeat.stages.affine import Affine
from eigenfeat.stages.feature_map import FeatureMap
from eigenfeat.stages.pieces import MAX_CLASSES, PieceProducts, Pieces
from eigenfeat.stages.stage import Stage

FACTORED = 1.6
"""Gram matrices that a fit to the rows of a layer needs memory for: one factored, and a part being summed."""

WORKERS_SHARE = 0.5
"""Of the memory of workers that stored rows may take: beyond 0.6 of it `distributed` writes them to disk."""

MAX_INPUTS = 64
"""Inputs at most for projections to be made again in every pass, when they are eight times as many: that is no slower
than to read them, and they would be most of the memory of a fit."""


@dataclass(frozen=True, eq=False)
class FeatureLayer(Stage):
    """``[x · input_scale, map(x @ V + bias)]``: line 7 of GEM's Algorithm 1.

    Parameters
    ----------
    projection : Affine
    feature_map : FeatureMap
        Fitted, if it has to be (`eigenfeat.features.maps`).
    input_scale : (d,) array, optional
        What the inputs, put first, are multiplied by; without it they are not kept.
    """

    projection: Affine
    feature_map: FeatureMap
    input_scale: np.ndarray | None = None

    def apply(self, rows: Matrix) -> np.ndarray:
        return self.join(rows, self.projection.apply(rows))

    def join(self, rows: Matrix, projections: np.ndarray) -> np.ndarray:
        """The features from rows and their projections."""
        projections = np.ascontiguousarray(projections)
        n_inputs = self._n_kept(rows.shape[1])
        n_features = self.feature_map.n_columns(projections.shape[1])
        block = np.empty((len(projections), n_inputs + n_features), projections.dtype)
        if self.input_scale is not None:
            kept = block[:, :n_inputs]
            kept[...] = dense(rows)
            kept *= self.input_scale.astype(block.dtype, copy=False)
        self.feature_map.write(projections, block, n_inputs)
        return block

    def n_columns(self, n_inputs: int) -> int:
        return self._n_kept(n_inputs) + self.feature_map.n_columns(self.projection.n_columns(n_inputs))

    def floats_per_row(self, n_inputs: int) -> int:
        """Return the numbers a pass makes of a row: features are not formed where their map knows its pieces."""
        n_projections = self.projection.n_columns(n_inputs)
        pieces = self.feature_map.pieces(n_projections)
        n_mapped = self.feature_map.n_columns(n_projections) if pieces is None else 2 * n_projections
        return self._n_kept(n_inputs) + n_mapped

    @property
    def projecting(self) -> Affine:
        return self.projection

    def astype(self, dtype: np.dtype) -> FeatureLayer:
        return replace(self, projection=self.projection.astype(dtype))

    def with_next(self, following: Stage) -> Stage | None:
        return LayerScores.of(self, following) if isinstance(following, Affine) else None

    def _n_kept(self, n_inputs: int) -> int:
        return 0 if self.input_scale is None else n_inputs


@dataclass(frozen=True, eq=False)
class LayerScores(Stage):
    """Linear scores of a layer's features, from its projections: the features, several times as wide, are not formed.

    Attributes
    ----------
    projection : Affine
    mapped : PieceProducts
        With the coefficients of the features that are made of projections.
    inputs : (d, k) array or None
        Coefficients of the inputs, where these are kept.
    bias : (k,) array or None
    """

    projection: Affine
    mapped: PieceProducts
    inputs: np.ndarray | None
    bias: np.ndarray | None

    @classmethod
    def of(cls, layer: FeatureLayer, scores: Affine) -> LayerScores | None:
        """None where the map knows no pieces, or scores are so many that forming features is as quick."""
        coefficients = scores.vectors.array if isinstance(scores.vectors, DenseVectors) else None
        pieces = layer.feature_map.pieces(layer.projection.n_columns(0))
        if coefficients is None or pieces is None or coefficients.shape[1] > MAX_CLASSES:
            return None
        n_inputs = len(coefficients) - layer.feature_map.n_columns(layer.projection.n_columns(0))
        inputs = None
        if layer.input_scale is not None:
            inputs = layer.input_scale[:, None].astype(coefficients.dtype) * coefficients[:n_inputs]
        return cls(layer.projection, PieceProducts(pieces, coefficients[n_inputs:]), inputs, scores.bias)

    def apply(self, rows: Matrix) -> np.ndarray:
        products = self.mapped.anew()  # a thread's own: their buffers are written to
        scores = products.scores(self.projection.apply(rows).astype(self.mapped.dtype, copy=False))
        if self.inputs is not None:
            scores += np.asarray(rows @ self.inputs)
        if self.bias is not None:
            scores += self.bias.astype(scores.dtype, copy=False)
        return scores

    def n_columns(self, n_inputs: int) -> int:
        return self.mapped.n_classes

    def widest(self, n_inputs: int) -> int:
        return max(n_inputs, 2 * self.projection.n_columns(n_inputs))


def layer_rows(rows: Rows, layer: FeatureLayer) -> Rows:
    """Return the rows a layer makes of others for many passes, their projections (or few inputs) cached.

    In memory they have random access. Of a stream the projections are cached where they fit, in memory or on disk,
    else its inputs; rows on a cluster are kept by the workers.
    """
    if rows.random_access:
        return LayerRows.of(rows, layer)
    assert rows.n_rows is not None
    layer = layer.astype(rows.dtype)
    with_projections = rows.apply(WithProjections(layer))
    n_projections = layer.projection.n_columns(rows.n_columns)
    n_inputs = with_projections.n_columns - n_projections
    decision = current().recall(
        "where a layer is cached",
        (rows, layer),
        lambda: _decide({"projections": with_projections, "inputs": rows}, layer, rows),
    )
    has_projections = decision.what == "projections"
    decoder = LayerDecoder(layer, n_inputs if has_projections else None)
    source = with_projections if has_projections else rows
    if decision.where != "source":  # else the passes that need keys make them
        source = source.with_keys()
    narrow = cache_at(source, rows.n_rows, decision) if rows.is_local else persisted(source)
    changed = {"n_columns": layer.n_columns(rows.n_columns)}
    return CachedLayerRows(rows, ApplyRowMap(layer, rows.dtype), changed, layer, narrow, decoder, decision)


def _decide(candidates: dict[str, Rows], layer: FeatureLayer, rows: Rows) -> CacheDecision:
    """Decide whether to cache projections or inputs, and where: the first that fits memory, else the disk."""
    if _cheap_to_project(rows.n_columns, layer.projection.n_columns(rows.n_columns)):
        del candidates["projections"]
    if not rows.is_local:
        return _decide_on_workers(candidates, rows)
    reserved = int(FACTORED * layer.n_columns(rows.n_columns) ** 2) * rows.dtype.itemsize
    decisions = [replace(decide(each, rows.n_rows, reserved), what=what) for what, each in candidates.items()]
    for where in ("memory", "disk"):
        for decision in decisions:
            if decision.where == where:
                return decision
    return decisions[-1]  # inputs are read again, and projected again


def _decide_on_workers(candidates: dict[str, Rows], rows: Rows) -> CacheDecision:
    """Decide the same on a cluster, where the inputs are there already."""
    source: Any = rows
    while isinstance(source, MappedRows):
        source = source.source
    sizes = {what: rows.n_rows * each.n_columns * each.dtype.itemsize for what, each in candidates.items()}
    memory = source.memory
    free = WORKERS_SHARE * memory - 2 * sizes["inputs"]  # the collection, and the rows made of it
    what = "projections" if sizes.get("projections", np.inf) <= free else "inputs"
    return CacheDecision("workers", sizes[what], f"all workers have {shown(memory)} of memory", what)


def _cheap_to_project(n_inputs: int, n_projections: int) -> bool:
    """Tell whether projections are better made in every pass than cached."""
    return n_inputs <= min(MAX_INPUTS, n_projections // 8)


@dataclass(frozen=True, eq=False)
class LayerRows(RandomAccessRows):
    """The rows a layer makes of rows in memory, whose projections, or few inputs, are cached.

    The expanded rows, several times as wide, are made in cache when they are asked for; products with them need none of
    that where the map knows its pieces.
    """

    source: Rows
    layer: FeatureLayer
    projections: Rows

    @classmethod
    def of(cls, source: Rows, layer: FeatureLayer) -> LayerRows:
        layer = layer.astype(source.dtype)
        projections = source.apply(layer.projection)
        if _cheap_to_project(source.n_columns, projections.n_columns):
            source = source if _in_memory(source) else ArrayRows(source.to_array(), source.y, source.weight, source)
            return cls(source, layer, source.apply(layer.projection))
        return cls(source, layer, ArrayRows(projections.to_array()))

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.layer.n_columns(self.source.n_columns)

    @property
    def dtype(self) -> np.dtype:
        return self.projections.dtype

    @property
    def is_sparse(self) -> bool:
        return False

    @property
    def y(self) -> Any:
        return self.source.y

    @property
    def weight(self) -> np.ndarray | None:
        return self.source.weight

    @property
    def keys(self) -> np.ndarray:
        return self.source.keys

    def with_labels(self, y: Any, weight: np.ndarray | None = None) -> LayerRows:
        return replace(self, source=self.source.with_labels(y, weight))

    def block(self, selection: Selection) -> Block:
        start = selection.start or 0 if isinstance(selection, slice) else 0
        return Block(self.rows(selection), take(self.y, selection), take(self.weight, selection), start)

    def rows(self, selection: Selection) -> Matrix:
        # Inputs that are not kept are not read: only their width counts.
        kept = self.layer.input_scale is not None
        rows = self.source.rows(selection) if kept else _Width(self.source.n_columns)
        return self.layer.join(rows, self.projections.rows(selection))

    @property
    def floats_per_row(self) -> int:
        return self.layer.floats_per_row(self.source.n_columns)

    def products(self, coefficients: np.ndarray, squared: bool = False) -> RowProducts | None:
        if self._pieces is None or coefficients.shape[1] > MAX_CLASSES:
            return None
        pieces = self._pieces.squared if squared else self._pieces
        return LayerProducts(self, PieceProducts(pieces, coefficients[self._n_inputs :]), coefficients, squared)

    @property
    def _n_inputs(self) -> int:
        """Columns that are kept inputs."""
        return 0 if self.layer.input_scale is None else self.source.n_columns

    @cached_property
    def _pieces(self) -> Pieces | None:
        return self.layer.feature_map.pieces(self.projections.n_columns)


class LayerProducts:
    """Products with the rows of a layer: kept inputs as they are, features as polynomials a piece."""

    def __init__(self, rows: LayerRows, mapped: PieceProducts, coefficients: np.ndarray, squared: bool) -> None:
        self.rows, self.mapped = rows, mapped
        n_inputs = len(coefficients) - rows.layer.feature_map.n_columns(rows.projections.n_columns)
        scale = rows.layer.input_scale
        self.inputs = None
        if scale is not None:
            self.scale = (scale**2 if squared else scale)[:, None].astype(coefficients.dtype)
            self.inputs = BlockProducts(rows.source, self.scale * coefficients[:n_inputs], squared)

    @property
    def of_few_inputs(self) -> bool:
        return _cheap_to_project(self.rows.source.n_columns, self.rows.projections.n_columns)

    def anew(self) -> LayerProducts:
        other = copy(self)
        other.mapped, other.inputs = self.mapped.anew(), None if self.inputs is None else self.inputs.anew()
        return other

    def scores(self, selection: Selection) -> np.ndarray:
        scores = self.mapped.scores(self.rows.projections.rows(selection))
        if self.inputs is not None:
            scores += self.inputs.scores(selection)
        return scores

    def add(self, values: np.ndarray) -> None:
        self.mapped.add(values)
        if self.inputs is not None:
            self.inputs.add(values)

    def merge(self, other: LayerProducts) -> None:
        self.mapped.merge(other.mapped)
        if self.inputs is not None and other.inputs is not None:
            self.inputs.merge(other.inputs)

    def total(self) -> np.ndarray:
        mapped = self.mapped.total()
        return mapped if self.inputs is None else np.concatenate([self.scale * self.inputs.total(), mapped])


@dataclass(frozen=True, eq=False)
class WithProjections:
    """``[x, x @ V + bias]``, inputs only where the layer keeps them: what its rows are made of.

    A row map, and no stage: it stands in a pass of a fit, never in a fitted model.
    """

    layer: FeatureLayer

    def apply(self, rows: Matrix) -> np.ndarray:
        projections = self.layer.projection.apply(rows)
        return projections if self.layer.input_scale is None else np.hstack([dense(rows), projections])

    def n_columns(self, n_inputs: int) -> int:
        kept = 0 if self.layer.input_scale is None else n_inputs
        return kept + self.layer.projection.n_columns(n_inputs)


@dataclass(frozen=True, eq=False)
class LayerDecoder(Decoder):
    """The rows a layer makes of a stored block.

    Attributes
    ----------
    layer : FeatureLayer
    n_inputs : int or None
        Columns of kept inputs that stand before the projections in a block; None where blocks are inputs alone.
    """

    layer: FeatureLayer
    n_inputs: int | None

    def __call__(self, block: Block) -> LayerRows:
        layer = self.layer.astype(block.X.dtype)
        source = ArrayRows(block.X if self.n_inputs is None else block.X[:, : self.n_inputs], block.y, block.weight)
        if self.n_inputs is None:
            return LayerRows(source, layer, source.apply(layer.projection))  # projected where threads share a pass
        return LayerRows(source, layer, ArrayRows(block.X[:, self.n_inputs :]))

    def width(self, n_columns: int) -> int:
        return n_columns + (self.layer.projection.n_columns(n_columns) if self.n_inputs is None else 0)


@dataclass(frozen=True, eq=False)
class CachedLayerRows(MappedRows):
    """The rows a layer makes of a stream, for many passes: these read what is stored.

    Attributes
    ----------
    layer : FeatureLayer
    stored : Rows
        Inputs, or inputs and projections.
    decoder : LayerDecoder
        From a stored block to rows.
    decision : CacheDecision
        Where they are stored, and why.
    """

    layer: FeatureLayer | None = None
    stored: Rows | None = None
    decoder: Decoder | None = None
    decision: CacheDecision | None = None

    @property
    def floats_per_row(self) -> int:
        assert self.layer is not None
        return self.layer.floats_per_row(self.source.n_columns)

    @property
    def is_sparse(self) -> bool:
        return False

    def storage(self) -> tuple[Rows, Decoder]:
        assert self.stored is not None and self.decoder is not None
        return self.stored, self.decoder


def _in_memory(source: Rows) -> bool:
    return isinstance(source, ArrayRows) and not source.is_sparse and source.X.dtype == source.dtype


@dataclass(frozen=True)
class _Width:
    """A stand-in for rows of which only the width counts."""

    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return (0, self.n_columns)
