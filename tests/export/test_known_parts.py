"""Every class of scikit-learn that prepares, selects, decomposes, searches or calibrates: saved, or refused and why."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.experimental import enable_halving_search_cv, enable_iterative_imputer  # noqa: F401
from sklearn.feature_selection import SelectFromModel, mutual_info_classif
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils import all_estimators

from eigenfeat import FisherLDA, load, save
from eigenfeat.export.archive import Refusal
from eigenfeat.export.checks import check_model

ROOMS = ("preprocessing", "impute", "compose", "feature_selection", "decomposition", "calibration", "model_selection")
CLASSES = {name: cls for name, cls in all_estimators() if cls.__module__.split(".")[1] in (*ROOMS, "pipeline")}
GRID = {"estimator": FisherLDA(), "param_grid": {"ridge": [0.1, 1.0]}}
DRAWN = {"estimator": FisherLDA(), "param_distributions": {"ridge": [0.1, 1.0]}, "random_state": 0}
STEPS = [("scaled", StandardScaler()), ("model", FisherLDA())]
ARGUMENTS = {
    "CalibratedClassifierCV": {"estimator": FisherLDA()},
    "ColumnTransformer": {"transformers": [("scaled", StandardScaler(), [0, 1]), ("rest", "passthrough", slice(2, 4))]},
    "FeatureUnion": {"transformer_list": [("scaled", StandardScaler()), ("directions", FisherLDA())]},
    "FixedThresholdClassifier": {"estimator": FisherLDA()},
    "GridSearchCV": GRID,
    "HalvingGridSearchCV": GRID,
    "HalvingRandomSearchCV": DRAWN,
    "Pipeline": {"steps": STEPS},
    "RFE": {"estimator": LogisticRegression(max_iter=1000)},
    "RFECV": {"estimator": LogisticRegression(max_iter=1000)},
    "RandomizedSearchCV": DRAWN | {"n_iter": 2},
    "SelectFromModel": {"estimator": FisherLDA()},
    "SequentialFeatureSelector": {"estimator": FisherLDA()},
    "SparseCoder": {"dictionary": np.eye(4)},
    "TransformedTargetRegressor": {"regressor": LinearRegression(), "transformer": StandardScaler()},
    "TunedThresholdClassifierCV": {"estimator": FisherLDA()},
    "LatentDirichletAllocation": {"max_iter": 2},
    "DictionaryLearning": {"max_iter": 2},
}
TWO_CLASSES = ("FixedThresholdClassifier", "TunedThresholdClassifierCV")
OF_LABELS = ("LabelBinarizer", "LabelEncoder")
#: None of them at their defaults. What some hold by choice is below.
REFUSED: dict[str, str] = {}


def rows():
    X, y = load_iris(return_X_y=True)
    return np.abs(X[::2]), y[::2]


def outputs(model, X):
    verb = next(verb for verb in ("transform", "predict_proba", "predict") if hasattr(model, verb))
    found = getattr(model, verb)(X)
    return found.toarray() if hasattr(found, "toarray") else found


def fitted(name):
    """A class at its defaults, or with what it cannot do without, on rows that suit it."""
    model, (X, y) = CLASSES[name](**ARGUMENTS.get(name, {})), rows()
    if name in OF_LABELS:
        return model.fit(y), y
    if name == "MultiLabelBinarizer":
        labels = [{"a", "b"}, {"b"}, set()]
        return model.fit(labels), labels
    if name == "KernelCenterer":
        return model.fit(X @ X.T), X @ X.T
    if name in TWO_CLASSES:
        y = y > 0
    return model.fit(X, y), X


def test_there_is_a_class_of_every_kind():
    assert len(CLASSES) > 50 and {cls.__module__.split(".")[1] for cls in CLASSES.values()} == {*ROOMS, "pipeline"}
    assert ARGUMENTS.keys() | REFUSED.keys() <= CLASSES.keys()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLASSES)
def test_every_class_comes_back_as_it_was_or_is_refused(name, tmp_path):
    model, X = fitted(name)
    if name in REFUSED:
        with pytest.raises(ValueError, match=REFUSED[name]):
            save(model, tmp_path / "model.skops")
        return
    np.testing.assert_array_equal(outputs(load(save(model, tmp_path / "model.skops")), X), outputs(model, X))


CONFIGURATIONS = {
    "scores by name": GridSearchCV(**GRID, scoring="neg_log_loss"),
    "several scores": GridSearchCV(**GRID, scoring=["accuracy", "neg_brier_score"], refit="accuracy"),
    "splits of a kind": GridSearchCV(**GRID, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)),
    "splits drawn": GridSearchCV(**GRID, cv=ShuffleSplit(2, random_state=0)),
    "splits as lists": GridSearchCV(**GRID, cv=[(np.arange(0, 75, 2), np.arange(1, 75, 2))]),
    "a search over steps": GridSearchCV(
        Pipeline([("columns", "passthrough"), ("model", FisherLDA())]),
        {"columns": [StandardScaler(), PowerTransformer(), "passthrough"], "model__ridge": [0.1, 1.0]},
    ),
    "isotonic": CLASSES["CalibratedClassifierCV"](FisherLDA(), method="isotonic"),
    "calibrated pipeline": CLASSES["CalibratedClassifierCV"](make_pipeline(SplineTransformer(), FisherLDA(ridge=0.1))),
    "splines that go round": make_pipeline(SplineTransformer(extrapolation="periodic"), FisherLDA(ridge=0.1)),
    "sparse splines": make_pipeline(SplineTransformer(sparse_output=True), FisherLDA(ridge=0.1)),
    "column scores": make_pipeline(CLASSES["SelectKBest"](mutual_info_classif, k=2), FisherLDA()),
    "logarithms": make_pipeline(FunctionTransformer(np.log1p, inverse_func=np.expm1), FisherLDA()),
    "side by side": make_pipeline(FeatureUnion([("s", SplineTransformer()), ("d", FisherLDA())]), FisherLDA(ridge=1.0)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CONFIGURATIONS)
def test_pipelines_searches_and_calibrations_come_back(case, tmp_path):
    X, y = rows()
    model = clone(CONFIGURATIONS[case]).fit(X, y)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(outputs(again, X), outputs(model, X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=2),
                                     OrdinalEncoder(), TargetEncoder()], ids=lambda e: type(e).__name__)  # fmt: skip
def test_encoders_of_words_with_gaps_come_back(encoder, tmp_path):
    X = np.array([["a", "x"], ["b", None], ["a", "y"], ["c", "x"]] * 10, dtype=object)
    model = encoder.fit(X, np.arange(40) % 2)
    np.testing.assert_array_equal(outputs(load(save(model, tmp_path / "m.skops")), X), outputs(model, X))


OF_USERS = {
    "a function of one's own": (
        make_pipeline(FunctionTransformer(lambda X: X), FisherLDA()),
        "FunctionNode|not support",
    ),
    "a distribution of scipy": (
        RandomizedSearchCV(FisherLDA(), {"ridge": stats.uniform(0, 1)}, n_iter=2, random_state=0),
        "asks for scipy.stats",
    ),
    "trees, whose compiled loops trust their nodes": (
        make_pipeline(SelectFromModel(ExtraTreesClassifier(5, random_state=0)), FisherLDA()),
        "neither numbers nor text",
    ),
}


@pytest.mark.parametrize("case", OF_USERS)
def test_what_is_refused_says_why_and_what_to_do(case, tmp_path):
    model, reason = OF_USERS[case]
    with pytest.raises(ValueError, match=f"(?s)({reason}).*or save a part that does without"):
        save(clone(model).fit(*rows()), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


SPLINE_CHANGES = {
    "knots out of order": lambda s: s.t[::-1].copy(),
    "too few knots": lambda s: s.t[:-1].copy(),
    "knots that are not numbers": lambda s: np.full_like(s.t, np.nan),
    "knots that are whole": lambda s: s.t.astype(int),
}


@pytest.mark.parametrize("case", SPLINE_CHANGES)
def test_splines_whose_parts_do_not_fit_are_refused(case):
    model = SplineTransformer().fit(rows()[0])
    spline = model.bsplines_[0]
    vars(spline)["_t" if "_t" in vars(spline) else "t"] = SPLINE_CHANGES[case](spline)
    with pytest.raises(Refusal, match="does not fit together"):
        check_model(model)


def test_a_spline_with_a_degree_or_an_attribute_of_its_own_is_refused():
    for name, value in (("k", 50), ("k", "3"), ("axis", 1), ("extrapolate", "far"), ("integrate", 1)):
        model = SplineTransformer().fit(rows()[0])
        vars(model.bsplines_[0])[name] = value
        with pytest.raises(Refusal, match="does not fit together"):
            check_model(model)
