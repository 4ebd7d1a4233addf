"""Tables that nobody should give: files cut, flipped, emptied or renamed, and text that is no table."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from eigenfeat.rows import write_table

FORMATS = (".csv", ".tsv", ".parquet", ".npz")
HEAD = "a,b,label\n"
ROWS = "".join(f"{i / 7:.3f},{(i * i) % 5},{'xy'[i % 2]}\n" for i in range(20))

TEXTS: dict[str, str | bytes] = {
    "nothing": "",
    "an end of line": "\n",
    "a head alone": HEAD,
    "one row": HEAD + "1,2,x\n",
    "only labels": "label\nx\ny\nx\n",
    "no head": ROWS,
    "a row too short": HEAD + ROWS + "1,2\n",
    "a row too long": HEAD + ROWS + "1,2,x,4\n",
    "an open quote": HEAD + ROWS + '"1,2,x\n' + ROWS,
    "quotes within": HEAD + ROWS + '1"2,3,"x"y\n',
    "a zero byte": (HEAD + ROWS).encode() + b"1,\0,x\n",
    "zero bytes": b"\0" * 500,
    "a cell of a megabyte": HEAD + ROWS + "1," + "9" * 1_000_000 + ",x\n",
    "a number of 400 digits": HEAD + ROWS + "1," + "9" * 400 + ",x\n",
    "a number beyond floats": HEAD + ROWS + "1,1e400,x\n",
    "words among numbers": HEAD + ROWS + "1,many,x\n",
    "cells missing": HEAD + ROWS + "1,,x\n",
    "a label missing": HEAD + ROWS + "1,2,\n",
    "a name twice": "a,a,label\n" + ROWS,
    "the label twice": "a,label,label\n" + ROWS,
    "no names": ",,label\n" + ROWS,
    "a byte order mark": ("\ufeff" + HEAD + ROWS).encode(),
    "UTF-16": (HEAD + ROWS).encode("utf-16"),
    "Latin-1": (HEAD + ROWS + "1,2,é\n").encode("latin-1"),
    "ends of lines of an old Mac": (HEAD + ROWS).replace("\n", "\r"),
    "all one class": HEAD + ROWS.replace("y", "x"),
    "dates": HEAD + ROWS + "1,2020-01-01,x\n",
    "infinite": HEAD + ROWS + "1,inf,x\n",
    "not a number": HEAD + ROWS + "1,nan,x\n",
    "ten thousand columns in the head": ",".join(map(str, range(10_000))) + ",label\n" + ROWS,
    "a page of HTML": "<!DOCTYPE html><html><body>404, 404, label</body></html>\n" * 5,
    "JSON": '{"a": [1, 2], "b": [3, 4], "label": ["x", "y"]}',
}


def write_bad_tables(folder: Path, seed: int = 18) -> list[Path]:
    """All of them, into a folder."""
    written = []
    for words, text in TEXTS.items():
        place = folder / f"{words}.csv"
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        written.append(place)
    X, y = load_iris(return_X_y=True)
    draw = random.Random(seed)
    for suffix in FORMATS:
        good = folder / f"good{suffix}"
        write_table(good, dict(zip("abcd", X[::3].T)) | {"label": y[::3]})
        content = good.read_bytes()
        spoilt = {f"first {share} percent": content[: len(content) * share // 100] for share in (1, 50, 99)}
        for i in range(4):
            flipped = bytearray(content)
            for place in draw.sample(range(len(content)), 3):
                flipped[place] ^= 1 << draw.randrange(8)
            spoilt[f"bits flipped, {i}"] = bytes(flipped)
        spoilt["doubled"] = content + content
        spoilt["noise"] = np.random.default_rng(seed).bytes(400)
        for words, damaged in spoilt.items():
            written.append(folder / f"{words}{suffix}")
            written[-1].write_bytes(damaged)
        for other in FORMATS:
            if other != suffix:
                written.append(folder / f"{suffix[1:]} under another name{other}")
                written[-1].write_bytes(content)
    return written
