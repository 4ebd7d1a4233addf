"""One case, tried and judged: was the answer right, the refusal clear, or something else?"""

from __future__ import annotations

import re
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fuzz_inputs import Input
from fuzz_subjects import takes
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

import eigenfeat

#: From best to worst; "crash" and "hang" are seen by whoever runs the case.
OUTCOMES = ("ok", "clear error", "accepted", "collapse", "silent NaN", "raw error", "hang", "crash")
GOOD = ("ok", "clear error")

VERBS = ("transform", "decision_function", "predict_proba", "score_samples")
OURS = str(Path(eigenfeat.__file__).parent)
#: Where refusals of scikit-learn that speak to the user are raised.
SPEAKING = re.compile(
    r"sklearn[/\\](utils[/\\](validation|_param_validation|multiclass|_array_api|__init__)|base|model_selection[/\\]_split)\.py$"
)
#: A refusal may also come from numpy where it turns what was given into an array.
CONVERSION = re.compile(r"could not convert|must be a (sequence|number)|float\(\) argument|setting an array element")
#: Share of rows told apart that a model of intact input may lose.
LOSS = 0.15


class Outcome(NamedTuple):
    kind: str
    words: str = ""


def tried(make: Callable[[], Any], given: Input, reference: float | None = None) -> Outcome:
    """Fit and ask; what came of it.

    Parameters
    ----------
    make : function that makes the estimator
    given : Input
    reference : float, optional
        How well a model of plain input tells rows apart (`skill`).
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = make()
            fit(model, given)
            wrong = not_finite(model, given.X)
            found = skill(model, given) if given.intact and reference is not None else None
        except Exception as problem:
            return judged_error(problem)
    if wrong:
        return Outcome("silent NaN", wrong)
    if given.hopeless and (given.weights is None or takes(model, "sample_weight")):
        return Outcome("accepted", "an answer where there is none")
    warned = any(issubclass(w.category, UserWarning) for w in caught)
    if found is not None and found < reference - LOSS and not warned:  # type: ignore[operator]
        return Outcome("collapse", f"skill {found:.2f} instead of {reference:.2f}")
    return Outcome("ok")


def fit(model: Any, given: Input) -> None:
    more = {name: value for name, value in given.more.items() if takes(model, name)}
    if given.weights is not None and takes(model, "sample_weight"):
        more["sample_weight"] = given.weights
    model.fit(given.X, given.y, **more)


def not_finite(model: Any, X: Any) -> str:
    """Which answer is not all finite numbers."""
    verbs = [verb for verb in VERBS if hasattr(model, verb)] + (["predict"] if is_regressor(model) else [])
    for verb in verbs:
        found = getattr(model, verb)(X)
        found = found.toarray() if sparse.issparse(found) else np.asarray(found)
        if verb == "decision_function":
            found = found[~np.isneginf(found)]  # the logarithm of a probability that is zero
        if found.dtype.kind in "fc" and not np.isfinite(found).all():
            return f"{verb}: {np.count_nonzero(~np.isfinite(found))} of {found.size} not finite"
    if is_classifier(model):
        np.asarray(model.predict(X))
    return ""


def skill(model: Any, given: Input) -> float | None:
    """How well a model tells its own rows apart: accuracy, R², or the accuracy of neighbours among its features."""
    y = np.asarray(given.y).ravel()
    if is_classifier(model):
        return float(np.mean(np.asarray(model.predict(given.X)) == y))
    if is_regressor(model):
        return float(1 - np.var(model.predict(given.X).ravel() - y) / np.var(y)) if y.dtype.kind == "f" else None
    if not hasattr(model, "transform"):
        return None
    Z = np.asarray(model.transform(given.X), dtype=np.float64)
    return neighbours_agree(Z.reshape(len(Z), -1), y)


def neighbours_agree(Z: np.ndarray, y: np.ndarray) -> float:
    """Share of rows whose nearest other row, in standardised columns, is of the same class."""
    spread = np.ptp(Z, axis=0)
    Z = (Z - Z.min(axis=0))[:, spread > 0] / spread[spread > 0]
    if Z.shape[1] == 0:
        return 0.0
    distances = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    return float(np.mean(y[distances.argmin(axis=1)] == y))


def judged_error(problem: BaseException) -> Outcome:
    """A refusal is clear where we, or scikit-learn's checks, raise it as what callers expect of bad input."""
    where = traceback.extract_tb(problem.__traceback__)[-1]
    words = f"{type(problem).__name__}: {str(problem)[:150]} ({Path(where.filename).name}:{where.lineno})"
    if isinstance(problem, MemoryError) and "Unable to allocate" in str(problem):  # numpy says how much was asked for
        return Outcome("clear error", words)
    expected = type(problem) in (ValueError, TypeError) or type(problem).__name__ in (
        "NotFittedError",
        "InvalidParameterError",
        "NotImplementedError",
    )
    speaking = where.filename.startswith(OURS) or SPEAKING.search(where.filename) or CONVERSION.search(str(problem))
    return Outcome("clear error" if expected and speaking else "raw error", words)
