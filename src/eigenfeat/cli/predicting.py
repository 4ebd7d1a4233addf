"""``eigenfeat predict`` and ``transform``: rows in, answers out, some ten thousand at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import is_classifier, is_regressor

from eigenfeat._runtime.progress import report
from eigenfeat._runtime.threads import thread_pool, usable_threads
from eigenfeat.cli.data import Reading, target
from eigenfeat.cli.evaluation import Result, classification, multilabel, regression
from eigenfeat.cli.talk import Talk
from eigenfeat.export import load
from eigenfeat.rows import read_table
from eigenfeat.rows.read_ahead import map_ahead
from eigenfeat.rows.readers.columns import as_numbers
from eigenfeat.rows.readers.options import check_columns, usual_label
from eigenfeat.rows.readers.sources import is_svmlight
from eigenfeat.rows.readers.tables import Part, TableSource
from eigenfeat.rows.writers import table_writer
from eigenfeat.tables.plans import NumberPlan

Answer = Callable[[Any], dict[str, np.ndarray]]


def run_predict(
    model: Path, data: str, reading: Reading, keep: Sequence[str], proba: bool, output: Path | None, talk: Talk
) -> None:
    """Predict every row; compare with labels where they are named."""
    fitted = load(model)
    if not hasattr(fitted, "predict"):
        raise ValueError(f"{_called(fitted)} does not predict; use: eigenfeat transform {model} {data}")
    if proba and not hasattr(fitted, "predict_proba"):
        raise ValueError(f"{_called(fitted)} gives no probabilities; leave out --proba")
    labels = _label_names(fitted)

    def answer(X: Any) -> dict[str, np.ndarray]:
        if not proba:
            return _named_predictions(np.asarray(fitted.predict(X)), labels)
        shares = fitted.predict_proba(X)
        columns = {"prediction": np.asarray(fitted.classes_)[np.argmax(shares, axis=1)]}
        return columns | {f"p({c})": p for c, p in zip(fitted.classes_, shares.T)}

    n_rows, said, truth = _stream(fitted, data, reading, keep, answer, output, talk)
    talk.facts |= {"rows": n_rows, "output": None if output is None else str(output)}
    if truth is not None:
        result = _compared(fitted, said, truth)
        talk.facts["result"] = result.as_dict()
        _tell(talk, result)
    if output is not None:
        talk.say(f"{n_rows:,} predictions  {output}", to_screen=True)


def run_transform(
    model: Path, data: str, reading: Reading, keep: Sequence[str], output: Path | None, talk: Talk
) -> None:
    """Write the features of every row."""
    fitted = load(model)
    features = _features_of(fitted)
    if features is None:
        raise ValueError(f"{_called(fitted)} makes no features; use: eigenfeat predict {model} {data}")

    def answer(X: Any) -> dict[str, np.ndarray]:
        names, values = features(X)
        return dict(zip(names, np.asarray(values).T))

    n_rows, _, _ = _stream(fitted, data, reading, [*keep, *reading.labels], answer, output, talk)
    talk.facts |= {"rows": n_rows, "output": None if output is None else str(output)}
    if output is not None:
        talk.say(f"features of {n_rows:,} rows  {output}", to_screen=True)


@dataclass(frozen=True, eq=False)
class Answered:
    """A part of the rows: how many, the columns to write, and answers and labels where these are to be compared."""

    n_rows: int
    table: pa.Table
    said: dict[str, np.ndarray]
    truth: Any


def _stream(
    fitted: Any,
    data: str,
    reading: Reading,
    keep: Sequence[str],
    answer: Answer,
    output: Path | None,
    talk: Talk,
) -> tuple[int, dict[str, np.ndarray], np.ndarray | None]:
    """Answers to all rows of a file, written as they come; how many, the first column of answers, and labels."""
    parts: list[Answered] = []
    n_rows = 0
    file = None if is_svmlight(data) else reading.open(data)
    with talk.progress("predicting"), table_writer(output) as write:
        for part in _in_threads(_parts(fitted, data, file, reading, keep, answer, talk)):
            if part.n_rows:
                write(part.table)
                n_rows += part.n_rows
                report(f"{n_rows:,} rows")
            if part.truth is not None:
                parts.append(part)
    if not n_rows:
        raise ValueError(f"{data} has no rows")
    names = list(parts[0].said) if parts else []
    joined = {name: np.concatenate([part.said[name] for part in parts]) for name in names}
    return n_rows, joined, _truth(fitted, [part.truth for part in parts], reading, file) if parts else None


def _truth(fitted: Any, parts: list[Any], reading: Reading, file: TableSource | None) -> np.ndarray:
    """Labels of all rows: what cells of text mean, all of them together say."""
    if file is None:
        return np.concatenate(parts)
    task = dict(getattr(fitted, "card_", {})).get("task") or None
    return target(pa.concat_tables(parts, promote_options="permissive"), reading.labels, file, task)


def _parts(
    fitted: Any,
    data: str,
    file: TableSource | None,
    reading: Reading,
    keep: Sequence[str],
    answer: Answer,
    talk: Talk,
) -> Iterator[Callable[[], Answered]]:
    """Functions that read, encode and answer some rows each."""
    if file is None:
        table = read_table(data)
        yield lambda: _answered(answer, table.X, {}, table.y if reading.labels else None)
        return
    for note in file.notes:
        talk.warn(note)
    names = _columns_of(fitted, file.names, reading)
    check_columns(file.place, file.names, names)
    keep = [*dict.fromkeys([*keep, *(name for name in _ids(fitted) if name in file.names)])]
    check_columns(file.place, file.names, [*names, *keep, *reading.labels])
    needed = [*dict.fromkeys([*names, *keep, *reading.labels])]
    numbers = dict.fromkeys(set(_plain_numbers(fitted)) - {*keep, *reading.labels}, pa.float64())

    def answered(part: Part) -> Answered:
        block = part.table
        truth = block.select(reading.labels) if reading.labels and len(block) else None
        kept = {name: block.column(name) for name in keep}
        return _answered(answer, _as_taken(fitted, part, names), kept, truth)

    for part in _read_ahead(file.parts(needed, numbers)):
        yield partial(answered, part)


def _answered(answer: Answer, X: Any, kept: dict[str, Any], truth: Any) -> Answered:
    if not X.shape[0]:
        return Answered(0, pa.table({}), {}, None)
    answers = answer(X)
    said = {} if truth is None else {name: values for name, values in answers.items() if not name.startswith("p(")}
    table = pa.table(kept | {name: pa.array(values) for name, values in answers.items()})
    return Answered(X.shape[0], table, said, truth)


def _in_threads(parts: Iterator[Callable[[], Answered]]) -> Iterator[Answered]:
    """What the functions return, in their order; a core works on each, and few wait."""
    n_threads = usable_threads()
    with thread_pool(n_threads) as pool:
        yield from map_ahead(pool, _call, parts, 2 * n_threads)


def _call(function: Callable[[], Answered]) -> Answered:
    return function()


def _plain_numbers(fitted: Any) -> list[str]:
    """Columns that the model takes for numbers in the plain notation."""
    encoder = dict(getattr(fitted, "named_steps", {})).get("table")
    plans = () if encoder is None else encoder.plans_
    return [plan.name for plan in plans if isinstance(plan, NumberPlan) and plan.notation == "plain"]


def _read_ahead(blocks: Iterator[Any]) -> Iterator[Any]:
    """Blocks, read while others are answered, by a thread that a process need not wait for when it is to end.

    A thread that waits for the standard input cannot be told to stop.
    """
    ready: Queue[tuple[Any, BaseException | None]] = Queue(maxsize=2)

    def read() -> None:
        try:
            for block in blocks:
                ready.put((block, None))
            ready.put((None, None))
        except BaseException as problem:
            ready.put((None, problem))

    Thread(target=read, daemon=True).start()
    while True:
        block, problem = ready.get()
        if problem is not None:
            raise problem
        if block is None:
            return
        yield block


def _as_taken(fitted: Any, part: Part, names: Sequence[str]) -> Any:
    """The table itself for an encoder; numbers for a model without one."""
    table = part.table.select(names)
    if "table" in dict(getattr(fitted, "named_steps", {})):
        return table
    float64 = np.dtype(np.float64)
    return np.column_stack([as_numbers(table[name], name, float64, part.place, part.where) for name in names])


def _columns_of(fitted: Any, there: Sequence[str], reading: Reading) -> list[str]:
    names = getattr(fitted, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names]
    apart = {*reading.labels, *reading.drop, usual_label(there)}
    return [name for name in there if name not in apart]


def _ids(fitted: Any) -> list[str]:
    """Columns that the encoder took for identifiers: answers are worth little without them."""
    encoder = dict(getattr(fitted, "named_steps", {})).get("table")
    return [] if encoder is None else [column.name for column in encoder.columns_ if column.kind == "id"]


def _label_names(fitted: Any) -> list[str]:
    return list(dict(getattr(fitted, "card_", {})).get("label", []))


def _named_predictions(predicted: np.ndarray, labels: Sequence[str]) -> dict[str, np.ndarray]:
    if predicted.ndim == 1 or predicted.shape[1] == 1:
        return {"prediction": predicted.ravel()}
    names = labels if len(labels) == predicted.shape[1] else [str(j) for j in range(predicted.shape[1])]
    return {f"prediction {name}": column for name, column in zip(names, predicted.T)}


def _compared(fitted: Any, said: dict[str, np.ndarray], truth: np.ndarray) -> Result:
    predicted = np.column_stack(list(said.values())) if len(said) > 1 else next(iter(said.values()))
    if is_classifier(fitted):
        if predicted.dtype.kind != truth.dtype.kind and "U" in (predicted.dtype.kind, truth.dtype.kind):
            predicted, truth = predicted.astype(str), truth.astype(str)
        return classification(truth, predicted, None, np.unique(predicted), truth)
    if is_regressor(fitted) and dict(getattr(fitted, "card_", {})).get("task") == "multilabel":
        return multilabel(truth, predicted, truth)
    return regression(truth.astype(float), predicted, truth.astype(float))


def _tell(talk: Talk, result: Result) -> None:
    if result.task == "regression":
        talk.say(f"R² = {1 - result.error:.4f} on {result.rows:,} rows", to_screen=True)
    else:
        low, high = result.interval
        talk.say(
            f"{result.error:.2%} wrong of {result.rows:,} rows (95 % interval {low:.2%} to {high:.2%}; "
            f"{result.baseline_words}: {result.baseline:.2%})",
            to_screen=True,
        )


def _features_of(fitted: Any) -> Callable[[Any], tuple[list[str], np.ndarray]] | None:
    """What makes features of rows: a pipeline's steps, the last one by its own features where it is a classifier."""
    steps = getattr(fitted, "steps", None)
    last = fitted if steps is None else steps[-1][1]
    before = (lambda X: X) if steps is None or len(steps) == 1 else fitted[:-1].transform
    if hasattr(last, "transform"):
        names = [str(name) for name in last.get_feature_names_out()]
        return lambda X: (names, last.transform(before(X)))
    if steps is not None and len(steps) > 1:  # nothing is made after the encoder: its columns are the features
        names = [str(name) for name in fitted[:-1].get_feature_names_out()]
        return lambda X: (names, before(X))
    return None


def _called(fitted: Any) -> str:
    card = dict(getattr(fitted, "card_", {}))
    return str(card.get("method", type(fitted).__name__))
