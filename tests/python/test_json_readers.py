"""Damaged JSON: every reader takes a document with sane values, or refuses it with the place and no word of Python.

``FLOATGATE_JSON_DOCUMENTS`` says how many documents each reader gets, ``FLOATGATE_SEED`` with which seed.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli
from floatgate.base import json_in
from floatgate.base.errors import InputError
from floatgate.results import shapes
from scripts_as_modules import loaded

ROOT = Path(__file__).parents[2]
DOCUMENTS = int(os.environ.get("FLOATGATE_JSON_DOCUMENTS", "25"))
SEED = int(os.environ.get("FLOATGATE_SEED", "1"))
NAMES = [
    *("smart-nvme", "smart-nvme-cli", "smart-ocp", "smart-ata", "smart-statistics", "smart-sas", "smart-fdp"),
    *("smart-intel", "smart-micron", "smart-wdc", "metadata", "runs"),
    *("run", "sweep", "tune", "compare", "repeat", "lifetime", "plan", "leaderboard"),
]


@pytest.fixture(scope="module")
def damage() -> Any:
    """The script that damages documents."""
    return loaded("fuzz_json")


@pytest.fixture(scope="module")
def readers(damage: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """All readers with their samples."""
    return damage.readers(tmp_path_factory.mktemp("samples"))


def test_all_readers_are_named(readers: Any) -> None:
    assert sorted(readers) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_documents_are_refused_with_their_place(name: str, damage: Any, readers: Any, tmp_path: Path) -> None:
    reader = readers[name]
    assert damage.outcome(reader, reader.sample, tmp_path / "d") is None
    taken = placed = 0
    for number in range(DOCUMENTS):
        content = damage.damaged(reader.sample, random.Random(f"{SEED}:{name}:{number}"))
        try:
            refusal_text = damage.outcome(reader, content, tmp_path / "d")
        except Exception as error:  # noqa: BLE001 - whatever it is, its document is kept
            kept = tmp_path / "document.json"
            kept.write_bytes(content)
            pytest.fail(f"FLOATGATE_SEED={SEED}, {name}, document {number} ({kept}): {type(error).__name__}: {error}")
        taken += refusal_text is None
        placed += refusal_text is not None and damage.has_place(refusal_text, reader)
    refused = DOCUMENTS - taken
    print(
        f"{name}: seed {SEED}, {DOCUMENTS} documents, {taken} taken, {refused} refused, {placed} of them with a place"
    )
    assert refused > 0


def refusal(content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        json_in.parse(content, "a.json", "a document")
    assert caught.value.status == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.json: is empty; expected a document"),
        (b"\xef\xbb\xbf \n", "a.json: is empty; expected a document"),
        (b'{"a": [1, 2', "a.json:1:12: ends before its JSON is complete; expected a document"),
        (b'{"a":\n tru}', "a.json:2:2: not JSON: no value at 't'; expected a document"),
        (b'{"a": 1,}', "a.json:1:9: not JSON: no key in double quotes at '}'; expected a document"),
        (b"{'a': 1}", "a.json:1:2: not JSON: no key in double quotes at '''; expected a document"),
        (b'{"a": 1} {}', "a.json:1:10: not JSON: something follows the end of the JSON at '{'; expected a document"),
        (b'{\n"a\xff": 1}', "a.json:2:3: byte 0xff is not UTF-8 text; expected a document, in UTF-8"),
        (
            '{"a": 1}'.encode("utf-16"),
            "a.json: is text in UTF-16; expected a document in UTF-8: save the file in that encoding",
        ),
        (
            '{"a": 1}'.encode("utf-16-be"),
            "a.json: is text in UTF-16; expected a document in UTF-8: save the file in that encoding",
        ),
        (b'{"a": {"b": 1, "b": 2}}', "a.json: a.b: is there twice; expected each key once, in a document"),
        (b'{"a": [0, {"b c": NaN}]}', "a.json: a[1]['b c']: is not a finite number or too large"),
        (b'{"a": -Infinity}', "a.json: a: is not a finite number or too large; expected a number below 2^128"),
        (b'{"a": 1e400}', "a.json: a: is not a finite number or too large; expected a number below 2^128"),
        (b"[1" + b"0" * 400 + b"]", "a.json: [0]: is not a finite number or too large"),
        (b"[" + b"9" * 5000 + b"]", "a.json: [0]: is not a finite number or too large"),
        (b'{"a": "\\ud800"}', "a.json: a: holds half a character (a lone surrogate); expected a text"),
        (b'{"\\ud800": 1}', "a.json: has the key '\\ud800' with half a character"),
        (b"[" * 100_000, "a.json:1:101: is nested too deeply; expected a document, with at most 100 levels"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "a.json:1:501: is nested too deeply; expected a document"),
    ],
)
def test_what_is_no_sound_json_is_refused(content: bytes, message: str) -> None:
    assert refusal(content).startswith(message)


def test_a_byte_order_mark_of_utf_8_is_taken() -> None:
    assert json_in.parse(b'\xef\xbb\xbf{"a": "\\ud83d\\ude00"}', "a.json", "a document").value == {"a": "\U0001f600"}


def test_values_of_other_types_are_refused_with_their_place() -> None:
    node = json_in.parse(b'{"a": [null, {"b": true}], "n": 1.5, "t": "x", "big": 300}', "a.json", "a document")
    for read, phrase in (
        (lambda: node["c"], "c: is missing; expected a value"),
        (lambda: node["t"]["u"], "t: is the text 'x'; expected an object"),
        (node["a"].elements()[0].text, "a[0]: is null; expected a text"),
        (node["a"].elements()[1]["b"].whole, "a[1].b: is true; expected a whole number from 0 on"),
        (node["n"].whole, "n: is the number 1.5; expected a whole number from 0 on"),
        (node["n"].elements, "n: is the number 1.5; expected a list"),
        (node["n"].flag, "n: is the number 1.5; expected true or false"),
        (lambda: node["big"].whole(most=255), "big: is the number 300; expected a whole number from 0 to 255"),
    ):
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value) == f"a.json: {phrase}, in a document"


@pytest.mark.parametrize("golden", sorted((ROOT / "tests/golden").glob("*.json")), ids=lambda path: path.stem)
def test_shapes_know_all_figures_of_results(golden: Path) -> None:
    node = json_in.load(golden, "a golden result", 1 << 30)
    shapes.check(node, "run", strict=True)

    def unknown(value: Any, shape: shapes.Shape | None, place: str) -> list[str]:
        if shape is None:
            return [place]
        if isinstance(value, dict):
            inner = [(f"{place}.{key}", one, shape.keys.get(key, shape.each)) for key, one in value.items()]
        else:
            inner = [(f"{place}[]", one, shape.each) for one in value] if isinstance(value, list) else []
        if shape.kinds == ("any",):
            return []
        return [path for where, one, of in inner for path in unknown(one, of, where)]

    assert unknown(node.value, shapes.shape_of("run"), "") == []


# The command line

ONE_PLANE = ("--channels", "1", "--chips", "1", "--dies", "1", "--planes", "1", "--page-bytes", "4096")
_BROKEN = {"schema": "floatgate.result/1", "lifetime": 5}


@pytest.mark.parametrize(
    "command", [("report", "r"), ("query", "r", "select 1 from runs"), ("report", "r", "r", "--out", "two.html")]
)
def test_commands_refuse_damaged_results(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r/result.json").write_text(json.dumps(_BROKEN))
    (tmp_path / "r/experiment.toml").write_text("seed = 1\n")
    text = "r/result.json: lifetime: is the number 5; expected an object, in a result as floatgate wrote it"
    assert cli(*command).refused() == text
    answer = json.loads(cli("ls", "r", "--json", "-").done())
    assert answer[0]["what"] == f"cannot be read: {text}"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["experiment.toml", "r", "result.json"]


def test_commands_refuse_damaged_plans_and_readings(cli: Cli, tmp_path: Path) -> None:
    for kind in ("sweep", "tune"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{kind}.json").write_text(json.dumps({"schema": f"floatgate.{kind}/1", "repeat": []}))
        (tmp_path / kind / "journal.jsonl").touch()
        error = cli(kind, "--out", kind, "--resume").refused()
        assert error.startswith(f"{kind}/{kind}.json: ")
        assert "is missing; expected" in error
        assert cli("report", kind).refused() == error
    (tmp_path / "c.txt").write_text("low_us\n" + "500\n" * 1000)
    (tmp_path / "a.json").write_text('{"ata_smart_attributes": {"table": [{"id": 241, "raw": {"value": -4}}]}}')
    error = cli("rb", "measure", "c.txt", *ONE_PLANE, "--smart", "a.json", "a.json").refused()
    assert error.startswith(
        "a.json: ata_smart_attributes.table[0].raw.value: is the number -4; expected a whole number"
    )


def test_a_comparison_does_not_go_on_from_a_damaged_plan(cli: Cli, experiment: Path, tmp_path: Path) -> None:
    (tmp_path / "o/unfinished").mkdir(parents=True)
    (tmp_path / "o/unfinished/plan.json").write_text("[1]")
    command = ("compare", experiment, "--vary", "seed=1,2", "--out", "o", "--resume")
    text = "o/unfinished/plan.json: is a list; expected an object, in the plan of a study"
    assert cli(*command).refused() == text


@pytest.mark.parametrize(
    "fault",
    ["NaN", "-Infinity", "1e999", "9" * 39, '"\\ud800"', '{"\\udfff": 1}', '{"a": 1, "a": 1}', "[" * 101 + "]" * 101],
)
def test_the_quick_look_passes_no_fault(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    text = f'{{"x": [{fault}]}}'.encode()
    with pytest.raises(InputError) as quick:
        json_in.parse(text, "t.json", "a document")
    monkeypatch.setattr(json_in, "_is_sound", lambda _: False)
    with pytest.raises(InputError) as searched:
        json_in.parse(text, "t.json", "a document")
    assert quick.value.message == searched.value.message


def test_the_quick_look_passes_all_that_is_sound() -> None:
    text = '{"x": [1e99, "\u00e9", 340282366920938463463374607431768211455, true, null, {}, []]}'
    assert json_in.parse(text.encode(), "t.json", "a document").value == json.loads(text)
