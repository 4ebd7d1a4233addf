"""Steps of a fit are recalled by name and inputs; a folder of another fit is refused."""

import json
import os

import numpy as np
import pytest

from eigenfeat._runtime.checkpoint import Checkpoint, fingerprint
from eigenfeat._runtime.config import current, runtime


class Interrupted(Exception):
    pass


class Sum:
    def __init__(self, start=0.0):
        self.total = np.full(3, start)

    def update(self, number):
        if number == "interrupted":
            raise Interrupted
        self.total += number


def test_a_step_is_computed_once_for_equal_inputs(tmp_path):
    computed = []

    def step(inputs):
        return Checkpoint(tmp_path / "a").recall("a step", inputs, lambda: computed.append(inputs) or len(computed))

    assert step((np.arange(3), "x")) == 1
    assert step((np.arange(4), "x")) == 2
    assert step((np.arange(3), "x")) == 1
    assert step((np.arange(3.0), "x")) == 3
    assert [path.name.partition("-")[0] for path in (tmp_path / "a").iterdir()] == ["a_step"] * 3


def test_steps_may_be_made_within_steps(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a")
    for _ in range(2):
        assert checkpoint.recall("outer", 0, lambda: checkpoint.recall("inner", 0, lambda: 1) + 1) == 2
    assert len(list(checkpoint.folder.iterdir())) == 2


def test_a_result_is_the_one_that_is_read_back_also_the_first_time(tmp_path):
    """Products round as their factors lie in memory, and a view does not come back as one."""
    checkpoint, view = Checkpoint(tmp_path / "a"), np.ones((6, 6))[::2, ::2]
    first, again = (checkpoint.recall("view", 0, lambda: view) for _ in range(2))
    assert first.strides == again.strides != view.strides


@pytest.mark.parametrize("every, n_added", [(0.0, 1), (1e9, 4)])
def test_a_pass_goes_on_in_the_middle(tmp_path, every, n_added, monkeypatch):
    added, update = [], Sum.update
    monkeypatch.setattr(Sum, "update", lambda self, number: added.append(number) or update(self, number))

    def total(*numbers):
        return Checkpoint(tmp_path / "a", every).fold("sum", 7, Sum(), numbers)

    with pytest.raises(Interrupted):
        total(0.1, 0.2, 0.3, "interrupted")
    added.clear()
    whole = total(0.1, 0.2, 0.3, 0.4)
    assert added == [0.1, 0.2, 0.3, 0.4][-n_added:]
    expected = Sum()
    for number in (0.1, 0.2, 0.3, 0.4):
        expected.update(number)
    np.testing.assert_array_equal(whole.total, expected.total)
    assert total().total[0] == whole.total[0]
    assert not list((tmp_path / "a").glob("*.partial"))


def test_rows_and_random_names_stand_for_themselves_by_a_key():
    class Named:
        def __init__(self, name, value):
            self.name, self.value = name, value

        def checkpoint_key(self):
            return self.value

    assert fingerprint(("pass", Named("drawn", 1))) == fingerprint(("pass", Named("at random", 1)))
    assert fingerprint(("pass", Named("drawn", 1))) != fingerprint(("pass", Named("drawn", 2)))


def test_a_folder_of_another_fit_is_refused_with_the_difference(tmp_path):
    path = tmp_path / "a"
    Checkpoint(path).begin({"estimator": "FisherLDA", "data": "rows.parquet"})
    Checkpoint(path).begin({"estimator": "FisherLDA", "data": "rows.parquet"})
    with pytest.raises(ValueError, match=r"of another data: it has 'rows\.parquet' where this fit has 'rows\.csv'"):
        Checkpoint(path).begin({"estimator": "FisherLDA", "data": "rows.csv"})
    assert json.loads((path / "fingerprint.json").read_text())["data"] == "rows.parquet"


def test_what_cannot_be_opened_or_read_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "no" / "a"):
        with pytest.raises(ValueError, match="cannot be opened"):
            Checkpoint(path)
    checkpoint = Checkpoint(tmp_path / "a")
    checkpoint.recall("step", 0, lambda: 1)
    (artefact,) = (tmp_path / "a").glob("step-*.pickle")
    artefact.write_bytes(b"damaged")
    with pytest.raises(ValueError, match=f"{artefact.name} of a checkpoint cannot be read"):
        checkpoint.recall("step", 0, lambda: 1)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of files")
def test_a_checkpoint_is_its_users_alone(tmp_path):
    Checkpoint(tmp_path / "a")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    (tmp_path / "a").chmod(0o770)
    with pytest.raises(ValueError, match="others may write to it"):
        Checkpoint(tmp_path / "a")


def test_a_context_deletes_its_checkpoint_when_it_is_left_without_an_error(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(Interrupted), runtime(checkpoint=path):
        current().recall("step", 0, lambda: 1)
        raise Interrupted
    assert path.exists()
    with runtime(checkpoint=path):
        with runtime("1GB"):  # an inner context leaves it alone
            assert current().recall("step", 0, lambda: 2) == 1
        assert path.exists()
    assert not path.exists()


def test_other_files_of_the_folder_stay(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    tmp_path.chmod(0o700)
    with runtime(checkpoint=tmp_path):
        current().recall("step", 0, lambda: 1)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_resumed_fit_has_the_memory_budget_of_its_first_attempt(tmp_path, monkeypatch):
    monkeypatch.setattr("eigenfeat._runtime.config.available_memory", lambda: 4000)
    with pytest.raises(Interrupted), runtime(checkpoint=tmp_path / "a"):
        assert current().memory_budget == 2000
        raise Interrupted
    monkeypatch.setattr("eigenfeat._runtime.config.available_memory", lambda: 6000)
    with pytest.raises(Interrupted), runtime(checkpoint=tmp_path / "a"):
        assert current().memory_budget == 2000
        raise Interrupted
    with runtime(500, checkpoint=tmp_path / "a"):
        assert current().memory_budget == 500
