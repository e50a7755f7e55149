"""Change the code of a crate, one small change at a time, and see which changes no test notices; `make mutants`.

cargo-mutants makes the mutants (`cargo install cargo-mutants --locked`). Each runs against the tests of its own crate
first. Those that survive run against the tests of `experiment`: first against the modules that every result passes
through, then against the rest. What still survives wants a test, or an argument in docs/mutants.md why no test can see
it.

Everything lies in target/mutants: a copy of the source (`tree`), which is what gets changed, the build, and a folder
for each crate with `outcomes.txt`, a line per finished mutant. A second call runs the rest.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path

import mutant_names as names

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target/mutants"
TREE = WORK / "tree"
PAGE = ROOT / "docs/mutants.md"
PROFILE = "mutants"
FAST = ("goldens::", "determinism::", "policies::", "closed_forms::", "reference::")
"""Modules of the tests of experiment that every survivor runs first."""
SIMULATOR = ["--lib", "--test=it"]
TESTS = {
    "own": (["--tests"], []),
    "fast": (SIMULATOR, list(FAST)),
    "rest": (SIMULATOR, [word for module in FAST for word in ("--skip", module)]),
}
"""What each stage builds, and what of it runs."""
BATCH = 20
"""Mutants of a run of cargo-mutants: survivors go on to the next stage after as many."""
TIMEOUT_TIMES, TIMEOUT_LEAST_S = 5, 60
"""The time limit of a mutant: as a multiple of the tests' time without it, and its minimum."""
BUILD_TIMEOUT_S = 1800


class CannotGoOnError(Exception):
    """A run that cannot be resumed."""


@dataclass(frozen=True)
class Run:
    """The settings of the command line."""

    crates: list[str]
    deadline: float
    seed: int
    draw: int | None
    shard: str | None
    since: str | None


# The copy


def copy_source() -> tuple[str, dict[str, str]]:
    """Bring the copy up to date; return the state of all that tests see, and the state of each file of the crates."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    files = sorted({name for name in listed if name and (ROOT / name).is_file()})
    for old in TREE.rglob("*"):
        if old.is_file() and str(old.relative_to(TREE)) not in set(files):
            old.unlink()
    whole, states = hashlib.blake2b(digest_size=8), {}
    for name in files:
        data, target = (ROOT / name).read_bytes(), TREE / name
        # Cargo compares times: unchanged files stay untouched.
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            shutil.copymode(ROOT / name, target)
        if name.startswith(("crates/", "configs/", "tests/golden/", "Cargo.")):
            whole.update(name.encode() + b"\0" + data)
        if name.startswith("crates/"):
            states[name] = hashlib.blake2b(data, digest_size=8).hexdigest()
    return whole.hexdigest(), states


def lines_of(files: set[str]) -> dict[str, list[str]]:
    return {name: (ROOT / name).read_text("utf-8").splitlines() for name in files if (ROOT / name).is_file()}


def listed_mutants(run: Run) -> list[names.Mutant]:
    """Return the mutants of the crates, or those in lines changed since a commit."""
    command = ["cargo", "mutants", "--dir", str(TREE), "--list", "--json", *packages(run.crates)]
    if run.since:
        changes = subprocess.run(
            ["git", "diff", run.since, "--", "crates"], cwd=ROOT, check=False, capture_output=True, text=True
        )
        if changes.returncode:
            msg = f"SINCE={run.since}: {changes.stderr.strip().splitlines()[0]}; expected a commit"
            raise ValueError(msg)
        if not changes.stdout:
            return []
        (WORK / "since.diff").write_text(changes.stdout, "utf-8")
        command += ["--in-diff", str(WORK / "since.diff")]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise CannotGoOnError(done.stderr.strip())
    # Without any mutant in the changed lines there is no list either.
    listed = json.loads(done.stdout) if done.stdout.lstrip().startswith("[") else []
    made = names.mutants(listed, lines_of({one["file"] for one in listed}))
    return names.shard(made, run.shard) if run.shard else made


def packages(crates: list[str]) -> list[str]:
    return [word for crate in crates for word in ("--package", f"floatgate-{crate}")]


# Stages


def stages_of(crate: str) -> list[str]:
    return ["fast", "rest"] if crate == "experiment" else ["own", "fast", "rest"]


def environment() -> dict[str, str]:
    return environ | {"CARGO_TARGET_DIR": str(WORK / "build"), "CARGO_TERM_COLOR": "never"}


def tested(stage: str, crate: str) -> str:
    """Return the crate whose tests a stage runs."""
    return crate if stage == "own" else "experiment"


def timeout_s(stage: str, crate: str, state: str) -> float:
    """Return the limit of time of a mutant, from a run of the same tests without any; such times are kept."""
    path = WORK / "baselines.json"
    kept = json.loads(path.read_text("utf-8")) if path.exists() else {}
    label = f"{stage} {tested(stage, crate)}"
    if kept.get("state") != state:
        kept = {"state": state}
    if label not in kept:
        built, chosen = TESTS[stage]
        base = ["nice", "-n", "15", "cargo", "test", "--profile", PROFILE, *packages([tested(stage, crate)]), *built]
        print(f"without mutants: {' '.join(base[3:])} -- {' '.join(chosen)}", flush=True)
        tests([*base, "--no-run"])
        begun = time.monotonic()
        tests([*base, "--", *chosen])
        kept[label] = round(time.monotonic() - begun, 1)
        path.write_text(json.dumps(kept, indent=1), "utf-8")
        print(f"  {kept[label]:.0f} s", flush=True)
    return max(TIMEOUT_LEAST_S, TIMEOUT_TIMES * kept[label])


def tests(command: list[str]) -> None:
    done = subprocess.run(command, cwd=TREE, env=environment(), check=False, capture_output=True, text=True)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-30:])
        msg = f"{tail}\ntests fail without any mutant; expected them to pass"
        raise CannotGoOnError(msg)


def run_batch(stage: str, batch: list[names.Mutant], books: dict[str, names.Outcomes], run: Run, state: str) -> int:
    """Run mutants through a stage; return how many have finished."""
    limit = max(timeout_s(stage, crate, state) for crate in sorted({mutant.crate for mutant in batch}))
    out = WORK / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    # Version 27 adds every deletion of a field to what --re chooses; the lines keep those of other lines away.
    (out / "lines.diff").write_text(names.diff_of_lines(batch, lines_of({mutant.file for mutant in batch})), "utf-8")
    command = [
        *("nice", "-n", "15", "cargo", "mutants", "--dir", str(TREE), "--in-place"),
        *("--baseline", "skip", "--timeout", str(limit), "--build-timeout", str(BUILD_TIMEOUT_S)),
        *("--profile", PROFILE, "--output", str(out), "--colors", "never", "--no-times"),
        *packages(sorted({mutant.crate for mutant in batch})),
        *("--in-diff", str(out / "lines.diff")),
        *(word for mutant in batch for word in ("--re", f"^{re.escape(mutant.name)}$")),
        *(() if stage == "own" else ("--test-package", "floatgate-experiment")),
        *(f"--cargo-arg={word}" for word in TESTS[stage][0]),
        *("--", "--", *TESTS[stage][1]),
    ]
    with (out / "log.txt").open("wb") as log:
        child = subprocess.Popen(
            command, cwd=TREE, env=environment(), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        pending = {mutant.name: mutant for mutant in batch}
        try:
            while pending and child.poll() is None and time.monotonic() < run.deadline:
                time.sleep(1)
                collect(out, stage, pending, books)
        finally:
            stop(child)
            collect(out, stage, pending, books)
    finished = len(batch) - len(pending)
    if not finished and time.monotonic() < run.deadline:
        tail = "\n".join((out / "log.txt").read_text("utf-8", "replace").splitlines()[-20:])
        msg = f"{tail}\ncargo-mutants ended with status {child.returncode} and no outcome"
        raise CannotGoOnError(msg)
    return finished


def collect(out: Path, stage: str, pending: dict[str, names.Mutant], books: dict[str, names.Outcomes]) -> None:
    """Keep what cargo-mutants has written since the last look."""
    for word in ("caught", "missed", "timeout", "unviable"):
        path = out / f"mutants.out/{word}.txt"
        for name in path.read_text("utf-8").rpartition("\n")[0].splitlines() if path.exists() else ():
            mutant = pending.pop(name, None)
            if mutant is None:
                continue
            stages = stages_of(mutant.crate)
            outcome = word
            if word == "caught" and tested(stage, mutant.crate) != mutant.crate:
                outcome = "caught by experiment"
            elif word == "missed":
                outcome = names.SURVIVED if stage == stages[-1] else names.passed(stage)
            books[mutant.crate].add(name, outcome)
            print(f"{outcome:>20}  {name}", flush=True)


def stop(child: subprocess.Popen[bytes]) -> None:
    """End cargo-mutants, which takes its change back and ends its tests."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


# The run


@contextmanager
def alone() -> Iterator[None]:
    """Keep others away from the copy."""
    WORK.mkdir(parents=True, exist_ok=True)
    with (WORK / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg = f"{WORK}: another run is under way; expected one at a time"
            raise ValueError(msg) from None
        yield


def next_batch(
    chosen: list[names.Mutant], outcomes: dict[str, str], *, by_stages: bool
) -> tuple[str, list[names.Mutant]]:
    """Return the mutants to run now, of one crate where each runs its own tests, with their stage.

    Survivors of a stage go on before new mutants begin, or `by_stages` after them.
    """
    by_stage: dict[str, list[names.Mutant]] = {}
    for crate in {mutant.crate for mutant in chosen}:
        for stage, mutant in names.left((one for one in chosen if one.crate == crate), outcomes, stages_of(crate)):
            by_stage.setdefault(stage, []).append(mutant)
    if not by_stage:
        return "", []
    stage = next(stage for stage in (TESTS if by_stages else reversed(TESTS)) if stage in by_stage)
    place = {mutant.name: i for i, mutant in enumerate(chosen)}
    batch = sorted(by_stage[stage], key=lambda mutant: place[mutant.name])
    return stage, [mutant for mutant in batch if stage != "own" or mutant.crate == batch[0].crate][:BATCH]


def survey(run: Run) -> names.Verdict:
    """Run the mutants until all have finished or the time is over."""
    state, file_states = copy_source()
    ordered = names.in_order(listed_mutants(run), run.seed)
    if not ordered:
        print("no mutant to run; .cargo/mutants.toml excludes some crates, and SINCE lines that have not changed")
    books = {crate: names.Outcomes(WORK / crate / "outcomes.txt", state, file_states) for crate in run.crates}
    for book in books.values():
        book.read()
    argued = names.arguments(PAGE.read_text("utf-8"))
    for key in names.stale(argued, lines_of({key.split(": ", 1)[0] for key in argued})):
        print(f"{PAGE.name}: no code is left for {key!r}")
    if run.draw:
        print(f"seed {run.seed}: {min(run.draw, len(ordered))} of {len(ordered)} mutants of {' '.join(run.crates)}")
    else:
        print(f"{len(ordered)} mutants of {' '.join(run.crates)}, in the order of seed {run.seed}")

    def now() -> tuple[list[names.Mutant], dict[str, str]]:
        outcomes = {name: outcome for book in books.values() for name, outcome in book.by_name.items()}
        return names.drawn(ordered, run.draw, outcomes) if run.draw else ordered, outcomes

    # Each round finishes a stage of at least one mutant, or the time is over.
    while time.monotonic() < run.deadline:
        stage, batch = next_batch(*now(), by_stages=run.draw is not None)
        if not batch:
            break
        run_batch(stage, batch, books, run, state)
    chosen, outcomes = now()
    return names.verdict(chosen, outcomes, argued)


def options() -> Run:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crates", nargs="+", metavar="CRATE", help="names of crates, such as ftl")
    parser.add_argument("--minutes", type=float, default=30, help="how long to run (30)")
    parser.add_argument("--draw", type=int, metavar="N", help="only N mutants, drawn over all crates named")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order, and so of what is drawn (1)")
    parser.add_argument("--shard", metavar="k/n", help="only the k-th of n parts")
    parser.add_argument("--since", metavar="COMMIT", help="only mutants in lines changed since a commit")
    read = parser.parse_args()
    known = sorted(path.parent.name for path in ROOT.glob("crates/*/Cargo.toml"))
    if unknown := [crate for crate in read.crates if crate not in known]:
        parser.error(f"CRATE={unknown[0]} is no crate; expected one of {', '.join(known)}")
    if not read.minutes > 0:
        parser.error(f"MINUTES={read.minutes} leaves no time; expected more than 0")
    if read.draw is not None and read.draw < 1:
        parser.error(f"DRAW={read.draw} draws nothing; expected 1 or more")
    if shutil.which("cargo-mutants") is None:
        parser.error("cargo-mutants is missing; expected `cargo install cargo-mutants --locked`")
    deadline = time.monotonic() + read.minutes * 60
    return Run(list(dict.fromkeys(read.crates)), deadline, read.seed, read.draw, read.shard, read.since)


def main() -> int:
    run = options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with alone():
            end = survey(run)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except CannotGoOnError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("\n".join(end.lines))
    return 1 if end.open_survivors else 0


if __name__ == "__main__":
    sys.exit(main())
