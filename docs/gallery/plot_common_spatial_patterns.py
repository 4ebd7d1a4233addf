"""
Common spatial patterns of simulated trials
===========================================

The best-known generalized eigenvectors: filters of the channels through which one class has much power and the other
little.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from eigenfeat import CommonSpatialPatterns, FisherLDA

# %%
# Sixteen channels see sixteen sources through a mixing matrix; the third is stronger in trials of the left hand, the
# twelfth in those of the right.
rng = np.random.default_rng(0)
angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
places = np.c_[np.cos(angles), np.sin(angles)]
mixing = np.exp(-((places[:, None] - places[None]) ** 2).sum(-1) / 0.5)
y = np.repeat(["left", "right"], 60)
sources = rng.normal(size=(120, 16, 200))
sources[y == "left", 2] *= 1.6
sources[y == "right", 11] *= 1.6
X = mixing @ sources

model = make_pipeline(CommonSpatialPatterns(n_components=4, shrinkage="auto"), FisherLDA())
print("right in cross-validation:", cross_val_score(model, X, y).mean().round(3))

# %%
# The patterns show where the sources are, which the filters do not.
csp = CommonSpatialPatterns(n_components=2, shrinkage="auto").fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
for ax, pattern, true, value in zip(axes, csp.patterns_, (2, 11), csp.eigenvalues_):
    limit = np.abs(pattern).max()
    ax.scatter(*places.T, c=pattern, cmap="RdBu_r", s=180, vmin=-limit, vmax=limit, edgecolors="grey")
    ax.scatter(*places[true], s=420, facecolors="none", edgecolors="black")
    ax.set(title=f"share of power {value:.2f}", aspect="equal", xticks=[], yticks=[])
plt.show()
