"""A feature map of one's own: waves of the projections, in GEM."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_digits

from eigenfeat import GEMFeatures
from eigenfeat.features.maps import FEATURE_MAPS, FeatureMap


@dataclass(frozen=True)
class Waves(FeatureMap):
    """``sin(f p)`` and ``cos(f p)`` of every projection p."""

    frequency: float = 1.0
    name: str = "waves"

    def n_columns(self, n_projections):
        return 2 * n_projections

    def write(self, projections, out, start=0):
        """Into the columns of ``out`` from ``start`` on: what comes before belongs to others."""
        m = projections.shape[1]
        angle = projections * projections.dtype.type(self.frequency)
        np.sin(angle, out=out[:, start : start + m])
        np.cos(angle, out=out[:, start + m : start + 2 * m])

    def feature_names(self, projection_names):
        return [f"{wave}_{name}" for wave in ("sin", "cos") for name in projection_names]


FEATURE_MAPS["waves"] = Waves()  # from now on a name, as "soft-cubic" is

X, y = load_digits(return_X_y=True)
model = GEMFeatures(n_components=1, ridge=0.1, feature_map=Waves(frequency=0.5)).fit(X / 16, y)
features = model.transform(X / 16)
print(features.shape, list(model.get_feature_names_out()[-1:]))
