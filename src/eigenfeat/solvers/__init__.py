"""Solvers of many Rayleigh quotients at once."""

from eigenfeat.solvers.contract import Need, Solver, SolverTable
from eigenfeat.solvers.directions import DenseVectors, Directions, DualVectors, Vectors
from eigenfeat.solvers.signs import orient
from eigenfeat.solvers.solve import SOLVERS, choose, solve
from eigenfeat.solvers.ties import settle_ties

__all__ = [
    "SOLVERS",
    "DenseVectors",
    "Directions",
    "DualVectors",
    "Need",
    "Solver",
    "SolverTable",
    "Vectors",
    "choose",
    "orient",
    "settle_ties",
    "solve",
]
