"""Kernels between rows and stored points as ONNX operators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.stages.kernels import CONDITIONAL, RADIAL, Kernel


def kernel_values(graph: Graph, kernel: Kernel, rows: str, points: np.ndarray) -> str:
    """(n, q) values of a kernel between rows and points."""
    if kernel.anchor is None:
        return _plain_values(graph, kernel, rows, points)
    plain, anchor = replace(kernel, anchor=None), np.array([kernel.anchor])
    to_anchor = _plain_values(graph, plain, rows, anchor)
    of_points = plain(anchor, points) - plain(anchor, anchor)
    return graph.add("Sub", graph.add("Sub", _plain_values(graph, plain, rows, points), to_anchor), of_points)


def _plain_values(graph: Graph, kernel: Kernel, rows: str, points: np.ndarray) -> str:
    name = kernel.name
    if name in RADIAL:
        scaled = graph.add("Mul", _squared_distances(graph, rows, points), kernel.distance_scale)
        if name in CONDITIONAL:
            inner = graph.add("Add", scaled, kernel.coef0) if name == "multiquadric" else scaled
            return graph.add("Neg", graph.add("Sqrt", inner))
        if name == "rbf":
            return graph.add("Exp", scaled)
        return graph.add("Reciprocal", graph.add("Sqrt", graph.add("Add", scaled, kernel.coef0)))
    if name == "cosine":
        sizes = np.linalg.norm(points, axis=1, keepdims=True)
        size = graph.add("Sqrt", graph.sum(graph.add("Mul", rows, rows), 1, keep=True))
        unit = graph.add("Div", rows, graph.add("Where", graph.add("Greater", size, 0.0), size, 1.0))
        return graph.add("MatMul", unit, (points / np.where(sizes > 0, sizes, 1)).T)
    if name in ("linear", "poly", "sigmoid"):
        products = graph.add("MatMul", rows, points.T)
        if name == "linear":
            return products
        inner = graph.add("Add", graph.add("Mul", products, kernel.gamma), kernel.coef0)
        return graph.add("Tanh", inner) if name == "sigmoid" else graph.add("Pow", inner, float(kernel.degree))
    if name not in ("laplacian", "chi2", "additive_chi2"):
        raise ValueError(f"kernel={name!r} is a function of your own, which ONNX has no operator for: use one by name.")
    each = graph.add("Unsqueeze", rows, np.array([1]))
    apart = graph.add("Sub", each, points)
    if name == "laplacian":
        return graph.add("Exp", graph.add("Mul", graph.sum(graph.add("Abs", apart), 2), -kernel.gamma))
    total = graph.add("Add", each, points)
    ratio = graph.add(
        "Div", graph.add("Mul", apart, apart), graph.add("Where", graph.add("Equal", total, 0.0), 1.0, total)
    )
    additive = graph.add("Neg", graph.sum(ratio, 2))
    return additive if name == "additive_chi2" else graph.add("Exp", graph.add("Mul", additive, kernel.gamma))


def _squared_distances(graph: Graph, rows: str, points: np.ndarray) -> str:
    """From the points' mean, far from which distances would lose digits."""
    centre = points.mean(axis=0)
    Z, x = points - centre, graph.add("Sub", rows, centre)
    own = graph.sum(graph.add("Mul", x, x), 1, keep=True)
    products = graph.add("MatMul", x, -2 * Z.T)
    return graph.add("Relu", graph.add("Add", graph.add("Add", products, own), np.sum(Z**2, axis=1)))
