"""What workers of pools run in test_fits_under_a_runtime.py: they import it by this name."""

import eigenfeat.rows
from eigenfeat._runtime.config import current


def is_cached(model):
    """Whether the rows of the last stage did not fit into memory."""
    return getattr(model, "cache_", None) is not None


def fit_batches(model, batches):
    return is_cached(model.fit(eigenfeat.rows.open(lambda: iter(batches))))


def budget_of_a_task(number):
    return current().memory, current().checkpoint, number
