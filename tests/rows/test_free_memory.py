"""What may still be used is the least that the system says."""

from eigenfeat.rows import free_memory
from eigenfeat.rows.free_memory import available_bytes


def test_what_is_free_is_the_least_that_anyone_says(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    (tmp_path / "max").write_text("40000\n")
    (tmp_path / "current").write_text("10000\n")
    monkeypatch.setattr(free_memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(free_memory, "CONTAINER", (tmp_path / "max", tmp_path / "current"))
    assert available_bytes() == 30000
    (tmp_path / "max").write_text("max\n")
    assert available_bytes() == 51200
    monkeypatch.setattr(free_memory, "MEMINFO", tmp_path / "absent")
    assert available_bytes() is None
