"""`python -m bench.shared_clicks`: what workers know of clicks, beside a process that is alone.

Two workers that share a PostgreSQL decide in turn for twenty tasks, and learn clicks.  All tasks
are folded when rewards have grown by a tenth.  Then the same log is learned by an agent in one
process, in the same order and groups; and by expectation propagation until nothing moves, which is
what both approximate.  Differences are in its standard deviations.

Without a prior, widths are learned: by workers when rewards have grown by half, by the process that
is alone likewise.  Both are compared with a look at all rewards in the end; and sites of workers
with expectation propagation under their own widths.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import hierbandits as hb
from bench.postgres import Database
from hierbandits.beliefs.gaussian import Gaussian
from hierbandits.beliefs.model_kinds import model_to_dict
from hierbandits.service import shared_widths
from hierbandits.service.policy_settings import PolicySettings
from hierbandits.service.shared_book import SharedBook
from hierbandits.service.shared_links import SharedLinks
from hierbandits.service.shared_policy import GROWTH, SharedPolicy
from hierbandits.service.wire import DecisionRequest
from hierbandits.types import Matrix

TASKS, ARMS, DIM, GROUP = 20, 5, 3, 20
TASK_NAMES = [f"t{task}" for task in range(TASKS)]
HYPER_STD, TASK_STD = 1.0, 0.5
SHARES = (0.05, 0.3)
Event = tuple[str, Any, float]


def prior_of(kind: str, share: float) -> hb.GaussianHierarchy:
    """Log odds about those of a share of clicks; features have a constant among them."""
    odds = float(np.log(share / (1 - share)))
    if kind == "arms":
        return hb.GaussianHierarchy.armed(
            ARMS, hyper_mean=odds, hyper_std=HYPER_STD, task_std=TASK_STD, noise_std=1.0
        )
    means = [odds, *[0.0] * (DIM - 1)]
    return hb.GaussianHierarchy.linear(
        DIM, hyper_mean=means, hyper_std=HYPER_STD, task_std=TASK_STD, noise_std=1.0
    )


class World:
    """Tasks that differ, and what two workers and an agent alone know of the same clicks."""

    def __init__(self, kind: str, share: float, seed: int, *, is_open: bool) -> None:
        self.kind, rng = kind, np.random.default_rng(seed)
        prior = prior_of(kind, share)
        self.rows: Matrix = np.eye(ARMS)
        if kind != "arms":
            self.rows = np.column_stack([np.ones(ARMS), rng.normal(size=(ARMS, DIM - 1)) / 2])
        mean = np.array(prior.hyper_mean) + HYPER_STD * rng.normal(size=prior.dim)
        self.theta: Matrix = mean + TASK_STD * rng.normal(size=(TASKS, prior.dim))
        self.names, self._rng = [str(arm) for arm in range(ARMS)], rng
        self.model = None if is_open else hb.GeneralizedHierarchy(prior, "bernoulli")
        self.events: list[Event] = []

    def settings(self) -> PolicySettings:
        """Those of the policy that workers share."""
        arms: Any = self.names
        if self.kind != "arms":
            arms = dict(zip(self.names, self.rows.tolist(), strict=True))
        prior = None if self.model is None else model_to_dict(self.model)
        family = "bernoulli" if self.model is None else None
        return PolicySettings(arms=arms, prior=prior, rewards=family, rule="HierTS", draws=0)

    def play(self, url: str, rewards: int) -> tuple[list[Gaussian], hb.GaussianHierarchy]:
        """Let two workers decide and learn; what they know in the end, and under which widths."""
        with ExitStack() as stack:
            books = []
            for _ in range(2):
                links = stack.enter_context(closing(SharedLinks(url)))
                books.append(stack.enter_context(closing(SharedBook(links))))
            books[0].put("shop", self.settings())
            lives = [book.turns("shop").live for book in books]
            folders = [book.folder(live) for book, live in zip(books, lives, strict=True)]
            for number in range(rewards // GROUP):
                self._go_on(lives[number % 2])
                folders[number % 2].fold(1e9, GROWTH)
            folders[0].fold()
            agent, _ = lives[0].agent_with(TASK_NAMES)
            known = moments(agent), lives[0].generation.hierarchy
            books[0].delete("shop")
        return known

    def _go_on(self, live: SharedPolicy) -> None:
        tasks = self._rng.integers(TASKS, size=GROUP).tolist()
        made: list[Any] = live.decide([DecisionRequest(TASK_NAMES[task]) for task in tasks])
        played = [int(one.arm) for one in made]
        chance = 1 / (1 + np.exp(-(self.rows[played] * self.theta[tasks]).sum(1)))
        clicks = (self._rng.random(GROUP) < chance).astype(float).tolist()
        live.reward([(one.id, click) for one, click in zip(made, clicks, strict=True)])
        shown: list[Any] = played if self.kind == "arms" else [self.rows[arm] for arm in played]
        self.events += zip((TASK_NAMES[task] for task in tasks), shown, clicks, strict=True)

    def agent(self, model: hb.GeneralizedHierarchy | None, group: int) -> hb.Agent:
        """An agent that has learned all clicks, so many at a time."""
        is_armed, family = self.kind == "arms", "bernoulli" if model is None else None
        alone = hb.Agent(
            model, arms=self.names if is_armed else None, rewards=family, seed=0,
            num_features=None if is_armed or model is not None else DIM,
        )  # fmt: skip
        for first in range(0, len(self.events), group):
            tasks, shown, clicks = zip(*self.events[first : first + group], strict=True)
            alone.learn(tasks, list(shown) if is_armed else np.array(shown), clicks)
        return alone

    def settled(self, model: hb.GeneralizedHierarchy | None) -> list[Gaussian]:
        """What is known when nothing moves any more."""
        agent = self.agent(model, GROUP)
        assert isinstance(agent.belief, hb.MatchedBelief)
        agent.belief.refit(sweeps=200, tolerance=1e-9)
        return moments(agent)


def run(url: str, world: World, rewards: int) -> Iterator[tuple[str, Matrix]]:
    """How far means and standard deviations are off, (nodes, 2, d), by who learns."""
    shared, widths = world.play(url, rewards)
    settled = world.settled(world.model)
    found = {"workers": (shared, settled)}
    found["one process"] = moments(world.agent(world.model, GROUP)), settled
    if world.model is None:
        own = world.settled(hb.GeneralizedHierarchy(widths, "bernoulli"))
        found["own widths"] = shared, own
    else:
        once = hb.MatchedBelief(world.model, TASKS)
        for task, features, click in world.events:
            once.observe([TASK_NAMES.index(task)], [features], [click])
        one_pass = [once.hyper(), *(once.task(task) for task in range(TASKS))]
        found["one pass"] = one_pass, settled
    for name, (known, others) in found.items():
        yield name, np.array([off(*both) for both in zip(known, others, strict=True)])


def moments(agent: hb.Agent) -> list[Gaussian]:
    """Of the population, and of all tasks."""
    belief = agent.belief
    return [belief.hyper(), *(belief.task(agent.node(task)) for task in TASK_NAMES)]


def off(known: Gaussian, settled: Gaussian) -> Matrix:
    """How far a mean is off, in standard deviations, and the logs of these over the settled."""
    stds, others = np.sqrt(np.diag(settled.cov)), np.sqrt(np.diag(known.cov))
    return np.array([np.abs(known.mean - settled.mean) / stds, np.log(others / stds)])


def cost(url: str, kind: str, *, clicks: bool, groups: int = 200) -> float:
    """Microseconds of a worker's processor time for a reward, in groups of twenty tasks."""
    prior, names = prior_of(kind, 0.3), [str(arm) for arm in range(ARMS)]
    rows = np.column_stack([np.ones(ARMS), np.random.default_rng(0).normal(size=(ARMS, DIM - 1))])
    arms: Any = names if kind == "arms" else dict(zip(names, rows.tolist(), strict=True))
    model = hb.GeneralizedHierarchy(prior, "bernoulli") if clicks else prior
    with closing(SharedLinks(url)) as links, closing(SharedBook(links)) as book:
        book.put("shop", PolicySettings(arms=arms, prior=model_to_dict(model), draws=0))
        live, spent = book.turns("shop").live, list[float]()
        for _ in range(groups):
            made: list[Any] = live.decide([DecisionRequest(task) for task in TASK_NAMES])
            before = time.process_time()
            live.reward([(one.id, 1.0) for one in made])
            spent.append(time.process_time() - before)
        book.delete("shop")
    return 1e6 * float(np.mean(spent[1:])) / TASKS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--rewards", type=int, default=1000)
    most = shared_widths.MOST_REFITTED
    parser.add_argument("--refitted", type=int, default=most, help="match all of so many again")
    words = parser.parse_args()
    shared_widths.MOST_REFITTED = words.refitted
    print(f"{words.worlds} worlds of {words.rewards} rewards")
    print("off by standard deviations, and widths over those that are settled")
    heads = {"mu, mean": 10, "worst": 8, "tasks, mean": 13, "worst ": 8, "width mu": 10, "tasks": 8}
    print(f"{'':<38}" + "".join(f"{head.strip():>{size}}" for head, size in heads.items()))
    with tempfile.TemporaryDirectory() as folder, closing(Database(Path(folder))) as database:
        for is_open, kind, share in product((False, True), ("arms", "features"), SHARES):
            found: dict[str, list[Matrix]] = {}
            for seed in range(words.worlds):
                world = World(kind, share, seed, is_open=is_open)
                for name, part in run(database.url, world, words.rewards):
                    found.setdefault(name, []).append(part)
            form = f"{kind}, no prior" if is_open else kind
            for name, parts in found.items():
                mean, width = np.moveaxis(np.array(parts), 2, 0)  # (worlds, nodes, d) each
                mu, tasks = mean[:, 0], mean[:, 1:]
                wide = np.exp([width[:, 0].mean(), width[:, 1:].mean()])
                print(
                    f"{form:<20}{share:<5.0%} {name:<12}{mu.mean():>10.3f}{mu.max():>8.2f}"
                    f"{tasks.mean():>13.3f}{tasks.max():>8.2f}{wide[0]:>10.3f}{wide[1]:>8.3f}",
                    flush=True,
                )
        for kind in ("arms", "features"):
            gaussian, clicks = (cost(database.url, kind, clicks=which) for which in (False, True))
            print(f"{kind}: {gaussian:.0f} us for a Gaussian reward, {clicks:.0f} us for a click")


if __name__ == "__main__":
    main()
