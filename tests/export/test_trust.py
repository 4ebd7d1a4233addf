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
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from eigenfeat import FisherLDA, RayleighFeatures, load, save
from eigenfeat.export.trust import RULES, is_own_class

KERNEL = "eigenfeat.stages.kernels.Kernel"
LDA = "eigenfeat.estimators.fisher_lda.FisherLDA"


def node(loader, name, **entries):
    module, _, cls = name.rpartition(".")
    return {"__class__": cls, "__module__": module, "__loader__": loader, **entries}


def text(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def listed(*values, loader="ListNode", name="builtins.list", **entries):
    return node(loader, name, content=list(values), **entries)


def arguments(*values):
    return listed(*values, loader="TupleNode", name="builtins.tuple")


def mapping(content=(), name="builtins.dict", key="builtins.str"):
    keys = listed(*(node("TypeNode", key) for _ in content))
    return node("DictNode", name, content=dict(content), key_types=keys)


def instance(name, /, **attributes):
    return node("ObjectNode", name, content=mapping(attributes))


def objects(rank, *content):
    shape = arguments(*[text(1)] * rank)
    return node("NdArrayNode", "numpy.ndarray", type="json", content=list(content), shape=shape)


def function(name):
    return node("FunctionNode", name)


def hostile(marker):
    """Nodes that would run ``touch marker``, read a file or call something, if anything of them was done."""
    touch = f"touch {marker}"
    run = node(
        "PartialNode",
        "functools.partial",
        content={
            "func": function("os.system"),
            "args": arguments(text(touch)),
            "kwds": mapping(),
            "namespace": text(None),
        },
    )
    opened = node("ConstructorFromReduceNode", "_io.FileIO", content=arguments(text(str(marker)), text("w")))
    yield "function", function("os.system")
    yield "function of eigenfeat", function("eigenfeat.export.saving.save")
    yield "ufunc", function("numpy.exp")
    yield "class as a function", function(LDA)
    yield "old function", node("FunctionNode", "os.system", content={"module_path": "os", "function": "system"})
    yield "partial", run
    yield "nested partial", node("PartialNode", "functools.partial", content=dict.fromkeys(
        ("func", "args", "kwds", "namespace"), run))  # fmt: skip
    yield "method", node("MethodNode", LDA, content={"func": "fit", "obj": instance(LDA)})
    yield "method of kernel", node("MethodNode", KERNEL, content={"func": "__init__", "obj": instance(KERNEL)})
    yield "operator", node("OperatorFuncNode", "operator.methodcaller", attrs=arguments(text("system"), text(touch)))
    yield (
        "operator call",
        node("OperatorFuncNode", "operator.call", attrs=arguments(function("os.system"), text(touch))),
    )
    yield "type", node("TypeNode", "subprocess.Popen")
    yield "own type", node("TypeNode", LDA)
    yield "constructor", opened
    yield "own constructor", node("ConstructorFromReduceNode", LDA, content=arguments())
    yield "reduce", node("TreeNode", "sklearn.tree._tree.Tree", content=mapping(), __reduce__={"args": arguments()})
    yield "reduce of ours", node("LossNode", LDA, content=mapping(), __reduce__={"args": arguments()})
    yield (
        "reduce of others",
        node("LossNode", "subprocess.Popen", content=mapping(), __reduce__={"args": arguments(text(touch))}),
    )
    yield (
        "loss that is none",
        node("LossNode", "sklearn._loss._loss.os", content=mapping(), __reduce__={"args": arguments(text(touch))}),
    )
    yield (
        "default factory",
        node("DefaultDictNode", "collections.defaultdict", content={"main": mapping(), "default_factory": run}),
    )
    yield "forest", node("QuantileForestNode", "x.y", content=mapping(), __reduce__={"args": arguments()})
    yield "unknown loader", node("ShellNode", "os.system", content=touch)
    yield "cached", node("CachedNode", "os.system", __id__=1)
    yield "object of others", instance("subprocess.Popen", args=text(touch))
    yield "object of scipy", instance("scipy.sparse._csr.csr_matrix")
    yield "module of ours with a main", instance("eigenfeat.cli.__main__.main")
    yield "function as our object", instance("eigenfeat.stages.kernels.squared_norms")
    yield "import of ours as our object", instance("eigenfeat.stages.kernels.ThreadPoolExecutor")
    yield "rows of a file", instance("eigenfeat.rows.arrays.ArrayRows")
    yield "content of ours", instance(KERNEL, name=run, gamma=text(1.0), degree=text(3), coef0=text(1.0))
    yield "pickled state", node("ObjectNode", KERNEL, content=node("BytesNode", "builtins.bytes", file="0.npy"))
    yield "list as state", node("ObjectNode", KERNEL, content=listed(run))
    yield "list of our class", listed(text(1), name=KERNEL)
    yield "list of a shell", listed(text(touch), name="subprocess.Popen")
    yield "set of a shell", listed(text(touch), loader="SetNode", name="subprocess.Popen")
    yield "tuple of ours", listed(text(1), loader="TupleNode", name=KERNEL)
    yield "dict of ours", mapping({"a": text(1)}, name=KERNEL)
    yield "dict of others", mapping({"a": text(1)}, name="os._Environ")
    yield "keys of a shell", mapping({touch: text(1)}, key="subprocess.Popen")
    yield "keys of ours", mapping({"a": text(1)}, key=KERNEL)
    yield (
        "keys that are no types",
        node("DictNode", "builtins.dict", content={touch: text(1)}, key_types=listed(function("os.system"))),
    )
    yield (
        "keys that are objects",
        node("DictNode", "builtins.dict", content={touch: text(1)}, key_types=listed(instance(KERNEL))),
    )
    yield (
        "keys from elsewhere",
        listed(
            listed(instance(KERNEL), __id__=5),
            node("DictNode", "builtins.dict", content={touch: text(1)}, key_types=listed(__id__=5)),
        ),
    )
    yield "number of another object", listed(listed(__id__=5), node("JsonNode", "builtins.str", content="1", __id__=5))
    yield "number of an object inside itself", listed(listed(__id__=5), __id__=5)
    yield "number zero", listed(__id__=0)
    yield "number of text", listed(__id__="5")
    yield "json of more than a number", node("JsonNode", "builtins.str", content="[1, 2]", is_json=True)
    yield "json that is no text", node("JsonNode", "builtins.str", content=["[1]"], is_json=True)
    yield "json with entries", node("JsonNode", "builtins.str", content="1", attrs=run)
    yield "array of a memory map", node("NdArrayNode", "numpy.memmap", type="numpy", file="0.npy")
    yield "array of void", node("NdArrayNode", "numpy.void", type="numpy", file="0.npy")
    yield "array of ours", node("NdArrayNode", KERNEL, type="numpy", file="0.npy")
    yield "array elsewhere", node("NdArrayNode", "numpy.ndarray", type="numpy", file="../../etc/passwd.npy")
    yield "array of another type", node("NdArrayNode", "numpy.ndarray", type="pickle", file="0.npy")
    yield "array of functions", objects(1, run)
    yield "array of deep lists", objects(3, listed(listed(text(1))))
    yield "array of lists of lists", objects(2, listed(listed(text(1))))
    yield "array of one list many times", objects(2, listed(text(1), __id__=5), listed(text(1), __id__=5))
    yield (
        "generator of another name",
        node(
            "RandomGeneratorNode",
            "numpy.random._generator.Generator",
            content={"bit_generator": mapping({"bit_generator": text("seed")}), "seed_seq": mapping()},
        ),
    )
    yield "random state of ours", node("RandomStateNode", LDA, content=mapping())
    yield "slice", node("SliceNode", "builtins.slice", content={"start": run, "stop": None, "step": None})
    yield "slice of ours", node("SliceNode", LDA, content={"start": 1, "stop": None, "step": None})
    yield "masked", node("MaskedArrayNode", "numpy.ma.MaskedArray", content={"data": run, "mask": run})
    yield "dtype", node("DTypeNode", "numpy.dtype", content=run)
    yield "sparse of another kind", node("SparseMatrixNode", "scipy.sparse._dia.dia_matrix", type="scipy", file="0.npz")
    yield "no node", [1, 2]
    yield "no class", {"__loader__": "ObjectNode"}
    deep = text(1)
    for _ in range(400):
        deep = listed(deep)
    yield "deep", deep


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

    calls = {"FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode", "ConstructorFromReduceNode"}
    others = {"DefaultDictNode", "BytesNode", "BytearrayNode", "TreeNode", "QuantileForestNode", "CachedNode"}
    assert {loader for loader, _ in NODE_TYPE_MAPPING} == calls | others | RULES.keys()


@pytest.mark.parametrize(
    "name",
    ["eigenfeat.load", "eigenfeat.export.saving.save", "eigenfeat.cli.__main__.main", "eigenfeat.stages.stage.Stage",
     "eigenfeat.rows.source.RowSource", "eigenfeat.stages.absent.Affine", "eigenfeat.stages.kernels.Any", "os.system",
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
        model = make_pipeline(FunctionTransformer(np.log1p), FisherLDA()).fit(X, y)
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
