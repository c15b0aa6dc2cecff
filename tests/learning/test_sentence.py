"""Sentences: how odds become words."""

import json

import numpy as np
import pytest

from hierbandits.learning.sentence import Claim, Sentence, certainty, in_odds, listed, number, texts


@pytest.mark.parametrize(
    ("odds", "word"),
    [
        (2.9, "Perhaps"),
        (3.1, "Probably"),
        (21, "Very probably"),
        (151, "Almost certainly"),
    ],
)
def test_the_words_for_odds(odds, word):
    assert certainty(np.log(odds)) == word


def test_odds_numbers_and_names_are_short():
    assert [in_odds(np.log(12.34)), in_odds(48.2)] == ["12.3 to 1", "e^48 to 1"]
    assert [number(value) for value in (0.234, 9.9, 12.3, 3e7)] == ["0.23", "9.9", "12", "3e+07"]
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
    words = listed(["\x1b[31m" + "x" * 70_000] * 9)
    assert words.isprintable()
    assert len(words) < 700


def test_a_sentence_is_plain_data():
    sentence = Sentence(Claim.NOT_PLAYED, "Nobody played b.", about=("b",))
    assert texts([sentence]) == ["Nobody played b."]
    assert json.loads(json.dumps(sentence.to_dict())) == {
        "claim": "not_played", "text": "Nobody played b.", "log_odds": None, "about": ["b"],
    }  # fmt: skip
