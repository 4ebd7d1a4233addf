"""Rows of Parquet, Feather and Arrow files: one file, or a folder of them, hive partitions included."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenfeat.rows.arrow import ArrowRows, named_errors, pyarrow
from eigenfeat.rows.columns import Reading

#: Suffixes, and what pyarrow calls their formats.
DATASET_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "ipc", ".ipc": "ipc"}

# Bytes of a column chunk that are read at a time: a row group need not fit into memory.
BUFFER_BYTES = 1 << 20


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
        arrow = pyarrow("pyarrow.dataset")
        options: dict[str, Any] = {"schema": self._dataset.schema, "columns": self.columns.all, "filter": self.filter}
        if self.format == "parquet":
            options["fragment_scan_options"] = arrow.dataset.ParquetFragmentScanOptions(
                use_buffered_stream=True, buffer_size=BUFFER_BYTES, pre_buffer=False
            )
        for place, fragment in self._pieces():
            first_row = 0
            with named_errors(place):
                for batch in fragment.to_batches(batch_size=size, batch_readahead=1, fragment_readahead=1, **options):
                    yield place, first_row, arrow.Table.from_batches([batch])
                    first_row += batch.num_rows

    def _pieces(self) -> Iterator[tuple[str, Any]]:
        """Row groups of Parquet, other files as they are, each with its name; those no row of which passes left out."""
        for fragment in self._dataset.get_fragments(filter=self.filter):
            with named_errors(fragment.path):
                groups = fragment.split_by_row_group(self.filter) if hasattr(fragment, "split_by_row_group") else None
            if groups is None:
                yield fragment.path, fragment
            else:
                yield from ((f"{fragment.path}, row group {group.row_groups[0].id}", group) for group in groups)


def dataset_format(path: Path) -> str:
    """What the files are, by their suffixes."""
    files = sorted(p for p in path.rglob("*") if p.suffix in DATASET_FORMATS) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"The folder {path} holds no file that ends in {', '.join(DATASET_FORMATS)}.")
    return DATASET_FORMATS[files[0].suffix]
