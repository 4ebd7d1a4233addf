r"""
FEAST, figures 1 and 6: score fields of a Swiss roll, and what labels make of them
==================================================================================

A denoising auto-encoder learns the score :math:`S_1 = -\nabla\log p` of the rows without labels (Janzamin et al. 2014);
higher scores :math:`S_2, S_3` follow from it. The rows are two pieces of a roll in the plane, one class each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from eigenfeat import DenoisingAutoencoder, ScoreTensorFeatures
from eigenfeat.features.maps import SplineMap

zeta = np.concatenate([np.linspace(5, 8, 500), np.linspace(9, 12, 500)])
X = scale(zeta[:, None] * np.column_stack([np.cos(zeta), np.sin(zeta)]))
y = np.repeat([1, -1], 500)
model = DenoisingAutoencoder(
    100, corruption_level=0.2, gain=0.2**-2, learning_rate=0.02, max_iter=60, n_iter_no_change=15, random_state=0
).fit(X)
score = model.score_function_

# %%
# Arrows are :math:`-S_1`, uphill to where rows are dense; lines are the directions along which the second and the third
# score are largest.
angles = np.linspace(0, np.pi, 181)[:-1]
V = np.array([np.cos(angles), np.sin(angles)])
points = X[::9]
fields = {r"$-S_1 = \nabla\log p$": -score.score1(points)}
for order in (2, 3):
    sizes = np.abs(score.tensors_at(points).form(*[V] * order))
    fields[f"where $S_{order}$ is largest"] = V[:, sizes.argmax(axis=1)].T
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (title, field) in zip(axes, fields.items()):
    ax.scatter(*X.T, s=2, c=np.where(y > 0, "#9ecae1", "#fdae6b"))
    length = np.linalg.norm(field, axis=1, keepdims=True)
    arrows = field / np.maximum(length, 1e-12) * np.minimum(length / np.median(length), 1.5) ** 0.5
    head = {} if "log" in title else {"headwidth": 0, "headlength": 0, "headaxislength": 0, "pivot": "mid"}
    ax.quiver(*points.T, *arrows.T, color="#444444", angles="xy", width=0.004, scale=22, **head)
    ax.set(title=title, aspect="equal", xticks=[], yticks=[])
plt.show()

# %%
# Labels correlated with the third score give directions; splines along them and a linear classifier tell the pieces
# apart, every second row left out; on the coordinates alone the same classifier draws a line through both.
train, test = slice(0, None, 2), slice(1, None, 2)
features = ScoreTensorFeatures(model, prefit=True, order=3, n_components=3, feature_map=SplineMap(n_knots=3))
classifier = make_pipeline(features, StandardScaler(), LogisticRegression(C=100, max_iter=5000)).fit(X[train], y[train])
plain = LogisticRegression(C=100).fit(X[train], y[train])
a, b = np.meshgrid(np.linspace(-2.2, 2.2, 120), np.linspace(-2.2, 2.2, 120))
plane = np.column_stack([a.ravel(), b.ravel()])
fig, axes = plt.subplots(1, 2, figsize=(7.5, 3.6), layout="constrained")
for ax, fitted, name in ((axes[0], plain, "coordinates"), (axes[1], classifier, "third-order features")):
    ax.contourf(a, b, fitted.predict_proba(plane)[:, 1].reshape(a.shape), 12, cmap="RdBu", vmin=0, vmax=1, alpha=0.5)
    ax.scatter(*X[test].T, s=3, c=np.where(y[test] > 0, "#08306b", "#7f2704"))
    ax.set(title=f"{name}: {fitted.score(X[test], y[test]):.1%} right", aspect="equal", xticks=[], yticks=[])
plt.show()
