"""Policies tried on what a live drive has recorded: ``floatgate compare`` over its journal, beside the drive."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate.base.errors import InputError, input_error, quote
from floatgate.live.page import TRIED
from floatgate.report.sections import amplification

if TYPE_CHECKING:
    from floatgate.live.drive import LiveDrive
    from floatgate.live.history import Sample

FOLDER = "trials"
"""Folder of the comparisons in that of the drive."""
TRIALS_MAX = 64
MINUTES_MAX = 1e6
_NICENESS = 10


@dataclass
class Trial:
    """One comparison.

    Attributes:
        number: from 1.
        key: the setting.
        values: its values; the drive's own comes first.
        minutes: the last minutes that count; None for the whole journal.
        command: the command that does it, for a terminal.
        state: ``running``, ``done`` or ``failed``.
        rows: write amplification and interval of each value, once it is done.
        message: why it failed.
    """

    number: int
    key: str
    values: tuple[str, ...]
    minutes: float | None
    command: str = ""
    state: str = "running"
    rows: list[dict[str, Any]] = field(default_factory=list)
    message: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it for the page."""
        return {**vars(self), "values": list(self.values)}


class Trials:
    """The comparisons of a drive, one at a time, each in a process of its own with low priority."""

    def __init__(self, drive: LiveDrive) -> None:
        """Begin without any.

        Args:
            drive: the drive.
        """
        self._drive = drive
        self._folder = drive.options.folder / FOLDER
        self._trials: list[Trial] = []
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def to_list(self) -> list[dict[str, Any]]:
        """Return all of them for the page, the latest first."""
        with self._lock:
            return [trial.to_dict() for trial in reversed(self._trials)]

    def page(self, number: int) -> Path | None:
        """Return the report of a comparison, None without one."""
        path = self._folder / str(number) / "report.html"
        return path if path.is_file() else None

    def start(self, key: str, value: str, minutes: float | None, history: list[Sample]) -> Trial:
        """Begin a comparison of the drive's own value with another.

        The whole journal is replayed with both; what comes before the last minutes does not count, so both serve them
        with the history that they would have.

        Args:
            key: one of :data:`floatgate.live.page.TRIED`.
            value: another value than the drive has.
            minutes: the last minutes that count; None for the whole journal.
            history: looks of the whole time.

        Returns:
            The comparison, which runs.

        Raises:
            InputError: a key or value that cannot be tried, or another comparison runs.
        """
        own = self._drive.setting(key)
        if key not in TRIED or own is None:
            raise input_error(f"{quote(key)} cannot be tried here; expected {' or '.join(TRIED)}")
        if value == own or value not in TRIED[key]:
            others = ", ".join(one for one in TRIED[key] if one != own)
            raise input_error(f"{key} = {quote(value)} cannot be tried here; expected one of {others}")
        if minutes is not None and self._drive.options.journal_bytes_max is not None:
            raise input_error("parts of the journal may be gone (--journal-max); expected all that was recorded")
        if minutes is not None and not 0.0 < minutes < MINUTES_MAX:
            raise input_error(f"{minutes} minutes cannot be tried; expected more than 0, less than {MINUTES_MAX:g}")
        with self._lock:
            if any(trial.state == "running" for trial in self._trials):
                raise input_error("another comparison runs; expected to wait for it")
            if len(self._trials) >= TRIALS_MAX:
                raise input_error(f"there were {TRIALS_MAX} comparisons already; expected fewer")
            trial = Trial(len(self._trials) + 1, key, (own, value), minutes)
            arguments = self._arguments(trial, _requests_before(minutes, history))
            trial.command = "floatgate " + shlex.join(arguments)
            self._trials.append(trial)
        threading.Thread(target=self._run, args=(trial, arguments), name="trial", daemon=True).start()
        return trial

    def stop(self) -> None:
        """End the comparison that runs, if any."""
        process = self._process
        if process is not None:
            process.terminate()

    def _arguments(self, trial: Trial, requests: int) -> list[str]:
        folder = self._folder / str(trial.number)
        self._folder.mkdir(exist_ok=True)
        experiment = self._folder / f"{trial.number}.toml"
        experiment.write_text(self._drive.experiment_toml(), encoding="utf-8")
        self._drive.save()
        vary = f"{trial.key}={','.join(trial.values)}"
        return [
            "compare",
            str(experiment),
            "--vary",
            vary,
            *(["--set", f"workload.warmup_requests={requests}"] if requests else []),
            "--out",
            str(folder),
            "--force",
        ]

    def _run(self, trial: Trial, arguments: list[str]) -> None:
        command = [sys.executable, "-m", "floatgate", *arguments, "--report", "--json=-", "--quiet"]
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            # The drive and its clients go first.
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICENESS)
            out, err = self._process.communicate()
            rows = _rows(json.loads(out), trial.key) if self._process.returncode == 0 else []
            with self._lock:
                trial.rows, trial.message = rows, err.strip()[-2000:]
                trial.state = "done" if rows else "failed"
        except (OSError, ValueError, KeyError, InputError) as error:
            with self._lock:
                trial.state, trial.message = "failed", str(error)
        finally:
            self._process = None


def _requests_before(minutes: float | None, history: list[Sample]) -> int:
    """Return the requests before the last minutes, since the drive was started."""
    if minutes is None or not history:
        return 0
    begin_s = history[-1]["uptime_s"] - 60.0 * minutes
    before = [int(counts["requests"]) for counts in history if counts["uptime_s"] <= begin_s]
    return before[-1] if before else 0


def _rows(compared: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return what the page shows of a comparison."""
    rows = []
    for setting in compared["settings"]:
        if setting["error"]:
            raise input_error(str(setting["error"]))
        waf, interval = amplification.amplification(setting["result"])
        rows.append({"value": setting["set"][key], "amplification": waf, "interval": interval})
    return rows
