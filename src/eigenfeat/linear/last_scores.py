"""Scores that the last passes made in this process: a search along a line between two points asks for them again.

In memory they are a part of a point. Of a stream they stay where its blocks were worked on, if they take little room,
and are made again where they are not found: a worker is another one now, or they have made room for later ones.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from eigenfeat._runtime.config import current

SHARE = 8
"""The part, one in so many, of the memory limit that scores may take."""

MOST_BYTES = 400_000_000
"""That they take at most: they stay until those of a later fit come."""


class LastScores:
    """The latest scores of blocks by what they belong to, the oldest of which go first."""

    def __init__(self) -> None:
        self._scores: dict[Hashable, np.ndarray] = {}
        self._n_bytes = 0

    def keep(self, place: Hashable, scores: np.ndarray) -> None:
        self._drop(place)
        self._scores[place] = scores
        self._n_bytes += scores.nbytes
        limit = min(current().memory_budget // SHARE, MOST_BYTES)
        while self._n_bytes > limit:
            self._drop(next(iter(self._scores)))

    def of(self, place: Hashable) -> np.ndarray | None:
        """Scores that are still known."""
        return self._scores.get(place)

    def _drop(self, place: Hashable) -> None:
        found = self._scores.pop(place, None)
        self._n_bytes -= 0 if found is None else found.nbytes
