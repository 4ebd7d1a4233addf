"""The treatment of columns of sparse rows: factors only, since a shift would fill them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eigenfeat.features.column_rules import FEWEST_ALIKE, ZERO_GROUP, AboutZero, Decision
from eigenfeat.rows.sampling import RowSample

UNSHIFTED = "sparse rows are not shifted"


def decide_sparse(sample: RowSample, asked: Sequence[str]) -> tuple[list[Decision], np.ndarray]:
    """Treatment and factor of every column of CSR rows, in a few passes over their entries.

    Sizes are root mean squares of the entries that are not zero: rare entries are not blown up.

    Raises
    ------
    ValueError
        Where "quantile-normal" is asked for.
    """
    if "quantile-normal" in asked:
        raise ValueError(
            "columns='quantile-normal' would make sparse rows dense: use X.toarray() if it fits, or 'standardise'."
        )
    squares, about = _about_zero(sample)
    words = np.array(asked)
    constant = (sample.low == sample.high) & ~np.isin(words, ["none", "drop"])
    free = (words == "auto") & ~constant
    common = free.copy()
    common[free] = _only(about, free).members() if free.sum() >= FEWEST_ALIKE else False
    asked_common = (words == "common") & ~constant
    indicator = ((free & about.two_values) & ~common) | ((words == "indicator") & ~constant)
    factor = 1 / np.where(about.size > 0, about.size, np.inf)
    for group in (common, asked_common):
        factor[group] = 1 / np.sqrt(np.mean(squares[group])) if group.any() else 0
    factor[indicator] = 1 / np.where(sample.high != 0, sample.high, sample.low)[indicator]
    factor[words == "none"] = 1.0
    factor[constant | (words == "drop")] = 0.0
    decisions = [Decision("standardise", f"{'a unit of its own' if f else 'asked for'}; {UNSHIFTED}") for f in free]
    _replace(decisions, constant, Decision("drop", "one value in all rows"))
    _replace(decisions, common, Decision("common", f"of one size, as {common.sum() - 1} others", 0.0, ZERO_GROUP))
    _replace(decisions, asked_common, Decision("common", f"asked for; {UNSHIFTED}", 0.0))
    _replace(decisions, indicator, Decision("indicator", "zero and one other value"))
    for word in ("none", "drop"):
        _replace(decisions, words == word, Decision(word, "asked for"))
    return decisions, factor


def _about_zero(sample: RowSample) -> tuple[np.ndarray, AboutZero]:
    """Mean square of every column, and what its entries are about zero."""
    X = sample.X.tocsc()
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    values, weights = X.data.astype(np.float64), sample.weight[X.indices] * (X.data != 0)
    total = lambda parts: np.bincount(column, parts, minlength=X.shape[1])  # noqa: E731
    squares, held = total(weights * values**2), total(weights)
    other = np.where(sample.high != 0, sample.high, sample.low)[column]
    two_values = (total((values != other) * weights) == 0) & ((sample.low == 0) | (sample.high == 0))
    size = np.sqrt(squares / np.where(held > 0, held, 1))
    weight = sample.weight.sum()
    return squares / weight, AboutZero(0.0, 1 - held / weight, size, two_values)


def _only(about: AboutZero, chosen: np.ndarray) -> AboutZero:
    return AboutZero(about.zero, about.share[chosen], about.size[chosen], about.two_values[chosen])


def _replace(decisions: list[Decision], where: np.ndarray, decision: Decision) -> None:
    for j in np.flatnonzero(where):
        decisions[j] = decision
