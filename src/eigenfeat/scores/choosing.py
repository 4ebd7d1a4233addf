"""Width and corruption of an auto-encoder from the rows: the least held-out loss of score matching.

Denoising losses of different corruptions cannot be compared; Hyvärinen's loss of the score they lead to can. For ``ψ =
-S1`` it is ``E[½‖ψ‖² + div ψ] = E[½‖S1‖² - tr H]``, which differs from half the mean squared distance to the score of
the rows' own density by a constant. Little corruption has little bias and much noise (``S1 = (x - r(x)) / σ²``
multiplies the errors of r), much corruption the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eigenfeat.scores.training import AutoencoderTrainer, column_moments, train

#: Candidates; what is taken where there are too few rows to choose.
WIDTHS, DEFAULT_WIDTH = (25, 50, 100, 200), 100
LEVELS, DEFAULT_LEVEL = (0.1, 0.2, 0.5, 1.0), 0.2
MASKED_SHARES = (0.1, 0.2, 0.4)
#: Rows the candidates are trained and judged on, a quarter of them left out; of fewer than the first nothing is chosen.
LEAST_ROWS, MOST_ROWS, LEFT_OUT = 40, 2000, 0.25
EPOCHS, PATIENCE, TOL = 40, 3, 1e-3

Setting = tuple[int, float]
"""Hidden units and corruption level."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Losses of the left-out rows, in units of the inverse variance of the rows."""

    setting: Setting
    losses: np.ndarray

    def as_dict(self) -> dict[str, float]:
        n_hidden, level = self.setting
        return {"n_hidden": n_hidden, "corruption_level": level, "loss": float(self.losses.mean())}


def choose_setting(
    make: Callable[[int, float], AutoencoderTrainer],
    X: np.ndarray,
    weight: np.ndarray | None,
    widths: Sequence[int],
    levels: Sequence[float],
    batch_size: int,
    rng: np.random.Generator,
) -> tuple[Setting, list[Trial]]:
    """The level at the middle width, then the width at that level.

    Of settings whose loss is within a standard error of the least, paired over rows, the plainest is taken: the most
    corruption, the fewest units. Derivatives of the score, which moments of higher order need, are smoother there.

    Parameters
    ----------
    make : callable
        A new trainer for hidden units and a level.
    X, weight : (n, d) and (n,) arrays
    widths, levels : sequences
        One value each where it is given.
    batch_size : int
    rng : Generator
        Of the rows that are left out.
    """
    chosen = rng.permutation(len(X))[:MOST_ROWS]
    left_out, rest = np.split(chosen, [int(LEFT_OUT * len(chosen))])
    of_rest, of_left_out = (None, None) if weight is None else (weight[rest], weight[left_out])
    variance = float(column_moments(X, weight)[1].mean()) or 1.0

    def tried(setting: Setting) -> Trial:
        trainer = make(*setting)
        trainer.observe(X[rest], of_rest)

        def epoch(trainer: AutoencoderTrainer) -> AutoencoderTrainer:
            trainer.epoch(X[rest], batch_size, of_rest)
            return trainer

        trainer, _ = train(trainer, epoch, X[left_out], max_iter=EPOCHS, tol=TOL, patience=PATIENCE, weight=of_left_out)
        losses = variance * trainer.model().score_matching(X[left_out].astype(np.float64))
        return Trial(setting, losses if of_left_out is None else losses * of_left_out / of_left_out.mean())

    middle = widths[len(widths) // 2]
    by_level = [tried((middle, level)) for level in sorted(levels, reverse=True)]
    best = plainest(by_level)
    by_width = [tried((width, best.setting[1])) for width in sorted(widths) if width != middle]
    among = sorted([best, *by_width], key=lambda trial: trial.setting[0])
    return plainest(among).setting, [*by_level, *by_width]


def plainest(trials: Sequence[Trial]) -> Trial:
    """The first, for they come plainest first, that is not worse than the best by more than chance would have it."""
    finite = [trial for trial in trials if np.isfinite(trial.losses).all()] or list(trials)
    best = min(finite, key=lambda trial: trial.losses.mean())
    for trial in finite:
        excess = trial.losses - best.losses
        if trial is best or excess.mean() <= excess.std(ddof=1) / np.sqrt(len(excess)):
            return trial
    return best
