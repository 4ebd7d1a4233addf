"""``eigenfeat explain``, ``info`` and ``list``: what a model is, what it looks at, and what there is to fit."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np

from eigenfeat.cli.data import Reading, read_rows
from eigenfeat.cli.importance import importance
from eigenfeat.cli.methods import DESCRIPTIONS, METHODS, class_names
from eigenfeat.cli.talk import Talk
from eigenfeat.export import load
from eigenfeat.export.archive import written_by

SHOWN = 12
SETTING = 60
"""Letters of a setting that are shown: some are arrays."""


def run_info(model: Path, talk: Talk) -> None:
    """What a model was fitted on, what it takes and what it was worth on held-out rows."""
    fitted = load(model)
    card = dict(getattr(fitted, "card_", {}))
    steps = [type(step).__name__ for _, step in getattr(fitted, "steps", [("", fitted)])]
    about = _about(model, fitted)
    talk.facts |= {"steps": steps, **about, **card}
    lines = [["file", str(model)], ["steps", " → ".join(steps)]]
    lines += [[name, _words(value)] for name, value in about.items() if name not in card]
    for name in ("method", "task", "label", "file", "rows", "rows fitted", "columns", "command", "seed"):
        if name in card:
            value = card[name]
            lines.append([f"fitted on {name}" if name == "file" else name, _words(value)])
    result = card.get("result") or {}
    if result:
        low, high = result["interval"]
        lines.append(["held-out error", f"{result['error']:.2%} (95 % interval {low:.2%} to {high:.2%})"])
        lines.append([result["baseline_words"], f"{result['baseline']:.2%}"])
    lines += [[f"version of {name}", str(value)] for name, value in dict(card.get("versions", {})).items()]
    talk.grid(lines)
    encoder = dict(getattr(fitted, "named_steps", {})).get("table")
    if encoder is not None:
        talk.facts["columns_"] = encoder.columns_.as_dict()
        head, *body = encoder.columns_.cells()
        talk.grid(body, head)


def _about(model: Path, fitted: Any) -> dict[str, Any]:
    """What any model file says of itself, one that was saved from Python too."""
    last = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    with model.open("rb") as stream:
        about: dict[str, Any] = {"saved by": written_by(stream)}
    defaults = {name: value.default for name, value in inspect.signature(type(last)).parameters.items()}
    changed = {n: v for n, v in last.get_params(deep=False).items() if repr(v) != repr(defaults.get(n))}
    about["settings"] = ", ".join(f"{name}={value!r}"[:SETTING] for name, value in changed.items()) or "as they come"
    about["columns"] = int(getattr(fitted, "n_features_in_", 0)) or "unknown"
    classes = getattr(last, "classes_", None)
    if classes is not None:
        shown = [str(label) for label in classes[:SHOWN]]
        about["classes"] = ", ".join(shown) + (f" and {len(classes) - SHOWN} more" if len(classes) > SHOWN else "")
    return about


def run_explain(model: Path, data: str | None, reading: Reading, talk: Talk) -> None:
    """Which columns matter: by shuffling them in rows with labels, and what the strongest directions are made of."""
    fitted = load(model)
    card = dict(getattr(fitted, "card_", {}))
    if data is not None:
        names = getattr(fitted, "feature_names_in_", None)
        labels = reading.labels or tuple(card.get("label", ()))
        reading = Reading(labels, reading.drop, reading.delimiter, reading.encoding)
        rows = read_rows(data, reading, None if names is None else list(map(str, names)), card.get("task") or None)
        if rows.y is None:
            raise ValueError(f"{data} has no labels to explain by: name their column with --label")
        found = importance(fitted, rows, card.get("task") or "classification", repeats=5)
    else:
        found = {name: tuple(values) for name, values in dict(card.get("importance", {})).items()}
        if not found:
            raise ValueError(
                f"{model} has no figures of its own: name rows to explain it by, eigenfeat explain {model} ROWS"
            )
    talk.facts["importance"] = found
    lines = [[name, f"{mean:.4f}", f"± {spread:.4f}"] for name, (mean, spread) in list(found.items())[:SHOWN]]
    talk.say("What is lost (loss added) when a column is shuffled:")
    talk.grid(lines, ["column", "lost", "spread"])
    directions = strongest(fitted)
    talk.facts["directions"] = directions
    if directions:
        talk.say("What the strongest directions are made of (columns in comparable units):")
        talk.grid(
            [[str(i + 1), ", ".join(f"{n} {w:+.2f}" for n, w in d.items())] for i, d in enumerate(directions)],
            ["", "direction"],
        )


def strongest(fitted: Any, n_directions: int = 3, n_columns: int = 5) -> list[dict[str, float]]:
    """The largest entries of the first directions, by the names of the columns they are of."""
    last = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    components = getattr(last, "components_", None)
    if components is None or np.ndim(components) != 2:
        return []
    names = _input_names(fitted, last)
    if len(names) != components.shape[1]:
        return []  # directions of a basis made of the columns, not of the columns
    found = []
    for direction in components[:n_directions]:
        scaled = direction / (np.abs(direction).max() or 1.0)
        order = np.argsort(-np.abs(scaled))[:n_columns]
        found.append({names[j]: round(float(scaled[j]), 3) for j in order})
    return found


def _input_names(fitted: Any, last: Any) -> list[str]:
    if hasattr(fitted, "steps") and len(fitted.steps) > 1:
        return [str(name) for name in fitted[:-1].get_feature_names_out()]
    names = getattr(last, "feature_names_in_", None)
    return [f"x{j}" for j in range(last.n_features_in_)] if names is None else [str(name) for name in names]


def run_list(talk: Talk) -> None:
    """Methods by the task they are for, and classes by their names."""
    talk.facts |= {"methods": {task: ["auto", *names] for task, names in METHODS.items()}, "classes": class_names()}
    for task, names in METHODS.items():
        talk.say(f"[bold]{task}[/]")
        talk.grid([[name, DESCRIPTIONS[name]] for name in ("auto", *names)])
    talk.say(f"Also any estimator by its class (--method FisherLDA -s ridge=0.1): {', '.join(class_names())}")


def _words(value: Any) -> str:
    return (
        ", ".join(map(str, value))
        if isinstance(value, list)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )
