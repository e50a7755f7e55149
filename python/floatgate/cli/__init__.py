"""The command line: exit status and the form of errors. The commands themselves stand one group to a file.

Exit status 0 done, 1 the run failed, 2 unusable input. The first line on standard error is plain and unwrapped:
``error: PATH:LINE: what is wrong; what was expected``. Nobody meets a traceback.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn, TextIO

from floatgate.errors import (
    STATUS_DONE,
    STATUS_INTERRUPTED,
    STATUS_RUN_FAILED,
    STATUS_UNUSABLE_INPUT,
    FloatgateError,
    FloatgateWarning,
    input_error,
    one_line,
)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit status."""
    _show_notes()
    sys.exit(status(sys.argv[1:] if arguments is None else arguments))


def status(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status."""
    try:
        for argument in arguments:
            _must_be_text(argument)
        code = _invoke(list(arguments))
        sys.stdout.flush()
    except FloatgateError as error:
        return _failed(error.message, error.status)
    except KeyboardInterrupt:
        code = STATUS_INTERRUPTED
    except BrokenPipeError:
        return _nobody_reads()
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return _internal(error)
        # What was to be printed is lost; the interpreter must not try again at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = error.filename or "standard output"
        return _failed(f"{where}: {error.strerror}; expected room for the output", STATUS_UNUSABLE_INPUT)
    except MemoryError:
        return _failed("out of memory; expected a smaller drive or fewer --jobs", STATUS_RUN_FAILED)
    except Exception as error:  # noqa: BLE001 - the last resort: nobody meets a traceback
        return _internal(error)
    if code == STATUS_INTERRUPTED:
        return _failed("interrupted; nothing was written", STATUS_INTERRUPTED)
    return code


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


def _internal(error: Exception) -> int:
    return _failed(f"internal error: {type(error).__name__}: {error}; please report", STATUS_RUN_FAILED)


def _invoke(arguments: list[str]) -> int:
    from floatgate.cli.app import command
    from floatgate.cli.usage import usage_message

    root = command()
    try:
        code = root.main(args=arguments, prog_name="floatgate", standalone_mode=False)
    except Exception as error:
        message = usage_message(error, root)
        if message is None:
            raise
        return _failed(message, STATUS_UNUSABLE_INPUT)
    return code if isinstance(code, int) else STATUS_DONE


def _must_be_text(argument: str) -> None:
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise input_error(f"argument '{argument}': not UTF-8 text; expected UTF-8") from None


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
    """The reader of the pipe is gone: say nothing more, and let the interpreter's last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(nowhere, stream.fileno())
    return STATUS_RUN_FAILED
