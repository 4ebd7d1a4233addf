"""scikit-learn's callbacks (1.9 and later) on every estimator: the stages that `eigenfeat._progress` reports, as tasks.

Below 1.9 there are none, and nothing is done; `eigenfeat._progress.listening` works in every version.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eigenfeat import _progress

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn below 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for a mixin that this version of scikit-learn has not."""

        def set_callbacks(self, *callbacks: Any) -> Any:
            """Callbacks come with scikit-learn 1.9."""
            if callbacks:
                raise NotImplementedError("set_callbacks needs scikit-learn 1.9 or later: pip install -U scikit-learn")
            return self


__all__ = ["CallbackSupportMixin", "told_fit"]


def told_fit(estimator: Any, fit: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a fit, and tell the estimator's callbacks, where it has some, of its beginning, its stages and its end."""
    if "_callback_fit_ctx" in vars(estimator):  # the fit of a base class, within one that is told
        return fit(estimator, *args, **kwargs)
    has_some = {"_skl_callbacks", "_parent_callback_ctx"} & vars(estimator).keys()
    return _told_fit(estimator, fit, *args, **kwargs) if has_some else fit(estimator, *args, **kwargs)


def _told_fit(estimator: Any, fit: Any, *args: Any, **kwargs: Any) -> Any:
    given = dict(zip(("X", "y"), args)) | kwargs
    X, y = given.get("X"), given.get("y")
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    with _stages_as_tasks(estimator, root):
        result = fit(estimator, *args, **kwargs)
    root.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes=lambda: _learnt(estimator))
    return result


@contextmanager
def _stages_as_tasks(estimator: Any, root: Any) -> Iterator[None]:
    """Every stage is a task that ends where the next one begins."""
    open_task: list[Any] = []

    def end() -> None:
        if open_task:
            open_task.pop().call_on_fit_task_end(estimator=estimator)

    def listen(event: _progress.Event) -> None:
        end()
        open_task.append(root.subcontext(task_name=event.stage).call_on_fit_task_begin(estimator=estimator))

    with _progress.listening(listen):
        yield
    end()


def _learnt(estimator: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_") and not name.startswith("__")}
