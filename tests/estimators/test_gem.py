"""GEM against its written-out algorithm, and the laws of its compositions."""

from time import perf_counter

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh
from scipy.special import log_softmax
from sklearn.datasets import load_digits, load_linnerud, load_wine, make_friedman1
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from eigenfeat import GEMClassifier, GEMClassifierCV, GEMFeatures, GEMRegressor, MultinomialLogit
from eigenfeat.features.maps import PowerMap


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500], X[1200:] / 16, y[1200:]


def algorithm_1(X, y, n_components, ridge):
    """Lines 1-7 of the paper, written plainly."""
    classes, columns = np.unique(y), []
    moments = {c: X[y == c].T @ X[y == c] / (y == c).sum() for c in classes}
    d = X.shape[1]
    for i in classes:
        for j in classes:
            if i != j:
                noise = moments[j] + ridge / d * np.trace(moments[j]) * np.eye(d)
                columns.append(eigh(moments[i], noise)[1][:, ::-1][:, :n_components])
    return np.hstack(columns)


def test_features_are_algorithm_1(digits):
    X, y, X_new, _ = digits
    gem = GEMFeatures(n_components=2, ridge=0.3).fit(X, y)
    V = algorithm_1(X, y, 2, 0.3)
    cosine = np.abs(np.einsum("md,dm->m", gem.components_, V)) / np.linalg.norm(V, axis=0)
    np.testing.assert_allclose(cosine, np.linalg.norm(gem.components_, axis=1), rtol=1e-6)
    P = X_new @ gem.components_.T
    expected = np.hstack([np.maximum(0, s * P) ** (a / 2) for a in (1, 2, 3) for s in (1, -1)])
    np.testing.assert_allclose(gem.transform(X_new), expected, atol=1e-8)
    assert len(gem.get_feature_names_out()) == expected.shape[1]
    assert gem.get_feature_names_out()[0] == "0_vs_1_0_pos_root1"


def test_the_signal_class_responds_with_its_eigenvalue(digits):
    X, y, _, _ = digits
    gem = GEMFeatures(n_components=3, ridge=0.2, feature_map="square").fit(X, y)
    responses = gem.transform(X)
    for m in (0, 40, 200):
        i, j = gem.pairs_[m]
        assert responses[y == i, m].mean() == pytest.approx(gem.eigenvalues_[m], rel=1e-6)
        assert responses[y == j, m].mean() < 1  # the ridge takes its part of the unit noise


def test_a_diagonal_ridge_makes_features_free_of_units(digits):
    X, y, _, _ = digits
    X = X + 0.01
    units = np.logspace(-2, 2, 64)
    plain, rescaled = (GEMFeatures(2, ridge=0.3, ridge_shape="diagonal").fit(Z, y).transform(Z) for Z in (X, X * units))
    np.testing.assert_allclose(rescaled, plain, atol=1e-6)
    identity = GEMFeatures(2, ridge=0.3).fit(X, y).transform(X)
    assert np.abs(GEMFeatures(2, ridge=0.3).fit(X * units, y).transform(X * units) - identity).max() > 0.1


@pytest.mark.parametrize("options", [{"noise": "covariance"}, {"constant": True}])
def test_offsets_are_part_of_the_projection(digits, options):
    X, y, X_new, _ = digits
    gem = GEMFeatures(2, feature_map="identity", **options).fit(X, y)
    weights, biases = gem.as_linear_layer()
    assert weights.shape == (180, 64)
    assert np.abs(biases).max() > 0
    np.testing.assert_allclose(gem.transform(X_new), X_new @ weights.T + biases, atol=1e-8)


def test_threshold_and_total_keep_the_strongest(digits):
    X, y, _, _ = digits
    everything = GEMFeatures(4).fit(X, y)
    assert (GEMFeatures(4, min_eigenvalue=5.0).fit(X, y).eigenvalues_ >= 5).all()
    few = GEMFeatures(4, max_features=50).fit(X, y)
    np.testing.assert_allclose(np.sort(few.eigenvalues_), np.sort(everything.eigenvalues_)[-50:])
    none_left = GEMFeatures(4, min_eigenvalue=1e9).fit(X, y)
    assert len(none_left.eigenvalues_) == 90


def test_more_columns_than_rows_stay_dual_and_give_the_same_features(digits):
    X, y, X_new, _ = digits
    few = np.concatenate([np.flatnonzero(y == c)[:5] for c in range(10)])
    wide = GEMFeatures(3, ridge=0.1).fit(sparse.csr_array(X[few]), y[few])
    assert wide.solver_ == "dual"
    V = algorithm_1(X[few], y[few], 3, 0.1)
    identity = GEMFeatures(3, ridge=0.1, feature_map="identity").fit(X[few], y[few])
    np.testing.assert_allclose(np.abs(X_new @ V), np.abs(identity.transform(X_new)), atol=1e-6)
    dense = GEMFeatures(3, ridge=0.1).fit(X[few], y[few])
    np.testing.assert_allclose(wide.transform(sparse.csr_array(X_new)), dense.transform(X_new), atol=1e-6)


def test_the_classifier_is_a_logit_on_the_features(digits):
    X, y, _, _ = digits
    alpha = 1e-2
    model = GEMClassifier(1, alpha=alpha, label_smoothing=0, keep_inputs=False, feature_map="cubic").fit(X, y)
    F = GEMFeatures(1).fit(X, y).transform(X)
    reference = LogisticRegression(C=1 / (alpha * len(X)), max_iter=300).fit(F, y)

    def objective(coef, intercept):
        scores = log_softmax(F @ coef.T + intercept, axis=1)
        return -scores[np.arange(len(y)), y].mean() + 0.5 * alpha * np.sum(coef**2)

    (last,) = model.classifiers_
    ours, theirs = objective(last.coef_, last.intercept_), objective(reference.coef_, reference.intercept_)
    assert ours <= theirs * (1 + 1e-6)
    assert ours == pytest.approx(theirs, rel=0.1)  # scikit-learn stalls before the minimum on such features
    assert ours == pytest.approx(last.objective_, rel=1e-6)


def test_gem_beats_the_logit_on_raw_inputs_and_random_directions(digits):
    X, y, X_new, y_new = digits
    gem = GEMClassifier(2, alpha=1e-2).fit(X, y).score(X_new, y_new)
    raw = MultinomialLogit(1e-3).fit(X, y).score(X_new, y_new)
    assert gem > raw


def test_layers_compose(digits):
    X, y, X_new, _ = digits
    maps = ["rectified", PowerMap((1, 2), soft=True)]
    deep = GEMClassifier([1, 1], n_layers=2, feature_map=maps, keep_inputs=[True, False], ridge=[0.3, 0.5], alpha=0.01)
    deep.fit(X, y)
    first = GEMFeatures(1, feature_map="rectified", keep_inputs=True, ridge=0.3).fit(X, y)
    second = GEMFeatures(1, feature_map=maps[1], ridge=0.5).fit(first.transform(X), y)
    source = deep._stacks[0].rows(deep._input_rows(X_new))
    np.testing.assert_allclose(source.rows(slice(0, 50)), second.transform(first.transform(X_new[:50])), atol=1e-5)
    with pytest.raises(ValueError, match="list of 3 values for n_layers=2"):
        GEMClassifier(ridge=[0.1, 0.2, 0.3], n_layers=2).fit(X, y)


def test_an_ensemble_is_the_geometric_mean_of_its_members(digits):
    X, y, X_new, y_new = digits
    model = GEMClassifier(2, class_pairs="hypercube", n_estimators=3, alpha=1e-2).fit(X, y)
    members = [
        last.predict_log_proba(stack.rows(model._input_rows(X_new)))
        for stack, last in zip(model._stacks, model.classifiers_)
    ]
    np.testing.assert_allclose(
        model.predict_log_proba(X_new), log_softmax(np.mean(members, axis=0), axis=1), atol=1e-10
    )
    losses = [-m[np.arange(len(y_new)), y_new].mean() for m in members]
    together = -model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new].mean()
    assert together < np.mean(losses)  # convexity: never worse than the average member


def test_a_base_map_goes_first_block_by_block(digits):
    X, y, X_new, _ = digits
    sampler = RBFSampler(gamma=0.5, n_components=150, random_state=0)
    model = GEMClassifier(2, label_smoothing=0, base_map=sampler, keep_inputs=False, alpha=1e-2).fit(X, y)
    piped = make_pipeline(sampler, GEMClassifier(2, label_smoothing=0, keep_inputs=False, alpha=1e-2)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X_new), piped.predict_proba(X_new), atol=1e-4)


def test_any_classifier_and_trees_take_the_projections(digits):
    X, y, X_new, y_new = digits
    machine = GEMClassifier(3, classifier=LinearSVC(C=0.01)).fit(X, y)
    assert machine.score(X_new, y_new) > 0.9
    trees = make_pipeline(GEMFeatures(2, feature_map="identity"), ExtraTreesClassifier(50, random_state=0)).fit(X, y)
    assert trees.score(X_new, y_new) > 0.85


def test_cv_chooses_on_held_out_rows_and_refits_on_all(digits):
    X, y, X_new, y_new = digits
    grid = {"ridges": (0.2, 1.0), "min_eigenvalues": (0.0, 3.0), "n_components_grid": (1,), "alphas": (1e-1, 10.0)}
    chosen = GEMClassifierCV(**grid, cv=2, random_state=1).fit(X, y)
    assert len(chosen.cv_results_["score"]) == 8
    assert chosen.best_score_ == chosen.cv_results_["score"].min()
    assert chosen.alpha_ == 1e-1
    refitted = GEMClassifier(
        chosen.n_components_, ridge=chosen.ridge_, min_eigenvalue=chosen.min_eigenvalue_, alpha=chosen.alpha_
    ).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X_new), refitted.predict_proba(X_new), atol=5e-3)
    held_out = GEMClassifierCV(**grid, scoring="log_loss").fit(X, y)
    assert held_out.score(X_new, y_new) > 0.9


def echoes(n_sources, n_copies, seed=0):
    """Rows that come in groups of near copies, with the label of their source; the two classes overlap."""
    rng = np.random.default_rng(seed)
    X, label = rng.normal(size=(n_sources, 8)), rng.integers(0, 2, n_sources)
    X[:, 0] += label
    group = np.repeat(np.arange(n_sources), n_copies)
    return X[group] + 0.01 * rng.normal(size=(len(group), 8)), label[group], group.astype(str)


def test_groups_are_left_out_together_so_that_probabilities_are_honest():
    X, y, group = echoes(60, 5)
    X_new, y_new, _ = echoes(2000, 1, seed=1)
    alone, together = (GEMClassifier(4, alpha=1e-4).fit(X, y, groups=groups) for groups in (None, group))
    assert together.classifiers_[0].temperature_ < 0.7 * alone.classifiers_[0].temperature_
    log_loss = [-model.predict_log_proba(X_new)[np.arange(len(y_new)), y_new].mean() for model in (alone, together)]
    assert log_loss[1] < log_loss[0]
    assert (alone.predict(X_new) == together.predict(X_new)).all()


@pytest.mark.parametrize("cv", [0.25, 4])
def test_cv_holds_groups_out_whole(cv):
    X, y, group = echoes(40, 3)
    grid = {"ridges": (1.0,), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1e-5,)}
    model = GEMClassifierCV(**grid, cv=cv)
    splits = model._splits(y, np.unique(group, return_inverse=True)[1])
    assert len(splits) == (1 if cv == 0.25 else 4)
    assert not any(set(group[train]) & set(group[held_out]) for train, held_out in splits)
    honest, flattered = (model.fit(X, y, groups=groups).best_score_ for groups in (group, None))
    assert honest > flattered + 0.1  # near copies of held-out rows are easy
    with pytest.raises(ValueError, match="holds out every row of some class"):
        model.fit(X, y, groups=np.where(y == 1, "all of one", group))


def test_groups_need_one_entry_a_row(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GEMClassifier(1).fit(X, y, groups=y[:-1])


def test_classes_of_any_name_and_weights_by_name():
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    model = GEMClassifier(2, class_weight={"barolo": 5.0, "grignolino": 1.0, "barbera": 1.0})
    model = make_pipeline(StandardScaler(), model).fit(X, names)
    assert set(model.predict(X)) == set(names)
    assert set(model[-1].pairs_.ravel()) == set(names)
    rest = GEMFeatures(class_pairs="one-vs-rest").fit(X, names)
    assert rest.pairs_[0].tolist() == ["barbera", "rest"]


def test_the_regressor_finds_what_a_line_cannot():
    X, y = make_friedman1(700, noise=0.5, random_state=0)
    model = make_pipeline(StandardScaler(), GEMRegressor()).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > Ridge().fit(X[:500], y[:500]).score(X[500:], y[500:]) + 0.1
    X, Y = load_linnerud(return_X_y=True)
    both = GEMRegressor(n_components=1, n_bins=2).fit(X, Y)
    assert both.predict(X).shape == Y.shape
    assert both.contractions_.shape == (3, 3)
    with pytest.raises(ValueError, match="target that varies"):
        GEMRegressor().fit(X, np.ones(len(X)))


def test_unit_vectors_as_contractions_are_class_pairs(digits):
    X, y, X_new, _ = digits
    unit = np.eye(10)
    vectors = np.array([[unit[3], unit[5]], [unit[8], unit[1]]])
    by_vectors = GEMFeatures(2, class_pairs=vectors).fit(X, y)
    by_labels = GEMFeatures(2, class_pairs=[(3, 5), (8, 1)]).fit(X, y)
    np.testing.assert_allclose(by_vectors.transform(X_new), by_labels.transform(X_new), atol=1e-8)
    assert by_vectors.pairs_[0].tolist() == ["3", "5"]


def test_a_contraction_is_the_weighted_mean_of_second_moments(digits):
    X, y, _, _ = digits
    u, v = np.zeros(10), np.zeros(10)
    u[[0, 1]], v[[2, 7]] = [1, 3], [2, 2]
    found = GEMFeatures(3, class_pairs=np.array([[u, v]]), ridge=0.5).fit(X, y)
    C = [X[y == c].T @ X[y == c] / (y == c).sum() for c in range(10)]
    signal, noise = 0.25 * C[0] + 0.75 * C[1], 0.5 * C[2] + 0.5 * C[7]
    noise = noise + 0.5 * np.trace(noise) / 64 * np.eye(64)
    np.testing.assert_allclose(found.eigenvalues_, eigh(signal, noise, eigvals_only=True)[::-1][:3], rtol=1e-8)
    with pytest.raises(ValueError, match="non-negative"):
        GEMFeatures(class_pairs=-np.array([[u, v]])).fit(X, y)


def test_reliance_is_the_share_of_the_scores_variance(digits):
    X, y, X_new, _ = digits
    model = GEMClassifier(2, keep_inputs=False, alpha=1e-2).fit(X, y)
    shares, pairs = model.reliance(X_new)
    assert shares.sum() == pytest.approx(1)
    assert pairs.tolist() == model.pairs_.tolist()
    # Directions one by one: scores with all but one direction's columns set to zero.
    F = GEMFeatures(2, feature_map="soft-cubic").fit(X, y).transform(X_new)
    coef = model.classifiers_[0].coef_ - model.classifiers_[0].coef_.mean(axis=0)
    m = len(shares)
    expected = []
    for j in range(m):
        mine = np.arange(F.shape[1]) % m == j
        expected.append(np.var(F[:, mine] @ coef[:, mine].T, axis=0).sum())
    np.testing.assert_allclose(shares, np.array(expected) / np.sum(expected), rtol=1e-6, atol=1e-12)


def test_reliance_needs_a_linear_last_stage(digits):
    X, y, _, _ = digits
    trees = GEMClassifier(1, classifier=ExtraTreesClassifier(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="linear last stage"):
        trees.reliance(X)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_stages_of_a_fit_are_timed_and_add_up_to_no_more_than_it_took(digits, n_layers):
    X, y = digits[:2]
    start = perf_counter()
    model = GEMClassifier(2, n_layers=n_layers).fit(X[:300], y[:300])
    total = perf_counter() - start
    assert list(model.stage_seconds_) == ["moments", "directions", "classifier"]
    assert 0 < sum(model.stage_seconds_.values()) <= total
