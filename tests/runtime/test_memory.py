"""Memory is that of the container where it has less than the machine."""

import pytest

from eigenfeat._runtime.memory import available_memory, parse_bytes, total_memory


@pytest.fixture
def machine(tmp_path):
    """A machine of 100 kB, half of it free, whose files can be written."""

    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    write("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:   50 kB\n")
    write.root = tmp_path
    return write


def test_without_a_container_the_machine_counts(machine):
    assert (available_memory(machine.root), total_memory(machine.root)) == (51200, 102400)
    machine("proc/self/cgroup", "0::/\n")
    machine("sys/fs/cgroup/memory.max", "max\n")
    assert (available_memory(machine.root), total_memory(machine.root)) == (51200, 102400)


def test_a_container_of_cgroup_v2_counts_without_its_idle_file_cache(machine):
    machine("proc/self/cgroup", "0::/\n")
    machine("sys/fs/cgroup/memory.max", "40000\n")
    machine("sys/fs/cgroup/memory.current", "30000\n")
    assert (available_memory(machine.root), total_memory(machine.root)) == (10000, 40000)
    machine("sys/fs/cgroup/memory.stat", "anon 5000\ninactive_file 20000\nactive_file 5000\n")
    assert available_memory(machine.root) == 30000


def test_limits_of_groups_around_the_own_one_count(machine):
    machine("proc/self/cgroup", "0::/slice/session\n")
    for folder, limit, used in (("slice", 60000, 55000), ("slice/session", 40000, 10000)):
        machine(f"sys/fs/cgroup/{folder}/memory.max", f"{limit}\n")
        machine(f"sys/fs/cgroup/{folder}/memory.current", f"{used}\n")
    assert (available_memory(machine.root), total_memory(machine.root)) == (5000, 40000)


@pytest.mark.parametrize("path", ["/", "/docker/0123"])
def test_a_container_of_cgroup_v1_counts(machine, path):
    """Inside a container the path is that of the host, and the mount that of the container."""
    machine("proc/self/cgroup", f"2:cpu,cpuacct:{path}\n4:memory:{path}\n0::{path}\n")
    machine("sys/fs/cgroup/memory/memory.limit_in_bytes", "40000\n")
    machine("sys/fs/cgroup/memory/memory.usage_in_bytes", "30000\n")
    machine("sys/fs/cgroup/memory/memory.stat", "cache 20000\ntotal_inactive_file 5000\n")
    assert (available_memory(machine.root), total_memory(machine.root)) == (15000, 40000)
    machine("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    assert (available_memory(machine.root), total_memory(machine.root)) == (51200, 102400)


def test_a_container_that_is_full_has_nothing_left(machine):
    machine("proc/self/cgroup", "0::/\n")
    machine("sys/fs/cgroup/memory.max", "40000\n")
    machine("sys/fs/cgroup/memory.current", "41000\n")
    assert available_memory(machine.root) == 0


def test_nobody_says(tmp_path):
    assert available_memory(tmp_path) is None


@pytest.mark.parametrize(
    "given, expected", [(100, 100), ("1.5 GB", 1_500_000_000), ("2KiB", 2048), (2e9, 2 * 10**9), (".5k", 500)]
)
def test_sizes(given, expected):
    assert parse_bytes(given) == expected


@pytest.mark.parametrize("given", ["lots", "1 XB", -5, 0, "GB", "1.2.3 GB"])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(ValueError, match="memory must be a number of bytes"):
        parse_bytes(given)
