"""Every stage's rule: what fits is let through with its width, what does not is refused before anything is computed."""

import importlib
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

import eigenfeat
from eigenfeat import MultinomialLogit
from eigenfeat.export.archive import Refusal
from eigenfeat.export.stage_checks import check_csr, check_fitted, check_map, check_width
from eigenfeat.features.hat_products import HatProductMap
from eigenfeat.features.maps import (
    FEATURE_MAPS,
    CallableMap,
    PlainMap,
    PowerMap,
    ProductMap,
    SmoothSplineMap,
    SplineMap,
)
from eigenfeat.moments import GramCache
from eigenfeat.scores.autoencoder import HiddenLayer, TiedAutoencoder
from eigenfeat.solvers import DenseVectors, DualVectors
from eigenfeat.stages.affine import Affine
from eigenfeat.stages.chain import Chain, Fitted
from eigenfeat.stages.columns import TreatedColumns
from eigenfeat.stages.inputs import BaseMap, WithConstant
from eigenfeat.stages.kernel_expansion import KernelExpansion
from eigenfeat.stages.kernels import Kernel
from eigenfeat.stages.layer import FeatureLayer, LayerScores
from eigenfeat.stages.outputs import EstimatorScores, GaussianPosteriors, GeometricMean, HuberPosteriors, Softmax
from eigenfeat.stages.stage import Beside, Stage
from eigenfeat.stages.trials import BandPass, FilterBank, SignalPower, UnitPower

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
AFFINE = Affine.of(rng.normal(size=(4, 3)), np.zeros(3))
DUAL = Affine(DualVectors(GramCache(sparse.csr_array(X)), np.arange(5), rng.normal(size=(5, 3))))
SPLINE = SplineMap().fit(AFFINE.apply(X))
LAYER = FeatureLayer(AFFINE, SPLINE, np.ones(4))
GRID = np.sort(rng.normal(size=(3, 5)), axis=1)
HATS = HatProductMap(
    SplineMap().fit(AFFINE.apply(X)[:, :2]), 5, GRID, np.array([5, 2, 3]), np.array([[0, 2], [1, 0]]), 2
)
KERNEL = KernelExpansion(Kernel("rbf"), X, rng.normal(size=(20, 2)), np.zeros(2))
COLUMNS = KernelExpansion(Kernel("precomputed"), np.array([0, 3]), rng.normal(size=(2, 2)), np.zeros(2))
AUTOENCODER = TiedAutoencoder(rng.normal(size=(4, 6)), np.zeros(6), np.zeros(4), 1.0, 0.1, False)
LOGIT = MultinomialLogit().fit(X, np.arange(20) % 3)
GAUSSIAN = GaussianPosteriors(np.ones((4, 2, 3)), np.zeros(4))
HUBER = HuberPosteriors(np.ones((4, 2, 4)), np.zeros(4))

POWER = SignalPower(AFFINE.vectors)
BAND = BandPass.of(8, 12, 100.0)
# Of (trials, channels, time): the width is that of channels.
TRIALS = [BAND, UnitPower(), POWER, FilterBank((POWER, Chain((BAND, POWER))))]

PIECES = np.array([[0.0, 1.0]] * 2)
BENT = TreatedColumns(np.zeros(4), np.ones(4), np.array([1, 3]), PIECES, 2 * PIECES - 1)

GOOD = [
    AFFINE, DUAL, LAYER, replace(LAYER, feature_map=ProductMap(SPLINE)),
    replace(LAYER, feature_map=SmoothSplineMap(SPLINE, 2.0)), replace(LAYER, feature_map=HATS),
    replace(LAYER, feature_map=HatProductMap(SPLINE, 5, GRID)),
    replace(LAYER, feature_map=FEATURE_MAPS["cubic"]), KERNEL, COLUMNS, WithConstant(),
    BaseMap.of(StandardScaler().fit(X), X), Softmax(2.0), GAUSSIAN, HUBER,
    GeometricMean((Chain((AFFINE, Softmax())), Chain((DUAL, Softmax())))), EstimatorScores(LOGIT, "predict_proba", 3),
    Beside((AFFINE, LAYER)), Chain((LAYER, Affine.of(np.ones((25, 2))))), Chain(), HiddenLayer(AUTOENCODER),
    BENT, *TRIALS,
]  # fmt: skip


def stages():
    for found in pkgutil.walk_packages(eigenfeat.__path__, "eigenfeat."):
        if not found.name.startswith("eigenfeat.cli"):
            importlib.import_module(found.name)
    made_for_a_pass = {LayerScores}  # by Chain.fused, and never saved
    return {cls for cls in subclasses(Stage) if cls.__module__.startswith("eigenfeat.")} - made_for_a_pass


def subclasses(cls):
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def test_every_stage_has_a_rule_and_an_example_here():
    assert stages() == {type(stage) for stage in GOOD}
    assert stages() <= check_width.registry.keys()


@pytest.mark.parametrize("stage", GOOD, ids=lambda stage: type(stage).__name__)
def test_what_fits_has_the_width_it_makes(stage):
    rows = rng.normal(size=(20, 4, 30)) if stage in TRIALS else np.abs(X)
    assert check_width(stage, 4) == stage.n_columns(4) == stage.apply(rows).shape[1]


def knots(change):
    return replace(LAYER, feature_map=replace(SPLINE, knots=change(SPLINE.knots)))


def broken():
    nan = np.full((4, 3), np.nan)
    yield "width", Affine.of(np.ones((5, 3)))
    yield "one dimension", Affine(DenseVectors(np.ones(4)))
    yield "not finite", Affine.of(nan)
    yield "integers", Affine.of(np.ones((4, 3), dtype=int))
    yield "half", Affine.of(np.ones((4, 3), dtype=np.float16))
    yield "other bytes", Affine.of(np.ones((4, 3), dtype=">f8"))
    yield "list", Affine.of([[1.0]] * 4)
    yield "no vectors", Affine(None)
    yield "bias", replace(AFFINE, bias=np.zeros(2))
    yield "bias not finite", replace(AFFINE, bias=np.full(3, np.inf))
    dual = DUAL.vectors
    yield "dual index", Affine(replace(dual, index=np.arange(16, 21)))
    yield "dual negative", Affine(replace(dual, index=np.arange(-1, 4)))
    yield "dual length", Affine(replace(dual, index=np.arange(4)))
    yield "dual store", Affine(replace(dual, rows=GramCache(np.ones((20, 5)))))
    yield "dual no store", Affine(replace(dual, rows=np.ones((20, 4))))
    yield "input scale", replace(LAYER, input_scale=np.ones(5))
    yield "no projection", replace(LAYER, projection=KERNEL)
    yield "no map", replace(LAYER, feature_map=None)
    yield "knots for more", knots(lambda k: np.vstack([k, k]))
    yield "knots for less", knots(lambda k: k[:2])
    yield "more knots", knots(lambda k: np.hstack([k, k + 10]))
    yield "descending knots", knots(lambda k: k[:, ::-1])
    yield "no knots", knots(lambda k: None)
    yield "knots not finite", knots(lambda k: np.where(k == k.max(), np.inf, k))
    yield "degree", replace(LAYER, feature_map=replace(SPLINE, degree=2))
    yield "number of knots", replace(LAYER, feature_map=replace(SPLINE, n_knots=6))
    yield "negative degree", replace(LAYER, feature_map=SplineMap(n_knots=19, degree=-4, knots=SPLINE.knots))
    yield "smooth of nothing", replace(LAYER, feature_map=SmoothSplineMap(AFFINE))
    yield "smooth unfitted", replace(LAYER, feature_map=SmoothSplineMap())
    yield "negative roughness", replace(LAYER, feature_map=SmoothSplineMap(SPLINE, -1.0))
    yield "pairs", replace(LAYER, feature_map=ProductMap(SPLINE, ((0, 3),)))
    yield "negative pairs", replace(LAYER, feature_map=ProductMap(SPLINE, ((0, -1),)))
    yield "base of products", replace(LAYER, feature_map=ProductMap(SplineMap()))
    for name, forged in {
        "hats": {"n_hats": np.array([5, 6, 2])},
        "one hat": {"n_hats": np.array([5, 1, 2])},
        "hats of another": {"n_hats": np.array([5, 2])},
        "no whole hats": {"n_hats": np.array([5.0, 2.0, 3.0])},
        "pairs of hats": {"pairs": np.array([[0, 3]])},
        "negative pairs of hats": {"pairs": np.array([[0, -1]])},
        "triples": {"pairs": np.array([[0, 1, 2]])},
        "base of hats": {"n_base": 3},
        "negative base": {"n_base": -1},
        "base of more": {"n_base": 4},
        "grid": {"knots": GRID[:2]},
        "descending grid": {"knots": GRID[:, ::-1]},
        "no grid": {"knots": None},
        "knots of a grid": {"n_knots": 4},
    }.items():
        yield name, replace(LAYER, feature_map=replace(HATS, **forged))
    yield "callable", replace(LAYER, feature_map=CallableMap(np.abs, 3))
    yield "plain", replace(LAYER, feature_map=PlainMap("cubic"))
    yield "coefficients", replace(KERNEL, coefficients=np.ones((19, 2)))
    yield "kernel bias", replace(KERNEL, bias=np.ones(3))
    yield "kernel points", replace(KERNEL, points=np.ones((20, 5)))
    yield "kernel name", replace(KERNEL, kernel=Kernel("os.system"))
    yield "kernel callable", replace(KERNEL, kernel=Kernel(AFFINE))
    yield "kernel gamma", replace(KERNEL, kernel=Kernel(gamma="1"))
    yield "columns", replace(COLUMNS, points=np.array([0, 4]))
    yield "temperature", Softmax(float("nan"))
    yield "posteriors", replace(GAUSSIAN, shift=np.zeros(3))
    yield "posteriors' moments", replace(GAUSSIAN, moments=np.ones((4, 3, 2)))
    yield "no members", GeometricMean(())
    yield "members", GeometricMean((AFFINE, KERNEL))
    yield "no parts", Beside(())
    yield "parts", Beside((AFFINE, None))
    yield "chain", Chain((AFFINE, AFFINE))
    yield "list of stages", Chain([AFFINE])
    yield "stage of something", Chain((Kernel(),))
    yield "transformer", BaseMap(StandardScaler().fit(X[:, :3]), 4)
    yield "no transformer", BaseMap(AFFINE, 3)
    yield "width of a transformer", BaseMap(StandardScaler().fit(X), 10**12)
    yield "method", EstimatorScores(LOGIT, "fit", 3)
    yield "hidden bias", HiddenLayer(replace(AUTOENCODER, hidden_bias=np.zeros(5)))
    yield "visible bias", HiddenLayer(replace(AUTOENCODER, visible_bias=np.zeros(5)))
    yield "shifts of columns", replace(BENT, shift=np.zeros(3))
    yield "factors of columns", replace(BENT, factor=np.full(4, np.inf))
    yield "bent columns", replace(BENT, curved=np.array([1, 4]))
    yield "knots of columns", replace(BENT, knots=BENT.knots[:1], values=BENT.values[:1])
    yield "values at knots", replace(BENT, values=BENT.values[:, :1])
    yield "descending knots of columns", replace(BENT, knots=BENT.knots[:, ::-1])
    yield "no knots of columns", replace(BENT, knots=np.empty((2, 0)), values=np.empty((2, 0)))
    yield "filters", SignalPower(DenseVectors(np.ones((5, 3))))
    yield "no filters", SignalPower(None)
    yield "log", replace(POWER, log=np.ones(3))
    yield "sections", BandPass(np.ones((2, 5)))
    yield "no sections", BandPass(np.ones((0, 6)))
    yield "sections that are none", BandPass(np.zeros((2, 6)))
    yield "no stage", None


@pytest.mark.parametrize("case", [name for name, _ in broken()])
def test_what_does_not_fit_is_refused(case):
    with pytest.raises(Refusal, match="does not fit together"):
        check_width(dict(broken())[case], 4)


@pytest.mark.parametrize("powers", [(), (0,), (1, 1), (10**9,), [1, 2], (1.5,), (True,)])
def test_powers_that_are_none_are_refused(powers):
    forged = PowerMap()
    object.__setattr__(forged, "powers", powers)
    with pytest.raises(Refusal, match="powers"):
        check_map(forged, 3)


def test_products_of_very_many_projections_are_not_counted_out():
    with pytest.raises(Refusal, match="too many products"):
        check_map(ProductMap(PlainMap("identity")), 10**6)


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([0, 2, 1, 3], [0, 1, 2]), ([0, 1, 2, 3], [0, 1, 7]), ([0, 1, 2, 3], [0, -1, 2]), ([0, 1, 2, 9], [0, 1, 2])],
)
def test_sparse_rows_that_point_outside_are_refused(indptr, indices):
    rows = sparse.csr_matrix(np.eye(3))
    rows.indptr, rows.indices = np.array(indptr, dtype=np.int32), np.array(indices, dtype=np.int32)
    with pytest.raises(Refusal, match="no sparse matrix"):
        check_csr(rows, "it")


def test_scores_and_probabilities_are_for_the_classes():
    scores = Chain((AFFINE,))
    check_fitted(Fitted(features=Chain((LAYER,)), scores=scores, probabilities=Softmax()), 4, 3)
    check_fitted(Fitted(scores=Chain((Affine.of(np.ones((4, 1))),)), probabilities=Softmax()), 4, 2)
    for fitted, n_inputs, n_classes in [
        (Fitted(scores=scores), 4, 2), (Fitted(scores=scores), 4, None), (Fitted(probabilities=Softmax()), 4, 3),
        (Fitted(scores=scores, probabilities=Beside((Softmax(), Softmax()))), 4, 3), (Fitted(scores=scores), 5, 3),
        (Fitted(scores=scores), None, 3), (None, 4, 3), (scores, 4, 3),
    ]:  # fmt: skip
        with pytest.raises(Refusal, match="does not fit together"):
            check_fitted(fitted, n_inputs, n_classes)
