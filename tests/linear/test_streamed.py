"""A logit over blocks is the logit over all rows: the same questions have the same answers, and so do fits."""

import numpy as np
import pytest

from eigenfeat.linear import objective as objective_module
from eigenfeat.linear import preconditioner_table
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.linear.objective import LogitObjective
from eigenfeat.linear.passes import Passes
from eigenfeat.linear.streamed import StreamedObjective
from eigenfeat.rows import ArrayRows, Block, ClassCounts, Rows

rng = np.random.default_rng(0)
N, D, K = 900, 12, 4
X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D))
Y = np.argmax(X[:, :K] + 2 * rng.normal(size=(N, K)), axis=1)
W = rng.exponential(size=N)
W[::11] = 0


class Stream(Rows):
    def __init__(self, weights=W, step=130):
        self.weights, self.step = weights, step

    n_columns, dtype = D, np.dtype(np.float64)

    def blocks(self, batch_size=None):
        step = batch_size or self.step
        for start in range(0, N, step):
            part = slice(start, min(start + step, N))
            yield Block(X[part], Y[part], None if self.weights is None else self.weights[part], start=start)


def both(alpha=0.01, smoothing=0.1):
    held = LogitObjective(Passes(ArrayRows(X)), Y, W / W.sum(), K, alpha, smoothing)
    source = Stream()
    options = {"fit_intercept": True, "smoothing": smoothing, "batch_size": None, "n_jobs": None}
    streamed = StreamedObjective.of(source, source.reduce(ClassCounts()), **options)
    return held, type(streamed)(streamed.passes, streamed.stored, streamed.blocks, alpha)


def points(seed=1):
    return np.random.default_rng(seed).normal(size=(2, D + 1, K)) / 5


def test_values_gradients_and_curvature_agree():
    held, streamed = both()
    C, V = points()
    here, there = held.at(C), streamed.at(C)
    assert there.value == pytest.approx(here.value, rel=1e-13)
    np.testing.assert_allclose(there.gradient, here.gradient, atol=1e-13)
    assert streamed.total_curvature(there) == pytest.approx(held.total_curvature(here), rel=1e-12)
    for share in (1e-4, 0.2):
        np.testing.assert_allclose(streamed.curvature(there, share) @ V, held.curvature(here, share) @ V, atol=1e-13)


def test_values_along_a_step_take_one_pass_for_many_halvings():
    held, streamed = both()
    start, end = points()
    expected = held.along(held.at(start), held.at(end))
    value = streamed.along(streamed.at(start), streamed.at(end))
    for step in (0.5, 0.25, 0.5**8, 0.5**12):
        assert value(step) == pytest.approx(expected(step), rel=1e-12)


def test_the_scale_of_columns_is_that_of_the_same_rows(monkeypatch):
    held, streamed = both()
    held = held.without(np.flatnonzero(W == 0))  # as solvers have it
    all_rows = held.column_scale()
    monkeypatch.setattr(objective_module, "SCALE_ROWS", 400)
    np.testing.assert_allclose(streamed.column_scale(), held.column_scale(), rtol=1e-12)
    assert 0 < np.abs(held.column_scale() / all_rows - 1).max() < 0.5
    part = streamed.left_out_parts(None)[0]
    left = streamed.without(part)
    assert np.abs(left.column_scale() / all_rows - 1).max() < 0.5


def test_samples_are_the_same_rows_with_the_same_weights():
    held, streamed = both()
    C, _ = points()
    scale = held.column_scale()
    np.testing.assert_allclose(streamed.column_scale(), scale, rtol=1e-12)
    np.testing.assert_allclose(
        streamed.curved_squares(streamed.at(C)), held.curved_squares(held.at(C)), rtol=1e-12, atol=1e-15
    )
    for n_rows in (60, 700):
        grams = []
        for objective in (held, streamed):
            passes, weights = objective.curved_sample(objective.at(C), n_rows, 7, scale)
            assert passes.n_rows == n_rows
            grams.append(passes.gram(weights))
        np.testing.assert_allclose(*grams, atol=1e-13)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("solver", ["gram", "sample", "diagonal"])
@pytest.mark.parametrize("n_gram", [50, 10_000])
def test_fits_agree_whatever_the_blocks(smoothing, solver, n_gram, monkeypatch):
    monkeypatch.setattr(preconditioner_table, "MIN_GRAM_ROWS", n_gram)
    monkeypatch.setattr(preconditioner_table, "SAMPLE_ROWS_PER_COLUMN", 300)
    options = {"n_classes": K, "smoothing": smoothing, "solver": solver}
    close = 1e-10 if solver == "gram" else 1e-7  # thirty steps of conjugate gradients amplify rounding
    expected = LogitSolver(ArrayRows(X, Y, W), **options).fit(1e-3, tol=1e-6)
    for step in (130, 1000):
        found = LogitSolver(Stream(step=step), **options).fit(1e-3, tol=1e-6)
        assert (found.n_iter, found.solver) == (expected.n_iter, expected.solver)
        np.testing.assert_allclose(found.coef, expected.coef, rtol=0, atol=close)
        np.testing.assert_allclose(found.intercept, expected.intercept, rtol=0, atol=close)


def test_temperatures_agree():
    expected, _ = LogitSolver(ArrayRows(X, Y, W), K, smoothing=0.2).calibrate(1e-3)
    found, _ = LogitSolver(Stream(), K, smoothing=0.2).calibrate(1e-3)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("n_different", [1, 2, 7])
def test_rows_that_are_nearly_all_alike_have_a_temperature(n_different):
    """Equal rows of a stream are left out together: parts without rows are none, and all rows are never left out."""

    class Alike(Stream):
        def blocks(self, batch_size=None):
            for block in super().blocks(batch_size):
                places = np.arange(block.start, block.start + block.n_rows) % n_different
                yield Block(X[places], block.y, block.weight, start=block.start)

    temperature, _ = LogitSolver(Alike(), K, smoothing=0.2).calibrate(1e-1)
    assert 0.1 <= temperature <= 100
