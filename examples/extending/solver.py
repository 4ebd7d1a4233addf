"""A solver of one's own: SciPy's LOBPCG, in the table of the library's solvers."""

import numpy as np
from scipy.sparse.linalg import lobpcg

from eigenfeat.moments import DenseForm
from eigenfeat.quotients import Quotient
from eigenfeat.solvers import (
    LARGEST,
    MODERATE,
    N_COMPONENTS,
    SOLVERS,
    Request,
    Solver,
    SolverTable,
    factor_noise,
    finish,
    never,
)


def solve_group(quotients, request):
    """Directions of problems that share one noise matrix, which is factored once for all of them."""
    noise = factor_noise(quotients[0].noise, request.dtype, quotients[0].label)
    rng = np.random.default_rng(request.seed)
    found = []
    for quotient in quotients:
        S, N = quotient.signal.toarray(), quotient.noise.toarray()
        start = rng.standard_normal((quotient.n_features, request.count(quotient.n_features)))
        values, vectors = lobpcg(S, start, B=N, tol=request.tol, maxiter=500)
        # Scale, sign, residual and threshold have one owner each; `finish` asks them.
        found += finish([quotient], vectors[None], values[None], request, LOBPCG.name, noise)
    return found


# Requirements say why it cannot run, suits whether "auto" may take it: this one has to be asked for.
LOBPCG = Solver("lobpcg", solve_group, requires=(MODERATE, LARGEST, N_COMPONENTS), suits=never)
table = SolverTable((*SOLVERS.solvers, LOBPCG), SOLVERS.describe)

rng = np.random.default_rng(0)
A, B = (rng.standard_normal((400, 80)) * np.linspace(1, high, 80) for high in (3, 1))
quotient = Quotient(DenseForm(A.T @ A / 400), DenseForm(B.T @ B / 400, 0.1), label="A over B")
request = Request(n_components=3, which="largest", min_eigenvalue=None, tol=1e-8, dtype=np.dtype(float), seed=0)

directions = table.choose("lobpcg", quotient, request).solve([quotient], request)[0]
exact = table.choose("dense", quotient, request).solve([quotient], request)[0]
print(directions.solver, directions.converged, np.allclose(directions.values, exact.values))
