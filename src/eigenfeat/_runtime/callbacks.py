"""scikit-learn's callbacks (1.9 and later) on every estimator: stages of a fit as their tasks.

Below 1.9 there are none, and nothing is done; ``eigenfeat.runtime(progress=...)`` works in every version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from eigenfeat._runtime.context import runtime
from eigenfeat._runtime.progress import Event

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for a mixin that this version of scikit-learn has not."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Refuse callbacks, which come with scikit-learn 1.9."""
            if callbacks:
                raise NotImplementedError("set_callbacks needs scikit-learn 1.9 or later: pip install -U scikit-learn")
            return self


__all__ = ["CallbackSupportMixin", "fit_with_callbacks"]


def fit_with_callbacks(estimator: Any, fit: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a fit and call the estimator's callbacks, if it has any, at its beginning, at every stage and at its end."""
    has_callbacks = bool({"_skl_callbacks", "_parent_callback_ctx"} & vars(estimator).keys())
    if not has_callbacks or "_callback_fit_ctx" in vars(estimator):  # the latter: the fit of a base class
        return fit(estimator, *args, **kwargs)
    given = dict(zip(("X", "y"), args)) | kwargs
    X, y = given.get("X"), given.get("y")
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    with _stages_as_tasks(estimator, root):
        result = fit(estimator, *args, **kwargs)
    root.call_on_fit_task_end(
        estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: _fitted_attributes(estimator)
    )
    return result


@contextmanager
def _stages_as_tasks(estimator: Any, root: Any) -> Iterator[None]:
    """Make every stage that this thread reports a task, which ends where the next one begins."""
    open_task: list[Any] = []
    thread = get_ident()

    def end() -> None:
        if open_task:
            open_task.pop().call_on_fit_task_end(estimator=estimator)

    def listen(event: Event) -> None:
        if not event.is_pass and get_ident() == thread:
            end()
            open_task.append(root.subcontext(task_name=event.stage).call_on_fit_task_begin(estimator=estimator))

    with runtime(progress=listen):
        yield
    end()


def _fitted_attributes(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("__")}
