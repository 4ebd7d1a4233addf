"""How far the outputs of ONNX graphs are from the estimators' own, on real data: every estimator of the library.

    python benchmarks/onnx_outputs.py

Every public estimator at its defaults (a smaller auto-encoder), fitted on half of the rows of a set that comes with
scikit-learn (digits, for regressors diabetes; tables: wine, and diabetes' columns cut into words), on simulated trials
of channels for spatial filters. On the other half: the largest difference of every output of the graph in float64 and
in float32 from what the estimator gives in float64, as a share of the largest such value; labels are counted where they
differ. Wanted: 1e-5 in float64.
"""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.base import BaseEstimator, is_regressor
from sklearn.datasets import load_diabetes, load_digits, load_wine
from threadpoolctl import threadpool_limits

import eigenfeat
from eigenfeat import TableEncoder, make_tabular, to_onnx

SETTINGS = {
    "DenoisingAutoencoder": {"n_hidden": 32, "max_iter": 20},
    "GEMClassifierCV": {"ridges": [0.3], "cv": 2},
}
VERBS = {"features": "transform", "predictions": "predict", "probabilities": "predict_proba", "label": "predict"}
NOT_WRITTEN = {"GaussianMixtureScore": "a density: no verb of rows that a graph would have"}


def rows_for(model: BaseEstimator) -> tuple[str, np.ndarray, np.ndarray]:
    """Name of a set that suits a model, its rows and targets."""
    if model.__sklearn_tags__().input_tags.three_d_array:
        rng = np.random.default_rng(0)
        y = np.arange(200) // 2 % 2
        sources = rng.normal(size=(200, 8, 100))
        sources[np.arange(200), y] *= 2
        return "trials", rng.normal(size=(8, 8)) @ sources, y
    if is_regressor(model):
        return "diabetes", *load_diabetes(return_X_y=True)
    return "digits", *load_digits(return_X_y=True)


def outputs(model, X, dtype: str) -> dict[str, np.ndarray]:
    """What ONNX Runtime makes of rows, or of the columns of a table."""
    shape = {"shape": X.shape[1:]} if X.ndim == 3 else {}
    session = onnxruntime.InferenceSession(to_onnx(model, dtype=dtype, **shape).SerializeToString())
    given = {}
    for wanted in session.get_inputs():
        values = X if wanted.name == "X" else X[wanted.name].to_numpy()[:, None]
        given[wanted.name] = values.astype(object if wanted.type == "tensor(string)" else dtype)
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, given)))


def apart(model, X) -> dict[str, list[float]]:
    """By output: the largest relative difference in float64 and in float32; of labels, how many."""
    found: dict[str, list[float]] = {}
    for dtype in ("float64", "float32"):
        for name, value in outputs(model, X, dtype).items():
            if name in VERBS:
                expected = np.asarray(getattr(model, VERBS[name])(X))
                if name == "label":
                    difference = float(np.sum(value.astype(str) != expected.astype(str)))
                else:
                    expected = expected.reshape(len(X), -1).astype(np.float64)
                    difference = float(np.abs(value - expected).max() / np.abs(expected).max())
                found.setdefault(name, []).append(difference)
    return found


def print_line(name: str, data: str, found: dict[str, list[float]]) -> float:
    numbers = {key: pair for key, pair in found.items() if key != "label"}
    largest = [max((pair[k] for pair in numbers.values()), default=0.0) for k in (0, 1)]
    labels = "/".join(f"{count:.0f}" for count in found["label"]) if "label" in found else ""
    print(f"{name:<26}{data:<10}{largest[0]:>10.1e}{largest[1]:>10.1e}{labels:>8}  {', '.join(numbers)}", flush=True)
    return largest[0]


def tables():
    """Pipelines from tables: numbers alone, and numbers beside words with gaps."""
    wine = load_wine(as_frame=True)
    yield "TableEncoder", "wine", TableEncoder(), wine.data, wine.target
    yield "make_tabular()", "wine", make_tabular(), wine.data, wine.target
    diabetes = load_diabetes(as_frame=True, scaled=False)
    mixed = diabetes.data.copy()
    mixed["age"] = pd.cut(mixed["age"], 4, labels=["young", "middle", "older", "old"]).astype(str)
    mixed["sex"] = mixed["sex"].map({1.0: "yes", 2.0: "no"})
    mixed.loc[::9, "bmi"] = np.nan
    yield "make_tabular(regression)", "diabetes", make_tabular(task="regression"), mixed, diabetes.target


def main() -> None:
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    print(f"{'estimator':<26}{'set':<10}{'float64':>10}{'float32':>10}{'labels':>8}  outputs")
    largest = 0.0
    for name, cls in inspect.getmembers(eigenfeat, inspect.isclass):
        if not issubclass(cls, BaseEstimator) or inspect.isabstract(cls) or name == "TableEncoder":
            continue
        if name in NOT_WRITTEN:
            print(f"{name:<26}not written: {NOT_WRITTEN[name]}")
            continue
        model = cls(**SETTINGS.get(name, {}))
        data, X, y = rows_for(model)
        largest = max(largest, print_line(name, data, apart(model.fit(X[::2], y[::2]), X[1::2])))
    for name, data, model, X, y in tables():
        largest = max(largest, print_line(name, data, apart(model.fit(X[::2], y[::2]), X[1::2])))
    print(f"largest in float64: {largest:.1e}")


if __name__ == "__main__":
    main()
