"""Solvers of many Rayleigh quotients at once."""

from eigenfeat.solvers.conventions import orient
from eigenfeat.solvers.directions import Directions, DualVectors
from eigenfeat.solvers.solve import SOLVERS, choose, solve
from eigenfeat.solvers.ties import settle_ties

__all__ = ["SOLVERS", "Directions", "DualVectors", "choose", "orient", "settle_ties", "solve"]
