"""One check, as plain data and as a sentence."""

import json

from hierbandits.learning.check import Check
from hierbandits.learning.sentence import Claim


def test_a_check_is_made_if_it_has_a_p_value_or_odds():
    assert Check(asks="?", words="Seen.", p_value=0.5).is_made
    assert Check(asks="?", words="Seen.", log_odds=-1.0).is_made
    assert not Check(asks="?", words="No column of times.").is_made


def test_only_trouble_is_a_sentence():
    calm = Check(asks="?", words="All is well.", p_value=0.5)
    assert calm.sentence is None
    groups = Check(asks="?", words="Two.", claim=Claim.TWO_GROUPS, log_odds=5.0, about=("a",))
    sentence = groups.sentence
    assert (sentence.claim, sentence.text, sentence.log_odds, sentence.about) == (
        Claim.TWO_GROUPS, "Two.", 5.0, ("a",)
    )  # fmt: skip
    assert json.loads(json.dumps(groups.to_dict())) == {
        "asks": "?", "trouble": "two_groups", "effect": None, "p_value": None, "log_odds": 5.0,
        "words": "Two.", "about": ["a"],
    }  # fmt: skip
