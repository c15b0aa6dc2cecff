"""`python -m bench.starts`: what a start from a log is worth, and whether its promises hold.

Every log is drawn from a hierarchy of known widths.  An agent that starts from it then acts in 20
new tasks for 50 rounds, beside HierTS that is told the true widths and PooledTS, both with the same
log.  With `--promises`, the regret is also compared with what the start promised.  With
`--correlated`, the arms of a task move together in other ways, and a start whose widths are open
plays beside one that states the covariance that fits best.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import hierbandits as hb
from bench.tables import Table
from hierbandits.fitting import Fit, fit_prior
from hierbandits.fitting.structure_choice import StructureChoice
from hierbandits.learning.log_offers import LogOffers
from hierbandits.learning.log_worlds import LogWorlds
from hierbandits.learning.players import Player, Scene, after_sums
from hierbandits.learning.promises import Promise
from hierbandits.learning.start_trial import NEW, START, StartTrial
from hierbandits.learning.starting import open_or_stated
from hierbandits.models.variants import pooled
from hierbandits.policies.recipes import POLICIES, USUAL
from hierbandits.policies.thompson_rule import thompson
from hierbandits.types import Indices

Array = NDArray[np.float64]
TASKS, ROUNDS, NOISE = 20, 50, 1.0
OTHERS = 30  # sets of new tasks, to see what regret is expected
ARM_WIDTHS = "0.03 to 0.6"
TOGETHER = "1 in common, 0.1"  # what all arms of a task have in common, and each of its own
LINE, OPPOSED, GROUPS = "on a line", "one half against the other", "two groups"
ANY, STRONG = "any correlations", "correlations of 0.8 and -0.8"


@dataclass(frozen=True, slots=True)
class Shape:
    """Logs of so many tasks and rows, and the bandit that they are about."""

    tasks: int
    rows: int
    dim: int = 5
    armed: bool = True
    mean_std: float = 1.0  # of mu

    def __str__(self) -> str:
        form = f"{self.dim} {'arms' if self.armed else 'features'}"
        return f"{self.tasks} x {self.rows}, {form}"


SHAPES = (Shape(3, 20), Shape(20, 50), Shape(100, 50), Shape(500, 2))
UNSEEN = (Shape(40, 10, 4, armed=False), Shape(30, 30, 10, mean_std=0.5))
CORRELATED = (
    *(Shape(20, 50, 4), Shape(20, 50, 8), Shape(100, 50), Shape(100, 50, 10), Shape(80, 150, 14)),
    *(Shape(500, 20, 12), Shape(80, 150, 24)),
)
WIDTHS: tuple[float | str, ...] = (0.0, 0.1, 0.3, 1.0, ARM_WIDTHS, TOGETHER)
WAYS = (LINE, OPPOSED, GROUPS, ANY, STRONG)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A log, and the new tasks that an agent meets after it."""

    truth: hb.GaussianHierarchy
    sums: hb.TaskSums
    offers: LogOffers | None  # None if armed
    worlds: LogWorlds  # one world
    others: LogWorlds  # the same, with other new tasks in each


def draw(shape: Shape, width: float | str, rng: Generator, seed: int) -> Drawn:
    """Draw mu, tasks, and a log in which arms were played at random."""
    d, cov = shape.dim, _task_cov(width, shape.dim, rng)
    if shape.armed:
        truth = hb.GaussianHierarchy.armed(
            d, hyper_std=shape.mean_std, task_cov=cov, noise_std=NOISE
        )
    else:
        root_cov = shape.mean_std**2 * np.eye(d)
        truth = hb.GaussianHierarchy(
            hyper_mean=np.zeros(d), hyper_cov=root_cov, task_cov=cov, noise_std=NOISE
        )
    mu = shape.mean_std * rng.normal(size=d)
    root = np.linalg.cholesky(cov)
    theta = mu + rng.normal(size=(shape.tasks + TASKS, d)) @ root.T
    task = np.repeat(np.arange(shape.tasks), shape.rows)
    sums = hb.TaskSums.zeros(shape.tasks, d, armed=shape.armed)
    luck = NOISE * rng.normal(size=task.size)
    if shape.armed:
        arm, sample = rng.integers(d, size=task.size), None
        sums.add(task, arm, theta[task, arm] + luck)
    else:
        sample = rng.normal(size=(task.size, d))
        sums.add(task, sample, (sample * theta[task]).sum(axis=1) + luck)
    offers = None if sample is None else _offers(task, sample)
    worlds = LogWorlds(theta[None, shape.tasks :], np.array([NOISE]), offers, seed)
    new = mu + rng.normal(size=(OTHERS, TASKS, d)) @ root.T
    others = LogWorlds(new, np.full(OTHERS, NOISE), offers, seed + 1)
    return Drawn(truth, sums, offers, worlds, others)


def _task_cov(width: float | str, dim: int, rng: Generator) -> Array:
    """How tasks differ: widths of their own for each arm or feature, or arms that move together."""
    place = np.linspace(1.0, -1.0, dim)
    side = np.sign(place + 1e-9)
    own: Array = np.diag(np.full(dim, 0.1**2))
    if width == TOGETHER:
        own += 1.0
    elif width == LINE:
        own += np.outer(place, place)
    elif width == OPPOSED:
        own += np.outer(side, side)
    elif width == GROUPS:
        own += side[:, None] == side
    elif width == STRONG:
        own = 0.2 * np.eye(dim) + 0.8 * np.outer(side, side)
    elif width == ANY:
        root = rng.normal(size=(dim, dim)) / np.sqrt(dim)
        own += root @ root.T
    if width in (TOGETHER, *WAYS):
        return own
    widths = np.geomspace(0.03, 0.6, dim) if width == ARM_WIDTHS else np.full(dim, float(width))
    cov: Array = np.diag(np.maximum(widths, 1e-9) ** 2)
    return cov


def _offers(task: Indices, sample: Array) -> LogOffers:
    """What decisions offer: ten rows, since all features can be chosen."""
    names = tuple(f"x{j}" for j in range(sample.shape[1]))
    return LogOffers.of(sample[:1000], task[:1000], names)


@dataclass(frozen=True, slots=True)
class Learned:
    """What `hb.learn_prior` makes of a log."""

    structure: StructureChoice
    fit: Fit
    start: hb.Start  # that it hands out

    @classmethod
    def of(cls, drawn: Drawn) -> "Learned":
        """Learn from a log."""
        tasks = len(drawn.sums.n)
        structure = StructureChoice.of(drawn.sums, np.zeros(tasks, np.intp), None, 0)
        fit = fit_prior(drawn.sums, structure=structure.best, rank=structure.rank)
        start = hb.Start(open_or_stated(fit.prior, None), drawn.sums, range(tasks), None)
        return cls(structure, fit, start)

    def player(self, scene: Scene) -> Player:
        """An agent that begins with the start."""
        prior, recipe = self.start.prior, POLICIES[USUAL]
        if prior.widths_known:
            return scene.after_log(self.fit.prior, recipe.rule)
        return scene.from_start(prior, recipe)


OPEN, STATED = "open widths", "stated"


def regrets(drawn: Drawn, learned: Learned, *, both: bool = False) -> dict[str, float]:
    """The mean regret of a new task with each policy; with `both`, of starts of either kind."""
    scene = Scene(drawn.sums, np.zeros(0, np.intp), TASKS, 1)
    one = after_sums(pooled(drawn.truth), drawn.sums)
    players: dict[str, Player] = {
        START: learned.player(scene),
        "HierTS": scene.after_log(drawn.truth, thompson),
        "PooledTS": scene.as_one(one, thompson),
    }
    if both:
        recipe = POLICIES[USUAL]
        open_widths = hb.UnknownWidths.of(drawn.truth.dim, armed=drawn.truth.is_armed)
        players[OPEN] = scene.from_start(open_widths, recipe)
        players[STATED] = scene.after_log(learned.fit.prior, recipe.rule)
    return {
        name: float(player.regret(np.random.default_rng(0), drawn.worlds, ROUNDS)[-1].mean())
        for name, player in players.items()
    }


def expected(drawn: Drawn, learned: Learned) -> float:
    """The regret of a new task with the start, on average over many of them."""
    scene = Scene(drawn.sums, np.zeros(0, np.intp), TASKS, OTHERS)
    player = learned.player(scene)
    return float(player.regret(np.random.default_rng(1), drawn.others, ROUNDS)[-1].mean())


def promised(drawn: Drawn, learned: Learned, runs: int) -> Promise:
    """What the start promises of new tasks."""
    prior = after_sums(learned.fit.prior, drawn.sums)
    trial = StartTrial(
        learned.start, learned.fit, prior, learned.structure, drawn.offers, horizon=ROUNDS,
        runs=runs, seed=0,
    )  # fmt: skip
    return Promise(NEW, START, trial.regret(NEW, START), trial.others_regret())


def left_open(promise: Promise) -> float:
    """Half of a normal 90 % interval of what the log leaves open, if all worlds were simulated.

    It is by how much the worlds that the log allows differ, less the luck of their tasks.
    """
    assert promise.others is not None
    last = np.concatenate([promise.regret[-1], promise.others], axis=1)
    luck = last.var(axis=1, ddof=1).mean() / last.shape[1]
    return float(1.645 * np.sqrt(max(last.mean(axis=1).var(ddof=1) - luck, 0.0)))


def study(shape: Shape, width: float | str, logs: range, promises: int, runs: int) -> list[str]:
    """A row of the table; the first `promises` logs are asked for their promises."""
    found: dict[str, list[float]] = {}
    held, half, promised_mean = [], [], []
    held_mean, half_mean, unknown = [], [], []
    for number in logs:
        rng = np.random.default_rng([shape.tasks, shape.rows, shape.dim, number])
        drawn = draw(shape, width, rng, number)
        learned = Learned.of(drawn)
        for name, regret in regrets(drawn, learned).items():
            found.setdefault(name, []).append(regret)
        if number - logs.start < promises:
            promise = promised(drawn, learned, runs)
            low, high = promise.interval
            held.append(low <= found[START][-1] <= high)
            half.append((high - low) / 2)
            promised_mean.append(promise.mean)
            low, high = promise.expected
            held_mean.append(low <= expected(drawn, learned) <= high)
            half_mean.append((high - low) / 2)
            unknown.append(left_open(promise))
    ours, best = (
        np.array(found[START]),
        min(("HierTS", "PooledTS"), key=lambda k: np.mean(found[k])),
    )
    theirs = np.array(found[best])
    ratio = "-"  # where nobody has any regret
    if theirs.mean() > 0:
        share = ours.mean() / theirs.mean()
        error = np.std(ours - share * theirs, ddof=1) / np.sqrt(len(logs)) / theirs.mean()
        ratio = f"{share:.3f} ± {error:.3f}"
    row = [str(shape), str(width), *(f"{np.mean(found[name]):.3f}" for name in found)]
    row += [ratio, f"{(ours - theirs).mean() / ROUNDS:+.4f}"]
    if promises:
        mean, reach = float(np.mean(promised_mean)), float(np.mean(half))
        row += [f"{mean:.3f} for {ours[:promises].mean():.3f}", f"{100 * np.mean(held):.0f} %"]
        row += [f"{100 * reach / max(mean, 1e-9):.0f} %", f"{100 * np.mean(held_mean):.0f} %"]
        row += [f"{100 * np.mean(each) / max(mean, 1e-9):.0f} %" for each in (half_mean, unknown)]
    return row


def compare(shape: Shape, way: str, logs: range) -> list[str]:
    """A row of the table of arms that move together."""
    found: dict[str, list[float]] = {}
    chosen: dict[str, int] = {}
    for number in logs:
        rng = np.random.default_rng([shape.tasks, shape.rows, shape.dim, number])
        drawn = draw(shape, way, rng, number)
        learned = Learned.of(drawn)
        choice = str(learned.structure.best)
        chosen[choice] = chosen.get(choice, 0) + 1
        for name, regret in regrets(drawn, learned, both=True).items():
            found.setdefault(name, []).append(regret)
    row = [str(shape), way, ", ".join(f"{k} {n}" for k, n in sorted(chosen.items()))]
    row += [f"{np.mean(found[name]):.3f}" for name in found]
    gap = np.subtract(found[OPEN], found[STATED])
    return [*row, f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(logs)):.3f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=int, default=10, help="logs of each kind")
    parser.add_argument("--first", type=int, default=0, help="number of the first log")
    parser.add_argument("--promises", type=int, default=0, help="logs whose promises are checked")
    parser.add_argument("--runs", type=int, default=60, help="worlds of a promise")
    parser.add_argument("--others", action="store_true", help="shapes that nothing was tuned on")
    parser.add_argument("--correlated", action="store_true", help="arms that move together")
    parser.add_argument("--shape", type=int, help="one of the shapes alone, counted from 0")
    given = parser.parse_args()
    shapes: tuple[Shape, ...] = UNSEEN if given.others else SHAPES
    shapes = CORRELATED if given.correlated else shapes
    if given.shape is not None:
        shapes = shapes[given.shape : given.shape + 1]
    rows, logs = [], range(given.first, given.first + given.logs)
    if given.correlated:
        columns = ["log", "arms", "structure", START, "HierTS, told", "PooledTS", OPEN, STATED]
        for shape in shapes:
            for way in WAYS:
                rows.append(compare(shape, way, logs))
                print(" | ".join(rows[-1]), flush=True)
        print()
        print(Table("", [*columns, "open less stated"], rows).markdown())
        return
    columns = ["log", "task width", START, "HierTS, told", "PooledTS", "ratio to the better"]
    columns += ["more per decision"]
    if given.promises:
        columns += ["promised", "held", "half-width", "expected: held", "half-width"]
        columns.append("left open")
    for shape in shapes:
        for width in WIDTHS if shape.armed else WIDTHS[:-1]:
            rows.append(study(shape, width, logs, given.promises, given.runs))
            print(" | ".join(rows[-1]), flush=True)
    print()
    print(Table("", columns, rows).markdown())


if __name__ == "__main__":
    main()
