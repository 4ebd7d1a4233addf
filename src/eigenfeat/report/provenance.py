"""Where a model comes from: the file, the command and the seed behind it, for a page that others can check."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Provenance:
    """What a page cannot read off a model: all of it optional, and shown where it is given.

    Attributes
    ----------
    file : str
        Name of the file the rows were read from.
    sha256 : str
        Hash of its bytes: the same hash, the same file.
    n_rows, n_columns : int or None
        Of the file, before anything was held out or left out.
    n_fitted : int or None
        Rows of the fit, where a page gets a sample of them.
    label : str
        The column that is predicted.
    command : str
        What was typed.
    seed : int or None
        Of the split into training and held-out rows.
    seconds : float or None
        What the fit took.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from eigenfeat.report import Provenance
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.csv"
    ...     _ = path.write_text("a,b")
    ...     Provenance.of_file(path, seed=0).sha256[:12]
    '1eb7c54d5283'
    """

    file: str = ""
    sha256: str = ""
    n_rows: int | None = None
    n_columns: int | None = None
    n_fitted: int | None = None
    label: str = ""
    command: str = ""
    seed: int | None = None
    seconds: float | None = None

    @classmethod
    def of_file(cls, path: str | os.PathLike, **known: object) -> Provenance:
        """With the name and the hash of a file, which is read in blocks."""
        with open(path, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return cls(file=Path(path).name, sha256=digest, **known)  # type: ignore[arg-type]
