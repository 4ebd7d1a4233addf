"""Rows of CSV and TSV files, compressed or not, through pyarrow's streaming reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eigenfeat.rows.arrow import ArrowRows, is_number, named_errors, pyarrow
from eigenfeat.rows.columns import Reading

#: Suffixes, and what stands between cells.
CSV_DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: Suffixes of compressed files that pyarrow recognises.
COMPRESSED = (".gz", ".bz2", ".zst")

# Cells that stand for a missing number. A label may well be called NA: it is only missing where it is empty.
NOTHING = ["", "NA", "N/A", "NaN", "nan", "NULL", "null"]
# How pyarrow says column, row and cell.
CELL_ERROR = re.compile(r"column #(\d+): (?:Row #(\d+): )?.* to (\w+): invalid value '(.*)'")
# Bytes that are parsed at a time.
PARSED_BYTES = 4 << 20


class CsvRows(ArrowRows):
    """Rows of a CSV or TSV file with a header line; its labels are of the type that its first rows show.

    Parameters
    ----------
    path : path
        Ends in .csv or .tsv, and .gz, .bz2 or .zst behind that where it is compressed.
    reading : Reading
        How it is read.
    delimiter : str, optional
        By the suffix where it is not given.

    Raises
    ------
    ValueError
        For cells that are not numbers, by column and row (the header being row 1), and lines of another length.
    """

    def __init__(self, path: Path, reading: Reading, delimiter: str | None = None) -> None:
        self.path = path
        self._types: dict[Any, Any] = {}  # none yet: the first reader finds them
        self.delimiter = delimiter or CSV_DELIMITERS[plain_suffix(path)]
        with named_errors(str(path)), self._reader() as reader:
            schema = reader.schema
        if all(is_number(name) for name in schema.names):
            raise ValueError(f"the first line of {path} holds numbers; it must name the columns.")
        self._header = schema.names
        super().__init__(str(path), schema, reading)
        numbers = pyarrow().from_numpy_dtype(self.dtype)
        self._types = dict.fromkeys(self.columns.all, numbers)
        self._types |= {name: schema.field(name).type for name in self.columns.labels}
        if reading.weight is not None:
            self._types[reading.weight] = pyarrow().float64()

    def reopened(self, reading: Reading) -> CsvRows:
        return CsvRows(self.path, reading, self.delimiter)

    def tables(self, size: int) -> Iterator[tuple[str, int, Any]]:
        arrow, first_row = pyarrow(), 1  # the header is the first line
        with self._named_cells(), self._reader() as reader:
            for batch in reader:
                table = arrow.Table.from_batches([batch])
                table = table if self.filter is None else table.filter(self.filter)
                yield self.place, first_row, table
                first_row += table.num_rows

    def _reader(self) -> Any:
        csv = pyarrow("pyarrow.csv").csv
        # A filter may be about any column: then all are read.
        wanted = self.columns.all if self._types and self.filter is None else []
        return csv.open_csv(
            self.path,
            csv.ReadOptions(block_size=PARSED_BYTES, use_threads=False),  # only then are rows numbered in errors
            csv.ParseOptions(delimiter=self.delimiter),
            csv.ConvertOptions(column_types=self._types, include_columns=wanted, null_values=NOTHING),
        )

    @contextmanager
    def _named_cells(self) -> Iterator[None]:
        """Errors of pyarrow's converter with the name of the column and what to do."""
        try:
            with named_errors(self.place):
                yield
        except ValueError as error:
            found = CELL_ERROR.search(str(error.__cause__))
            if found is None:
                raise
            name, row = self._header[int(found[1])], f" in row {found[2]}" if found[2] else ""
            if name in self.columns.features or name == self.columns.weight:
                what = f"it must hold numbers. Leave it out (drop=[{name!r}]), mend the cell, or say label={name!r}"
            else:
                what = f"the first rows say it holds {found[3]}. Write its cells alike, or put such a row first"
            raise ValueError(f"column {name!r} of {self.place} holds {found[4]!r}{row}: {what}.") from error


def plain_suffix(path: Path) -> str:
    """The suffix that says the format, before that of a compression."""
    return Path(path.stem).suffix if path.suffix in COMPRESSED else path.suffix
