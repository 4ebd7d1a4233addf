"""MultinomialLogit against scikit-learn's LogisticRegression, and its own laws."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenfeat import MultinomialLogit
from eigenfeat.features.maps import as_feature_map
from eigenfeat.linear import preconditioner_table
from eigenfeat.rows import Block, Rows, as_rows
from eigenfeat.stages import Affine, FeatureLayer, LayerRows


@parametrize_with_checks([MultinomialLogit()])
def test_estimator_contract(estimator, check):
    check(estimator)


def objective(model, X, y, alpha, sample_weight=None):
    """The written objective of any fitted linear classifier, scikit-learn's included."""
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    codes = np.searchsorted(model.classes_, y)
    losses = -model.predict_log_proba(X)[np.arange(len(y)), codes]
    penalty = np.sum(model.coef_.astype(float) ** 2) / (2 if len(model.classes_) == 2 else 1)
    return np.average(losses, weights=weights) + 0.5 * alpha * penalty


def scikit_learn(X, y, alpha, sample_weight=None, **settings):
    total = len(y) if sample_weight is None else sample_weight.sum()
    factor = 2 if len(np.unique(y)) == 2 else 1
    model = LogisticRegression(C=factor / (alpha * total), tol=1e-10, max_iter=50_000, **settings)
    return model.fit(X, y, sample_weight)


def wide_rows():
    return make_classification(n_samples=60, n_features=150, n_informative=10, n_classes=3, random_state=0)


SETS = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: (scale(load_wine().data), load_wine().target),
    "cancer": lambda: (scale(load_breast_cancer().data), load_breast_cancer().target),
    "digits": lambda: (load_digits().data / 16.0, load_digits().target),
    "wide": wide_rows,
}


@pytest.mark.parametrize("solver", ["gram", "diagonal"])
@pytest.mark.parametrize("name", list(SETS))
@pytest.mark.parametrize("alpha", [1e-1, 1e-3])
def test_objective_is_scikit_learns(name, alpha, solver):
    X, y = SETS[name]()
    ours = MultinomialLogit(alpha, tol=1e-9, solver=solver).fit(X, y)
    theirs = scikit_learn(X, y, alpha)
    assert ours.solver_ == solver
    assert objective(ours, X, y, alpha) == pytest.approx(ours.objective_, rel=1e-9)
    assert ours.objective_ <= objective(theirs, X, y, alpha) * (1 + 1e-6)
    # Both stop at a gap of about 1e-9 of the objective: probabilities differ by its root times how flat the minimum is.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_no_intercept():
    X, y = SETS["iris"]()
    ours = MultinomialLogit(1e-2, tol=1e-9, fit_intercept=False).fit(X, y)
    theirs = scikit_learn(X, y, 1e-2, fit_intercept=False)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    assert not ours.intercept_.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repeated_rows(n_classes):
    X, y = make_classification(n_samples=80, n_features=6, n_informative=4, n_classes=n_classes, random_state=1)
    repeats = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = MultinomialLogit(1e-2, tol=1e-10).fit(X, y, sample_weight=repeats)
    repeated = MultinomialLogit(1e-2, tol=1e-10).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-5)


def test_class_weights_are_sample_weights():
    X, y = SETS["wine"]()
    balanced = MultinomialLogit(1e-2, tol=1e-10, class_weight="balanced").fit(X, y)
    by_row = (len(y) / (3 * np.bincount(y)))[y]
    np.testing.assert_allclose(
        balanced.coef_, MultinomialLogit(1e-2, tol=1e-10).fit(X, y, sample_weight=by_row).coef_, atol=1e-5
    )


@pytest.mark.parametrize("solver", ["gram", "diagonal"])
def test_sparse_rows_are_dense_rows(solver):
    X, y = SETS["digits"]()
    dense = MultinomialLogit(1e-3, tol=1e-8, solver=solver).fit(X, y)
    thin = MultinomialLogit(1e-3, tol=1e-8, solver=solver).fit(sparse.csr_array(X), y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-8)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_array(X)), dense.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("name", ["cubic", "soft-cubic", "spline"])
def test_a_lazy_expansion_is_the_formed_matrix(name):
    X, y = SETS["digits"]()
    V = np.random.default_rng(0).normal(size=(64, 16)) / 4
    P = X @ V
    chosen = as_feature_map(name).fit(P)
    lazy = LayerRows.of(as_rows(X), FeatureLayer(Affine.of(V), chosen, np.ones(64)))
    formed = np.hstack([X, chosen(P)])
    settings = {"alpha": 1e-3, "tol": 1e-12, "batch_size": 100}
    one, other = MultinomialLogit(**settings).fit(lazy, y), MultinomialLogit(**settings).fit(formed, y)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    np.testing.assert_allclose(one.decision_function(lazy), other.decision_function(formed), atol=1e-6)


def test_float32_keeps_its_type_and_reaches_the_minimum():
    X, y = SETS["digits"]()
    exact = MultinomialLogit(1e-3, tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        single = MultinomialLogit(1e-3, tol=1e-7).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32 == single.predict_proba(X.astype(np.float32)).dtype
    assert objective(single, X, y, 1e-3) == pytest.approx(exact.objective_, rel=1e-5)


def test_a_sampled_gram_matrix_leads_to_the_same_minimum(monkeypatch):

    X, y = SETS["digits"]()
    exact = MultinomialLogit(1e-4, tol=1e-8).fit(X, y)
    monkeypatch.setattr(preconditioner_table, "MIN_GRAM_ROWS", 100)
    for seed in range(3):
        sampled = MultinomialLogit(1e-4, tol=1e-8, random_state=seed).fit(X, y)
        assert sampled.objective_ == pytest.approx(exact.objective_, rel=1e-7)


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads_change_no_bit(n_jobs):
    X, y = SETS["digits"]()
    one = MultinomialLogit(1e-3, batch_size=64, n_jobs=1).fit(X, y)
    many = MultinomialLogit(1e-3, batch_size=64, n_jobs=n_jobs).fit(X, y)
    np.testing.assert_array_equal(one.coef_, many.coef_)


def test_separable_classes_with_a_tiny_penalty():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(50, 3)) + 10, rng.normal(size=(50, 3)) - 10])
    y = np.repeat(["up", "down"], 50)
    model = MultinomialLogit(alpha=1e-10).fit(X, y)
    assert model.score(X, y) == 1
    assert 0 < model.objective_ < 1e-5 and np.isfinite(model.coef_).all()


def test_columns_of_any_units_and_ranks():
    X, y = SETS["wine"]()
    awkward = np.column_stack([X * np.logspace(-4, 4, X.shape[1]), X[:, 0], np.zeros(len(y)), np.ones(len(y))])
    ours = MultinomialLogit(1e-8, tol=1e-8).fit(awkward, y)
    assert np.isfinite(ours.coef_).all()
    assert ours.gap_ <= 1e-8 * ours.objective_


def test_no_penalty_where_classes_overlap():
    X, y = make_classification(n_samples=300, n_features=5, n_redundant=0, flip_y=0.3, random_state=0)
    ours = MultinomialLogit(alpha=0.0, tol=1e-10).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4)


def test_warm_start_takes_fewer_steps_and_leads_to_the_same_minimum():
    X, y = SETS["digits"]()
    model = MultinomialLogit(1e-3, warm_start=True, tol=1e-6).fit(X, y)
    cold, found = model.n_iter_, model.objective_
    model.fit(X, y)
    assert model.n_iter_ < cold / 2 and model.objective_ <= found
    model.fit(X[:, :10], y)  # another shape: starts afresh
    assert model.coef_.shape == (10, 10)


@pytest.mark.parametrize("name", ["cancer", "digits"])
def test_alpha_path_is_the_separate_fits(name):
    X, y = SETS[name]()
    alphas = [1e-4, 1e-1, 1e-2]
    base = MultinomialLogit(tol=1e-8)
    path = list(base.alpha_path(X, y, alphas))
    assert [model.alpha for model in path] == sorted(alphas, reverse=True)
    for model in path:
        alone = clone(base).set_params(alpha=model.alpha).fit(X, y)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-7)
    assert sum(model.n_passes_ for model in path) < 3 * alone.n_passes_


def test_it_says_when_it_did_not_converge():
    X, y = SETS["digits"]()
    with pytest.warns(ConvergenceWarning, match="Increase max_iter, alpha or tol"):
        MultinomialLogit(1e-6, max_iter=2, tol=1e-8).fit(X, y)


def test_progress_is_printed(capsys):
    X, y = SETS["iris"]()
    model = MultinomialLogit(verbose=True).fit(X, y)
    assert capsys.readouterr().out.count("objective") == model.n_iter_


def test_bad_input_is_explained():
    X, y = SETS["iris"]()
    with pytest.raises(ValueError, match="only one class"):
        MultinomialLogit().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="NaN"):
        MultinomialLogit().fit(np.where(X > 7, np.nan, X), y)
    with pytest.raises(ValueError, match="alpha"):
        MultinomialLogit(alpha=-1.0).fit(X, y)
    with pytest.raises(ValueError, match="no row of positive sample weight"):
        MultinomialLogit().fit(X, y, sample_weight=(y > 0).astype(float))
    lazy = LayerRows.of(as_rows(X), FeatureLayer(Affine.of(np.eye(4)), as_feature_map("cubic")))
    with pytest.raises(ValueError, match="24"):
        MultinomialLogit().fit(lazy, y).predict(as_rows(X))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MultinomialLogit().fit(lazy, y[:-1])


def test_rows_that_float32_fits_without_doubt():
    X, y = SETS["digits"]()
    wide = np.hstack([X, X**2, np.sqrt(X)]).astype(np.float32) * np.float32(5)
    model = list(MultinomialLogit(tol=1e-3).alpha_path(wide, y, [1e-2, 1e-4, 1e-6]))[-1]
    assert model.score(wide, y) == 1
    assert np.isfinite(model.objective_) and model.gap_ <= 1e-3 * model.objective_


def test_groups_of_any_type_are_left_out_together():
    X, y = SETS["wine"]()
    numbers = np.arange(len(y)) // 4
    names = np.array([f"recording {number:02d}" for number in numbers])  # in the order of the numbers
    base = MultinomialLogit(1e-2, label_smoothing=0.2, tol=1e-8)
    by_name, by_number = (clone(base).fit(X, y, groups=groups) for groups in (names, numbers))
    (path,) = clone(base).alpha_path(X, y, [1e-2], groups=list(names))
    assert by_name.temperature_ == by_number.temperature_ == path.temperature_
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clone(base).fit(X, y, groups=names[:-1])


def test_a_labelled_source_is_rows_labels_and_weights():
    X, y = SETS["wine"]()
    weights = np.linspace(1, 2, len(y))
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    by_rows = MultinomialLogit(1e-2).fit_rows(as_rows(X, names, weights))
    by_arrays = MultinomialLogit(1e-2).fit(X, names, weights)
    np.testing.assert_array_equal(by_rows.coef_, by_arrays.coef_)
    assert by_rows.classes_.tolist() == by_arrays.classes_.tolist() == sorted(set(names))


def test_a_stream_has_its_own_labels():
    class Stream(Rows):
        n_columns, dtype = 4, np.dtype(np.float64)

        def blocks(self, batch_size=None):
            yield Block(SETS["iris"]()[0])

    with pytest.raises(ValueError, match=r"brings labels.*label="):
        MultinomialLogit().fit(Stream(), SETS["iris"]()[1])
    model = MultinomialLogit().fit(*SETS["iris"]())
    np.testing.assert_array_equal(model.predict(Stream()), model.predict(SETS["iris"]()[0]))  # one pass will do


def test_the_fitted_value_says_what_the_estimator_says():
    X, y = SETS["wine"]()
    model = MultinomialLogit(1e-2, label_smoothing=0.2).fit(X, y)
    scores = model.fitted_.scores.at(X)
    np.testing.assert_array_equal(scores, model.decision_function(X))
    np.testing.assert_array_equal(model.fitted_.probabilities.apply(scores), model.predict_log_proba(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_classes_that_separate_without_a_penalty_end_with_a_warning(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(dtype)
    y = (X[:, 0] > 0).astype(int) + (X[:, 0] > 1)
    X[:, 0] += 3 * y
    with pytest.warns(ConvergenceWarning, match="no minimum.*Give a positive alpha"):
        model = MultinomialLogit(0.0).fit(X, y)
    assert np.isfinite(model.coef_).all() and model.score(X, y) == 1
