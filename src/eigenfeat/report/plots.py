"""Plots of fitted models. Each function draws into given axes, or new ones, and returns them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.metrics import confusion_matrix

from eigenfeat.stages import Chain

SIGNAL, NOISE = "#2a6f97", "#9aa5b1"
DIVERGING, SEQUENTIAL = "RdBu_r", "Blues"


def plot_spectrum(model: Any, ax: Any = None) -> Any:
    """Eigenvalues by rank: bars for one quotient, one line a class pair for several.

    Parameters
    ----------
    model : fitted estimator with ``eigenvalues_`` (and ``pairs_``, where there are several quotients)
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    values = np.asarray(model.eigenvalues_, dtype=np.float64)
    groups = component_groups(model)
    if len(groups) == 1:
        ranks = np.arange(1, len(values) + 1)
        ax.bar(ranks, values, color=SIGNAL, width=0.7)
        ax.set_xlim(0.4, max(len(values), 5) + 0.6)
    else:
        strongest = sorted(groups, key=lambda label: -values[groups[label]].max())[:5]
        for label, index in groups.items():
            ranks = np.arange(1, len(index) + 1)
            if label not in strongest:
                ax.plot(ranks, values[index], color=NOISE, linewidth=0.7, alpha=0.5)
        for label in strongest:
            ax.plot(np.arange(1, len(groups[label]) + 1), values[groups[label]], marker="o", markersize=3, label=label)
        ax.legend(title="strongest pairs", frameon=False, fontsize="small")
    positive = values[values > 0]
    if len(positive) and values.min() > 0 and positive.max() > 30 * positive.min():
        ax.set_yscale("log")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel="component", ylabel="eigenvalue (signal / noise)", title="Spectrum")
    return ax


def plot_pairs(model: Any, ax: Any = None) -> Any:
    """Largest eigenvalue of every ordered class pair, of any sub-classes: rows are the signal class, columns the noise.

    Parameters
    ----------
    model : fitted estimator with ``pairs_``
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    values = np.asarray(model.eigenvalues_, dtype=np.float64)
    names = [str(c) for c in model.classes_]
    grid = np.full((len(names), len(names)), np.nan)
    for label, index in component_groups(model).items():
        ends = [name if name in names else name.rsplit("/", 1)[0] for name in label.split(" vs ")]
        if len(ends) == 2 and ends[0] in names and ends[1] in names:
            cell = names.index(ends[0]), names.index(ends[1])
            grid[cell] = np.fmax(grid[cell], values[index].max())
    image = ax.imshow(grid, cmap=SEQUENTIAL, norm="log")
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="eigenvalue")
    _name_ticks(ax, names)
    ax.set(xlabel="noise class", ylabel="signal class", title="Largest eigenvalue of each pair")
    return ax


def plot_reliance(model: Any, X: Any, by: Literal["direction", "pair"] = "direction", ax: Any = None) -> Any:
    """What a GEM classifier leans on: its 15 most relied-on directions as bars, or all class pairs as a grid.

    Parameters
    ----------
    model : fitted `GEMClassifier`
    X : array
        Rows to judge by; a thousand are plenty.
    by : {"direction", "pair"}
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    reliance, pairs = model.reliance(X)
    if by == "direction":
        top = np.argsort(-reliance, kind="stable")[:15][::-1]
        rank: dict[tuple, list[int]] = {}
        for j, pair in enumerate(map(tuple, pairs.tolist())):
            rank.setdefault(pair, []).append(j)
        names = [f"{a} vs {b}, no. {rank[a, b].index(j) + 1}" for j in top for a, b in [tuple(pairs[j].tolist())]]
        ax.barh(np.arange(len(top)), 100 * reliance[top], color=SIGNAL)
        ax.set_yticks(np.arange(len(top)), names, fontsize="small")
        ax.set(xlabel="share of the scores' variance, %", title="Directions the classifier leans on")
        return ax
    names = list(dict.fromkeys(str(name) for pair in pairs for name in pair))
    grid = np.full((len(names), len(names)), np.nan)
    for (a, b), share in zip(pairs, reliance):
        cell = names.index(str(a)), names.index(str(b))
        grid[cell] = 100 * share + (0 if np.isnan(grid[cell]) else grid[cell])
    image = ax.imshow(grid, cmap=SEQUENTIAL)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="share of the scores' variance, %")
    _name_ticks(ax, names)
    ax.set(xlabel="noise class", ylabel="signal class", title="Pairs the classifier leans on")
    return ax


def plot_components(
    model: Any,
    index: Sequence[int] | None = None,
    *,
    kind: Literal["components", "patterns"] = "components",
    image_shape: tuple[int, int] | None = None,
    axes: Any = None,
) -> np.ndarray:
    """Directions (what a component weighs) or patterns (what it looks like in the input).

    Parameters
    ----------
    model : fitted estimator with ``components_`` (and ``patterns_``)
    index : sequence of int, optional
        Components to draw; the first eight by default.
    kind : {"components", "patterns"}
    image_shape : (rows, columns), optional
        Draw each as an image. Guessed where the number of features is a square and they have no names; otherwise
        the ten largest weights are drawn as bars.
    axes : array of matplotlib axes, optional

    Returns
    -------
    array of axes
    """
    vectors = np.asarray(model.components_ if kind == "components" else model.patterns_)
    index = list(range(min(8, len(vectors)))) if index is None else list(index)
    shape = image_shape or guess_image_shape(model)
    axes = np.ravel(_row_of_axes(len(index), shape is not None) if axes is None else axes)
    labels = component_labels(model)
    for ax, i in zip(axes, index):
        if shape is not None:
            limit = np.abs(vectors[i]).max() or 1.0
            ax.imshow(vectors[i].reshape(shape), cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
            ax.set_axis_off()
        else:
            _bars(ax, vectors[i], feature_names(model))
        ax.set_title(labels[i], fontsize="small")
    for ax in axes[len(index) :]:
        ax.set_axis_off()
    return axes


def plot_projection(model: Any, X: Any, y: Any, component: int = 0, ax: Any = None) -> Any:
    """Box plot of one projection, a box a class.

    Parameters
    ----------
    model : fitted estimator with ``components_``
    X, y
        Rows and labels.
    component : int
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    projected = project(model, X, [component])[:, 0]
    y = np.asarray(y)
    classes = np.unique(y)
    ax.boxplot(
        [projected[y == c] for c in classes],
        widths=0.65,
        patch_artist=True,
        flierprops={"marker": ".", "markersize": 2, "markeredgecolor": NOISE},
        medianprops={"color": "white", "linewidth": 1.5},
        boxprops={"facecolor": SIGNAL, "edgecolor": SIGNAL},
        whiskerprops={"color": SIGNAL},
        capprops={"color": SIGNAL},
    )
    ax.set_xticks(np.arange(1, len(classes) + 1), [str(c) for c in classes], rotation=_tilt(classes))
    ax.set_title(component_labels(model)[component], fontsize="small")
    ax.set(xlabel="class", ylabel="projection")
    return ax


def plot_confusion(y_true: Any, y_pred: Any, labels: Any = None, ax: Any = None) -> Any:
    """Rows of each class by the class they were given; the colour is the share of the row's class.

    Parameters
    ----------
    y_true, y_pred : (n,) arrays
    labels : (k,) array, optional
        Classes and their order.
    ax : matplotlib axes, optional

    Returns
    -------
    axes
    """
    ax = _axes(ax)
    labels = np.unique(np.concatenate([y_true, y_pred])) if labels is None else np.asarray(labels)
    counts = confusion_matrix(y_true, y_pred, labels=labels)
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    ax.imshow(shares, cmap=SEQUENTIAL, vmin=0, vmax=1)
    if len(labels) <= 20:
        for (i, j), count in np.ndenumerate(counts):
            if count:
                colour = "white" if shares[i, j] > 0.5 else "black"
                ax.text(j, i, str(count), ha="center", va="center", color=colour, fontsize="small")
    _name_ticks(ax, [str(c) for c in labels])
    ax.set(xlabel="predicted", ylabel="true", title="Confusion matrix")
    return ax


def project(model: Any, X: Any, index: Sequence[int]) -> np.ndarray:
    """The projections of rows on the chosen components, by the model's own chain."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    stages = model.fitted_.features.stages
    before = getattr(model, "_inputs", Chain())  # columns treated, and a base map, whose projections are not components
    after = Chain(stages[len(before.stages) :]).projecting
    return before.then(*after.stages).at(X)[:, list(index)]  # type: ignore[union-attr]


def component_groups(model: Any) -> dict[str, np.ndarray]:
    """Components by the quotient they solve: label -> indices, strongest first."""
    pairs = getattr(model, "pairs_", None)
    count = len(model.eigenvalues_)
    if pairs is None or len(pairs) != count:
        return {"": np.arange(count)}
    groups: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        label = pair if isinstance(pair, str) else " vs ".join(str(end) for end in pair)
        groups.setdefault(label, []).append(i)
    return {label: np.array(index) for label, index in groups.items()}


def component_labels(model: Any) -> list[str]:
    """ "3 vs 8, λ = 12.1" for every component."""
    labels = [""] * len(model.eigenvalues_)
    for label, index in component_groups(model).items():
        for rank, i in enumerate(index, start=1):
            name = f"{label} #{rank}" if label else f"component {i + 1}"
            labels[i] = f"{name}\nλ = {model.eigenvalues_[i]:.3g}"
    return labels


def feature_names(model: Any) -> list[str]:
    width = model.components_.shape[1]
    names = getattr(model, "feature_names_in_", ())
    return [str(name) for name in names] if len(names) == width else [f"x{j}" for j in range(width)]


def guess_image_shape(model: Any, n_columns: int | None = None) -> tuple[int, int] | None:
    """From names such as pixel_7_3, or, for unnamed features, when their number is the square of at least 8.

    ``n_columns`` are those that are looked at, where they are not what the directions live in.
    """
    if n_columns is None:
        if getattr(model, "base_map_", None) is not None:
            return None  # its components live in the space of the map
        n_columns = model.n_features_in_
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        places = [re.fullmatch(r"\D+(\d+)_(\d+)", str(name)) for name in names]
        if not all(places):
            return None
        shape = tuple(1 + max(int(place[k]) for place in places if place) for k in (1, 2))
        return (shape[0], shape[1]) if shape[0] * shape[1] == len(names) else None
    side = round(n_columns**0.5)
    return (side, side) if side >= 8 and side**2 == n_columns else None


def _bars(ax: Any, vector: np.ndarray, names: list[str]) -> None:
    largest = np.argsort(-np.abs(vector))[:10][::-1]
    colours = [SIGNAL if vector[j] >= 0 else "#c1584a" for j in largest]
    ax.barh(np.arange(len(largest)), vector[largest], color=colours)
    ax.set_yticks(np.arange(len(largest)), [names[j] for j in largest], fontsize="x-small")
    ax.axvline(0, color="black", linewidth=0.6)
    ax.tick_params(axis="x", labelsize="x-small")


def _name_ticks(ax: Any, names: list[str]) -> None:
    step = max(1, len(names) // 20)
    ticks = np.arange(0, len(names), step)
    ax.set_xticks(ticks, names[::step], rotation=_tilt(names))
    ax.set_yticks(ticks, names[::step])


def _tilt(names: Any) -> int:
    return 90 if max((len(str(name)) for name in names), default=0) * len(names) > 60 else 0


def _axes(ax: Any) -> Any:
    return _pyplot().subplots(layout="constrained")[1] if ax is None else ax


def _row_of_axes(count: int, images: bool) -> np.ndarray:
    columns = min(count, 4)
    rows = -(-count // columns)
    size = (2.0 * columns, 2.3 * rows) if images else (3.2 * columns, 2.8 * rows)
    return _pyplot().subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")[1]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("plots and reports need matplotlib: pip install 'eigenfeat[plot]'") from missing
    return plt
