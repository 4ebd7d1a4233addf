"""A fitted model as one HTML page: figures inside, no network, nothing to install to read it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from eigenfeat._runtime.files import check_destination, write_bytes
from eigenfeat.report.drawing.patterns import PatternStyle
from eigenfeat.report.plots import guess_image_shape
from eigenfeat.report.provenance import Provenance
from eigenfeat.report.sections.confusions import confusions
from eigenfeat.report.sections.directions import directions, noise
from eigenfeat.report.sections.fitted import fitted
from eigenfeat.report.sections.html import Section
from eigenfeat.report.sections.labels import by_label, going_together
from eigenfeat.report.sections.reproduce import reproduce, stages
from eigenfeat.report.sections.result import by_class, predicted_against_observed
from eigenfeat.report.sections.summary import summary
from eigenfeat.report.sections.trust import inputs, learning, probabilities
from eigenfeat.report.values.columns import column_names
from eigenfeat.report.values.measured import Measured, measure
from eigenfeat.report.values.subject import Rows, Subject


def write_report(model: Any, path: str | os.PathLike, X: Any = None, y: Any = None, **options: Any) -> Path:
    """Write the page of `render` to a file and return its path.

    Parameters
    ----------
    model, X, y, **options
        As in `render`.
    path : path
        The file, which appears whole or not at all.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from eigenfeat import FisherLDA
    >>> from eigenfeat.report import write_report
    >>> X, X_test, y, y_test = train_test_split(*load_iris(return_X_y=True), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.html"
    ...     page = write_report(FisherLDA().fit(X, y), path, X_test, y_test, train=(X, y))
    ...     "<h1>FisherLDA</h1>" in page.read_text()
    True
    """
    path = Path(path)
    check_destination(path)
    write_bytes(path, render(model, X, y, **options).encode())
    return path


def render(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    train: tuple[Any, Any] | None = None,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
    time_axis: Any = None,
    positions: Any = None,
    target_names: Sequence[str] = (),
    provenance: Provenance | None = None,
    time_budget: float | None = 30.0,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> str:
    """A page about a fitted model for readers who need know neither Python nor eigenvectors.

    It says what was fitted on what, how often the model is right beside what one would get without looking, which
    classes are confused and what tells them apart, which inputs matter, which directions are more than noise, whether
    probabilities can be believed and whether more rows would help, and how to do it all again. What a model cannot have
    is replaced by a sentence that says why.

    Parameters
    ----------
    model : fitted estimator, or a pipeline with one of ours in it
    X, y : optional
        Rows the model has not seen, and their true classes or targets. Without them, ``train`` is cross-validated.
    train : (X, y), optional
        The rows of the fit: for the learning curve, the test against noise and the patterns of directions.
    title : str, optional
    image_shape : (rows, columns), optional
        Columns are pixels; guessed from names such as pixel_7_3, or where the number of unnamed columns is a square.
    time_axis : (d,) array, optional
        Columns are a curve over this axis: time, frequency, wavelength.
    positions : (d, 2) array, optional
        Columns are sensors at these places, seen from above, the nose up.
    target_names : sequence of str, optional
        What targets or labels are called, where there are several.
    provenance : Provenance, optional
        The file, command and seed behind the model.
    time_budget : float or None
        Seconds that importance, the test against noise and the learning curve may take together; they do less where it
        is short, and say so. None does all.
    random_state : int
        Draws rows and shuffles.
    n_jobs : int, optional
        Fits to shuffled labels at a time.

    Returns
    -------
    str
        HTML that needs nothing else: style, script and figures are inside.
    """
    check_is_fitted(model)
    subject = Subject.of(
        model,
        None if X is None else Rows.of(X, y),
        None if train is None else Rows.of(train[0], train[1]),
        target_names,
        (provenance or Provenance()).n_fitted,
    )
    rows = subject.rows
    width = len(column_names(subject, None if rows is None else rows.X))
    shape = image_shape or (guess_image_shape(model, width) if time_axis is None and positions is None else None)
    style = PatternStyle.of(width, shape, time_axis, positions)
    found = measure(subject, time_budget, random_state, n_jobs)
    return _page(title or subject.name, subject.name, sections(found, style, provenance or Provenance()))


def sections(found: Measured, style: PatternStyle, origin: Provenance) -> list[Section]:
    """All sections that a model of this kind has, the answer first."""
    every: Iterable[Section | None] = (
        summary(found),
        fitted(found, origin),
        confusions(found, style),
        by_class(found.classification) if found.classification is not None else None,
        predicted_against_observed(found.regressions) if found.regressions else None,
        by_label(found.labels) if found.labels is not None else None,
        going_together(found.labels) if found.labels is not None else None,
        probabilities(found),
        inputs(found, style),
        learning(found),
        directions(found, style),
        noise(found),
        stages(found, origin),
        reproduce(found, origin),
    )
    return [section for section in every if section is not None]


def _page(title: str, kind: str, parts: list[Section]) -> str:
    here = files("eigenfeat.report")
    links = "".join(f'<a href="#{part.key}">{escape(part.title)}</a>' for part in parts)
    values = {
        "TITLE": escape(title),
        "KIND": escape(kind),
        "WHEN": datetime.now().astimezone().strftime("%Y-%m-%d %H:%M"),
        "STYLE": (here / "page.css").read_text("utf-8"),
        "LINKS": links,
        "SECTIONS": "".join(part.html() for part in parts),
        "SCRIPT": (here / "page.js").read_text("utf-8"),
    }
    page = (here / "page.html").read_text("utf-8")
    before, *rest = page.split("{{")
    return before + "".join(values[part.partition("}}")[0]] + part.partition("}}")[2] for part in rest)
