"""eigenfeat: discriminative features from generalized eigenvectors.

Everything here is one idea: choose symmetric matrices S (signal) and N (noise), maximise vᵀSv / vᵀNv, use many v.
"""

from eigenfeat.estimators.fisher_lda import FisherLDA
from eigenfeat.estimators.kernel_features import KernelFisherFeatures, OrientedKernelPCA
from eigenfeat.estimators.kernel_fisher import (
    KernelFisherClassifier,
    KernelFisherClassifierCV,
    KernelFisherRegressor,
)
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.principal import OrientedPCA, VanishingComponents
from eigenfeat.estimators.rayleigh import RayleighFeatures
from eigenfeat.estimators.sliced_inverse import SlicedInverseRegression

__version__ = "0.1.0"

__all__ = [
    "FisherLDA",
    "KernelFisherClassifier",
    "KernelFisherClassifierCV",
    "KernelFisherFeatures",
    "KernelFisherRegressor",
    "MultinomialLogit",
    "OrientedKernelPCA",
    "OrientedPCA",
    "RayleighFeatures",
    "SlicedInverseRegression",
    "VanishingComponents",
]
