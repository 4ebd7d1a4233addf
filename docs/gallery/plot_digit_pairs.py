r"""
What tells two digits apart
===========================

GEM finds, for every ordered pair of classes, the directions :math:`v` in which one varies much and the other little:

.. math:: \max_v \frac{v^T C_i v}{v^T C_j v}, \qquad C_k = E[x x^T \mid y = k].

Figure 1 of Karampatziakis & Mineiro (2014) shows such directions for MNIST; here are those of scikit-learn's digits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigenfeat import GEMFeatures
from eigenfeat.report import plot_components, plot_pairs

X, y = load_digits(return_X_y=True)
gem = GEMFeatures(n_components=3, ridge=0.1).fit(X, y)

# %%
# How well each pair can be told apart: the largest eigenvalue of the class to the left over the class below.
plot_pairs(gem)
plt.show()

# %%
# A direction says what to weigh; a pattern says what the weighed thing looks like (Haufe et al. 2014). The three
# patterns of "3 over 8" and "8 over 3":
chosen = [i for i, pair in enumerate(gem.pairs_.tolist()) if pair in ([3, 8], [8, 3])]
plot_components(gem, chosen, kind="patterns", image_shape=(8, 8))
plt.show()
