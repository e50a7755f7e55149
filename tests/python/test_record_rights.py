"""Perf without rights: the kernel then limits the memory of its rings, and what perf says of it must reach the user."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Outcome
from floatgate.base.errors import InputError
from floatgate.trace.recorder import Options, backends, perf_data, record

PROGRAM = """
import os
file = os.open("data", os.O_RDWR | os.O_CREAT)
for number in range(20):
    os.pwrite(file, bytes([number]) * 4096, number % 5 * 4096)
    os.fsync(file)
os.write(2, b"the program's own words\\n")
"""
WITHOUT_RIGHTS = "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs"
FAKE_PERF = """#!/bin/sh
if [ "$1" = --version ]; then echo perf version 6.1; exit; fi
for word; do [ "$word" = true ] && exit 0; done
{body}
"""
Limited = Callable[..., Outcome]


@pytest.fixture
def limited(tmp_path: Path) -> Limited:
    """Run ``floatgate trace record`` as root without capabilities, with so much memory to lock."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to give up its capabilities")
    for tool in ("setpriv", "perf", "strace"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing")
    limits = [int(Path(f"/proc/sys/kernel/perf_event_{name}").read_text()) for name in ("paranoid", "mlock_kb")]
    if limits[0] < 0 or limits[1] > 1024:
        pytest.skip(f"perf_event_paranoid is {limits[0]}, perf_event_mlock_kb {limits[1]}: rings are not limited")
    why = backends.perf_problem(tmp_path) or backends.strace_problem(tmp_path)
    if why is not None:
        pytest.skip(f"even with rights: {why}")

    def call(lockable_kib: int, *arguments: str) -> Outcome:
        shell = f'ulimit -l {lockable_kib} && exec {WITHOUT_RIGHTS} "$@"'
        ours = [sys.executable, "-m", "floatgate", "trace", "record", *arguments, "--", sys.executable, "-c", PROGRAM]
        command = ["sh", "-c", shell, "sh", *ours]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
        if "setpriv:" in ended.stderr.decode() or "ulimit:" in ended.stderr.decode():
            pytest.skip(ended.stderr.decode())
        return Outcome(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    return call


def recorded(outcome: Outcome) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(outcome.done())
    assert (facts["pages_written"], facts["lost_events"]) == (20, 0)
    assert outcome.err.startswith("the program's own words\ntrace ")  # nothing of perf's
    return facts


def test_where_perf_gets_no_ring_strace_records(limited: Limited) -> None:
    facts = recorded(limited(0, "--json"))
    assert facts["backend"] == "strace"
    assert "rings of 4 MiB a processor: perf failed with status" in facts["backend_reason"]
    assert "Consider increasing /proc/sys/kernel/perf_event_mlock_kb" in facts["backend_reason"]


def test_where_perf_is_asked_for_it_says_what_perf_said(limited: Limited) -> None:
    message = limited(0, "--backend", "perf").refused()
    assert "Permission error mapping pages." in message
    assert "(current value: 1024,0)" in message  # perf's last line
    assert "`sysctl kernel.perf_event_mlock_kb=16388`" in message
    assert message.endswith(", or use --backend strace")


def test_perf_takes_smaller_rings_where_these_are_allowed(limited: Limited) -> None:
    facts = recorded(limited(4096 * (os.cpu_count() or 1), "--json"))
    assert facts["backend"] == "perf"
    assert "; rings of 4 MiB, for kernel.perf_event_mlock_kb forbids " in facts["backend_reason"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "echo first >&2; echo last words >&2; exit 255",
            "perf ended with status 255 before the program began: first last words; try --backend strace",
        ),
        (
            "echo Permission error mapping pages. >&2; echo the end >&2; exit 255",
            "before the program began: Permission error mapping pages. the end; allow it with `sysctl kernel.perf_e",
        ),
        ("exit 3", "perf ended with status 3 before the program began: (it says nothing); try"),
        (
            'seq 1000 >&2; while [ "$1" != -- ]; do shift; done; shift; "$@"; echo disk full >&2; exit 255',
            "disk full; try --backend strace",
        ),
    ],
)
def test_the_last_words_of_perf_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, expected: str
) -> None:
    why = backends.strace_problem(tmp_path)
    if why is not None:
        pytest.skip(f"strace: {why}")
    perf = tmp_path / "perf"
    perf.write_text(FAKE_PERF.format(body=body))
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError) as error:
        record(["sh", "-c", f"echo x > {tmp_path}/file"], tmp_path / "t.parquet", Options(backend="perf"))
    assert expected in str(error.value)
    assert not (tmp_path / "t.parquet").exists()


def test_a_recording_that_broke_off_is_not_complete(tmp_path: Path) -> None:
    data = tmp_path / "perf.data"
    assert not perf_data.is_complete(data)
    data.write_bytes(b"PERFILE2" + bytes(96))
    assert not perf_data.is_complete(data)
    data.write_bytes(b"PERFILE2" + bytes(40) + b"\x01" + bytes(55))
    assert perf_data.is_complete(data)
