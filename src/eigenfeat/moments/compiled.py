"""The two loops of the moments that touch every number once where array expressions would touch it often."""

from __future__ import annotations

from eigenfeat._runtime.jit import jit


@jit(nogil=True)
def gather_shifted(X, order, shift, out):  # pragma: no cover - compiled
    """``out[i] = X[order[i]] - shift``, in the type of ``out``."""
    d = X.shape[1]
    for i in range(len(order)):
        row, place = X[order[i]], out[i]
        for j in range(d):
            place[j] = row[j] - shift[j]


@jit(nogil=True)
def fold_centred(product, first, weight, scatter):  # pragma: no cover - compiled
    """Add the centred product ``P - s sᵀ/w`` to ``scatter``."""
    d = product.shape[0]
    for i in range(d):
        mean = first[i] / weight
        for j in range(d):
            scatter[i, j] += product[i, j] - mean * first[j]
