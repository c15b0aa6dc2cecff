"""No argument of a public function reads or writes outside an array, and refusals name it."""

from support.checked_kernels import fuzz_surface
from support.public_surface import public_values, targets_of

SECONDS, SEED, LEAST = 8.0, 7, 1500


def test_the_surface_is_walked_and_not_listed():
    values = public_values()
    assert {"hierbandits.Belief", "hierbandits.policies.BeliefView"} <= set(values)
    assert "hierbandits.beliefs.Belief" not in values  # the same thing once
    names = {target.name for target in targets_of(values["hierbandits.Belief"])}
    assert {"Belief", "Belief.observe", "Belief.load", "Belief.dim"} <= names
    assert not any("._" in name for name in names)


def test_hostile_arguments_reach_nothing_outside_the_arrays_and_are_refused_by_name():
    """`make soak` does the same for long."""
    report = fuzz_surface(SECONDS, SEED, most=0.5, least=LEAST)
    assert report["faults"] == {}
    # `make soak` allows none; a rare one must not fail a run that changed nothing.
    assert sum(report["nameless"].values()) <= report["counts"]["calls"] / 1000, report["nameless"]
    assert report["counts"]["calls"] >= LEAST
