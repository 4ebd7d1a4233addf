"""The public names, each with the module it is imported from when it is first asked for."""

from ._runtime.config import runtime
from .estimators.column_scaler import ColumnScaler
from .estimators.column_splines import ColumnSplines
from .estimators.common_spatial_patterns import CommonSpatialPatterns
from .estimators.denoising_autoencoder import DenoisingAutoencoder
from .estimators.fisher_lda import FisherLDA
from .estimators.gaussian_mixture_score import GaussianMixtureScore
from .estimators.gem_classifier import GEMClassifier
from .estimators.gem_classifier_cv import GEMClassifierCV
from .estimators.gem_features import GEMFeatures
from .estimators.gem_regressor import GEMRegressor
from .estimators.kernel_features import KernelFisherFeatures, OrientedKernelPCA
from .estimators.kernel_fisher_classifier import KernelFisherClassifier
from .estimators.kernel_fisher_cv import KernelFisherClassifierCV
from .estimators.kernel_fisher_regressor import KernelFisherRegressor
from .estimators.kernel_rayleigh import KernelRayleighFeatures
from .estimators.least_squares import (
    HypergraphFeatures,
    LeastSquaresCCA,
    LeastSquaresFeatures,
    LeastSquaresLDA,
    LeastSquaresOPLS,
)
from .estimators.least_squares_cv import (
    HypergraphFeaturesCV,
    LeastSquaresCCACV,
    LeastSquaresFeaturesCV,
    LeastSquaresLDACV,
    LeastSquaresOPLSCV,
)
from .estimators.multinomial_logit import MultinomialLogit
from .estimators.principal import OrientedPCA, VanishingComponents
from .estimators.rayleigh import RayleighFeatures
from .estimators.score_tensor import ScoreTensorFeatures
from .estimators.score_tensor_classifier import ScoreTensorClassifier
from .estimators.sliced_inverse import SlicedInverseRegression
from .estimators.spoc import SPoC
from .export import load, save, to_onnx
from .tables import TableEncoder, make_tabular

__version__: str

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
    "KernelRayleighFeatures",
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
    "ScoreTensorClassifier",
    "ScoreTensorFeatures",
    "SlicedInverseRegression",
    "TableEncoder",
    "VanishingComponents",
    "load",
    "make_tabular",
    "runtime",
    "save",
    "to_onnx",
]
