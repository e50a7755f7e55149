"""The C header of the contract, made of the core's own source (``crates/plugin/src/contract.rs``)."""

from __future__ import annotations

import re
import textwrap

from floatgate import _core

_TYPES = {"u32": "uint32_t", "u64": "uint64_t", "f64": "double", "c_char": "char", "c_void": "void"}
_ITEM = re.compile(
    r"(?P<docs>(?:^ *///[^\n]*\n)*)(?:^ *#\[[^\n]*\n)*"
    r"^ *pub (?:const (?P<const>\w+): u32 = (?P<value>[^;]+);"
    r"|(?P<kind>struct|enum) (?P<name>\w+) \{\n(?P<body>.*?)^\}"
    r"|type (?P<type>\w+) =\s*unsafe extern \"C\" fn\((?P<arguments>[^)]*)\) -> (?P<result>[^;]+);"
    r"|mod (?P<module>\w+) \{\n(?P<inner>.*?)^\})",
    re.MULTILINE | re.DOTALL,
)
_FIELD = re.compile(
    r"(?P<docs>(?:^ *///[^\n]*\n)*)^ *(?:pub )?(?P<name>\w+)(?:: (?P<type>.+?)| = (?P<number>\d+)),$", re.M
)
_TOP = """\
/* The contract of floatgate's policies from outside, version {version}. Made by `floatgate policy header`.
 *
 * A shared library has one policy:
 *
 *     const floatgate_policy *floatgate_policy_v1(void);
 *
 * It lives as long as the process and never changes. Its functions may be called from any thread, for several drives at
 * a time; the state of a drive is passed to them. Functions that a slot does not have, or that a policy does not want,
 * are NULL. */
#ifndef FLOATGATE_POLICY_H
#define FLOATGATE_POLICY_H
#include <stdint.h>
"""
_END = """\
#ifdef __cplusplus
extern "C"
#endif
const floatgate_policy *floatgate_policy_v1(void);
#endif
"""


def header() -> str:
    """Return the header as text."""
    source = _core.policy_contract()
    version = re.search(r"VERSION: u32 = (\d+);", source)
    parts = [_item(match) for match in _ITEM.finditer(source)]
    return _TOP.format(version=version[1] if version else "") + "\n" + "\n".join(parts) + "\n" + _END


def _item(match: re.Match[str]) -> str:
    docs = _comment(match["docs"])
    if match["const"]:
        return f"{docs}#define FLOATGATE_{match['const']} {_value(match['value'])}\n"
    if match["module"]:
        prefix = f"FLOATGATE_{match['module'].upper()}_"
        inner = [
            f"{_comment(one['docs'])}#define {prefix}{one['const']} {_value(one['value'])}\n"
            for one in _ITEM.finditer(match["inner"])
        ]
        return docs + "".join(inner)
    if match["type"]:
        arguments = [_declaration(*one.split(": ")) for one in _split(match["arguments"])]
        result = _declaration("", match["result"]).strip()
        return f"{docs}typedef {result} (*{_name(match['type'])})({', '.join(arguments) or 'void'});\n"
    fields = [_field(match, field) for field in _FIELD.finditer(match["body"])]
    name = _name(match["name"])
    if match["kind"] == "enum":
        return f"{docs}enum {name} {{\n{''.join(fields)}}};\n"
    return f"{docs}typedef struct {name} {{\n{''.join(fields)}}} {name};\n"


def _field(item: re.Match[str], field: re.Match[str]) -> str:
    docs = _comment(field["docs"], "    ")
    if field["number"] is not None:
        return f"{docs}    {_name(item['name']).upper()}_{_snake(field['name']).upper()} = {field['number']},\n"
    return f"{docs}    {_declaration(field['name'], field['type'])};\n"


def _split(arguments: str) -> list[str]:
    return [" ".join(one.split()) for one in arguments.split(",") if one.strip()]


def _declaration(name: str, of: str) -> str:
    """Declare a name of a type of Rust in C."""
    if match := re.fullmatch(r"Option<(\w+)>", of):
        return f"{_name(match[1])} {name}"
    if match := re.fullmatch(r"\*(const|mut) \[(\w+); (\d+)\]", of):
        return f"{'const ' if match[1] == 'const' else ''}{_TYPES[match[2]]} (*{name})[{match[3]}]"
    if match := re.fullmatch(r"\[(\w+); (\d+)\]", of):
        return f"{_TYPES[match[1]]} {name}[{match[2]}]"
    if match := re.fullmatch(r"\*(const|mut) (\w+)", of):
        return f"{'const ' if match[1] == 'const' else ''}{_TYPES.get(match[2]) or _name(match[2])} *{name}"
    return f"{_TYPES[of]} {name}"


def _value(text: str) -> str:
    return f"({text.replace('u32::MAX', 'UINT32_MAX')})" if "MAX" in text else text


def _name(name: str) -> str:
    return f"floatgate_{_snake(name)}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _comment(docs: str, indent: str = "") -> str:
    text = " ".join(line.strip().removeprefix("///").strip() for line in docs.strip().splitlines())
    text = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", text).replace("`", "")
    if not text:
        return ""
    lines = textwrap.wrap(text, 112 - len(indent))
    return f"{indent}/* {f'{chr(10)}{indent} * '.join(lines)} */\n"
