"""Model files of the current version, for later versions to load.

    python tests/export/released_models.py

Writes ``tests/export/released/VERSION/``: a file a model, and what each makes of its rows. Run it once for every
release, on the commit that is released, and commit the folder; before the release of a version it may be run again,
afterwards never: what was released has to keep loading as it is.
"""

import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import eigenfeat
from eigenfeat import (
    CommonSpatialPatterns,
    FisherLDA,
    GEMClassifier,
    KernelFisherClassifier,
    LeastSquaresLDA,
    OrientedPCA,
    ScoreTensorFeatures,
    make_tabular,
    save,
)

RELEASED = Path(__file__).parent / "released"
HOLD_SCIKIT_LEARN = ("a search", "a calibration")
"""Whose insides are those of a version of scikit-learn and scipy, which older ones cannot read."""

MODELS = {
    "FisherLDA": FisherLDA(shrinkage="auto"),
    "OrientedPCA": OrientedPCA(2),
    "GEMClassifier": GEMClassifier(1, base_map=None, feature_map="soft-cubic", ridge=0.3, alpha=1e-2),
    "splines of GEM": GEMClassifier(1, base_map=None, feature_map="spline", ridge=0.3, alpha=1e-2),
    "KernelFisherClassifier": KernelFisherClassifier(alpha=0.1),
    "LeastSquaresLDA": LeastSquaresLDA(alpha=1.0),
    "ScoreTensorFeatures": ScoreTensorFeatures(order=2, n_components=2),
    "CommonSpatialPatterns": CommonSpatialPatterns(n_components=2),
    "a table": make_tabular(FisherLDA(ridge=0.1)),
    "a search": GridSearchCV(make_pipeline(SplineTransformer(), FisherLDA()), {"fisherlda__ridge": [0.1, 1.0]}, cv=2),
    "a calibration": CalibratedClassifierCV(make_pipeline(StandardScaler(), FisherLDA()), cv=2),
}


def rows_for(name: str):
    """Rows and labels: flowers, flowers as a table with words, trials."""
    X, y = (part[::3] for part in load_iris(return_X_y=True))
    if name == "a table":
        columns = {f"column {j}": X[:, j] for j in range(4)}
        return columns | {"size": np.where(X[:, 0] > 5.8, "large", "small")}, np.array(["a", "b", "c"])[y]
    if name == "CommonSpatialPatterns":
        return X[:, :, None] * np.random.default_rng(0).normal(size=(*X.shape, 20)), y > 0
    return X, y


def outputs(model, X) -> np.ndarray:
    verb = next(verb for verb in ("predict_proba", "transform") if hasattr(model, verb))
    return np.asarray(getattr(model, verb)(X))


def main() -> None:
    warnings.simplefilter("ignore")
    folder = RELEASED / eigenfeat.__version__
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, model in MODELS.items():
        X, y = rows_for(name)
        path = save(model.fit(X, y), folder / f"{name}.skops")
        expected[name] = outputs(model, X)
        print(f"{path.relative_to(RELEASED)}: {path.stat().st_size:,} bytes")
    versions = np.array([sklearn.__version__, scipy.__version__])
    np.savez_compressed(folder / "outputs.npz", versions=versions, **expected)


if __name__ == "__main__":
    main()
