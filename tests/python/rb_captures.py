"""Captures of Ready/Busy pins for tests: drawn at random, written in every format that ``floatgate rb`` reads.

Nothing here is shared with the core: formats are written from their specifications and from what the tools write.
"""

from __future__ import annotations

import gzip
import io
import lzma
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from floatgate.lab import rb

SHAPE = rb.Shape(channels=2, chips=1, dies=1, planes=1, page_bytes=4096, pages_per_block=128)
LENGTHS_US = {"reads": (30, 80), "programs": (300, 900), "erases": (2500, 3500)}
INTERVAL = "150..2000"
PS_PER_US = 1_000_000


@dataclass
class Pin:
    """Low phases of a pin: first and last time of each, in ticks of ``tick_ps``; what they are."""

    tick_ps: int
    lows: list[tuple[int, int]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LENGTHS_US, 0))

    def level(self, time: int) -> int:
        return 0 if any(begin <= time < end for begin, end in self.lows) else 1


def draw(rng: random.Random, tick_us: float, programs: int = 200) -> Pin:
    """Some reads, so many programs, an erase for each 25 of them, in random order."""
    kinds = ["programs"] * programs + ["reads"] * rng.randrange(20, 60) + ["erases"] * (programs // 25)
    rng.shuffle(kinds)
    pin, now = Pin(round(tick_us * PS_PER_US)), 1
    for kind in kinds:
        shortest, longest = LENGTHS_US[kind]
        now += rng.randrange(1, max(2, round(200 / tick_us)))
        length = max(1, round(rng.uniform(shortest, longest) / tick_us))
        pin.lows.append((now, now + length))
        pin.counts[kind] += 1
        now += length
    return pin


def end_of(pins: Sequence[Pin]) -> int:
    return max(pin.lows[-1][1] for pin in pins) + 3


def changes(pins: Sequence[Pin]) -> dict[int, list[tuple[int, int]]]:
    """By time: pins and their new levels."""
    by_time: dict[int, list[tuple[int, int]]] = {}
    for number, pin in enumerate(pins):
        for begin, end in pin.lows:
            by_time.setdefault(begin, []).append((number, 0))
            by_time.setdefault(end, []).append((number, 1))
    return dict(sorted(by_time.items()))


def rows(pins: Sequence[Pin]) -> list[tuple[int, list[int]]]:
    """Time and levels of all pins, from the start on, at each change and at the end."""
    levels = [1] * len(pins)
    made = [(0, list(levels))]
    for time, here in changes(pins).items():
        for number, level in here:
            levels[number] = level
        made.append((time, list(levels)))
    made.append((end_of(pins), list(levels)))
    return made


# Value change dumps


def scale(tick_ps: int) -> tuple[str, int]:
    """A timescale and the units of a tick."""
    for unit, unit_ps in (("us", 10**6), ("ns", 10**3), ("ps", 1)):
        for number in (100, 10, 1):
            if tick_ps % (number * unit_ps) == 0:
                return f"{number} {unit}", tick_ps // (number * unit_ps)
    raise AssertionError(tick_ps)


def vcd(pins: Sequence[Pin], rng: random.Random) -> bytes:
    """One variable for each pin, in scopes of random depth."""
    timescale, units = scale(pins[0].tick_ps)
    alphabet = [chr(code) for code in range(33, 127)]
    ids = ["".join(rng.choices(alphabet, k=1 + number % 5)) + str(number) for number in range(len(pins))]
    out = ["$date", "   today", "$end", f"$timescale {timescale} $end"]
    for number, name in enumerate(ids):
        depth = rng.randrange(4)
        out += [f"$scope module level{i} $end" for i in range(depth)]
        out += [f"$var {rng.choice(['wire', 'reg', 'logic'])} 1 {name} rb{number} $end", *["$upscope $end"] * depth]
    out += ["$enddefinitions $end", "#0", "$dumpvars", *(f"1{name}" for name in ids), "$end"]
    for time, here in changes(pins).items():
        out.append(f"#{time * units}")
        out += [f"{level}{ids[number]}" for number, level in here]
    out.append(f"#{end_of(pins) * units}")
    return rng.choice(["\n", " ", "\r\n", "\t"]).join(out).encode() + b"\n"


def vcd_vector(pins: Sequence[Pin], rng: random.Random) -> bytes:
    """All pins as bits of one vector, the first one in the lowest bit; leading zeros may be left out."""
    timescale, units = scale(pins[0].tick_ps)
    head = f"$timescale {timescale} $end $scope module chips $end $var wire {len(pins)} # rb [{len(pins) - 1}:0] $end"
    out = [head, "$upscope $end $enddefinitions $end"]
    for time, levels in rows(pins):
        bits = "".join(map(str, reversed(levels)))
        out.append(f"#{time * units} b{bits.lstrip('0') or '0' if rng.random() < 0.5 else bits} #")
    return "\n".join(out).encode()


# Sessions of sigrok


def samples(pins: Sequence[Pin], unit_size: int = 1) -> bytes:
    """A sample for each tick, the first pin in the lowest bit."""
    out, held = io.BytesIO(), rows(pins)
    for (time, levels), (after, _) in zip(held, [*held[1:], (held[-1][0] + 1, [])], strict=True):
        value = sum(level << bit for bit, level in enumerate(levels))
        out.write(value.to_bytes(unit_size, "little") * (after - time))
    return out.getvalue()


def session(pins: Sequence[Pin], unit_size: int = 1, chunks: int = 1, channels: int | None = None) -> bytes:
    """A session as sigrok saves it."""
    names = [f"D{number}" for number in range(channels or len(pins))]
    metadata = [
        "[global]", "sigrok version=0.5.2", "", "[device 1]", "capturefile=logic-1", f"total probes={len(names)}",
        f"samplerate={10**12 // pins[0].tick_ps} Hz", "total analog=0",
        *(f"probe{number + 1}={name}" for number, name in enumerate(names)), f"unitsize={unit_size}", "",
    ]  # fmt: skip
    data, out = samples(pins, unit_size), io.BytesIO()
    step = -(-len(data) // unit_size // chunks) * unit_size
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", "\n".join(metadata))
        for number in range(chunks):
            archive.writestr(f"logic-1-{number + 1}", data[number * step : (number + 1) * step])
    return out.getvalue()


# Rows and lists


def seconds(ps: int) -> str:
    return f"{ps // 10**12}.{ps % 10**12:012d}"


def logic2(pins: Sequence[Pin], *, header: bool = True) -> bytes:
    """Saleae Logic 2: a row for each change, seconds with decimals."""
    names = ",".join(f"Channel {number}" for number in range(len(pins)))
    lines = [f"Time [s],{names}"] if header else []
    lines += [f"{seconds(time * pins[0].tick_ps)},{','.join(map(str, levels))}" for time, levels in rows(pins)]
    return ("\n".join(lines) + "\n").encode()


def intervals(pin: Pin) -> bytes:
    """A length per line."""
    return ("low_ps\n" + "".join(f"{(end - begin) * pin.tick_ps}\n" for begin, end in pin.lows)).encode()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


def counts_of(facts: dict[str, Any]) -> list[dict[str, int]]:
    """Counts of each signal."""
    return [{kind: entry[kind] for kind in ("reads", "programs", "erases")} for entry in facts["signals"]]


def check(paths: Sequence[Path], pins: Sequence[Pin], text: str = "", **settings: Any) -> dict[str, Any]:
    """Counts are those that were drawn, with a given interval and without one."""
    facts: dict[str, Any] = {}
    for interval in (INTERVAL, None):
        facts = rb.measure(paths, SHAPE, rb.Settings(program_us=interval, **settings))
        assert counts_of(facts) == [pin.counts for pin in pins], (text, interval)
        for kind in LENGTHS_US:
            assert facts[kind] == sum(pin.counts[kind] for pin in pins), (text, interval)
        assert facts["interval_given"] is (interval is not None)
    return facts
