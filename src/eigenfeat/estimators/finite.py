"""Whether a fitted value is made of numbers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse


def first_not_finite(value: Any, place: str = "") -> str | None:
    """Where a value holds NaN or plus infinity, as ``scores.stages[0].bias``; None where it holds numbers only.

    Minus infinity is one: the logarithm of a probability that is zero. Seen are arrays, sparse matrices, and
    dataclasses, lists and tuples of such.
    """
    if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
        return place if _is_wrong(value) else None
    if sparse.issparse(value):
        return place if _is_wrong(value.data) else None
    if is_dataclass(value):
        parts = ((f"{place}.{f.name}" if place else f.name, getattr(value, f.name, None)) for f in fields(value))
    elif isinstance(value, list | tuple):
        parts = ((f"{place}[{i}]", part) for i, part in enumerate(value))
    else:
        return None
    return next((found for name, part in parts if (found := first_not_finite(part, name))), None)


def _is_wrong(numbers: Any) -> bool:
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(np.sum(numbers)):
            return False
    return bool((np.isnan(numbers) | np.isposinf(numbers)).any())
