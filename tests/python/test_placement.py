"""``floatgate placement``: the table, its facts on each context, and its effect."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from floatgate.base.errors import InputError
from floatgate.placement import DRIVE, Placement, place
from floatgate.placement.lives import lives_of
from floatgate.run.experiment import Experiment
from floatgate.run.run import execute
from floatgate.trace import library
from floatgate.trace.dense_traces import dense

PAGE = 4096


def write(path: Path, rows: list[tuple[str, int, int, int]]) -> Path:
    """A trace of (op, offset, bytes, context)."""
    op, offset, length, context = zip(*rows, strict=True)
    table = pa.table(
        {
            "time_ns": pa.array(np.arange(len(rows)), pa.int64()),
            "device": pa.array(["0"] * len(rows)),
            "op": pa.array(op),
            "offset": pa.array(offset, pa.uint64()),
            "bytes": pa.array(length, pa.uint64()),
            "context": pa.array(context, pa.uint64()),
        }
    )
    metadata = {"contexts": {str(one): {"name": f"f{one}", "frames": [f"f{one}", "main"]} for one in set(context)}}
    pq.write_table(table.replace_schema_metadata({b"floatgate": json.dumps(metadata)}), path)
    return path


def test_pages_are_numbered_in_the_order_of_their_addresses(tmp_path: Path) -> None:
    rows = [
        ("write", 100 * PAGE, 2 * PAGE, 1),
        ("write", 7 * PAGE + 512, 1024, 2),
        ("trim", 99 * PAGE, 3 * PAGE, 1),
        ("trim", 500 * PAGE, PAGE, 1),
        ("write", 101 * PAGE, PAGE, 1),
    ]
    source = write(tmp_path / "a.parquet", rows)
    pages = dense(source, tmp_path / "b.parquet")
    assert (pages.page_writes, pages.distinct_pages) == (4, 3)
    made = pq.read_table(pages.file)
    assert made["offset"].to_pylist() == [PAGE, 512, 2 * PAGE]
    assert made["bytes"].to_pylist() == [2 * PAGE, 1024, PAGE]
    # Of what a TRIM gives up, the pages that the trace writes; of the second one, nothing.
    made = pq.read_table(dense(source, tmp_path / "c.parquet", trims=True).file)
    assert made["op"].to_pylist() == ["write", "write", "trim", "write"]
    assert made["offset"].to_pylist()[2] == PAGE
    assert made["bytes"].to_pylist()[2] == 2 * PAGE
    assert b"floatgate" in pq.read_metadata(tmp_path / "c.parquet").metadata


def churn(tmp_path: Path) -> Path:
    """Two programs that rewrite data of their own at very different rates, and one that writes once."""
    rng = np.random.default_rng(1)
    rows = [("write", page * PAGE, PAGE, 9) for page in range(2000)]
    for _ in range(20_000):
        fast = rng.random() < 0.9
        page = rng.integers(0, 200) if fast else 200 + rng.integers(0, 1800)
        rows.append(("write", int(page) * PAGE, PAGE, 5 if fast else 6))
    return write(tmp_path / "churn.parquet", rows)


def test_the_table_separates_and_lowers_waf(tmp_path: Path) -> None:
    answer = place(churn(tmp_path), handles=4)
    waf = answer.to_dict()["waf"]
    assert waf["host-given"] < waf["none"]
    handle = {one["key"]: one["handle"] for one in answer.keys}
    assert handle[5] != handle[6]
    assert 0 not in (handle[5], handle[6])
    rows = list(csv.DictReader(answer.table().splitlines()))
    assert {int(row["context"]): int(row["handle"]) for row in rows} == {
        one: number for one, number in handle.items() if number
    }
    assert {row["name"] for row in rows} <= {"f5", "f6", "f9"}
    assert rows[0]["frames"].endswith("< main")
    groups = {group["handle"]: group for group in answer.groups}
    assert groups[handle[5]]["mean_lifespan_writes"] < groups[handle[6]]["mean_lifespan_writes"]
    assert sum(group["page_writes"] for group in answer.groups) == 22_000
    assert "handles" in answer.text()


def again(path: Path, contexts: dict[str, int]) -> Path:
    """Another run of that program: other data in the same way, its contexts called as is said."""
    rng = np.random.default_rng(2)
    rows = [("write", page * PAGE, PAGE, contexts["fill"]) for page in range(2500)]
    for _ in range(15_000):
        fast = rng.random() < 0.85
        page = rng.integers(2200, 2500) if fast else rng.integers(0, 2200)
        rows.append(("write", int(page) * PAGE, PAGE, contexts["fast" if fast else "slow"]))
    return write(path, rows)


def test_the_table_is_judged_on_another_recording(tmp_path: Path) -> None:
    trace = churn(tmp_path)
    # The slow context is one that the first trace does not have.
    other = again(tmp_path / "other.parquet", {"fill": 9, "fast": 5, "slow": 77})
    table = pq.read_table(other)
    fast = int(np.count_nonzero(table["context"].to_numpy() == 5))
    answer = place(trace, handles=4, apply=other)
    alone = place(trace, handles=4)
    applied = answer.applied
    assert applied is not None
    assert (applied.keys, applied.matched_keys) == (3, 2)
    assert (applied.page_writes, applied.matched_page_writes) == (17_500, 2500 + fast)
    handle = {one["key"]: one["handle"] for one in answer.keys}
    assert handle[5]
    assert applied.placed_page_writes == fast + (2500 if handle[9] else 0)

    # What the other trace holds does not change the table, nor what it does on the first.
    document = answer.to_dict()
    assert {**document, "applied": None} == alone.to_dict()
    assert answer.table() == alone.table()
    # The run follows the first trace's table: the same as the other trace with a column of those handles.
    streams = pa.array([handle.get(one, 0) for one in table["context"].to_pylist()], pa.uint32())
    with_streams = tmp_path / "given.parquet"
    pq.write_table(table.append_column("stream", streams), with_streams)
    geometry = document["applied"]["config"]["drive"]["geometry"]
    drive = [
        ("drive.geometry.blocks_per_plane", str(geometry["blocks_per_plane"])),
        ("workload.file", str(with_streams)),
        ("workload.format", "parquet"),
        ("ftl.separate.policy", "host-given"),
        ("ftl.separate.handles", "4"),
    ]
    same = execute(Experiment(DRIVE, "same").with_overrides(drive)).result.to_dict()["waf"]
    waf = document["applied"]["waf"]
    assert waf["host-given"] == same
    assert same < waf["none"]
    assert waf != document["waf"]
    share, placed = (f"{pages / 175:.1f} %" for pages in (2500 + fast, applied.placed_page_writes))
    lines = answer.text().splitlines()
    lines = lines[next(number for number, line in enumerate(lines) if line.startswith("placement")) :]
    assert lines[1].endswith(f"; on {trace}, the source of the table")
    assert lines[2].startswith(f"applied    {same:.3f} with 4 handles, {waf['none']:.3f} without")
    assert lines[2].endswith(f"; on {other}, another recording")
    assert lines[3].startswith(f"matched    {2500 + fast:,} of its 17,500 page writes ({share}) come from")
    assert lines[4].startswith(f"placed     {applied.placed_page_writes:,} ({placed}) get")


def test_applied_to_itself_a_table_does_the_same(tmp_path: Path) -> None:
    document = place(trace := churn(tmp_path), handles=4, apply=trace).to_dict()
    there = document["applied"]["waf"]
    assert set(there) == {"none", "log-data", "sepbit", "ora", "pds", "host-given"}
    assert there == {rule: document["waf"][rule] for rule in there}
    assert document["applied"]["matched_page_writes"] == document["applied"]["page_writes"] == 22_000


def test_the_table_of_a_small_recording_serves_a_larger_one_of_the_same_program() -> None:
    # One was recorded with strace, the other with perf: contexts are the same.
    answer = place(library.path("sqlite-content"), apply=library.path("sqlite-updates"))
    applied = answer.applied
    assert applied is not None
    assert applied.matched_page_writes > 0.99 * applied.page_writes
    waf = applied.to_dict()["waf"]
    none, by_handles = waf["none"], waf["host-given"]
    # The example of docs/separation.md.
    assert none == pytest.approx(2.033, abs=0.0005)
    assert by_handles == pytest.approx(1.468, abs=0.0005)


def test_a_trace_that_the_table_says_nothing_about_is_refused(tmp_path: Path) -> None:
    trace = churn(tmp_path)
    foreign = again(tmp_path / "foreign.parquet", {"fill": 1, "fast": 2, "slow": 3})
    here = re.escape(str(foreign))
    with pytest.raises(InputError, match=f"^{here}: no context that writes there writes in .*expected a recording of"):
        place(trace, apply=foreign)
    # Writes without a context on both sides are no match.
    nobody = write(tmp_path / "nobody.parquet", [("write", 0, PAGE, 0), ("write", 0, PAGE, 4)])
    some = write(tmp_path / "some.parquet", [("write", 0, PAGE, 0), ("write", 0, PAGE, 3)])
    with pytest.raises(InputError, match="no context that writes there"):
        place(some, apply=nobody)
    plain = tmp_path / "plain.parquet"
    pq.write_table(pq.read_table(foreign).drop_columns(["context"]), plain)
    with pytest.raises(InputError, match=f"^{re.escape(str(plain))}: no column 'context'; expected a trace that"):
        place(trace, apply=plain)
    with pytest.raises(InputError, match=r"^gone\.parquet: no such file; expected a trace"):
        place(trace, apply="gone.parquet")
    # The drive is the first trace's, or not: which of the two it has no room for is said.
    large = write(tmp_path / "large.parquet", [("write", page * PAGE, PAGE, 5) for page in range(9000)])
    small = [("drive.capacity", '"32 MiB"')]
    with pytest.raises(InputError, match=f"^{re.escape(str(large))}: the trace addresses"):
        place(trace, apply=large, overrides=small)


def test_data_live_until_they_are_replaced_or_trimmed() -> None:
    rows = [("write", 0, 2), ("write", 1, 2), ("trim", 0, 2), ("write", 0, 1), ("write", 2, 1), ("trim", 2, 1)]
    op, first, pages = zip(*rows, strict=True)
    table = pa.table({"op": op, "offset": [PAGE * one for one in first], "bytes": [PAGE * one for one in pages]})
    lives = lives_of(table)
    assert lives.row.tolist() == [0, 0, 1, 1, 3, 4]
    assert lives.page.tolist() == [0, 1, 1, 2, 0, 2]
    # Page 0 is trimmed after four page writes and written again, page 1 is replaced after one and trimmed; page 2 is
    # replaced, and trimmed in the end; page 0 is alive at the end, which is after six.
    assert lives.rewritten.tolist() == [True, True, False, True, False, False]
    assert lives.died.tolist() == [True, True, True, True, False, True]
    assert lives.life.tolist() == [4, 1, 2, 2, 2, 1]


def test_settings_size_the_drive(tmp_path: Path) -> None:
    trace = churn(tmp_path)

    def blocks(*settings: tuple[str, str], handles: int = 8) -> tuple[int, int]:
        geometry = place(trace, handles=handles, overrides=list(settings)).to_dict()["config"]["drive"]["geometry"]
        return geometry["blocks_per_plane"], geometry["channels"]

    # 2,000 pages fill 27 of 32 pages in 75 blocks; 8 handles want more. On blocks of 8 pages it is the pages.
    assert blocks() == (96, 1)
    assert blocks(("drive.geometry.pages_per_block", "8")) == (335, 1)
    assert blocks(("drive.geometry.pages_per_block", "8"), ("drive.geometry.channels", "2")) == (168, 2)
    # As many handles as there may be: each has its open block beside what collection keeps free.
    assert blocks(handles=1024)[0] > 1024 / 0.15


def test_parameters_of_the_separator_that_makes_the_table_are_its_own(tmp_path: Path) -> None:
    trace = churn(tmp_path)

    def grouped(*settings: tuple[str, str]) -> int:
        contexts = place(trace, overrides=list(settings)).to_dict()["keys"]
        return sum(one["handle"] > 0 for one in contexts)

    # With a threshold that nobody reaches there is no update group.
    assert grouped(("ftl.separate.dominates_from", "1")) > grouped(("ftl.separate.dominates_from", "1000000")) == 0
    with pytest.raises(InputError, match="window_updates"):
        place(trace, policy="pds", overrides=[("ftl.separate.window_updates", "100")])
    for key, value in [("policy", '"hash"'), ("groups", "3")]:
        with pytest.raises(InputError, match=f"^ftl.separate.{key}: .* expected --policy and --handles"):
            place(trace, overrides=[(f"ftl.separate.{key}", value)])


@pytest.mark.parametrize("policy", ["pds", pytest.param("ids", marks=pytest.mark.long)])
def test_a_recorded_trace_is_placed_the_same_every_time(policy: str) -> None:
    first, again = (place(library.path("sqlite-updates"), policy=policy).to_dict() for _ in range(2))
    assert first == again
    assert any(one["handle"] for one in first["keys"])


def test_what_cannot_be_placed_is_refused(tmp_path: Path) -> None:
    trace = churn(tmp_path)
    with pytest.raises(InputError, match="--policy 'lru': unknown policy; expected one of 'pds', 'ids'"):
        place(trace, policy="lru")
    with pytest.raises(InputError, match="--handles 1: out of range; expected 2 to 1024"):
        place(trace, handles=1)
    plain = tmp_path / "plain.parquet"
    pq.write_table(pq.read_table(trace).drop_columns(["context"]), plain)
    with pytest.raises(InputError, match="no column 'context'; expected a trace that 'floatgate trace record' wrote"):
        place(plain)
    text = tmp_path / "text.parquet"
    text.write_text("no parquet")
    with pytest.raises(InputError, match="expected a trace that 'floatgate trace record' wrote"):
        place(text)
    with pytest.raises(InputError, match=r"^gone\.parquet: no such file; expected a trace"):
        place("gone.parquet")
    with pytest.raises(InputError, match=f"^{re.escape(str(tmp_path))}: is not a file; expected a trace"):
        place(tmp_path)
    nobody = write(tmp_path / "nobody.parquet", [("write", 0, PAGE, 0)])
    with pytest.raises(InputError, match="no write has a context; expected a trace"):
        place(nobody)
    for value in ("2", "'few'"):
        with pytest.raises(InputError, match="spare_factor"):
            place(trace, overrides=[("ftl.spare_factor", value)])
    # What a small drive has no room for is said of the user's trace.
    with pytest.raises(InputError, match=f"^{re.escape(str(trace))}: the trace addresses"):
        place(trace, overrides=[("drive.capacity", '"4 MiB"'), ("ftl.spare_factor", "0.5")])


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@sum", "\tx", "\rx", "\nx"])
def test_no_cell_of_the_table_is_a_formula(name: str) -> None:
    shown = "'" + name.encode("unicode_escape").decode()
    context = {"key": 7, "name": name, "frames": [name], "handle": 1, "page_writes": 2, "updates": 1}
    groups = [{"handle": 1, "keys": [7], "page_writes": 2, "mean_lifespan_writes": 1.0, "hint": "short"}]
    placement = Placement(
        trace="t\x1b[31m\n",
        by="context",
        policy="pds",
        handles=2,
        isolation="persistent",
        reclaim_unit_bytes=131072,
        collection_units=0,
        span_s=0.0,
        keys=[context, {**context, "name": "plain", "frames": ["a"]}],
        groups=groups,
        results={rule: {"waf": 1.0, "config": {}} for rule in ("none", "pds", "host-given")},
        isolations={},
        used={},
    )
    rows = list(csv.DictReader(io.StringIO(placement.table(), newline="")))
    assert [row["name"] for row in rows] == [shown, "plain"]
    assert [row["frames"] for row in rows] == [shown, "a"]
    assert "t\\x1b[31m , the source" in placement.text()
