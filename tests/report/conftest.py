"""Models that plots and pages are made of."""

import matplotlib
import matplotlib.pyplot as plt
import pytest
from sklearn.datasets import load_digits, load_iris

from eigenfeat import FisherLDA

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def iris():
    frame = load_iris(as_frame=True)
    return FisherLDA().fit(frame.data, frame.target), frame.data, frame.target


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return FisherLDA(ridge=0.1).fit(X, y), X, y


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")
