"""Recorded programs and twins, each on a drive of its own size; a database that is refreshed and queried at once."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from floatgate.base.parallel import at_once
from floatgate.papers.read_twins import smaller
from floatgate.run.experiment import Overrides, from_file, trace_overrides
from floatgate.run.run import execute
from floatgate.trace import library
from floatgate.trace.dense_traces import PAGE_BYTES, dense, scattered

RECORDED = {
    "compile": "make-trees",
    "cscope": "cscope-rounds",
    "rendering": "rendering",
    "tpc-h-like": "decision-refreshes",
    "three-at-once": "three-interleaved",
}
"""The recordings behind workloads."""
WITH_CONTENT = ("rendering", "wksn")
"""Workloads whose content was recorded, or fitted to its paper."""
CONTENT: Overrides = [("workload.duplicate_share", "0.2"), ("workload.compressed_share", "0.6")]
"""Content of all others: assumed."""
QUERIES, QUERIED = "sqlite-queries", "tpc-h-like"
READERS = 5
"""Cursors over the queries."""

SPARE_FACTOR = 0.15
FILLED = 2
"""Pages that the drive of a recording holds, over those that it writes: it lies in clusters among data that stay."""
PAGES_PER_BLOCK, BLOCKS_MIN = (64, 32, 16, 8), 700
"""Sizes of blocks, and how many of them a recording has to fill on each die. With fewer the ten open blocks of IDS
would take more than a tenth of what is to spare."""
BUSY_MAX = 0.5
"""Share of the time for which host programs may keep the dies busy."""
PROGRAM_S = 600e-6

ERASE_US, ERASE_UJ, ERASED_PAGES = 2000, 97, 128
"""Time and energy of an erase, and the pages of 002's blocks; smaller ones need less in proportion."""
BLOCK_BYTES = 192 * 8192
"""A block of redFTL+'s, which endures :data:`MAX_READS` reads; smaller ones endure fewer in proportion."""
MAX_READS = {"full": 40_000, "half": 97_000}
"""By wear. The dissertation has 40,000. At half the cycles errors grow 2.43 times as slowly with reads: by 3.74e-9 per
read at 5,000 cycles, 9.10e-9 at 10,000 (Cai and others, Read disturb errors in MLC NAND flash memory, DSN 2015)."""
SEEDS = (1, 2, 3)
PARTS = ("ids", "redftl-plus", "idle", "collect", "reduce", "level", "dpes", "ready")
READY = "ready"
PAIRED = ("compile", "cscope", "tpc-h-like")
"""Workloads of the pairs."""
TARGET = 1.5
"""READY's target over the life without any technique."""
DRIVE_WRITES = 10
"""How often a recording writes as much as its drive holds."""


@dataclass(frozen=True)
class Twin:
    """A twin: by how much it is smaller, its requests, its readers, the drive over its addresses, dies."""

    smaller: int
    requests: int
    cursors: int = 1
    drive: float = 1.0
    dies: int = 4


TWINS = {
    "ads": Twin(32, 470_000, 20, 2.0),
    "tatp": Twin(32, 4_800_000, 3, 2.0),
    "proxy": Twin(64, 1_500_000),
    "wksn": Twin(64, 900_000),
}


def prepare(workloads: list[str], traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    """Make the traces, size the drives, and find READY's target of each workload."""
    made: dict[str, Overrides] = {}
    for one in at_once(lambda i: _prepared(workloads[i], traces, folder), len(workloads), threading.Event()):
        made |= one
    return made


def _prepared(name: str, traces: Mapping[str, str], folder: Path) -> dict[str, Overrides]:
    kind = ":plain" if name in TWINS else ""
    no_files: list[Overrides] = [[] for _ in SEEDS]
    settings, files = (_twin(name, folder), no_files) if name in TWINS else _recording(name, traces, folder)
    block_bytes = int(dict(settings)["drive.geometry.pages_per_block"]) * PAGE_BYTES
    reads = {
        wear: [("drive.disturb.max_reads", str(most * block_bytes // BLOCK_BYTES))] for wear, most in MAX_READS.items()
    }
    target, epochs = _ready([*settings, *files[0], *reads["half"]])
    # READY's replay: the host waits as well. It finds its epochs in the demand of twins, which span days; a recording
    # repeats its own demand from pass to pass.
    throttled = [("workload.arrival", '"shifted"'), *([] if name in TWINS else epochs)]
    made = {name: [*settings, *files[0], *target]}
    made[f"best{kind}.{name}"] = reads["half"]
    for seed, file in zip(SEEDS, files, strict=True):
        batches = {f"{wear}-{seed}{kind}": of_wear for wear, of_wear in reads.items()}
        batches[f"pairs-{seed}"] = reads["half"]
        made |= {f"{batch}.{name}": [*file, *of_wear] for batch, of_wear in batches.items()}
        made |= {f"{batch}.{name}.{variant}": throttled for batch in batches for variant in _throttled(kind)}
    return made


def _throttled(kind: str) -> list[str]:
    """Return the variants that have READY, which has settings of its own."""
    others = [part for part in PARTS if part != READY]
    whole = [f"{one}{kind}" for one in ("all", "all-pds", "all-unmixed", "all-pds-unmixed")]
    return [READY, *whole, *(f"without-{one}{kind}" for one in others), *(f"{one}+{READY}" for one in others)]


def _ready(settings: Overrides) -> tuple[Overrides, Overrides]:
    """Return READY's target, and its epochs, from a run with none of the techniques."""
    experiment = from_file(str(Path(__file__).parent / "experiment.toml"))
    result = execute(experiment.with_overrides([*settings, ("policies", "none")])).result.to_dict()
    target = TARGET * result["lifetime"]["years"]
    epoch_s = result["period_s"] / result["workload"]["passes"]
    return (
        [("lifetime.throttle.target_years", repr(target))],
        [("lifetime.throttle.unit_window_s", repr(epoch_s)), ("lifetime.throttle.epoch_s", repr(epoch_s))],
    )


def _recording(name: str, traces: Mapping[str, str], folder: Path) -> tuple[Overrides, list[Overrides]]:
    """Return the drive of a recording and its passes; and by seed the recording, with its clusters at other places.

    A drive has as many dies as host programs need to keep them busy for :data:`BUSY_MAX` of the time, and two at least;
    twice as many where queries are added.
    """
    source = Path(traces[name]) if name in traces else library.path(RECORDED[name])
    trace = dense(source, folder / f"{name}.parquet")
    held = FILLED * trace.distinct_pages
    busy = trace.page_writes * PROGRAM_S / _span_s(trace.file)
    dies = 1 << max(1, math.ceil(math.log2(busy / BUSY_MAX)))
    files, pages = [], held
    for seed in SEEDS:
        file = scattered(trace, folder / f"{name}-{seed}.parquet", held, seed)
        if name == QUERIED and name not in traces:
            file, pages = _queried(file, held)
        files.append(trace_overrides(str(file)))
    if pages > held:
        dies *= 2
    repeat = math.ceil(DRIVE_WRITES * pages / trace.page_writes)
    passes = [("workload.warmup_passes", str(-(-repeat // 2))), ("workload.repeat", str(repeat))]
    block = next((one for one in PAGES_PER_BLOCK if pages >= BLOCKS_MIN * one * dies), PAGES_PER_BLOCK[-1])
    content = [] if name in WITH_CONTENT else CONTENT
    return [*content, *passes, *_drive(pages, dies, block)], files


def _span_s(file: Path) -> float:
    import pyarrow.parquet as pq

    times = np.asarray(pq.read_table(file, columns=["time_ns"])["time_ns"])
    return float(times.max() - times.min()) / 1e9


def _queried(trace: Path, held: int) -> tuple[Path, int]:
    """Add readers of a recorded database, spread over its queries, behind the pages of a trace."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(trace)
    reads = pq.read_table(library.path(QUERIES))
    reads = reads.filter(pa.array(np.asarray(reads["op"].combine_chunks().cast("string")) == "read"))
    offset, length = (np.asarray(reads[name], dtype=np.int64) for name in ("offset", "bytes"))
    first, end = offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)
    runs = set(zip(first.tolist(), end.tolist(), strict=True))
    pages = np.unique(np.concatenate([np.arange(low, high) for low, high in runs]))
    time, span = np.asarray(reads["time_ns"]), np.asarray(table["time_ns"]).max() + 1
    time = (time - time[0]) * (span / (time[-1] - time[0] + 1))
    begin = np.concatenate([(time + reader * span / READERS) % span for reader in range(READERS)]).astype(np.int64)
    same = {"op": "read", "device": table["device"][0].as_py()}
    columns = {
        "time_ns": begin,
        "offset": np.tile((np.searchsorted(pages, first) + held) * PAGE_BYTES, READERS),
        "bytes": np.tile((end - first) * PAGE_BYTES, READERS),
    }
    queries = pa.table(
        {
            field.name: pa.array(columns[field.name]).cast(field.type)
            if field.name in columns
            else pa.array([same[field.name]] * len(begin)).cast(field.type)
            if field.name in same
            else pa.nulls(len(begin), field.type)
            for field in table.schema
        },
        schema=table.schema,
    )
    file = trace.with_name(f"{trace.stem}-queried.parquet")
    mixed = pa.concat_tables([table, queries]).sort_by("time_ns")
    pq.write_table(mixed.replace_schema_metadata(table.schema.metadata), file, compression="zstd")
    return file, held + len(pages)


def _twin(name: str, folder: Path) -> Overrides:
    plan = TWINS[name]
    made = smaller(name, plan.smaller, folder, as_busy=plan.cursors > 1)
    pages = math.ceil(plan.drive * made.footprint_bytes / PAGE_BYTES)
    readers = [("workload.read_amplification", str(plan.cursors))] if plan.cursors > 1 else []
    return [
        ("workload.kind", '"twin"'),
        ("workload.twin", str(made.file)),
        ("workload.requests", str(plan.requests)),
        ("workload.warmup_requests", str(plan.requests // 2)),
        *readers,
        *([] if name in WITH_CONTENT else CONTENT),
        *_drive(pages, plan.dies, PAGES_PER_BLOCK[0]),
    ]


def _drive(pages: int, dies: int, pages_per_block: int) -> Overrides:
    """Return a drive of so many pages and what is to spare; as many channels as dies."""
    blocks = math.ceil(pages / (dies * pages_per_block * (1 - SPARE_FACTOR))) + 1
    return [
        ("drive.geometry.channels", str(dies)),
        ("drive.geometry.blocks_per_plane", str(blocks)),
        ("drive.geometry.pages_per_block", str(pages_per_block)),
        ("drive.timing.erase_us", str(ERASE_US * pages_per_block / ERASED_PAGES)),
        ("drive.energy.erase_uj", str(ERASE_UJ * pages_per_block / ERASED_PAGES)),
        ("ftl.spare_factor", str(SPARE_FACTOR)),
    ]
