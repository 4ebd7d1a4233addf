"""The auto-encoder of rows read a block at a time: the fit in memory where they fit, else epochs over blocks."""

import numpy as np
import pytest

import eigenfeat
import eigenfeat.rows
from eigenfeat import DenoisingAutoencoder
from eigenfeat.rows import Block
from eigenfeat.scores.streamed_training import ColumnSums, StreamedEpoch
from eigenfeat.scores.training import column_moments

rng = np.random.default_rng(0)
N = 4000
X = (rng.normal(size=(N, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(N, 5))).astype(np.float32)
W = rng.integers(0, 3, N).astype(float)


def source(weights=None, step=300):
    def batches():
        for start in range(0, N, step):
            part = slice(start, start + step)
            yield (X[part], None) if weights is None else (X[part], None, weights[part])

    return eigenfeat.rows.open(batches, batch_size=500)


def model(**options):
    return DenoisingAutoencoder(**{"n_hidden": 10, "max_iter": 20, **options})


def explained(fitted):
    return 1 - np.mean((fitted.reconstruct(X) - X) ** 2) / X.var(axis=0).mean()


@pytest.mark.parametrize("weights", [None, W], ids=["rows", "weighted"])
def test_rows_that_memory_holds_are_fitted_as_arrays_are(weights):
    found, expected = model().fit(source(weights)), model().fit(X, sample_weight=weights)
    assert found.loss_curve_ == expected.loss_curve_
    np.testing.assert_array_equal(found.score1(X), expected.score1(X))


@pytest.mark.parametrize("weights", [None, W], ids=["rows", "weighted"])
def test_others_are_learnt_as_well_in_bounded_memory(weights):
    with eigenfeat.runtime("10kB") as run:
        found = model().fit(source(weights))
    assert sum(done.stage == "epoch" for done in run.passes) == found.n_iter_
    assert explained(found) > explained(model().fit(X, sample_weight=weights)) - 0.02


def test_an_interrupted_fit_goes_on_to_the_same_model(tmp_path, monkeypatch):
    def fitted(checkpoint=None):
        with eigenfeat.runtime("10kB", checkpoint=checkpoint):
            return model(max_iter=6).fit(source())

    expected, updates, update = fitted(), [], StreamedEpoch.update

    def failing(self, block):
        updates.append(block.start)
        if len(updates) == 40:
            raise KeyboardInterrupt
        update(self, block)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(StreamedEpoch, "update", failing)
        fitted(tmp_path / "fit")
    np.testing.assert_array_equal(fitted(tmp_path / "fit").score1(X), expected.score1(X))


def test_column_sums_merge_to_those_of_all_rows():
    parts = [ColumnSums() for _ in range(3)]
    for part, start in zip(parts, (0, 100, 1500)):
        chosen = slice(start, {0: 100, 100: 1500, 1500: N}[start])
        part.update(Block(X[chosen], None, W[chosen], start=start))
    for part in parts[1:]:
        parts[0].merge(part)
    for found, expected in zip(parts[0].moments, column_moments(X, W)):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert parts[0].low == X.min() and parts[0].high == X.max()


def test_what_a_stream_cannot_be():
    reason = r"output='sigmoid' reconstructs values in \[0, 1\]"
    with pytest.raises(ValueError, match=reason), eigenfeat.runtime("10kB"):
        model(output="sigmoid").fit(source())
    with pytest.raises(TypeError, match="do not merge"):
        StreamedEpoch(None, 1, None, 0, 1.0).merge(None)
