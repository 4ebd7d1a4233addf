"""The choice of GEM's settings on held-out rows."""

import numpy as np
import pytest
from gem_data import PLAIN, digit_parts, echoes
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold

from eigenfeat import GEMClassifier, GEMClassifierCV
from eigenfeat.estimators.gem_search import class_splits

EXACT = {"solver": "dense", "classifier_tol": 1e-6}
GRID = {"ridges": (0.2, 1.0), "min_eigenvalues": (0.0, 3.0), "n_components_grid": (1,), "alphas": (1e-1, 10.0)}
ONE = {"ridges": (1.0,), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1e-2,)}


def alone(chosen, **parameters):
    """A classifier that is given what a search has chosen."""
    return GEMClassifier(**PLAIN | EXACT | chosen.best_params_ | parameters)


def scores(model, X):
    """Of every class before any temperature."""
    return model.classifiers_[0].decision_function(model.transform(X))


def best_of_many_temperatures(scores, y):
    """By trying them: the log loss on these rows, and where it is least."""
    tried = np.geomspace(0.1, 100, 4000)
    losses = [-log_softmax(t * scores, axis=1)[np.arange(len(y)), y].mean() for t in tried]
    return min(losses), tried[np.argmin(losses)]


@pytest.fixture(scope="module")
def digits():
    return digit_parts()


@pytest.fixture(scope="module")
def chosen(digits):
    return GEMClassifierCV(**GRID, **EXACT, cv=2, random_state=1).fit(*digits[:2])


def test_it_chooses_on_held_out_rows(chosen):
    results = chosen.cv_results_
    assert len(results["mean_test_score"]) == len(results["params"]) == 8
    assert chosen.best_score_ == results["mean_test_score"].max() == results["mean_test_score"][chosen.best_index_]
    assert chosen.best_params_ == results["params"][chosen.best_index_]
    assert chosen.best_params_["alpha"] == 1e-1
    assert results["rank_test_score"][chosen.best_index_] == 1
    by_split = np.array([results["split0_test_score"], results["split1_test_score"]])
    np.testing.assert_allclose(results["mean_test_score"], by_split.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], by_split.std(axis=0))
    assert set(results["param_ridge"]) == {0.2, 1.0}


def test_it_refits_on_all_rows(chosen, digits):
    X, y, X_new, _ = digits
    refitted = alone(chosen, random_state=1).fit(X, y)
    np.testing.assert_allclose(chosen.transform(X_new), refitted.transform(X_new), atol=1e-8)
    np.testing.assert_allclose(scores(chosen, X_new), scores(refitted, X_new), atol=1e-8)
    expected = log_softmax(chosen.classifiers_[0].temperature_ * scores(refitted, X_new), axis=1)
    np.testing.assert_allclose(chosen.predict_log_proba(X_new), expected, atol=1e-7)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_a_score_is_that_of_the_candidate_fitted_alone(digits, scoring):
    """On rows of its own training part; the moments it was chosen with were merged from parts. Columns are treated as
    all rows say, so pixels, which all share one factor, are left as they are."""
    X, y, _, _ = digits
    (train, held_out), *_ = KFold(2).split(X)
    model = GEMClassifierCV(**ONE, **EXACT, columns=None, cv=[(train, held_out)], scoring=scoring).fit(X, y)
    reference = alone(model, columns=None).fit(X[train], y[train])
    if scoring == "accuracy":
        assert model.best_score_ == accuracy_score(y[held_out], reference.predict(X[held_out]))
    else:
        probabilities = softmax(model.classifiers_[0].temperature_ * scores(reference, X[held_out]), axis=1)
        assert model.best_score_ == pytest.approx(-log_loss(y[held_out], probabilities), rel=1e-6)
        least, _ = best_of_many_temperatures(scores(reference, X[held_out]), y[held_out])
        assert least <= -model.best_score_ * (1 + 1e-6) and -model.best_score_ <= 1.01 * least


def test_the_temperature_is_that_of_the_held_out_rows(digits):
    """The geometric mean over splits; held-out rows had no part in the directions."""
    X, y, X_new, y_new = digits
    splits = list(KFold(2).split(X))
    model = GEMClassifierCV(**ONE, **EXACT, columns=None, cv=splits).fit(X, y)
    parts = [alone(model, columns=None).fit(X[train], y[train]) for train, _ in splits]
    single = [best_of_many_temperatures(scores(m, X[out]), y[out])[1] for m, (_, out) in zip(parts, splits)]
    temperature = model.classifiers_[0].temperature_
    assert temperature == pytest.approx(np.sqrt(np.prod(single)), rel=0.1)  # labels are doubted by a thousandth
    least, _ = best_of_many_temperatures(scores(model, X_new), y_new)
    assert log_loss(y_new, model.predict_proba(X_new)) < 1.1 * least


def test_layers_are_searched():
    """Classes of equal second moments, the sign of a product of three: one layer sees nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = (X.prod(axis=1) > 0).astype(int)
    options = {"ridges": (0.1,), "min_eigenvalues": (0.0,), "n_components_grid": (3,), "alphas": (1e-3,)}
    model = GEMClassifierCV(**options, n_layers_grid=(1, 2), feature_maps=("cubic",), scoring="neg_log_loss").fit(X, y)
    one, two = model.cv_results_["mean_test_score"]
    assert model.best_params_["n_layers"] == model.n_layers_ == 2 and two > one + 0.1
    assert len(model.stacks_[0].layers) == 2


def test_maps_and_smoothing_are_searched(digits):
    X, y, X_new, _ = digits
    more = {"feature_maps": ("cubic", "spline"), "label_smoothings": (0.0, 0.1)}
    model = GEMClassifierCV(**ONE, **EXACT, **more, scoring="neg_log_loss").fit(X[:300], y[:300])
    assert len(model.cv_results_["params"]) == 4
    refitted = alone(model).fit(X[:300], y[:300])
    np.testing.assert_allclose(scores(model, X_new), scores(refitted, X_new), atol=1e-7)


def test_subclasses_are_searched(digits):
    """Every candidate has the score of a model that is fitted alone, and the one chosen is fitted to all rows."""
    X, y, X_new, _ = digits
    (train, held_out), *_ = KFold(2).split(X)
    options = ONE | EXACT | {"columns": None, "cv": [(train, held_out)]}
    model = GEMClassifierCV(**options, subclasses_grid=(2, 1)).fit(X, y)
    for candidate, score in zip(model.cv_results_["params"], model.cv_results_["mean_test_score"]):
        part = alone(model, columns=None, subclasses=candidate["subclasses"]).fit(X[train], y[train])
        assert score == accuracy_score(y[held_out], part.predict(X[held_out]))
    whole = alone(model, columns=None, subclasses=model.subclasses_).fit(X, y)
    np.testing.assert_allclose(model.transform(X_new), whole.transform(X_new), atol=1e-8)


def test_events_cut_the_classes_of_every_split(digits):
    X, y, X_new, _ = digits
    X, y = X[y < 4], y[y < 4]
    events = np.where(X[:, 20] > np.median(X[:, 20]), "a", "b")
    (train, held_out), *_ = KFold(2).split(X)
    model = GEMClassifierCV(**ONE, **EXACT, columns=None, cv=[(train, held_out)]).fit(X, y, subclass_labels=events)
    part = alone(model, columns=None).fit(X[train], y[train], subclass_labels=events[train])
    assert model.best_score_ == accuracy_score(y[held_out], part.predict(X[held_out]))
    whole = alone(model, columns=None).fit(X, y, subclass_labels=events)
    np.testing.assert_allclose(model.transform(X_new), whole.transform(X_new), atol=1e-8)
    without = alone(model, columns=None).fit(X, y)
    assert without.transform(X_new).shape != model.transform(X_new).shape


def test_the_log_loss_can_choose(digits):
    X, y, X_new, y_new = digits
    assert GEMClassifierCV(**GRID, scoring="neg_log_loss").fit(X, y).score(X_new, y_new) > 0.9


def test_of_equal_candidates_the_more_regularised_is_taken():
    X, y = load_digits(return_X_y=True)
    easy = (y == 0) | (y == 1)
    grid = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0, 2.0), "n_components_grid": (3, 2), "alphas": (1e-5, 1e-4)}
    model = GEMClassifierCV(**grid).fit(X[easy] / 16, y[easy])
    assert (model.cv_results_["mean_test_score"] == 1).all()
    assert model.best_params_ == {
        "n_layers": 1,
        "subclasses": 1,
        "ridge": 1.0,
        "min_eigenvalue": 2.0,
        "n_components": 2,
        "feature_map": "soft-cubic",
        "label_smoothing": 0.2,
        "alpha": 1e-4,
    }
    assert model.best_index_ == 0


def test_candidates_do_not_touch_the_estimator(digits, monkeypatch):
    """While they are tried, the estimator holds its parameters and no more than what the fit has settled."""
    X, y, _, _ = digits
    model, seen = GEMClassifierCV(**GRID, random_state=0), []
    try_some = GEMClassifierCV._try

    def watched(self, *args):
        before = dict(vars(self))
        tried, seconds = try_some(self, *args)
        assert vars(self) == before
        seen.extend([set(before)] * len(tried))
        return tried, seconds

    monkeypatch.setattr(GEMClassifierCV, "_try", watched)
    parameters = dict(model.get_params())
    model.fit(X, y)
    assert model.get_params() == parameters
    assert len(seen) == 8 and all(names == seen[0] for names in seen)
    assert not seen[0] & {"fitted_", "classifiers_", "stacks_", "best_params_", "ridge_", "alpha_"}


def test_it_is_no_classifier_with_hidden_parameters():
    assert not issubclass(GEMClassifierCV, GEMClassifier)
    for name in (
        "ridge",
        "alpha",
        "n_components",
        "min_eigenvalue",
        "n_layers",
        "feature_map",
        "label_smoothing",
        "classifier",
    ):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(GEMClassifierCV(), name)


def test_chosen_values_are_attributes(chosen):
    assert {name: getattr(chosen, f"{name}_") for name in chosen.best_params_} == chosen.best_params_


def test_an_unknown_score_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"(?s)accuracy.*neg_log_loss|neg_log_loss.*accuracy"):
        GEMClassifierCV(scoring="log_loss").fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize("cv", [0.25, 4])
def test_cv_holds_groups_out_whole(cv):
    X, y, group = echoes(40, 3)
    model = GEMClassifierCV(**ONE | {"alphas": (1e-5,)}, cv=cv)
    splits = class_splits(cv, y, np.unique(group, return_inverse=True)[1], 0, np.arange(len(y)))
    assert len(splits) == (1 if cv == 0.25 else 4)
    assert not any(set(group[train]) & set(group[held_out]) for train, held_out in splits)
    honest, flattered = (model.fit(X, y, groups=groups).best_score_ for groups in (group, None))
    assert honest < flattered - 0.1  # near copies of held-out rows are easy
    if cv == 4:  # one part of four has them; whether a quarter that is drawn does is chance
        with pytest.raises(ValueError, match="holds out every row of some class"):
            model.fit(X, y, groups=np.where(y == 1, "all of one", group))
