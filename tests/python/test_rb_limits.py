"""``floatgate rb``: physically impossible figures are reported, with what to check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab import rb

SHAPE = ("--channels", "1", "--chips", "1", "--dies", "1", "--planes", "1", "--page-bytes", "4096")


def capture(folder: Path, programs: int = 1000) -> str:
    (folder / "c.txt").write_text("low_us\n" + "500\n" * programs + "30\n")
    return "c.txt"


def impossible(facts: dict[str, Any]) -> list[str]:
    return [text for text in facts["warnings"] if text.startswith("impossible")]


def measured(cli: Cli, *more: str, shape: tuple[str, ...] = SHAPE) -> tuple[dict[str, Any], str]:
    """The JSON, and the text after checking that it holds each warning."""
    command = ("rb", "measure", "c.txt", *shape, "--program-us", "100..2000", *more)
    facts = json.loads(cli(*command, "--json", "-").done())
    text = cli(*command).done()
    for warning in facts["warnings"]:
        assert f"warning    {warning}\n" in text
    return facts, text


def test_less_programmed_than_the_host_wrote_is_impossible(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path)
    written = 1000 * 4096
    assert impossible(measured(cli, "--host-bytes", str(written))[0]) == []
    assert impossible(measured(cli, "--host-bytes", str(round(written * 1.005)))[0]) == []
    facts, _ = measured(cli, "--host-bytes", str(100 * written))
    assert facts["wa"] == pytest.approx(0.01)
    (text,) = impossible(facts)
    assert text.startswith(
        "impossible without compression: 4.10 MB programmed for 410 MB of the host (WAF at most 0.01000)"
    )
    assert "check --page-bytes, --channels, --chips, --dies and --multi-page" in text
    assert "emptied its cache" in text
    two = (*SHAPE[:7], "2", *SHAPE[8:])
    assert "with M_p = 2 WAF is 1.000" in impossible(measured(cli, "--host-bytes", str(2 * written), shape=two)[0])[0]


def test_no_program_for_what_the_host_wrote_is_impossible(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path)
    command = ("rb", "measure", "c.txt", *SHAPE, "--program-us", "600..2000")
    facts = json.loads(cli(*command, "--host-bytes", "5000000", "--json", "-").done())
    assert facts["programs"] == 0
    (text,) = impossible(facts)
    assert text.startswith("impossible: no program, and the host wrote 5 MB; the capture must span these writes, --sig")
    assert impossible(json.loads(cli(*command, "--json", "-").done())) == []


@pytest.mark.parametrize(("programs", "planes"), [(1, 1), (5, 8), (200, 1000)])
def test_no_more_erases_than_programs_may_count_as_programs(
    cli: Cli, tmp_path: Path, programs: int, planes: int
) -> None:
    """One program was once said to be off by -1, or -102 %."""
    capture(tmp_path, programs)
    shape = (*SHAPE[:7], str(planes), *SHAPE[8:])
    facts, text = measured(cli, "--host-bytes", "4096", shape=shape)
    assert facts["terms"]["hidden_erases"] == programs
    assert (facts["wa_low"], facts["wa"]) == (0.0, programs)
    (row,) = [line.split() for line in text.splitlines() if line.startswith("erases that may count as programs")]
    assert row[-3:] == [f"-{programs}", "-100", "%"]
    (warning,) = impossible(facts)
    assert warning.startswith("impossible: the interval of WAF begins at 0, and the host wrote 4.10 kB; up to ")


def test_an_interval_within_the_possible_is_not_warned_of(tmp_path: Path) -> None:
    shape = rb.Shape(4, 1, 1, 2, 4096, 128)
    root = Path(__file__).parents[2] / "captures"
    facts = rb.measure([root / "random.csv.gz"], shape, multi_page=1, host=rb.Host(18_583_552))
    assert impossible(facts) == []
    facts = rb.find_multi_page([root / "sequential.vcd.gz"], shape, host=rb.Host(16_777_216))
    assert impossible(facts) == []


@pytest.mark.parametrize(
    ("media", "message", "expected"),
    [
        (4_096_000, "is the same to 0.1 %", []),
        (4_000_000, "is 2.4 % higher", ["impossible: the drive counts 4 MB programmed, the pins at least"]),
        (
            4_096_000_000,
            "is 99.9 % lower",
            ["impossible: the drive counts 4.10 GB programmed, the pins at most 4.10 MB"],
        ),
        (
            1_000_000,
            "is 4.096 times that",
            ["impossible without compression: the drive counts 1 MB", "impossible: "],
        ),
    ],
)
def test_counters_of_the_drive_that_contradict_the_pins_are_impossible(
    cli: Cli, tmp_path: Path, media: int, message: str, expected: list[str]
) -> None:
    # An erase, told apart: nothing hides among the programs.
    (tmp_path / "c.txt").write_text("low_us\n" + "500\n" * 1000 + "3000\n" * 8)
    for name, units in (("a", 0), ("b", media)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"Physical media units written": {"hi": 0, "lo": units}}))
    facts, text = measured(cli, "--host-bytes", "3000000", "--ocp", "a.json", "b.json")
    assert f"; the pin count {message}\n" in text
    remarks = impossible(facts)
    assert len(remarks) == len(expected)
    assert all(one.startswith(start) for one, start in zip(remarks, expected, strict=True)), remarks


def test_counters_of_the_drive_are_within_the_pages_per_program(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("low_us\n" + "500\n" * 1000 + "3000\n" * 8)
    for name, units in (("a", 0), ("b", 1100 * 4096)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"Physical media units written": {"hi": 0, "lo": units}}))
    shape = (*SHAPE[:7], "2", *SHAPE[8:])
    for pages, count in (("1.05", 1), ("1.0..1.1", 0), ("1", 1)):
        facts, _ = measured(cli, "--ocp", "a.json", "b.json", "--multi-page", pages, shape=shape)
        assert len(impossible(facts)) == count, pages


def test_without_host_bytes_nothing_is_impossible(cli: Cli, tmp_path: Path) -> None:
    capture(tmp_path, 1)
    facts, _ = measured(cli)
    assert impossible(facts) == []
