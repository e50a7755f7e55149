"""Puts the trace of a recipe into the cache: from its owner, or from a file that the user has."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from floatgate.base.errors import InputError, RunError, input_error, one_line, quote
from floatgate.results.folder import replacing
from floatgate.trace.fetch import archives, download
from floatgate.trace.fetch.cache import Cache, Note
from floatgate.trace.fetch.checksums import Progress, Sums, must_be_the_owners, sums
from floatgate.trace.fetch.recipes import Recipe, is_plain_name

PART = ".part"
_AGAIN = ": remove it to fetch it again"


@dataclass(frozen=True)
class Fetched:
    """A trace in the cache.

    Attributes:
        path: the trace.
        bytes: of the trace.
        sha256: of the trace.
        downloaded_bytes: what came over the network this time.
        cached: whether the trace was there already.
        pinned: whether its checksum, or that of the file it comes from, was pinned just now.
    """

    recipe: Recipe
    path: Path
    bytes: int
    sha256: str
    downloaded_bytes: int
    cached: bool
    pinned: bool


class _Fetch:
    """One fetch of a trace, named by the recipe and by the member of its archive."""

    def __init__(self, recipe: Recipe, cache: Cache, member: str | None, progress: Progress | None) -> None:
        self.recipe, self.member, self.progress = recipe, member, progress
        self.file = cache.place(recipe, recipe.file)
        self.target = cache.place(recipe, recipe.trace_name(member))
        self.note: Note = cache.note(recipe)
        self.unpacks = recipe.is_archive or recipe.lines is not None
        self.downloaded_bytes = 0

    def run(self, source: Path | None) -> Fetched:
        cached = source is None and self.target.is_file()
        if cached:
            checked = self._check_trace()
        elif source is not None:
            checked = self._take(source, self._check_file(source))
        elif self.file.is_file():
            checked = self._take(self.file, self._check_file(self.file, _AGAIN), _AGAIN)
        else:
            checked = self._take(self.file, self._download(), _AGAIN)
        pinned = self.note.pin()
        return Fetched(self.recipe, self.target, checked.bytes, checked.pin, self.downloaded_bytes, cached, pinned)

    def _take(self, source: Path, checked: Sums, remedy: str = "") -> Sums:
        """Make the trace from the file of the recipe, whose checksums are known."""
        if source == self.target:
            return checked
        self.target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(self.target) as temporary:
            if self.unpacks:
                archives.unpack(source, self.recipe, self.member, temporary, self.progress, remedy)
            else:
                shutil.copyfile(source, temporary)
            # A file that changes while it is copied is not the one that was checked.
            made = sums(temporary, self.recipe, self.progress)
            if not self.unpacks and made != checked:
                raise input_error(f"{source}: changes while it is read; expected a file that nothing writes")
            self.note.compare(self.target.name, made, f"{self.target.name} of {source}")
        return made

    def _check_trace(self) -> Sums:
        if not self.unpacks:
            return self._check_file(self.target, _AGAIN)
        checked = sums(self.target, self.recipe, self.progress)
        self.note.compare(self.target.name, checked, str(self.target), _AGAIN)
        return checked

    def _check_file(self, path: Path, remedy: str = "", place: str = "") -> Sums:
        """Compare a file with what its owner publishes and with the first fetch."""
        checked = sums(path, self.recipe, self.progress)
        must_be_the_owners(place or str(path), checked, self.recipe, remedy)
        self.note.compare(self.recipe.file, checked, place or str(path), remedy)
        return checked

    def _download(self) -> Sums:
        """Download the file of the recipe, check it and move it into place.

        Raises:
            RunError: it did not arrive. A part may be kept.
            InputError: the recipe has no address, or another file arrived, which is not kept.
        """
        recipe, address = self.recipe, self.recipe.address
        if address is None:
            what = f"{recipe.name}: its owner offers no direct download"
            raise input_error(f"{what}; expected the file by hand: {self._by_hand()}")
        part = self.file.with_name(self.file.name + PART)
        with download.locked(part) as file:
            transfer = download.Download(
                address, file, self.note.parts.get(recipe.file),
                lambda validator: self.note.remember(recipe.file, validator), recipe.most_bytes, self.progress,
            )  # fmt: skip
            try:
                transfer.run()
            except download.TransferError as error:
                size = _tidy(part)
                again = f"the same command again ({size} bytes are kept), or " if size else ""
                remedy = f"expected {again}the file by hand: {self._by_hand()}"
                raise RunError(one_line(f"{address}: {error}; {remedy}")) from None
            except InputError:
                part.unlink(missing_ok=True)
                raise
            self.downloaded_bytes = transfer.received_bytes
            try:
                checked = self._check_file(part, place=address)
            except InputError:
                part.unlink(missing_ok=True)
                raise
            part.replace(self.file)
            self.note.remember(recipe.file, None)
        return checked

    def _by_hand(self) -> str:
        recipe = self.recipe
        return f"{recipe.how} ({recipe.page}), then put it at {self.file} or name it with --from FILE"


def fetch(
    recipe: Recipe, cache: Cache, source: str | None = None, member: str | None = None, progress: Progress | None = None
) -> Fetched:
    """Return the trace of a recipe, which is in the cache afterwards.

    Args:
        recipe: what to fetch.
        cache: where it belongs.
        source: the file of the recipe, if the user has downloaded it; it is read and stays where it is.
        member: another member of the recipe's archive.
        progress: is called with bytes done, bytes in all or None, and the phase.

    Raises:
        RunError: the owner's server or the connection failed.
        InputError: the file is not the owner's, or damaged; the recipe takes a file by hand; the cache cannot be
            written.
    """
    if member is not None:
        if not recipe.is_archive:
            raise input_error(f"--member: {recipe.file} of {recipe.name} is not an archive; expected no --member")
        if not is_plain_name(member.rpartition("/")[2]):
            raise input_error(f"--member: {quote(member)} does not end in the name of a file; expected one such as "
                              f"{quote(recipe.member or recipe.file)}")  # fmt: skip
    if source is not None and not Path(source).is_file():
        raise input_error(f"{source}: no such file; expected {recipe.file} of {recipe.name}, as downloaded by hand")
    return _Fetch(recipe, cache, member, progress).run(None if source is None else Path(source))


def _tidy(part: Path) -> int:
    """Return how many bytes of a part are kept; remove an empty one and its empty folder."""
    size = part.stat().st_size
    if not size:
        part.unlink()
        if not any(part.parent.iterdir()):
            part.parent.rmdir()
    return size
