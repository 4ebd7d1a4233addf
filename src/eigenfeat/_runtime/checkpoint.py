"""A fit that was interrupted goes on where it was: the results of its finished steps, as files of one folder.

A fit is a sequence of steps, passes over rows most of them, each of which follows from its inputs. The result of a step
is kept under its name and a hash of its inputs: of a pass, the empty accumulator (with the coefficients, say, at which
a loss is summed) and the rows. A fit that starts again makes the same steps in any order, and takes from the folder
those that are there; whatever is not is computed from the same numbers, so that it ends the same, to the last bit. The
first attempt, too, goes on with results as they are read back, in case reading changes how they lie in memory.

Every file is there whole or not at all, whatever kills the process. They are pickles, which run code when they are
read: a folder that somebody else could have written to is refused.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from joblib.hashing import NumpyHasher

from eigenfeat._runtime.config import pickled_without_runtime
from eigenfeat._runtime.files import write_bytes

FINGERPRINT = "fingerprint.json"

Item = TypeVar("Item")
Result = TypeVar("Result")
State = TypeVar("State")


class Checkpoint:
    """The finished steps of one fit.

    Parameters
    ----------
    folder : path
        Made where it does not exist.
    every : float
        Seconds between two records of a pass that is not finished.
    """

    def __init__(self, folder: str | Path, every: float = 30.0) -> None:
        self.folder, self.every = Path(folder), every
        self._saved = monotonic()
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            status = self.folder.stat()
        except OSError as problem:
            raise ValueError(
                f"The checkpoint {self.folder} cannot be opened ({problem.strerror or problem}): name a folder that an "
                "earlier fit left, or a new one in a folder that exists."
            ) from problem
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            raise ValueError(
                f"The checkpoint {self.folder} is another user's, or others may write to it: what it holds would be "
                "run as code. Name another folder, or delete this one to start anew."
            )

    def begin(self, fingerprint: Mapping[str, str]) -> None:
        """Start a fit of this data and these parameters.

        Raises
        ------
        ValueError
            Where the folder is of another fit, with what is different.
        """
        path = self.folder / FINGERPRINT
        known = json.loads(path.read_text()) if path.exists() else {}
        for word, value in fingerprint.items():
            if known.get(word, value) != value:
                raise ValueError(
                    f"The checkpoint {self.folder} is of another {word}: {_difference(known[word], value)}. Name "
                    "another folder, or delete this one to start anew."
                )
        write_bytes(path, json.dumps(dict(fingerprint), indent=2).encode())

    def recall(self, name: str, inputs: Any, compute: Callable[[], Result]) -> Result:
        """Return the result of a step, of an earlier attempt where there is one.

        Parameters
        ----------
        name : str
            Of the step; steps of one name differ in their inputs.
        inputs : object
            What the result follows from: anything that `fingerprint` can hash.
        compute : callable
            Computes it; within it, other steps may be recalled.
        """
        return self._recall(self._path(name, inputs), compute)

    def fold(
        self,
        name: str,
        inputs: Any,
        state: State,
        items: Iterable[Item],
        update: Callable[[State, Item], Any],
    ) -> State:
        """Recall a state that is updated in place with every item; it is recorded meanwhile, every few seconds."""
        path = self._path(name, inputs)
        partial = path.with_suffix(".partial")

        def compute() -> State:
            n_done, partial_state = self._read(partial) if partial.exists() else (0, state)
            with closing(_closable(items)) as iterator:
                for number, item in enumerate(islice(iterator, n_done, None), start=n_done + 1):
                    update(partial_state, item)
                    if monotonic() - self._saved >= self.every:
                        self._write(partial, (number, partial_state))
            return partial_state

        result = self._recall(path, compute)
        partial.unlink(missing_ok=True)
        return result

    def steps(self) -> list[str]:
        """Return the names of the finished steps, as they are in the names of files, oldest first."""
        files = sorted(self.folder.glob("*.pickle"), key=lambda path: path.stat().st_mtime_ns)
        return [path.name.rsplit("-", 1)[0] for path in files]

    def delete(self) -> None:
        """Delete what this checkpoint wrote, and the folder if nothing else is in it: the fit is done."""
        for path in [self.folder / FINGERPRINT, *self.folder.glob("*.pickle"), *self.folder.glob("*.partial")]:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it has other files
            self.folder.rmdir()

    def _path(self, name: str, inputs: Any) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}-{fingerprint(inputs)}.pickle"

    def _recall(self, path: Path, compute: Callable[[], Result]) -> Result:
        if not path.exists():
            self._write(path, compute())
        return self._read(path)

    def _write(self, path: Path, value: Any) -> None:
        write_bytes(path, pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
        self._saved = monotonic()

    def _read(self, path: Path) -> Any:
        try:
            return pickle.loads(path.read_bytes())
        except Exception as problem:  # a pickle that is damaged raises anything
            raise ValueError(f"{path} of a checkpoint cannot be read ({problem}): delete it.") from problem


def fingerprint(value: Any) -> str:
    """Return a hash of a value: the same in other processes for what is equal, as `joblib.hash`.

    An object may say by a method ``checkpoint_key`` what stands for it: rows are too many to be hashed, and a name that
    was drawn at random is another in every attempt.
    """
    with pickled_without_runtime():
        return _Hasher("md5").hash(value)


class _Hasher(NumpyHasher):
    def save(self, obj: Any) -> None:
        key = getattr(type(obj), "checkpoint_key", None)
        super().save(obj if key is None else (type(obj).__qualname__, key(obj)))


def _closable(items: Iterable[Item]) -> Any:
    """Return an iterator that can be closed where the pass breaks off: a reader then ends its thread."""
    return items if hasattr(items, "close") else (item for item in items)


def _difference(before: str, now: str) -> str:
    """Return where two texts part."""
    start = next((i for i, (a, b) in enumerate(zip(before, now)) if a != b), min(len(before), len(now)))
    start = max(0, start - 30)
    return f"it has '{before[start : start + 80]}' where this fit has '{now[start : start + 80]}'"
