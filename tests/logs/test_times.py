"""Times are times: dates, or numbers."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hierbandits.logs.times import TimeReader, from_iso, matching_formats


def _times(cells, time_format=None, decimal=".", **kind):
    series = pl.Series("when", cells, **kind)
    return TimeReader(time_format, decimal).times(series, range(10, 10 + len(series)))


@given(
    st.lists(
        st.tuples(
            st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
            st.integers(-14 * 60, 14 * 60),
            st.sampled_from("T "),
        ),
        min_size=1,
    )
)
@settings(max_examples=30, deadline=None)
def test_iso_dates_are_read_as_python_reads_them(moments):
    aware = [when.replace(tzinfo=timezone(timedelta(minutes=zone))) for when, zone, _ in moments]
    cells = [when.isoformat(sep) for when, (_, _, sep) in zip(aware, moments, strict=True)]
    expected = [np.datetime64(when.astimezone(UTC).replace(tzinfo=None), "us") for when in aware]
    assert _times(cells).tolist() == np.array(expected).tolist()
    bare = [when.isoformat(sep) for when, _, sep in moments]
    expected = [np.datetime64(when, "us") for when, _, _ in moments]
    assert _times(bare).tolist() == np.array(expected).tolist()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-03-14", "2024-03-14T00:00"),
        ("2024-03-14T09:30", "2024-03-14T09:30"),
        ("2024-03-14 09:30:15.25", "2024-03-14T09:30:15.250000"),
        ("2024-03-14T09:30:15,123456789Z", "2024-03-14T09:30:15.123456"),
        ("2024-03-14T23:30+02", "2024-03-14T21:30"),
        ("2024-03-14T23:30-0130", "2024-03-15T01:00"),
        ("2024-03-14 23:30 UTC", "2024-03-14T23:30"),
    ],
)
def test_forms_of_iso_dates(text, moment):
    assert _times([text]) == np.array([np.datetime64(moment, "us")])


@pytest.mark.parametrize(
    "text",
    [
        *("03/14/2024", "2024-02-30", "2024-3-4", "14.03.2024"),
        *("today", "2024-03-14T25:00", "2024-03-14Z"),
    ],
)
def test_text_that_is_no_date_is_refused(text):
    with pytest.raises(ValueError, match=f"ISO date .* got '{text}' in column 'when' at row 11$"):
        _times(["2024-03-14", text])


def test_the_error_says_what_reads_such_dates():
    with pytest.raises(ValueError, match=r"\(time_format='%m/%d/%Y' reads others\), got '12/31"):
        _times(["12/31/2024", "01/02/2025"])


def test_other_forms_are_read_where_they_are_given():
    read = _times(["12/31/2024", "01/02/2025"], "%m/%d/%Y")
    assert read.astype("M8[D]").astype(str).tolist() == ["2024-12-31", "2025-01-02"]
    with pytest.raises(ValueError, match=r"of the form '%m/%d/%Y', got '31/12/2024' .* row 11$"):
        _times(["12/31/2024", "31/12/2024"], "%m/%d/%Y")
    assert _times([20241231], "%Y%m%d").astype("M8[D]").astype(str).tolist() == ["2024-12-31"]
    zoned = _times(["14.03.2024 10:00 +0200"], "%d.%m.%Y %H:%M %z")
    assert zoned.astype(str).tolist() == ["2024-03-14T08:00:00.000000"]
    days = pl.Series("when", [datetime(2024, 1, 1)])  # dates need no form
    assert TimeReader("%Y", ".").times(days, range(1)).dtype.kind == "M"


def test_numbers_are_numbers_and_nine_is_before_ten():
    assert _times(["9", "10", "1e2"]).tolist() == [9.0, 10.0, 100.0]
    assert _times(["9,5", "10"], decimal=",").tolist() == [9.5, 10.0]
    assert _times([1710403200, 1710403201]).dtype.kind == "i"
    assert _times([0.5, 1.5]).tolist() == [0.5, 1.5]
    with pytest.raises(ValueError, match=r"be a number, as those before it, got '2024-03-14'"):
        _times(["9", "2024-03-14"])
    with pytest.raises(ValueError, match=r"time must be finite .* got inf in column 'when'"):
        _times([0.5, np.inf])


def test_zones_are_in_all_cells_or_in_none():
    with pytest.raises(ValueError, match=r"have a time zone, as those before it, .* at row 11$"):
        _times(["2024-03-14T10:00Z", "2024-03-14T10:00"])
    with pytest.raises(ValueError, match=r"have no time zone, as those before it, .* at row 11$"):
        _times(["2024-03-14T10:00", "2024-03-14T10:00Z"])
    reader = TimeReader(None, ".")
    reader.times(pl.Series(["2024-03-14T10:00Z"]), range(1))
    with pytest.raises(ValueError, match=r"have a time zone, as those before it"):
        reader.times(pl.Series(["2024-03-14"]), range(1))


def test_dates_of_a_frame_are_dates():
    zone = timezone(timedelta(hours=2))
    series = pl.Series("when", [datetime(2024, 3, 14, 10, tzinfo=zone)])
    assert TimeReader(None, ".").times(series, range(1)).astype(str).tolist() == [
        "2024-03-14T08:00:00.000000"
    ]
    assert _times([timedelta(days=2)]).dtype.kind == "m"
    assert _times(["2024-03-14"], dtype=pl.Categorical).dtype.kind == "M"
    for cells in ([True], [[1]], [datetime(2024, 1, 1).time()]):
        with pytest.raises(ValueError, match="time must be a number or a date, got"):
            _times(cells)


def test_formats_are_suggested_where_all_cells_have_them():
    assert matching_formats(pl.Series(["12/31/2024", "01/02/2025"])) == ["%m/%d/%Y"]
    assert matching_formats(pl.Series(["01/02/2025"])) == ["%m/%d/%Y", "%d/%m/%Y"]
    assert matching_formats(pl.Series(["31.12.2024 14:30", None])) == ["%d.%m.%Y %H:%M"]
    assert matching_formats(pl.Series(["soon"])) == []
    assert matching_formats(pl.Series([None], dtype=pl.String)) == []


def test_half_of_2024_is_not_later_than_2025():
    """As text, 12/31/2024 is after 01/02/2025."""
    early, late = _times(["12/31/2024", "01/02/2025"], "%m/%d/%Y")
    assert early < late
    moments, zoned = from_iso(pl.Series(["2024-03-14", "x", None]))
    assert (moments.is_null().to_list(), zoned.to_list()) == (
        [False, True, True],
        [False, False, False],
    )
