"""scikit-learn's callbacks (1.9 and later) on every estimator: stages of a fit as their tasks.

Below 1.9 there are none, and nothing is done; ``eigenfeat.runtime(progress=...)`` works in every version.
"""

from __future__ import annotations

from threading import get_ident
from typing import Any

from eigenfeat._runtime.config import runtime
from eigenfeat._runtime.progress import Event

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for a mixin that this version of scikit-learn has not."""


__all__ = ["CallbackSupportMixin", "fit_with_callbacks"]


def fit_with_callbacks(estimator: Any, fit: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a fit and call the estimator's callbacks, if it has any, at its beginning, at every stage and at its end.

    A stage that this thread reports is a task, which ends where the next one begins.
    """
    has_callbacks = bool({"_skl_callbacks", "_parent_callback_ctx"} & vars(estimator).keys())
    if not has_callbacks or "_callback_fit_ctx" in vars(estimator):  # the latter: the fit of a base class
        return fit(estimator, *args, **kwargs)
    given = {"X": None, "y": None} | dict(zip(("X", "y"), args)) | kwargs
    root, thread = estimator._init_callback_context(max_subtasks=None), get_ident()
    tasks: list[Any] = []

    def end_task() -> None:
        if tasks:
            tasks.pop().call_on_fit_task_end(estimator=estimator)

    def listen(event: Event) -> None:
        if event.seconds is None and get_ident() == thread:
            end_task()
            tasks.append(root.subcontext(task_name=event.stage).call_on_fit_task_begin(estimator=estimator))

    def fitted_attributes() -> dict[str, Any]:
        return {name: value for name, value in vars(estimator).items() if name.endswith("_") and name[:2] != "__"}

    root.call_on_fit_task_begin(estimator=estimator, X=given["X"], y=given["y"])
    with runtime(progress=listen):
        result = fit(estimator, *args, **kwargs)
    end_task()
    root.call_on_fit_task_end(
        estimator=estimator, X=given["X"], y=given["y"], reconstruction_attributes=fitted_attributes
    )
    return result
