"""Models that plots and pages are made of."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from eigenfeat import FisherLDA, GEMClassifier, GEMRegressor
from eigenfeat.report.values.measured import measure
from eigenfeat.report.values.subject import Rows, Subject

matplotlib.use("Agg")

GEM = {"columns": "standardise", "base_map": None, "feature_map": "soft-cubic", "ridge": 0.3, "label_smoothing": 0.0}


@pytest.fixture(scope="module")
def iris():
    frame = load_iris(as_frame=True)
    return FisherLDA().fit(frame.data, frame.target), frame.data, frame.target


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return FisherLDA(ridge=0.1).fit(X, y), X, y


@pytest.fixture(scope="session")
def wine():
    """A GEM classifier of three wines, with the rows of its fit and others."""
    data = load_wine(as_frame=True)
    y = np.array(["red <&>", "white", "rosé"])[data.target]
    X, X_test, y, y_test = train_test_split(data.data, y, test_size=0.4, random_state=0, stratify=y)
    model = GEMClassifier(alpha=1e-2, **GEM).fit(X, y)
    return Subject.of(model, Rows.of(X_test, y_test), Rows.of(X, y))


@pytest.fixture(scope="session")
def measured_wine(wine):
    return measure(wine)


@pytest.fixture(scope="session")
def measured_diabetes():
    """A regressor."""
    data = load_diabetes(as_frame=True)
    X, X_test, y, y_test = train_test_split(data.data, data.target, test_size=0.4, random_state=0)
    model = GEMRegressor(4, n_slices=3, columns=None).fit(X, y)
    return measure(Subject.of(model, Rows.of(X_test, y_test), Rows.of(X, y)), seconds=5.0)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
