"""Bad arguments of the Python interface, and bad files: an InputError, never a foreign exception."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL, Cli
from floatgate.trace.recorder import text_trace

LOOP: dict[str, Any] = {}
LOOP["ftl"] = LOOP
LIST: list[Any] = []
LIST.append(LIST)
HUGE = 10**6000
call: Any = None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: floatgate.theory_wa("greedy", 0.1, 2**40), "pages_per_block: is 1099511627776; expected a whole"),
        (lambda: floatgate.theory_wa("greedy", 0.1, HUGE), "pages_per_block: is a number that is too large"),
        (lambda: floatgate.theory_wa("greedy", 0.1, -1), "pages_per_block: is -1; expected a whole number from 0"),
        (lambda: floatgate.theory_wa("greedy", HUGE, 64), "spare_factor: is a number that is too large"),
        (lambda: floatgate.theory_wa("d-choices", 0.1, 64, 2**32), "choices: is 4294967296; expected"),
        (lambda: floatgate.theory_wa(5, 0.1, 64), "policy: is 5; expected a text"),  # type: ignore[arg-type]
        (lambda: floatgate.theory_wa("\ud800", 0.1, 64), "policy: is not UTF-8 text; expected a text"),
        (lambda: floatgate.run(LOOP), "nested more than 32 deep, or within itself"),
        (lambda: floatgate.run(SMALL, set=LOOP), "nested more than 32 deep, or within itself"),
        (lambda: floatgate.run({"ftl.spare_factor": LIST}), "nested more than 32 deep, or within itself"),
        (lambda: floatgate.run({"seed": HUGE}), "setting 'seed': a whole number of more than 64 bits"),
        (lambda: floatgate.run({"seed": np.arange(3)}), "seed"),
        (lambda: floatgate.run({"seed": object()}), "setting 'seed': a value of type object cannot be set"),
        (lambda: floatgate.run({"seed": "\ud800"}), "seed"),
        (lambda: floatgate.run("a = " + "[" * 100_000), ""),
        (lambda: floatgate.run("a = '\ud800'"), "experiment: is not UTF-8 text"),
        (lambda: floatgate.run(5), "experiment: is 5; expected a dict or a text or a path or None"),  # type: ignore[arg-type]
        (lambda: floatgate.run(b"a = 1"), "experiment: is of type bytes"),  # type: ignore[arg-type]
        (lambda: floatgate.run("/dev/zero"), "/dev/zero: is larger than 16 MiB; expected an experiment file"),
        (lambda: floatgate.run(SMALL, timeline=5), "timeline: is 5; expected a text or None"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, set=[1]), "set: is of type list; expected a dict or None"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, shadow="no"), "shadow: is of type str"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, snapshot=5), "snapshot: is 5; expected"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, save_drive=5), "save_drive: is 5; expected"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, log_requests=b"x"), "log_requests: is of type bytes"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, snapshot_every="1"), "snapshot_every: is of type str"),  # type: ignore[arg-type]
        (lambda: floatgate.run(SMALL, progress=5), "progress: is 5; expected a function"),  # type: ignore[arg-type]
        (lambda: floatgate.lifetime(SMALL, target_years="5"), "target_years: is of type str"),  # type: ignore[arg-type]
        (lambda: floatgate.lifetime(SMALL, trace=3), "trace: is 3; expected"),  # type: ignore[arg-type]
        (lambda: floatgate.compare(SMALL, {"seed": 5}), "vary: is of type dict; expected a dict of a list each"),  # type: ignore[dict-item]
        (lambda: floatgate.compare(SMALL, {"seed": range(2_000_000)}), "vary: 2000000 runs; expected at most 1000000"),
        (lambda: floatgate.compare(SMALL, {"seed": [1]}, jobs=2**70), "jobs: is 1180591620717411303424"),
        (lambda: floatgate.trace_info("t.csv", requests=5), "requests: is 5; expected a text"),  # type: ignore[arg-type]
        (lambda: floatgate.trace_info(5), "path: is 5; expected a text or a path"),  # type: ignore[arg-type]
        (lambda: floatgate.load(5), "folder: is 5; expected a text or a path"),  # type: ignore[arg-type]
        (lambda: floatgate.resume(5), "snapshot: is 5; expected a text or a path"),  # type: ignore[arg-type]
    ],
)
def test_arguments_that_do_not_fit_are_input_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(floatgate.InputError) as raised:
        call()
    assert message in str(raised.value)
    assert len(str(raised.value)) < 2000


def test_what_fits_still_fits() -> None:
    assert floatgate.theory_wa("d-choices", np.float64(0.1), np.int64(64), 4) > 1  # type: ignore[arg-type]
    run = floatgate.run({**SMALL, "seed": np.int64(3)}, set={"workload.requests": np.uint32(1000)}, shadow=True)
    assert run.seed == 3
    with pytest.raises(TypeError, match="unexpected keyword"):
        floatgate.run(SMALL, nonsense=1)  # type: ignore[call-arg]

    def progress(*_: object) -> None:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        floatgate.run({**SMALL, "workload.requests": 30_000_000}, progress=progress)


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DEEP, "r/result.json:1:101: is nested too deeply; expected a result as floatgate wrote it"),
        ('{"a":' * 100_000, "r/result.json:1:501: is nested too deeply; expected a result as floatgate wrote it"),
        ("1" * 6000, "r/result.json: is not a finite number or too large; expected a number below 2^128"),
        (
            '{"schema": "floatgate.result/1", "lifetime": 5, "wear": [1]}',
            "r/result.json: lifetime: is the number 5; expected an object, in a result as floatgate wrote it",
        ),
    ],
)
def test_results_that_mislead_are_refused(cli: Cli, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/result.json").write_text(text)
    (tmp_path / "r/experiment.toml").write_text("seed = 1\n")
    pq.write_table(pa.table({"requests": [1]}), tmp_path / "r/series.parquet")
    assert cli("report", "r").refused().startswith(message)


def test_a_result_without_an_end_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    with (tmp_path / "r/result.json").open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert cli("report", "r").refused().startswith("r/result.json: is larger than 64 MiB; expected a result")


@pytest.mark.parametrize("content", [b'{"contexts":' * 100_000, b'{"contexts": {"1": {"name": "a"}}' + b" " * 10])
def test_metadata_of_parquet_that_misleads_is_no_internal_error(cli: Cli, tmp_path: Path, content: bytes) -> None:
    columns = {"op": ["write"] * 3, "offset": [0, 1, 2], "bytes": [512] * 3, "context": [1, 1, 1]}
    table = pa.table(columns).replace_schema_metadata({b"floatgate": content})
    pq.write_table(table, tmp_path / "t.parquet")
    what = "is nested too deeply" if len(content) > 1000 else "ends before its JSON is complete"
    where = "1:1201" if len(content) > 1000 else "1:44"
    for command in (("trace", "info"), ("placement",)):
        error = cli(*command, "t.parquet").refused()
        assert error.startswith(f"t.parquet: metadata 'floatgate':{where}: {what}; expected the description of a trace")


def test_a_column_that_is_there_twice_is_refused(cli: Cli, tmp_path: Path) -> None:
    arrays = [pa.array(["write"]), pa.array([0]), pa.array([512]), pa.array([1])]
    pq.write_table(pa.Table.from_arrays(arrays, ["op", "offset", "bytes", "offset"]), tmp_path / "t.parquet")
    error = cli("trace", "info", "t.parquet").refused()
    assert error == "t.parquet: has column 'offset' more than once; expected each column once"


def test_a_deep_experiment_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("a = " + DEEP)
    assert cli("check", "e.toml").refused().startswith("e.toml:1:")
    assert "e.toml" in json.dumps(cli("run", "e.toml").refused())


@pytest.mark.parametrize("format", ["msr", "parquet", "strace", "perf-script"])
def test_a_trace_without_an_end_is_refused(cli: Cli, format: str) -> None:
    error = cli("trace", "info", "/dev/zero", "--format", format).refused()
    assert error.startswith("/dev/zero: is not a Parquet" if format == "parquet" else "/dev/zero:1: the line is longer")


def test_a_line_that_fills_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_trace, "_LINE_MAX", 1000)
    (tmp_path / "t").write_bytes(b"1 write(3, 0, 1) = 1\n" + b"\0" * 5000)
    for kind in ("strace", "perf-script"):
        with pytest.raises(floatgate.InputError, match=r"^mine:2: the line is longer than 1000 bytes; expected"):
            text_trace.CallsReader(kind, "mine", str(tmp_path / "t")).next()
