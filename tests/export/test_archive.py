"""The archive: the stamp, the sizes it claims and has, arrays that lie."""

import io
import json
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse

import eigenfeat
from eigenfeat import FisherLDA, OrientedPCA, load, save
from eigenfeat.export.archive import FORMAT, LARGEST_RATIO, SMALLEST_LIMIT


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def first_array(path):
    with zipfile.ZipFile(path) as archive:
        return next(name for name in archive.namelist() if name.endswith(".npy"))


def test_every_file_says_who_wrote_it_and_in_which_format(saved):
    with zipfile.ZipFile(saved) as archive:
        assert json.loads(archive.read("eigenfeat.json")) == {"format": FORMAT, "eigenfeat": eigenfeat.__version__}


def test_a_file_without_a_stamp_is_refused(saved, tamper, iris, tmp_path):
    with pytest.raises(ValueError, match=f"{saved} was not written by eigenfeat.save: it has no stamp"):
        load(tamper(saved, members={"eigenfeat.json": None}))
    other = tmp_path / "other.skops"
    skops.io.dump(FisherLDA().fit(*iris), other)
    with pytest.raises(ValueError, match=r"was not written by eigenfeat\.save"):
        load(other)


def test_a_newer_format_is_refused_with_what_to_do(saved, tamper):
    stamp = json.dumps({"format": FORMAT + 1, "eigenfeat": "99.1"}).encode()
    words = rf"{saved} has model format {FORMAT + 1}, written by eigenfeat 99\.1; .* up to {FORMAT}\. Upgrade eigenfeat"
    with pytest.raises(ValueError, match=words):
        load(tamper(saved, members={"eigenfeat.json": stamp}))


@pytest.mark.parametrize(
    "stamp", [b"", b"[]", b"{}", b'{"format": "1"}', b'{"format": true}', b'{"format": 0}', b"1" * 5000]
)
def test_a_stamp_that_is_none_is_refused(stamp, saved, tamper):
    with pytest.raises(ValueError, match=r"was not written by eigenfeat.save"):
        load(tamper(saved, members={"eigenfeat.json": stamp}))


def test_a_bomb_is_refused_before_it_is_unpacked(saved, tamper):
    tamper(saved, members={first_array(saved): npy(np.zeros((SMALLEST_LIMIT + 1) // 8))})
    assert saved.stat().st_size < 2_000_000
    with pytest.raises(ValueError, match=rf"{saved} holds 26\d MB, more than the 268 MB it may: .* pass max_bytes=\d+"):
        load(saved)


def test_the_limit_is_the_callers(saved):
    with pytest.raises(ValueError, match=r"more than the 0 MB it may"):
        load(saved, max_bytes=1000)
    assert load(saved, max_bytes=1_000_000).n_features_in_ == 4


def test_a_bomb_inside_a_sparse_matrix_is_refused(saved, tamper, plant):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, data=np.zeros(SMALLEST_LIMIT // 8 + 1), format=np.array(b"csr"))
    node = {"__class__": "csr_matrix", "__module__": "scipy.sparse._csr", "__loader__": "SparseMatrixNode",
            "type": "scipy", "file": "7.npz"}  # fmt: skip
    with pytest.raises(ValueError, match="pass max_bytes"):
        load(tamper(plant(node), members={"7.npz": buffer.getvalue()}))


def lying(path, claimed):
    """The first array of the archive says in all headers that it is as short as this."""
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(first_array(path))
        true, start = struct.pack("<L", info.file_size), info.header_offset
    data = path.read_bytes()
    end = data.index(b"PK\x01\x02")
    head = data[start : start + 30].replace(true, struct.pack("<L", claimed))
    path.write_bytes(
        data[:start] + head + data[start + 30 : end] + data[end:].replace(true, struct.pack("<L", claimed))
    )


def test_sizes_that_are_lies_take_no_memory(saved, tamper):
    tamper(saved, members={first_array(saved): npy(np.zeros(100_000_000))})
    lying(saved, 1000)
    script = (
        "import resource, sys; from eigenfeat import load\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: load(sys.argv[1])\n"
        "except ValueError: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(saved)], capture_output=True, text=True, timeout=120)
    assert int(done.stdout) < 100_000  # kilobytes, of the 800 000 that are in there


def header(**changes):
    shape = changes.get("shape", (3,))
    text = f"{{'descr': {changes.get('descr', '<f8')!r}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY" + bytes(changes.get("version", (1, 0))) + struct.pack("<H", len(text)) + text.encode()


@pytest.mark.parametrize(
    "data",
    [
        header(shape=(10**12,)) + bytes(24),
        header(shape=(2,)) + bytes(24),
        header(shape=(-3,)) + bytes(24),
        header(shape=(0, 10**15)),
        header(descr="|O") + bytes(24),
        header(descr="|V8") + bytes(24),
        header(descr=[("a", "<f8")]) + bytes(24),
        header(descr="<U0", shape=(10**9,)),
        header(version=(3, 0)) + bytes(24),
        b"\x80\x04cos\nsystem\n(S'true'\ntR.",
        b"",
    ],
    ids=["long", "short", "negative", "empty", "objects", "void", "records", "no text", "version", "pickle", "nothing"],
)
def test_arrays_that_are_none_are_refused(data, saved, tamper):
    with pytest.raises(ValueError, match=str(saved)):
        load(tamper(saved, members={first_array(saved): data}))


def test_members_that_no_model_has_are_refused(saved, tamper):
    with pytest.raises(ValueError, match=r"has a member that no model file has \(more.py\)"):
        load(tamper(saved, members={"more.py": b"print()"}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(saved):
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(ValueError, match="two members of one name"):
        load(saved)


@pytest.mark.parametrize("compression", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(compression, saved, tamper):
    with pytest.raises(ValueError, match="packed in a way"):
        load(tamper(saved, compression=compression))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_models_of_mostly_zeros_are_saved_so_that_they_load(form, tmp_path, monkeypatch):
    monkeypatch.setattr("eigenfeat.export.archive.SMALLEST_LIMIT", 100_000)
    X = np.zeros((100, 5000))
    X[:, 0] = np.arange(100)
    model = OrientedPCA().fit(form(X))
    path = save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(path).transform(X), model.transform(X))
    if form is np.asarray:
        assert path.stat().st_size > X.nbytes / LARGEST_RATIO


def test_models_of_many_names_are_saved_so_that_they_load(tmp_path, monkeypatch):
    monkeypatch.setattr("eigenfeat.export.archive.SMALLEST_LIMIT", 10_000)
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3000)), columns=[f"column {i}" for i in range(3000)])
    path = save(OrientedPCA().fit(rows), tmp_path / "model.skops")
    assert load(path).feature_names_in_.tolist() == list(rows.columns)
