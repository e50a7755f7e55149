"""Captures that cannot be used: exit status 2 and one plain line; doubtful ones cause a warning."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.lab import rb
from rb_captures import PACKERS, SHAPE, draw, session, vcd

DRIVE = ("--channels", "2", "--chips", "1", "--dies", "1", "--planes", "1", "--page-bytes", "4096")
HEAD = "$timescale 1us $end\n$var wire 1 ! rb $end\n$var wire 1 # cle $end\n$enddefinitions $end\n#0\n1!\n1#\n"
GOOD = HEAD + "#10\n0!\n0#\n#510\n1!\n1#\n#900\n"
EXPECTED = "expected VCD, a sigrok session, CSV or lengths of low phases; select one with --format"
LOW = (
    "expected a pin that is low while the chip is busy "
    "(if it is inverted, swap 0 and 1; if it is too short, capture longer)"
)


def refusal(path: Path, content: bytes | str, **settings: object) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        rb.measure([path], SHAPE, rb.Settings(**settings))  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 4000
    return message.replace(str(path), path.name)


def sr(folder: Path, *, metadata: bytes | None, **members: bytes) -> bytes:
    """A session of these files."""
    with zipfile.ZipFile(folder / "made.sr", "w", zipfile.ZIP_DEFLATED) as archive:
        if metadata is not None:
            archive.writestr("metadata", metadata)
        for name, content in members.items():
            archive.writestr(name.replace("_", "-"), content)
    return (folder / "made.sr").read_bytes()


METADATA = b"[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=rb\nunitsize=1\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "c: the file is empty; expected a capture"),
        (" \n\n", "c: the file is empty; expected a capture"),
        (b"\x00\x01\x02\x03" * 50, "begins with '\\0\\u{1}\\u{2}\\u{3}"),
        (b"\xff\xd8\xff\xe0" * 50, "which is not text; " + EXPECTED),
        ("; a comment\n# another\n", "c: has comments only; " + EXPECTED),
        ("hello\nworld\n", "c: 'hello' is not a known capture format; " + EXPECTED),
        (HEAD, "c: no signal ever changes ('rb', 'cle'); expected a capture of a pin at work"),
        (HEAD + "#10\n0!\n#90\n", f"c: no low phase with both edges on 'rb'; {LOW}"),
        (HEAD.replace("1!", "0!") + "#10\n1!\n#90\n", f"c: no low phase with both edges on 'rb'; {LOW}"),
        (HEAD + "#10\nx!\n#90\nz!\n#100\n1!\n", f"c: no low phase with both edges on 'rb'; {LOW}"),
        (GOOD.partition("\n")[2], "c:3: the file has no $timescale; pass it, as in --time-unit 1us"),
        ("$timescale 1us $end\n$var wire 1 " + "!" * 201, "c:2: the file ends within its declarations"),
        (GOOD.replace("1 !", f"1 {'!' * 201}"), "c:2: an identifier of 201 bytes; expected at most 200"),
        (GOOD.replace("rb", "r" * (3 << 20)), "c:2: a word of more than 65536 bytes; expected text in words"),
        ("$scope module a $end\n" * 1001, "c:1001: scopes nested deeper than 1000; expected a $upscope"),
        (GOOD + "9" * (3 << 20), "c:15: a word of more than 65536 bytes"),
        (GOOD + "#9" * 70, "c:15: '#9#9#9#9#9"),
        (GOOD.replace("wire 1 !", "wire -1 !"), "c:2: '-1' is not a width"),
        (GOOD.replace("1us", "1 fortnight"), "c:1: '1fortnight' is not a time scale"),
        ("812.5us\n" + "9" * (2 << 20), "c:2: a line that is too long; expected a duration"),
        ("Time [s],rb\n0,1\n0,0\n0,1\n", "c: all times are equal; expected times that rise"),
        ("Time [s],rb\n", "c: no rows with levels; expected times and levels"),
        ("Time [s]," + ",".join(map(str, range(5000))), "c:1: 5000 columns of levels; expected from 1 to 4096"),
    ],
)  # fmt: skip
def test_bad_captures_are_refused_in_one_line(tmp_path: Path, content: bytes | str, expected: str) -> None:
    assert expected in refusal(tmp_path / "c", content)


def test_bad_sessions_are_refused_in_one_line(tmp_path: Path) -> None:
    whole = session([draw(random.Random(1), 5)])
    none = {"metadata": METADATA, "logic_1_1": b""}
    for content, expected in (
        (whole[: len(whole) // 2], "c: is not a zip archive that can be read ("),
        (whole[:-10], "c: is not a zip archive that can be read ("),
        (
            whole.replace(b"metadata", b"metagone"),
            "c: the archive contains no file 'metadata'; expected a sigrok session",
        ),
        (sr(tmp_path, metadata=b"\xff\xfe"), "c: its metadata cannot be read ("),
        (sr(tmp_path, metadata=b""), "c: its metadata have no samplerate; pass the time between samples"),
        (sr(tmp_path, metadata=b"samplerate=0 Hz\nprobe1=a"), "c: its metadata have no samplerate"),
        (
            sr(tmp_path, metadata=b"samplerate=1 MHz"),
            "c: it has no logic channels; capture the pin on a digital channel",
        ),
        (sr(tmp_path, metadata=METADATA), "c: it has no samples; expected a capture"),
        (sr(tmp_path, **none), "c: it has no samples; expected a capture"),
        (sr(tmp_path, metadata=METADATA.replace(b"=1\n", b"=9\n"), logic_1_1=b"1"), "c: samples of 9 bytes; expected"),
        (sr(tmp_path, metadata=METADATA.replace(b"=1\n", b"=x\n"), logic_1_1=b"1"), "c: samples of 0 bytes; expected"),
        (
            sr(tmp_path, metadata=METADATA.replace(b"=1\n", b"=2\n"), logic_1_1=b"111"),
            "c: 'logic-1-1' is damaged (it ends within a sample of 2 bytes); expected an intact sigrok session",
        ),
        (
            sr(tmp_path, metadata=METADATA, logic_1_1=b"\1\0\1\0"),
            "--program-us: low phases last from 1 to 1 us",
        ),
    ):
        assert expected in refusal(tmp_path / "c", content), expected
    assert "c: is not a zip archive, as sigrok sessions are" in refusal(tmp_path / "c", GOOD, format="sigrok")


@pytest.mark.parametrize("packing", [".gz", ".xz", ".zst"])
def test_packed_captures_that_are_cut_or_damaged_are_refused(tmp_path: Path, packing: str) -> None:
    rng = random.Random(9)
    packed = PACKERS[packing](vcd([draw(rng, 1)], rng))
    assert refusal(tmp_path / f"c{packing}", packed[:-20]).startswith(f"c{packing}")
    middle = len(packed) // 2
    damaged = packed[:middle] + bytes(byte ^ 0x55 for byte in packed[middle : middle + 40]) + packed[middle + 40 :]
    assert refusal(tmp_path / f"c{packing}", damaged).startswith(f"c{packing}")


def test_levels_that_are_unknown_are_told_of(tmp_path: Path) -> None:
    text = HEAD + "".join(f"#{1000 * n}\n0!\n#{1000 * n + 500}\n{'x' if n % 3 == 0 else '1'}!\n" for n in range(1, 31))
    (tmp_path / "c.vcd").write_text(text + "#40000\n")
    facts = rb.measure([tmp_path / "c.vcd"], SHAPE)
    # Ten end at an unknown level, and nine begin at one.
    assert (facts["programs"], facts["unclassified"]) == (11, 19)
    assert "the level is unknown (x) 10 times; low phases there are not counted" in facts["warnings"]


def test_long_names_and_strange_ones_do_no_harm(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.vcd").write_text(GOOD.replace("rb", "s" * 60_000 + "\x9b31m\u202e.rb"))
    output = cli("rb", "measure", "c.vcd", *DRIVE, "--json", "-").done()
    assert len(json.loads(output)["signals"][0]["name"].encode()) <= 1000
    for text in (output, cli("rb", "measure", "c.vcd", *DRIVE).done()):
        assert not any(char in text for char in "\x9b\u202e")


def test_names_within_many_scopes_take_no_memory(tmp_path: Path) -> None:
    """A small file that is packed well: 60,000 signals within long scopes."""
    scopes = f"$scope module {'s' * 60_000} $end\n" * 20
    signals = "".join(f"$var wire 1 i{number} x $end\n" for number in range(60_000))
    text = f"$timescale 1us $end\n{scopes}{signals}$enddefinitions $end\n#0\n1i7\n#5\n0i7\n#505\n1i7\n#900\n"
    (tmp_path / "c.vcd.gz").write_bytes(PACKERS[".gz"](text.encode()))
    status, memory_mb = measured_apart(tmp_path / "c.vcd.gz")
    assert status == "1 programs"
    assert memory_mb < 600


def measured_apart(path: Path) -> tuple[str, float]:
    """What a process of its own finds, and its memory at most, in MB beyond what imports take."""
    code = (
        "import sys, resource\n"
        "from floatgate.lab import rb\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "before = peak()\n"
        "try:\n"
        "    print(rb.measure([sys.argv[1]], rb.Shape(1, 1, 1, 1, 4096))['programs'], 'programs')\n"
        "except Exception as error:\n"
        "    print(str(error).replace(sys.argv[1], 'c'))\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    output, memory_mb = done.stdout.splitlines()
    return output, float(memory_mb)


@pytest.mark.long
def test_sessions_that_expand_to_gigabytes_take_no_memory(tmp_path: Path) -> None:
    zeros = bytes(64 << 20)
    for name, big, expected in (
        ("samples", "logic-1-1", "c: no signal ever changes ('rb'); expected a capture of a pin at work"),
        ("metadata", "metadata", "c: its metadata have no samplerate; "),
    ):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            if big != "metadata":
                archive.writestr("metadata", METADATA)
            with archive.open(big, "w", force_zip64=True) as member:
                for _ in range(48 if big != "metadata" else 16):
                    member.write(zeros)
        output, memory_mb = measured_apart(tmp_path / name)
        assert output.startswith(expected)
        assert memory_mb < 64, name


# The command line


def test_the_command_line_refuses_with_status_2(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "c.vcd").write_text(GOOD)
    (tmp_path / "d").mkdir()
    (tmp_path / "low.txt").write_text("low_us\n" + "500\n" * 50)
    for arguments, expected in (
        (("c.vcd", "--signal", "rb9"), "c.vcd: no signal 'rb9'; did you mean 'rb'?"),
        (("c.vcd", "--host-bytes", "0"), "--host-bytes: the host wrote nothing; expected bytes that were written"),
        (("c.vcd", "--host-bytes", "-1"), "--host-bytes: -1 bytes cannot be; expected bytes"),
        (("c.vcd", "--host-bytes", str(2**64)), f"--host-bytes: {2**64} bytes cannot be"),
        (
            ("c.vcd", "--program-us", "9..5"),
            "--program-us: '9..5' is not an interval; expected two lengths in ascending",
        ),
        (("c.vcd", "--program-us", "5"), "--program-us: '5' is not an interval"),
        (("c.vcd", "--program-us", "nan..inf"), "--program-us: 'nan..inf' is not an interval"),
        (("c.vcd", "--multi-page", "2"), "--multi-page: 2 pages per program on 1 planes; expected from 1 to 1"),
        (("c.vcd", "--multi-page", "nan"), "--multi-page: 'nan' is not a number of pages"),
        (("c.vcd", "--poll-us", "0"), "--poll-us: '0' is not a polling interval; expected microseconds"),
        (("c.vcd", "--poll-us", "nan"), "--poll-us: 'NaN' is not a polling interval"),
        (("c.vcd", "--poll-us", "5", "--quiet-s", "-1"), "--quiet-s: '-1' is not a length of time; expected seconds"),
        (("c.vcd", "--quiet-s", "1"), "--quiet-s: is of a recorder that polls; expected it with --poll-us"),
        (("low.txt", "--poll-us", "5"), "low.txt: has lengths but no times; a recorder cannot poll it; expected times"),
        (
            ("c.vcd", "--format", "best"),
            "--format: 'best' is not a capture format; expected one of 'vcd', 'sigrok', 'csv'",
        ),
        (
            ("c.vcd", "--time-unit", "5 parsec"),
            "--time-unit: '5 parsec' is not a unit of time; expected one such as 1us",
        ),
        (("c.vcd", "--page-bytes", "0"), "--page-bytes: 0 is out of range; expected a whole number from 1 on"),
        (("c.vcd", "--trace", "missing"), "missing: "),
        (("d",), "d: is a directory; expected a capture file"),
        (("missing.vcd",), "missing.vcd: no such file; expected a capture file"),
        (("c.vcd", "d"), "d: "),
        (("",), "expected a capture"),
        ((), "missing argument 'CAPTURE...'"),
    ):
        error = cli("rb", "measure", *DRIVE, *arguments, "--json", "j", "--report", "r.html").refused()
        assert expected in error, (arguments, error)
    assert {path.name for path in tmp_path.iterdir()} == {"c.vcd", "d", "low.txt"}
    needed = "the bytes that the host wrote are missing; expected --host-bytes, --smart or --trace"
    assert cli("rb", "multi-page", *DRIVE, "c.vcd").refused() == needed
    none = ("c.vcd", "--host-bytes", "5", "--program-us", "1..2")
    assert "no low phase is a program" in cli("rb", "multi-page", *DRIVE, *none).refused()
    assert "unknown command 'bogus' of floatgate rb" in cli("rb", "bogus").refused()


def test_intervals_that_cover_nothing_or_too_much_are_told_of(tmp_path: Path) -> None:
    (tmp_path / "low.txt").write_text("low_us\n" + "500\n505\n510\n3000\n3010\n" * 40)
    for interval, programs, expected in (
        ("600..2000", 0, "no low phase lies within --program-us 600..2000"),
        ("100..9000", 200, "--program-us covers 2 humps, about 500 us, 3000 us: are all of them programs?"),
    ):
        facts = rb.measure([tmp_path / "low.txt"], SHAPE, rb.Settings(program_us=interval))
        assert facts["programs"] == programs
        assert any(text.startswith(expected) for text in facts["warnings"]), facts["warnings"]
    facts = rb.measure([tmp_path / "low.txt"], SHAPE, rb.Settings(program_us="100..2000"))
    assert (facts["programs"], facts["erases"]) == (120, 80)
    assert not any("--program-us" in text for text in facts["warnings"])


def test_more_dies_than_numbers_hold_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "low.txt").write_text("low_us\n" + "500\n" * 50)
    most = 2**32 - 1
    facts = rb.measure([tmp_path / "low.txt"], rb.Shape(most, most, most, most, most), host=rb.Host(1))
    assert facts["p_volume_bytes"] > 1e30
