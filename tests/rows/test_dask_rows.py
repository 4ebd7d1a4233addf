"""Fits on a cluster of processes are fits in memory, however rows are cut and whichever worker dies."""

import sys
from types import ModuleType

import joblib
import numpy as np
import pytest
from dask_data import UNEVEN, D, N, W, X, Y, collections
from fatal_tasks import Fatal, FatalTask, KillsOnce, n_rows
from scipy import sparse
from sklearn.base import clone

import eigenfeat
from eigenfeat import (
    FisherLDA,
    GEMClassifier,
    GEMClassifierCV,
    GEMFeatures,
    KernelFisherClassifierCV,
    LeastSquaresCCA,
    MultinomialLogit,
)
from eigenfeat.rows import Block, ClassTotals, dense
from eigenfeat.rows.dask_collections import dask_rows, is_dask
from eigenfeat.rows.dask_rows import DaskRows, _seen

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


def gem(**options):
    chosen = {"feature_map": "soft-cubic", "ridge": 0.3, "alpha": 1e-2, "base_map": None, "label_smoothing": 0.1}
    return GEMClassifier(3, **chosen | options)


@pytest.fixture(scope="module")
def cluster():
    """Two processes of one thread, waited for on a busy machine too; test_dask_waiting.py has what is given up."""
    patient = {"distributed.scheduler.allowed-failures": 10, "distributed.deploy.lost-worker-timeout": "120s"}
    with dask.config.set(patient):
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GB"
        )
        with local, distributed.Client(local) as client:
            yield client


MODELS = [FisherLDA(), GEMFeatures(2), MultinomialLogit(1e-3), gem(), gem(n_layers=2, class_weight="balanced")]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_on_workers_is_the_fit_in_memory(cluster, model):
    rows, labels, weights = collections()
    verb = "transform" if hasattr(model, "transform") else "predict_proba"
    expected = getattr(model.fit(X, Y, W), verb)(X)
    lazy = getattr(type(model)(**model.get_params(deep=False)).fit(rows, labels, weights), verb)(rows)
    assert is_dask(lazy) and lazy.shape == expected.shape and lazy.chunks[0] == UNEVEN
    np.testing.assert_allclose(lazy.compute(), expected, atol=1e-10 * np.abs(expected).max())


def test_many_rows_start_from_a_sample_that_stays_on_the_workers(cluster, monkeypatch):
    monkeypatch.setattr("eigenfeat.linear.sample_start.LEAST_ROWS", 100)
    monkeypatch.setattr("eigenfeat.linear.sample_start.START_ROWS", 400)
    monkeypatch.setattr("eigenfeat.linear.preconditioner_table.MIN_GRAM_ROWS", 100)
    rows, labels, weights = collections()
    with eigenfeat.runtime() as run:
        found = gem().fit(rows, labels, weights)
    assert "rows to start from" in {done.stage for done in run.passes}
    np.testing.assert_allclose(found.predict_proba(X), gem().fit(X, Y, W).predict_proba(X), atol=1e-10)


def test_predictions_are_lazy_collections(cluster):
    rows, labels, _ = collections()
    model = gem().fit(rows, labels)
    for verb in ("predict", "predict_proba", "decision_function"):
        lazy, expected = getattr(model, verb)(rows), getattr(model, verb)(X)
        assert is_dask(lazy) and lazy.dtype == expected.dtype
        found = lazy.compute()
        assert np.array_equal(found, expected) if verb == "predict" else np.allclose(found, expected, atol=1e-12)
    with pytest.raises(ValueError, match="X has 4 columns, but GEMClassifier was fitted with 6"):
        model.predict(rows[:, :4])


def test_moments_of_continuous_targets(cluster):
    targets = X[:, :2] ** 2 + np.random.default_rng(1).normal(size=(N, 2))
    expected = LeastSquaresCCA(2).fit(X, targets)
    found = LeastSquaresCCA(2).fit(da.from_array(X, chunks=(900, D)), da.from_array(targets, chunks=(900, 2)))
    np.testing.assert_allclose(np.abs(found.transform(X)), np.abs(expected.transform(X)), atol=1e-8)


PHASES = ["moments", "directions", "loss and gradient", "rows of a Gram matrix"]


def test_workers_that_die_in_every_phase_change_nothing(cluster, tmp_path, monkeypatch):
    kills = {phase: KillsOnce(tmp_path / phase) for phase in PHASES}
    summed, run = DaskRows._summed, DaskRows.run

    def killing(self, statistic, name):
        if name not in kills:
            return summed(self, statistic, name)
        return summed(self, Fatal(statistic, kills[name]), name).statistic

    def killing_run(self, function, tasks):
        return run(self, FatalTask(function, kills["directions"]), tasks)

    monkeypatch.setattr(DaskRows, "_summed", killing)
    monkeypatch.setattr(DaskRows, "run", killing_run)
    monkeypatch.setattr("eigenfeat.linear.preconditioner_table.MIN_GRAM_ROWS", 500)
    rows, labels, _ = collections((1000, 1000, 1000), D)
    found = gem(class_pairs="all").fit(rows, labels)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PHASES), "a phase was never reached"
    expected = gem(class_pairs="all").fit(X, Y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)


def test_a_fit_whose_worker_dies_is_made_again(cluster, tmp_path):
    rows = dask_rows(*collections()[:2])
    fatal = FatalTask(n_rows, KillsOnce(tmp_path / "fit"))
    assert rows.fits(fatal, [(rows, factor) for factor in (1, 2, 3)]) == [N, 2 * N, 3 * N]
    assert (tmp_path / "fit").exists()


def test_what_workers_cannot_import_is_named(cluster, monkeypatch):
    alone = ModuleType("only_here")
    exec("from eigenfeat.rows import ClassTotals\nclass Mine(ClassTotals): pass", vars(alone))
    monkeypatch.setitem(sys.modules, "only_here", alone)
    with pytest.raises(ModuleNotFoundError, match="No module named 'only_here'"):
        dask_rows(*collections()[:2]).reduce(alone.Mine())


def test_members_and_candidates_are_tasks(cluster):
    rows, labels, weights = (part[:1200] for part in collections((300, 0, 3, 897, 1800), D))
    ensemble = gem(n_estimators=2, class_pairs="random", n_pairs=3)
    grid = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0,), "n_components_grid": (1, 2), "alphas": (1e-2,)}
    search = GEMClassifierCV(**grid, scoring="neg_log_loss", class_weight="balanced", feature_maps=("spline",))
    for model, n_fits in ((ensemble, 2), (search, 2)):
        expected = clone(model).fit(X[:1200], Y[:1200], W[:1200])
        with distributed.get_task_stream(cluster) as done, eigenfeat.runtime() as run:
            found = clone(model).fit(rows, labels, weights)
        assert sum(str(task["key"]).startswith("_fit-") for task in done.data) == n_fits
        assert {"moments", "loss and gradient"} <= {one.stage for one in run.passes}
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)
    assert found.best_params_ == expected.best_params_
    np.testing.assert_allclose(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"], atol=1e-10
    )


def test_candidates_of_a_search_are_tasks_by_joblib(cluster):
    model = KernelFisherClassifierCV(gammas=[0.01, 0.1], alphas=[0.1, 1.0], n_jobs=2)
    expected = clone(model).set_params(n_jobs=1).fit(X[:300], Y[:300])
    with joblib.parallel_config(backend="dask"), distributed.get_task_stream(cluster) as done:
        found = model.fit(X[:300], Y[:300])
    assert done.data, "nothing ran on the workers"
    np.testing.assert_array_equal(found.loo_errors_, expected.loo_errors_)


def test_a_class_that_most_partitions_lack(cluster):
    order = np.argsort(Y, kind="stable")
    rows, labels = da.from_array(X[order], chunks=(500, D)), da.from_array(Y[order], chunks=500)
    totals = dask_rows(rows, labels).reduce(ClassTotals())
    assert totals.classes.tolist() == ["iris", "rose", "tulip"] and totals.n_rows == N
    np.testing.assert_allclose(
        gem().fit(rows, labels).predict_proba(X), gem().fit(X[order], Y[order]).predict_proba(X), atol=1e-10
    )


def in_halves(block):
    return block.part(slice(0, block.n_rows // 2)), block.part(slice(block.n_rows // 2, None))


def odd(block):
    return (block.part(np.flatnonzero(block.y % 2)),)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_parts_that_views_make_of_a_block_are_one_block_again(kind):
    rows = np.arange(14.0, dtype=np.float32).reshape(7, 2)
    block = Block(kind(rows), np.arange(7), np.arange(7.0))
    for lenses, taken in (
        ((in_halves,), slice(None)),
        ((in_halves, odd), slice(1, None, 2)),
        ((odd,), slice(1, None, 2)),
    ):
        seen = _seen(lenses, block, 5)
        np.testing.assert_array_equal(dense(seen.X), rows[taken])
        assert seen.X.dtype == np.float32 and seen.start == 5
        assert seen.y.tolist() == seen.weight.tolist() == np.arange(7)[taken].tolist()
    assert _seen((lambda _: (),), block, 5).n_rows == 0
