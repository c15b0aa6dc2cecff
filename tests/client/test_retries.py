"""When a request is sent again, and how long that waits."""

import pytest

from hierbandits.client.client_request import ClientRequest
from hierbandits.client.outcome import Outcome
from hierbandits.client.retries import FIRST, LONGEST, Retries

ASK = ClientRequest("POST", "/x", str)
ONCE = ClientRequest("POST", "/x", str, repeatable=False)
LOST, UNSENT = Outcome(None), Outcome(None, was_sent=False)


def statuses(request):
    return [s for s in range(100, 600) if Retries(1).wait(request, 0, Outcome(s)) is not None]


def test_what_is_repeated():
    assert statuses(ASK) == [408, 429, 502, 503, 504]
    assert statuses(ONCE) == [429, 503]
    assert Retries(1).wait(ASK, 0, LOST) is not None
    assert Retries(1).wait(ONCE, 0, LOST) is None
    assert Retries(1).wait(ONCE, 0, UNSENT) is not None


def test_waits_grow_and_vary():
    for luck, share in ((0.0, 0.5), (0.999999, 1.0)):
        plan = Retries(20, lambda luck=luck: luck)
        waits = [plan.wait(ASK, attempt, LOST) for attempt in range(20)]
        assert waits[:4] == pytest.approx([share * FIRST * 2**i for i in range(4)], rel=1e-5)
        assert max(waits) == pytest.approx(share * LONGEST, rel=1e-5)
        assert plan.wait(ASK, 20, LOST) is None
    assert Retries(0).wait(ASK, 0, LOST) is None


def test_the_service_says_how_long():
    plan = Retries(3, lambda: 0.0)
    assert plan.wait(ASK, 0, Outcome(503, retry_after=7.0)) == 7.0 + FIRST / 2
    assert plan.wait(ASK, 0, Outcome(503, retry_after=LONGEST + 1)) is None


@pytest.mark.parametrize("number", [-1, 1.5, True, None, "3"])
def test_retries_are_counted(number):
    with pytest.raises(ValueError, match="retries must be a whole number"):
        Retries(number)
