"""GEM's features against the written-out algorithm."""

from functools import partial

import numpy as np
import pytest
from gem_data import digit_parts, plain
from scipy import sparse
from scipy.linalg import eigh

from eigenfeat import GEMClassifier, GEMFeatures, GEMRegressor
from eigenfeat.moments import collect_moments

# The mathematics is of columns as they are.
untreated = partial(GEMFeatures, columns=None)


@pytest.fixture(scope="module")
def digits():
    return digit_parts()


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
    gem = untreated(n_components=2, ridge=0.3, feature_map="cubic", keep_inputs=False).fit(X, y)
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
    gem = untreated(n_components=3, ridge=0.2, feature_map="square", keep_inputs=False).fit(X, y)
    responses = gem.transform(X)
    for m in (0, 40, 200):
        i, j = gem.pairs_[m]
        assert responses[y == i, m].mean() == pytest.approx(gem.eigenvalues_[m], rel=1e-6)
        assert responses[y == j, m].mean() < 1  # the ridge takes its part of the unit noise


def test_a_diagonal_ridge_makes_features_free_of_units(digits):
    X, y, _, _ = digits
    X = X + 0.01
    units = np.logspace(-2, 2, 64)

    def features(Z, shape):
        gem = untreated(2, ridge=0.3, ridge_shape=shape, feature_map="cubic", keep_inputs=False)
        return gem.fit_transform(Z, y)

    np.testing.assert_allclose(features(X * units, "diagonal"), features(X, "diagonal"), atol=1e-6)
    assert np.abs(features(X * units, "identity") - features(X, "identity")).max() > 0.1


@pytest.mark.parametrize("options", [{"noise": "covariance"}, {"constant": True}])
def test_offsets_are_part_of_the_projection(digits, options):
    X, y, X_new, _ = digits
    gem = untreated(2, feature_map="identity", keep_inputs=False, **options).fit(X, y)
    weights, biases = gem.as_linear_layer()
    assert weights.shape == (180, 64)
    assert np.abs(biases).max() > 0
    np.testing.assert_allclose(gem.transform(X_new), X_new @ weights.T + biases, atol=1e-8)


def test_threshold_and_total_keep_the_strongest(digits):
    X, y, _, _ = digits
    everything = GEMFeatures(4).fit(X, y)
    assert (GEMFeatures(4, min_eigenvalue=5.0).fit(X, y).eigenvalues_ >= 5).all()
    few = GEMFeatures(4, max_components=50).fit(X, y)
    np.testing.assert_allclose(np.sort(few.eigenvalues_), np.sort(everything.eigenvalues_)[-50:])
    none_left = GEMFeatures(4, min_eigenvalue=1e9).fit(X, y)
    assert len(none_left.eigenvalues_) == 90


def test_more_columns_than_rows_stay_dual_and_give_the_same_features(digits):
    X, y, X_new, _ = digits
    few = np.concatenate([np.flatnonzero(y == c)[:5] for c in range(10)])
    wide = untreated(3, ridge=0.1).fit(sparse.csr_array(X[few]), y[few])
    assert wide.solver_ == "dual"
    V = algorithm_1(X[few], y[few], 3, 0.1)
    identity = untreated(3, ridge=0.1, feature_map="identity", keep_inputs=False).fit(X[few], y[few])
    np.testing.assert_allclose(np.abs(X_new @ V), np.abs(identity.transform(X_new)), atol=1e-6)
    dense = untreated(3, ridge=0.1).fit(X[few], y[few])
    np.testing.assert_allclose(wide.transform(sparse.csr_array(X_new)), dense.transform(X_new), atol=1e-6)


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
    found = untreated(3, class_pairs=np.array([[u, v]]), ridge=0.5).fit(X, y)
    C = [X[y == c].T @ X[y == c] / (y == c).sum() for c in range(10)]
    signal, noise = 0.25 * C[0] + 0.75 * C[1], 0.5 * C[2] + 0.5 * C[7]
    noise = noise + 0.5 * np.trace(noise) / 64 * np.eye(64)
    np.testing.assert_allclose(found.eigenvalues_, eigh(signal, noise, eigvals_only=True)[::-1][:3], rtol=1e-8)
    with pytest.raises(ValueError, match="non-negative"):
        untreated(class_pairs=-np.array([[u, v]])).fit(X, y)


@pytest.mark.filterwarnings("ignore:MultinomialLogit stopped")  # after one step: its features are all that is asked for
@pytest.mark.parametrize("options", [{}, {"n_components": 2, "constant": True, "noise": "covariance"}])
def test_the_classifier_has_the_features_of_the_transformer(digits, options):
    X, y, X_new, _ = digits
    ours, theirs = GEMFeatures(**options).fit(X, y), plain(**options, alpha=1.0, max_iter=1).fit(X, y)
    np.testing.assert_array_equal(ours.transform(X_new), theirs.transform(X_new))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


@pytest.mark.parametrize("cls", [GEMFeatures, GEMClassifier, GEMRegressor])
def test_defaults_are_the_same_everywhere(cls):
    parameters = cls().get_params()
    shared = GEMFeatures().get_params()
    assert (shared["feature_map"], shared["keep_inputs"], shared["ridge"]) == ("soft-cubic", True, 1.0)
    chosen = {"feature_map": "auto", "ridge": "auto"} if cls is GEMClassifier else {}
    assert {name: parameters[name] for name in shared} == shared | chosen


@pytest.mark.parametrize("options", [{}, {"shrinkage": "auto"}, {"class_pairs": "hypercube"}, {"noise": "covariance"}])
def test_moments_alone_give_the_features_of_the_rows(digits, options):
    X, y, X_new, _ = digits
    gem = untreated(2, solver="dense", **options)
    expected = gem.fit_transform(X, y), gem.transform(X_new), gem.pairs_
    again = untreated(2, solver="dense", **options).fit_moments(gem.moments_)
    np.testing.assert_array_equal(again.transform(X), expected[0])
    fourth = options.get("shrinkage") == "auto"
    halves = [collect_moments(X[part], y[part], track_fourth=fourth) for part in (slice(0, 200), slice(200, None))]
    merged = untreated(2, solver="dense", **options).fit_moments(halves[0].merge(halves[1]))
    np.testing.assert_allclose(merged.transform(X_new), expected[1], atol=1e-10)
    assert merged.pairs_.tolist() == expected[2].tolist()
    assert merged.n_features_in_ == 64 and merged.classes_.tolist() == list(range(10))


def test_moments_of_rows_with_a_constant(digits):
    X, y, X_new, _ = digits
    ones = np.ones((len(X), 1))
    by_rows = untreated(1, constant=True, solver="dense").fit(X, y)
    by_moments = untreated(1, constant=True, solver="dense")
    by_moments.fit_moments(collect_moments(np.hstack([X, ones]), y))
    np.testing.assert_allclose(by_moments.transform(X_new), by_rows.transform(X_new), atol=1e-10)
    with pytest.raises(ValueError, match="last column of ones"):
        untreated(1, constant=True).fit_moments(collect_moments(X, y))


def test_moments_that_will_not_do_are_refused(digits):
    X, y, _, _ = digits
    moments = collect_moments(X, y)
    with pytest.raises(ValueError, match="'spline' learns from the projections of rows, and moments have none"):
        GEMFeatures(1, feature_map="spline").fit_moments(moments)
    with pytest.raises(ValueError, match="at least two classes"):
        GEMFeatures(1).fit_moments(collect_moments(X))
    with pytest.raises(ValueError, match="fourth moments"):
        GEMFeatures(1, shrinkage="auto").fit_moments(moments)
    with pytest.raises(ValueError, match="takes the moments of rows, got ndarray"):
        GEMFeatures(1).fit_moments(X)
    doubled = GEMFeatures(1, feature_map=lambda P: np.hstack([P, P])).fit_moments(moments)  # only its width is learnt
    assert doubled.transform(X).shape == (500, 64 + 2 * 90)


def test_a_class_over_all_rows_and_over_the_identity(digits):
    X, y, _, _ = digits
    second = {c: X[y == c].T @ X[y == c] / (y == c).sum() for c in range(10)}
    pool = X.T @ X / len(X)
    pool += 0.5 * np.trace(pool) / 64 * np.eye(64)
    over_all = untreated(2, class_pairs="one-vs-all", ridge=0.5, solver="dense").fit(X, y)
    alone = untreated(2, class_pairs="per-class", solver="dense").fit(X, y)
    for c in range(10):
        mine = slice(2 * c, 2 * c + 2)
        np.testing.assert_allclose(
            over_all.eigenvalues_[mine], eigh(second[c], pool, eigvals_only=True)[:-3:-1], rtol=1e-8
        )
        np.testing.assert_allclose(alone.eigenvalues_[mine], np.linalg.eigvalsh(second[c])[:-3:-1], rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(alone.components_, axis=1), 1)
    assert over_all.pairs_[0].tolist() == ["0", "all"] and alone.pairs_[0].tolist() == ["0", "identity"]


def test_a_pattern_is_the_regression_of_the_inputs_on_the_projection(digits):
    X, y, *_ = digits
    for model in (GEMFeatures(1), GEMFeatures(1, constant=True), GEMFeatures(1, noise="covariance")):
        model.fit(X, y)
        Z = X @ model.components_.T
        centred = X - X.mean(axis=0)
        slopes = centred.T @ (Z - Z.mean(axis=0)) / ((Z - Z.mean(axis=0)) ** 2).sum(axis=0)
        np.testing.assert_allclose(model.patterns_, slopes.T, atol=1e-8 * np.abs(slopes).max())
