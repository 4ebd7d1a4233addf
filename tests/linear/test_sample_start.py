"""Many rows are fitted from where a sample of them ends: to the same minimum, in fewer passes, wherever rows are."""

from types import SimpleNamespace

import numpy as np
import pytest

import eigenfeat
import eigenfeat.rows
from eigenfeat import MultinomialLogit
from eigenfeat.linear import logit, preconditioner_table, sample_start
from eigenfeat.linear.logit import LogitSolver
from eigenfeat.rows import as_rows

rng = np.random.default_rng(0)
N, D, K = 6000, 8, 3
X = rng.normal(size=(N, D)) * np.logspace(0, 2, D)
Y = np.argmax(X[:, :K] @ rng.normal(size=(K, K)) + rng.gumbel(size=(N, K)), axis=1)
W = rng.integers(0, 3, N).astype(float)


@pytest.fixture(params=["a sample first", "all rows"])
def from_sample(request, monkeypatch):
    started = request.param == "a sample first"
    monkeypatch.setattr(sample_start, "LEAST_ROWS", 100 if started else N)
    monkeypatch.setattr(sample_start, "START_ROWS", 900)
    monkeypatch.setattr(preconditioner_table, "MIN_GRAM_ROWS", 100)
    return started


def in_memory(weights=None, **options):
    return LogitSolver(as_rows(X, y=Y, weight=weights), K, **options)


def test_the_minimum_is_that_of_all_rows(monkeypatch, from_sample):
    found = in_memory(W).fit(1e-3, tol=1e-8)
    monkeypatch.setattr(sample_start, "LEAST_ROWS", N)
    expected = in_memory(W).fit(1e-3, tol=1e-8)
    assert found.converged and found.objective == pytest.approx(expected.objective, rel=1e-7)
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-3 * np.abs(expected.coef).max())


def test_the_way_over_all_rows_is_shorter(monkeypatch):
    passes = []
    for least in (100, N):
        monkeypatch.setattr(sample_start, "LEAST_ROWS", least)
        passes.append(in_memory().fit(1e-3).n_passes)
    assert passes[0] <= passes[1] / 2


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_stream_starts_as_memory_does(from_sample, smoothing):
    def batches():
        for start in range(0, N, 700):
            part = slice(start, start + 700)
            yield X[part], Y[part], W[part]

    expected = MultinomialLogit(1e-3, label_smoothing=smoothing).fit(X, Y, W).predict_proba(X)
    with eigenfeat.runtime("10kB") as run:
        found = MultinomialLogit(1e-3, label_smoothing=smoothing).fit(eigenfeat.rows.open(batches))
    assert ("rows to start from" in {done.stage for done in run.passes}) == from_sample
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-10)


def test_left_out_rows_are_not_in_the_sample(from_sample):
    solver = in_memory(smoothing=0.1)
    part = np.arange(0, N, 10)
    seen = []
    solver._start_of_sample(solver.objective.without(part))
    if from_sample:
        seen = solver._sample.passes.source.index
    assert not np.isin(seen, part).any()


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "scarce", "sizes"),
    [
        (30_000, 100, True, []),
        (60_000, 2_000, False, [15_000]),
        (60_000, 11_585, False, []),
        (60_000, 11_585, True, [15_000]),
        (60_000, 15_585, True, []),
        (1_000_000, 1000, False, [25_000, 100_000]),
        (20_000_000, 10_901, False, [150_000, 600_000]),
    ],
)
def test_samples_grow_to_what_all_rows_are_worth(n_rows, n_columns, scarce, sizes):
    passes = SimpleNamespace(n_rows=n_rows, n_columns=n_columns)
    assert np.allclose(np.array(sample_start.shares_to_start_from(passes, scarce)) * n_rows, sizes)


def test_scarce_rows_of_smoothed_labels_show_the_way_too(monkeypatch):
    """Fewer than four rows a column: the sample is fitted loosely, and the minimum is that of all rows."""
    rng = np.random.default_rng(1)
    n, d = 3000, 400
    X = rng.normal(size=(n, d)) * np.logspace(0, -2, d)
    y = np.argmax(X[:, :K] + 0.3 * rng.gumbel(size=(n, K)), axis=1)
    monkeypatch.setattr(preconditioner_table, "MIN_GRAM_ROWS", 100)
    monkeypatch.setattr(sample_start, "LEAST_ROWS", 100)
    fits = []
    for least in (1, np.inf):
        monkeypatch.setattr(sample_start, "LEAST_SCARCE_ROWS_PER_COLUMN", least)
        for tol in (1e-2, 1e-9):
            fits.append(LogitSolver(as_rows(X, y=y), K, smoothing=0.2).fit(1e-3, tol=tol))
    started, exact, plain, exact_plain = fits
    assert started.n_passes < plain.n_passes
    assert started.objective <= 1.01 * exact.objective
    assert exact.objective == pytest.approx(exact_plain.objective, rel=1e-8)


def test_no_step_over_all_rows_where_samples_have_shown_the_way(monkeypatch):
    monkeypatch.setattr(sample_start, "LEAST_ROWS", 100)
    loose, exact = in_memory(W).fit(1e-2, tol=0.3), in_memory(W).fit(1e-2, tol=1e-8)
    assert loose.converged and (loose.n_iter, loose.n_passes) == (0, 1)
    assert exact.objective < loose.objective <= exact.objective + loose.gap < 1.3 * loose.objective
    assert exact.n_iter > 0


def test_a_step_cut_short_sends_preconditioners_to_all_rows(monkeypatch):
    """Rows far out that a sample lacks would cut one step after the other."""
    monkeypatch.setattr(sample_start, "LEAST_ROWS", 100)
    monkeypatch.setattr(sample_start, "START_ROWS", 900)
    monkeypatch.setattr(preconditioner_table, "MIN_GRAM_ROWS", 100)
    passes, objectives = [], []
    for cut_short in (0.5, 0.0):  # zero: never
        monkeypatch.setattr(logit, "CUT_SHORT", cut_short)
        fits = [far_out_rows(seed).fit(1e-4, tol=1e-6) for seed in range(12)]
        passes.append(sum(fit.n_passes for fit in fits))
        objectives.append([fit.objective for fit in fits])
    assert passes[0] < 0.9 * passes[1]
    np.testing.assert_allclose(*objectives, rtol=2e-5)


@pytest.mark.parametrize(("smoothing", "alpha", "will_do"), [(0.1, 1e-9, True), (0.0, 1.0, True), (0.0, 1e-9, False)])
def test_few_rows_will_do_where_labels_are_smoothed_or_the_penalty_is_strong(smoothing, alpha, will_do):
    wide = np.random.default_rng(0).normal(size=(1200, 1500))  # more columns than rows of the probe
    solver = LogitSolver(as_rows(wide, y=np.arange(1200) % K), K, smoothing=smoothing)
    solver._set_alpha(alpha)
    assert solver._few_rows_will_do() == will_do


def far_out_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N, D))
    rows[rng.permutation(N)[:60]] += 1000 * rng.normal(size=(60, D))
    labels = np.argmax(np.clip(rows[:, :K], -2, 2) @ rng.normal(size=(K, K)) + rng.gumbel(size=(N, K)), axis=1)
    return LogitSolver(as_rows(rows, y=labels), K, smoothing=0.1)
