"""FEAST on the two pieces of a Swiss roll (paper, figures 1 and 6): score fields redrawn, and the pieces told apart.

The roll is x(ζ) = (ζ cos ζ, ζ sin ζ) with ζ evenly spaced in [5, 8] and [9, 12], 2000 points each, a class a piece.
A denoising auto-encoder learns the score without labels; the figure shows S1 as arrows and the top eigenvectors of
S2 and S3 at each point. Third-order components of labelled points feed a linear classifier, which is tested on
held-out points. Random directions with the same map do as well there: the plane has few directions.

The second task (`--part stripes`) needs the tensor's: two hidden directions of a Gaussian in twenty columns, along
each of which a sign changes at -c, 0 and c, c² = 2 log 2, four classes in all. That c makes the first derivatives
vanish in the mean, and the signs are odd: neither means (order 1, Fisher's directions) nor second moments (order 2,
GEM) of the classes differ. The hidden directions vary as little as any, so the leading principal axes miss them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenfeat import DenoisingAutoencoder, ScoreTensorFeatures
from eigenfeat.features.maps import SplineMap
from eigenfeat.scores.tensors import ScoreFunction

CORRUPTION = 0.2
FIGURE = Path(__file__).parents[2] / "docs" / "figures" / "feast_swissroll.png"


def swiss_roll(n_points: int) -> tuple[np.ndarray, np.ndarray]:
    half = n_points // 2
    zeta = np.concatenate([np.linspace(5, 8, half), np.linspace(9, 12, half)])
    return zeta[:, None] * np.column_stack([np.cos(zeta), np.sin(zeta)]), np.repeat([1, -1], half)


def top_eigenvectors(score: ScoreFunction, X: np.ndarray, order: int) -> np.ndarray:
    """The unit v of largest |S_m(x)(v, ..., v)| at every row of the plane: the best of many angles."""
    angles = np.linspace(0, np.pi, 181)[:-1]
    V = np.array([np.cos(angles), np.sin(angles)])
    values = np.abs(score.tensors_at(X).form(*[V] * order))
    return V[:, values.argmax(axis=1)].T


def draw(score: ScoreFunction, X: np.ndarray, y: np.ndarray) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(13, 8.6), layout="constrained")
    shown = X[:: len(X) // 130]
    grid = np.stack(np.meshgrid(*[np.linspace(-2.2, 2.2, 23)] * 2), axis=-1).reshape(-1, 2)
    for row, (points, where) in enumerate([(shown, "on the roll"), (grid, "in the plane")]):
        fields = [-score.score1(points), *(top_eigenvectors(score, points, m) for m in (2, 3))]
        titles = [r"$-S_1 = \nabla\log p$", "top eigenvector of $S_2$", "top eigenvector of $S_3$"]
        for axis, field, title in zip(axes[row], fields, titles):
            axis.scatter(*X.T, s=2, c=np.where(y > 0, "#9ecae1", "#fdae6b"))
            length = np.linalg.norm(field, axis=1, keepdims=True)
            arrows = field / np.maximum(length, 1e-12) * np.minimum(length / np.median(length), 1.5) ** 0.5
            head = {} if field is fields[0] else {"headwidth": 0, "headlength": 0, "headaxislength": 0, "pivot": "mid"}
            axis.quiver(*points.T, *arrows.T, color="#444444", angles="xy", width=0.004, scale=22, **head)
            axis.set(title=f"{title} {where}", aspect="equal", xticks=[], yticks=[])
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=70)
    print(f"figure: {FIGURE.relative_to(FIGURE.parents[2])}")


def random_control(X_train, y_train, X_test, y_test, seed: int) -> float:
    """As many random directions with the same map and classifier."""
    W = np.random.default_rng(seed).standard_normal((X_train.shape[1], 3))
    knots = SplineMap(n_knots=3).fit(X_train @ W)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=100, max_iter=5000))
    return classifier.fit(knots(X_train @ W), y_train).score(knots(X_test @ W), y_test)


def stripes(n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, one of four classes each, and the two hidden directions."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    Z = rng.standard_normal((n_rows, n_columns))
    signs = Z[:, :2] * (Z[:, :2] ** 2 - 2 * np.log(2)) > 0
    spreads = np.r_[0.5, 0.5, np.linspace(2, 0.5, n_columns - 2)]
    return (Z * spreads) @ basis.T, 2 * signs[:, 0] + signs[:, 1], basis[:, :2]


def striped_accuracy(W: np.ndarray, train, test) -> float:
    """Splines of the projections on the columns of W and a linear classifier."""
    (X_train, y_train), (X_test, y_test) = train, test
    scale = (X_train @ W).std(axis=0)
    knots = SplineMap(n_knots=8).fit(X_train @ W / scale)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(C=10, max_iter=2000))
    return classifier.fit(knots(X_train @ W / scale), y_train).score(knots(X_test @ W / scale), y_test)


def tensor_directions(order: int, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    options = {"columns": "none", "n_axes": "all", "random_state": seed}
    return ScoreTensorFeatures(order=order, n_components=2, **options).fit(X, y).components_.T


def needs_the_tensor(n_rows: int, n_draws: int, n_columns: int = 20) -> None:
    outcomes: dict[str, list[float]] = {}
    for seed in range(n_draws):
        X, y, hidden = stripes(n_rows + 5000, n_columns, seed)
        train, test = (X[:n_rows], y[:n_rows]), (X[n_rows:], y[n_rows:])
        found = {order: tensor_directions(order, *train, seed) for order in (3, 2, 1)}
        random = np.random.default_rng(seed).standard_normal((n_columns, 100))
        principal = np.linalg.eigh(np.cov(train[0].T))[1][:, ::-1]
        candidates = {
            "third order, 2 components": found[3],
            "second order, 2 components": found[2],
            "first order, 2 components": found[1],
            "2 random directions": random[:, :2],
            "100 random directions": random,
            "2 principal axes": principal[:, :2],
            f"all {n_columns} principal axes": principal,
            "the hidden directions": hidden,
        }
        for name, W in candidates.items():
            outcomes.setdefault(name, []).append(striped_accuracy(W, train, test))
    print(f"stripes, {n_rows} rows, {n_columns} columns, four classes: test accuracy, {n_draws} draws")
    for name, accuracies in outcomes.items():
        print(f"  {name:<28}{np.mean(accuracies):.4f} ± {np.std(accuracies):.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer points, one split, no figure")
    parser.add_argument("--part", choices=["all", "roll", "stripes"], default="all")
    options = parser.parse_args()
    if options.part in ("all", "roll"):
        rolled_up(options.quick)
    if options.part in ("all", "stripes"):
        needs_the_tensor(20_000, 1 if options.quick else 5)


def rolled_up(quick: bool) -> None:
    start = time.perf_counter()
    X, y = swiss_roll(1000 if quick else 4000)
    X = StandardScaler().fit_transform(X)
    accuracies, controls = [], []
    for seed in range(1 if quick else 5):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        # With gain 1/σ² the model is the score of a restricted Boltzmann machine with Gaussian inputs of variance σ²:
        # it can split the plane between the windings as sharply as the corruption allows.
        score = DenoisingAutoencoder(
            200,
            corruption_level=CORRUPTION,
            gain=CORRUPTION**-2,
            learning_rate=0.02,
            max_iter=60 if quick else 150,
            n_iter_no_change=15,
            random_state=seed,
        )
        score.fit(X_train)
        features = ScoreTensorFeatures(score, prefit=True, order=3, n_components=3, feature_map=SplineMap(n_knots=3))
        classifier = make_pipeline(features, StandardScaler(), LogisticRegression(C=100, max_iter=5000))
        classifier.fit(X_train, y_train)
        accuracies.append(classifier.score(X_test, y_test))
        controls.append(random_control(X_train, y_train, X_test, y_test, seed))
        n_features = features.transform(X_test[:1]).shape[1]
        print(f"split {seed}: {len(features.components_)} components, {n_features} features, test {accuracies[-1]:.4f}")
    if not quick:
        draw(score.score_function_, X, y)
    print(f"the same map of three random directions: {np.mean(controls):.4f} ± {np.std(controls):.4f}")
    linear = LogisticRegression(C=100).fit(X_train, y_train).score(X_test, y_test)
    print(f"a linear classifier on the coordinates: {linear:.4f}")
    print(
        f"third-order features, linear classifier: {np.mean(accuracies):.4f} ± {np.std(accuracies):.4f} "
        f"(wanted: 0.95 with at most 50 features; {time.perf_counter() - start:.0f} s)"
    )


if __name__ == "__main__":
    main()
