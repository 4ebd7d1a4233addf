"""What is said of a fit is read off it."""

import pandas as pd
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import FisherLDA, KernelFisherClassifier
from eigenfeat.report.values.facts import _column_facts, facts
from eigenfeat.report.values.subject import Subject

X, y = load_wine(return_X_y=True)


def test_a_pipeline():
    model = make_pipeline(StandardScaler(), FisherLDA(ridge=0.2)).fit(X, y)
    known = facts(Subject.of(model))
    assert known.steps == ("StandardScaler", "FisherLDA")
    assert known.settings == (("FisherLDA: ridge", "0.2"),)
    assert known.n_features == 13 and known.classes == ("0", "1", "2")
    assert [(s.name, s.n_inputs, s.n_outputs) for s in known.stages][:2] == [
        ("StandardScaler", 13, 13),
        ("Affine", 13, 3),
    ]
    assert "ridge=0.2" in known.code
    assert dict(known.versions)["eigenfeat"]


def test_stages_and_seconds_of_gem(wine):
    known = facts(wine)
    names = [stage.name for stage in known.stages]
    assert names == ["TreatedColumns", "FeatureLayer", "Affine", "Softmax"]
    assert all(stage.n_outputs == after.n_inputs for stage, after in zip(known.stages, known.stages[1:]))
    assert {"moments", "directions", "classifier"} <= set(dict(known.seconds))
    assert dict(known.choices)["alpha"] == "0.01"
    (columns,) = known.columns
    assert len(columns.lines) == 13 and columns.headings[:2] == ("name", "treatment")


def test_every_stage_has_words():
    known = facts(Subject.of(KernelFisherClassifier().fit(X / X.std(axis=0), y)))
    assert all(stage.words for stage in known.stages)


def test_tables_of_columns_in_any_form():
    class Step:
        pass

    records = [{"name": "age", "made_of": "dates", "empty": ""}, {"name": "sex", "made_of": "", "empty": ""}]
    for table in (records, pd.DataFrame(records)):
        step = Step()
        step.columns_ = table
        found = _column_facts(step)
        assert found.headings == ("name", "made of")
        assert found.lines == (("age", "dates"), ("sex", ""))
    assert _column_facts(Step()) is None
