"""Marks of processes: only a process that has certainly exited counts as exited."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from floatgate.base import owner

PRINT = "from floatgate.base import owner; print(owner.mark(), flush=True); input()"


def _started() -> tuple[subprocess.Popen[str], str]:
    child = subprocess.Popen([sys.executable, "-c", PRINT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    return child, child.stdout.readline().strip()


def test_a_mark_is_a_safe_part_of_a_file_name_and_the_same_each_time() -> None:
    assert re.fullmatch(r"[0-9a-f]{16}-[0-9]+-[0-9]+", owner.mark())
    assert owner.mark() == owner.mark()
    assert str(os.getpid()) in owner.mark().split("-")
    assert not owner.has_exited(owner.mark())


def test_a_process_has_exited_once_it_is_killed_even_before_its_parent_knows() -> None:
    child, mark = _started()
    try:
        assert not owner.has_exited(mark)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert owner.has_exited(mark)  # a zombie
    finally:
        child.kill()
        child.communicate()
    assert owner.has_exited(mark)


def test_a_recycled_number_is_another_process() -> None:
    system, pid, start = owner.mark().split("-")
    assert owner.has_exited(f"{system}-{pid}-{int(start) + 1}")
    assert owner.has_exited(f"{system}-1-{start}")


def test_a_child_by_fork_has_its_own_mark() -> None:
    code = (
        "import os\nfrom floatgate.base import owner\nmine = owner.mark()\npid = os.fork()\n"
        "if pid == 0:\n    print(owner.mark() != mine, owner.has_exited(mine), flush=True)\n    os._exit(0)\n"
        "os.waitpid(pid, 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"


@pytest.mark.parametrize("mark", ["", "x", "1-2-3", "../..", "0" * 16 + "-99999999-5", "{0}-0-5", "{0}-5", "{0}-٣-5"])
def test_of_other_systems_and_of_other_text_nothing_is_known(mark: str) -> None:
    assert not owner.has_exited(mark.format(owner.mark().split("-")[0]))


def test_a_number_beyond_all_processes_has_exited() -> None:
    system = owner.mark().split("-")[0]
    assert owner.has_exited(f"{system}-2147483646-5")
    assert not owner.has_exited(f"{system}-9999999999-5")  # no process number at all


def test_where_the_kernel_does_not_name_the_system_nothing_has_exited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, "_PROC", tmp_path)
    mark = owner.mark()
    assert mark == f"{'0' * 16}-{os.getpid()}-0"
    assert not owner.has_exited(mark)
    assert not owner.has_exited(f"{'0' * 16}-2147483646-5")
