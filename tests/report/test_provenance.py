"""The hash is that of the file's bytes."""

import hashlib

from eigenfeat.report import Provenance


def test_file_and_hash(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n" * 100_000)
    known = Provenance.of_file(path, label="b", seed=3)
    assert (known.file, known.label, known.seed) == ("rows.csv", "b", 3)
    assert known.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
