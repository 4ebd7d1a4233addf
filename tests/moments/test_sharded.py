"""Moments that stay on a cluster answer as those in memory do, and what comes from there is small."""

import pickle

import numpy as np
import pytest

import eigenfeat
from eigenfeat import GEMClassifier
from eigenfeat.moments import ShardedMoments, collect_moments, merged_moments, sharded_moments
from eigenfeat.moments.collect import MomentsOf
from eigenfeat.moments.sharded import matrix_bytes
from eigenfeat.rows import dask_rows

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")

rng = np.random.default_rng(0)
N, D, K = 700, 40, 5
X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 5
Y = np.argmax(X[:, :K] + rng.normal(size=(N, K)), axis=1)
LIMIT = 2 * matrix_bytes(1, D) + 10
"""Two classes a shard, so three shards."""


@pytest.fixture(scope="module")
def cluster():
    """Two workers, which are threads: processes are in test_dask_rows.py."""
    local = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
    with local, distributed.Client(local) as client:
        yield client


def on_workers(rows=slice(None)):
    return dask_rows(da.from_array(X[rows], chunks=(200, D)), da.from_array(Y[rows], chunks=200))


@pytest.fixture(scope="module")
def both(cluster):
    return sharded_moments(on_workers(), K, LIMIT), collect_moments(X, Y)


def test_they_answer_as_those_in_memory(both):
    found, expected = both
    assert [len(shard.summary.classes) for shard in found.shards] == [2, 2, 1]
    for name in ("classes", "counts", "weights", "weight_squares", "means"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    mixture = np.array([0.5, 0.0, 0.2, 0.0, 0.3])
    V = rng.normal(size=(D, 2))
    for ask in (
        lambda moments: moments.second_moment(3),
        lambda moments: moments.second_moment(mixture, about=1).shifted(0.3),
        lambda moments: moments.covariance(),
        lambda moments: moments.within(mixture).scaled(0.25).shifted(np.arange(D)),
        lambda moments: moments.between(),
    ):
        one, other = ask(found), ask(expected)
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one.diagonal(), other.diagonal(), rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(one.toarray(), other.toarray(), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(one @ V, other @ V, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(one.squared_norm(), other.squared_norm(), rtol=1e-10)


def test_equal_questions_share_a_matrix(both):
    found, _ = both
    one, same, other = found.second_moment(1), found.second_moment(1), found.second_moment(2)
    assert one.matrix is same.matrix and one.matrix is not other.matrix


def test_parts_merge_shard_by_shard(both):
    first, second = (sharded_moments(on_workers(rows), K, LIMIT) for rows in (slice(300), slice(300, N)))
    merged = merged_moments([first.rename(np.array(list("abcde"))), second.rename(np.array(list("abcde")))])
    assert isinstance(merged, ShardedMoments) and merged.classes.tolist() == list("abcde")
    np.testing.assert_allclose(merged.covariance().toarray(), both[1].covariance().toarray(), rtol=1e-10, atol=1e-10)


def test_what_they_cannot_do_is_refused_with_the_way_out(both):
    found, in_memory = both
    for ask, kind, words in (
        (lambda: found.fourth_moment(0), ValueError, '"oas" or a number'),
        (lambda: found.grouped(np.zeros(K)), ValueError, "raise memory_limit"),
        (lambda: found.update(X, Y), TypeError, "merge them"),
        (lambda: found.merge(in_memory), TypeError, "not with DenseMoments"),
        (lambda: found.within() + found.within(), TypeError, "not added"),
    ):
        with pytest.raises(kind, match=words):
            ask()


@pytest.mark.parametrize("noise", ["second_moment", "covariance"])
def test_a_fit_with_a_small_limit_is_the_fit_in_memory(cluster, monkeypatch, noise):
    """Nothing that is gathered is larger than the limit, but for the bounded samples of rows."""
    model = GEMClassifier(
        2, base_map=None, feature_map="soft-cubic", ridge=0.3, alpha=1e-2, label_smoothing=0.0, noise=noise
    )
    expected = model.fit(X, Y).predict_proba(X)
    sizes, gather = {}, cluster.gather

    async def gathered(futures, **options):
        values = await gather(futures, **options)
        for future, value in zip(futures, values):
            name = future.key.split("-")[0]
            sizes[name] = max(sizes.get(name, 0), len(pickle.dumps(value)))
            assert not isinstance(getattr(value, "statistic", value), MomentsOf)
        return values

    monkeypatch.setattr(cluster, "gather", gathered)
    with eigenfeat.runtime(LIMIT) as run:
        found = model.fit(da.from_array(X, chunks=(200, D)), da.from_array(Y, chunks=200))
    assert isinstance(found.moments_, ShardedMoments)
    assert sum(done.stage == "moments" for done in run.passes) == 3
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-10)
    assert {"_solved", "_itself"} <= set(sizes)
    samples = ("_updated", "_merged", "_part")
    assert max(size for name, size in sizes.items() if name not in samples) < LIMIT
