"""A drive that is written with files programs what ``floatgate content`` predicts for them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from conftest import Cli

PAGE = 4096
CHUNK = 4
# Empty and large enough. Blocks have many pages of one plane: no chunk is cut at the end of one. The index forgets
# nothing. In a run of an hour no partial chunk is programmed.
DRIVE = (
    "drive.geometry.blocks_per_plane=16",
    "drive.geometry.pages_per_block=2048",
    "ftl.precondition=none",
    "ftl.spare_factor=0.5",
)
DEDUP = ("lifetime.reduce.index_share=1",)
COMPRESS = (f"lifetime.reduce.chunk_pages={CHUNK}", "lifetime.reduce.chunk_timeout_ms=1e12")
REDUCERS = {"dedup": DEDUP, "compress": COMPRESS, "both": DEDUP + COMPRESS}


def files(folder: Path, seed: int) -> None:
    """Text, noise, zeros, copies of whole files and of parts; most ends lie within a page."""
    rng = random.Random(seed)
    folder.mkdir()
    held = b""
    for number in range(12):
        size = rng.randrange(1, 40 * PAGE)
        kind = rng.choice(("text", "noise", "zeros", "copy", "part"))
        if kind == "text":
            data = b"".join(
                b"line %d of a text\n" % rng.randrange(10 ** rng.randrange(1, 15)) for _ in range(size // 20)
            )
        elif kind == "noise":
            data = rng.randbytes(size)
        elif kind == "zeros":
            data = bytes(size)
        else:
            at = rng.randrange(0, len(held) + 1) // PAGE * PAGE
            data = held[at:] if kind == "copy" else held[at : at + size]
        (folder / f"{number:02}").write_bytes(data)
        held = (held + data)[: 100 * PAGE]


def programmed(cli: Cli, trace: Path, reducer: str) -> dict[str, int]:
    settings = [part for setting in (*DRIVE, *REDUCERS[reducer]) for part in ("--set", setting)]
    run = cli(
        "run", "--trace", trace, "--set", f"lifetime.reduce.policy={reducer}", *settings,
        "--no-report", "--json", "-", "--out", f"run-{reducer}",
    )  # fmt: skip
    made: dict[str, int] = json.loads(run.done())["reduce"]
    return made


@pytest.mark.parametrize("seed", range(3))
def test_a_drive_programs_what_content_says(cli: Cli, tmp_path: Path, seed: int) -> None:
    files(tmp_path / "data", seed)
    facts = json.loads(cli("content", "data", "--json", "--chunks", str(CHUNK), "--trace", "t.parquet").done())
    pages = facts["pages"]
    sizes = next(one for one in facts["codecs"] if one["codec"] == "lz4")["chunks"][0]
    ratios = {
        "dedup": facts["dedup_written_ratio"],
        "compress": sizes["compression"]["written_ratio"],
        "both": sizes["dedup_compression"]["written_ratio"],
    }
    assert 0 < ratios["both"] < min(ratios["dedup"], ratios["compress"]) < 1
    for reducer, ratio in ratios.items():
        made = programmed(cli, tmp_path / "t.parquet", reducer)
        assert made["host_pages"] == pages
        duplicates = made["duplicate_pages"]
        assert duplicates == (0 if reducer == "compress" else facts["duplicate_pages"])
        # `floatgate content` counts the last chunk, which is not full, with the others; on the drive it gathers
        # still. It holds what is left over of the pages that are no duplicates, and would take from one page to as
        # many as that.
        left = 0 if reducer == "dedup" else (pages - duplicates) % CHUNK
        missing = round(ratio * pages) - made["programmed_pages"]
        assert min(left, 1) <= missing <= left, (reducer, left, missing)
