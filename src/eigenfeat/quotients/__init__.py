"""Quotients of a signal matrix over a noise matrix, and the criteria that make them from moments."""

from eigenfeat.quotients.criteria import (
    CRITERIA,
    IDENTITY,
    MATRICES,
    NO_REGULARISATION,
    Criterion,
    comodulation,
    contrast,
    fisher,
    oriented,
    power_share,
    principal,
    ratio,
    vanishing,
)
from eigenfeat.quotients.quotient import Quotient
from eigenfeat.quotients.regularisation import Regularisation

__all__ = [
    "CRITERIA",
    "IDENTITY",
    "MATRICES",
    "NO_REGULARISATION",
    "Criterion",
    "Quotient",
    "Regularisation",
    "comodulation",
    "contrast",
    "fisher",
    "oriented",
    "power_share",
    "principal",
    "ratio",
    "vanishing",
]
