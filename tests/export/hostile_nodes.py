"""Nodes of skops' tree that would run, read or write something, or break what reads them, if they were followed."""

import json

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
    numbers = {"t": text(1), "c": text(1), "k": text(3), "extrapolate": text(True), "axis": text(0)}
    yield "spline of no arrays", instance("scipy.interpolate._bsplines.BSpline", **numbers)
    yield "spline that calls", instance("scipy.interpolate._bsplines.BSpline", _asarray=function("os.system"))
    yield "scorer that calls", instance("sklearn.metrics._scorer._Scorer", _score_func=function("os.system"))
    yield "scorer that reads", instance("sklearn.metrics._scorer._Scorer", _score_func=function("numpy.loadtxt"))
    yield "metric elsewhere", instance(LDA, ridge=function("sklearn.metrics._classification.accuracy_score"))
    yield "metric as a list", listed(function("sklearn.metrics._classification.accuracy_score"))
    yield (
        "metric for a later number",
        listed(
            instance(
                "sklearn.metrics._scorer._Scorer",
                _score_func=function("sklearn.metrics._classification.accuracy_score") | {"__id__": 5},
            ),
            listed(__id__=5),
        ),
    )
    transformer = "sklearn.preprocessing._function_transformer.FunctionTransformer"
    yield "transformer that calls", instance(transformer, func=function("os.system"))
    yield "transformer that reads", instance(transformer, func=function("numpy.fromfile"))
    yield "transformer of a partial", instance(transformer, func=run)
    yield "bunch of a shell", mapping({"a": run}, name="sklearn.utils._bunch.Bunch")
    yield "triplet of a shell", listed(run, loader="TupleNode", name="sklearn.impute._iterative._ImputerTriplet")
    yield "list named triplet", listed(text(1), name="sklearn.impute._iterative._ImputerTriplet")
    yield "splitter as a function", function("sklearn.model_selection._split.KFold")
    yield "no node", [1, 2]
    yield "no class", {"__loader__": "ObjectNode"}
    deep = text(1)
    for _ in range(400):
        deep = listed(deep)
    yield "deep", deep
