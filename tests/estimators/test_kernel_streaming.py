"""Kernel Fisher discriminants of streams: the solver "nystrom" over passes is the one in memory."""

import numpy as np
import pytest

import eigenfeat
import eigenfeat.rows
from eigenfeat import KernelFisherClassifier
from eigenfeat.estimators import kernel_streaming
from eigenfeat.kernel import Absolute

rng = np.random.default_rng(0)
N = 3000
X = rng.normal(size=(N, 4)) * [1.0, 10.0, 1.0, 1.0]
Y = np.array(["near", "far", "up"])[np.where(X[:, 2] > 1, 2, np.hypot(X[:, 0], X[:, 1] / 10) > 1.2)]
W = rng.integers(1, 4, N).astype(float)
CENTERS = X[::60]


def source(weights=None, step=700, labels=Y):
    def batches():
        for start in range(0, N, step):
            part = slice(start, start + step)
            yield (X[part], labels[part]) if weights is None else (X[part], labels[part], weights[part])

    return eigenfeat.rows.open(batches, batch_size=500)


def kfd(**options):
    chosen = {"alpha": 0.1, "solver": "nystrom", "centers": CENTERS, "threshold": "least-squares", "tol": 1e-10}
    return KernelFisherClassifier(**chosen | options)


def streamed(model, *args, **options):
    with eigenfeat.runtime("10kB") as run:
        return model.fit(source(*args, **options)), [done.stage for done in run.passes]


@pytest.mark.parametrize("penalty", ["function", "coefficients"])
@pytest.mark.parametrize("labels", [Y, np.where(Y == "up", "up", "not")], ids=["three", "two"])
def test_the_expansion_is_the_one_in_memory(labels, penalty):
    options = {"gamma": 0.3, "penalty": penalty, "class_weight": "balanced", "max_iter": 200}
    expected = kfd(**options).fit(X, labels, W)
    found, passes = streamed(kfd(**options), W, labels=labels)
    assert passes.count("kernel products") == found.n_iter_ + 1 and found.solver_ == "nystrom"
    scores = expected.decision_function(X)
    np.testing.assert_allclose(found.decision_function(X), scores, atol=1e-7 * np.abs(scores).max())
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)


def test_rows_that_memory_holds_are_fitted_as_arrays_are():
    found, expected = KernelFisherClassifier().fit(source(W)), KernelFisherClassifier().fit(X, Y, W)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))


def test_defaults_of_a_stream_are_as_good_as_in_memory(monkeypatch):
    monkeypatch.setattr(kernel_streaming, "SAMPLE_ROWS", 600)
    found, _ = streamed(KernelFisherClassifier())
    expected = KernelFisherClassifier(solver="nystrom").fit(X, Y)
    assert found.columns_ is not None and len(found.support_vectors_) <= 600
    assert found.score(X, Y) > expected.score(X, Y) - 0.01
    assert found.predict_proba(X).shape == (N, 3)


NEEDS_ROWS = {
    "loss": Absolute(),
    "penalty": "sparse",
    "solver": "smo",
    "centers": np.arange(9),
    "multi_class": "joint",
}


@pytest.mark.parametrize("name", NEEDS_ROWS)
def test_what_needs_rows_in_memory_says_so(name):
    with pytest.raises(ValueError, match=f"{name}=.* needs rows in memory"):
        streamed(kfd(**{name: NEEDS_ROWS[name]}))
