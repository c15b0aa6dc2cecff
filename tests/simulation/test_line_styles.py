"""Line styles: every named policy has one, and no two look the same."""

from hierbandits import POLICIES
from hierbandits.simulation.line_styles import STYLES, line_style


def test_every_policy_has_a_style_that_no_other_has():
    assert set(POLICIES) <= set(STYLES)
    assert len({colour for colour, _ in STYLES.values()}) == len(STYLES)
    for name, style in STYLES.items():
        assert line_style(name) == style


def test_other_names_take_the_next_colour_and_a_plain_line():
    assert line_style("my own policy") == (None, "-")
