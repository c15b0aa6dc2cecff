"""The cells of a column as times: dates, or numbers such as seconds since 1970."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hierbandits.logs.cells import RowNumbers, refuse, refuse_missing
from hierbandits.logs.numbers import as_numbers, is_number, parsed_numbers
from hierbandits.logs.polars_import import polars_module

if TYPE_CHECKING:
    import polars as pl

ISO = (
    r"^(\d{4}-\d{2}-\d{2})"
    r"(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?"
    r"(?: ?(Z|z|UTC|[+-]\d{2}(?::?\d{2})?))?)?$"
)
"""A date; perhaps its hours and minutes, seconds and their fraction; perhaps a time zone."""

FORMATS = (
    *("%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%b %d, %Y", "%d %B %Y"),
)
"""Forms of dates that are suggested; each is tried with times of the day too."""

CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S%.f", " %I:%M %p", " %I:%M:%S %p")


class TimeReader:
    """Turns a column's cells into times, batch by batch.

    Text is read by `time_format`, or as ISO dates, or as numbers if the first cell is one.  Dates
    with a time zone are put into UTC; a column has zones in all of its cells or in none.
    """

    def __init__(self, time_format: str | None, decimal: str) -> None:
        self._format, self._decimal = time_format, decimal
        self._is_numeric: bool | None = None  # None: not seen yet
        self._is_zoned: bool | None = None

    def times(self, series: "pl.Series", rows: RowNumbers) -> NDArray[Any]:
        """The times, (E,), of a kind that can be compared; text that is no time is refused."""
        refuse_missing("time", series, rows)
        moments, must = self.moments(series)
        if moments.null_count():
            refuse("time", series, rows, moments.is_null().arg_max() or 0, must)
        if moments.dtype.is_float():
            return as_numbers("time", moments.alias(series.name), rows)
        array: NDArray[Any] = moments.to_numpy()
        return array

    def moments(self, series: "pl.Series") -> "tuple[pl.Series, str]":
        """The times as numbers or dates, null where a cell is none; and what cells must be."""
        pl = polars_module()
        kind = series.dtype
        if self._format is not None and kind not in (pl.Date, pl.Datetime, pl.Duration):
            return with_format(series.cast(pl.String), self._format), (
                f"be a time of the form {self._format!r}"
            )
        if kind.is_numeric():
            return series, "be a number"
        if kind in (pl.Date, pl.Datetime, pl.Duration):
            return in_utc(series), "be a date"
        if kind not in (pl.String, pl.Categorical, pl.Enum):
            return pl.Series(series.name, [None] * series.len(), pl.Int64), "be a number or a date"
        return self._texts(series.cast(pl.String))

    def _texts(self, cells: "pl.Series") -> "tuple[pl.Series, str]":
        """Text is numbers if its first cell is one, and else ISO dates."""
        known = cells.drop_nulls()
        if self._is_numeric is None and known.len():
            self._is_numeric = is_number(known[0], self._decimal)
        if self._is_numeric:
            return parsed_numbers(cells, self._decimal), "be a number, as those before it"
        moments, zoned = from_iso(cells)
        read = zoned.filter(moments.is_not_null())
        if self._is_zoned is None and read.len():
            self._is_zoned = bool(read[0])
        wrong = moments.is_null() & cells.is_not_null()
        if wrong.any() or self._is_zoned is None:
            must = "be a number, or an ISO date such as 2024-03-14 or 2024-03-14T09:30"
            forms = matching_formats(cells.head(1000))
            return moments, must + (f" (time_format={forms[0]!r} reads others)" if forms else "")
        must = f"have {'a' if self._is_zoned else 'no'} time zone, as those before it"
        return moments.set(zoned != self._is_zoned, None), must


def from_iso(cells: "pl.Series") -> tuple["pl.Series", "pl.Series"]:
    """The moments that ISO dates name, in UTC; null for other text.  And which have a time zone."""
    pl = polars_module()
    parts = cells.str.extract_groups(ISO).struct.unnest()
    date, clock, second, fraction, zone = (pl.col(str(place)) for place in range(1, 6))
    text = date + "T" + clock.fill_null("00:00") + ":" + second.fill_null("00")
    micros = fraction.fill_null("0").str.pad_end(9, "0").str.slice(0, 6).cast(pl.Int64)
    digits = zone.str.replace(":", "", literal=True).str.slice(1)
    shift = zone.str.contains(r"^[+-]")
    minutes = (
        pl.when(shift)
        .then(
            pl.when(zone.str.starts_with("-")).then(-1).otherwise(1)
            * (
                digits.str.slice(0, 2).cast(pl.Int64, strict=False) * 60
                + digits.str.slice(2).cast(pl.Int64, strict=False).fill_null(0)
            )
        )
        .otherwise(0)
        .fill_null(0)
    )
    whole = text.str.to_datetime("%Y-%m-%dT%H:%M:%S", time_unit="us", strict=False)
    moment = whole + pl.duration(microseconds=micros) - pl.duration(minutes=minutes)
    table = parts.select(moment=moment, zoned=zone.is_not_null())
    return table["moment"], table["zoned"]


def with_format(cells: "pl.Series", form: str) -> "pl.Series":
    """The moments that text of this form names, in UTC; null for other text."""
    pl = polars_module()
    try:
        return in_utc(cells.str.to_datetime(form, time_unit="us", strict=False))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"time_format must be a form of dates, got {form!r}: {error}") from error


def in_utc(series: "pl.Series") -> "pl.Series":
    """Dates with a time zone as dates in UTC without one."""
    if getattr(series.dtype, "time_zone", None) is None:
        return series
    return series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def matching_formats(cells: "pl.Series") -> list[str]:
    """The usual forms that all of these cells have; more than one if the days do not tell."""
    known = cells.drop_nulls()
    if known.is_empty():
        return []
    forms = (date + clock for date in FORMATS for clock in CLOCKS if _has(known[0], date + clock))
    return [form for form in forms if with_format(known, form).null_count() == 0]


def _has(text: str, form: str) -> bool:
    """Whether a text is of this form; quick, before many cells are tried."""
    try:
        datetime.strptime(text, form.replace("%.f", ".%f"))
    except ValueError:
        return False
    return True
