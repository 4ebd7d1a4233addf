"""Tables as people have them, made ready for estimators: what each column is, and what there is to predict."""

from eigenfeat.tables.description import EncodedColumn, EncodedColumns
from eigenfeat.tables.encoder import TableEncoder
from eigenfeat.tables.pipelines import make_tabular
from eigenfeat.tables.tasks import Task, find_task

__all__ = ["EncodedColumn", "EncodedColumns", "TableEncoder", "Task", "find_task", "make_tabular"]
