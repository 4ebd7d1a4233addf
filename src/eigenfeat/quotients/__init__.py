"""Quotients of a signal matrix over a noise matrix, and the criteria that make them from moments."""

from eigenfeat.quotients.criteria import (
    NO_REGULARISATION,
    contrast,
    fisher,
    one_vs_all,
    one_vs_rest,
    oriented,
    pair_contrast,
    per_class,
    principal,
    vanishing,
)
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.quotients.regularisation import Regularisation

__all__ = [
    "NO_REGULARISATION",
    "Quotient",
    "Regularisation",
    "contrast",
    "fisher",
    "one_vs_all",
    "one_vs_rest",
    "oriented",
    "pair_contrast",
    "per_class",
    "principal",
    "vanishing",
]
