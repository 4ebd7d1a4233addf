"""Diagnostics of moments and of fitted estimators."""

import numpy as np
import pytest
from scipy.linalg import eigh

import eigenfeat
from eigenfeat import (
    FisherLDA,
    GEMFeatures,
    KernelFisherClassifier,
    KernelFisherFeatures,
    LeastSquaresLDA,
    OrientedKernelPCA,
    OrientedPCA,
    SlicedInverseRegression,
    VanishingComponents,
)
from eigenfeat.moments import collect_moments
from eigenfeat.stability import fisher_components, pair_components, pair_perturbation, summarize


def classes(rng, n=600, d=5, k=3, shift=0.0):
    X, y = rng.standard_normal((n, d)), np.arange(n) % k
    X[y == 0, 0] += shift
    return X, y


@pytest.mark.parametrize("noise", ["within", "total"])
@pytest.mark.parametrize("k", [3, 8])
def test_classes_of_equal_mean_are_called_different_at_the_stated_rate(noise, k):
    rng = np.random.default_rng(0)
    called = []
    for _ in range(400):
        model = FisherLDA(noise=noise).fit(*classes(rng, n=80, d=6, k=k))
        result = fisher_components(model.moments_, model.eigenvalues_, noise=noise, level=0.1)
        called.append(result.n_distinguishable > 0)
    # One-sided at this level where k - 1 < d; the approximation is good to a few per cent for so few classes.
    assert np.mean(called) == pytest.approx(0.1, abs=0.06)


def test_summary_counts_the_direction_that_separates():
    X, y = classes(np.random.default_rng(1), shift=1.5)
    summary = summarize(FisherLDA().fit(X, y))
    assert summary.components[0].n_distinguishable == 1
    assert "1 of 2 components stand out" in str(summary)
    assert summary.n_samples == pytest.approx(len(y))


def test_ridge_asks_for_rows_and_rows_are_used():
    X, y = classes(np.random.default_rng(2), n=150, shift=2.0)
    model = FisherLDA(ridge=0.1).fit(X, y)
    silent = summarize(model)
    assert not silent.components
    assert "summarize(model, X, y)" in silent.advice
    told = summarize(model, X, y, n_permutations=19, random_state=0)
    assert told.components[0].method == "label permutation"
    assert told.components[0].mask.tolist() == [True, False]


def test_slices_are_judged_as_classes_and_others_by_permutation():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    y = X[:, 0] + 0.2 * rng.standard_normal(200)
    model = SlicedInverseRegression(n_components=2).fit(X, y)
    by_theory = summarize(model)  # slices are classes, so the quotient is Fisher's
    assert by_theory.components[0].mask.tolist() == [True, False]
    told = summarize(model, X, y, n_permutations=19, random_state=0)
    assert told.components[0].mask.tolist() == [True, False]


def test_a_spectrum_without_labels_has_nothing_to_permute():
    X = np.random.default_rng(3).standard_normal((200, 4))
    for model in (OrientedPCA(n_components=2), VanishingComponents(n_components=2), OrientedKernelPCA(2)):
        silent, told = summarize(model.fit(X)), summarize(model, X, np.arange(200) % 2)
        assert "nothing to permute" in silent.advice
        assert "permutation" not in silent.advice
        assert not told.components
        assert "constants of the thesis" in str(told)


def test_pair_intervals_hold_for_bounded_rows():
    rng = np.random.default_rng(4)
    n, d, held = 4000, 3, []
    truth = {0: np.eye(d) / 3, 1: np.diag([0.9, 0.7, 0.5]) ** 2 / 3}
    values = eigh(truth[1], truth[0], eigvals_only=True)[::-1]
    for _ in range(20):
        Z = rng.standard_normal((2 * n, d))
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        y = np.repeat([0, 1], n)
        Z[y == 1] *= [0.9, 0.7, 0.5]
        bound = pair_perturbation(collect_moments(Z, y), 1, 0, radius=1.0)
        assert bound.epsilon < bound.crawford  # the bound says something
        held.append(np.all((bound.lower <= values) & (values <= bound.upper)))
    assert np.mean(held) >= 0.95


def test_a_ridge_raises_the_crawford_number_of_a_pair():
    X, y = classes(np.random.default_rng(5), n=60, d=8)
    moments = collect_moments(X, y)
    bare, ridged = (pair_perturbation(moments, 0, 1, 5.0, ridge=r) for r in (0.0, 0.5))
    assert ridged.crawford > bare.crawford


def test_pair_components_name_the_pair():
    X, y = classes(np.random.default_rng(6))
    moments = collect_moments(X, np.array(["a", "b", "c"])[y])
    S, N = moments.second_moment(0).toarray(), moments.second_moment(2).toarray()
    result = pair_components(moments, 0, 2, eigh(S, N, eigvals_only=True)[::-1])
    assert result.n_distinguishable == 0
    assert str(result).startswith("a vs c: 0 of 5")


def test_class_pairs_of_gem_are_judged_one_by_one():
    rng = np.random.default_rng(7)
    X, y = classes(rng, n=1500, d=6, k=3)
    X[y == 2, 1] *= 3
    summary = summarize(GEMFeatures(ridge=0.0, n_components=6, min_eigenvalue=0.0).fit(X, np.array(["a", "b", "c"])[y]))
    found = {c.label: c.n_distinguishable for c in summary.components}
    assert found == {"a vs b": 0, "b vs a": 0, "a vs c": 1, "b vs c": 1, "c vs a": 1, "c vs b": 1}
    assert "stand out" in str(summary)


QUICK = {
    "DenoisingAutoencoder": {"max_iter": 2},
    "GEMClassifier": {"max_components": 2},
    "GEMClassifierCV": {"ridge": [0.1], "max_components": 2},
    "HypergraphFeaturesCV": {"cv": 2},
}


def test_every_estimator_has_a_summary_or_a_sentence_why_not():
    X, y = classes(np.random.default_rng(8), n=120, d=4, shift=2.0)
    trials = np.random.default_rng(9).standard_normal((20, 5, 30))
    for name in eigenfeat.__all__:
        kind = getattr(eigenfeat, name)
        if not isinstance(kind, type):
            continue
        settings = {k: v for k, v in QUICK.get(name, {}).items() if k in kind().get_params()}
        of_trials = name in ("CommonSpatialPatterns", "SPoC")
        rows = (trials, np.arange(20) % 2) if of_trials else (X, y)
        model = kind(**settings).fit(*rows)
        for summary in (summarize(model), summarize(model, rows[0])):
            assert str(summary).startswith(name)
            if hasattr(model, "eigenvalues_"):
                assert summary.worst_residual is not None
            else:
                assert "has no spectrum" in summary.advice
        if hasattr(model, "eigenvalues_") and not of_trials:
            assert summary.bounds is not None


def test_kernel_and_least_squares_models_are_tested_by_permutation():
    X, y = classes(np.random.default_rng(10), n=90, d=3, shift=3.0)
    for model in (KernelFisherFeatures(2, gamma=0.3), LeastSquaresLDA()):
        told = summarize(model.fit(X, y), X, y, n_permutations=19)
        assert told.components[0].mask.tolist()[0]
        assert told.bounds.space == ("kernel" if isinstance(model, KernelFisherFeatures) else "input")


def test_leave_one_out_is_told():
    X, y = classes(np.random.default_rng(11), n=90, shift=2.0)
    model = KernelFisherClassifier().fit(X, y)
    assert f"leave-one-out error {model.loo_error_:.2%}" in str(summarize(model))
