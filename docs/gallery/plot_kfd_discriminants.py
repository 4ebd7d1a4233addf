"""
Kernel Fisher, figures 5.1 and 5.7: discriminants, sparse ones, and regularisation
==================================================================================

Figures of Mika's thesis (2002) from toy data. A kernel Fisher discriminant is a function of all training rows; with an
L1 penalty and the absolute loss it is a linear program ("LSKFD") and rests on few rows, drawn as circles.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenfeat import KernelFisherClassifier

rng = np.random.RandomState(0)
angle = np.pi * rng.rand(60)
bent = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.2 * rng.randn(60, 2)
cloud = np.array([0.0, 0.1]) + 0.3 * rng.randn(60, 2)
X, y = np.vstack([bent, cloud]), np.repeat([1, 0], 60)
a, b = np.meshgrid(np.linspace(-1.8, 1.8, 80), np.linspace(-1.2, 1.8, 80))
plane = np.column_stack([a.ravel(), b.ravel()])

fig, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained", sharex=True, sharey=True)
kinds = [("squared", "coefficients", 0.1, "KFD"), ("absolute", "sparse", 1.0, "LSKFD")]
for row, (loss, penalty, alpha, name) in zip(axes, kinds):
    for ax, kernel in zip(row, ("linear", "rbf")):
        settings = {"columns": None, "threshold": "least-squares"}
        model = KernelFisherClassifier(kernel, 1.0, alpha, loss, penalty, **settings).fit(X, y)
        ax.contour(a, b, model.decision_function(plane).reshape(a.shape), [-1, 0, 1], linestyles=[":", "-", ":"])
        ax.scatter(*X.T, c=y, cmap="coolwarm", s=8)
        if penalty == "sparse":
            ax.scatter(*X[model.support_].T, s=60, facecolors="none", edgecolors="k")
        ax.set(title=f"{name}, {kernel}: {len(model.support_)} of {len(X)} rows", xticks=[], yticks=[])
plt.show()

# %%
# Outputs on training rows (filled) and on rows that were left out (lines), for ever more regularisation. With too
# little the training outputs collapse to the labels while the test outputs do not; with too much all run together.
# Rows are ringnorm's: two Gaussians in twenty dimensions, one twice as wide.


def ringnorm(n):
    label = rng.randint(2, size=n)
    wide, narrow = 2 * rng.randn(n, 20), 2 / np.sqrt(20) + rng.randn(n, 20)
    return np.where(label[:, None] == 1, wide, narrow) / 2, label


(X, y), (X_test, y_test) = ringnorm(400), ringnorm(3000)
bins = np.linspace(-2.5, 2.5, 60)
fig, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained", sharey=True)
for ax, alpha in zip(axes, (0.003, 30.0, 3e4)):
    settings = {"gamma": 0.1, "columns": None, "penalty": "coefficients", "threshold": "least-squares"}
    model = KernelFisherClassifier(alpha=alpha, **settings).fit(X, y)
    for rows, labels, style in ((X, y, {"alpha": 0.5}), (X_test, y_test, {"histtype": "step"})):
        outputs = model.decision_function(rows)
        for label, colour in ((0, "tab:blue"), (1, "tab:red")):
            ax.hist(outputs[labels == label], bins, density=True, color=colour, **style)
    ax.set(title=f"alpha {alpha:g}: {100 * (1 - model.score(X_test, y_test)):.1f} % wrong", xlabel="output", yticks=[])
plt.show()
