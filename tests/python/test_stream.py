"""Runs as loops over their progress."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import floatgate
from conftest import SMALL

ENDLESS = {**SMALL, "workload.requests": 10**11, "drive.endurance.pe_cycles": 4 * 10**9}
SECONDS_MAX = 20.0
"""Progress comes some times per second; a busy machine may take longer."""


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "floatgate.stream"]


def test_a_stream_ends_with_the_run(small_run: floatgate.Run) -> None:
    steps = floatgate.stream(SMALL)
    with pytest.raises(floatgate.RunError, match=r"has not ended; expected a loop over all steps"):
        _ = steps.run
    seen = list(steps)
    assert steps.run.flash.to_dict() == small_run.flash.to_dict()
    assert all(step.total is None or step.done <= step.total for step in seen)
    assert list(steps) == []
    assert threads() == []


def test_a_long_run_tells_its_progress() -> None:
    seen = []
    for step in floatgate.stream(ENDLESS):
        seen.append(step)
        if len([one for one in seen if one.phase == step.phase]) == 3:
            break
    done = [step.done for step in seen if step.phase == seen[-1].phase]
    assert done == sorted(done)
    assert done[0] < done[-1]


def test_leaving_the_loop_ends_the_run() -> None:
    began = time.monotonic()
    steps = floatgate.stream(ENDLESS)
    for _ in steps:
        break
    assert threads() == []
    assert time.monotonic() - began < SECONDS_MAX
    with pytest.raises(floatgate.RunError, match="has not ended"):
        _ = steps.run


def test_an_exception_in_the_loop_ends_the_run() -> None:
    def fails() -> None:
        for _ in floatgate.stream(ENDLESS):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as raised:
        fails()
    # The frames of a traceback hold the loop.
    raised.value.__traceback__ = None
    raised._excinfo = None
    until = time.monotonic() + SECONDS_MAX
    while threads() and time.monotonic() < until:
        time.sleep(0.05)
    assert threads() == []


def test_a_stopped_stream_leaves_a_snapshot_to_resume(tmp_path: Path) -> None:
    file = tmp_path / "stopped.snapshot"
    longer = {**ENDLESS, "workload.requests": 60_000_000}
    for step in floatgate.stream(longer, snapshot=file):
        if step.phase == "run":
            break
    assert file.is_file()
    resumed = floatgate.resume(file)
    assert resumed.host.write_requests == 60_000_000
    assert not file.exists()


def test_errors_come_from_the_call_and_from_the_loop() -> None:
    with pytest.raises(floatgate.InputError, match=r"^ftl\.spare_factor: "):
        floatgate.stream({"ftl": {"spare_factor": 2}})
    steps = floatgate.stream(SMALL, set={"drive.endurance.pe_cycles": 1})
    with pytest.raises(floatgate.RunError):
        list(steps)


@pytest.mark.parametrize(("body", "sent"), [("pass", True), ("held.append(steps); sys.exit(3)", False)])
def test_a_program_ends_when_it_is_interrupted_or_exits(body: str, sent: bool) -> None:
    code = (
        "import sys, floatgate\n"
        f"steps = iter(floatgate.stream({ENDLESS!r}))\n"
        "held = []\n"
        "for step in steps:\n"
        "    print(step.phase, flush=True)\n"
        f"    {body}\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline().strip()
    if sent:
        program.send_signal(signal.SIGINT)
    _, err = program.communicate(timeout=3 * SECONDS_MAX)
    assert program.returncode == (-signal.SIGINT if sent else 3)
    assert err.strip().endswith("KeyboardInterrupt" if sent else "")
