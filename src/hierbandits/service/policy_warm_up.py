"""Kernels that a policy calls, compiled or loaded before anybody waits for them."""

import logging
from hashlib import blake2b
from itertools import cycle
from typing import Any

import msgspec
import numpy as np

from hierbandits.logs import Encoder
from hierbandits.service.api_problem import Problem
from hierbandits.service.json_log import say
from hierbandits.service.live_policy import LivePolicy
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.storage import PolicyRecord, Storage
from hierbandits.service.task_beliefs import task_belief
from hierbandits.service.wire import DecisionRequest

_TASKS = 3
_ROUNDS = 8  # until widths have been looked at, and families refitted
_NOBODY = PolicyRecord(0, "", bytes(16), 0.0)


_WARM: set[bytes] = set()  # forms of policies whose kernels this process has


def warm_up_policy(settings: PolicySettings, storage: Storage) -> None:
    """Load all that decisions and rewards of such a policy call, once for all that look alike.

    A policy of the same settings lives a short life.  What happens is not stored, and the storage
    is asked nothing.
    """
    form = _form(settings)
    if form in _WARM:
        return
    try:
        _live(settings, storage)
    except Exception as error:  # then the first requests wait a little
        say("a policy is not warm", logging.WARNING, error=repr(error))
    _WARM.add(form)


def _form(settings: PolicySettings) -> bytes:
    """What decides which kernels are called: of arms only what they are and how many."""
    arms = settings.arms
    parts = {"arms": None if arms is None else [isinstance(arms, dict), len(arms)]}
    for name in ("num_features", "rewards", "prior", "encoder", "rule", "draws", "floor"):
        parts[name] = getattr(settings, name)
    return blake2b(msgspec.json.encode(parts), digest_size=16).digest()


def _live(settings: PolicySettings, storage: Storage) -> None:
    """All that a policy is asked to do, on tasks that nobody has."""
    settings = msgspec.structs.replace(
        settings, mode="live", control_share=0.0, control_arm=None, sticky=False,
        reward_wait=1e-9, default_reward=0.0, most_tasks=None, most_pending=None,
    )  # fmt: skip
    written: list[Any] = []
    agent = settings.make_agent(written.append, seed=0)
    live = LivePolicy(_NOBODY, settings, 1, storage, 0, agent, written)
    depth = agent.prior.num_levels - 1
    tasks: list[Any] = [f"{i}" if depth == 1 else [f"{i}"] * depth for i in range(_TASKS)]
    offers = _offers(live)
    context = None if settings.encoder is None else _context(settings.encoder)

    def decided(tasks: list[Any], arms: list[Any], *, best: bool = False) -> list[Any]:
        given = zip(tasks, cycle(arms), strict=False)
        made = live.decide(
            [DecisionRequest(task, some, best=best, context=context) for task, some in given]
        )
        for one in made:
            if isinstance(one, Problem):
                raise one
        return made

    values = cycle((0.0, 1.0))
    for _ in range(_ROUNDS):
        for task in tasks:
            (one,) = decided([task], offers[:1])
            live.reward([(one.id, next(values))])
    for arms in (offers[:1], offers[-1:], offers):
        made = decided(tasks, arms)
        live.reward([(one.id, next(values)) for one in made])
    live.correct(made[0].id, 1.0)
    live.correct(made[0].id, 0.0)
    decided(tasks[:1], offers[:1], best=True)
    decided(tasks, offers[:1])
    live.expire()
    played = made[0].arm if agent.prior.is_armed else live.agent.belief.dim * [0.5]
    name: Any = tuple(tasks[0]) if depth > 1 else tasks[0]
    live.learn([name], [played], [1.0])
    task_belief(live.agent, name)
    agent.belief.log_evidence()
    live.forget(name)


def _offers(live: LivePolicy) -> list[Any]:
    """Arms as requests bring them: all of the policy's own, some of them; or features."""
    names = live.agent.arms
    if names is not None:
        return [None, list(names[:2])]
    rows = np.random.default_rng(0).normal(size=(3, live.agent.prior.dim)).tolist()
    table = dict(zip("abc", rows, strict=True))
    return [table, {name: table[name] for name in "ab"}]


def _context(parts: dict[str, Any]) -> dict[str, Any]:
    """Who comes, for an encoder."""
    columns = Encoder.from_dict(parts).columns
    return {column.name: column.typical for column in columns}
