"""What there is to predict: classes, numbers or many labels, found from y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TASKS = ("classification", "regression", "multilabel")
MOST_INTEGER_CLASSES = 50
"""Whole numbers of more different values are quantities, not names of classes, where values are few rows each."""

FEWEST_ROWS_A_CLASS = 20


@dataclass(frozen=True)
class Task:
    """What is predicted, and why it is taken for that.

    Attributes
    ----------
    name : {"classification", "regression", "multilabel"}
    reason : str
        In words; empty where nothing had to be decided.
    """

    name: str
    reason: str = ""


def find_task(y: Any) -> Task:
    """Classes for text, truth values and few whole numbers; numbers otherwise; many labels for a table of 0 and 1.

    Parameters
    ----------
    y : (n,) or (n, q) array

    Returns
    -------
    `Task`

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat.tables import find_task
    >>> find_task(["rose", "tulip"]).name, find_task(np.arange(400)).name
    ('classification', 'regression')
    >>> find_task(np.arange(400)).reason
    '400 different whole numbers in 400 rows are taken for quantities: regression'
    """
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] > 1:
        binary = y.dtype.kind in "biuf" and np.isin(y, (0, 1)).all()
        return (
            Task("multilabel", f"{y.shape[1]} columns of 0 and 1 are taken for labels: multilabel")
            if binary
            else Task("regression", f"{y.shape[1]} columns are taken for quantities: regression")
        )
    y = y.ravel()
    if y.dtype.kind not in "iuf":
        return Task("classification")
    values = np.unique(y)
    if not np.array_equal(values, np.floor(values)):
        return Task("regression")
    limit = min(MOST_INTEGER_CLASSES, max(2, len(y) // FEWEST_ROWS_A_CLASS))
    if len(values) <= limit or len(values) <= 2:
        return Task("classification")
    words = f"{len(values):,} different whole numbers in {len(y):,} rows are taken for"
    if len(values) <= 10 and len(y) >= 3 * len(values):
        return Task("classification", f"{words} classes: classification")
    return Task("regression", f"{words} quantities: regression")
