"""``--pictures``: the figures of reports as files, with their data, in the requested size, font and colours."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import struct
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.base.errors import InputError, InterruptedRunError
from floatgate.cli.app import command
from floatgate.cli.places import Pictures
from floatgate.pages import charts, drawing, palette, pictures, vega
from floatgate.pages.causes import CAUSES
from floatgate.pages.page import page
from floatgate.pages.parts import Picture, figure, pictures_of

KINDS = {"svg", "png", "pdf", "csv"}
TIMED = "mode = 'timed'\n[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 3000\n"
SMALL = "[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 40000\n"


def stems(folder: Path) -> set[str]:
    """The names of the pictures of a folder; each has all of its files and a caption."""
    names = {path.stem for path in folder.iterdir()} - {"captions"}
    assert {path.name for path in folder.iterdir()} == {f"{name}.{kind}" for name in names for kind in KINDS} | {
        "captions.md"
    }
    captions = (folder / "captions.md").read_text()
    assert [int(number) for number in re.findall(r"\*\*Figure (\d+)\.\*\*", captions)] == list(range(1, len(names) + 1))
    assert all(f"`{name}.pdf`" in captions and f"`{name}.csv`" in captions for name in names)
    return names


def pixels(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def points(pdf: bytes) -> float:
    assert pdf.startswith(b"%PDF")
    match = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
    assert match is not None
    return float(match[1])


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


def dots(colors: list[str]) -> vega.Chart:
    made = [{"a": number, "b": number, "what": str(number)} for number in range(len(colors))]
    scale = vega.Scale(domain=[row["what"] for row in made], range=colors)
    chart = charts.data_chart(made).mark_circle().encode(x="a:Q", y="b:Q", color=vega.Color("what:N", scale=scale))
    return charts.finished(chart, 400, 200)


def test_a_run_writes_each_figure_with_its_data(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TIMED)
    text = cli("run", "t.toml", "--out", "r", "--pictures", "r/p", "--picture-width", "85mm", "--json", "r.json").done()
    assert text.endswith("pictures   r/p\n")
    folder = tmp_path / "r/p"
    result = json.loads((tmp_path / "r.json").read_text())
    names = stems(folder)
    assert {"timeline", "shares", "waf", "wear", "cdf", "course", "free", "valid", "why"} <= names
    report = (tmp_path / "r/report.html").read_text()
    assert report.count('<div class="wide">') == len(names) - 1  # the page draws the timeline itself
    for name in names:
        svg = (folder / f"{name}.svg").read_text()
        assert 'width="85mm"' in svg
        assert pixels((folder / f"{name}.png").read_bytes())[0] in (1003, 1004)
        assert points((folder / f"{name}.pdf").read_bytes()) == pytest.approx(85 / 25.4 * 72, abs=0.1)
    erased = rows(folder / "wear.csv")
    assert sum(float(row["count"]) for row in erased) == sum(result["wear"]["histogram"]["blocks"])
    shares = [float(row["share"]) for row in rows(folder / "shares.csv") if row["what"] == "programs"]
    assert sum(shares) == pytest.approx(1)
    spans = rows(folder / "timeline.csv")
    assert {row["where"] for row in spans} <= {"die 0", "channel 0"}
    assert all(0 <= float(row["from"]) < float(row["to"]) <= 20.01 for row in spans)


def test_every_command_with_a_report_writes_pictures() -> None:
    def each(group: object, name: str = "") -> dict[str, set[str]]:
        inner = getattr(group, "commands", None)
        if inner is None:
            return {name.strip(): {option for one in group.params for option in one.opts}}  # type: ignore[attr-defined]
        return {key: value for word, one in inner.items() for key, value in each(one, f"{name} {word}").items()}

    options = each(command())
    own = {"--pictures", "--picture-width", "--picture-font", "--picture-palette"}
    reporting = {name for name, opts in options.items() if "--report" in opts} | {"report"}
    assert {name for name, opts in options.items() if own <= opts} == reporting
    assert len(reporting) > 10
    assert all(not own & opts for name, opts in options.items() if name not in reporting)


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("run", "d.toml", "--repeat", "2"), {"seeds"}),
        (("compare", "d.toml", "--vary", "ftl.collect.policy=greedy,fifo"), {"compared-waf-bytes-1"}),
        (("sweep", "d.toml", "--vary", "ftl.spare_factor=0.1,0.2"), {"varied-waf-bytes-1"}),
        (("lifetime", "d.toml", "--set", "workload.rate_per_s=1"), set()),
        (("plan", "d.toml", "--set", "workload.rate_per_s=1", "--capacities", "64MiB,128MiB"), set()),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_studies_write_theirs_without_a_report(
    arguments: tuple[str, ...], names: set[str], cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    cli(*arguments, "--pictures", "p", "--no-report", "-q").done()
    written = stems(tmp_path / "p")
    assert written
    assert names - {"seeds"} <= written


def test_data_of_what_varied_have_a_column_for_each_key(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    vary = {"ftl.spare_factor": ["0.1", "0.2"], "ftl.collect.policy": ["greedy", "fifo"]}
    options = [part for key, values in vary.items() for part in ("--vary", f"{key}={','.join(values)}")]
    cli("sweep", "d.toml", *options, "--pictures", "p", "--no-report", "-q").done()
    settings = {tuple(row[key] for key in vary) for row in rows(tmp_path / "p/varied-waf-bytes-1.csv")}
    assert settings == set(itertools.product(*vary.values()))


def test_data_of_comparisons_have_them_too_and_captions_name_columns_of_the_data(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TIMED)
    vary = {"ftl.spare_factor": ["0.1", "0.2"], "ftl.collect.policy": ["greedy", "fifo"]}
    options = [part for key, values in vary.items() for part in ("--vary", f"{key}={','.join(values)}")]
    cli("compare", "t.toml", *options, "--repeat", "2", "--pictures", "p", "--no-report", "-q").done()
    every = set(itertools.product(*vary.values()))
    for name in ("compared-write", "difference-throughput-iops"):
        settings = {tuple(row[key] for key in vary) for row in rows(tmp_path / f"p/{name}.csv") if row["label"]}
        assert settings == {one for one in every if name == "compared-write" or one[0] != "0.1"}, name
    captions = (tmp_path / "p/captions.md").read_text()
    assert "Circle: p50, square: p99, triangle: p99.9. Means over 2 seeds." in captions
    for name, columns in re.findall(r"data: `([^`]+)`(?: \((.*)\))?$", captions, re.MULTILINE):
        header = (tmp_path / "p" / name).read_text().splitlines()[0].split(",")
        assert set(re.findall(r"`([^`]+)` on", columns)) <= set(header), name


def test_a_report_of_old_results_writes_the_same_pictures(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    cli("run", "d.toml", "--out", "r", "--pictures", "p", "-q").done()
    cli("report", "r", "--pictures", "again", "-q").done()
    assert stems(tmp_path / "again") == stems(tmp_path / "p")
    for path in (tmp_path / "p").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name
    assert "folder is not empty" in cli("report", "r", "--pictures", "p").refused()
    cli("report", "r", "--pictures", "p", "--force", "--out", "x.html", "--picture-width", "300px", "-q").done()
    assert pixels((tmp_path / "p/waf.png").read_bytes())[0] == 300
    assert points((tmp_path / "p/waf.pdf").read_bytes()) == 225


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--picture-width", "85"), "--picture-width: '85' is not a width; expected one such as 85mm or 640px"),
        (("--picture-width", "1mm"), "--picture-width: '1mm' is out of range; expected a width from 100px (26mm) to"),
        (("--picture-width", "5000px"), "is out of range"),
        (("--picture-font", "No Such Font"), "--picture-font: 'No Such Font' is not installed; expected an installed"),
        (("--picture-font", "a\"b'<c"), "is not the name of a font"),
        (("--picture-palette", "gray"), "--picture-palette: unknown palette 'gray'; did you mean 'grey'"),
        (("--pictures", "o"), "--pictures: o is the folder of --out; expected another folder"),
        (("--pictures", ""), "--pictures: an empty path; expected a folder"),
        (("--pictures", "d.toml"), "d.toml: is a file; expected an empty or missing folder"),
    ],
)
def test_unusable_options_are_refused_before_the_run(
    options: tuple[str, str], message: str, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    assert message in cli("run", "d.toml", "--out", "o", "--pictures", "p", *options).refused()
    assert [path.name for path in tmp_path.iterdir()] == ["d.toml"]
    alone = cli("run", "d.toml", "--out", "o", "--picture-width", "85mm").refused()
    assert alone == "--picture-width: no pictures are written; expected it with --pictures DIR"


def test_a_picture_that_cannot_be_drawn_leaves_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    def fail(*_: object) -> vega.Chart:
        raise drawing.CannotDrawError("no memory")

    made = [Picture("bad", "Bad", "", fail), Picture("good", "Good", "", lambda _: dots([palette.BLUE]))]
    pictures.write(made, tmp_path, pictures.Style())
    assert stems(tmp_path) == {"good"}
    assert [str(one.message) for one in recwarn] == [
        "1 picture could not be drawn (Bad): no memory; the results are complete without"
    ]
    # Nothing of a picture of which one file cannot be made.
    monkeypatch.setattr(drawing, "pdf", fail)
    (tmp_path / "none").mkdir()
    pictures.write(made[1:], tmp_path / "none", pictures.Style())
    assert not list((tmp_path / "none").iterdir())


def test_an_interruption_leaves_no_pictures_and_says_that_results_are_there(tmp_path: Path) -> None:
    def interrupted(_: int) -> vega.Chart:
        raise KeyboardInterrupt

    files = Pictures(str(tmp_path / "p")).checked()
    assert files is not None
    with pytest.raises(InterruptedRunError, match=r"interrupted while the pictures were drawn; .*p was not written"):
        files.write(lambda: page("t", [figure("one", "T", "C", interrupted)]))
    assert not list(tmp_path.iterdir())


def test_greys_keep_colours_apart_and_in_their_order() -> None:
    colors = [entry.color for entry in CAUSES.values()][:6]
    drawn = pictures.drawn(dots(colors).to_dict(), "a & <b>", pictures.Style(400, in_mm=False, grey=True))
    svg = drawn["svg"].decode()
    assert "<title>a &amp; &lt;b></title>" in svg
    assert pixels(drawn["png"])[0] == 400
    used = {match[2] for match in pictures._COLOR.finditer(svg)} - {palette.INK, palette.GREY}
    assert all(len({color[1:3], color[3:5], color[5:7]}) == 1 for color in used)
    greys = sorted(int(color[1:3], 16) for color in used if color != palette.WHITE)
    assert len(greys) == len(set(colors))
    assert min(later - one for one, later in itertools.pairwise(greys)) >= 20
    lightest = max(colors, key=pictures._lightness)
    (least,) = [number for number, color in enumerate(colors) if color == lightest]
    marks = re.findall(r'aria-label="a: (\d+);[^>]*fill="([^"]+)"', svg)
    fills = {int(number): fill for number, fill in marks}
    tiles = dict(re.findall(r'<pattern id="([^"]+)".*?<rect[^>]*fill="([^"]+)"', svg))
    assert len(fills) == len(colors)
    shown = {number: tiles.get(fill[5:-1], fill) for number, fill in fills.items()}
    assert shown[least] == f"#{greys[-1]:02x}" + f"{greys[-1]:02x}" * 2


def test_the_font_of_texts_is_the_requested_one() -> None:
    style = pictures.Style.of(None, "serif", None)
    svg = pictures.drawn(dots([palette.BLUE]).to_dict(), "t", style)["svg"].decode()
    assert set(re.findall(r'font-family="([^"]*)"', svg)) == {"serif"}
    plain = pictures.drawn(dots([palette.BLUE]).to_dict(), "t", pictures.Style())["svg"].decode()
    assert set(re.findall(r'font-family="([^"]*)"', plain)) == {"Liberation Sans, Arial, sans-serif"}
    with pytest.raises(InputError, match="not installed"):
        pictures.Style.of(None, "Nothing Sans", None)


def test_the_data_of_layers_and_their_axes() -> None:
    line = charts.data_chart([{"x": 1, "y": 2.5}]).mark_line().encode(x=vega.X("x:Q", title="time, s"), y="y:Q")
    rule = charts.data_chart([{"at": None, "name": "=1+1"}]).mark_rule().encode(y="at:Q")
    chart = charts.finished(vega.layer(line, rule), 400, 200).to_dict()
    assert pictures.table(chart) == "layer,x,y,at,name\n1,1,2.5,,\n2,,,,'=1+1\n"
    assert pictures.table(line.to_dict()) == "x,y\n1,2.5\n"
    assert "(`x` on 'time, s')" in pictures._caption(1, Picture("n", "T", "How.", lambda _: chart), chart)


def test_pictures_of_a_page_are_listed_without_being_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "svg", lambda *_: pytest.fail("drawn"))
    names = ("one", "two", "one", "a/b c")
    listed = pictures_of(lambda: page("t", [figure(name, "T", "C", lambda _: dots([])) for name in names]))
    assert [picture.name for picture in listed] == ["one", "two", "one-2", "a-b-c"]


@pytest.mark.parametrize(
    ("width", "laid_out"), [("26.5mm", 328), ("85mm", 328), ("439px", 328), ("440px", 560), ("900px", 560)]
)
def test_charts_have_a_layout_of_pages(width: str, laid_out: int, tmp_path: Path) -> None:
    drawn: list[int] = []

    def draw(at: int) -> vega.Chart:
        drawn.append(at)
        return dots([palette.BLUE])

    pictures.write([Picture("one", "T", "C", draw)], tmp_path, pictures.Style.of(width, None, None))
    assert drawn == [laid_out]
