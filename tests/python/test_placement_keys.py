"""Keys of ``floatgate placement``: files, path patterns, writers; their lives and groups; logs."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from floatgate.base.errors import InputError
from floatgate.placement import paths, place
from floatgate.placement.extents import stand_ins
from floatgate.placement.grouping import by_life, clusters
from floatgate.placement.keys import NOBODY, keys_of
from floatgate.placement.lives import Lives, lives_of, of_keys
from floatgate.placement.logs import logs
from floatgate.trace.recorder.layout import EXTENT_PAGES

PAGE = 4096


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        # An extension counts alone.
        ("/build/src/main.o", "*.o"),
        ("/db/000123.sst", "*.sst"),
        ("/home/shop.db-journal", "*.db-journal"),
        ("/tmp/ccAb12Xy.s", "*.s"),
        ("/x/.bashrc", "*.bashrc"),
        # What begins with a digit, or has three digits in a row, is none.
        ("/lib/libm.so.6", "lib/libm.so.*"),
        ("/cores/core.12345", "cores/core.*"),
        ("/x/out.tmp12345", "x/out.tmp*"),
        # Other names have their folder, and folders above it up to one with a letter.
        ("/data/base/16384/2619", "base/16384/*"),
        ("/data/base/16384/2619_fsm", "base/16384/*_fsm"),
        ("/data/pg_wal/000000010000000000000001", "pg_wal/*"),
        ("/db/MANIFEST-000004", "db/MANIFEST-*"),
        ("/1/22/333", "1/22/*"),
        ("/README", "README"),
        ("README", "README"),
        # Hexadecimal runs of eight and more, with a digit.
        ("/git/objects/ab/0123456789abcdef", "ab/*"),
        ("/git/deadbeef", "git/deadbeef"),
        ("/git/deadbee1", "git/*"),
        ("/git/deadbe1", "git/deadbe*"),
        # Temporary parts, in folders too.
        ("/tmp/tmp.Xy12Ab/out", "tmp.*/out"),
        ("/tmp/tmpab_cdefg/data", "tmp*/data"),
        ("/data/xlogtemp.4711", "data/xlogtemp.*"),
        ("/a/template", "a/template"),
        ("/a/tmpfile", "a/tmpfile"),
        # Special characters stand for themselves.
        ("/x/a[1]*b?", "x/a[[]*][*]b[?]"),
        ("/x/a\nb", "x/a?b"),
    ],
)
def test_a_path_is_folded(path: str, pattern: str) -> None:
    assert paths.fold(path) == pattern
    assert paths.Matcher([pattern]).first(path) == 0


def test_of_several_patterns_the_first_that_matches_counts() -> None:
    patterns = paths.in_order(["a/*", "pg_wal/*", "*.o", "a/b*", "base/1/*", "a/*", "/whole/a/b1"])
    assert patterns == ["*.o", "/whole/a/b1", "base/1/*", "pg_wal/*", "a/b*", "a/*"]
    matcher = paths.Matcher(patterns)
    names = ["/x/pg_wal/x.o", "/whole/a/b1", "/x/a/b1", "/x/a/c", "/a/c", "/base/1/c", "/b", "/a/c/d"]
    assert [matcher.first(name) for name in names] == [0, 1, 4, 5, 5, 2, None, None]


def record(path: Path, rows: Sequence[dict[str, Any]], **metadata: Any) -> Path:
    """A recording of rows with op, page, pages, and any of context, file, process, thread, fd."""
    columns: dict[str, Any] = {
        "time_ns": pa.array(np.arange(len(rows)) * 1_000_000, pa.int64()),
        "device": pa.array(["recorded"] * len(rows)),
        "op": pa.array([row.get("op", "write") for row in rows]),
        "offset": pa.array([row["page"] * PAGE for row in rows], pa.uint64()),
        "bytes": pa.array([row.get("pages", 1) * PAGE for row in rows], pa.uint64()),
    }
    kinds = {
        "context": pa.uint64(),
        "file": pa.uint32(),
        "process": pa.uint32(),
        "thread": pa.uint32(),
        "fd": pa.int32(),
    }
    for column, kind in kinds.items():
        if any(column in row for row in rows):
            columns[column] = pa.array([row.get(column) for row in rows], kind)
    table = pa.table(columns).replace_schema_metadata({b"floatgate": json.dumps(metadata)})
    pq.write_table(table, path)
    return path


def named(rows: Any, keys: Any) -> list[str | None]:
    return [None if key == NOBODY else keys.names[key] for key in keys.of_row[rows]]


def test_files_are_called_by_their_paths_and_those_of_one_path_are_one(tmp_path: Path) -> None:
    rows = [{"page": page, "file": file} for page, file in [(0, 7), (300, 2), (1, 7), (600, 9)]]
    source = record(tmp_path / "a.parquet", rows, files={"7": "/d/a", "2": "/d/b.o", "9": "/d/a"})
    keys = keys_of(source, "file")
    assert keys.names == ["/d/a", "/d/b.o"]
    assert keys.of_row.tolist() == [0, 1, 0, 0]
    assert not keys.stand_ins
    patterns = keys_of(source, "path-pattern")
    assert patterns.names == ["*.o", "d/a"]
    assert patterns.of_row.tolist() == [1, 0, 1, 1]
    # Those of another recording's table decide, and what none of them matches has no key.
    assert keys_of(source, "path-pattern", ["*.c", "d/*"]).of_row.tolist() == [1, 1, 1, 1]
    assert keys_of(source, "path-pattern", ["*.o"]).of_row.tolist() == [NOBODY, 0, NOBODY, NOBODY]


def test_writers_are_counted_in_the_order_in_which_they_first_write(tmp_path: Path) -> None:
    rows = [
        {"page": 0, "process": 90, "thread": 90, "fd": 3},
        {"page": 1, "process": 20, "thread": 21, "fd": 3},
        {"page": 2, "process": 90, "thread": 91, "fd": 4},
        {"page": 3},
        {"page": 4, "process": 50, "thread": 50, "fd": 3},
        {"page": 5, "process": 20, "thread": 21, "fd": 3},
    ]
    processes = {"90": {"name": "postgres"}, "20": {"name": "postgres"}, "50": {"name": None}}
    source = record(tmp_path / "a.parquet", rows, processes=processes)
    everyone = slice(None)
    assert named(everyone, keys_of(source, "process")) == [
        "postgres #1",
        "postgres #2",
        "postgres #1",
        None,
        "process #1",
        "postgres #2",
    ]
    assert named(everyone, keys_of(source, "thread")) == [
        "postgres #1 thread #1",
        "postgres #2 thread #1",
        "postgres #1 thread #2",
        None,
        "process #1 thread #1",
        "postgres #2 thread #1",
    ]
    assert named(everyone, keys_of(source, "fd")) == [
        "postgres #1 fd 3",
        "postgres #2 fd 3",
        "postgres #1 fd 4",
        None,
        "process #1 fd 3",
        "postgres #2 fd 3",
    ]


def test_pieces_of_extents_stand_for_files_without_names() -> None:
    e = EXTENT_PAGES
    rows = [
        ("write", 0, 4),  # a file in extent 0
        ("write", e - 2, 4),  # of the same file, into extent 1
        ("write", 2 * e, 1),  # another one
        ("write", e + 5, 1),  # the first one
        ("trim", 2 * e, 8),  # the other one is gone
        ("write", 2 * e + 3, 1),  # so this is a third
        ("trim", 0, 4),  # part of the first
        ("write", 1, 1),  # which goes on
        ("trim", 9 * e, 1),  # of nothing
    ]
    op, page, pages = zip(*rows, strict=True)
    table = pa.table({"op": op, "offset": [PAGE * one for one in page], "bytes": [PAGE * one for one in pages]})
    place, extents = stand_ins(table)
    assert place.tolist() == [0, 0, 1, 0, 1, 2, 0, 0, -1]
    assert extents == [0, 2, 2]


def test_lives_that_are_cut_off_by_the_end_count_as_time_without_a_death() -> None:
    # Key 0 writes page 0 at 0, 1 and 3: lives of 1, 2 and, to the end at 5, 2; two die. Key 1 writes pages that stay.
    table = pa.table({"op": ["write"] * 5, "offset": [0, 0, PAGE, 0, 2 * PAGE], "bytes": [PAGE] * 5})
    lives = of_keys(lives_of(table), np.array([0, 0, 1, 0, NOBODY]), 3)
    assert lives.page_writes.tolist() == [3, 1, 0]
    assert lives.updates.tolist() == lives.deaths.tolist() == [2, 0, 0]
    assert lives.mean_life.tolist() == [2.5, np.inf, np.inf]


def test_handles_ascend_with_lives_and_what_does_not_die_has_handle_0() -> None:
    mean = np.array([100.0, 1.0, np.inf, 110.0, 1e6, 5.0])
    writes = np.array([10, 10, 10, 10, 10, 0])
    assert by_life(mean, writes, 4).tolist() == [2, 1, 0, 2, 3, 0]
    assert by_life(mean, writes, 2).tolist() == [1, 1, 0, 1, 1, 0]
    assert by_life(mean, writes, 1024).tolist() == [2, 1, 0, 3, 4, 0]
    assert by_life(np.array([np.inf]), np.array([3]), 8).tolist() == [0]


def test_groups_are_the_best_of_all_ways_to_cut() -> None:
    def squares(values: Any, weights: Any) -> float:
        return float((weights * (values - np.average(values, weights=weights)) ** 2).sum())

    for seed in range(300):
        rng = np.random.default_rng(seed)
        values = np.sort(
            rng.integers(0, 12, size=rng.integers(1, 9)).astype(float) * rng.choice([1e-3, 1.0, 1e3]) + 1e4
        )
        weights = rng.integers(1, 50, size=len(values))
        most = int(rng.integers(1, 5))
        group = clusters(values, weights, most)
        assert group[0] == 0
        assert set(np.diff(group)) <= {0, 1}
        assert group[-1] < most
        assert all(len(set(group[values == one])) == 1 for one in values), f"seed {seed}"
        cost = sum(squares(values[group == one], weights[group == one]) for one in set(group))
        least = min(
            sum(squares(part, by) for part, by in zip(np.split(values, cuts), np.split(weights, cuts), strict=True))
            for count in range(min(most, len(values)))
            for cuts in map(list, itertools.combinations(range(1, len(values)), count))
        )
        assert cost == pytest.approx(least, rel=1e-6, abs=1e-6), f"seed {seed}: {values} {weights} {most}"


def test_many_values_are_thinned_to_neighbours() -> None:
    rng = np.random.default_rng(1)
    values = np.sort(np.concatenate([rng.normal(0, 0.1, 3000), rng.normal(5, 0.1, 3000)]))
    assert clusters(values, np.ones(6000), 2).tolist() == [0] * 3000 + [1] * 3000


def logs_of(rows: Sequence[tuple[str, int, int]]) -> bool:
    """Whether the file with these requests is a log; pages from 1000 on are of another one."""
    op, page, pages = zip(*rows, strict=True)
    table = pa.table({"op": op, "offset": [PAGE * one for one in page], "bytes": [PAGE * one for one in pages]})
    lives: Lives = lives_of(table)
    return bool(logs(lives, (np.array(page) >= 1000).astype(np.int64), 2, lives.page)[0])


def test_a_log_is_appended_to_and_dies_in_order() -> None:
    appends = [("write", page, 1) for page in range(20)]
    # Nothing dies: it may as well be data that are written once.
    assert not logs_of(appends)
    # It is used again from its beginning, deleted as a whole, or cut at its end that has served.
    assert logs_of(appends + appends)
    assert logs_of([*appends, ("trim", 0, 20)])
    assert logs_of([*appends, ("trim", 0, 10), ("trim", 10, 10)])
    # Its last block of two pages is written again until it is full, as PostgreSQL does.
    tail = [("write", 2 * block, 2) for block in range(20) for _ in range(3)]
    assert not logs_of(tail)
    assert logs_of(tail + tail)
    # Two steps are needed.
    assert not logs_of([("write", 0, 8), ("write", 0, 8)])
    assert logs_of([("write", 0, 8), ("write", 8, 8), ("trim", 0, 16), ("write", 0, 8)])


def test_data_are_no_log() -> None:
    rng = np.random.default_rng(3)
    assert not logs_of([("write", int(page), 1) for page in rng.integers(0, 50, 500)])
    assert not logs_of([("write", page, 1) for page in reversed(range(20))] * 2)
    # Written in order, but what is written last dies first.
    fill = [("write", page, 1) for page in range(20)]
    others = [("write", 1000, 1)]
    died = [[("trim", page, 1), *others] for page in range(20)]
    assert logs_of([*fill, *itertools.chain(*died)])
    assert not logs_of([*fill, *itertools.chain(*reversed(died))])


def hot_and_cold(path: Path, seed: int, *, first: int = 0) -> Path:
    """Two files that are updated at rates of their own by two processes, and one that is written once."""
    rng = np.random.default_rng(seed)
    hot, cold = (EXTENT_PAGES * one for one in (1, 2))
    rows: list[dict[str, Any]] = [
        {"page": page, "file": 5, "process": 30, "thread": 30, "fd": 3}
        for page in range(2 * EXTENT_PAGES, 9 * EXTENT_PAGES)
    ]
    names = {"5": f"/run{seed}/base/1/2", "6": f"/run{seed}/cache.hot", "7": "/once/load"}
    rows += [{"page": 10 * EXTENT_PAGES + page, "file": 7, "process": 40, "thread": 40, "fd": 9} for page in range(200)]
    for _ in range(16_000):
        if rng.random() < 0.8:
            rows.append({"page": int(hot + rng.integers(0, 200)), "file": 6, "process": 31, "thread": 31, "fd": 4})
        else:
            page = int(cold + rng.integers(0, 7 * EXTENT_PAGES))
            rows.append({"page": page, "file": 5, "process": 30, "thread": 30, "fd": 3})
    processes = {str(one + first): {"name": "db"} for one in (30, 31, 40)}
    for row in rows:
        row["process"] += first
        row["thread"] += first
    return record(path, rows, files=names, processes=processes)


@pytest.mark.parametrize(
    ("by", "hot", "cold", "once"),
    [
        ("file", "/run1/cache.hot", "/run1/base/1/2", "/once/load"),
        ("path-pattern", "*.hot", "base/1/*", "once/load"),
        ("process", "db #3", "db #1", "db #2"),
        ("thread", "db #3 thread #1", "db #1 thread #1", "db #2 thread #1"),
        ("fd", "db #3 fd 4", "db #1 fd 3", "db #2 fd 9"),
    ],
)
def test_every_kind_of_key_separates(tmp_path: Path, by: str, hot: str, cold: str, once: str) -> None:
    trace = hot_and_cold(tmp_path / "a.parquet", 1)
    other = hot_and_cold(tmp_path / "b.parquet", 1 if by == "file" else 2, first=1000)
    answer = place(trace, by=by, handles=4, apply=other)
    document = answer.to_dict()
    assert document["schema"] == "floatgate.placement/2"
    assert (document["by"], document["policy"]) == (by, "lifetime")
    assert {one["name"]: one["handle"] for one in document["keys"]} == {hot: 1, cold: 2, once: 0}
    assert {one["name"]: one["mean_life_writes"] is None for one in document["keys"]} == {
        hot: False,
        cold: False,
        once: True,
    }
    assert document["waf"]["host-given"] < 0.9 * document["waf"]["none"]
    rules = {one["rule"]: one["handles"] for one in document["baselines"]}
    assert rules["host-given"] == 3
    assert set(rules) == {"none", "log-data", "sepbit", "ora", "host-given", *([] if by == "file" else ["file"])}
    assert all(one["refused"] is None for one in document["baselines"])
    # The same keys in another recording, of whatever numbers.
    applied = document["applied"]
    assert (applied["keys"], applied["matched_keys"]) == (3, 3)
    assert applied["matched_page_writes"] == applied["page_writes"] == 17_992
    assert applied["placed_page_writes"] == 17_792
    assert applied["waf"]["host-given"] < 0.9 * applied["waf"]["none"]
    header, *lines = answer.table().splitlines()
    assert header == "handle,hint,page_writes,updates,name"
    assert [line.split(",")[0] for line in lines] == ["1", "2"]


def test_lifetimes_group_contexts_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows: list[dict[str, Any]] = [{"page": page, "context": 9} for page in range(2000)]
    for _ in range(20_000):
        hot = rng.random() < 0.9
        page = int(rng.integers(0, 200) if hot else 200 + rng.integers(0, 1800))
        rows.append({"page": page, "context": 5 if hot else 6})
    trace = record(tmp_path / "a.parquet", rows, contexts={})
    answer = place(trace, policy="lifetime", handles=4)
    handle = {one["key"]: one["handle"] for one in answer.keys}
    assert handle[5] == 1
    assert handle[6] > 1
    assert "lifetime" not in answer.to_dict()["waf"]
    assert answer.to_dict()["waf"]["host-given"] < answer.to_dict()["waf"]["none"]


def test_a_simpler_rule_that_does_as_well_comes_first(tmp_path: Path) -> None:
    # Nothing is copied whatever is done: no separation at all will do.
    rows = [{"page": page, "context": 1 + page % 2, "file": 0} for _ in range(3) for page in range(500)]
    answer = place(record(tmp_path / "a.parquet", rows, files={"0": "/a"}), policy="lifetime")
    simpler = answer.to_dict()["simpler"]
    assert (simpler["rule"], simpler["waf"], simpler["table_waf"]) == ("none", 1.0, 1.0)
    assert answer.text().splitlines()[0].startswith("best       there is nothing to gain: ")
    # Two files with lives of their own: by file is as good as by process, no separation is not.
    trace = hot_and_cold(tmp_path / "b.parquet", 1)
    answer = place(trace, by="process", handles=4)
    assert answer.to_dict()["simpler"]["rule"] == "file"
    assert answer.text().splitlines()[1].startswith("simpler    by file does as well as this table: WAF ")
    assert place(trace, by="file", handles=4).to_dict()["simpler"] is None


def test_isolation_and_the_size_of_reclaim_units_are_the_drives(tmp_path: Path) -> None:
    trace = hot_and_cold(tmp_path / "a.parquet", 1)
    seen = {}
    for isolation, units in [("persistent", 0), ("persistent-apart", 4), ("initial", 1)]:
        document = place(trace, by="file", handles=4, isolation=isolation, reclaim_unit_kib=64).to_dict()
        assert (document["isolation"], document["collection_units"]) == (isolation, units)
        assert document["config"]["ftl"]["separate"]["isolation"] == isolation
        assert document["config"]["drive"]["geometry"]["pages_per_block"] == 16
        assert document["reclaim_unit_bytes"] == 64 << 10
        assert set(document["waf_by_isolation"]) == {"persistent", "persistent-apart", "initial"} - {isolation}
        seen[isolation] = document["waf"]["host-given"]
        if isolation == "persistent":
            others = document["waf_by_isolation"]
    assert len(set(seen.values())) == 3
    # On one drive the comparison is the run itself.
    initial = place(trace, by="file", handles=4, isolation="initial", reclaim_unit_kib=64)
    blocks = (
        "drive.geometry.blocks_per_plane",
        str(initial.to_dict()["config"]["drive"]["geometry"]["blocks_per_plane"]),
    )
    same = place(trace, by="file", handles=4, overrides=[blocks], reclaim_unit_kib=64).to_dict()
    assert same["waf_by_isolation"]["initial"] == initial.to_dict()["waf"]["host-given"]
    assert others["initial"] is not None
    # Of a superblock each block has a part.
    settings = [("drive.geometry.channels", "4"), ("ftl.collect.scope", '"superblock"')]
    document = place(trace, by="file", handles=4, reclaim_unit_kib=256, overrides=settings).to_dict()
    assert document["config"]["drive"]["geometry"]["pages_per_block"] == 16
    assert document["reclaim_unit_bytes"] == 256 << 10


def test_a_drive_without_room_for_a_rule_leaves_it_out(tmp_path: Path) -> None:
    trace = hot_and_cold(tmp_path / "a.parquet", 1)
    # 2 handles find room on a drive of so few large blocks; SepBIT's 6 streams do not.
    settings = [("drive.geometry.blocks_per_plane", "16"), ("drive.geometry.pages_per_block", "192")]
    answer = place(trace, by="file", handles=2, overrides=[*settings, ("ftl.spare_factor", "0.28")])
    rows = {one["rule"]: one for one in answer.to_dict()["baselines"]}
    assert rows["sepbit"]["waf"] is None
    assert rows["sepbit"]["refused"].startswith(
        "ftl.separate.policy: 6 streams hold as many blocks of each pool open; 2 fit"
    )
    assert rows["host-given"]["waf"] >= 1
    assert "no room  SepBIT in the drive" in answer.text()


def test_what_keys_are_made_of_must_be_there(tmp_path: Path) -> None:
    rows = [{"page": page % 40, "context": 1} for page in range(100)]
    old = record(tmp_path / "old.parquet", rows)
    again = "expected a recording of this or a later version: record the program again with floatgate trace record$"
    here = re.escape(str(old))
    for by in ("process", "thread", "fd"):
        text = rf"^{here}: does not say which process, thread and descriptor wrote pages .no column 'process'.; {again}"
        with pytest.raises(InputError, match=text):
            place(old, by=by)
    with pytest.raises(
        InputError, match=rf"^{here}: does not say to which files pages belong .no column 'file'.; {again}"
    ):
        place(old, by="path-pattern")
    # Files have stand-ins, which no other recording has.
    document = place(old, by="file").to_dict()
    assert document["files_are_extents"]
    assert [one["name"] for one in document["keys"]] == ["file that begins in extent 0"]
    with pytest.raises(InputError, match=rf"^{here}: does not name its files; they cannot be found again in .*{again}"):
        place(old, by="file", apply=old)
    named = record(tmp_path / "named.parquet", [{"page": 1, "file": 3}], files={"3": "/a"})
    with pytest.raises(InputError, match=rf"^{here}: does not name its files; those of .* cannot be found in it; "):
        place(named, by="file", apply=old)
    nobody = record(tmp_path / "nobody.parquet", [{"page": 1, "process": None, "thread": None}])
    with pytest.raises(InputError, match="no write has a process; expected a recording of a program that writes files"):
        place(nobody, by="process")
    other = record(tmp_path / "other.parquet", [{"page": 1, "file": 3}], files={"3": "/b"})
    text = "no path pattern that writes there writes in .*; expected a recording of the same program$"
    named = record(tmp_path / "named.parquet", [{"page": 1, "file": 3}], files={"3": "/a.o"})
    with pytest.raises(InputError, match=rf"^{re.escape(str(other))}: {text}"):
        place(named, by="path-pattern", apply=other)
    with pytest.raises(InputError, match=r"^.*: no file that writes .* in the same folders, or --by path-pattern$"):
        place(named, by="file", apply=other)


def test_what_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    trace = record(tmp_path / "a.parquet", [{"page": 1, "context": 4, "file": 3}], files={"3": "/a"})
    with pytest.raises(
        InputError, match=r"^--by 'inode': unknown key; expected one of 'context', 'file', 'path-pattern', "
    ):
        place(trace, by="inode")
    with pytest.raises(
        InputError, match=r"^pds goes by contexts, not by file; expected --by context, or --policy lifetime"
    ):
        place(trace, by="file", policy="pds")
    with pytest.raises(
        InputError, match=r"^--isolation 'none': unknown isolation; expected one of 'persistent', 'persistent-apart', "
    ):
        place(trace, isolation="none")
    with pytest.raises(InputError, match=r"^--reclaim-unit-kib 0; expected a whole number of KiB greater than 0"):
        place(trace, reclaim_unit_kib=0)
    text = (
        "^--reclaim-unit-kib 6: a page of each block of a unit makes 4 KiB on this drive; expected a multiple of that"
    )
    with pytest.raises(InputError, match=text):
        place(trace, reclaim_unit_kib=6)
    with pytest.raises(InputError, match="pages_per_block says the size of a unit, too; expected one of the two"):
        place(trace, reclaim_unit_kib=64, overrides=[("drive.geometry.pages_per_block", "8")])
    with pytest.raises(
        InputError, match=r"^ftl.separate.isolation: host-given follows the table; expected --handles and"
    ):
        place(trace, overrides=[("ftl.separate.isolation", '"initial"')])
    with pytest.raises(
        InputError, match=r"^ftl.separate.dominates_from: no separator makes this table; expected it with"
    ):
        place(trace, by="file", overrides=[("ftl.separate.dominates_from", "4")])
