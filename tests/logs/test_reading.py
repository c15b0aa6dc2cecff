"""How cells are read: checked once, and spelt as options."""

import pytest

import hierbandits as hb


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strip": 1}, "strip must be True or False, got 1"),
        ({"drop_missing": "yes"}, "drop_missing must be True or False, got 'yes'"),
        ({"drop_repeated": None}, "drop_repeated must be True or False, got None"),
        ({"missing": "NA"}, "missing must be a sequence of strings, got 'NA'"),
        ({"missing": [0]}, r"missing must be a sequence of strings, got \[0\]"),
        ({"time_format": "iso"}, "time_format must be a form such as '%m/%d/%Y', got 'iso'"),
        ({"time_format": 3}, "time_format must be a form .* got 3"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"separator": ";;"}, "separator must be one ASCII character, got ';;'"),
        ({"separator": "§"}, "separator must be one ASCII character, got '§'"),
        ({"separator": '"'}, "separator must not be a quote or the end of a line"),
    ],
)
def test_what_cannot_be_a_reading_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        hb.Reading(**given)


def test_what_differs_from_the_defaults_is_told_and_spelt_as_options():
    assert hb.Reading().to_dict() == {}
    assert hb.Reading().options() == []
    reading = hb.Reading(
        strip=True, missing=["NA", "no data"], drop_missing=True, drop_repeated=True,
        time_format="%d.%m.%Y", separator="\t", decimal=",",
    )  # fmt: skip
    assert hb.Reading(**reading.to_dict()) == reading
    assert reading.options() == [
        "--strip", "--missing=NA", "--missing='no data'", "--drop-missing",
        "--time-format=%d.%m.%Y", "--separator='\t'", "--decimal=,",
    ]  # fmt: skip


@pytest.mark.parametrize(("thousands", "decimal"), [("x", "."), (",", ","), (1, "."), ("", ".")])
def test_the_mark_between_thousands_is_checked(thousands, decimal):
    with pytest.raises(ValueError, match="thousands must be one of"):
        hb.Reading(thousands=thousands, decimal=decimal)
