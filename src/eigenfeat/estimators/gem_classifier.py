"""GEM with its convex stage: layers, ensembles, any map first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from eigenfeat._runtime.config import current
from eigenfeat._sklearn import COUNT, NON_NEGATIVE, HasMethods, StrOptions, checked_fit
from eigenfeat.estimators.edge import lazy_on_dask
from eigenfeat.estimators.gem_base import PER_LAYER
from eigenfeat.estimators.gem_choices import (
    CANDIDATES,
    PENALTIES,
    TRIAL_COLUMNS,
    TRIAL_TOL,
    Candidates,
    Search,
    is_auto,
)
from eigenfeat.estimators.gem_classifier_base import (
    DEFAULT_PENALTY,
    GEMClassifierBase,
    LastStage,
)
from eigenfeat.estimators.gem_streaming import StreamedTraining
from eigenfeat.estimators.gem_trial_rows import TrialFit
from eigenfeat.estimators.gem_trials import Recipe
from eigenfeat.estimators.validation import warn_of_temperature
from eigenfeat.features.column_basis import Pairs
from eigenfeat.features.stack import layer_moments, timed
from eigenfeat.rows.rows import Rows
from eigenfeat.stages import Affine, Beside, Chain, EstimatorScores, Fitted, Stage


def _has_probabilities(model: GEMClassifier) -> bool:
    """Whether the last stage, fitted or to be, knows probabilities."""
    last = getattr(model, "classifiers_", [model.classifier])[0]
    return last is None or hasattr(last, "predict_log_proba")


class GEMClassifier(GEMClassifierBase):
    r"""GEM features and a multinomial logit: Algorithm 1 of the paper, composed with itself and with other maps.

    Without settings it is meant for any table: columns are brought to comparable sizes (`ColumnScaler`), and what is
    "auto" below is chosen by a short search, one parameter after the other, each with its best penalty. A trial leaves
    rows out of everything, moments, directions, maps and logit, and has the log loss of those rows at the temperature
    :math:`\tau` that suits them best, :math:`p = \mathrm{softmax}(\tau s)`; the temperature of the chosen settings is
    that of the model, which is then fitted to all rows. Trials run over all rows up to 3000, beyond that over 40 % of
    them up to 5000, beyond that over 8 % up to 20,000: up to 2000 rows are left out in three parts, otherwise a quarter
    once. Equal rows, and rows of one group, are left out together.

    Algorithm 1 as printed in the paper is ``GEMClassifier(columns=None, class_pairs="all", feature_map="cubic",
    keep_inputs=False, base_map=None, label_smoothing=0, ridge=..., min_eigenvalue=..., alpha=...)``. The defaults leave
    it where that was better on held-out rows of several kinds of data: inputs stand beside the features, the map is
    smooth at zero, labels are smoothed where classes can be told apart, and tables get a basis of splines first.

    Parameters
    ----------
    n_components, class_pairs, n_pairs, noise, ridge_shape, shrinkage, min_eigenvalue
        As in `GEMFeatures`. With several layers, ``n_components``, ``ridge``, ``shrinkage``, ``min_eigenvalue``,
        ``max_components``, ``feature_map``, ``keep_inputs`` and ``constant`` may be lists with one value a layer.
    max_components, keep_inputs, constant, columns, subclasses, invariances, solver, tol, n_jobs
        As in `GEMFeatures`; sub-classes serve all layers, invariances the first.
    feature_map : "auto" or as in `GEMFeatures`
        "auto" is "soft-cubic"; "spline" may serve better on tables with very many rows.
    ridge : "auto" or float
        As in `GEMFeatures`; "auto" starts from 0.3 and tries 1.
    n_layers : int or "auto"
        More than one is deep GEM: GEM on the features of the layer below. Where ``n_components`` does not say, layers
        below the last find as many directions as make about 3000 columns. "auto" tries one and two, and is one with
        a ``classifier`` of your own; on tables of hundreds or thousands of rows two took twice to six times as long
        and seldom had less log loss, so that one is the default.
    n_estimators : int
        Classifiers over different random pairs, combined by the geometric mean of their probabilities. Where pairs
        are not drawn, as when there are few classes, each member cuts the classes into two sub-classes of its own.
    base_map : {"auto", "splines", "products", "axes"}, transformer or None
        What the treated columns pass through first: `ColumnSplines`, the same with products of pairs of columns, up to
        100 leading principal axes, or any scikit-learn transformer such as ``RBFSampler`` or ``Nystroem``; rows pass
        through it block by block. "auto" tries none and "splines" where there are at most 100 columns with values of
        their own, as pixels have not, "products" where splines were no worse than none, and "axes" where `fit` is
        given rows without labels. Of more than 2000 rows, products are of the pairs of columns that tell classes apart
        beyond what each column does, as far as they make 600 columns with the splines; of fewer, whose trials leave
        all rows out in turn, of all pairs, where these make no more columns than rows.
    alpha : "auto" or float
        Penalty of the logit, on a mean loss; "auto" tries 100, 10, 1, 0.1 and 0.01 over the number of different rows,
        as far as it is downhill.
    label_smoothing : "auto" or float
        Of the logit, as in `MultinomialLogit`: where classes can be told apart, smoothed labels are quicker to fit and
        more accurate than plain ones. "auto" starts from 0.2 and tries none where more than 3 % of the rows are wrong.
    classifier : classifier, optional
        Any scikit-learn classifier with ``predict_log_proba`` or ``decision_function`` instead of the logit; its
        features are then formed as one matrix.
    class_weight : "balanced", dict or None
        Weights of classes in the last stage.
    classifier_tol : float
        Relative gap to the minimum at which the logit stops; errors and log losses of new rows do not tell 1e-2 from
        1e-4.
    max_iter : int
        Steps of the logit at most.
    verbose : bool
        Print the progress of the logit.
    random_state : int, RandomState or None
        Draws pairs; passed to nothing the user gives.

    Attributes
    ----------
    components_, patterns_, offsets_, eigenvalues_, residuals_, pairs_, solver_, criterion_, moments_, columns_
        Of the first layer of the first member, as in `GEMFeatures`.
    choices_ : dict
        What was chosen or given: base_map, feature_map, label_smoothing, ridge, n_layers, alpha, and the temperature
        found.
    trials_ : list of dict
        Every trial: its settings, on how many splits, penalty (alpha times rows), temperature, log loss, error and
        seconds.
    column_pairs_ : list of (str, str)
        Of ``base_map="products"``: columns that get a surface together, those first that tell most.
    stacks_ : tuple of `eigenfeat.features.stack.Stack`
        The layers of each member as a value, with what is known of each direction.
    cache_ : `eigenfeat.rows.CacheDecision`
        Of a fit on a stream: what the passes of the logit read, and where that was kept.
    classifiers_ : list
        The last stage of each member.
    n_iter_ : int
        Steps of the longest last stage.
    stage_seconds_ : dict
        What the fit took for its "choices", and the "moments", "directions" and "classifier" of all layers and members.
    classes_, n_features_in_

    References
    ----------
    Karampatziakis & Mineiro (2014), *Discriminative features via generalized eigenvectors*.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from eigenfeat import GEMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = GEMClassifier().fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.98, model.choices_["label_smoothing"]
    (True, 0.2)
    """

    _parameter_constraints: dict = {
        **GEMClassifierBase._parameter_constraints,
        "n_layers": [StrOptions({"auto"}), COUNT],
        "alpha": [StrOptions({"auto"}), NON_NEGATIVE],
        "base_map": [StrOptions({"auto"}), *GEMClassifierBase._parameter_constraints["base_map"]],
        "label_smoothing": [StrOptions({"auto"}), *GEMClassifierBase._parameter_constraints["label_smoothing"]],
        "ridge": [StrOptions({"auto"}), *GEMClassifierBase._parameter_constraints["ridge"]],
        "classifier": [None, HasMethods(["fit", "predict"])],
    }

    def __init__(
        self,
        n_components=None,
        *,
        class_pairs="auto",
        n_pairs=None,
        noise="second_moment",
        feature_map="auto",
        ridge="auto",
        ridge_shape="identity",
        shrinkage=None,
        min_eigenvalue=None,
        max_components=None,
        keep_inputs=True,
        constant=False,
        columns="auto",
        subclasses=None,
        invariances=None,
        n_layers=1,
        n_estimators=1,
        base_map="auto",
        alpha="auto",
        label_smoothing="auto",
        classifier=None,
        class_weight=None,
        solver="auto",
        tol=None,
        classifier_tol=1e-2,
        max_iter=200,
        n_jobs=None,
        verbose=False,
        random_state=0,
    ):
        self.n_components = n_components
        self.class_pairs = class_pairs
        self.n_pairs = n_pairs
        self.noise = noise
        self.feature_map = feature_map
        self.ridge = ridge
        self.ridge_shape = ridge_shape
        self.shrinkage = shrinkage
        self.min_eigenvalue = min_eigenvalue
        self.max_components = max_components
        self.keep_inputs = keep_inputs
        self.constant = constant
        self.columns = columns
        self.subclasses = subclasses
        self.invariances = invariances
        self.n_layers = n_layers
        self.n_estimators = n_estimators
        self.base_map = base_map
        self.alpha = alpha
        self.label_smoothing = label_smoothing
        self.classifier = classifier
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.classifier_tol = classifier_tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @checked_fit
    def fit(self, X, y=None, sample_weight=None, *, groups=None, subclass_labels=None, unlabelled=None):
        """Find features and fit the classifier on them.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe, row source or Dask collection
            A source (`eigenfeat.rows.open`) that memory does not hold is read a block at a time, once for the moments
            of every layer and once for every pass of the logit; settings are tried on a sample of it. See
            `eigenfeat.runtime` for memory, checkpoints and progress.
        y : (n,) array
            Class labels; for a source the name of their column, where it does not say.
        sample_weight : (n,) array, optional
            An integer weight equals that many copies of the row, but for ``shrinkage="auto"``, for which evidence
            is (Σw)² / Σw² rows, and for splines, whose knots are quantiles of as many projections as there are rows.
            A search may settle on slightly another ``alpha`` for copies: its trials stop early.
        groups : (n,) array, optional
            Speaker, subject, recording of each row, where rows of one are alike: rows of a group are left out
            together when probabilities are calibrated. Without, equal rows are.
        subclass_labels : (n,) array, optional
            Event of every row, as in `GEMFeatures`.
        unlabelled : (m, d) array, sparse matrix or dataframe, optional
            More rows of the same kind without labels: the treatment of columns and the principal axes are learnt from
            all rows. (-1 in y is a class like any other.)

        Returns
        -------
        self
        """
        self.stage_seconds_: dict[str, float] = {}
        training = self._training_rows(X, y, sample_weight, groups, subclass_labels, unlabelled)
        with timed(self.stage_seconds_, "choices"):
            base, recipe, last = self._recalled_choices(training)
        training = self._behind(base, training)
        settings = self._member_settings(training, **recipe.layers)
        self._warn_of_memory(training, settings)
        moments = layer_moments(training.rows, settings.layers[0], training.classes, self.stage_seconds_)
        return self._fit_members(moments, training, settings, last)

    # ------------------------------------------------------------------ choices

    @property
    def _searches(self) -> bool:
        return any(is_auto(getattr(self, name)) for name in ("base_map", "alpha", *CANDIDATES))

    def _recalled_choices(self, training: Any) -> tuple[Chain, Recipe, LastStage]:
        """What was chosen; a fit that goes on from a checkpoint does not search again."""
        if not isinstance(training, StreamedTraining):
            return self._choose(training)
        names = ("choices_", "trials_", "base_map_")

        def choose() -> tuple[Any, dict]:
            found = self._choose(training)
            return found, {name: getattr(self, name) for name in names if hasattr(self, name)}

        found, attributes = current().recall("choices", (self.get_params(), training.raw), choose)
        for name, value in attributes.items():
            setattr(self, name, value)
        return found

    def _choose(self, training: Any) -> tuple[Chain, Recipe, LastStage]:
        """What "auto" stands for on these rows: the base map, the recipe, and what is asked of the last stage."""
        n_rows = training.n_different
        free, start = self._free(training)
        nothing_to_find = not free and self.alpha != "auto" and start.label_smoothing == 0
        rows = None if self.classifier is not None or nothing_to_find else training.trials
        if rows is None or not rows.splits:
            alpha = DEFAULT_PENALTY / n_rows if self.alpha == "auto" else self.alpha
            self.choices_, self.trials_ = start.params | {"alpha": alpha}, []
            return self._base(start.base_map, training), start, LastStage(alpha, start.label_smoothing)
        bases = {name: self._base(name, training) for name in free.get("base_map", (start.base_map,))}
        search = Search(
            rows,
            bases,
            lambda recipe, n_given: TrialFit(
                self._member_settings(training, **recipe.layers).narrowed(TRIAL_COLUMNS, n_given),
                self._logit(LastStage(1.0, recipe.label_smoothing), TRIAL_TOL),
                lambda rows: self._with_class_weights(rows, training.classes),
                self.random_state,
            ),
            PENALTIES if self.alpha == "auto" else (self.alpha * n_rows,),
            [],
        )
        best = search.best(free, start)
        warn_of_temperature(best.temperature, type(self).__name__)
        alpha = best.penalty / n_rows if self.alpha == "auto" else self.alpha
        self.choices_ = best.recipe.params | {"alpha": alpha, "temperature": best.temperature}
        self.trials_ = [trial.as_dict() for trial in search.trials]
        return bases[best.recipe.base_map], best.recipe, LastStage(alpha, best.recipe.label_smoothing, best.temperature)

    def _free(self, training: Any) -> tuple[Candidates, Recipe]:
        """Candidates of what is left to us, and where the search starts."""
        candidates: Candidates = {"base_map": self._bases(training), **CANDIDATES}
        given = {name: getattr(self, name) for name in candidates}
        lists = [name for name in PER_LAYER if isinstance(getattr(self, name), list)]
        if is_auto(self.n_layers) and lists:
            raise ValueError(f'{", ".join(lists)} has one value a layer: give n_layers as a number, not "auto".')
        free = {name: values for name, values in candidates.items() if is_auto(given[name])}
        return free, Recipe(**given | {name: values[0] for name, values in free.items()})

    def _bases(self, training: Any) -> tuple[str | None, ...]:
        """Base maps that may serve."""
        if not is_auto(self.base_map) or self.classifier is not None or self.invariances:
            return (None,)
        axes = () if training.more is None else ("axes",)
        pixels = self.columns_ is not None and self.columns_.are_pixels
        return (None, *axes, *training.bases_of_columns(pixels))

    def _surface_pairs(self, training: Any) -> Pairs:
        pairs = training.telling_pairs
        return super()._surface_pairs(training) if pairs is None else pairs

    # ------------------------------------------------------------------ a last stage of the user's

    def _fit_last(self, rows: Rows, keys: np.ndarray, last: LastStage) -> Any:
        if self.classifier is None:
            return super()._fit_last(rows, keys, last)
        if not rows.random_access:
            raise ValueError(
                "A classifier of your own needs its features in memory, and these are read a block at a time: leave "
                "classifier=None, or raise memory of eigenfeat.runtime until the rows fit."
            )
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        fitted = clone(self.classifier).fit(rows.to_array(), rows.y, **weights)
        if not hasattr(fitted, "predict_log_proba") and not hasattr(fitted, "decision_function"):
            raise ValueError(
                f"The classifier {type(fitted).__name__} has neither predict_log_proba nor decision_function: nothing "
                "to tell its classes apart by. Give another, or put GEMFeatures before it in a pipeline."
            )
        return fitted

    def _score_stages(self, last: Any) -> tuple[Stage, ...]:
        if self.classifier is None:
            return super()._score_stages(last)
        n_classes = len(self.classes_)
        if _has_probabilities(self):
            return (EstimatorScores(last, "predict_log_proba", n_classes),)
        return (EstimatorScores(last, "decision_function", 1 if n_classes == 2 else n_classes),)

    def _chains(self) -> Fitted:
        fitted = super()._chains()
        return fitted if _has_probabilities(self) else replace(fitted, probabilities=None)

    def _combined(self, members: tuple[Stage, ...]) -> tuple[Stage, ...]:
        if _has_probabilities(self):
            return super()._combined(members)
        width = members[0].n_columns(self.n_features_in_)
        return Beside(members), Affine.of(np.tile(np.eye(width) / len(members), (len(members), 1)))

    def _scores(self, X) -> np.ndarray:
        if self.classifier is None:
            return super()._scores(X)
        # A given classifier is asked once, for all rows: it may be slow to start, or unsafe in threads.
        X = self._check_new(X)
        return self.fitted_.scores.astype(X.dtype).apply(X)  # type: ignore[union-attr]

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_log_proba(self, X):
        """Logarithms of the class probabilities: of an ensemble, the geometric mean of its members', normalised.

        Parameters
        ----------
        X : (n, d) array, sparse matrix or dataframe

        Returns
        -------
        (n, k) array
        """
        return super().predict_log_proba(X)

    @available_if(_has_probabilities)
    @lazy_on_dask
    def predict_proba(self, X):
        """Class probabilities, (n, k), in the order of ``classes_``."""
        return super().predict_proba(X)
