"""``floatgate fetch``: files by hand, members of archives, first lines, archives that are damaged or made to harm."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from floatgate.base.errors import InputError
from floatgate.trace.fetch.cache import Cache
from floatgate.trace.fetch.fetching import fetch
from floatgate.trace.fetch.recipes import Recipe
from trace_server import File, Server, serving

CONTENT = random.Random(3).randbytes(200_000)
LINES = b"".join(b"line %d\n" % number for number in range(30_000))
FILES = {"set/README.txt": b"about", "set/a.csv": CONTENT, "set/deep/b.csv": LINES}


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


def tar(files: dict[str, bytes], packed: str = "w:gz") -> bytes:
    """A tar archive in memory."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=packed) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def packed_zip(files: dict[str, bytes]) -> bytes:
    """A zip archive in memory."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def recipe(file: str = "set.tar.gz", member: str | None = "a.csv", address: str | None = None) -> Recipe:
    """A recipe of a member of an archive."""
    return Recipe(
        name="own", summary="a trace", owner="an owner", page="https://owner.example", verified=True, how="ask them",
        terms="none", size="0.3 MB", file=file, most_bytes=2_000_000, citation="A. Author: A Paper. 2026",
        address=address, member=member, format="msr",
    )  # fmt: skip


def by_hand(tmp_path: Path, content: bytes, name: str = "downloaded") -> str:
    """A file that a user has downloaded."""
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


def left(cache: Cache) -> list[str]:
    """The files of the cache, without its notes."""
    return sorted(path.name for path in cache.folder.rglob("*") if path.is_file() and path.suffix != ".json")


ARCHIVES = {
    "set.tar": tar(FILES, "w"),
    "set.tgz": tar(FILES),
    "set.tar.gz": tar(FILES),
    "set.tar.bz2": tar(FILES, "w:bz2"),
    "set.tar.xz": tar(FILES, "w:xz"),
    "set.zip": packed_zip(FILES),
}


# Members


@pytest.mark.parametrize("file", ARCHIVES)
def test_a_member_of_a_downloaded_archive(server: Server, cache: Cache, file: str) -> None:
    server.files["/s"] = File(ARCHIVES[file])
    own = recipe(file, address=server.address("/s"))
    fetched = fetch(own, cache)
    assert fetched.path == cache.folder / "own" / "a.csv"
    assert fetched.path.read_bytes() == CONTENT
    assert left(cache) == sorted(["a.csv", file])
    assert fetch(own, cache).cached
    # Another member comes from the archive in the cache.
    other = fetch(own, cache, member="set/deep/b.csv")
    assert (other.path.name, other.path.read_bytes(), other.downloaded_bytes) == ("b.csv", LINES, 0)
    assert len(server.requests) == 1


@pytest.mark.parametrize("member", ["a.csv", "set/a.csv"])
def test_a_member_is_named_by_its_path_or_its_name(tmp_path: Path, cache: Cache, member: str) -> None:
    source = by_hand(tmp_path, tar({"./set/a.csv": CONTENT}))
    assert fetch(recipe(member=member), cache, source).path.read_bytes() == CONTENT


@pytest.mark.parametrize("file", ARCHIVES)
def test_a_missing_member_is_answered_with_those_that_are_there(tmp_path: Path, cache: Cache, file: str) -> None:
    source = by_hand(tmp_path, ARCHIVES[file])
    expected = (
        f"{source}: lacks the member 'c.csv'; expected --member with one of "
        "'set/README.txt', 'set/a.csv', 'set/deep/b.csv'"
    )
    with pytest.raises(InputError) as error:
        fetch(recipe(file, member="c.csv"), cache, source)
    assert str(error.value) == expected
    assert left(cache) == []
    assert fetch(recipe(file), cache, source, member="b.csv").path.read_bytes() == LINES


def test_of_many_members_five_are_named(tmp_path: Path, cache: Cache) -> None:
    source = by_hand(tmp_path, tar({f"m{number}": b"x" for number in range(9)}))
    with pytest.raises(InputError, match=r"'m3', 'm4' and 4 others$"):
        fetch(recipe(), cache, source)


def test_the_only_member_of_an_archive(tmp_path: Path, cache: Cache) -> None:
    own = replace(recipe(member="*"), trace="hour.csv")
    fetched = fetch(own, cache, by_hand(tmp_path, tar({"deep/in/2018100101": CONTENT})))
    assert (fetched.path.name, fetched.path.read_bytes()) == ("hour.csv", CONTENT)


def test_links_are_no_members(tmp_path: Path, cache: Cache) -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
            entry = tarfile.TarInfo("a.csv")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    with pytest.raises(InputError, match=r"lacks the member 'a\.csv'; expected --member with one of no file"):
        fetch(recipe(), cache, by_hand(tmp_path, file.getvalue()))


@pytest.mark.parametrize("member", ["..", "../..", "", "a/", ".hidden", "a\nb", "-x"])
def test_a_member_that_names_no_file_is_refused(tmp_path: Path, cache: Cache, member: str) -> None:
    with pytest.raises(InputError, match=r"--member: .* does not end in the name of a file; expected one such as"):
        fetch(recipe(), cache, by_hand(tmp_path, tar(FILES)), member=member)
    assert left(cache) == []


def test_a_file_that_is_no_archive_has_no_members(cache: Cache) -> None:
    with pytest.raises(InputError, match=r"--member: own\.csv of own is not an archive; expected no --member"):
        fetch(recipe("own.csv", member=None), cache, member="a.csv")


# Files by hand


def test_without_an_address_the_file_is_expected_by_hand(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(InputError) as error:
        fetch(recipe(), cache)
    place = cache.folder / "own" / "set.tar.gz"
    assert str(error.value) == (
        "own: its owner offers no direct download; expected the file by hand: ask them (https://owner.example), "
        f"then put it at {place} or name it with --from FILE"
    )
    assert not cache.folder.exists()
    place.parent.mkdir(parents=True)
    place.write_bytes(tar(FILES))
    assert fetch(recipe(), cache).path.read_bytes() == CONTENT


def test_a_file_by_hand_stays_where_it_is(tmp_path: Path, cache: Cache) -> None:
    source = by_hand(tmp_path, CONTENT)
    own = recipe("own.csv", member=None)
    fetched = fetch(own, cache, source)
    assert fetched.path.read_bytes() == Path(source).read_bytes() == CONTENT
    assert (fetched.cached, fetched.pinned, fetched.downloaded_bytes) == (False, True, 0)
    assert fetch(own, cache).cached
    assert left(cache) == ["own.csv"]


def test_an_archive_by_hand_is_not_copied(tmp_path: Path, cache: Cache) -> None:
    fetch(recipe(), cache, by_hand(tmp_path, tar(FILES)))
    assert left(cache) == ["a.csv"]
    assert fetch(recipe(), cache).cached


def test_a_file_by_hand_must_be_the_owners(tmp_path: Path, cache: Cache) -> None:
    own = replace(recipe(), checksum=f"sha1:{hashlib.sha1(tar(FILES), usedforsecurity=False).hexdigest()}")
    with pytest.raises(InputError, match=r"/other: its sha1 is [0-9a-f]{40}, not [0-9a-f]{40}; expected set\.tar\.gz"):
        fetch(own, cache, by_hand(tmp_path, tar(FILES | {"more": b"x"}), "other"))
    assert left(cache) == []


def test_a_file_by_hand_must_be_that_of_the_first_fetch(tmp_path: Path, cache: Cache) -> None:
    fetch(recipe(), cache, by_hand(tmp_path, tar(FILES)))
    with pytest.raises(InputError, match="that of your first fetch was"):
        fetch(recipe(), cache, by_hand(tmp_path, tar(FILES | {"more": b"x"}), "other"))
    assert (cache.folder / "own/a.csv").read_bytes() == CONTENT


@pytest.mark.parametrize("source", ["missing", "."])
def test_a_file_by_hand_must_be_there(tmp_path: Path, cache: Cache, source: str) -> None:
    with pytest.raises(InputError, match="no such file; expected set"):
        fetch(recipe(), cache, str(tmp_path / source))


def test_a_trace_that_was_damaged_in_the_cache_is_noticed(tmp_path: Path, cache: Cache) -> None:
    source = by_hand(tmp_path, tar(FILES))
    path = fetch(recipe(), cache, source).path
    path.write_bytes(b"other")
    with pytest.raises(InputError, match="expected the same file: remove it to fetch it again"):
        fetch(recipe(), cache)
    assert fetch(recipe(), cache, source).path.read_bytes() == CONTENT


# First lines


@pytest.mark.parametrize(
    ("name", "pack"),
    [("own.csv", bytes), ("own.csv.gz", gzip.compress), ("own.csv.bz2", bz2.compress), ("own.csv.xz", lzma.compress)],
)
@pytest.mark.parametrize("lines", [1, 5, 29_999, 30_000, 40_000])
def test_the_first_lines_of_a_file(
    tmp_path: Path, cache: Cache, name: str, pack: Callable[[bytes], bytes], lines: int
) -> None:
    own = replace(recipe(name, member=None), lines=lines)
    fetched = fetch(own, cache, by_hand(tmp_path, pack(LINES)))
    assert fetched.path.name == f"own.first{lines}.csv"
    assert fetched.path.read_bytes() == b"".join(LINES.splitlines(keepends=True)[:lines])


def test_the_first_lines_of_a_member(tmp_path: Path, cache: Cache) -> None:
    own = replace(recipe(member="b.csv.gz"), lines=3)
    source = by_hand(tmp_path, tar({"a": b"x", "set/b.csv.gz": gzip.compress(LINES)}))
    fetched = fetch(own, cache, source)
    assert (fetched.path.name, fetched.path.read_bytes()) == ("b.first3.csv", b"line 0\nline 1\nline 2\n")


def test_lines_beyond_the_first_are_not_read(tmp_path: Path, cache: Cache) -> None:
    """Where a checksum is published, an archive of hundreds of gigabytes is not unpacked for its first lines."""
    own = replace(recipe(member="b.csv"), lines=3, most_bytes=500_000)
    content = tar({"b.csv": LINES + bytes(5_000_000)})
    source = by_hand(tmp_path, content)
    with pytest.raises(InputError, match="unpacks to more than 500000 bytes"):
        fetch(own, cache, source)
    own = replace(own, checksum=f"sha256:{hashlib.sha256(content).hexdigest()}")
    assert fetch(own, cache, source).bytes == 21


# Archives that are damaged, or made to harm


@pytest.mark.parametrize("file", ARCHIVES)
def test_a_damaged_archive_is_refused_and_not_pinned(tmp_path: Path, cache: Cache, file: str) -> None:
    whole = ARCHIVES[file]
    damaged = [b"", b"no archive", whole[: len(whole) * 2 // 3], whole[:-700], whole[:600] + b"xyz" + whole[603:]]
    for number, content in enumerate(damaged):
        if file == "set.tar" and number > 2:
            continue  # it has no checksums of its own, and what follows the last member says nothing
        with pytest.raises(InputError, match=rf"{number}: (is damaged|lacks the member)"):
            fetch(recipe(file), cache, by_hand(tmp_path, content, f"{number}"))
        assert left(cache) == []
    assert fetch(recipe(file), cache, by_hand(tmp_path, whole)).path.read_bytes() == CONTENT


@pytest.mark.parametrize("file", [file for file in ARCHIVES if file != "set.tar"])
def test_bytes_that_were_flipped_are_noticed(tmp_path: Path, cache: Cache, file: str) -> None:
    """Wherever they are: what is unpacked is right, or nothing is."""
    whole, seed = ARCHIVES[file], 20261128
    draw = random.Random(seed)
    for number in range(20):
        place, flip = draw.randrange(len(whole)), 1 << draw.randrange(8)
        source = by_hand(tmp_path, whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :], f"{number}")
        try:
            made = fetch(recipe(file), Cache(tmp_path / f"cache{number}"), source).path.read_bytes()
        except InputError:
            continue
        assert made == CONTENT, f"seed {seed}, case {number}: byte {place} of {file}"


def test_a_damaged_archive_in_the_cache_names_its_remedy(server: Server, cache: Cache) -> None:
    server.files["/s"] = File(tar(FILES)[:90_000])
    own = recipe(address=server.address("/s"))
    for _ in range(2):
        with pytest.raises(InputError, match=r"is damaged .*; expected set\.tar\.gz of own: remove it to fetch it"):
            fetch(own, cache)
    server.files["/s"] = File(tar(FILES))
    (cache.folder / "own/set.tar.gz").unlink()
    assert fetch(own, cache).path.read_bytes() == CONTENT


EVIL = ["../evil", "set/../../evil", "/evil", "//evil", "..", "C:\\evil", "..\\evil", "set\\..\\..\\evil"]


@pytest.mark.parametrize("name", EVIL)
@pytest.mark.parametrize("file", ["set.tar.gz", "set.zip"])
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, cache: Cache, file: str, name: str) -> None:
    files = {name: b"evil", "set/a.csv": CONTENT}
    source = by_hand(tmp_path, packed_zip(files) if file.endswith("zip") else tar(files))
    for member in (None, "evil"):
        with pytest.raises(
            InputError, match=r"has a member '.*', which leaves the archive's folder; expected relative"
        ):
            fetch(recipe(file), cache, source, member)
    assert left(cache) == []
    assert [path.name for path in tmp_path.rglob("*") if "evil" in path.name] == []


@pytest.mark.parametrize("file", ARCHIVES)
def test_what_unpacks_to_more_than_the_recipe_states_is_refused(tmp_path: Path, cache: Cache, file: str) -> None:
    bomb = {"a.csv": bytes(3_000_000)}
    modes = {"set.tar": "w", "set.tgz": "w:gz", "set.tar.gz": "w:gz", "set.tar.bz2": "w:bz2", "set.tar.xz": "w:xz"}
    source = by_hand(tmp_path, tar(bomb, modes[file]) if file in modes else packed_zip(bomb))
    with pytest.raises(InputError, match="unpacks to more than 2000000 bytes; expected"):
        fetch(recipe(file), cache, source)
    assert left(cache) == []


def test_what_comes_before_the_member_counts_too(tmp_path: Path, cache: Cache) -> None:
    source = by_hand(tmp_path, tar({"zeros": bytes(3_000_000), "a.csv": CONTENT}))
    with pytest.raises(InputError, match="unpacks to more than 2000000 bytes"):
        fetch(recipe(), cache, source)


def test_a_zip_that_understates_its_length_is_refused(tmp_path: Path, cache: Cache) -> None:
    raw = packed_zip({"a.csv": bytes(3_000_000)}).replace((3_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(InputError, match="is damaged"):
        fetch(recipe("set.zip"), cache, by_hand(tmp_path, raw))
    assert left(cache) == []
