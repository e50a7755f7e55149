"""Decorators that make a policy of a class, and the loading of files that hold such classes.

A policy is trusted code: it runs in this process with the rights of its user. Nothing loads one by itself.
"""

from __future__ import annotations

import ctypes as c
import inspect
import os
import runpy
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from floatgate import _core
from floatgate.base.errors import FloatgateError, input_error
from floatgate.plugins import contract, kept
from floatgate.plugins.declare import Declared, declared

T = TypeVar("T", bound=type)

_kept: list[Any] = []
"""What the engine points to; a policy stays loaded until the process ends."""
_names: list[str] = []
"""The policies of classes, in the order in which they were declared."""


def victim_policy(name: str | None = None, *, order: str = "any", compiled: bool | None = None) -> Callable[[T], T]:
    """Make a class a victim policy, a row of ``ftl.collect``.

    Args:
        name: its name in an experiment; by default that of the class, as ``emptiest-of-oldest``.
        order: the order in which it sees closed blocks: ``any``, ``closing``, ``valid``, ``valid-and-age`` or
            ``valid-and-idle-age``.
        compiled: whether Numba compiles it; by default if Numba is installed.

    Returns:
        The decorator, which returns the class as it is.

    Raises:
        InputError: the class breaks the contract, or Numba cannot compile it.
    """
    return _decorator("ftl.collect", name, compiled, order=order)


def separator(name: str | None = None, *, needs: Sequence[str] = (), compiled: bool | None = None) -> Callable[[T], T]:
    """Make a class a separator, a row of ``ftl.separate``.

    Args:
        name: its name in an experiment; by default that of the class, as ``by-size``.
        needs: what it reads beside addresses: ``contexts`` and ``handles`` of the workload, ``streams`` where handles
            must not be processes, ``ages`` of pages.
        compiled: whether Numba compiles it; by default if Numba is installed.

    Returns:
        The decorator, which returns the class as it is.

    Raises:
        InputError: the class breaks the contract, or Numba cannot compile it.
    """
    return _decorator("ftl.separate", name, compiled, needs=tuple(needs))


def leveler(name: str | None = None, *, compiled: bool | None = None) -> Callable[[T], T]:
    """Make a class a wear-leveler, a row of ``ftl.level``.

    Args:
        name: its name in an experiment; by default that of the class.
        compiled: whether Numba compiles it; by default if Numba is installed.

    Returns:
        The decorator, which returns the class as it is.

    Raises:
        InputError: the class breaks the contract, or Numba cannot compile it.
    """
    return _decorator("ftl.level", name, compiled)


def throttle(name: str | None = None, *, needs: Sequence[str] = (), compiled: bool | None = None) -> Callable[[T], T]:
    """Make a class a throttle, a row of ``lifetime.throttle``.

    Args:
        name: its name in an experiment; by default that of the class.
        needs: ``recovery`` for a budget that counts on recovery, ``borrowing`` for epochs that may borrow from later
            ones.
        compiled: whether Numba compiles it; by default if Numba is installed.

    Returns:
        The decorator, which returns the class as it is.

    Raises:
        InputError: the class breaks the contract, or Numba cannot compile it.
    """
    return _decorator("lifetime.throttle", name, compiled, needs=tuple(needs))


def _decorator(slot: str, name: str | None, compiled: bool | None, **choices: Any) -> Callable[[T], T]:
    def decorate(cls: T) -> T:
        _load(declared(cls, slot, name, **choices), cls, compiled)
        return cls

    return decorate


def _load(policy: Declared, cls: type, compiled: bool | None) -> None:
    from floatgate.plugins.interpreted import Interpreted

    functions = Interpreted(policy).functions()
    if compiled is None:
        compiled = find_spec("numba") is not None
    if compiled:
        functions |= _compiled(policy)
    file, sha256 = _source(cls)
    described = _described(policy, functions)
    _kept.append((described, functions))
    _core.load_policy(c.addressof(described), sha256, file)
    kept.keep(policy.name, sha256, Path(file))
    _names.append(policy.name)


def _compiled(policy: Declared) -> dict[str, Any]:
    try:
        from floatgate.plugins import compiled
    except ImportError:
        raise input_error("Numba is not installed; expected pip install 'floatgate[policies]'") from None
    return compiled.functions(policy)


def _source(cls: type) -> tuple[str, str]:
    """Return the file of a class, and the hash of its text: of the class alone where there is no file."""
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None) or _loading
    if file is not None and Path(file).is_file():
        return str(file), _sha256(Path(file).read_bytes())
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        text = repr(sorted((key, getattr(part, "__code__", part)) for key, part in vars(cls).items()))
    return cls.__name__, _sha256(text.encode())


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


def _address(function: Any) -> int:
    """Return the address of a function of Numba or of ctypes."""
    if hasattr(function, "address"):
        return int(function.address)
    return c.cast(function, c.c_void_p).value or 0


def _described(policy: Declared, functions: dict[str, Any]) -> contract.Policy:
    params = (contract.Param * max(1, len(policy.params)))()
    for row, (name, param) in zip(params, policy.params.items(), strict=False):
        row.name, row.summary = name.encode(), (param.doc or name).encode()
        row.kind, row.value = contract.KINDS[param.kind], float(param.value)
        row.least, row.most = float(param.least), float(param.most)
    described = contract.Policy(
        version=contract.VERSION,
        size=c.sizeof(contract.Policy),
        slot=policy.slot.encode(),
        name=policy.name.encode(),
        summary=policy.summary.encode(),
        source=policy.source.encode(),
        params=params,
        params_len=len(policy.params),
        order=contract.ORDERS[policy.order],
        needs=sum(contract.NEEDS[need] for need in policy.needs),
    )
    for name, function in functions.items():
        setattr(described, name, _address(function))
    _kept.append(params)
    return described


_loading: str | None = None


def load_policies(path: str | os.PathLike[str]) -> list[str]:
    """Load the policies of a file: a Python file with decorated classes, or a shared library of the contract.

    Loading runs the file with your rights: load only what you trust.

    Args:
        path: ends in ``.py`` for Python; anything else is a shared library.

    Returns:
        The names of its policies.

    Raises:
        InputError: the file cannot be read, raises, or holds no policy.
    """
    global _loading  # noqa: PLW0603 - a file's classes have no module that knows the file
    file = Path(path)
    if not file.is_file():
        raise input_error(f"{file}: no such file; expected a Python file or a shared library with a policy")
    if file.suffix != ".py":
        return [_load_library(file)]
    before, _loading = len(_names), str(file)
    try:
        runpy.run_path(str(file), run_name="floatgate_policies")
    except FloatgateError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the file raises
        line = _line_in(error, str(file))
        what = f"{type(error).__name__}: {error}"
        raise input_error(f"{file}{line}: {what}; expected a file that runs as it is") from None
    finally:
        _loading = None
    if len(_names) == before:
        expected = "expected a class with @floatgate.victim_policy, separator, leveler or throttle"
        raise input_error(f"{file}: it declares no policy; {expected}")
    return _names[before:]


def _line_in(error: Exception, file: str) -> str:
    trace, line = error.__traceback__, ""
    if isinstance(error, SyntaxError) and error.lineno:
        return f":{error.lineno}"
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = f":{trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _load_library(file: Path) -> str:
    try:
        library = c.CDLL(str(file.resolve()))
    except OSError as error:
        raise input_error(f"{file}: {error}; expected a Python file or a shared library with a policy") from None
    try:
        entry = library.floatgate_policy_v1
    except AttributeError:
        expected = "expected one: floatgate policy header prints the contract"
        raise input_error(f"{file}: it has no function floatgate_policy_v1; {expected}") from None
    entry.restype, entry.argtypes = c.c_void_p, []
    _kept.append(library)
    sha256 = _sha256(file.read_bytes())
    _, name = _core.load_policy(entry() or 0, sha256, str(file))
    kept.keep(name, sha256, file)
    return name
