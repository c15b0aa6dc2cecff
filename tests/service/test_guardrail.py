"""What a guardrail takes, and when it is crossed."""

import json

import pytest

from hierbandits.service.guardrail import Guardrail, GuardrailWatch


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"name": ""}, "name of a guardrail"),
        ({"name": "a\nb"}, "name of a guardrail"),
        ({"name": "exposure"}, "must not be 'exposure'"),
        ({"at_least": 0.2}, "one of at_most and at_least"),
        ({"at_most": None}, "one of at_most and at_least"),
        ({"at_most": 1.0}, "must be between low and high"),
        ({"at_most": 0.0}, "must be between low and high"),
        ({"high": float("inf")}, "low and high of guardrail 'errors'"),
    ],
)
def test_what_cannot_be_a_guardrail_is_refused(parts, words):
    with pytest.raises(ValueError, match=words):
        Guardrail(**{"name": "errors", "at_most": 0.1} | parts).check()


def test_values_are_worse_the_nearer_they_are_to_one():
    seconds = Guardrail(name="seconds", at_most=2.0, high=10.0)
    assert [seconds.scaled(value) for value in (0.0, 2.0, 10.0, 99.0)] == [0.0, 0.2, 1.0, 1.0]
    income = Guardrail(name="income", at_least=-1.0, low=-5.0, high=5.0)
    assert [income.scaled(value) for value in (5.0, -1.0, -5.0, -99.0)] == [0.0, 0.6, 1.0, 1.0]


def test_values_beyond_the_good_end_are_refused():
    with pytest.raises(ValueError, match=r"seconds must be at least 0.0, got -1.0"):
        Guardrail(name="seconds", at_most=0.5).check_value(-1.0)
    with pytest.raises(ValueError, match=r"income must be at most 1.0, got 2.0"):
        Guardrail(name="income", at_least=0.5).check_value(2.0)
    Guardrail(name="seconds", at_most=0.5).check_value(7.0)


@pytest.mark.parametrize(("bounds", "bad"), [({"at_most": 0.1}, 1.0), ({"at_least": 0.9}, 0.0)])
def test_bad_values_cross_it_and_it_stays_crossed(bounds, bad):
    watch = GuardrailWatch(Guardrail(name="errors", **bounds), 0.01)
    number = 0
    while not watch.is_crossed and number < 50:
        watch.add(bad)
        number += 1
    assert 1 < number < 10
    told = watch.told()
    assert (told["count"], told["mean"], told["needed"]) == (number, bad, 100.0)
    assert told["evidence"] >= 100
    watch.add(1 - bad)
    assert watch.told() == told


def test_good_values_never_do_and_a_file_keeps_all():
    watch = GuardrailWatch(Guardrail(name="errors", at_most=0.5), 0.01)
    assert watch.told()["mean"] is None
    for _ in range(100):
        watch.add(0.2)
    again = GuardrailWatch.from_dict(json.loads(json.dumps(watch.to_dict())))
    for one in (watch, again):
        one.add(0.7)
    assert watch.told() == again.told()
    assert not watch.is_crossed


def test_a_metric_may_be_held_against_the_control():
    guardrail = Guardrail(name="errors", at_most=0.1, against="control")
    guardrail.check()
    watch = GuardrailWatch(guardrail, 0.01)
    for _ in range(200):
        watch.add(1.0, is_control=True)
        watch.add(1.0)
    assert not watch.is_crossed  # as bad as the control
    watch = GuardrailWatch(Guardrail(name="sales", at_least=-0.1, against="control"), 0.01)
    number = 0
    while not watch.is_crossed and number < 500:
        watch.add(1.0, is_control=True)
        watch.add(0.0)
        number += 1
    assert number < 100
    told = watch.told()
    assert (told["mean"], told["control_mean"], told["control_count"]) == (0.0, 1.0, number)
    again = GuardrailWatch.from_dict(json.loads(json.dumps(watch.to_dict(), allow_nan=False)))
    assert again.told() == told


@pytest.mark.parametrize("bounds", [{"at_most": -0.1}, {"at_least": 0.1}, {"at_most": 1.0}])
def test_a_margin_that_allows_nothing_or_all_is_refused(bounds):
    with pytest.raises(ValueError, match="against control must have"):
        Guardrail(name="errors", against="control", **bounds).check()


def test_values_of_the_control_do_not_cross_a_bound():
    watch = GuardrailWatch(Guardrail(name="errors", at_most=0.1), 0.01)
    for _ in range(100):
        watch.add(1.0, is_control=True)
    assert not watch.is_crossed
    assert watch.told()["control_count"] == 100
