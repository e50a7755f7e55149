"""``make mutants``: names, draws, resumed runs and arguments. Nothing here runs cargo."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scripts_as_modules import loaded

ROOT = Path(__file__).parents[2]
names = loaded("mutant_names")
mutants = loaded("mutants")

FILE = "crates/ftl/src/pool.rs"
CODE = ["fn sum(a: u32) -> u32 {", "    a + a + 1", "}"]


def listed(line: int, column: int, change: str, genre: str = "BinaryOperator", file: str = FILE) -> dict[str, Any]:
    return {
        "name": f"{file}:{line}:{column}: {change}",
        "file": file,
        "package": "floatgate-ftl",
        "genre": genre,
        "span": {"start": {"line": line, "column": column}},
    }


def made(number: int, crate: str = "ftl") -> list[Any]:
    return [
        names.Mutant(crate, f"crates/{crate}/src/a.rs:{i}:1: {i}", f"crates/{crate}/src/a.rs: {i}")
        for i in range(number)
    ]


def test_names_do_not_change_with_lines_above() -> None:
    changes = [listed(2, 7, "replace + with - in sum"), listed(2, 11, "replace + with - in sum")]
    whole = listed(2, 5, "replace sum -> u32 with 0", "FnValue")
    keys = [mutant.key for mutant in names.mutants([*changes, whole], {FILE: CODE})]
    assert keys == [
        f"{FILE}: replace + with - in sum | a + a + 1",
        f"{FILE}: replace + with - in sum | a + a + 1 | 2",
        f"{FILE}: replace sum -> u32 with 0",
    ]
    below = [
        one | {"name": one["name"].replace(":2:", ":3:"), "span": {"start": {"line": 3}}} for one in [*changes, whole]
    ]
    assert [mutant.key for mutant in names.mutants(below, {FILE: ["// One more.", *CODE]})] == keys


def test_a_draw_depends_on_its_seed_alone() -> None:
    all_mutants = [*made(500), *made(100, "stats")]
    draw = names.in_order(all_mutants, 47)[:60]
    assert names.in_order(reversed(all_mutants), 47)[:60] == draw
    assert names.in_order(all_mutants, 48)[:60] != draw
    # Uniform over all: 50 of 60 are expected from the larger crate, with a standard deviation of 2.7.
    assert 40 <= sum(mutant.crate == "ftl" for mutant in draw) <= 58


def test_a_mutant_more_leaves_the_order_of_the_others() -> None:
    before, after = names.in_order(made(99), 3), names.in_order(made(100), 3)
    assert [mutant for mutant in after if mutant in before] == before


def test_shards_part_the_mutants() -> None:
    all_mutants = made(300)
    parts = [names.shard(all_mutants, f"{k}/3") for k in (1, 2, 3)]
    assert sorted((one for part in parts for one in part), key=lambda one: one.key) == sorted(
        all_mutants, key=lambda one: one.key
    )
    assert min(map(len, parts)) > 70


@pytest.mark.parametrize("part", ["0/3", "4/3", "1", "1/0", "a/b"])
def test_shards_that_are_none_are_refused(part: str) -> None:
    with pytest.raises(ValueError, match="expected k/n"):
        names.shard(made(3), part)


def test_lines_of_mutants_are_a_diff() -> None:
    changes = [
        listed(2, 7, "replace + with - in sum"),
        listed(2, 11, "replace + with - in sum"),
        listed(1, 1, "a in sum"),
    ]
    assert names.diff_of_lines(names.mutants(changes, {FILE: CODE}), {FILE: CODE}) == (
        f"--- a/{FILE}\n+++ b/{FILE}\n@@ -0,0 +1,1 @@\n+{CODE[0]}\n@@ -0,0 +2,1 @@\n+{CODE[1]}\n"
    )


def test_what_does_not_compile_is_drawn_again() -> None:
    ordered = made(10)
    outcomes = {ordered[1].name: names.UNVIABLE, ordered[2].name: "caught"}
    assert names.drawn(ordered, 3, outcomes) == [ordered[0], ordered[2], ordered[3]]


# Resumed runs


def book(folder: Path, state: str = "all", file: str = "file", module: ModuleType = names) -> Any:
    outcomes = module.Outcomes(folder / "ftl/outcomes.txt", state, {"crates/ftl/src/a.rs": file})
    outcomes.read()
    return outcomes


def test_a_second_run_skips_what_is_finished(tmp_path: Path) -> None:
    one, two, three, four = made(4)
    first = book(tmp_path)
    first.add(one.name, "caught")
    first.add(two.name, names.passed("own"))
    first.add(three.name, names.passed("own"))
    first.add(three.name, names.SURVIVED)
    stages = mutants.stages_of("ftl")
    again = book(tmp_path).by_name
    assert list(names.left([one, two, three, four], again, stages)) == [("fast", two), ("own", four)]
    # Survivors go on before new mutants begin; a draw goes stage by stage.
    assert mutants.next_batch([four, two], again, by_stages=False) == ("fast", [two])
    assert mutants.next_batch([four, two], again, by_stages=True) == ("own", [four])


def test_a_batch_that_runs_the_tests_of_its_crate_is_of_one() -> None:
    of_ftl, of_stats = made(mutants.BATCH + 1), made(2, "stats")
    assert mutants.next_batch([*of_stats, *of_ftl], {}, by_stages=True) == ("own", of_stats)
    assert mutants.next_batch([*of_ftl, *of_stats], {}, by_stages=True) == ("own", of_ftl[: mutants.BATCH])
    passed = {mutant.name: names.passed("own") for mutant in [*of_ftl, *of_stats]}
    assert mutants.next_batch([of_ftl[0], *of_stats], passed, by_stages=True) == ("fast", [of_ftl[0], *of_stats])


def test_a_line_cut_short_by_a_kill_runs_again(tmp_path: Path) -> None:
    one, two = made(2)
    first = book(tmp_path)
    first.add(one.name, "caught")
    with first.path.open("a") as file:
        file.write(f"caught\tfile\t{two.name[:-2]}")
    second = book(tmp_path)
    assert second.by_name == {one.name: "caught"}
    second.add(two.name, "timeout")
    assert book(tmp_path).by_name == {one.name: "caught", two.name: "timeout"}


def test_survivors_run_again_after_any_change_and_caught_ones_after_one_of_their_file(tmp_path: Path) -> None:
    one, two = made(2)
    first = book(tmp_path)
    first.add(one.name, "caught")
    first.add(two.name, names.SURVIVED)
    assert book(tmp_path, state="a test more").by_name == {one.name: "caught"}
    assert book(tmp_path, state="other code", file="other").by_name == {}


def test_experiment_has_no_tests_but_its_own() -> None:
    assert mutants.stages_of("experiment") == ["fast", "rest"]
    assert {mutants.tested(stage, "experiment") for stage in mutants.stages_of("experiment")} == {"experiment"}


# Arguments

PAGE = f"""# Mutants
Words, and `code`.

## {FILE}
- `replace + with - in sum | a + a + 1`: the sum is
  always 0.
- `replace sum -> u32 with 0`: the same.
"""


def test_survivors_are_argued_or_open() -> None:
    changes = [listed(2, 7, "replace + with - in sum"), listed(2, 11, "replace + with - in sum")]
    chosen = [*names.mutants(changes, {FILE: CODE}), *made(4)]
    argued = names.arguments(PAGE)
    outcomes = {mutant.name: names.SURVIVED for mutant in chosen[:2]}
    outcomes |= dict(
        zip((one.name for one in chosen[2:]), ["timeout", "caught by experiment", "unviable"], strict=False)
    )
    end = names.verdict(chosen, outcomes, argued)
    assert [mutant.key for mutant in end.open_survivors] == [f"{FILE}: replace + with - in sum | a + a + 1 | 2"]
    assert end.lines[0].startswith("caught 2 of 4: 0 by tests of their own crates, 1 by tests of experiment, 1 by")
    assert end.lines[1:3] == ["1 do not compile", "1 not finished; the same command goes on with them"]
    assert end.lines[3].endswith("the sum is always 0.")
    assert names.verdict(chosen[:1], outcomes, argued).open_survivors == []


@pytest.mark.parametrize("page", [PAGE.replace(": the same.", ""), PAGE + "- `replace sum -> u32 with 0`: again.\n"])
def test_arguments_have_one_reason_each(page: str) -> None:
    with pytest.raises(ValueError, match=r"docs/mutants.md:\d+: "):
        names.arguments(page)


def test_arguments_about_code_that_is_gone_are_named() -> None:
    argued = names.arguments(PAGE)
    assert names.stale(argued, {FILE: CODE}) == []
    assert names.stale(argued, {FILE: ["fn sum() {}"]}) == [f"{FILE}: replace + with - in sum | a + a + 1"]
    assert names.stale(argued, {}) == list(argued)


def test_the_page_argues_about_code_that_is_there() -> None:
    argued = names.arguments((ROOT / "docs/mutants.md").read_text("utf-8"))
    assert names.stale(argued, mutants.lines_of({key.split(": ", 1)[0] for key in argued})) == []
