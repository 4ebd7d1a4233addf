"""Class-conditional and cross moments: update, merge, read."""

from eigenfeat.moments.base import Contrast, Mixture, Moments
from eigenfeat.moments.bounded import BoundedMoments, matrix_bytes, max_scatters
from eigenfeat.moments.collect import collect_moments, empty_moments, merged_moments
from eigenfeat.moments.cross import CrossMoments, collect_cross_moments
from eigenfeat.moments.dense import DenseMoments
from eigenfeat.moments.dual import DualMoments
from eigenfeat.moments.forms import (
    CombinedRows,
    DenseForm,
    FactoredForm,
    RowTerm,
    SymmetricForm,
    as_form,
    identity_like,
    weighted_sum,
)
from eigenfeat.moments.gram import GramCache

__all__ = [
    "BoundedMoments",
    "CombinedRows",
    "Contrast",
    "CrossMoments",
    "DenseForm",
    "DenseMoments",
    "DualMoments",
    "FactoredForm",
    "GramCache",
    "Mixture",
    "Moments",
    "RowTerm",
    "SymmetricForm",
    "as_form",
    "collect_cross_moments",
    "collect_moments",
    "empty_moments",
    "identity_like",
    "matrix_bytes",
    "max_scatters",
    "merged_moments",
    "weighted_sum",
]
