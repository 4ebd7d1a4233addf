"""scikit-learn's transformers and classifiers inside our graphs: by skl2onnx, and the few it does not write here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import PolynomialFeatures

from eigenfeat.export.onnx_graph import ALSO, OPSET, Graph
from eigenfeat.export.onnx_kernels import kernel_values
from eigenfeat.stages.kernels import Kernel


def of_scikit_learn(graph: Graph, estimator: Any, rows: str, width: int, **options: Any) -> list[str]:
    """The outputs of a fitted estimator: of a transformer its rows, of a classifier labels and probabilities."""
    write = OWN.get(type(estimator))
    if write is not None:
        return [write(graph, estimator, rows)]
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    except ImportError as error:
        raise ImportError(
            f"{type(estimator).__name__} is scikit-learn's, which skl2onnx writes: pip install eigenfeat[onnx]."
        ) from error
    kind = DoubleTensorType if graph.dtype == np.float64 else FloatTensorType
    types, versions = [("rows", kind([None, width]))], {"": OPSET, **ALSO}
    try:
        model = convert_sklearn(
            estimator, initial_types=types, target_opset=versions, options={id(estimator): options} if options else None
        )
    except Exception as error:  # of many kinds, which skl2onnx does not list
        raise ValueError(
            f"skl2onnx cannot write {type(estimator).__name__}: {str(error).splitlines()[0]} Transform the rows before "
            "the graph, or use a transformer it knows."
        ) from error
    names = graph.inline(model, rows)
    labels = len(names) - 1  # of a classifier, first, and not numbers of the graph's type
    return [*names[:labels], *(graph.add("Cast", name, to=graph.element_type) for name in names[labels:])]


def _imputer(graph: Graph, imputer: SimpleImputer, rows: str) -> str:
    statistics = np.asarray(imputer.statistics_, dtype=np.float64)
    is_nan = isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)
    if not is_nan or imputer.add_indicator or np.isnan(statistics).any():
        raise ValueError(
            "SimpleImputer can be written where missing values are NaN, every column has some number, and no indicator "
            "is added."
        )
    return graph.add("Where", graph.add("IsNaN", rows), statistics, rows)


def _rbf_sampler(graph: Graph, sampler: RBFSampler, rows: str) -> str:
    angle = graph.add("Add", graph.add("MatMul", rows, sampler.random_weights_), sampler.random_offset_)
    return graph.add("Mul", graph.add("Cos", angle), float(np.sqrt(2 / sampler.n_components)))


def _nystroem(graph: Graph, nystroem: Nystroem, rows: str) -> str:
    points = nystroem.components_
    points = points.toarray() if sparse.issparse(points) else np.asarray(points, dtype=np.float64)
    gamma = nystroem.gamma if nystroem.gamma is not None else 1 / points.shape[1]
    degree = 3 if nystroem.degree is None else nystroem.degree
    kernel = Kernel(nystroem.kernel, gamma, degree, 1.0 if nystroem.coef0 is None else nystroem.coef0)
    return graph.add("MatMul", kernel_values(graph, kernel, rows, points), nystroem.normalization_.T)


def _polynomial(graph: Graph, polynomial: PolynomialFeatures, rows: str) -> str:
    """Products of inputs, shorter ones filled up with a column of ones."""
    powers = polynomial.powers_
    width, degree = powers.shape[1], int(powers.sum(axis=1).max(initial=1))
    factors = np.full((len(powers), degree), width)
    for term, row in enumerate(powers):
        factors[term, : row.sum()] = np.repeat(np.arange(width), row)
    first = graph.add("Slice", rows, np.array([0]), np.array([1]), np.array([1]))
    with_ones = graph.beside(rows, graph.add("Add", graph.add("Mul", first, 0.0), 1.0))
    product = graph.add("Gather", with_ones, factors[:, 0], axis=1)
    for column in factors.T[1:]:
        product = graph.add("Mul", product, graph.add("Gather", with_ones, column, axis=1))
    return product


OWN: dict[type, Callable[[Graph, Any, str], str]] = {
    SimpleImputer: _imputer,
    RBFSampler: _rbf_sampler,
    Nystroem: _nystroem,
    PolynomialFeatures: _polynomial,
}
