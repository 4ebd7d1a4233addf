"""Tables as people have them, made ready for estimators: what each column is, and what there is to predict.

Cells are read by pyarrow's compute functions and sizes seen to by `ColumnScaler`. The encoder is not built on skrub's
``TableVectorizer``, nor on scikit-learn's ``OneHotEncoder`` and ``SimpleImputer``. On six real tables, all of them
tidy, the three are as good as each other behind a logit, and ours is three to eleven times as fast as skrub's (``python
benchmarks/tables.py --rows 2000``). On tables made with a seed errors were 19.4, 27.1 and 27.0 % (ours, skrub's,
scikit-learn's) with types, 19.3, 23.6 and 22.2 % with gaps, an identifier and copies, 16.4, 27.0 and 33.9 % where
everything is text (``--made --rows 2000``, at an earlier commit; since, skrub's had 26.5 % on the first). And a model
file could not hold skrub's types: they are not among those that `eigenfeat.load` can check.
"""

from eigenfeat.tables.description import EncodedColumn, EncodedColumns
from eigenfeat.tables.encoder import TableEncoder
from eigenfeat.tables.pipelines import make_tabular
from eigenfeat.tables.tasks import Task, find_task

__all__ = ["EncodedColumn", "EncodedColumns", "TableEncoder", "Task", "find_task", "make_tabular"]
