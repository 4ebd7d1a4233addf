"""Training of the tied auto-encoder: mini-batch gradient steps in float32, every product a GEMM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from scipy.special import expit, logit

from eigenfeat._runtime.progress import counted
from eigenfeat.scores.autoencoder import TiedAutoencoder

RATE_REDUCTIONS, RATE_DIVISOR = 2, 5.0
PARAMETERS = ("weights", "hidden_bias", "visible_bias", "log_gain")


@dataclass(frozen=True)
class Corruption:
    """What is done to a row before it is to be reconstructed.

    ``level`` is the standard deviation of Gaussian noise, or the share of entries that masking sets to zero.
    Gaussian noise has its σ² in the score, exactly (Tweedie's formula). Masking is no additive noise: its
    σ² is the mean square of what it changes, ``level · mean(x²)``, the one number for which the squared
    distance between a row and its corrupted copy is that of Gaussian noise.
    """

    kind: Literal["gaussian", "masking"]
    level: float

    def __call__(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.kind == "masking":
            return X * (rng.random(X.shape, dtype=np.float32) >= np.float32(self.level))
        return X + np.float32(self.level) * rng.standard_normal(X.shape, dtype=np.float32)

    def variance(self, mean_square: float) -> float:
        """σ² of the score, given the mean of x² over rows and columns."""
        return (self.level * mean_square or 1.0) if self.kind == "masking" else self.level**2


def column_moments(X: np.ndarray, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of every column, in float64."""
    if weight is None:
        return X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    share = weight / weight.sum(dtype=np.float64)
    mean = share @ X.astype(np.float64)
    return mean, share @ np.square(X - mean)


class Optimizer(Protocol):
    """How a gradient becomes a step."""

    learning_rate: float

    def step(self, parameters: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> None:
        """Update the parameters in place."""


@dataclass
class GradientDescent:
    """Plain stochastic gradient descent."""

    learning_rate: float = 0.1

    def step(self, parameters: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> None:
        for name, gradient in gradients.items():
            parameters[name] -= np.float32(self.learning_rate) * gradient


@dataclass
class Adam:
    """Adam (Kingma & Ba, 2015)."""

    learning_rate: float = 0.005
    decays: tuple[float, float] = (0.9, 0.999)
    n_steps: int = 0
    first: dict[str, np.ndarray] = field(default_factory=dict)
    second: dict[str, np.ndarray] = field(default_factory=dict)

    def step(self, parameters: dict[str, np.ndarray], gradients: dict[str, np.ndarray]) -> None:
        self.n_steps += 1
        b1, b2 = map(np.float32, self.decays)
        scale = np.float32(self.learning_rate * np.sqrt(1 - b2**self.n_steps) / (1 - b1**self.n_steps))
        for name, gradient in gradients.items():
            m = self.first.setdefault(name, np.zeros_like(gradient))
            v = self.second.setdefault(name, np.zeros_like(gradient))
            m += (1 - b1) * (gradient - m)
            v += (1 - b2) * (gradient * gradient - v)
            parameters[name] -= scale * m / (np.sqrt(v) + np.float32(1e-8))


#: What the auto-encoder's ``solver`` may be.
OPTIMIZERS: dict[str, type[Adam] | type[GradientDescent]] = {"adam": Adam, "sgd": GradientDescent}


class AutoencoderTrainer:
    """Parameters of a tied auto-encoder and the steps that improve them.

    The loss is the squared error for a linear output and the cross-entropy for a sigmoid one; the conditional
    mean E[x | corrupted x], which the score needs, minimises both, and both have the output gradient r - x. A linear
    output is trained on rows in units of their spread, so that one learning rate suits all data.
    """

    def __init__(
        self,
        moments: tuple[np.ndarray, np.ndarray],
        n_hidden: int,
        corruption: Corruption,
        optimizer: Optimizer,
        rng: np.random.Generator,
        sigmoid_output: bool = False,
        gain: float | None = None,
    ) -> None:
        """Start from means and variances of the columns; ``gain=None`` is learned."""
        means, variances = moments
        n_features = len(means)
        variance = float(variances.mean()) or 1.0
        self.unit = np.float32(1.0 if sigmoid_output else np.sqrt(variance))
        mean = means / self.unit
        kappa = (1.0 / variance if gain is None else gain) * float(self.unit) ** 2
        # Then κWWᵀ/4, the Jacobian about the mean, starts with eigenvalues near one half.
        W = rng.normal(scale=np.sqrt(2 / (kappa * max(n_features, n_hidden))), size=(n_features, n_hidden))
        target = logit(np.clip(mean, 0.01, 0.99)) if sigmoid_output else mean
        start = (W, -kappa * (mean @ W), target - W.sum(axis=1) / 2, np.array(np.log(kappa)))
        self.parameters = {k: np.asarray(v, dtype=np.float32) for k, v in zip(PARAMETERS, start)}
        self.corruption, self.optimizer, self.rng = corruption, optimizer, rng
        self.sigmoid_output, self.learns_gain = sigmoid_output, gain is None
        self.n_rows_seen, self.mean_square = 0, 0.0

    def observe_moments(self, moments: tuple[np.ndarray, np.ndarray]) -> None:
        """Means and variances of all rows, for the σ² of masking."""
        means, variances = moments
        self.mean_square = float(np.mean(variances + np.square(means)))

    def observe(self, X: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Rows that count towards the σ² of masking; weights of mean one."""
        self.n_rows_seen += len(X)
        share = len(X) / self.n_rows_seen
        self.mean_square += share * (float(column_moments(np.square(X), weight)[0].mean()) - self.mean_square)

    def epoch(self, X: np.ndarray, batch_size: int, weight: np.ndarray | None = None) -> None:
        """One pass over the rows in random order; weights, of mean one, multiply their gradients."""
        order = self.rng.permutation(len(X))
        for start in range(0, len(X), batch_size):
            rows = order[start : start + batch_size]
            clean = X[rows]
            corrupted = self.corruption(clean, self.rng)
            of_rows = None if weight is None else weight[rows]
            self.optimizer.step(self.parameters, self._gradients(clean / self.unit, corrupted / self.unit, of_rows))

    def loss(self, clean: np.ndarray, corrupted: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Mean loss an entry, in units of the data's variance for a linear output."""
        m = self._encode(corrupted / self.unit) @ self.parameters["weights"].T + self.parameters["visible_bias"]
        # With a sigmoid, log(1 + eᵐ) - x m.
        losses = np.logaddexp(0, m) - clean * m if self.sigmoid_output else np.square(m - clean / self.unit) / 2
        return float(np.average(losses.mean(axis=1, dtype=np.float64), weights=weight))

    def snapshot(self) -> dict[str, np.ndarray]:
        return {name: value.copy() for name, value in self.parameters.items()}

    def model(self) -> TiedAutoencoder:
        """The auto-encoder as it stands."""
        p = self.snapshot()
        return TiedAutoencoder(
            weights=self.unit * p["weights"],
            hidden_bias=p["hidden_bias"],
            visible_bias=self.unit * p["visible_bias"],
            gain=float(np.exp(p["log_gain"])) / float(self.unit) ** 2,
            corruption_variance=self.corruption.variance(self.mean_square),
            sigmoid_output=self.sigmoid_output,
        )

    def _encode(self, X: np.ndarray) -> np.ndarray:
        p = self.parameters
        return expit(np.exp(p["log_gain"]) * (X @ p["weights"]) + p["hidden_bias"])

    def _gradients(
        self, clean: np.ndarray, corrupted: np.ndarray, weight: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        p, scale = self.parameters, np.float32(1 / len(clean))
        W, kappa = p["weights"], np.exp(p["log_gain"])
        projected = corrupted @ W
        f = expit(kappa * projected + p["hidden_bias"])
        m = f @ W.T + p["visible_bias"]
        at_output = scale * ((expit(m) if self.sigmoid_output else m) - clean)
        if weight is not None:
            at_output *= weight[:, None]
        at_hidden = (at_output @ W) * f * (1 - f)
        gradients = {
            "weights": kappa * (corrupted.T @ at_hidden) + at_output.T @ f,
            "hidden_bias": at_hidden.sum(axis=0),
            "visible_bias": at_output.sum(axis=0),
        }
        if self.learns_gain:
            gradients["log_gain"] = np.asarray(kappa * np.vdot(projected, at_hidden))
        return gradients


Epoch = Callable[[AutoencoderTrainer], AutoencoderTrainer]
"""One pass over the rows; the trainer it returns may be another one, as after an interruption."""


def train(
    trainer: AutoencoderTrainer,
    epoch_of: Epoch,
    validation: np.ndarray,
    *,
    max_iter: int,
    tol: float,
    patience: int,
    verbose: bool = False,
    weight: np.ndarray | None = None,
) -> tuple[AutoencoderTrainer, list[float]]:
    """Epochs until ``max_iter`` or until progress ends; the trainer, and losses on validation rows, corrupted once.

    Whenever ``patience`` epochs brought no relative gain of ``tol``, training goes back to the best parameters; the
    first times with a smaller learning rate, the last time to stay there. Without validation rows every epoch is
    run. ``weight`` is that of the validation rows.
    """
    if not len(validation):
        for _ in range(max_iter):
            trainer = epoch_of(trainer)
        return trainer, []
    corrupted = trainer.corruption(validation, trainer.rng)
    losses: list[float] = []
    best, best_loss, waited, reductions = trainer.snapshot(), np.inf, 0, 0
    for epoch in counted(range(max_iter), "epoch"):
        trainer = epoch_of(trainer)
        losses.append(trainer.loss(validation, corrupted, weight))
        if verbose:
            print(f"epoch {epoch + 1}/{max_iter}: validation loss {losses[-1]:.6g}")
        waited = 0 if losses[-1] < best_loss * (1 - tol) else waited + 1
        if losses[-1] < best_loss:
            best, best_loss = trainer.snapshot(), losses[-1]
        if waited >= patience:
            if reductions == RATE_REDUCTIONS:
                break
            trainer.parameters, waited, reductions = {k: v.copy() for k, v in best.items()}, 0, reductions + 1
            trainer.optimizer.learning_rate /= RATE_DIVISOR
    trainer.parameters = best
    return trainer, losses
