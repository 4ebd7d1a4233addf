"""Stages that no estimator has by default: columns with knots, a stage nobody can write."""

import numpy as np
import pytest
from onnx_values import value

from eigenfeat.export.onnx_graph import Graph
from eigenfeat.export.onnx_stages import STAGES, staged
from eigenfeat.stages import Beside, Chain, Stage, TreatedColumns, WithConstant
from eigenfeat.stages.layer import LayerScores


def test_columns_with_knots_beside_straight_ones():
    rng = np.random.default_rng(0)
    knots = np.array([[-1.0, 0.0, 2.0, 2.0], [-2.0, -1.0, 0.5, 1.0]])
    values = np.array([[-3.0, 0.5, 1.0, 1.0], [0.0, 1.0, 1.5, 4.0]])
    treated = TreatedColumns(rng.normal(size=4), np.array([2.0, 0.0, 1.0, 1.0]), np.array([1, 3]), knots, values)
    X = 2 * rng.normal(size=(40, 4))
    chain = Chain((treated, Beside((WithConstant(), WithConstant()))))
    np.testing.assert_allclose(value(lambda g, x: staged(g, chain, x, (4,))[0], X), chain.apply(X), atol=1e-12)


def test_a_stage_without_a_graph_is_refused_by_its_name():
    class Mine(Stage):
        def apply(self, rows):
            return rows

        def n_columns(self, n_inputs):
            return n_inputs

    with pytest.raises(ValueError, match="stage of type Mine cannot be written"):
        staged(Graph(np.float64), Mine(), "X", (3,))


def test_every_stage_has_a_graph():
    def kinds(cls):
        return {cls, *(kind for sub in cls.__subclasses__() for kind in kinds(sub))}

    ours = {cls for cls in kinds(Stage) if cls.__module__.startswith("eigenfeat.")}
    assert ours - {Stage, LayerScores} == set(STAGES)  # the last is made for a pass, by Chain.fused
