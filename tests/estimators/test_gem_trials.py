"""Scores of rows left out, and what a trial says of itself."""

import numpy as np
import pytest

from eigenfeat.estimators.gem_trials import LeftOut, Recipe, Trial
from eigenfeat.rows import ArrayRows


def test_scores_of_left_out_rows_are_weighted():
    rows = ArrayRows(np.zeros((3, 1)), np.array([0, 1, 1]), np.array([3.0, 0.0, 1.0]))
    scores = np.array([[1.0, -1.0], [5.0, -5.0], [1.0, -1.0]])
    found = LeftOut.of(2.0, scores, [rows])
    assert found.error == 0.25
    # Both rows that count say p for the first class: the best p is its share, 3/4, up to the doubt in labels.
    assert found.log_loss(found.temperature) == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)), rel=1e-4)


def test_features_do_not_depend_on_the_smoothing_of_labels():
    one, other = Recipe(None, "cubic", 0.2, [0.3, 1.0], 1), Recipe(None, "cubic", 0.0, [0.3, 1.0], 1)
    assert one.features == other.features and one.key != other.key
    assert one.layers == {"n_layers": 1, "feature_map": "cubic", "ridge": [0.3, 1.0]}


def test_a_trial_is_told_with_its_recipe():
    trial = Trial(Recipe(None, "cubic", 0.2, 0.3, 1), 3, 1.0, 2.0, 0.5, 0.1, 0.01)
    assert trial.as_dict() == {
        "base_map": None,
        "feature_map": "cubic",
        "label_smoothing": 0.2,
        "ridge": 0.3,
        "n_layers": 1,
        "splits": 3,
        "penalty": 1.0,
        "temperature": 2.0,
        "log_loss": 0.5,
        "error": 0.1,
        "seconds": 0.01,
    }
