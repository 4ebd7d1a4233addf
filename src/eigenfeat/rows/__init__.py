"""Where rows live: anything that can be read a block at a time, and views of it."""

from eigenfeat.rows.arrays import ArrayRows
from eigenfeat.rows.batches import FrameRows, MatrixRows
from eigenfeat.rows.blocks import dense, first_block, first_rows, held, in_proportion, over_parts, row_blocks
from eigenfeat.rows.csv_files import CsvRows
from eigenfeat.rows.dask_collections import dask_rows
from eigenfeat.rows.dask_rows import DaskRows
from eigenfeat.rows.datasets import DatasetRows
from eigenfeat.rows.files import Table, read_table, write_table
from eigenfeat.rows.keeping import Kept
from eigenfeat.rows.memory_maps import MemoryMapRows
from eigenfeat.rows.opening import open
from eigenfeat.rows.products import BlockProducts, RowProducts, products_with
from eigenfeat.rows.read_ahead import read_ahead
from eigenfeat.rows.results import each, write
from eigenfeat.rows.sampling import RowSample, sampled, uniforms
from eigenfeat.rows.source import (
    Block,
    Expand,
    Matrix,
    RandomRows,
    Rows,
    Selection,
    joined_and_freed,
    joined_blocks,
)
from eigenfeat.rows.statistics import Accumulator, ClassTotals, Lens, Seen
from eigenfeat.rows.streaming import Streaming, current, streaming
from eigenfeat.rows.streams import Batch, FileRows
from eigenfeat.rows.svmlight import SvmlightRows
from eigenfeat.rows.trials import TimeSamples, centred_trials
from eigenfeat.rows.views import (
    ChosenRows,
    ChosenStream,
    CodedStream,
    LabelledRows,
    LabelledStream,
    MappedRows,
    MappedStream,
    RowMap,
    RowView,
    StreamView,
    Through,
    as_row_source,
    coded_totals,
    labelled_by_index,
    mapped,
)

__all__ = [
    "Accumulator",
    "ArrayRows",
    "Batch",
    "Block",
    "BlockProducts",
    "ChosenRows",
    "ChosenStream",
    "ClassTotals",
    "CodedStream",
    "CsvRows",
    "DaskRows",
    "DatasetRows",
    "Expand",
    "FileRows",
    "FrameRows",
    "Kept",
    "LabelledRows",
    "LabelledStream",
    "Lens",
    "MappedRows",
    "MappedStream",
    "Matrix",
    "MatrixRows",
    "MemoryMapRows",
    "RandomRows",
    "RowMap",
    "RowProducts",
    "RowSample",
    "RowView",
    "Rows",
    "Seen",
    "Selection",
    "StreamView",
    "Streaming",
    "SvmlightRows",
    "Table",
    "Through",
    "TimeSamples",
    "as_row_source",
    "centred_trials",
    "coded_totals",
    "current",
    "dask_rows",
    "dense",
    "each",
    "first_block",
    "first_rows",
    "held",
    "in_proportion",
    "joined_and_freed",
    "joined_blocks",
    "labelled_by_index",
    "mapped",
    "open",
    "over_parts",
    "products_with",
    "read_ahead",
    "read_table",
    "row_blocks",
    "sampled",
    "streaming",
    "uniforms",
    "write",
    "write_table",
]
