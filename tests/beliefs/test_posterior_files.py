"""Files of beliefs: resumed bit for bit, and refused if they are not sound."""

import os

import numpy as np
import pytest
from support.agents import ARMED, LINEAR
from support.states import belief_state

from hierbandits import AdaptiveBelief, Belief, GaussianHierarchy, UnknownWidths
from hierbandits.archive import read_archive, write_archive


def test_a_belief_of_huge_rewards_is_a_sound_file(tmp_path):
    belief = Belief(LINEAR, 2)
    belief.observe([0], [[1.0, 0.0]], [1e31])
    belief.save(tmp_path / "b")
    np.testing.assert_array_equal(Belief.load(tmp_path / "b").task(0).mean, belief.task(0).mean)


def test_rounding_of_another_machine_is_accepted(tmp_path):
    """Coordinates of a covariance that is nearly singular differ by rounding."""
    cov = 0.99999 ** np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    prior = GaussianHierarchy(hyper_mean=np.zeros(6), hyper_cov=cov, task_cov=cov, noise_std=0.5)
    Belief(prior, 2).save(tmp_path / "b")

    def change(meta, arrays):
        noise = np.random.default_rng(0).standard_normal(arrays["coordinates"].shape)
        arrays["coordinates"] = arrays["coordinates"] * (1 + 1e-13 * noise)

    _rewritten(tmp_path / "b", change)
    assert Belief.load(tmp_path / "b").num_nodes == 3


def test_files_have_the_usual_permissions(tmp_path):
    mask = os.umask(0o027)
    try:
        Belief(ARMED, 1).save(tmp_path / "b")
    finally:
        os.umask(mask)
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o640


def _rewritten(path, change):
    """The archive with its arrays and header changed, checksums made right again."""
    kind = "belief"
    meta, arrays = read_archive(path, kind, 2)
    change(meta, arrays)
    write_archive(path, kind, 2, meta, arrays)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parent", 99, "parent must be in"),
        ("parent", 0, "parent and level do not agree"),
        ("parent", -5, "parent"),
        ("level", 7, "level must be in"),
        ("level", 0, "do not agree"),
        ("state", np.nan, "state must be finite"),
        ("roots", np.inf, "roots must be finite"),
        ("coordinates", np.nan, "coordinates must be finite"),
        ("evidence", np.nan, "evidence must be finite"),
    ],
)
def test_a_belief_that_makes_no_sense_is_refused(name, value, message, tmp_path):
    path = tmp_path / "belief"
    belief = Belief(LINEAR, 3, 2)
    belief.observe([0, 4], np.eye(2), [1.0, 2.0])
    belief.save(path)

    def change(meta, arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].flat[0 if name != "level" else 1] = value

    _rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        Belief.load(path)


def test_beliefs_save_and_load_mid_run(tmp_path):
    priors = [LINEAR, LINEAR.with_levels(LINEAR.hyper_mean, [2 * c for c in LINEAR.covs])]
    belief = Belief(priors, 2, 2)
    belief.add(belief.roots[3], 2)
    rng = np.random.default_rng(0)
    tasks, x, y = rng.integers(0, 8, 20), rng.standard_normal((20, 2)), rng.standard_normal(20)
    belief.observe(tasks, x, y)
    belief.save(tmp_path / "b")
    loaded = Belief.load(tmp_path / "b")
    for each in (belief, loaded):
        each.observe(tasks, x, -y)
        each.add(each.roots[0])
    assert belief_state(loaded) == belief_state(belief)
    np.testing.assert_array_equal(loaded.log_evidence(), belief.log_evidence())
    one, other = (b.sample(np.random.default_rng(1), [0, 7, 12]) for b in (belief, loaded))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [Belief, AdaptiveBelief])
def test_a_state_is_not_a_way_into_a_belief(kind):
    """Neither what `state` shows nor what `from_state` was given can change a belief."""
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    belief = kind(prior if kind is Belief else UnknownWidths.of(2, armed=True), 3)
    belief.observe([0, 2], [1, 0], [1.0, 2.0])
    meta, arrays = belief.state()
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 9
    given = {name: array.copy() for name, array in arrays.items()}
    again = kind.from_state(meta, given)
    for array in given.values():
        array[...] = 9
    for name, array in again.state()[1].items():
        np.testing.assert_array_equal(array, arrays[name])
    short = {**{name: array.copy() for name, array in arrays.items()}, "level": arrays["level"][1:]}
    with pytest.raises(ValueError, match=r"parent must be integers of shape \(3,\), as level"):
        kind.from_state(meta, short)
