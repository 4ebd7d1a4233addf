"""The two loops of the moments that touch every number once where array expressions would touch it often."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def gather_shifted(X, order, shift, out):  # pragma: no cover - compiled
    """``out[i] = X[order[i]] - shift``, in the type of ``out``."""
    d = X.shape[1]
    for i in range(len(order)):
        row, place = X[order[i]], out[i]
        for j in range(d):
            place[j] = row[j] - shift[j]


@njit(cache=True, nogil=True)
def fold_lower(product, first, weight, scatter):  # pragma: no cover - compiled
    """Add ``P - s sᵀ/w`` to ``scatter``, P given by its lower triangle in Fortran order: centred, symmetric."""
    d = product.shape[0]
    tile = 32  # both triangles are written: tiles keep the transposed writes in cache
    for a in range(0, d, tile):
        for b in range(0, a + 1, tile):
            for j in range(b, min(b + tile, d)):
                for i in range(max(a, j), min(a + tile, d)):
                    value = product[i, j] - first[i] * first[j] / weight
                    scatter[i, j] += value
                    if i != j:
                        scatter[j, i] += value
