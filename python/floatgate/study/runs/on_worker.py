"""The side of a Dask worker: it runs jobs, and places files in its own folder once.

Nothing here is part of Dask's protocol: these are functions that its tasks call.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import InputError, input_error, one_line
from floatgate.plugins.api import load_policies
from floatgate.study.runs.files import content_of, with_paths
from floatgate.study.runs.limited import perform
from floatgate.study.runs.rows import probe_result
from floatgate.study.runs.work import Answer, Job

FOLDER = "floatgate-files"
ALLOWS_POLICIES = "FLOATGATE_WORKER_POLICIES"
"""The variable that lets a worker load policies that a client sends."""
_loaded: set[str] = set()
_placing: dict[str, threading.Lock] = defaultdict(threading.Lock)


@dataclass(frozen=True)
class Placing:
    """A file of a run: its path at the client, its content's hash, and whether workers see it under that path."""

    path: str
    content: str
    shared: bool


@dataclass(frozen=True)
class Order:
    """A job with the files that it reads."""

    job: Job
    files: tuple[Placing, ...] = ()
    policies: tuple[Placing, ...] = ()

    def not_shared(self) -> set[str]:
        """Return the hashes of the files that the worker does not see itself."""
        return {file.content for file in (*self.files, *self.policies) if not file.shared}


@cache
def identity() -> dict[str, str]:
    """Return the version of floatgate, and a hash of what a small run gives here."""
    result = json.dumps(probe_result(), sort_keys=True).encode()
    return {"version": _core.__version__, "results": hashlib.blake2b(result, digest_size=8).hexdigest()}


def differs(worker: str, theirs: object, expected: Mapping[str, str]) -> str:
    """Return why a worker is refused."""
    version = theirs.get("version") if isinstance(theirs, Mapping) else None
    if not isinstance(version, str):
        what = f"does not say which floatgate it has; expected {expected['version']}, as here"
    elif version != expected["version"]:
        what = f"has floatgate {one_line(version[:40])}; expected {expected['version']}, as here"
    else:
        what = f"has another build of floatgate {version}, whose results differ; expected the same build as here"
    return f"worker {worker}: {what}: install it there, restart the worker, then go on with --resume"


def sees(path: str, content: str) -> bool:
    """Return whether a file of this content lies under this path here too."""
    try:
        return content_of(path) == content
    except InputError:
        return False


def chunk(data: bytes) -> bytes:
    """Return a part of a file, as data of Dask."""
    return data


def work(orders: Sequence[Order], expected: Mapping[str, str], chunks: Mapping[str, Sequence[bytes]]) -> list[Answer]:
    """Do the runs of a batch.

    Raises:
        InputError: this worker cannot do them as the client would.
    """
    worker = _worker()
    if identity() != expected:
        raise input_error(differs(worker.address if worker is not None else "here", identity(), expected))
    return [_done(order, chunks, worker) for order in orders]


def _done(order: Order, chunks: Mapping[str, Sequence[bytes]], worker: Any) -> Answer:
    places = {file.path: _place(file, chunks, worker) for file in order.files}
    for file in order.policies:
        _load(file, _place(file, chunks, worker), worker)
    toml = with_paths(order.job.experiment.toml or "", places)
    answer = perform(replace(order.job, experiment=replace(order.job.experiment, toml=toml)))
    error = answer.error
    for path, place in places.items():
        error = None if error is None else error.replace(place, path)
    name = {} if worker is None else {"worker": worker.address}
    return replace(answer, error=error, spent={**answer.spent, **name})


def allows_policies() -> bool:
    """Return whether the environment of this worker lets it load policies."""
    return os.environ.get(ALLOWS_POLICIES) == "1"


def loads_none(worker: str) -> str:
    """Return why a worker is refused that loads no policies."""
    expected = f"expected {ALLOWS_POLICIES}=1 in the environment of workers that may run them"
    return f"worker {worker}: loads no policies from outside; {expected}"


def _place(file: Placing, chunks: Mapping[str, Sequence[bytes]], worker: Any) -> str:
    return file.path if file.shared else str(_placed(file, chunks[file.content], worker))


def _load(file: Placing, path: str, worker: Any) -> None:
    """Load a file of policies once, where the worker's environment allows it.

    Raises:
        InputError: it does not.
    """
    if not allows_policies():
        raise input_error(loads_none("here" if worker is None else worker.address))
    with _placing[file.content]:
        if file.content not in _loaded:
            load_policies(path)
            _loaded.add(file.content)


def _placed(file: Placing, parts: Sequence[bytes], worker: Any) -> Path:
    """Write the file once into the worker's own folder; its name stays, since formats depend on it."""
    folder = Path(worker.local_directory) / FOLDER / file.content
    target = folder / Path(file.path).name
    with _placing[file.content]:
        if not target.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            part = folder / f".part.{os.getpid()}"
            with part.open("wb") as out:
                for data in parts:
                    out.write(data)
            part.rename(target)
    return target


def _worker() -> Any:
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
