"""GEM directions as the first layer of a neural network.

`as_linear_layer` hands the directions over as weights and biases, for any framework. Here scikit-learn's MLPClassifier
is trained on handwritten digits from its own random first layer and from GEM's, both sides of each direction a unit.

    python examples/gem_first_layer.py
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from eigenfeat import GEMFeatures


def network(X, y, first_layer=None, epochs=10, seed=0) -> MLPClassifier:
    """A one-hidden-layer network trained for a few epochs, from given weights and biases or from random ones."""
    model = MLPClassifier((180,), max_iter=1, learning_rate_init=0.01, warm_start=True, random_state=seed).fit(X, y)
    if first_layer is not None:
        weights, biases = (np.concatenate([part, -part]) for part in first_layer)  # both sides of each projection
        scale = np.sqrt(np.mean((X @ weights.T + biases) ** 2, axis=0))  # unit activations, as networks like them
        model.coefs_[0][:] = (weights / scale[:, None]).T
        model.intercepts_[0][:] = biases / scale
    return model.set_params(max_iter=epochs).fit(X, y)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)

    gem = GEMFeatures(1, constant=True).fit(X_train, y_train)
    print("network, share of test digits right after 1, 5 and 20 epochs, mean of five starts")
    for name, layer in (("random first layer", None), ("GEM first layer", gem.as_linear_layer())):
        scores = [
            np.mean([network(X_train, y_train, layer, epochs, seed).score(X_test, y_test) for seed in range(5)])
            for epochs in (1, 5, 20)
        ]
        print(f"  {name:<20}" + "".join(f"{score:8.3f}" for score in scores))


if __name__ == "__main__":
    main()
