"""eigenfeat: discriminative features from generalized eigenvectors.

Everything here is one idea: choose symmetric matrices S (signal) and N (noise), maximise vᵀSv / vᵀNv, use many v.
"""

from eigenfeat.estimators.fisher_lda import FisherLDA
from eigenfeat.estimators.gem_classifier import GEMClassifier
from eigenfeat.estimators.gem_features import GEMFeatures
from eigenfeat.estimators.multinomial_logit import MultinomialLogit
from eigenfeat.estimators.principal import OrientedPCA, VanishingComponents
from eigenfeat.estimators.rayleigh import RayleighFeatures
from eigenfeat.estimators.score_models import DenoisingAutoencoder, GaussianMixtureScore
from eigenfeat.estimators.score_tensor import ScoreTensorFeatures
from eigenfeat.estimators.sliced_inverse import SlicedInverseRegression

__version__ = "0.1.0"

__all__ = [
    "DenoisingAutoencoder",
    "FisherLDA",
    "GEMClassifier",
    "GEMFeatures",
    "GaussianMixtureScore",
    "MultinomialLogit",
    "OrientedPCA",
    "RayleighFeatures",
    "ScoreTensorFeatures",
    "SlicedInverseRegression",
    "VanishingComponents",
]
