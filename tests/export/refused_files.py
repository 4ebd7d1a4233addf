"""Damaged and hostile model files by the hundred: each is refused, nothing is run, nothing is written.

    python tests/export/refused_files.py

Everything that Python itself reports to audit hooks (programs started, files opened for writing, made, moved or
deleted, sockets, pickled classes, foreign functions) is watched while a file is opened.
"""

import io
import json
import os
import pickle
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
from hostile_nodes import hostile
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, load, save

WATCHED = (
    *("os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "subprocess.Popen", "pty.spawn"),
    *("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown"),
    *("shutil.copyfile", "shutil.move", "shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request", "pickle.find_class", "ctypes.dlopen"),
)
seen: list[str] = []
watching = False


def watch(event: str, arguments: tuple) -> None:
    if not watching:
        return
    if event in WATCHED:
        seen.append(event)
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append(f"open {arguments[0]} to write")


def rewritten(whole: bytes, tree=None, members=()) -> bytes:
    """The file with another tree, or other members."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    if tree is not None:
        content["schema.json"] = json.dumps(tree(json.loads(content["schema.json"]))).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (content | dict(members)).items():
            if data is not None:
                archive.writestr(name, data)
    return buffer.getvalue()


def planted(node):
    """A function that adds a node to a tree as an attribute of the model."""

    def add(tree):
        tree["content"]["content"]["planted"] = node
        key = {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
        tree["content"]["key_types"]["content"].append(key)
        return tree

    return add


class Shell:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


def array_of(values) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=True)
    return buffer.getvalue()


def places_of(info: zipfile.ZipInfo) -> np.ndarray:
    """Where in the file the content of a member is."""
    start = info.header_offset + zipfile.sizeFileHeader + len(info.filename.encode())
    return start + np.arange(info.compress_size)


def members_of(whole: bytes) -> dict[str, bytes] | None:
    """Contents of an archive; none of one that cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError):
        return None


def files(marker: Path):
    """Kind, and bytes of a file."""
    folder = marker.parent
    whole = save(FisherLDA().fit(*load_iris(return_X_y=True)), folder / "whole.skops").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
        contents = np.concatenate([places_of(info) for info in archive.infolist()])
    for _, node in hostile(marker):
        yield "forged attribute", rewritten(whole, planted(node))
        forged = node | {"protocol": 2} if isinstance(node, dict) else [node]
        yield "forged model", rewritten(whole, lambda tree, forged=forged: forged)
    for share in np.linspace(0, 0.995, 25):
        yield "cut short", whole[: int(share * len(whole))]
    rng = np.random.default_rng(0)
    for place in rng.choice(contents, 25):  # each of which is under a check sum, as headers are not
        changed = whole[:place] + bytes([255 - whole[place]]) + whole[place + 1 :]
        if members_of(changed) != members_of(whole):  # bits that fill up a compressed byte say nothing
            yield "byte changed", changed
    for protocol in (0, 2, 4):
        yield "pickle", pickle.dumps(Shell(marker), protocol)
        yield "pickled array", rewritten(whole, members={arrays[0]: pickle.dumps(Shell(marker), protocol)})
    for name in arrays:
        yield "pickled array", rewritten(whole, members={name: array_of(np.array([Shell(marker)], dtype=object))})
        yield "array gone", rewritten(whole, members={name: None})
    for stamp in ({"format": 99, "eigenfeat": "99.0"}, {"format": "1"}, {}, [], {"format": -1, "eigenfeat": "0.1.0"}):
        yield "other format", rewritten(whole, members={"eigenfeat.json": json.dumps(stamp)})
    yield "bomb", rewritten(whole, members={"bomb.npy": bytes(1 << 30)})
    yield "no archive", b"model" * 1000


def main() -> None:
    global watching
    sys.addaudithook(watch)
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder, marker = Path(name), Path(name) / "marker"
        path = folder / "model.skops"
        for kind, content in files(marker):
            path.write_bytes(content)
            before, watching = sorted(folder.rglob("*")), True
            try:
                load(path)
                outcome = "LOADED"
            except ValueError as refusal:
                outcome = "refused" if str(path) in str(refusal) else "REFUSED WITHOUT A NAME"
            except BaseException as problem:
                outcome = f"{type(problem).__name__.upper()}: {problem}"
            watching = False
            if sorted(folder.rglob("*")) != before or marker.exists() or path.read_bytes() != content:
                outcome += ", WRITTEN"
            counts[kind, outcome] += 1
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:<18}{count:>5}  {outcome}")
    refused = sum(count for (_, outcome), count in counts.items() if outcome == "refused")
    print(f"{refused} of {counts.total()} files refused; run or written: {sorted(set(seen)) or 'nothing'}")


if __name__ == "__main__":
    main()
