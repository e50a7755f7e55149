"""``floatgate trace info``: text, JSON and pictures of whole traces; the figures are held to brute force in Rust."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import page_scripts
from conftest import Cli

SECTIONS = (
    "sizes", "alignment", "update_interval", "reuse_distance", "frequency", "sequentiality", "demand", "content",
    "contexts", "streams",
)  # fmt: skip
START = 128_166_372_003_061_629


def msr(path: Path, rows: Sequence[tuple[float, str, int, int]]) -> Path:
    """An MSR trace: seconds, operation, first byte, bytes."""
    text = "".join(f"{START + round(s * 1e7)},usr,0,{op},{offset},{size},100\n" for s, op, offset, size in rows)
    path.write_text(text)
    return path


def facts_of(cli: Cli, path: Path, *options: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(cli("trace", "info", path, "--json", *options).done())
    return made


def test_a_log_that_goes_around(cli: Cli, tmp_path: Path) -> None:
    """1 MiB written around ten times, in requests of 64 KiB, one a second: every figure is known."""
    rows = [(i, "Write", i % 16 * 65_536, 65_536) for i in range(160)]
    facts = facts_of(cli, msr(tmp_path / "log.csv", rows))
    update = facts["update_interval"]
    assert (update["page_writes"], update["updates"], update["first_write_share"]) == (2560, 2304, 0.1)
    assert [update["bytes"][key] for key in ("p10", "p50", "p99")] == [1 << 20] * 3
    assert update["time_s"]["p50"] == pytest.approx(16)
    reuse = facts["reuse_distance"]
    assert reuse["all"]["bytes"]["p50"] == (1 << 20) - 4096
    assert (reuse["lru"]["cache_bytes"], reuse["lru"]["hit_ratio"]) == ([1 << 20], [0.9])
    assert reuse["reads"]["first_share"] is None
    written = facts["frequency"]["written"]
    assert (written["pages"], written["max"], written["histogram"]["pages"]) == (256, 10, [256])
    assert written["busiest"]["access_share"] == pytest.approx(written["busiest"]["page_share"])
    assert facts["frequency"]["read"] is None
    sequential = facts["sequentiality"]["write"]
    assert (sequential["sequential_share"], sequential["runs"]) == (150 / 160, 10)
    assert (sequential["run_mean_bytes"], sequential["run_bytes"]["p50"]) == (1 << 20, 1 << 20)
    assert facts["sizes"]["write"]["histogram"] == {"exact": True, "from": [65536], "to": [65536], "count": [160]}
    assert facts["sizes"]["read"] is None
    assert facts["demand"]["requests"] == [160]
    assert (facts["demand"]["interarrival_mean_s"], facts["demand"]["interarrival_cv"]) == (1.0, 0.0)
    assert facts["content"] is facts["contexts"] is facts["streams"] is None


def test_lists_of_figures_stay_on_their_line(cli: Cli, tmp_path: Path) -> None:
    trace = msr(tmp_path / "t.csv", [(0, "Write", 0, 4096), (10, "Read", 0, 512), (1500, "Write", 0, 4096)])
    text = cli("trace", "info", trace, "--json").done()
    assert '\n    "requests": [2, 0, 1],\n' in text
    # The tables of a list begin beside its bracket.
    assert all(line.strip() != "[" and not line.strip().isdigit() for line in text.splitlines())


def test_windows_of_demand(cli: Cli, tmp_path: Path) -> None:
    trace = msr(tmp_path / "t.csv", [(0, "Write", 0, 4096), (10, "Read", 0, 512), (1500, "Write", 0, 4096)])
    demand = facts_of(cli, trace)["demand"]
    assert (demand["window_s"], demand["requests"], demand["write_bytes"]) == (600.0, [2, 0, 1], [4096, 0, 4096])
    assert demand["write_peak_to_mean"] == pytest.approx(1.25)
    assert facts_of(cli, trace, "--window", "1000")["demand"]["requests"] == [2, 1]
    for width in ("0", "-1", "nan", "inf"):
        assert (
            "is out of range; expected seconds, at least 0.000001"
            in cli("trace", "info", trace, "--window", width).refused()
        )


def test_counts_only(cli: Cli, trace: Path) -> None:
    everything, counts = facts_of(cli, trace), facts_of(cli, trace, "--counts-only")
    assert [counts[name] for name in SECTIONS] == [None] * len(SECTIONS)
    assert {key: everything[key] for key in everything if key not in SECTIONS} == {
        key: counts[key] for key in counts if key not in SECTIONS
    }
    text = cli("trace", "info", trace, "--counts-only").done()
    assert "footprint" in text
    assert "updates" not in text


def test_a_trace_without_times(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "t.iolog"
    path.write_text("fio version 2 iolog\nf add\nf open\nf write 0 4096\nf write 0 4096\nf close\n")
    facts = facts_of(cli, path)
    assert (facts["demand"], facts["update_interval"]["time_s"], facts["duration_s"]) == (None, None, None)
    assert facts["update_interval"]["bytes"]["p50"] == 4096
    assert "after 4.10 kB (p10-p90: 4.10 kB - 4.10 kB) of page writes\n" in cli("trace", "info", path).done()


@pytest.mark.parametrize("op", ["read", "trim"])
def test_traces_of_one_operation(cli: Cli, tmp_path: Path, op: str) -> None:
    path = tmp_path / "t.iolog"
    path.write_text("fio version 2 iolog\nf add\nf open\n" + f"f {op} 8192 8192\n" * 3 + "f close\n")
    facts = facts_of(cli, path)
    assert facts["update_interval"]["first_write_share"] is None
    assert facts["frequency"]["written"] is None
    assert facts["sequentiality"]["write"] is None
    if op == "trim":
        assert facts["reuse_distance"]["lru"]["hit_ratio"] == [None]
        assert facts["sizes"]["trim"]["p50"] == 8192
    else:
        assert facts["reuse_distance"]["lru"]["read_hit_ratio"] == [2 / 3]
    assert "updates" not in cli("trace", "info", path).done()


def test_one_request(cli: Cli, tmp_path: Path) -> None:
    trace = msr(tmp_path / "t.csv", [(0, "Write", 0, 512)])
    facts = facts_of(cli, trace)
    assert (facts["demand"]["requests"], facts["demand"]["interarrival_mean_s"]) == ([1], None)
    assert "requests   1 " in cli("trace", "info", trace).done()


def test_devices_do_not_share_pages(cli: Cli, trace: Path) -> None:
    facts = facts_of(cli, trace)
    assert facts["frequency"]["written"]["pages"] == facts["pages_written_distinct"] == 1200


def test_content_and_streams(cli: Cli, tmp_path: Path) -> None:
    md5 = ["d6c75ba46e82326fefa545b57a12e221", "00000000000000000000000000000001"]
    path = tmp_path / "t.fiu"
    path.write_text("".join(f"{i} 4 p {8 * i} 8 W 6 0 {md5[i == 3]}\n" for i in range(8)))
    content = facts_of(cli, path, "--format", "fiu")["content"]
    assert (content["known_page_writes"], content["distinct"], content["duplicate_share"]) == (8, 2, 0.75)
    assert content["compressed_share"] is None
    assert "75 % of 8 known page writes are duplicates" in cli("trace", "info", path, "--format", "fiu").done()
    path.write_text("0 1 5 4096 3\n1 1 6 4096 9\n2 1 7 4096 9\n")
    streams = facts_of(cli, path, "--format", "sepbit")["streams"]
    assert (streams["count"], [entry["stream"] for entry in streams["list"]]) == (2, [9, 3])
    assert "2; stream 9 has 67 % of the page writes" in cli("trace", "info", path, "--format", "sepbit").done()


def test_contexts_name_themselves(cli: Cli, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [(0, 0, 7), (1, 4096, 7), (2, 0, 9), (3, 4096, 2**64 - 1), (4, 4096, 9)]
    names = {"7": {"name": "flush < main", "frames": []}, "9": {"name": "log < main", "frames": []}}
    table = pa.table(
        {
            "time_ns": pa.array([row[0] for row in rows], pa.int64()),
            "device": ["d"] * 5,
            "op": ["write"] * 5,
            "offset": pa.array([row[1] for row in rows], pa.uint64()),
            "bytes": pa.array([4096] * 5, pa.uint64()),
            "context": pa.array([row[2] for row in rows], pa.uint64()),
        }
    )
    metadata = json.dumps({"schema": "floatgate.trace/1", "contexts": names})
    pq.write_table(table.replace_schema_metadata({"floatgate": metadata}), tmp_path / "t.parquet")
    contexts = facts_of(cli, tmp_path / "t.parquet")["contexts"]
    assert (contexts["count"], contexts["updates"], contexts["top5_update_share"]) == (3, 3, 1.0)
    assert [entry["id"] for entry in contexts["list"]] == ["7", "9", str(2**64 - 1)]
    assert [entry["name"] for entry in contexts["list"]] == ["flush < main", "log < main", ""]
    # Page 0 once and page 1 once replace data of context 7, then page 1 that of the nameless one.
    assert [entry["updates"] for entry in contexts["list"]] == [2, 0, 1]
    assert contexts["list"][0]["update_interval_median_bytes"] == 2 * 4096
    text = cli("trace", "info", tmp_path / "t.parquet").done()
    assert "40 %     67 %          8.19 kB  flush < main" in text
    assert "context ffffffffffffffff" in text


def parquet(path: Path) -> Path:
    """Writes of three contexts with content: what every picture needs."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = 600
    table = pa.table(
        {
            "time_ns": pa.array([i * 1_000_000_000 for i in range(n)], pa.int64()),
            "device": ["d"] * n,
            "op": ["read" if i % 5 == 0 else "write" for i in range(n)],
            "offset": pa.array([i * i % 97 * 4096 for i in range(n)], pa.uint64()),
            "bytes": pa.array([4096 * (1 + i % 3) for i in range(n)], pa.uint64()),
            "context": pa.array([None if i % 5 == 0 else 1 + i % 3 for i in range(n)], pa.uint64()),
            "fingerprints": pa.array([[i % 50] * (1 + i % 3) for i in range(n)], pa.list_(pa.uint64())),
            "compressed_bytes": pa.array([[1000] * (1 + i % 3) for i in range(n)], pa.list_(pa.uint16())),
        }
    )
    names = {str(i): {"name": f"<b>f{i}</b> & co", "frames": []} for i in range(1, 4)}
    metadata = json.dumps({"schema": "floatgate.trace/1", "contexts": names})
    pq.write_table(table.replace_schema_metadata({"floatgate": metadata}), path)
    return path


ALL_PICTURES = {
    "content", "contexts", "demand", "frequency", "lorenz", "lru", "runs", "sizes", "update-interval",
    "update-interval-time",
}  # fmt: skip


def test_report_and_pictures(cli: Cli, tmp_path: Path) -> None:
    trace = parquet(tmp_path / "t.parquet")
    output = cli("trace", "info", trace, "--report", "r.html", "--pictures", "p").done()
    assert "report     r.html" in output
    assert "pictures   p" in output
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg role=") == 2 * len(ALL_PICTURES)
    assert "&lt;b&gt;f1&lt;/b&gt; &amp; co" in page
    assert "<b>f1</b>" not in page
    assert len(page_scripts.specifications(page)) == len(ALL_PICTURES)
    for fetched in ("src=", "@import", '<link rel="stylesheet'):
        assert fetched not in page_scripts.without_scripts(page)
    files = {path.name for path in (tmp_path / "p").iterdir()}
    kinds = ("svg", "png", "pdf", "csv")
    assert files == {f"{name}.{kind}" for name in ALL_PICTURES for kind in kinds} | {"captions.md"}
    assert (tmp_path / "p/lru.png").read_bytes().startswith(b"\x89PNG")
    assert "Hit ratio" in (tmp_path / "p/lru.svg").read_text()


def test_reports_do_not_overwrite(cli: Cli, trace: Path, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_text("mine")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/note").write_text("mine")
    assert "r.html: exists already" in cli("trace", "info", trace, "--report", "r.html").refused()
    assert "folder is not empty" in cli("trace", "info", trace, "--pictures", "p").refused()
    assert "is a directory" in cli("trace", "info", trace, "--report", "p").refused()
    assert "leaves nothing to draw" in cli("trace", "info", trace, "--report", "s.html", "--counts-only").refused()
    assert (tmp_path / "r.html").read_text() == "mine"
    cli("trace", "info", trace, "--report", "r.html", "--pictures", "p", "--force", "-q").done()
    assert "<svg" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "p/note").read_text() == "mine"
    bad = tmp_path / "bad.csv"
    bad.write_text("1,2\n")
    cli("trace", "info", bad, "--format", "msr", "--report", "b.html", "--pictures", "b").refused()
    assert not (tmp_path / "b.html").exists()
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("rows", ["f write 0 512\n", "f trim 0 4096\n", "f read 512 512\n" * 2])
def test_reports_of_next_to_nothing(cli: Cli, tmp_path: Path, rows: str) -> None:
    path = tmp_path / "t.iolog"
    path.write_text(f"fio version 2 iolog\nf add\nf open\n{rows}f close\n")
    cli("trace", "info", path, "--report", "r.html").done()
    page = (tmp_path / "r.html").read_text()
    assert "Sizes of requests" in page
    assert "Demand over time" not in page


def test_the_text_has_the_range_the_length_and_bursts_in_windows_that_the_trace_fills(cli: Cli, tmp_path: Path) -> None:
    """900 s of 8 KiB a second, and 100 times as much in one second: one window of 10 min hides the burst."""
    rows = [(float(i), "Write", (i % 100) << 20, 8192) for i in range(900)]
    rows += [(449.0 + i * 0.01, "Write", 8 << 30, 8192) for i in range(100)]
    text = cli("trace", "info", msr(tmp_path / "t.csv", sorted(rows))).done()
    lines = dict(line.split(None, 1) for line in text.splitlines())
    assert lines["footprint"].startswith("808 KiB of the 8 GiB addressed: ")
    assert lines["length"] == (
        "899 s of trace stand for years in a forecast: nights, weekends and busy days are not in them; record a week"
    )
    # The mean is 1000 writes in 899 s; a window of 2.1 s has 102 of them.
    assert lines["demand"].startswith("writes at most 398 kB/s over 2.1 s (44 times the mean); a request every")
    long = [(i * 600.0, "Write", 0, 8192) for i in range(200)]
    lines = dict(
        line.split(None, 1) for line in cli("trace", "info", msr(tmp_path / "l.csv", long)).done().splitlines()
    )
    assert lines["length"].endswith(
        "of trace stand for years in a forecast: not all weekdays are in them; record a week"
    )
    week = [(i * 600.0, "Write", 0, 8192) for i in range(7 * 144)]
    text = cli("trace", "info", msr(tmp_path / "w.csv", week)).done()
    assert "7.0 days of trace are long enough for a forecast of years: nights and a weekend are in them" in text
