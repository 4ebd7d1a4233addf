r"""
Least squares, figures 1 and 2: an eigenproblem as a regression
===============================================================

Sun, Ji & Ye (2009) show that LDA, CCA, OPLS and hypergraph features are regressions: the eigenvectors of
:math:`X^T H H^T X w = \lambda X^T X w` lie in the span of the regression of :math:`H` on :math:`X`. Documents with
several labels, simulated: the scores on documents that were left out as training rows grow, by the eigenproblem, by
least squares, and by least squares with a ridge that leaving rows out chooses (the default).
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score

from eigenfeat import LeastSquaresCCA

rng = np.random.default_rng(0)


def documents(n, n_words, n_labels=8):
    """Counts of words; each label has words of its own, and half of all words belong to none."""
    labels = rng.random((n, n_labels)) < 0.25
    topics = rng.dirichlet(np.full(n_words, 0.05), size=n_labels)
    rates = 4 * labels @ topics + 40 / n_words
    return rng.poisson(rates).astype(float), labels.astype(float)


X, Y = documents(1500, 300)
X_test, Y_test = X[900:], Y[900:]
forms = {
    "eigenproblem": lambda: LeastSquaresCCA(alpha=0.0, solver="eigen"),
    "least squares": lambda: LeastSquaresCCA(alpha=0.0, solver="block_cg", tol=1e-10, max_iter=3000),
    "with a ridge": lambda: LeastSquaresCCA(),
}
sizes = (100, 200, 300, 500, 900)
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for (name, form), style in zip(forms.items(), ("o-", "x:", "^-")):
    areas = [roc_auc_score(Y_test, form().fit(X[:n], Y[:n]).predict(X_test)) for n in sizes]
    print(f"{name:<14}", np.round(areas, 3))
    ax.plot(sizes, areas, style, label=name)
ax.axvline(300, color="0.7", lw=0.8)
ax.text(290, 0.56, "as many rows as words", color="0.4", ha="right", fontsize=8)
ax.set(xlabel="training rows", ylabel="area under the curve")
ax.legend(frameon=False)
plt.show()

# %%
# The first two curves lie on each other. Without a penalty both are worst where there are as many rows as words, and
# the covariance is all but singular; a ridge is the cure.
#
# What it saves (figure 2): seconds as words grow, the dense eigenproblem of the words against the regression on sparse
# counts. Seconds of whatever machine made this page.
widths, seconds = (250, 500, 1000, 1500), {"eigenproblem of the words": [], "least squares, sparse": []}
for n_words in widths:
    X, Y = documents(600, n_words)
    H = np.linalg.qr(Y - Y.mean(axis=0))[0]
    start = perf_counter()
    centred = X - X.mean(axis=0)
    cross = centred.T @ H
    values, vectors = np.linalg.eigh(centred.T @ centred + np.eye(n_words))
    whitened = (vectors / np.sqrt(values)).T @ cross
    np.linalg.eigh(whitened @ whitened.T)
    seconds["eigenproblem of the words"].append(perf_counter() - start)
    start = perf_counter()
    LeastSquaresCCA(alpha=1.0).fit(sparse.csr_matrix(X), Y)
    seconds["least squares, sparse"].append(perf_counter() - start)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for (name, taken), style in zip(seconds.items(), ("o-", "^-")):
    ax.plot(widths, taken, style, label=name)
ax.set(xlabel="words", ylabel="seconds", yscale="log")
ax.legend(frameon=False)
plt.show()
