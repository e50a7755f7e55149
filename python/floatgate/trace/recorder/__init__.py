"""Recording of real programs: from system calls with their stacks to block requests that carry program contexts.

Data flow:

1. A back end (:mod:`.backends`) runs the program and leaves text.
2. A parser (:mod:`.strace_text`, :mod:`.perf_text`) turns it into :class:`.calls.Call`.
3. :mod:`.files` follows descriptors and offsets. :mod:`.descriptors` holds open files, beginning with those that the
   program inherits (:mod:`.inherited`).
4. :mod:`.layout` places files on a logical drive.
5. :mod:`.page_cache` delays and merges writes.
6. :mod:`.trace_file` writes Parquet.

With content, :mod:`.shadow` keeps what files hold beside the cache, and :mod:`.content` takes fingerprints of it.
:mod:`.text_trace` sends texts that were recorded elsewhere the same way.
"""

from __future__ import annotations

from floatgate.trace.recorder.session import Options, Recorded, record

__all__ = ["Options", "Recorded", "record"]
