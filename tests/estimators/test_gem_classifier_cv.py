"""The choice of GEM's settings on held-out rows."""

import numpy as np
import pytest
from gem_data import digit_parts, echoes
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold

from eigenfeat import GEMClassifier, GEMClassifierCV
from eigenfeat.estimators.gem_search import class_splits

GRID = {"ridges": (0.2, 1.0), "min_eigenvalues": (0.0, 3.0), "n_components_grid": (1,), "alphas": (1e-1, 10.0)}
ONE = {"ridges": (1.0,), "min_eigenvalues": (0.0,), "n_components_grid": (2,), "alphas": (1e-2,)}


@pytest.fixture(scope="module")
def digits():
    return digit_parts()


@pytest.fixture(scope="module")
def chosen(digits):
    return GEMClassifierCV(**GRID, cv=2, solver="dense", random_state=1).fit(*digits[:2])


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
    refitted = GEMClassifier(**chosen.best_params_, solver="dense", random_state=1).fit(X, y)
    np.testing.assert_allclose(chosen.predict_proba(X_new), refitted.predict_proba(X_new), atol=1e-8)
    np.testing.assert_allclose(chosen.transform(X_new), refitted.transform(X_new), atol=1e-8)


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_a_score_is_that_of_the_candidate_fitted_alone(digits, scoring):
    """On rows of its own training part; the moments it was chosen with were merged from parts."""
    X, y, _, _ = digits
    (train, held_out), *_ = KFold(2).split(X)
    model = GEMClassifierCV(**ONE, cv=[(train, held_out)], scoring=scoring, solver="dense").fit(X, y)
    alone = GEMClassifier(**model.best_params_, solver="dense").fit(X[train], y[train])
    if scoring == "accuracy":
        assert model.best_score_ == accuracy_score(y[held_out], alone.predict(X[held_out]))
    else:
        assert model.best_score_ == pytest.approx(-log_loss(y[held_out], alone.predict_proba(X[held_out])), rel=1e-6)


def test_the_log_loss_can_choose(digits):
    X, y, X_new, y_new = digits
    assert GEMClassifierCV(**GRID, scoring="neg_log_loss").fit(X, y).score(X_new, y_new) > 0.9


def test_of_equal_candidates_the_more_regularised_is_taken():
    X, y = load_digits(return_X_y=True)
    easy = (y == 0) | (y == 1)
    grid = {"ridges": (0.1, 1.0), "min_eigenvalues": (0.0, 2.0), "n_components_grid": (3, 2), "alphas": (1e-5, 1e-4)}
    model = GEMClassifierCV(**grid).fit(X[easy] / 16, y[easy])
    assert (model.cv_results_["mean_test_score"] == 1).all()
    assert model.best_params_ == {"ridge": 1.0, "min_eigenvalue": 2.0, "n_components": 2, "alpha": 1e-4}
    assert model.best_index_ == 0


def test_candidates_do_not_touch_the_estimator(digits, monkeypatch):
    """While they are tried, the estimator holds its parameters and no more than what the fit has settled."""
    X, y, _, _ = digits
    model, seen = GEMClassifierCV(**GRID, random_state=0), []
    try_alphas = GEMClassifierCV._try_alphas

    def watched(self, *args):
        before = dict(vars(self))
        yield from try_alphas(self, *args)
        assert vars(self) == before
        seen.append(set(before))

    monkeypatch.setattr(GEMClassifierCV, "_try_alphas", watched)
    parameters = dict(model.get_params())
    model.fit(X, y)
    assert model.get_params() == parameters
    assert len(seen) == 4 and all(names == seen[0] for names in seen)
    assert not seen[0] & {"fitted_", "classifiers_", "stacks_", "best_params_", "ridge_", "alpha_"}


def test_it_is_no_classifier_with_hidden_parameters():
    assert not issubclass(GEMClassifierCV, GEMClassifier)
    for name in ("ridge", "alpha", "n_components", "min_eigenvalue", "n_layers", "classifier"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
            getattr(GEMClassifierCV(), name)


def test_old_names_say_the_new_ones(chosen):
    with pytest.raises(AttributeError, match="it is now best_params_"):
        chosen.best_  # noqa: B018
    assert {name: getattr(chosen, f"{name}_") for name in chosen.best_params_} == chosen.best_params_
    with pytest.raises(TypeError, match="it is called max_components"):
        GEMClassifierCV().set_params(max_features=3)
    with pytest.raises(TypeError, match="it is called max_components"):
        GEMClassifierCV(max_features=3)
    for old in ("error", "log_loss"):
        with pytest.raises(ValueError, match=r"(?s)accuracy.*neg_log_loss|neg_log_loss.*accuracy"):
            GEMClassifierCV(scoring=old).fit(np.eye(4), [0, 0, 1, 1])


@pytest.mark.parametrize("cv", [0.25, 4])
def test_cv_holds_groups_out_whole(cv):
    X, y, group = echoes(40, 3)
    model = GEMClassifierCV(**ONE | {"alphas": (1e-5,)}, cv=cv)
    splits = class_splits(cv, y, np.unique(group, return_inverse=True)[1], seed=0)
    assert len(splits) == (1 if cv == 0.25 else 4)
    assert not any(set(group[train]) & set(group[held_out]) for train, held_out in splits)
    honest, flattered = (model.fit(X, y, groups=groups).best_score_ for groups in (group, None))
    assert honest < flattered - 0.1  # near copies of held-out rows are easy
    with pytest.raises(ValueError, match="holds out every row of some class"):
        model.fit(X, y, groups=np.where(y == 1, "all of one", group))
