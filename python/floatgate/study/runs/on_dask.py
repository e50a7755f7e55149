"""The engine for many machines: Dask distributed (extra ``cluster``) does the runs; nothing here schedules.

The resolved experiment of each run moves to a worker, its flat row back. Files (traces, drives) move once to each
worker that needs them, which writes them to its own folder. Their chunks are data of Dask, named by content; the
scheduler makes them again when a worker that held them is lost. Where every worker sees a file of the same
content under the same path, nothing moves. Runs of milliseconds travel in batches of about a second.

Dask unpickles what arrives, so the scheduler, its other clients and its workers can run code in this process. The
checks of answers (:mod:`.requested`) find mistakes and damage, and no such attack; TLS with certificates keeps
strangers out (``docs/sweeps.md``).

The runs of a lost worker go to another one. A run that ends its worker again and again
is a row with an error, as any other run that fails.
"""

from __future__ import annotations

import itertools
import logging
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from floatgate import _core
from floatgate.base.errors import FloatgateError, InputError, input_error, one_line, quote
from floatgate.plugins import kept
from floatgate.run.experiment import Experiment
from floatgate.run.run import check
from floatgate.study.runs import on_worker
from floatgate.study.runs.engine import Progress
from floatgate.study.runs.files import content_of, paths_in
from floatgate.study.runs.work import FAILED, UNUSABLE, Answer, Job

CHUNK_BYTES = 4 << 20
"""Of a file that is placed: small enough for messages of Dask."""
BATCH_S = 1.0
"""Length of a batch of runs: many times what Dask takes for a task (milliseconds), and little to lose with a worker."""
BATCH_MAX = 64
WAITING_PER_THREAD = 3
"""Batches at the scheduler per thread of a worker; of a million runs, the others wait here."""
RETRIES = 3
"""Attempts of a batch that ends in an error outside its runs."""
_LATE_WORKER_S = 30.0


@dataclass
class _Batch:
    """Jobs that travel together; ``ordered`` has the numbers of those that a worker was sent."""

    jobs: list[Job]
    tries: int = 0
    ordered: frozenset[int] = frozenset()


class Dask:
    """The engine on a scheduler of Dask.

    Attributes:
        dashboard: address of the scheduler's own dashboard, or None.
    """

    def __init__(self, on: str) -> None:
        """Connect to ``dask://HOST:PORT``, or encrypted to ``tls://HOST:PORT``.

        Raises:
            InputError: Dask is not installed, no scheduler answers, there is no worker, one cannot do our runs, or TLS
                lacks a certificate.
        """
        address = _address(on)
        try:
            import dask
            from distributed import Client
        except ImportError:
            raise input_error(
                f"--on {on}: Dask is not installed; expected the extra 'cluster': pip install 'floatgate[cluster]'"
            ) from None
        # Dask's messages about a lost scheduler are replaced by ours, on the first line of standard error.
        for name in ("distributed", "distributed.client", "distributed.core", "tornado.application", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._on = on
        security = _security(on) if address.startswith("tls:") else None
        wait_s = _seconds(dask.config.get("distributed.comm.timeouts.connect", "30s"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._client = Client(address, timeout=wait_s, set_as_default=False, security=security)
        except (OSError, TimeoutError, ValueError) as error:
            raise input_error(
                f"--on {on}: no scheduler answers within {wait_s:g} s ({_reason(error)}); expected one to be running: "
                f"{'dask scheduler' if security is None else 'dask scheduler --protocol tls'} "
                f"--port {address.rsplit(':', 1)[1]}, and for each machine dask worker {address}"
            ) from None
        self.dashboard: str | None = self._client.dashboard_link or None
        try:
            self._client.wait_for_workers(1, timeout=min(wait_s, _LATE_WORKER_S))
            self._must_do_our_runs()
        except TimeoutError:
            self.close()
            raise input_error(f"--on {on}: the scheduler has no worker; expected one: dask worker {address}") from None
        except BaseException:
            self.close()
            raise
        self._blobs: dict[str, list[Any]] = {}
        self._shared: dict[str, str] = {}
        self._mean_s: float | None = None

    def close(self) -> None:
        """Leave the scheduler."""
        self._client.close(timeout=5)

    def _must_do_our_runs(self) -> None:
        """Refuse workers by their names: without floatgate, with another one, or that may not load our policies."""
        expected = on_worker.identity()
        identities = self._client.run(on_worker.identity, on_error="return")
        for worker, identity in identities.items():
            if isinstance(identity, BaseException):
                raise input_error(
                    f"worker {worker}: cannot load floatgate ({one_line(identity)}); expected floatgate "
                    f"{_core.__version__} to be installed there"
                )
            if identity != expected:
                raise input_error(on_worker.differs(worker, identity, expected))
        if kept.files():
            for worker, allows in self._client.run(on_worker.allows_policies, on_error="return").items():
                if allows is not True:
                    raise input_error(on_worker.loads_none(worker))

    # Runs

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Progress | None = None) -> None:  # noqa: ARG002
        """Do the jobs; see :class:`floatgate.study.runs.engine.Engine`.

        Raises:
            InputError: the scheduler is gone, or a worker that came later cannot do our runs.
        """
        from distributed import as_completed

        queue = iter(jobs)
        waiting: dict[Any, _Batch] = {}
        again: list[_Batch] = []
        ended = as_completed(loop=self._client.loop)
        try:
            self._fill(queue, again, waiting, ended, done)
            while waiting:
                future = self._next(ended)
                batch = waiting.pop(future)
                self._take(future, batch, again, done)
                future.release()
                self._fill(queue, again, waiting, ended, done)
        except OSError:
            # Dask's errors of connections are among these; those of files are reported before they come here.
            raise self._gone() from None
        except BaseException:
            self._drop(waiting)
            raise

    def _next(self, ended: Any) -> Any:
        """Return the next batch that has ended; raises InputError if the scheduler is gone for good."""
        try:
            return next(ended)
        except StopIteration:
            raise self._gone() from None

    def _drop(self, waiting: dict[Any, _Batch]) -> None:
        try:
            self._client.cancel(list(waiting), force=True)
        except Exception:  # noqa: BLE001 - what ended the sweep is reported, not its consequences
            return

    def _gone(self) -> InputError:
        return input_error(
            f"--on {self._on}: the scheduler is gone; expected it to run until the sweep is done; start it again and "
            "go on with --resume"
        )

    def _fill(
        self,
        queue: Iterator[Job],
        again: list[_Batch],
        waiting: dict[Any, _Batch],
        ended: Any,
        done: Callable[[Answer], None],
    ) -> None:
        """Hand batches to the scheduler until enough wait there."""
        if self._client.status != "running":
            raise self._gone()
        threads = max(1, sum(self._client.nthreads().values()))
        while len(waiting) < WAITING_PER_THREAD * threads:
            batch = again.pop() if again else _Batch(list(itertools.islice(queue, self._size())))
            if not batch.jobs:
                return
            orders = [order for job in batch.jobs if (order := self._order(job, done)) is not None]
            if not orders:
                continue
            batch.ordered = frozenset(order.job.number for order in orders)
            future = self._submit(orders, batch)
            waiting[future] = batch
            ended.add(future)

    def _size(self) -> int:
        """Return the number of runs in a batch: one until their duration is known."""
        if self._mean_s is None:
            return 1
        return max(1, min(BATCH_MAX, int(BATCH_S / max(self._mean_s, 1e-4))))

    def _order(self, job: Job, done: Callable[[Answer], None]) -> on_worker.Order | None:
        """Prepare a job for a worker; None if it is unusable, which is its answer."""
        try:
            toml = check(job.experiment)
            files = [self._placing(path) for path in paths_in(toml)]
        except InputError as error:
            done(Answer(job.number, UNUSABLE, one_line(error.message)))
            return None
        policies = [self._placing(path) for path in kept.files()]
        return on_worker.Order(replace(job, experiment=Experiment(toml, "experiment")), tuple(files), tuple(policies))

    def _submit(self, orders: list[on_worker.Order], batch: _Batch) -> Any:
        names = set().union(*(order.not_shared() for order in orders))
        chunks = {name: self._blobs[name] for name in sorted(names)}
        batch.tries += 1
        return self._client.submit(
            on_worker.work,
            orders,
            on_worker.identity(),
            chunks,
            pure=False,
            retries=0,
            key=f"floatgate-runs-{_unique()}",
        )

    def _take(self, future: Any, batch: _Batch, again: list[_Batch], done: Callable[[Answer], None]) -> None:
        """Take the outcome of a batch: answers, or a reason to try it again."""
        if future.status == "finished":
            for answer in self._answers(future, batch):
                done(answer)
                self._notice(float(answer.spent.get("wall_s", 0.0)))
            return
        error = None if future.status == "cancelled" else future.exception()
        if isinstance(error, FloatgateError):
            raise error
        if len(batch.jobs) > 1:
            # One of them may be at fault: try each alone.
            again += [_Batch([job]) for job in reversed(batch.jobs)]
        elif batch.tries < RETRIES and not _killed(error):
            again.append(batch)
        else:
            why = "ended its worker again and again, as a run does that needs too much memory" if _killed(error) else ""
            text = why or f"failed on its worker: {one_line(error or 'cancelled')}"
            done(Answer(batch.jobs[0].number, FAILED, f"the run {text}; expected a smaller drive or larger workers"))

    def _answers(self, future: Any, batch: _Batch) -> list[Answer]:
        """Return the answers of a batch, each to one of its runs; ``done`` checks what they hold.

        Raises:
            InputError: something else came back.
        """
        numbers = sorted(batch.ordered)
        try:
            answers = future.result()
        except Exception as error:  # noqa: BLE001 - any object that cannot be unpickled
            raise input_error(
                f"run {numbers[0]}: its answer cannot be read ({one_line(error)}); expected figures"
            ) from None
        if not isinstance(answers, list) or not all(isinstance(one, Answer) for one in answers):
            raise input_error(
                f"run {numbers[0]}: something else than figures came back; expected the answer to each run"
            )
        answered = [one.number for one in answers]
        if not all(type(number) is int for number in answered) or sorted(answered) != numbers:
            text = f"answers to {quote(answered)} came back; expected one to each of {quote(numbers)}"
            raise input_error(f"run {numbers[0]}: {text}")
        return answers

    def _notice(self, wall_s: float) -> None:
        self._mean_s = wall_s if self._mean_s is None else 0.9 * self._mean_s + 0.1 * wall_s

    # Files

    def _placing(self, path: str) -> on_worker.Placing:
        """Place a file for the workers; its chunks are handed to Dask if they do not see it themselves."""
        if path not in self._shared:
            content = content_of(path)
            seen = self._client.run(on_worker.sees, path, content, on_error="return")
            shared = bool(seen) and all(one is True for one in seen.values())
            self._shared[path] = content if shared else f"!{content}"
            if not shared and content not in self._blobs:
                self._blobs[content] = list(self._chunks(path, content))
        place = self._shared[path]
        return on_worker.Placing(path, place.lstrip("!"), shared=not place.startswith("!"))

    def _chunks(self, path: str, content: str) -> Iterator[Any]:
        with Path(path).open("rb") as file:
            for number in itertools.count():
                chunk = file.read(CHUNK_BYTES)
                if not chunk and number:
                    return
                key = f"floatgate-file-{content}-{number}"
                yield self._client.submit(on_worker.chunk, chunk, key=key)


def _address(on: str) -> str:
    scheme, _, place = on.partition("://")
    host, colon, port = place.rpartition(":")
    if not (host and colon and port.isascii() and port.isdigit() and 0 < int(port) < 65536) or "/" in host:
        raise input_error(
            f"--on {quote(on)}: no address; expected dask://HOST:PORT, such as dask://10.0.0.1:8786, or tls://HOST:PORT"
        )
    return f"{'tls' if scheme == 'tls' else 'tcp'}://{host}:{port}"


_CERTIFICATES = {"tls_ca_file": "ca-file", "tls_client_cert": "client.cert", "tls_client_key": "client.key"}
"""Dask's names of the files of a client, and their keys below ``distributed.comm.tls``."""


def _security(on: str) -> Any:
    """Load the certificates that Dask's configuration names: no connection is made without them.

    Raises:
        InputError: one is not set, or is no file.
    """
    from distributed.security import Security

    security = Security(require_encryption=True)
    for name, key in _CERTIFICATES.items():
        file = getattr(security, name)
        if file is None and name == "tls_client_key":
            continue  # it may stand in the file of the certificate
        variable = f"DASK_DISTRIBUTED__COMM__TLS__{key.upper().replace('-', '_').replace('.', '__')}"
        if file is None:
            what = f"distributed.comm.tls.{key} is not set"
        elif "\n" not in file and not Path(file).is_file():  # Dask takes the text of a certificate too
            what = f"distributed.comm.tls.{key}: {file} is not a file"
        else:
            continue
        raise input_error(f"--on {on}: {what}; expected a PEM file there, in Dask's configuration or in {variable}")
    try:
        security.get_connection_args("client")
    except (OSError, ValueError) as error:
        what = f"the certificates below distributed.comm.tls cannot be used ({_reason(error)})"
        raise input_error(
            f"--on {on}: {what}; expected PEM files of a certificate, its key and its authority"
        ) from None
    return security


def _seconds(text: Any) -> float:
    from dask.utils import parse_timedelta

    return float(parse_timedelta(text))


def _reason(error: BaseException) -> str:
    cause = error.__cause__ or error
    return one_line(str(cause).strip().split("\n", 1)[0] or type(cause).__name__)


def _killed(error: BaseException | None) -> bool:
    from distributed.scheduler import KilledWorker

    return isinstance(error, KilledWorker)


_numbers = itertools.count()


def _unique() -> str:
    return f"{time.time_ns():x}-{next(_numbers)}"
