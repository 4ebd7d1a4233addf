"""FEAST with its default settings beside as many random directions, as many principal axes, and the inputs.

Fifteen sets, five draws of training and test rows each. All rivals start from the same treated, centred columns; all
directions have the same map, both sides rectified, and the same unit (a mean square norm of the features). One
multinomial logit judges all of them, its penalty chosen on held-out training rows with features that were learnt
without them, because FEAST's have seen labels. Ratios below one are FEAST's gain; an interrupt ends the run with those
of the sets so far.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from datasets import load_arrays, load_covertype, load_ida, load_mnist, load_plants, load_usps
from eigenfeat import ColumnScaler, MultinomialLogit, ScoreTensorClassifier, ScoreTensorFeatures

IDA = ("diabetis", "german", "heart", "ringnorm", "thyroid", "waveform")
SETS = ("wine", "breast cancer", "vowel", *IDA, "digits", "covertype", "phoneme", "usps", "mnist", "plants")
RIVALS = ("random", "principal", "inputs")
ALPHAS = tuple(10.0 ** np.arange(-5, 0.1, 0.5))
N_TRAIN, N_TEST, N_HELD_OUT_DRAWS = 2000, 3000, 2
Transform = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Transform]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a set, official splits put together: the draws are new ones."""
    bundled = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}
    if name in bundled:
        return bundled[name](return_X_y=True)
    if name in IDA:
        data = load_ida(name)
        return data["X"].astype(float), data["y"]
    if name == "plants":
        return load_plants()
    if name == "covertype":
        data = load_covertype()
        return data["X"], data["y"]
    if name == "phoneme":
        data = load_arrays("phoneme.npz", "Elements of Statistical Learning")
        return data["X"].astype(float), data["y"]
    if name == "vowel":
        data = load_arrays("vowel.npz", "Elements of Statistical Learning")
    else:
        data = load_usps() if name == "usps" else load_mnist()
    X, y = (np.concatenate([data[f"{part}_train"], data[f"{part}_test"]]) for part in "Xy")
    return X, y


def split(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(N_TRAIN, len(y) // 2)
    return order[:n_train], order[n_train : n_train + N_TEST]


def error(learn: Learner, train: np.ndarray, y: np.ndarray, test: np.ndarray, y_test: np.ndarray, unit: float) -> float:
    """Test error in % of the logit on learnt features, its penalty chosen on held-out quarters of the training rows."""
    right = dict.fromkeys(ALPHAS, 0.0)
    for seed in range(N_HELD_OUT_DRAWS):
        order = np.random.default_rng(seed).permutation(len(y))
        held_out, rest = np.split(order, [len(y) // 4])
        inside, outside = in_unit(learn(train[rest], y[rest]), train[rest], train[held_out], unit)
        for model in MultinomialLogit(tol=1e-3).alpha_path(inside, y[rest], ALPHAS, calibrate=False):
            right[model.alpha] += model.score(outside, y[held_out])
    alpha = max(sorted(ALPHAS, reverse=True), key=right.__getitem__)
    inside, outside = in_unit(learn(train, y), train, test, unit)
    return 100 * (1 - MultinomialLogit(alpha, tol=1e-3).fit(inside, y).score(outside, y_test))


def in_unit(features: Transform, train: np.ndarray, test: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Features of both, in a unit that makes the mean square norm of the first so large."""
    inside, outside = features(train), features(test)
    scale = np.sqrt(unit / np.mean(np.sum(np.square(inside), axis=1)))
    return scale * inside, scale * outside


def treated(X: np.ndarray, y: np.ndarray | None = None) -> Transform:
    """The inputs, as FEAST treats them, about their mean."""
    scaler = ColumnScaler().fit(X)
    mean = scaler.transform(X).mean(axis=0)
    return lambda rows: scaler.transform(rows) - mean


def on_directions(directions: Callable[[np.ndarray], np.ndarray]) -> Learner:
    """Both sides of projections on the columns of a matrix that treated rows determine."""

    def learn(X: np.ndarray, y: np.ndarray) -> Transform:
        columns = treated(X)
        W = directions(columns(X))
        return lambda rows: rectified(columns(rows) @ W)

    return learn


def rectified(projections: np.ndarray) -> np.ndarray:
    return np.maximum(np.hstack([projections, -projections]), 0)


def rivals(count: int, seed: int) -> dict[str, Learner]:
    def random(X: np.ndarray) -> np.ndarray:
        return np.random.default_rng(seed).standard_normal((count, X.shape[1])).T

    def principal(X: np.ndarray) -> np.ndarray:
        return np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :count]

    return {"random": on_directions(random), "principal": on_directions(principal), "inputs": treated}


def one_draw(X: np.ndarray, y: np.ndarray, seed: int, classifier: bool) -> dict[str, float]:
    train, test = split(y, seed)
    A, B, y_train, y_test = X[train].astype(float), X[test].astype(float), y[train], y[test]
    start = time.process_time()
    feast = ScoreTensorFeatures(random_state=seed).fit(A, y_train)
    outcome = {"seconds": time.process_time() - start, "directions": float(len(feast.components_))}
    outcome["components"] = float((feast.orders_ > 0).sum())
    if classifier:
        model = ScoreTensorClassifier(random_state=seed).fit(A, y_train)
        outcome["classifier"] = 100 * (1 - model.score(B, y_test))
        outcome["log loss"] = -float(np.mean(model.predict_log_proba(B)[y_test[:, None] == model.classes_]))
    learners = {"FEAST": lambda X, y: ScoreTensorFeatures(random_state=seed).fit(X, y).transform}
    for name, learn in (learners | rivals(len(feast.components_), seed)).items():
        outcome[name] = error(learn, A, y_train, B, y_test, float(feast.n_axes_))
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two small sets, one draw")
    parser.add_argument("--classifier", action="store_true", help="also ScoreTensorClassifier by itself")
    options = parser.parse_args()
    sets, n_draws = (("wine", "thyroid"), 1) if options.quick else (options.sets, options.draws)
    warnings.simplefilter("ignore")
    names = ("FEAST", *RIVALS, *(("classifier", "log loss") if options.classifier else ()))
    print(f"test error in %, mean of {n_draws} draws; at most {N_TRAIN} training rows")
    print("| set | directions (components) | " + " | ".join(names) + " | CPU seconds |", flush=True)
    judged = ("FEAST", "classifier") if options.classifier else ("FEAST",)
    ratios: dict[tuple[str, str], list[float]] = {(own, rival): [] for own in judged for rival in RIVALS}
    with suppress(KeyboardInterrupt):
        for name in sets:
            X, y = load(name)
            draws = [one_draw(X, y, seed, options.classifier) for seed in range(n_draws)]
            mean = {key: float(np.mean([draw[key] for draw in draws])) for key in draws[0]}
            cells = " | ".join(f"{mean[key]:.2f}" for key in names)
            counts = f"{mean['directions']:.0f} ({mean['components']:.0f})"
            print(f"| {name} | {counts} | {cells} | {mean['seconds']:.1f} |", flush=True)
            for own, rival in ratios:
                ratios[own, rival].append(max(mean[own], 1e-2) / max(mean[rival], 1e-2))
    for (own, rival), values in ratios.items():
        print(
            f"{own} over {rival}: geometric mean {np.exp(np.mean(np.log(values))):.3f} of {len(values)} sets, worst "
            f"{max(values):.3f} ({sets[int(np.argmax(values))]})"
        )


if __name__ == "__main__":
    main()
