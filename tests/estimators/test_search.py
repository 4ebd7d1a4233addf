"""Results of a search, in scikit-learn's sense."""

from types import SimpleNamespace

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from eigenfeat.estimators.search import keep_search, search_results


def test_results_are_those_of_grid_search():
    X, y = load_iris(return_X_y=True)
    theirs = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.001, 0.1, 10.0]}, cv=4).fit(X, y)
    scores = np.column_stack([theirs.cv_results_[f"split{s}_test_score"] for s in range(4)])
    ours = search_results(theirs.cv_results_["params"], scores)
    assert set(ours) == {name for name in theirs.cv_results_ if "time" not in name}
    for name, values in ours.items():
        if name != "params":
            np.testing.assert_allclose(values, np.asarray(theirs.cv_results_[name], dtype=float), rtol=1e-12)


def test_rounding_is_no_difference_and_the_first_of_equals_is_best():
    params = [{"loss": None}, {"loss": "hinge"}, {"loss": ("huber", 0.5)}]
    kept = SimpleNamespace()
    best = keep_search(kept, params, np.array([[0.1, 0.1], [0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]]))
    assert best == kept.best_params_ == {"loss": "hinge"}
    assert kept.best_index_ == 1
    assert kept.cv_results_["rank_test_score"].tolist() == [3, 1, 1]
    assert kept.cv_results_["param_loss"].tolist() == [None, "hinge", ("huber", 0.5)]


def test_a_second_number_decides_between_equals_only():
    params, scores = [{"alpha": float(a)} for a in range(4)], np.array([[0.1], [0.3], [0.3], [0.3]])
    kept = SimpleNamespace()
    assert keep_search(kept, params, scores, ties=np.array([-9.0, 2.0, 1.0, 1.0])) == {"alpha": 2.0}
    assert (kept.best_index_, kept.best_score_) == (2, 0.3)
