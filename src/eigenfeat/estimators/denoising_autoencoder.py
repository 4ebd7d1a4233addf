"""A denoising auto-encoder as the density whose score tensors FEAST correlates with labels."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from eigenfeat._runtime.config import current
from eigenfeat._sklearn import COUNT, NON_NEGATIVE, POSITIVE, Interval, Real, StrOptions, checked_fit
from eigenfeat.estimators.edge import ComponentsMixin, Estimator
from eigenfeat.estimators.magnitudes import check_magnitudes
from eigenfeat.estimators.streaming import is_stream, refuse_source, streamed
from eigenfeat.estimators.validation import check_weights
from eigenfeat.rows.block import concatenate
from eigenfeat.rows.keys import distinct_keys, row_keys
from eigenfeat.rows.sampling import sampled
from eigenfeat.scores.autoencoder import HiddenLayer
from eigenfeat.scores.choosing import (
    DEFAULT_LEVEL,
    DEFAULT_WIDTH,
    LEAST_ROWS,
    LEVELS,
    MASKED_SHARES,
    WIDTHS,
    choose_setting,
)
from eigenfeat.scores.cross_tensor import merged_rows
from eigenfeat.scores.streamed_training import ColumnSums, StreamedEpoch
from eigenfeat.scores.training import OPTIMIZERS, AutoencoderTrainer, Corruption, Epoch, column_moments, train
from eigenfeat.stages import Chain, Fitted

#: Bytes a number of the rows that a fit in memory takes: the rows, in their order, and what an epoch makes of them.
HELD_BYTES = 24
#: Rows of a stream that are held out for validation, and that width and corruption are chosen on.
MOST_HELD_OUT = 10_000
#: Spreads from zero beyond which hidden units are told to be saturated.
FAR = 1e3


class DenoisingAutoencoder(ComponentsMixin, Estimator):
    """A denoising auto-encoder with one hidden layer and tied weights, as a model of the input's score.

    ``r(x) = g(W sigmoid(κ Wᵀx + b) + c)`` with g the identity or the sigmoid is trained to undo corruption; then
    ``S1(x) = (x - r(x)) / σ²`` is the score of the corrupted rows' density, and S2 and S3 follow from the derivatives
    of r in closed form. ``transform`` gives the hidden layer, ``score1`` the score.

    Parameters
    ----------
    n_hidden : int or None, default=None
        Units of the hidden layer. None: of 25, 50, 100 and 200 the fewest whose score is, on rows left out, as near to
        that of the rows' density as the best can be told to be (`n_hidden_`).
    output : {"linear", "sigmoid"}, default="linear"
        g. "sigmoid" is for inputs in [0, 1] and is trained on the cross-entropy, "linear" on the squared error; the
        conditional mean that the score needs minimises both. With "linear" the score is a gradient field and its
        products are cheaper by a factor of about ``n_hidden``.
    corruption : {"gaussian", "masking"}, default="gaussian"
        What is done to the rows: Gaussian noise is added, or entries are set to zero.
    corruption_level : float or None, default=None
        Standard deviation of the Gaussian noise relative to the root mean variance of the columns, or the share of
        entries masked. For masking, which is not additive, the σ² of the score is the mean square of the change,
        ``corruption_level · mean(x²)``. None: of 0.1, 0.2, 0.5 and 1 (masking: 0.1, 0.2 and 0.4), in the same way, the
        most (`corruption_level_`). Both are chosen on at most 2000 rows; with fewer than 40, and in `partial_fit`, they
        are 100 and 0.2.
    gain : float or None, default=None
        κ. None learns it, which makes the model indifferent to the unit of the data; 1 is the paper's model.
    solver : {"adam", "sgd"}, default="adam"
    learning_rate : float or None, default=None
        None is 0.005 for "adam" and 0.1 for "sgd". With early stopping it is divided by five, twice, before stopping.
    batch_size : int, default=128
    max_iter : int, default=100
        Epochs.
    early_stopping : bool, default=True
        Hold out rows, stop when their loss no longer falls, keep the best parameters.
    validation_fraction : float, default=0.1
        Share of the rows held out; data of fewer than 20 rows are not split.
    n_iter_no_change : int, default=5
        Epochs without progress before the learning rate is reduced, and in the end before stopping.
    tol : float, default=1e-4
        Relative gain that counts as progress.
    verbose : bool, default=False
        Print the validation loss after each epoch.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    score_function_ : TiedAutoencoder
        The trained model: ``reconstruct``, ``score1`` and ``tensors_at``; arrays in float32.
    n_hidden_, corruption_level_ : int, float
        What was given or chosen.
    trials_ : list of dict
        What was tried, with its loss of score matching: in units of the inverse mean variance, and up to a constant
        half the mean squared distance to the score of the rows' density. Empty where nothing was chosen.
    corruption_variance_ : float
        σ² of the score.
    loss_curve_ : list of float
        Validation loss after each epoch.
    n_iter_ : int
        Epochs run.
    n_features_in_ : int
    feature_names_in_ : array of str

    References
    ----------
    G. Alain, Y. Bengio (2012). What regularized auto-encoders learn from the data generating distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenfeat import DenoisingAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> model = DenoisingAutoencoder(n_hidden=20, random_state=0).fit(X)
    >>> model.score1(X).shape, model.transform(X).shape
    ((2000, 3), (2000, 20))
    """

    _parameter_constraints: dict = {
        "n_hidden": [None, COUNT],
        "output": [StrOptions({"linear", "sigmoid"})],
        "corruption": [StrOptions({"gaussian", "masking"})],
        "corruption_level": [None, POSITIVE],
        "gain": [None, POSITIVE],
        "solver": [StrOptions(set(OPTIMIZERS))],
        "learning_rate": [None, POSITIVE],
        "batch_size": [COUNT],
        "max_iter": [COUNT],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [COUNT],
        "tol": [NON_NEGATIVE],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }
    _takes_sparse = False

    def __init__(
        self,
        n_hidden=None,
        *,
        output="linear",
        corruption="gaussian",
        corruption_level=None,
        gain=None,
        solver="adam",
        learning_rate=None,
        batch_size=128,
        max_iter=100,
        early_stopping=True,
        validation_fraction=0.1,
        n_iter_no_change=5,
        tol=1e-4,
        verbose=False,
        random_state=0,
    ):
        self.n_hidden = n_hidden
        self.output = output
        self.corruption = corruption
        self.corruption_level = corruption_level
        self.gain = gain
        self.solver = solver
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None):
        """Train on the rows of X.

        Parameters
        ----------
        X : (n, d) array or dataframe, or a row source (`eigenfeat.rows.open`)
            Of a source that memory does not hold every epoch is a pass in its order, with the rows of a block
            shuffled, and up to 10,000 rows are for validation.
        y : ignored
        sample_weight : (n,) array, optional
            Weights of the rows in the loss: copies of a row count as one row of their weights' sum. The order of rows
            does not matter.

        Returns
        -------
        self
        """
        self._check_unused(X, y)
        if is_stream(X):
            return self._fit_stream(X, sample_weight)
        X = self._rows(X, reset=True)
        return self._fit_rows(X, check_weights(sample_weight, X))

    def _fit_rows(self, X: np.ndarray, weight: np.ndarray | None):
        X, weight = self._merged(X, weight)
        self._choose(X, weight)
        trainer = self._new_trainer(column_moments(X, weight), self.n_hidden_, self.corruption_level_)
        trainer.observe(X, weight)
        n_held_out = int(self.validation_fraction * len(X)) if self.early_stopping and len(X) >= 20 else 0
        held_out, rest = np.split(trainer.rng.permutation(len(X)), [n_held_out])
        of_rest, of_held_out = (None, None) if weight is None else (weight[rest], weight[held_out])

        def epoch(trainer: AutoencoderTrainer) -> AutoencoderTrainer:
            trainer.epoch(X[rest], self.batch_size, of_rest)
            return trainer

        return self._train(trainer, epoch, X[held_out], of_held_out)

    def _fit_stream(self, X: Any, sample_weight: Any):
        source = streamed(self, X, None, sample_weight, None)
        if not source.is_local or source.is_sparse:
            refuse_source(self, X)
        sums = source.reduce(ColumnSums(), "columns")
        if sums.n_rows * source.n_columns * HELD_BYTES <= current().memory_budget:
            blocks = concatenate(list(source.blocks()))
            return self._fit_rows(self._as_float32(blocks.X), blocks.weight)
        self._check_range(sums.low, sums.high)
        some = sampled(source, MOST_HELD_OUT)
        self._choose(some.X.astype(np.float32), some.weight)
        trainer = self._new_trainer(sums.moments, self.n_hidden_, self.corruption_level_)
        trainer.observe_moments(sums.moments)
        n_held_out = min(MOST_HELD_OUT, int(self.validation_fraction * sums.n_rows)) if self.early_stopping else 0
        held_out = sampled(source, n_held_out) if n_held_out else None
        last_key = -1 if held_out is None else int(row_keys(held_out.X).max())
        unit = sums.weight / sums.n_rows

        def epoch(trainer: AutoencoderTrainer) -> AutoencoderTrainer:
            empty = StreamedEpoch(trainer, self.batch_size, row_keys, last_key, unit)
            return source.reduce(empty, "epoch").trainer

        rows = np.empty((0, source.n_columns)) if held_out is None else held_out.X
        return self._train(trainer, epoch, rows.astype(np.float32), None if held_out is None else held_out.weight)

    def _train(self, trainer: AutoencoderTrainer, epoch: Epoch, held_out: np.ndarray, weight: np.ndarray | None):
        self._trainer, self.loss_curve_ = train(
            trainer,
            epoch,
            held_out,
            max_iter=self.max_iter,
            tol=self.tol,
            patience=self.n_iter_no_change,
            verbose=bool(self.verbose),
            weight=weight,
        )
        self.n_iter_ = len(self.loss_curve_) or self.max_iter
        return self._publish()

    def _merged(self, X: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """Different rows in an order of their own, and weights of mean one, or none where all are equal."""
        weight = np.ones(len(X)) if weight is None else weight
        chosen, share = merged_rows(distinct_keys(X), np.empty((len(X), 0)), weight)
        return X[chosen], (share / share.mean()).astype(np.float32) if np.ptp(share) > 0 else None

    @checked_fit
    def partial_fit(self, X, y=None):
        """One epoch on these rows, on top of what was learnt before; returns self.

        The first call fixes the Gaussian corruption; masking keeps an average over all rows seen.

        Parameters
        ----------
        X, y
            As in `fit`.
        """
        first = not hasattr(self, "_trainer")
        X = self._rows(X, reset=first)
        if first:
            self.n_hidden_, self.trials_ = self.n_hidden or DEFAULT_WIDTH, []
            self.corruption_level_ = self.corruption_level or DEFAULT_LEVEL
            self._trainer = self._new_trainer(column_moments(X), self.n_hidden_, self.corruption_level_)
            self.loss_curve_, self.n_iter_ = [], 0
        self._trainer.observe(X)
        self._trainer.epoch(X, self.batch_size)
        self.n_iter_ += 1
        return self._publish()

    def _rows(self, X, reset: bool) -> np.ndarray:
        X = self._check(X, reset=reset)
        if reset:
            _warn_if_far(X)
        return self._as_float32(X)

    def _as_float32(self, X: np.ndarray) -> np.ndarray:
        check_magnitudes(X, dtype=np.float32)
        self._check_range(X.min(), X.max())
        return X.astype(np.float32, copy=False)

    def _check_range(self, low: float, high: float) -> None:
        if self.output == "sigmoid" and (low < 0 or high > 1):
            raise ValueError(
                f"output='sigmoid' reconstructs values in [0, 1], X has values from {low:.3g} to {high:.3g}: "
                "scale X to [0, 1] or use output='linear'."
            )

    def _choose(self, X: np.ndarray, weight: np.ndarray | None) -> None:
        """Width and corruption, where they are not given, from rows left out."""
        levels: tuple[float, ...] = LEVELS if self.corruption == "gaussian" else MASKED_SHARES
        widths = WIDTHS if self.n_hidden is None else (self.n_hidden,)
        levels = levels if self.corruption_level is None else (self.corruption_level,)
        self.n_hidden_, self.corruption_level_ = self.n_hidden or DEFAULT_WIDTH, self.corruption_level or DEFAULT_LEVEL
        self.trials_ = []
        if len(X) < LEAST_ROWS or len(widths) == len(levels) == 1:
            return
        make = partial(self._new_trainer, column_moments(X, weight))
        rng = np.random.default_rng(0)  # of its own: the seed of the training must not decide what is left out
        chosen, trials = choose_setting(make, X, weight, widths, levels, self.batch_size, rng)
        self.n_hidden_, self.corruption_level_ = chosen
        self.trials_ = [trial.as_dict() for trial in trials]

    def _new_trainer(self, moments: tuple[np.ndarray, np.ndarray], n_hidden: int, level: float) -> AutoencoderTrainer:
        if self.corruption == "masking" and level >= 1:
            raise ValueError(
                f"corruption='masking' needs corruption_level < 1, the share of entries masked; got {level}."
            )
        if self.corruption == "gaussian":
            level *= float(np.sqrt(moments[1].mean())) or 1.0
        optimizer = OPTIMIZERS[self.solver]
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        return AutoencoderTrainer(
            moments,
            n_hidden,
            Corruption(self.corruption, level),
            optimizer() if self.learning_rate is None else optimizer(self.learning_rate),
            rng,
            sigmoid_output=self.output == "sigmoid",
            gain=self.gain,
        )

    def _publish(self):
        self.score_function_ = self._trainer.model()
        self.corruption_variance_ = self.score_function_.corruption_variance
        self.fitted_ = Fitted(features=Chain((HiddenLayer(self.score_function_),)))
        return self

    def reconstruct(self, X):
        """``r(x)`` of every row, (n, d)."""
        X = self._check_new(X)
        return self._finite(self.score_function_.reconstruct(X), "reconstructions")

    def score1(self, X):
        """``S1(x) = (x - r(x)) / σ²`` of every row, (n, d)."""
        X = self._check_new(X)
        return self._finite(self.score_function_.score1(X), "scores")


def _warn_if_far(X: np.ndarray) -> None:
    """Hidden units are saturated, and float32 holds little of the rows, where these are far from zero."""
    spread = X.std(axis=0, dtype=np.float64)
    distance = np.divide(np.abs(X.mean(axis=0, dtype=np.float64)), spread, out=np.zeros_like(spread), where=spread > 0)
    if distance.max(initial=0.0) > FAR:
        warnings.warn(
            f"Column {int(distance.argmax())} of X is {distance.max():.0e} of its spreads away from zero, where the "
            "hidden units see no difference between rows: subtract its mean (sklearn.preprocessing.StandardScaler).",
            UserWarning,
            stacklevel=5,
        )
