"""numba's compiler with a cache on disk that several processes can share.

numba numbers the files that hold its compiled versions of a function, one for every combination of argument types. Two
processes that compile at the same time may take the same number, and one of them then loads what the other made of
other types: a TypeError until somebody deletes the cache. Here files are named after what they hold, and are written
before the index names them.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from numba import njit
from numba.core.caching import IndexDataCacheFile


class _FilesByContent(IndexDataCacheFile):
    """Cache files named by a hash: of two processes that write the index at once one compiles again another time."""

    def save(self, key: Any, data: Any) -> None:
        digest = blake2b(repr((self._source_stamp, key)).encode(), digest_size=16).hexdigest()
        name = self._index_name.replace(".nbi", f".{digest}.nbc")
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


def jit(*, nogil: bool = False, fast_division: bool = False) -> Callable[[Callable], Any]:
    """Compile a function as ``numba.njit`` does, with a cache on disk; a decorator.

    Parameters
    ----------
    nogil : bool
        Whether other threads run meanwhile.
    fast_division : bool
        Whether checks for division by zero, which keep loops from becoming vector operations, are left out.
    """

    def decorate(function: Callable) -> Any:
        dispatcher = njit(cache=True, nogil=nogil, error_model="numpy" if fast_division else "python")(function)
        files = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if isinstance(files, IndexDataCacheFile):  # not where compilation, or the cache, is switched off
            files.__class__ = _FilesByContent
        return dispatcher

    return decorate
