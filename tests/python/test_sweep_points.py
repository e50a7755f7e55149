"""The settings of a sweep."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.base import json_in
from floatgate.base.errors import InputError
from floatgate.run.experiment import resolve
from floatgate.study.runs.points import Points, parse_axis
from floatgate.study.sweeps.spec import SweepOptions, keys_known, points_of


def points(*vary: str, sample: str = "grid", samples: int = 0, seed: int = 1) -> Points:
    return Points(tuple(map(parse_axis, vary)), sample, samples, seed)


def test_a_grid_is_all_combinations_with_the_last_key_fastest() -> None:
    grid = points("a=1,2", "b=x,y,z", "c=5..7:3")
    expected = [
        [("a", a), ("b", b), ("c", c)] for a, b, c in itertools.product(["1", "2"], ["x", "y", "z"], ["5", "6", "7"])
    ]
    assert list(grid) == expected
    assert len(grid) == 18
    assert grid.keys == ["a", "b", "c"]


def test_a_list_takes_the_values_together() -> None:
    assert list(points("a=1,2", "b=x,y", sample="list")) == [[("a", "1"), ("b", "x")], [("a", "2"), ("b", "y")]]
    with pytest.raises(InputError, match="a has 2, b has 3 values"):
        points("a=1,2", "b=x,y,z", sample="list")


def test_ranges_are_even_on_their_scale() -> None:
    assert parse_axis("a=0.1..0.4:4").listed() == ("0.1", "0.2", "0.3", "0.4")
    assert parse_axis("a=1..100:3:log").listed() == ("1", "10", "100")
    assert parse_axis("a=1..3:9").listed() == ("1", "2", "3")  # whole numbers, each once
    assert parse_axis("a='x,1..2',b").values == ("'x,1..2'", "b")


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_axis() -> None:
    made = list(points("a=0..1", "b=1.0..1000.0:log", sample="latin-hypercube", samples=50))
    reals = list(points("a=0.0..1.0", sample="latin-hypercube", samples=50))
    assert sorted(int(50 * float(point[0][1])) for point in reals) == list(range(50))
    assert {value for point in made for key, value in point if key == "a"} == {"0", "1"}
    decades = [float(point[1][1]) for point in made]
    # 50 parts over three decades: two of them are cut by the ends of decades.
    assert sorted(sum(low <= value < 10 * low for value in decades) for low in (1, 10, 100)) == [16, 17, 17]


def test_samples_repeat_and_another_key_shifts_none_of_the_others() -> None:
    alone = [point[0] for point in points("a=0.0..1.0", sample="random", samples=20)]
    beside = [point[1] for point in points("b=x,y", "a=0.0..1.0", sample="random", samples=20)]
    assert alone == beside
    assert alone != [point[0] for point in points("a=0.0..1.0", sample="random", samples=20, seed=2)]
    # The values themselves: Python promises them for all versions.
    assert [value for _, value in alone[:3]] == ["0.179791", "0.862117", "0.234113"]


def test_plans_go_through_json() -> None:
    one = points("a=0.1..0.4:4", "b=1..9", "c=x,y", sample="random", samples=7)
    kept = json_in.parse(json.dumps(one.to_dict()).encode(), "sweep.json", "the plan of a sweep")
    again = Points.from_kept(kept)
    assert list(again) == list(one)


TABLE = """
[ftl]
spare_factor = 0.2
[sweep]
sample = "grid"
repeat = 2
[sweep.vary]
ftl.spare_factor = [0.1, 0.2]
ftl.collect = { policy = ["greedy", "fifo"] }
"workload.requests" = { from = 1000, to = 4000, steps = 2 }
[[sweep.points]]
drive.preset = "mlc-20nm"
[[sweep.points]]
drive.preset = "client-tlc-1t"
[workload]
requests = 5
"""


def test_the_table_of_a_file_says_the_same() -> None:
    experiment = resolve(TABLE)
    made, repeat = points_of(SweepOptions(), experiment.sweep, "x.toml")
    assert repeat == 2
    assert made.keys == ["drive.preset", "ftl.spare_factor", "ftl.collect.policy", "workload.requests"]
    assert len(made) == 16
    assert dict(made.at(0)) == {
        "drive.preset": '"mlc-20nm"',
        "ftl.spare_factor": "0.1",
        "ftl.collect.policy": '"greedy"',
        "workload.requests": "1000",
    }
    # The core gets the file without the table, line for line.
    assert experiment.toml is not None
    assert "sweep" not in experiment.toml
    assert experiment.toml.split("\n").index("[workload]") == TABLE.split("\n").index("[workload]")


def test_options_replace_what_the_table_says_of_a_key() -> None:
    made, repeat = points_of(SweepOptions(("ftl.spare_factor=0.3",), repeat=5), resolve(TABLE).sweep, "x.toml")
    assert repeat == 5
    assert len(made) == 8
    assert {dict(point)["ftl.spare_factor"] for point in made} == {"0.3"}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("[sweep]\nvari = 1", "x.toml: [sweep] has no 'vari'; did you mean 'vary'?"),
        ("[sweep]\nvary = 3", "x.toml: sweep.vary is not a table"),
        ("[sweep.vary]\nseed = 3", "x.toml: sweep.vary.seed: no list of values"),
        ("[sweep.vary]\nseed = [1, 1]", "sweep.vary.seed: '1' given twice"),
        ("[sweep.vary]\nseed = { from = 9, to = 2 }", "sweep.vary.seed: from 9 to 2 is not a range"),
        ("[sweep.vary]\nseed = { from = 0, to = 2, scale = 'log' }", "a logarithmic range from 0"),
        ("[sweep.vary]\nseed = { from = 1, to = 2, scale = 'lag' }", "unknown scale 'lag'"),
        ("[sweep]\nsample = 'most'\n[sweep.vary]\nseed = [1]", "unknown sample 'most'"),
        ("[sweep]\nsample = 'random'\n[sweep.vary]\nseed = [1]", "the number of points is missing"),
        ("[sweep]\nsamples = 4\n[sweep.vary]\nseed = [1]", "a grid has as many points as its values give"),
        ("[sweep]\nrepeat = 0\n[sweep.vary]\nseed = [1]", "sweep.repeat is '0'"),
        ("[sweep.vary]\nseed = { from = 1, to = 9 }", "seed: a range without a number of steps"),
        ("[sweep]\npoints = [1]", "sweep.points is not a list of tables"),
        ("[[sweep.points]]\nseed = 1\n[[sweep.points]]\nmode = 'timed'", "set different keys"),
        ("", "no --vary, and no [sweep.vary] in the file"),
    ],
)
def test_a_table_that_cannot_be_meant_is_refused(table: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        points_of(SweepOptions(), resolve(table + "\n").sweep, "x.toml")
    assert message in raised.value.message


def test_a_table_that_is_written_inline_is_refused() -> None:
    with pytest.raises(InputError, match="not written as a table of its own"):
        resolve("sweep = { vary = { seed = [1] } }\n")


def test_keys_come_from_the_schema() -> None:
    assert {"seed", "ftl.spare_factor", "workload.file", "drive.geometry.page_bytes"} <= set(keys_known())


def test_check_looks_at_the_table_of_the_file(cli: Cli, tmp_path: Path) -> None:
    """``floatgate check`` refuses a sweep that could not run, and accepts one that can."""
    experiment = tmp_path / "e.toml"
    experiment.write_text("[sweep]\nsample = 'gird'\n[sweep.vary]\nseed = [1, 2]\n")
    assert cli("check", experiment).refused().endswith("sweep.sample: unknown sample 'gird'; did you mean 'grid'?")
    experiment.write_text("[sweep]\nsample = 'grid'\n[sweep.vary]\nseed = [1, 2]\n")
    assert cli("check", experiment).done().startswith("seed = 1\n")
