"""
FEAST on digits: features of labels and a density
=================================================

The paper's figures of MNIST, here with scikit-learn's digits: first-order features are where the mean of a label moves
with the score, third-order components are directions along which a label bends, of which there can be more than
columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenfeat import ScoreTensorFeatures

X, y = load_digits(return_X_y=True)

# %%
# Both are found from the same cross-moments of labels with the scores of a Gaussian density of the rows.
found = {
    "first order": ScoreTensorFeatures(order=1, n_components=5).fit(X, y),
    "third order": ScoreTensorFeatures(order=3, n_components=5, n_axes=12, random_state=0).fit(X, y),
}
fig, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
for row, (name, model) in zip(axes, found.items()):
    for ax, direction in zip(row, model.components_):
        limit = np.abs(direction).max()
        ax.imshow(direction.reshape(8, 8), cmap="RdBu_r", vmin=-limit, vmax=limit)
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name)
plt.show()
