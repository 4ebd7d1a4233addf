"""Stages as ONNX operators: one function a stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.export.onnx_kernels import kernel_values
from eigenfeat.export.onnx_maps import mapped
from eigenfeat.export.onnx_scikit_learn import of_scikit_learn
from eigenfeat.scores.autoencoder import HiddenLayer
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


def staged(graph: Graph, stage: Stage, rows: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """The value of a stage at rows of this shape, each, and the shape of what comes out.

    What features and scores share is written once: ONNX Runtime would compute it twice.
    """
    write = STAGES.get(type(stage))
    if write is None:
        raise ValueError(f"A stage of type {type(stage).__name__} cannot be written as ONNX.")
    key = (id(stage), rows)
    if key not in graph.written:
        graph.written[key] = write(graph, stage, rows, shape)
    value = graph.written[key]
    return value, (shape if type(stage) in SAME_SHAPE else (stage.n_columns(shape[0]),))


def _chain(graph: Graph, chain: Chain, rows: str, shape: tuple[int, ...]) -> str:
    for stage in chain.stages:
        rows, shape = staged(graph, stage, rows, shape)
    return rows


def _affine(graph: Graph, affine: Affine, rows: str, shape: tuple[int, ...]) -> str:
    products = graph.product(rows, affine.vectors.toarray())
    return products if affine.bias is None else graph.add("Add", products, affine.bias)


def _beside(graph: Graph, beside: Beside, rows: str, shape: tuple[int, ...]) -> str:
    parts = [staged(graph, part, rows, shape) for part in beside.parts]
    return graph.beside(*(value for value, _ in parts), widths=[width for _, (width,) in parts])


def _layer(graph: Graph, layer: FeatureLayer, rows: str, shape: tuple[int, ...]) -> str:
    projections = _affine(graph, layer.projection, rows, shape)
    features = mapped(graph, layer.feature_map, projections, layer.projection.n_columns(shape[0]))
    if layer.input_scale is None:
        return features
    inputs, width = graph.add("Mul", rows, layer.input_scale), layer.n_columns(shape[0])
    return graph.beside(inputs, features, widths=[shape[0], width - shape[0]])


def _with_constant(graph: Graph, stage: WithConstant, rows: str, shape: tuple[int, ...]) -> str:
    one = graph.add("Slice", rows, np.array([0]), np.array([1]), np.array([1]))
    return graph.beside(rows, graph.add("Add", graph.add("Mul", one, 0.0), 1.0))


def _treated(graph: Graph, treated: TreatedColumns, rows: str, shape: tuple[int, ...]) -> str:
    straight = graph.add("Mul", graph.add("Sub", rows, treated.shift), treated.factor)
    if len(treated.curved) == 0:
        return straight
    # A piecewise linear function is the sum over pieces of slope times how far into the piece the number is.
    start, length = treated.knots[:, :-1], np.diff(treated.knots, axis=1)
    slope = np.divide(np.diff(treated.values, axis=1), length, out=np.zeros_like(length), where=length > 0)
    chosen = graph.add("Unsqueeze", graph.add("Gather", rows, treated.curved, axis=1), np.array([2]))
    depth = graph.add("Min", graph.add("Relu", graph.add("Sub", chosen, start)), length)
    bent = graph.add("Add", graph.sum(graph.add("Mul", depth, slope), 2), treated.values[:, 0])
    order = np.arange(shape[0])
    order[treated.curved] = shape[0] + np.arange(len(treated.curved))
    return graph.add("Gather", graph.beside(straight, bent), order, axis=1)


def _softmax(graph: Graph, softmax: Softmax, rows: str, shape: tuple[int, ...]) -> str:
    scaled = graph.add("Mul", both_classes(graph, rows, shape[0]), float(softmax.temperature))
    return graph.add("LogSoftmax", scaled, axis=1)


def both_classes(graph: Graph, scores: str, width: int) -> str:
    """A column a class: a single one is that of the second, beside zeros."""
    return graph.beside(graph.add("Mul", scores, 0.0), scores) if width == 1 else scores


def _posteriors(graph: Graph, stage: GaussianPosteriors, rows: str, shape: tuple[int, ...]) -> str:
    mean, variance, prior = (stage.moments[..., k] for k in range(3))
    q = graph.add("Add", rows, stage.shift)
    joint = []
    for side in (0, 1):
        away = graph.add("Sub", q, mean[:, side])
        level = np.log(prior[:, side]) - np.log(variance[:, side]) / 2
        spread = graph.add("Mul", graph.add("Mul", away, away), 1 / (2 * variance[:, side]))
        joint.append(graph.add("Sub", level, spread))
    odds = graph.add("Sub", joint[1], joint[0])
    return graph.add("LogSoftmax", both_classes(graph, odds, shape[0]), axis=1)


def _huber_posteriors(graph: Graph, stage: HuberPosteriors, rows: str, shape: tuple[int, ...]) -> str:
    middle, scale, bend, _ = np.moveaxis(stage.densities, -1, 0)
    q = graph.add("Add", rows, stage.shift)
    joint = []
    for side in (0, 1):
        away = graph.add("Sub", q, middle[:, side])
        size = graph.add("Abs", graph.add("Mul", away, 1 / scale[:, side]))
        inside = graph.add("Min", size, bend[:, side])
        bent = graph.add("Mul", graph.add("Mul", inside, inside), stage.halves[:, side])
        loss = graph.add("Add", graph.add("Sub", size, inside), bent)
        joint.append(graph.add("Sub", stage.levels[:, side], loss))
    odds = graph.add("Sub", joint[1], joint[0])
    return graph.add("LogSoftmax", both_classes(graph, odds, shape[0]), axis=1)


def _geometric_mean(graph: Graph, stage: GeometricMean, rows: str, shape: tuple[int, ...]) -> str:
    members = [staged(graph, member, rows, shape)[0] for member in stage.members]
    total = members[0] if len(members) == 1 else graph.add("Sum", *members)
    return graph.add("LogSoftmax", graph.add("Mul", total, 1 / len(members)), axis=1)


def _base_map(graph: Graph, stage: BaseMap, rows: str, shape: tuple[int, ...]) -> str:
    return applied(graph, stage.transformer, rows, shape[0])


def _estimator(graph: Graph, stage: EstimatorScores, rows: str, shape: tuple[int, ...]) -> str:
    if stage.method not in ("predict_proba", "predict_log_proba"):
        raise ValueError(f"{stage.method} of {type(stage.estimator).__name__} cannot be written as ONNX.")
    probabilities = of_scikit_learn(graph, stage.estimator, rows, shape[0], zipmap=False)[1]
    return graph.add("Log", probabilities) if stage.method == "predict_log_proba" else probabilities


def applied(graph: Graph, estimator: Any, rows: str, width: int) -> str:
    """What a fitted transformer, of ours or of scikit-learn's, makes of rows."""
    fitted = getattr(estimator, "fitted_", None)
    if isinstance(fitted, Fitted) and fitted.features is not None:
        return staged(graph, fitted.features, rows, (width,))[0]
    return of_scikit_learn(graph, estimator, rows, width)[0]


def _expansion(graph: Graph, stage: KernelExpansion, rows: str, shape: tuple[int, ...]) -> str:
    if stage.points.ndim == 1:
        values = graph.add("Gather", rows, stage.points, axis=1)
    else:
        points = stage.points.toarray() if sparse.issparse(stage.points) else stage.points
        values = kernel_values(graph, stage.kernel, rows, points.astype(np.float64))
    return graph.add("Add", graph.add("MatMul", values, stage.coefficients), stage.bias)


# ---------------------------------------------------------------------- trials, auto-encoders


def _band_pass(graph: Graph, band: BandPass, rows: str, shape: tuple[int, ...]) -> str:
    """Filtering forward and backward is linear in a trial: of trials of one length a matrix."""
    return graph.add("MatMul", rows, band.apply(np.eye(shape[1])))


def _unit_power(graph: Graph, stage: UnitPower, rows: str, shape: tuple[int, ...]) -> str:
    centred = graph.add("Sub", rows, graph.mean(rows, -1))
    power = graph.sum(graph.add("Mul", graph.add("Mul", centred, centred), 1 / shape[1]), 1, 2, keep=True)
    return graph.add(
        "Div", centred, graph.add("Sqrt", graph.add("Where", graph.add("Greater", power, 0.0), power, 1.0))
    )


def _signal_power(graph: Graph, stage: SignalPower, rows: str, shape: tuple[int, ...]) -> str:
    centred = graph.add("Sub", rows, graph.mean(rows, -1))
    filtered = graph.add("MatMul", stage.vectors.toarray().T, centred)
    power = graph.sum(graph.add("Mul", graph.add("Mul", filtered, filtered), 1 / shape[1]), 2)
    return graph.add("Log", graph.add("Max", power, float(np.finfo(graph.dtype).tiny))) if stage.log else power


def _hidden(graph: Graph, stage: HiddenLayer, rows: str, shape: tuple[int, ...]) -> str:
    model = stage.model
    inner = graph.add("MatMul", rows, model.gain * model.weights.astype(np.float64))
    return graph.add("Sigmoid", graph.add("Add", inner, model.hidden_bias))


STAGES: dict[type, Callable[[Graph, Any, str, tuple[int, ...]], str]] = {
    Affine: _affine,
    BandPass: _band_pass,
    BaseMap: _base_map,
    Beside: _beside,
    Chain: _chain,
    EstimatorScores: _estimator,
    FeatureLayer: _layer,
    FilterBank: _beside,
    GaussianPosteriors: _posteriors,
    HuberPosteriors: _huber_posteriors,
    GeometricMean: _geometric_mean,
    HiddenLayer: _hidden,
    KernelExpansion: _expansion,
    SignalPower: _signal_power,
    Softmax: _softmax,
    TreatedColumns: _treated,
    UnitPower: _unit_power,
    WithConstant: _with_constant,
}
#: Stages that leave the shape of a row, a trial's too, as it is.
SAME_SHAPE = (BandPass, TreatedColumns, UnitPower)
