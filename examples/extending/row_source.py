"""A row source of one's own: batches of a generator, as many as there are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from eigenfeat.moments import collect_moments
from eigenfeat.quotients import fisher
from eigenfeat.rows import Block, Rows
from eigenfeat.solvers import solve


@dataclass(frozen=True, eq=False)
class BatchRows(Rows):
    """Labelled rows of ``open_batches()``, a function that starts the stream anew: one call a pass.

    Width and type are all that must be known beforehand. A source whose rows can be asked for in any order derives from
    `RandomAccessRows` and writes ``n_rows`` and ``block`` instead.
    """

    open_batches: Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]
    width: int

    @property
    def n_columns(self):
        return self.width

    @property
    def dtype(self):
        return np.dtype(np.float64)

    def blocks(self, batch_size=None):
        start = 0
        for rows, labels in self.open_batches():
            yield Block(rows, labels, start=start)
            start += len(rows)


def batches():
    rng = np.random.default_rng(0)
    for _ in range(20):  # files, pages of a data base, a simulation
        labels = rng.integers(3, size=100)
        yield rng.normal(size=(100, 5)) + labels[:, None] * np.array([2.0, 1.0, 0.0, 0.0, 0.0]), labels


stream = BatchRows(batches, width=5)
moments = collect_moments(stream)
directions = solve([fisher(moments)], n_components=1)[0]
print(stream.n_rows, moments.counts, directions.values.round(1))
