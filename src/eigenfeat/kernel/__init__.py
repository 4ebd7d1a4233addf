"""Kernel Fisher discriminants: a loss, a penalty, a kernel expansion, and the solvers of their problem."""

from eigenfeat.kernel.losses import (
    LOSSES,
    Absolute,
    EpsilonInsensitive,
    Huber,
    Loss,
    PiecewisePolynomial,
    Polynomial,
    Squared,
)

__all__ = [
    "LOSSES",
    "Absolute",
    "EpsilonInsensitive",
    "Huber",
    "Loss",
    "PiecewisePolynomial",
    "Polynomial",
    "Squared",
]
