"""The command as a newcomer runs it: what it writes, prints, and says when something is wrong."""

import csv

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from eigenfeat import FisherLDA, load
from eigenfeat.cli.app import app
from eigenfeat.rows import read_table, write_table


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(*arguments, code=0):
        result = CliRunner().invoke(app(), list(map(str, arguments)))
        assert result.exit_code == code, result.output
        return result.output

    return invoke


@pytest.fixture
def flowers(tmp_path):
    data = load_iris()
    columns = {name.split(" (")[0]: column for name, column in zip(data.feature_names, data.data.T)}
    write_table(tmp_path / "flowers.csv", columns | {"species": data.target_names[data.target]})
    return tmp_path / "flowers.csv"


def test_demo_then_the_command_it_recommends(run, tmp_path):
    printed = run("demo")
    assert "correct" in printed
    assert load(tmp_path / "demo/model.skops").n_features_in_ == 64
    assert (tmp_path / "demo/report.html").stat().st_size > 50_000
    recommended = next(line for line in printed.splitlines() if "eigenfeat predict" in line)
    printed = run(*recommended.split("eigenfeat ")[1].split())
    assert "predictions.csv" in printed
    with (tmp_path / "predictions.csv").open() as stream:
        predictions = [int(row["prediction"]) for row in csv.DictReader(stream)]
    assert np.mean(predictions == read_table(tmp_path / "demo/held_out.csv").y) > 0.9


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_fit_predict_transform_report(run, flowers, tmp_path):
    printed = run(
        *("fit", flowers, "--label", "species", "-e", "FisherLDA", "-s", "ridge=0.01"),
        *("--holdout", 0.3, "--report", "fit.html"),
    )
    assert "correct" in printed
    model = load(tmp_path / "model.skops")
    assert isinstance(model, FisherLDA)
    assert model.ridge == 0.01
    assert model.moments_.counts.sum() == 105

    # Columns are matched by name: another order, and a column of text beside them, change nothing.
    shuffled = tmp_path / "shuffled.csv"
    table = read_table(flowers, "species")
    columns = dict(zip(table.names[::-1], table.X.T[::-1])) | {"note": np.array(["x"] * len(table.X))}
    write_table(shuffled, columns)
    run("predict", "model.skops", shuffled, "--proba", "-o", "out.csv")
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    expected = model.predict_proba(table.X)
    np.testing.assert_allclose([[float(row[f"p({c})"]) for c in model.classes_] for row in rows], expected)

    run("transform", "model.skops", flowers, "--label", "species", "-o", "features.npz")
    features = read_table(tmp_path / "features.npz")
    np.testing.assert_allclose(features.X, model.transform(table.X))
    assert features.y.tolist() == table.y.tolist()

    run("report", "model.skops", flowers, "--label", "species", "-o", "page.html")
    assert "were given their true class" in (tmp_path / "page.html").read_text()


def test_transformers_need_no_labels(run, flowers):
    run("fit", flowers, "--drop", "species", "-e", "OrientedPCA", "-s", "n_components=2")
    printed = run("transform", "model.skops", flowers)
    assert printed.splitlines()[0] == "orientedpca0,orientedpca1"
    assert len(printed.splitlines()) == 151
    assert "does not predict" in run("predict", "model.skops", flowers, code=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "absent.csv"], "error: there is no file absent.csv"),
        (["fit", "flowers.csv"], "say so (--label species)"),
        (["fit", "flowers.csv", "--drop", "species"], "needs labels: name their column with --label"),
        (["fit", "flowers.csv", "--label", "species", "-e", "LDA"], "no estimator 'LDA'; it has "),
        (["fit", "flowers.csv", "--label", "species", "-s", "rigde=1"], "no parameter rigde; it has "),
        (["fit", "flowers.csv", "--label", "species", "-s", "ridge=-1"], "The 'ridge' parameter of"),
        (["fit", "flowers.csv", "--label", "species", "-s", "ridge"], "must have the form name=value"),
        (["fit", "flowers.csv", "--label", "species", "--holdout", "2"], "must be a share between 0 and 1"),
        (["fit", "flowers.csv", "--label", "species", "-o", "no/m.skops"], "there is no folder no"),
        (["predict", "absent.skops", "flowers.csv"], "there is no model file absent.skops"),
        (["predict", "flowers.csv", "flowers.csv"], "cannot be read as a model file"),
        (["report", "absent.skops"], "there is no model file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_end_in_a_message_not_a_traceback(run, flowers, arguments, message):
    printed = run(*arguments, code=1)
    assert message in printed
    assert "Traceback" not in printed


def test_image_shape_is_checked(run, flowers):
    run("fit", flowers, "--label", "species")
    assert "must have the form ROWSxCOLUMNS" in run("report", "model.skops", "--image-shape", "28", code=1)
