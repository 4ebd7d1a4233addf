"""What fitted estimators of scikit-learn hold beside numbers: the classes that are data, the functions they may name.

skops trusts scikit-learn's estimators, not what is inside some of them. Each class here was read: its objects are made
without a call of anything that a file names (``__new__``, then attributes), and hold parameters and numbers. A function
is let through where an estimator keeps it and nowhere else, and only if it is one of scikit-learn's own choices there:
a function of numbers, which neither reads nor writes anything and is not called on loading.
"""

from __future__ import annotations

from functools import cache

SPLITTERS = {
    *("KFold", "GroupKFold", "StratifiedKFold", "StratifiedGroupKFold", "RepeatedKFold", "RepeatedStratifiedKFold"),
    *("ShuffleSplit", "StratifiedShuffleSplit", "GroupShuffleSplit", "TimeSeriesSplit", "PredefinedSplit"),
    *("LeaveOneOut", "LeavePOut", "LeaveOneGroupOut", "LeavePGroupsOut", "_CVIterableWrapper"),
}
SCORERS = {f"sklearn.metrics._scorer.{name}" for name in ("_PassthroughScorer", "_Scorer", "_CurveScorer")}
B_SPLINE = "scipy.interpolate._bsplines.BSpline"
PARTS = {
    B_SPLINE,
    *SCORERS,
    *(f"sklearn.model_selection._split.{name}" for name in SPLITTERS),
    *(
        f"sklearn.calibration.{name}"
        for name in ("_CalibratedClassifier", "_SigmoidCalibration", "_TemperatureScaling")
    ),
    *(f"sklearn.utils._metadata_requests.{name}" for name in ("MetadataRequest", "MethodMetadataRequest")),
    # Experimental estimators: skops knows them only where they were enabled before it was imported.
    *(f"sklearn.model_selection._search_successive_halving.Halving{name}SearchCV" for name in ("Grid", "Random")),
    "sklearn.impute._iterative.IterativeImputer",
}
"""Classes of objects. All but splines are checked no further, as the insides of scikit-learn's estimators are not."""

DICTIONARIES = {"sklearn.utils._bunch.Bunch"}
TUPLES = {"sklearn.impute._iterative._ImputerTriplet"}

_COLUMN_SCORES = {
    f"sklearn.feature_selection._univariate_selection.{name}"
    for name in ("f_classif", "f_oneway", "f_regression", "r_regression", "chi2")
} | {f"sklearn.feature_selection._mutual_info.mutual_info_{name}" for name in ("classif", "regression")}
_SELECTORS = ("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect")
_OF_NUMBERS = {
    f"numpy.{name}"
    for name in (
        *("log", "log1p", "log2", "log10", "exp", "expm1", "exp2", "sqrt", "cbrt", "square", "reciprocal", "absolute"),
        *("sign", "negative", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh"),
        *("arccosh", "arctanh", "floor", "ceil", "rint", "nan_to_num"),
    )
}


@cache
def functions_of(owner: str) -> dict[str, set[str]]:
    """Attributes of a class that may be functions or classes, and which: the whole list of what a file may name."""
    module, _, name = owner.rpartition(".")
    if module == "sklearn.model_selection._split" and name in ("RepeatedKFold", "RepeatedStratifiedKFold"):
        return {"cv": {f"{module}.{name.removeprefix('Repeated')}"}}
    if owner == B_SPLINE:
        return {"_asarray": {"numpy.asarray", "scipy._lib.array_api_compat.numpy._aliases.asarray"}}
    if owner in SCORERS:
        return {"_score_func": _metrics()}
    if module == "sklearn.feature_selection._univariate_selection" and name in _SELECTORS:
        return {"score_func": _COLUMN_SCORES}
    if owner == "sklearn.preprocessing._function_transformer.FunctionTransformer":
        return {"func": _OF_NUMBERS, "inverse_func": _OF_NUMBERS}
    return {}


def _metrics() -> set[str]:
    """Those that scikit-learn's scorers by name are made of."""
    from sklearn.metrics import get_scorer, get_scorer_names

    functions = (get_scorer(name)._score_func for name in get_scorer_names())
    return {f"{function.__module__}.{function.__name__}" for function in functions}
