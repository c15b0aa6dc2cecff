"""What the log of a policy tells of another prior or rule."""

import json
import subprocess
import sys

import msgspec
import numpy as np
import pytest
from support.logged_worlds import ARMS, EXPLORING, LoggedWorld, sure_of
from support.service_lives import FEATURES, Core, task_of

from hierbandits import GaussianHierarchy
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.models.beta_hierarchy import BetaHierarchy
from hierbandits.models.generalized_hierarchy import GeneralizedHierarchy
from hierbandits.service import evaluation_process
from hierbandits.service.api_problem import Problem
from hierbandits.service.evaluation_process import LEAST_ROWS, judged
from hierbandits.service.policy_settings import PolicySettings


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = LoggedWorld(tmp_path_factory.mktemp("world") / "data")
    yield world
    world.close()


def by_name(findings):
    return {one.policy: one for one in findings.policies}


def test_intervals_hold_the_truth(tmp_path):
    """The candidate always plays an arm whose mean reward is known; intervals are of 80 %."""
    held = differences = 0
    for seed in range(16):
        world = LoggedWorld(tmp_path / str(seed), seed, rounds=20, tasks=10)
        arm = seed % 3
        order = world.order(tmp_path / "s", prior=sure_of(arm), floor=0.0, confidence=0.8)
        found = by_name(judged(order))
        candidate = found["candidate"]
        held += candidate.reward.low < world.value(arm) < candidate.reward.high
        logged = found["logged"].reward.value
        differences += np.isclose(candidate.reward.value - logged, candidate.over_log.value)
        world.close()
    assert differences == 16
    assert held >= 9  # 12.8 are to be expected


def test_a_better_candidate_is_said_to_be_better(world, tmp_path):
    findings = judged(world.order(tmp_path, rule="HierGreedy", floor=0.0))
    found = by_name(findings)
    assert findings.verdict.startswith("The candidate would earn 0.")
    assert " more per decision than the log did (95 % interval" in findings.verdict
    assert (findings.better_than_log, findings.better_than_best_arm) == (True, True)
    assert found["candidate"].over_log.low > 0
    best = world.means.max(axis=1).mean()
    assert found["candidate"].reward.low < best < found["candidate"].reward.high
    assert found["best arm"].arms == [ARMS[world.means.mean(axis=0).argmax()]]
    assert found["logged"].over_log is None
    assert (findings.rows, findings.rows_of_training) == (600, 600)
    assert findings.until_event == world.core.live.number
    assert list(tmp_path.glob("*.parts")) == []


def test_a_worse_candidate_is_said_to_be_worse(world, tmp_path):
    worst = int(world.means.mean(axis=0).argmin())
    findings = judged(world.order(tmp_path, prior=sure_of(worst), floor=0.0))
    assert (findings.better_than_log, findings.better_than_best_arm) == (False, False)
    assert any("The candidate: earns less than always playing" in one for one in findings.warnings)


def test_what_changes_nothing_is_not_said_to_be_better(world, tmp_path):
    findings = judged(world.order(tmp_path))
    assert findings.better_than_log is None
    assert ", and the candidate, the next best, " in findings.verdict


def test_the_floor_counts(world, tmp_path):
    """All of a floor of 1 is uniform."""
    found = by_name(judged(world.order(tmp_path, rule="HierGreedy", floor=1.0)))["candidate"]
    assert found.reward.low < world.means.mean() < found.reward.high
    assert found.over_log.high < 0


def test_too_few_rows_are_refused_with_their_numbers(tmp_path):
    world = LoggedWorld(tmp_path / "data", rounds=1, tasks=LEAST_ROWS - 1)
    world.core.decide("t0")
    world.play(2, best=True)
    with pytest.raises(Problem) as refused:
        judged(world.order(tmp_path / "s"))
    assert (refused.value.status, refused.value.code) == (409, "too_few_rows")
    assert (
        "at least 20 rewarded decisions with propensities must be in the log, got 19 of 58 "
        "decisions: 1 have no reward, 38 were not chosen by chance"
    ) in refused.value.detail
    world.play(1)
    assert judged(world.order(tmp_path / "s")).better_than_log is None
    world.close()


def test_rows_that_chance_did_not_choose_are_left_out(tmp_path):
    settings = msgspec.structs.replace(EXPLORING, control_share=0.4, control_arm="x")
    world = LoggedWorld(tmp_path / "data", settings=settings, rounds=30)
    world.play(5, best=True)
    parts = [world.core.live.view.decision_at((1, place)) for place in range(20)]
    held_out = sum(one.get("group") == "control" for one in parts)
    assert 0 < held_out < 20
    findings = judged(world.order(tmp_path / "s", rule="HierGreedy", floor=0.0))
    assert findings.rows + findings.rows_of_training == 30 * (20 - held_out)
    number = 30 * held_out + 5 * 20
    assert any(one.startswith(f"{number:,} decisions that chance") for one in findings.warnings)
    world.close()


def test_decisions_without_rewards_are_a_warning(tmp_path):
    world = LoggedWorld(tmp_path / "data", rounds=30)
    for _ in range(200):
        world.core.decide("t1")
    world.core.store()
    findings = judged(world.order(tmp_path / "s"))
    assert any(one.startswith("200 of 800 decisions have no rew") for one in findings.warnings)
    world.close()


def test_only_what_is_stored_by_now_is_read(world, tmp_path, monkeypatch):
    """Events that come while the process reads are not part of it."""
    order = world.order(tmp_path)
    before = judged(order)
    last, written = world.core.live.number, evaluation_process.write_rows

    def later(rows, path):
        world.play(1)
        return written(rows, path)

    monkeypatch.setattr(evaluation_process, "write_rows", later)
    assert judged(order) == before
    assert world.core.live.number == last + 2


def test_arms_of_all_names_that_came_later_and_went(tmp_path):
    """A number as a name, an arm that is added with a stated prior, one that is retired."""
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=0.5)
    settings = PolicySettings(arms=[7, "b"], prior=model_to_dict(prior), floor=0.2, draws=5)
    (tmp_path / "data").mkdir()
    core, rng = Core(tmp_path / "data" / "ledger.db", settings), np.random.default_rng(0)
    for step in range(120):
        if step == 40:
            core.live.add_arm("later", hyper_mean=0.3)
        if step == 80:
            core.live.retire_arm("b")
        made = core.decide(f"t{step % 5}")
        core.reward(made.id, float((made.arm == 7) + 0.1 * rng.normal()))
    core.store()
    world = LoggedWorld.__new__(LoggedWorld)
    world.folder, world.core = tmp_path / "data", core
    findings = judged(world.order(tmp_path / "s", rule="HierGreedy", floor=0.0))
    assert by_name(findings)["best arm"].arms == ["7"]
    assert abs(by_name(findings)["candidate"].reward.value - 1.0) < 0.1
    assert "playing '7' wherever it is eligible" in findings.verdict.lower()
    core.storage.close()


@pytest.mark.parametrize("stated", [False, True])
def test_clicks_are_judged_by_a_model_of_clicks(tmp_path, stated):
    prior = GaussianHierarchy.armed(2, hyper_std=1.0, task_std=0.5, noise_std=1.0)
    told = {"prior": model_to_dict(GeneralizedHierarchy(prior, "bernoulli"))} if stated else {}
    settings = PolicySettings(arms=["a", "b"], rewards="bernoulli", floor=0.5, draws=5, **told)
    findings = judged(
        _played(tmp_path, settings, lambda arm, rng: rng.random() < 0.2 + 0.6 * (arm == "b"))
    )
    found = by_name(findings)
    assert found["candidate"].over_log.low > 0
    assert any("Rewards are taken for bernoulli" in note for note in findings.notes)
    assert found["best arm"].arms == ["b"]


def test_arms_with_features_are_judged_by_a_linear_model(tmp_path):
    weights = np.array([1.0, -1.0])
    settings = PolicySettings(arms=FEATURES, floor=0.5, draws=5)
    order = _played(
        tmp_path, settings, lambda arm, rng: np.dot(FEATURES[arm], weights) + 0.1 * rng.normal()
    )
    found = by_name(judged(order))
    best = max(FEATURES, key=lambda arm: np.dot(FEATURES[arm], weights))
    assert found["best arm"].arms == [best]
    assert found["candidate"].over_log.low > 0


def _played(tmp_path, settings, reward):
    """A policy that has played 300 decisions, and the order to judge it without its floor."""
    (tmp_path / "data").mkdir()
    core, rng = Core(tmp_path / "data" / "ledger.db", settings), np.random.default_rng(0)
    for step in range(300):
        made = core.decide(f"t{step % 10}")
        core.reward(made.id, float(reward(made.arm, rng)))
    core.store()
    core.storage.close()
    world = LoggedWorld.__new__(LoggedWorld)
    world.folder, world.core = tmp_path / "data", core
    return world.order(tmp_path / "s", floor=0.0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rule": "AdaptiveHierTS"}, "learns its widths on the way"),
        ({"rule": "OracleTS"}, "rule must not need the truth"),
        ({"rule": "HierTS-forced"}, "must choose by its belief alone"),
        ({"rewards": "bernoulli"}, "reward must be 0 or 1"),
        ({"prior": model_to_dict(BetaHierarchy(3))}, "prior must be a GaussianHierarchy of two"),
        ({"prior": sure_of(0, arms=2), "arms": None}, "the log cannot judge this: "),
    ],
)
def test_what_a_log_cannot_judge_is_refused(world, tmp_path, changes, words):
    with pytest.raises(Problem, match=words) as refused:
        judged(world.order(tmp_path, **changes))
    assert (refused.value.status, refused.value.code) == (409, "does_not_fit")


def test_arms_that_each_call_brings_cannot_be_judged(tmp_path):
    (tmp_path / "data").mkdir()
    settings = PolicySettings(num_features=2)
    core = Core(tmp_path / "data" / "ledger.db", settings)
    made = core.decide(task_of(settings, 0), {"a": [1.0, 0.0], "b": [0.0, 1.0]})
    core.reward(made.id, 1.0)
    core.store()
    core.storage.close()
    world = LoggedWorld.__new__(LoggedWorld)
    world.folder, world.core = tmp_path / "data", core
    with pytest.raises(Problem, match="here each call brings its own"):
        judged(world.order(tmp_path / "s"))


def test_a_policy_that_is_not_there_any_more(world, tmp_path):
    order = world.order(tmp_path)
    order.policy = "gone"
    with pytest.raises(Problem, match="policy 'gone' is not known"):
        judged(order)


def test_the_process_answers_on_its_output(world, tmp_path):
    order = msgspec.json.encode(world.order(tmp_path, rule="nobody")) + b"\n"
    words = [sys.executable, "-m", "hierbandits.service.evaluation_process"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(order)
    process.stdin.flush()
    told = json.loads(process.stdout.read())
    assert process.wait() == 0
    process.stdin.close()
    process.stdout.close()
    assert told["findings"] is None
    assert told["problem"]["code"] == "does_not_fit"
    assert "nobody" in told["problem"]["detail"]
