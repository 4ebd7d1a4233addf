"""Parquet, Feather and Arrow: the rows that were written, pieces that are not needed unread, damage by name."""

import subprocess
import sys
import threading

import numpy as np
import pytest
from row_tables import CODES, NAMES, TEXT, WEIGHTS, N, X, assert_same, chunkings, table

import eigenfeat.rows

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.feather as feather  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

WRITERS = {
    "t.parquet": lambda t, path: pq.write_table(t, path, row_group_size=60),
    "t.pq": lambda t, path: pq.write_table(t, path, row_group_size=1000),
    "t.feather": lambda t, path: feather.write_feather(t, path, chunksize=64),
    "t.arrow": lambda t, path: feather.write_feather(t, path, compression="uncompressed"),
}


@pytest.fixture(params=list(WRITERS))
def path(request, tmp_path):
    WRITERS[request.param](pa.table(table()), tmp_path / request.param)
    return tmp_path / request.param


@pytest.fixture
def parquet(tmp_path):
    pq.write_table(pa.table(table()), tmp_path / "t.parquet", row_group_size=60)
    return tmp_path / "t.parquet"


@chunkings
def test_the_rows_that_were_written(path, batch_size):
    source = eigenfeat.rows.open(path, label="kind", weight="w", drop=["code"])
    assert source.n_rows == N and source.names == tuple(NAMES)
    assert_same(source, labels=TEXT, weights=WEIGHTS, batch_size=batch_size)


@pytest.mark.parametrize(("stored", "asked", "read"), [("f4", None, "f4"), ("f4", "f8", "f8"), ("f8", "f4", "f4")])
def test_types(tmp_path, stored, asked, read):
    pq.write_table(pa.table(table(stored)), tmp_path / "t.parquet")
    source = eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES, dtype=asked)
    assert source.dtype == np.dtype(read)
    assert_same(source, X.astype(stored))


def test_columns_in_their_order_and_integer_labels(path):
    source = eigenfeat.rows.open(path, label="code", columns=["c", "a"])
    assert_same(source, X[:, [2, 0]], labels=CODES)
    (block,) = source.blocks()
    assert block.y.dtype == np.int64


def test_text_in_one_of_several_files(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet, row group 0: column 'a' holds 'x' in row 1"):
        list(eigenfeat.rows.open(tmp_path).blocks())


def test_a_label_named_later_of_whatever_type(parquet):
    assert_same(eigenfeat.rows.open(parquet, drop=["code", "w"]).with_label("kind"), labels=TEXT)


def test_a_label_named_later(parquet):
    plain = eigenfeat.rows.open(parquet, columns=[*NAMES, "code"])
    source = plain.with_label("kind")
    assert_same(source, np.column_stack([X, CODES]), labels=TEXT)
    assert source.with_label("kind") is source


def test_dictionaries_booleans_and_integers(tmp_path):
    columns = {
        "a": pa.array(CODES.astype(np.int8)).dictionary_encode(),
        "b": pa.array(X[:, 0] > 0),
        "c": pa.array(CODES.astype(np.uint16)),
        "kind": pa.array(TEXT).dictionary_encode(),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    source = eigenfeat.rows.open(tmp_path / "t.parquet", label="kind")
    assert_same(source, np.column_stack([CODES, X[:, 0] > 0, CODES]).astype(float), labels=TEXT)


def test_several_targets_side_by_side(parquet):
    source = eigenfeat.rows.open(parquet, label=["c", "d"], columns=["a", "b"])
    np.testing.assert_array_equal(np.concatenate([b.y for b in source.blocks(50)]), X[:, 2:])


def test_a_folder_of_files(tmp_path):
    for i, rows in enumerate(np.array_split(np.arange(N), 3)):
        pq.write_table(pa.table({k: v[rows] for k, v in table().items()}), tmp_path / f"part{i}.parquet")
    assert_same(eigenfeat.rows.open(tmp_path, label="code", columns=NAMES), labels=CODES)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_hive_partitions_are_columns(tmp_path, kind):
    ds.write_dataset(
        pa.table(table()), tmp_path / "set", format=kind, partitioning=["kind", "code"], partitioning_flavor="hive"
    )
    source = eigenfeat.rows.open(tmp_path / "set", label="kind", weight="w")
    order = np.argsort(TEXT, kind="stable")
    assert source.names == (*NAMES, "code")
    assert_same(source, np.column_stack([X, CODES])[order], TEXT[order], WEIGHTS[order])
    few = eigenfeat.rows.open(tmp_path / "set", label="kind", columns=NAMES, filter=[("code", "==", 1)])
    assert_same(few, X[CODES == 1], TEXT[CODES == 1])


@pytest.mark.parametrize("given", [[("code", "==", 1), ("a", ">", 0)], "expression"])
def test_filters(path, given):
    given = (ds.field("code") == 1) & (ds.field("a") > 0) if given == "expression" else given
    source = eigenfeat.rows.open(path, label="kind", columns=NAMES, filter=given)
    chosen = (CODES == 1) & (X[:, 0] > 0)
    assert source.n_rows is None
    assert_same(source, X[chosen], labels=TEXT[chosen])


def test_row_groups_without_a_row_that_passes_are_not_read(tmp_path):
    order = np.argsort(CODES, kind="stable")
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({k: v[order] for k, v in table().items()}), path, row_group_size=20)
    damage(path, 0)
    source = eigenfeat.rows.open(path, columns=NAMES, filter=[("code", "==", 2)])
    assert_same(source, X[order][CODES[order] == 2])
    with pytest.raises(ValueError, match="row group 0 cannot be read"):
        list(eigenfeat.rows.open(path, columns=NAMES).blocks())


def test_a_filter_that_leaves_nothing(parquet):
    source = eigenfeat.rows.open(parquet, columns=NAMES, filter=[("a", ">", 1e9)])
    with pytest.raises(ValueError, match=r"t\.parquet has no rows to read: check the file, and the filter"):
        list(source.blocks())


def test_missing_values_name_file_row_group_column_and_row(tmp_path):
    columns = {name: list(values) for name, values in table().items()}
    columns["b"][130] = None
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=60)
    with pytest.raises(ValueError, match=r"column 'b' of .*t\.parquet, row group 2 has a missing value in row 11"):
        list(eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES).blocks())
    filled = X.copy()
    filled[130, 1] = np.delete(X[:, 1], 130).mean()
    means = eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES, missing="mean")
    (block,) = means.blocks()
    np.testing.assert_allclose(block.X, filled, rtol=1e-14)
    assert_same(eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES, missing="drop"), np.delete(X, 130, axis=0))
    filled[130, 1] = 7
    assert_same(eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES, missing={"b": 7}), filled)


def test_missing_labels_are_refused(tmp_path):
    columns = {name: list(values) for name, values in table().items()}
    columns["kind"][70] = None
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=60)
    with pytest.raises(ValueError, match=r"column 'kind' of .*row group 1 is empty in row 11"):
        list(eigenfeat.rows.open(tmp_path / "t.parquet", columns=NAMES, label="kind").blocks())


def test_text_among_the_features(path):
    with pytest.raises(
        ValueError, match=rf"column 'kind' holds '{TEXT[0]}' in row 1, and .* more: features must be numbers"
    ):
        list(eigenfeat.rows.open(path).blocks())


def test_a_column_that_one_file_lacks_is_missing_there(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [5.0]}), tmp_path / "2.parquet")
    assert_same(eigenfeat.rows.open(tmp_path, missing=0.0), np.array([[1.0, 3], [2, 4], [5, 0]]))


def test_a_truncated_file(path):
    path.write_bytes(path.read_bytes()[:-500])
    with pytest.raises(ValueError, match=rf"{path.name} cannot be read .* damaged, cut short"):
        list(eigenfeat.rows.open(path, columns=NAMES).blocks())


def damage(path, row_group):
    content = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(row_group).column(0).data_page_offset
    content[start : start + 200] = b"\xff" * 200
    path.write_bytes(content)


def test_damage_within_a_file_names_the_row_group(parquet):
    damage(parquet, 2)
    source = eigenfeat.rows.open(parquet, columns=NAMES)
    with pytest.raises(ValueError, match=r"t\.parquet, row group 2 cannot be read"):
        list(source.blocks(10))


def test_a_pass_that_ends_early_leaves_no_thread(parquet):
    for block in eigenfeat.rows.open(parquet, columns=NAMES).blocks(10):
        assert block.start == 0
        break
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("eigenfeat")]


def test_no_rows_and_no_files(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet has no rows"):
        eigenfeat.rows.open(tmp_path / "t.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"holds no file that ends in \.csv"):
        eigenfeat.rows.open(tmp_path / "empty")


STREAM = """
import resource, sys
import numpy as np
import eigenfeat.rows
from eigenfeat import FisherLDA
from eigenfeat.moments import collect_moments
import pyarrow.dataset, pyarrow.parquet

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
collect_moments(np.ones((100, 50), dtype=np.float32), np.arange(100) % 10)  # compiled and imported before it counts
before = peak()
for path in sys.argv[1:]:
    model = FisherLDA().fit(eigenfeat.rows.open(path, label="y"))
    print(model.moments_.counts.sum(), peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read from the resource module")
def test_memory_does_not_grow_with_the_file(tmp_path):
    """240 MB pass through less than 120, also where they are a single row group."""
    n, d, paths = 1_200_000, 50, []
    schema = pa.schema([*((f"x{j}", pa.float32()) for j in range(d)), ("y", pa.int64())])
    numbers = np.random.default_rng(0).random(n // 20 + d, dtype=np.float32)
    part = pa.table([*(numbers[j : j + n // 20] for j in range(d)), np.arange(n // 20) % 10], schema=schema)
    for row_group in (n // 12, n):
        paths.append(tmp_path / f"{row_group}.parquet")
        with pq.ParquetWriter(paths[-1], schema, compression="none", use_dictionary=False) as writer:
            writer.write_table(pa.concat_tables([part] * 20), row_group_size=row_group)
        assert paths[-1].stat().st_size > 240e6
    ran = subprocess.run([sys.executable, "-c", STREAM, *map(str, paths)], capture_output=True, text=True, check=True)
    for line in ran.stdout.splitlines():
        rows, megabytes = line.split()
        assert int(rows) == n and float(megabytes) < 120, line
