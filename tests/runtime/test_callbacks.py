"""scikit-learn's callbacks hear of fits, their stages and their ends."""

import pytest
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, KernelFisherClassifierCV, MultinomialLogit

callback = pytest.importorskip("sklearn.callback", reason="comes with scikit-learn 1.9")


class Log:
    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name))


@pytest.mark.parametrize(
    ("model", "stage"),
    [(FisherLDA(), None), (MultinomialLogit(), "logit: step"), (KernelFisherClassifierCV(), "candidate gamma")],
    ids=lambda value: type(value).__name__,
)
def test_tasks_begin_and_end(model, stage):
    X, y = load_iris(return_X_y=True)
    log, scores = Log(), callback.ScoringMonitor(scoring="accuracy")
    model.set_callbacks(log, scores).fit(X, y)
    events = log.events
    assert events[0] == "setup" and events[-1] == "teardown"
    assert events[1] == ("begin", "fit") and events[-2] == ("end", "fit")
    begun = [name for kind, name in events[1:-1] if kind == "begin"]
    assert sorted(begun) == sorted(name for kind, name in events[1:-1] if kind == "end")
    assert stage is None or stage in begun
    assert scores.get_logs().data[-1]["accuracy"] == pytest.approx(model.score(X, y))
