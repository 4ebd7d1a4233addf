"""Laws over all estimators: what must not change an answer, and who is excused with which reason."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fuzz_subjects import ESTIMATORS, subjects
from law_data import N_ROWS, answers, difference, fitted, plain_model, problem, takes_weights
from scipy import sparse
from sklearn.utils import get_tags

from eigenfeat import GEMClassifier

RNG = np.random.default_rng(1)
ORDER, COPIES = RNG.permutation(N_ROWS), RNG.integers(1, 4, size=N_ROWS)
#: Answers may differ by the rounding of sums in another order, and by how exactly solvers solve.
ROUNDING = 1e-9
SOLVED = {
    "GEMClassifierCV": 1e-8,
    "KernelFisherClassifier(piecewise)": 1e-8,  # Newton steps end where one promises 1e-10 of the objective
    "KernelFisherClassifierCV(sparse)": 1e-8,
    "KernelFisherClassifier(huber)": 3e-3,
    "KernelFisherRegressor(epsilon)": 1e-2,
    "LeastSquaresCCA(lasso)": 1e-6,
    "MultinomialLogit": 3e-3,
    "MultinomialLogit(smoothed)": 1e-3,
    "ScoreTensorFeatures": 1e-4,
}
#: Trials of a search stop early, and copies of rows reach that gap by other steps than weights do.
SEARCHED = {"GEMClassifier": 0.1}
#: A fit in a thread has one BLAS thread, that of the main thread may have more: steps in float32 round otherwise then.
IN_THREADS = {"DenoisingAutoencoder": 1e-6}

# ------------------------------------------------------------------ who is excused, and why

BY_PLACE = "rows are drawn by their place"
DRAWN = {
    "GEMClassifierCV": "folds are drawn over rows",
    "KernelFisherClassifierCV(sparse)": "folds are drawn over rows",
    "DenoisingAutoencoder": "batches of rows and first weights of columns are drawn by their place",
    "KernelFisherClassifier(gaussian)": BY_PLACE,
    "KernelFisherClassifier(greedy)": BY_PLACE,
}
BITS = "which rows are left out for the temperature goes by the bits of the rows as they stand"
BY_BITS = dict.fromkeys(("MultinomialLogit(smoothed)", *(n for n in subjects() if n.startswith("GEMClassifier"))), BITS)
COLUMNS = {
    **BY_BITS,
    "DenoisingAutoencoder": DRAWN["DenoisingAutoencoder"],
    "GEMFeatures": "inputs that are kept keep their order",
    "ScoreTensorClassifier": "which rows are left out goes by the bits of the rows as they stand",
    "ColumnScaler": "columns keep their order",
    "ColumnSplines": "columns keep their order",
}
UNITS = "only ratios of weights count, so that the evidence of n rows is (Σw)² / Σw², and of n copies n"
COUNTED = {"FisherLDA(shrinkage='auto')": UNITS, "GEMClassifier(centred)": UNITS}
KNOTS = "knots are quantiles of as many projections as there are rows"
SAMPLED = {"GEMClassifier(spline)": KNOTS, "GEMClassifier(two layers)": KNOTS}
SHIFTED = dict.fromkeys(
    ("ColumnScaler", *(n for n in subjects() if n.startswith(("GEM", "Kernel", "ScoreTensor")))),
    "dense columns are shifted and bent, and sparse ones are not",
)
FOLDS = dict.fromkeys(("GEMClassifierCV", "KernelFisherClassifierCV(sparse)"), "folds are drawn over rows")
SUM = "the penalty stands beside a sum over rows: a weight is so many copies"
SUMS = {"GEMRegressor": SUM} | {n: SUM for n in subjects() if n.startswith(("Kernel", "LeastSquares", "Hyper"))}
SUMS["HypergraphFeatures"] = SUMS["LeastSquaresCCA"] = "the scale of the features is that of a sum"
#: Features, scores or probabilities that are those of rows in any unit and from any origin.
SCALE_FREE = (
    *("CommonSpatialPatterns", "FisherLDA", "RayleighFeatures", "SPoC", "SlicedInverseRegression", "GEMFeatures"),
    *("FisherLDA(ridge=0.1)", "FisherLDA(shrinkage='auto')", "OrientedKernelPCA", "LeastSquaresLDA", "LeastSquaresCCA"),
    *("KernelFisherClassifier", "KernelFisherClassifierCV", "KernelFisherFeatures", "KernelFisherRegressor"),
)
SHIFT_FREE = (
    *(name for name in SCALE_FREE if name != "GEMFeatures"),
    *("GaussianMixtureScore", "HypergraphFeatures", "HypergraphFeaturesCV", "LeastSquaresLDACV", "LeastSquaresCCACV"),
    *("LeastSquaresFeatures", "LeastSquaresOPLS", "LeastSquaresOPLSCV", "LeastSquaresCCA(lasso)"),
)


def but(*excused):
    """The subjects that none of the lists excuse."""
    names = [name for name in subjects() if not any(name in names for names in excused)]
    return pytest.mark.parametrize("name", names)


def those(names):
    return pytest.mark.parametrize("name", names)


WITHOUT_WEIGHTS = [name for name in subjects() if not takes_weights(name)]
DENSE_ONLY = [name for name, make in subjects().items() if not get_tags(make()).input_tags.sparse]


def assert_same(name, found, expected):
    assert difference(found, expected) <= SOLVED.get(name, ROUNDING)


def test_the_lists_name_subjects():
    lists = (SOLVED, DRAWN, COLUMNS, COUNTED, SAMPLED, FOLDS, SUMS, SCALE_FREE, SHIFT_FREE)
    assert {name for names in lists for name in names} <= set(subjects())


@but(DRAWN)
def test_the_order_of_rows_does_not_matter(name):
    X, y = problem(name)
    assert_same(name, answers(fitted(name, X[ORDER], y[ORDER]), X), answers(plain_model(name), X))


@but(COLUMNS)
def test_the_order_of_columns_does_not_matter(name):
    X, y = problem(name)
    order = np.array([2, 0, 3, 1])
    assert_same(name, answers(fitted(name, X[:, order], y), X[:, order]), answers(plain_model(name), X))


@but(WITHOUT_WEIGHTS, COUNTED, SAMPLED, FOLDS, DRAWN)
def test_weights_are_copies(name):
    X, y = problem(name)
    copied = fitted(name, X.repeat(COPIES, axis=0), y.repeat(COPIES))
    found = difference(answers(fitted(name, X, y, COPIES.astype(float)), X), answers(copied, X))
    assert found <= SEARCHED.get(name, SOLVED.get(name, ROUNDING))


def test_weights_are_copies_where_gem_searches_for_nothing():
    X, y = problem("GEMClassifier")
    given = {"base_map": None, "feature_map": "soft-cubic", "ridge": 0.3, "label_smoothing": 0.0, "alpha": 1e-2}
    model = GEMClassifier(**given, classifier_tol=1e-10)
    weighted = answers(model.fit(X, y, sample_weight=COPIES), X)
    assert difference(weighted, answers(model.fit(X.repeat(COPIES, axis=0), y.repeat(COPIES)), X)) < 1e-4


@those([*COUNTED, *SAMPLED, *FOLDS, *DRAWN])
def test_the_docstring_says_why_weights_are_not_copies(name):
    assert "copies" in type(subjects()[name]()).fit.__doc__


@but()
def test_a_fit_after_another_is_a_fresh_one(name):
    """On other rows, fewer and of another unit: nothing of them is left."""
    X, y = problem(name)
    model = fitted(name, X[::2] * 3, y[::2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = answers(model.fit(X, y), X)
    for verb, expected in answers(plain_model(name), X).items():
        np.testing.assert_array_equal(again[verb], expected)


@but(WITHOUT_WEIGHTS, FOLDS)
def test_a_row_of_weight_zero_is_not_there(name):
    X, y = problem(name)
    there = np.arange(N_ROWS) % 6 != 0
    assert_same(name, answers(fitted(name, X, y, there.astype(float)), X), answers(fitted(name, X[there], y[there]), X))


@but(WITHOUT_WEIGHTS, SUMS)
def test_only_ratios_of_weights_matter(name):
    """Where they are shares: weights above one may be copies, which the default penalty of GEM counts."""
    X, y = problem(name)
    assert_same(name, answers(fitted(name, X, y, COPIES / 2048), X), answers(fitted(name, X, y, COPIES / 512), X))


@those(SCALE_FREE)
def test_the_unit_of_the_rows_does_not_matter(name):
    X, y = problem(name)
    assert_same(name, answers(fitted(name, X * 1024, y), X * 1024), answers(plain_model(name), X))


@those(SHIFT_FREE)
def test_the_origin_of_the_rows_does_not_matter(name):
    X, y = problem(name)
    assert_same(name, answers(fitted(name, X + 8, y), X + 8), answers(plain_model(name), X))


@but(DENSE_ONLY, SHIFTED)
def test_storage_does_not_matter(name):
    X, y = problem(name)
    X = np.where(np.abs(X) < 0.5, 0, X)
    stored = sparse.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()  # zeros included
    expected = answers(fitted(name, X, y), X)
    for thin in (sparse.csr_array(X), stored):
        assert_same(name, answers(fitted(name, thin, y), thin), expected)


@but()
def test_a_row_alone_is_answered_as_among_others(name):
    X, _ = problem(name)
    model = plain_model(name)
    together = answers(model, X)
    alone = [answers(model, X[i : i + 1]) for i in range(4)]
    for verb, expected in together.items():
        found = np.concatenate([each[verb] for each in alone])
        np.testing.assert_allclose(found, expected[:4], rtol=1e-10, atol=1e-12 * np.abs(expected).max())


@those(ESTIMATORS)
def test_a_fit_among_others_in_threads_is_that_of_one_alone(name):
    X, y = problem(name)

    def fit(_):
        model = subjects()[name]()  # warnings are caught for the process: not in threads
        return answers(model.fit(X, y), X)

    with warnings.catch_warnings(), ThreadPoolExecutor(3) as pool:
        warnings.simplefilter("ignore")
        first, *others = pool.map(fit, range(3))
    assert difference(first, answers(plain_model(name), X)) <= max(IN_THREADS.get(name, 0), SOLVED.get(name, ROUNDING))
    for found in others:
        assert difference(found, first) == 0
