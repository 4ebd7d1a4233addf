"""Fitted models as ONNX: from the chain that `transform` and `predict` use, one function a stage."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenfeat.export.onnx_graph import ALSO, OPSET, Graph, require_onnx
from eigenfeat.export.onnx_stages import applied, both_classes, staged
from eigenfeat.export.onnx_tables import encoded
from eigenfeat.stages import Fitted
from eigenfeat.tables import TableEncoder

IR_VERSION = 8
"""Of the file's format: the first that knows the operators."""


def to_onnx(
    model: Any,
    path: str | Path | None = None,
    *,
    dtype: Any = np.float64,
    shape: tuple[int, ...] | None = None,
    outputs: Iterable[str] | None = None,
):
    """A fitted model as a graph that ONNX Runtime, and whatever else reads ONNX, runs without Python.

    The graph has one input, ``X`` of shape (rows, columns), and the outputs the model has verbs for: ``features``
    (`transform`), ``decision`` (scores a class), ``probabilities`` and ``label``, or ``predictions``. They equal the
    model's to rounding. Operators are those of opset 17; scikit-learn's parts of a pipeline, which skl2onnx writes, and
    words of a table may add those of "ai.onnx.ml".

    With a `TableEncoder` (`make_tabular`) in front, every column that it uses is an input of its own, of shape
    (rows, 1) and by the column's name: numbers as numbers (NaN where a cell is empty), truth values and categories as
    words without blanks around ("" where a cell is empty; whole numbers without a point). Dates cannot be written, and
    are refused by name.

    Parameters
    ----------
    model : fitted estimator of this library, or Pipeline that ends in one
    path : str or Path, optional
        File to write.
    dtype : {float64, float32}
        Of the input and of all computation; float32 is quicker, and exact to its own rounding.
    shape : tuple of int, optional
        Of one row, where the model does not know it: (channels, time) of trials.
    outputs : list of str, optional
        Those that are wanted; all by default. ONNX Runtime computes every output of a graph, whichever it is asked for,
        so that a graph with ``["probabilities", "label"]`` alone is quicker.

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
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    *before, last = [step for step in steps if step not in (None, "passthrough")]
    check_is_fitted(last)
    graph = Graph(dtype)
    if isinstance(last, TableEncoder):  # alone: the table is all
        found = {"features": (encoded(graph, last)[0], graph.element_type)}
    else:
        fitted = _fitted(last)
        value, width = _rows(graph, before, model, last, shape)
        found = _outputs(graph, last, fitted, value, width)
    proto = _assembled(onnx, graph, _named(graph, _wanted(found, outputs)))
    onnx.checker.check_model(proto)
    if path is not None:
        Path(path).write_bytes(proto.SerializeToString())
    return proto


def _fitted(model: Any) -> Fitted:
    fitted = getattr(model, "fitted_", None)
    if not isinstance(fitted, Fitted):
        raise ValueError(
            f"{type(model).__name__} leaves no chain of stages to write: to_onnx takes the estimators of this library "
            "that transform or predict rows, and pipelines that end in one; for others use skl2onnx."
        )
    return fitted


def _rows(
    graph: Graph, before: list[Any], model: Any, last: Any, shape: tuple[int, ...] | None
) -> tuple[str, tuple[int, ...]]:
    """What the steps before the last make of the inputs, and the shape of one row of it."""
    if before and isinstance(before[0], TableEncoder):
        value, width = encoded(graph, before.pop(0))
        shape = (width,)
    else:
        shape = _row_shape(model, shape)
        value = graph.input("X", *shape)
    for step, following in zip(before, [*before[1:], last]):
        value = applied(graph, step, value, shape[0])
        shape = (int(following.n_features_in_),)
    return value, shape


def _row_shape(model: Any, shape: tuple[int, ...] | None) -> tuple[int, ...]:
    if shape is not None:
        return tuple(int(length) for length in shape)
    if getattr(model, "__sklearn_tags__", None) and model.__sklearn_tags__().input_tags.three_d_array:
        raise ValueError(
            f"{type(model).__name__} takes trials of any length, a graph those of one: give shape=(channels, time)."
        )
    return (int(model.n_features_in_),)


def _outputs(
    graph: Graph, model: Any, fitted: Fitted, value: str, shape: tuple[int, ...]
) -> dict[str, tuple[str, int]]:
    """Values by the names of the graph's outputs, with their types."""
    number = graph.element_type
    found: dict[str, tuple[str, int]] = {}
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
    return found


def _wanted(found: dict[str, tuple[str, int]], outputs: Iterable[str] | None) -> dict[str, tuple[str, int]]:
    wanted = list(found) if outputs is None else list(outputs)
    unknown = [name for name in wanted if name not in found]
    if unknown or not wanted:
        raise ValueError(f"outputs must be some of {', '.join(found)}, which this model has, got {wanted}.")
    return {name: found[name] for name in wanted}


def _named(graph: Graph, found: dict[str, tuple[str, int]]) -> dict[str, int]:
    """Values by the names of the graph's outputs; their types."""
    taken = sorted({value.name for value in graph.inputs} & found.keys())
    if taken:
        raise ValueError(f"A column is called {taken[0]!r}, as an output of the graph is: rename it before the fit.")
    for name, (inner, _) in found.items():
        graph.alias(inner, name)
    return {name: kind for name, (_, kind) in found.items()}


def _labels(classes: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, everything else as words."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    whole = classes.dtype.kind == "f" and np.all(classes == np.round(classes))
    return classes.astype(np.int64) if whole else np.array([str(label) for label in classes])


def _assembled(onnx: Any, graph: Graph, outputs: dict[str, int]) -> Any:
    helper = onnx.helper
    results = [
        helper.make_tensor_value_info(name, kind, [None] if name == "label" else [None, None])
        for name, kind in outputs.items()
    ]
    nodes, constants = graph.needed(outputs)
    body = helper.make_graph(nodes, "eigenfeat", graph.inputs, results, constants)
    domains = {"": OPSET} | {d: v for d, v in ALSO.items() if any(node.domain == d for node in nodes)}
    versions = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(body, opset_imports=versions, ir_version=IR_VERSION, producer_name="eigenfeat")
