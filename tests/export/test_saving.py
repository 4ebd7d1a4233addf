"""Saving and loading: every estimator, damaged files, interrupted saves."""

import inspect
import warnings
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import eigenfeat
from eigenfeat import FisherLDA, load, save

ESTIMATORS = [
    cls
    for _, cls in inspect.getmembers(eigenfeat, inspect.isclass)
    if issubclass(cls, BaseEstimator) and not inspect.isabstract(cls)
]


def output(model, X):
    if is_classifier(model):
        return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    if is_regressor(model):
        return model.predict(X)
    return model.transform(X) if hasattr(model, "transform") else model.score_samples(X)


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_comes_back_as_it_was(cls, iris, tmp_path):
    X, y = iris
    X, y = X[::3], y[::3]
    if get_tags(cls()).input_tags.three_d_array:  # trials whose power is that of the row
        X = X[:, :, None] * np.random.default_rng(0).normal(size=(*X.shape, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls().fit(X, X[:, 0] if is_regressor(cls()) else y)
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(output(again, X), output(model, X))
    assert repr(again.get_params()) == repr(model.get_params())


def test_wide_data_pipelines_and_text_labels(iris, tmp_path):
    X, y = iris
    wide = np.tile(X[::5], 20)  # 30 rows, 80 columns: moments in factored form
    model = make_pipeline(StandardScaler(), FisherLDA(ridge=0.1)).fit(wide, np.array(["a", "b", "c"])[y[::5]])
    again = load(save(model, tmp_path / "model.skops"))
    np.testing.assert_array_equal(again.predict(wide), model.predict(wide))


def test_a_save_that_fails_leaves_the_old_file_and_no_rubbish(iris, tmp_path, monkeypatch):
    path = save(FisherLDA().fit(*iris), tmp_path / "model.skops")
    before = path.read_bytes()

    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(skops.io, "dump", killed)
    with pytest.raises(KeyboardInterrupt):
        save(FisherLDA(ridge=1.0).fit(*iris), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.skops"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_files_cut_short_are_explained(share, iris, tmp_path):
    path = save(FisherLDA().fit(*iris), tmp_path / "model.skops")
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="damaged, cut short"):
        load(path)


def test_flipped_bytes_are_noticed(iris, tmp_path):
    path = save(FisherLDA().fit(*iris), tmp_path / "model.skops")
    whole = bytearray(path.read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 20] = bytes(255 - b for b in whole[middle : middle + 20])
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match="damaged, cut short"):
        load(path)


def test_other_files_are_explained(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a model")
    archive = tmp_path / "other.zip"
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr("hello", "world")
    for path in (text, archive, tmp_path):
        with pytest.raises(ValueError, match="was not written by"):
            load(path)
    with pytest.raises(FileNotFoundError, match="no model file"):
        load(tmp_path / "absent.skops")
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(FisherLDA(), tmp_path / "absent" / "model.skops")


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix])
def test_models_of_wide_sparse_data_survive_a_file(tmp_path, form):
    X, y = load_digits(return_X_y=True)
    X, y = form(X[:50] / 16), y[:50]  # fewer rows than columns: the model keeps rows
    model = FisherLDA(ridge=0.1).fit(X, y)
    again = load(save(model, tmp_path / "wide.skops"))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.components_, model.components_)
