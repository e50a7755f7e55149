"""Functions of a policy that the interpreter runs, as functions of C.

Each call takes the interpreter's lock and some microseconds. That is nothing for a victim policy, which is called once
per collected block; a separator, called for every page, is much slower than a compiled one.
"""

from __future__ import annotations

import ctypes as c
import math
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from floatgate.plugins import contract, views
from floatgate.plugins.declare import Declared

_Calls = dict[str, Callable[..., Any]]
"""Functions by their names in the contract."""
_LINE = 64
"""Bytes of a cache line, to which each table of a state is aligned."""


class _Why(threading.local):
    """Why the last call of a thread failed."""

    text: c.Array[c.c_char] | None = None


_why = _Why()


def _guarded(function: Callable[..., Any], failed: float = contract.FAILED) -> Callable[..., Any]:
    """Have a function return ``FAILED`` where it raises: an exception cannot pass through the engine."""

    def call(*arguments: int) -> Any:
        try:
            answer = function(*arguments)
        except BaseException as error:  # noqa: BLE001 - reported by the engine
            _why.text = c.create_string_buffer(_in_words(error).encode())
            return failed
        return 0 if answer is None else answer

    return call


def _in_words(error: BaseException) -> str:
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"


def _explain() -> int | None:
    return None if _why.text is None else c.addressof(_why.text)


def _table(at: int | None, dtype: Any, length: int) -> Any:
    """Return memory of the engine as a table; an empty one where it has none."""
    if not at or not length:
        return np.empty(0, dtype)
    return np.frombuffer((c.c_char * (length * np.dtype(dtype).itemsize)).from_address(at), dtype)


_VALID = np.dtype([("valid", "u4"), ("reserved", "u4")])
_NODE = np.dtype([("since", "u8"), ("reserved", "u4", 4)])


class _Tables:
    """The engine's tables of blocks, kept from call to call while they stay where they are."""

    def __init__(self) -> None:
        self._held: dict[tuple[int | None, ...], tuple[Any, ...]] = {}

    def of(self, b: contract.Blocks) -> tuple[Any, ...]:
        key = (b.valid, b.erases, b.closed_at, b.links, b.oldest, b.nodes, b.drive_blocks, b.pages_per_block)
        held = self._held.get(key)
        if held is None:
            if len(self._held) > 1024:  # drives come and go
                self._held.clear()
            blocks = b.drive_blocks
            held = self._held[key] = (
                _table(b.valid, _VALID, blocks)["valid"],
                _table(b.erases, "u4", blocks),
                _table(b.closed_at, "u8", blocks),
                _table(b.links, "u4", 2 * blocks).reshape(-1, 2)[:, 1],
                _table(b.oldest, "u4", b.pages_per_block + 1),
                _table(b.nodes, _NODE, blocks)["since"],
            )
        return held


def layout(declared: Declared, logical_pages: int, blocks: int) -> list[tuple[int, int]]:
    """Return where each table of a state lies: its offset in bytes, and its length. The state begins with this list."""
    at = _aligned(16 * len(declared.state))
    places = []
    for table in declared.state.values():
        length = table.length(logical_pages, blocks)
        places.append((at, length))
        at = _aligned(at + length * np.dtype(table.dtype).itemsize)
    return [*places, (at, 0)]


def _aligned(count: int) -> int:
    return math.ceil(count / _LINE) * _LINE


class _States:
    """States as tuples of tables, kept from call to call."""

    def __init__(self, declared: Declared) -> None:
        self._dtypes = [np.dtype(table.dtype) for table in declared.state.values()]
        self._kind = views.record("State", tuple(declared.state))
        self._head = 16 * len(self._dtypes)
        self._held: dict[tuple[int, bytes], Any] = {}

    def of(self, at: int) -> Any:
        if not self._dtypes:
            return ()
        # Another drive's state may lie where an earlier one's did.
        key = (at, c.string_at(at, self._head))
        held = self._held.get(key)
        if held is None:
            if len(self._held) > 1024:
                self._held.clear()
            head = np.frombuffer(key[1], "u8").reshape(-1, 2).tolist()
            tables = [_table(at + place, dtype, n) for (place, n), dtype in zip(head, self._dtypes, strict=True)]
            held = self._held[key] = self._kind(*tables)
        return held


class Interpreted:
    """The functions of a policy for the engine."""

    def __init__(self, declared: Declared) -> None:
        """Prepare the functions; :meth:`functions` makes them."""
        self._declared = declared
        self._states = _States(declared)
        self._tables = _Tables()
        self._params: dict[int, Any] = {}

    def functions(self) -> dict[str, Any]:
        """Return the functions by their names in the contract, as ctypes calls them."""
        own = _OF_SLOT[self._declared.slot](self)
        failed = {"delay": math.nan, "lead_max": math.nan}
        made = {
            name: contract.FUNCTIONS[name](_guarded(function, failed.get(name, contract.FAILED)))
            for name, function in own.items()
        }
        return made | {"explain": contract.FUNCTIONS["explain"](_explain)}

    def of_victim(self) -> _Calls:
        """Return the functions of a victim policy."""
        return {"pick": self._pick}

    def of_separator(self) -> _Calls:
        """Return the functions of a separator."""
        known: _Calls = {"moved": self._moved, "trimmed": self._trimmed, "reclaimed": self._reclaimed}
        own: _Calls = {"streams": self._streams, "write": self._write, "move_stream": self._move_stream}
        return {**self._of_state(), **own, **self._declared_of(known)}

    def of_leveler(self) -> _Calls:
        """Return the functions of a wear-leveler."""
        known: _Calls = {
            "review": self._review,
            "job": self._job,
            "urgent": self._urgent,
            "recounted": self._recounted,
            "lead_max": self._lead_max,
        }
        noted: _Calls = {name: self._noted(name) for name in ("erased", "closed", "emptying", "read")}
        return {**self._of_state(), **self._declared_of(known | noted)}

    def of_throttle(self) -> _Calls:
        """Return the functions of a throttle."""
        return {**self._of_state(), "delay": self._delay}

    def _of_state(self) -> _Calls:
        return {"state_bytes": self._state_bytes, "begin": self._begin, "check": self._check}

    def _declared_of(self, known: _Calls) -> _Calls:
        """Return those functions that the policy has."""
        return {name: call for name, call in known.items() if name in self._declared.functions}

    def _p(self, at: int | None) -> Any:
        """Return the values of the parameters; the engine keeps each set of them in one place for good."""
        held = self._params.get(at or 0)
        if held is None:
            kinds = [param.kind for param in self._declared.params.values()]
            numbers = _table(at, "f8", len(kinds)).tolist()
            convert = {"whole": int, "real": float, "flag": bool}
            values = [convert[kind](number) for kind, number in zip(kinds, numbers, strict=True)]
            held = views.record("Params", tuple(self._declared.params))(*values) if values else ()
            self._params[at or 0] = held
        return held

    def _pick(self, blocks_at: int, params_at: int | None) -> int:
        b = contract.Blocks.from_address(blocks_at)
        valid, erases, closed_at, after, oldest, since = self._tables.of(b)
        seen = views.Blocks(
            b.now,
            b.domain,
            b.first_block,
            b.blocks,
            b.pages_per_block,
            b.first,
            b.random,
            valid,
            erases,
            closed_at,
            after,
            oldest,
            since,
            _table(b.any, "u4", b.any_len),
        )
        answer = self._declared.functions["pick"](seen, self._p(params_at))
        return contract.NONE if answer is None else int(answer)

    def _shape(self, at: int) -> Any:
        shape = contract.Shape.from_address(at)
        return views.Shape(*(getattr(shape, field) for field in views.Shape._fields))

    def _state_bytes(self, shape_at: int, params_at: int | None) -> int:  # noqa: ARG002 - the contract's
        shape = self._shape(shape_at)
        return layout(self._declared, shape.logical_pages, shape.blocks)[-1][0]

    def _begin(self, shape_at: int, params_at: int | None, state_at: int | None) -> None:
        shape = self._shape(shape_at)
        places = layout(self._declared, shape.logical_pages, shape.blocks)[:-1]
        if places and state_at:
            c.memmove(state_at, np.array(places, "u8").tobytes(), 16 * len(places))
        begin = self._declared.functions.get("begin")
        if begin is not None:
            begin(shape, self._states.of(state_at or 0), self._p(params_at))

    def _check(self, shape_at: int, params_at: int | None, state_at: int | None) -> int:  # noqa: ARG002 - the contract's
        """Compare where the tables of a state from a file lie with where they would on this drive."""
        shape = self._shape(shape_at)
        places = layout(self._declared, shape.logical_pages, shape.blocks)[:-1]
        expected = np.array(places, "u8").tobytes()
        return 0 if not places or c.string_at(state_at or 0, len(expected)) == expected else contract.FAILED

    def _streams(self, params_at: int | None) -> int:
        if self._declared.streams is not None:
            return self._declared.streams
        return int(self._declared.functions["streams"](self._p(params_at)))

    def _write(self, page_at: int, params_at: int | None, state_at: int | None) -> int:
        w = contract.Write.from_address(page_at)
        page = views.Page(w.page, bool(w.update), w.context, w.handle, w.request_pages, w.age, w.now)
        return int(self._declared.functions["write"](page, self._states.of(state_at or 0), self._p(params_at)))

    def _moving(self, page_at: int) -> Any:
        m = contract.Move.from_address(page_at)
        return views.Moving(m.page, m.from_, m.age, m.now)

    def _move_stream(self, page_at: int, params_at: int | None, state_at: int | None) -> int:
        move = self._declared.functions["move"]
        return int(move(self._moving(page_at), self._states.of(state_at or 0), self._p(params_at)))

    def _moved(self, page_at: int, stream: int, params_at: int | None, state_at: int | None) -> None:
        moved = self._declared.functions["moved"]
        moved(self._moving(page_at), stream, self._states.of(state_at or 0), self._p(params_at))

    def _trimmed(self, page: int, now: int, params_at: int | None, state_at: int | None) -> None:
        self._declared.functions["trimmed"](page, now, self._states.of(state_at or 0), self._p(params_at))

    def _reclaimed(self, block_at: int, params_at: int | None, state_at: int | None) -> None:
        r = contract.Reclaimed.from_address(block_at)
        block = views.Reclaimed(r.stream, r.opened_at, r.now)
        self._declared.functions["reclaimed"](block, self._states.of(state_at or 0), self._p(params_at))

    def _wear(self, at: int) -> Any:
        w = contract.Wear.from_address(at)
        n = w.drive_blocks
        return views.Wear(
            w.now,
            w.domain,
            w.first_block,
            w.blocks,
            w.pages_per_block,
            w.logical_pages,
            w.least_erased,
            w.most_worn_free,
            bool(w.may_pass),
            w.random,
            w.mean_erases,
            _table(w.valid, _VALID, n)["valid"],
            _table(w.erases, "u4", n),
            _table(w.closed_at, "u8", n),
            _table(w.closed, "u4", w.closed_len),
        )

    def _review(self, wear_at: int, victim: int, params_at: int | None, state_at: int | None) -> int:
        review = self._declared.functions["review"]
        answer = review(self._wear(wear_at), victim, self._states.of(state_at or 0), self._p(params_at))
        return contract.COLLECT if answer is None else int(answer)

    def _job(self, wear_at: int, params_at: int | None, state_at: int | None) -> int:
        job = self._declared.functions["job"]
        answer = job(self._wear(wear_at), self._states.of(state_at or 0), self._p(params_at))
        return contract.NONE if answer is None else int(answer)

    def _urgent(self, wear_at: int, block: int, params_at: int | None, state_at: int | None) -> int:
        urgent = self._declared.functions["urgent"]
        return int(bool(urgent(self._wear(wear_at), block, self._states.of(state_at or 0), self._p(params_at))))

    def _noted(self, name: str) -> Callable[..., None]:
        """Return the call that notes something of a block: two numbers, the state and the parameters."""

        def note(first: int, second: int, params_at: int | None, state_at: int | None) -> None:
            self._declared.functions[name](first, second, self._states.of(state_at or 0), self._p(params_at))

        return note

    def _recounted(self, erases_at: int, blocks: int, params_at: int | None, state_at: int | None) -> None:
        erases = _table(erases_at, "u4", blocks)
        self._declared.functions["recounted"](erases, self._states.of(state_at or 0), self._p(params_at))

    def _lead_max(self, params_at: int | None) -> float:
        return float(self._declared.functions["lead_max"](self._p(params_at)))

    def _delay(self, epoch_at: int, params_at: int | None, state_at: int | None) -> float:
        e = contract.Epoch.from_address(epoch_at)
        epoch = views.Epoch(*(getattr(e, field) for field in views.Epoch._fields))
        return float(self._declared.functions["delay"](epoch, self._states.of(state_at or 0), self._p(params_at)))


_OF_SLOT: dict[str, Callable[[Interpreted], _Calls]] = {
    "ftl.collect": Interpreted.of_victim,
    "ftl.separate": Interpreted.of_separator,
    "ftl.level": Interpreted.of_leveler,
    "lifetime.throttle": Interpreted.of_throttle,
}
"""The functions of a policy by its slot."""
