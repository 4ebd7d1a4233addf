"""What a small graph, written by a function, makes of rows."""

import numpy as np
import pytest

from eigenfeat.export.onnx_graph import Graph

onnxruntime = pytest.importorskip("onnxruntime")


def value(write, X, dtype=np.float64):
    """The result of ``write(graph, "X")`` at X."""
    graph = Graph(dtype)
    graph.alias(write(graph, "X"), "result")
    helper = graph.onnx.helper
    info = [helper.make_tensor_value_info(name, graph.element_type, None) for name in ("X", "result")]
    body = helper.make_graph(graph.nodes, "test", info[:1], info[1:], graph.constants)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)]
    model = helper.make_model(body, opset_imports=versions, ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": X.astype(dtype)})[0]
