"""Results of a model for a stream: a block at a time, or in a file that appears whole."""

import numpy as np
import pytest

import eigenfeat.rows
from eigenfeat import FisherLDA, MultinomialLogit

pytest.importorskip("pyarrow")
rng = np.random.default_rng(0)
X = rng.normal(size=(500, 4))
Y = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
SOURCE = eigenfeat.rows.open(lambda: iter([X[:200], X[200:]]))
MODEL = MultinomialLogit(0.1).fit(X, Y)


def test_blocks_are_the_results_in_order():
    for function in (MODEL.predict, MODEL.predict_proba, FisherLDA().fit(X, Y).transform):
        blocks = list(eigenfeat.rows.each(function, SOURCE, batch_size=120))
        assert [len(block) for block in blocks] == [120, 120, 120, 120, 20]
        together = np.concatenate(blocks)
        assert (
            np.array_equal(together, function(X)) if together.dtype.kind == "U" else np.allclose(together, function(X))
        )


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".csv"])
def test_files_hold_the_results(tmp_path, suffix):
    path = tmp_path / f"p{suffix}"
    assert eigenfeat.rows.write(path, MODEL.predict_proba, SOURCE, MODEL.classes_, batch_size=150) == 500
    found = eigenfeat.rows.open(path)
    assert found.names == ("no", "yes")
    np.testing.assert_allclose(found.to_array(), MODEL.predict_proba(X), rtol=1e-12)
    assert eigenfeat.rows.write(path, MODEL.predict, SOURCE) == 500  # in the place of the other
    if suffix == ".parquet":
        assert pytest.importorskip("pandas").read_parquet(path)["result"].tolist() == MODEL.predict(X).tolist()


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "p.parquet"
    eigenfeat.rows.write(path, MODEL.predict_proba, SOURCE)
    before = path.read_bytes()
    broken = eigenfeat.rows.open(lambda: iter([X[:200], X[200:, :3]]))
    with pytest.raises(ValueError, match="the first has 4 columns"):
        eigenfeat.rows.write(path, MODEL.predict_proba, broken)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    with pytest.raises(ValueError, match=r"tables are written to \.csv"):
        eigenfeat.rows.write(tmp_path / "p.xls", MODEL.predict, SOURCE)
    with pytest.raises(ValueError, match="3 names for 2 columns"):
        eigenfeat.rows.write(path, MODEL.predict_proba, SOURCE, ["a", "b", "c"])
