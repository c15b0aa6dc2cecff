"""Makes the pictures of the documentation.

python docs/pictures.py            # draws those of design.md, models.md, tutorial.md and gallery.md
python docs/pictures.py results    # copies those of experiments, from the folder that
                                   # `hierbandits reproduce` has left them in
"""

import sys
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import hierbandits as hb
from hierbandits.policies import BeliefView
from hierbandits.reporting.figure import panels
from hierbandits.simulation.plots import regret_curves

POLICIES = ("HierTS", "AdaptiveHierTS", "TS", "PooledTS")
IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"
FIGURES = {
    "clicks": "clicks/clicks",
    "digits_learned": "digits/hyper",
    "digits_regret": "digits/digits",
    "rules": "rules/rules",
    "rules_long": "rules/rules_long",
    "shapes": "shapes/shapes",
    "similarity": "similarity/similarity",
    "synthetic": "synthetic/synthetic",
}
"""The pictures of experiments, and the figure of a report that each is."""
GALLERY = ("learn/evidence", "learn/widths", "learn/forest", "learn/calibration", "learn/regret")
GALLERY += ("evaluate/differences",)
"""The figures of the sample log's reports that the gallery shows."""


def experiments(results: Path) -> None:
    """Copy the figures of the experiments that are in this folder."""
    for name, figure in FIGURES.items():
        source = results / f"{figure}.png"
        if source.is_file():
            copyfile(source, IMAGES / f"{name}.png")
            print(f"{name}.png is {source}")


def node(axes, x, y, text, colour=GREY):
    axes.text(
        x, y, text, ha="center", va="center", fontsize=9,
        bbox={"boxstyle": "round,pad=0.45", "fc": "white", "ec": colour, "lw": 1.6},
    )  # fmt: skip


def edge(axes, start, end, colour=GREY, arrow=False, lw=1.2):
    style = {"arrowstyle": "-|>" if arrow else "-", "color": colour, "lw": lw}
    axes.annotate("", end, start, arrowprops=style, zorder=0)


def forest(axes):
    axes.set_title("A forest: each population is a tree", fontsize=10)
    for left, name in ((0.0, "population 0"), (6.0, "population 1")):
        root = (left + 2.0, 2.0)
        for group in range(2):
            middle = (left + 1.0 + 2.0 * group, 1.0)
            edge(axes, root, middle)
            for task in range(2):
                leaf = (middle[0] - 0.5 + task, 0.0)
                edge(axes, middle, leaf)
                node(axes, *leaf, "task")
            node(axes, *middle, "group")
        node(axes, *root, name, BLUE)
    axes.set(xlim=(-0.2, 10.2), ylim=(-0.5, 2.5))


def event(axes):
    axes.set_title("One event climbs: a task's innovation is its parent's observation", fontsize=10)
    spots = {"event": (0.6, 0.0), "task": (3.4, 0.0), "root": (3.4, 1.15), "log": (3.4, 2.2)}
    node(axes, *spots["event"], "features x, reward y\nnoise σ²", ORANGE)
    node(axes, *spots["task"], "task:  t, S\nu = P x,  v = σ² + x·u\nr = y − x·t")
    node(axes, *spots["root"], "population:  mean, S\ne = r − w·mean,  V = v + w·P w", BLUE)
    node(axes, *spots["log"], "log evidence\n−½ (log 2πV + e²/V)")
    edge(axes, (1.55, 0.0), (2.1, 0.0), ORANGE, True, 2)
    edge(axes, (3.4, 0.34), (3.4, 0.86), ORANGE, True, 2)
    edge(axes, (3.4, 1.42), (3.4, 1.92), ORANGE, True, 2)
    axes.text(3.5, 0.6, "features w = Σ₀⁻¹ u, reward r, noise v", fontsize=9, va="center")
    axes.set(xlim=(-0.4, 6.4), ylim=(-0.5, 2.6))


def engine() -> None:
    """Draw the forest, and the way of an event through it, for design.md."""
    figure = Figure(figsize=(11.5, 3.6), layout="constrained")
    for axes, draw in zip(figure.subplots(1, 2), (forest, event), strict=True):
        axes.axis("off")
        draw(axes)
    _save(figure, "forest")


def models() -> None:
    """Draw, for models.md, what tasks of each model are like: predictors, and mean rewards."""
    cases = {
        "gaussian": (hb.models.GaussianRewards(0.7), 2.0, 1.0, 0.5, "mean reward"),
        "clicks": (hb.models.BernoulliRewards(), -2.2, 0.8, 0.5, "probability of a click"),
        "counts": (hb.models.PoissonRewards(), 1.0, 0.6, 0.4, "mean count"),
    }
    for name, (family, centre, hyper_std, task_std, what) in cases.items():
        rng = np.random.default_rng(3)
        mu = centre + hyper_std * rng.standard_normal(3)
        eta = np.linspace(centre - 4.5, centre + 4.5, 900)
        figure, (left, right) = panels(2, height=2.5, width=4.4)
        for place, colour in zip(mu, (BLUE, ORANGE, "#009e73"), strict=True):
            tasks = place + task_std * rng.standard_normal(8)
            bell = np.exp(-((eta - place) ** 2) / (2 * task_std**2))
            left.plot(eta, bell, color=colour)
            left.vlines(tasks, 0, 0.12, color=colour)
            mean = family.mean(eta)
            density = bell / np.gradient(mean, eta)
            right.plot(mean, density / density.max(), color=colour)
            right.vlines(family.mean(tasks), 0, 0.12, color=colour)
        left.set(xlabel=family.LINK, title="a curve for each arm, a line for each task", yticks=[])
        right.set(xlabel=what, title="the same as rewards", yticks=[], ylim=(0, None))
        if name == "counts":
            right.set_xlim(0, 12)
        _save(figure, f"model_{name}")


def tutorial() -> None:
    """Draw the figures and print the table of tutorial.md."""
    data = hb.datasets.warfarin()
    log = data.as_log(np.random.default_rng(0))
    _, report = hb.learn_prior(log, held_out=0, runs=0)
    shrinkage = next(part for part in report.sections() if part.name == "shrinkage")
    assert shrinkage.draw is not None
    _save(shrinkage.draw(), "tutorial_shrinkage")
    rates = data.counts / data.counts.sum(axis=1, keepdims=True)
    seen = np.arange(22) % 2 == 0
    names = [site for site, is_seen in zip(data.sites, seen, strict=True) if is_seen]
    rows = log.source.filter(pl.col("site").is_in(names))
    half = hb.Log.read(rows, log.columns, arms=data.doses)
    learned, _ = hb.learn_prior(half, held_out=0, runs=0)
    print("mu is known to within", hb.Belief(learned).hyper().std.round(3))
    vague = learned.with_levels(np.full(3, 1 / 3), [np.full(3, 0.25**2), learned.task_cov])
    figure, both = panels(2, height=3.8, width=4.8)
    priors = {"without a log": vague, "with the log of other sites": learned}
    every_site = hb.schedules.Federated()
    for axes, (title, prior) in zip(both, priors.items(), strict=True):
        world = hb.environments.KnownBandit(means=rates[~seen], prior=prior, rewards="bernoulli")
        for patients in (10, 30, 100, 300):
            study = hb.simulate(world, POLICIES, every_site, 200, num_interactions=patients)
            cells = [f"{n} {study.mean(n)[0]:.1f} ± {study.mean(n)[1]:.1f}" for n in POLICIES]
            mean, error = study.difference("HierTS", "PooledTS")
            cells.append(f"HierTS less PooledTS, paired {mean:+.1f} ± {error:.1f}")
            print(f"{title:28} {patients:3}  ", "  ".join(cells))
        regret_curves(axes, study, title)
        axes.set_xlabel("patients at each site")
    _save(figure, "tutorial_regret")


def gallery() -> None:
    """Draw the figures of the sample log's reports for gallery.md."""
    with TemporaryDirectory() as folder:
        path = hb.datasets.sample_log(Path(folder) / "stores.csv")
        guess = hb.inspect(path)
        looked = hb.inspect(path, **guess.proposal, reading=guess.suggested)
        reading = replace(looked.suggested, merge_names=True)
        log = hb.Log.read(path, hb.Columns(**guess.proposal), reading=reading)
        _, report = hb.learn_prior(log, runs=40)
        report.write(f"{folder}/learn")
        hb.evaluate(log).write(f"{folder}/evaluate")
        for name in GALLERY:
            copyfile(f"{folder}/{name}.png", IMAGES / f"gallery_{Path(name).name}.png")


def grid() -> None:
    """Draw an arm's grid and what it says of tasks, for models.md."""
    rng, names = np.random.default_rng(7), ("store with no click", "store with 3", "store with 9")
    shown = [(0.0, 60.0), (3.0, 60.0), (9.0, 120.0)]
    rates = rng.beta(6.0, 194.0, 57)
    trials = rng.integers(40, 160, 57).astype(float)
    clicks = np.concatenate([[c for c, _ in shown], rng.binomial(trials.astype(int), rates)])
    trials = np.concatenate([[n for _, n in shown], trials])
    belief = hb.GridBelief(hb.BetaHierarchy(1), num_tasks=61)
    belief.observe(np.arange(60), np.zeros(60, int), clicks, exposure=trials)
    cells = belief.hyper_cells(0)
    figure, (left, right) = panels(2, height=3.8, width=4.8)
    heavy = cells.weight > 1e-5 * cells.weight.max()
    left.scatter(
        100 * cells.mean[heavy], cells.task_std[heavy], color=BLUE, alpha=0.7, lw=0,
        s=100 * cells.weight[heavy] / cells.weight.max(),
    )  # fmt: skip
    left.set(yscale="log", xlabel="the arm's mean m, %", ylabel="width of tasks t")
    left.set_title("Each dot is a cell; its area grows with its weight", fontsize=10)
    places = np.linspace(1e-4, 0.14, 600)
    draws, slots = BeliefView(belief).draws(rng, [0, 1, 2, 60], repeats=100_000)
    theta = draws[slots].reshape(-1, 4)
    colours = (BLUE, ORANGE, "#009e73", GREY)
    for k, (name, colour) in enumerate(zip((*names, "a new store"), colours, strict=True)):
        heights, edges = np.histogram(theta[:, k], bins=70, range=(0.0, 0.14), density=True)
        right.plot(50 * (edges[1:] + edges[:-1]), heights / 100, color=colour, label=name)
        if k < 3:
            c, n = shown[k]
            own = places**c * (1 - places) ** (n - c)
            own /= own.sum() * (places[1] - places[0])
            right.plot(100 * places, own / 100, color=colour, ls="--", lw=1)
    right.set(xlabel="success rate, %", ylabel="density", xlim=(0, 14))
    right.set_title("What stores share, and what they clicked", fontsize=10)
    right.legend(fontsize=8, frameon=False)
    _save(figure, "grid")


def _save(figure: Figure, name: str) -> None:
    """Write the picture into the folder of images."""
    figure.savefig(IMAGES / f"{name}.png", dpi=130)


if __name__ == "__main__":
    if sys.argv[1:]:
        experiments(Path(sys.argv[1]))
        sys.exit()
    engine()
    models()
    tutorial()
    gallery()
    grid()
