"""Common spatial patterns against their definition, their peers and the laws they obey."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from signal_data import MIXING, alpha_rhythm, cosines, four_classes, two_classes
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf, oas, shrunk_covariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from eigenfeat import CommonSpatialPatterns, load, save
from eigenfeat.estimators.common_spatial_patterns import both_ends, class_information


def covariances(X):
    return np.array([np.cov(trial, bias=True) for trial in X])


@pytest.fixture(scope="module")
def trials():
    return two_classes()


# ------------------------------------------------------------------ definition and peers


def test_filters_solve_their_definition(trials):
    X, y = trials
    C = covariances(X)
    one, other = C[y == "left"].mean(0), C[y == "right"].mean(0)
    values, vectors = eigh(one, one + other)
    model = CommonSpatialPatterns(n_components=None).fit(X, y)
    order = np.argsort(-np.abs(values - 0.5))
    np.testing.assert_allclose(model.eigenvalues_, values[order], rtol=1e-9)
    np.testing.assert_allclose(cosines(model.components_, vectors.T[order]), 1, rtol=1e-9)
    assert model.residuals_.max() < 1e-9
    assert np.all(model.pairs_ == ["left", "right"])


def test_features_are_log_variances_of_filtered_trials(trials):
    X, y = trials
    model = CommonSpatialPatterns(n_components=3).fit(X, y)
    power = np.array([np.var(model.components_ @ trial, axis=1) for trial in X])
    np.testing.assert_allclose(model.transform(X), np.log(power), rtol=1e-10)
    plain = clone(model).set_params(log=False).fit(X, y)
    np.testing.assert_allclose(plain.transform(X), power, rtol=1e-10)
    mean_power = [power[y == label].mean(0) for label in model.classes_]
    np.testing.assert_allclose(mean_power[0] / np.sum(mean_power, axis=0), model.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(np.mean(mean_power, axis=0), 1, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_pyriemann_finds_the_same_filters_and_patterns(seed):
    spatialfilters = pytest.importorskip("pyriemann.spatialfilters")
    X, y = two_classes(seed=seed)
    peer = spatialfilters.CSP(nfilter=6).fit(covariances(X), y)
    model = CommonSpatialPatterns(n_components=6).fit(X, y)
    assert np.max(subspace_angles(model.components_[:2].T, peer.filters_[:2].T)) < 1e-6
    np.testing.assert_allclose(cosines(model.components_, peer.filters_), 1, rtol=1e-8)
    np.testing.assert_allclose(cosines(model.patterns_, peer.patterns_), 1, rtol=1e-8)


def test_mne_finds_the_same_filters(trials):
    decoding = pytest.importorskip("mne.decoding")
    X, y = trials
    X = X - X.mean(axis=-1, keepdims=True)
    peer = decoding.CSP(n_components=2, log=True, cov_est="epoch").fit(X, y)
    model = CommonSpatialPatterns(n_components=2).fit(X, y)
    assert np.max(subspace_angles(model.components_.T, peer.filters_[:2].T)) < 1e-6


# ------------------------------------------------------------------ laws


def test_patterns_are_columns_of_the_mixing():
    X, y = two_classes(n=200, time=600)
    model = CommonSpatialPatterns(n_components=2).fit(X, y)
    found = model.patterns_[np.argsort(-model.eigenvalues_)]
    assert np.all(cosines(found, MIXING[:, :2].T) > 0.99)


def test_patterns_do_not_depend_on_which_filters_are_kept(trials):
    for shrinkage in (None, 0.3):
        few, every = (CommonSpatialPatterns(n, shrinkage=shrinkage).fit(*trials) for n in (2, None))
        np.testing.assert_allclose(few.patterns_, every.patterns_[:2], rtol=1e-8)
        np.testing.assert_allclose(every.components_ @ every.patterns_.T, np.eye(6), atol=1e-8)


@pytest.mark.parametrize("bands", [None, [(5, 20), (20, 40)]])
def test_an_invertible_mixing_of_the_channels_changes_nothing(trials, bands):
    X, y = trials
    mixing = np.random.default_rng(3).normal(size=(6, 6))
    model = CommonSpatialPatterns(bands=bands, sampling_rate=100)
    one = clone(model).fit(X, y)
    other = clone(model).fit(mixing @ X, y)
    np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(other.transform(mixing @ X), one.transform(X), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"shrinkage": 0.3}, {"shrinkage": "auto"}, {"ridge": 0.1}])
def test_exchanging_the_classes_reverses_the_odds(trials, settings):
    X, y = trials
    one = CommonSpatialPatterns(**settings).fit(X, y)
    other = CommonSpatialPatterns(**settings).fit(X, np.where(y == "left", "z", y))
    odds = [model.eigenvalues_ / (1 - model.eigenvalues_) for model in (one, other)]
    np.testing.assert_allclose(odds[0], 1 / odds[1], rtol=1e-8)
    np.testing.assert_allclose(other.transform(X), one.transform(X), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("settings", [{}, {"shrinkage": "auto"}, {"shrinkage": "oas"}, {"normalise": True}])
def test_weights_are_repeated_trials(trials, settings):
    X, y = trials
    times = np.random.default_rng(0).integers(0, 3, size=len(y))
    times[:4] = 1
    # Shrinkage counts samples, and weights of 2 are fewer samples than two of 1: there, all trials are doubled.
    times = times if settings.get("shrinkage") is None else np.ones(len(y), dtype=int)
    weighted = CommonSpatialPatterns(**settings).fit(X, y, sample_weight=times)
    repeated = CommonSpatialPatterns(**settings).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), rtol=1e-8, atol=1e-9)


def test_offsets_and_classes_of_other_sizes_do_not_matter(trials):
    X, y = trials
    moved = X + 1000 * np.random.default_rng(0).normal(size=(len(X), 6, 1))
    one = CommonSpatialPatterns().fit(X, y)
    np.testing.assert_allclose(one.transform(moved), one.transform(X), atol=1e-7)
    np.testing.assert_allclose(CommonSpatialPatterns().fit(moved, y).eigenvalues_, one.eigenvalues_, rtol=1e-7)
    more = np.concatenate([np.arange(len(y)), np.flatnonzero(y == "left")])
    np.testing.assert_allclose(CommonSpatialPatterns().fit(X[more], y[more]).eigenvalues_, one.eigenvalues_, rtol=1e-9)


def test_normalised_features_do_not_depend_on_the_gain_of_a_trial(trials):
    X, y = trials
    gain = np.random.default_rng(0).uniform(0.1, 10, size=(len(y), 1, 1))
    one, other = (CommonSpatialPatterns(normalise=True).fit(trial, y) for trial in (X, gain * X))
    np.testing.assert_allclose(other.transform(gain * X), one.transform(X), rtol=1e-8, atol=1e-8)
    C = covariances(X)
    C /= np.trace(C, axis1=1, axis2=2)[:, None, None]
    left, right = C[y == "left"].mean(0), C[y == "right"].mean(0)
    values = eigh(left, left + right, eigvals_only=True)
    np.testing.assert_allclose(np.sort(one.eigenvalues_)[[0, -1]], values[[0, -1]], rtol=1e-9)


@pytest.mark.parametrize(("shrinkage", "of_rows"), [("auto", ledoit_wolf), ("oas", oas), (0.4, None)])
def test_shrinkage_is_that_of_the_pooled_covariance(trials, shrinkage, of_rows):
    X, y = trials[0][:8, :, :25], trials[1][:8]
    C = covariances(X)
    pool, difference = C.mean(0), C[y == "left"].mean(0) - C[y == "right"].mean(0)
    samples = (X - X.mean(-1, keepdims=True)).transpose(0, 2, 1).reshape(-1, 6)
    expected = shrunk_covariance(pool, shrinkage) if of_rows is None else of_rows(samples, assume_centered=True)[0]
    assert np.abs(expected - pool).max() > 0.01
    values = eigh(difference / 4, expected, eigvals_only=True) + 0.5
    model = CommonSpatialPatterns(None, shrinkage=shrinkage).fit(X, y)
    np.testing.assert_allclose(np.sort(model.eigenvalues_), values, rtol=1e-9)


def test_a_ridge_is_that_of_both_covariances(trials):
    X, y = trials
    C = covariances(X)
    ridge = 0.2 * np.trace(C.mean(0)) / 6 * np.eye(6)
    one, other = (C[y == label].mean(0) + ridge for label in ("left", "right"))
    model = CommonSpatialPatterns(None, ridge=0.2).fit(X, y)
    np.testing.assert_allclose(np.sort(model.eigenvalues_), eigh(one, one + other, eigvals_only=True), rtol=1e-9)


# ------------------------------------------------------------------ which filters


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [0]), (2, [0, 5]), (3, [0, 1, 5]), (4, [0, 1, 5, 4]), (9, [0, 1, 5, 4, 2, 3])]
)
def test_filters_come_from_both_ends(count, expected):
    shares = np.array([0.95, 0.9, 0.55, 0.5, 0.3, 0.2])
    np.testing.assert_array_equal(both_ends(shares, count), expected)


def test_classes_by_pairs_or_one_against_the_rest():
    X, y = four_classes()
    pairs = CommonSpatialPatterns(2, class_pairs="all").fit(X, y)
    assert pairs.components_.shape == (12, 6) and pairs.transform(X).shape == (80, 12)
    expected = np.repeat([[i, j] for i in range(4) for j in range(i + 1, 4)], 2, axis=0)
    np.testing.assert_array_equal(pairs.pairs_, expected)
    alone = np.isin(y, [1, 3])
    np.testing.assert_allclose(
        pairs.eigenvalues_[8:10], CommonSpatialPatterns(2).fit(X[alone], y[alone]).eigenvalues_, rtol=1e-9
    )
    rest = CommonSpatialPatterns(2, class_pairs="one-vs-rest").fit(X, y)
    assert rest.pairs_.tolist() == [[str(c), "rest"] for c in range(4) for _ in range(2)]
    first = CommonSpatialPatterns(2).fit(X, y == 0)
    np.testing.assert_allclose(rest.eigenvalues_[:2], 1 - first.eigenvalues_, rtol=1e-9)
    given = CommonSpatialPatterns(2, class_pairs=[(1, 3)]).fit(X, y)
    np.testing.assert_array_equal(given.pairs_, [[1, 3]] * 2)
    np.testing.assert_allclose(given.transform(X), pairs.transform(X)[:, 8:10], rtol=1e-9)
    for model in (pairs, rest):
        lda = make_pipeline(clone(model), LinearDiscriminantAnalysis())
        assert cross_val_score(lda, X, y, cv=4).mean() > 0.95


def test_two_classes_are_one_problem_however_it_is_called(trials):
    X, y = trials
    names = ("all", "one-vs-rest", "joint")
    all_pairs, *others = (CommonSpatialPatterns(class_pairs=name).fit(X, y) for name in names)
    for other in others:
        np.testing.assert_array_equal(other.components_, all_pairs.components_)
        np.testing.assert_array_equal(other.pairs_, all_pairs.pairs_)


def test_joint_filters_are_the_sources_and_say_which_class_is_theirs():
    X, y = four_classes(n=160, time=400)
    model = CommonSpatialPatterns(1).fit(X, y)
    assert model.criterion_ == "joint_power" and model.solver_ == "joint" and model.components_.shape == (6, 6)
    assert np.all(np.diff(model.eigenvalues_) <= 0)
    own = model.pairs_[:4, 0]
    assert sorted(own) == [0, 1, 2, 3]  # the four sources that differ come first, one a class
    assert np.all(cosines(model.patterns_[:4], MIXING[:, own].T) > 0.99)
    few = CommonSpatialPatterns(1, bands=[(5, 40)], sampling_rate=100).fit(X, y)
    assert few.transform(X).shape == (160, 6) and few.bands_.tolist() == [[5, 40]] * 6
    mixing = np.random.default_rng(3).normal(size=(6, 6))
    other = CommonSpatialPatterns(1).fit(mixing @ X, y)
    np.testing.assert_allclose(other.eigenvalues_, model.eigenvalues_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.transform(mixing @ X)[:, :4], model.transform(X)[:, :4], atol=1e-5)


def test_joint_information_is_that_of_the_peers():
    X, y = four_classes()
    spatialfilters = pytest.importorskip("pyriemann.spatialfilters")
    peer = spatialfilters.CSP(nfilter=4).fit(covariances(X), y)
    model = CommonSpatialPatterns(1).fit(X, y)
    np.testing.assert_allclose(cosines(model.components_[:4], peer.filters_), 1, rtol=1e-4)
    shrunk = CommonSpatialPatterns(1, shrinkage=0.2).fit(X, y)
    classes = np.array([shrunk_covariance(covariances(X)[y == c].mean(0), 0.2) for c in range(4)])
    powers = np.einsum("rc,kcd,rd->kr", shrunk.components_, classes, shrunk.components_)
    np.testing.assert_allclose(powers.mean(axis=0), 1, rtol=1e-8)
    np.testing.assert_allclose(class_information(powers), shrunk.eigenvalues_, rtol=1e-8, atol=1e-12)


def test_a_filter_bank_finds_the_band_that_carries_the_class():
    X, y = alpha_rhythm()
    model = CommonSpatialPatterns(2, bands=[(2, 6), (8, 12), (20, 30)], sampling_rate=100).fit(X, y)
    assert (
        model.transform(X).shape == (40, 6)
        and model.bands_.tolist() == np.repeat([[2, 6], [8, 12], [20, 30]], 2, axis=0).tolist()
    )
    strongest = np.argmax(np.abs(model.eigenvalues_ - 0.5))
    assert model.bands_[strongest].tolist() == [8, 12]
    assert cosines(model.patterns_[strongest : strongest + 1], MIXING[:, :1].T)[0] > 0.95
    alone = CommonSpatialPatterns(2, bands=[(8, 12)], sampling_rate=100).fit(X, y)
    np.testing.assert_allclose(alone.transform(X), model.transform(X)[:, 2:4], rtol=1e-9)


# ------------------------------------------------------------------ types, files, pipelines


def test_integers_and_single_precision(trials):
    X, y = trials
    counts = np.round(1000 * X).astype(np.int16)
    exact = CommonSpatialPatterns().fit(counts.astype(np.float64), y)
    np.testing.assert_allclose(
        CommonSpatialPatterns().fit(counts, y).transform(counts), exact.transform(counts * 1.0), rtol=1e-12
    )
    single = CommonSpatialPatterns().fit(X.astype(np.float32), y)
    features = single.transform(X.astype(np.float32))
    assert features.dtype == np.float32
    np.testing.assert_allclose(features, CommonSpatialPatterns().fit(X, y).transform(X), atol=1e-4)


def test_trials_may_be_longer_or_shorter_later(trials):
    X, y = trials
    model = CommonSpatialPatterns(bands=[(5, 20)], sampling_rate=100).fit(X, y)
    assert model.transform(X[:2, :, :10]).shape == (2, 4)
    assert np.isfinite(model.transform(np.zeros((1, 6, 50)))).all()


@pytest.mark.parametrize("bands", [None, [(5, 20), (20, 40)]])
def test_a_model_file_says_the_same(trials, bands, tmp_path):
    pytest.importorskip("skops")
    X, y = trials
    model = CommonSpatialPatterns(bands=bands, sampling_rate=100, normalise=True).fit(X, y)
    again = load(save(model, tmp_path / "csp.skops"))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.patterns_, model.patterns_)


def test_a_second_fit_leaves_nothing_of_the_first(trials):
    again = CommonSpatialPatterns().fit(*four_classes()).fit(*trials)
    fresh = CommonSpatialPatterns().fit(*trials)
    assert vars(again).keys() == vars(fresh).keys()
    np.testing.assert_array_equal(again.transform(trials[0]), fresh.transform(trials[0]))


def test_in_a_search_over_a_pipeline(trials):
    X, y = trials
    pipeline = make_pipeline(CommonSpatialPatterns(), LinearDiscriminantAnalysis())
    grid = {"commonspatialpatterns__n_components": [2, 4], "commonspatialpatterns__shrinkage": [None, 0.1]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    names = search.best_estimator_[0].get_feature_names_out()
    assert names[0] == "commonspatialpatterns0"


def test_a_common_reference_leaves_one_channel_out(trials):
    """Channels that add up to zero: one direction is missing, and is said to be."""
    X, y = trials
    referenced = X - X.mean(axis=1, keepdims=True)
    with pytest.warns(UserWarning, match="singular"):
        model = CommonSpatialPatterns(n_components=None).fit(referenced, y)
    assert len(model.eigenvalues_) == 5
    np.testing.assert_allclose(model.components_ @ model.patterns_.T, np.eye(5), atol=1e-8)
    X, y = four_classes()
    with pytest.warns(UserWarning, match="singular.*5 of 6"):
        joint = CommonSpatialPatterns(n_components=None).fit(X - X.mean(axis=1, keepdims=True), y)
    np.testing.assert_allclose(joint.components_ @ joint.patterns_.T, np.eye(5), atol=1e-8)


# ------------------------------------------------------------------ refusals

REFUSED = {
    "rows": ({}, lambda X, y: (X[:, 0], y), r"\(trials, channels, time\), got 2D"),
    "a series": ({}, lambda X, y: (X[:, 0, 0], y), "got 1D"),
    "NaN": ({}, lambda X, y: (np.where(X > 3, np.nan, X), y), "NaN"),
    "one sample": ({}, lambda X, y: (X[:, :, :1], y), "two samples"),
    "one class": ({}, lambda X, y: (X, np.zeros(len(y))), "one class"),
    "one trial": ({}, lambda X, y: (X, np.where(np.arange(len(y)), y, "third")), "'third'.* one trial"),
    "more components than channels": ({"n_components": 7}, lambda X, y: (X, y), "7 .*6 channels"),
    "no sampling rate": ({"bands": [(8, 12)]}, lambda X, y: (X, y), "sampling_rate"),
    "Nyquist": ({"bands": [(8, 60)], "sampling_rate": 100}, lambda X, y: (X, y), r"\(8, 60\).* 50 Hz"),
    "upside down": ({"bands": [(12, 8)], "sampling_rate": 100}, lambda X, y: (X, y), "low < high"),
    "a flat list": ({"bands": [8, 12], "sampling_rate": 100}, lambda X, y: (X, y), "list of"),
    "pairs": ({"class_pairs": [("left", "up")]}, lambda X, y: (X, y), "'up'"),
    "a name": ({"class_pairs": "some"}, lambda X, y: (X, y), "one-vs-rest"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_fitted_is_refused_with_a_reason(trials, case):
    settings, spoil, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        CommonSpatialPatterns(**settings).fit(*spoil(*trials))


def test_other_channels_are_refused_after_fitting(trials):
    X, y = trials
    model = CommonSpatialPatterns().fit(X, y)
    assert model.n_channels_in_ == model.n_features_in_ == 6
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :5])
    with pytest.raises(ValueError, match="got 2D"):
        model.transform(X[0])
