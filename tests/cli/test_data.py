"""A table and its labels, from a file."""

import numpy as np
import pytest

from eigenfeat.cli.data import Reading, read_rows, split, task_of


def test_labels_of_all_kinds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,price,y\n1,"1,200",u\n2,950,\n3,"2,100",v\n')
    rows = read_rows(str(path), Reading())
    assert rows.y.tolist() == ["u", "v"]
    assert rows.X.column("a").to_pylist() == ["1", "3"]
    assert "1 of 3 rows have no label" in rows.notes[0]
    assert read_rows(str(path), Reading(("price",))).y.tolist() == [1200, 950, 2100]
    with pytest.raises(ValueError, match="holds 'u' in row 1"):
        read_rows(str(path), Reading(("y",)), task="regression")
    with pytest.raises(ValueError, match="no column 'z' to drop"):
        read_rows(str(path), Reading(drop=("z",)))


def test_splits_keep_classes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{'u' if i % 5 else 'v'}\n" for i in range(100)))
    rows = read_rows(str(path), Reading())
    train, test = split(rows, 0.2, 0, task_of(rows, None))
    assert (len(train), len(test)) == (80, 20)
    assert np.mean(test.y == "v") == 0.2
    for share in (0.0, 1.5):
        with pytest.raises(ValueError, match="must be a share"):
            split(rows, share, 0, task_of(rows, None))
