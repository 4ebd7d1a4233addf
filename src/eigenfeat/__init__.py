"""eigenfeat: discriminative features from generalized eigenvectors.

Everything here is one idea: choose symmetric matrices S (signal) and N (noise), maximise vᵀSv / vᵀNv, use many v.
"""

from eigenfeat._moved import MOVED, announce
from eigenfeat.estimators.column_scaler import ColumnScaler
from eigenfeat.estimators.column_splines import ColumnSplines
from eigenfeat.estimators.common_spatial_patterns import CommonSpatialPatterns
from eigenfeat.estimators.denoising_autoencoder import DenoisingAutoencoder
from eigenfeat.estimators.fisher_lda import FisherLDA
from eigenfeat.estimators.gaussian_mixture_score import GaussianMixtureScore
from eigenfeat.estimators.gem_classifier import GEMClassifier
from eigenfeat.estimators.gem_classifier_cv import GEMClassifierCV
from eigenfeat.estimators.gem_features import GEMFeatures
from eigenfeat.estimators.gem_regressor import GEMRegressor
from eigenfeat.estimators.kernel_features import KernelFisherFeatures, OrientedKernelPCA
from eigenfeat.estimators.kernel_fisher_classifier import KernelFisherClassifier
from eigenfeat.estimators.kernel_fisher_cv import KernelFisherClassifierCV
from eigenfeat.estimators.kernel_fisher_regressor import KernelFisherRegressor
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
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.principal import OrientedPCA, VanishingComponents
from eigenfeat.estimators.rayleigh import RayleighFeatures
from eigenfeat.estimators.score_tensor import ScoreTensorFeatures
from eigenfeat.estimators.sliced_inverse import SlicedInverseRegression
from eigenfeat.estimators.spoc import SPoC
from eigenfeat.export import load, save, to_onnx

__version__ = "0.1.0"

__all__ = [
    "ColumnScaler",
    "ColumnSplines",
    "CommonSpatialPatterns",
    "DenoisingAutoencoder",
    "FisherLDA",
    "GEMClassifier",
    "GEMClassifierCV",
    "GEMFeatures",
    "GEMRegressor",
    "GaussianMixtureScore",
    "HypergraphFeatures",
    "HypergraphFeaturesCV",
    "KernelFisherClassifier",
    "KernelFisherClassifierCV",
    "KernelFisherFeatures",
    "KernelFisherRegressor",
    "LeastSquaresCCA",
    "LeastSquaresCCACV",
    "LeastSquaresFeatures",
    "LeastSquaresFeaturesCV",
    "LeastSquaresLDA",
    "LeastSquaresLDACV",
    "LeastSquaresOPLS",
    "LeastSquaresOPLSCV",
    "MultinomialLogit",
    "OrientedKernelPCA",
    "OrientedPCA",
    "RayleighFeatures",
    "SPoC",
    "ScoreTensorFeatures",
    "SlicedInverseRegression",
    "VanishingComponents",
    "load",
    "save",
    "to_onnx",
]

announce()


def __getattr__(name: str):
    place = MOVED.get(f"eigenfeat.{name}")
    if place:
        raise AttributeError(f"eigenfeat.{name} is gone: use {place}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
