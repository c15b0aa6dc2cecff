"""What an agent starts from: checked, immutable, and whole after a file."""

import numpy as np
import pytest
from support.learn_logs import drawn, sums_of

from hierbandits import Agent, GaussianHierarchy, Start, UnknownWidths
from hierbandits.beliefs.model_kinds import model_to_dict

ROWS = {armed: drawn(3, armed=armed, tasks=6, events=8) for armed in (True, False)}
ARMS = ("a", "b", "c")


def made(armed, prior=None, **changes):
    rows = ROWS[armed]
    parts = {"sums": sums_of(rows), "tasks": rows.names, "arms": ARMS if armed else None}
    return Start(prior or UnknownWidths.of(3, armed=armed), **(parts | changes))


@pytest.mark.parametrize("armed", [True, False])
def test_a_start_is_what_it_was_before_its_file(armed, tmp_path):
    known = GaussianHierarchy.armed(arms=ARMS, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    if not armed:
        known = GaussianHierarchy.linear(3, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    for prior in (UnknownWidths.of(3, armed=armed, noise_std=0.5), known):
        start = made(armed, prior)
        start.save(tmp_path / "start.hb")
        again = Start.load(tmp_path / "start.hb")
        assert model_to_dict(again.prior) == model_to_dict(prior)
        assert (again.tasks, again.arms) == (tuple(ROWS[armed].names), ARMS if armed else None)
        for name, values in sums_of(ROWS[armed]).state().items():
            np.testing.assert_array_equal(getattr(again.sums, name), values)
    assert [path.name for path in tmp_path.iterdir()] == ["start.hb"]


def test_paths_of_tasks_are_kept(tmp_path):
    covs = [scale * np.eye(3) for scale in (1.0, 0.5, 0.1)]
    prior = GaussianHierarchy.deep(hyper_mean=[1.0, 2.0, 3.0], covs=covs, noise_std=0.5)
    tasks = [("north", s) for s in range(6)]
    made(False, prior, tasks=tasks).save(tmp_path / "start.hb")
    start = Start.load(tmp_path / "start.hb")
    assert start.tasks == tuple(tasks)
    assert Agent(start).tasks == tasks
    for wrong in (["north"] * 6, [("north", 1)] * 6, [("north", 1.5)] * 6, [("a", "b", "c")] * 6):
        with pytest.raises(ValueError, match="tasks must be"):
            made(False, prior, tasks=wrong)


def test_nobody_can_change_a_start():
    sums = sums_of(ROWS[True])
    start = made(True, sums=sums)
    before = start.num_rows
    sums.add([0], [0], [1.0])
    assert start.num_rows == before == ROWS[True].task.size
    with pytest.raises(ValueError, match="read-only"):
        start.sums.xy[0, 0] = 1.0
    with pytest.raises(AttributeError):
        start.tasks = ()
    start.record().add([0], [0], [1.0])
    assert start.num_rows == before


def test_a_start_may_know_no_task():
    prior = GaussianHierarchy.armed(arms=ARMS, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    start = Start(prior)
    assert (start.tasks, start.arms, start.num_rows) == ((), ARMS, 0)
    assert repr(start) == "<Start: 3 arms, widths known, 0 rows of 0 tasks>"
    assert repr(made(False)).startswith("<Start: 3 features, widths unknown, ")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": "none"}, "prior must be a GaussianHierarchy or UnknownWidths or"),
        ({"tasks": ["t"] * 6}, "tasks must have distinct names"),
        ({"tasks": ["t"]}, "sums must hold 1 tasks with 3 arms"),
        ({"sums": sums_of(ROWS[False])}, "sums must hold 6 tasks with 3 arms"),
        ({"arms": ["a", "b"]}, "arms must be 3 names"),
        ({"arms": ["a", "b", "b"]}, "arms must have distinct names"),
        ({"prior": UnknownWidths.of(3, armed=True, learned_from=sums_of(ROWS[True]).totals())},
         "would count twice"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        made(True, **changes)


def test_arms_of_features_and_other_arms_than_the_prior_has_are_refused():
    with pytest.raises(ValueError, match="arms must be left out where there are features"):
        made(False, arms=ARMS)
    prior = GaussianHierarchy.armed(arms=ARMS, hyper_std=1.0, task_std=0.4, noise_std=0.5)
    with pytest.raises(ValueError, match=r"arms must be the prior's own, \('a', 'b', 'c'\)"):
        made(True, prior, arms=("c", "b", "a"))
    pooled = GaussianHierarchy.deep(hyper_mean=[0.0] * 3, covs=[np.eye(3)], noise_std=0.5)
    with pytest.raises(ValueError, match="prior must have a level of tasks"):
        Start(pooled)


def test_files_that_are_no_starts_are_refused(tmp_path):
    path = tmp_path / "start.hb"
    Agent(UnknownWidths.of(3, armed=True)).save(path)
    with pytest.raises(ValueError, match="not a sound start file of version 1: it holds agent"):
        Start.load(path)
    made(True).save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="not a sound start file"):
        Start.load(path)
    with pytest.raises(FileNotFoundError):
        Start.load(tmp_path / "nowhere.hb")
