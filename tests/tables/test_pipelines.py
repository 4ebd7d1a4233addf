"""Tables to predictions in one pipeline."""

import pytest
from messy import messy_rows
from sklearn.linear_model import LogisticRegression

import eigenfeat
from eigenfeat import FisherLDA, GEMClassifier, GEMRegressor, make_tabular


def test_defaults_follow_the_task():
    assert isinstance(make_tabular()[-1], GEMClassifier)
    assert isinstance(make_tabular(task="regression")[-1], GEMRegressor)
    assert make_tabular()[0].columns == "none"  # GEM sees to sizes itself
    assert make_tabular(FisherLDA())[0].columns == "auto"
    with pytest.raises(ValueError, match="task 'x' is none of"):
        make_tabular(task="x")


@pytest.mark.parametrize("estimator", [FisherLDA(), LogisticRegression()], ids=lambda e: type(e).__name__)
def test_a_messy_table_is_saved_and_predicted(estimator, tmp_path):
    header, rows, label = messy_rows(400)
    X = {name: [row[j] for row in rows] for j, name in enumerate(header[:-1])}
    train, test = ({name: cells[part] for name, cells in X.items()} for part in (slice(300), slice(300, None)))
    model = make_tabular(estimator).fit(train, label[:300])
    assert model.score(test, label[300:]) > 0.75
    eigenfeat.save(model, tmp_path / "model.skops")
    assert (eigenfeat.load(tmp_path / "model.skops").predict(test) == model.predict(test)).all()
