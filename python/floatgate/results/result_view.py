"""Results read like objects: ``result.flash.programs.total`` is ``result["flash"]["programs"]["total"]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class Record(Mapping[str, Any]):
    """A JSON object with its keys as attributes too. Read only; :meth:`to_dict` gives the plain dict."""

    def __init__(self, values: Mapping[str, object]) -> None:
        """Wrap a JSON object; nested objects are wrapped when they are read.

        Args:
            values: the object.
        """
        self._values = values

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._values[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            # Copying and unpickling ask for such names before there are any values.
            raise AttributeError(key)
        if key not in self._values:
            raise AttributeError(f"no {key!r} in this result; there are {', '.join(self._values)}")
        return _wrapped(self._values[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"Record({dict(self._values)!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the plain dict underneath."""
        return dict(self._values)


def _wrapped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


def look(values: Mapping[str, Any] | None, *keys: str) -> Any:
    """Follow ``keys`` into nested objects; None where one is missing or null."""
    value: Any = values
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value.to_dict() if isinstance(value, Record) else value
