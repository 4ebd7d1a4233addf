"""eigenfeat: discriminative features from generalized eigenvectors."""
