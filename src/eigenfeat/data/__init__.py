"""Rows from files."""

from eigenfeat.data.tables import Table, read_table, write_table

__all__ = ["Table", "read_table", "write_table"]
