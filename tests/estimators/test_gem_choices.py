"""What GEM settles by itself: the rows it is tried on, the search, and laws of a classifier left to its defaults."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from gem_data import PLAIN, bent, digit_parts, echoes, plain
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from eigenfeat import GEMClassifier, load, save
from eigenfeat.estimators.gem_choices import PENALTIES, SETTLED_COLUMNS, TRIAL_COLUMNS, Search
from eigenfeat.estimators.gem_trials import LeftOut, Recipe
from eigenfeat.export.archive import Refusal
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.maps import PowerMap, ProductMap
from eigenfeat.stages import Chain


@pytest.fixture(scope="module")
def digits():
    return digit_parts()


def own_log_loss(model, X, y):
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


# ------------------------------------------------------------------ the search


class RowsOfKnownLoss:
    """In place of `TrialRows`: scores of two classes with the errors that a function of recipe and penalty says.

    The first of several splits may have errors of its own, and there may be more directions than a trial takes.
    """

    def __init__(self, errors, of_first=None, n_splits=1, cut=False):
        self.errors, self.of_first, self.splits, self.cut = errors, of_first or errors, [None] * n_splits, cut
        self.asked, self.made, self.n_solved, self.n_numbers = [], [], 0, 0

    def behind(self, base):
        return self

    def solved(self, recipe):
        self.n_solved += 1

    def folds(self, solved, recipe):
        self.made.append(recipe.features)
        return lambda number: SimpleNamespace(cut=self.cut)

    def left_out(self, folds, recipe):
        def scores(penalty, n_splits):
            self.asked.append((recipe, penalty, n_splits))
            errors = self.of_first if n_splits < len(self.splits) else self.errors
            wrong = np.arange(10_000) < round(10_000 * errors(recipe, penalty))
            s = np.where(wrong, 1.0, -1.0)
            return LeftOut(penalty, np.column_stack([-s, s]), np.zeros(10_000, dtype=int), np.full(10_000, 1e-4))

        return scores


START = Recipe(None, "soft-cubic", 0.2, 0.3, 1)
FREE = {"base_map": [None, "splines"], "ridge": [0.3, 1.0], "label_smoothing": [0.2, 0.0]}


def searched(errors, free=FREE, **splits):
    rows = RowsOfKnownLoss(errors, **splits)
    search = Search(
        rows, dict.fromkeys([None, "splines", "products"], Chain()), lambda recipe, width: recipe, PENALTIES, []
    )
    best = search.best(free, START)
    assert len(set(rows.made)) == len(rows.made)  # labels alone do not ask for other features
    return best, rows.asked, search.trials


def test_the_penalty_is_where_a_parabola_through_the_best_three_is_least():
    def errors(recipe, penalty):
        return 0.2 + 0.01 * (np.log10(penalty) - 0.3) ** 2

    best, asked, trials = searched(errors, {})
    assert sorted(penalty for _, penalty, _ in asked) == [0.1, 1.0, 10.0, 100.0]
    assert np.log10(best.penalty) == pytest.approx(0.3, abs=0.02)
    assert best.error == pytest.approx(errors(START, 1.0), abs=1e-4)
    assert sorted(trial.penalty for trial in trials) == [0.1, 1.0, 10.0, 100.0]


def test_what_is_chosen_narrow_is_settled_nearer_to_what_is_asked_for():
    """More columns want another penalty: the one that is found is that of the wider trials, which are of one recipe."""

    class Asked(NamedTuple):
        recipe: Recipe
        width: int

        @property
        def features(self):
            return (*self.recipe.features, self.width)

    def errors(asked, penalty):
        best = 1.0 if asked.width == TRIAL_COLUMNS else 10.0
        return 0.2 + 0.01 * np.log10(penalty / best) ** 2 + 0.05 * (asked.recipe.ridge == 0.3)

    for cut, expected in ((True, 10.0), (False, 1.0)):
        rows = RowsOfKnownLoss(errors, cut=cut)
        search = Search(rows, {None: Chain()}, Asked, PENALTIES, [])
        best = search.best({"ridge": [0.3, 1.0]}, START)
        assert best.recipe.ridge == 1.0 and best.penalty == pytest.approx(expected, rel=0.05)
        wide = [asked for asked, _, _ in rows.asked if asked.width == SETTLED_COLUMNS]
        assert {asked.recipe.ridge for asked in wide} == ({1.0} if cut else set())
        assert rows.n_solved == 2  # wide trials take the directions that narrow ones had solved


@pytest.mark.parametrize(
    "feature_map", [lambda P: P[:, :30] * P[:, -30:], ProductMap(PowerMap((1, 2)), ((0, 1), (3, 250)))]
)
@pytest.mark.parametrize("n_components", [None, 6])
def test_maps_of_several_projections_have_all_of_them_in_trials(digits, feature_map, n_components):
    X, y, X_new, y_new = digits
    model = GEMClassifier(n_components, feature_map=feature_map).fit(X, y)
    assert model.trials_ and model.score(X_new, y_new) > 0.9


@pytest.mark.parametrize(("slope", "end"), [(0.02, 0.01), (-0.02, 100.0)])
def test_penalties_are_followed_downhill_to_the_end(slope, end):
    best, asked, _ = searched(lambda recipe, penalty: 0.2 + slope * np.log10(penalty), {})
    assert best.penalty == end
    assert len(asked) == len({penalty for _, penalty, _ in asked}) <= len(PENALTIES)


def test_settings_are_varied_one_after_the_other_from_the_best_so_far():
    def errors(recipe, penalty):
        gain = 0.03 * (recipe.base_map == "splines") + 0.02 * (recipe.ridge == 1.0)
        return 0.25 - gain + 0.02 * (recipe.label_smoothing == 0) + 0.01 * np.log10(penalty) ** 2

    best, asked, _ = searched(errors)
    assert best.recipe == Recipe("splines", "soft-cubic", 0.2, 1.0, 1)
    assert {recipe for recipe, _, _ in asked} == {
        START,
        Recipe("splines", "soft-cubic", 0.2, 0.3, 1),
        Recipe("splines", "soft-cubic", 0.2, 1.0, 1),
        Recipe("splines", "soft-cubic", 0.0, 1.0, 1),
    }


@pytest.mark.parametrize(("of_splines", "tried"), [(0.25, True), (0.2, True), (0.15, True), (0.3, False)])
def test_surfaces_are_tried_unless_curves_were_clearly_worse(of_splines, tried):
    def errors(recipe, penalty):
        return {None: 0.25, "splines": of_splines, "products": 0.1}[recipe.base_map]

    best, _, _ = searched(errors, {"base_map": [None, "splines", "products"]})
    assert (best.recipe.base_map == "products") == tried


def test_hopeless_settings_cost_one_fit_and_separable_classes_keep_smooth_labels():
    def errors(recipe, penalty):
        return (0.02 if recipe.ridge == 0.3 else 0.1) + 0.001 * np.log10(penalty) ** 2

    best, asked, trials = searched(errors, {"ridge": [0.3, 1.0], "label_smoothing": [0.2, 0.0]})
    assert best.recipe == START
    (tried,) = [trial for trial in trials if trial.recipe.ridge == 1.0]
    assert tried.log_loss > best.log_loss
    assert all(recipe.label_smoothing == 0.2 for recipe, _, _ in asked)


@pytest.mark.parametrize(("on_first", "survives"), [(0.35, False), (0.25, True)])
def test_what_is_hopeless_on_the_first_split_is_not_tried_on_the_others(on_first, survives):
    def errors(recipe, penalty):
        return 0.25 if recipe.base_map is None else 0.1

    def of_first(recipe, penalty):
        return 0.25 if recipe.base_map is None else on_first

    best, asked, _ = searched(errors, {"base_map": [None, "splines"]}, of_first=of_first, n_splits=3)
    assert (best.recipe.base_map == "splines") == survives
    assert {n_splits for recipe, _, n_splits in asked if recipe.base_map == "splines"} == ({1, 3} if survives else {1})
    assert best.splits == 3 and best.error == pytest.approx(0.1 if survives else 0.25, abs=1e-4)


def test_penalties_are_followed_on_the_first_split_and_settled_on_all():
    def errors(recipe, penalty):
        return 0.2 + 0.01 * (np.log10(penalty) + 1) ** 2

    best, asked, _ = searched(errors, {}, n_splits=3)
    assert best.penalty == pytest.approx(0.1, rel=0.1) and best.splits == 3
    assert sorted(penalty for _, penalty, n_splits in asked if n_splits == 3) == [0.01, 0.1, 1.0]


# ------------------------------------------------------------------ laws of the whole classifier


def same_model(one, other, X, tolerance=1e-6):
    chosen, expected = dict(one.choices_), dict(other.choices_)
    for number in ("alpha", "temperature"):
        assert chosen.pop(number) == pytest.approx(expected.pop(number), rel=tolerance)
    assert chosen == expected
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=tolerance)


@pytest.fixture(scope="module")
def default():
    X, y = bent(160)
    return X, y, GEMClassifier().fit(X, y)


def test_a_weight_is_a_repetition_and_none_is_absence(default):
    X, y, _ = default
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = GEMClassifier().fit(X, y, sample_weight=weights)
    repeated = GEMClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    same_model(weighted, repeated, X)


def test_twice_every_row_is_every_row(default):
    X, y, model = default
    same_model(GEMClassifier().fit(np.tile(X, (2, 1)), np.tile(y, 2)), model, X)
    same_model(GEMClassifier().fit(X, y, sample_weight=np.full(len(y), 2e-3)), model, X)


def test_the_order_of_rows_does_not_matter(default):
    X, y, model = default
    order = np.random.default_rng(2).permutation(len(y))
    same_model(GEMClassifier().fit(X[order], y[order]), model, X)


def test_choices_passed_back_give_the_same_predictions(default):
    X, y, model = default
    X_new, _ = bent(500, seed=1)
    chosen = {name: value for name, value in model.choices_.items() if name != "temperature"}
    again = GEMClassifier(**chosen).fit(X, y)
    np.testing.assert_array_equal(again.predict(X_new), model.predict(X_new))
    np.testing.assert_allclose(again.transform(X_new), model.transform(X_new), atol=1e-10)
    assert len(again.trials_) == (chosen["label_smoothing"] > 0)


def test_trials_draw_what_the_fit_draws_and_leave_a_generator_to_it():
    X, y = bent(160)
    states = []
    for settings in ({}, {"ridge": 0.3, "label_smoothing": 0.0, "feature_map": "soft-cubic", "alpha": 1e-3}):
        given = np.random.RandomState(0)
        model = GEMClassifier(2, subclasses=2, base_map=None, random_state=given, **settings).fit(X, y)
        states.append(given.get_state(legacy=True)[1:3])
        if not settings:
            seeded = GEMClassifier(2, subclasses=2, base_map=None, random_state=0).fit(X, y)
            assert len(model.trials_) > 0
            np.testing.assert_array_equal(model.predict_proba(X), seeded.predict_proba(X))
    np.testing.assert_array_equal(states[0][0], states[1][0])
    assert states[0][1] == states[1][1]


def waves(n, seed=0):
    """Two classes of equal second moments, which stand on a chequered board."""
    X = np.random.default_rng(seed).uniform(-2, 2, size=(n, 2))
    return X, (np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1]) > 0).astype(int)


def test_the_best_of_what_was_tried_is_chosen_and_beats_what_it_started_from():
    X, y = waves(600)
    model = GEMClassifier().fit(X, y)
    on_all = [trial for trial in model.trials_ if trial["splits"] == 3]
    best = min(on_all, key=lambda trial: trial["log_loss"])
    for name in ("base_map", "feature_map", "ridge", "label_smoothing"):
        assert model.choices_[name] == best[name]
    assert model.choices_["base_map"] in ("splines", "products")
    X_new, y_new = waves(1000, seed=1)
    start = GEMClassifier(base_map=None, feature_map="soft-cubic", ridge=0.3, label_smoothing=0.2).fit(X, y)
    assert own_log_loss(model, X_new, y_new) < 0.5 * own_log_loss(start, X_new, y_new)


def test_the_number_of_layers_is_tried_where_it_is_left_to_us():
    """One layer of curves along directions cannot see a chequered board, curves of curves can."""
    X, y = waves(600)
    settings = {"base_map": None, "ridge": 0.3, "label_smoothing": 0.2}
    model = GEMClassifier(n_layers="auto", **settings).fit(X, y)
    tried = {n: min(t["log_loss"] for t in model.trials_ if t["n_layers"] == n and t["splits"] == 3) for n in (1, 2)}
    assert tried[2] < 0.7 * tried[1] and model.choices_["n_layers"] == 2 == len(model.stacks_[0].layers)
    X_new, y_new = waves(1000, seed=1)
    assert model.score(X_new, y_new) > 0.1 + GEMClassifier(**settings).fit(X, y).score(X_new, y_new)
    given = GEMClassifier(n_layers=2, alpha=model.choices_["alpha"], **settings).fit(X, y)
    np.testing.assert_array_equal(given.predict(X_new), model.predict(X_new))
    with pytest.raises(ValueError, match="ridge has one value a layer: give n_layers as a number"):
        GEMClassifier(n_layers="auto", ridge=[0.3, 1.0]).fit(X, y)


def test_what_is_given_is_not_tried(digits):
    X, y = (part[digits[1] < 3] for part in digits[:2])
    model = plain(2, alpha=1e-2, label_smoothing=0.0).fit(X, y)
    assert model.trials_ == []
    assert model.classifiers_[0].temperature_ == 1
    assert model.choices_ == {
        **{k: v for k, v in PLAIN.items() if k != "classifier_tol"},
        "label_smoothing": 0,
        "n_layers": 1,
        "alpha": 1e-2,
    }
    cubes = PowerMap((1, 3))
    smoothed = plain(2, alpha=1e-2, feature_map=cubes).fit(X, y)
    (trial,) = smoothed.trials_
    assert trial["temperature"] == smoothed.choices_["temperature"] == smoothed.classifiers_[0].temperature_
    assert trial["feature_map"] is smoothed.choices_["feature_map"] is cubes
    free = plain(2, label_smoothing="auto").fit(X, y)
    assert {(trial["ridge"], trial["feature_map"], trial["base_map"]) for trial in free.trials_} == {
        (1.0, "soft-cubic", None)
    }


def test_where_there_is_nothing_to_try_on_the_start_is_taken():
    X, y, _ = echoes(20, 1)
    model = GEMClassifier().fit(X, y, groups=np.zeros(len(y)))
    assert model.trials_ == [] and model.choices_["base_map"] is None
    assert model.choices_["alpha"] == pytest.approx(1 / 20)


# ------------------------------------------------------------------ probabilities


def least_log_loss(model, X, y):
    """Of all temperatures on these rows, by the log probabilities at the model's own."""
    log_p = model.predict_log_proba(X)

    def loss(t):
        return -log_softmax(np.exp(t) * log_p, axis=1)[np.arange(len(y)), y].mean()

    found = minimize_scalar(loss, bounds=(-3, 3), method="bounded")
    return found.fun, np.exp(found.x)


@pytest.mark.parametrize("smoothing", [0.2, 0.0])
def test_the_temperature_is_nearly_the_best_on_fresh_rows(smoothing):
    """Rows that took part in the directions would say that the model is far surer than it may be."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X / 16, y, train_size=500, random_state=0)
    model = plain(5, alpha="auto", label_smoothing=smoothing).fit(X, y)
    least, change = least_log_loss(model, X_new, y_new)
    assert 0.75 < change < 1.35
    assert own_log_loss(model, X_new, y_new) < 1.05 * least


def cells(n, seed):
    """Three columns of two values each, and labels that are right in seven of ten rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 3)).astype(float)
    truth = np.where(X[:, 0] == X[:, 1], 0.7, 0.3)
    return X, (rng.random(n) < truth).astype(int), truth


def test_probabilities_of_discrete_tables_are_those_of_their_cells():
    X, y, _ = cells(600, seed=0)
    model = GEMClassifier().fit(X, y)
    X_new, _, truth = cells(200, seed=1)
    assert np.abs(model.predict_proba(X_new)[:, 1] - truth).max() < 0.1
    order = np.random.default_rng(2).permutation(len(y))
    same_model(GEMClassifier().fit(X[order], y[order]), model, X_new)
    weights = np.append(np.ones(len(y)), np.zeros(50))
    padded = GEMClassifier().fit(np.vstack([X, 1 - X[:50]]), np.append(y, y[:50]), sample_weight=weights)
    same_model(padded, model, X_new)


# ------------------------------------------------------------------ files


def test_a_saved_default_predicts_the_same_and_damaged_knots_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = GEMClassifier(2, base_map="products", alpha=1e-3, label_smoothing=0.0).fit(X, y)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    (layer,) = [s for s in model.fitted_.scores.stages if isinstance(getattr(s, "feature_map", None), HatProductMap)]
    layer.feature_map.knots[0] = layer.feature_map.knots[0, ::-1].copy()
    with pytest.raises((Refusal, ValueError), match="knots of products do not ascend"):
        load(save(model, tmp_path / "damaged.skops"))
