"""Tables as graphs: an input a column, and what `TableEncoder` and the model behind it make of the cells."""

import numpy as np
import pandas as pd
import pytest

from eigenfeat import FisherLDA, GEMRegressor, TableEncoder, make_tabular, to_onnx

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(),
            "income": rng.lognormal(10, 1, n),
            "member": rng.choice([True, False], n),
            "paid": rng.choice(["yes", "no"], n),
            "city": rng.choice(["Rome", "Oslo", "Bonn", "Lima"], n, p=[0.5, 0.3, 0.19, 0.01]),
            "zone": rng.choice(["01", "02", "03"], n),
            "country": ["IT"] * n,
        }
    )
    y = np.where(frame["age"] + 20 * (frame["city"] == "Rome") + rng.normal(0, 5, n) > 52, "buys", "leaves")
    frame.loc[(y == "buys") & (rng.random(n) < 0.4), "income"] = np.nan
    frame.loc[(y == "buys") & (rng.random(n) < 0.4), "city"] = None
    frame.loc[rng.random(n) < 0.1, "paid"] = None
    return frame, y


def cells(frame: pd.DataFrame, session) -> dict[str, np.ndarray]:
    """The columns as the graph wants them: numbers with NaN, words with nothing for gaps."""
    found = {}
    for wanted in session.get_inputs():
        column = frame[wanted.name]
        if wanted.type == "tensor(string)":
            found[wanted.name] = np.array(["" if pd.isna(v) else str(v) for v in column], dtype=object)[:, None]
        else:
            kind = np.float32 if wanted.type == "tensor(float)" else np.float64
            found[wanted.name] = column.to_numpy(dtype=kind)[:, None]
    return found


def run(model, frame, **options):
    session = onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString())
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, cells(frame, session))))


def test_the_encoder_alone(table):
    frame, y = table
    encoder = TableEncoder().fit(frame, y)
    assert {"income=(missing)", "city=(missing)"} <= set(encoder.get_feature_names_out())
    np.testing.assert_allclose(run(encoder, frame)["features"], encoder.transform(frame), atol=1e-12)


def test_values_that_were_not_seen_gaps_and_infinities(table):
    frame, y = table
    encoder = TableEncoder().fit(frame, y)
    other = frame.head(8).copy()
    other["city"] = ["Rome", "Bergen", None, "n/a", "N/A", "", "Lima", "oslo"]
    other["paid"] = ["Yes", "NO", "no", "YES", "?", None, "perhaps", "yes"]
    other["income"] = [np.inf, -np.inf, np.nan, 1.0, 2.0, 0.0, -5.0, 1e12]
    with pytest.warns(UserWarning, match="count as missing"):
        expected = encoder.transform(other)
    np.testing.assert_allclose(run(encoder, other)["features"], expected, atol=1e-9)


@pytest.mark.parametrize("estimator", [None, FisherLDA(ridge=0.1)], ids=["GEMClassifier", "FisherLDA"])
def test_classes_of_a_table(table, estimator):
    frame, y = table
    model = make_tabular(estimator).fit(frame, y)
    found = run(model, frame)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=1e-9)
    np.testing.assert_array_equal(found["label"], model.predict(frame))


def test_a_number_of_a_table_in_single_precision(table):
    frame, _ = table
    y = frame["age"].to_numpy() / 10
    model = make_tabular(GEMRegressor(2), task="regression").fit(frame, y)
    found = run(model, frame, dtype=np.float32)["predictions"]
    np.testing.assert_allclose(found.ravel(), model.predict(frame).ravel(), atol=1e-3)


def test_dates_are_refused_by_name_with_a_way_out(table):
    frame, y = table
    dated = frame.assign(born=pd.date_range("2001-01-01", periods=len(frame)))
    with pytest.raises(ValueError, match=r"'born' is a date.*kinds=\{'born': 'drop'\}"):
        to_onnx(make_tabular(FisherLDA(ridge=0.1)).fit(dated, y))
    left = make_tabular(FisherLDA(ridge=0.1), encoder=TableEncoder(kinds={"born": "drop"})).fit(dated, y)
    np.testing.assert_array_equal(run(left, dated)["label"], left.predict(dated))


def test_a_column_with_the_name_of_an_output_is_refused(table):
    frame, y = table
    with pytest.raises(ValueError, match="called 'label'"):
        to_onnx(make_tabular(FisherLDA(ridge=0.1)).fit(frame.rename(columns={"age": "label"}), y))
