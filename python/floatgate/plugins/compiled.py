"""Functions of a policy that Numba compiles: the engine calls machine code, without the interpreter.

Numba needs code that names each field once, so the code that makes tuples of parameters and of tables is written here
as text, from the names that a policy declares. Names are checked before (:mod:`floatgate.plugins.declare`).
"""

from __future__ import annotations

import re
from ctypes import c_void_p
from typing import Any

import numpy as np
from numba import carray, cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from floatgate.base.errors import input_error
from floatgate.plugins import contract, views
from floatgate.plugins.contract import fields
from floatgate.plugins.declare import Declared

FAILED = contract.FAILED
_ADDRESS = types.uintp
_RECORDS = {
    kind: np.dtype([(name, np.uintp if of is c_void_p else np.dtype(of)) for name, of in fields(kind)], align=True)
    for kind in (*(contract.Blocks, contract.Write, contract.Move, contract.Reclaimed, contract.Wear, contract.Epoch),)
}
_BLOCKS = _RECORDS[contract.Blocks]
_WRITE = _RECORDS[contract.Write]
_MOVE = _RECORDS[contract.Move]
_RECLAIMED = _RECORDS[contract.Reclaimed]
_WEAR = _RECORDS[contract.Wear]
_EPOCH = _RECORDS[contract.Epoch]
_LINK = np.dtype([("before", "u4"), ("after", "u4")])
_VALID = np.dtype([("valid", "u4"), ("reserved", "u4")])
_NODE = np.dtype([("since", "u8"), ("reserved", "u8"), ("reserved2", "u8")])


@intrinsic
def _pointer(_: Any, address: Any) -> Any:  # noqa: ARG001 - Numba looks at the number of arguments
    """Take an address for a pointer."""

    def make(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.uintp), make


def _maker(kind: Any, reads: str, parts: list[str], known: dict[str, Any]) -> Any:
    """Compile a function of an address: it reads memory there as ``w`` and returns a tuple of ``parts`` of it."""
    if not parts:
        return njit(lambda _: ())
    names = {"kind": kind, "carray": carray, "pointer": _pointer, "np": np, **known}
    text = f"def make(at):\n    w = carray(pointer(at), {reads})\n    return kind({', '.join(parts)})\n"
    exec(text, names)  # noqa: S102 - text of this module, with checked names
    return njit(names["make"])


def _params_maker(declared: Declared) -> Any:
    forms = {"whole": "int(w[{}])", "real": "w[{}]", "flag": "w[{}] != 0.0"}
    parts = [forms[param.kind].format(n) for n, param in enumerate(declared.params.values())]
    kind = views.record("Params", tuple(declared.params))
    return _maker(kind, f"({len(parts)},), np.float64", parts, {})


def _state_maker(declared: Declared) -> Any:
    """Compile what reads the places of tables at the beginning of a state."""
    known = {f"dtype{n}": np.dtype(table.dtype).type for n, table in enumerate(declared.state.values())}
    form = "carray(pointer(at + np.uintp(w[{0}])), (np.intp(w[{1}]),), dtype{2})"
    parts = [form.format(2 * n, 2 * n + 1, n) for n in range(len(known))]
    kind = views.record("State", tuple(declared.state))
    return _maker(kind, f"({2 * len(parts)},), np.uint64", parts, known)


def functions(declared: Declared) -> dict[str, Any]:
    """Compile the functions that the engine calls in its loop; returns Numba's functions of C by their contract names.

    Raises:
        InputError: Numba cannot compile one.
    """
    makers = _MAKERS[declared.slot]
    try:
        return makers(declared)
    except Exception as error:  # noqa: BLE001 - Numba's errors have no common type
        why = _why(str(error))
    # Raised out here, it does not hold Numba's error, whose frames hold parts of the compiler until the process ends.
    expected = "expected code that Numba knows, or compiled=False"
    raise input_error(f"policy '{declared.name}': Numba cannot compile it: {why}; {expected}")


_ATTRIBUTE = re.compile(r"Unknown attribute '(\w+)' of type (\w+)\(")
_PLACE = re.compile(r'File "([^"]+)", line (\d+)')
_NOISE = re.compile(r"Failed in nopython mode pipeline \(step: [^)]*\)|\x1b\[\d+m|^During: .*$", re.MULTILINE)


def _why(text: str) -> str:
    """Return the gist of an error of Numba, which is a page of text, with the last line of the policy that it names."""
    places = _PLACE.findall(text)
    where = f" ({places[-1][0]}:{places[-1][1]})" if places else ""
    if attribute := _ATTRIBUTE.search(text):
        name, kind = attribute.groups()
        fields = getattr(getattr(views, kind, None), "_fields", ())
        known = f", which has {', '.join(fields)}" if fields else ""
        return f"there is no '{name}' in a {kind}{known}{where}"
    return " ".join(_NOISE.sub("", text).split())[:300] + where


def _checked(function: Any) -> Any:
    """Compile a function of a policy; an index outside a table raises an error, as the interpreter does."""
    return njit(function, boundscheck=True)


def _victim(declared: Declared) -> dict[str, Any]:
    pick, params = _checked(declared.functions["pick"]), _params_maker(declared)
    kind = views.Blocks

    @cfunc(types.uint32(_ADDRESS, _ADDRESS))
    def call(blocks_at: int, params_at: int) -> Any:
        b = carray(_pointer(blocks_at), (1,), _BLOCKS)[0]
        n = b.drive_blocks
        linked, listed, aged = (n if b.links else 0), (b.pages_per_block + 1 if b.oldest else 0), (n if b.nodes else 0)
        seen = kind(
            b.now,
            b.domain,
            b.first_block,
            b.blocks,
            b.pages_per_block,
            b.first,
            b.random,
            carray(_pointer(b.valid), (n,), _VALID).valid,
            carray(_pointer(b.erases), (n,), np.uint32),
            carray(_pointer(b.closed_at), (n,), np.uint64),
            carray(_pointer(b.links), (linked,), _LINK).after,
            carray(_pointer(b.oldest), (listed,), np.uint32),
            carray(_pointer(b.nodes), (aged,), _NODE).since,
            carray(_pointer(b.any), (b.any_len,), np.uint32),
        )
        try:
            return np.uint32(pick(seen, params(params_at)))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)

    return {"pick": call}


def _separator(declared: Declared) -> dict[str, Any]:
    params, state = _params_maker(declared), _state_maker(declared)
    makers = {
        "write": _write,
        "move": _move,
        "moved": _moved,
        "trimmed": _trimmed,
        "reclaimed": _reclaimed,
    }
    own = {name: _checked(function) for name, function in declared.functions.items() if name in makers}
    made = {name: makers[name](function, params, state) for name, function in own.items()}
    made["move_stream"] = made.pop("move")
    return made


_THREE = types.uint32(_ADDRESS, _ADDRESS, _ADDRESS)


def _write(own: Any, params: Any, state: Any) -> Any:
    kind = views.Page

    @cfunc(_THREE)
    def call(page_at: int, params_at: int, state_at: int) -> Any:
        w = carray(_pointer(page_at), (1,), _WRITE)[0]
        page = kind(w.page, w.update != 0, w.context, w.handle, w.request_pages, w.age, w.now)
        try:
            return np.uint32(own(page, state(state_at), params(params_at)))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)

    return call


def _move(own: Any, params: Any, state: Any) -> Any:
    kind = views.Moving

    @cfunc(_THREE)
    def call(page_at: int, params_at: int, state_at: int) -> Any:
        m = carray(_pointer(page_at), (1,), _MOVE)[0]
        try:
            return np.uint32(own(kind(m.page, m.from_, m.age, m.now), state(state_at), params(params_at)))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)

    return call


def _moved(own: Any, params: Any, state: Any) -> Any:
    kind = views.Moving

    @cfunc(types.uint32(_ADDRESS, types.uint32, _ADDRESS, _ADDRESS))
    def call(page_at: int, stream: int, params_at: int, state_at: int) -> Any:
        m = carray(_pointer(page_at), (1,), _MOVE)[0]
        try:
            own(kind(m.page, m.from_, m.age, m.now), stream, state(state_at), params(params_at))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)
        return np.uint32(0)

    return call


def _trimmed(own: Any, params: Any, state: Any) -> Any:
    @cfunc(types.uint32(types.uint32, types.uint64, _ADDRESS, _ADDRESS))
    def call(page: int, now: int, params_at: int, state_at: int) -> Any:
        try:
            own(page, now, state(state_at), params(params_at))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)
        return np.uint32(0)

    return call


def _reclaimed(own: Any, params: Any, state: Any) -> Any:
    kind = views.Reclaimed

    @cfunc(_THREE)
    def call(block_at: int, params_at: int, state_at: int) -> Any:
        r = carray(_pointer(block_at), (1,), _RECLAIMED)[0]
        try:
            own(kind(r.stream, r.opened_at, r.now), state(state_at), params(params_at))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.uint32(FAILED)
        return np.uint32(0)

    return call


def _of_wear(declared: Declared) -> dict[str, Any]:
    """Compile the functions of a wear-leveler that see the blocks of a domain."""
    params, state = _params_maker(declared), _state_maker(declared)
    kind = views.Wear

    @njit
    def seen(at: int) -> Any:
        w = carray(_pointer(at), (1,), _WEAR)[0]
        n = w.drive_blocks
        return kind(
            w.now,
            w.domain,
            w.first_block,
            w.blocks,
            w.pages_per_block,
            w.logical_pages,
            w.least_erased,
            w.most_worn_free,
            w.may_pass != 0,
            w.random,
            w.mean_erases,
            carray(_pointer(w.valid), (n,), _VALID).valid,
            carray(_pointer(w.erases), (n,), np.uint32),
            carray(_pointer(w.closed_at), (n,), np.uint64),
            carray(_pointer(w.closed), (w.closed_len,), np.uint32),
        )

    def with_block(own: Any) -> Any:
        @cfunc(types.uint32(_ADDRESS, types.uint32, _ADDRESS, _ADDRESS))
        def call(wear_at: int, block: int, params_at: int, state_at: int) -> Any:
            try:
                return np.uint32(own(seen(wear_at), block, state(state_at), params(params_at)))
            except Exception:  # noqa: BLE001 - the engine reports it
                return np.uint32(FAILED)

        return call

    def alone(own: Any) -> Any:
        @cfunc(_THREE)
        def call(wear_at: int, params_at: int, state_at: int) -> Any:
            try:
                return np.uint32(own(seen(wear_at), state(state_at), params(params_at)))
            except Exception:  # noqa: BLE001 - the engine reports it
                return np.uint32(FAILED)

        return call

    makers = {"review": with_block, "urgent": with_block, "job": alone}
    own = {name: _checked(function) for name, function in declared.functions.items() if name in makers}
    return {name: makers[name](function) for name, function in own.items()}


def _leveler(declared: Declared) -> dict[str, Any]:
    params, state = _params_maker(declared), _state_maker(declared)

    def noted(own: Any) -> Any:
        @cfunc(types.uint32(types.uint32, types.uint32, _ADDRESS, _ADDRESS))
        def call(first: int, second: int, params_at: int, state_at: int) -> Any:
            try:
                own(first, second, state(state_at), params(params_at))
            except Exception:  # noqa: BLE001 - the engine reports it
                return np.uint32(FAILED)
            return np.uint32(0)

        return call

    own = {name: function for name, function in declared.functions.items() if name in _NOTED}
    return _of_wear(declared) | {name: noted(_checked(function)) for name, function in own.items()}


_NOTED = ("erased", "closed", "emptying", "read")


def _throttle(declared: Declared) -> dict[str, Any]:
    params, state = _params_maker(declared), _state_maker(declared)
    own, kind = _checked(declared.functions["delay"]), views.Epoch

    @cfunc(types.float64(_ADDRESS, _ADDRESS, _ADDRESS))
    def call(epoch_at: int, params_at: int, state_at: int) -> Any:
        e = carray(_pointer(epoch_at), (1,), _EPOCH)[0]
        epoch = kind(
            e.number,
            e.start_s,
            e.length_s,
            e.target_s,
            e.left_bytes,
            e.capacity_bytes,
            e.spare_bytes,
            e.demand_bytes,
            e.page_write_bytes,
            e.last_bytes,
            e.last_capacity_bytes,
            e.last_length_s,
            e.last_waited_s,
            e.last_delay_s,
        )
        try:
            return np.float64(own(epoch, state(state_at), params(params_at)))
        except Exception:  # noqa: BLE001 - the engine reports it
            return np.nan

    return {"delay": call}


_MAKERS = {"ftl.collect": _victim, "ftl.separate": _separator, "ftl.level": _leveler, "lifetime.throttle": _throttle}
"""What compiles the functions of a policy, by its slot."""
