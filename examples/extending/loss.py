"""A loss of one's own: Huber's with a tube in which residuals cost nothing."""

from dataclasses import dataclass

import numpy as np

from eigenfeat import KernelFisherRegressor
from eigenfeat.kernel import Loss


@dataclass(frozen=True)
class HuberInsensitive(Loss):
    """Zero up to ``epsilon``, then a parabola as wide as ``sigma``, then a line.

    Every solver reads a loss off its conjugate, ``½ curvature t² + tube |t|`` on ``|t| ≤ bound``: three numbers, of
    which the last is one unless a loss says otherwise.
    """

    sigma: float = 0.5
    epsilon: float = 0.1

    @property
    def curvature(self):
        return self.sigma

    @property
    def tube(self):
        return self.epsilon


rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(150, 1))
y = np.sinc(X[:, 0]) + 0.1 * rng.standard_t(2, size=150)
model = KernelFisherRegressor(alpha=0.1, gamma=1.0, loss=HuberInsensitive(sigma=0.2, epsilon=0.05)).fit(X, y)
print(model.solver_, len(model.support_), round(float(np.abs(model.predict(X) - np.sinc(X[:, 0])).mean()), 2))
