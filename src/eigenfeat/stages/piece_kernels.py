"""Compiled products with polynomials a piece: the loops over values, a vector of all classes in registers.

A value is a place z and the number of its piece; ``coefficients[j, piece, q, c]`` are those of ``z^(first + q)`` in the
score of class c. Every value touches the ``n_powers`` vectors of its piece and nothing else. A compiler left alone
cannot know that scores and coefficients do not overlap and works class by class, four times as slow; so the vector
operations are written out for it. Sizes it must know are given as lengths of tuples.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

TILE = 16
"""Projections whose coefficients stay in the first cache while a block of rows goes by."""

# What a multiplication and an addition need to become one instruction.
FUSED = ("contract", "nsz")


class _Row:
    """The values of one row, j by j, and where the coefficients of each are."""

    def __init__(self, context, builder, signature, arguments):
        places, pieces, row, coefficients = (
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args[:4], arguments[:4])
        )
        lanes, powers, first = (len(kind) for kind in signature.args[6:9])
        self.builder, self.n_powers, self.first = builder, powers, first
        self.number = context.get_value_type(signature.args[0].dtype)
        self.vector = ir.VectorType(self.number, lanes)
        self.places, self.pieces, self.coefficients = places.data, pieces.data, coefficients.data
        self.n_pieces = builder.extract_value(coefficients.shape, 1)
        self.start, self.stop = arguments[4:6]
        self.row = builder.bitcast(row.data, self.vector.as_pointer())

    @property
    def values(self):
        return cgutils.for_range_slice(
            self.builder, self.start, self.stop, self.start.type(1), self.start.type, inc=True
        )

    def load(self, pointer):
        return self.builder.load(pointer, align=4 if isinstance(self.number, ir.FloatType) else 8)

    def store(self, value, pointer):
        self.builder.store(value, pointer, align=4 if isinstance(self.number, ir.FloatType) else 8)

    def place(self, j):
        """z_j in every lane."""
        b, nothing = self.builder, ir.Constant(self.vector, ir.Undefined)
        lane = b.insert_element(nothing, b.load(b.gep(self.places, [j])), ir.IntType(32)(0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), self.vector.count), [0] * self.vector.count)
        return b.shuffle_vector(lane, nothing, everywhere)

    def pointers(self, j):
        """To the vectors of the powers of value j, the lowest first."""
        b = self.builder
        piece = b.zext(b.load(b.gep(self.pieces, [j])), j.type)
        number = b.add(b.mul(j, self.n_pieces), piece)
        base = b.mul(number, j.type(self.n_powers * self.vector.count))
        offsets = [b.add(base, j.type(q * self.vector.count)) for q in range(self.n_powers)]
        return [b.bitcast(b.gep(self.coefficients, [at]), self.vector.as_pointer()) for at in offsets]

    def times_plus(self, a, x, c):
        return self.builder.fadd(self.builder.fmul(a, x, FUSED), c, FUSED)


@intrinsic
def _score_row(typingctx, places, pieces, scores, coefficients, start, stop, lanes, powers, first):
    def generate(context, builder, signature, arguments):
        row = _Row(context, builder, signature, arguments)
        total = cgutils.alloca_once_value(builder, row.load(row.row))
        with row.values as (j, _):
            z = row.place(j)
            *lower, value = map(row.load, row.pointers(j))
            for coefficient in reversed(lower):  # Horner
                value = row.times_plus(value, z, coefficient)
            if row.first:
                value = row.times_plus(value, z, builder.load(total))
            else:
                value = builder.fadd(value, builder.load(total), FUSED)
            builder.store(value, total)
        row.store(builder.load(total), row.row)
        return context.get_dummy_value()

    return types.void(places, pieces, scores, coefficients, start, stop, lanes, powers, first), generate


@intrinsic
def _add_row(typingctx, places, pieces, values, coefficients, start, stop, lanes, powers, first):
    def generate(context, builder, signature, arguments):
        row = _Row(context, builder, signature, arguments)
        own = row.load(row.row)
        with row.values as (j, _):
            z, power = row.place(j), own
            for q, pointer in enumerate(row.pointers(j)):
                if q or row.first:
                    power = builder.fmul(power, z)
                row.store(builder.fadd(row.load(pointer), power), pointer)
        return context.get_dummy_value()

    return types.void(places, pieces, values, coefficients, start, stop, lanes, powers, first), generate


@njit(cache=True, nogil=True, error_model="numpy")
def add_scores(places, pieces, coefficients, scores, lanes, powers, first):  # pragma: no cover - compiled
    """Adds to (n, lanes) scores those of (n, m) values; coefficients are (m, n_pieces, powers, lanes)."""
    n, m = places.shape
    for start in range(0, m, TILE):
        stop = min(start + TILE, m)
        for i in range(n):
            _score_row(places[i], pieces[i], scores[i], coefficients, start, stop, lanes, powers, first)  # type: ignore[call-arg]


@njit(cache=True, nogil=True, error_model="numpy")
def add_powers(places, pieces, coefficients, values, lanes, powers, first):  # pragma: no cover - compiled
    """The transpose: adds to coefficients the (n, lanes) values of every row, times the powers of its places."""
    n, m = places.shape
    for start in range(0, m, TILE):
        stop = min(start + TILE, m)
        for i in range(n):
            _add_row(places[i], pieces[i], values[i], coefficients, start, stop, lanes, powers, first)  # type: ignore[call-arg]


@njit(cache=True, nogil=True, error_model="numpy")
def drain(sums, total):  # pragma: no cover - compiled
    """Moves sums over a block to the total, in float64, and leaves zeros."""
    for i in range(len(sums)):
        total[i] += sums[i]
        sums[i] = 0
