"""Files of every released version keep loading, and give what they gave."""

import warnings

import numpy as np
import pytest
import scipy
import sklearn
from released_models import HOLD_SCIKIT_LEARN, MODELS, RELEASED, outputs, rows_for

import eigenfeat
from eigenfeat import load


def is_older(version, than) -> bool:
    return [int(part) for part in version.split(".")[:2]] < [int(part) for part in str(than).split(".")[:2]]


FILES = sorted(RELEASED.glob("*/*.skops"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_released_file_loads_and_gives_what_it_gave(path):
    stored = np.load(path.with_name("outputs.npz"))
    here = (sklearn.__version__, scipy.__version__)
    if path.stem in HOLD_SCIKIT_LEARN and any(map(is_older, here, stored["versions"])):
        pytest.skip("written with a newer scikit-learn or scipy, whose insides it holds")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own, of another version
        model = load(path)
    X, _ = rows_for(path.stem)
    expected = stored[path.stem]
    np.testing.assert_allclose(outputs(model, X), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_this_version_has_its_files():
    assert {path.stem for path in FILES if path.parent.name == eigenfeat.__version__} == MODELS.keys()
