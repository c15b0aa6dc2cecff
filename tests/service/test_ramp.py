"""Where a ramp stands."""

import json

import pytest

from hierbandits.service.ramp import Ramp, RampStep, check_steps

STEPS = [(0.1, 60.0), (0.5, 30.0), (1.0, None)]


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([], "steps must be 1 to 1000"),
        ([RampStep(0.0)], "shares of steps must grow"),
        ([RampStep(0.5, 1.0), RampStep(0.5)], "shares of steps must grow"),
        ([RampStep(1.1)], "shares of steps must grow"),
        ([RampStep(0.5), RampStep(1.0)], "seconds must be given"),
        ([RampStep(0.5, -1.0), RampStep(1.0)], "seconds must be positive"),
        ([RampStep(0.5, float("inf")), RampStep(1.0)], "seconds"),
        ([RampStep(float("nan"))], "shares of steps must grow"),
    ],
)
def test_steps_that_are_no_ramp_are_refused(steps, words):
    with pytest.raises(ValueError, match=words):
        check_steps(steps)


def test_a_ramp_goes_step_by_step_to_its_end():
    check_steps([RampStep(*step) for step in STEPS])
    ramp = Ramp()
    assert (ramp.phase, ramp.share, ramp.due) == ("none", 1.0, None)
    ramp.start(STEPS, 100.0)
    assert (ramp.phase, ramp.share, ramp.due) == ("ramping", 0.1, 160.0)
    ramp.advance(170.0)  # late, so that the step has its time
    assert (ramp.phase, ramp.share, ramp.due) == ("ramping", 0.5, 200.0)
    ramp.advance(200.0)
    assert (ramp.phase, ramp.share, ramp.due) == ("done", 1.0, None)


def test_a_ramp_that_is_held_has_the_rest_of_its_step_later():
    ramp = Ramp()
    ramp.start(STEPS, 100.0)
    ramp.hold(120.0)
    assert (ramp.phase, ramp.share, ramp.due, ramp.left) == ("held", 0.1, None, 40.0)
    again = Ramp.from_dict(json.loads(json.dumps(ramp.to_dict())))
    assert again == ramp
    again.resume(1000.0)
    assert (again.phase, again.due, again.left) == ("ramping", 1040.0, None)


def test_a_policy_that_is_rolled_back_decides_for_nobody():
    ramp = Ramp()
    ramp.start(STEPS, 0.0)
    ramp.roll_back()
    assert (ramp.phase, ramp.share, ramp.due) == ("rolled back", 0.0, None)
