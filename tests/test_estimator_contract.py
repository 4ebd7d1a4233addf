"""What every public estimator promises, tested on all of them as they are discovered.

A promise that does not concern every class lists those it does not concern, with the reason; the lists are tested too,
so that a class cannot slip out of a promise by accident.
"""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.datasets import load_iris, load_wine
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenfeat
from eigenfeat import GEMClassifier, KernelFisherClassifier, LeastSquaresCCA, SlicedInverseRegression
from eigenfeat._sklearn import StrOptions
from eigenfeat.estimators.edge import flat
from eigenfeat.features.maps import FEATURE_MAPS
from eigenfeat.features.pairs import STRATEGIES
from eigenfeat.quotients import MATRICES
from eigenfeat.stages import Fitted

ESTIMATORS = [
    cls
    for _, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator)
    and not inspect.isabstract(cls)
    # Made of tables, not of arrays of floats: tests/tables/test_encoder.py runs scikit-learn's checks on it.
    and cls is not eigenfeat.TableEncoder
]

# ------------------------------------------------------------------ who is excused, and why

DENSITY = "a density of the input: nothing is projected, nothing is classified"
DENSITIES = {"DenoisingAutoencoder": DENSITY, "GaussianMixtureScore": DENSITY}
NO_WEIGHTS: dict[str, str] = {}
TRIALS = "rows are trials, (channels, time): there is no table, and no sparse array, of such rows"
THREE_D = {"CommonSpatialPatterns": TRIALS, "SPoC": TRIALS}
DENSE_ONLY = {
    **THREE_D,
    "ColumnSplines": "zeros have functions too",
    "DenoisingAutoencoder": "corrupted rows are dense",
    "GaussianMixtureScore": "so are centred rows",
}
Y_UNUSED = {
    **DENSITIES,
    "ColumnScaler": "columns are treated for what they are",
    "ColumnSplines": "knots follow the columns alone",
    "OrientedKernelPCA": "all rows are one class",
    "OrientedPCA": "all rows are one class",
    "VanishingComponents": "all rows are one class",
}
UNSHIFTED = dict.fromkeys(
    (
        *("ColumnScaler", "GEMClassifier", "GEMClassifierCV", "GEMFeatures", "GEMRegressor", "KernelFisherClassifier"),
        *("KernelFisherClassifierCV", "KernelFisherFeatures", "KernelFisherRegressor", "KernelRayleighFeatures"),
        *("ScoreTensorClassifier", "ScoreTensorFeatures"),
    ),
    "columns of dense rows are shifted, which would fill sparse ones: both are compared untreated",
)
REGRESSION = "minimises a loss of residuals: there is no eigenproblem"
NO_WORDS = dict.fromkeys(("ColumnSplines", "SPoC"), "its options are numbers and switches")
NO_SPECTRUM = {
    **DENSITIES,
    "ColumnScaler": "columns are treated one by one",
    "ColumnSplines": "so are knots",
    "KernelFisherClassifier": REGRESSION,
    "KernelFisherClassifierCV": REGRESSION,
    "KernelFisherRegressor": REGRESSION,
    "MultinomialLogit": REGRESSION,
    "ScoreTensorClassifier": "its features_ have one",
}
# The largest difference between the results of float32 and of float64 rows, relative to the largest result: a few
# hundred roundings (6e-8), unless something else decides it.
ROUNDING = 1e-4
FLOAT32 = {
    # A small alpha, found by leave-one-out, stands nearer to the rounding of the kernel matrix.
    "KernelFisherClassifierCV": 2e-3,
    # Its alpha is as small by default.
    "KernelRayleighFeatures": 1e-3,
    # The convex stage stops at a relative gap of 1e-2 (the logit by itself 1e-4), in either type by steps of its own;
    # scores of rows far from the boundary, which hardly change the objective, are the last to settle.
    "GEMClassifier": 0.15,
    "GEMClassifierCV": 0.15,
    "MultinomialLogit": 5e-4,
    # Third-order tensors: cubes of scores, and a power method that stops at the rounding of its type.
    "ScoreTensorFeatures": 3e-3,
}
# Options whose names come from a table, where the parameter also takes other things than names.
TABLES = {
    "feature_map": FEATURE_MAPS,
    "class_pairs": STRATEGIES,
    "signal": MATRICES,
    "which": ("largest", "smallest"),
}


# Those of scikit-learn's checks that fit no table, or ask for something that comes before rows are looked at.
WITHOUT_ROWS = (
    "check_estimator_repr",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_param_validation",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


def named(classes):
    return pytest.mark.parametrize("cls", classes, ids=lambda cls: cls.__name__)


def but(*excused):
    """The estimators that none of the lists excuse."""
    return named([cls for cls in ESTIMATORS if not any(cls.__name__ in names for names in excused)])


def names_of(test):
    return {cls.__name__ for cls in ESTIMATORS if test(cls)}


def takes_weights(cls):
    return "sample_weight" in inspect.signature(cls.fit).parameters


def words(cls):
    return [name for name, value in cls().get_params(deep=False).items() if isinstance(value, str)]


every_estimator = named(ESTIMATORS)
every_classifier = named([cls for cls in ESTIMATORS if is_classifier(cls())])
every_search = named([cls for cls in ESTIMATORS if cls.__name__.endswith("CV")])
every_random = named([cls for cls in ESTIMATORS if "random_state" in cls().get_params()])
every_threaded = named([cls for cls in ESTIMATORS if "n_jobs" in cls().get_params()])


def test_the_excused_are_those_that_must_be():
    assert names_of(lambda cls: not takes_weights(cls)) == NO_WEIGHTS.keys()
    assert names_of(lambda cls: not get_tags(cls()).input_tags.sparse) == DENSE_ONLY.keys()
    assert names_of(lambda cls: not get_tags(cls()).target_tags.required) == Y_UNUSED.keys()
    assert names_of(lambda cls: get_tags(cls()).input_tags.three_d_array) == THREE_D.keys()
    assert names_of(lambda cls: not words(cls)) == NO_WORDS.keys()
    assert names_of(lambda cls: "columns" in cls().get_params()) == UNSHIFTED.keys()
    everyone = {cls.__name__ for cls in ESTIMATORS}
    assert everyone >= DENSITIES.keys() | NO_SPECTRUM.keys() | FLOAT32.keys()


# ------------------------------------------------------------------ data and results


def small_data(cls):
    if cls.__name__ in THREE_D:
        return small_trials()
    X, y = load_iris(return_X_y=True)
    X, y = X[::2], y[::2]
    if is_regressor(cls()):
        y = X[:, 0] + 0.1 * y
    return X.copy(), y


def small_trials():
    """(trials, channels, time): the power of a channel is that of the class, which is also a number to follow."""
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = rng.normal(size=(45, 4, 50))
    X[np.arange(45), y] *= 2
    return X, y


def fitted(cls, X, y, **fit_params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls().fit(X, y, **fit_params)


def output(estimator, X):
    if is_classifier(estimator) or is_regressor(estimator):
        return estimator.predict(X)
    found = estimator.transform(X) if hasattr(estimator, "transform") else estimator.score_samples(X)
    return found.toarray() if sparse.issparse(found) else found


VERBS = ("transform", "decision_function", "predict_proba", "predict_log_proba", "score_samples")


def results(estimator, X):
    """Everything numeric an estimator says of rows, by verb."""
    verbs = [verb for verb in VERBS if hasattr(estimator, verb)]
    if is_regressor(estimator):
        verbs.append("predict")
    assert verbs
    return {verb: np.asarray(getattr(estimator, verb)(X)) for verb in verbs}


def assert_same_results(one, other, X, **tolerance):
    expected = results(other, X)
    for verb, value in results(one, X).items():
        np.testing.assert_allclose(value, expected[verb], err_msg=verb, **tolerance)


# ------------------------------------------------------------------ scikit-learn, documentation, files


@parametrize_with_checks([cls() for cls in ESTIMATORS])
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@named([cls for cls in ESTIMATORS if cls.__name__ in THREE_D])
@pytest.mark.parametrize("check", WITHOUT_ROWS)
def test_scikit_learn_checks_that_need_no_rows(cls, check):
    """Of estimators of other input than tables, scikit-learn by itself checks only that they can be cloned."""
    getattr(estimator_checks, check)(cls.__name__, cls())


@every_estimator
def test_public_names_are_documented(cls):
    doc = inspect.getdoc(cls)
    for section in ("Parameters\n---", "Attributes\n---", "References\n---", "Examples\n---"):
        assert section in doc, f"{cls.__name__} has no section {section.splitlines()[0]!r}"
    for parameter in inspect.signature(cls).parameters:
        assert parameter in doc, f"{cls.__name__} does not document {parameter!r}"


@every_estimator
def test_a_fitted_estimator_survives_pickling_and_cloning(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    assert_same_results(pickle.loads(pickle.dumps(model)), model, X, rtol=0)
    assert_same_results(fitted(lambda: clone(model), X, y), model, X, rtol=0)


@every_estimator
def test_nothing_the_user_gave_is_modified(cls):
    X, y = small_data(cls)
    weights = np.linspace(1, 2, len(y))
    given = [X.copy(), y.copy(), weights.copy()]
    model = fitted(cls, X, y, **({"sample_weight": weights} if takes_weights(cls) else {}))
    results(model, X)
    for before, after in zip(given, (X, y, weights)):
        np.testing.assert_array_equal(before, after)


@but(THREE_D)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dataframes_keep_their_names(cls, frame):
    X, y = small_data(cls)
    table = frame(dict(zip("abcd", X.T)))
    model = fitted(cls, table, y)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_allclose(output(model, table), output(fitted(cls, X, y), X))
    if hasattr(model, "transform"):
        Z = model.set_output(transform="pandas").transform(table)
        assert list(Z.columns) == list(model.get_feature_names_out())


# ------------------------------------------------------------------ bad input


BAD_INPUT = {
    "NaN": (lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y), "NaN"),
    "infinity": (lambda X, y: (np.where(X[3, 1] == X, np.inf, X), y), "infinity"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "0 sample|minimum"),
    "one dimension": (lambda X, y: (X[:, 0], y), "2D array"),
}


@every_estimator
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_refused_with_a_reason(cls, case):
    spoil, message = BAD_INPUT[case]
    with pytest.raises(ValueError, match=message):
        fitted(cls, *spoil(*small_data(cls)))


@but(Y_UNUSED)
def test_targets_of_another_length_are_refused(cls):
    X, y = small_data(cls)
    with pytest.raises(ValueError, match=r"inconsistent|length"):
        fitted(cls, X, y[:-1])


@every_classifier
def test_one_class_is_refused_where_classes_are_told_apart(cls):
    X, y = small_data(cls)
    with pytest.raises(ValueError, match="class"):
        fitted(cls, X, np.zeros_like(y))


@but(NO_WEIGHTS)
def test_bad_weights_are_refused(cls):
    X, y = small_data(cls)
    for weights, message in [(-np.ones(len(y)), "[Nn]egative"), (np.zeros(len(y)), "zero"), (np.ones(3), "shape")]:
        with pytest.raises(ValueError, match=message):
            fitted(cls, X, y, sample_weight=weights)


@every_classifier
def test_a_class_without_weight_is_refused(cls):
    X, y = small_data(cls)
    with pytest.raises(ValueError, match="weight"):
        fitted(cls, X, y, sample_weight=(y != 1).astype(float))


@every_estimator
def test_the_wrong_width_is_refused_after_fitting(cls):
    X, y = small_data(cls)
    with pytest.raises(ValueError, match="features"):
        output(fitted(cls, X, y), X[:, :3])


def known_options(cls, name):
    constraints = cls._parameter_constraints.get(name, [])
    options = {option for c in constraints if isinstance(c, StrOptions) for option in c.options}
    if options:
        return options
    # RayleighFeatures' noise is a matrix by name; the noise of others is an option like any other.
    return set(MATRICES if name == "noise" else TABLES[name])


@but(NO_WORDS)
def test_an_unknown_option_is_refused_with_the_known_ones(cls):
    X, y = small_data(cls)
    for name in words(cls):
        with pytest.raises(ValueError) as refusal:
            fitted(lambda name=name: cls(**{name: "no such option"}), X, y)
        message = str(refusal.value)
        missing = [option for option in sorted(known_options(cls, name)) if option not in message]
        assert name in message and "no such option" in message and not missing, (message, missing)


# ------------------------------------------------------------------ types, storage, seeds, threads


@every_estimator
def test_float32_rows_give_the_results_of_float64_rows(cls):
    X, y = small_data(cls)
    exact = results(fitted(cls, X, y), X)
    single = results(fitted(cls, X.astype(np.float32), y), X.astype(np.float32))
    tolerance = FLOAT32.get(cls.__name__, ROUNDING)
    for verb, expected in exact.items():
        scale = np.abs(expected).max()
        assert np.abs(single[verb] - expected).max() <= tolerance * scale, verb
    if "transform" in exact:
        assert single["transform"].dtype == np.float32
    assert exact[next(iter(exact))].dtype == np.float64


@but(DENSE_ONLY)
def test_sparse_input_gives_what_dense_input_gives(cls):
    X, y = small_data(cls)
    X[X < 1] = 0
    off = {"columns": "none"} if cls.__name__ in UNSHIFTED else {}
    dense, thin = (fitted(lambda: cls(**off), rows, y) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(output(thin, sparse.csr_array(X)), output(dense, X), rtol=1e-5, atol=1e-7)


@named([cls for cls in ESTIMATORS if cls.__name__ in DENSE_ONLY.keys() - THREE_D.keys()])
def test_sparse_input_is_refused_where_it_would_become_dense(cls):
    X, y = small_data(cls)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        fitted(cls, sparse.csr_array(X), y)


@every_estimator
def test_the_same_seed_gives_the_same_model(cls):
    X, y = small_data(cls)
    seed = {"random_state": 3} if "random_state" in cls().get_params() else {}
    first, second = (fitted(lambda: cls(**seed), X, y) for _ in range(2))
    assert_same_results(first, second, X, rtol=0)


@every_threaded
def test_the_number_of_threads_does_not_change_the_model(cls):
    X, y = small_data(cls)
    one, two = (fitted(lambda jobs=jobs: cls(n_jobs=jobs), X, y) for jobs in (1, 2))
    assert_same_results(one, two, X, rtol=0)


@every_random
def test_fits_are_repeatable_unless_asked_otherwise(cls):
    assert cls().random_state == 0


# ------------------------------------------------------------------ what a fit leaves


def rows_of_noise(cls, n_features):
    """What a first fit is also given, where the estimator takes rows of noise."""
    if "noise" not in inspect.signature(cls.fit).parameters:
        return {}
    return {"noise": np.random.default_rng(0).normal(size=(30, n_features))}


@but(THREE_D)
def test_a_second_fit_leaves_nothing_of_the_first(cls):
    """Other rows, another width, other classes, column names, and rows of noise the first time only."""
    first = load_wine(as_frame=True)
    X, y = small_data(cls)
    X, y = X[y != np.unique(y)[0]], y[y != np.unique(y)[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = cls().fit(first.data, first.target, **rows_of_noise(cls, first.data.shape[1])).fit(X, y)
    fresh = fitted(cls, X, y)
    assert vars(again).keys() == vars(fresh).keys()
    assert_same_results(again, fresh, X, rtol=0)


@named([cls for cls in ESTIMATORS if hasattr(cls, "partial_fit")])
def test_a_fit_leaves_nothing_of_partial_fits(cls):
    X, y = small_data(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = cls().partial_fit(X[::2], y[::2]).fit(X, y)
    fresh = fitted(cls, X, y)
    assert vars(again).keys() == vars(fresh).keys()
    assert_same_results(again, fresh, X, rtol=0)


CHANGES = {
    "kernel": (LeastSquaresCCA(), {"kernel": "rbf", "penalty": "ridge"}),
    "no kernel": (LeastSquaresCCA(kernel="rbf", penalty="ridge"), {"kernel": None}),
    "base map": (GEMClassifier(2, base_map=RBFSampler(random_state=0)), {"base_map": None}),
    "slices": (SlicedInverseRegression(), {"n_slices": 500}),
    "probability": (KernelFisherClassifier(probability="gaussian"), {"probability": "logistic"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_fit_with_other_parameters_leaves_nothing_of_the_first(name):
    X, y = load_iris(return_X_y=True)
    before, change = CHANGES[name]
    y = X[:, 0] if isinstance(before, SlicedInverseRegression) else y
    again = clone(before).fit(X, y).set_params(**change).fit(X, y)
    fresh = clone(before).set_params(**change).fit(X, y)
    assert vars(again).keys() == vars(fresh).keys()


@every_estimator
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    before = output(model, X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), y)
    np.testing.assert_array_equal(output(model, X), before)


@but(NO_SPECTRUM)
def test_components_come_with_what_is_known_of_each(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    n_components = len(model.eigenvalues_)
    assert n_components > 0
    assert model.residuals_.shape == (n_components,) and np.all(model.residuals_ >= 0)
    assert isinstance(model.solver_, str) and model.solver_ != "auto"
    if hasattr(model, "components_"):
        assert model.components_.shape == (n_components, X.shape[1])
    else:
        assert model.dual_coef_.shape[1] == n_components


@named([cls for cls in ESTIMATORS if NO_SPECTRUM.get(cls.__name__) == REGRESSION])
def test_a_regression_says_what_solved_it(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    assert isinstance(model.solver_, str) and model.solver_ != "auto"
    assert hasattr(model, "dual_coef_") or hasattr(model, "coef_")
    assert not hasattr(model, "eigenvalues_")


@but(DENSITIES)
def test_every_verb_answers_from_the_fitted_value(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    value = model.fitted_
    assert isinstance(value, Fitted)
    answers = {}
    if hasattr(model, "transform"):
        answers["transform"] = value.features.at(X)
    if is_classifier(model):
        scores = value.scores.at(X)
        answers["decision_function"] = flat(scores)
        if hasattr(model, "predict_log_proba"):
            answers["predict_log_proba"] = value.probabilities.apply(scores)
    if is_regressor(model) or value.predictions is not None:
        predicted = value.predictions.at(X)
        answers["predict"] = predicted[:, 0] if model.predict(X).ndim == 1 else predicted
    assert answers
    for verb, expected in answers.items():
        np.testing.assert_array_equal(getattr(model, verb)(X), expected, err_msg=verb)


@every_search
def test_a_search_says_what_it_tried_as_scikit_learn_does(cls):
    X, y = small_data(cls)
    model = fitted(cls, X, y)
    tried = model.cv_results_
    n_tried = len(tried["params"])
    assert n_tried > 1
    for name, values in tried.items():
        assert len(values) == n_tried, name
    for name in tried["params"][0]:
        assert list(tried[f"param_{name}"]) == [params[name] for params in tried["params"]]
    splits = [tried[f"split{i}_test_score"] for i in range(n_tried) if f"split{i}_test_score" in tried]
    assert splits
    np.testing.assert_allclose(tried["mean_test_score"], np.mean(splits, axis=0))
    np.testing.assert_allclose(tried["std_test_score"], np.std(splits, axis=0), atol=1e-12)
    ranks = tried["rank_test_score"]
    assert ranks.min() == 1 and ranks[np.argmax(tried["mean_test_score"])] == 1  # larger is better
    assert ranks[model.best_index_] == 1
    assert model.best_params_ == tried["params"][model.best_index_]
    assert model.best_score_ == pytest.approx(tried["mean_test_score"][model.best_index_])
