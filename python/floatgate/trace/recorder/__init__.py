"""Recording of real programs: from system calls with their stacks to block requests that carry program contexts.

The way data flows: a back end (:mod:`.backends`) runs the program and leaves text; a parser (:mod:`.strace_text`,
:mod:`.perf_text`) makes :class:`.calls.Call` of it; :mod:`.files` follows descriptors and offsets; :mod:`.layout` gives
files their place on a logical drive; :mod:`.page_cache` delays and merges writes; :mod:`.trace_file` writes Parquet.
:mod:`.descriptors` holds open files, beginning with those that the program inherits (:mod:`.inherited`).
With content, :mod:`.shadow` keeps what files hold beside the cache, and :mod:`.content` takes fingerprints of it.
:mod:`.text_trace` sends texts that were recorded elsewhere the same way.
"""

from __future__ import annotations

from floatgate.trace.recorder.session import Options, Recorded, record

__all__ = ["Options", "Recorded", "record"]
