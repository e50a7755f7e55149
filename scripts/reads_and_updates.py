"""Two recorded traces as one, in which a database answers queries while another one is updated (docs/read-disturb.md).

Each trace keeps its own device. The queries are stretched to the time of the updates. Addresses that no request of a
trace touches are left out, and the two fit on a small drive.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

TRACES = Path(__file__).resolve().parent.parent / "traces"
CHUNK_BYTES = np.uint64(1 << 16)
COLUMNS = ["time_ns", "op", "offset", "bytes", "context"]


def of(name: str, span_ns: int) -> pa.Table:
    """Return the requests of a trace, stretched to this many nanoseconds."""
    table = pq.read_table(TRACES / f"{name}.parquet", columns=COLUMNS)
    times = table["time_ns"].to_numpy()
    stretched = pa.array((times * (span_ns / times.max())).astype("int64"))
    table = table.set_column(0, "time_ns", stretched).set_column(1, "op", table["op"].cast(pa.string()))
    table = table.set_column(2, "offset", pa.array(squeezed(table["offset"].to_numpy(), table["bytes"].to_numpy())))
    return table.append_column("device", pa.array([name] * table.num_rows))


def squeezed(offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return offsets, shape (requests,), in bytes, without the chunks that no request touches."""
    used = np.zeros(int((offsets + lengths).max()) // CHUNK_BYTES + 2, dtype=np.uint64)
    for first, last in {*zip(offsets // CHUNK_BYTES, (offsets + lengths - 1) // CHUNK_BYTES, strict=True)}:
        used[int(first) : int(last) + 1] = 1
    place = np.cumsum(used) - used
    return place[(offsets // CHUNK_BYTES).astype(np.int64)] * CHUNK_BYTES + offsets % CHUNK_BYTES


def main() -> None:
    """Write the mixed trace."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="Parquet file to write")
    parser.add_argument("--queries", default="sqlite-queries", help="trace of traces/ that mostly reads")
    parser.add_argument("--updates", default="postgres-updates", help="trace of traces/ with program contexts")
    args = parser.parse_args()
    span_ns = pc.max(pq.read_table(TRACES / f"{args.updates}.parquet", columns=["time_ns"])["time_ns"]).as_py()
    mixed = pa.concat_tables([of(args.updates, span_ns), of(args.queries, span_ns)])
    pq.write_table(mixed.sort_by([("time_ns", "ascending"), ("device", "ascending")]), args.out, compression="zstd")


if __name__ == "__main__":
    main()
