"""Settings that might be, beside those that are."""

import msgspec
import pytest
from support.logged_worlds import EXPLORING, sure_of

from hierbandits.service.candidate import Candidate


def settings(text, live=EXPLORING):
    return msgspec.json.decode(text, type=Candidate).settings(live)


def test_what_is_not_given_is_as_it_is():
    assert settings("{}") == EXPLORING
    changed = settings('{"rule": "HierUCB", "floor": 0.25}')
    assert (changed.rule, changed.floor, changed.arms) == ("HierUCB", 0.25, EXPLORING.arms)
    assert EXPLORING.rule == "HierTS"


def test_null_is_another_thing_than_nothing():
    live = msgspec.structs.replace(EXPLORING, prior=sure_of(1))
    assert settings("{}", live).prior == live.prior
    assert settings('{"prior": null}', live).prior is None
    assert settings('{"floor": null}', live).floor is None


@pytest.mark.parametrize("text", ['{"confidence": 0}', '{"floor": -0.1}', '{"rule": "none"}'])
def test_what_is_wrong_is_an_error(text):
    with pytest.raises(ValueError, match="must be"):
        settings(text)
