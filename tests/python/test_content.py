"""``floatgate content``: figures of known files, its trace, what it refuses; Rust holds the counting to brute force."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Cli
from floatgate import _core
from floatgate.lab import content
from floatgate.lab.content_summary import screen
from floatgate.trace.recorder.content import compressed_bytes, fingerprint

PAGE = 4096
SMALL = ("--capacity", "1GiB", "--set", "ftl.precondition=none")


def noise(seed: int, pages: int) -> bytes:
    return random.Random(seed).randbytes(pages * PAGE)


def facts_of(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(cli("content", "--json", *arguments).done())
    return made


def ratios(facts: dict[str, Any], codec: str, key: str) -> dict[int, float]:
    of = next(one for one in facts["codecs"] if one["codec"] == codec)
    return {row["chunk_pages"]: row[key]["written_ratio"] for row in of["chunks"]}


# The recorder's figures


def page_of(pieces: list[tuple[int, int, int]]) -> bytes:
    """Pieces of noise (seed, bytes, how often), again and again to the end of the page."""
    whole = b"".join(random.Random(seed).randbytes(size) * times for seed, size, times in pieces) or b"\0"
    return (whole * (PAGE // len(whole) + 1))[:PAGE]


@settings(max_examples=500)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 1500), st.integers(1, 9))))
def test_fingerprint_and_lz4_size_are_the_recorders(pieces: list[tuple[int, int, int]]) -> None:
    page = page_of(pieces)
    assert _core.content_page(page) == (fingerprint(page), compressed_bytes(page))


def test_real_pages_have_the_recorders_figures() -> None:
    library = Path(_core.__file__).read_bytes()
    for at in range(0, min(len(library), 2000 * PAGE), PAGE):
        page = library[at : at + PAGE].ljust(PAGE, b"\0")
        assert _core.content_page(page) == (fingerprint(page), compressed_bytes(page))


# Figures


def test_figures_of_known_files(cli: Cli, tmp_path: Path) -> None:
    """Noise in `a`, the same in `b`, zeros and a page of text in `c`."""
    data = tmp_path / "data"
    (data / "below").mkdir(parents=True)
    (data / "a").write_bytes(noise(1, 8))
    (data / "below" / "b").write_bytes(noise(1, 8))
    (data / "c").write_bytes(bytes(7 * PAGE) + b"text")
    facts = facts_of(cli, "data")
    assert facts["schema"] == "floatgate.content/1"
    assert (facts["files"], facts["pages"], facts["bytes"]) == (3, 24, 23 * PAGE + 4)
    assert (facts["unique_pages"], facts["duplicate_pages"], facts["zero_pages"]) == (10, 14, 7)
    assert facts["duplicate_share"] == 14 / 24
    assert facts["dedup_written_ratio"] == 10 / 24
    assert facts["fingerprints"] == {"bits": 64, "collisions": 0, "not_compared": 0}
    for codec in ("lz4", "zstd"):
        # In chunks of 4 noise takes 16 pages, zeros and text take a page a chunk.
        assert ratios(facts, codec, "compression") == {1: 1.0, 2: 20 / 24, 4: 18 / 24, 8: 17 / 24}
        assert ratios(facts, codec, "dedup_compression") == {1: 10 / 24, 2: 9 / 24, 4: 9 / 24, 8: 9 / 24}
    distance = facts["duplicate_distance"]
    # Each page of `b` after 7 others, each zero after the one before.
    assert (distance["page_writes"]["p10"], distance["page_writes"]["max"]) == (0, 7)
    assert (distance["page_writes"]["from"], distance["page_writes"]["count"]) == ([0, 1, 2, 4], [6, 0, 0, 8])
    assert distance["index"]["entries_for_all"] == 8
    assert distance["index"]["found"] == [14]
    assert facts["lead"]["dedup_pays"] is facts["lead"]["compression_pays"] is True
    assert facts["too_little_data"] is True


def test_output_repeats_and_the_sample_has_a_seed(tmp_path: Path) -> None:
    rng = random.Random(5)
    text = b"".join(b"line %d of a file of text\n" % rng.randrange(9**9) for _ in range(30_000))
    (tmp_path / "text").write_bytes(text)
    wanted = content.Settings(chunks=(4,), sample_share=0.3)
    first = content.measure([tmp_path], wanted)
    assert content.measure([tmp_path], wanted) == first
    other = content.measure([tmp_path], content.Settings(chunks=(4,), sample_share=0.3, seed=2))
    joint = [made["codecs"][1]["chunks"][0]["compression"]["joint"] for made in (first, other)]
    assert joint[0]["sampled_chunks"] != joint[1]["sampled_chunks"] or joint[0] != joint[1]
    assert joint[0]["chunk_ratio"] <= joint[0]["chunk_ratio_by_page"]
    without = content.measure([tmp_path], content.Settings(chunks=(4,), sample_share=0.0))
    assert without["codecs"][1]["chunks"][0]["compression"]["joint"] is None
    assert ratios(without, "zstd", "compression") == ratios(first, "zstd", "compression")


def test_forced_collisions_change_no_figure(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(noise(1, 30) + bytes(3 * PAGE) + noise(1, 5))
    exact, cut = (json.loads(_core.content_measure([str(tmp_path)], fingerprint_bits=bits)[0]) for bits in (64, 2))
    assert cut.pop("fingerprints") == {"bits": 2, "collisions": 27, "not_compared": 0}
    del exact["fingerprints"]
    assert cut == exact


def test_the_summary_leads_with_what_pays(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(noise(2, 1200))
    text = cli("content", "noise").done()
    assert "pays       deduplication does not pay, compression does not pay\n" in text
    assert "written    1.00 of the pages with both (LZ4, chunks of 4)" in text
    assert "too little" not in text
    assert "distance" not in text
    (tmp_path / "same").write_bytes(noise(2, 1200))
    text = cli("content", "noise", "same").done()
    assert "pays       deduplication pays (saves 50 % of the page writes), compression does not pay\n" in text
    assert "distance   1199 page writes between a page and its copy" in text
    assert "index      entries needed: 1200 for 90 %, 1200 for 99 %, 1200 for all of the duplicates" in text
    text = cli("content", "noise", "--chunks", "2").done()
    assert "chunks of 2" in text
    names = [f"few{number}" for number in range(5)]
    for name in names:
        (tmp_path / name).write_bytes(b"few")
    text = cli("content", *names).done()
    assert text.startswith("content    few0, few1, few2 and 2 more: 15 B in 5 files, 5 pages of 4 KiB\n")
    assert "fewer than 1000 pages" in text
    assert cli("content", "few0", "--quiet").done() == ""


# What cannot be measured


def test_bad_input_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"data")
    expected = "expected readable files with data"
    assert cli("content", "folder").refused() == f"folder: no regular file in it; {expected}"
    (tmp_path / "folder" / "empty").touch()
    assert cli("content", "folder").refused() == f"folder: all files are empty (1); {expected}"
    readable = "expected a file or a folder that can be read"
    assert cli("content", "nothing").refused() == f"nothing: No such file or directory; {readable}"
    assert cli("content", "/dev/null").refused() == f"/dev/null: is a device; {readable}"
    assert "FILE-or-DIR" in cli("content", "--json").refused()
    for text, message in (
        ("0", "--chunks: a chunk of 0 pages is out of range; expected sizes from 1 to 64 pages"),
        ("4,65", "--chunks: a chunk of 65 pages is out of range; expected sizes from 1 to 64 pages"),
        ("4,4", "--chunks: the same chunk size twice; expected each size once"),
        ("", "--chunks: '' is not a number of pages; expected sizes such as 1,2,4,8"),
        ("1,-2", "--chunks: '-2' is not a number of pages; expected sizes such as 1,2,4,8"),
    ):
        assert cli("content", "file", "--chunks", text).refused() == message
    assert "--zstd-level" in cli("content", "file", "--zstd-level", "23").refused()
    assert cli("content", "file", "--sample-share", "nan").refused().startswith("--sample-share: NaN is not a share")
    assert cli("content", "file", "--hours", "2").refused().startswith("--hours: no trace is written")
    assert cli("content", "file", "--force").refused().startswith("--force: no trace is written")
    for hours in ("0", "-1", "inf", "nan"):
        made = cli("content", "file", "--trace", "t.parquet", "--hours", hours)
        assert made.refused().startswith(f"--hours: {float(hours):g} is not a length of time")
    assert cli("content", "file", "--trace", "file").refused().startswith("file: exists already")
    assert not (tmp_path / "t.parquet").exists()


def test_unreadable_files_are_named(cli: Cli, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"data")
    (tmp_path / "b").chmod(0)
    if os.access(tmp_path / "b", os.R_OK):
        pytest.skip("root may read everything")
    made = cli("content", ".")
    assert made.done().startswith("content    .: 4 B in 1 file")
    assert made.err == "note: 1 name could not be read: ./b (Permission denied)\n"
    assert cli("content", "b").refused().startswith("b: none of 1 files and folders can be read")


def test_files_that_go_away_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(20 << 20))
    (tmp_path / "b").write_bytes(b"gone soon")
    facts = content.measure([tmp_path], progress=lambda *_: (tmp_path / "b").unlink(missing_ok=True))
    assert facts["files"] == 1
    assert facts["unreadable"] == {"count": 1, "named": [[str(tmp_path / "b"), "No such file or directory"]]}
    note = content.unreadable_note(facts)
    assert note == f"1 name could not be read: {tmp_path / 'b'} (No such file or directory)"
    assert "left out   1 unreadable" in screen(["data"], facts)
    facts["unreadable"] = {"count": 9, "named": [["x", "no"]] * 9}
    assert str(content.unreadable_note(facts)).endswith("x (no), x (no) and 4 more")


def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(200 << 30)  # a hole: no room on the disk, minutes to read
    command = [sys.executable, "-m", "floatgate", "content", "large", "--trace", "t.parquet"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background inherit an ignored SIGINT, which Python then leaves ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (130, "", "error: interrupted; nothing was written\n")
    assert os.listdir(tmp_path) == ["large"]  # noqa: PTH208


# The trace


def test_the_trace_writes_the_files_once(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a").write_bytes(b"secret words " * 7000)  # 91,000 bytes: 23 pages
    (folder / "b").write_bytes(noise(3, 70) + b"x")  # 71 pages: 32, 32 and 7
    facts = facts_of(cli, "data", "--trace", "t.parquet", "--hours", "2")
    assert facts["trace"] == {"file": "t.parquet", "requests": 4, "pages": 94, "hours": 2.0}
    table = pq.read_table(tmp_path / "t.parquet")
    rows = table.to_pylist()
    assert [row["bytes"] // PAGE for row in rows] == [23, 32, 32, 7]
    assert [row["offset"] // PAGE for row in rows] == [0, 23, 55, 87]
    assert [row["time_ns"] for row in rows] == [hour * 1_800_000_000_000 for hour in range(4)]
    assert {(row["op"], row["device"]) for row in rows} == {("write", "content")}
    data = [(folder / name).read_bytes() for name in ("a", "b")]
    pages = [whole[at : at + PAGE].ljust(PAGE, b"\0") for whole in data for at in range(0, len(whole), PAGE)]
    assert [value for row in rows for value in row["fingerprints"]] == [fingerprint(page) for page in pages]
    assert [value for row in rows for value in row["compressed_bytes"]] == [compressed_bytes(page) for page in pages]
    described = json.loads(pq.read_metadata(tmp_path / "t.parquet").metadata[b"floatgate"])
    assert described["schema"] == "floatgate.trace/1"
    assert described["content"]["pages_known"] == 94
    assert b"secret" not in (tmp_path / "t.parquet").read_bytes()
    assert str(tmp_path) not in json.dumps(described)
    # Other commands take it, and find the same.
    info = json.loads(cli("trace", "info", "t.parquet", "--json").done())
    assert info["content"]["known_page_writes"] == 94
    assert info["content"]["duplicate_share"] == pytest.approx(facts["duplicate_share"])
    result = json.loads(cli("run", "--trace", "t.parquet", *SMALL, "--no-report", "--json", "-", "--out", "run").done())
    assert result["host"]["page_writes"] == 94
    again = cli("content", "data", "--trace", "t.parquet", "--force")
    assert again.done().endswith("trace      t.parquet: 4 writes over 24 hours\n")
