"""All 380 pairs of 20 Newsgroups, exact, in the rows' inner products; and a million hashed columns by random passes.

Word counts, rows scaled to unit length, second moments, ridge 0.1 of the mean diagonal, top 10. Peak memory is that of
the whole process, data and interpreter included.

    python benchmarks/speed/sparse_pairs.py [--quick]
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_news20
from eigenfeat.moments import collect_moments
from eigenfeat.quotients import Regularisation, contrast
from eigenfeat.solvers import Directions, DualVectors, solve

RIDGE = Regularisation(ridge=0.1)
MILLION = 1_000_000


def unit_rows(X: sparse.csr_matrix) -> sparse.csr_matrix:
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sparse.csr_matrix(sparse.diags(1 / np.maximum(norms, 1e-300)) @ X)


def hashed(X: sparse.csr_matrix, n_columns: int) -> sparse.csr_matrix:
    """Columns sent to random places with random signs, and every pair of neighbouring words to one more.

    A multiplicative hash of the column ids, as a feature hasher does with words; the pairs fill the wider space.
    """
    multiplier = np.uint64(0x9E3779B97F4A7C15)

    def place(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mixed = (ids.astype(np.uint64) + np.uint64(1)) * multiplier
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        return (mixed >> np.uint64(20)) % np.uint64(n_columns), 1.0 - 2.0 * (mixed & np.uint64(1)).astype(float)

    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    together = rows[1:] == rows[:-1]
    pair_ids = X.indices[:-1].astype(np.int64) * X.shape[1] + X.indices[1:]
    single, sign = place(X.indices.astype(np.int64))
    double, pair_sign = place(pair_ids[together] + MILLION)
    values = np.concatenate([X.data * sign, np.minimum(X.data[:-1], X.data[1:])[together] * pair_sign])
    where = np.concatenate([rows, rows[1:][together]]), np.concatenate([single, double]).astype(np.int64)
    return sparse.csr_matrix((values, where), shape=(X.shape[0], n_columns))


def checked_residual(quotient, found: Directions) -> float:
    """The largest relative residual from products with the sparse rows, not from inner products."""
    V = found.toarray()
    SV, NV = quotient.signal @ V, quotient.noise @ V
    size = np.linalg.norm(SV, axis=0) + np.abs(found.values) * np.linalg.norm(NV, axis=0)
    return float(np.max(np.linalg.norm(SV - NV * found.values, axis=0) / size))


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def report(title: str, quotients: list, found: list[Directions], spent: float, sample: int) -> str:
    residual = max(float(r.residuals.max()) for r in found)
    checked = max(checked_residual(q, r) for q, r in list(zip(quotients, found))[::sample])
    solvers = ", ".join(sorted({r.solver for r in found}))
    form = "dual coefficients" if isinstance(found[0].vectors, DualVectors) else "dense vectors"
    print(
        f"{title}: {len(quotients)} pairs in {quotients[0].n_features} columns, top {found[0].n_directions}, "
        f"by {solvers} ({form}): {spent:.1f} s, residuals {residual:.0e}, against the sparse rows {checked:.0e}"
    )
    return f"{title} {spent:.1f} s, residual {max(residual, checked):.0e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four classes, one hashed pair")
    quick = parser.parse_args().quick
    X, y, _, _ = load_news20()
    if quick:
        X, y = X[y < 4], y[y < 4]
    X = unit_rows(X)
    classes = len(np.unique(y))
    pairs = [(i, j) for j in range(classes) for i in range(classes) if i != j]

    start = time.perf_counter()
    quotients = contrast(collect_moments(X, y), pairs, regularisation=RIDGE)
    found = solve(quotients, 10)
    spent, memory = time.perf_counter() - start, peak_gigabytes()  # before the check, which forms what a fit does not
    exact = report("news20", quotients, found, spent, sample=19)
    print(f"  from rows to directions, inner products included; peak memory {memory:.2f} GB")
    exact += f", {memory:.2f} GB"

    del quotients, found
    wide = unit_rows(hashed(X, MILLION))
    start = time.perf_counter()
    some = pairs[: 1 if quick else 3]
    quotients = contrast(collect_moments(wide, y), some, regularisation=RIDGE)
    found = solve(quotients, 10, solver="randomized", tol=1e-4)
    random = report("hashed", quotients, found, time.perf_counter() - start, sample=1)
    exactly = solve(quotients, 10, solver="dual")
    error = max(np.max(np.abs(a.values / b.values - 1)) for a, b in zip(found, exactly))
    print(f"  eigenvalues within {error:.0e} of the exact ones; peak memory {peak_gigabytes():.2f} GB")
    print(f"{exact}; {random}")


if __name__ == "__main__":
    main()
