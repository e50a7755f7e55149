"""``floatgate plan``: drives of the catalogue side by side, prices, the Pareto front, its files, what it refuses."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate.run.experiment import resolve
from floatgate.run.run import check
from floatgate.study import planning
from floatgate.study.plan import Plan
from floatgate.study.plan_drives import GROUPS, Candidate, Needs, flash_as_sold, named_drives, sold_bytes, work_texts
from floatgate.study.plan_point import Bounds, Point, Price, front
from test_plan_point import point

ASSUMED = ("--set", "lifetime.forecast.waf=1.5", "--target", "1")
"""No laps: lives of large drives within a blink."""
NAMES = "client-tlc-1t,client-qlc-1t,boot-480g"
PRICES = "client-tlc-1t=80,client-qlc-1t=60,boot-480g=90"


@pytest.fixture
def steady(tmp_path: Path) -> Path:
    """A workload of 12 MB/s, without a drive of its own: 388 TB a year."""
    path = tmp_path / "steady.toml"
    path.write_text("[workload]\nrequests = 20000\nrate_per_s = 3000.0\n")
    return path


def test_named_drives_stand_side_by_side(cli: Cli, steady: Path, tmp_path: Path) -> None:
    ended = cli(
        "plan", steady, *ASSUMED, "--drives", NAMES, "--prices", PRICES, "--out", "o", "--json", "-", "--report"
    )
    answer = json.loads(ended.done())
    points = answer["points"]
    assert [one["drive"] for one in points] == NAMES.split(",")
    assert [one["capacity_bytes"] for one in points] == [flash_as_sold(name) for name in NAMES.split(",")]
    assert {(one["throttle"], one["error"]) for one in points} == {("none", None)}
    assert [one["price"] for one in points] == [80, 60, 90]
    # 388 TB a year: the QLC drive is rated for 220 TB, the others for 600 and 876.
    assert [one["cut_by"] for one in points] == [None, "rating", None]
    assert [one["ends"] for one in points] == ["rating"] * 3
    assert [round(one["life_years"], 1) for one in points] == [1.5, 0.6, 2.3]
    assert [one["pareto"] for one in points] == [True, True, True]
    # The QLC drive writes what it is rated for, the others what a year brings.
    assert [one["useful_tb"] for one in points] == pytest.approx([387.5, 220, 387.5], rel=0.01)
    assert points[1]["price_per_useful_tb"] == pytest.approx(60 / 220, rel=0.01)
    assert answer["best"] == [0]
    lines = ended.err.splitlines()
    assert lines[0].startswith(
        "the cheapest drive that lasts 1 year is client-tlc-1t: life 1.5 years until the rated bytes are written, "
        "100 % served, WAF 1.50, price 80.0 (0.206 per TB written); not known: p99 of reads and writes (write "
        "amplification is given, so no drive was simulated)"
    )
    assert "3 choices of drive and throttle for steady" in (listed := cli("ls", "o").done())
    assert "207 days to 2.3 years" in listed
    page = (tmp_path / "o/report.html").read_text()
    assert "Life against price: the Pareto front" in page
    cli("report", "o").done()
    again = (tmp_path / "o/report.html").read_text()
    assert again.split() == re.sub(r"<h2>How to repeat it</h2>\s*<pre>.*?</pre>", "", page).split()


def test_a_bound_on_latencies_that_are_not_known_is_told(cli: Cli, steady: Path) -> None:
    command = ("plan", steady, *ASSUMED, "--drives", NAMES, "--max-write-p99", "5", "--no-report")
    answer = json.loads(cli(*command, "--json", "-").done())
    assert answer["best"] == []
    assert "how long writes take is not known (write amplification is given" in answer["answer"]


def test_the_table_is_written_as_csv_and_parquet(cli: Cli, steady: Path, tmp_path: Path) -> None:
    command = ("plan", steady, *ASSUMED, "--drives", NAMES, "--prices", PRICES, "--no-report")
    cli(*command, "--out", "o", "--csv", "t.csv").done()
    text = (tmp_path / "t.csv").read_text()
    assert (tmp_path / "o/plan.csv").read_text() == text
    rows = list(csv.DictReader(text.splitlines()))
    assert [(row["drive"], row["best"], row["ends"]) for row in rows] == [
        ("client-tlc-1t", "True", "rating"),
        ("client-qlc-1t", "False", "rating"),
        ("boot-480g", "False", "rating"),
    ]
    known = pq.read_table(tmp_path / "o/plan.parquet").to_pylist()
    assert [row["price"] for row in known] == [80.0, 60.0, 90.0]
    assert known[0]["price_per_useful_tb"] == pytest.approx(float(rows[0]["price_per_useful_tb"]))
    assert "exists already" in cli(*command, "--csv", "t.csv").refused()
    assert "unknown kind of file" in cli(*command, "--csv", "t.txt").refused()


def test_without_drives_it_does_as_lifetime_plan_and_throttles_nothing(cli: Cli, experiment: Path) -> None:
    short = ("--set", "workload.requests=2000", "--target", "0.001", "--capacities", "32MiB,64MiB", "--json", "-")
    answer = json.loads(cli("plan", experiment, *short).done())
    assert [(one["drive"], one["throttle"]) for one in answer["points"]] == [(None, "none")] * 2
    assert json.loads(cli("lifetime", experiment, "--plan", *short).done()) == answer
    own = cli("plan", experiment, *short, "--set", "lifetime.throttle.policy=static").done()
    assert {one["throttle"] for one in json.loads(own)["points"]} == {"static"}


def test_a_capacity_makes_a_slice_of_each_drive_at_a_price_in_proportion(cli: Cli, steady: Path) -> None:
    options = ("--drives", "client-tlc-1t,boot-480g", "--capacities", "64GiB", "--price-per-tb", "100")
    answer = json.loads(cli("plan", steady, *ASSUMED, *options, "--prices", "boot-480g=80", "--json", "-").done())
    first, second = answer["points"]
    assert first["capacity"] == second["capacity"] == "64GiB"
    # A whole drive is sold as 1 TB, and a slice has its share of the flash.
    assert first["price"] == pytest.approx(100 * first["capacity_bytes"] / flash_as_sold("client-tlc-1t"))
    assert second["price"] == pytest.approx(80 * second["capacity_bytes"] / flash_as_sold("boot-480g"))
    # Its rating makes the boot drive last longer, and the price of so much of it is said.
    assert answer["answer"] == (
        "none of these drives lasts 1 year; it would take about 227 GiB of boot-480g at a price of 35.4, extrapolated "
        "from 64 GiB; of these, boot-480g of 64GiB lasts longest: life 103 days until the rated bytes are written, "
        "100 % served, WAF 1.50, price 9.99 (0.0913 per TB written)"
    )


def test_capacities_are_those_as_sold_and_prices_per_tb_are_of_them(cli: Cli, steady: Path) -> None:
    options = ("--drives", "boot-480g,ent-qlc-61t44", "--price-per-tb", "100", "--spare-factors", "0.2")
    made = json.loads(cli("plan", steady, *ASSUMED, *options, "--json", "-").done())
    # The larger one is modelled with half of its flash. More spare space makes no drive cheaper.
    assert [one["price"] for one in made["points"]] == pytest.approx([48, 6144], rel=0.002)
    assert [one["sold_bytes"] / 1e9 for one in made["points"]] == pytest.approx([480, 61_440], rel=0.002)
    header, cells = Plan.of(made, "").rows()
    assert [row[header.index("capacity")] for row in cells] == ["480 GB", "61.4 TB"]
    # Nobody sells the drive of a paper, or one without a name.
    assert (sold_bytes("ready-32g", 1e9), sold_bytes("custom", 1e9), sold_bytes(None, 1e9)) == (None, None, None)


def test_prices_are_of_groups_too_and_those_of_other_drives_are_ignored(cli: Cli, steady: Path) -> None:
    prices = ("--prices", "client=60,client-tlc-2t=120,ufs-256g=9,ent=500")
    ended = cli("plan", steady, *ASSUMED, "--drives", "client-tlc", *prices, "--json", "p.json")
    text = ended.done()
    made = json.loads((steady.parent / "p.json").read_text())
    assert {one["drive"]: one["price"] for one in made["points"]} == {
        "client-tlc-1t": 60,
        "client-tlc-2t": 120,
        "client-tlc-hmb-1t": 60,
    }
    assert text.count("note: prices of drives that this plan does not try are ignored: ufs-256g, ent") == 1
    assert Plan.of(made, "").text().rstrip() in text


def test_prices_are_per_tb_too(cli: Cli, steady: Path) -> None:
    prices = ("--prices", "client=60/TB,boot=0.07e3 / TB,client-tlc-hmb-1t=55")
    made = json.loads(cli("plan", steady, *ASSUMED, "--drives", "client-tlc,boot", *prices, "--json").done())
    assert {one["drive"]: one["price"] for one in made["points"]} == pytest.approx(
        {"client-tlc-1t": 60, "client-tlc-2t": 120, "client-tlc-hmb-1t": 55, "boot-480g": 0.48 * 70}
    )
    assert made["price_doubts"] == []


def test_one_price_of_drives_of_several_capacities_is_doubtful(cli: Cli, steady: Path, tmp_path: Path) -> None:
    plan = ("plan", steady, *ASSUMED, "--drives", "client-tlc", "--prices")
    text = cli(*plan, "client=60", "--out", "o", "--report").done()
    doubt = "client=60 is one price for drives of 1 TB to 2 TB; client=60/TB would be per TB"
    assert f"\nnote: {doubt}\n" in text
    assert doubt in (tmp_path / "o" / "report.html").read_text()
    # With a price of its own for the larger drive, the others are of one capacity.
    assert "is one price" not in cli(*plan, "client=60,client-tlc-2t=110").done()


def test_a_finished_plan_takes_prices_without_another_forecast(cli: Cli, steady: Path, tmp_path: Path) -> None:
    cli("plan", steady, *ASSUMED, "--drives", NAMES, "--out", "o", "--no-report").done()
    (tmp_path / "o" / "mine.txt").write_text("kept")
    before = json.loads((tmp_path / "o" / "plan.json").read_text())
    assert [one["price"] for one in before["points"]] == [None] * 3
    for name, message in (
        ("client-tlc-1t=80", "--prices: no price of 'client-qlc-1t', 'boot-480g'; expected one for each drive"),
        ("client-tlc-1x=80", "--prices: unknown drive or group 'client-tlc-1x'"),
    ):
        assert message in cli("report", "o", "--prices", name).refused()
    assert "expected no --out and no --baseline" in cli("report", "o", "--prices", PRICES, "--out", "x.html").refused()
    assert json.loads((tmp_path / "o" / "plan.json").read_text()) == before
    text = cli("report", "o", "--prices", PRICES).done()
    assert text.startswith("the cheapest drive that lasts 1 year is client-tlc-1t")
    after = json.loads((tmp_path / "o" / "plan.json").read_text())
    at_once = json.loads(cli("plan", steady, *ASSUMED, "--drives", NAMES, "--prices", PRICES, "--json").done())
    assert after == at_once
    with (tmp_path / "o" / "plan.csv").open() as file:
        assert [float(row["price"]) for row in csv.DictReader(file)] == [80, 60, 90]
    assert "The cheapest drive that lasts 1 year is client-tlc-1t" in (tmp_path / "o" / "report.html").read_text()
    assert (tmp_path / "o" / "mine.txt").read_text() == "kept"
    cli("report", "o", "--price-per-tb", "100").done()
    again = json.loads((tmp_path / "o" / "plan.json").read_text())
    assert [one["price"] for one in again["points"]] == pytest.approx([100, 100, 48])


def test_a_finished_plan_takes_a_title_and_a_note(cli: Cli, steady: Path, tmp_path: Path) -> None:
    named = ("--drives", NAMES, "--prices", PRICES, "--note", "Offers of May.")
    cli("plan", steady, *ASSUMED, *named, "--out", "o", "--no-report").done()
    before = json.loads((tmp_path / "o" / "plan.json").read_text())
    cli("report", "o", "--title", "Drives for the databases").done()
    after = json.loads((tmp_path / "o" / "plan.json").read_text())
    assert after == {**before, "title": "Drives for the databases"}
    page = (tmp_path / "o" / "report.html").read_text()
    assert "<h1>Drives for the databases</h1>" in page
    assert "Offers of May." in page
    assert "--title: several folders; expected the folder of one" in cli("report", "o", "o", "--title", "T").refused()


def test_the_table_of_files_ranks_the_drives_to_take_and_has_their_rating(cli: Cli, steady: Path) -> None:
    cli("plan", steady, *ASSUMED, "--drives", NAMES, "--prices", PRICES, "--csv", "p.csv").done()
    with (steady.parent / "p.csv").open() as file:
        rows = {row["drive"]: row for row in csv.DictReader(file)}
    assert [name for name, row in rows.items() if row["best_rank"] == "1"] == ["client-tlc-1t"]
    assert all((row["best"].lower() == "true") == (row["best_rank"] != "") for row in rows.values())
    assert float(rows["boot-480g"]["rated_tbw_bytes"]) == pytest.approx(876e12, rel=0.002)


def test_a_plan_says_that_a_throttle_meets_no_rating(cli: Cli, steady: Path) -> None:
    says = "throttle: it budgets what the flash endures, not the rated bytes"
    options = ("--drives", "client-qlc-1t", "--throttles", "none,static", "--demand", "2TB/day")
    assert says in cli("plan", steady, *ASSUMED, *options).done()
    assert says not in cli("plan", steady, *ASSUMED, *options, "--judge", "flash").done()


def test_prices_are_of_plans(cli: Cli, steady: Path) -> None:
    cli("plan", steady, *ASSUMED, "--capacities", "64GiB", "--out", "own", "--no-report").done()
    error = cli("report", "own", "--prices", PRICES).refused()
    assert "--prices: the plan tries no drives of the catalogue; expected --price-per-tb in its place" in error
    cli("lifetime", steady, *ASSUMED, "--capacity", "64GiB", "--out", "life", "--no-report").done()
    assert "life: no plan; expected the folder of one" in cli("report", "life", "--prices", PRICES).refused()


def test_what_a_volume_leaves_of_a_drive_is_spare_space(cli: Cli, steady: Path, tmp_path: Path) -> None:
    named = ("plan", steady, *ASSUMED, "--drives", "boot,client-tlc-1t,ufs-256g", "--volume")
    ended = cli(*named, "400GB", "--price-per-tb", "100", "--json", "p.json", "--out", "o", "--no-report")
    text = ended.done()
    points = json.loads((tmp_path / "p.json").read_text())["points"]
    # What is bought and rated stays, what the host sees is the volume.
    assert [one["sold_bytes"] for one in points[:2]] == pytest.approx([480e9, 1e12], rel=1e-3)
    assert [one["price"] for one in points[:2]] == pytest.approx([48, 100], rel=1e-3)
    assert [one["logical_bytes"] for one in points[:2]] == pytest.approx([400e9] * 2, rel=1e-6)
    flash = [flash_as_sold(one["drive"]) for one in points[:2]]
    assert [one["spare_factor"] for one in points[:2]] == pytest.approx([1 - 400e9 / size for size in flash], abs=1e-4)
    whole = json.loads(cli(*named[:-1], "--json").done())["points"]
    assert [one["rated_years"] for one in points[:2]] == pytest.approx(
        [one["rated_years"] for one in whole[:2]], rel=0.01
    )
    assert (
        points[2]["error"] == "--volume: 400 GB is more than the drive shows (256 GB); expected a volume that it holds"
    )
    assert re.search(r"boot-480g +480 GB +400 GB +27.3 %", text)
    assert "visible: what the host may write to" in text
    assert "the WAF is given: it is the same whatever the spare factor is" in text
    assert "visible" not in cli(*named[:-1]).done()
    with (tmp_path / "o" / "plan.csv").open() as file:
        assert [row["logical_bytes"] for row in csv.DictReader(file)][:2] == [
            str(one["logical_bytes"]) for one in points[:2]
        ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--volume", "much"), "--volume: 'much' is not a size; expected a size above 0 such as 400GB"),
        (("--volume", "0"), "--volume: 0 is not a size"),
        (("--volume", "500GB"), "--volume: 500 GB is more than the drive shows (480 GB); expected a volume"),
        (("--volume", "400"), "--volume: 400 B is a small part of the drive; expected 27.5 GB or more"),
        (("--volume", "400GB", "--spare-factors", "0.1"), "--volume: it sets the spare factor of each drive"),
    ],
)
def test_volumes_that_no_drive_can_have_are_refused(
    cli: Cli, steady: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in cli("plan", steady, *ASSUMED, "--drives", "boot", *arguments).refused()


def test_a_forecast_of_a_volume_is_that_of_the_plan(cli: Cli, steady: Path) -> None:
    plan = json.loads(cli("plan", steady, *ASSUMED, "--drives", "boot", "--volume", "400GB", "--json").done())
    life = json.loads(cli("lifetime", steady, *ASSUMED, "--drive", "boot-480g", "--volume", "400GB", "--json").done())
    assert life["lifetime"] == plan["points"][0]["lifetime"]
    workload = {"workload.requests": 20_000, "workload.rate_per_s": 3000.0, "lifetime.forecast.waf": 1.5}
    in_python = floatgate.lifetime(workload, drive="boot-480g", target_years=1, volume="400 GB")
    assert in_python.drive.logical_bytes == life["drive"]["logical_bytes"]
    with pytest.raises(floatgate.InputError, match=r"^volume: 1 TB is more than the drive shows"):
        floatgate.lifetime(workload, drive="boot-480g", volume="1 TB")


def test_the_parts_of_write_amplification_stand_below_the_table(cli: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small.toml"
    small.write_text("[workload]\nrequests = 20000\nrate_per_s = 1.0\nrequest_bytes = 1024\npattern = 'zipf'\n")
    ended = cli("plan", small, "--drives", "boot", "--capacities", "1GiB", "--json", "p.json", "--out", "o", "--report")
    text = ended.done()
    made = json.loads((tmp_path / "p.json").read_text())
    parts = made["points"][0]["waf_bytes_parts"]
    assert parts["total"] == pytest.approx(made["points"][0]["waf_bytes"], rel=1e-6)
    # Requests of 1 KiB program pages of 4 KiB.
    assert parts["host"] + parts["partial"] == pytest.approx(4.0)
    assert "\nWAF of boot-480g: 1.00 data, 3.00 rest of partial pages" in text
    assert Plan.of(made, "").text().rstrip() in text
    assert "WAF of boot-480g: 1.00 data, 3.00 rest of partial pages" in (tmp_path / "o" / "report.html").read_text()


def test_a_capacity_means_the_same_in_all_commands(cli: Cli, steady: Path) -> None:
    """``--drive`` with ``--capacities``, ``--drives`` with them, and ``lifetime --capacity``."""
    named = ("--drive", "client-tlc-1t")
    life = json.loads(cli("lifetime", steady, *ASSUMED, *named, "--capacity", "64GiB", "--json", "-").done())
    base = resolve(str(steady), drive="client-tlc-1t")
    candidates = (Candidate(None, "64GiB"), Candidate("client-tlc-1t", "64GiB"))
    shapes = [tomllib.loads(check(base.with_overrides(one.overrides(base))))["drive"]["geometry"] for one in candidates]
    assert shapes[0] == shapes[1] == life["config"]["drive"]["geometry"]
    # A 16th of the drive has fewer dies, as the real one would.
    assert shapes[0]["blocks_per_plane"] >= 256
    alone = json.loads(cli("plan", steady, *ASSUMED, *named, "--capacities", "64GiB", "--json", "-").done())
    beside = json.loads(
        cli("plan", steady, *ASSUMED, "--drives", named[1], "--capacities", "64GiB", "--json", "-").done()
    )
    assert alone["points"][0]["lifetime"] == beside["points"][0]["lifetime"] == life["lifetime"]


def test_an_interrupted_plan_of_drives_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = resolve({"workload.requests": 20000, "workload.rate_per_s": 3000.0, "lifetime.forecast.waf": 1.5})
    choices: dict[str, Any] = {"drives": ["boot-480g", "client-qlc"], "capacities": ["32GiB", "64GiB"]}
    first = planning.plan(base, **choices, out=tmp_path)
    assert [one.label for one in first.points][:2] == ["boot-480g of 32GiB", "boot-480g of 64GiB"]
    with monkeypatch.context() as patch:
        patch.delattr(planning, "forecast")
        assert planning.plan(base, **choices, out=tmp_path, resume=True).to_dict() == first.to_dict()
    document = first.to_dict()
    assert Plan.of(document, first.experiment_toml).to_dict() == document


def test_groups_are_words_of_names() -> None:
    every = {name: named_drives([name]) for name in GROUPS}
    assert set(every["current"]).isdisjoint(every["papers"])
    assert named_drives(["client-qlc", "boot"]) == ["client-qlc-1t", "client-qlc-2t", "boot-480g"]
    assert named_drives(["client-qlc", "client-qlc-2t"]) == ["client-qlc-1t", "client-qlc-2t"]
    assert set(named_drives(["enterprise"])) == {*named_drives(["ent"]), "boot-480g"}
    # Drives of papers stand in groups where no current drive does.
    assert set(named_drives(["tlc"])) <= set(every["current"])
    assert named_drives(["ready"]) == ["ready-32g", "ready-128g"]


def priced(one: Point, drive: str) -> Point:
    return Point("", None, one.throttle, one.result, drive=drive)


def test_the_front_is_what_nothing_beats() -> None:
    sizes = [(1 << 20, 3.0), (2 << 20, 6.0), (4 << 20, 6.0), (8 << 20, 7.0)]
    points = [point(size=size, years=years) for size, years in sizes]
    assert front(points, Bounds()) == [points[0], points[1], points[3]]
    more = [*points, point(served=0.5, size=4 << 20, years=8.0), point(served=0.5, size=4 << 20, years=6.0)]
    assert front(more, Bounds()) == [points[0], points[1], points[3], more[4]]
    # Nothing that the page shows makes one of these better.
    alike = [point(size=8 << 20, years=years) for years in (5.0, 4.99999)]
    assert front(alike, Bounds()) == alike
    # By price the largest is the cheapest.
    named = [priced(one, str(number)) for number, one in enumerate(points)]
    prices = tuple(Price(str(number), 10.0 - number, int(one.physical_bytes)) for number, one in enumerate(named))
    assert front(named, Bounds(prices=prices)) == [named[3]]
    assert (
        Plan(named, "", "x", Bounds(prices=prices)).answer().startswith("the cheapest drive that lasts 5 years is 3: ")
    )
    # A drive that nothing wears out lives longest.
    endless = point(size=16 << 20)
    assert endless.result is not None
    endless.result["lifetime"] |= {"years": None, "holds": True}
    assert front([*points, endless], Bounds())[-1] == endless
    assert (endless.ends, endless.to_dict(Bounds(), on_front=True)["life_years"]) == (None, None)


def test_what_a_plan_takes_is_said_of_large_drives_only() -> None:
    assert work_texts(
        [Needs(64 << 30, 160 << 20, 16 << 20), Needs(128 << 30, 320 << 20, 32 << 20)], 1, 3, whole=True
    ) == [
        "2 drives of 64 GiB to 128 GiB, 1 at once; up to 320 MiB of memory",
        "simulated: 50 million pages, until write amplification settles; forecast from that: the lives of 6 choices",
        "faster: --set lifetime.forecast.waf_of_bytes=WAF if known (no simulation), or slices: --capacities 64GiB",
    ]
    work, _, faster = work_texts([Needs(64 << 30, 160 << 20)] * 2, 2, 1, whole=False)
    assert work.startswith("2 drives of 64 GiB, 2 at once; up to 320 MiB")
    assert "--capacities" not in faster


@pytest.mark.parametrize(
    ("settings", "begins"), [({}, 3), ({"drive.capacity": "16 GiB"}, 0), ({"lifetime.forecast.waf": 1.5}, 0)]
)
def test_nothing_is_said_where_the_work_is_little(
    settings: dict[str, Any], begins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(planning, "at_once", stop)
    messages: list[str] = []
    base = resolve({"workload.rate_per_s": 3000.0, **settings})
    sizes = ["8 GiB"] if "drive.capacity" in settings else ["64 GiB", "128 GiB"]
    with pytest.raises(KeyboardInterrupt):
        planning.plan(base, capacities=sizes, begins=messages.append)
    assert len(messages) == begins


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--drives", "client-tlc-1x"),
            "unknown drive or group 'client-tlc-1x'; did you mean 'client-tlc-1t', ",
        ),
        (("--drives", "boot-480g,boot-480g"), "'boot-480g' given twice"),
        (("--drives", "boot-480g", "--drive", "boot-480g"), "--drive: the plan already tries those of --drives"),
        (("--drives", "boot-480g", "--capacity", "64GiB"), "--capacity: the plan tries several drives; expected"),
        (("--prices", "boot-480g=5"), "--prices: no drives are named; expected --drives"),
        (
            ("--drives", "boot", "--prices", "client-tlc-1t=5"),
            "--prices: no price of 'boot-480g'; expected one for each drive",
        ),
        (
            ("--drives", "boot", "--prices", "boot-480g=much"),
            "--prices boot-480g: 'much' is not a price; expected a figure above 0 such as 60, or a price per TB",
        ),
        (("--drives", "boot", "--prices", "boot-480g=0"), "--prices boot-480g: 0 is not a price"),
        (
            ("--drives", "client-qlc", "--prices", "client-qlc-1t=5"),
            "no price of 'client-qlc-2t'; expected one",
        ),
        (("--drives", "boot", "--prices", "client-tlc-1x=5"), "--prices: unknown drive or group 'client-tlc-1x'; did"),
        (
            ("--drives", "client-qlc", "--prices", "client=5,qlc=6"),
            "--prices: two prices of 'client-qlc-1t', by its groups; expected one, or its own",
        ),
        (("--capacities", "64GiB,big"), "--capacities: 'big' is not a size; expected sizes such as 64GiB"),
        (("--capacities", "64GiB,64GiB"), "'64GiB' given twice"),
        (("--target", "long"), "--target: 'long' is not a length of time; expected years"),
        (("--target", "-1"), "--target: -1 is not a length of time"),
        (("--price-per-tb", "dear"), "--price-per-tb: 'dear' is not a price"),
        (("--throttles", "best"), "--throttles 'best': unknown policy; expected one of 'none', 'static'"),
        (("--throttles", "all,none"), "--throttles 'all': unknown policy; expected one of 'none', 'static'"),
    ],
)
def test_bad_options_are_refused(
    cli: Cli, steady: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert message in cli("plan", steady, *arguments, "--out", "o", "--csv", "t.csv").refused()
    assert not (tmp_path / "o").exists()
    assert not (tmp_path / "t.csv").exists()


def test_near_names_are_listed(cli: Cli, steady: Path) -> None:
    assert "'client-tlc-1t'" in cli("plan", steady, "--drives", "client-tlc-1x").refused()
    assert "'client'" in cli("plan", steady, "--drives", "clients").refused()


def test_an_experiment_with_a_drive_of_its_own_is_refused_beside_drives(cli: Cli, experiment: Path) -> None:
    error = cli("plan", experiment, "--drives", "boot-480g").refused()
    assert (
        "small.toml: sets drive.geometry, drive.capacity, ftl.spare_factor, which each drive of --drives has" in error
    )
