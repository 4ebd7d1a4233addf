"""GEM's classifier: the laws of its compositions, and what it leans on."""

from time import perf_counter

import numpy as np
import pytest
from gem_data import digit_parts, echoes, plain
from scipy.special import log_softmax
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from eigenfeat import ColumnScaler, GEMClassifier, GEMFeatures, MultinomialLogit
from eigenfeat.features.maps import PowerMap
from eigenfeat.rows import ArrayRows


@pytest.fixture(scope="module")
def digits():
    return digit_parts()


def test_the_classifier_is_a_logit_on_the_features(digits):
    """Of four classes: there scikit-learn's Newton steps reach the minimum, where its other solvers stall before it."""
    X, y = (part[digits[1] < 4] for part in digits[:2])
    alpha = 1e-2
    model = plain(2, alpha=alpha, label_smoothing=0).fit(X, y)
    F = GEMFeatures(2).fit(X, y).transform(X)
    reference = LogisticRegression(C=1 / (alpha * len(X)), solver="newton-cholesky", tol=1e-10).fit(F, y)

    def objective(coef, intercept):
        scores = log_softmax(F @ coef.T + intercept, axis=1)
        return -scores[np.arange(len(y)), y].mean() + 0.5 * alpha * np.sum(coef**2)

    (last,) = model.classifiers_
    ours, theirs = objective(last.coef_, last.intercept_), objective(reference.coef_, reference.intercept_)
    assert theirs <= ours * (1 + 1e-10)
    assert ours <= theirs * (1 + 1e-5)  # what the convex stage is asked for in float64
    assert ours == pytest.approx(last.objective_, rel=1e-12)


def test_gem_beats_the_logit_on_raw_inputs_and_random_directions(digits):
    X, y, X_new, y_new = digits
    gem = plain(2, alpha=1e-2).fit(X, y).score(X_new, y_new)
    raw = MultinomialLogit(1e-3).fit(X, y).score(X_new, y_new)
    assert gem > raw


def test_layers_compose(digits):
    X, y, X_new, _ = digits
    maps = ["rectified", PowerMap((1, 2), soft=True)]
    deep = plain(
        [1, 1], n_layers=2, feature_map=maps, keep_inputs=[True, False], ridge=[0.3, 0.5], alpha=0.01, label_smoothing=0
    )
    deep.fit(X, y)
    first = GEMFeatures(1, feature_map="rectified", keep_inputs=True, ridge=0.3).fit(X, y)
    second = GEMFeatures(1, feature_map=maps[1], keep_inputs=False, ridge=0.5).fit(first.transform(X), y)
    np.testing.assert_allclose(deep.transform(X_new), second.transform(first.transform(X_new)), atol=1e-5)
    names = deep.get_feature_names_out()
    assert len(set(names)) == deep.transform(X_new).shape[1] and names[0] == "layer2_0_vs_1_0_pos_soft1"
    with pytest.raises(ValueError, match="list of 3 values for n_layers=2"):
        plain(ridge=[0.1, 0.2, 0.3], n_layers=2).fit(X, y)


def test_an_ensemble_is_the_geometric_mean_of_its_members(digits):
    X, y, X_new, y_new = digits
    model = plain(2, class_pairs="hypercube", n_estimators=3, alpha=1e-2).fit(X, y)
    features = np.split(model.transform(X_new), 3, axis=1)
    members = [last.predict_log_proba(part) for part, last in zip(features, model.classifiers_)]
    names = model.get_feature_names_out()
    assert len(set(names)) == 3 * features[0].shape[1] and names[0] == "member0_x0"
    np.testing.assert_allclose(
        model.predict_log_proba(X_new), log_softmax(np.mean(members, axis=0), axis=1), atol=1e-10
    )
    losses = [-m[np.arange(len(y_new)), y_new].mean() for m in members]
    together = -model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new].mean()
    assert together < np.mean(losses)  # convexity: never worse than the average member


def test_a_base_map_goes_first_block_by_block(digits):
    X, y, X_new, _ = digits
    sampler = RBFSampler(gamma=0.5, n_components=150, random_state=0)
    options = {"label_smoothing": 0, "keep_inputs": False, "alpha": 1e-2, "columns": None}
    model = plain(2, base_map=sampler, **options).fit(X, y)
    piped = make_pipeline(sampler, plain(2, **options)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new), piped.predict_proba(X_new), atol=1e-8)


def test_any_classifier_and_trees_take_the_projections(digits):
    X, y, X_new, y_new = digits
    machine = plain(3, classifier=LinearSVC(C=0.01)).fit(X, y)
    assert machine.score(X_new, y_new) > 0.9
    assert not hasattr(machine, "predict_proba") and machine.fitted_.probabilities is None
    features = GEMFeatures(2, feature_map="identity", keep_inputs=False)
    trees = make_pipeline(features, ExtraTreesClassifier(50, random_state=0)).fit(X, y)
    assert trees.score(X_new, y_new) > 0.85
    with pytest.raises(ValueError, match="neither predict_log_proba nor decision_function"):
        plain(1, classifier=KNeighborsClassifier()).fit(X, y)


@pytest.mark.filterwarnings("ignore:divide by zero encountered in log")  # scikit-learn's forests do, and -inf is right
def test_members_with_another_last_stage_are_averaged(digits):
    X, y, X_new, _ = digits
    random_pairs = {"class_pairs": "hypercube", "n_estimators": 2}
    machines = plain(1, **random_pairs, classifier=LinearSVC(C=0.01, random_state=0)).fit(X, y)
    parts = np.split(machines.transform(X_new), 2, axis=1)
    margins = [last.decision_function(part) for part, last in zip(parts, machines.classifiers_)]
    np.testing.assert_allclose(machines.decision_function(X_new), np.mean(margins, axis=0), atol=1e-10)
    trees = ExtraTreesClassifier(20, min_samples_leaf=10, random_state=0)
    forests = plain(1, **random_pairs, classifier=trees).fit(X, y)
    parts = np.split(forests.transform(X_new), 2, axis=1)
    product = np.prod([last.predict_proba(part) for part, last in zip(parts, forests.classifiers_)], axis=0)
    geometric = np.sqrt(product) / np.sqrt(product).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(forests.predict_proba(X_new), geometric, atol=1e-10)


def test_the_fitted_value_says_what_the_classifier_says(digits):
    X, y, X_new, _ = digits
    model = plain(1, base_map=StandardScaler(with_std=False), n_estimators=2, class_pairs="random", alpha=1e-2).fit(
        X, y
    )
    log_proba = model.fitted_.probabilities.apply(model.fitted_.scores.at(X_new))
    np.testing.assert_array_equal(log_proba, model.predict_log_proba(X_new))
    np.testing.assert_array_equal(model.fitted_.features.at(X_new), model.transform(X_new))


def test_groups_are_left_out_together_so_that_probabilities_are_honest():
    X, y, group = echoes(60, 5)
    X_new, y_new, _ = echoes(2000, 1, seed=1)
    alone, together = (plain(4, alpha=1e-4).fit(X, y, groups=groups) for groups in (None, group))
    assert together.classifiers_[0].temperature_ < 0.7 * alone.classifiers_[0].temperature_
    log_loss = [-model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new].mean() for model in (alone, together)]
    assert log_loss[1] < log_loss[0]
    assert (alone.predict(X_new) == together.predict(X_new)).all()


def test_groups_need_one_entry_a_row(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        plain(1).fit(X, y, groups=y[:-1])


def test_classes_of_any_name_and_weights_by_name():
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    model = plain(2, alpha=1e-2, class_weight={"barolo": 5.0, "grignolino": 1.0, "barbera": 1.0})
    model = make_pipeline(StandardScaler(), model).fit(X, names)
    assert set(model.predict(X)) == set(names)
    assert set(model[-1].pairs_.ravel()) == set(names)
    rest = GEMFeatures(class_pairs="one-vs-rest").fit(X, names)
    assert rest.pairs_[0].tolist() == ["barbera", "rest"]


def test_reliance_is_the_share_of_the_scores_variance(digits):
    X, y, X_new, _ = digits
    model = plain(2, keep_inputs=False, alpha=1e-2).fit(X, y)
    shares, pairs = model.reliance(X_new)
    assert shares.sum() == pytest.approx(1)
    assert pairs.tolist() == model.pairs_.tolist()
    # Directions one by one: scores with all but one direction's columns set to zero.
    F = model.transform(X_new)
    coef = model.classifiers_[0].coef_ - model.classifiers_[0].coef_.mean(axis=0)
    m = len(shares)
    expected = []
    for j in range(m):
        mine = np.arange(F.shape[1]) % m == j
        expected.append(np.var(F[:, mine] @ coef[:, mine].T, axis=0).sum())
    np.testing.assert_allclose(shares, np.array(expected) / np.sum(expected), rtol=1e-6, atol=1e-12)


def test_reliance_needs_a_linear_last_stage(digits):
    X, y, _, _ = digits
    trees = plain(1, classifier=ExtraTreesClassifier(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="linear last stage"):
        trees.reliance(X)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_stages_of_a_fit_are_timed_and_add_up_to_no_more_than_it_took(digits, n_layers):
    X, y = digits[:2]
    start = perf_counter()
    model = plain(2, n_layers=n_layers, alpha=1e-2).fit(X[:300], y[:300])
    total = perf_counter() - start
    assert list(model.stage_seconds_) == ["choices", "moments", "directions", "classifier"]
    assert 0 < sum(model.stage_seconds_.values()) <= total


def test_choices_hold_the_maps_that_were_given(digits):
    X, y = digits[:2]
    chosen, base = PowerMap((1, 2), soft=True), RBFSampler(gamma=0.1, n_components=30, random_state=0)
    model = GEMClassifier(1, feature_map=chosen, base_map=base, ridge=0.5, alpha=0.01, label_smoothing=0).fit(X, y)
    assert model.choices_["feature_map"] is chosen and model.choices_["base_map"] is base
    searched = GEMClassifier(1, feature_map=[chosen], base_map=None, ridge=0.5, label_smoothing=0.2).fit(X, y)
    assert searched.choices_["feature_map"] == [chosen]
    assert searched.trials_[0]["feature_map"] == [chosen]


def test_principal_axes_as_a_base_map_are_scikit_learns(digits):
    X, y, X_test, _ = digits
    told = {"columns": None, "ridge": 0.3, "alpha": 1e-3, "label_smoothing": 0}
    model = GEMClassifier(2, base_map="axes", **told).fit(X, y)
    pca = PCA(64, svd_solver="covariance_eigh").fit(X)
    kept = pca.explained_variance_ > 1e-10 * pca.explained_variance_[0]
    rows, new = (pca.transform(part)[:, kept] for part in (X, X_test))
    reference = GEMClassifier(2, base_map=None, **told).fit(rows, y)
    own, expected = np.abs(model.transform(X_test)), np.abs(reference.transform(new))  # an axis may have either sign
    np.testing.assert_allclose(own, expected, atol=1e-6 * expected.max())
    assert f"axis{kept.sum() - 1}" in model.get_feature_names_out()


def test_rows_without_labels_help_to_learn_columns_and_axes(digits):
    X, y, X_test, _ = digits
    few = np.concatenate([np.flatnonzero(y == digit)[:10] for digit in range(10)])
    more = GEMClassifier(2, base_map="axes", ridge=0.3, alpha=1e-3).fit(X[few], y[few], unlabelled=X_test)
    columns, axes = more._inputs.stages
    every = np.vstack([X[few], X_test])
    np.testing.assert_array_equal(columns.apply(every), ColumnScaler().fit(every).transform(every))
    coordinates = axes.apply(columns.apply(every))
    np.testing.assert_allclose(coordinates.mean(axis=0), 0, atol=1e-10)
    covariance = np.cov(coordinates.T)
    np.testing.assert_allclose(covariance, np.diag(np.diagonal(covariance)), atol=1e-10)
    chosen = GEMClassifier(2).fit(X[few], y[few], unlabelled=X_test)
    assert "axes" in {trial["base_map"] for trial in chosen.trials_}
    assert "axes" not in {trial["base_map"] for trial in GEMClassifier(2).fit(X[few], y[few]).trials_}


def test_rows_without_labels_need_the_columns_of_the_others(digits):
    X, y = digits[:2]
    with pytest.raises(ValueError, match="features"):
        GEMClassifier(2).fit(X[:50], y[:50], unlabelled=X[:50, :3])
    with pytest.raises(ValueError, match="unlabelled goes with rows in memory"):
        GEMClassifier(2).fit(ArrayRows(X[:50], y[:50]), unlabelled=X)
