"""Policies from outside: equal to the core's where they do the same, and refused where they break the contract."""

from __future__ import annotations

import ctypes
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.plugins import contract, skeleton
from floatgate.plugins.api import load_policies
from floatgate.plugins.header import header
from floatgate.trace.library import path as recorded


@pytest.fixture(scope="module", autouse=True)
def unloaded() -> Iterator[None]:
    """Other tests of the process know no policies from outside."""
    yield
    _core.unload_policies()


POLICIES = Path(__file__).parent / "policies"
OWN_POLICIES = Path(__file__).parents[2] / "configs" / "policies" / "my_policies.py"
DRIVE: dict[str, Any] = {
    "drive.capacity": "64 MiB",
    "workload.pattern": "zipf",
    "workload.requests": 60_000,
    "workload.trim_share": 0.02,
}
"""A drive that collects all the time, under a workload with hot pages."""


def outcome(**settings: Any) -> dict[str, Any]:
    """What a run measured, without its settings and the names of policies."""
    over = {key.replace("__", "."): value for key, value in settings.items()}
    result: dict[str, Any] = floatgate.run({**DRIVE, **over}).result.to_dict()
    for key in ("config", "config_hash", "run", "policies"):
        result.pop(key, None)
    if result.get("separate"):
        result["separate"].pop("policy", None)
        result["separate"].pop("memory_bytes", None)
        result["separate"].pop("found", None)  # figures of the core's own policies
    return result


@pytest.fixture(scope="module", params=["interpreted", "compiled"])
def copies(request: pytest.FixtureRequest) -> str:
    """The policies of the core once more, in Python; loading them again replaces them."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    for file in (POLICIES / "copies_of_the_core.py", OWN_POLICIES):
        text = file.read_text().replace(")\nclass", f", compiled={request.param == 'compiled'})\nclass")
        names: dict[str, Any] = {"__name__": f"copies_{request.param}"}
        exec(compile(text.replace("(, ", "("), str(file), "exec"), names)
    return str(request.param)


@pytest.mark.parametrize("policy", ["greedy", "fifo", "cost-benefit"])
@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_a_victim_policy_in_python_equals_the_core_s(copies: str, policy: str, mode: str) -> None:
    settings = {"mode": mode}
    own = outcome(ftl__collect__policy=f"{policy}-here", **settings)
    assert own == outcome(ftl__collect__policy=policy, **settings), copies
    assert own["waf"] > 1.1


@pytest.mark.parametrize("policy", ["dac", "sepbit"])
@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_a_separator_in_python_equals_the_core_s(copies: str, policy: str, mode: str) -> None:
    settings: dict[str, Any] = {"mode": mode, "ftl__spare_factor": 0.5}
    own = outcome(ftl__separate__policy=f"{policy}-here", **settings)
    assert own == outcome(ftl__separate__policy=policy, **settings), copies
    assert sum(stream["moved_pages"] for stream in own["separate"]["streams"]) > 1000


STATIC: dict[str, Any] = {
    "drive.capacity": "16 MiB",
    "drive.geometry.pages_per_block": 32,
    "drive.endurance.pe_cycles": 60,
    "ftl.spare_factor": 0.12,
    "ftl.precondition": "sequential",
    "workload.pattern": "hot-cold",
    "workload.hot_share_of_pages": 0.2,
    "workload.hot_share_of_writes": 1.0,
    "workload.requests": 60_000,
    "workload.trim_share": 0.0,
}
"""A drive most of whose data nobody replaces: without wear-leveling their blocks are never erased."""


@pytest.mark.parametrize("mode", ["functional", "timed"])
@pytest.mark.parametrize(
    ("policy", "settings", "core"),
    [
        ("gap", {"gap_erases": 4, "cold_drive_writes": 0.25}, {}),
        ("hot-cold-swap", {"pe_cycles": 60}, {"age_variance": 1.0}),
    ],
)
def test_a_leveler_in_python_equals_the_core_s(
    copies: str, policy: str, mode: str, settings: dict[str, Any], core: dict[str, Any]
) -> None:
    """Data move into worn blocks, or into worn victims, at the same moments."""

    def leveled(name: str, settings: dict[str, Any]) -> dict[str, Any]:
        over = {f"ftl.level.{key}": value for key, value in settings.items()}
        return outcome(**{**STATIC, "mode": mode, "ftl.level.policy": name, **over})

    own, other = leveled(f"{policy}-here", settings), leveled(policy, {**settings, **core})
    if policy == "hot-cold-swap":  # whose bound follows from the cycles that are left
        own.pop("lifetime")
        other.pop("lifetime")
    assert own == other, copies
    assert own["level"]["triggered"] > 5


LIFE: dict[str, Any] = {
    "drive.capacity": "64 MiB",
    "drive.endurance.pe_cycles": 60,
    "workload.rate_per_s": 40.0,
    "workload.requests": 100_000,
    "lifetime.throttle.target_years": 0.005,
    "lifetime.throttle.epoch_s": 600,
}


def test_a_throttle_in_python_equals_the_core_s(copies: str) -> None:
    """In a run and in a forecast the epochs have the same delays, and the target is met."""
    own, core = (
        outcome(**{**LIFE, "lifetime.throttle.policy": policy, "drive.capacity": "64 MiB"})
        for policy in ("dynamic-here", "dynamic")
    )
    assert own["throttle"].pop("policy") == "dynamic-here"
    assert core["throttle"].pop("policy") == "dynamic"
    assert own == core, copies
    assert own["throttle"]["delay_us_mean"] > 0


def test_parameters_reach_the_policy_and_have_ranges(copies: str) -> None:
    few, many = (outcome(ftl__collect__policy="emptiest-of-oldest", ftl__collect__k=k) for k in (1, 64))
    fifo = outcome(ftl__collect__policy="fifo")
    assert few == fifo, copies
    assert many["waf"] < fifo["waf"]
    with pytest.raises(floatgate.InputError, match="k is 0; expected a whole number from 1 to 4096"):
        outcome(ftl__collect__policy="emptiest-of-oldest", ftl__collect__k=0)
    with pytest.raises(floatgate.InputError, match='k = 3 has no effect with policy = "greedy"'):
        outcome(ftl__collect__k=3)


def victim(pick: Callable[..., Any], *, order: str = "any", compiled: bool = False, name: str = "of-this-test") -> None:
    """Declare a victim policy."""
    floatgate.victim_policy(name, order=order, compiled=compiled)(type("OfThisTest", (), {"pick": pick}))


def separator(compiled: bool = False, **parts: Any) -> None:
    """Declare a separator with two streams."""
    basic = {"streams": 2, "write": to_stream(0), "move": to_stream(1)}
    floatgate.separator("of-this-test", compiled=compiled)(type("OfThisTest", (), basic | parts))


def to_stream(stream: int) -> Callable[..., int]:
    """A function of a separator with one answer."""

    def function(_page: Any, _s: Any, _p: Any) -> int:
        return stream

    return function


def broken(blocks: Any, p: Any) -> int:
    """Raise where the engine calls it."""
    return 1 // int(blocks.now * 0)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_exception_stops_the_run_and_names_policy_and_call(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    victim(broken, compiled=compiled)
    with pytest.raises(floatgate.RunError, match="policy 'of-this-test' failed in pick, for domain 0 after") as error:
        outcome(ftl__collect__policy="of-this-test")
    if not compiled:
        assert "ZeroDivisionError" in str(error.value)
        assert "test_plugins.py" in str(error.value)


def beyond(blocks: Any, _p: Any) -> int:
    """Read where no block is: machine code would read any memory there."""
    return int(blocks.valid[1_000_000_000])


@pytest.mark.parametrize("compiled", [False, True])
def test_an_index_outside_a_table_stops_the_run(compiled: bool) -> None:
    if compiled:
        pytest.importorskip("numba")
    victim(beyond, compiled=compiled)
    with pytest.raises(floatgate.RunError, match="policy 'of-this-test' failed in pick"):
        outcome(ftl__collect__policy="of-this-test")


def of_text(blocks: Any, _p: Any) -> int:
    """Use what Numba does not know."""
    return int(f"{blocks!r}"[0])


def test_what_numba_cannot_compile_is_refused() -> None:
    pytest.importorskip("numba")
    with pytest.raises(floatgate.InputError, match=r"Numba cannot compile it: .*; expected code that Numba knows"):
        victim(of_text, compiled=True)


def of_file_size(page: Any, _s: Any, _p: Any) -> int:
    """A function of a field that is not there."""
    return int(page.file_size)


def test_an_unknown_field_is_named_with_those_that_are_there() -> None:
    pytest.importorskip("numba")
    expected = "there is no 'file_size' in a Page, which has page, update, context"
    with pytest.raises(floatgate.InputError, match=expected):
        separator(True, write=of_file_size)


@pytest.mark.parametrize(
    ("answer", "why"),
    [(10**8, "which the drive does not have"), (-2, "failed in pick"), (None, "out of free blocks")],
)
def test_answers_that_are_no_block_stop_the_run(answer: int | None, why: str) -> None:
    def same(_blocks: Any, _p: Any) -> int | None:
        return answer

    victim(same)
    with pytest.raises(floatgate.RunError, match=why):
        outcome(ftl__collect__policy="of-this-test")


def test_a_block_that_is_not_closed_stops_the_run() -> None:
    def an_open_one(blocks: Any, p: Any) -> int:
        closed = set(blocks.any.tolist())
        return next(b for b in range(blocks.first_block, blocks.first_block + blocks.blocks) if b not in closed)

    victim(an_open_one)
    with pytest.raises(floatgate.RunError, match="which is not closed"):
        outcome(ftl__collect__policy="of-this-test")


def test_a_stream_that_is_not_there_stops_the_run() -> None:

    def later(page: Any, _s: Any, _p: Any) -> int:
        return 2 if page.now > 1000 else 0

    separator(write=later)
    with pytest.raises(floatgate.RunError, match="put a page into stream 2 of 2 in write, for page"):
        outcome(ftl__separate__policy="of-this-test")
    separator(move=to_stream(9))
    with pytest.raises(floatgate.RunError, match="stream 9 of 2 in move, for page"):
        outcome(ftl__separate__policy="of-this-test")


def two(_blocks: Any, _p: Any) -> int:
    """Return 0, with the arguments of a victim policy."""
    return 0


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "it has no function 'pick'; expected pick\\(blocks, p\\)"),
        ({"pick": lambda _: 0}, "pick takes 1 arguments; expected pick\\(blocks, p\\)"),
        ({"pick": two, "score": two}, "ftl.collect has no function 'score'"),
        ({"pick": two, "k": 16}, "unknown attribute 'k'; expected a Param"),
        ({"pick": two, "k": floatgate.Param(5, least=6)}, "'k' is 5, from 6"),
        ({"pick": two, "mode": floatgate.Param(5)}, "'mode' is there twice"),
        ({"pick": two, "K": floatgate.Param(5)}, "'K' is no name"),
        ({"pick": two, "table": floatgate.State("uint8")}, "victim policies keep no state"),
    ],
)
def test_classes_that_break_the_contract_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(floatgate.InputError, match=message):
        floatgate.victim_policy(compiled=False)(type("Wrong", (), parts))


def test_a_name_of_the_core_is_refused() -> None:
    with pytest.raises(floatgate.InputError, match="its name is 'greedy', which floatgate has"):
        victim(two, name="greedy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "it declares no policy"),
        ("x = 1\nraise ValueError('no')\n", "own.py:2: ValueError: no"),
        ("def f(:\n", "own.py:1: SyntaxError"),
    ],
)
def test_files_without_a_policy_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.py"
    file.write_text(text)
    with pytest.raises(floatgate.InputError, match=message):
        load_policies(file)
    with pytest.raises(floatgate.InputError, match="no such file"):
        load_policies(tmp_path / "other.py")


C_POLICY = """
#include "floatgate_policy.h"
static uint32_t pick(const floatgate_blocks *blocks, const double *params) {
    (void)params;
    uint32_t block = blocks->first;
    return block == FLOATGATE_NONE || blocks->valid[block].valid == blocks->pages_per_block ? FLOATGATE_NONE : block;
}
const uint32_t floatgate_sizes[] = {SIZES};
const floatgate_policy *floatgate_policy_v1(void) {
    static const floatgate_policy policy = {
        .version = VERSION, .size = sizeof(floatgate_policy), .slot = "ftl.collect", .name = "greedy-in-c",
        .summary = "the block with the fewest valid pages", .source = "-", .order = FLOATGATE_ORDER_VALID, .pick = pick,
    };
    return &policy;
}
"""
STRUCTS = {
    "shape": contract.Shape,
    "param": contract.Param,
    "blocks": contract.Blocks,
    "write": contract.Write,
    "move": contract.Move,
    "reclaimed": contract.Reclaimed,
    "policy": contract.Policy,
}


def library(folder: Path, version: str = "FLOATGATE_VERSION") -> Path:
    """Compile a policy in C."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    sizes = ", ".join(f"sizeof(floatgate_{name})" for name in STRUCTS)
    (folder / "floatgate_policy.h").write_text(header())
    source = folder / "own.c"
    source.write_text(C_POLICY.replace("SIZES", sizes).replace("VERSION,", f"{version},"))
    made = folder / f"own-{version}.so"
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", str(made), str(source)]
    subprocess.run(command, check=True)
    return made


def test_a_library_in_c_equals_the_core(tmp_path: Path) -> None:
    load_policies(library(tmp_path))
    assert outcome(ftl__collect__policy="greedy-in-c") == outcome(ftl__collect__policy="greedy")


def test_the_header_has_the_structs_of_python(tmp_path: Path) -> None:
    sizes = (ctypes.c_uint32 * len(STRUCTS)).in_dll(ctypes.CDLL(str(library(tmp_path))), "floatgate_sizes")
    assert dict(zip(STRUCTS, sizes, strict=True)) == {name: ctypes.sizeof(kind) for name, kind in STRUCTS.items()}
    for name, kind in STRUCTS.items():
        body = header().split(f"typedef struct floatgate_{name} {{")[1].split("}")[0]
        for field, _ in contract.fields(kind):
            assert field.rstrip("_") in body, (name, field)


def test_another_version_of_the_contract_is_refused(tmp_path: Path) -> None:
    with pytest.raises(floatgate.InputError, match="it is of version 7 of the contract; expected version 1"):
        load_policies(library(tmp_path, "7"))


def test_files_that_are_no_library_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.so"
    file.write_text("no library")
    with pytest.raises(floatgate.InputError, match="expected a Python file or a shared library"):
        load_policies(file)


def test_a_separator_with_hidden_memory_is_found() -> None:
    calls = [0]

    def forgetful(page: Any, s: Any, p: Any) -> int:
        calls[0] += 1
        return int(calls[0] % 3 == 0)

    separator(write=forgetful)
    with pytest.raises(
        floatgate.RunError, match="is not deterministic: its call 2, of write, gave 0 at first and 1 again"
    ):
        outcome(ftl__separate__policy="of-this-test")


def test_a_victim_policy_by_chance_is_found() -> None:
    calls = [0]

    def by_chance(blocks: Any, p: Any) -> int:
        calls[0] += 1
        return int(blocks.any[calls[0] % 2])

    victim(by_chance)
    with pytest.raises(floatgate.RunError, match="is not deterministic: for the same blocks pick gave"):
        outcome(ftl__collect__policy="of-this-test")


def test_the_code_is_part_of_the_experiment(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.format(more=""))
    load_policies(file)
    settings = {**DRIVE, "ftl.collect.policy": "own-one"}
    first = floatgate.run(settings)
    first.save(tmp_path / "first")
    assert (tmp_path / "first" / "policies" / "own.py").read_text() == OWN.format(more="")
    assert floatgate.run(first.experiment_toml).result.config_hash == first.result.config_hash
    # The same decisions, but another text.
    file.write_text(OWN.format(more="# another one\n"))
    load_policies(file)
    again = floatgate.run(settings)
    assert again.waf == first.waf
    assert again.result.config_hash != first.result.config_hash
    with pytest.raises(floatgate.InputError, match="made with other policies, or with other code of them"):
        floatgate.run(first.experiment_toml)


OWN = """import floatgate
{more}
@floatgate.victim_policy(order="closing", compiled=False)
class OwnOne:
    def pick(blocks, p):
        return blocks.first
"""


def test_a_run_with_own_state_resumes(tmp_path: Path, copies: str) -> None:
    """A snapshot keeps the state of a separator, and is refused where it is not loaded."""
    settings = {**DRIVE, "ftl.spare_factor": 0.5, "ftl.separate.policy": "sepbit-here"}
    whole = floatgate.run(settings)
    drive = tmp_path / "drive"
    floatgate.run(settings, save_drive=drive)
    going_on = floatgate.run({**settings, "ftl.snapshot": str(drive)})
    core = floatgate.run({**settings, "ftl.separate.policy": "sepbit"}, save_drive=tmp_path / "core")
    assert core.waf == whole.waf, copies
    of_core = floatgate.run({**settings, "ftl.separate.policy": "sepbit", "ftl.snapshot": str(tmp_path / "core")})
    assert going_on.waf == of_core.waf


SUFFIXES = {"python": "py", "c": "c", "rust": "rs"}


@pytest.mark.parametrize("language", SUFFIXES)
@pytest.mark.parametrize("slot", ["victim", "separator", "leveler", "throttle"])
def test_a_skeleton_runs_as_it_is(slot: str, language: str, tmp_path: Path) -> None:
    tool = {"python": None, "c": "cc", "rust": "rustc"}[language]
    if tool is not None and shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    written = skeleton.write(
        f"skeleton-{language}", slot, language, tmp_path / f"own.{SUFFIXES[language]}", force=False
    )
    *builds, run = [shlex.split(command) for command in written.commands]
    for build in builds:
        subprocess.run([*build, *(["-Wall", "-Wextra", "-Werror"] if language == "c" else [])], check=True)
    load_policies(run[run.index("--policy") + 1])
    key, _, name = run[-1].partition("=")
    times = {"workload.rate_per_s": 1000.0} if slot == "throttle" else {}
    result = floatgate.run({**DRIVE, **times, "ftl.spare_factor": 0.5, key: name}).result.to_dict()
    code = [entry.split()[0] for entry in result["config"]["policy_code"]]
    assert code == [f"skeleton-{language}"]
    with pytest.raises(floatgate.InputError, match="exists; expected a new name, or --force"):
        skeleton.write(f"skeleton-{language}", slot, language, tmp_path / f"own.{SUFFIXES[language]}", force=False)


def test_streams_of_the_host_are_not_processes() -> None:
    """A hint of one's own must be in the trace; handles may be processes, as a recording has them."""
    parts = {"streams": 2, "write": to_stream(0), "move": to_stream(1)}
    settings = {"workload.file": str(recorded("reporting")), "ftl.separate.policy": "of-this-test"}
    floatgate.separator("of-this-test", needs=["streams"], compiled=False)(type("OfThisTest", (), parts))
    expected = "of-this-test needs streams of the host, and this workload has processes alone"
    with pytest.raises(floatgate.InputError, match=expected):
        floatgate.run({"drive.capacity": "256 MiB", **settings})
    with pytest.raises(floatgate.InputError, match="and this workload has none"):
        outcome(ftl__separate__policy="of-this-test")
    floatgate.separator("of-this-test", needs=["handles"], compiled=False)(type("OfThisTest", (), parts))
    run = floatgate.run({"drive.capacity": "256 MiB", **settings, "ftl.precondition": "none"})
    assert run.waf >= 1


def test_commands_take_the_file_and_name_it_where_it_is_missing(tmp_path: Path, cli: Cli) -> None:
    """In processes of their own, which know no policy but that of --policy."""
    file = tmp_path / "own.py"
    file.write_text(OWN.format(more=""))
    own = ["--policy", str(file), "--set", "ftl.collect.policy=own-one", "--quiet"]
    few = ["--set", "drive.capacity=64 MiB", "--set", "workload.requests=2000"]
    cli("run", *few, *own, "--out", "one", "--no-report").done()
    experiment = "one/experiment.toml"
    message = cli("run", experiment, "--out", "two").refused()
    assert message.startswith(f"{experiment}:")
    assert "its policy 'own-one', with the hash" in message
    assert message.endswith("expected --policy with its file, of which a run folder has a copy in policies/")
    kept = ["--policy", "one/policies/own.py"]
    for command in (["check", experiment], ["run", experiment, "--out", "three", "--no-report"], ["explain", "one"]):
        cli(*command, *kept, "--quiet").done()
    assert "own-one" in cli("policies", "ftl.collect", *kept).done()
    assert "unknown victim policy 'own-one'" in cli("run", *few, "--set", "ftl.collect.policy=own-one").refused()


def test_a_fault_before_the_run_names_the_policy() -> None:
    """While a drive is filled at random, blocks are collected, too."""

    def raising(_page: Any, _s: Any, _p: Any) -> int:
        raise ValueError("boom")

    separator(write=raising)
    with pytest.raises(
        floatgate.RunError, match=r"failed in write, for page .* boom .*while the drive was preconditioned"
    ):
        outcome(ftl__separate__policy="of-this-test", ftl__precondition="random", ftl__spare_factor=0.5)


def test_a_drive_without_victims_names_the_policy() -> None:
    victim(nothing_to_collect)
    with pytest.raises(
        floatgate.RunError, match=r"out of free blocks .* or a policy 'of-this-test' that finds a block"
    ):
        outcome(ftl__collect__policy="of-this-test")


def nothing_to_collect(_blocks: Any, _p: Any) -> int:
    return floatgate.NONE
