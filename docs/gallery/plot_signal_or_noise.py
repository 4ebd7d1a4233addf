"""
Which directions are more than noise?
=====================================

A spectrum alone does not tell how many directions to keep: noise has eigenvalues too. Shuffle the labels, fit again,
and see how large the largest eigenvalue gets when labels mean nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from eigenfeat import FisherLDA
from eigenfeat.stability import permutation_test

X, y = load_wine(return_X_y=True)
X = scale(X)
rng = np.random.default_rng(0)

# %%
# Both components of the wines stand out; with labels drawn at random, neither does.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
for ax, labels, title in ((axes[0], y, "wine"), (axes[1], rng.permutation(y), "labels drawn at random")):
    found = permutation_test(FisherLDA(), X, labels, random_state=0)
    ax.bar([1, 2], found.values, width=0.5)
    ax.axhline(found.interval[1], color="black", linestyle="--", label="noise reaches")
    ax.set(title=f"{title}: {found.n_distinguishable} stand out", xlabel="component", xticks=[1, 2], yscale="log")
axes[0].set_ylabel("eigenvalue")
axes[0].legend(frameon=False)
plt.show()
