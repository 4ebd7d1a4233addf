"""Graphs node by node, and how they take in others."""

import numpy as np
from onnx_values import value
from skl2onnx import to_onnx
from sklearn.preprocessing import StandardScaler

X = np.random.default_rng(0).normal(size=(6, 3))


def test_operators_and_constants_are_in_the_type_of_the_graph():
    for dtype in (np.float32, np.float64):
        found = value(lambda g, x: g.sum(g.beside(g.add("Mul", x, 2.0), g.mean(x, 1)), 1), X, dtype)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, 2 * X.sum(axis=1) + X.mean(axis=1), rtol=1e-5)


def test_a_graph_can_hold_another():
    scaler = StandardScaler().fit(X)
    other = to_onnx(scaler, X, target_opset={"": 17, "ai.onnx.ml": 1})
    found = value(lambda g, x: g.add("Neg", g.inline(other, x)[0]), X)
    np.testing.assert_allclose(found, -scaler.transform(X), atol=1e-9)
