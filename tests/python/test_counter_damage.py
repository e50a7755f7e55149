"""Damaged readings: cuts, flips and mixtures of every format make one clear message, and never a traceback.

``FLOATGATE_SEED`` repeats a failure, ``FLOATGATE_COUNTERS`` says how many damaged files each tool gets.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from counter_texts import TOOLS, random_truths
from floatgate.base.errors import FloatgateError
from floatgate.lab.counters import collecting, report, summary
from floatgate.lab.counters.facts import Rating, of_series

SEED = int(os.environ.get("FLOATGATE_SEED", "1"))
FILES = int(os.environ.get("FLOATGATE_COUNTERS", "40"))


def damaged(text: str, dice: random.Random) -> bytes:
    """Cut, flip, repeat, swap or replace a part of a file."""
    raw = bytearray(text.encode())
    for _ in range(dice.randrange(1, 4)):
        if not raw:
            break
        at = dice.randrange(len(raw))
        end = min(at + dice.randrange(1, 40), len(raw))
        kind = dice.randrange(8)
        if kind == 0:
            del raw[at:]
        elif kind == 1:
            raw[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del raw[at:end]
        elif kind == 3:
            raw[at:at] = raw[at:end]
        elif kind == 4:
            raw[at:end] = dice.choice(
                (b"-1", b"1e999", b"NaN", b"null", b"[]", b"{}", b'"', b"9" * 60, b"0x", b",", b"\0")
            )
        elif kind == 5:
            raw[at:at] = b"\n" + str(dice.randrange(10**9, 2 * 10**9)).encode() + b"\n"
        elif kind == 6:
            raw += raw[at:]
        else:
            raw[at:at] = dice.choice((b"\xff", b"\r\n", b"\t", "\u2028".encode(), b"{", b"}", b"[", b'{"a":', b"# "))
    return bytes(raw)


@pytest.mark.parametrize("name", TOOLS)
def test_damaged_readings_make_one_clear_message(name: str, tmp_path: Path) -> None:
    refused = 0
    for number in range(FILES):
        dice = random.Random(f"{SEED}:damage:{name}:{number}")
        truths = random_truths(dice, 3)
        texts = [TOOLS[name].print(truth).encode() for truth in truths]
        place = dice.randrange(3)
        texts[place] = damaged(TOOLS[name].print(truths[place]), dice)
        if dice.random() < 0.3:
            texts = [b"\n".join(texts), damaged(TOOLS[name].print(truths[0]), dice)]
        paths = []
        for at, raw in enumerate(texts):
            paths.append(str(tmp_path / f"f{at}"))
            Path(paths[-1]).write_bytes(raw)
        try:
            facts = of_series(collecting.series(paths, collecting.Wanted()), Rating(1e15, "a rating"), None)
            # Whatever is read can be shown and written.
            summary.screen(facts)
            json.dumps(facts, allow_nan=False)
        except FloatgateError as error:
            refused += 1
            message = str(error)
            assert "\n" not in message, f"FLOATGATE_SEED={SEED}, {name}, file {number}"
            assert "; expected " in message, f"FLOATGATE_SEED={SEED}, {name}, file {number}: {message}"
            assert message.startswith(str(tmp_path)), f"FLOATGATE_SEED={SEED}, {name}, file {number}: {message}"
        except Exception as error:  # noqa: BLE001 - whatever it is, its file is named
            pytest.fail(f"FLOATGATE_SEED={SEED}, {name}, file {number}: {type(error).__name__}: {error}")
    print(f"{name}: seed {SEED}, {FILES} damaged files, {refused} refused")
    assert refused > 0


def test_files_of_many_brackets_end_soon(tmp_path: Path) -> None:
    for text in ("{" * 200_000, "[" * 200_000, '{"a":[' * 60_000, "{\n" * 100_000, "{}\n" * 20_000, '"' * 100_000):
        (tmp_path / "a").write_text(text)
        with pytest.raises(FloatgateError, match="expected "):
            collecting.series([str(tmp_path / "a")] * 2, collecting.Wanted())


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero"), tmp_path / "a\0b", tmp_path / "missing"):
        with pytest.raises(FloatgateError, match="expected "):
            collecting.series([str(place)] * 2, collecting.Wanted())


def test_hostile_names_are_shown_as_text(tmp_path: Path) -> None:
    """Names within readings reach the page escaped."""
    for place in range(2):
        log = {"data_units_written": 1000 * (place + 1), "percentage_used": 3}
        made = {
            "model_name": "<script>&\x1b[31m",
            "serial_number": "\u202e\n",
            "local_time": {"time_t": 1_700_000_000 + place},
        }
        (tmp_path / f"{place}").write_text(json.dumps(made | {"nvme_smart_health_information_log": log}))
    facts = of_series(collecting.series([str(tmp_path / "0"), str(tmp_path / "1")], collecting.Wanted()))
    assert "\x1b" not in summary.screen(facts)
    assert "<script>" not in report.page(facts)


def refused(tmp_path: Path, before: str, after: str) -> str:
    """The message on two readings, the second of which is damaged, without its folder."""
    paths = [tmp_path / "before", tmp_path / "after"]
    for path, text in zip(paths, (before, after), strict=True):
        path.write_text(text)
    with pytest.raises(FloatgateError) as refusal:
        of_series(collecting.series([str(path) for path in paths], collecting.Wanted()), None, None)
    return str(refusal.value).replace(f"{tmp_path}/", "")


CUT = "it was probably cut when it was copied; expected the whole file: copy it again"


@pytest.mark.parametrize("name", sorted(set(TOOLS) - {"micron_text"}))  # its first line is the counter
def test_a_reading_that_is_cut_within_a_line_is_called_so(name: str, tmp_path: Path) -> None:
    before, after = (TOOLS[name].print(truth) for truth in random_truths(random.Random(f"{SEED}:cut:{name}"), 2))
    lines = after.splitlines(keepends=True)
    place = next(number for number, line in enumerate(lines) if number and len(line) > 3)
    first, line = "".join(lines[:place]), lines[place].rstrip()
    rest = line[: max(2, len(line) // 2)]
    message = refused(tmp_path, before, first + rest)
    end = f"and the file ends within its line {place + 1}, after {len(rest.encode())} bytes: {CUT}"
    assert message.endswith(end), message
    # With a line break at its end it is short, but not cut within a line.
    assert CUT not in refused(tmp_path, before, first)


def test_a_counter_whose_digits_are_cut_has_fallen_for_that_reason(tmp_path: Path) -> None:
    before, after = (TOOLS["intel_text"].print(truth) for truth in random_truths(random.Random(f"{SEED}:digits"), 2))
    fallen = 0
    for end in range(len(after) // 4, len(after)):
        if after[end - 1].isdigit() and after[end].isdigit():
            try:
                message = refused(tmp_path, before, after[:end])
            except pytest.fail.Exception:
                continue  # a line that counts nothing
            fallen += "fall from" in message
            assert message.endswith(CUT), message
    assert fallen


def test_whole_json_without_a_line_break_is_not_cut(tmp_path: Path) -> None:
    before, after = (json.dumps({"data_units_written": units}, indent=1) for units in (9, 3))
    assert CUT not in refused(tmp_path, before, after)
