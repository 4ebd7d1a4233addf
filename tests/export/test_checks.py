"""Models whose parts do not fit: refused on loading and on saving, before a compiled loop trusts them."""

import warnings

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from eigenfeat import CommonSpatialPatterns, FisherLDA, GEMFeatures, ScoreTensorFeatures, load, save
from eigenfeat.export.archive import Refusal
from eigenfeat.export.checks import check_model, forget_cached, try_model
from eigenfeat.features.maps import SplineMap
from eigenfeat.stages import Affine, Chain, Fitted


@pytest.fixture
def model(iris):
    return FisherLDA().fit(*iris)


CHANGES = {
    "fitted": lambda m: setattr(m, "fitted_", None),
    "stage": lambda m: setattr(m, "fitted_", Fitted(features=Chain((Affine.of(np.ones((5, 2))),)))),
    "number of columns": lambda m: setattr(m, "n_features_in_", 5),
    "no number of columns": lambda m: delattr(m, "n_features_in_"),
    "columns as text": lambda m: setattr(m, "n_features_in_", "4"),
    "names of columns": lambda m: setattr(m, "feature_names_in_", np.array(["a"], dtype=object)),
    "classes": lambda m: setattr(m, "classes_", m.classes_[:2]),
    "classes of two dimensions": lambda m: setattr(m, "classes_", m.classes_[None]),
    "not finite": lambda m: setattr(m, "coef_", np.full((3, 4), np.nan)),
    "hidden method": lambda m: vars(m).update(predict=1.0),
    "hidden property": lambda m: vars(m).update(_n_features_out=1.0),
    "parameter": lambda m: delattr(m, "ridge"),
    "field": lambda m: vars(m.fitted_).pop("scores"),
    "one field more": lambda m: vars(m.fitted_).update(more=1),
    "hidden method of a stage": lambda m: vars(m.fitted_.features).update(apply=Affine.of(np.ones((4, 1)))),
    "moments": lambda m: setattr(m.moments_, "_scatters", m.moments_._scatters[:, :1, :1]),
    "shifts of moments": lambda m: setattr(m.moments_, "_shifts", m.moments_._shifts[:, :1]),
    "classes of moments": lambda m: setattr(m.moments_, "counts", m.moments_.counts[:1]),
    "columns of moments": lambda m: setattr(m.moments_, "n_features", 9),
    "random numbers": lambda m: setattr(m, "more_", forged_random_state()),
    "other random numbers": lambda m: setattr(m, "more_", np.random.Generator(np.random.Philox(0))),
}


def forged_random_state():
    numbers = np.random.RandomState(0)
    state = numbers.get_state(legacy=False)
    state["state"]["pos"] = 10**6
    numbers.set_state(state)
    return numbers


@pytest.mark.parametrize("case", CHANGES)
def test_what_does_not_fit_is_refused(case, model, tmp_path):
    check_model(model)
    CHANGES[case](model)
    with pytest.raises(Refusal, match="does not fit together"):
        check_model(model)
    with pytest.raises(ValueError, match="FisherLDA was not saved to"):
        save(model, tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_gaps_are_allowed_where_nothing_is_computed_from_them(model):
    model.cv_results_ = {"split0_test_score": np.array([np.nan, 1.0])}
    check_model(model)


def test_only_estimators_are_models(tmp_path):
    for thing in ({"a": 1}, [FisherLDA()], Affine.of(np.ones((2, 2)))):
        with pytest.raises(ValueError, match="is no estimator"):
            save(thing, tmp_path / "model.skops")


def test_models_that_were_not_fitted_are_fine(tmp_path):
    assert load(save(FisherLDA(ridge=0.5), tmp_path / "model.skops")).ridge == 0.5


def test_arrays_that_were_changed_in_the_file_are_refused(model, saved, edit_array):
    vectors = model.fitted_.features.stages[0].vectors.toarray()
    with pytest.raises(ValueError, match=rf"{saved} does not fit together: an array of directions has shape \(5, 2\)"):
        load(edit_array(saved, vectors, np.vstack([vectors, vectors[:1]])))


def test_numbers_that_are_not_finite_in_the_file_are_refused(model, saved, edit_array):
    vectors = model.fitted_.features.stages[0].vectors.toarray()
    with pytest.raises(ValueError, match=f"{saved} does not fit together: .*not finite"):
        load(edit_array(saved, vectors, np.where(vectors == vectors.max(), np.inf, vectors)))


def spline_model(iris, cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(feature_map=SplineMap()).fit(*iris)
    model.transform(iris[0])
    return model


def splines(thing):
    from eigenfeat.export.checks import _everything

    return [part for part, _, _ in _everything(thing) if isinstance(part, SplineMap) and part.knots is not None]


@pytest.mark.parametrize("cls", [GEMFeatures, ScoreTensorFeatures])
def test_cached_pieces_are_never_taken_from_a_file(cls, iris, tmp_path, edit_array):
    model = spline_model(iris, cls)
    (spline,) = splines(model)
    pieces = spline._pieces
    path = save(model, tmp_path / "model.skops")
    edit_array(path, pieces, np.full((200, 200, 9, 9), 1e9))
    again = load(path)
    np.testing.assert_array_equal(again.transform(iris[0]), model.transform(iris[0]))


@pytest.mark.parametrize("change", [lambda k: np.vstack([k] * 3), lambda k: k[:, ::-1].copy(), lambda k: k[:1]])
def test_knots_that_do_not_fit_are_refused(change, iris, tmp_path, edit_array):
    model = spline_model(iris, ScoreTensorFeatures)
    path = save(model, tmp_path / "model.skops")
    with pytest.raises(ValueError, match=r"does not fit together: the knots"):
        load(edit_array(path, splines(model)[0].knots, change(splines(model)[0].knots)))


def test_what_is_cached_is_forgotten():
    model = StandardScaler()
    model.spline = SplineMap().fit(np.random.default_rng(0).normal(size=(20, 2)))
    assert model.spline._pieces is not None
    forget_cached(model)
    assert "_pieces" not in vars(model.spline)


def test_a_model_that_cannot_be_used_is_refused(model):
    del model.classes_
    with pytest.raises(Refusal, match="predict fails"):
        try_model(model)


def test_models_of_trials_are_tried_on_trials():
    model = CommonSpatialPatterns(2).fit(np.random.default_rng(0).normal(size=(8, 3, 20)), np.arange(8) % 2)
    try_model(model)
    del model.fitted_
    with pytest.raises(Refusal, match="transform fails"):
        try_model(model)


def test_models_that_refuse_rows_of_zeros_are_not_refused(model, monkeypatch):
    def refuses(self, X):
        raise ValueError("zeros")

    monkeypatch.setattr(FisherLDA, "transform", refuses)
    try_model(model)
