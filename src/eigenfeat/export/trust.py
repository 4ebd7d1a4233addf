"""Which objects a model file may ask for: a grammar of skops' tree, everything else is refused.

skops names in every node a class, and separately a *loader*: what is done with the name on loading. Most loaders call
something: a class, a function, a method, an operator, a factory. So a class that may be trusted is trusted under one
loader only, and only loaders that are listed here are let through, each with the entries that skops itself writes.
Functions are let through by name and place (`eigenfeat.export.known_parts`): naming one does not call it.

Nothing is imported here but modules of eigenfeat's rooms that hold fitted values, and nothing is called.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Callable
from typing import Any

from eigenfeat.export.archive import Archive, Refusal, too_large
from eigenfeat.export.known_parts import DICTIONARIES, PARTS, TUPLES, functions_of
from eigenfeat.rows.rows import Rows

MODEL_ROOMS = {
    *("estimators", "features", "kernel", "least_squares", "linear", "moments", "quotients"),
    *("rows", "scores", "solvers", "stages", "tables"),
}
SPARSE_ROWS = {"scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix"}
NUMBER_TYPES = {f"numpy.{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)} | {
    *("numpy.longlong", "numpy.ulonglong", "numpy.bool", "numpy.bool_", "numpy.str_"),
}
PLAIN_TYPES = {"builtins.int", "builtins.float", "builtins.str", "builtins.bool"} | NUMBER_TYPES
LOSS_MODULES = ("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast.")
DEEPEST = 200
COMMON = {"__class__", "__module__", "__loader__", "__id__"}
AT_ROOT = {"protocol", "_skops_version"}


def audit(archive: Archive) -> set[str]:
    """Check the whole tree; the names of the types in it that skops has to be told to trust."""
    auditor = _Auditor(archive)
    auditor.node({key: value for key, value in archive.tree.items() if key not in AT_ROOT}, 0)
    return auditor.own | auditor.functions | PARTS | DICTIONARIES | TUPLES | SPARSE_ROWS | {"numpy.dtype"}


class _Auditor:
    """One pass over a tree.

    An ``__id__`` that comes again stands, for skops, for the object that had it first, whatever is written the second
    time. It has to be of the same loader and class, not be inside itself, and where only content of a certain kind
    will do it has to be new. So nodes are visited in the order in which skops visits them.
    """

    def __init__(self, archive: Archive) -> None:
        self.sizes, self.limit, self.used = archive.sizes, archive.limit, 0
        self.own: set[str] = set()
        self.functions: set[str] = set()
        self.allowed: dict[int, set[str]] = {}  # functions that may stand where a node is, by its address
        self.known: dict[int, tuple[str, str]] = {}
        self.open: set[int] = set()

    def node(self, state: Any, depth: int, loaders: tuple[str, ...] = (), fresh: bool = False) -> None:
        """Check a node and all below it. ``loaders`` are those that will do here, all by default."""
        if depth > DEEPEST:
            raise Refusal("is forged: its objects are nested too deep")
        if not isinstance(state, dict) or not all(isinstance(state.get(k), str) for k in COMMON - {"__id__"}):
            raise Refusal("is damaged or forged: an object in it has no class")
        loader, name = state["__loader__"], f"{state['__module__']}.{state['__class__']}"
        if loader not in RULES:
            raise Refusal(untrusted(f"{name} ({loader})"))
        if loaders and loader not in loaders:
            raise Refusal(f"is forged: a {loader} ({name}) stands where there can be none")
        entries, rule = RULES[loader]
        if not state.keys() <= COMMON | entries:
            raise Refusal(f"is forged: a {loader} ({name}) has entries that none has")
        is_new = self._is_new(state.get("__id__"), (loader, name), fresh)
        rule(self, state, name, depth + 1)
        if "file" in state and is_new:
            self._count(state)
        self.open.discard(state.get("__id__", -1))

    def _is_new(self, number: Any, kind: tuple[str, str], fresh: bool) -> bool:
        if number is None:
            return True
        if not isinstance(number, int) or isinstance(number, bool) or number == 0:  # skops takes 0 for no number
            raise Refusal("is forged: an object's number is none")
        if number not in self.known:
            self.known[number] = kind
            self.open.add(number)
            return True
        if self.known[number] != kind or number in self.open or fresh:
            raise Refusal(f"is forged: {kind[1]} has the number of another object")
        return False

    def _count(self, state: dict) -> None:
        """Every reference to a member is an array of its own, so it counts again."""
        size = self.sizes.get(state["file"]) if isinstance(state["file"], str) else None
        if size is None:
            raise Refusal(f"is damaged: it has no member {state['file']}")
        self.used += size
        if self.used > self.limit:
            raise Refusal(too_large(self.used, self.limit))

    # ------------------------------------------------------------------ a rule a loader

    def plain(self, state: dict, name: str, depth: int) -> None:
        value = _json_value(state)
        if value is not None and not isinstance(value, bool | int | float | str):
            raise Refusal("is forged: text that should be one number or string is more")

    def mapping(self, state: dict, name: str, depth: int) -> None:
        _demand(name in {"builtins.dict", "collections.OrderedDict"} | DICTIONARIES, name)
        content, keys = state.get("content"), state.get("key_types")
        if not isinstance(content, dict) or not isinstance(keys, dict) or not isinstance(keys.get("content"), list):
            raise Refusal("is damaged or forged: a dictionary in it is none")
        self.node(keys, depth, ("ListNode",), fresh=True)
        for key in keys["content"]:
            if key.get("__loader__") != "TypeNode":  # what it names is called with the key
                raise Refusal("is forged: a key of a dictionary is of no type")
        for value in content.values():
            self.node(value, depth)

    def sequence(self, state: dict, name: str, depth: int) -> None:
        _demand(name == SEQUENCES[state["__loader__"]] or (state["__loader__"] == "TupleNode" and name in TUPLES), name)
        for value in _listed(state.get("content")):
            self.node(value, depth)

    def cut(self, state: dict, name: str, depth: int) -> None:
        _demand(name == "builtins.slice", name)
        content = state.get("content")
        if not isinstance(content, dict) or content.keys() != {"start", "stop", "step"}:
            raise Refusal("is damaged or forged: a slice in it is none")
        if not all(value is None or isinstance(value, int | str) for value in content.values()):
            raise Refusal("is damaged or forged: a slice in it is none")

    def kind(self, state: dict, name: str, depth: int) -> None:
        _demand(name in PLAIN_TYPES | self.allowed.get(id(state), set()), name)

    def array(self, state: dict, name: str, depth: int) -> None:
        _demand(name == "numpy.ndarray" or name in NUMBER_TYPES, name)
        if state.get("type") == "numpy" and str(state.get("file")).endswith(".npy") and "content" not in state:
            return
        if state.get("type") != "json" or name != "numpy.ndarray" or "file" in state:
            raise Refusal("is forged: an array in it is stored as none is")
        self._objects(state.get("shape"), _listed(state.get("content")), depth)

    def _objects(self, shape: Any, content: list, depth: int) -> None:
        """Entries of an array of objects. numpy unfolds nested lists, so rows are lists of their own, of plain text."""
        rank = len(_listed(shape.get("content"))) if isinstance(shape, dict) else 0
        if rank not in (1, 2):
            raise Refusal(f"has an array of objects with {rank} dimensions: not loaded")
        for entry in content:
            self.node(entry, depth, ("ListNode",) if rank == 2 else (), fresh=rank == 2)
            if rank == 2 and any(value["__loader__"] != "JsonNode" for value in entry["content"]):
                raise Refusal("has an array of objects that are not text: not loaded")
        self.node(shape, depth, ("TupleNode",), fresh=True)

    def masked(self, state: dict, name: str, depth: int) -> None:
        _demand(name in ("numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray", "numpy.ma.masked_array"), name)
        content = state.get("content")
        if not isinstance(content, dict) or content.keys() != {"data", "mask"}:
            raise Refusal("is damaged or forged: a masked array in it is none")
        for part in ("data", "mask"):
            self.node(content[part], depth, ("NdArrayNode",))

    def dtype(self, state: dict, name: str, depth: int) -> None:
        _demand(name == "numpy.dtype", name)
        self.node(state.get("content"), depth, ("NdArrayNode",))

    def sparse_rows(self, state: dict, name: str, depth: int) -> None:
        _demand(name in SPARSE_ROWS, name)
        if state.get("type") != "scipy" or not str(state.get("file")).endswith(".npz"):
            raise Refusal("is forged: a sparse matrix in it is stored as none is")

    def random_state(self, state: dict, name: str, depth: int) -> None:
        _demand(re.fullmatch(r"numpy\.random\.(mtrand\.)?RandomState", name) is not None, name)
        self.node(state.get("content"), depth, ("DictNode",), fresh=True)

    def generator(self, state: dict, name: str, depth: int) -> None:
        _demand(re.fullmatch(r"numpy\.random\.(_generator\.)?Generator", name) is not None, name)
        content = state.get("content")
        if not isinstance(content, dict) or content.keys() != {"bit_generator", "seed_seq"}:
            raise Refusal("is damaged or forged: a random generator in it is none")
        for part in ("bit_generator", "seed_seq"):
            self.node(content[part], depth, ("DictNode",), fresh=True)
        kind = content["bit_generator"]["content"].get("bit_generator")
        if kind is None or _json_value(kind) != "PCG64":
            raise Refusal(untrusted("a random generator other than PCG64"))

    def loss(self, state: dict, name: str, depth: int) -> None:
        _demand(name.startswith(LOSS_MODULES), name)
        reduced = state.get("__reduce__")
        if not isinstance(reduced, dict) or reduced.keys() != {"args"}:
            raise Refusal("is damaged or forged: a loss in it is none")
        self.node(state.get("content"), depth, ("DictNode", "TupleNode"))
        self.node(reduced["args"], depth, ("TupleNode",))

    def instance(self, state: dict, name: str, depth: int) -> None:
        if is_own_class(name):
            self.own.add(name)
        else:  # which of scikit-learn's estimators those are is for skops to say
            _demand(name.startswith("sklearn.") or name in PARTS, name)
        if "content" in state:
            self._allow_functions(name, state["content"])
            self.node(state["content"], depth, ("DictNode", "JsonNode"))

    def _allow_functions(self, owner: str, content: Any) -> None:
        attributes = content.get("content") if isinstance(content, dict) else None
        if isinstance(attributes, dict):
            for attribute, functions in functions_of(owner).items():
                self.allowed[id(attributes.get(attribute))] = functions

    def function(self, state: dict, name: str, depth: int) -> None:
        _demand(name in self.allowed.get(id(state), set()), f"{name} (FunctionNode)")
        self.functions.add(name)


Rule = Callable[[_Auditor, dict, str, int], None]
SEQUENCES = {"ListNode": "builtins.list", "TupleNode": "builtins.tuple", "SetNode": "builtins.set"}
RULES: dict[str, tuple[set[str], Rule]] = {
    "JsonNode": ({"content", "is_json"}, _Auditor.plain),
    "DictNode": ({"content", "key_types"}, _Auditor.mapping),
    **{loader: ({"content"}, _Auditor.sequence) for loader in SEQUENCES},
    "SliceNode": ({"content"}, _Auditor.cut),
    "TypeNode": (set(), _Auditor.kind),
    "NdArrayNode": ({"type", "file", "content", "shape"}, _Auditor.array),
    "MaskedArrayNode": ({"content"}, _Auditor.masked),
    "DTypeNode": ({"content"}, _Auditor.dtype),
    "SparseMatrixNode": ({"type", "file"}, _Auditor.sparse_rows),
    "RandomStateNode": ({"content"}, _Auditor.random_state),
    "RandomGeneratorNode": ({"content"}, _Auditor.generator),
    "LossNode": ({"content", "__reduce__"}, _Auditor.loss),
    "ObjectNode": ({"content"}, _Auditor.instance),
    "FunctionNode": (set(), _Auditor.function),
}
"""The loaders that make data, and the entries of their nodes. Not here, since they call what a file names: methods,
partial functions, operators, constructors, default factories, trees; and bytes, which no model has."""


def is_own_class(name: str) -> bool:
    """Whether this is the name of a class that fitted models of eigenfeat are made of."""
    module, _, attribute = name.rpartition(".")
    parts = module.split(".")
    if len(parts) < 3 or parts[0] != "eigenfeat" or parts[1] not in MODEL_ROOMS:
        return False
    if not all(re.fullmatch(r"[a-z][a-z_0-9]*", part) for part in parts):
        return False
    try:
        found = vars(importlib.import_module(module)).get(attribute)
    except ImportError:
        return False
    if not inspect.isclass(found) or found.__module__ != module or inspect.isabstract(found):
        return False
    return not issubclass(found, Rows | BaseException)  # rows come from the caller, never from a model file


def _json_value(state: Any) -> Any:
    text = state.get("content") if isinstance(state, dict) else None
    if not isinstance(text, str):
        raise Refusal("is damaged or forged: a number or string in it is none")
    return json.loads(text)


def _listed(content: Any) -> list:
    if not isinstance(content, list):
        raise Refusal("is damaged or forged: a list in it is none")
    return content


def _demand(trusted: bool, name: str) -> None:
    if not trusted:
        raise Refusal(untrusted(name))


def untrusted(name: str) -> str:
    return (
        f"asks for {name}: not loaded. Classes of eigenfeat's models, arrays of numpy, CSR matrices of scipy and the "
        "estimators of scikit-learn that skops knows are trusted, as data only; functions but for scikit-learn's own "
        "scores, methods and calls never. If you made this file yourself, open it with skops.io.load and name there "
        "what you trust"
    )
