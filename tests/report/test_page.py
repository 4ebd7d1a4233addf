"""A page stands alone, and has the sections that make sense for its model."""

import inspect
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_regressor
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import eigenfeat
from eigenfeat import CommonSpatialPatterns, FisherLDA, GEMFeatures, GEMRegressor, KernelFisherClassifier, OrientedPCA
from eigenfeat.report import Provenance, render, write_report

ESTIMATORS = [
    cls
    for _, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls)
]
X, y = load_iris(return_X_y=True)
EVERY = ["summary", "fitted", "inputs", "learning", "directions", "noise", "stages", "reproduce"]
OF_CLASSES = ["confusions", "classes", "probabilities"]


class Balanced(HTMLParser):
    """Every tag that is opened is closed, and every identifier is there once."""

    void = {"meta", "img", "br", "input", "link", "circle", "path", "rect", "image"}

    def __init__(self, text):
        super().__init__()
        self.open, self.ids = [], []
        self.feed(text)
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag, attrs):
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in self.void or self.open[-1] == tag:
            assert self.open.pop() == tag


def sections_of(page):
    return re.findall(r'<section id="([\w-]+)"', page)


def test_page_stands_alone(digits, tmp_path):
    model, X, y = digits
    page = render(model, X, y, title="Digits <&>", time_budget=3.0, provenance=Provenance(command="make it < so"))
    assert "<h1>Digits &lt;&amp;&gt;</h1>" in page and "make it &lt; so" in page
    Balanced(page)
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert len(page) < 2_000_000
    assert "how well it remembers" in page  # these are the rows of the fit
    assert page.count("<svg") == page.count('role="img"')
    assert "ridge = 0.1" in page
    assert "{{" not in page


def test_the_file_is_the_page(tmp_path):
    path = write_report(FisherLDA().fit(X, y), tmp_path / "page.html", title="Irises")
    assert "<h1>Irises</h1>" in path.read_text("utf-8")
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(FisherLDA().fit(X, y), tmp_path / "nowhere" / "page.html")


@pytest.mark.parametrize(
    ("model", "sections"),
    [
        (OrientedPCA(n_components=2), EVERY),
        (GEMFeatures(1), [*EVERY, "pairs-of-classes"]),
        (GEMRegressor(2, n_slices=3), [*EVERY, "predictions"]),
        (KernelFisherClassifier(), EVERY + OF_CLASSES),
        (make_pipeline(StandardScaler(), FisherLDA()), EVERY + OF_CLASSES),
        (make_pipeline(StandardScaler(), GEMFeatures(1), LogisticRegression()), EVERY + OF_CLASSES),
    ],
    ids=["transformer", "pairs", "regressor", "kernel", "pipeline", "ours inside"],
)
def test_page_has_the_sections_that_make_sense(model, sections):
    target = X[:, 3] if is_regressor(model) else y
    model.fit(X[::2], target[::2])
    page = render(model, X[1::2], target[1::2], train=(X[::2], target[::2]), time_budget=3.0)
    assert sorted(sections_of(page)) == sorted(sections)
    Balanced(page)
    without = sections_of(render(model))
    assert "classes" not in without and "predictions" not in without


def test_images_curves_and_maps(digits):
    model = digits[0]
    assert 'class="pixels"' in render(model)
    assert 'class="pixels"' not in render(model, time_axis=np.arange(64))
    assert 'class="head"' in render(model, positions=np.random.default_rng(0).normal(size=(64, 2)))
    trials = np.random.default_rng(0).normal(size=(30, 4, 50))
    csp = CommonSpatialPatterns(2).fit(trials, np.repeat([0, 1], 15))
    assert 'class="head"' in render(csp, trials, np.repeat([0, 1], 15), positions=np.eye(4, 2), time_budget=1.0)


def test_the_same_rows_and_seed_give_the_same_figures():
    model = FisherLDA().fit(X[::2], y[::2])
    first, second = (render(model, X[1::2], y[1::2], train=(X[::2], y[::2]), time_budget=None) for _ in range(2))
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", first) == re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "", second)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_page(cls):
    rows, target = X[::3], y[::3]
    if get_tags(cls()).input_tags.three_d_array:  # trials whose power is that of the row
        rows = rows[:, :, None] * np.random.default_rng(0).normal(size=(*rows.shape, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls().fit(rows, X[::3, 0] if is_regressor(cls()) else target)
        page = render(model, rows, target, time_budget=0.5)
    assert f"<h1>{cls.__name__}</h1>" in page
    assert page.endswith("</html>\n")
