"""Fits on row sources are fits on their rows; what cannot stream says so."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression

import eigenfeat
import eigenfeat.rows
from eigenfeat import (
    FisherLDA,
    GEMClassifier,
    GEMFeatures,
    GEMRegressor,
    HypergraphFeatures,
    KernelFisherClassifierCV,
    KernelFisherRegressor,
    LeastSquaresCCA,
    LeastSquaresFeatures,
    LeastSquaresLDA,
    LeastSquaresLDACV,
    LeastSquaresOPLS,
    MultinomialLogit,
    OrientedPCA,
    RayleighFeatures,
    SlicedInverseRegression,
    VanishingComponents,
)
from eigenfeat.estimators.gem_streaming import warn_of_gaps
from eigenfeat.estimators.streaming import BlockCheck
from eigenfeat.rows import ArrayRows, Block, Rows, as_rows

rng = np.random.default_rng(0)
N, D = 600, 6
X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 3
CODES = np.argmax(X[:, :3] + rng.normal(size=(N, 3)), axis=1)
TEXT = np.array(["iris", "rose", "tulip"])[CODES]
TARGETS = X[:, :2] ** 2 + rng.normal(size=(N, 2))
WEIGHTS = rng.exponential(size=N)
NAMES = tuple("abcdef")


class Stream(Rows):
    """Rows in blocks of 70, of a length that nobody knows."""

    def __init__(self, rows=X, labels=None, weights=None, names=None):
        self.held, self.labels, self.weights, self._names = rows, labels, weights, names

    @property
    def n_columns(self):
        return self.held.shape[1]

    @property
    def dtype(self):
        return self.held.dtype

    @property
    def names(self):
        return self._names

    def blocks(self, batch_size=None):
        step = batch_size or 70
        for start in range(0, self.held.shape[0], step):
            part = slice(start, start + step)
            labels = None if self.labels is None else self.labels[part]
            yield Block(self.held[part], labels, None if self.weights is None else self.weights[part], start=start)


def outcome(model):
    """What a fit found, as numbers."""
    return [model.eigenvalues_, model.components_, model.offsets_]


def assert_same_fit(streamed, held, tolerance=1e-8):
    for got, expected in zip(outcome(streamed), outcome(held)):
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=0))


CLASSIFIED = [
    FisherLDA(),
    FisherLDA(shrinkage="auto", noise="total"),
    RayleighFeatures("between", "within", ridge=0.1),
    GEMFeatures(2),
    GEMFeatures(1, constant=True, feature_map="spline", keep_inputs=False),
    LeastSquaresLDA(penalty="ridge", alpha=0.1),
    SlicedInverseRegression(),
]


@pytest.mark.parametrize("model", CLASSIFIED, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("labels", [CODES, TEXT], ids=["integers", "text"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_classes(model, labels, weights):
    streamed = clone(model).fit(Stream(X, labels, weights))
    held = clone(model).fit(X, labels, sample_weight=weights)
    assert_same_fit(streamed, held)
    assert streamed.n_features_in_ == D
    if hasattr(held, "classes_"):
        np.testing.assert_array_equal(streamed.classes_, held.classes_)
    np.testing.assert_allclose(streamed.transform(X), held.transform(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("model", [OrientedPCA(), VanishingComponents(), RayleighFeatures("total", "identity")])
def test_no_labels_needed(model):
    """Labels that a source has are not looked at."""
    assert_same_fit(clone(model).fit(Stream(X, TEXT, WEIGHTS)), model.fit(X, sample_weight=WEIGHTS))


def test_noise_may_be_a_source_too():
    Z = rng.normal(size=(100, D))
    assert_same_fit(OrientedPCA().fit(Stream(), noise=Stream(Z)), OrientedPCA().fit(X, noise=Z))


@pytest.mark.parametrize("y", [TARGETS, TARGETS[:, 0]], ids=["several", "one"])
@pytest.mark.parametrize("cls", [LeastSquaresCCA, LeastSquaresOPLS, LeastSquaresFeatures])
def test_targets(cls, y):
    streamed, held = cls(alpha=1.0).fit(Stream(X, y, WEIGHTS)), cls(alpha=1.0).fit(X, y, WEIGHTS)
    assert_same_fit(streamed, held)
    if hasattr(held, "predict"):
        np.testing.assert_allclose(streamed.predict(Stream()), held.predict(X), rtol=1e-8)
        assert streamed.predict(X).shape == y.shape


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_slices_of_a_continuous_target(weights):
    streamed = SlicedInverseRegression(n_slices=7).fit(Stream(X, TARGETS[:, 0], weights))
    held = SlicedInverseRegression(n_slices=7).fit(X, TARGETS[:, 0], weights)
    np.testing.assert_array_equal(streamed.slice_edges_, held.slice_edges_)
    assert_same_fit(streamed, held)


def test_sparse_and_float32_rows():
    S = sparse.csr_matrix(X * (np.abs(X) > 2))
    assert_same_fit(FisherLDA().fit(Stream(S, TEXT)), FisherLDA().fit(S, TEXT))
    single = X.astype(np.float32)
    streamed, held = GEMFeatures(1).fit(Stream(single, TEXT)), GEMFeatures(1).fit(single, TEXT)
    assert streamed.transform(single).dtype == np.float32
    np.testing.assert_allclose(streamed.eigenvalues_, held.eigenvalues_, rtol=1e-4)


def test_a_wide_source_of_known_length_keeps_its_rows():
    wide = rng.normal(size=(20, 50))
    y = np.arange(20) % 2
    streamed = FisherLDA(ridge=0.1).fit(ArrayRows(wide, y))
    assert type(streamed.moments_).__name__ == "DualMoments"
    assert_same_fit(streamed, FisherLDA(ridge=0.1).fit(wide, y))


def test_files_with_the_label_named_at_the_fit(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    pd.DataFrame(X, columns=list(NAMES)).assign(kind=TEXT).to_csv(tmp_path / "t.csv", index=False)
    model = FisherLDA().fit(eigenfeat.rows.open(tmp_path / "t.csv"), y="kind")
    source = eigenfeat.rows.open(tmp_path / "t.csv", columns=list(NAMES))
    assert_same_fit(model, FisherLDA().fit(X, TEXT))
    assert model.feature_names_in_.tolist() == list(NAMES)
    np.testing.assert_array_equal(model.predict(source), FisherLDA().fit(X, TEXT).predict(X))
    assert FisherLDA().fit(source.with_label("kind")).fit(X, CODES).n_features_in_ == D


# ------------------------------------------------------------------ new rows


def test_every_verb_of_a_source():
    model, source = FisherLDA().fit(X, TEXT), Stream()
    for verb in ("transform", "decision_function", "predict", "predict_proba", "predict_log_proba"):
        got, expected = getattr(model, verb)(source), getattr(model, verb)(X)
        if verb == "predict":
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_features_over_a_source_are_read_a_block_at_a_time():
    model = FisherLDA().fit(X, TEXT)
    lazy = model.fitted_.features.over(Stream(X, TEXT))
    assert isinstance(lazy, Rows) and lazy.n_columns == 2 and lazy.n_rows is None
    block = next(lazy.blocks(70))
    np.testing.assert_allclose(block.X, model.transform(X[:70]), rtol=1e-10)
    np.testing.assert_array_equal(block.y, TEXT[:70])


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Stream(X[:, :4]), "X has 4 columns, but FisherLDA was fitted with 6"),
        (Stream(names=tuple("abcdeg")), r"fitted with a column 'f' where this source has 'g'.*feature_names_in_"),
        (ArrayRows(np.where(X[5, 2] == X, np.nan, X)), "NaN or infinity: the first is nan in row 6, column 2"),
        (Stream(np.where(X[5, 2] == X, np.nan, X)), "NaN or infinity: the first is nan in row 6, column 2"),
    ],
)
def test_new_rows_that_do_not_fit(source, words):
    model = FisherLDA().fit(Stream(X, TEXT, names=NAMES))
    with pytest.raises(ValueError, match=words):
        model.predict(source)


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("rows", "labels", "weights", "words"),
    [
        (np.where(X[100, 1] == X, np.inf, X), TEXT, None, "the first is inf in row 101, column 1"),
        (X, None, None, r"FisherLDA requires labels, and this source has none.*y=\"column\""),
        (X, X[:, 0], None, "needs classes as labels, and .* is a continuous value"),
        (X, TARGETS, None, "takes one label a row; this source has 2"),
        (X, np.zeros(N), None, "at least two classes; these have seen 1 class"),
        (X, np.where(CODES == 1, np.nan, CODES), None, "Labels contain NaN or infinity after row 0"),
        (X, TEXT, -WEIGHTS, "Weights of rows must be zero or positive"),
        (X, TEXT, 0 * WEIGHTS, "at least two classes"),
    ],
)
def test_blocks_are_checked_as_they_pass(rows, labels, weights, words):
    with pytest.raises(ValueError, match=words):
        FisherLDA().fit(Stream(rows, labels, weights))


def test_labels_come_with_the_rows():
    for y, weights in ((CODES, None), (None, WEIGHTS)):
        with pytest.raises(ValueError, match=r"brings labels and weights with its rows.*as_rows"):
            FisherLDA().fit(Stream(X, TEXT), y, sample_weight=weights)
    with pytest.raises(TypeError, match="has no column 'kind' to take labels from"):
        FisherLDA().fit(Stream(), y="kind")
    assert_same_fit(FisherLDA().fit(as_rows(Stream(), CODES)), FisherLDA().fit(X, CODES))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KernelFisherClassifierCV(), r"KernelFisherClassifierCV needs its rows in memory here, and Stream is read a b"),
        (KernelFisherRegressor(), r"KernelFisherRegressor needs its rows in memory.*source\.load"),
        (GEMClassifier(classifier=LogisticRegression()), "A classifier of your own needs its features in memory"),
        (HypergraphFeatures(), "Moments of labels do not tell the hypergraph"),
        (LeastSquaresLDACV(), "LeastSquaresLDACV needs its rows in memory here"),
        (LeastSquaresLDA(penalty="lasso"), "penalty='lasso' works on rows"),
        (LeastSquaresLDA(kernel="rbf"), "kernel='rbf' works on rows"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_stream_says_so_with_the_way_out(model, words):
    with pytest.raises(ValueError, match=words), eigenfeat.runtime("10kB"):
        model.fit(Stream(X, TEXT), None)


STREAMED = [
    MultinomialLogit(1e-2),
    MultinomialLogit(1e-2, label_smoothing=0.1, class_weight={"rose": 2.0}),
    GEMClassifier(2, n_layers=2, ridge=0.3, alpha=0.01, base_map="splines", feature_map="spline", label_smoothing=0.0),
    GEMClassifier(2, subclasses=2, ridge=0.3, alpha=0.01, base_map=None, feature_map="spline", class_weight="balanced"),
    GEMClassifier(2, n_estimators=2, class_pairs="random", n_pairs=3, ridge=0.3, alpha=0.01, base_map=None),
]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("model", STREAMED, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("limit", ["1kB", "1GB"])
def test_classifiers_of_streams_are_those_of_their_rows(model, weights, limit):
    expected = clone(model).fit(X, TEXT, weights).predict_proba(X)
    with eigenfeat.runtime(limit) as run:
        found = clone(model).fit(Stream(X, TEXT, weights))
    assert hasattr(found, "cache_") == (limit == "1kB" and isinstance(model, GEMClassifier))
    assert (len(run.passes) > 5) == (limit == "1kB")
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-9)


def test_on_defaults_the_choices_are_those_of_the_rows_in_memory():
    held = GEMClassifier(2).fit(X, TEXT)
    with eigenfeat.runtime("1kB"):
        found = GEMClassifier(2).fit(Stream(X, TEXT))
    assert found.choices_["feature_map"] == held.choices_["feature_map"]
    np.testing.assert_allclose(found.predict_proba(X), held.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("flat", [True, False])
def test_a_regressor_of_a_stream_is_that_of_its_rows(weights, flat):
    targets = TARGETS[:, 0] if flat else TARGETS
    expected = GEMRegressor(3).fit(X, targets, weights)
    found = GEMRegressor(3).fit(Stream(X, targets, weights))
    assert found.alpha_ == expected.alpha_
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-7, atol=1e-7)


def test_a_base_map_of_the_users_is_fitted_to_a_sample():
    model = GEMClassifier(2, base_map=RBFSampler(random_state=0), ridge=0.3, alpha=0.01, label_smoothing=0.0)
    expected = clone(model).fit(X, TEXT).predict_proba(X)
    with eigenfeat.runtime("1kB"):
        found = clone(model).fit(Stream(X, TEXT))
    np.testing.assert_allclose(found.predict_proba(X), expected, atol=1e-9)


def test_what_goes_beside_rows_in_memory_is_refused_beside_a_stream():
    for name in ("groups", "subclass_labels"):
        with pytest.raises(ValueError, match=f"{name} goes with rows in memory"):
            GEMClassifier().fit(Stream(X, TEXT), **{name: CODES})
    with pytest.raises(ValueError, match="at least two classes"):
        MultinomialLogit().fit(Stream(X, np.full(N, "iris")))
    with pytest.raises(ValueError, match="Class 'rose' has no row of positive weight"):
        MultinomialLogit().fit(Stream(X, TEXT, np.where(TEXT == "rose", 0.0, 1.0)))


def test_batches_of_a_partial_fit_are_arrays():
    with pytest.raises(ValueError, match="pass arrays block by block where there is a partial_fit"):
        FisherLDA().partial_fit(Stream(X, TEXT))
    with pytest.raises(ValueError, match="X_unlabelled needs rows in memory"):
        LeastSquaresLDA().fit(Stream(X, TEXT), X_unlabelled=X)


def test_a_checked_source_can_do_what_its_source_can():
    checked = ArrayRows(X, TEXT).map(BlockCheck(None, "a model", None, row_wise=True))
    assert checked.random_access and checked.n_rows == N
    np.testing.assert_array_equal(checked.rows(slice(3, 5)), X[3:5])


def test_members_that_workers_left_too_early_are_told_of(recwarn):
    exact, early = MultinomialLogit(1e-2).fit(X, TEXT), MultinomialLogit(1e-9, max_iter=1, tol=1e-8)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 steps"):
        early.fit(X, TEXT)
    recwarn.clear()
    warn_of_gaps([exact, exact])
    assert not recwarn.list
    with pytest.warns(ConvergenceWarning, match="The logit of 1 of 2 members stopped after 1 steps"):
        warn_of_gaps([exact, early])
