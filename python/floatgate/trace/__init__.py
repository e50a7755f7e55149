"""Traces: their statistics, patterns, conversion, and recordings of running programs.

- ``trace info``: the core analyses (``crates/trace/src/info``, one file per analysis, one pass for all);
  :mod:`.summary` puts the figures into words, :mod:`.charts` and :mod:`.page` draw them.
- ``trace patterns``: the core cuts windows and counts (``crates/trace/src/patterns``) and mines them
  (``crates/patterns``); :mod:`.patterns` calls it, :mod:`.patterns_summary` and :mod:`.patterns_report` present the
  result.
- ``trace convert``: the core reads, slices and writes; :mod:`.conversion` adds Parquet (:mod:`.parquet_columns`).
- ``trace record``: :mod:`.recorder`.
- traces from dataframes: :mod:`.frame_trace`; :mod:`.frame_names` recognizes columns, :mod:`.frame_values` checks rows.

:mod:`.columns` passes the formats that Python reads to the core as columns; they work wherever a trace does.
"""
