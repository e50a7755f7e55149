"""``floatgate placement --format``: the files, and programs that use them."""

from __future__ import annotations

import configparser
import csv
import fcntl
import io
import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.live.exports import parsed
from floatgate.placement import place
from floatgate.placement.formats import fcntl as formats_fcntl
from floatgate.placement.formats import fio
from floatgate.placement.paths import Matcher, fold
from test_placement_keys import record

F_GET_RW_HINT = 1035
HINTS = {"not set": 0, "none": 1, "short": 2, "medium": 3, "long": 4, "extreme": 5}


def database(path: Path) -> Path:
    """A log, tables that are written once and deleted, and a file that is updated in place."""
    rng = np.random.default_rng(1)
    files = {"0": "/db/000001.log", "1": "/db/MANIFEST-000002"}
    rows: list[dict[str, Any]] = [{"page": 600 + page, "file": 1, "pages": 4} for page in range(0, 60, 4)]
    for turn in range(40):
        number = 2 + turn
        files[str(number)] = f"/db/{number:06}.sst"
        rows += [{"page": page, "file": 0} for page in range(50)]
        where = 1024 + 256 * (turn % 10)
        if turn >= 10:
            rows.append({"op": "trim", "page": where, "pages": 128, "file": number - 10})
        rows += [{"page": where + page, "file": number, "pages": 16} for page in range(0, 128, 16)]
        rows.append({"page": int(600 + rng.integers(0, 60)), "file": 1})
    return record(path, rows, files=files, contexts={})


def placed(cli: Cli, tmp_path: Path, *more: str) -> Path:
    database(tmp_path / "db.parquet")
    done = cli("placement", "db.parquet", "--by", "path-pattern", "--out", "out", *more)
    assert done.status == 0, done.err
    return tmp_path / "out"


def test_csv_is_printed_and_written(cli: Cli, tmp_path: Path) -> None:
    database(tmp_path / "db.parquet")
    done = cli("placement", "db.parquet", "--by", "path-pattern", "--format", "csv", "--out", "out")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["name"] for row in rows} == {"*.log", "*.sst", "db/MANIFEST-*"}
    assert done.out == (tmp_path / "out/placement.csv").read_text()
    assert sorted(one.name for one in (tmp_path / "out").iterdir()) == ["placement.csv", "placement.json"]
    document = json.loads((tmp_path / "out/placement.json").read_text())
    again = cli("placement", "db.parquet", "--by", "path-pattern", "--out", "again", "--json")
    assert document == json.loads(again.out)


def test_a_program_that_is_recorded_now_can_be_placed_by_every_key(cli: Cli, tmp_path: Path) -> None:
    """A shell that appends to a log and writes a file over and over by a program of its own."""
    if shutil.which("strace") is None:
        pytest.skip("no strace on this machine")
    script = (
        "for i in 1 2 3 4 5 6; do head -c 9000 /dev/zero >> run.log; dd if=/dev/zero of=data7 bs=8192 count=2; done"
    )
    record = ("trace", "record", "--backend", "strace", "--cache-mb", "0.01", "-o", "t.parquet")
    assert cli(*record, "--", "sh", "-c", f"{{ {script}; }} 2>/dev/null").status == 0
    # A recording names files from the folder in which it was made.
    patterns = {"*.log", "data*"}
    for by, names in [
        ("path-pattern", patterns),
        ("file", {"run.log", "data7"}),
        ("process", {*(f"head #{n}" for n in range(1, 7)), *(f"dd #{n}" for n in range(1, 7))}),
        ("thread", {f"{name} #{n} thread #1" for n in range(1, 7) for name in ("head", "dd")}),
        ("fd", {f"{name} #{n} fd 1" for n in range(1, 7) for name in ("head", "dd")}),
    ]:
        done = cli("placement", "t.parquet", "--by", by, "--out", by, "--json")
        assert done.status == 0, done.err
        answer = json.loads(done.out)
        assert {one["name"] for one in answer["keys"]} == names, by
        assert not answer["files_are_extents"]
    # On a drive of one's own.
    drive = ["--isolation", "initial", "--reclaim-unit-kib", "64", "--handles", "3", "--set", "ftl.spare_factor=0.3"]
    answer = json.loads(cli("placement", "t.parquet", "--by", "file", *drive, "--out", "own", "--json").out)
    command = ("isolation", "reclaim_unit_bytes", "collection_units", "handles")
    assert [answer[key] for key in command] == ["initial", 64 << 10, 1, 3]
    assert answer["config"]["ftl"]["spare_factor"] == 0.3


def test_the_job_of_fio_is_the_traces(cli: Cli, tmp_path: Path) -> None:
    folder = placed(cli, tmp_path, "--format", "fio", "--handles", "4")
    document = json.loads((folder / "placement.json").read_text())
    job = configparser.ConfigParser(interpolation=None)
    job.read(folder / "placement.fio")
    common = dict(job["global"])
    assert (common["fdp"], common["ioengine"], common["filename"]) == ("1", "io_uring_cmd", "${NG_DEVICE}")
    groups = {group["handle"]: group for group in document["groups"]}
    assert job.sections() == ["global", *(f"handle-{handle}" for handle in groups)]
    end = 0
    for handle, group in groups.items():
        section = job[f"handle-{handle}"]
        assert section["fdp_pli"] == str(handle)
        assert int(section["io_size"]) == group["page_writes"] * 4096
        assert int(section["offset"]) == end
        assert int(section["size"]) >= group["resident_pages"] * 4096
        end += int(section["size"])
        # The rate at which all are done when the trace is over.
        assert int(section["io_size"]) / int(section["rate"]) == pytest.approx(document["span_s"], rel=0.01)
        assert sum(int(part.split("/")[1]) for part in section["bssplit"].split(":")) == 100
    by_name = {one["name"]: job[f"handle-{one['handle']}"] for one in document["keys"]}
    # The log is written page by page, in order; tables in requests of 64 KiB.
    assert (by_name["*.log"]["rw"], by_name["*.log"]["bssplit"]) == ("write", "4k/100")
    assert (by_name["*.sst"]["rw"], by_name["*.sst"]["bssplit"]) == ("write", "64k/100")


@pytest.mark.parametrize(
    ("requests", "text"),
    [
        ({1: 5}, "4k/100"),
        ({1: 1, 2: 1, 4: 1}, "4k/34:8k/33:16k/33"),
        ({1: 999, 128: 1}, "4k/100"),
        ({2: 1, 1: 2}, "4k/67:8k/33"),
        ({pages: 100 + pages for pages in range(1, 13)}, ":".join(f"{4 * pages}k/10" for pages in range(3, 13))),
    ],
)
def test_sizes_of_requests_add_up(requests: dict[int, int], text: str) -> None:
    assert fio.split(requests) == text


def test_fio_takes_the_job(cli: Cli, tmp_path: Path) -> None:
    program = shutil.which("fio")
    if program is None:
        pytest.skip("no fio on this machine")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(int(part) for part in version.strip().removeprefix("fio-").split("-")[0].split(".")[:2]) < (3, 34):
        pytest.skip(f"{version.strip()} does not know fdp")
    folder = placed(cli, tmp_path, "--format", "fio")
    run = [program, "--parse-only", str(folder / "placement.fio")]
    done = subprocess.run(
        run, capture_output=True, text=True, env={**os.environ, "NG_DEVICE": "/dev/null"}, check=False
    )
    assert done.returncode == 0, done.stderr


def test_rocksdb_is_told_what_can_be_set(cli: Cli, tmp_path: Path) -> None:
    folder = placed(cli, tmp_path, "--format", "rocksdb")
    text = (folder / "rocksdb.txt").read_text()
    document = json.loads((folder / "placement.json").read_text())
    hints = {group["handle"]: group["hint"] for group in document["groups"]}
    for one in document["keys"]:
        writes, life = f"{one['page_writes']:,} page writes", f"{one['mean_life_writes']:,.0f} page writes"
        handle = f"handle {one['handle']}, Env::WLTH_{hints[one['handle']].upper()}"
        assert f"- {one['name']}: {writes}, data live {life}; {handle}\n" in text
    assert "data of the log die before those of tables. In this trace they do.\n" in text
    assert "calculate_sst_write_lifetime_hint_set" in text
    record(tmp_path / "no.parquet", [{"page": 1, "file": 0}], files={"0": "/a.log"})
    error = cli("placement", "no.parquet", "--by", "path-pattern", "--format", "rocksdb", "--out", "no").refused()
    assert error == (
        "no.parquet: no file that it writes is called *.sst; expected a recording of a program that uses RocksDB"
    )
    assert not (tmp_path / "no").exists()


def test_exports_of_a_live_drive(cli: Cli, tmp_path: Path) -> None:
    folder = placed(cli, tmp_path, "--format", "live")
    lines = (folder / "exports.txt").read_text().splitlines()
    document = json.loads((folder / "placement.json").read_text())
    command = next(line for line in lines if line.startswith("floatgate live"))
    words = command.split()
    made = parsed(words[words.index("--exports") + 1])
    groups = {group["handle"]: group for group in document["groups"] if group["handle"]}
    assert made[0] == ("data", 0, 0)
    assert {handle for _, _, handle in made[1:]} == set(groups)
    for name, size, handle in made[1:]:
        assert size >= groups[handle]["resident_pages"] * 4096
        assert any(line.startswith(f"# {name}: ") for line in lines)
    assert f"ftl.separate.handles={max(groups) + 1}" in words
    for one in document["keys"]:
        assert (one["name"] in lines) == (one["handle"] != 0)


def test_formats_that_go_by_paths_want_paths(cli: Cli, tmp_path: Path) -> None:
    database(tmp_path / "db.parquet")
    paths = "these hints are of files, by their paths; expected --by file or --by path-pattern"
    for by in ("context", "process", "thread", "fd"):
        error = cli("placement", "db.parquet", "--by", by, "--format", "fcntl").refused()
        assert error == f"--format fcntl --by {by}: {paths}"
    error = cli("placement", "db.parquet", "--by", "file", "--format", "rocksdb").refused()
    assert error == ("--format rocksdb --by file: RocksDB's hints are of kinds of files; expected --by path-pattern")
    error = cli("placement", "db.parquet", "--format", "xml").refused()
    assert (
        error == "--format 'xml': unknown format; expected one of 'table', 'csv', 'fio', 'fcntl', 'rocksdb' or 1 other"
    )
    record(tmp_path / "old.parquet", [{"page": 1, "context": 4}], contexts={})
    error = cli("placement", "old.parquet", "--by", "file", "--format", "fcntl", "--out", "old").refused()
    assert error.startswith(
        "old.parquet: does not name its files, which hints go by; expected a recording of this or a"
    )
    assert not (tmp_path / "old").exists()


def test_hints_by_whole_paths(cli: Cli, tmp_path: Path) -> None:
    rows = [{"page": 300 * file + page, "file": file} for page in [0, 1, 0, 1, 2, 3] for file in range(3)]
    record(tmp_path / "a.parquet", rows, files={"0": "/d/a*b", "1": "/d/c", "2": "no path"})
    assert cli("placement", "a.parquet", "--by", "file", "--format", "fcntl", "--out", "out").status == 0
    lines = (tmp_path / "out/hints.table").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines if not line.startswith("#")] == ["/d/a[*]b", "/d/c"]


def test_a_table_larger_than_the_library_takes_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database(tmp_path / "db.parquet")
    placement = place(tmp_path / "db.parquet", by="path-pattern")
    assert formats_fcntl.files(placement)[formats_fcntl.TABLE].count("\n") == 5
    for limit, least in (("ROWS_MAX", 2), ("BYTES_MAX", 100)):
        with monkeypatch.context() as patch:
            patch.setattr(formats_fcntl, limit, least)
            with pytest.raises(InputError, match="3 keys make too large a table; expected at most"):
                formats_fcntl.files(placement)


def test_names_that_count_from_the_working_folder_become_whole_paths(cli: Cli, tmp_path: Path) -> None:
    rows = [{"page": 300 * file + page, "file": file} for page in [0, 1, 0, 1, 2, 3] for file in range(3)]
    files = {"0": "a.log", "1": "sub/[b]", "2": "/elsewhere/c"}

    def patterns() -> list[str]:
        lines = (tmp_path / "out/hints.table").read_text().splitlines()
        return [line.split(" ", 1)[1] for line in lines if not line.startswith("#")]

    fcntl = ("--by", "file", "--format", "fcntl", "--out", "out", "--force")
    record(tmp_path / "new.parquet", rows, files=files, folder="/home/w")
    answer = json.loads(cli("placement", "new.parquet", *fcntl, "--json").done())
    assert sorted(patterns()) == ["/elsewhere/c", "/home/w/a.log", "/home/w/sub/[[]b]"]
    # The key stays the name, by which the file is found again in a recording made elsewhere.
    paths = {one["name"]: one["path"] for one in answer["keys"]}
    assert paths == {"a.log": "/home/w/a.log", "sub/[b]": "/home/w/sub/[b]", "/elsewhere/c": "/elsewhere/c"}
    assert [one["key"] for one in answer["keys"]] == [one["name"] for one in answer["keys"]]
    # Older recordings do not say from which folder they count.
    record(tmp_path / "old.parquet", rows, files=files)
    cli("placement", "old.parquet", *fcntl).done()
    assert patterns() == ["/elsewhere/c"]
    assert "# Without 2 of 3 files: their whole paths are unknown." in (tmp_path / "out/hints.table").read_text()
    record(tmp_path / "relative.parquet", rows, files={**files, "2": "c"})
    error = cli("placement", "relative.parquet", "--by", "file", "--format", "fcntl", "--out", "none").refused()
    assert error == (
        "relative.parquet: names its files from the folder in which it was recorded, and does not say which one that "
        "is; hints go by whole paths: expected --by path-pattern, or a recording of this or a later version: record "
        "the program again with floatgate trace record"
    )
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("format", ["table", "csv", "fio", "fcntl", "rocksdb"])
def test_an_empty_table_is_refused_in_every_format(cli: Cli, tmp_path: Path, format: str) -> None:
    rows = [{"page": 300 * file + page, "file": file} for page in range(4) for file in range(2)]
    record(tmp_path / "once.parquet", rows, files={"0": "/db/1.sst", "1": "/db/2.sst"})
    error = cli("placement", "once.parquet", "--by", "path-pattern", "--format", format, "--out", "out").refused()
    assert error == (
        "once.parquet: the table is empty: no path-pattern gets a handle other than 0 (no data die within the trace); "
        "expected a longer recording, or one of a program that overwrites or deletes what it wrote"
    )
    assert not (tmp_path / "out").exists()


# The library that is preloaded.


@pytest.fixture(scope="module")
def hints(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Builds the library as users do; the environment that preloads it, with a table of its own."""
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler or no make on this machine")
    folder = tmp_path_factory.mktemp("hints")
    try:
        with (folder / "any").open("w") as file:
            fcntl.fcntl(file, F_GET_RW_HINT, struct.pack("Q", 0))
    except OSError as error:
        pytest.skip(f"this kernel has no write lifetime hints: {error}")
    database(folder / "db.parquet")
    command = [sys.executable, "-m", "floatgate", "placement", str(folder / "db.parquet")]
    command += ["--by", "path-pattern", "--format", "fcntl", "--out", str(folder / "out"), "--quiet"]
    subprocess.run(command, check=True)
    subprocess.run(["make", "-C", folder / "out", "CC=cc -Wextra -Werror"], check=True, capture_output=True)
    table = folder / "hints.table"
    table.write_text("# a comment\n\nshort *.log\nmedium pg_wal/*\nextreme /whole/x\nlong db/a[*]b\nnone quiet\n")
    return {"LD_PRELOAD": str(folder / "out/hints.so"), "FLOATGATE_HINTS": str(table)}


def test_the_table_of_hints_follows_the_handles(hints: Mapping[str, str]) -> None:
    folder = Path(hints["LD_PRELOAD"]).parent
    document = json.loads((folder / "placement.json").read_text())
    by_handle = {group["handle"]: group["hint"] for group in document["groups"]}
    lines = [line.split(" ", 1) for line in (folder / "hints.table").read_text().splitlines() if line[0] != "#"]
    assert {pattern: hint for hint, pattern in lines} == {
        one["name"]: by_handle[one["handle"]] for one in document["keys"]
    }
    matcher = Matcher([pattern for _, pattern in lines])
    for path in ("/db/000007.sst", "/db/000001.log", "/db/MANIFEST-000002"):
        number = matcher.first(path)
        assert number is not None
        assert lines[number][1] == fold(path)


PROGRAM = """
import ctypes, fcntl, json, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype = libc.fopen64.restype = ctypes.c_void_p
libc.freopen.restype = libc.freopen64.restype = ctypes.c_void_p
libc.fileno.argtypes = [ctypes.c_void_p]
libc.freopen.argtypes = libc.freopen64.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
hint = lambda fd: struct.unpack("Q", fcntl.fcntl(fd, 1035, struct.pack("Q", 99)))[0]
flags = os.O_CREAT | os.O_RDWR
for folder in ("pg_wal", "db"):
    os.makedirs(folder, exist_ok=True)
at = os.open("pg_wal", os.O_RDONLY)
found = {
    "open": hint(libc.open(b"a.log", flags, 0o600)),
    "open64": hint(libc.open64(b"b.log", flags, 0o600)),
    "openat": hint(libc.openat(at, b"0001", flags, 0o600)),
    "openat64": hint(libc.openat64(at, b"0002", flags, 0o600)),
    "creat": hint(libc.creat(b"db/a*b", 0o600)),
    "fopen": hint(libc.fileno(libc.fopen(b"c.log", b"w"))),
    "fopen64": hint(libc.fileno(libc.fopen64(b"d.log", b"a+"))),
    "freopen": hint(libc.fileno(libc.freopen(b"e.log", b"w", libc.fopen(b"plain", b"w")))),
    "__open_2": hint(libc.__open_2(b"a.log", os.O_WRONLY)),
    "__open64_2": hint(libc.__open64_2(b"b.log", os.O_RDWR)),
    "__openat_2": hint(libc.__openat_2(at, b"0001", os.O_WRONLY)),
    "__openat64_2": hint(libc.__openat64_2(at, b"0002", os.O_WRONLY)),
    "creat64": hint(libc.creat64(b"j.log", 0o600)),
    "freopen64": hint(libc.fileno(libc.freopen64(b"k.log", b"r+", libc.fopen(b"k.log", b"w")))),
    "mkstemp": hint(libc.mkstemp(ctypes.create_string_buffer(b"pg_wal/XXXXXX"))),
    "mkstemp64": hint(libc.mkstemp64(ctypes.create_string_buffer(b"pg_wal/XXXXXX"))),
    "mkostemp": hint(libc.mkostemp(ctypes.create_string_buffer(b"pg_wal/XXXXXX"), os.O_CLOEXEC)),
    "mkostemp64": hint(libc.mkostemp64(ctypes.create_string_buffer(b"pg_wal/XXXXXX"), os.O_CLOEXEC)),
    "mkstemps64": hint(libc.mkstemps64(ctypes.create_string_buffer(b"XXXXXX.log"), 4)),
    "mkostemps": hint(libc.mkostemps(ctypes.create_string_buffer(b"XXXXXX.log"), 4, os.O_CLOEXEC)),
    "mkostemps64": hint(libc.mkostemps64(ctypes.create_string_buffer(b"XXXXXX.log"), 4, os.O_CLOEXEC)),
    "without a name": hint(libc.open(b"pg_wal", os.O_TMPFILE | os.O_RDWR, 0o600)),
    "a mere path": (os.close(libc.open(b"a.log", os.O_PATH | os.O_RDWR)), 0)[1],
    "python": hint(os.open("f.log", os.O_CREAT | os.O_WRONLY)),
    "other": hint(libc.open(b"db/axb", flags, 0o600)),
    "none": hint(libc.open(b"quiet", flags, 0o600)),
    "through a link": (os.symlink("g.log", "link"), hint(libc.open(b"link", flags, 0o600)))[1],
    "read only": (os.rename("db/axb", "h.log"), hint(os.open("h.log", os.O_RDONLY)))[1],
    "temporary": hint(libc.mkstemps(ctypes.create_string_buffer(b"XXXXXX.log"), 4)),
}
ctypes.set_errno(0)
libc.open(b"i.log", flags, 0o600)
found["errno"] = ctypes.get_errno()
found["missing"] = [libc.open(b"no/such.log", os.O_WRONLY), ctypes.get_errno()]
print(json.dumps(found))
"""
HINTS_OF_FILES = {
    "open": 2,
    "open64": 2,
    "openat": 3,
    "openat64": 3,
    "creat": 4,
    "fopen": 2,
    "fopen64": 2,
    "freopen": 2,
    "__open_2": 2,
    "__open64_2": 2,
    "__openat_2": 3,
    "__openat64_2": 3,
    "creat64": 2,
    "freopen64": 2,
    "mkstemp": 3,
    "mkstemp64": 3,
    "mkostemp": 3,
    "mkostemp64": 3,
    "mkstemps64": 2,
    "mkostemps": 2,
    "mkostemps64": 2,
    "without a name": 3,
    "a mere path": 0,
    "python": 2,
    "other": 0,
    "none": 1,
    "through a link": 2,
    "read only": 0,
    "temporary": 2,
    "errno": 0,
    "missing": [-1, 2],
}


def hinted(folder: Path, hints: Mapping[str, str], **more: str) -> tuple[dict[str, Any], str]:
    """The hints that a program sees on files in ``folder``, and its messages on standard error."""
    environment = {**os.environ, **hints, **more}
    program = folder / "program.py"
    program.write_text(PROGRAM)
    run = [os.path.realpath(sys.executable), "-I", str(program)]
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), done.stderr


def test_files_get_the_hint_of_the_first_pattern(tmp_path: Path, hints: Mapping[str, str]) -> None:
    hints_of_files, messages = hinted(tmp_path, hints)
    assert hints_of_files == HINTS_OF_FILES
    assert messages == ""


@pytest.mark.parametrize("table", [None, "", "empty"])
def test_the_program_runs_without_a_table_all_the_same(
    tmp_path: Path, hints: Mapping[str, str], table: str | None
) -> None:
    (tmp_path / "empty").touch()
    preload = {
        "LD_PRELOAD": hints["LD_PRELOAD"],
        **({} if table is None else {"FLOATGATE_HINTS": table and str(tmp_path / table)}),
    }
    hints_of_files, messages = hinted(tmp_path, preload)
    assert {key: value for key, value in hints_of_files.items() if key not in {"errno", "missing"}} == {
        key: 0 for key in HINTS_OF_FILES if key not in {"errno", "missing"}
    }
    assert messages == ""


def run_or_skip(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        message = getattr(error, "stderr", "") or str(error)
        pytest.skip(f"{command[0]}: {message.strip()}")


@pytest.fixture
def ext4(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own on a loop device."""
    if os.geteuid() != 0:
        pytest.skip("loop devices take root")
    image, mounted = tmp_path / "image", tmp_path / "mounted"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(32 << 20)
    run_or_skip("mkfs.ext4", "-q", "-F", str(image))
    device = run_or_skip("losetup", "--find", "--show", str(image))
    try:
        run_or_skip("mount", "-t", "ext4", device, str(mounted))
        try:
            yield mounted
        finally:
            subprocess.run(["umount", str(mounted)], check=True)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def test_hints_reach_the_inodes_of_a_file_system(ext4: Path, hints: Mapping[str, str]) -> None:
    hints_of_files, _ = hinted(ext4, hints)
    assert hints_of_files == HINTS_OF_FILES
    # Another program, without the library, finds them.
    for name, hint in [("a.log", "short"), ("pg_wal/0001", "medium"), ("db/a*b", "long"), ("plain", "not set")]:
        with (ext4 / name).open("rb") as file:
            number = struct.unpack("Q", fcntl.fcntl(file, F_GET_RW_HINT, struct.pack("Q", 99)))[0]
        assert number == HINTS[hint], name
