"""Types of the Rust extension; its own documentation stands in ``crates/python``."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from floatgate.run.request_log import RequestLog

__version__: str

Making = tuple[Sequence[tuple[str, str]], str | None, int, Mapping[str, str]]
Progress = Callable[[int, int | None, str], None]

class FloatgateError(Exception):
    status: int
    @property
    def message(self) -> str: ...

class InputError(FloatgateError): ...
class RunError(FloatgateError): ...

class RunOutput:
    @property
    def result_json(self) -> str: ...
    @property
    def experiment_toml(self) -> str: ...
    @property
    def command(self) -> str | None: ...
    @property
    def series(self) -> dict[str, bytes]: ...
    @property
    def series_types(self) -> dict[str, str]: ...
    @property
    def timeline(self) -> dict[str, bytes] | None: ...
    @property
    def timeline_ns(self) -> tuple[int, int] | None: ...

class LiveDrive:
    def __init__(
        self,
        toml: str | None,
        path: str,
        overrides: list[tuple[str, str]],
        folder: str | os.PathLike[str],
        socket: str | os.PathLike[str],
        exports: list[tuple[str, int, int]],
        volatile: int | None = None,
        journal_bytes_max: int | None = None,
    ) -> None: ...
    def look(self) -> str | None: ...
    def save(self) -> None: ...
    def stop(self) -> RunOutput | None: ...

class TraceBatches:
    def __iter__(self) -> Iterator[dict[str, bytes]]: ...
    def __next__(self) -> dict[str, bytes]: ...
    @property
    def devices(self) -> list[str]: ...
    @property
    def format(self) -> str: ...
    @property
    def optional(self) -> list[str]: ...
    @property
    def contexts(self) -> list[tuple[int, str]]: ...
    @property
    def has_times(self) -> bool: ...
    @property
    def writers(self) -> list[tuple[int | None, int | None, int | None, int | None, int | None]]: ...
    @property
    def writer_fields(self) -> list[str]: ...
    @property
    def slice_report(self) -> str | None: ...

def check(toml: str | None, path: str, overrides: Sequence[tuple[str, str]]) -> str: ...
def check_forecast(toml: str | None, path: str, overrides: Sequence[tuple[str, str]]) -> str: ...
def config_hash(toml: str | None, path: str, overrides: Sequence[tuple[str, str]]) -> str | None: ...
def run(
    toml: str | None,
    path: str,
    overrides: Sequence[tuple[str, str]],
    *,
    shadow: bool = False,
    save_drive: str | None = None,
    timeline: tuple[int, int, int] | None = None,
    request_log: RequestLog | None = None,
    waveform: tuple[str, bool, int | None, int, int] | None = None,
    snapshot: str | None = None,
    snapshot_every: float | None = None,
    command: str | None = None,
    telling: bool = False,
    progress: Progress | None = None,
) -> RunOutput: ...
def resume(path: str, *, snapshot_every: float | None = None, progress: Progress | None = None) -> RunOutput: ...
def trace_info(
    path: str,
    options: Mapping[str, str],
    progress: Progress | None = None,
    *,
    counts_only: bool = False,
    window_s: float = 600.0,
) -> str: ...
def trace_patterns(
    path: str,
    options: Mapping[str, str],
    progress: Progress | None = None,
    *,
    window: int = 1024,
    mined: int = 256,
    transaction: int = 12,
    support: int = 4,
    items_min: int = 3,
    closed: bool = False,
) -> str: ...
def patterns_mine(
    transactions: Sequence[Sequence[int]], *, support: int, items_min: int = 1, closed: bool = False
) -> list[tuple[list[int], int]]: ...
def workload_dispatch(
    toml: str | None, path: str, overrides: Sequence[tuple[str, str]], progress: Progress | None = None
) -> str: ...
def workload_patterns(
    toml: str | None, path: str, overrides: Sequence[tuple[str, str]], progress: Progress | None = None
) -> str: ...
def trace_batches(path: str, options: Mapping[str, str]) -> TraceBatches: ...
def trace_write(
    path: str, options: Mapping[str, str], out_path: str | None, out_format: str, progress: Progress | None = None
) -> str: ...
def generate_write(
    making: Making,
    out_path: str,
    out_format: str,
    progress: Progress | None = None,
) -> str: ...
def generate_batches(making: Making) -> TraceBatches: ...
def twin_fit(path: str, options: Mapping[str, str], progress: Progress | None = None) -> tuple[str, int, int]: ...
def capture_measure(
    paths: Sequence[str],
    shape: tuple[int, int, int, int, int, int | None, int | None],
    progress: Progress | None = None,
    *,
    format: str | None = None,
    time_unit: str | None = None,
    signals: Sequence[str] = ...,
    program_us: str | None = None,
    poll_us: float | None = None,
    quiet_s: float = 0.0,
    multi_page: float | None = None,
    host: tuple[int, int] | None = None,
    min_high_us: float | None = None,
    dies_per_signal: int | None = None,
) -> str: ...
def content_measure(
    paths: Sequence[str],
    progress: Progress | None = None,
    *,
    zstd_level: int = 1,
    chunks: Sequence[int] = ...,
    sample_share: float = ...,
    seed: int = 1,
    fingerprint_bits: int = 64,
    keep_pages: bool = False,
) -> tuple[str, tuple[bytes, bytes, bytes] | None]: ...
def content_page(page: bytes) -> tuple[int, int]: ...
def endurance(
    toml: str | None, path: str, overrides: Sequence[tuple[str, str]], idle_h: Sequence[float]
) -> list[float]: ...
def lifetime(
    toml: str | None,
    path: str,
    variants: Sequence[Sequence[tuple[str, str]]],
    options: Mapping[str, Any],
    progress: Progress | None = None,
) -> list[dict[str, Any]]: ...
def write_rate(
    toml: str | None, path: str, overrides: Sequence[tuple[str, str]], progress: Progress | None = None
) -> tuple[int, float]: ...
def name_remedy(name: str, valid: list[str], listing: str) -> str: ...
def theory_wa(policy: str, spare_factor: float, pages_per_block: int, choices: int | None = None) -> float: ...
def theory_wa_hot(
    spare_factor: float, pages_per_block: int, hot: tuple[float, float], separated: bool
) -> tuple[float, tuple[float, float] | None]: ...
def catalogue(sections: Sequence[str] | None = None) -> str: ...
def metrics() -> str: ...
def metric_groups(of_forecast: bool = False) -> str: ...
def causes() -> list[tuple[str, str, str, bool, int, str, str]]: ...
def schema() -> str: ...
def result_schema() -> str: ...
def forecast_schema() -> str: ...
