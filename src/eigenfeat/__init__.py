"""eigenfeat: discriminative features from generalized eigenvectors."""

from eigenfeat.estimators.least_squares import (
    HypergraphFeatures,
    LeastSquaresCCA,
    LeastSquaresFeatures,
    LeastSquaresLDA,
    LeastSquaresOPLS,
)
from eigenfeat.estimators.least_squares_cv import (
    HypergraphFeaturesCV,
    LeastSquaresCCACV,
    LeastSquaresFeaturesCV,
    LeastSquaresLDACV,
    LeastSquaresOPLSCV,
)

__all__ = [
    "HypergraphFeatures",
    "HypergraphFeaturesCV",
    "LeastSquaresCCA",
    "LeastSquaresCCACV",
    "LeastSquaresFeatures",
    "LeastSquaresFeaturesCV",
    "LeastSquaresLDA",
    "LeastSquaresLDACV",
    "LeastSquaresOPLS",
    "LeastSquaresOPLSCV",
]
