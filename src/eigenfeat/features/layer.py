"""One layer of GEM: directions of many contrasts, the map of their projections, and the rows they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.features.expansion import ArrayRows, Expansion, Projection, RowSource, as_row_source, iterate_blocks
from eigenfeat.features.maps import FeatureMap
from eigenfeat.features.pairs import auto_directions, choose_contrasts
from eigenfeat.moments import Moments, RowStore, empty_moments
from eigenfeat.quotients import NO_REGULARISATION, Regularisation, contrast
from eigenfeat.solvers import Directions, DualVectors, solve

NO_SIGNAL = 1e-6
"""A direction with a smaller ratio responds to nothing: beyond the rank of a class there are only such."""

AUTO_PER_PAIR = 20
"""Directions a pair that ``n_components=None`` takes at most."""


@dataclass(frozen=True)
class LayerSettings:
    """What a layer is asked for, already checked; see `GEMFeatures` for the meaning of each."""

    class_pairs: str | list = "auto"
    n_pairs: int | None = None
    n_components: int | None = None
    min_eigenvalue: float | None = None
    max_features: int | None = None
    noise: str = "second_moment"
    regularisation: Regularisation = NO_REGULARISATION
    solver: str = "auto"
    tol: float | None = None
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Layer:
    """Fitted directions, strongest pair by pair, and the map of their projections.

    Attributes
    ----------
    vectors : (d, m) array or DualVectors
    constants : (m,) array or None
        ``vᵀ offset`` of each direction, where the noise was a covariance.
    eigenvalues, residuals : (m,) arrays
    contrast : (m,) array of int
        Which contrast a direction comes from.
    names : (n_contrasts, 2) array
    """

    vectors: np.ndarray | DualVectors
    constants: np.ndarray | None
    eigenvalues: np.ndarray
    residuals: np.ndarray
    contrast: np.ndarray
    names: np.ndarray
    solver: str

    @property
    def n_directions(self) -> int:
        return len(self.eigenvalues)

    def project(self, source: RowSource) -> RowSource:
        """Projections of the rows of a source, computed when asked for."""
        if isinstance(self.vectors, DualVectors):
            return DualProjection(source, self.vectors, self.constants)
        return Projection(source, self.vectors.T.astype(source.dtype, copy=False), self.constants)


@dataclass(frozen=True, eq=False)
class DualProjection:
    """Projections on directions that are combinations of stored rows: ``(x · rows) coefficients``."""

    source: RowSource
    vectors: DualVectors
    constants: np.ndarray | None

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.vectors.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def rows(self, selection) -> np.ndarray:
        basis = self.vectors.store.rows[self.vectors.index]
        projected = np.asarray((self.source.rows(selection) @ basis.T) @ self.vectors.coefficients)
        if self.constants is not None:
            projected = projected - self.constants
        return projected.astype(self.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class WithConstant:
    """Rows with a coordinate that is always one, last: directions may then have a bias."""

    source: RowSource

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.source.n_columns + 1

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def rows(self, selection):
        rows = self.source.rows(selection)
        ones = np.ones((rows.shape[0], 1), dtype=rows.dtype)
        return sparse.hstack([rows, ones], format="csr") if sparse.issparse(rows) else np.hstack([rows, ones])


@dataclass(frozen=True, eq=False)
class TransformedRows:
    """Rows of a source after a fitted scikit-learn transformer, a block at a time."""

    source: RowSource
    transformer: Any
    n_columns: int

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def rows(self, selection):
        return self.transformer.transform(self.source.rows(selection)).astype(self.dtype, copy=False)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows with every column in other units."""

    source: RowSource
    scale: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def rows(self, selection):
        rows = self.source.rows(selection)
        if sparse.issparse(rows):
            return rows.multiply(self.scale.astype(self.dtype)).tocsr()
        return rows * self.scale.astype(self.dtype)


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Some rows of a source, in the order of ``index``."""

    source: RowSource
    index: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.index)

    @property
    def n_columns(self) -> int:
        return self.source.n_columns

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    def rows(self, selection):
        return self.source.rows(self.index[selection])


def source_moments(
    source: RowSource,
    labels: np.ndarray,
    weights: np.ndarray | None,
    track_fourth: bool,
    n_rows: int | None = None,
) -> Moments:
    """Class moments of any source of rows, one pass, block by block.

    ``n_rows`` is how many rows there will be when these are a part that will be merged with others.
    """
    total = source.n_rows if n_rows is None else n_rows
    moments = empty_moments(total, source.n_columns, np.unique(labels), track_fourth=track_fourth)
    if isinstance(source, ArrayRows):
        return moments.update(source.array, labels, weights)
    for chosen, rows in iterate_blocks(source, batch_size=8192):
        moments.update(rows, labels[chosen], None if weights is None else weights[chosen])
    return moments


def find_layer(moments: Moments, settings: LayerSettings, rng: np.random.RandomState, dtype: np.dtype) -> Layer:
    """Solve all contrasts of a layer and keep the directions the settings ask for (Algorithm 1, lines 1-5)."""
    chosen = choose_contrasts(moments, settings.class_pairs, rng, settings.n_pairs)
    labels = [f"{a} vs {b}" for a, b in chosen.names]
    quotients = contrast(moments, chosen.mixtures, labels, settings.noise, settings.regularisation)  # type: ignore[arg-type]
    found = solve(
        quotients,
        _per_pair(settings, len(chosen), moments.n_classes),
        solver=settings.solver,
        min_eigenvalue=max(settings.min_eigenvalue or 0.0, NO_SIGNAL),
        tol=settings.tol,
        dtype=dtype,
        n_jobs=settings.n_jobs,
        random_state=int(rng.randint(2**31 - 1)),
    )
    found = _at_least_one(found, quotients, settings, dtype)
    layer = _joined(found, [q.offset for q in quotients], chosen.names)
    limit = settings.max_features
    return layer if limit is None or layer.n_directions <= limit else strongest(layer, limit)


def _per_pair(settings: LayerSettings, n_pairs: int, n_classes: int) -> int:
    if settings.n_components is not None:
        return settings.n_components
    return int(np.clip(auto_directions(n_classes) // n_pairs, 1, AUTO_PER_PAIR))


def _at_least_one(found: list[Directions], quotients, settings: LayerSettings, dtype) -> list[Directions]:
    """A threshold above every eigenvalue would leave no feature at all: then keep the best of each contrast."""
    if any(f.n_directions for f in found):
        return found
    return solve(quotients, 1, solver=settings.solver, tol=settings.tol, dtype=dtype, n_jobs=settings.n_jobs)


def strongest(layer: Layer, count: int) -> Layer:
    """The ``count`` directions of largest eigenvalue, in the order they stood in."""
    keep = np.sort(np.argsort(-layer.eigenvalues, kind="stable")[:count])
    return subset(layer, keep)


def subset(layer: Layer, keep: np.ndarray) -> Layer:
    vectors = layer.vectors.columns(keep) if isinstance(layer.vectors, DualVectors) else layer.vectors[:, keep]
    return Layer(
        vectors,
        None if layer.constants is None else layer.constants[keep],
        layer.eigenvalues[keep],
        layer.residuals[keep],
        layer.contrast[keep],
        layer.names,
        layer.solver,
    )


def rank_in_contrast(layer: Layer) -> np.ndarray:
    """(m,): 0 for the strongest direction of each contrast, 1 for the next, and so on."""
    return np.arange(layer.n_directions) - np.searchsorted(layer.contrast, layer.contrast)


def _joined(found: list[Directions], offsets: list, names: np.ndarray) -> Layer:
    """Directions of all contrasts side by side."""
    if isinstance(found[0].vectors, DualVectors):
        vectors: np.ndarray | DualVectors = _joined_dual([f.vectors for f in found])
    else:
        vectors = np.concatenate([f.toarray() for f in found], axis=1)
    constants = None
    if offsets[0] is not None:
        constants = np.concatenate([o @ f.toarray() for o, f in zip(offsets, found)])
    return Layer(
        vectors,
        constants,
        np.concatenate([f.values for f in found]),
        np.concatenate([f.residuals for f in found]),
        np.repeat(np.arange(len(found)), [f.n_directions for f in found]),
        names,
        found[0].solver,
    )


def _joined_dual(parts: list) -> DualVectors:
    store: RowStore = parts[0].store
    coefficients = np.zeros((store.n_rows, sum(p.shape[1] for p in parts)), dtype=parts[0].dtype)
    start = 0
    for part in parts:
        np.add.at(coefficients[:, start : start + part.shape[1]], part.index, part.coefficients)
        start += part.shape[1]
    return DualVectors(store, np.arange(store.n_rows), coefficients)


def expanded(
    layer: Layer, source: RowSource, feature_map: FeatureMap, input_scale: np.ndarray | None, hold: bool
) -> Expansion:
    """The rows line 7 of Algorithm 1 makes, lazily; ``hold`` keeps the projections, which every pass needs."""
    projections = layer.project(source)
    if hold:
        projections = as_row_source(held(projections))
    return Expansion(projections, feature_map, None if input_scale is None else ScaledRows(source, input_scale))


def unit_scale(moments: Moments) -> np.ndarray:
    """What brings the inputs to a mean square of one over all columns together.

    One number for all: a scale of its own would blow up a column that is nearly always zero, such as a pixel at the
    edge.
    """
    mean_square = moments.second_moment().mean_diagonal()
    return np.full(moments.n_features, 1.0 / np.sqrt(mean_square) if mean_square > 0 else 1.0)


def direction_parts(rows: Expansion, coefficients: np.ndarray, n_directions: int) -> np.ndarray:
    """(m,): variance over rows of what each direction adds to the scores ``rows @ coefficientsᵀ``, summed over scores.

    Columns of a direction are those a map of single projections makes of it; a map of several together has no such.
    """
    n_mapped = rows.feature_map.n_columns(n_directions)
    if n_mapped % n_directions or n_mapped != n_directions * rows.feature_map.n_columns(1):
        raise ValueError(f"The map {rows.feature_map.name!r} mixes directions: none has a part of its own.")
    first = rows.n_columns - n_mapped
    W = coefficients[:, first:].reshape(len(coefficients), -1, n_directions)
    total, squares = np.zeros((len(W), n_directions)), np.zeros((len(W), n_directions))
    for _, block in iterate_blocks(rows, batch_size=256):
        functions = block[:, first:].reshape(len(block), -1, n_directions)
        for c, weights in enumerate(W):
            part = np.einsum("nfm,fm->nm", functions, weights)
            total[c] += part.sum(axis=0)
            squares[c] += np.einsum("nm,nm->m", part, part)
    variance = squares / rows.n_rows - (total / rows.n_rows) ** 2
    return np.maximum(variance, 0).sum(axis=0)


def held(source: RowSource) -> np.ndarray:
    """All rows of a source as one array, filled block by block."""
    rows = np.empty((source.n_rows, source.n_columns), dtype=source.dtype)
    for chosen, block in iterate_blocks(source, batch_size=4096):
        rows[chosen] = block.toarray() if hasattr(block, "toarray") else block
    return rows
