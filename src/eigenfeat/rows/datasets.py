"""Rows of Parquet, Feather and Arrow files: one file, or a folder of them, hive partitions included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenfeat.rows.arrow import ArrowRows, named_errors, pyarrow
from eigenfeat.rows.columns import Reading

#: Suffixes, and what pyarrow calls their formats.
DATASET_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "ipc", ".ipc": "ipc"}

# Bytes of every column that are read at a time: a row group need not fit into memory.
BUFFER_BYTES = 1 << 16


class DatasetRows(ArrowRows):
    """Rows of a pyarrow data set, a row group after the other; only the columns that are asked for are read.

    Parameters
    ----------
    path : path
        A file, or a folder with files of one format, in which ``name=value`` folders make columns.
    reading : Reading
        How it is read. A filter skips partitions and row groups by their statistics.

    Raises
    ------
    ValueError
        For files that cannot be read, by name and row group.
    """

    def __init__(self, path: Path, reading: Reading) -> None:
        dataset = pyarrow("pyarrow.dataset").dataset
        self.path, self.format = path, dataset_format(path)
        with named_errors(str(path)):
            self._dataset = dataset.dataset(path, format=self.format, partitioning="hive")
            n_rows = self._dataset.count_rows() if reading.filter is None else None
        if n_rows == 0:
            raise ValueError(f"{path} has no rows.")
        super().__init__(str(path), self._dataset.schema, reading, n_rows)

    def reopened(self, reading: Reading) -> DatasetRows:
        return DatasetRows(self.path, reading)

    def tables(self, size: int) -> Iterator[tuple[str, int, Any]]:
        for fragment in self._dataset.get_fragments(filter=self.filter):
            read = self._row_groups if self.format == "parquet" else self._record_batches
            for place, tables in read(fragment, size):
                first_row = 0
                with named_errors(place):
                    for table in tables:
                        yield place, first_row, table
                        first_row += table.num_rows

    def _record_batches(self, fragment: Any, size: int) -> Iterator[tuple[str, Iterator[Any]]]:
        """A file as it is."""
        from_batches, schema = pyarrow().Table.from_batches, self._dataset.schema
        options = {"columns": self.columns.all, "filter": self.filter, "batch_size": size, "batch_readahead": 1}
        yield fragment.path, (from_batches([batch]) for batch in fragment.to_batches(schema, **options))

    def _row_groups(self, fragment: Any, size: int) -> Iterator[tuple[str, Iterator[Any]]]:
        """Row groups of a Parquet file but for those the statistics of which say that no row passes the filter.

        A scanner of the data set would decode each of them as a whole; the file's own reader goes through it in steps.
        """
        parquet = pyarrow("pyarrow.parquet").parquet
        with named_errors(fragment.path):
            pieces = fragment.split_by_row_group(self.filter, self._dataset.schema)
            file = parquet.ParquetFile(fragment.path, buffer_size=BUFFER_BYTES, pre_buffer=False)
            there = [name for name in self._wanted if name in file.schema_arrow.names]
        with file:
            for group in (piece.row_groups[0].id for piece in pieces):
                batches = file.iter_batches(size, row_groups=[group], columns=there)
                yield f"{fragment.path}, row group {group}", (self._completed(batch, fragment) for batch in batches)

    @property
    def _wanted(self) -> list[Any]:
        """Columns that are read, and those the filter is about: all whose names it shows."""
        shown = "" if self.filter is None else str(self.filter)
        others = set(self._dataset.schema.names) - set(self.columns.all)
        return [*self.columns.all, *(name for name in sorted(others) if name in shown)]

    def _completed(self, batch: Any, fragment: Any) -> Any:
        """A batch with the columns that are folders' names, or empty in this file; rows that pass the filter."""
        arrow, schema = pyarrow("pyarrow.dataset"), self._dataset.schema
        folders = arrow.dataset.get_partition_keys(fragment.partition_expression)
        columns = {
            name: batch.column(name)
            if name in batch.schema.names
            else arrow.repeat(arrow.scalar(folders.get(name), schema.field(name).type), batch.num_rows)
            for name in self._wanted
        }
        whole = arrow.table(columns)
        return whole if self.filter is None else whole.filter(self.filter)


def dataset_format(path: Path) -> str:
    """What the files are, by their suffixes."""
    files = sorted(p for p in path.rglob("*") if p.suffix in DATASET_FORMATS) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"The folder {path} holds no file that ends in {', '.join(DATASET_FORMATS)}.")
    return DATASET_FORMATS[files[0].suffix]
