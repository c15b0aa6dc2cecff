"""The encoder of a log, as the page of a report shows it."""

from hierbandits import Encoder
from hierbandits.learning.context_section import context_section
from hierbandits.logs.context_column import CategoryColumn, NumberColumn


def test_columns_are_told_in_words():
    many = tuple(f"v{i}" for i in range(10))
    columns = (
        NumberColumn("age", 40.25, 8.0),
        CategoryColumn("city", ("Köln", "北京"), (0.75, 0.25)),
        CategoryColumn("shop", many, (0.1,) * 10),
    )
    section = context_section(Encoder("promo", ("a", "b"), columns))
    assert section.rows[0] == ("age", "numbers: mean 40.25, standard deviation 8", "1")
    assert section.rows[1] == ("city", "Köln 75 %, 北京 25 %", "1")
    assert section.rows[2][1].endswith("v7 10 % and 2 more")
    assert "“promo=a” is what the arm earns in the average context" in section.words[0]
    assert "“promo=a × age”" in section.words[0]
    assert "12 each" in section.words[0]
