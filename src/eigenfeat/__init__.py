"""eigenfeat: discriminative features from generalized eigenvectors."""

from eigenfeat.estimators.multinomial_logit import MultinomialLogit

__all__ = ["MultinomialLogit"]
