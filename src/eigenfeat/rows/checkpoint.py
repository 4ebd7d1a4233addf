"""A fit that was interrupted goes on where it was: the results of its finished steps, in one file.

A fit is a sequence of steps, passes over the rows most of them, each of which is determined by those before it. Their
results are kept in the order they were found; a fit that starts again takes them instead of computing them, so that
whatever comes after the last of them is computed from the same numbers, and ends the same, to the last bit. Nothing
in an estimator has to know how to be resumed. The file is an SQLite database: every result is in it whole, or not at
all, whatever kills the process. Results are pickles, which run code when they are read: a file that somebody else could
have written is refused.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

TABLES = """
create table if not exists identity (word text primary key, value text);
create table if not exists steps (number integer primary key, name text, result blob);
create table if not exists unfinished (number integer primary key, name text, n_blocks integer, statistic blob);
"""

Result = TypeVar("Result")


class Checkpoint:
    """The finished steps of one fit.

    Parameters
    ----------
    path : Path
        The file; made where it is not there.
    every : float
        Seconds between two records of a pass that is not finished.
    """

    def __init__(self, path: Path, every: float = 30.0) -> None:
        self.path, self.every = path, every
        self._number = 0
        self._saved = monotonic()
        _refuse_others(path)
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            os.chmod(path, stat.S_IRUSR | stat.S_IWUSR)
            self._file.executescript(TABLES)
        except (sqlite3.Error, OSError) as problem:
            raise ValueError(
                f"The checkpoint {path} cannot be opened ({problem}): name a file in a folder that exists, one that an "
                "earlier fit left or a new one."
            ) from problem

    def begin(self, identity: Mapping[str, str]) -> None:
        """Starts a fit, which is the same as the one the file is of.

        Raises
        ------
        ValueError
            Where it is not, with what is different.
        """
        known = dict(self._file.execute("select word, value from identity"))
        for word, value in identity.items():
            if word in known and known[word] != value:
                raise ValueError(
                    f"The checkpoint {self.path} is of another {word}: {_difference(known[word], value)}. Name another "
                    "file, or delete this one to start anew."
                )
        with self._file:
            self._file.executemany("insert or replace into identity values (?, ?)", identity.items())
        self._number = 0

    def remembered(self, name: str, compute: Callable[[], Result]) -> Result:
        """The result of this step, of an earlier attempt where there is one."""
        number = self._number
        row = self._file.execute("select name, result from steps where number = ?", (number,)).fetchone()
        if row is not None and row[0] != name:
            raise ValueError(
                f"The checkpoint {self.path} has {row[0]!r} where this fit has {name!r}: it is of other settings. Name "
                "another file, or delete this one to start anew."
            )
        self._number = number + 1
        if row is not None:
            return pickle.loads(row[1])
        result = compute()
        content = pickle.dumps(result, protocol=pickle.HIGHEST_PROTOCOL)
        self._file.execute("begin")
        self._file.execute("delete from steps where number > ?", (number,))  # steps within this one
        self._file.execute("insert into steps values (?, ?, ?)", (number, name, content))
        self._file.execute("delete from unfinished")
        self._file.execute("commit")
        self._number, self._saved = number + 1, monotonic()
        return result

    def unfinished(self) -> tuple[int, Any] | None:
        """Blocks that an earlier attempt at this pass has seen, and the statistic of them."""
        row = self._file.execute(
            "select n_blocks, statistic from unfinished where number = ?", (self._number - 1,)
        ).fetchone()
        return None if row is None else (row[0], pickle.loads(row[1]))

    def save_unfinished(self, name: str, n_blocks: int, statistic: Any) -> None:
        """Keeps what a pass has seen so far, if it is time."""
        if monotonic() - self._saved < self.every:
            return
        content = pickle.dumps(statistic, protocol=pickle.HIGHEST_PROTOCOL)
        row = (self._number - 1, name, n_blocks, content)
        self._file.execute("insert or replace into unfinished values (?, ?, ?, ?)", row)
        self._saved = monotonic()

    def close(self) -> None:
        self._file.close()

    def delete(self) -> None:
        """The fit is done."""
        self.close()
        self.path.unlink(missing_ok=True)


def _refuse_others(path: Path) -> None:
    """A file of another user, or one that others may write to, could hold anything."""
    if not path.exists() or not hasattr(os, "getuid"):
        return
    found = path.stat()
    if found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ValueError(
            f"The checkpoint {path} is another user's, or others may write to it: what it holds would be run as code. "
            "Name another file, or delete this one to start anew."
        )


def steps_of(path: Path) -> list[str]:
    """Names of the finished steps in a checkpoint."""
    with closing(sqlite3.connect(path)) as file:
        return [name for (name,) in file.execute("select name from steps order by number")]


def _difference(before: str, now: str) -> str:
    """Where two texts part."""
    start = next((i for i, (a, b) in enumerate(zip(before, now)) if a != b), min(len(before), len(now)))
    start = max(0, start - 30)
    return f"it has '{before[start : start + 80]}' where this fit has '{now[start : start + 80]}'"
