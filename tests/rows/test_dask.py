"""Rows on a cluster: collections of every kind, fits that are those in memory, lost workers, lazy predictions."""

import sys
from contextlib import contextmanager
from types import ModuleType

import joblib
import numpy as np
import pytest
from dask_data import UNEVEN, D, N, W, X, Y, collections
from scipy import sparse
from sklearn.base import clone
from worker_tasks import Fatal, FatalTask, KillsOnce, doubled, n_rows, odd, total

import eigenfeat
from eigenfeat import (
    FisherLDA,
    GEMClassifier,
    GEMClassifierCV,
    GEMFeatures,
    KernelFisherClassifierCV,
    KernelFisherRegressor,
    LeastSquaresCCA,
    MultinomialLogit,
)
from eigenfeat.rows import ClassCounts, DaskRows, dask_rows
from eigenfeat.rows.block import dense
from eigenfeat.rows.dask import dask_module, get_client, is_dask, joined_neighbours

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")


def gem(**options):
    chosen = {"feature_map": "soft-cubic", "ridge": 0.3, "alpha": 1e-2, "base_map": None, "label_smoothing": 0.1}
    return GEMClassifier(3, **chosen | options)


@contextmanager
def two_workers():
    """Two processes of one thread, given time to start again on a busy machine."""
    patient = {"distributed.scheduler.allowed-failures": 10, "distributed.deploy.lost-worker-timeout": "120s"}
    with dask.config.set(patient):
        local = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="1GB"
        )
        with local, distributed.Client(local) as client:
            yield client


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as client:
        yield client


@pytest.fixture
def mortal_cluster(cluster):
    """A cluster of its own for a test that kills workers, which may be given up for good."""
    with two_workers() as client, client.as_current():
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


def test_workers_that_die_in_every_phase_change_nothing(mortal_cluster, tmp_path, monkeypatch):
    kills = {phase: KillsOnce(tmp_path / phase) for phase in PHASES}
    reduce, starmap = DaskRows.reduce, DaskRows.starmap

    def killing_reduce(self, accumulator, name="rows"):
        if name not in kills:
            return reduce(self, accumulator, name)
        return reduce(self, Fatal(accumulator, kills[name]), name).accumulator

    def killing_starmap(self, function, tasks, nested=False):
        return starmap(self, function if nested else FatalTask(function, kills["directions"]), tasks, nested)

    monkeypatch.setattr(DaskRows, "reduce", killing_reduce)
    monkeypatch.setattr(DaskRows, "starmap", killing_starmap)
    monkeypatch.setattr("eigenfeat.linear.preconditioner_table.MIN_GRAM_ROWS", 500)
    rows, labels, _ = collections((1000, 1000, 1000), D)
    found = gem(class_pairs="all").fit(rows, labels)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PHASES), "a phase was never reached"
    expected = gem(class_pairs="all").fit(X, Y)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-10)


def test_a_fit_whose_worker_dies_is_made_again(mortal_cluster, tmp_path):
    rows = dask_rows(*collections()[:2])
    fatal = FatalTask(n_rows, KillsOnce(tmp_path / "fit"))
    assert rows.starmap(fatal, [(rows, factor) for factor in (1, 2, 3)], nested=True) == [N, 2 * N, 3 * N]
    assert (tmp_path / "fit").exists()


def test_what_workers_cannot_import_is_named(cluster, monkeypatch):
    alone = ModuleType("only_here")
    exec("from eigenfeat.rows import ClassCounts\nclass Mine(ClassCounts): pass", vars(alone))
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
    n_before = len(cluster.get_task_stream())
    with joblib.parallel_config(backend="dask"):
        found = model.fit(X[:300], Y[:300])
    assert len(cluster.get_task_stream()) > n_before, "nothing ran on the workers"
    np.testing.assert_array_equal(found.loo_errors_, expected.loo_errors_)


def test_a_class_that_most_partitions_lack(cluster):
    order = np.argsort(Y, kind="stable")
    rows, labels = da.from_array(X[order], chunks=(500, D)), da.from_array(Y[order], chunks=500)
    totals = dask_rows(rows, labels).reduce(ClassCounts())
    assert totals.classes.tolist() == ["iris", "rose", "tulip"] and totals.n_rows == N
    np.testing.assert_allclose(
        gem().fit(rows, labels).predict_proba(X), gem().fit(X[order], Y[order]).predict_proba(X), atol=1e-10
    )


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_workers_keep_what_functions_make_of_their_blocks(cluster, kind):
    blocks = [dask.delayed((kind(X[i : i + 900].astype(np.float32)), Y[i : i + 900])) for i in range(0, N, 900)]
    rows = dask_rows(blocks).map(odd, n_rows=None).map(doubled)
    kept = rows.cache()
    assert isinstance(kept, DaskRows) and kept.n_rows == N // 2
    for source in (rows, kept):
        together = list(source.blocks())
        found = np.concatenate([dense(block.X) for block in together])
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, 2 * X[1::2].astype(np.float32))
        assert np.concatenate([block.y for block in together]).tolist() == Y[1::2].tolist()


def test_small_neighbours_are_joined():
    assert joined_neighbours([5, 0, 2, 3, 9, 1], 4) == [(0, 1), (1, 4), (4, 5), (5, 6)]
    assert joined_neighbours([1, 1], 10) == [(0, 2)]


# ---------------------------------------------------------------------- collections


def test_dataframes_lists_of_delayed_and_partitions_of_unknown_size(cluster):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    expected = MultinomialLogit(1e-3).fit(X, Y)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=Y)
    lazy = dd.from_pandas(frame, npartitions=3)
    blocks = [dask.delayed((X[i : i + 800], Y[i : i + 800])) for i in range(0, N, 800)]
    some = da.from_array(np.vstack([X, X[:50] + 100]), chunks=(700, D))
    unknown = some[some[:, 0] < 50 + X[:, 0].max()]
    labels = da.from_array(np.append(Y, Y[:50]), chunks=700)[some[:, 0] < 50 + X[:, 0].max()]
    for given in ((lazy, "kind"), (blocks,), (unknown, labels)):
        found = MultinomialLogit(1e-3).fit(*given)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-10)
    assert list(MultinomialLogit(1e-3).fit(lazy, "kind").predict(lazy).compute()) == expected.predict(X).tolist()
    (part,) = found.predict([dask.delayed(X[:9])])
    assert np.array_equal(part.compute(), expected.predict(X[:9]))


def test_partitions_that_fail_are_named(cluster):
    def fails():
        raise OSError("disk of tape 7 is gone")

    good = dask.delayed((X[:500], Y[:500]))
    with pytest.raises(ValueError, match="Partition 1 could not be made: disk of tape 7 is gone"):
        MultinomialLogit().fit([good, dask.delayed(fails)()])
    with pytest.raises(ValueError, match="Partition 1 has 5 columns where partition 0 has 6"):
        MultinomialLogit().fit([good, dask.delayed((X[:500, :5], Y[:500]))])
    with pytest.raises(ValueError, match="Partition 1 could not be made: Partition 1 has 500 rows and 499 labels"):
        MultinomialLogit().fit([good, dask.delayed((X[:500], Y[:499]))])
    with pytest.raises(ValueError, match="y has 2 partitions and X has 3"):
        MultinomialLogit().fit([dask.delayed(X[:9])] * 3, [dask.delayed(Y[:9])] * 2)
    with pytest.raises(ValueError, match=r"y of Dask rows must be a Dask array .* got ndarray"):
        MultinomialLogit().fit(da.from_array(X), Y)
    with pytest.raises(ValueError, match=r"contains NaN or infinity: the first is nan in row 701, column 2"):
        spoilt = X.copy()
        spoilt[700, 2] = np.nan
        FisherLDA().fit(da.from_array(spoilt, chunks=(500, D)), da.from_array(Y, chunks=500))
    with pytest.raises(ValueError, match="KernelFisherRegressor needs its rows in memory"):
        KernelFisherRegressor().fit(*collections()[:2])


def test_mixed_types_and_no_rows(cluster):
    mixed = [dask.delayed((X[:500].astype(np.float32), Y[:500])), dask.delayed((X[500:900], Y[500:900]))]
    assert MultinomialLogit().fit(mixed).coef_.dtype == np.float32
    with pytest.raises(ValueError, match="There are no rows in any partition"):
        MultinomialLogit().fit([dask.delayed((X[:0], Y[:0]))])


def test_what_is_dask_is_known_by_name():
    assert is_dask(da.ones((3, 2))) and is_dask([dask.delayed(1)])
    assert not is_dask(X) and not is_dask([[1.0, 2.0]]) and not is_dask([])


# ---------------------------------------------------------------------- tasks


def test_tasks_make_passes_of_their_own(cluster):
    rows = dask_rows(*collections()[:2])
    with eigenfeat.runtime() as run:
        assert rows.starmap(total, [(rows, factor) for factor in range(3)], nested=True) == [0, N, 2 * N]
    assert [done.stage for done in run.passes] == ["labels of a fit"] * 3


def test_errors_of_tasks_are_raised_as_they_are(cluster):
    rows = dask_rows(*collections()[:2])
    for nested in (False, True):
        with pytest.raises(ZeroDivisionError):
            rows.starmap(divmod, [(1, 1), (1, 0)], nested)


def test_with_a_checkpoint_fits_are_made_in_order(cluster, tmp_path):
    rows = dask_rows(*collections()[:2])
    with eigenfeat.runtime(checkpoint=tmp_path / "fit.checkpoint") as run:
        assert rows.starmap(total, [(rows, 1), (rows, 2)], nested=True) == [N, 2 * N]
        assert [done.stage for done in run.passes] == ["labels of a fit"]  # the same pass, recalled


def test_an_interrupted_fit_goes_on_from_its_checkpoint(cluster, tmp_path):
    def fit(**settings):
        with eigenfeat.runtime(**settings) as run:
            model = GEMClassifier(2, ridge=0.3, alpha=1e-2, base_map=None, label_smoothing=0.0, random_state=0)
            return model.fit(*collections()[:2]).predict_proba(X), len(run.passes)

    whole, n_passes = fit()
    seen = []

    def stop(event):
        seen.append(event)
        if sum(each.finished for each in seen) == n_passes // 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fit(checkpoint=tmp_path / "fit.checkpoint", progress=stop)
    resumed, n_resumed = fit(checkpoint=tmp_path / "fit.checkpoint")
    np.testing.assert_array_equal(resumed, whole)
    assert n_resumed <= n_passes - n_passes // 2 + 1


def test_the_client_in_force_is_the_one_that_was_started(cluster):
    assert get_client() is cluster


def test_without_dask_the_way_out_is_said():
    with pytest.raises(ImportError, match=r"pip install \"eigenfeat\[dask\]\""):
        dask_module("dask_that_is_not_there")
