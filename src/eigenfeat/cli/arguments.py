"""From words on the command line to estimators, parameters and shapes."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from sklearn.base import BaseEstimator

import eigenfeat


def estimator_named(name: str, parameters: dict[str, Any]) -> Any:
    """An unfitted estimator of the library.

    Raises
    ------
    ValueError
        For a name or a parameter it does not have, with those it has.
    """
    public: dict[str, Any] = {
        k: v for k, v in vars(eigenfeat).items() if inspect.isclass(v) and issubclass(v, BaseEstimator)
    }
    if name not in public:
        raise ValueError(f"eigenfeat has no estimator {name!r}; it has {', '.join(sorted(public))}")
    allowed = public[name]().get_params(deep=False)
    unknown = sorted(set(parameters) - set(allowed))
    if unknown:
        raise ValueError(f"{name} has no parameter {', '.join(unknown)}; it has {', '.join(sorted(allowed))}")
    return public[name](**parameters)


def parse_parameter(text: str) -> tuple[str, Any]:
    """``ridge=0.1`` as a name and a value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text!r} must have the form name=value, as ridge=0.1")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a plain word, as shrinkage=auto


def parse_shape(text: str | None) -> tuple[int, int] | None:
    """``28x28`` as two numbers."""
    if text is None:
        return None
    rows, _, columns = text.partition("x")
    if not (rows.isdigit() and columns.isdigit()):
        raise ValueError(f"--image-shape {text!r} must have the form ROWSxCOLUMNS, as 28x28")
    return int(rows), int(columns)
