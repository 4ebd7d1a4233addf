"""Where rows live: anything that can be read a block at a time, and views of it."""

from eigenfeat.rows.arrays import ArrayRows
from eigenfeat.rows.blocks import dense, held, over_parts, row_blocks
from eigenfeat.rows.files import Table, read_table, write_table
from eigenfeat.rows.source import Block, RandomRows, RowBlock, RowSource, Selection
from eigenfeat.rows.store import RowStore
from eigenfeat.rows.trials import TimeSamples, centred_trials
from eigenfeat.rows.views import (
    ChosenRows,
    LabelledRows,
    LabelledStream,
    MappedRows,
    MappedStream,
    RowMap,
    RowView,
    StreamView,
    as_row_source,
    mapped,
)

__all__ = [
    "ArrayRows",
    "Block",
    "ChosenRows",
    "LabelledRows",
    "LabelledStream",
    "MappedRows",
    "MappedStream",
    "RandomRows",
    "RowBlock",
    "RowMap",
    "RowSource",
    "RowStore",
    "RowView",
    "Selection",
    "StreamView",
    "Table",
    "TimeSamples",
    "as_row_source",
    "centred_trials",
    "dense",
    "held",
    "mapped",
    "over_parts",
    "read_table",
    "row_blocks",
    "write_table",
]
