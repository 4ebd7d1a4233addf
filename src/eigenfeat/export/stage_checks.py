"""Whether the stages of a model that was read from a file fit together: compiled loops trust shapes.

`check_width(stage, n_inputs)` raises `Refusal` unless every number the stage reads is there for rows of that width, and
returns the width it makes. A stage without a rule is refused: whoever adds one says here what it needs.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from eigenfeat.export.archive import Refusal
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.maps import FEATURE_MAPS, PlainMap, PowerMap, ProductMap, SmoothSplineMap, SplineMap
from eigenfeat.moments import GramCache
from eigenfeat.scores.autoencoder import HiddenLayer, TiedAutoencoder
from eigenfeat.solvers import DenseVectors, DualVectors, Vectors
from eigenfeat.stages import (
    Affine,
    BandPass,
    BaseMap,
    Beside,
    Chain,
    EstimatorScores,
    FeatureLayer,
    FilterBank,
    Fitted,
    GaussianPosteriors,
    GeometricMean,
    HuberPosteriors,
    KernelExpansion,
    SignalPower,
    Softmax,
    Stage,
    TreatedColumns,
    UnitPower,
    WithConstant,
)
from eigenfeat.stages.kernels import KERNELS, Kernel

SCORING_METHODS = {"predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "transform"}
HIGHEST_DEGREE = 20
"""Of a spline, and twice this of a map's powers of roots: tables of this size are made, and numbers overflow anyway."""

MOST_COLUMNS = 10_000_000
"""Columns that products or an estimator inside may claim to make: no array in the file bounds them."""


def demand(holds: bool, words: str) -> None:
    """Refuse a model in which something does not hold."""
    if not holds:
        raise Refusal(f"does not fit together: {words}. It is damaged or forged; fit the model again and save it")


def check_numbers(array: Any, shape: tuple[int | None, ...], words: str, kinds: str = "f") -> None:
    """A finite array of this shape; None stands for any length."""
    demand(isinstance(array, np.ndarray) and array.dtype.kind in kinds, f"{words} is no array of numbers")
    demand(array.dtype.isnative and array.dtype.char not in "eg", f"{words} has a type that is not computed with")
    fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape))
    demand(fits, f"{words} has shape {array.shape}, not {shape}")
    demand(bool(np.isfinite(array).all()), f"{words} has entries that are not finite")


def check_rows(rows: Any, n_columns: int | None, words: str) -> None:
    """A dense array or CSR matrix of numbers."""
    if sparse.issparse(rows):
        check_csr(rows, words)
        demand(
            rows.dtype.kind == "f" and bool(np.isfinite(rows.data).all()), f"{words} has entries that are no numbers"
        )
        demand(n_columns in (None, rows.shape[1]), f"{words} has {rows.shape[1]} columns, not {n_columns}")
    else:
        check_numbers(rows, (None, n_columns), words)


def check_csr(rows: Any, words: str) -> None:
    """Row bounds and column numbers of a CSR matrix inside it: scipy's products do not look."""
    demand(rows.format == "csr" and len(rows.shape) == 2, f"{words} is a sparse matrix, but not of rows")
    for part, kinds in ((rows.indptr, "i"), (rows.indices, "i"), (rows.data, "biufc")):
        demand(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in kinds, f"{words} is no matrix")
    try:
        rows.check_format(full_check=True)
    except ValueError as problem:
        demand(False, f"{words} is no sparse matrix ({problem})")
    demand(bool((np.diff(rows.indptr) >= 0).all()), f"{words} is no sparse matrix")


def check_index(index: Any, length: int, words: str) -> None:
    """Numbers of things of which there are so many."""
    check_numbers(index, (None,), words, kinds="iu")
    demand(not index.size or (index.min() >= 0 and index.max() < length), f"{words} points outside")


def is_count(value: Any, least: int = 1, most: int | None = None) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and value >= least and (most is None or value <= most)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


# ---------------------------------------------------------------------- stages


@singledispatch
def check_width(stage: Any, n_inputs: int) -> int:
    """Check a stage for rows of ``n_inputs`` columns; the columns it makes."""
    raise Refusal(f"does not fit together: {type(stage).__name__} stands where a stage of a model is needed")


@check_width.register
def _(stage: Chain, n_inputs: int) -> int:
    for part in _parts(stage.stages, "a chain", least=0):
        n_inputs = check_width(part, n_inputs)
    return n_inputs


@check_width.register(FilterBank)
@check_width.register(Beside)
def _(stage: Beside, n_inputs: int) -> int:
    return sum(check_width(part, n_inputs) for part in _parts(stage.parts, "stages side by side"))


@check_width.register
def _(stage: GeometricMean, n_inputs: int) -> int:
    widths = {check_width(member, n_inputs) for member in _parts(stage.members, "an average")}
    demand(len(widths) == 1, "members of an average have different numbers of columns")
    return widths.pop()


@check_width.register
def _(stage: Affine, n_inputs: int) -> int:
    demand(isinstance(stage.vectors, Vectors), "a projection has no vectors")
    n_columns = check_vectors(stage.vectors, n_inputs)
    if stage.bias is not None:
        check_numbers(stage.bias, (n_columns,), "the bias of a projection")
    return n_columns


@check_width.register
def _(stage: FeatureLayer, n_inputs: int) -> int:
    demand(isinstance(stage.projection, Affine), "a layer has no projection")
    n_features = check_map(stage.feature_map, check_width(stage.projection, n_inputs))
    if stage.input_scale is None:
        return n_features
    check_numbers(stage.input_scale, (n_inputs,), "the scale of a layer's inputs")
    return n_inputs + n_features


@check_width.register
def _(stage: WithConstant, n_inputs: int) -> int:
    return n_inputs + 1


@check_width.register
def _(stage: BaseMap, n_inputs: int) -> int:
    return _check_estimator(stage.transformer, stage.width, n_inputs)


@check_width.register
def _(stage: EstimatorScores, n_inputs: int) -> int:
    demand(stage.method in SCORING_METHODS, f"{stage.method!r} is no method that gives scores")
    return _check_estimator(stage.estimator, stage.width, n_inputs)


@check_width.register
def _(stage: KernelExpansion, n_inputs: int) -> int:
    check_kernel(stage.kernel)
    demand(isinstance(stage.points, np.ndarray) or sparse.issparse(stage.points), "a kernel expansion has no points")
    if stage.points.ndim == 1:
        check_index(stage.points, n_inputs, "the columns of a kernel matrix")
    else:
        check_rows(stage.points, n_inputs, "the points of a kernel expansion")
    check_numbers(stage.coefficients, (stage.points.shape[0], None), "the coefficients of a kernel expansion")
    check_numbers(stage.bias, (stage.coefficients.shape[1],), "the bias of a kernel expansion")
    return stage.coefficients.shape[1]


@check_width.register
def _(stage: Softmax, n_inputs: int) -> int:
    demand(is_number(stage.temperature), "a temperature is no number")
    return max(2, n_inputs)


@check_width.register
def _(stage: GaussianPosteriors, n_inputs: int) -> int:
    check_numbers(stage.moments, (n_inputs, 2, 3), "the moments of outputs")
    check_numbers(stage.shift, (n_inputs,), "the shift of outputs")
    return max(2, n_inputs)


@check_width.register
def _(stage: HuberPosteriors, n_inputs: int) -> int:
    check_numbers(stage.densities, (n_inputs, 2, 4), "the densities of outputs")
    check_numbers(stage.shift, (n_inputs,), "the shift of outputs")
    return max(2, n_inputs)


@check_width.register
def _(stage: BandPass, n_inputs: int) -> int:
    check_numbers(stage.sections, (None, 6), "the sections of a filter")
    fits = len(stage.sections) > 0 and bool((stage.sections[:, 3] == 1).all())
    demand(fits, "the sections of a filter are none")
    return n_inputs


@check_width.register
def _(stage: UnitPower, n_inputs: int) -> int:
    return n_inputs


@check_width.register
def _(stage: SignalPower, n_inputs: int) -> int:
    """Of trials, which have a row of numbers a channel: ``n_inputs`` are channels."""
    demand(isinstance(stage.vectors, Vectors), "the power of signals has no filters")
    demand(isinstance(stage.log, bool), "the power of signals is neither logarithmic nor not")
    return check_vectors(stage.vectors, n_inputs)


@check_width.register
def _(stage: TreatedColumns, n_inputs: int) -> int:
    check_numbers(stage.shift, (n_inputs,), "the shifts of columns")
    check_numbers(stage.factor, (n_inputs,), "the factors of columns")
    check_index(stage.curved, n_inputs, "the columns that are made normal")
    check_numbers(stage.knots, (len(stage.curved), None), "the knots of columns")
    check_numbers(stage.values, stage.knots.shape, "the normal scores of columns")
    demand(bool((np.diff(stage.knots, axis=1) >= 0).all()), "the knots of a column do not ascend")
    demand(not len(stage.curved) or stage.knots.shape[1] > 0, "a column that is made normal has no knots")
    return n_inputs


@check_width.register
def _(stage: HiddenLayer, n_inputs: int) -> int:
    demand(isinstance(stage.model, TiedAutoencoder), "a hidden layer has no auto-encoder")
    return check_autoencoder(stage.model, n_inputs)


def _parts(parts: Any, words: str, least: int = 1) -> tuple[Stage, ...]:
    fits = isinstance(parts, tuple) and len(parts) >= least and all(isinstance(part, Stage) for part in parts)
    demand(fits, f"{words} is not made of stages")
    return parts


def _check_estimator(estimator: Any, width: Any, n_inputs: int) -> int:
    demand(isinstance(estimator, BaseEstimator), f"{type(estimator).__name__} is no estimator")
    demand(getattr(estimator, "n_features_in_", n_inputs) == n_inputs, "an estimator inside is for other columns")
    demand(is_count(width, 1, MOST_COLUMNS), "the width of a stage is no number")
    return int(width)


# ---------------------------------------------------------------------- parts of stages


def check_vectors(vectors: Vectors, n_inputs: int) -> int:
    """Directions for rows of this width; how many they are."""
    if isinstance(vectors, DenseVectors):
        check_numbers(vectors.array, (n_inputs, None), "an array of directions")
        return vectors.array.shape[1]
    if not isinstance(vectors, DualVectors) or not isinstance(vectors.rows, GramCache):
        raise Refusal(f"does not fit together: directions are held as {type(vectors).__name__}")
    check_rows(vectors.rows.X, n_inputs, "the rows that directions are made of")
    check_index(vectors.index, vectors.rows.n_rows, "the rows of directions")
    check_numbers(vectors.coefficients, (len(vectors.index), None), "the coefficients of directions")
    return vectors.coefficients.shape[1]


def check_kernel(kernel: Any) -> None:
    demand(isinstance(kernel, Kernel) and kernel.name in KERNELS, "a kernel is not known")
    demand(all(map(is_number, (kernel.gamma, kernel.degree, kernel.coef0))), "a kernel's parameters are no numbers")
    anchored = kernel.anchor is None or (isinstance(kernel.anchor, tuple) and all(map(is_number, kernel.anchor)))
    demand(anchored, "the anchor of a kernel is no row of numbers")


def check_autoencoder(model: TiedAutoencoder, n_inputs: int | None) -> int:
    check_numbers(model.weights, (n_inputs, None), "the weights of an auto-encoder")
    n_inputs, n_hidden = model.weights.shape
    check_numbers(model.hidden_bias, (n_hidden,), "the hidden bias of an auto-encoder")
    check_numbers(model.visible_bias, (n_inputs,), "the visible bias of an auto-encoder")
    demand(is_number(model.gain) and is_number(model.corruption_variance), "an auto-encoder's gain is no number")
    return n_hidden


def check_map(feature_map: Any, n_projections: int) -> int:
    """A fitted feature map for so many projections; the columns it makes."""
    if isinstance(feature_map, ProductMap):
        check_map(feature_map.base, n_projections)
        pairs = feature_map.pairs
        demand(pairs is None or isinstance(pairs, tuple), "the pairs of products are none")
        n_pairs = n_projections * (n_projections - 1) // 2 if pairs is None else len(pairs)
        demand(n_pairs <= MOST_COLUMNS, "there are too many products")
        for pair in pairs or ():
            fits = isinstance(pair, tuple) and len(pair) == 2 and all(is_count(i, 0, n_projections - 1) for i in pair)
            demand(fits, "a product is of projections that are not there")
    elif isinstance(feature_map, HatProductMap):
        _check_hats(feature_map, n_projections)
    elif isinstance(feature_map, SmoothSplineMap):
        demand(isinstance(feature_map.splines, SplineMap), "smooth splines are of something else")
        _check_spline(feature_map.splines, n_projections)
        demand(is_number(feature_map.penalty) and feature_map.penalty >= 0, "a roughness penalty is no number")
    elif isinstance(feature_map, SplineMap):
        _check_spline(feature_map, n_projections)
    elif isinstance(feature_map, PowerMap):
        powers = feature_map.powers
        fits = (
            isinstance(powers, tuple)
            and len(powers) > 0
            and all(is_count(power, 1, 2 * HIGHEST_DEGREE) for power in powers)
        )
        demand(fits and len(set(powers)) == len(powers), "the powers of a feature map are none")
        demand(isinstance(feature_map.soft, bool), "a feature map is neither soft nor not")
    else:
        demand(isinstance(feature_map, PlainMap), "a feature map is of unknown kind")
        demand(isinstance(FEATURE_MAPS.get(feature_map.name), PlainMap), "a feature map is of unknown kind")
    demand(isinstance(feature_map.name, str), "a feature map has no name")
    return feature_map.n_columns(n_projections)


def _check_hats(hats: HatProductMap, n_projections: int) -> None:
    demand(is_count(hats.n_knots, 2), "the knots of products are no number")
    demand(hats.n_base is None or is_count(hats.n_base, 0, n_projections), "products leave no such projections")
    check_map(hats.base, hats.n_bent(n_projections))
    if hats.n_hats is not None:
        check_numbers(hats.n_hats, (n_projections,), "the hats of products", "i")
        fits = bool(((hats.n_hats >= 2) & (hats.n_hats <= hats.n_knots)).all())
        demand(fits, "there are other hats of products than knots")
    n_pairs = n_projections * (n_projections - 1) // 2
    if hats.pairs is not None:
        check_numbers(hats.pairs, (None, 2), "the pairs of products", "i")
        fits = bool(((hats.pairs >= 0) & (hats.pairs < n_projections)).all())
        demand(fits, "a product is of projections that are not there")
        n_pairs = len(hats.pairs)
    demand(n_pairs * hats.n_knots**2 <= MOST_COLUMNS, "there are too many products")
    check_numbers(hats.knots, (n_projections, hats.n_knots), "the knots of products")
    assert hats.knots is not None
    demand(bool((np.diff(hats.knots, axis=1) >= 0).all()), "the knots of products do not ascend")


def _check_spline(spline: SplineMap, n_projections: int) -> None:
    fits = is_count(spline.n_knots, 2) and is_count(spline.degree, 0, HIGHEST_DEGREE)
    demand(fits, "a spline's degree and number of knots are no numbers")
    check_numbers(spline.knots, (n_projections, spline.n_knots + 2 * spline.degree), "the knots of splines")
    assert spline.knots is not None
    demand(bool((np.diff(spline.knots, axis=1) >= 0).all()), "the knots of a spline do not ascend")


# ---------------------------------------------------------------------- what a fit leaves


def check_fitted(fitted: Any, n_inputs: Any, n_classes: int | None) -> None:
    """The chains of a fit, for rows of its estimator's width and scores of its number of classes."""
    demand(isinstance(fitted, Fitted), "what a fit leaves is something else")
    demand(is_count(n_inputs), "an estimator does not know its number of columns")
    chains = {name: getattr(fitted, name) for name in ("features", "scores", "predictions")}
    widths = {name: check_width(chain, n_inputs) for name, chain in chains.items() if chain is not None}
    if "scores" in widths:
        fits = widths["scores"] == n_classes or (widths["scores"], n_classes) == (1, 2)
        demand(fits, f"there are scores of {widths['scores']} classes, but {n_classes} classes")
    if fitted.probabilities is None:
        return
    demand("scores" in widths, "there are probabilities, but no scores they are of")
    made = check_width(fitted.probabilities, widths["scores"])
    demand(made == n_classes, f"there are probabilities of {made} classes, but {n_classes} classes")
