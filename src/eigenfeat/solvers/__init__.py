"""Solvers of many Rayleigh quotients at once."""

from eigenfeat.solvers.canonical import canonicalize_ties, orient
from eigenfeat.solvers.contract import (
    FACTORED,
    LARGEST,
    MODERATE,
    N_COMPONENTS,
    NOISE_SOLVE,
    SIGNAL_FACTOR,
    Request,
    Requirement,
    Solver,
    SolverTable,
    always,
    never,
)
from eigenfeat.solvers.directions import DenseVectors, Directions, DualVectors, Vectors, finish
from eigenfeat.solvers.noise import factor_noise
from eigenfeat.solvers.solve import SOLVERS, choose, solve

__all__ = [
    "FACTORED",
    "LARGEST",
    "MODERATE",
    "NOISE_SOLVE",
    "N_COMPONENTS",
    "SIGNAL_FACTOR",
    "SOLVERS",
    "DenseVectors",
    "Directions",
    "DualVectors",
    "Request",
    "Requirement",
    "Solver",
    "SolverTable",
    "Vectors",
    "always",
    "canonicalize_ties",
    "choose",
    "factor_noise",
    "finish",
    "never",
    "orient",
    "solve",
]
