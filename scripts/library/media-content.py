"""Files like those of a camera, and what a picture library does to them.

Usage: media-content.py card FOLDER SEED | thumbnails FROM TO | rate FILE STARS | caption FILE TEXT | retouch FILE TO.
A photograph has a head with tags and a small preview, then data that do not compress, with a zero after each 0xff as in
JPEG. A film has frames of such data and an index at its end. The same arguments give the same bytes.
"""

from __future__ import annotations

import os
import random
import sys
import zlib
from pathlib import Path

DAYS = 2
PHOTOS = 19
FILMS = 2
HEAD = b"\xff\xd8\xff\xe1"
MAKER = b"".join(b"%s = %d; " % (name, 7919 * at % 1000) for at, name in enumerate([b"gain", b"lens", b"focus"] * 90))
TAGS_AT, TAGS_BYTES = 64, 512
BLOCK = 1 << 16


def packed(rng: random.Random, size: int) -> bytes:
    """Return data of an entropy coder."""
    return rng.randbytes(size).replace(b"\xff", b"\xff\0")[:size]


def head(rng: random.Random, number: int) -> bytes:
    """Return tags, the maker's notes and a preview."""
    tags = b"picture %06d taken in the year 2026 with aperture f/%d" % (number, rng.choice([2, 4, 8]))
    return HEAD.ljust(TAGS_AT, b"\0") + tags.ljust(TAGS_BYTES, b"\0") + MAKER + packed(rng, rng.randint(6000, 12_000))


def photo(rng: random.Random, number: int) -> bytes:
    """Return a photograph of 100 to 500 kB."""
    return head(rng, number) + packed(rng, rng.randint(100_000, 500_000)) + b"\xff\xd9"


def film(rng: random.Random) -> bytes:
    """Return a film of some 3 MB."""
    parts = [b"\0\0\0\x18ftypmp42".ljust(32, b"\0")]
    index, at = [], 32
    for frame in range(rng.randint(200, 300)):
        size = rng.randint(20_000, 40_000) if frame % 25 == 0 else rng.randint(5000, 15_000)
        index.append(at.to_bytes(8, "big") + size.to_bytes(4, "big"))
        parts.append(packed(rng, size))
        at += size
    return b"".join([*parts, b"moov", *index])


def card(folder: Path, seed: int) -> None:
    """Write the files of the camera's card."""
    rng = random.Random(seed)
    for day in range(1, DAYS + 1):
        place = folder / f"day{day}"
        place.mkdir(parents=True)
        for number in range(1, PHOTOS + 1):
            (place / f"photo{number:02}.jpg").write_bytes(photo(rng, 100 * day + number))
        for number in range(1, FILMS + 1):
            (place / f"film{number}.mp4").write_bytes(film(rng))


def save(target: Path, data: bytes) -> None:
    """Write a file in blocks, as libraries for pictures do."""
    with target.open("wb", buffering=0) as file:
        for start in range(0, len(data), BLOCK):
            file.write(data[start : start + BLOCK])


def replace(target: Path, data: bytes) -> None:
    """Write a file anew under another name, then give it its own."""
    fresh = target.with_suffix(".new")
    save(fresh, data)
    fresh.replace(target)


def seeded(data: bytes) -> random.Random:
    return random.Random(zlib.crc32(data))


def thumbnails(source: Path, target: Path) -> None:
    """Write a small picture of each photograph."""
    for path in sorted(source.glob("photo*.jpg")):
        rng = seeded(path.read_bytes())
        save(target / f"{source.name}-{path.name}", HEAD + packed(rng, rng.randint(8000, 20_000)))


def rate(path: Path, stars: str) -> None:
    """Set the stars among the tags, in place."""
    descriptor = os.open(path, os.O_RDWR)
    os.pwrite(descriptor, f"rating {stars}".encode(), TAGS_AT + TAGS_BYTES - 32)
    os.close(descriptor)


def caption(path: Path, text: str) -> None:
    """Insert a caption in the head: all that follows moves."""
    data = path.read_bytes()
    at = TAGS_AT + TAGS_BYTES
    replace(path, data[:at] + b"caption: " + text.encode() + data[at:])


def retouch(path: Path, target: Path) -> None:
    """Write another picture with the same head."""
    data = path.read_bytes()
    rng = seeded(data)
    keep = TAGS_AT + TAGS_BYTES + len(MAKER)
    save(target, data[:keep] + packed(rng, len(data) - keep + rng.randint(-20_000, 20_000)))


def main() -> int:
    what, words = sys.argv[1], sys.argv[2:]
    if what == "card":
        card(Path(words[0]), int(words[1]))
    elif what == "thumbnails":
        thumbnails(Path(words[0]), Path(words[1]))
    elif what == "rate":
        rate(Path(words[0]), words[1])
    elif what == "caption":
        caption(Path(words[0]), words[1])
    elif what == "retouch":
        retouch(Path(words[0]), Path(words[1]))
    else:
        raise SystemExit(f"error: {what}: no such work; expected card, thumbnails, rate, caption or retouch")
    return 0


if __name__ == "__main__":
    sys.exit(main())
