"""``floatgate rb`` on captures that leave doubt: the first lines, and when there is no estimate.

The core's own tests cover each situation with many seeds (``crates/capture/tests/it/situations.rs``).
"""

from __future__ import annotations

import gzip
import json
import random
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab import rb, rb_summary
from rb_captures import SHAPE

DRIVE = ("--channels", "1", "--chips", "1", "--dies", "1", "--planes", "1", "--page-bytes", "4096")
BLOCKS = (*DRIVE, "--pages-per-block", "128")
PROGRAMS = 1000
CAPTURES = Path(__file__).parents[2] / "captures"


def dump(lows: list[tuple[int, int]]) -> str:
    """A dump of these low phases, in nanoseconds."""
    text = ["$timescale 1 ns $end $var wire 1 ! rb $end $enddefinitions $end #0 1!"]
    text += [f"#{begin} 0! #{end} 1!" for begin, end in lows]
    return "\n".join([*text, f"#{lows[-1][1] + 50_000}\n"])


def die(rng: random.Random, program_us: tuple[int, int], gap_us: int = 30) -> list[tuple[int, int]]:
    """Programs of this range of lengths, as many reads of 40 to 50 us, and an erase of 3 ms for each block."""
    lows, now = [], 1_000_000
    for number in range(PROGRAMS):
        ranges = [program_us, (40, 50), *([(2950, 3050)] if number % 128 == 0 else [])]
        for shortest, longest in ranges:
            now += rng.randrange(2_000, gap_us * 1000)
            length = rng.randrange(shortest * 1000, longest * 1000)
            lows.append((now, now + length))
            now += length
    return lows


def measured(cli: Cli, *more: str) -> tuple[dict[str, Any], str]:
    command = ("rb", "measure", "c.vcd", *BLOCKS, "--host-bytes", str(4096 * PROGRAMS), *more)
    facts = json.loads(cli(*command, "--json", "-").done())
    return facts, cli(*command).done()


def test_programs_as_short_as_reads_leave_no_estimate(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.vcd").write_text(dump(die(random.Random(1), (115, 125))))
    facts, text = measured(cli)
    assert (facts["wa"], facts["withheld"]) == (None, ["slc_programs"])
    assert facts["wa_low"] <= 1 <= facts["wa_high"]
    assert text.startswith("WAF        no estimate (programs as short as reads); 0 to 1.1")
    assert "low phases of 1" in text
    assert "may be reads or programs in SLC mode (1000)" in text
    page = cli("rb", "measure", "c.vcd", *BLOCKS, "--host-bytes", "4096000", "--report", "r.html").done()
    assert "report     r.html" in page
    assert "no estimate" in (tmp_path / "r.html").read_text()
    # With an interval there is no doubt.
    facts, text = measured(cli, "--program-us", "90..200")
    assert (facts["wa"], facts["withheld"], facts["doubts"]) == (1.0, [], [])
    assert text.startswith("WAF        1.000 (1.000 to 1.000)")


def test_dies_that_share_a_pin_leave_no_estimate(cli: Cli, tmp_path: Path) -> None:
    rng = random.Random(2)
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(die(rng, (600, 700), 3000) + die(rng, (600, 700), 3000)):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    (tmp_path / "c.vcd").write_text(dump(joined))
    two = ("--dies", "2", "--host-bytes", str(2 * 4096 * PROGRAMS))
    for more in ((), ("--dies-per-signal", "2")):
        facts, text = measured(cli, *two, *more)
        assert (facts["wa"], facts["withheld"]) == (None, ["shared_pin"]), more
        assert facts["wa_low"] <= 1 <= facts["wa_high"]
        assert text.startswith("WAF        no estimate (dies that share a pin); ")
    assert measured(cli, *two, "--dies-per-signal", "1")[0]["wa"] > 1.5
    assert (
        "--dies-per-signal: 0 is out of range"
        in cli("rb", "measure", "c.vcd", *DRIVE, "--dies-per-signal", "0").refused()
    )


def test_glitches_are_recognised_or_set(cli: Cli, tmp_path: Path) -> None:
    split = []
    for number, (begin, end) in enumerate(die(random.Random(3), (500, 600))):
        split += [(begin, begin + 20_000), (begin + 20_030, end)] if number % 10 == 0 else [(begin, end)]
    (tmp_path / "c.vcd").write_text(dump(split))
    facts, text = measured(cli)
    assert facts["wa"] == 1.0
    assert "high phases shorter than 0.1 us count as glitches within a low phase" in text
    assert measured(cli, "--min-high-us", "0")[0]["reads"] > facts["reads"]
    assert measured(cli, "--min-high-us", "0.05")[0]["wa"] == 1.0
    assert (
        "--min-high-us: '-1' is not a length of time"
        in cli("rb", "measure", "c.vcd", *DRIVE, "--min-high-us=-1").refused()
    )


def test_host_bytes_beyond_the_capture_are_said_first(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.vcd").write_text(dump(die(random.Random(4), (500, 600))))
    _, text = measured(cli, "--host-bytes", "20000000000")
    first, second = text.splitlines()[:2]
    assert first.startswith("warning    impossible: 20000000000 bytes of the host in a capture of 0.")
    assert second.startswith("warning    impossible without compression: 4.10 MB programmed for 20 GB of the host")


def test_doubts_are_part_of_the_interval(cli: Cli, tmp_path: Path) -> None:
    """One program of 25 takes 1.3 ms, and counts as an erase."""
    rng, lows = random.Random(5), []
    for number, (begin, end) in enumerate(die(rng, (400, 500))):
        lows.append((begin + 1_000_000 * number, end + 1_000_000 * number))
    slow = [(begin, begin + 1_300_000) if number % 50 == 0 and end - begin > 200_000 else (begin, end)
            for number, (begin, end) in enumerate(lows)]  # fmt: skip
    (tmp_path / "c.vcd").write_text(dump(slow))
    facts, text = measured(cli)
    (doubt,) = facts["doubts"]
    assert doubt["code"] == "slow_programs"
    assert facts["wa"] < 1 <= facts["wa_high"]
    assert facts["wa_high"] == pytest.approx((facts["programs"] + doubt["more"]) / PROGRAMS)
    assert re.search(rf"^programs as long as erases +\+{doubt['more']:.0f} ", text, re.MULTILINE)
    ocp = tmp_path / "o.json"
    ocp.write_text(json.dumps({"Physical media units written": {"hi": 0, "lo": 0}}))
    after = tmp_path / "p.json"
    after.write_text(json.dumps({"Physical media units written": {"hi": 0, "lo": 4096 * PROGRAMS}}))
    # What the drive counts is within the interval, so nothing is impossible.
    assert "impossible" not in measured(cli, "--ocp", "o.json", "p.json")[1]


def test_erases_among_the_programs_are_unknown_not_none(tmp_path: Path) -> None:
    """The summary said 0 erases (longer), and a warning that they hide among the programs."""
    (tmp_path / "c.csv").write_bytes(gzip.decompress((CAPTURES / "random.csv.gz").read_bytes()))
    facts = rb.measure([tmp_path / "c.csv"], rb.Shape(4, 1, 1, 2, 4096, 128), multi_page=1)
    text = rb_summary.screen(["c.csv"], facts)
    assert "others     11413 reads (shorter), erases unknown, up to 95 among the programs\n" in text
    assert re.search(r"^rb0 +5829 +5744 +\? +0$", text, re.MULTILINE)
    separate = {**facts, "erases": 3, "terms": {**facts["terms"], "hidden_erases": 0.0}}
    assert rb_summary.signals(separate)[0][3] == "0"


def test_several_pages_per_program_are_found_although_there_is_no_estimate(tmp_path: Path) -> None:
    (tmp_path / "c.vcd").write_text(dump(die(random.Random(6), (115, 125))))
    facts = rb.find_multi_page([tmp_path / "c.vcd"], SHAPE, host=rb.Host(8 * 8192))
    assert (facts["wa"], facts["wa_single"], facts["withheld"]) == (None, 1.0, ["slc_programs"])


# Exports of tools, with what is in them


def rows(unit_us: int, edges: list[tuple[int, str]]) -> str:
    return "".join(f"#{time * unit_us}\n{level}\n" for time, level in edges)


def export(name: str) -> tuple[str | bytes, int, float]:
    """A file, its low phases of 500 us, and its duration in microseconds."""
    head = "$timescale {} $end\n$var wire 1 ! rb $end\n$enddefinitions $end\n"
    low = [(300 + 800 * number, 800 + 800 * number) for number in range(50)]
    if name == "open-drain.vcd":
        return head.format("1 us") + "#0\nz!\n" + "".join(f"#{a}\n0!\n#{b}\nz!\n" for a, b in low), 50, 40_000
    if name == "6666ps.vcd":
        ticks = [(150 * a, 150 * b) for a, b in low]
        return head.format("6666 ps") + "#0\n1!\n" + "".join(f"#{a}\n0!\n#{b}\n1!\n" for a, b in ticks), 50, 39_996
    if name == "blank.vcd":
        return head.format("1 us") + "#0\n1 !\n#300\n0 !\n#800\n1 !\n#1800\n", 1, 1800
    if name == "dates.csv":
        edges = [(0, 1), (300, 0), (800, 1), (1100, 0), (1600, 1), (2600, 1)]
        lines = [f"2026-01-02T03:04:05.{time:06}000+00:00,{level}" for time, level in edges]
        return "\n".join(["Time [s],RB", *lines]), 2, 2600
    if name == "analog.csv":
        return "Time [s],RB,Vcc\n0,1,3.3\n0.0003,0,3.29\n0.0008,1,3.31\n0.0018,1,3.3\n", 1, 1800
    times = [0.0003, 0.0008, 0.0011, 0.0016]
    header = b"<SALEAE>" + struct.pack("<ii", int(name[-5]), 0)
    header += struct.pack("<Q", 1) if name[-5] == "1" else b""
    state = struct.pack("<I", 1) + (struct.pack("<d", 1e6) if name[-5] == "1" else b"")
    return header + state + struct.pack("<ddQ4d", 0, 0.0026, 4, *times), 2, 2600


@pytest.mark.parametrize(
    "name",
    ["open-drain.vcd", "6666ps.vcd", "blank.vcd", "dates.csv", "analog.csv", "digital_0.bin", "digital_1.bin"],
)
def test_exports_of_tools_have_the_low_phases_that_are_in_them(tmp_path: Path, name: str) -> None:
    content, count, duration_us = export(name)
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for signals in ((), ("RB",) if name.endswith(".csv") else ()):
        facts = rb.measure([path], SHAPE, rb.Settings(program_us="499..501", signals=signals))
        assert (facts["programs"], facts["reads"], facts["erases"], facts["unclassified"]) == (count, 0, 0, 0)
        assert facts["duration_s"] == pytest.approx(duration_us / 1e6)


CAPTURE = CAPTURES / "random.csv.gz"
CAPTURED = rb.Shape(channels=4, chips=1, dies=1, planes=2, page_bytes=4096, pages_per_block=128)
TRUTH, EXACT = 5.065, 11_586


@pytest.mark.parametrize("poll_us", [1, 5, 20, 50, 60, 70, 100])
def test_a_coarser_recorder_is_not_trusted_more_than_a_finer_one(poll_us: float) -> None:
    """The estimate of the documented capture holds the truth up to polls every 60 us, and is withheld beyond."""
    host = rb.Host(18_583_552, 0, "--host-bytes")
    facts = rb.measure([CAPTURE], CAPTURED, rb.Settings(poll_us=poll_us), multi_page=1.0, host=host)
    assert facts["recorder"]["programs_exact"] == EXACT
    assert facts["wa_low"] < TRUTH < facts["wa_high"]
    assert facts["withheld"] == ([] if poll_us <= 60 else ["merged_lows"])
    if not facts["withheld"]:
        assert 4.8 <= facts["wa_low"] < facts["wa_high"] <= 5.4
        assert abs(facts["programs"] / EXACT - 1.0) < 0.007


def test_the_exact_count_of_a_recorder_is_that_of_the_interval_of_the_user() -> None:
    """An end of the interval that lies within a bin of lengths cuts it."""
    settings = [rb.Settings(program_us="200..2200", poll_us=poll_us) for poll_us in (None, 0.01)]
    plain, polled = (rb.measure([CAPTURE], CAPTURED, one) for one in settings)
    assert polled["recorder"]["programs_exact"] == plain["programs"] == polled["programs"]
