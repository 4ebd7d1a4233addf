"""A page stands alone, and has the sections that make sense for its model."""

import base64
import inspect
import re
import struct
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import eigenfeat
from eigenfeat import FisherLDA, OrientedPCA, SlicedInverseRegression
from eigenfeat.report import (
    render,
)

ESTIMATORS = [
    cls
    for _, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls)
]


def test_page_stands_alone_and_its_figures_are_images(digits):
    model, X, y = digits
    page = render(model, X, y, title="Digits <&>")
    assert "<h1>Digits &lt;&amp;&gt;</h1>" in page
    assert not re.search(r'(src|href)="(?!data:)', page)
    figures = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", page)
    assert len(figures) == 5
    for figure in figures:
        head = base64.b64decode(figure)[:24]
        assert head.startswith(b"\x89PNG")
        assert min(struct.unpack(">II", head[16:24])) > 200
    wrong = np.sum(model.predict(X) != y)
    assert f"{wrong} of 1,797 rows wrong" in page
    assert "ridge=0.1" in page


@pytest.mark.parametrize(
    ("model", "titles"),
    [
        (OrientedPCA(n_components=2), ["Model", "Spectrum", "Components", "Projections by class", "Stability"]),
        (SlicedInverseRegression(), ["Model", "Spectrum", "Components", "Projections by class", "Stability"]),
        (
            make_pipeline(StandardScaler(), FisherLDA()),
            ["Model", "Result", "Spectrum", "Components", "Projections by class", "Stability"],
        ),
    ],
    ids=["transformer", "inverse regression", "pipeline"],
)
def test_page_has_the_sections_that_make_sense(model, titles):
    X, y = load_iris(return_X_y=True)
    page = render(model.fit(X, y), X, y)
    assert re.findall(r"<h2>(.*?)</h2>", page) == titles
    assert "Result" not in re.findall(r"<h2>(.*?)</h2>", render(model))


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_page(cls):
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    if get_tags(cls()).input_tags.three_d_array:  # trials whose power is that of the row
        X = X[:, :, None] * np.random.default_rng(0).normal(size=(*X.shape, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls().fit(X, X[:, 0] if is_regressor(cls()) else y)
        page = render(model, X, y)
    assert f"<h1>{cls.__name__}</h1>" in page
    assert page.endswith("</html>\n")
