"""The style of pages: whole, and for every reader."""

import re

from hierbandits.reporting.page_style import STYLE


def _block(opening):
    """What stands between the braces after some words."""
    start = STYLE.index(opening) + len(opening)
    depth = 1
    for place in range(start, len(STYLE)):
        depth += {"{": 1, "}": -1}.get(STYLE[place], 0)
        if depth == 0:
            return STYLE[start:place]
    raise AssertionError(f"{opening} has no end")


def test_the_style_is_whole_and_fetches_nothing():
    assert STYLE.count("{") == STYLE.count("}")
    assert not re.search(r"url\(|@import|http|<", STYLE)


def test_every_colour_is_set_in_the_light_in_the_dark_and_on_paper():
    used = set(re.findall(r"var\((--(?!inches)\w+)\)", STYLE))
    for opening in (":root { color-scheme: light dark;", "(prefers-color-scheme: dark) {",
                    "@media print {"):  # fmt: skip
        assert used <= set(re.findall(r"(--\w+):", _block(opening)))


def test_paper_has_no_search_and_whole_tables_and_phones_have_wide_figures():
    paper, phone = _block("@media print {"), _block("@media (max-width: 40rem) {")
    assert ".lookup, details { display: none; }" in paper
    assert ".scroll { overflow: visible; }" in paper
    assert "var(--inches)" in phone
    assert "tr { break-inside: avoid; }" in STYLE
    assert "thead { display: table-header-group; }" in STYLE
    assert ".scroll { overflow-x: auto;" in STYLE
