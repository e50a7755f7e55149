"""JSON documents that floatgate reads, ways to damage them, and what a reader may do with a damaged one.

``scripts/fuzz.py`` and ``tests/python/test_json_readers.py`` share it.
"""

from __future__ import annotations

import contextlib
import json
import math
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import floatgate
from floatgate.base.errors import InputError
from floatgate.lab import smart
from floatgate.lab.counters.collecting import Wanted
from floatgate.lab.counters.reading import Stated
from floatgate.pages import drawing
from floatgate.placement.keys import keys_of
from floatgate.results.folder import RunFolder
from floatgate.run.experiment import resolve
from floatgate.study.compare import WHOLE, run_settings
from floatgate.study.kinds import KINDS, Folder, folders
from floatgate.study.planning import plan
from floatgate.study.repeat import Repetition, plan_seeds
from floatgate.study.runs import resume
from floatgate.study.runs.engine import Local
from floatgate.study.runs.plan import RunPlan, plan_runs
from floatgate.study.runs.points import Axis, Points, parse_axis
from floatgate.study.runs.work import FAILED, Answer
from floatgate.study.sweeps.sweep import planned
from floatgate.study.tune.objective import goal_of
from floatgate.study.tune.search import Search, SearchPlan, begun, space
from floatgate.trace.conversion import convert
from fuzz_surface import Surface, kept_on_failure

OF_PYTHON = re.compile(
    r"object has no attribute|NoneType|KeyError|TypeError|ValueError|list indices|not subscriptable|unhashable"
    r"|internal error|Traceback|codec|\bint\(\)|'str'|'int'|'list'|'dict'|'float'|not supported between|not iterable"
    r"|unsupported operand|out of range|zip\(\)|pyo3|serde|unpack|argument must be|could not convert|\(char \d"
)
"""Words of exceptions of Python and of libraries, which mean nothing to a user."""
_PLACE = re.compile(r"(: metadata 'floatgate')?(:\d+:\d+: |: (?!is |has |holds |its |says |smartctl )\S.*?: )")
"""Behind the file's name: a path in the document, or line and column."""
_COUNTERS = ("host.write_bytes", "host.page_writes", "flash.programs.total", "flash.erases.total", "wear.erases_max")
_DEEP = 300


class Pairs(list[Any]):
    """An object as a list of keys and values, which may hold a key twice."""


@dataclass(frozen=True)
class Raw:
    """A value as it is written."""

    text: str


VALUES = [
    *("null", "true", "false", "0", "-1", "-7.5", "1.5", "1e308", "1e400", "-1e999", "NaN", "Infinity", "-Infinity"),
    *("1" + "0" * 400, "-" + "9" * 5000, str(1 << 64), str((1 << 63) - 1), "1e18"),
    *('""', '"x"', '"\\ud800"', '"\\u0000\\n"', '"12"', '"-3"', '"' + "y" * 9000 + '"', '"__class__"'),
    *("[]", "{}", "[[]]", "[null]", '{"a": 1}', '{"": null}', '[{"id": []}]', "[1, 2]"),
    "[" * _DEEP + "]" * _DEEP,
]


def damaged(sample: bytes, rng: random.Random) -> bytes:
    """Return the sample with some damage: to its structure mostly, else to its bytes."""
    if rng.random() < 0.2:
        return _bytes_damaged(sample, rng)
    value = json.loads(sample, object_pairs_hook=Pairs)
    for _ in range(rng.randint(1, 3)):
        value = _damaged_once(value, rng)
    return _written(value).encode()


def _bytes_damaged(sample: bytes, rng: random.Random) -> bytes:
    out = bytearray(sample)
    match rng.randrange(6):
        case 0:
            del out[rng.randrange(len(out) + 1) :]
        case 1:
            for _ in range(rng.randint(1, 4)):
                out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        case 2:
            at = rng.randrange(len(out))
            out[at:at] = rng.choice([b"\xff", b"\0", b"\xed\xa0\x80", b"}", b"]", b",", b"//", b"'", b"\x1b"])
        case 3:
            return sample.decode().encode(rng.choice(["utf-16", "utf-16-be", "utf-32", "utf-8-sig"]))
        case 4:
            return rng.choice([b"", b" \n", b"\xef\xbb\xbf", b"null", b"[]", b"7", b'"x"', b"{}", b"\x00\x01"])
        case _:
            return bytes(out) + bytes(out[: rng.randrange(1, 40)])
    return bytes(out)


def _places(value: Any) -> Iterator[tuple[Any, int]]:
    if isinstance(value, list):
        for place, one in enumerate(value):
            yield value, place
            yield from _places(one[1] if isinstance(value, Pairs) else one)


def _damaged_once(value: Any, rng: random.Random) -> Any:
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return Raw(rng.choice(VALUES))
    # Most nodes stand in long lists; with the first ones of each alone, heads are damaged too.
    places = [(holder, place) for holder, place in places if place < 3 or isinstance(holder, Pairs)]
    holder, place = rng.choice(places)
    key, old = holder[place] if isinstance(holder, Pairs) else ("", holder[place])
    match rng.randrange(8):
        case 0 | 1 | 2:
            new = Raw(rng.choice(VALUES))
        case 3:
            del holder[place]
            return value
        case 4:
            holder.insert(place, holder[place])
            return value
        case 5:
            new = [old]
        case 6 if isinstance(holder, Pairs):
            key, new = rng.choice([key.upper(), f"{key}_", "", "\ud800", "a b", "x" * 300]), old
        case _ if isinstance(old, int | float) and not isinstance(old, bool):
            new = -old - 1
        case _:
            new = Pairs([("inner", old)])
    holder[place] = (key, new) if isinstance(holder, Pairs) else new
    return value


def _written(value: Any) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {_written(one)}" for key, one in value) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value)


@dataclass(frozen=True)
class Reader:
    """A reader of JSON.

    Attributes:
        sample: a document that it takes.
        read: reads the document of a file in a folder of its own; returns its values.
        folder: the other files of the folder.
        file: the name of the document there.
    """

    sample: bytes
    read: Callable[[Path], Any]
    folder: Path | None
    file: str


def outcome(reader: Reader, content: bytes, place: Path) -> str | None:
    """Feed a document to a reader: None where it was taken and its values are sane, else the refusal.

    Args:
        reader: the reader.
        content: the document.
        place: a folder, made anew.

    Raises:
        AssertionError: neither.
    """
    shutil.rmtree(place, ignore_errors=True)
    if reader.folder is None:
        place.mkdir()
    else:
        shutil.copytree(reader.folder, place)
    (place / reader.file).write_bytes(content)
    refused: InputError | None = None
    try:
        values = reader.read(place / reader.file)
    except InputError as error:
        refused = error
    if refused is not None:
        message = str(refused)
        assert refused.status == 2, message
        assert str(place) in message, message
        assert "expected" in message, message
        assert "\n" not in message, message
        own = re.sub(r"'[^']*'", "", message.replace(str(place), ""))
        assert not OF_PYTHON.search(own), message
        return message
    for key, value in _leaves(values):
        assert not isinstance(value, float) or math.isfinite(value), (key, value)
        assert key not in _COUNTERS or value is None or value >= 0, (key, value)
    return None


def has_place(message: str, reader: Reader) -> bool:
    """Return whether a refusal says where in the document the fault is."""
    file = "metadata.parquet" if reader.file == "metadata.json" else reader.file
    return _PLACE.match(message.partition(file)[2]) is not None


def _leaves(value: Any, key: str = _COUNTERS[0]) -> Iterator[tuple[str, Any]]:
    """Keys and values of rows; numbers without a key are counters."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield key, value


def _undrawn(chart: dict[str, Any]) -> str:
    """Stand in for a picture, which takes the renderer a hundred times as long as the rest of a report."""
    json.dumps(chart)
    return "<svg />"


def _of_folder(kind: str, *, report: bool = True) -> Callable[[Path], Any]:
    def read(file: Path) -> Any:
        one = Folder(KINDS[kind], file.parent)
        overview = folders.overview(one)
        assert not OF_PYTHON.search(re.sub(r"'[^']*'", "", overview["what"])), overview
        rows = list(folders.rows(one))
        if report:
            with mock.patch.object(drawing, "svg", _undrawn):
                one.report()
        return rows

    return read


def _plan_and_row(file: Path) -> Any:
    _of_folder("sweep", report=False)(file)
    plan = planned(file.parent)
    return [len(plan), plan.seed, plan.repeat]


def _search_and_row(file: Path) -> Any:
    _of_folder("tune", report=False)(file)
    search = begun(file.parent)
    return [search.trials, search.batch, search.runs.repeat, search.runs.seed]


def _board(file: Path) -> Any:
    _of_folder("leaderboard", report=False)(file)
    return floatgate.load_leaderboard(file.parent).board.seeds


def _kept_plan(file: Path) -> Any:
    plan = resume.planned(file.parents[1], WHOLE)
    return [len(plan), plan.seed, plan.repeat]


def _trace_of(file: Path) -> Path:
    table = pa.table(
        {
            "time_ns": pa.array(range(4)),
            "op": pa.array(["read", "write"] * 2),
            "offset": pa.array([4096 * i for i in range(4)], pa.uint64()),
            "bytes": pa.array([4096] * 4, pa.uint64()),
            "context": pa.array([7, 8] * 2, pa.uint64()),
            "file": pa.array([1, 2] * 2, pa.uint32()),
            "process": pa.array([17] * 4, pa.uint32()),
        }
    )
    target = file.with_suffix(".parquet")
    pq.write_table(table.replace_schema_metadata({b"floatgate": file.read_bytes()}), target)
    return target


def _metadata(file: Path) -> Any:
    trace = _trace_of(file)
    for by in ("context", "file", "process"):
        keys_of(trace, by)
    convert(str(trace), str(file.with_name("again.parquet")), "parquet", {})
    return []


def readers(folder: Path) -> dict[str, Reader]:
    """Return all readers of JSON with their samples; simulates a little for those of floatgate's own documents."""
    made = {
        f"smart-{name}": Reader(json.dumps(sample).encode(), _reading, None, "reading.json")
        for name, sample in READINGS.items()
    }
    metadata = {
        "schema": "floatgate.trace/1",
        "has_times": True,
        "contexts": {"7": {"name": "f", "frames": ["f", "main"]}, "8": {"name": "g", "frames": []}},
        "files": {"1": "/w/a", "2": "/w/b"},
        "processes": {"17": {"name": "writer", "programs": ["writer"]}},
    }
    made["metadata"] = Reader(json.dumps(metadata).encode(), _metadata, None, "metadata.json")
    for kind, place in _results(folder).items():
        file = KINDS[kind].file
        own = {"sweep": _plan_and_row, "tune": _search_and_row, "leaderboard": _board}
        read = own.get(kind) or _of_folder(kind)
        made[kind] = Reader((place / file).read_bytes(), read, place, file)
    plan = plan_runs(resolve(SETTINGS), Points((Axis("ftl.collect.policy", ('"greedy"', '"fifo"')),)), 2)
    part = resume.Unfinished(folder, plan, WHOLE)
    part.add(Answer(0, FAILED, "the drive is worn out"))
    part.close()
    kept = folder / "kept"
    kept.mkdir()
    part.folder.rename(kept / resume.NAME)
    made["runs"] = Reader((kept / resume.PLAN).read_bytes(), _kept_plan, kept, resume.PLAN)
    return made


def _reading(file: Path) -> Any:
    reading = smart.read(file, Wanted(Stated(unit_bytes=512)))
    counters = (reading.host, reading.media, reading.erased)
    return [[counter.value_bytes, counter.step_bytes] for counter in counters if counter is not None]


READINGS: dict[str, dict[str, Any]] = {
    "sas": {"serial_number": "S1", "scsi_error_counter_log": {"write": {"gigabytes_processed": "12.5"}}},
    "fdp": {"hbmw": 1000, "mbmw": "2,000", "mbe": {"hi": 0, "lo": 5}},
    "intel": {
        "Intel Smart log": "nvme0",
        "Device stats": {"nand_bytes_written": {"normalized": 100, "raw": 9}, "host_bytes_written": {"raw": 4}},
    },
    "micron": {"Extended Smart Log Page : 0xD0": [{"NAND Writes (Bytes Written)": "0x1000"}]},
    "wdc": {"NAND Bytes Written Hi": 0, "NAND Bytes Written Lo": 4096},
    "nvme": {
        "smartctl": {"exit_status": 0, "messages": [{"string": "x", "severity": "warning"}]},
        "serial_number": "S1",
        "nvme_smart_health_information_log": {"data_units_written": 1000},
    },
    "nvme-cli": {"critical_warning": 0, "data_units_written": "1,000"},
    "ocp": {"Physical media units written": {"hi": 0, "lo": 4096}, "Log page version": 3},
    "ata": {
        "serial_number": "S1",
        "ata_smart_attributes": {
            "revision": 1,
            "table": [
                {"id": 9, "name": "Power_On_Hours", "raw": {"value": 4, "string": "4"}},
                {"id": 241, "name": "Host_Writes_32MiB", "raw": {"value": 10, "string": "10"}},
            ],
        },
    },
    "statistics": {
        "logical_block_size": 512,
        "ata_device_statistics": {
            "pages": [
                {"number": 1, "table": [{"name": "Logical Sectors Written", "value": 8, "flags": {"valid": True}}]}
            ]
        },
    },
}

SETTINGS = {
    "drive.capacity": "16 MiB",
    "drive.geometry.pages_per_block": 32,
    "ftl.spare_factor": 0.2,
    "ftl.precondition": "random",
    "workload.requests": 4_000,
    "workload.rate_per_s": 1000.0,
}
_TARGET_YEARS = 0.01
_SPACE = ("ftl.spare_factor=0.1,0.2", "ftl.collect.policy=greedy,fifo")


def _results(folder: Path) -> dict[str, Path]:
    """A folder of results of each kind."""
    places = {kind: folder / kind for kind in KINDS}
    floatgate.run(SETTINGS).save(places["run"], report=False)
    base = resolve(SETTINGS)
    Repetition(run_settings(plan_seeds(base, 2), Local(1))).save(places["repeat"], report=False)
    policies = ["greedy", "fifo"]
    floatgate.leaderboard(["reporting"], out=places["leaderboard"], policies=["dac"], spare_factors=[0.15], seeds=1)
    floatgate.compare(SETTINGS, {"ftl.collect.policy": policies}, repeat=2, jobs=1).save(
        places["compare"], report=False
    )
    floatgate.sweep(SETTINGS, {"ftl.spare_factor": "0.1..0.2:2", "ftl.collect.policy": policies}, out=places["sweep"])
    writes = {**SETTINGS, "workload.requests": 2000}
    life = floatgate.lifetime(writes, throttle="dynamic", target_years=_TARGET_YEARS)
    life.write(RunFolder.named(str(places["lifetime"]), force=False), report=False)
    short = resolve({**writes, "lifetime.throttle.target_years": _TARGET_YEARS})
    plan(short, policies=["none"], capacities=["16 MiB"]).write(
        RunFolder.named(str(places["plan"]), force=False), report=False
    )
    places["tune"].mkdir()
    runs = RunPlan(base, space(tuple(map(parse_axis, _SPACE))))
    searched = SearchPlan(runs, goal_of(["waf_bytes"], [], ["wear.erases_max < 9e9"]), 4, 4)
    search = Search.open(places["tune"], searched, fresh=True)
    with contextlib.closing(search):
        search.run(Local(1))
    return places


def surfaces(folder: Path, seed: int) -> Iterator[Surface]:
    """Yield every reader of JSON."""
    for name, reader in readers(folder / "samples").items():
        yield Surface(f"JSON of {name}", one_round_of(name, reader, folder, seed))


def one_round_of(name: str, reader: Reader, folder: Path, seed: int) -> Callable[[int], None]:
    """Return the rounds of a reader."""

    def one_round(number: int) -> None:
        content = damaged(reader.sample, random.Random(f"{seed}:{name}:{number}"))
        with kept_on_failure(f"JSON of {name}, seed {seed}, round {number}", f"{name}.json", content):
            outcome(reader, content, folder / "document")

    return one_round
