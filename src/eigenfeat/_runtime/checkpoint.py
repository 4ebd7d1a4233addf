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
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from joblib.hashing import NumpyHasher

from eigenfeat._runtime.files import write_bytes

FINGERPRINT = "fingerprint.json"


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
            before = known.get(word, value)
            if before != value:
                start = max(0, len(os.path.commonprefix([before, value])) - 30)  # noqa: RUF071 - of any text
                raise ValueError(
                    f"The checkpoint {self.folder} is of another {word}: it has '{before[start:][:80]}' where this fit "
                    f"has '{value[start:][:80]}'. Name another folder, or delete this one to start anew."
                )
        write_bytes(path, json.dumps(dict(fingerprint), indent=2).encode())

    def recall(self, name: str, inputs: Any, compute: Callable[[], Any]) -> Any:
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

    def fold(self, name: str, inputs: Any, sums: Any, items: Iterable[Any]) -> Any:
        """Recall sums that are updated in place with every item; they are recorded meanwhile, every few seconds."""
        path = self._path(name, inputs)
        partial = path.with_suffix(".partial")

        def compute() -> Any:
            n_done, total = self._read(partial) if partial.exists() else (0, sums)
            for number, item in enumerate(islice(items, n_done, None), start=n_done + 1):
                total.update(item)
                if monotonic() - self._saved >= self.every:
                    self._write(partial, (number, total))
            return total

        result = self._recall(path, compute)
        partial.unlink(missing_ok=True)
        return result

    def delete(self) -> None:
        """Delete what this checkpoint wrote, and the folder if nothing else is in it: the fit is done."""
        for path in [self.folder / FINGERPRINT, *self.folder.glob("*.pickle"), *self.folder.glob("*.partial")]:
            path.unlink(missing_ok=True)
        with suppress(OSError):  # it has other files
            self.folder.rmdir()

    def _path(self, name: str, inputs: Any) -> Path:
        return self.folder / f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}-{fingerprint(inputs)}.pickle"

    def _recall(self, path: Path, compute: Callable[[], Any]) -> Any:
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


class _Hasher(NumpyHasher):
    def save(self, obj: Any) -> None:
        key = getattr(type(obj), "checkpoint_key", None)
        super().save(obj if key is None else (type(obj).__qualname__, key(obj)))


def fingerprint(value: Any) -> str:
    """Return a hash of a value: the same in other processes for what is equal, as `joblib.hash`.

    An object may say by a method ``checkpoint_key`` what stands for it: rows are too many to be hashed, and a name that
    was drawn at random is another in every attempt.
    """
    return _Hasher("md5").hash(value)
