"""The public estimators: thin classes over moments, quotients and solvers."""
