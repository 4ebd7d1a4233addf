"""Everything a page shows, measured once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigenfeat.report.values.calibration import Calibration, calibration
from eigenfeat.report.values.columns import Columns, original_columns
from eigenfeat.report.values.components import MOST_ROWS, Components, Grouping, components, grouping
from eigenfeat.report.values.evaluation import Classification, Regression, classification, regressions
from eigenfeat.report.values.facts import Facts, facts
from eigenfeat.report.values.importance import Importance, importance
from eigenfeat.report.values.labels import Labels, labels
from eigenfeat.report.values.learning import LearningCurve, learning_curve
from eigenfeat.report.values.noise import AgainstNoise, against_noise
from eigenfeat.report.values.predictions import Predictions, predictions
from eigenfeat.report.values.subject import Subject


@dataclass(frozen=True, eq=False)
class Measured:
    """What was found; a string stands for a value that cannot be had, and says why.

    Attributes
    ----------
    subject : Subject
    facts : Facts
    predictions : Predictions or None
    classification : Classification or None
    regressions : list of Regression
    labels : Labels or None
        Of a model of many labels, instead of regressions.
    calibration : Calibration or None
    importance : Importance or str
    components : Components or str
    noise : AgainstNoise or str
    learning : LearningCurve or str
    columns : Columns or None
        Some rows in the user's columns.
    grouping : Grouping or None
        The groups these rows fall into.
    """

    subject: Subject
    facts: Facts
    predictions: Predictions | None
    classification: Classification | None
    regressions: list[Regression]
    labels: Labels | None
    calibration: Calibration | None
    importance: Importance | str
    components: Components | str
    noise: AgainstNoise | str
    learning: LearningCurve | str
    columns: Columns | None
    grouping: Grouping | None


def measure(subject: Subject, seconds: float | None = None, random_state: int = 0, n_jobs: Any = None) -> Measured:
    """All values of a page; importance, noise and learning curve take at most a third of ``seconds`` each."""
    third = None if seconds is None else seconds / 3
    found = predictions(subject, random_state)
    classified = classification(found, subject, random_state) if found and subject.kind == "classifier" else None
    many = labels(found, subject, random_state) if found else None
    numbers = []
    if found and subject.kind == "regressor" and many is None:
        numbers = regressions(found, random_state=random_state, target_names=subject.target_names)
    rows = None if subject.rows is None else subject.rows.sample(MOST_ROWS, random_state)
    return Measured(
        subject,
        facts(subject),
        found,
        classified,
        numbers,
        many,
        calibration(found) if classified and found else None,
        importance(subject, found, third, random_state) if found else _no_predictions(subject),
        components(subject, random_state),
        against_noise(subject, third, random_state, n_jobs),
        learning_curve(subject, found, third, random_state) if found else _no_predictions(subject),
        None if rows is None else original_columns(subject, rows.X),
        None if rows is None else grouping(subject, rows),
    )


def _no_predictions(subject: Subject) -> str:
    if subject.kind == "features":
        return f"{subject.name} makes features and predicts nothing, so there is no error to compare."
    return "It needs rows with known answers that the model has not seen, and this page was given none."
