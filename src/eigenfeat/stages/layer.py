"""Projections and the features made of them: one stage, and the rows it makes while projections are held."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from eigenfeat._threads import blas_threads
from eigenfeat.rows import (
    ArrayRows,
    Block,
    BlockProducts,
    Expand,
    MappedRows,
    Matrix,
    RandomRows,
    RowProducts,
    Rows,
    RowView,
    Selection,
    StreamView,
    Through,
    dense,
    held,
    mapped,
)
from eigenfeat.rows.keeping import Candidate, Kept, choose, choose_elsewhere, kept
from eigenfeat.solvers import DenseVectors
from eigenfeat.stages.affine import Affine
from eigenfeat.stages.feature_map import FeatureMap
from eigenfeat.stages.pieces import MAX_CLASSES, PieceProducts, Pieces
from eigenfeat.stages.stage import Stage

FACTORED = 1.6
"""What a fit to the rows of a layer takes beside them: a factored Gram matrix, and the part of it being summed."""
PROJECTING_SPEED = 4e10
"""Multiplications, each with its addition, a second with which a core projects rows, for the choice of what to keep:
assumed."""

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

    def pass_width(self, n_inputs: int) -> int:
        """Numbers that a pass makes of a row: features are not formed where their map knows its pieces."""
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


@dataclass(frozen=True, eq=False)
class LayerRows(RowView):
    """The rows a layer makes of a source whose projections, or few inputs, are held in memory: what every pass needs.

    The expanded rows, several times as wide, are made in cache when they are asked for; products with them need none of
    that where the map knows its pieces.
    """

    layer: FeatureLayer
    projections: RandomRows

    @classmethod
    def of(cls, source: RandomRows, layer: FeatureLayer) -> LayerRows:
        layer = layer.astype(source.dtype)
        projections = MappedRows(source, layer.projection)
        if _are_few(source, projections):
            source = source if _in_memory(source) else ArrayRows(held(source), source.y, source.weight)
            return cls(source, layer, MappedRows(source, layer.projection))
        return cls(source, layer, ArrayRows(held(projections)))

    @property
    def n_columns(self) -> int:
        return self.layer.n_columns(self.source.n_columns)

    @property
    def dtype(self) -> np.dtype:
        return self.projections.dtype

    def rows(self, selection: Selection) -> Matrix:
        # Inputs that are not kept are not read: only their width counts.
        kept = self.layer.input_scale is not None
        rows = self.source.rows(selection) if kept else _Width(self.source.n_columns)
        return self.layer.join(rows, self.projections.rows(selection))

    @property
    def pass_width(self) -> int:
        return self.layer.pass_width(self.source.n_columns)

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
        return _are_few(self.rows.source, self.rows.projections)

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


def _are_few(inputs: RandomRows, projections: RandomRows) -> bool:
    """Whether projections are better made in every pass than held."""
    return inputs.n_columns <= min(MAX_INPUTS, projections.n_columns // 8)


@dataclass(frozen=True, eq=False)
class ExpandedInputs(Expand):
    """The rows a layer makes of a block of inputs."""

    layer: FeatureLayer

    def __call__(self, block: Block) -> LayerRows:
        layer, source = self.layer.astype(block.X.dtype), ArrayRows(block.X, block.y, block.weight)
        return LayerRows(source, layer, MappedRows(source, layer.projection))  # projected where threads share a pass

    def width(self, n_columns: int) -> int:
        return n_columns + self.layer.projection.n_columns(n_columns)


@dataclass(frozen=True, eq=False)
class ExpandedProjections(Expand):
    """The rows a layer makes of a block of projections, behind the inputs where these are kept."""

    layer: FeatureLayer
    n_inputs: int

    def __call__(self, block: Block) -> LayerRows:
        inputs = block.X[:, : self.n_inputs]
        source = ArrayRows(inputs, block.y, block.weight)
        layer = self.layer.astype(block.X.dtype)
        return LayerRows(source, layer, ArrayRows(block.X[:, self.n_inputs :]))


@dataclass(frozen=True, eq=False)
class InputsBesideProjections:
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
class LayerStream(StreamView):
    """The rows a layer makes of a stream: passes read its inputs, or projections of them, which may be kept.

    Attributes
    ----------
    source : Rows
        Of inputs.
    layer : FeatureLayer
    narrow : Rows
        What passes read: inputs, or inputs beside projections.
    expand : Expand
        From a block of that to rows.
    kept : Kept
        What was kept where.
    """

    layer: FeatureLayer
    narrow: Rows
    expand: Expand
    kept: Kept

    @classmethod
    def of(cls, source: Rows, layer: FeatureLayer, n_rows: int) -> LayerStream:
        layer = layer.astype(source.dtype)
        projected: Any = mapped(source, InputsBesideProjections(layer))
        n_inputs = projected.n_columns - layer.projection.n_columns(source.n_columns)
        operations = float(source.n_columns * layer.projection.n_columns(source.n_columns))
        cores = blas_threads() if source.is_local else 1  # elsewhere seconds are those of one worker's thread
        candidates = (
            Candidate("inputs", source, operations / (PROJECTING_SPEED * cores)),
            Candidate("inputs beside projections" if n_inputs else "projections", projected),
        )
        choices: tuple[Expand, ...] = (ExpandedInputs(layer), ExpandedProjections(layer, n_inputs))
        if not source.is_local:
            place, choice = choose_elsewhere(candidates, n_rows)
            return cls(source, layer, candidates[place].source.persisted(), choices[place], choice)
        n_features = layer.n_columns(source.n_columns)
        place, choice = choose(candidates, n_rows, beside=int(FACTORED * n_features**2) * source.dtype.itemsize)
        return cls(source, layer, kept(candidates[place].source, choice, n_rows), choices[place], choice)

    @property
    def n_columns(self) -> int:
        return self.layer.n_columns(self.source.n_columns)

    @property
    def pass_width(self) -> int:
        return self.layer.pass_width(self.source.n_columns)

    @property
    def names(self) -> None:
        return None

    @property
    def lens(self) -> Through:
        return Through(self.layer, self.dtype)

    @property
    def compact(self) -> tuple[Rows, Expand]:
        return self.narrow, self.expand


def _in_memory(source: RandomRows) -> bool:
    return isinstance(source, ArrayRows) and not source.is_sparse and source.X.dtype == source.dtype


@dataclass(frozen=True)
class _Width:
    """Stands for rows nobody looks at."""

    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return (0, self.n_columns)
