"""Which requests go into one round, and which are answered at once or come later."""

import pytest
from support.service_lives import Core

from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.ramp import RampStep
from hierbandits.service.round_requests import RoundKind, RoundRequests
from hierbandits.service.wire import DecisionRequest


@pytest.fixture
def core(tmp_path):
    core = Core(tmp_path / "ledger.db", PolicySettings(arms=["a", "b"], draws=5))
    yield core
    core.storage.close()


def test_requests_of_a_kind_go_together_and_known_ones_are_answered(core):
    made = core.decide("t", id="x")
    asked = RoundRequests(
        [
            DecisionRequest("t", id="x"),
            DecisionRequest("t", id="y"),
            DecisionRequest("t", best=True),
            DecisionRequest("t", id="y"),
            DecisionRequest("t", id=""),
            DecisionRequest("u"),
        ],
        core.live.view,
        core.live._plan,
    )
    assert asked.answered[0].arm == made.arm
    assert asked.answered[4].status == 400
    plain, best = RoundKind(False, False, False), RoundKind(True, False, False)
    assert asked.together == {plain: [1, 5], best: [2]}
    assert asked.repeated == [3]


def test_two_versions_have_rounds_of_their_own(core):
    core.become(PolicySettings(arms=["a", "b"], draws=7), [RampStep(0.5, 60.0), RampStep(1.0)])
    requests = [DecisionRequest(f"t{n}") for n in range(100)]
    asked = RoundRequests(requests, core.live.view, core.live._plan)
    sizes = {kind.is_previous: len(members) for kind, members in asked.together.items()}
    assert set(sizes) == {True, False}
    assert sum(sizes.values()) == 100
    number = core.live.number
    assert len({one.version for one in core.live.decide(requests)}) == 2
    assert core.live.number == number + 2
