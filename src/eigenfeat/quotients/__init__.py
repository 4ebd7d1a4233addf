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

_GONE = {
    "pair_contrast": "contrast(moments, pairs)",
    "one_vs_rest": 'GEMFeatures(class_pairs="one-vs-rest"), or contrast with pools of classes',
    "one_vs_all": 'GEMFeatures(class_pairs="one-vs-all"), or contrast with moments.shares',
    "per_class": 'GEMFeatures(class_pairs="per-class"), or contrast with the denominator "identity"',
}


def __getattr__(name: str) -> object:
    if name in _GONE:
        raise ImportError(f"eigenfeat.quotients.{name} is gone: use {_GONE[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
