"""Whether a model that was read from a file is whole: every object in it, and what it is made of."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from eigenfeat.export.archive import Refusal
from eigenfeat.export.stage_checks import check_csr, check_fitted, check_numbers, demand, is_count
from eigenfeat.moments import DenseMoments

MAY_HAVE_GAPS = {"cv_results_"}
"""Attributes of estimators whose arrays may hold NaN or infinities: a fold that could not be scored. No prediction
reads them."""

MT19937_WORDS = 624
WIDEST_TRIAL = 1_000_000


def check_model(model: Any) -> None:
    """Raise `Refusal` unless everything in the model is consistent: shapes, index bounds, finite numbers.

    All objects are looked at, through attributes, dictionaries and sequences, each once. Estimators of scikit-learn
    are looked into for objects of eigenfeat and sparse matrices; whether their own arrays fit is theirs to check.
    """
    demand(isinstance(model, BaseEstimator), f"{type(model).__name__} is no estimator")
    for thing, words, is_finite in _everything(model):
        if isinstance(thing, np.ndarray):
            _check_array(thing, words, is_finite)
        elif sparse.issparse(thing):
            check_csr(thing, words)
            demand(not is_finite or bool(np.isfinite(thing.data).all()), f"{words} has entries that are not finite")
        elif isinstance(thing, np.random.RandomState):
            position = thing.get_state(legacy=False)["state"]["pos"]
            demand(0 <= position <= MT19937_WORDS, f"{words} is no state of random numbers")
        elif isinstance(thing, np.random.Generator):
            demand(type(thing.bit_generator) is np.random.PCG64, f"{words} is no state of random numbers")
        elif isinstance(thing, BSpline):
            _check_spline(thing, words)
        elif _is_instance(thing):
            _check_attributes(thing)
            if isinstance(thing, DenseMoments):
                _check_moments(thing)
            if _is_own(thing) and isinstance(thing, BaseEstimator):
                _check_estimator(thing)


def forget_cached(model: Any) -> None:
    """Drop what properties have cached: it is computed again from numbers that have been checked."""
    for thing, _, _ in list(_everything(model)):
        if _is_own(thing) and hasattr(thing, "__dict__"):
            for name in _cached(type(thing)) & vars(thing).keys():
                del vars(thing)[name]


def try_model(model: Any) -> None:
    """Use a fitted estimator on two rows of zeros: what fails with anything but a ValueError would fail later."""
    n_columns = vars(model).get("n_features_in_")
    if not _is_own(model) or n_columns is None or n_columns > WIDEST_TRIAL:
        return
    is_of_trials = get_tags(model).input_tags.three_d_array
    rows = np.zeros((2, n_columns, 2) if is_of_trials else (2, n_columns))
    for name in ("transform", "predict", "predict_proba", "score_samples", "get_feature_names_out"):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                if hasattr(model, name):
                    getattr(model, name)(*([rows] if name != "get_feature_names_out" else []))
        except ValueError:
            continue  # zeros may be outside of what a transformer inside takes
        except Exception as problem:
            raise Refusal(f"does not fit together: {name} fails ({type(problem).__name__}: {problem})") from problem


def _everything(model: Any) -> Iterator[tuple[Any, str, bool]]:
    """Every object of a model once, with where it stands and whether it has to be finite; parents first."""
    left = [(model, type(model).__name__, True)]
    seen: dict[int, Any] = {}  # held, so that no number is given twice
    while left:
        thing, words, is_finite = left.pop()
        if id(thing) in seen or isinstance(thing, type | str):
            continue
        seen[id(thing)] = thing
        yield thing, words, is_finite
        if isinstance(thing, dict):
            left += [(value, f"{words}[{key!r}]", is_finite) for key, value in thing.items()]
        elif isinstance(thing, list | tuple | set):
            left += [(value, f"{words}[{i}]", is_finite) for i, value in enumerate(thing)]
        elif isinstance(thing, np.ndarray) and thing.dtype == object:
            left += [(value, f"{words}[{i}]", is_finite) for i, value in enumerate(thing.ravel())]
        elif _is_instance(thing):
            own = is_finite and _is_own(thing)
            left += [(v, f"{words}.{name}", own and name not in MAY_HAVE_GAPS) for name, v in _state(thing).items()]


def _state(thing: Any) -> dict[str, Any]:
    """What a file keeps of an object: not its locks."""
    state = thing.__getstate__() if _is_own(thing) else getattr(thing, "__dict__", None)
    return state if isinstance(state, dict) else {}


def _is_own(thing: Any) -> bool:
    return type(thing).__module__.split(".")[0] == "eigenfeat"


def _is_instance(thing: Any) -> bool:
    return type(thing).__module__.split(".")[0] in ("eigenfeat", "sklearn")


def _check_array(array: np.ndarray, words: str, is_finite: bool) -> None:
    if is_finite and array.dtype.kind in "fc":
        demand(bool(np.isfinite(array).all()), f"{words} has entries that are not finite")


def _cached(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)}


def _check_attributes(thing: Any) -> None:
    """No method may be hidden by a value, and a frozen value has its fields and nothing else."""
    cls = type(thing)
    names = _state(thing).keys() - _cached(cls)
    for name in names:
        demand(isinstance(name, str), f"{cls.__name__} has an attribute without a name")
        hidden = inspect.getattr_static(cls, name, None)
        is_method = inspect.isroutine(hidden) or isinstance(hidden, property | classmethod | staticmethod)
        demand(not is_method, f"{cls.__name__} has a value in place of its method {name}")
    if _is_own(thing) and is_dataclass(cls):
        expected = {field.name for field in fields(cls)}
        demand(names == expected, f"{cls.__name__} has not the fields it should have")


def _check_spline(spline: BSpline, words: str) -> None:
    """What scipy's compiled evaluation trusts: knots in order, a coefficient a function, no attribute but its own."""
    held = {name.lstrip("_"): value for name, value in vars(spline).items()}
    demand(held.keys() - {"asarray"} == {"t", "c", "k", "extrapolate", "axis"}, f"{words} is no spline")
    knots, coefficients, degree = held["t"], held["c"], held["k"]
    demand(is_count(degree, 0), f"{words} has no degree")
    is_order = isinstance(knots, np.ndarray) and knots.dtype == np.float64 and knots.ndim == 1
    demand(is_order and np.isfinite(knots).all() and (np.diff(knots) >= 0).all(), f"{words} has no knots in order")
    n_functions = len(knots) - degree - 1
    is_whole = isinstance(coefficients, np.ndarray) and coefficients.dtype == np.float64 and coefficients.ndim == 2
    demand(n_functions > degree and is_whole and len(coefficients) == n_functions, f"{words} has other coefficients")
    demand(held["axis"] == 0 and knots[degree] < knots[n_functions], f"{words} is no spline of numbers")
    demand(held["extrapolate"] in (True, False, "periodic"), f"{words} says not what it does beyond its knots")


def _check_moments(moments: DenseMoments) -> None:
    """Sums that the compiled loops of `partial_fit` go on adding to."""
    held = vars(moments)
    classes, n_columns = held.get("classes"), held.get("n_features")
    demand(isinstance(classes, np.ndarray) and classes.ndim == 1, "moments have no classes")
    demand(is_count(n_columns, 0), "moments have no number of columns")
    if held.get("_started") is False:
        return
    k, d = len(moments.classes), moments.n_features
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("counts", "weights", "weight_squares", "_seen"), (k,))
    shapes |= {"_shifts": (k, d), "_offsets": (k, d), "_scatters": (k, d, d)}
    if held.get("track_fourth"):
        shapes |= {"_thirds": (k, d), "_fourths": (k,)}
    for name, shape in shapes.items():
        check_numbers(held.get(name), shape, f"{name} of moments", kinds="fib")


def _check_estimator(estimator: BaseEstimator) -> None:
    held, cls = vars(estimator), type(estimator)
    missing = inspect.signature(cls).parameters.keys() - held.keys()
    demand(not missing, f"{cls.__name__} lacks its parameter {', '.join(sorted(missing))}")
    n_columns, names, classes = (held.get(key) for key in ("n_features_in_", "feature_names_in_", "classes_"))
    demand(n_columns is None or is_count(n_columns), f"{cls.__name__} has no number of columns")
    if names is not None:
        is_text = (
            isinstance(names, np.ndarray) and names.shape == (n_columns,) and all(isinstance(n, str) for n in names)
        )
        demand(is_text, "the names of columns are not as many as the columns")
    if classes is not None:
        demand(isinstance(classes, np.ndarray) and classes.ndim == 1 and len(classes) > 0, "the classes are no list")
    if "fitted_" in held:
        check_fitted(held["fitted_"], n_columns, None if classes is None else len(classes))
