"""Rows that are left out of trials: of everything, in turn, and by keys."""

from dataclasses import replace

import numpy as np
import pytest
from gem_data import bent, plain

from eigenfeat import MultinomialLogit
from eigenfeat.estimators.gem_trial_rows import (
    ROWS_A_CLASS,
    TrialFit,
    TrialRows,
    search_rows,
)
from eigenfeat.rows import ArrayRows
from eigenfeat.rows.keys import row_keys


def trial_rows(X, y, weights=None, keys=None):
    own_keys = row_keys(X)
    return TrialRows.of(ArrayRows(X, y, weights), np.unique(y), own_keys, own_keys if keys is None else keys)


def first_scores(rows, penalty=1.0):
    """Of the rows that the first split leaves out."""
    fit = TrialFit(plain(2)._settings(), MultinomialLogit(label_smoothing=0.1), lambda rows: rows, 0)
    return rows.left_out(rows.folds(rows.solved(fit), fit), fit)(penalty, 1).scores


def test_left_out_rows_take_part_in_nothing():
    X, y = bent(300)
    rows = trial_rows(X, y)
    train, out = rows.splits[0]
    expected = first_scores(rows)
    garbled = y.copy()
    garbled[out] = 1 - garbled[out]
    np.testing.assert_array_equal(first_scores(replace(rows, rows=ArrayRows(X, garbled))), expected)
    moved = X.copy()
    moved[out[1:]] += 100.0
    np.testing.assert_allclose(first_scores(replace(rows, rows=ArrayRows(moved, y)))[0], expected[0], rtol=1e-6)
    garbled = y.copy()
    garbled[train[:20]] = 1 - garbled[train[:20]]
    assert np.abs(first_scores(replace(rows, rows=ArrayRows(X, garbled))) - expected).max() > 1e-2


def test_every_row_of_a_small_table_is_left_out_once_and_equal_rows_together():
    X, y = bent(200)
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    rows = trial_rows(X, y)
    np.testing.assert_array_equal(np.sort(np.concatenate([out for _, out in rows.splits])), np.arange(400))
    for train, out in rows.splits:
        assert not set(train) & set(out)
        assert not {row.tobytes() for row in X[train]} & {row.tobytes() for row in X[out]}
    assert rows.n_training == pytest.approx(200 * 2 / 3, abs=1)


def test_groups_are_left_out_whole_and_count_as_many_rows_as_they_have():
    X, y = bent(300)
    groups = np.arange(300) % 2
    rows = trial_rows(X, y, keys=row_keys(groups.reshape(-1, 1)))
    assert len(rows.splits) == 2 and rows.n_training == 150
    for train, out in rows.splits:
        assert not set(groups[train]) & set(groups[out])


def test_many_classes_are_tried_on_more_rows():
    """Enough of each for what is chosen to hold for all rows; few classes make no difference."""
    assert search_rows(2000, 3) == 3000 and search_rows(60_000, 3) == search_rows(60_000, 200) == 5000
    assert search_rows(10**5, 3) == 8000 and search_rows(10**6, 3) == search_rows(10**8, 200) == 20_000
    assert search_rows(10**6, 3, searching=False) == 5000  # for a temperature
    assert search_rows(45_000, 1000) == 1000 * ROWS_A_CLASS
    assert search_rows(15_000, 1000) == 6000
