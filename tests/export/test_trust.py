"""Hostile files: whatever a node names and however it is nested, nothing runs and nothing is written."""

import builtins
import io
import json
import os
import subprocess
import zipfile

import numpy as np
import pytest
import skops.io
from hostile_nodes import arguments, hostile, listed, mapping, node, text
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from eigenfeat import FisherLDA, RayleighFeatures, load, save
from eigenfeat.export.trust import RULES, is_own_class


@pytest.fixture
def alarm(monkeypatch):
    """Everything that runs or writes is noticed."""
    called = []
    for owner, name in [(os, "system"), (os, "popen"), (subprocess.Popen, "__init__"), (builtins, "exec")]:
        monkeypatch.setattr(owner, name, lambda *a, _name=name, **k: called.append(_name))
    return called


CASES = [name for name, _ in hostile("marker")]


@pytest.mark.parametrize("case", CASES)
def test_hostile_nodes_are_refused_and_nothing_happens(case, plant, alarm, tmp_path):
    marker = tmp_path / "marker"
    path = plant(dict(hostile(marker))[case])
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match=str(path)):
        load(path)
    assert sorted(tmp_path.rglob("*")) == before
    assert not alarm and not marker.exists()


@pytest.mark.parametrize("case", CASES)
def test_hostile_nodes_are_refused_as_the_model_itself(case, saved, tamper, alarm, tmp_path):
    marker = tmp_path / "marker"
    planted = dict(hostile(marker))[case]
    path = tamper(saved, lambda tree: planted | {"protocol": 2} if isinstance(planted, dict) else [planted])
    with pytest.raises(ValueError, match=str(path)):
        load(path)
    assert not alarm and not marker.exists()


@pytest.mark.parametrize("protocol", [0, 1, 3, -1, True, "2", None])
def test_other_protocols_do_not_open_other_ways(protocol, plant, tamper, tmp_path):
    old = node("FunctionNode", "scipy.special.expit", content={"module_path": "os", "function": "system"})
    path = tamper(plant(old), lambda tree: tree | {"protocol": protocol})
    with pytest.raises(ValueError, match=str(path)):
        load(path)


def test_plain_data_is_let_through(plant):
    nodes = listed(
        text(1.5), arguments(text("a"), text(None)), mapping({"a": text(True)}), node("TypeNode", "numpy.float64"),
        node("SliceNode", "builtins.slice", content={"start": 1, "stop": None, "step": None}),
        node("NdArrayNode", "numpy.ndarray", type="json", content=[text("a"), text("b")], shape=arguments(text(2))),
    )  # fmt: skip
    found = load(plant(nodes)).planted
    assert found[:3] == [1.5, ("a", None), {"a": True}] and found[3] is np.float64
    assert found[4] == slice(1, None, None) and found[5].tolist() == ["a", "b"]


def test_one_array_many_times_is_counted_every_time(plant, saved):
    with zipfile.ZipFile(saved) as archive:
        name = max((info for info in archive.infolist() if info.filename.endswith(".npy")), key=lambda i: i.file_size)
    size = name.file_size
    again = node("NdArrayNode", "numpy.ndarray", type="numpy", file=name.filename)
    path = plant(listed(*[again] * 2000))
    with pytest.raises(ValueError, match=r"pass max_bytes=\d+ to load"):
        load(path, max_bytes=1000 * size)
    assert len(load(path, max_bytes=4000 * size).planted) == 2000


class Foreign:
    def __init__(self):
        self.value = 1


@pytest.mark.parametrize(
    "thing", [Foreign(), np.memmap, zipfile.ZipFile], ids=["object", "numpy class", "stdlib class"]
)
def test_types_that_are_not_ours_are_refused(thing, plant):
    path = plant(json.loads(zipfile.ZipFile(io.BytesIO(skops.io.dumps(thing))).read("schema.json")) | {"__id__": 3})
    with pytest.raises(ValueError, match=r"asks for .* are trusted, as data only|entries that none has"):
        load(path)


def test_every_loader_of_skops_is_known_or_refused():
    from skops.io._audit import NODE_TYPE_MAPPING

    calls = {"MethodNode", "PartialNode", "OperatorFuncNode", "ConstructorFromReduceNode"}
    others = {"DefaultDictNode", "BytesNode", "BytearrayNode", "TreeNode", "QuantileForestNode", "CachedNode"}
    assert {loader for loader, _ in NODE_TYPE_MAPPING} == calls | others | RULES.keys()


@pytest.mark.parametrize(
    "name",
    ["eigenfeat.load", "eigenfeat.export.saving.save", "eigenfeat.cli.__main__.main", "eigenfeat.stages.stage.Stage",
     "eigenfeat.rows.source.Rows", "eigenfeat.stages.absent.Affine", "eigenfeat.stages.kernels.Any", "os.system",
     "eigenfeat.stages.Affine", "eigenfeat.stages..affine.Affine", "Affine", ""],
)  # fmt: skip
def test_what_is_no_class_of_fitted_models(name):
    assert not is_own_class(name)


@pytest.mark.parametrize(
    "inner",
    [
        SimpleImputer(),
        ColumnTransformer([("scaled", StandardScaler(), slice(0, 2)), ("coded", OneHotEncoder(), [2, 3])]),
        SGDClassifier(random_state=0),
        LogisticRegression(random_state=np.random.RandomState(0)),
        SVC(),
    ],
    ids=lambda inner: type(inner).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_pipelines_with_estimators_of_scikit_learn_survive_a_file(inner, iris, tmp_path):
    X, y = iris
    steps = (FisherLDA(), inner) if hasattr(inner, "predict") else (inner, FisherLDA(ridge=0.1))
    if isinstance(inner, ColumnTransformer):
        steps = (*steps[:1], FunctionTransformer(accept_sparse=True), *steps[1:])
    model = make_pipeline(*steps).fit(X, y)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("place", ["feature_map", "pipeline"])
def test_functions_are_refused_on_saving(place, iris, tmp_path):
    X, y = iris
    if place == "pipeline":
        model = make_pipeline(FunctionTransformer(np.asarray), FisherLDA()).fit(X, y)
    else:
        model = RayleighFeatures(signal=lambda moments: moments.covariance()).fit(X, y)
    with pytest.raises(ValueError, match="no safe model file can carry"):
        save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", [sparse.dia_matrix, sparse.csc_matrix, sparse.coo_matrix])
def test_a_sparse_matrix_labelled_as_another_is_refused(form, plant, tamper):
    buffer = io.BytesIO()
    sparse.save_npz(buffer, form(np.eye(3)))
    path = plant(node("SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="7.npz"))
    tamper(path, members={"7.npz": buffer.getvalue()})
    with pytest.raises(ValueError, match=str(path)):
        load(path)
