"""``floatgate rb``: captures of every format against their known content, and the figures against arithmetic."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab import rb, rb_report
from floatgate.lab.rb_summary import screen
from rb_captures import (
    INTERVAL,
    PACKERS,
    PS_PER_US,
    SHAPE,
    Pin,
    check,
    counts_of,
    draw,
    end_of,
    intervals,
    logic2,
    session,
    vcd,
    vcd_vector,
)

ROOT = Path(__file__).parents[2]
CONTRACT = {
    "programs", "reads", "erases", "unclassified", "interval_us", "multi_page", "n_p", "p_volume_bytes", "host_bytes",
    "wa", "wa_low", "wa_high", "duration_s", "signals", "warnings", "multi_page_interval",
}  # fmt: skip
DRIVE = ("--channels", "2", "--chips", "1", "--dies", "1", "--page-bytes", "4096")
ONE_PLANE = (*DRIVE, "--planes", "1")


def drawn(seed: int, tick_us: float, most: int = 4) -> tuple[random.Random, list[Pin]]:
    rng = random.Random(seed)
    return rng, [draw(rng, tick_us) for _ in range(rng.randrange(1, most + 1))]


@pytest.mark.parametrize("seed", range(12))
def test_dumps_of_any_scope_and_time_scale_give_exact_counts(tmp_path: Path, seed: int) -> None:
    rng, pins = drawn(seed, random.Random(seed).choice([0.01, 0.001, 1, 5, 0.1, 0.00001]))
    path = tmp_path / "capture"
    path.write_bytes(vcd(pins, rng))
    facts = check([path], pins, f"seed {seed}")
    assert facts["duration_s"] == pytest.approx(end_of(pins) * pins[0].tick_ps / 1e12)
    assert [entry["name"].rpartition(".")[2] for entry in facts["signals"]] == [f"rb{n}" for n in range(len(pins))]


@pytest.mark.parametrize("seed", range(8))
def test_bits_of_vectors_are_pins(tmp_path: Path, seed: int) -> None:
    rng, pins = drawn(seed, 1, most=9)
    path = tmp_path / "vector.vcd"
    path.write_bytes(vcd_vector(pins, rng))
    facts = check([path], list(reversed(pins)), f"seed {seed}")
    assert [entry["name"] for entry in facts["signals"]] == [f"chips.rb[{n}]" for n in reversed(range(len(pins)))]


def test_bits_have_the_numbers_that_the_dump_gives_them(tmp_path: Path) -> None:
    head = "$timescale 1 us $end $var wire 1 ! rb [5] $end $var wire 1 # rb[7] $end $var wire 2 % busy [0:1] $end"
    ends = "#0 1! 1# b11 % #10 0! 0# b00 % #510 1! 1# b11 % #600 0! b01 % #1100 1! b11 % #1200"
    (tmp_path / "bits.vcd").write_text(f"{head} $enddefinitions $end {ends}")
    facts = rb.measure([tmp_path / "bits.vcd"], SHAPE, rb.Settings(program_us=INTERVAL))
    programs = {entry["name"]: entry["programs"] for entry in facts["signals"]}
    assert programs == {"rb[5]": 2, "rb[7]": 1, "busy[0]": 2, "busy[1]": 1}
    facts = rb.measure([tmp_path / "bits.vcd"], SHAPE, rb.Settings(program_us=INTERVAL, signals=("rb[7]",)))
    assert facts["programs"] == 1


@pytest.mark.parametrize("seed", range(8))
def test_sessions_of_sigrok_give_exact_counts(tmp_path: Path, seed: int) -> None:
    rng, pins = drawn(seed, 5)
    path, unit_size = tmp_path / "capture.sr", rng.randrange(1, 3)
    path.write_bytes(session(pins, unit_size, chunks=rng.randrange(1, 13), channels=8 * unit_size))
    facts = check([path], pins, f"seed {seed}", signals=tuple(f"D{n}" for n in range(len(pins))))
    assert facts["step_us"] == 5


def test_the_second_device_of_a_session_is_passed_over(tmp_path: Path) -> None:
    import io
    import zipfile

    pin = draw(random.Random(1), 5)
    with zipfile.ZipFile(io.BytesIO(session([pin]))) as made, zipfile.ZipFile(tmp_path / "two.sr", "w") as two:
        for name in made.namelist():
            more = b"[device 2]\ncapturefile=logic-2\nsamplerate=1 Hz\nprobe2=E1\nunitsize=7\n" * (name == "metadata")
            two.writestr(name, made.read(name) + more)
    check([tmp_path / "two.sr"], [pin])


@pytest.mark.parametrize("seed", range(8))
def test_rows_of_time_and_levels_give_exact_counts(tmp_path: Path, seed: int) -> None:
    _, pins = drawn(seed, 0.1)
    for header in (True, False):
        path = tmp_path / f"capture{header}"
        path.write_bytes(logic2(pins, header=header))
        facts = check([path], pins, f"seed {seed} {header}")
        assert facts["signals"][0]["name"] == ("Channel 0" if header else "0")


def test_lists_of_lengths_give_exact_counts_and_no_duration(tmp_path: Path) -> None:
    pin = draw(random.Random(5), 0.1)
    path = tmp_path / "lows.txt"
    path.write_bytes(intervals(pin))
    assert check([path], [pin])["duration_s"] is None
    with_unit = "".join(f"{(end - begin) * pin.tick_ps / PS_PER_US}us\n" for begin, end in pin.lows)
    path.write_text(with_unit)
    check([path], [pin])
    path.write_text(with_unit.replace("us", ""))
    check([path], [pin], time_unit="1us")


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_packed_captures_are_unpacked(tmp_path: Path, packing: str) -> None:
    rng, pins = drawn(3, 1)
    contents = {"c.vcd": vcd(pins, rng), "c.csv": logic2(pins), "c.txt": intervals(pins[0])}
    for name, content in contents.items():
        path = tmp_path / f"{name}{packing}"
        path.write_bytes(PACKERS[packing](content))
        check([path], pins[:1] if name == "c.txt" else pins, path.name)


def test_formats_may_be_said(tmp_path: Path) -> None:
    rng, pins = drawn(6, 1)
    contents = {"vcd": vcd(pins, rng), "csv": logic2(pins), "intervals": intervals(pins[0]), "sigrok": session(pins)}
    for name, content in contents.items():
        (tmp_path / "capture").write_bytes(content)
        check([tmp_path / "capture"], pins[:1] if name == "intervals" else pins, name, format=name)


def test_signals_and_files_are_dies(tmp_path: Path) -> None:
    """Programs = sum over signals; n_p = programs x multi_page / signals; p_volume_bytes = dies x n_p x page_bytes."""
    shape = rb.Shape(channels=4, chips=3, dies=2, planes=4, page_bytes=16384)
    pins = [draw(random.Random(seed), 1, programs=100 + seed) for seed in range(4)]
    paths = [tmp_path / name for name in ("a.vcd", "b.csv", "c.txt")]
    for path, content in zip(
        paths, (vcd(pins[:2], random.Random(0)), logic2(pins[2:3]), intervals(pins[3])), strict=True
    ):
        path.write_bytes(content)
    check(paths, pins)
    facts = rb.measure(paths, shape, rb.Settings(program_us=INTERVAL), multi_page=2, host=rb.Host(10**9))
    assert facts["programs"] == 100 + 101 + 102 + 103
    assert facts["n_p"] == facts["programs"] * 2 / 4
    assert facts["p_volume_bytes"] == 4 * 3 * 2 * facts["n_p"] * 16384
    assert facts["wa"] == pytest.approx(facts["p_volume_bytes"] / 10**9)
    one = rb.measure(paths, shape, rb.Settings(program_us=INTERVAL, signals=("rb1",)))
    assert [(entry["name"].rpartition(".")[2], entry["path"]) for entry in one["signals"]] == [("rb1", str(paths[0]))]
    assert counts_of(one) == [pins[1].counts]
    assert one["n_p"] == one["programs"] == 101


def hand_made(path: Path, *, cut: bool = True) -> Path:
    """100 programs on one pin and 110 on another, of 500 us, and one more that the start of the capture cuts."""
    levels = "0! 1# #90 1!" if cut else "1! 1#"
    head = "$timescale 1 us $end $var wire 1 ! rb0 $end $var wire 1 # rb1 $end $enddefinitions $end #0"
    out = [f"{head} {levels}"]
    for number in range(110):
        pins = "!#" if number < 100 else "#"
        begin = 1000 * (number + 1)
        out += [
            f"#{begin} " + " ".join(f"0{pin}" for pin in pins),
            f"#{begin + 500} " + " ".join(f"1{p}" for p in pins),
        ]
    path.write_text("\n".join([*out, "#200000\n"]))
    return path


def test_the_interval_of_write_amplification_is_the_one_by_hand(tmp_path: Path) -> None:
    """Two of four dies, two pages per program, no erases told apart, one phase cut, a counter of 1000 bytes' step."""
    shape = rb.Shape(channels=2, chips=1, dies=2, planes=2, page_bytes=4096, pages_per_block=128)
    host = rb.Host(1_000_000, 1000, "by hand")
    path = hand_made(tmp_path / "c.vcd")
    facts = rb.measure([path], shape, rb.Settings(program_us="100..2000"), multi_page=2, host=host)
    # Sample variance of 100 and 110 is 50; half of the dies are measured; twice the standard error over the mean.
    dies_share = 2 * math.sqrt(50 / 2 * (1 - 2 / 4)) / 105
    # One per block, and one more for each of two planes on both pins.
    erases = 210 / 128 + 4
    assert facts["terms"] == {
        "near_ends": 0.0, "hidden_erases": erases, "cut": 1.0, "missed": 0.0,
        "dies_share": pytest.approx(dies_share), "one_die_share": 0.0,
    }  # fmt: skip
    bytes_per_program = 2 / 2 * 4 * 4096
    assert facts["wa"] == pytest.approx(210 * bytes_per_program / 1_000_000)
    assert facts["wa_low"] == pytest.approx((210 - erases) * (1 - dies_share) * bytes_per_program / 1_001_000)
    assert facts["wa_high"] == pytest.approx((210 + 1) * (1 + dies_share) * bytes_per_program / 999_000)
    assert (facts["unclassified"], facts["duration_s"], facts["step_us"]) == (1, 0.2, 10.0)
    assert any("programs per die differ: 100 to 110" in text for text in facts["warnings"])


@pytest.mark.parametrize(
    ("stated", "ends"),
    [("2", (2, 2)), ("1.5", (1.45, 1.55)), ("1.052", (1.0515, 1.0525)), ("1.4..1.9", (1.4, 1.9)), ("2.0", (1.95, 2))],
)
def test_the_error_of_the_pages_per_program_enters_the_interval(
    stated: str, ends: tuple[float, float], cli: Cli, tmp_path: Path
) -> None:
    path = hand_made(tmp_path / "c.vcd", cut=False)
    command = ("rb", "measure", path, *DRIVE, "--planes", "2", "--host-bytes", "300000")
    single = json.loads(cli(*command, "--multi-page", "1", "--json", "-").done())
    facts = json.loads(cli(*command, "--multi-page", stated, "--json", "-").done())
    assert facts["multi_page_interval"] == pytest.approx(list(ends))
    assert facts["wa"] == pytest.approx(single["wa"] * facts["multi_page"])
    assert [facts["wa_low"], facts["wa_high"]] == pytest.approx(
        [single["wa_low"] * ends[0], single["wa_high"] * ends[1]]
    )
    (row,) = [line for line in cli(*command, "--multi-page", stated).done().splitlines() if "(M_p)" in line]
    most = max(ends[1] / facts["multi_page"] - 1, 1 - ends[0] / facts["multi_page"])
    assert row.endswith(f" +-{100 * most:.2g} %" if most > 1e-9 else " 0")


def test_pages_per_program_that_nobody_states_are_an_unknown_error(cli: Cli, tmp_path: Path) -> None:
    command = ("rb", "measure", hand_made(tmp_path / "c.vcd"), *DRIVE, "--host-bytes", "300000", "--planes")
    (row,) = [line for line in cli(*command, "4").done().splitlines() if line.startswith("pages per program (M_p) ")]
    assert row.endswith(" unknown: 1 assumed, up to 4")
    (headline,) = [line for line in cli(*command, "4").done().splitlines() if line.startswith("WAF ")]
    assert ", if one page per program)" in headline
    assert "if one page" not in cli(*command, "4", "--multi-page", "1").done()
    assert "if one page" not in cli(*command, "1").done()
    assert json.loads(cli(*command, "4", "--json", "-").done())["multi_page_interval"] is None
    assert "(M_p)" not in cli(*command, "1").done()
    assert "--multi-page: '1.5..' is not a number of pages" in cli(*command, "4", "--multi-page", "1.5..").refused()
    assert "--multi-page: '1.5..1' is not a number of pages" in cli(*command, "4", "--multi-page", "1.5..1").refused()


def test_bytes_may_have_a_unit(cli: Cli, tmp_path: Path) -> None:
    command = ("rb", "measure", hand_made(tmp_path / "c.vcd"), *DRIVE[:6], "--planes", "1", "--json", "-")
    facts = json.loads(cli(*command, "--page-bytes", "4KiB", "--host-bytes", "1MB").done())
    assert facts == json.loads(cli(*command, "--page-bytes", "4096", "--host-bytes", "1000000").done())
    assert "--page-bytes: '4 pages' is not a size" in cli(*command, "--page-bytes", "4 pages").refused()


@pytest.mark.parametrize("blocks_per_plane", [None, 4096])
def test_one_die_of_several_has_an_allowance(tmp_path: Path, blocks_per_plane: int | None) -> None:
    """The allowance by the closed form of FIFO collection, and the digits that it supports."""
    shape = rb.Shape(4, 1, 1, 1, 4096, 128, blocks_per_plane)
    settings = rb.Settings(signals=("rb0",), program_us="100..2000")
    path = hand_made(tmp_path / "c.vcd", cut=False)
    facts = rb.measure([path], shape, settings, host=rb.Host(400_000))
    wa = 100 * 4 * 4096 / 400_000
    # Valid pages in victims and on the drive; their spread over dies; what a page more or less makes of it.
    victim = 1 - 1 / wa
    valid = (1 - victim) / -math.log(victim)
    spread = math.sqrt(valid * (1 - 1 / 4) / 2 / ((blocks_per_plane or 256) * 128))
    step = 1e-6
    slope = (math.log(1 / (1 - (victim + step))) - math.log(wa)) / (
        (1 - victim - step) / -math.log(victim + step) - valid
    )
    share = 2 * slope * spread
    assert facts["terms"]["one_die_share"] == pytest.approx(share, rel=1e-3)
    assert facts["terms"]["dies_share"] is None
    hidden = facts["terms"]["hidden_erases"]
    assert facts["wa_low"] == pytest.approx(wa * (100 - hidden) / 100 * (1 - share), rel=1e-4)
    more = facts["terms"]["missed"] + sum(doubt["more"] for doubt in facts["doubts"])
    assert facts["wa_high"] == pytest.approx(wa * (100 + more) / 100 * (1 + share), rel=1e-4)
    text = screen([str(path)], facts)
    (row,) = [line for line in text.splitlines() if line.startswith("one of 4 dies for all ")]
    assert row.endswith(f" +-{100 * share:.2g} %")
    (warning,) = [one for one in facts["warnings"] if one.startswith("one of 4 dies was measured")]
    assert f"it may differ from the mean of all by {100 * share:.2f} %" in warning
    assert ("32768 pages, which is assumed" in warning) == (blocks_per_plane is None)


def test_humps_have_a_range_and_a_median(tmp_path: Path) -> None:
    lengths = [*range(200, 600), *range(733, 2200)]
    path = tmp_path / "c.txt"
    path.write_text("low_us\n" + "".join(f"{us}\n" for us in lengths))
    facts = rb.measure([path], SHAPE, rb.Settings(program_us="150..2300"), host=rb.Host(4096))
    humps = [hump for hump in facts["humps"] if hump["class"] == "programs"]
    # Bins are 1/32 wide.
    assert [hump["median_ps"] / 1e6 for hump in humps] == pytest.approx([400, 1466], rel=0.01)
    assert [hump["count"] for hump in humps] == [400, 1467]
    # The shortest is 200 us and the longest 2199 us; half of the second hump is at most 1466 us.
    expected = "programs about 200 to 600 us (median 400, 400), 730 to 2200 us (median 1500, 1467, erases included)"
    assert times_of(path, facts) == expected


def times_of(path: Path, facts: dict[str, Any]) -> str:
    line = next(line for line in screen([str(path)], facts).splitlines() if line.startswith("times "))
    return line.removeprefix("times").strip()


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (
            "300..1990",
            (
                "programs about 300 to 600 us (median 450, 299), 730 to 1990 us (median 1400, 1257, erases included); "
                "longer about 2000 to 2200 us (median 2100, 210)"
            ),
        ),
        ("150..650", "programs about 200 to 600 us (median 400, 400); erases about 730 to 2200 us (median 1500, 1467)"),
    ],
)
def test_lengths_of_programs_keep_to_the_interval_of_the_user(interval: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("low_us\n" + "".join(f"{us}\n" for us in [*range(200, 600), *range(733, 2200)]))
    assert times_of(path, rb.measure([path], SHAPE, rb.Settings(program_us=interval), host=rb.Host(4096))) == expected


def test_a_limit_within_a_hump_leaves_erases_unknown(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("low_us\n" + "".join(f"{us}\n" for us in [*range(200, 600), *range(733, 2500)]))
    facts = rb.measure([path], SHAPE, rb.Settings(program_us="150..2250"), host=rb.Host(4096))
    text = screen([str(path)], facts)
    assert "0 reads (shorter), 250 longer (programs or erases), erases unknown, up to " in text
    (warning,) = [one for one in facts["warnings"] if "is no count of erases" in one]
    assert warning.startswith("the limit of 2250 us lies within a hump of lengths, about 730 to 2500 us (median ")


def test_a_hump_of_one_length_has_no_range(tmp_path: Path) -> None:
    path = tmp_path / "c.txt"
    path.write_text("low_us\n" + "300\n" * 500)
    assert times_of(path, rb.measure([path], SHAPE, host=rb.Host(4096))) == "programs about 300 us (median 300, 500)"


def test_bars_of_flat_lengths_have_one_height(tmp_path: Path) -> None:
    """Bins of the core differ in width; the heights of an even spread on the logarithmic axis do not."""
    path = tmp_path / "c.txt"
    path.write_text("low_us\n" + "".join(f"{200 * 1.0002**number:.6f}\n" for number in range(10_000)))
    facts = rb.measure([path], SHAPE, rb.Settings(program_us="150..2000"), host=rb.Host(4096))
    heights = [row["per_hundredth"] for row in rb_report.density(facts)][1:-1]
    assert min(heights) > 0.9 * max(heights)
    assert heights[0] == pytest.approx(0.01 / math.log(1.0002), rel=0.1)


def test_the_json_has_the_keys_of_the_contract(cli: Cli, tmp_path: Path) -> None:
    path = hand_made(tmp_path / "c.vcd")
    ended = cli("rb", "measure", path, *ONE_PLANE, "--host-bytes", "1000000", "--json", "-", "--quiet")
    facts = json.loads(ended.done())
    assert facts.keys() >= CONTRACT
    assert ended.err == ""
    assert all(entry.keys() >= {"name", "programs", "reads", "erases"} for entry in facts["signals"])
    assert (facts["schema"], facts["multi_page"], facts["host_source"]) == ("floatgate.rb/1", 1.0, "--host-bytes")
    without = json.loads(cli("rb", "measure", path, *ONE_PLANE, "--json", "-").done())
    assert without.keys() == facts.keys()
    assert [without[key] for key in ("host_bytes", "wa", "wa_low", "wa_high")] == [None] * 4
    many = json.loads(cli("rb", "multi-page", path, *ONE_PLANE, "--host-bytes", "1000000", "--json", "-").done())
    assert many.keys() - facts.keys() == {"wa_single"}


def test_output_goes_where_that_of_other_commands_goes(cli: Cli, tmp_path: Path) -> None:
    path = hand_made(tmp_path / "c.vcd")
    measure = ("rb", "measure", path, *ONE_PLANE, "--host-bytes", "1000000")
    text = cli(*measure).done()
    # Below 1 without compression is said before anything else.
    assert text.startswith("warning    impossible without compression: 860 kB programmed for 1 MB of the host (")
    assert "\nWAF        0.86 (" in text
    for word in (
        "programs   210 on 2 signals",
        "others     0 reads",
        "volume ",
        "host ",
        "capture ",
        "rb1          110",
    ):
        assert word in text
    assert cli(*measure, "--quiet").done() == ""
    assert cli(*measure, "--json", "f.json").done() == text
    assert json.loads((tmp_path / "f.json").read_text())["programs"] == 210
    assert cli(*measure, "--json", "f.json").refused().startswith("f.json: exists already; expected a new file")
    assert "unknown: say what the host wrote" in cli(*measure[:-2]).done()
    assert "--force: nothing is written" in cli(*measure, "--force").refused()


def test_report_and_pictures_hold_the_figures(cli: Cli, tmp_path: Path) -> None:
    path = hand_made(tmp_path / "<c>.vcd")
    command = ("rb", "measure", path.name, *ONE_PLANE, "--host-bytes", "1000000", "--pages-per-block", "128")
    text = cli(*command, "--report", "r.html", "--pictures", "p").done()
    assert "report     r.html" in text
    page = (tmp_path / "r.html").read_text()
    for word in (
        "&lt;c&gt;.vcd",
        "0.86",
        "Lengths of low phases",
        "rb0",
        "rb1",
        "<svg",
        "dies that differ",
        "rb measure",
    ):
        assert word in page
    assert "<c>" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert {name.name for name in (tmp_path / "p").iterdir()} >= {"low-phases.svg", "low-phases.png"}
    assert (tmp_path / "p/low-phases.png").read_bytes().startswith(b"\x89PNG")
    assert "r.html: exists already" in cli(*command, "--report", "r.html").refused()
    multi = ("rb", "multi-page", path.name, *ONE_PLANE, "--host-bytes", "860160", "--report", "m.html")
    assert "M_p        unknown: the capture may be cut (WAF with one page per program: 1.000)" in cli(*multi).done()
    assert "pages per program" in (tmp_path / "m.html").read_text()
    whole = hand_made(tmp_path / "whole.vcd", cut=False)
    assert "M_p        1: single-plane programs" in cli(*multi[:2], whole.name, *multi[3:-1], "w.html").done()
    assert "pages per program" in (tmp_path / "w.html").read_text()


def test_host_bytes_of_a_trace_are_those_of_trace_info(cli: Cli, tmp_path: Path) -> None:
    trace = ROOT / "traces/gcc-build.parquet"
    path = hand_made(tmp_path / "c.vcd")
    facts = json.loads(cli("rb", "measure", path, *ONE_PLANE, "--trace", trace, "--json", "-").done())
    info = json.loads(cli("trace", "info", trace, "--counts-only", "--json").done())
    assert facts["host_bytes"] == info["write_bytes"]
    assert facts["host_source"] == "--trace gcc-build.parquet"


def multi_page(path: Path, planes: int, wa_single: float) -> dict[str, Any]:
    """Of 210 programs on two dies, both measured."""
    shape = rb.Shape(channels=2, chips=1, dies=1, planes=planes, page_bytes=4096)
    host = rb.Host(round(210 * 4096 / wa_single))
    return rb.find_multi_page([path], shape, rb.Settings(program_us="100..2000"), host=host)


@pytest.mark.parametrize(
    ("wa_single", "planes", "expected", "warned"),
    [
        (1.0, 4, 1, False), (0.5, 4, 2, False), (0.25, 4, 4, False), (1.14, 4, 1, False), (1.16, 4, 1, True),
        (0.86, 2, 1, False), (0.57, 2, 2, False), (0.58, 2, 2, True), (0.5, 1, 1, True), (0.1, 4, 4, True),
        (1 / 3, 4, 3, False), (30.0, 4, 1, True), (1 / 1000, 2**32 - 1, 1000, False),
    ],
)  # fmt: skip
def test_multi_page_is_the_nearest_share(
    tmp_path: Path, wa_single: float, planes: int, expected: int, warned: bool
) -> None:
    facts = multi_page(hand_made(tmp_path / "c.vcd", cut=False), planes, wa_single)
    assert facts["wa_single"] == pytest.approx(wa_single, rel=1e-3)
    assert facts["multi_page"] == expected
    assert facts["wa"] == pytest.approx(facts["wa_single"] * expected)
    assert facts["n_p"] == 105 * expected
    assert facts["p_volume_bytes"] == 2 * 105 * expected * 4096
    assert facts["wa_low"] < facts["wa"] < facts["wa_high"]
    assert any("further than 15 % from 1" in text for text in facts["warnings"]) is warned
    # The line that states it holds the doubt.
    assert ("\nM_p        doubtful, " in screen([], facts)) is warned


# A recorder that polls


def polled(pin: Pin, end: int, period: int, quiet: int) -> int:
    """Programs that a recorder sends, found by looking at the pin at each multiple of its period, in ticks."""
    ends = iter([*pin.lows, (end + 1, end + 2)])
    (begin, until), looks = next(ends), []
    for time in range(0, end + 1, period):
        while time >= until:
            begin, until = next(ends)
        looks.append(0 if begin <= time else 1)
    sent, pending, since = 0, 0, 0
    for number in range(1, len(looks)):
        if looks[number] == looks[number - 1]:
            continue
        length_us = (number - since) * period * pin.tick_ps / PS_PER_US
        if looks[number] == 1:
            pending += 150 < length_us < 2000
        # The high phase in front of the first edge may have begun before.
        elif since > 0 and (number - since) * period >= quiet:
            sent, pending = sent + pending, 0
        since = number
    return sent + pending if looks[-1] == 1 and end - since * period >= quiet else sent


@pytest.mark.parametrize("seed", range(10))
def test_a_recorder_counts_what_its_looks_see(tmp_path: Path, seed: int) -> None:
    rng, pins = drawn(seed, 1)
    (tmp_path / "c.vcd").write_bytes(vcd(pins, rng))
    for period_us in (1, 7, 100, 333, 700):
        for quiet_us in (0, rng.randrange(1, 200)):
            settings = rb.Settings(program_us=INTERVAL, poll_us=period_us, quiet_s=quiet_us / 1e6)
            facts = rb.measure([tmp_path / "c.vcd"], SHAPE, settings)
            expected = [polled(pin, end_of(pins), period_us, quiet_us) for pin in pins]
            programs = [entry["programs"] for entry in facts["signals"]]
            assert programs == expected, (seed, period_us, quiet_us)
            # Whole lengths are known in bins of 1/32 only; no bin lies across both sides of the interval here.
            assert facts["recorder"]["programs_exact"] == sum(pin.counts["programs"] for pin in pins)


def test_a_recorder_is_told_of_on_the_screen(cli: Cli, tmp_path: Path) -> None:
    path = hand_made(tmp_path / "c.vcd")
    text = cli("rb", "measure", path, *ONE_PLANE, "--poll-us", "10", "--program-us", "100..2000").done()
    assert "recorder   polls every 10 us: +0.00% of 210 programs; to be expected are 0 missed and 0 merged" in text
    unsent = cli("rb", "measure", path, *ONE_PLANE, "--poll-us", "10", "--quiet-s", "1").refused()
    assert unsent.endswith(
        "the recorder never sent the 210 low phases that it counted; "
        "expected a pause of --quiet-s at the end of the capture"
    )


def names(facts: dict[str, Any]) -> Sequence[str]:
    return [entry["name"] for entry in facts["signals"]]


def test_signals_called_ready_or_busy_count_where_none_is_named(tmp_path: Path) -> None:
    lines = [f"{t / 1000},{levels}" for t, levels in ((0, "1,1,0,1"), (1, "0,0,1,1"), (1.5, "1,1,0,1"), (9, "1,1,0,1"))]
    (tmp_path / "c.csv").write_text("\n".join(["Time [s],R/B#,CLE,WE,nand1_busy", *lines]))
    facts = rb.measure([tmp_path / "c.csv"], SHAPE)
    assert (names(facts), facts["left_out"], facts["programs"]) == (["R/B#"], ["CLE", "WE"], 1)
    assert any("signals that never change are not counted: 'nand1_busy'" in text for text in facts["warnings"])
    facts = rb.measure([tmp_path / "c.csv"], SHAPE, rb.Settings(signals=("R/B#", "nand1_busy")))
    assert (names(facts), facts["programs"], facts["n_p"]) == (["R/B#", "nand1_busy"], 1, 0.5)


def test_few_of_the_signals_that_do_not_count_are_named(tmp_path: Path) -> None:
    names = ["rb", *(f"d{n}" for n in range(20))]
    changes = "".join(f"{level}{chr(33 + n)}\n" for level in "10" for n in range(len(names)))
    path = tmp_path / "bus.vcd"
    declared = "".join(f"$var wire 1 {chr(33 + n)} {name} $end\n" for n, name in enumerate(names))
    head = f"$timescale 1us $end\n{declared}$enddefinitions $end\n"
    half = len(names) * 3
    path.write_text(head + f"#0\n{changes[:half]}#10\n{changes[half:]}#400\n{changes[:half]}")
    facts = rb.measure([path], rb.Shape(1, 1, 1, 1, 4096))
    assert len(facts["left_out"]) == 20
    assert "not counted: d0, d1, d2, d3, d4, d5 and 14 more\n" in screen([str(path)], facts) + "\n"
