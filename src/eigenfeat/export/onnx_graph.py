"""A graph of ONNX operators, written node by node: names, constants and the types of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

OPSET = 17
"""The version of the standard operators that graphs are written in; ONNX Runtime reads it from 1.12 on."""

ALSO = {"ai.onnx.ml": 1}
"""Operators that scikit-learn's own parts may need beside them."""


def require_onnx() -> Any:
    """The onnx package, or an error that says how to get it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("to_onnx needs the package onnx: pip install eigenfeat[onnx].") from error
    return onnx


class Graph:
    """Nodes in order, each the function of earlier ones; values are known by their names.

    Parameters
    ----------
    dtype : {float32, float64}
        Of every number that is not an index.
    """

    def __init__(self, dtype: np.dtype) -> None:
        self.onnx = require_onnx()
        self.dtype = np.dtype(dtype)
        self.inputs: list[Any] = []
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.written: dict[tuple[int, str], Any] = {}  # stages by their address and what they were applied to
        self.parts: dict[str, list[tuple[str, int]]] = {}  # what values were put together of, and how wide each is
        self._count = 0

    @property
    def element_type(self) -> int:
        return self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype)

    def input(self, name: str, *shape: int, words: bool = False) -> str:
        """What the caller gives: rows of this shape, each."""
        kind = self.onnx.TensorProto.STRING if words else self.element_type
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, [None, *shape]))
        return name

    def add(self, operator: str, *inputs: Any, **attributes: Any) -> str:
        """The value of an operator; arrays and numbers among the inputs become constants of the graph."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        name = self.fresh(operator.lower())
        self.nodes.append(self.onnx.helper.make_node(operator, names, [name], **attributes))
        return name

    def constant(self, value: Any) -> str:
        """Floats in the type of the graph, whole numbers and words as they are."""
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype)
        elif array.dtype.kind in "iu":
            array = array.astype(np.int64)
        elif array.dtype.kind in "US":
            array = array.astype(object)
        name = self.fresh("constant")
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def fresh(self, stem: str) -> str:
        self._count += 1
        return f"{stem}/{self._count}"  # no name that a column of a table would have

    def alias(self, value: str, name: str) -> None:
        """The same value by a name of its own, as outputs have."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))

    def needed(self, outputs: Iterable[str]) -> tuple[list[Any], list[Any]]:
        """Nodes and constants that these values are made of."""
        wanted, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if wanted & set(node.output):
                nodes.append(node)
                wanted |= set(node.input)
        return nodes[::-1], [constant for constant in self.constants if constant.name in wanted]

    def indicator(self, condition: str) -> str:
        """Ones and zeros of a condition."""
        return self.add("Cast", condition, to=self.element_type)

    def sum(self, value: str, *axes: int, keep: bool = False) -> str:
        return self.add("ReduceSum", value, np.array(axes), keepdims=int(keep))

    def mean(self, value: str, axis: int) -> str:
        """Over one axis, which stays as one of length one."""
        return self.add("ReduceMean", value, axes=[axis], keepdims=1)

    def reshape(self, value: str, *shape: int) -> str:
        """Zero keeps a length, -1 is what is left."""
        return self.add("Reshape", value, np.array(shape))

    def beside(self, *values: str, widths: Sequence[int] = ()) -> str:
        """Columns of several values, one after the other; where their widths are known, they are remembered."""
        if len(values) == 1:
            return values[0]
        together = self.add("Concat", *values, axis=1)
        if widths:
            parts = [self.parts.get(value, [(value, width)]) for value, width in zip(values, widths)]
            self.parts[together] = [part for some in parts for part in some]
        return together

    def product(self, value: str, matrix: np.ndarray) -> str:
        """A value times a matrix: of columns put together part by part, so that they need not be put together."""
        parts = self.parts.get(value, [(value, len(matrix))])
        stops = np.cumsum([width for _, width in parts])[:-1]
        products = [self.add("MatMul", part, block) for (part, _), block in zip(parts, np.split(matrix, stops))]
        return products[0] if len(products) == 1 else self.add("Sum", *products)

    def inline(self, model: Any, value: str) -> list[str]:
        """Another graph, of one input, applied to a value; the names of its outputs."""
        prefix = self.fresh("part") + "_"
        other = self.onnx.compose.add_prefix(model, prefix).graph
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [other.input[0].name]))
        self.nodes.extend(other.node)
        self.constants.extend(other.initializer)
        return [output.name for output in other.output]
