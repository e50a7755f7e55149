"""Tables of results as data people use them: Arrow tables, pandas and polars frames.

Pandas and polars are imported when a frame is made; floatgate does not install them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from floatgate.base.errors import RunError, input_error, quote, quoted
from floatgate.results.columns import types_of, written

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Part = Literal["series", "figures"]
"""Tables of a run: one row per interval, or one row with its settings and figures."""
PARTS: tuple[Part, ...] = ("series", "figures")


class Framed:
    """A result with one flat table, which :meth:`to_arrow` returns."""

    def to_arrow(self) -> pa.Table:
        """Return the flat table, with columns named by key (``ftl.spare_factor``, ``waf``) and null where unknown."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of :meth:`to_arrow` as a pandas DataFrame.

        Raises:
            RunError: pandas is not installed.
        """
        return pandas_frame(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the table of :meth:`to_arrow` as a polars DataFrame.

        Raises:
            RunError: polars is not installed.
        """
        return polars_frame(self.to_arrow())

    def arrow(self) -> pa.Table:
        """Return the table of :meth:`to_arrow`."""
        return self.to_arrow()

    def pandas(self) -> pd.DataFrame:
        """Return the table as a pandas DataFrame, as :meth:`to_pandas` does."""
        return self.to_pandas()

    def polars(self) -> pl.DataFrame:
        """Return the table as a polars DataFrame, as :meth:`to_polars` does."""
        return self.to_polars()


def must_be_part(part: str) -> None:
    """Refuse a name of no table of a run.

    Raises:
        InputError: with the names that there are.
    """
    if part not in PARTS:
        raise input_error(f"part: is {quote(part)}; expected one of {quoted(list(PARTS))}")


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return flat rows as an Arrow table, typed by their values; what a row does not have is null."""
    import pyarrow as pa

    return written(rows, pa.schema(types_of(rows)))


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table as a pandas DataFrame.

    Raises:
        RunError: pandas is not installed.
    """
    _package("pandas")
    return table.to_pandas()


def polars_frame(table: pa.Table) -> pl.DataFrame:
    """Return a table as a polars DataFrame.

    Raises:
        RunError: polars is not installed.
    """
    frame: pl.DataFrame = _package("polars").from_arrow(table)
    return frame


def _package(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise RunError(
            f"{name} is not installed; expected the extra 'frames': pip install 'floatgate[frames]', or to_arrow()"
        ) from None
