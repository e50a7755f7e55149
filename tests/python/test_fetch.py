"""``floatgate fetch`` against a server of its own: whole files, cut ones, changed ones, and files that are refused."""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import random
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate.base.errors import InputError, RunError
from floatgate.trace.fetch import download
from floatgate.trace.fetch.cache import Cache
from floatgate.trace.fetch.fetching import Fetched, fetch
from floatgate.trace.fetch.recipes import Recipe
from trace_server import File, Server, serving

CONTENT = random.Random(1).randbytes(300_000)
OTHER = random.Random(2).randbytes(310_000)
PAGE = "https://owner.example/traces"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def recipe(address: str | None, checksum: str | None = None, size: int | None = None) -> Recipe:
    """A recipe of a file in MSR's format."""
    return Recipe(
        name="own", summary="a trace", owner="an owner", page=PAGE, verified=True, how="follow the link", terms="none",
        size="0.3 MB", file="own.csv", most_bytes=1_000_000, citation="A. Author: A Paper. 2026", address=address,
        checksum=checksum, bytes=size, format="msr",
    )  # fmt: skip


def md5(content: bytes) -> str:
    return f"md5:{hashlib.md5(content, usedforsecurity=False).hexdigest()}"


def left(cache: Cache) -> list[str]:
    """The files of the cache, without its notes."""
    return sorted(path.name for path in cache.folder.rglob("*") if path.is_file() and path.suffix != ".json")


def must_be(fetched: Fetched, content: bytes, cache: Cache) -> None:
    """Require the whole file in its place, and nothing beside it."""
    assert fetched.path == cache.folder / "own" / "own.csv"
    assert fetched.path.read_bytes() == content
    assert fetched.sha256 == hashlib.sha256(content).hexdigest()
    assert fetched.bytes == len(content)
    assert left(cache) == ["own.csv"]


# Whole files


def test_a_file_is_downloaded_once(server: Server, cache: Cache, tmp_path: Path) -> None:
    server.files["/t"] = File(CONTENT)
    first = fetch(recipe(server.address("/t")), cache)
    must_be(first, CONTENT, cache)
    assert (first.downloaded_bytes, first.cached, first.pinned) == (len(CONTENT), False, True)
    second = fetch(recipe(server.address("/t")), cache)
    must_be(second, CONTENT, cache)
    assert (second.downloaded_bytes, second.cached, second.pinned) == (0, True, False)
    assert server.requests == [("/t", None, None)]
    # What the server calls its file has no effect.
    assert not list(tmp_path.rglob("evil*"))


def test_progress_goes_up_to_the_length_of_the_file(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)
    calls: list[tuple[int, int | None, str]] = []
    fetch(recipe(server.address("/t")), cache, progress=lambda *call: calls.append(call))
    arrived = [done for done, _, phase in calls if phase == "downloading"]
    assert arrived == sorted(arrived)
    assert arrived[-1] == len(CONTENT)
    assert {total for _, total, _ in calls} == {len(CONTENT)}
    assert {phase for *_, phase in calls} == {"downloading", "checking"}


def test_chunks_without_a_length_are_taken(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, encoding="chunked")
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)


def test_an_empty_file_is_a_file(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(b"")
    must_be(fetch(recipe(server.address("/t")), cache), b"", cache)


def test_a_file_whose_end_is_unknown_is_refused(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, encoding="close")
    with pytest.raises(RunError, match="does not state the length"):
        fetch(recipe(server.address("/t")), cache)
    assert left(cache) == []


# Cut connections


def test_a_cut_connection_goes_on_where_it_was_cut(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, cuts=[100_000, 50_000])
    fetched = fetch(recipe(server.address("/t")), cache)
    must_be(fetched, CONTENT, cache)
    assert fetched.downloaded_bytes == len(CONTENT)
    assert server.requests == [
        ("/t", None, None),
        ("/t", "bytes=100000-", '"one"'),
        ("/t", "bytes=150000-", '"one"'),
    ]


def test_a_cut_among_chunks_is_noticed(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, encoding="chunked", cuts=[100_000])
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)
    assert len(server.requests) == 2


def test_the_next_command_goes_on_with_the_part(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, cuts=[100_000, 0])
    with pytest.raises(RunError) as error:
        fetch(recipe(server.address("/t")), cache)
    assert "the connection was cut after 100000 bytes; expected the same command again (100000 bytes are kept)" in str(
        error.value
    )
    assert left(cache) == ["own.csv.part"]
    fetched = fetch(recipe(server.address("/t")), cache)
    must_be(fetched, CONTENT, cache)
    assert fetched.downloaded_bytes == len(CONTENT) - 100_000
    assert server.ranges == [None, "bytes=100000-", "bytes=100000-"]
    assert json.loads((cache.folder / "own.json").read_text())["parts"] == {}


def test_an_interrupted_download_goes_on(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)

    def interrupt(done: int, _total: int | None, _phase: str) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(recipe(server.address("/t")), cache, progress=interrupt)
    assert left(cache) == ["own.csv.part"]
    kept = (cache.folder / "own/own.csv.part").stat().st_size
    fetched = fetch(recipe(server.address("/t")), cache)
    must_be(fetched, CONTENT, cache)
    assert fetched.downloaded_bytes == len(CONTENT) - kept < 200_000


def test_a_server_without_parts_sends_the_whole_file_again(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, ranges=False, cuts=[100_000])
    fetched = fetch(recipe(server.address("/t")), cache)
    must_be(fetched, CONTENT, cache)
    assert fetched.downloaded_bytes == len(CONTENT) + 100_000


def test_attempts_end_that_get_no_further(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, ranges=False, cuts=[100_000] * 50)
    with pytest.raises(RunError, match="cut after 100000 bytes"):
        fetch(recipe(server.address("/t")), cache)
    assert len(server.requests) == 2


def test_a_file_that_has_changed_begins_anew(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, cuts=[100_000, 0])
    with pytest.raises(RunError):
        fetch(recipe(server.address("/t")), cache)
    server.files["/t"] = File(OTHER, etag='"two"')
    must_be(fetch(recipe(server.address("/t")), cache), OTHER, cache)
    assert server.requests[-1] == ("/t", "bytes=100000-", '"one"')


@pytest.mark.parametrize(
    ("etag", "modified", "condition"),
    [
        ('W/"weak"', "Sat, 28 Nov 2026 00:00:00 GMT", "Sat, 28 Nov 2026 00:00:00 GMT"),
        (None, "Sat, 28 Nov 2026 00:00:00 GMT", "Sat, 28 Nov 2026 00:00:00 GMT"),
        ('W/"weak"', None, None),
        (None, None, None),
    ],
)
def test_only_what_identifies_the_bytes_lets_a_part_go_on(
    server: Server, cache: Cache, etag: str | None, modified: str | None, condition: str | None
) -> None:
    server.files["/t"] = File(CONTENT, etag=etag, modified=modified, cuts=[100_000])
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)
    assert server.requests[-1] == ("/t", "bytes=100000-" if condition else None, condition)


def test_a_part_of_another_address_begins_anew(server: Server, cache: Cache) -> None:
    server.files |= {"/t": File(CONTENT, cuts=[100_000, 0]), "/u": File(OTHER)}
    with pytest.raises(RunError):
        fetch(recipe(server.address("/t")), cache)
    must_be(fetch(recipe(server.address("/u")), cache), OTHER, cache)
    assert server.ranges[-1] is None


def test_a_part_of_unknown_origin_begins_anew(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)
    (cache.folder / "own").mkdir(parents=True)
    (cache.folder / "own/own.csv.part").write_bytes(OTHER[:1000])
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)


@pytest.mark.parametrize("length", [len(CONTENT), len(CONTENT) + 5])
def test_a_part_that_is_whole_or_too_long(server: Server, cache: Cache, length: int) -> None:
    server.files["/t"] = File(CONTENT, cuts=[100_000, 0])
    with pytest.raises(RunError):
        fetch(recipe(server.address("/t")), cache)
    (cache.folder / "own/own.csv.part").write_bytes((CONTENT + b"extra")[:length])
    fetched = fetch(recipe(server.address("/t")), cache)
    must_be(fetched, CONTENT, cache)
    assert fetched.downloaded_bytes == (0 if length == len(CONTENT) else len(CONTENT))


def test_another_range_than_the_one_requested_is_refused(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT, cuts=[100_000], shift=7)
    with pytest.raises(RunError, match="another part than the one requested"):
        fetch(recipe(server.address("/t")), cache)


@given(cuts=st.lists(st.integers(0, 120_000), max_size=8), ranges=st.booleans())
def test_any_cuts_end_in_the_file_or_in_an_error_with_a_true_part(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], ranges: bool
) -> None:
    cache = Cache(tmp_path_factory.mktemp("cuts"))
    with serving() as server:
        server.files["/t"] = File(CONTENT, ranges=ranges, cuts=list(cuts))
        for _ in range(len(cuts) + 1):
            try:
                fetched = fetch(recipe(server.address("/t")), cache)
            except RunError:
                part = cache.folder / "own/own.csv.part"
                kept = part.read_bytes() if part.exists() else b""
                assert CONTENT.startswith(kept)
            else:
                must_be(fetched, CONTENT, cache)
                return
    pytest.fail("the cuts were over, and the file had not arrived")


# Files that are refused


def test_another_checksum_than_the_owners_is_refused(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(OTHER)
    with pytest.raises(InputError, match=f"its md5 is {md5(OTHER)[4:]}, not {md5(CONTENT)[4:]}; expected own.csv"):
        fetch(recipe(server.address("/t"), md5(CONTENT)), cache)
    assert left(cache) == []
    server.files["/t"] = File(CONTENT)
    must_be(fetch(recipe(server.address("/t"), md5(CONTENT)), cache), CONTENT, cache)


def test_another_length_than_the_owners_is_refused(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(OTHER)
    with pytest.raises(InputError, match="has 310000 bytes, not 300000"):
        fetch(recipe(server.address("/t"), size=len(CONTENT)), cache)
    assert left(cache) == []


def test_the_first_fetch_pins_what_later_ones_must_be(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)
    own = recipe(server.address("/t"))
    fetch(own, cache).path.unlink()
    server.files["/t"] = File(OTHER)
    with pytest.raises(InputError) as error:
        fetch(own, cache)
    assert hashlib.sha256(OTHER).hexdigest() in str(error.value)
    assert f"expected the same file, or remove {cache.folder}/own.json to accept this one" in str(error.value)
    assert left(cache) == []
    (cache.folder / "own.json").unlink()
    assert fetch(own, cache).pinned
    assert left(cache) == ["own.csv"]


def test_a_file_that_was_damaged_in_the_cache_is_noticed(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)
    path = fetch(recipe(server.address("/t")), cache).path
    path.write_bytes(CONTENT[:-1])
    with pytest.raises(InputError, match="expected the same file: remove it to fetch it again, or remove"):
        fetch(recipe(server.address("/t")), cache)
    path.unlink()
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)


def test_a_file_that_is_too_large_is_refused(server: Server, cache: Cache) -> None:
    big = bytes(1_000_001)
    # One that states its length is refused before it is received.
    for encoding, sent in (("length", "1000001 bytes"), ("chunked", "more")):
        server.files["/t"] = File(big, encoding=encoding)
        with pytest.raises(InputError, match=f"sends {sent}; expected at most 1000000 bytes"):
            fetch(recipe(server.address("/t")), cache)
        assert left(cache) == []


def test_a_damaged_note_names_its_place(cache: Cache) -> None:
    cache.folder.mkdir()
    (cache.folder / "own.json").write_text('{"schema": "floatgate.fetched/1", "pins": [], "parts": {}}')
    with pytest.raises(InputError, match=r"own\.json: pins: is an object|own\.json: pins"):
        fetch(recipe("http://127.0.0.1:1/t"), cache)
    (cache.folder / "own.json").write_text('{"schema": "floatgate.fetched/2"}')
    with pytest.raises(
        InputError, match=r"expected 'floatgate\.fetched/1' \(remove the file to begin anew\), in the note"
    ):
        fetch(recipe("http://127.0.0.1:1/t"), cache)


# Servers that have no file


@pytest.mark.parametrize("code", [403, 404, 410, 500])
def test_a_refusal_says_what_to_put_where(server: Server, cache: Cache, code: int) -> None:
    server.files["/t"] = File(code=code)
    with pytest.raises(RunError) as error:
        fetch(recipe(server.address("/t")), cache)
    reason = http.client.responses[code]
    expected = f"{server.address('/t')}: the server answers {code} {reason}; expected the file by hand: follow the link"
    assert str(error.value).startswith(expected)
    assert f"({PAGE}), then put it at {cache.folder}/own/own.csv or name it with --from FILE" in str(error.value)
    assert error.value.status == 1
    assert left(cache) == []
    assert not (cache.folder / "own").exists()


def test_a_server_that_is_not_there(cache: Cache) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/t"
        with pytest.raises(RunError, match=r"the server cannot be reached \(Connection refused\); expected the file"):
            fetch(recipe(address), cache)


def test_a_server_that_falls_silent(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/t"
        with pytest.raises(RunError, match=r"cannot be reached \(timed out\)"):
            fetch(recipe(address), cache)


def test_a_server_that_does_not_speak_http(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as odd:
        address = f"http://127.0.0.1:{odd.getsockname()[1]}/t"

        def answer() -> None:
            with odd.accept()[0] as one:
                one.recv(1000)
                one.sendall(b"hello\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(RunError, match="cannot be reached"):
            fetch(recipe(address), cache)
        thread.join()


def test_redirects_are_followed(server: Server, cache: Cache) -> None:
    server.files |= {
        "/t": File(code=302, location="/u"),
        "/u": File(code=301, location=server.address("/v")),
        "/v": File(CONTENT, cuts=[100_000]),
    }
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)
    assert server.requests[-1] == ("/v", "bytes=100000-", '"one"')


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/t", "data:,x", "gopher://127.0.0.1/"])
def test_redirects_to_other_schemes_are_refused(server: Server, cache: Cache, location: str) -> None:
    server.files["/t"] = File(code=302, location=location)
    with pytest.raises(RunError, match=f"the server redirects to '{location}', which is not followed"):
        fetch(recipe(server.address("/t")), cache)
    assert left(cache) == []


def test_redirects_in_a_circle_end(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(code=302, location="/t")
    with pytest.raises(RunError, match="the server redirects to '/t', which is not followed"):
        fetch(recipe(server.address("/t")), cache)


def test_a_redirect_does_not_leave_encryption() -> None:
    request = urllib.request.Request("https://owner.example/t")
    headers = http.client.HTTPMessage()
    redirects = download._Redirects()
    followed = redirects.redirect_request(request, None, 302, "", headers, "https://other.example/t")  # type: ignore[arg-type]
    assert followed is not None
    with pytest.raises(download.TransferError, match=r"'http://owner\.example/t', which is not followed"):
        redirects.redirect_request(request, None, 302, "", headers, "http://owner.example/t")  # type: ignore[arg-type]
    plain = urllib.request.Request("http://owner.example/t")
    with pytest.raises(download.TransferError, match=r"'ftp://owner\.example/t', which is not followed"):
        redirects.redirect_request(plain, None, 302, "", headers, "ftp://owner.example/t")  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://owner.example/t", "/etc/passwd"])
def test_other_addresses_are_refused(cache: Cache, address: str) -> None:
    with pytest.raises(RunError, match="only http and https addresses are followed"):
        fetch(recipe(address), cache)
    assert left(cache) == []


def test_two_fetches_do_not_write_the_same_part(server: Server, cache: Cache) -> None:
    server.files["/t"] = File(CONTENT)
    (cache.folder / "own").mkdir(parents=True)
    with (cache.folder / "own/own.csv.part").open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another floatgate fetch writes it"):
            fetch(recipe(server.address("/t")), cache)
    assert server.requests == []
    must_be(fetch(recipe(server.address("/t")), cache), CONTENT, cache)


def test_a_cache_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    server.files["/t"] = File(CONTENT)
    with pytest.raises(InputError, match=r"expected a cache that can be written to \(--cache\)"):
        fetch(recipe(server.address("/t")), Cache(tmp_path / "file"))
