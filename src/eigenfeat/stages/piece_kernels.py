"""Compiled products with polynomials a piece: the loops over values, a vector of classes in registers.

A value is a place z and the number of its piece; ``coefficients[j, piece]`` is a line of numbers: for every class the
coefficient of ``z^first`` in its score, then for every class that of the next power, and so on. Every value touches the
line of its piece and nothing else. A segment, the part of a line that belongs to one power, is either padded to whole
vectors, or only the line is (*packed*): of ten classes and three powers that is four vectors of eight instead of six.
Rows of scores and of values to add, (n, width), are as wide as a segment; where lines are packed they are as wide as a
line, and have a part for every power.

A compiler left alone cannot know that arrays do not overlap and works class by class, four times as slow; so the vector
operations are written out for it. Sizes it must know are given as lengths of tuples.
"""

from __future__ import annotations

from functools import cached_property

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from eigenfeat._runtime.jit import jit

VECTOR_BYTES = 32
"""Of what most processors multiply at once; others are given it in parts."""

IN_REGISTERS = 8
"""Vectors of sums that a processor has registers for beside all else."""

STORED_TOGETHER = 4
"""Vectors next to each other: processors take such stores two at a time."""

TILE = 32
"""Projections whose lines stay in the first cache while a block of rows goes by."""

# What a multiplication and an addition need to become one instruction.
FUSED = ("contract", "nsz")


class _Row:
    """The values of one row, j by j, and where the line of each is."""

    def __init__(self, context, builder, signature, arguments):
        places, pieces, row, coefficients = (
            cgutils.create_struct_proxy(kind)(context, builder, value)
            for kind, value in zip(signature.args[:4], arguments[:4])
        )
        self.segment, self.n_powers, self.first = (len(kind) for kind in signature.args[6:9])
        self.builder, self.number = builder, context.get_value_type(signature.args[0].dtype)
        self.itemsize = 4 if isinstance(self.number, ir.FloatType) else 8
        self.vector = ir.VectorType(self.number, VECTOR_BYTES // self.itemsize)
        self.n_vectors = -(-self.segment * self.n_powers // self.vector.count)
        self.packed = self.segment % self.vector.count > 0
        self.width = self.n_vectors if self.packed else self.segment // self.vector.count
        self.places, self.pieces = places.data, pieces.data
        self.row, self.lines = (builder.bitcast(array.data, self.vector.as_pointer()) for array in (row, coefficients))
        self.n_pieces = builder.extract_value(coefficients.shape, 1)
        self.start, self.stop = arguments[4:6]

    def values(self, start, stop, step=1):
        return cgutils.for_range_slice(self.builder, start, stop, start.type(step), start.type, inc=True)

    def load(self, pointer, number):
        return self.builder.load(self.builder.gep(pointer, [self.start.type(number)]), align=self.itemsize)

    def store(self, value, pointer, number):
        self.builder.store(value, self.builder.gep(pointer, [self.start.type(number)]), align=self.itemsize)

    def line(self, j):
        """Pointer to the first vector of the line of value j."""
        b = self.builder
        piece = b.zext(b.load(b.gep(self.pieces, [j])), j.type)
        number = b.mul(b.add(b.mul(j, self.n_pieces), piece), j.type(self.n_vectors))
        return b.gep(self.lines, [number])

    def times_plus(self, a, x, c):
        return self.builder.fadd(self.builder.fmul(a, x, flags=FUSED), c, flags=FUSED)


class _Powers:
    """Powers of a place, as they stand in the vectors of a line."""

    def __init__(self, row, j):
        self.row, self.builder, self.size = row, row.builder, row.vector.count
        b, nothing, index = row.builder, ir.Constant(row.vector, ir.Undefined), ir.IntType(32)
        lane = b.insert_element(nothing, b.load(b.gep(row.places, [j])), index(0))
        self.place = b.shuffle_vector(lane, nothing, ir.Constant(ir.VectorType(index, self.size), [0] * self.size))

    @cached_property
    def everywhere(self):
        """Each power in all of a vector."""
        powers = [self.place if self.row.first else ir.Constant(self.row.vector, [1.0] * self.size)]
        for _ in range(1, self.row.n_powers):
            powers.append(self.builder.fmul(powers[-1], self.place))
        return powers

    def in_vector(self, number):
        """What every entry of a vector of the line is multiplied by; beyond the last segment it does not matter."""
        places = range(number * self.size, (number + 1) * self.size)
        own = [min(place // self.row.segment, self.row.n_powers - 1) for place in places]
        value = self.everywhere[own[0]]
        for power in sorted(set(own) - {own[0]}):
            here = ir.Constant(ir.VectorType(ir.IntType(1), self.size), [int(other == power) for other in own])
            value = self.builder.select(here, self.everywhere[power], value)
        return value


def _with_scores(row, j, sums):
    """The sums of a row with the scores of one more value."""
    line, powers = row.line(j), _Powers(row, j)
    if row.packed:
        return [row.times_plus(row.load(line, v), powers.in_vector(v), total) for v, total in enumerate(sums)]
    found = []
    for v, total in enumerate(sums):  # Horner
        *lower, value = (row.load(line, v + q * row.width) for q in range(row.n_powers))
        for coefficient in reversed(lower):
            value = row.times_plus(value, powers.place, coefficient)
        found.append(row.times_plus(value, powers.everywhere[0], total))
    return found


@intrinsic
def _score_row(typingctx, places, pieces, scores, coefficients, start, stop, segment, powers, first):
    def generate(context, builder, signature, arguments):
        row = _Row(context, builder, signature, arguments)
        # A sum waits for the one before it: values that are added at once have sums of their own.
        at_once = max(1, min(4, IN_REGISTERS // row.width))
        nothing = ir.Constant(row.vector, [0.0] * row.vector.count)
        started = [row.load(row.row, v) for v in range(row.width)]
        firsts = [started] + (at_once - 1) * [row.width * [nothing]]
        sums = [[cgutils.alloca_once_value(builder, value) for value in first] for first in firsts]

        def add(j, own):
            for total, found in zip(own, _with_scores(row, j, [builder.load(total) for total in own])):
                builder.store(found, total)

        whole = builder.sub(row.stop, builder.srem(builder.sub(row.stop, row.start), row.start.type(at_once)))
        with row.values(row.start, whole, at_once) as (j, _):
            for u, own in enumerate(sums):
                add(builder.add(j, j.type(u)), own)
        with row.values(whole, row.stop) as (j, _):
            add(j, sums[0])
        for v, totals in enumerate(zip(*sums)):
            total, *others = map(builder.load, totals)
            for other in others:
                total = builder.fadd(total, other)
            row.store(total, row.row, v)
        return context.get_dummy_value()

    return types.void(places, pieces, scores, coefficients, start, stop, segment, powers, first), generate


@intrinsic
def _add_row(typingctx, places, pieces, values, coefficients, start, stop, segment, powers, first):
    def generate(context, builder, signature, arguments):
        row = _Row(context, builder, signature, arguments)
        own = [row.load(row.row, v) for v in range(row.width)]
        with row.values(row.start, row.stop) as (j, _):
            line, powers = row.line(j), _Powers(row, j)
            for start in range(0, row.n_vectors, STORED_TOGETHER):
                numbers = range(start, min(start + STORED_TOGETHER, row.n_vectors))
                # Not fused: sums then come straight from memory.
                parts = [builder.fmul(own[v % row.width], powers.in_vector(v)) for v in numbers]
                sums = [builder.fadd(row.load(line, v), part) for v, part in zip(numbers, parts)]
                for v, total in zip(numbers, sums):
                    row.store(total, line, v)
        return context.get_dummy_value()

    return types.void(places, pieces, values, coefficients, start, stop, segment, powers, first), generate


@jit(nogil=True, fast_division=True)
def add_scores(places, pieces, coefficients, scores, segment, powers, first):  # pragma: no cover - compiled
    """Adds to (n, width) scores those of (n, m) values; coefficients are (m, n_pieces, width)."""
    n, m = places.shape
    for start in range(0, m, TILE):
        stop = min(start + TILE, m)
        for i in range(n):
            _score_row(places[i], pieces[i], scores[i], coefficients, start, stop, segment, powers, first)  # type: ignore[call-arg]


@jit(nogil=True, fast_division=True)
def add_powers(places, pieces, coefficients, values, segment, powers, first):  # pragma: no cover - compiled
    """The transpose: adds to coefficients the (n, width) values of every row, times the powers of its places."""
    n, m = places.shape
    for start in range(0, m, TILE):
        stop = min(start + TILE, m)
        for i in range(n):
            _add_row(places[i], pieces[i], values[i], coefficients, start, stop, segment, powers, first)  # type: ignore[call-arg]


@jit(nogil=True, fast_division=True)
def drain(sums, total):  # pragma: no cover - compiled
    """Moves sums over a block to the total, in float64, and leaves zeros."""
    for i in range(len(sums)):
        total[i] += sums[i]
        sums[i] = 0
