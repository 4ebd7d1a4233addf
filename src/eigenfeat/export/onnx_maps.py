"""Feature maps as ONNX operators: one function a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.features.hat_products import WEIGHT, HatProductMap
from eigenfeat.features.maps import PlainMap, PowerMap, ProductMap, SmoothSplineMap, SplineMap
from eigenfeat.stages.feature_map import FeatureMap, largest_magnitude


def mapped(graph: Graph, feature_map: FeatureMap, projections: str, width: int) -> str:
    """The columns a map makes of (n, width) projections."""
    write = MAPS.get(type(feature_map))
    if write is None:
        raise ValueError(
            f"The feature map {feature_map.name!r} ({type(feature_map).__name__}) cannot be written as ONNX: it is "
            "code of your own, or has no graph yet. Use a map by name, such as 'cubic' or 'spline'."
        )
    return write(graph, feature_map, projections, width)


def _power(graph: Graph, powers: PowerMap, projections: str, width: int) -> str:
    limit = float(largest_magnitude(graph.dtype, max(powers.powers) / 2))
    clipped = graph.add("Clip", projections, -limit, limit)
    size = graph.add("Abs", clipped)
    if powers.soft:  # as a quotient: the root less one loses digits near zero
        root = graph.add("Div", clipped, graph.add("Add", graph.add("Sqrt", graph.add("Add", size, 1.0)), 1.0))
    else:
        root = graph.add("Mul", graph.add("Sign", clipped), graph.add("Sqrt", size))
    columns = []
    for side in (graph.add("Relu", root), graph.add("Relu", graph.add("Neg", root))):
        found = [side]  # by products, which are ten times as quick as powers
        for _ in range(max(powers.powers) - 1):
            found.append(graph.add("Mul", found[-1], side))
        columns.append([found[power - 1] for power in sorted(set(powers.powers))])
    sides = [side for both in zip(*columns) for side in both]
    return graph.beside(*sides, widths=[width] * len(sides))


def _plain(graph: Graph, plain: PlainMap, projections: str, width: int) -> str:
    if plain.name == "square":
        size = graph.add("Min", graph.add("Abs", projections), largest_magnitude(graph.dtype, 2))
        return graph.add("Mul", size, size)
    return graph.add({"identity": "Identity", "rectified-positive": "Relu", "absolute": "Abs"}[plain.name], projections)


def _product(graph: Graph, products: ProductMap, projections: str, width: int) -> str:
    limit = largest_magnitude(graph.dtype, 2)
    clipped = graph.add("Max", graph.add("Min", projections, limit), -limit)
    first, second = (graph.add("Gather", clipped, index, axis=1) for index in products._pairs(width).T)
    return graph.beside(mapped(graph, products.base, projections, width), graph.add("Mul", first, second))


def _spline(graph: Graph, splines: SplineMap, projections: str, width: int) -> str:
    return _functions(graph, splines, np.eye(splines.n_columns(1)), projections)


def _smooth_spline(graph: Graph, smooth: SmoothSplineMap, projections: str, width: int) -> str:
    return _functions(graph, smooth.splines, smooth._smoothing, projections)


def _functions(graph: Graph, splines: SplineMap, mixing: np.ndarray, projections: str) -> str:
    """Mixtures of B-splines: powers of the place in each piece, times what they are of each function there."""
    assert splines.knots is not None
    inner = splines.knots[:, splines.degree : splines.degree + splines.n_knots]
    n_pieces, order, n_functions = splines.n_knots - 1, splines.degree + 1, splines.n_columns(1)
    polynomials = np.zeros((n_pieces, order, n_functions, len(inner)))
    for piece in range(n_pieces):
        polynomials[piece, :, piece : piece + order] = splines._pieces[:, piece].transpose(1, 2, 0)
    polynomials = np.einsum("ab,pqbj->pqaj", mixing, polynomials)
    within, place = located(graph, inner, projections)
    total = graph.add("Einsum", within, polynomials[:, 0], equation="npj,paj->naj")
    power = within
    for q in range(1, order):
        power = graph.add("Mul", power, place)
        total = graph.add("Add", total, graph.add("Einsum", power, polynomials[:, q], equation="npj,paj->naj"))
    return graph.reshape(total, 0, n_functions * len(inner))


def located(graph: Graph, knots: np.ndarray, projections: str) -> tuple[str, str]:
    """(n, pieces, m): whether each projection is in each piece, and where, from 0 to 1 (anywhere, if it is not)."""
    T = knots.T.astype(np.float64)
    x = graph.add("Max", graph.add("Min", projections, T[-1]), T[0])
    x = graph.add("Unsqueeze", x, np.array([1]))
    above = graph.indicator(graph.add("GreaterOrEqual", x, T[1:-1])) if len(T) > 2 else None
    one = graph.add("Add", graph.add("Mul", x, 0.0), 1.0)
    from_here = one if above is None else graph.add("Concat", one, above, axis=1)
    none = graph.add("Mul", one, 0.0)
    from_next = none if above is None else graph.add("Concat", above, none, axis=1)
    within = graph.add("Sub", from_here, from_next)
    length = np.diff(T, axis=0)
    per_length = np.divide(1, length, out=np.zeros_like(length), where=length > 0)
    return within, graph.add("Mul", graph.add("Sub", x, T[:-1]), per_length)


def _hat_product(graph: Graph, hats: HatProductMap, projections: str, width: int) -> str:
    assert hats.knots is not None
    n_knots = hats.n_knots
    pairs, n_hats, _ = hats.grids(width)
    last = hats.knots[np.arange(width), n_hats - 1].astype(np.float64)
    beyond = np.maximum(np.arange(n_knots) - n_hats[:, None] + 1, 0)  # knots that are none, where no projection is
    knots = np.where(beyond > 0, last[:, None] + beyond * np.maximum(1, np.abs(last))[:, None], hats.knots)
    within, place = located(graph, knots, graph.add("Min", projections, last))
    rising = graph.add("Mul", within, place)
    falling = graph.add("Sub", within, rising)
    low, high = np.eye(n_knots)[:-1], np.eye(n_knots)[1:]  # of each piece, the hats at its two knots
    functions = graph.add(
        "Add",
        graph.add("Einsum", falling, low, equation="npj,pa->nja"),
        graph.add("Einsum", rising, high, equation="npj,pa->nja"),
    )
    first, second = (graph.add("Gather", functions, index, axis=1) for index in pairs.T)
    products = graph.add(
        "Mul", graph.add("Unsqueeze", first, np.array([3])), graph.add("Unsqueeze", second, np.array([2]))
    )
    surfaces = graph.reshape(graph.add("Mul", products, WEIGHT), 0, len(pairs) * n_knots**2)
    there = np.arange(n_knots) < n_hats[:, None]
    chosen = np.flatnonzero(there[pairs[:, 0], :, None] & there[pairs[:, 1], None, :])
    if len(chosen) < len(pairs) * n_knots**2:
        surfaces = graph.add("Gather", surfaces, chosen, axis=1)
    n_bent = hats.n_bent(width)
    bent = projections if n_bent == width else graph.add("Gather", projections, np.arange(n_bent), axis=1)
    return graph.beside(mapped(graph, hats.base, bent, n_bent), surfaces)


MAPS: dict[type, Callable[[Graph, Any, str, int], str]] = {
    PowerMap: _power,
    PlainMap: _plain,
    ProductMap: _product,
    SplineMap: _spline,
    SmoothSplineMap: _smooth_spline,
    HatProductMap: _hat_product,
}
