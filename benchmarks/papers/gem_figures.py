"""Figures 1 and 2 of the GEM paper from our code: top directions of five MNIST pairs, and one projection by class.

python benchmarks/papers/gem_figures.py [--output docs/figures]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).parents[1]))
from datasets import load_mnist
from eigenfeat import GEMFeatures

PAIRS = [(3, 2), (8, 5), (3, 5), (8, 0), (4, 9)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).parents[2] / "docs" / "figures")
    output = parser.parse_args().output
    mnist = load_mnist()
    X, y = (mnist["X_train"] / np.float32(255)).astype(np.float32), mnist["y_train"]
    gem = GEMFeatures(5, class_pairs=PAIRS, ridge=0.5, feature_map="identity", keep_inputs=False).fit(X, y)

    figure, axes = plt.subplots(5, 5, figsize=(5.4, 5.6))
    for ax, direction, pair, value in zip(axes.flat, gem.components_, gem.pairs_, gem.eigenvalues_):
        limit = np.abs(direction).max()
        ax.imshow(direction.reshape(28, 28), cmap="RdBu_r", vmin=-limit, vmax=limit)
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"λ = {value:.1f}", fontsize=8, pad=2)
        if ax.get_subplotspec().is_first_col():
            ax.set_ylabel(f"{pair[0]} over {pair[1]}", fontsize=9)
    figure.tight_layout(pad=0.4)
    figure.savefig(output / "gem_mnist_directions.png", dpi=110)

    figure, ax = plt.subplots(figsize=(5.4, 3.2))
    projection = gem.transform(X)[:, 0]
    ax.boxplot([projection[y == c] for c in range(10)], tick_labels=range(10), sym=",", widths=0.6)
    ax.axhline(0, color="0.7", lw=0.8, zorder=0)
    ax.set(xlabel="digit", ylabel="projection on the first direction of 3 over 2")
    figure.tight_layout()
    figure.savefig(output / "gem_mnist_projection.png", dpi=110)
    second = {c: float(np.mean(projection[y == c] ** 2)) for c in (3, 2)}
    print(
        f"mean squared projection: {second[3]:.2f} on 3s (eigenvalue {gem.eigenvalues_[0]:.2f}), {second[2]:.2f} on 2s"
    )


if __name__ == "__main__":
    main()
