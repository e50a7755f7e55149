"""Run folders: locked, staged, committed by rename.

A requested folder belongs to one run at a time. Entering a :class:`RunFolder`, before the run, makes the folder and
locks it. The kernel releases the lock with the process: a killed run blocks no other. Results
are written into a hidden folder and get their place by one rename when they are complete: an error or Ctrl-C
leaves the target as it was. The report is drawn after that.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from floatgate.base import unfinished_files
from floatgate.base.errors import InterruptedRunError, input_error, quote, warn
from floatgate.pages import drawing

DEFAULT_ROOT = "runs"
RESULT = "result.json"
REPORT = "report.html"
SNAPSHOT = "run.snapshot"
"""Name of an interrupted run in its folder."""
_OF_A_RESULT = ("timeline.parquet", "requests.parquet", REPORT)
"""Files that a run may leave beside its result; once another result replaces it, they belong to no run."""
_NO_RENAME = (errno.EBUSY, errno.EACCES, errno.EPERM, errno.EXDEV, errno.EINVAL)
"""Errors of folders that cannot be replaced whole: a mount point, a folder above that may not be changed."""


@dataclass
class RunFolder:
    """The folder of a run: the requested one, or the first free of ``runs/NAME``, ``runs/NAME-2``, ...

    Enter it (``with``) before the run; else :meth:`write` does so.
    """

    path: Path
    numbered: bool = False
    force: bool = False
    _claim: _Claim | None = field(default=None, init=False, repr=False)
    _own: set[str] = field(default_factory=set, init=False, repr=False)

    @classmethod
    def named(cls, path: str, *, force: bool) -> RunFolder:
        """Return the folder ``--out`` names: missing or empty, or anything with ``force``.

        Raises:
            InputError: it is a file, it is not empty, or it cannot be written to. Nothing is created yet.
        """
        if not path:
            raise input_error("--out: an empty path; expected a folder")
        folder = cls(Path(path), force=force)
        folder._must_be_free()
        _must_be_writable(folder.path, path)
        return folder

    @classmethod
    def default(cls, name: str) -> RunFolder:
        """Return ``runs/<name>``, numbered if that is taken; raises InputError if it cannot be written."""
        folder = Path(DEFAULT_ROOT) / name
        _must_be_writable(folder, str(folder))
        return cls(folder, numbered=True)

    def __enter__(self) -> RunFolder:
        """Claim the folder: make it, and keep other runs out.

        A numbered one needs no claim: it gets a free name when it is complete.

        Raises:
            InputError: another run has claimed it, files have appeared in it, or it cannot be created.
        """
        if not self.numbered:
            try:
                self._claim = _Claim.of(self.path)
                self._must_be_free()
            except (OSError, ValueError) as error:
                self._release()
                raise _unusable(str(self.path), error) from None
            except BaseException:
                self._release()
                raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the folder; remove it if it was made for this run and stayed empty."""
        self._release()

    def expect(self, path: str | None) -> None:
        """Say of a file that this run writes itself where it is; in the folder it is no stranger."""
        if path is not None and os.path.realpath(Path(path).parent) == os.path.realpath(self.path):
            self._own.add(Path(path).name)

    def _release(self) -> None:
        claim, self._claim = self._claim, None
        if claim is not None:
            claim.release()

    def _must_be_free(self) -> None:
        """Refuse a file, and without ``force`` a folder that is not empty."""
        path = self.path
        try:
            unfinished_files.clean(path)
            if path.exists() and not path.is_dir():
                raise input_error(f"{path}: is a file; expected an empty or missing folder")
            if self.force or (self._claim is not None and self._claim.is_new):
                return
            if (path / SNAPSHOT).is_file():
                raise input_error(
                    f"{path}: holds an interrupted run; expected --resume to go on with it, or --force to start over"
                )
            # A killed run leaves hidden names, which are no results.
            if path.is_dir() and any(not entry.name.startswith(unfinished_files.PREFIX) for entry in path.iterdir()):
                raise input_error(f"{path}: folder is not empty; expected an empty or missing one, or --force")
        except (OSError, ValueError) as error:
            raise _unusable(str(path), error) from None

    def write(
        self,
        fill: Callable[[Path, Path], None],
        settled: Callable[[Path], None] | None = None,
        report: Callable[[], str] | None = None,
    ) -> Path:
        """Fill the folder and return where it is.

        Args:
            fill: writes files into its first argument, a hidden folder that becomes the second.
            settled: called with the folder once the files are in their place, while the folder is still claimed.
            report: makes ``report.html``, drawn last: results are safe by then, even if it fails.

        Raises:
            InputError: the folder cannot be written to, or files appeared in it meanwhile.
        """
        if report is not None:
            # It starts while the results are written.
            drawing.start()
        with contextlib.nullcontext() if self._claim is not None else self:
            try:
                target = self._first_free() if self.numbered else self.path
                staging = self._staging()
            except (OSError, ValueError) as error:
                raise _unusable(str(self.path), error) from None
            try:
                fill(staging, target)
                staging.chmod(0o777 & ~_umask())
                target = self._settle(staging)
            except OSError as error:
                raise _unusable(str(self.path), error) from None
            finally:
                shutil.rmtree(staging, ignore_errors=True)
            if settled is not None:
                settled(target)
            if report is not None:
                draw(target / REPORT, report)
            return target

    @contextlib.contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """Yield a path beside the folder for a file that is written first; if still there at the end, it is removed.

        Raises:
            InputError: nothing can be written there.
        """
        try:
            if self._claim is not None:
                staging = self._staging()
            else:
                places = (self.path, *self.path.absolute().parents)
                room = next(place for place in places if place.is_dir())
                staging = unfinished_files.folder_in(room)
        except (OSError, ValueError) as error:
            raise _unusable(str(self.path), error) from None
        try:
            yield staging / name
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def _staging(self) -> Path:
        """Make a new hidden folder on the file system of the target: beside it if a rename can move it there."""
        if self._claim is None:
            room = self.path.parent
            room.mkdir(parents=True, exist_ok=True)
        else:
            room = self._claim.room()
        return unfinished_files.folder_in(room)

    def _first_free(self) -> Path:
        """Return the first numbered name that does not exist."""
        return first_free(self.path if self._claim is None else self._claim.folder)

    def _settle(self, staging: Path) -> Path:
        if self._claim is None:
            return self._settle_numbered(staging)
        others = [name for name in self._claim.others() if name not in self._own]
        if others and not self.force:
            kept = self._settle_numbered(staging)
            raise input_error(
                f"{self.path}: {quote(others[0])} came into the folder during the run; the results are in {kept}; "
                "expected a folder that nobody else writes to"
            )
        self._claim.settle(staging)
        return self.path

    def _settle_numbered(self, staging: Path) -> Path:
        """Give the folder a free name; of two runs, the one that creates the name first has it."""
        while True:
            target = self._first_free()
            try:
                target.mkdir()
            except FileExistsError:
                continue
            staging.rename(target)
            return target


def first_free(first: Path) -> Path:
    """Return ``NAME``, else the first of ``NAME-2``, ``NAME-3``, ... that does not exist."""
    number, candidate = 1, first
    while candidate.exists():
        number += 1
        candidate = first.with_name(f"{first.name}-{number}")
    return candidate


class _Claim:
    """A folder that this process has locked, with the folders that had to be made for it.

    Attributes:
        is_new: whether it was made just now: files in it have then appeared meanwhile.
    """

    def __init__(self, folder: Path, descriptor: int, made: list[Path], *, is_new: bool) -> None:
        self.folder, self._descriptor, self._made, self.is_new = folder, descriptor, made, is_new

    @classmethod
    def of(cls, path: Path) -> _Claim:
        """Make the folder where it is missing, and lock it.

        Raises:
            InputError: another process has locked it.
            OSError: it cannot be created or opened.
        """
        folder = Path(os.path.realpath(path))
        made: list[Path] = []
        while True:
            new = _make(folder)
            made += new
            try:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                continue  # another run has just removed its own folder
            claim = cls(folder, descriptor, made, is_new=folder in new)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                what = "another run is writing to this folder"
                raise input_error(f"{path}: {what}; expected a folder of its own, or to wait for that run") from None
            except OSError:
                pass  # a file system without locks: what comes into the folder is still noticed at the end
            if claim._is_current():
                return claim
            os.close(descriptor)  # replaced while we waited for the lock

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), self.folder.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Unlock the folder; remove it if it was made for the run and is empty."""
        for place in sorted(self._made, reverse=True):
            with contextlib.suppress(OSError):
                place.rmdir()
        os.close(self._descriptor)

    def room(self) -> Path:
        """Return where to write the future folder: beside it, or in it where a rename could not replace it."""
        beside = self.folder.parent
        mine = self.folder in self._made or (
            self.folder.stat().st_dev == beside.stat().st_dev
            and self.folder.stat().st_uid == os.geteuid()
            and not self.folder.samefile(Path.cwd())
            and os.access(beside, os.W_OK | os.X_OK)
        )
        return beside if mine else self.folder

    def others(self) -> list[str]:
        """List the files of the folder that come neither from this run nor from one that it starts over."""
        names = sorted(entry.name for entry in self.folder.iterdir())
        ours = (SNAPSHOT, f"{SNAPSHOT}.part")
        return [name for name in names if name not in ours and not name.startswith(unfinished_files.PREFIX)]

    def settle(self, staging: Path) -> None:
        """Move the staged files into place: as a whole if the folder is empty, else file by file."""
        empty = not any(self.folder.iterdir())
        if empty and staging.parent == self.folder.parent:
            mode = stat.S_IMODE(self.folder.stat().st_mode)
            descriptor = os.open(staging, os.O_RDONLY | os.O_DIRECTORY)
            try:
                staging.chmod(mode)
                # The lock goes with the new folder, which no other process has seen yet.
                with contextlib.suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                staging.rename(self.folder)
            except OSError as error:
                os.close(descriptor)
                if error.errno not in _NO_RENAME:
                    raise
            else:
                os.close(self._descriptor)
                self._descriptor = descriptor
                return
        _move_into(staging, self.folder)


def _make(folder: Path) -> list[Path]:
    """Make a folder and those above it; those that were missing."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    made = []
    for place in reversed(missing):
        with contextlib.suppress(FileExistsError):
            place.mkdir()
            made.append(place)
    return made


def _move_into(staging: Path, target: Path) -> None:
    """Move the staged files over existing ones, file by file; other files of the folder stay.

    A result comes last: a folder with a result is complete; what belonged to the result that it replaces goes.
    """
    entries = sorted(staging.iterdir(), key=lambda entry: (entry.name == RESULT, entry.name))
    if any(entry.name == RESULT for entry in entries) and (target / RESULT).is_file():
        for name in (RESULT, *_OF_A_RESULT):
            (target / name).unlink(missing_ok=True)
    for entry in entries:
        place = target / entry.name
        if entry.is_dir() and place.is_dir():
            shutil.rmtree(place)
        entry.replace(place)


def draw(place: Path, report: Callable[[], str]) -> None:
    """Write the report beside complete results; if it fails, print a note."""
    try:
        text = report()
        with replacing(place) as temporary:
            temporary.write_text(text, "utf-8")
    except KeyboardInterrupt:
        what = f"interrupted while the report was drawn; the results are complete in {place.parent}"
        raise InterruptedRunError(what) from None
    except Exception as error:  # noqa: BLE001 - the results stand, and the run has not failed
        reason = str(error).strip().split("\n", 1)[0] or type(error).__name__
        warn(f"{place}: the report could not be written ({reason}); the results beside it are complete")


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


def write_text(path: str, text: str, expected: str) -> None:
    """Write one file whole or not at all; pipes and devices are written to directly.

    Raises:
        InputError: it cannot be written; ``expected`` completes the message.
    """
    with written(path, expected) as place:
        place.write_text(text, "utf-8")


@contextlib.contextmanager
def written(path: str, expected: str) -> Iterator[Path]:
    """Yield where to write a file, as :func:`writing` has it, and make the folders above it.

    Raises:
        InputError: it cannot be written; ``expected`` completes the message.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with writing(target) as place:
            yield place
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise input_error(f"{path}: {_reason(error)}; expected {expected}") from None


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary file beside ``target``, with the same extensions; it replaces ``target`` on success."""
    temporary = unfinished_files.file_beside(target)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target.resolve())
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(target: Path) -> Iterator[Path]:
    """Yield where to write ``target``: what :func:`replacing` yields, or ``target`` if it is a pipe or device."""
    if target.exists() and not target.is_file():
        yield target
        return
    with replacing(target) as temporary:
        yield temporary


def must_be_file_place(path: str, expected: str) -> None:
    """Refuse a target before the work starts: a directory, or a path below a folder that cannot be written to.

    Raises:
        InputError: with ``expected`` in the message.
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


def must_be_new_file(path: str, expected: str, *, force: bool) -> None:
    """Refuse a target before the work starts: one that cannot be written to, or exists (without ``force``).

    Raises:
        InputError: with ``expected`` in the message.
    """
    must_be_file_place(path, expected)
    if Path(path).is_file() and not force:
        raise input_error(f"{path}: exists already; expected a new file, or --force")


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
