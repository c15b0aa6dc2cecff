"""Checks as the page has them."""

from hierbandits.learning.check import Check
from hierbandits.learning.checks_section import checks_section, on_checks, unseen_section
from hierbandits.learning.sentence import Claim

CHECKS = (
    Check(asks="Drift?", words="It drifts.", claim=Claim.DRIFT, effect=0.5, p_value=1e-5),
    Check(asks="Groups?", words="No groups.", log_odds=-2.0, effect=0.1),
    Check(asks="Tails?", words="Too few."),
    Check(asks="Together?", words="They are.", claim=Claim.CORRELATED, log_odds=12.0),
)


def test_only_what_is_worth_a_line_is_said():
    assert [sentence.claim for sentence in on_checks(CHECKS)] == [Claim.DRIFT]
    section = checks_section(CHECKS)
    assert [row[1] for row in section.rows] == ["yes", "not seen", "not checked", "yes"]
    assert [row[2] for row in section.rows] == [
        "p = 1e-05",
        "7.39 to 1 against",
        "",
        "e^12 to 1 for",
    ]
    assert list(section.words[:3]) == ["It drifts.", "They are.", "Tails? Too few."]
    assert checks_section(CHECKS).words[-1].startswith("Each is asked")
    assert CHECKS[2].to_dict()["p_value"] is None
    assert CHECKS[0].to_dict()["trouble"] == "drift"


def test_what_it_cannot_see_begins_with_confounding():
    plain = unseen_section(has_time=True, has_propensities=False, is_armed=True)
    assert plain.heading == "What it cannot see"
    assert plain.rows[0][0] == "Confounding"
    more = unseen_section(has_time=False, has_propensities=True, is_armed=False)
    assert len(more.rows) == len(plain.rows) + 1
    assert "drift was not looked for" in str(more.rows)
    assert "drift" not in str(plain.rows)
    assert "propensities help" in str(more.rows[0])
