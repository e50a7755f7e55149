"""The contract of policies from outside as ``crates/plugin/src/contract.rs`` declares it, for ctypes and NumPy."""

from __future__ import annotations

import ctypes as c
from typing import Any

VERSION = 1
NONE = 0xFFFFFFFF
FAILED = 0xFFFFFFFE
COLLECT = 0xFFFFFFFF
PASS_OVER = 0xFFFFFFFD
KINDS = {"whole": 0, "real": 1, "flag": 2}
ORDERS = {"any": 0, "closing": 1, "valid": 2, "valid-and-age": 3, "valid-and-idle-age": 4}
NEEDS = {"contexts": 1, "handles": 2, "ages": 4, "recovery": 8, "borrowing": 16, "streams": 32}


class Shape(c.Structure):
    """The shape of a drive."""

    _fields_ = [
        ("size", c.c_uint32),
        ("logical_pages", c.c_uint32),
        ("pages_per_block", c.c_uint32),
        ("blocks", c.c_uint32),
        ("domains", c.c_uint32),
        ("page_bytes", c.c_uint32),
        ("seed", c.c_uint64),
    ]


class Param(c.Structure):
    """A parameter."""

    _fields_ = [
        ("name", c.c_char_p),
        ("summary", c.c_char_p),
        ("kind", c.c_uint32),
        ("reserved", c.c_uint32),
        ("value", c.c_double),
        ("least", c.c_double),
        ("most", c.c_double),
    ]


class Blocks(c.Structure):
    """The closed blocks of a domain."""

    _fields_ = [
        ("size", c.c_uint32),
        ("domain", c.c_uint32),
        ("first_block", c.c_uint32),
        ("blocks", c.c_uint32),
        ("pages_per_block", c.c_uint32),
        ("first", c.c_uint32),
        ("any_len", c.c_uint32),
        ("drive_blocks", c.c_uint32),
        ("now", c.c_uint64),
        ("random", c.c_uint64),
        ("valid", c.c_void_p),
        ("erases", c.c_void_p),
        ("closed_at", c.c_void_p),
        ("links", c.c_void_p),
        ("oldest", c.c_void_p),
        ("nodes", c.c_void_p),
        ("any", c.c_void_p),
    ]


class Write(c.Structure):
    """A page that the host writes."""

    _fields_ = [
        ("size", c.c_uint32),
        ("page", c.c_uint32),
        ("update", c.c_uint32),
        ("context", c.c_uint32),
        ("handle", c.c_uint32),
        ("request_pages", c.c_uint32),
        ("age", c.c_uint32),
        ("reserved", c.c_uint32),
        ("now", c.c_uint64),
    ]


class Move(c.Structure):
    """A live page that leaves a block which is being emptied."""

    _fields_ = [
        ("size", c.c_uint32),
        ("page", c.c_uint32),
        ("from_", c.c_uint32),
        ("age", c.c_uint32),
        ("now", c.c_uint64),
    ]


class Reclaimed(c.Structure):
    """A block without live pages that is about to be erased."""

    _fields_ = [("size", c.c_uint32), ("stream", c.c_uint32), ("opened_at", c.c_uint64), ("now", c.c_uint64)]


class Wear(c.Structure):
    """The blocks of a domain, for wear-levelers."""

    _fields_ = [
        ("size", c.c_uint32),
        ("domain", c.c_uint32),
        ("first_block", c.c_uint32),
        ("blocks", c.c_uint32),
        ("pages_per_block", c.c_uint32),
        ("drive_blocks", c.c_uint32),
        ("logical_pages", c.c_uint32),
        ("least_erased", c.c_uint32),
        ("most_worn_free", c.c_uint32),
        ("may_pass", c.c_uint32),
        ("closed_len", c.c_uint32),
        ("reserved", c.c_uint32),
        ("now", c.c_uint64),
        ("random", c.c_uint64),
        ("mean_erases", c.c_double),
        ("valid", c.c_void_p),
        ("erases", c.c_void_p),
        ("closed_at", c.c_void_p),
        ("closed", c.c_void_p),
    ]


class Epoch(c.Structure):
    """An epoch of a throttle that is about to begin."""

    _fields_ = [
        ("size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("number", c.c_uint64),
        ("start_s", c.c_double),
        ("length_s", c.c_double),
        ("target_s", c.c_double),
        ("left_bytes", c.c_double),
        ("capacity_bytes", c.c_double),
        ("spare_bytes", c.c_double),
        ("demand_bytes", c.c_double),
        ("page_write_bytes", c.c_double),
        ("last_bytes", c.c_double),
        ("last_capacity_bytes", c.c_double),
        ("last_length_s", c.c_double),
        ("last_waited_s", c.c_double),
        ("last_delay_s", c.c_double),
    ]


_U32, _U64, _AT = c.c_uint32, c.c_uint64, c.c_void_p
FUNCTIONS: dict[str, Any] = {
    "state_bytes": c.CFUNCTYPE(_U64, _AT, _AT),
    "begin": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "check": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "streams": c.CFUNCTYPE(_U32, _AT),
    "pick": c.CFUNCTYPE(_U32, _AT, _AT),
    "write": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "move_stream": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "moved": c.CFUNCTYPE(_U32, _AT, _U32, _AT, _AT),
    "trimmed": c.CFUNCTYPE(_U32, _U32, _U64, _AT, _AT),
    "reclaimed": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "review": c.CFUNCTYPE(_U32, _AT, _U32, _AT, _AT),
    "job": c.CFUNCTYPE(_U32, _AT, _AT, _AT),
    "urgent": c.CFUNCTYPE(_U32, _AT, _U32, _AT, _AT),
    "erased": c.CFUNCTYPE(_U32, _U32, _U32, _AT, _AT),
    "closed": c.CFUNCTYPE(_U32, _U32, _U32, _AT, _AT),
    "emptying": c.CFUNCTYPE(_U32, _U32, _U32, _AT, _AT),
    "read": c.CFUNCTYPE(_U32, _U32, _U32, _AT, _AT),
    "recounted": c.CFUNCTYPE(_U32, _AT, _U32, _AT, _AT),
    "lead_max": c.CFUNCTYPE(c.c_double, _AT),
    "delay": c.CFUNCTYPE(c.c_double, _AT, _AT, _AT),
    "explain": c.CFUNCTYPE(_AT),
}
"""The functions of a policy, in the order of the contract."""


class Policy(c.Structure):
    """A policy."""

    _fields_ = [
        ("version", c.c_uint32),
        ("size", c.c_uint32),
        ("slot", c.c_char_p),
        ("name", c.c_char_p),
        ("summary", c.c_char_p),
        ("source", c.c_char_p),
        ("params", c.POINTER(Param)),
        ("params_len", c.c_uint32),
        ("order", c.c_uint32),
        ("needs", c.c_uint32),
        ("reserved", c.c_uint32),
        *((name, c.c_void_p) for name in FUNCTIONS),
    ]


def fields(kind: type[c.Structure]) -> list[tuple[str, Any]]:
    """Return the names and types of the fields of a struct."""
    return [(field[0], field[1]) for field in kind._fields_]
