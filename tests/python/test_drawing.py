"""Pictures are drawn beside the work on their page; those that cannot be drawn cost no results."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conftest import Outcome
from floatgate.pages import charts, drawing
from floatgate.pages.later import later
from floatgate.pages.page import page
from floatgate.pages.parts import figure

ADDRESS_SPACE = 8 << 30
"""Bytes: ample for floatgate, too little for the renderer, which reserves far more than it uses."""


def limited(folder: Path, *arguments: str | Path) -> Outcome:
    """``floatgate ARGUMENTS`` in a limited address space."""
    ended = subprocess.run(
        [sys.executable, "-m", "floatgate", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)),
    )
    return Outcome(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def test_a_run_keeps_its_results_where_no_picture_can_be_drawn(experiment: Path, tmp_path: Path) -> None:
    ended = limited(tmp_path, "run", experiment, "--out", "o", "--json", "-", "--report")
    assert json.loads(ended.done())["schema"] == "floatgate.result/1"
    assert (tmp_path / "o/result.json").is_file()
    page = (tmp_path / "o/report.html").read_text()
    assert page.count("This picture could not be drawn") > 3
    assert "<h2>Resolved experiment</h2>" in page
    notes = [line for line in ended.err.splitlines() if line.startswith("note: ")]
    assert len(notes) == 1
    assert "pictures could not be drawn (Flash work by cause, Write amplification" in notes[0]
    assert "the results are complete" in notes[0]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith((".", "core"))]


def test_pictures_of_a_trace_that_cannot_be_drawn_are_named(trace: Path, tmp_path: Path) -> None:
    ended = limited(tmp_path, "trace", "info", trace, "--format", "msr", "--report", "r.html", "--pictures", "p")
    assert "requests" in ended.done()
    assert ended.err.count("note: ") == 2
    assert "This picture could not be drawn" in (tmp_path / "r.html").read_text()


def test_a_picture_after_a_renderer_that_was_killed_is_drawn_again() -> None:
    chart = json.dumps({"data": {"values": [{"a": 1}]}, "mark": "bar", "encoding": {"x": {"field": "a"}}})
    renderer = drawing._Renderer()
    order = {"kind": "svg", "chart": chart}
    try:
        assert renderer.picture(order).startswith("<svg")
        assert renderer._process is not None
        os.kill(renderer._process.pid, signal.SIGKILL)
        with pytest.raises(drawing.CannotDrawError, match="was ended by SIGKILL"):
            renderer.picture(order)
        assert renderer.picture(order).startswith("<svg")
        with pytest.raises(drawing.CannotDrawError, match="the renderer says"):
            renderer.picture({"kind": "svg", "chart": "{"})
    finally:
        renderer.close()


def test_a_page_says_in_one_note_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(_: dict[str, object]) -> str:
        raise drawing.CannotDrawError("no memory")

    dot = charts.data_chart([{"x": 0}]).mark_point().encode(x="x:Q")
    monkeypatch.setattr(drawing, "svg", cannot)
    drawn = [figure(name, name.title(), "", lambda _: dot) for name in ("first", "second")]
    with pytest.warns(UserWarning, match=r"2 pictures could not be drawn \(First, Second\): no memory") as warnings:
        drawn_page = page("title", drawn)
    assert len(warnings) == 1
    assert drawn_page.count("This picture could not be drawn: no memory.") == 2


def test_a_page_goes_on_while_its_pictures_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    dot = charts.data_chart([{"x": 0}]).mark_point().encode(x="x:Q")
    went_on, drawn = threading.Event(), []

    def svg(_: dict[str, object]) -> str:
        drawn.append(went_on.wait(60))
        return f"<svg width='{len(drawn)}' />"

    monkeypatch.setattr(drawing, "svg", svg)
    parts = [figure(name, name, "", lambda _: dot) for name in ("first", "second")]
    went_on.set()
    html = page("title", parts)
    assert drawn == [True] * 4
    places = [
        html.index(f'<svg role="img" aria-label="{name}. " width=\'{number}\' />')
        for number, name in enumerate(("first", "first", "second", "second"), start=1)
    ]
    assert places == sorted(places)


def test_an_error_of_the_thread_that_draws_is_raised_where_the_picture_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_: dict[str, object]) -> str:
        raise ValueError("a chart that is wrong")

    dot = charts.data_chart([{"x": 0}]).mark_point().encode(x="x:Q")
    monkeypatch.setattr(drawing, "svg", broken)
    part = figure("first", "first", "", lambda _: dot)
    with pytest.raises(ValueError, match="a chart that is wrong"):
        page("title", [part])


def test_a_forked_process_has_a_thread_of_its_own() -> None:
    assert later(lambda: 1).value() == 1
    child = os.fork()
    if child == 0:
        os._exit(later(lambda: 7).value())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
