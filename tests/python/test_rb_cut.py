"""``floatgate rb``: a capture that is cut at its begin or end is noticed, whole ones are not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.lab import rb

CAPTURES = Path(__file__).parents[2] / "captures"
SHAPE = ("--channels", "4", "--chips", "1", "--dies", "1", "--planes", "2", "--page-bytes", "4096")
MEASURE = ("--pages-per-block", "128", "--multi-page", "1", "--host-bytes", "18583552")
BUSY = "while dies are busy: it may be cut; the host bytes must be those of the same time"
CUT = "; the capture may be cut: right only for host bytes of the same time"


def lines_of(name: str) -> list[str]:
    return gzip.decompress((CAPTURES / name).read_bytes()).decode().splitlines(keepends=True)


def measured(cli: Cli, path: Path, command: str = "measure", more: tuple[str, ...] = MEASURE) -> tuple[Any, str]:
    words = ("rb", command, path, *SHAPE, *more)
    return json.loads(cli(*words, "--json", "-").done()), cli(*words).done()


def test_a_capture_cut_at_a_line_end_is_doubted_in_its_first_line(cli: Cli, tmp_path: Path) -> None:
    """Half of the rows gave 2.483 (2.434 to 2.511) for a true 5.065."""
    path = tmp_path / "half.csv"
    path.write_text("".join(lines_of("random.csv.gz")[:45_000]))
    facts, text = measured(cli, path)
    assert (facts["cut_at"], facts["ends"]["begin_low"], facts["ends"]["end_low"]) == (["end"], 0, 2)
    assert f"warning    the capture ends {BUSY}\n" in text
    assert text.startswith("WAF        2.48 (2.43 to 2.52)" + CUT + "\n")
    words = ("rb", "measure", path, *SHAPE, *MEASURE, "--report", "r.html")
    cli(*words).done()
    assert (tmp_path / "r.html").read_text().count("the capture may be cut: right only for host bytes") == 1


def test_a_capture_without_its_begin_is_noticed(cli: Cli, tmp_path: Path) -> None:
    head, *rows = lines_of("random.csv.gz")
    path = tmp_path / "late.csv"
    path.write_text(head + "".join(rows[50_000 - 2 :]))
    facts, text = measured(cli, path)
    assert (facts["cut_at"], facts["ends"]["begin_low"]) == (["begin"], 1)
    assert f"warning    the capture begins {BUSY}\n" in text
    assert text.splitlines()[0].endswith(CUT)
    # All pins are high there, and only the times show it.
    first = next(n for n, row in enumerate(rows) if n > 50_000 and row.rstrip().endswith(",1,1"))
    path.write_text(head + "".join(rows[first:]))
    facts, text = measured(cli, path)
    assert facts["cut_at"] == []
    assert "warning    the times of the capture begin at 3.88" in text


def test_half_a_capture_has_no_verdict_on_pages_per_program(cli: Cli, tmp_path: Path) -> None:
    """Half of single-plane programs looked like programs of two planes."""
    lines = lines_of("sequential.vcd.gz")
    path = tmp_path / "half.vcd"
    path.write_text("".join(lines[: len(lines) // 2]))
    facts, text = measured(cli, path, "multi-page", ("--host-bytes", "16777216"))
    assert (facts["cut_at"], facts["multi_page"]) == (["end"], None)
    assert facts["wa"] == facts["wa_single"] == pytest.approx(0.498, abs=0.001)
    assert "M_p        unknown: the capture may be cut (WAF with one page per program: 0.4980)\n" in text


def test_a_capture_that_ends_with_an_edge_may_be_cut(cli: Cli, tmp_path: Path) -> None:
    lines = lines_of("sequential.vcd.gz")
    path = tmp_path / "edge.vcd"
    last = next(n for n in range(1000, len(lines)) if lines[n] == "1!\n")
    path.write_text("".join(lines[: last + 1]))
    facts = rb.measure([path], rb.Shape(4, 1, 1, 2, 4096), multi_page=1)
    assert facts["cut_at"] == []
    assert any("ends with an edge, without quiet time" in one for one in facts["warnings"])


@pytest.mark.parametrize("name", ["random.csv.gz", "sequential.vcd.gz"])
def test_whole_captures_are_not_doubted(name: str) -> None:
    facts = rb.measure([CAPTURES / name], rb.Shape(4, 1, 1, 2, 4096), multi_page=1)
    assert facts["cut_at"] == []
    assert (facts["ends"]["begin_low"], facts["ends"]["end_low"], facts["ends"]["begin_s"]) == (0, 0, 0.0)
    # The captures go on for a millisecond.
    assert facts["ends"]["tail_s"] >= 0.001
    assert not any("cut" in one or "begin at" in one for one in facts["warnings"])
