"""What is made of one column: no gaps, and unseen values that do no harm."""

import numpy as np
import pyarrow as pa

from eigenfeat.tables.plans import CategoryPlan, DatePlan, NumberPlan, part_of


def test_numbers_are_filled_and_said():
    values, unread = NumberPlan("a", "plain", 7.0, True).apply(pa.array(["1", "", "bad"]))
    assert values.tolist() == [[1, 0], [7, 1], [7, 1]]
    assert unread.tolist() == [False, False, True]


def test_unseen_categories_are_rare_ones():
    plan = CategoryPlan("c", np.array(["x", "y"]), True, True)
    values, _ = plan.apply(pa.array(["x", "new", None, "y"]))
    assert values.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]
    assert plan.outputs == ["c=x", "c=y", "c=(rare)", "c=(missing)"]
    assert not CategoryPlan("c", np.array(["x"]), False, False).apply(pa.array(["new"]))[0].any()


def test_dates_have_a_trend_and_circles():
    plan = DatePlan("d", "iso", 0.0, ("month", "weekday"), False)
    values, _ = plan.apply(pa.array(["1970-01-01", "1970-01-08"]))
    assert values[:, 0].tolist() == [0, 7]
    np.testing.assert_allclose(values[:, 1] ** 2 + values[:, 2] ** 2, 1)
    np.testing.assert_allclose(values[0, 3:], values[1, 3:], atol=1e-12)  # both are Thursdays
    assert part_of(np.array([0.0]), "weekday")[0] == 3
    assert part_of(np.array([0.5]), "hour")[0] == 12
