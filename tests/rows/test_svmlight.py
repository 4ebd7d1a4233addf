"""svmlight: sparse rows as scikit-learn reads them, a piece at a time; wrong lines by number."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
from row_tables import CODES, X, assert_same, chunkings
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import eigenfeat.rows
from eigenfeat.rows.readers import svmlight

SPARSE = X * (np.abs(X) > 1)
SPARSE[0] = X[0]  # so that the first and the last column are there


@pytest.fixture(params=[True, False], ids=["from zero", "from one"])
def path(request, tmp_path):
    dump_svmlight_file(SPARSE, CODES, str(tmp_path / "t.svmlight"), zero_based=request.param)
    return tmp_path / "t.svmlight"


@pytest.fixture(params=[1 << 22, 100], ids=["one piece", "small pieces"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(svmlight, "PARSED_BYTES", request.param)


@chunkings
def test_the_rows_that_were_written(path, batch_size, pieces):
    source = eigenfeat.rows.open(path)
    assert source.n_columns == 4 and source.n_rows == len(X)
    assert_same(source, load_svmlight_file(str(path))[0].toarray(), labels=CODES, batch_size=batch_size)
    assert all(sparse.issparse(block.X) for block in source.blocks(100))


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_compressed(path, suffix, compress):
    packed = path.with_name(f"t.libsvm{suffix}")
    packed.write_bytes(compress.compress(path.read_bytes()))
    assert_same(eigenfeat.rows.open(packed, dtype="f4"), SPARSE, labels=CODES)
    packed.write_bytes(packed.read_bytes()[:-50])
    with pytest.raises(ValueError, match=r"t\.libsvm.* cannot be read"):
        eigenfeat.rows.open(packed)


def test_saying_the_number_of_columns_saves_a_pass(tmp_path):
    (tmp_path / "t.svm").write_text("1 1:2.5 3:1\n-1 2:4\n")
    source = eigenfeat.rows.open(tmp_path / "t.svm", columns=5)
    assert source.n_rows is None
    assert_same(source, np.array([[2.5, 0, 1, 0, 0], [0, 4, 0, 0, 0]]), labels=np.array([1, -1]))
    with pytest.raises(ValueError, match=r"has index 3 at or after line 1, and columns from 1 to 2"):
        list(eigenfeat.rows.open(tmp_path / "t.svm", columns=2).blocks())
    (tmp_path / "t.svm").write_text("1 0:2.5\n")
    with pytest.raises(ValueError, match=r"has index 0 at or after line 1.*open it without columns"):
        list(eigenfeat.rows.open(tmp_path / "t.svm", columns=2).blocks())


def test_continuous_targets_and_comments(tmp_path):
    (tmp_path / "t.svm").write_text("# a comment\n0.5 1:1 # of a row\n2 2:3\n")
    (block,) = eigenfeat.rows.open(tmp_path / "t.svm").blocks()
    assert block.y.tolist() == [0.5, 2.0] and block.X.toarray().tolist() == [[1, 0], [0, 3]]


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("1 1:2\n1 1:2\n1 1:x\n", {}, r"t\.svm, line 3: .* Lines read 'label index:value"),
        ("1 1:2\nrose 1:2\n", {}, r"t\.svm, line 2: "),
        ("", {}, "has no rows"),
        ("1 1:2\n", {"label": "kind"}, "is svmlight: its first cells are the labels"),
        ("1 1:2\n", {"columns": ["a"]}, "columns have no names"),
    ],
)
def test_what_is_refused(tmp_path, content, options, words):
    (tmp_path / "t.svm").write_text(content)
    with pytest.raises(ValueError, match=words):
        eigenfeat.rows.open(tmp_path / "t.svm", **options)
