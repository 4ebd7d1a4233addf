"""A file that is written is there whole or not at all."""

import errno
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time

import pytest

from eigenfeat._runtime.files import atomic_write, check_destination, write_bytes


@pytest.fixture
def older(tmp_path):
    """A file that is there already, in a folder of its own."""
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / "model"
    path.write_bytes(b"older")
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run(code, *arguments, **options):
    script = "import os, resource, signal, sys\nfrom eigenfeat._runtime.files import write_bytes\n"
    command = [sys.executable, "-c", script + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, **options)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_an_older_file_is_kept(older, mode):
    older.chmod(mode)
    write_bytes(older, b"newer")
    assert stat.S_IMODE(older.stat().st_mode) == mode
    assert older.read_bytes() == b"newer"


def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "new", b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("target", ["models/model", "models/absent"])
def test_links_stay_and_what_they_point_to_is_written(older, tmp_path, target):
    (tmp_path / "link").symlink_to(target)
    write_bytes(tmp_path / "link", b"newer")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / target).read_bytes() == b"newer"


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkdir, "a folder"),
        (os.mkfifo, "a named pipe"),
        (make_socket, "a socket"),
        (lambda path: path.symlink_to("/dev/null"), "a device"),
    ],
    ids=["folder", "pipe", "socket", "device"],
)
def test_what_is_no_file_is_refused_and_stays(make, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    path = tmp_path / "path"
    make(path.relative_to(tmp_path))
    with pytest.raises(ValueError, match=f"cannot save: {path} is {words}, not a file"):
        write_bytes(path, b"content")
    assert names(tmp_path) == ["path"]


def test_folders_that_are_not_there_or_not_ours_are_named(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_destination(tmp_path / "absent" / "file")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"cannot save to .*a \("):
        check_destination(tmp_path / "a")
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(os, "access", lambda path, _: path.is_dir())  # as it is for all but root
    with pytest.raises(PermissionError, match="the file there is read-only"):
        check_destination(tmp_path / "file")
    monkeypatch.setattr(os, "access", lambda path, _: not path.is_dir())
    with pytest.raises(PermissionError, match="files may not be made in the folder"):
        check_destination(tmp_path / "new")


def test_a_failure_leaves_the_older_file_and_nothing_else(older):
    with pytest.raises(ZeroDivisionError), atomic_write(older) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert older.read_bytes() == b"older"
    assert names(older.parent) == ["model"]


def test_a_full_disk_leaves_the_older_file(older):
    script = """
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            write_bytes(sys.argv[1], bytes(5000))
        except OSError as problem:
            print(problem.errno, problem)
    """
    printed, _ = run(script, older, stdout=subprocess.PIPE, text=True).communicate(timeout=60)
    assert printed.startswith(f"{errno.EFBIG} cannot save to {older} (File too large)")
    assert older.read_bytes() == b"older"
    assert names(older.parent) == ["model"]


def test_content_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append(os.fstat(handle).st_size), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("renamed"), replace(*paths)))
    write_bytes(tmp_path / "new", b"content")
    assert done == [7, "renamed"]


def test_a_killed_process_leaves_the_older_file(older):
    script = """
        os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
        write_bytes(sys.argv[1], bytes(5000))
    """
    assert run(script, older).wait(timeout=60) == -signal.SIGKILL
    assert older.read_bytes() == b"older"
    write_bytes(older, b"newer")
    assert older.read_bytes() == b"newer"


def test_processes_that_write_at_one_time_do_not_disturb_each_other(tmp_path):
    script = """
        for _ in range(200):
            write_bytes(sys.argv[1], sys.argv[2].encode() * 1000)
    """
    path = tmp_path / "contested"
    both = [run(script, path, letter) for letter in "ab"]
    seen = set()
    while any(process.poll() is None for process in both):
        if path.exists():
            seen.add(path.read_bytes())
        time.sleep(0.001)
    assert [process.returncode for process in both] == [0, 0]
    assert seen <= {b"a" * 1000, b"b" * 1000}
    assert names(tmp_path) == ["contested"]
