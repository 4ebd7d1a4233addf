"""Stages side by side."""

import numpy as np
import pytest
from chains import V, X, b

from eigenfeat.stages import Affine, Beside, Chain, Stage, WithConstant


def test_beside_is_the_results_side_by_side():
    parts = (Affine.of(V, b), WithConstant(), Chain((WithConstant(), WithConstant())))
    beside = Beside(parts)
    np.testing.assert_array_equal(beside.apply(X), np.hstack([part.apply(X) for part in parts]))
    assert beside.n_columns(5) == 3 + 6 + 7
    assert beside.widest(5) == 16


def test_the_widest_of_a_part_counts():
    class Wide(WithConstant):
        def widest(self, n_inputs):
            return 1000

    assert Beside((Affine.of(V), Wide())).widest(5) == 1000


def test_a_type_reaches_every_part():
    single = Beside((Affine.of(V), Chain((Affine.of(V),)))).astype(np.dtype(np.float32))
    assert single.parts[0].vectors.dtype == single.parts[1].stages[0].vectors.dtype == np.float32


def test_a_stage_must_say_what_it_does_and_how_wide_it_is():
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (Stage,), {"apply": lambda self, rows: rows})()
