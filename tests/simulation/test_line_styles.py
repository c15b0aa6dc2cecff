"""Line styles: every named policy has one, and no two look the same."""

from hierbandits import POLICIES
from hierbandits.simulation.line_styles import (
    OWN_COLOURS,
    OWN_DASHES,
    STYLES,
    line_style,
    line_styles,
)


def test_every_policy_has_a_style_that_no_other_has():
    assert set(POLICIES) <= set(STYLES)
    assert len({colour for colour, _ in STYLES.values()}) == len(STYLES)
    assert not {colour for colour, _ in STYLES.values()} & set(OWN_COLOURS)
    for name, style in STYLES.items():
        assert line_style(name) == style


def test_a_policy_of_ones_own_looks_the_same_in_every_figure():
    own = line_style("my own policy")
    assert own not in STYLES.values()
    assert line_styles(["TS", "my own policy"]) == {"TS": STYLES["TS"], "my own policy": own}
    assert line_styles(["my own policy", "HierTS"])["my own policy"] == own


def test_the_styles_of_a_figure_are_different():
    names = [f"policy {i}" for i in range(30)]
    assert len({line_style(name) for name in names}) < 30  # alone, some would look the same
    assert len(set(line_styles(names).values())) == 30
    most = len(OWN_COLOURS) * len(OWN_DASHES)
    assert len(line_styles([f"policy {i}" for i in range(most + 5)])) == most + 5
