"""Stages are told to whoever listens."""

from eigenfeat._progress import counted, listening, report


def test_listeners_hear_stages_until_the_end():
    heard = []
    with listening(lambda event: heard.append(event.words)):
        assert list(counted([5, 6], "candidate")) == [5, 6]
        report("directions", note="best so far 3")
    report("nobody")
    assert heard == ["candidate 1 of 2", "candidate 2 of 2", "directions (best so far 3)"]
