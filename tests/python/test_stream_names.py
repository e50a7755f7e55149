"""The table of streams says which of them is hot, where the separator defines it."""

from __future__ import annotations

import re

import pytest

import floatgate
from conftest import SMALL
from floatgate.report.sections import streams


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"policy": "dac"}, {0: "coldest", 5: "hottest"}),
        ({"policy": "fadac"}, {0: "hottest", 5: "coldest"}),
        ({"policy": "fadac", "variant": "artifact"}, {0: "coldest", 4: "hottest"}),
        ({"policy": "sepbit"}, dict(enumerate(streams._CLASSES["sepbit"]))),
    ],
)
def test_streams_are_named(settings: dict[str, str], names: dict[int, str]) -> None:
    keys = {f"ftl.separate.{key}": value for key, value in settings.items()}
    run = floatgate.run({**SMALL, "workload.pattern": "zipf", **keys})
    result = run.result.to_dict()
    assert streams.names_of(result) == names
    page = run.report()
    for number, name in names.items():
        assert f"{number} ({name})" in page
    if settings["policy"] == "fadac" and "variant" not in settings:
        assert re.search("page writes of the host between two writes of a page", page)
    made = result["separate"]["streams"]
    if settings == {"policy": "dac"}:
        assert made[0]["moved_pages"] > made[5]["moved_pages"]


def test_other_separators_keep_their_numbers() -> None:
    run = floatgate.run({**SMALL, "workload.pattern": "zipf", "ftl.separate.policy": "warcip"})
    assert streams.names_of(run.result.to_dict()) == {}
