"""Where a model goes: what is kept of what was there, what is refused, what a save that dies leaves."""

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
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, load, save
from eigenfeat._destination import replace_file


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def saved(iris, tmp_path):
    """A model file, in a folder of its own."""
    folder = tmp_path / "models"
    folder.mkdir()
    return save(FisherLDA().fit(*iris), folder / "model.skops")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run(code, *arguments, **options):
    script = "import os, resource, signal, sys, time\nfrom pathlib import Path\n" + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], **options)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_an_older_file_is_kept(saved, iris, mode):
    saved.chmod(mode)
    save(FisherLDA(ridge=1.0).fit(*iris), saved)
    assert stat.S_IMODE(saved.stat().st_mode) == mode
    assert load(saved).ridge == 1.0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_an_older_file_is_kept(saved, iris):
    os.chown(saved, 1234, 2345)
    save(FisherLDA().fit(*iris), saved)
    assert (saved.stat().st_uid, saved.stat().st_gid) == (1234, 2345)


def test_a_new_file_has_the_mode_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "new", b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("is_relative", [True, False])
def test_links_stay_and_what_they_point_to_is_replaced(saved, iris, tmp_path, is_relative):
    link = tmp_path / "link.skops"
    link.symlink_to("models/model.skops" if is_relative else saved)
    assert save(FisherLDA(ridge=1.0).fit(*iris), link) == link
    assert link.is_symlink() and not saved.is_symlink()
    assert load(saved).ridge == 1.0
    assert names(tmp_path) == ["link.skops", "models"]


def test_a_link_to_nothing_makes_what_it_points_to(tmp_path):
    (tmp_path / "link").symlink_to("target")
    replace_file(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"content"


def make_folder(path):
    path.mkdir()


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def make_link_to_device(path):
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (make_folder, "a folder"),
        (os.mkfifo, "a named pipe"),
        (make_socket, "a socket"),
        (make_link_to_device, "a device"),
    ],
    ids=["folder", "pipe", "socket", "device"],
)
def test_what_is_no_file_is_refused_and_stays(make, words, tmp_path, iris, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    path = tmp_path / "place"
    make(path.relative_to(tmp_path))
    before = path.stat(), path.lstat()
    with pytest.raises(ValueError, match=f"cannot save: {path} is {words}, not a file"):
        save(FisherLDA().fit(*iris), path)
    assert (path.stat(), path.lstat()) == before
    assert names(tmp_path) == ["place"]
    with pytest.raises(ValueError, match=f"is {words}, not a file"):
        load(path)


def test_links_in_a_circle_and_files_as_folders_are_explained(tmp_path, iris):
    model = FisherLDA().fit(*iris)
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"cannot save to .*a \("):
        save(model, tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save(model, tmp_path / "file" / "model.skops")
    assert names(tmp_path) == ["a", "b", "file"]


def test_a_full_disk_leaves_the_old_file(saved):
    before = saved.read_bytes()
    script = """
        from eigenfeat._destination import replace_file
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            replace_file(Path(sys.argv[1]), bytes(5000))
        except OSError as problem:
            print(problem.errno, problem)
    """
    done = run(script, saved, stdout=subprocess.PIPE, text=True)
    printed, _ = done.communicate(timeout=60)
    assert printed.startswith(f"{errno.EFBIG} cannot save to {saved} (File too large)")
    assert saved.read_bytes() == before
    assert names(saved.parent) == ["model.skops"]


def test_content_and_folder_are_flushed_to_the_disk_in_order(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace

    def noted_fsync(handle):
        found = os.fstat(handle)
        done.append(("folder", None) if stat.S_ISDIR(found.st_mode) else ("file", found.st_size))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", lambda *places: (done.append(("rename", None)), replace(*places)))
    replace_file(tmp_path / "new", b"content")
    assert done == [("file", 7), ("rename", None), ("folder", None)]


KILLED = """
    os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
    from eigenfeat._destination import replace_file
    replace_file(Path(sys.argv[1]), bytes(5000))
"""


def test_a_killed_save_leaves_the_old_file_and_the_next_one_sweeps(saved, iris):
    before = saved.read_bytes()
    assert run(KILLED, saved).wait(timeout=60) == -signal.SIGKILL
    assert saved.read_bytes() == before
    assert len(names(saved.parent)) == 2
    save(FisherLDA().fit(*iris), saved.with_name("other.skops"))  # sweeps only its own
    assert len(names(saved.parent)) == 3
    save(FisherLDA().fit(*iris), saved)
    assert names(saved.parent) == ["model.skops", "other.skops"]


def test_the_unfinished_file_of_a_living_save_is_not_swept(saved, iris):
    script = """
        os.fsync = lambda handle: (print("writing", flush=True), time.sleep(60))
        from eigenfeat._destination import replace_file
        replace_file(Path(sys.argv[1]), bytes(5000))
    """
    living = run(script, saved, stdout=subprocess.PIPE, text=True)
    try:
        assert living.stdout.readline() == "writing\n"
        save(FisherLDA(ridge=1.0).fit(*iris), saved)
        assert len(names(saved.parent)) == 2
    finally:
        living.kill()
        living.communicate()
    assert load(saved).ridge == 1.0
    replace_file(saved, b"content")
    assert names(saved.parent) == ["model.skops"]


def test_saves_at_one_time_do_not_disturb_each_other(tmp_path):
    script = """
        from eigenfeat._destination import replace_file
        for _ in range(200):
            replace_file(Path(sys.argv[1]), sys.argv[2].encode() * 1000)
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


def test_a_read_only_file_is_not_replaced(saved, monkeypatch, iris):
    monkeypatch.setattr(os, "access", lambda path, _: path.is_dir())  # as it is for all but root
    with pytest.raises(PermissionError, match="the file there is read-only"):
        save(FisherLDA().fit(*iris), saved)


def test_a_read_only_folder_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, _: not path.is_dir())
    with pytest.raises(PermissionError, match="files may not be made in the folder"):
        replace_file(tmp_path / "new", b"content")
    assert names(tmp_path) == []


def test_a_request_to_end_leaves_the_old_file_and_nothing_else(saved):
    script = """
        from eigenfeat._destination import replacing
        with replacing(Path(sys.argv[1])) as stream:
            stream.write(bytes(5000))
            os.kill(os.getpid(), signal.SIGTERM)
    """
    before = saved.read_bytes()
    assert run(script, saved).wait(timeout=60) == 128 + signal.SIGTERM
    assert saved.read_bytes() == before
    assert names(saved.parent) == ["model.skops"]


def test_signals_are_as_they_were_afterwards(tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    replace_file(tmp_path / "new", b"content")
    assert signal.getsignal(signal.SIGTERM) is before
