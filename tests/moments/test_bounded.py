"""Moments of bounded memory: the same answers and directions as with all class scatters in memory, in more passes."""

import pickle
import tracemalloc

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from scipy import sparse

import eigenfeat.rows
from eigenfeat import GEMClassifier, GEMClassifierCV, GEMFeatures, runtime
from eigenfeat.moments import BoundedMoments, DenseMoments, collect_moments, matrix_bytes, merged_moments
from eigenfeat.moments.bounded import COPIES, rounds_within
from eigenfeat.rows import ArrayRows

K, D, N = 7, 12, 900
rng = np.random.default_rng(0)
Y = rng.permutation(np.arange(N) % K)
MEANS, SPREADS = rng.normal(size=(K, D)), rng.uniform(0.3, 2, (K, D))
X = MEANS[Y] + SPREADS[Y] * rng.normal(size=(N, D))
X[:, :2] += 1e4  # means that dwarf the spread
W = rng.exponential(size=N)
THREE = COPIES * matrix_bytes(3, D)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as local,
        Client(local),
    ):
        yield


def bounded(rows=slice(None), max_bytes=THREE, **options):
    return BoundedMoments([ArrayRows(X[rows], Y[rows], W[rows])], np.arange(K), max_bytes, **options)


def dense(rows=slice(None), **options):
    return collect_moments(X[rows], Y[rows], W[rows], **options)


def assert_alike(found, expected):
    pool, other = expected.pool(np.array([0, 2, 5])), expected.pool(np.arange(1, 6))
    np.testing.assert_array_equal(found.classes, expected.classes)
    for name in ("counts", "weights", "weight_squares", "means"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    for question in (
        lambda moments: moments.second_moment(),
        lambda moments: moments.covariance(6),
        lambda moments: moments.within(pool),
        lambda moments: moments.second_moment(pool, center=other),
        lambda moments: moments.between(other),
    ):
        one, two = (question(moments).toarray() for moments in (found, expected))
        np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12 * np.abs(two).max())


def test_they_answer_what_moments_in_memory_answer():
    found, expected = bounded(track_fourth=True), dense(track_fourth=True)
    assert found.max_scatters == 3
    assert_alike(found, expected)
    for mixture, center in ((None, "class"), (2, 2), (expected.pool(np.arange(4)), 1)):
        assert found.fourth_moment(mixture, center) == pytest.approx(expected.fourth_moment(mixture, center))


def test_parts_merge_and_classes_merge():
    first, second = bounded(slice(300)), bounded(slice(300, N))
    assert_alike(merged_moments([first, second]), dense())
    groups = np.array([0, 1, 0, 2, 3, 4, 5])
    expected = dense().merge_classes(groups)
    found = bounded().merge_classes(groups)
    np.testing.assert_array_equal(found.classes, expected.classes)
    for c in range(6):
        np.testing.assert_allclose(found.covariance(c).toarray(), expected.covariance(c).toarray(), atol=1e-7)


def test_what_they_cannot_do_is_refused_with_the_way_out():
    moments = bounded()
    with pytest.raises(TypeError, match="make others of the new rows, and merge"):
        moments.update(X, Y)
    with pytest.raises(TypeError, match="not with DenseMoments: collect both with the same memory budget"):
        moments.merge(dense())
    with pytest.raises(ValueError, match="of other classes"):
        moments.merge(bounded().merge_classes(np.arange(K) // 2))


def test_without_their_rows_they_know_what_is_small():
    moments = pickle.loads(pickle.dumps(bounded()))
    np.testing.assert_allclose(moments.covariance().toarray(), dense().covariance().toarray(), rtol=1e-9)
    with pytest.raises(ValueError, match="without the rows"):
        moments.second_moment(3)
    assert_alike(moments.reading(ArrayRows(X, Y, W)), dense())


@pytest.mark.parametrize("n_matrices", [2, 3, 5, 100])
def test_rounds_hold_all_pairs_once_with_few_ends_each(n_matrices):
    each = np.eye(2 * K, dtype=int)
    every = np.array([each[i] | each[j] for i in range(K) for j in range(K)] + [0 * each[0], each[K + 1]])
    for needs in (every, every[:5], every[-2:-1], each[:K] | each[K:], every[:3, :0]):
        rounds = list(rounds_within(sparse.csr_array(needs), n_matrices))
        assert sorted(i for positions in rounds for i in positions) == list(range(len(needs)))
        assert all(needs[positions].any(axis=0).sum() <= n_matrices for positions in rounds)
    assert len(list(rounds_within(sparse.csr_array(every), 100))) == 1


@pytest.mark.parametrize("centred", [False, True])
def test_a_round_serves_many_contrasts(centred, monkeypatch):
    """Of all pairs, each pass but the first collects three classes and serves the six pairs of them."""
    passes, update = [], DenseMoments.update
    monkeypatch.setattr(DenseMoments, "update", lambda self, *batch: passes.append(self) or update(self, *batch))
    moments = bounded()
    assert len(passes) == 3
    pairs = [(i, j) for i in range(K) for j in range(K) if i != j]
    assert sorted(i for positions in moments.rounds(pairs, centred) for i in positions) == list(range(42))
    assert len(passes) <= 3 + 9
    rest = [(c, moments.pool(np.arange(K) != c)) for c in range(K)]
    expected = [dense().second_moment(below).toarray() for _, below in rest]
    passes.clear()
    for positions in moments.rounds(rest):  # the rest of a class is all rows less that class
        for i in positions:
            np.testing.assert_allclose(moments.second_moment(rest[i][1]).toarray(), expected[i], rtol=1e-9)
    assert len(passes) == K


NEAR = X - np.r_[[1e4, 1e4], np.zeros(D - 2)]
SOURCES = {
    "array": lambda: (NEAR, Y),
    "float32": lambda: (NEAR.astype(np.float32), Y),
    "streamed": lambda: (
        eigenfeat.rows.open(lambda: ((NEAR[i : i + 128], Y[i : i + 128]) for i in range(0, N, 128))),
        None,
    ),
    "Dask": lambda: (da.from_array(NEAR, chunks=(200, D)), da.from_array(Y, chunks=200)),
}
GIVEN = {"base_map": None, "columns": None, "feature_map": "soft-cubic", "alpha": 1e-2, "label_smoothing": 0.0}
SETTINGS = {
    "all pairs": {"class_pairs": "all", "ridge": 0.1},
    "centred": {"class_pairs": "all", "noise": "covariance", "ridge": 0.1},
    "rest": {"class_pairs": "one-vs-rest", "shrinkage": "auto", "ridge": 0.1},
    "per class": {"class_pairs": "per-class", "ridge": 0.1},
    "groups": {"class_pairs": "contractions", "ridge": 0.1},
    "units": {"class_pairs": "one-vs-all", "ridge": 0.1, "ridge_shape": "diagonal"},
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_directions_are_those_of_moments_in_memory(source, settings):
    model = GEMClassifier(2, random_state=0, **GIVEN, **SETTINGS[settings])
    in_memory = model.fit(*SOURCES[source]())
    assert isinstance(in_memory.moments_, DenseMoments)
    values, V = in_memory.eigenvalues_, in_memory.components_
    with runtime(memory=THREE):
        found = model.fit(*SOURCES[source]())
    assert isinstance(found.moments_, BoundedMoments)
    single = source == "float32"
    np.testing.assert_allclose(found.eigenvalues_, values, rtol=1e-3 if single else 1e-8)
    if not single:
        np.testing.assert_allclose(found.components_, V, rtol=1e-5, atol=1e-7 * np.abs(V).max())


@pytest.mark.parametrize("options", [{"n_layers": 2}, {"subclasses": 2}], ids=str)
def test_layers_and_sub_classes_are_fitted_alike(options):
    model = GEMClassifier(2, random_state=0, ridge=0.3, tol=1e-9, classifier_tol=1e-6, **GIVEN, **options)
    expected = model.fit(NEAR, Y).predict_proba(NEAR)
    with runtime(memory=THREE):
        found = model.fit(NEAR, Y).predict_proba(NEAR)
    np.testing.assert_allclose(found, expected, atol=1e-4)  # the logit stops short of its optimum


@pytest.mark.parametrize("source", ["array", "Dask"])
def test_settings_are_chosen_alike(source):
    grid = {"ridges": (0.03, 0.3), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1e-2,)}
    model = GEMClassifierCV(**grid, cv=2, columns=None, random_state=0)
    expected = model.fit(*SOURCES[source]()).cv_results_["mean_test_score"]
    with runtime(memory=THREE):
        found = model.fit(*SOURCES[source]()).cv_results_["mean_test_score"]
    np.testing.assert_allclose(found, expected, rtol=1e-3)


def test_few_scatters_are_in_memory_at_a_time(monkeypatch):
    k, d, n = 30, 300, 1500
    labels = np.arange(n) % k
    rows = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, (k, d))[labels]
    counts, update = [], DenseMoments.update

    def counted(moments, *batch):
        counts.append(len(moments.classes))
        return update(moments, *batch)

    monkeypatch.setattr(DenseMoments, "update", counted)
    limit = COPIES * matrix_bytes(4, d)
    model = GEMFeatures(2, class_pairs="hypercube", ridge=0.1, columns=None, keep_inputs=False, random_state=0)
    tracemalloc.start()
    with runtime(memory=limit):
        model.fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(counts) == 4
    assert peak < matrix_bytes(k, d) < 4 * limit


@pytest.mark.parametrize("stop", [20, 60, 90])
def test_a_fit_goes_on_from_its_checkpoint(tmp_path, stop):
    reads = []

    def batches():
        for i in range(0, N, 128):
            reads.append(i)
            if len(reads) == stop:
                raise KeyboardInterrupt
            yield NEAR[i : i + 128], Y[i : i + 128]

    def fitted():
        with runtime(memory=THREE, checkpoint=tmp_path / "fit"):
            return GEMClassifier(2, random_state=0, ridge=0.3, **GIVEN).fit(eigenfeat.rows.open(batches))

    with pytest.raises(KeyboardInterrupt):
        fitted()
    assert (tmp_path / "fit").exists()
    resumed, read_twice = fitted(), len(reads)
    reads[:] = [None] * stop
    anew = fitted()
    assert read_twice < len(reads)
    np.testing.assert_array_equal(resumed.components_, anew.components_)
    np.testing.assert_array_equal(resumed.predict_proba(NEAR), anew.predict_proba(NEAR))
