"""Quotients of a signal matrix over a noise matrix, and the criteria that make them from moments."""

from eigenfeat.quotients.criteria import (
    CRITERIA,
    IDENTITY,
    NO_REGULARISATION,
    Criterion,
    contrast,
    fisher,
    oriented,
    principal,
    ratio,
    vanishing,
)
from eigenfeat.quotients.matrices import MATRICES
from eigenfeat.quotients.power import comodulation, power_share
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
