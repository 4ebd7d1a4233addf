"""The command as a newcomer runs it: what it writes, prints, and says when something is wrong."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from malformed import DAMAGES, malformed
from messy import write_messy
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import eigenfeat
from eigenfeat import FisherLDA, load, make_tabular, save
from eigenfeat.cli.app import app
from eigenfeat.cli.data import Reading, read_rows, split, task_of
from eigenfeat.rows import read_table


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(*arguments, code=0, input=None):
        result = CliRunner().invoke(app(), list(map(str, arguments)), input=input)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result.output

    return invoke


def write(path, loader):
    data = loader(as_frame=True)
    frame = data.frame.copy()
    if hasattr(data, "target_names"):
        frame["target"] = np.asarray(data.target_names)[data.target]
    frame.to_csv(path, index=False)


@pytest.fixture
def flowers(tmp_path):
    write(tmp_path / "flowers.csv", load_iris)
    return tmp_path / "flowers.csv"


def test_demo_then_the_command_it_recommends(run, tmp_path):
    printed = run("demo")
    assert "wrong" in printed and "always" in printed
    assert (tmp_path / "demo/report.html").stat().st_size > 50_000
    recommended = next(line for line in printed.splitlines() if "eigenfeat predict" in line)
    printed = run(*recommended.split("eigenfeat ")[1].split())
    with (tmp_path / "predictions.csv").open() as stream:
        predictions = [int(row["prediction"]) for row in csv.DictReader(stream)]
    assert np.mean(predictions == read_table(tmp_path / "demo/held_out.csv").y) > 0.9
    assert "is there already: say --force" in run("demo", code=1)


@pytest.mark.parametrize(
    "loader",
    [load_wine, *(pytest.param(loader, marks=pytest.mark.slow) for loader in (load_iris, load_breast_cancer))],
    ids=["wine", "iris", "cancer"],
)
def test_the_default_is_no_worse_than_lda_and_a_logit(loader, run, tmp_path):
    """On rows held out, up to one row: of so few, that is chance."""
    write(tmp_path / "t.csv", loader)
    facts = json.loads(run("fit", "t.csv", "--json"))
    rows = read_rows(str(tmp_path / "t.csv"), Reading())
    train, test = split(rows, 0.2, 0, task_of(rows, None))
    wrong = round(facts["result"]["error"] * len(test))
    for rival in (FisherLDA(), LogisticRegression(max_iter=2000)):
        said = make_tabular(rival).fit(train.X, train.y).predict(test.X)
        assert wrong <= np.sum(said != test.y) + 1
    assert facts["result"]["baseline"] > facts["result"]["error"]


def test_a_messy_table(run, tmp_path):
    write_messy(tmp_path / "messy.csv")
    printed = run("fit", "messy.csv", "--label", "outcome", "--method", "lda", "--report", "page.html")
    assert "customer_id: an identifier" in printed
    assert "currency: every row has 'EUR'" in printed
    assert "age again: the same as age" in printed
    card = load(tmp_path / "model.skops").card_
    assert card["result"]["error"] < 0.25 < card["result"]["baseline"]
    assert "customer_id" in (tmp_path / "page.html").read_text()
    printed = run("info", "model.skops")
    assert "numbers with thousands separators" in printed and "held-out error" in printed
    assert "income" in run("explain", "model.skops", "messy.csv")
    assert json.loads(run("explain", "model.skops", "--json"))["importance"]
    run("report", "model.skops", "messy.csv", "-o", "again.html")
    features = run("transform", "model.skops", "messy.csv").splitlines()
    assert features[0].split(",")[0] == "customer_id"


def test_the_card_of_a_model_that_was_saved_from_python(run, tmp_path):
    X, y = load_iris(return_X_y=True)
    save(FisherLDA(ridge=0.1).fit(X, np.array(["a", "b", "c"])[y]), tmp_path / "mine.skops")
    card = json.loads(run("info", "mine.skops", "--json"))
    assert card["saved by"] == f"eigenfeat {eigenfeat.__version__}, format 1"
    assert card["settings"] == "ridge=0.1" and card["columns"] == 4 and card["classes"] == "a, b, c"
    assert card["steps"] == ["FisherLDA"]
    printed = run("info", "mine.skops")
    assert all(words in printed for words in ("ridge=0.1", "a, b, c", "format 1"))


def test_the_card_of_a_model_says_all_that_is_asked_of_one(run, tmp_path):
    write_messy(tmp_path / "messy.csv")
    run("fit", "messy.csv", "--label", "outcome", "--method", "lda")
    card = json.loads(run("info", "model.skops", "--json"))
    asked = {"method", "task", "label", "file", "rows", "columns", "command", "seed", "result", "versions", "saved by"}
    assert asked <= card.keys(), asked - card.keys()
    assert {"error", "interval", "baseline"} <= card["result"].keys() and {"eigenfeat", "numpy"} <= card[
        "versions"
    ].keys()
    printed = run("info", "model.skops")
    assert all(words in printed for words in ("held-out error", "95 % interval", "version of scikit-learn", "saved by"))


def test_dates_in_parquet_are_dates(run, tmp_path):
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, 200), "D")
    frame = pd.DataFrame({"when": when, "x": rng.standard_normal(200)})
    frame["y"] = np.where(when > pd.Timestamp("2021-06-01"), "new", "old")
    frame.to_parquet(tmp_path / "t.parquet")
    facts = json.loads(run("fit", "t.parquet", "--method", "logit", "--json"))
    assert facts["result"]["error"] < 0.1
    assert load(tmp_path / "model.skops")[0].columns_["when"].kind == "date"


def test_an_id_column_spoils_nothing(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    frame = pd.DataFrame(x, columns=["a", "b"]).assign(id=np.arange(300) * 1_000_003, y=np.where(x[:, 0] > 0, "p", "n"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    facts = json.loads(run("fit", "t.csv", "--method", "gem", "--json"))
    assert facts["result"]["error"] < 0.1
    assert run("predict", "model.skops", "t.csv").startswith("id,prediction\n0,")


def test_warnings_in_plain_words(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    frame.assign(y=rng.choice(["p", "n"], 200)).to_csv(tmp_path / "noise.csv", index=False)
    assert "no better than always saying" in run("fit", "noise.csv", "--method", "lda")
    frame.assign(y=np.where(frame.a > 0, "p", "n")).to_csv(tmp_path / "leak.csv", index=False)
    assert "nearly everything depends on the column 'a'" in run("fit", "leak.csv", "-m", "lda", "-o", "l.skops")
    frame.assign(y=np.arange(200) * 7).to_csv(tmp_path / "count.csv", index=False)
    assert "taken for quantities: regression" in run("fit", "count.csv", "-m", "opls", "-o", "c.skops")


def test_regression_many_labels_and_cross_validation(run, tmp_path):
    write(tmp_path / "t.csv", load_diabetes)
    assert "R²" in run("fit", "t.csv", "--method", "opls", "--holdout", "cv")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(p=(X[:, 0] > 0) * 1, q=(X[:, 1] > 0) * 1)
    frame.to_csv(tmp_path / "many.csv", index=False)
    run("fit", "many.csv", "--label", "p", "--label", "q", "--method", "cca", "-o", "many.skops")
    assert run("predict", "many.skops", "many.csv").splitlines()[0] == "prediction p,prediction q"
    run("fit", "t.csv", "--method", "opls", "--holdout", "t.csv", "--time-budget", "10s", "--force")


def test_compare_puts_the_best_first(run, flowers, tmp_path):
    options = ["--method", "lda", "--method", "majority", "--method", "sklearn logit"]
    facts = json.loads(run("compare", flowers, *options, "--json"))
    losses = [line["loss"] for line in facts["leaderboard"]]
    assert losses == sorted(losses) and len(losses) == 3
    assert facts["leaderboard"][-1]["method"] == "majority"
    assert facts["method"] == facts["leaderboard"][0]["method"]
    assert load(tmp_path / "model.skops").card_["rows fitted"] == 150


def test_transformers_need_no_labels(run, flowers):
    run("fit", flowers, "--drop", "target", "-m", "OrientedPCA", "-s", "n_components=2")
    printed = run("transform", "model.skops", flowers)
    assert printed.splitlines()[0] == "orientedpca0,orientedpca1"
    assert len(printed.splitlines()) == 151
    assert "does not predict" in run("predict", "model.skops", flowers, code=1)


def test_the_standard_input_and_quiet(run, flowers):
    assert run("fit", flowers, "-m", "lda", "--quiet") == ""
    printed = run("predict", "model.skops", "-", "--proba", input=flowers.read_text())
    assert printed.splitlines()[0] == "prediction,p(setosa),p(versicolor),p(virginica)"
    assert "gem" in run("list")


def test_svmlight_rows_are_sparse(run, tmp_path):
    lines = [f"{i % 2} {1 + i % 2}:1 {3 + i % 5}:{i % 7}\n" for i in range(60)]
    (tmp_path / "t.svm").write_text("".join(lines))
    run("fit", "t.svm", "--method", "logit")
    assert len(run("predict", "model.skops", "t.svm").splitlines()) == 61


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "absent.csv"], "error: there is no file absent.csv"),
        (["fit", "flowers.csv", "--drop", "target"], "needs labels: name their column with --label"),
        (["fit", "flowers.csv", "--label", "kind"], "no column 'kind' for the label; it has"),
        (["fit", "flowers.csv", "-m", "LAD"], "no method 'LAD' for classification; there are auto"),
        (["fit", "flowers.csv", "-m", "gem", "-s", "rigde=1"], "no parameter rigde; it has "),
        (["fit", "flowers.csv", "-m", "gem", "-s", "ridge=-1"], "The 'ridge' parameter of"),
        (["fit", "flowers.csv", "-s", "ridge"], "must have the form name=value"),
        (["fit", "flowers.csv", "--holdout", "2"], "must be a share between 0 and 1"),
        (["fit", "flowers.csv", "--holdout", "rows.csv"], "is no file"),
        (["fit", "flowers.csv", "--task", "guess"], "must be classification, regression or multilabel"),
        (["fit", "flowers.csv", "--time-budget", "soon"], "must be a time"),
        (["fit", "flowers.csv", "-o", "no/m.skops"], "there is no folder no"),
        (["fit", "flowers.csv", "-o", "flowers.csv"], "is there already: say --force"),
        (["predict", "absent.skops", "flowers.csv"], "there is no model file absent.skops"),
        (["predict", "flowers.csv", "flowers.csv"], "cannot be read as a model file"),
        (["report", "absent.skops"], "there is no model file"),
        (["predict", "absent.skops", "flowers.csv", "--json"], "name a file with -o"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_end_in_a_message_not_a_traceback(run, flowers, arguments, message):
    assert message in run(*arguments, code=1)


def check_malformed(seed, tmp_path):
    name, content = malformed(seed)
    (tmp_path / name).write_bytes(content)
    before = set(tmp_path.iterdir())
    arguments = ["fit", str(tmp_path / name), "--label", "y", "-m", "lda", "-o", str(tmp_path / "m.skops")]
    result = CliRunner().invoke(app(), arguments)
    assert "Traceback" not in result.output
    made = set(tmp_path.iterdir()) - before
    assert result.exit_code in (0, 1), (seed, result.output)
    assert made == ({tmp_path / "m.skops"} if result.exit_code == 0 else set())
    assert result.exit_code == 0 or "error: " in result.output


@pytest.mark.parametrize("seed", range(len(DAMAGES)), ids=list(DAMAGES))
def test_malformed_tables(seed, tmp_path):
    check_malformed(seed, tmp_path)


@pytest.mark.slow
def test_two_hundred_malformed_tables(tmp_path):
    for seed in range(25, 225):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_malformed(seed, folder)
