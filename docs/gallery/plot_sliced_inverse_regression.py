"""
Directions in which a continuous target moves
=============================================

Sliced inverse regression cuts the target into slices and looks for directions in which the slices' means differ: one
hidden column, mixed into ten, is found again.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenfeat import SlicedInverseRegression

rng = np.random.default_rng(0)
hidden = rng.normal(size=(2000, 10))
y = np.exp(0.7 * hidden[:, 0]) * np.sign(hidden[:, 0] + 2) + 0.1 * rng.normal(size=2000)
X = hidden @ rng.normal(size=(10, 10))

model = SlicedInverseRegression(n_components=2).fit(X, y)
z = model.transform(X)
print("eigenvalues:", model.eigenvalues_.round(3))
print("correlation with the hidden column:", abs(np.corrcoef(z[:, 0], hidden[:, 0])[0, 1]).round(3))

# %%
fig, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.scatter(z[:, 0], y, s=4, alpha=0.4)
ax.set(xlabel="first direction", ylabel="target")
plt.show()
