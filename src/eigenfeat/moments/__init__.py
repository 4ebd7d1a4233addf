"""Class-conditional and cross moments: update, merge, read."""

from eigenfeat.moments.base import Mixture, Moments
from eigenfeat.moments.collect import collect_moments, empty_moments, merged_moments
from eigenfeat.moments.cross_moments import CrossMoments, collect_cross_moments
from eigenfeat.moments.dense_moments import DenseMoments
from eigenfeat.moments.forms import (
    DenseForm,
    FactoredForm,
    RowTerm,
    SymmetricForm,
    as_form,
    identity_like,
    weighted_sum,
)
from eigenfeat.moments.row_moments import RowMoments
from eigenfeat.rows.store import RowStore

__all__ = [
    "CrossMoments",
    "DenseForm",
    "DenseMoments",
    "FactoredForm",
    "Mixture",
    "Moments",
    "RowMoments",
    "RowStore",
    "RowTerm",
    "SymmetricForm",
    "as_form",
    "collect_cross_moments",
    "collect_moments",
    "empty_moments",
    "identity_like",
    "merged_moments",
    "weighted_sum",
]
