"""The command line: exit status and the form of errors. The commands themselves stand one group to a file.

Exit status 0 done, 1 the run failed, 2 unusable input. The first line on standard error is plain and unwrapped:
``error: PATH:LINE: what is wrong; what was expected``. Users never see a traceback.
Signals and closed standard streams are handled here too.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from floatgate.base import interruption
from floatgate.base.errors import (
    STATUS_DONE,
    STATUS_INTERRUPTED,
    STATUS_RUN_FAILED,
    STATUS_UNUSABLE_INPUT,
    FloatgateError,
    FloatgateWarning,
    InterruptedRunError,
    input_error,
    one_line,
    quote,
)

_OF_A_PATH = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.EACCES, errno.EPERM, errno.EROFS),
)
"""Errors of a path that a user named, which are no bugs of ours."""
_DRAWING = frozenset({"run", "report", "lifetime", "plan", "compare"})
"""Commands that draw a report, and may take no longer for the rest than the renderer takes to start."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status."""
    _open_streams()
    _show_notes()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    code = status(sys.argv[1:] if arguments is None else arguments)
    _tidy()
    # The process ends with all that it holds: the collector need not look through it first, for a tenth of a small run.
    gc.freeze()
    sys.exit(code)


def status(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        for argument in arguments:
            _must_be_text(argument)
        code = _invoke(list(arguments))
        sys.stdout.flush()
    except FloatgateError as error:
        return _failed(error.message, interruption.status() if isinstance(error, InterruptedRunError) else error.status)
    except KeyboardInterrupt:
        code = STATUS_INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        return _system_failed(error)
    except MemoryError:
        return _failed("out of memory; expected a smaller drive or fewer --jobs", STATUS_RUN_FAILED)
    except Exception as error:  # noqa: BLE001 - the last resort: users never see a traceback
        return _internal(error)
    if code == STATUS_INTERRUPTED:
        return _failed("interrupted; nothing was written", interruption.status())
    return code


def _tidy() -> None:
    """Remove incomplete files; a command that has any has imported what makes them."""
    if "floatgate.base.unfinished_files" in sys.modules:
        from floatgate.base import unfinished_files

        unfinished_files.tidy()


def _open_streams() -> None:
    """Give standard streams that were closed (``>&-``) a place: no file that is opened later may take theirs.

    A closed standard output counts as a pipe without a reader.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            reading, writing = os.pipe()
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(writing if descriptor == 1 else nowhere, descriptor)
            for one in {reading, writing, nowhere} - {descriptor}:
                os.close(one)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 - a descriptor, for as long as we are
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8")  # noqa: SIM115


def _interrupt(number: int, _frame: object) -> None:
    """End a command by SIGTERM as by Ctrl-C: resumable work is kept, partial files are removed."""
    if number == signal.SIGTERM:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    interruption.note(number)
    raise KeyboardInterrupt


def _show_notes() -> None:
    """Print floatgate's own warnings as plain notes, each time; others as Python does."""
    others = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, FloatgateWarning):
            print(f"note: {one_line(message)}", file=sys.stderr, flush=True)
        else:
            others(message, category, filename, lineno, file, line)

    warnings.simplefilter("always", FloatgateWarning)
    warnings.showwarning = show


def _system_failed(error: OSError) -> int:
    """Report a system error: a path of the user, no room for the output, or an error that we did not expect."""
    if error.errno in _OF_A_PATH and error.filename is not None:
        what = f"{error.filename}: {error.strerror}; expected a path that can be used"
        return _failed(what, STATUS_UNUSABLE_INPUT)
    if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _internal(error)
    # The output is lost; the interpreter must not try to flush it again at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    where = error.filename or "standard output"
    return _failed(f"{where}: {error.strerror}; expected room for the output", STATUS_UNUSABLE_INPUT)


def _internal(error: Exception) -> int:
    if interruption.came():
        # Libraries turn the interruption into errors of their own, as where it comes while they are imported.
        return _failed("interrupted; nothing was written", interruption.status())
    return _failed(f"internal error: {type(error).__name__}: {error}; please report", STATUS_RUN_FAILED)


def _invoke(arguments: list[str]) -> int:
    arguments = arguments or ["--help"]
    if arguments[0] == "--version":
        # The argument parser would take longer to import than everything else here.
        from floatgate.cli import version

        if version.show(arguments[1:]):
            return STATUS_DONE
    if _draws(arguments):
        from floatgate.pages import drawing

        drawing.start()
    from floatgate.cli.app import command
    from floatgate.cli.usage import usage_message

    root = command(arguments[0] if arguments else None)
    try:
        code = root.main(args=arguments, prog_name="floatgate", standalone_mode=False)
    except Exception as error:
        message = usage_message(error, root)
        if message is None:
            raise
        return _failed(message, STATUS_UNUSABLE_INPUT)
    return code if isinstance(code, int) else STATUS_DONE


def _draws(arguments: list[str]) -> bool:
    """Return whether a command that may spend most of its time on pictures will draw some, judged by its arguments.

    The renderer starts while they are read. One that turns out not to be needed ends with the command.
    """
    never = {"--no-report", "--help", "-h", "--json=-"}
    if len(arguments) < 2 or arguments[0] not in _DRAWING or not never.isdisjoint(arguments):
        return False
    following = [after for word, after in zip(arguments, [*arguments[1:], ""], strict=True) if word == "--json"]
    return all(after.endswith(".json") for after in following)


def _must_be_text(argument: str) -> None:
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise input_error(f"argument {quote(argument)}: not UTF-8 text; expected UTF-8") from None


def _failed(message: str, code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _nobody_reads()
    try:
        print(f"error: {one_line(message)}", file=sys.stderr, flush=True)
    except BrokenPipeError:
        _nobody_reads()
    return code


def _nobody_reads() -> int:
    """Stay silent when the reader of the pipe is gone, and let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    return STATUS_RUN_FAILED
