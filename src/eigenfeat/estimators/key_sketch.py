"""How many different keys there are, from the smallest of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

MOST_KEYS, CLASS_KEYS = 2**18, 2**14
"""Keys that are counted one by one, in all and of a class; of more, the number is estimated (to 0.2 % and 0.8 %)."""

KEY_RANGE = 2**31
"""Keys are as good as random below this."""


@dataclass(eq=False)
class DistinctKeys:
    """The smallest different keys seen, and how many there are in all: exact up to ``most``.

    With m keys kept of which the largest is at share x of their range, there are about (m - 1) / x (Bar-Yossef et al.
    2002). What it keeps does not depend on the order the keys came in.

    Examples
    --------
    >>> sketch = DistinctKeys()
    >>> sketch.add(np.array([5, 3, 5, 8]))
    >>> sketch.count, sketch.smallest.tolist()
    (3, [3, 5, 8])
    """

    most: int = MOST_KEYS
    smallest: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    is_full: bool = False

    def add(self, keys: np.ndarray, from_full: bool = False) -> None:
        """More keys; ``from_full``: the smallest that another sketch kept of more."""
        if self.is_full:
            keys = keys[keys < self.smallest[-1]]
        together = np.sort(np.concatenate([self.smallest, keys]), kind="stable")  # the first part is sorted already
        together = together[np.append(True, together[1:] != together[:-1])[: len(together)]]
        self.is_full = self.is_full or from_full or len(together) > self.most
        self.smallest = together[: self.most]

    @property
    def count(self) -> int:
        if not self.is_full:
            return len(self.smallest)
        return round((len(self.smallest) - 1) * KEY_RANGE / (int(self.smallest[-1]) + 1))


def n_distinct(keys: np.ndarray, most: int = MOST_KEYS) -> int:
    """How many different keys these are."""
    sketch = DistinctKeys(most)
    sketch.add(keys)
    return sketch.count
