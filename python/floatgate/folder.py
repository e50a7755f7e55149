"""Run folders: where results go, and nothing half-written on the way.

Everything is written into a hidden folder beside (or, where it exists, in) the target and moved to its place when it is
complete, so that an error or Ctrl-C leaves the target as it was.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floatgate.errors import input_error

if TYPE_CHECKING:
    from floatgate.run import Run

DEFAULT_ROOT = "runs"


@dataclass(frozen=True)
class RunFolder:
    """Where a run goes: a folder that was asked for, or the first free of ``runs/NAME``, ``runs/NAME-2``, ..."""

    path: Path
    numbered: bool = False

    @classmethod
    def given(cls, path: str, *, force: bool) -> RunFolder:
        """The folder ``--out`` names: missing or empty, or anything with ``force``.

        Raises:
            InputError: it is a file, it is not empty, or it cannot be written to. Nothing is made yet.
        """
        if not path:
            raise input_error("--out: an empty path; expected a folder")
        folder = Path(path)
        try:
            if folder.exists() and not folder.is_dir():
                raise input_error(f"{path}: is a file; expected an empty or missing folder")
            if not force and (folder / "run.snapshot").is_file():
                raise input_error(
                    f"{path}: holds an interrupted run; expected --resume to go on with it, or --force to start over"
                )
            if folder.is_dir() and not force and any(folder.iterdir()):
                raise input_error(f"{path}: folder is not empty; expected an empty or missing one, or --force")
        except (OSError, ValueError) as error:
            raise _unusable(path, error) from None
        _must_be_writable(folder, path)
        return cls(folder)

    @classmethod
    def default(cls, name: str) -> RunFolder:
        """``runs/<name>``, numbered where that is taken; raises InputError where it cannot be written."""
        folder = Path(DEFAULT_ROOT) / name
        _must_be_writable(folder, str(folder))
        return cls(folder, numbered=True)

    def write(self, fill: Callable[[Path, Path], None]) -> Path:
        """Fill the folder and return where it is.

        Args:
            fill: writes files into its first argument, a hidden folder that becomes the second.

        Raises:
            InputError: the folder cannot be written to.
        """
        try:
            target = self._claim()
            room = target if target.is_dir() else target.parent
            room.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=".floatgate.", dir=room))
        except (OSError, ValueError) as error:
            raise _unusable(str(self.path), error) from None
        try:
            fill(staging, target)
            staging.chmod(0o777 & ~_umask())
            return self._settle(staging, target)
        except OSError as error:
            raise _unusable(str(self.path), error) from None
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """A place beside the folder for a file that is written before the folder is; left there, it is removed.

        Raises:
            InputError: nothing can be written there.
        """
        try:
            places = (self.path, *self.path.absolute().parents)
            room = next(place for place in places if place.is_dir())
            staging = Path(tempfile.mkdtemp(prefix=".floatgate.", dir=room))
        except (OSError, ValueError) as error:
            raise _unusable(str(self.path), error) from None
        try:
            yield staging / name
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _claim(self) -> Path:
        """The first free numbered name; another process may take it first, which :meth:`_settle` notices."""
        number = 1
        candidate = self.path
        while self.numbered and candidate.exists():
            number += 1
            candidate = self.path.with_name(f"{self.path.name}-{number}")
        return candidate

    def _settle(self, staging: Path, target: Path) -> Path:
        while True:
            if target.is_dir() and not self.numbered:
                _move_into(staging, target)
                return target
            try:
                staging.rename(target)
                return target
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                target = self._claim()


def _move_into(staging: Path, target: Path) -> None:
    """Move what was written over what is there, file by file; other files of the folder stay."""
    for entry in sorted(staging.iterdir()):
        place = target / entry.name
        if entry.is_dir() and place.is_dir():
            shutil.rmtree(place)
        entry.replace(place)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _must_be_writable(folder: Path, shown: str) -> None:
    try:
        nearest = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not nearest.is_dir():
            raise input_error(f"{shown}: {nearest} is a file; expected a folder")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise input_error(f"{shown}: {nearest} cannot be written to; expected a folder that can")
    except (OSError, ValueError) as error:
        raise _unusable(shown, error) from None


def _unusable(path: str, error: Exception) -> Exception:
    return input_error(f"{path}: {_reason(error)}; expected a folder that can be written to")


def write_files(run: Run, folder: Path) -> None:
    """Write ``result.json``, ``experiment.toml`` and ``series.parquet`` of one run into ``folder``."""
    import pyarrow.parquet as pq

    (folder / "result.json").write_text(run.result_json.rstrip("\n") + "\n", "utf-8")
    (folder / "experiment.toml").write_text(run.experiment_toml, "utf-8")
    pq.write_table(run.series, folder / "series.parquet")
    if run.timeline is not None:
        pq.write_table(run.timeline, folder / "timeline.parquet", compression="zstd")


def write_run(
    run: Run, target: RunFolder, *, report: bool = True, command: str | None = None, requests: Path | None = None
) -> Path:
    """Write a run folder and return its path.

    Args:
        run: the run.
        target: where to.
        report: whether to draw ``report.html``.
        command: the command line that made the run, for the foot of the report.
        requests: the log of requests, to be moved into the folder.
    """

    def fill(staging: Path, final: Path) -> None:
        write_files(run, staging)
        if requests is not None:
            shutil.move(requests, staging / requests.name)
        if report:
            run.folder = final
            (staging / "report.html").write_text(run.report(command), "utf-8")

    return target.write(fill)


def write_text(path: str, text: str, expected: str) -> None:
    """Write one file whole or not at all; what is no regular file (a pipe, a device) is written to as it is.

    Raises:
        InputError: it cannot be written; ``expected`` says what was wanted.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("w", encoding="utf-8") as file:
                file.write(text)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary:
            temporary.write_text(text, "utf-8")
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise input_error(f"{path}: {_reason(error)}; expected {expected}") from None


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A temporary file beside ``target``, with the same extensions, that takes its place when the block ends well."""
    handle, name = tempfile.mkstemp(prefix=".floatgate.", suffix=f".{target.name}", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target.resolve())
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[Path]:
    """Where to write ``target``: what :func:`replacing` yields, or itself where it is a pipe or a device."""
    if target.exists() and not target.is_file():
        yield target
        return
    with replacing(target) as temporary:
        yield temporary


def must_be_file_place(path: str, expected: str) -> None:
    """Refuse a place for a file before the work starts: a directory, or below something that cannot be written to.

    Raises:
        InputError: with ``expected`` saying what was wanted.
    """
    if not path:
        raise input_error(f"an empty path; expected {expected}")
    target = Path(path)
    try:
        if target.is_dir():
            raise input_error(f"{path}: is a directory; expected {expected}")
        if target.exists() and not target.is_file():
            return
    except (OSError, ValueError) as error:
        raise input_error(f"{path}: {_reason(error)}; expected {expected}") from None
    _must_be_writable(target.parent, path)


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
