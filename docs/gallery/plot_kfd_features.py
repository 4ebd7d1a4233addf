"""
Kernel Fisher, figures 5.2 to 5.5: features, invariances, sparse regression
===========================================================================

The feature of kernel Fisher beside those of kernel PCA, which does not see the classes (polynomial kernel of degree
two, each class two mirrored parabolas; Mika 2002, figure 5.2).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVR

from eigenfeat import KernelFisherFeatures, KernelFisherRegressor, OrientedKernelPCA

rng = np.random.RandomState(0)


def plane(X, steps=80):
    low, high = X.min(axis=0) - 0.3, X.max(axis=0) + 0.3
    a, b = np.meshgrid(np.linspace(low[0], high[0], steps), np.linspace(low[1], high[1], steps))
    return a, b, np.column_stack([a.ravel(), b.ravel()])


t, side = rng.uniform(-1, 1, 200), np.where(rng.rand(200) < 0.5, -1, 1)
up = np.column_stack([t, side * (0.3 + 0.6 * t**2)]) + 0.08 * rng.randn(200, 2)
y = np.repeat([0, 1], 100)
X = np.where(y[:, None] == 1, up, up[:, ::-1])
kernel = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}
a, b, points = plane(X)
kfd = KernelFisherFeatures(1, alpha=1e-2, **kernel).fit(X, y).transform(points)[:, 0]
pca = KernelPCA(2, **kernel).fit(X).transform(points)

fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, values, title in zip(axes, (kfd, *pca.T), ("kernel Fisher", "kernel PCA, first", "kernel PCA, second")):
    ax.contourf(a, b, values.reshape(a.shape), 15, cmap="gray")
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=6)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# Oriented kernel PCA (figure 5.4) divides by the variance under changes that should not matter: the first feature of
# plain kernel PCA, one that turns leave as it is, and one that shifts leave as it is.
X = rng.randn(150, 2) * [1.0, 0.7]
c, s = np.cos(0.2), np.sin(0.2)
moves = {
    "kernel PCA": None,
    "blind to rotation": [lambda rows: rows @ np.array([[c, s], [-s, c]])],
    "blind to shifts along x": [lambda rows: rows + np.array([0.3, 0.0])],
}
a, b, points = plane(X)
fig, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, (title, invariances) in zip(axes, moves.items()):
    model = OrientedKernelPCA(1, gamma=0.5, alpha=1e-3, invariances=invariances).fit(X)
    ax.contourf(a, b, model.transform(points)[:, 0].reshape(a.shape), 15, cmap="gray")
    ax.scatter(*X.T, s=4)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# Sparse regression of the sinc function (figure 5.5), without noise and with it: how many rows the function rests on,
# beside support vector regression.
x = np.linspace(-10, 10, 100)[:, None]
fig, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for ax, deviation, width, alpha in zip(axes, (0.0, 0.2), (4.0, 3.0), (0.01, 0.1)):
    target = np.sinc(x[:, 0] / np.pi) + deviation * rng.randn(100)
    model = KernelFisherRegressor(gamma=1 / width, alpha=alpha, penalty="sparse", columns=None).fit(x, target)
    svr = SVR(gamma=1 / width, C=1.0, epsilon=max(0.01, deviation / 2)).fit(x, target)
    ax.plot(x, target, ".", x, model.predict(x), "-")
    ax.plot(x[model.support_], target[model.support_], "ko", fillstyle="none")
    ax.set(title=f"noise {deviation}: {len(model.support_)} rows, SVR {len(svr.support_)}")
plt.show()
