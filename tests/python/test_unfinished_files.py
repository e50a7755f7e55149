"""The leftovers of a killed command, and their removal."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from conftest import SMALL, Cli
from floatgate.base import owner, unfinished_files
from floatgate.results.folder import RunFolder, replacing, write_text

KINDS = {
    "run folder": "RunFolder(Path('room/one')).write(lambda staging, final: (staging / 'result.json').write_text('{') "
    "and stop())",
    "run folder in a room of its own": "with RunFolder.named('room', force=False) as f:\n"
    "    f._claim.room = lambda: f._claim.folder\n"
    "    f.write(lambda staging, final: (staging / 'result.json').write_text('{') and stop())",
    "scratch": "with RunFolder(Path('room/one')).scratch('requests.parquet') as place:\n"
    "    place.write_text('x') and stop()",
    "json": "with replacing(Path('room/result.json')) as temporary:\n    temporary.write_text('{') and stop()",
    "report": "Path.write_text = lambda *_: stop()\ndraw(Path('room/report.html'), lambda: 'x')",
    "table": "import floatgate.results.table_files, pyarrow.parquet as pq, pyarrow as pa\n"
    "pq.ParquetWriter.write_batch = lambda *_, **__: stop()\n"
    "floatgate.results.table_files.write_table(pa.table({'a': [1]}), Path('room/a.parquet'))",
}
STOP = (
    "import time\nfrom pathlib import Path\nfrom floatgate.results.folder import RunFolder, draw, replacing\n"
    "def stop():\n    print('writing', flush=True)\n    time.sleep(60)\n"
)


def _stopped(code: str, folder: Path) -> subprocess.Popen[str]:
    """Start a process and wait until it is in the middle of writing."""
    child = subprocess.Popen([sys.executable, "-c", STOP + code], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "writing\n"
    return child


def _killed(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def _hidden(folder: Path) -> list[str]:
    return [name for name in _names(folder) if name.startswith(".floatgate.")]


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that this process has not written to yet."""
    monkeypatch.setattr(unfinished_files, "_rooms", set())
    (tmp_path / "room").mkdir()
    return tmp_path / "room"


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_killed_command_left_goes_with_the_next_that_writes_there(kind: str, room: Path) -> None:
    child = _stopped(KINDS[kind], room.parent)
    try:
        assert len(_hidden(room)) == 1
        write_text(str(room / "note.json"), "{}", "a file")
        assert len(_hidden(room)) == 1  # its owner lives
    finally:
        _killed(child)
    unfinished_files._rooms.clear()
    write_text(str(room / "note.json"), "{}", "a file")
    assert _hidden(room) == []
    assert (room / "note.json").read_text() == "{}"


def test_a_folder_with_nothing_but_leftovers_is_empty(room: Path) -> None:
    _killed(_stopped(KINDS["run folder in a room of its own"], room.parent))
    assert _hidden(room)
    with RunFolder.named(str(room), force=False):
        assert _hidden(room) == []


def test_a_forged_name_with_the_number_of_another_process_goes(room: Path) -> None:
    system, pid, start = owner.mark().split("-")
    recycled = f".floatgate.{system}-{pid}-{int(start) + 5}.abc"
    kept = [
        f".floatgate.{owner.mark()}.abc",  # ours
        f".floatgate.{'0' * 16}-{2**31 - 2}-{start}.abc",  # of another host
        ".floatgate.4711.abc",  # of floatgate before marks
        ".floatgate.x",
        ".floatgate",
    ]
    for name in [recycled, *kept]:
        (room / name).mkdir()
        (room / name / "inner").write_text("x")
    unfinished_files.clean(room)
    assert _names(room) == sorted(kept)


def test_a_link_goes_and_what_it_points_to_stays(room: Path) -> None:
    system, pid, start = owner.mark().split("-")
    aim = room.parent / "precious"
    aim.mkdir()
    (aim / "data").write_text("x")
    (room / f".floatgate.{system}-{pid}-{int(start) + 5}.abc").symlink_to(aim)
    unfinished_files.clean(room)
    assert _names(room) == []
    assert (aim / "data").read_text() == "x"


def test_commands_that_start_at_once_share_the_work(room: Path) -> None:
    system, pid, start = owner.mark().split("-")
    for number in range(100):
        (room / f".floatgate.{system}-{pid}-{int(start) + 1 + number}.x/deep").mkdir(parents=True)
    failures: list[OSError] = []

    def work(number: int) -> None:
        try:
            unfinished_files.clean(room)
            with replacing(room / f"{number}.json") as temporary:
                temporary.write_text(str(number))
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert _names(room) == [f"{number}.json" for number in range(4)]


def test_a_long_name_leaves_room_for_the_mark(room: Path) -> None:
    for name in ("n" * 250 + ".csv", "ä" * 120 + ".csv", "€" * 80 + "x.csv"):
        with replacing(room / name) as temporary:
            assert temporary.suffix == ".csv"
            temporary.write_text("x")
        assert (room / name).read_text() == "x"


def test_a_run_that_is_killed_leaves_nothing_for_long(cli: Cli, tmp_path: Path) -> None:
    pieces = [part for key, value in {**SMALL, "mode": "timed"}.items() for part in ("--set", f"{key}={value}")]
    arguments = [sys.executable, "-m", "floatgate", "run", *pieces, "--set", "workload.requests=400_000_000"]
    arguments += ["--log-requests", "--out", "room/one"]
    child = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if (tmp_path / "room").is_dir() and _hidden(tmp_path / "room"):
                break
            time.sleep(0.05)
        assert _hidden(tmp_path / "room")
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    few = ("--set", "workload.requests=1000", "--set", "ftl.precondition=none")
    cli("run", *pieces, *few, "--out", "room/two", "--no-report").done()
    assert _hidden(tmp_path / "room") == []
    shutil.rmtree(tmp_path / "room")
