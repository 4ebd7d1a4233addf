"""Tables that are wrong in one way or another, drawn at random: what a command must refuse, or live with, in order."""

import gzip

import numpy as np


def malformed(seed: int) -> tuple[str, bytes]:
    """A file name and its content."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 5))
    cells = [[f"{v:.2f}" for v in row] for row in rng.standard_normal((n, d))]
    header = [f"c{j}" for j in range(d)] + ["y"]
    rows = [[*row, str(rng.choice(["u", "v"]))] for row in cells]
    damage = list(DAMAGES)[seed % len(DAMAGES)]
    name, content = DAMAGES[damage](header, rows, rng)
    return name, content


def _text(header, rows, delimiter=","):
    return "\n".join(delimiter.join(row) for row in [header, *rows]).encode() + b"\n"


def _with_cell(cell):
    def damage(header, rows, rng):
        rows[rng.integers(len(rows))][0] = cell
        return "t.csv", _text(header, rows)

    return damage


def _ragged(header, rows, rng):
    rows[rng.integers(len(rows))].append("more")
    return "t.csv", _text(header, rows)


def _cut(header, rows, rng):
    whole = gzip.compress(_text(header, rows))
    return "t.csv.gz", whole[: len(whole) // 2]


DAMAGES = {
    "empty": lambda h, r, g: ("t.csv", b""),
    "blank": lambda h, r, g: ("t.csv", b"\n\n  \n"),
    "header only": lambda h, r, g: ("t.csv", _text(h, [])),
    "no header": lambda h, r, g: ("t.csv", _text([], r)),
    "numbers for names": lambda h, r, g: ("t.csv", _text([str(j) for j in range(len(h))], r)),
    "names twice": lambda h, r, g: ("t.csv", _text(["y"] * len(h), r)),
    "no label": lambda h, r, g: ("t.csv", _text([*h[:-1], "z"], r)),
    "ragged": _ragged,
    "open quote": lambda h, r, g: ("t.csv", _text(h, r) + b'"never closed'),
    "zero bytes": lambda h, r, g: ("t.csv", b"\x00" * 50 + _text(h, r)),
    "noise": lambda h, r, g: ("t.csv", g.integers(0, 256, 400).astype(np.uint8).tobytes()),
    "noise parquet": lambda h, r, g: ("t.parquet", b"PAR1" + g.integers(0, 256, 400).astype(np.uint8).tobytes()),
    "noise arrow": lambda h, r, g: ("t.arrow", g.integers(0, 256, 400).astype(np.uint8).tobytes()),
    "noise npz": lambda h, r, g: ("t.npz", b"PK\x03\x04" + g.integers(0, 256, 400).astype(np.uint8).tobytes()),
    "cut gzip": _cut,
    "one class": lambda h, r, g: ("t.csv", _text(h, [[*row[:-1], "u"] for row in r])),
    "no labels": lambda h, r, g: ("t.csv", _text(h, [[*row[:-1], ""] for row in r])),
    "infinite": _with_cell("inf"),
    "huge": _with_cell("1e308"),
    "word": _with_cell("seven"),
    "late bytes": lambda h, r, g: ("t.csv", _text(h, r) + b"\xff\xfe,\xff\n"),
    "svmlight": lambda h, r, g: ("t.svm", b"1 1:a 2:\n"),
    "unknown": lambda h, r, g: ("t.xlsx", b"PK"),
    "constant": lambda h, r, g: ("t.csv", _text(h, [["1"] * (len(h) - 1) + [row[-1]] for row in r])),
    "all labels differ": lambda h, r, g: ("t.csv", _text(h, [[*row[:-1], f"l{i}"] for i, row in enumerate(r)])),
}
