"""Damage model files at random and use what still loads. Run by test_fuzz.py in a process of its own, which may die.

Arguments: seed, how many files, a folder. Prints one line a file: what was done and what came of it.
"""

import inspect
import io
import json
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, is_regressor
from sklearn.datasets import load_iris
from sklearn.utils import get_tags

import eigenfeat
from eigenfeat import load, save

VERBS = ("predict", "predict_proba", "decision_function", "transform", "score_samples", "get_feature_names_out")
X, y = (part[::3] for part in load_iris(return_X_y=True))
TRIALS = X[:, :, None] * np.random.default_rng(0).normal(size=(*X.shape, 20))
WIDE = np.tile(X[::2], 20) + np.random.default_rng(0).normal(size=(25, 80)) / 10


def models():
    """Every estimator, and those that have a feature map also with splines, whose loops are compiled."""
    for name, cls in inspect.getmembers(eigenfeat, inspect.isclass):
        if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls):
            target = X[:, 0] if is_regressor(cls()) else y
            rows = TRIALS if get_tags(cls()).input_tags.three_d_array else X
            yield name, cls().fit(rows, target), rows
            if "feature_map" in inspect.signature(cls).parameters:
                yield f"{name} of splines", cls(feature_map="spline").fit(X, target), X
    yield "FisherLDA of wide rows", eigenfeat.FisherLDA(ridge=0.1).fit(WIDE, y[::2]), WIDE


def unpacked(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def nodes(tree, found=None):
    """Every node of skops' tree, with what holds it and where."""
    found = [] if found is None else found
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict) and "__loader__" in value:
            found.append((tree, key, value))
        if isinstance(value, dict | list):
            nodes(value, found)
    return found


def flip_bit(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    path.write_bytes(bytes(data))


def cut(path, rng):
    data = path.read_bytes()
    path.write_bytes(data[: rng.integers(len(data))])


def change_array(path, rng):
    members = unpacked(path)
    name = rng.choice([name for name in members if name.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    changes = [
        lambda a: a.T,
        lambda a: np.concatenate([np.atleast_1d(a)] * 2),
        lambda a: np.concatenate([np.atleast_1d(a)] * 2, axis=-1),
        lambda a: np.atleast_1d(a)[:-1],
        lambda a: np.atleast_1d(a)[..., :-1],
        lambda a: a[..., None],
        lambda a: np.zeros((0,) * a.ndim),
        lambda a: np.full_like(a, np.nan) if a.dtype.kind == "f" else a.astype("U2"),
        lambda a: (
            (a * 1e300).astype(np.float32)
            if a.dtype.kind == "f"
            else ~a
            if a.dtype.kind in "bi"
            else np.atleast_1d(a)[::-1]
        ),
        lambda a: a.astype(int) if a.dtype.kind in "fi" else np.atleast_1d(a)[1:],
        lambda a: a.astype("U8"),
        lambda a: a.astype(">f8") if a.dtype.kind in "fi" else np.atleast_1d(a)[:1],
        lambda a: np.array(5.0),
        lambda a: np.zeros((300, 300)),
    ]
    buffer = io.BytesIO()
    with np.errstate(all="ignore"):
        np.save(buffer, changes[rng.integers(len(changes))](array))
    packed(path, members | {name: buffer.getvalue()})


def flip_bit_of_array(path, rng):
    members = unpacked(path)
    name = rng.choice([name for name in members if name.endswith(".npy")])
    data = bytearray(members[name])
    data[rng.integers(len(data))] ^= 1 << rng.integers(8)
    packed(path, members | {name: bytes(data)})


def change_tree(path, rng):
    members = unpacked(path)
    tree = json.loads(members["schema.json"])
    found = nodes(tree)
    place, key, node = found[rng.integers(len(found))]
    other = found[rng.integers(len(found))][2]
    how = rng.integers(5)
    if how == 0 and node["__loader__"] == "JsonNode":
        values = ["-1", "0", "3", "1000000", "1e308", "NaN", '"rbf"', "null", "true", '""']
        node["content"] = values[rng.integers(len(values))]
    elif how == 1:
        place[key] = json.loads(json.dumps(other))
    elif how == 2:
        node["__class__"], node["__module__"] = other["__class__"], other["__module__"]
    elif how == 3 and "file" in node:
        node["file"] = next((n["file"] for *_, n in rng.permutation(np.array(found, object)) if "file" in n), "0.npy")
    else:
        del place[key]
    packed(path, members | {"schema.json": json.dumps(tree).encode()})


DAMAGES = (flip_bit, cut, change_array, flip_bit_of_array, change_tree, change_array, change_tree)


def outcome(path, rows):
    try:
        model = load(path)
    except ValueError as refusal:
        return f"refused: {refusal}" if str(path) in str(refusal) else f"BAD: no path in {refusal}"
    for verb in VERBS:
        try:
            if hasattr(model, verb):
                getattr(model, verb)(rows) if verb != "get_feature_names_out" else model.get_feature_names_out()
        except ValueError:
            continue
        except Exception as problem:
            return f"BAD: {verb} fails with {type(problem).__name__}: {problem}"
    return "works"


def main(seed, count, folder):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(seed)
    originals = [(name, save(model, folder / f"{i}.skops"), rows) for i, (name, model, rows) in enumerate(models())]
    for i in range(count):
        name, original, rows = originals[i % len(originals)]
        path = folder / "damaged.skops"
        path.write_bytes(original.read_bytes())
        damage = DAMAGES[rng.integers(len(DAMAGES))]
        damage(path, rng)
        print(f"{i} {name}, {damage.__name__}:", end=" ", flush=True)  # before it is used: the process may die
        print(outcome(path, rows).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
