"""Fitted models as ONNX: from the chain that `transform` and `predict` use, one function a stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenfeat.export.onnx_graph import ALSO, OPSET, Graph, require_onnx
from eigenfeat.export.onnx_stages import applied, both_classes, staged
from eigenfeat.stages import Fitted

IR_VERSION = 8
"""Of the file's format: the first that knows the operators."""


def to_onnx(
    model: Any, path: str | Path | None = None, *, dtype: Any = np.float64, shape: tuple[int, ...] | None = None
):
    """A fitted model as a graph that ONNX Runtime, and whatever else reads ONNX, runs without Python.

    The graph has one input, ``X`` of shape (rows, columns), and the outputs the model has verbs for: ``features``
    (`transform`), ``decision`` (scores a class), ``probabilities`` and ``label``, or ``predictions``. They equal the
    model's to rounding. Operators are those of opset 17; scikit-learn's parts of a pipeline, which skl2onnx writes, may
    add those of "ai.onnx.ml".

    Parameters
    ----------
    model : fitted estimator of this library, or Pipeline that ends in one
    path : str or Path, optional
        File to write.
    dtype : {float64, float32}
        Of the input and of all computation; float32 is quicker, and exact to its own rounding.
    shape : tuple of int, optional
        Of one row, where the model does not know it: (channels, time) of trials.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import FisherLDA
    >>> from eigenfeat.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> [output.name for output in to_onnx(FisherLDA().fit(X, y)).graph.output]
    ['features', 'decision', 'probabilities', 'label']
    """
    onnx = require_onnx()
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype}.")
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    fitted = _fitted(last)
    shape = _row_shape(model, fitted, shape)
    graph = Graph(dtype)
    value, width = _before(graph, model, "X", shape)
    outputs = _outputs(graph, last, fitted, value, width)
    proto = _assembled(onnx, graph, shape, outputs)
    onnx.checker.check_model(proto)
    if path is not None:
        Path(path).write_bytes(proto.SerializeToString())
    return proto


def _fitted(model: Any) -> Fitted:
    check_is_fitted(model)
    fitted = getattr(model, "fitted_", None)
    if not isinstance(fitted, Fitted):
        raise ValueError(
            f"{type(model).__name__} leaves no chain of stages to write: to_onnx takes the estimators of this library "
            "that transform or predict rows, and pipelines that end in one; for others use skl2onnx."
        )
    return fitted


def _row_shape(model: Any, fitted: Fitted, shape: tuple[int, ...] | None) -> tuple[int, ...]:
    if shape is not None:
        return tuple(int(length) for length in shape)
    if getattr(model, "__sklearn_tags__", None) and model.__sklearn_tags__().input_tags.three_d_array:
        raise ValueError(
            f"{type(model).__name__} takes trials of any length, a graph those of one: give shape=(channels, time)."
        )
    return (int(model.n_features_in_),)


def _before(graph: Graph, model: Any, value: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """What the steps before the last make of the rows."""
    steps = model.steps[:-1] if isinstance(model, Pipeline) else []
    for (_, step), (_, following) in zip(steps, model.steps[1:] if steps else []):
        if step in (None, "passthrough"):
            continue
        value = applied(graph, step, value, shape[0])
        shape = (int(following.n_features_in_),)
    return value, shape


def _outputs(graph: Graph, model: Any, fitted: Fitted, value: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """Names of the graph's outputs with their types."""
    number, found = graph.element_type, {}
    if fitted.features is not None and hasattr(model, "transform"):
        found["features"] = (staged(graph, fitted.features, value, shape)[0], number)
    if fitted.predictions is not None:
        found["predictions"] = (staged(graph, fitted.predictions, value, shape)[0], number)
    if fitted.scores is not None:
        scores, (width,) = staged(graph, fitted.scores, value, shape)
        decision = both_classes(graph, scores, width)
        found["decision"] = (decision, number)
        if fitted.probabilities is not None:
            logarithms = staged(graph, fitted.probabilities, scores, (width,))[0]
            found["probabilities"] = (graph.add("Exp", logarithms), number)
        index = graph.add("ArgMax", decision, axis=1, keepdims=0)
        labels = _labels(model.classes_)
        kind = graph.onnx.TensorProto.STRING if labels.dtype.kind in "UO" else graph.onnx.TensorProto.INT64
        found["label"] = (graph.add("Gather", labels, index, axis=0), kind)
    for name, (inner, _) in found.items():
        graph.alias(inner, name)
    return {name: kind for name, (_, kind) in found.items()}


def _labels(classes: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, everything else as words."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    whole = classes.dtype.kind == "f" and np.all(classes == np.round(classes))
    return classes.astype(np.int64) if whole else np.array([str(label) for label in classes])


def _assembled(onnx: Any, graph: Graph, shape: tuple[int, ...], outputs: dict[str, Any]) -> Any:
    helper = onnx.helper
    rows = helper.make_tensor_value_info("X", graph.element_type, [None, *shape])
    results = [
        helper.make_tensor_value_info(name, kind, [None] if name == "label" else [None, None])
        for name, kind in outputs.items()
    ]
    body = helper.make_graph(graph.nodes, "eigenfeat", [rows], results, graph.constants)
    domains = {"": OPSET} | {d: v for d, v in ALSO.items() if any(node.domain == d for node in graph.nodes)}
    versions = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(body, opset_imports=versions, ir_version=IR_VERSION, producer_name="eigenfeat")
