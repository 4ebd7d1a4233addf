"""What the logit sums over blocks of rows: losses, gradients, Hessian products, samples.

Every block has a `LogitObjective` of its own rows, made where the block is; what is here adds up their answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any
from uuid import uuid4

import numpy as np

from eigenfeat.linear.by_weight import heaviest, histogram
from eigenfeat.linear.last_scores import LastScores
from eigenfeat.linear.objective import LogitObjective, row_losses
from eigenfeat.linear.passes import Passes
from eigenfeat.rows.accumulators import Accumulator
from eigenfeat.rows.block import Block, concatenate
from eigenfeat.rows.keys import keys_of, uniforms
from eigenfeat.rows.rows import Decoder
from eigenfeat.rows.sampling import parts_of

LAST_SCORES = LastScores()
"""Of the last passes for a gradient in this process."""


@dataclass(frozen=True)
class LeftOutRows:
    """The rows of one part of so many, cut by keys, and what they weigh of all."""

    n_parts: int
    part: int
    weight: float

    def of(self, block: Block) -> np.ndarray:
        """Which rows of a block."""
        return parts_of(keys_of(block), self.n_parts) == self.part


@dataclass(frozen=True, eq=False)
class BlockObjectives:
    """Objectives of single blocks, without a penalty, that add up to that of all.

    Attributes
    ----------
    decoder : Decoder
        From a stored block to rows in memory.
    n_classes, smoothing, constant, batch_size, n_jobs
        As in `LogitObjective` and `Passes`.
    total : float
        Weight of all rows.
    left_out : LeftOutRows, optional
        Rows that do not count.
    name : str
        Of the rows: tells their scores from those of others.
    """

    decoder: Decoder
    n_classes: int
    smoothing: float
    constant: bool
    total: float
    batch_size: int | None = None
    n_jobs: int | None = None
    left_out: LeftOutRows | None = None
    name: str = field(default_factory=lambda: uuid4().hex)

    def checkpoint_key(self) -> Any:
        """Return all that results of passes follow from: everything but the name, which is another in every fit."""
        return [getattr(self, each.name) for each in fields(self) if each.name != "name"]

    def __deepcopy__(self, memo: dict) -> BlockObjectives:
        """A value: sums that are copied for a pass share it."""
        return self

    def of(self, block: Block) -> Iterator[tuple[Block, LogitObjective]]:
        """The block in parts small enough to be expanded, each with its objective."""
        for part in self.decoder.parts(block):
            yield part, self.over(part, self.passes(part))

    def over(self, part: Block, passes: Any) -> LogitObjective:
        """The objective of a part, given the passes over it, where any are made."""
        weights = np.ones(part.n_rows) if part.weight is None else part.weight
        if self.left_out is not None:
            weights = np.where(self.left_out.of(part), 0.0, weights)
        labels = np.asarray(part.y, dtype=np.intp)
        return LogitObjective(passes, labels, weights / self.total, self.n_classes, 0.0, self.smoothing)

    def place(self, digest: bytes, part: Block) -> tuple:
        """What the scores of a part at coefficients of this digest are kept by."""
        return self.name, part.start, part.n_rows, digest

    def passes(self, block: Block) -> Passes:
        return Passes(self.decoder(block), self.constant, None, self.batch_size, self.n_jobs)


def digest_of(C: np.ndarray) -> bytes:
    """Of coefficients: tells them from others."""
    return blake2b(C.tobytes(), digest_size=16).digest()


@dataclass(frozen=True, eq=False)
class Draw:
    """A block function: rows that count and whose number, drawn for their key, is below a share."""

    share: float
    seed: int
    left_out: LeftOutRows | None = None

    def __call__(self, block: Block) -> Block:
        taken = uniforms(keys_of(block), self.seed) < self.share
        if block.weight is not None:
            taken &= block.weight > 0
        if self.left_out is not None:
            taken &= ~self.left_out.of(block)
        return block.take(np.flatnonzero(taken))


def without(statistic: Accumulator, *names: str) -> Accumulator:
    """A copy that lacks some attributes."""
    other = copy(statistic)
    for name in names:
        delattr(other, name)
    return other


@dataclass(eq=False)
class LossAndGradient(Accumulator):
    blocks: BlockObjectives
    C: np.ndarray
    value: float = 0.0
    gradient: np.ndarray = field(init=False)
    curvatures: np.ndarray = field(default_factory=lambda: histogram(np.zeros(0)))

    def __post_init__(self) -> None:
        self.gradient, self.digest = np.zeros(self.C.shape), digest_of(self.C)

    def update(self, block: Block) -> None:
        for part, objective in self.blocks.of(block):
            point = objective.at(self.C)
            LAST_SCORES.keep(self.blocks.place(self.digest, part), point.scores)
            self.value += point.value
            self.gradient += point.gradient
            self.curvatures += histogram(objective.weights * point.row_curvature)

    def result(self) -> Accumulator:
        return without(self, "blocks", "C")

    def merge(self, other: LossAndGradient) -> None:
        self.value += other.value
        self.gradient += other.gradient
        self.curvatures += other.curvatures


@dataclass(eq=False)
class LossesAlong(Accumulator):
    """Losses at steps of some lengths from the first of two points, side by side in ``ends``, to the second."""

    blocks: BlockObjectives
    ends: np.ndarray
    steps: np.ndarray
    values: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.values = np.zeros(len(self.steps))
        self.digests = [digest_of(C) for C in np.hsplit(self.ends, 2)]

    def update(self, block: Block) -> None:
        for part in self.blocks.decoder.parts(block):
            start, end = (self._scores(part, *point) for point in zip(self.digests, np.hsplit(self.ends, 2)))
            objective, way = self.blocks.over(part, None), end - start
            for i, step in enumerate(self.steps):
                losses = row_losses(start + start.dtype.type(step) * way, objective)
                self.values[i] += float(objective.weights @ losses)

    def _scores(self, part: Block, digest: bytes, C: np.ndarray) -> np.ndarray:
        known = LAST_SCORES.of(self.blocks.place(digest, part))
        return self.blocks.passes(part).scores(C) if known is None else known

    def result(self) -> Accumulator:
        return without(self, "blocks", "ends")

    def merge(self, other: LossesAlong) -> None:
        self.values += other.values


@dataclass(eq=False)
class HessianProduct(Accumulator):
    blocks: BlockObjectives
    C: np.ndarray
    V: np.ndarray
    bound: float
    product: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.product = np.zeros(self.C.shape)

    def update(self, block: Block) -> None:
        for _, objective in self.blocks.of(block):
            point = objective.seen(self.C)
            weights = objective.weights * point.row_curvature
            if (weights >= self.bound).any():
                self.product += objective.curvature_above(point, self.bound, weights) @ self.V

    def result(self) -> Accumulator:
        return without(self, "blocks", "C", "V")

    def merge(self, other: HessianProduct) -> None:
        self.product += other.product


@dataclass(eq=False)
class ColumnSquares(Accumulator):
    """Squares of the columns over rows weighted as they are, or with their mean curvature at a point C; over a draw of
    them, where there is one."""

    blocks: BlockObjectives
    C: np.ndarray | None = None
    draw: Draw | None = None
    squares: Any = 0.0

    def update(self, block: Block) -> None:
        if self.draw is not None:
            block = self.draw(block)
        for _, objective in self.blocks.of(block):
            weights = objective.weights if self.C is None else objective.mean_curvature(objective.seen(self.C))
            self.squares = self.squares + objective.passes.weighted_squares(weights)

    def merge(self, other: ColumnSquares) -> None:
        self.squares = self.squares + other.squares


@dataclass(eq=False)
class CurvedSample(Accumulator):
    """The rows of largest priority: see `LogitObjective.curved_sample`."""

    blocks: BlockObjectives
    C: np.ndarray
    count: int
    seed: int
    scale: np.ndarray | None
    kept: list[Block] = field(default_factory=list)
    curvatures: np.ndarray = field(default_factory=lambda: np.empty(0))
    masses: np.ndarray = field(default_factory=lambda: np.empty(0))
    uniforms: np.ndarray = field(default_factory=lambda: np.empty(0))
    least: float = 0.0

    def update(self, block: Block) -> None:
        for part, objective in self.blocks.of(block):
            curvatures = objective.mean_curvature(objective.seen(self.C))
            masses = curvatures if self.scale is None else curvatures * objective.passes.row_squares(self.scale)
            drawn = uniforms(keys_of(part), self.seed)
            chosen, _ = heaviest(masses, drawn, self.count + 1)
            if len(chosen):
                self._add([part.take(chosen)], curvatures[chosen], masses[chosen], drawn[chosen])

    def merge(self, other: CurvedSample) -> None:
        self._add(other.kept, other.curvatures, other.masses, other.uniforms)

    def thinned(self) -> CurvedSample:
        """No more rows than were asked for."""
        chosen, self.least = heaviest(self.masses, self.uniforms, self.count)
        self._take(chosen)
        return self

    def _add(self, kept: list[Block], curvatures: np.ndarray, masses: np.ndarray, drawn: np.ndarray) -> None:
        self.kept = [*self.kept, *kept]
        self.curvatures = np.append(self.curvatures, curvatures)
        self.masses, self.uniforms = np.append(self.masses, masses), np.append(self.uniforms, drawn)
        if len(self.masses) > 2 * (self.count + 1):  # one more than asked for: its priority is the least that counts
            self._take(heaviest(self.masses, self.uniforms, self.count + 1)[0])

    def _take(self, chosen: np.ndarray) -> None:
        self.kept = [concatenate(self.kept).take(chosen)]
        self.curvatures, self.masses = self.curvatures[chosen], self.masses[chosen]
        self.uniforms = self.uniforms[chosen]


@dataclass(eq=False)
class PartWeights(Accumulator):
    """What each of so many parts of the rows weighs."""

    n_parts: int
    weights: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.weights = np.zeros(self.n_parts)

    def update(self, block: Block) -> None:
        self.weights += np.bincount(parts_of(keys_of(block), self.n_parts), block.weight, minlength=self.n_parts)

    def merge(self, other: PartWeights) -> None:
        self.weights += other.weights


@dataclass(eq=False)
class Scores(Accumulator):
    """Scores, labels and weights of left-out rows."""

    blocks: BlockObjectives
    rows: LeftOutRows
    C: np.ndarray
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)

    def update(self, block: Block) -> None:
        for part, objective in self.blocks.of(block):
            chosen = np.flatnonzero(self.rows.of(part) & (objective.weights > 0))
            if len(chosen):
                self.parts.append(objective.scored(chosen, self.C))

    def merge(self, other: Scores) -> None:
        self.parts = [*self.parts, *other.parts]
