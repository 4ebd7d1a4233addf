"""Compiled location of values between knots: vectors of projections against one knot after the other.

A compiler left alone makes no vectors of a choice between knots, because arrays may overlap: see
`eigenfeat.stages.piece_kernels`, which goes on with what is found here.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from eigenfeat._runtime.jit import jit
from eigenfeat.stages.piece_kernels import VECTOR_BYTES

TILE = 128
"""Projections whose knots stay in the first cache while a block of rows goes by."""


def locate(projections, knots, per_length, places, pieces) -> None:
    """Fill places within pieces, from 0 to 1, and the numbers (uint8) of the pieces.

    Parameters
    ----------
    projections, places, pieces : (n, m) arrays
    knots : (n_pieces + 1, m) array
        Ascending; values beyond the ends count as the ends.
    per_length : (n_pieces, m) array
        One over the lengths of the pieces.
    """
    if projections.shape[1] >= VECTOR_BYTES // projections.itemsize:
        _locate_vectors(projections, knots, per_length, places, pieces, (0,) * (len(knots) - 2))
    else:
        _locate_values(projections, knots, per_length, places, pieces)


@intrinsic
def _locate_vector(typingctx, values, knots, per_length, places, pieces, j, inner):
    """Of the values from j on as many as a vector has; the length of ``inner`` is the number of knots between ends."""

    def generate(context, builder, signature, arguments):
        values, knots, per_length, places, pieces = (
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args[:5], arguments[:5])
        )
        at, n_inner = arguments[5], len(signature.args[6])
        number = context.get_value_type(signature.args[0].dtype)
        itemsize = 4 if isinstance(number, ir.FloatType) else 8
        size = VECTOR_BYTES // itemsize
        vector, whole = ir.VectorType(number, size), ir.VectorType(ir.IntType(8 * itemsize), size)

        def load(array, at):
            return builder.load(builder.bitcast(builder.gep(array.data, [at]), vector.as_pointer()), align=itemsize)

        def store(value, array, align):
            pointer = builder.bitcast(builder.gep(array.data, [arguments[5]]), value.type.as_pointer())
            builder.store(value, pointer, align=align)

        x, low, scale = load(values, at), load(knots, at), load(per_length, at)
        below, piece = low, ir.Constant(whole, [0] * size)
        for _ in range(n_inner):
            at = builder.add(at, builder.extract_value(knots.shape, 1))
            knot = load(knots, at)
            beyond = builder.fcmp_ordered(">=", x, knot)
            below = builder.select(beyond, knot, below)
            scale = builder.select(beyond, load(per_length, at), scale)
            piece = builder.sub(piece, builder.sext(beyond, whole))
        high = load(knots, builder.add(at, builder.extract_value(knots.shape, 1)))
        x = builder.select(builder.fcmp_ordered("<", x, low), low, x)
        x = builder.select(builder.fcmp_ordered(">", x, high), high, x)
        store(builder.fmul(builder.fsub(x, below), scale), places, itemsize)
        store(builder.trunc(piece, ir.VectorType(ir.IntType(8), size)), pieces, 1)
        return context.get_dummy_value()

    return types.void(values, knots, per_length, places, pieces, j, inner), generate


@jit(nogil=True, fast_division=True)
def _locate_vectors(projections, knots, per_length, places, pieces, inner):  # pragma: no cover - compiled
    n, m = projections.shape
    size = VECTOR_BYTES // projections.itemsize
    for start in range(0, m, TILE):
        for i in range(n):
            for j in range(start, min(start + TILE, m), size):  # of the last vector some values once more
                _locate_vector(projections[i], knots, per_length, places[i], pieces[i], min(j, m - size), inner)  # type: ignore[call-arg]


@jit(nogil=True, fast_division=True)
def _locate_values(projections, knots, per_length, places, pieces):  # pragma: no cover - compiled
    n, m = projections.shape
    last = knots.shape[0] - 1
    for i in range(n):
        for j in range(m):
            x = min(max(projections[i, j], knots[0, j]), knots[last, j])
            k = 0
            for q in range(1, last):
                k += x >= knots[q, j]
            places[i, j] = (x - knots[k, j]) * per_length[k, j]
            pieces[i, j] = k
