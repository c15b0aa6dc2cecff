"""An agent: one policy for people, with task names, decision ids and late rewards."""

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, takewhile
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hierbandits.agent.catalogue import Catalogue, form_of
from hierbandits.agent.decision import Decision, RewardConflict, UnknownDecision
from hierbandits.agent.posterior_table import posterior_table, summary_text
from hierbandits.agent.roster import Member, Roster
from hierbandits.archive import read_archive, write_archive
from hierbandits.beliefs.posterior import Posterior
from hierbandits.beliefs.task_sums import TaskSums
from hierbandits.checks import LARGEST, count, index_array, real_array
from hierbandits.models.hierarchy import GaussianHierarchy
from hierbandits.models.unknown_widths import UnknownWidths
from hierbandits.policies.forced_start import ForcedStart
from hierbandits.policies.recipes import POLICIES, Recipe
from hierbandits.types import Name, TaskName

_VERSION = 1
_NOTHING: Mapping[str, float] = {}


class _Pending(NamedTuple):
    decision: Decision
    member: Member
    time: float


class Agent:
    """Decides for named tasks and learns from rewards that come late, twice or out of order.

    Without a prior it learns the widths and the noise as it goes (AdaptiveHierTS), and
    `num_features`, or the form of `arms`, says what kind of bandit it is.  Tasks are added when
    first seen.  In a hierarchy of more than two levels a task is a path,
    ("north", "store-17").  `arms` are the arms that `decide` offers unless told otherwise: names
    when armed; a mapping from name to features, or a (K, d) array, when linear.  With `draws`,
    decisions carry propensities estimated from so many posterior draws, and `floor` is the share
    of decisions made uniformly at random.
    """

    def __init__(
        self,
        prior: GaussianHierarchy | UnknownWidths | None = None,
        policy: str | Recipe | None = None,
        *,
        num_features: int | None = None,
        arms: Any = None,
        seed: int | None = None,
        draws: int | None = None,
        floor: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if prior is None:
            prior = form_of(arms, num_features)
        elif num_features is not None:
            raise ValueError(f"num_features must not be given with a prior, got {num_features!r}")
        if not isinstance(prior, GaussianHierarchy | UnknownWidths):
            raise ValueError(f"prior must be a GaussianHierarchy, got {prior!r:.80}")
        if policy is None:
            policy = "HierTS" if isinstance(prior, GaussianHierarchy) else "AdaptiveHierTS"
        if not isinstance(policy, Recipe) and policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(POLICIES)}, got {policy!r:.80}")
        if draws is None and floor != 0:
            raise ValueError(f"floor needs propensities: give draws too, got floor={floor}")
        if prior.num_levels < 2:
            raise ValueError(f"prior must have a level of tasks below its root, got {prior}")
        self.prior = prior
        self._recipe = POLICIES[policy] if isinstance(policy, str) else policy
        if self._recipe.knows_truth:
            raise ValueError(
                f"policy must not need the truth, which no agent knows, got {policy!r}"
            )
        self._policy = self._recipe(prior)
        if draws is not None:
            self._policy.check_propensities(draws, floor)
        self._draws = None if draws is None else int(draws)
        self._floor = float(floor)
        self._catalogue = Catalogue(
            arms, prior.dim, armed=prior.is_armed, largest=self.belief.largest_feature
        )
        self._rng = np.random.default_rng(seed)
        self._clock = clock
        # Ids are unique to this object and process, and take nothing from the rng.
        self._process, self._prefix, self._made = os.getpid(), secrets.token_hex(8), 0
        self._roster = Roster(self._policy.belief, prior.num_levels - 1)
        self._pending: dict[str, _Pending] = {}  # oldest first
        # Id to (reward, time), oldest first; plain tuples, which the garbage collector skips.
        self._settled: dict[str, tuple[float, float]] = {}

    @property
    def belief(self) -> Posterior:
        """What the agent knows; `node` gives a task's number in it."""
        return self._policy.belief

    @property
    def tasks(self) -> list[TaskName]:
        """The tasks met so far."""
        return [member.task for member in self._roster]

    @property
    def pending(self) -> list[Decision]:
        """The decisions that await their reward, oldest first."""
        return [pending.decision for pending in self._pending.values()]

    def node(self, task: TaskName) -> int:
        """The number of a task in the belief."""
        return self._roster.known(task).node

    def decide(
        self, task: TaskName, arms: Any = None, *, eligible: Any = None, id: str | None = None
    ) -> Decision:
        """Choose an arm for a task.

        `arms` is a (K, d) array, a mapping from name to features, or the names (or indices) of
        some of the agent's own arms, which are the default.  `eligible` is a mask over them.
        """
        ids = None if id is None else [id]
        return self.decide_many([task], arms, eligible=eligible, ids=ids)[0]

    def decide_many(
        self,
        tasks: Sequence[TaskName],
        arms: Any = None,
        *,
        eligible: Any = None,
        ids: Sequence[str] | None = None,
    ) -> list[Decision]:
        """Choose arms in one concurrent round: tasks share one draw of what they have in common.

        `arms` is one offer for all tasks, as in `decide`, or a list with one for each.
        """
        if isinstance(tasks, str):
            raise ValueError(f"tasks must be several tasks, got the string {tasks!r:.80}")
        paths = [self._roster.path(task) for task in tasks]
        sets, labels = self._catalogue.arms(arms, len(paths), eligible)
        names = self._new_ids(ids, len(paths))
        now = self._clock()
        met = [self._roster.met(path) for path in paths]
        nodes = np.array([member.node for member in met], np.intp)
        propensities: Sequence[float | None] = [None] * len(paths)
        if self._draws is None:
            choices = self._policy.choose(self._rng, nodes, sets)
        else:
            choices, shares = self._policy.act_with_propensities(
                self._rng, nodes, sets, draws=self._draws, floor=self._floor
            )
            propensities = shares.tolist()
        features = sets.features(choices)
        features.flags.writeable = False  # the reward, when it comes, is for these
        decisions = []
        for e, member in enumerate(met):
            member.decisions += 1
            decision = Decision(
                names[e],
                member.task,
                labels[e][choices[e]],
                int(features[e]) if self.prior.is_armed else features[e],
                propensities[e],
            )
            self._pending[names[e]] = _Pending(decision, member, now)
            decisions.append(decision)
        return decisions

    def reward(self, id: str, value: float) -> bool:
        """Learn the reward of a decision: True; or False if the same came before.

        Raises RewardConflict if another value came before, UnknownDecision for an unknown id.
        """
        if type(value) is not float or not abs(value) <= LARGEST:
            value = float(real_array("value", value, ()))
        pending = self._pending.get(id) if isinstance(id, str) else None
        if pending is None:
            self._check_settled(id, value)
            return False
        self._learn([pending], [value])
        return True

    def reward_many(self, ids: Sequence[str], values: ArrayLike) -> list[bool]:
        """Learn many rewards at once, or, if any of them is wrong, none."""
        rewards = real_array("values", values, (len(ids),), " to match ids").tolist()
        new: dict[str, float] = {}
        learned = []
        for id, reward in zip(ids, rewards, strict=True):
            fresh = isinstance(id, str) and id in self._pending and new.get(id, reward) == reward
            if not fresh:
                self._check_settled(id, reward, new)
            learned.append(fresh and id not in new)
            if fresh:
                new[id] = reward
        if new:
            self._learn([self._pending[id] for id in new], list(new.values()))
        return learned

    def _check_settled(self, id: str, reward: float, new: Mapping[str, float] = _NOTHING) -> None:
        """Raise unless this decision has this very reward."""
        if not isinstance(id, str):
            raise UnknownDecision(f"ids must be strings, got {id!r:.80}")
        if id not in self._settled and id not in new:
            raise UnknownDecision(f"ids must be of decisions not expired, got {id!r:.80}")
        earlier = new[id] if id in new else self._settled[id][0]
        if earlier != reward:
            raise RewardConflict(
                f"values must not change: decision {id!r} has the reward {earlier}, got {reward}"
            )

    def _learn(self, decided: list[_Pending], rewards: list[float]) -> None:
        nodes = np.array([pending.member.node for pending in decided], np.intp)
        features = np.array([pending.decision.features for pending in decided])
        now = self._clock()
        self.belief.observe_rows(nodes, features, np.array(rewards))
        for (decision, member, _), reward in zip(decided, rewards, strict=True):
            member.rewards += 1
            del self._pending[decision.id]
            self._settled[decision.id] = reward, now

    def learn_past(
        self, tasks: Sequence[TaskName], sums: TaskSums, arms: Sequence[Name] | None = None
    ) -> None:
        """Learn what is known of tasks from before: the sums of a log, a row for each task.

        Only before the first reward.  `arms` names the columns of armed sums; without it they are
        the agent's own arms, in their order.
        """
        paths = [self._roster.path(task) for task in tasks]
        if arms is not None:
            sums = sums.with_arms_at(self._catalogue.places(arms), self.prior.dim)
        if len(set(paths)) < len(paths):
            raise ValueError(f"tasks must be different, got {list(tasks)!r:.80}")
        self.belief.check_past(len(paths), sums)
        members = [self._roster.met(path) for path in paths]
        self.belief.learn_past(np.array([member.node for member in members], np.intp), sums)
        for member, rewards in zip(members, sums.n.tolist(), strict=True):
            member.rewards += int(rewards)

    def expire(self, older_than: float) -> list[str]:
        """Forget decisions made, or rewarded, more than `older_than` seconds ago.

        Returns the ids that were still pending.  A reward for a forgotten decision is unknown.
        """
        limit = self._clock() - float(real_array("older_than", older_than, ()))
        old = list(takewhile(lambda id: self._pending[id].time < limit, self._pending))
        for id in old:
            del self._pending[id]
        for id in list(takewhile(lambda id: self._settled[id][1] < limit, self._settled)):
            del self._settled[id]
        return old

    def save(self, path: str | PathLike[str]) -> None:
        """Write all state to one file: `load` resumes bit for bit."""
        belief_meta, arrays = self.belief.state()
        pending = list(self._pending.values())
        own = self._catalogue.own
        meta = {
            "prior": self.prior.to_dict(),
            "policy": next((n for n, r in POLICIES.items() if r is self._recipe), None),
            "belief": belief_meta,
            "draws": self._draws,
            "floor": self._floor,
            "random": self._rng.bit_generator.state,
            "arms": None if own is None else list(own.names),
            "tasks": self._roster.state(),
            "pending": [
                {"id": d.id, "task": d.task, "arm": d.arm, "propensity": d.propensity, "time": when}
                for d, when in ((p.decision, p.time) for p in pending)
            ],
            "settled": [[id, *settled] for id, settled in self._settled.items()],
        }
        shape = (len(pending),) if self.prior.is_armed else (len(pending), self.prior.dim)
        arrays["pending"] = np.array([p.decision.features for p in pending]).reshape(shape)
        if own is not None:
            arrays["arms"] = own.table
        if self._policy.forced is not None:
            arrays["decided"] = self._policy.forced.decided
        write_archive(path, "agent", _VERSION, meta, arrays)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        policy: Recipe | None = None,
        clock: Callable[[], float] = time.time,
    ) -> "Agent":
        """The agent that `save` wrote; one of a recipe of your own needs it as `policy`."""
        meta, arrays = read_archive(path, "agent", _VERSION)
        named = meta.get("policy")
        if (named is None) == (policy is None):
            has = "a recipe of its own: give" if named is None else f"{named}: do not give"
            raise ValueError(f"{path} was saved with {has} policy")
        recipe: Recipe | str = str(named) if policy is None else policy
        try:
            return cls._restored(meta, arrays, recipe, clock)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ValueError(f"{path} is not a sound agent file: {error}") from error

    @classmethod
    def _restored(
        cls,
        meta: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        recipe: Recipe | str,
        clock: Callable[[], float],
    ) -> "Agent":
        known = "covs" in meta["prior"]
        form: type[GaussianHierarchy | UnknownWidths]
        form = GaussianHierarchy if known else UnknownWidths
        prior = form.from_dict(meta["prior"])
        arms = meta["arms"]
        if arms is not None and not prior.is_armed:
            arms = dict(zip(arms, arrays["arms"], strict=True))
        agent = cls(prior, recipe, arms=arms, draws=meta["draws"], floor=meta["floor"], clock=clock)
        agent._policy.belief = type(agent.belief).from_state(meta["belief"], arrays)
        if agent._policy.forced is not None:
            nodes = len(arrays["decided"])
            decided = index_array("decided", arrays["decided"], 2**31, "decisions")
            if nodes < agent.belief.num_nodes:
                decided = np.append(decided, np.zeros(agent.belief.num_nodes - nodes, np.intp))
            agent._policy.forced = ForcedStart(decided.astype(np.int32))
        agent._rng.bit_generator.state = meta["random"]
        agent._roster = Roster(agent.belief, prior.num_levels - 1)
        agent._roster.restore(meta["tasks"])
        features = agent.belief.checked_features(arrays["pending"], len(meta["pending"]))
        features.flags.writeable = False
        for row, made in enumerate(meta["pending"]):
            task = made["task"]
            member = agent._roster.known(tuple(task) if isinstance(task, list) else task)
            own = int(features[row]) if prior.is_armed else features[row]
            decision = Decision(made["id"], member.task, made["arm"], own, made["propensity"])
            agent._pending[decision.id] = _Pending(decision, member, made["time"])
        for id, reward, when in meta["settled"]:
            agent._settled[id] = reward, when
        return agent

    def table(self, level: float = 0.95) -> dict[str, list[Any]]:
        """What is known of every task, as columns for a data frame: see `posterior_table`."""
        return self._table(level, list(self._roster))

    def _table(self, level: float, members: list[Member]) -> dict[str, list[Any]]:
        own = self._catalogue.own
        labels = own.names if self.prior.is_armed and own is not None else range(self.prior.dim)
        return posterior_table(self.belief, members, labels, level)

    def summary(self, max_rows: int = 40, level: float = 0.95) -> str:
        """The first rows of the table as text, with the agent's own line above it."""
        rows = count("max_rows", max_rows)
        shown = self._table(level, list(islice(self._roster, 1 + rows // self.prior.dim)))
        total = len(self.tasks) * self.prior.dim
        return f"{self!r}\n{summary_text(shown, rows, total)}"

    def __repr__(self) -> str:
        name = next((n for n, r in POLICIES.items() if r is self._recipe), "its own")
        form = f"{self.prior.dim} {'arms' if self.prior.is_armed else 'features'}"
        decided = sum(member.decisions for member in self._roster)
        rewarded = sum(member.rewards for member in self._roster)
        return (
            f"Agent({name}, {form}, {len(self.tasks)} tasks, {decided} decisions, "
            f"{rewarded} rewarded, {len(self._pending)} pending)"
        )

    def _new_ids(self, ids: Sequence[str] | None, number: int) -> list[str]:
        if ids is None:
            if self._process != os.getpid():  # forked
                self._process, self._prefix = os.getpid(), secrets.token_hex(8)
            first, self._made = self._made, self._made + number
            return [f"{self._prefix}-{place:x}" for place in range(first, self._made)]
        for id in ids:
            if not isinstance(id, str) or not id:
                raise ValueError(f"ids must be non-empty strings, got {id!r:.80}")
            if id in self._pending or id in self._settled:
                raise ValueError(f"ids must be new, got {id!r}, which is a decision already")
        if len(ids) != number or len(set(ids)) != number:
            raise ValueError(
                f"ids must be {number} distinct strings to match tasks, got {ids!r:.80}"
            )
        return list(ids)
