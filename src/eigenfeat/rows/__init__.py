"""Rows of arrays, files and Dask collections, read a block at a time; and files of tables, read and written."""

from eigenfeat.rows.accumulators import Accumulator, ClassCounts
from eigenfeat.rows.block import Block
from eigenfeat.rows.cache import CacheDecision
from eigenfeat.rows.dask import DaskRows, dask_rows
from eigenfeat.rows.functions import RowMap
from eigenfeat.rows.readers.open import Table, open, read_table
from eigenfeat.rows.readers.stream import FileRows
from eigenfeat.rows.rows import ArrayRows, RandomAccessRows, Rows, as_rows
from eigenfeat.rows.writers import each, write, write_table

__all__ = [
    "Accumulator",
    "ArrayRows",
    "Block",
    "CacheDecision",
    "ClassCounts",
    "DaskRows",
    "FileRows",
    "RandomAccessRows",
    "RowMap",
    "Rows",
    "Table",
    "as_rows",
    "dask_rows",
    "each",
    "open",
    "read_table",
    "write",
    "write_table",
]
