"""What is tried: rows, labels and weights that a fit must refuse with a reason or get right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from fuzz_subjects import takes_trials
from scipy import sparse
from sklearn.base import is_regressor

N_ROWS, N_COLUMNS, N_CLASSES = 60, 5, 3


@dataclass(frozen=True, eq=False)
class Input:
    """What `fit` is given, and what a later call is asked about.

    Attributes
    ----------
    X, y : rows and labels
    weights : sample weights, or None
    more : other arguments of `fit`, by name
    intact : bool
        Whether everything that tells the classes apart is still there: a model of it must be as good as ever.
    units : str
        What is in other units than before: "rows", "weights" or nothing.
    hopeless : bool
        Whether no right answer exists: it must be refused, even where nothing would be made of it.
    """

    X: Any
    y: Any
    weights: Any = None
    more: dict[str, Any] = field(default_factory=dict)
    intact: bool = False
    units: str = ""
    hopeless: bool = False


Spoiler = Callable[[Input], Input]


def plain_input(estimator: Any) -> Input:
    """Three classes well apart, or a target that the columns explain; trials where those are taken."""
    rng = np.random.default_rng(0)
    codes = np.arange(N_ROWS) % N_CLASSES
    if takes_trials(estimator):
        X = rng.normal(size=(N_ROWS, N_COLUMNS, 40))
        X[np.arange(N_ROWS), codes] *= 3
        return Input(X, codes, intact=True)
    centres = 4 * np.eye(N_COLUMNS)[:N_CLASSES]
    X = centres[codes] + rng.normal(size=(N_ROWS, N_COLUMNS))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.1 * rng.normal(size=N_ROWS) if is_regressor(estimator) else codes
    return Input(X, y, intact=True)


# ------------------------------------------------------------------ how rows are spoilt


def rows_by(factor: float, dtype: type = np.float64) -> Spoiler:
    return lambda given: replace(given, X=(given.X * factor).astype(dtype), units="rows")


def column_by(factor: float, dtype: type = np.float64) -> Spoiler:
    def spoil(given: Input) -> Input:
        X = given.X.copy()
        X[:, -1] *= factor
        return replace(given, X=X.astype(dtype))

    return spoil


def entry(value: float, dtype: type = np.float64) -> Spoiler:
    def spoil(given: Input) -> Input:
        X = given.X.astype(dtype)
        X[(3, 1, 0)[: X.ndim]] = value
        return replace(given, X=X, intact=False)

    return spoil


def rows(make: Callable[[np.ndarray], Any], intact: bool = True) -> Spoiler:
    return lambda given: replace(given, X=make(given.X), intact=intact)


def some(chosen: Any) -> Spoiler:
    return lambda given: replace(given, X=given.X[chosen], y=given.y[chosen], intact=False)


def one_row_a_class(given: Input) -> Input:
    return replace(given, X=given.X[:N_CLASSES], y=given.y[:N_CLASSES], intact=False)


def labels(make: Callable[[np.ndarray], Any], intact: bool = True) -> Spoiler:
    return lambda given: replace(given, y=make(given.y), intact=intact)


def weights(make: Callable[[int], Any], intact: bool = True) -> Spoiler:
    return lambda given: replace(given, weights=make(len(given.y)), intact=intact)


def weights_of(size: float) -> Spoiler:
    return lambda given: replace(given, weights=np.full(len(given.y), size), units="weights")


def groups(values: np.ndarray) -> Spoiler:
    return lambda given: replace(given, more={"groups": values}, intact=False)


def hopeless(spoil: Spoiler) -> Spoiler:
    """What must be refused. Trials, which have no sparse form, are left as they are by some."""

    def mark(given: Input) -> Input:
        spoilt = spoil(given)
        changed = any(getattr(spoilt, part) is not getattr(given, part) for part in ("X", "y", "weights", "more"))
        return replace(spoilt, hopeless=changed)

    return mark


def both(*spoilers: Spoiler) -> Spoiler:
    def spoil(given: Input) -> Input:
        for each in spoilers:
            given = each(given)
        return given

    return spoil


def as_classes(names: Any) -> Callable[[np.ndarray], Any]:
    """Classes by other names; a continuous target becomes classes first."""
    return lambda y: np.asarray(names)[np.digitize(y, np.quantile(y, [0.33, 0.66])) if y.dtype.kind == "f" else y]


def csr(X: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(np.where(np.abs(X) < 0.3, 0, X))


def broken(**parts: Callable[[np.ndarray], np.ndarray]) -> Spoiler:
    """A CSR matrix whose arrays were changed after it was made."""

    def make(X: np.ndarray) -> Any:
        if X.ndim > 2:
            return X
        matrix = csr(X)
        for name, change in parts.items():
            setattr(matrix, name, change(getattr(matrix, name).copy()))
        return matrix

    return rows(make, intact=False)


def sparse_rows(make: Callable[[Any], Any], intact: bool = True) -> Spoiler:
    return rows(lambda X: X if X.ndim > 2 else make(X), intact)


def put(place: Any, value: Any) -> Callable[[np.ndarray], np.ndarray]:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


def unsorted(X: np.ndarray) -> sparse.csr_array:
    matrix = csr(X)
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:]):
        matrix.indices[start:stop] = matrix.indices[start:stop][::-1].copy()
        matrix.data[start:stop] = matrix.data[start:stop][::-1].copy()
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)


def doubled(X: np.ndarray) -> sparse.csr_array:
    """Every entry stored as two halves."""
    matrix = csr(X)
    return sparse.csr_array(
        (np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2), 2 * matrix.indptr), shape=matrix.shape
    )


def stored_zeros(X: np.ndarray) -> sparse.csr_array:
    matrix = sparse.csr_array(np.ones_like(X))
    matrix.data[:] = np.where(np.abs(X) < 0.3, 0, X).ravel()
    return matrix


def frame(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=list("abcde"))


def read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


# ------------------------------------------------------------------ the list

UP64 = (1e6, 1e20, 1e60, 1e80, 1e100, 1e140, 1e155, 1e200, 1e300)
DOWN64 = (1e-6, 1e-20, 1e-60, 1e-80, 1e-100, 1e-155, 1e-300, 1e-320)
UP32, DOWN32 = (1e6, 1e10, 1e17, 1e19, 1e30, 1e37), (1e-6, 1e-10, 1e-19, 1e-30, 1e-42)

MAGNITUDES: dict[str, Spoiler] = {
    "as it is": lambda given: given,
    **{f"rows x {f:g}": rows_by(f) for f in UP64 + DOWN64},
    **{f"float32 rows x {f:g}": rows_by(f, np.float32) for f in UP32 + DOWN32},
    **{f"a column x {f:g}": column_by(f) for f in (1e20, 1e100, 1e160, 1e300, 1e-100, 1e-300)},
    **{f"a float32 column x {f:g}": column_by(f, np.float32) for f in (1e10, 1e19, 1e30, 1e-19, 1e-42)},
    **{f"an entry {v:g}": entry(v) for v in (1e20, 1e100, 1e160, 1e308, 5e-324)},
    **{f"a float32 entry {v:g}": entry(v, np.float32) for v in (1e10, 1e19, 3e38)},
    **{f"rows + {f:g}": rows(lambda X, f=f: X + f, intact=f < 1e9) for f in (1e3, 1e6, 1e10, 1e16)},
    "float32 rows + 1e6": rows(lambda X: (X + 1e6).astype(np.float32), intact=False),
    "an infinite entry": entry(np.inf),
    "a missing entry": entry(np.nan),
}

SHAPES: dict[str, Spoiler] = {
    "no rows": some(slice(0)),
    "one row": some(slice(1)),
    "two rows": some(slice(2)),
    "one row a class": one_row_a_class,
    "two rows a class": some(slice(2 * N_CLASSES)),
    "a class of one row": some(np.r_[0, 1, 4, 7, 10, 2, 5, 8]),
    "one column": rows(lambda X: X[:, :1], intact=False),
    "no columns": rows(lambda X: X[:, :0], intact=False),
    "more columns than rows": rows(
        lambda X: X if X.ndim > 2 else np.hstack([X, np.random.default_rng(1).normal(size=(len(X), 100))]), intact=False
    ),
    "a constant column": rows(lambda X: np.concatenate([X, np.ones_like(X[:, :1])], axis=1)),
    "a column of zeros": rows(lambda X: np.concatenate([X, np.zeros_like(X[:, :1])], axis=1)),
    "a column twice": rows(lambda X: np.concatenate([X, X[:, :1]], axis=1)),
    "rows all the same": rows(np.ones_like, intact=False),
    "zeros": rows(np.zeros_like, intact=False),
    "every row twice": lambda given: replace(given, X=np.repeat(given.X, 2, axis=0), y=np.repeat(given.y, 2)),
    "three dimensions": rows(lambda X: X[:, :, None] if X.ndim == 2 else X[:, :, 0], intact=False),
    "one dimension": rows(lambda X: X.reshape(len(X), -1)[:, 0], intact=False),
    "rows as a scalar": rows(lambda X: 3.0, intact=False),
    "rows as None": rows(lambda X: None, intact=False),
}

TYPES: dict[str, Spoiler] = {
    "a list of lists": rows(lambda X: X.tolist()),
    "int64": rows(lambda X: np.round(X * 10).astype(np.int64)),
    "int8": rows(lambda X: np.clip(np.round(X * 10), -120, 120).astype(np.int8)),
    "uint64": rows(lambda X: np.round(np.abs(X) * 10).astype(np.uint64), intact=False),
    "booleans": rows(lambda X: X > 1, intact=False),
    "float16": rows(lambda X: X.astype(np.float16)),
    "longdouble": rows(lambda X: X.astype(np.longdouble)),
    "huge longdouble": rows(lambda X: X.astype(np.longdouble) * np.longdouble("1e400"), intact=False),
    "complex": rows(lambda X: X + 1j, intact=False),
    "objects": rows(lambda X: X.astype(object)),
    "numbers as text": rows(lambda X: X.astype(str)),
    "text": rows(lambda X: np.full(X.shape, "a"), intact=False),
    "dates": rows(lambda X: X.astype("datetime64[s]"), intact=False),
    "Fortran order": rows(np.asfortranarray),
    "every second column": rows(lambda X: np.repeat(X, 2, axis=1)[:, ::2]),
    "read-only": rows(read_only),
    "a masked array": rows(lambda X: np.ma.masked_greater(X, 1), intact=False),
    "a frame": sparse_rows(frame),
    "a frame with gaps": sparse_rows(lambda X: frame(X).mask(X > 5), intact=False),
    "a frame with text": sparse_rows(lambda X: frame(X).assign(a="x"), intact=False),
    "a frame with a name twice": sparse_rows(lambda X: pd.DataFrame(X, columns=list("abcda"))),
}

SPARSE: dict[str, Spoiler] = {
    "CSR": sparse_rows(csr),
    "CSC": sparse_rows(lambda X: csr(X).tocsc()),
    "COO": sparse_rows(lambda X: csr(X).tocoo()),
    "a CSR matrix": sparse_rows(lambda X: sparse.csr_matrix(csr(X))),
    "float32 CSR": sparse_rows(lambda X: csr(X).astype(np.float32)),
    "integer CSR": sparse_rows(lambda X: sparse.csr_array(np.round(X).astype(int))),
    "CSR of 64-bit indices": broken(indices=lambda i: i.astype(np.int64), indptr=lambda p: p.astype(np.int64)),
    "CSR unsorted": sparse_rows(unsorted),
    "CSR with doubled entries": sparse_rows(doubled),
    "CSR with stored zeros": sparse_rows(stored_zeros),
    "CSR of nothing": sparse_rows(lambda X: sparse.csr_array(X.shape), intact=False),
    "CSR with NaN": broken(data=put(2, np.nan)),
    "CSR x 1e160": sparse_rows(lambda X: csr(X) * 1e160),
    "CSR x 1e-160": sparse_rows(lambda X: csr(X) * 1e-160),
    "float32 CSR x 1e30": sparse_rows(lambda X: (csr(X) * 1e30).astype(np.float32)),
    "CSR, an index too large": broken(indices=put(2, 1000)),
    "CSR, an index far too large": broken(indices=put(2, 2**30)),
    "CSR, a negative index": broken(indices=put(2, -7)),
    "CSR, pointers that fall": broken(indptr=put(3, 0)),
    "CSR, pointers beyond the data": broken(indptr=put(-1, 10**6)),
    "CSR, a negative pointer": broken(indptr=put(1, -5)),
    "CSR, pointers that do not start at zero": broken(indptr=put(0, 2)),
    "CSR, too few pointers": broken(indptr=lambda p: p[:-3].copy()),
    "CSR, too little data": broken(data=lambda d: d[:5].copy()),
}

LABELS: dict[str, Spoiler] = {
    "y of text": labels(as_classes(["a", "bb", "c"])),
    "y of objects": labels(as_classes(np.array(["a", "bb", "c"], dtype=object))),
    "y of bytes": labels(as_classes(np.array([b"a", b"bb", b"c"]))),
    "y of booleans": labels(lambda y: y > np.median(y), intact=False),
    "y of int8": labels(as_classes(np.array([0, 1, 2], dtype=np.int8))),
    "y of uint8": labels(as_classes(np.array([0, 1, 255], dtype=np.uint8)), intact=False),
    "y of uint64 above 2^53": labels(as_classes(np.array([2**63, 2**63 + 1, 2**63 + 2], dtype=np.uint64))),
    "y of int64 above 2^53": labels(as_classes(np.array([2**53, 2**53 + 1, 2**53 + 2], dtype=np.int64))),
    "y of large uint64 as a list": labels(lambda y: [int(v) for v in as_classes([2**63, 2**63 + 1, 2**63 + 2])(y)]),
    "y of whole floats": labels(as_classes([0.0, 1.0, 2.0]), intact=False),
    "y of float32": labels(lambda y: y.astype(np.float32)),
    "y of dates": labels(as_classes(np.array(["2020", "2021", "2022"], dtype="datetime64[D]")), intact=False),
    "y of text and numbers": labels(lambda y: np.array(["a", 1, 2.5] * (len(y) // 3), dtype=object), intact=False),
    "y with None": labels(lambda y: np.array(["a", None, "b"] * (len(y) // 3), dtype=object), intact=False),
    "y with NaN": labels(lambda y: np.r_[y[:-1].astype(float), np.nan], intact=False),
    "y with infinity": labels(lambda y: np.r_[y[:-1].astype(float), np.inf], intact=False),
    "y too short": labels(lambda y: y[:-1], intact=False),
    "y too long": labels(lambda y: np.r_[y, y[:1]], intact=False),
    "y of one row": labels(lambda y: y[:1], intact=False),
    "y as None": labels(lambda y: None, intact=False),
    "y as a list": labels(lambda y: y.tolist()),
    "y as a series": labels(pd.Series),
    "y as a categorical": labels(lambda y: pd.Series(as_classes(["a", "b", "c"])(y), dtype="category")),
    "y as a column": labels(lambda y: y[:, None]),
    "y of two columns": labels(lambda y: np.column_stack([y, y]), intact=False),
    "y of three dimensions": labels(lambda y: y[:, None, None], intact=False),
    "y all the same": labels(np.zeros_like, intact=False),
    "y all different": labels(lambda y: np.arange(len(y)), intact=False),
    "y continuous": labels(lambda y: np.random.default_rng(2).normal(size=len(y)), intact=False),
    "y complex": labels(lambda y: y + 1j, intact=False),
    **{f"y x {f:g}": labels(lambda y, f=f: y * f, intact=False) for f in (1e100, 1e160, 1e300, 1e-160, 1e-300)},
}

WEIGHTS: dict[str, Spoiler] = {
    "weights of one": weights(np.ones),
    "whole weights": weights(lambda n: 1.0 + np.arange(n) % 3),
    "weights as a list": weights(lambda n: [1] * n),
    "weights 1 / n": weights_of(1 / N_ROWS),
    **{f"weights {f:g}": weights_of(f) for f in (1e-300, 1e-20, 1e20, 1e150, 1e307, 5e-324)},
    "float32 weights 1e39": weights(lambda n: np.full(n, 1e39, dtype=np.longdouble).astype(np.float32), intact=False),
    "float32 rows, weights 1e39": both(
        lambda given: replace(given, X=given.X.astype(np.float32)), weights(lambda n: np.full(n, 1e39))
    ),
    "float32 rows, weights 1e-39": both(
        lambda given: replace(given, X=given.X.astype(np.float32)), weights(lambda n: np.full(n, 1e-39))
    ),
    "a weight of 1e300": weights(lambda n: np.r_[1e300, np.ones(n - 1)], intact=False),
    "a weight of 1e307, others 0.1": weights(lambda n: np.r_[1e307, np.full(n - 1, 0.1)], intact=False),
    "a weight of 1e20": weights(lambda n: np.r_[1e20, np.ones(n - 1)], intact=False),
    "a weight of 1e-300": weights(lambda n: np.r_[1e-300, np.ones(n - 1)]),
    "half of the weights zero": weights(lambda n: np.r_[np.zeros(n // 2), np.ones(n - n // 2)], intact=False),
    "one weight not zero": weights(lambda n: np.r_[1.0, np.zeros(n - 1)], intact=False),
    "weights of zero": weights(np.zeros, intact=False),
    "a negative weight": weights(lambda n: np.r_[-1.0, np.ones(n - 1)], intact=False),
    "a weight of NaN": weights(lambda n: np.r_[np.nan, np.ones(n - 1)], intact=False),
    "an infinite weight": weights(lambda n: np.r_[np.inf, np.ones(n - 1)], intact=False),
    "too few weights": weights(lambda n: np.ones(n - 1), intact=False),
    "weights of two columns": weights(lambda n: np.ones((n, 2)), intact=False),
    "weights as text": weights(lambda n: np.full(n, "a"), intact=False),
    "weights complex": weights(lambda n: np.ones(n) + 1j, intact=False),
    "a weight as a number": weights(lambda n: 2.0),
}

GROUPS: dict[str, Spoiler] = {
    "groups too short": groups(np.zeros(N_ROWS - 1)),
    "groups too long": groups(np.zeros(N_ROWS + 1)),
    "groups all the same": groups(np.zeros(N_ROWS)),
    "groups with NaN": groups(np.r_[np.nan, np.arange(N_ROWS - 1)]),
    "groups of two columns": groups(np.zeros((N_ROWS, 2))),
}

HOPELESS = (
    *(
        "an infinite entry",
        "a missing entry",
        "a frame with gaps",
        "CSR with NaN",
        "huge longdouble",
        "complex",
        "text",
    ),
    *(words for words in SPARSE if words.startswith("CSR, ")),
    *("y with NaN", "y too short", "y too long", "y of one row"),
    *("weights of zero", "a negative weight", "a weight of NaN", "an infinite weight", "too few weights"),
    *("weights of two columns", "weights as text", "weights complex"),
    *("groups too short", "groups too long"),
)

INPUTS: dict[str, Spoiler] = {**MAGNITUDES, **SHAPES, **TYPES, **SPARSE, **LABELS, **WEIGHTS, **GROUPS}
INPUTS |= {words: hopeless(INPUTS[words]) for words in HOPELESS}
