"""The temperature undoes what smoothing does to probabilities."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.metrics import log_loss

from eigenfeat import MultinomialLogit
from eigenfeat.linear.calibration import best_temperature, is_at_bound, left_out_parts
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.rows import as_rows
from eigenfeat.rows.keys import row_keys


def test_best_temperature_recovers_the_one_labels_were_drawn_with():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 4))
    labels = np.array([rng.choice(4, p=p) for p in softmax(2.5 * scores, axis=1)])
    assert best_temperature(scores, labels, np.full(20_000, 1 / 20_000)) == pytest.approx(2.5, rel=0.05)


def test_temperature_is_finite_where_every_row_is_right():
    scores = np.eye(3)[[0, 1, 2] * 20]
    labels = np.array([0, 1, 2] * 20)
    temperature = best_temperature(scores, labels, np.full(60, 1 / 60))
    sure = np.exp(log_softmax(temperature * scores, axis=1)).max()
    assert 0.95 < sure < 0.9999


@pytest.mark.parametrize("n_rows", [3, 100, 20_000])
def test_left_out_parts_leave_most_rows(n_rows):
    parts = left_out_parts(np.random.default_rng(0).permutation(n_rows))
    assert all(0 < len(part) < n_rows for part in parts)
    rows = np.concatenate(parts)
    assert len(np.unique(rows)) == len(rows)
    assert n_rows > 5000 or len(rows) == n_rows


def test_probabilities_of_smoothed_labels_are_calibrated():
    """With a well-specified model, smoothing must not cost log loss: the temperature takes it back."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6000, 5))
    W = 1.5 * rng.normal(size=(5, 3))
    y = np.array([rng.choice(3, p=p) for p in softmax(X @ W, axis=1)])
    losses = {
        smoothing: log_loss(
            y[3000:], MultinomialLogit(1e-4, label_smoothing=smoothing).fit(X[:3000], y[:3000]).predict_proba(X[3000:])
        )
        for smoothing in (0.0, 0.2)
    }
    assert losses[0.2] < losses[0.0] + 0.02
    raw = MultinomialLogit(1e-4, label_smoothing=0.2).fit(X[:3000], y[:3000])
    assert raw.temperature_ > 1.1
    uncalibrated = log_loss(y[3000:], softmax(raw.decision_function(X[3000:]), axis=1))
    assert uncalibrated > losses[0.2] + 0.01


@pytest.mark.parametrize(("shape", "left"), [((400, 6), 0.02), ((30, 200), 0.5)], ids=["tall", "wide"])
def test_the_fit_that_leaves_rows_out_is_a_start_near_the_minimum(shape, left):
    """Most of the way from zero: of few, wide rows a fifth says much that the others do not."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=shape)
    y = np.argmax(X[:, :3] + rng.normal(size=(len(X), 3)), axis=1)
    solver = LogitSolver(as_rows(X, y), 3, smoothing=0.2)
    _, start = solver.calibrate(1e-2)
    warm = solver.fit(1e-2, initial=start, tol=1e-9)
    cold = LogitSolver(as_rows(X, y), 3, smoothing=0.2).fit(1e-2, tol=1e-9)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
    np.testing.assert_allclose(warm.coef, cold.coef, atol=1e-3)
    at_zero, nearby = (solver.objective.at(solver._start(initial)).value for initial in (None, start))
    assert 0 < nearby - cold.objective < left * (at_zero - cold.objective)


def test_without_smoothing_the_temperature_is_one():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert MultinomialLogit(0.1).fit(X, [0, 1, 0, 1]).temperature_ == 1.0


def test_rows_of_one_key_are_left_out_together():
    keys = np.repeat(np.arange(30), 4)
    parts = left_out_parts(keys)
    assert sum(len(part) for part in parts) == 120
    assert sum(len(np.unique(keys[part])) for part in parts) == 30


def test_of_many_rows_a_few_thousand_are_left_out_from_beginning_to_end():
    """Rows may be sorted by class: the first thousands would not stand for all."""
    (part,) = left_out_parts(row_keys(np.arange(200_000.0)[:, None]))
    assert abs(len(part) - 5000) < 5 * np.sqrt(5000) and part[-1] > 199_000


def test_a_repeated_row_is_a_row_of_twice_the_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    keys, twice = np.arange(80), np.repeat(np.arange(80), 2)
    one = MultinomialLogit(1e-2, label_smoothing=0.2, tol=1e-8).fit(X, y, np.full(80, 2.0), groups=keys)
    two = MultinomialLogit(1e-2, label_smoothing=0.2, tol=1e-8).fit(X[twice], y[twice], groups=twice)
    assert one.temperature_ == pytest.approx(two.temperature_, rel=1e-3)


def test_a_temperature_at_an_end_of_its_range_is_known():
    assert is_at_bound(0.1) and is_at_bound(100.0) and not is_at_bound(1.0)
    scores = np.array([[3.0, 0.0], [0.0, 3.0]])
    wrong = best_temperature(scores, np.array([1, 0]), np.full(2, 0.5))
    assert is_at_bound(wrong)  # scores that are always wrong are best not looked at
