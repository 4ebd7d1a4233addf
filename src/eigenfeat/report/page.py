"""A fitted model as one HTML page: figures inside, no network, nothing to install to read it."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, precision_recall_fscore_support, r2_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenfeat._destination import check_destination, replace_file
from eigenfeat.report.plots import (
    component_groups,
    guess_image_shape,
    plot_components,
    plot_confusion,
    plot_pairs,
    plot_projection,
    plot_reliance,
    plot_spectrum,
)
from eigenfeat.stability import summarize

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: 0; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid #d5dbe1; }
p.note { color: #5b6875; margin-top: .2rem; }
table { border-collapse: collapse; margin: .8rem 0; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #e6eaee; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }
figcaption { color: #5b6875; font-size: .9rem; }
pre { background: #f4f6f8; padding: .8rem; white-space: pre-wrap; font-size: .82rem; line-height: 1.35; }
.headline { font-size: 1.25rem; }
.side-by-side { display: flex; flex-wrap: wrap; gap: 2rem; align-items: center; }
"""


def write_report(
    model: Any,
    path: str | os.PathLike,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
) -> Path:
    """Write the page of `render` to a file and return its path.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from eigenfeat import FisherLDA
    >>> from eigenfeat.report import write_report
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(FisherLDA().fit(X, y), pathlib.Path(folder) / "iris.html", X, y)
    ...     "<h1>FisherLDA</h1>" in page.read_text()
    True
    """
    path = Path(path)
    check_destination(path)
    replace_file(path, render(model, X, y, title=title, image_shape=image_shape).encode())
    return path


def render(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    image_shape: tuple[int, int] | None = None,
) -> str:
    """A page about a fitted model: what it is, how well it does, its spectrum and what its components look like.

    Parameters
    ----------
    model : fitted estimator, or a pipeline that ends in one
    X, y : optional
        Rows to evaluate and project, best rows the model has not seen.
    title : str, optional
    image_shape : (rows, columns), optional
        Draw directions as images of this shape; guessed where the number of unnamed features is a square.

    Returns
    -------
    str
        HTML with every figure embedded.
    """
    check_is_fitted(model)
    final = model[-1] if isinstance(model, Pipeline) else model
    inner = X if X is None or final is model else model[:-1].transform(X)
    sections = [_overview(final)]
    if X is not None and y is not None:
        sections.append(_evaluation(model, X, y))
    if hasattr(final, "eigenvalues_") and len(final.eigenvalues_):
        sections.append(_spectrum(final))
        if hasattr(final, "components_"):
            sections.append(_components(final, image_shape))
            if inner is not None and y is not None and not is_regressor(final):
                sections.append(_projections(final, inner, y))
        if inner is not None and hasattr(final, "reliance"):
            sections.append(_reliance(final, inner))
    if all(hasattr(final, name) for name in ("moments_", "eigenvalues_", "residuals_")):
        sections.append(_section("Stability", f"<pre>{escape(str(summarize(final)))}</pre>"))
    name = escape(title or type(final).__name__)
    when = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f'<body><h1>{name}</h1><p class="note">{escape(_versions())} · {when}</p>\n{"".join(sections)}</body></html>\n'
    )


def _overview(model: Any) -> str:
    rows: list[tuple[str, object]] = [("Estimator", type(model).__name__)]
    moments = getattr(model, "moments_", None)
    if moments is not None and hasattr(moments, "counts"):
        rows.append(("Training rows", f"{int(np.sum(moments.counts)):,}"))
    if hasattr(model, "n_features_in_"):
        rows.append(("Features", f"{model.n_features_in_:,}"))
    if hasattr(model, "classes_"):
        rows.append(("Classes", f"{len(model.classes_)}: {_short_list(model.classes_)}"))
    if hasattr(model, "eigenvalues_"):
        rows.append(("Components", len(model.eigenvalues_)))
    if hasattr(model, "solver_"):
        rows.append(("Solver", model.solver_))
    defaults = type(model)().get_params(deep=False)
    changed = {k: v for k, v in model.get_params(deep=False).items() if repr(v) != repr(defaults.get(k))}
    rows.append(("Parameters", ", ".join(f"{k}={v!r}"[:120] for k, v in changed.items()) or "all at their defaults"))
    return _section("Model", _table(("", ""), rows))


def _evaluation(model: Any, X: Any, y: Any) -> str:
    y = np.asarray(y)
    if is_regressor(model):
        score = r2_score(y, model.predict(X))
        return _section("Result", f'<p class="headline">R² = {score:.3f} on {len(y):,} rows</p>')
    if not is_classifier(model):
        return ""
    predicted = model.predict(X)
    classes = np.unique(np.concatenate([np.asarray(model.classes_), y]))
    precision, recall, f1, support = precision_recall_fscore_support(y, predicted, labels=classes, zero_division=0)
    wrong = int(np.sum(predicted != y))
    headline = f'<p class="headline">{accuracy_score(y, predicted):.2%} correct: {wrong:,} of {len(y):,} rows wrong</p>'
    body = _figure(lambda fig: plot_confusion(y, predicted, classes, fig.subplots()), (5.2, 4.8))
    if len(classes) <= 30:
        rows = [
            (c, n, f"{p:.1%}", f"{r:.1%}", f"{f:.3f}") for c, n, p, r, f in zip(classes, support, precision, recall, f1)
        ]
        body += _table(("class", "rows", "precision", "recall", "F1"), rows, numbers=True)
    return _section("Result", f'{headline}<div class="side-by-side">{body}</div>')


def _spectrum(model: Any) -> str:
    body = _figure(lambda fig: plot_spectrum(model, fig.subplots()), (7, 3.4))
    body += (
        '<p class="note">An eigenvalue is the ratio of signal to noise along its component: the larger, the more the '
        "component tells.</p>"
    )
    groups = component_groups(model)
    if len(groups) > 1 and all(" vs " in label for label in groups) and len(getattr(model, "classes_", ())) > 2:
        body += _figure(lambda fig: plot_pairs(model, fig.subplots()), (5.6, 4.6))
    return _section("Spectrum", body)


def _reliance(model: Any, X: Any) -> str:
    """What a linear last stage leans on; nothing for models without one."""
    try:
        directions = _figure(lambda fig: plot_reliance(model, X[:2000], ax=fig.subplots()), (6, 4.2))
        pairs = _figure(lambda fig: plot_reliance(model, X[:2000], by="pair", ax=fig.subplots()), (5.2, 4.4))
    except ValueError:  # another last stage, or a map that mixes directions
        return ""
    return _section("Reliance", f'<div class="side-by-side">{directions}{pairs}</div>')


def _components(model: Any, image_shape: tuple[int, int] | None) -> str:
    chosen = strongest(model, 8)
    images = (image_shape or guess_image_shape(model)) is not None
    columns = min(4 if images else 3, len(chosen))
    rows = -(-len(chosen) // columns)
    size = (2.25 * columns, 2.6 * rows) if images else (3.5 * columns, 3.0 * rows)

    def draw(kind: Any) -> Callable[[Any], Any]:
        def into(fig: Any) -> Any:
            axes = fig.subplots(rows, columns, squeeze=False)
            return plot_components(model, chosen, kind=kind, image_shape=image_shape, axes=axes)

        return into

    body = _figure(draw("components"), size, "Directions: how each feature is weighed.")
    if hasattr(model, "patterns_"):
        body += _figure(
            draw("patterns"),
            size,
            "Patterns: what the input looks like when the component is large (Haufe et al. 2014).",
        )
    return _section("Components", body)


def _projections(model: Any, X: Any, y: Any) -> str:
    chosen = strongest(model, 6)
    columns = min(3, len(chosen))
    rows = -(-len(chosen) // columns)

    def draw(fig: Any) -> None:
        axes = np.ravel(fig.subplots(rows, columns, squeeze=False))
        for ax, i in zip(axes, chosen):
            plot_projection(model, X, y, i, ax)
        for ax in axes[len(chosen) :]:
            ax.set_axis_off()

    return _section("Projections by class", _figure(draw, (3.5 * columns, 2.7 * rows)))


def strongest(model: Any, count: int) -> list[int]:
    """The components to show: the first ones, or the best of the strongest pairs where there are several."""
    groups = component_groups(model)
    if len(groups) == 1:
        return list(range(min(count, len(model.eigenvalues_))))
    best = [int(index[0]) for index in groups.values()]
    return sorted(best, key=lambda i: -model.eigenvalues_[i])[:count]


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{body}</section>\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]], numbers: bool = False) -> str:
    def line(tag: str, row: Sequence[object]) -> str:
        kinds = [' class="number"' if numbers and j else "" for j in range(len(row))]
        return "<tr>" + "".join(f"<{tag}{kind}>{escape(str(c))}</{tag}>" for kind, c in zip(kinds, row)) + "</tr>"

    head = line("th", header) if any(header) else ""
    return f"<table>{head}{''.join(line('td', row) for row in rows)}</table>"


def _figure(draw: Callable[[Any], Any], size: tuple[float, float], caption: str = "") -> str:
    """Draw into a figure of its own (no global state, no display) and embed it."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError as missing:
        raise ImportError("plots and reports need matplotlib: pip install 'eigenfeat[plot]'") from missing
    figure = Figure(figsize=size, dpi=160, layout=ConstrainedLayoutEngine(wspace=0.04, hspace=0.04))
    draw(figure)
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer)
    encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
    text = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    width = round(90 * size[0])
    image = f'<img width="{width}" alt="{escape(caption)}" src="data:image/png;base64,{encoded}">'
    return f"<figure>{image}{text}</figure>"


def _short_list(values: Any, limit: int = 12) -> str:
    shown = ", ".join(str(v) for v in values[:limit])
    return shown if len(values) <= limit else f"{shown}, ..."


def _versions() -> str:
    from eigenfeat import __version__

    parts = (
        ("eigenfeat", __version__),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
        ("scikit-learn", sklearn.__version__),
    )
    return " · ".join(f"{name} {version}" for name, version in parts)
