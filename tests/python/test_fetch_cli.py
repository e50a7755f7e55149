"""The command line of ``floatgate fetch``: lists, outputs, errors, and the command that it prints."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Outcome
from floatgate.cli import status
from floatgate.trace.fetch import cache, recipes
from floatgate.trace.fetch.recipes import Recipe
from trace_server import File, Server, serving

TRACE = gzip.compress(
    b"".join(b"%d,usr,0,Write,%d,8192,10\n" % (128166372003061629 + 10**6 * n, 8192 * n) for n in range(500))
)
Fetch = Callable[..., Outcome]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        running.files["/own.csv.gz"] = File(TRACE)
        yield running


def own(address: str | None, **others: Any) -> Recipe:
    """A recipe of a trace in MSR's format."""
    return Recipe(
        name="own", summary="a trace", owner="an owner", page="https://owner.example", verified=True,
        how="follow the link", terms="CC BY 4.0", size=recipes.NOT_STATED, file="own.csv.gz", most_bytes=1_000_000,
        citation="A. Author: A Paper. 2026", address=address, format="msr", **others,
    )  # fmt: skip


@pytest.fixture
def run(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Fetch:
    """Run ``floatgate fetch ARGUMENTS`` with one recipe, of a file on the server, and a cache of its own."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recipes, "recipes", lambda: {"own": own(server.address("/own.csv.gz"))})

    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = status(["fetch", *arguments])
        return Outcome(code, *capfd.readouterr())

    return call


def test_a_fetch_says_what_it_did_and_how_to_go_on(run: Fetch, tmp_path: Path) -> None:
    place = tmp_path / "xdg/floatgate/traces/own/own.csv.gz"
    first = run("own").done().splitlines()
    assert first[0] == f"trace      {place} ({len(TRACE) / 1000:.3g} kB; {len(TRACE) / 1000:.3g} kB downloaded)"
    assert first[1].startswith("checksum   sha256 ")
    assert first[1].endswith(" (pinned now)")
    assert first[2:] == [
        "owner      an owner, https://owner.example",
        "terms      CC BY 4.0",
        "cite       A. Author: A Paper. 2026",
        f"use        floatgate run --trace {place} --format msr",
    ]
    second = run("own").done().splitlines()
    assert second[0].endswith("; was there already; nothing downloaded)")
    assert second[1].endswith(" (as at the first fetch)")
    assert second[2:] == first[2:]


def test_the_command_that_it_prints_runs(run: Fetch, capfd: pytest.CaptureFixture[str]) -> None:
    command = shlex.split(run("own").done().splitlines()[-1].removeprefix("use "))
    assert (
        status([*command[1:], "--set", "drive.capacity=64 MiB", "--set", "ftl.precondition=none", "--no-report"]) == 0
    )
    assert "500 requests" in capfd.readouterr().out


def test_a_fetch_as_json(run: Fetch, tmp_path: Path) -> None:
    place = str(tmp_path / "here/own/own.csv.gz")
    document = json.loads(run("own", "--json", "--cache", "here").done())
    assert document | {"sha256": ""} == {
        "name": "own", "path": "here/own/own.csv.gz", "format": "msr", "bytes": len(TRACE), "sha256": "",
        "published_checksum": None, "pinned_now": True, "cached": False, "downloaded_bytes": len(TRACE),
        "terms": "CC BY 4.0", "citation": "A. Author: A Paper. 2026",
        "command": ["floatgate", "run", "--trace", "here/own/own.csv.gz", "--format", "msr"],
    }  # fmt: skip
    assert Path(place).read_bytes() == TRACE
    assert json.loads(run("own", "--json", "--cache", "here").done())["cached"]


def test_quiet_prints_nothing(run: Fetch) -> None:
    ended = run("own", "--quiet")
    assert (ended.done(), ended.err) == ("", "")


def test_the_list(run: Fetch, tmp_path: Path) -> None:
    lines = run().done().splitlines()
    assert [line.split() for line in lines] == [
        ["trace", "get", "it", "size", "format", "here", "description"],
        ["own", "download", "not", "stated", "msr", "a", "trace"],
        [],
        ["cache", str(tmp_path / "xdg/floatgate/traces")],
    ]
    run("own").done()
    assert run().done().splitlines()[1].split() == ["own", "download", "not", "stated", "msr", "yes", "a", "trace"]
    document = json.loads(run("--json").done())
    assert document["cache"] == str(tmp_path / "xdg/floatgate/traces")
    [entry] = document["recipes"]
    assert entry["path"] == str(tmp_path / "xdg/floatgate/traces/own/own.csv.gz")
    assert entry["cached"]
    assert entry["citation"] == "A. Author: A Paper. 2026"


def test_the_list_of_all(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert status(["fetch", "--cache", str(tmp_path)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:-2]] == list(recipes.recipes())
    assert {"download", "by hand", "download, unverified"} == {line[22:42].strip() for line in lines[1:-2]}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["owm"], "unknown trace 'owm'; did you mean 'own'?"),
        (["--from", "x"], "--from: no trace to fetch; expected its NAME before it"),
        (["--member", "x"], "--member: no trace to fetch; expected its NAME before it"),
        (["own", "--cache", ""], "--cache: an empty path; expected a folder"),
        (["own", "--member", "x"], "--member: own.csv.gz of own is not an archive; expected no --member"),
        (["own", "--from", "x"], "x: no such file; expected own.csv.gz of own, as downloaded by hand"),
    ],
)
def test_wrong_uses_are_refused(
    run: Fetch, server: Server, tmp_path: Path, arguments: list[str], expected: str
) -> None:
    assert run(*arguments).refused() == expected
    assert server.requests == []
    assert list(tmp_path.iterdir()) == []


def test_offline_it_says_what_to_put_where(run: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/own.csv.gz"
        monkeypatch.setattr(recipes, "recipes", lambda: {"own": own(address)})
        ended = run("own")
    place = tmp_path / "xdg/floatgate/traces/own/own.csv.gz"
    assert ended.refused(1) == (
        f"{address}: the server cannot be reached (Connection refused); expected the file by hand: follow the link "
        f"(https://owner.example), then put it at {place} or name it with --from FILE"
    )
    assert len(ended.err.splitlines()) == 1
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(TRACE)
    assert "nothing downloaded" in run("own").done()


def test_a_file_by_hand(run: Fetch, server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine.gz").write_bytes(TRACE)
    run("own", "--from", "mine.gz").done()
    assert (tmp_path / "xdg/floatgate/traces/own/own.csv.gz").read_bytes() == TRACE
    assert server.requests == []


@pytest.mark.parametrize("stated", ["", "relative/cache"])
def test_the_cache_without_a_usable_variable(stated: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", stated)
    assert cache.default_folder() == tmp_path / ".cache/floatgate/traces"


def test_an_interruption_names_the_command_that_goes_on(server: Server, tmp_path: Path) -> None:
    """A process of its own, with a recipe of its own: SIGINT while the server holds the rest back."""
    server.files["/own.csv.gz"] = File(TRACE, stall_after=1000)
    code = (
        "import sys\nfrom floatgate.trace.fetch import recipes\n"
        "own = recipes.Recipe(name='own', summary='', owner='', page='', verified=True, how='', terms='', size='', "
        f"file='own.csv.gz', most_bytes=10**6, citation='', address={server.address('/own.csv.gz')!r}, format='msr')\n"
        "recipes.recipes = lambda: {'own': own}\n"
        "from floatgate.cli import main\nmain(['fetch', 'own', '--cache', 'c'])\n"
    )
    environment = {**os.environ, "no_proxy": "127.0.0.1"}
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    part = tmp_path / "c/own/own.csv.gz.part"
    for _ in range(600):
        if server.requests:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    server.released.set()
    assert error == "error: interrupted; what has arrived is kept: continue with: floatgate fetch own\n"
    assert child.returncode == 130
    assert part.read_bytes() == TRACE[: part.stat().st_size]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["own.csv.gz.part", "own.json"]
