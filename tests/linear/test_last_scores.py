"""Scores are found while there is room for them, and never those of others."""

import numpy as np
import pytest

import eigenfeat
from eigenfeat.linear import last_scores
from eigenfeat.linear.last_scores import LastScores
from eigenfeat.linear.streamed import StreamedObjective
from eigenfeat.rows import ClassCounts, open
from eigenfeat.rows.rows import Decoder


def test_the_oldest_make_room():
    scores = LastScores()
    with eigenfeat.runtime(last_scores.SHARE * 100):
        for place in "abc":
            scores.keep(place, np.zeros(5))
        assert scores.of("a") is None and scores.of("b") is not None and scores.of("c") is not None
        scores.keep("c", np.ones(2))
        scores.keep("d", np.zeros(5))
        assert scores.of("b") is not None and scores.of("c").tolist() == [1, 1]
        scores.keep("large", np.zeros(50))
        assert all(scores.of(place) is None for place in ("b", "c", "d", "large"))


class CountingDecoder(Decoder):
    n_expanded = 0

    def __call__(self, block):
        CountingDecoder.n_expanded += 1
        return super().__call__(block)


@pytest.mark.parametrize("limit, again", [("1MB", 0), ("1kB", 2 * 3)], ids=["found", "made again"])
def test_a_search_along_a_line_is_the_same_with_and_without_them(limit, again):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(3, size=300)
    source = open(lambda: ((X[i : i + 100], y[i : i + 100]) for i in (0, 100, 200)), batch_size=100)
    totals = source.reduce(ClassCounts())
    with eigenfeat.runtime(limit):
        made = StreamedObjective.of(source, totals, fit_intercept=True, smoothing=0.1, batch_size=None, n_jobs=None)
        objective = StreamedObjective(made.passes, source, made.blocks, alpha=0.1)
        object.__setattr__(objective.blocks, "decoder", CountingDecoder())
        start, end = (objective.at(C) for C in rng.normal(size=(2, 5, 3)))
        CountingDecoder.n_expanded = 0
        value = objective._values_along(start, end, np.array([0.5, 0.25]))
        assert CountingDecoder.n_expanded == again
    for step, found in value.items():
        there = objective.at(start.coefficients + step * (end.coefficients - start.coefficients))
        assert found == pytest.approx(there.value, rel=1e-12)
