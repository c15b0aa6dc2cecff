"""The appendix's experiment on pictures of digits.  [HBB, Image Classification Experiment]"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np

from hierbandits.environments.digit_bandit import (
    DIAGONAL,
    NEGATIVE,
    NOISE_STD,
    POSITIVE,
    SUBSAMPLES,
    DigitBandit,
)
from hierbandits.environments.images import Images, load
from hierbandits.experiments.experiment import Experiment, Options, Studies, add_rows, labelled
from hierbandits.reporting.figure import panels
from hierbandits.reporting.report import Report
from hierbandits.simulation.plots import regret_curves
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study
from hierbandits.types import Matrix, Vector

POLICIES = ("HierTS", "TS", "OracleTS", "PooledTS")
INTERACTIONS, BATCH, EVERY = 400, 5, 80
ALL, QUICK = tuple(range(10)), (0, 1)
COLUMNS = 5  # of plots


def run(options: Options) -> Report:
    """Regret with each digit as the positive class, and what HierTS has learned of it."""
    runs = options.num_runs(20, 4)
    digits = _digits(options)
    images = load(options.dataset, options.data)
    train, test = images.halves()
    suite = Studies(options, runs * len(POLICIES) * len(digits))
    bandits, studies = {}, {}
    for digit in digits:
        bandits[digit] = DigitBandit.of(train, test, digit)
        studies[digit] = suite.run(
            bandits[digit], POLICIES, Concurrent(BATCH), runs,
            num_interactions=INTERACTIONS, snapshot_every=EVERY,
        )  # fmt: skip
    name = options.dataset or "mnist"
    report = Report(
        "digits",
        "Digits: find the positive class among thirty pictures",
        {"runs": runs, "seed": options.seed, "dataset": name, "sha256": images.sha256()}
        | {"digits": digits, "pictures": [len(train.labels), len(test.labels)]}
        | _settings(bandits[digits[0]]),
    )
    _describe(report, name, bandits[digits[0]], runs)
    _table(report, studies)
    report.figure(
        "digits",
        _curves(studies),
        "Regret over all tasks with each digit as the positive class. Bands are one standard "
        "error.",
    )
    report.figure(
        "hyper",
        _learned(bandits, studies, test),
        f"What HierTS has learned in the first run, every {EVERY} rounds: above, the mean of the "
        "hyper-posterior (red adds to the reward, blue takes from it; the strongest "
        "twentieth of the pixels in full colour), and last mu_*, which OracleTS is told; below, "
        "the test picture that is most rewarding under it.",
    )
    for digit, study in studies.items():
        add_rows(report, study, str(digit), sigma_q=1.0, sigma_0=None, L=BATCH, digit=digit)
    report.frame(
        "curves", labelled((study.frame(), {"digit": digit}) for digit, study in studies.items())
    )
    return report


def _digits(options: Options) -> tuple[int, ...]:
    digits = options.digits or (QUICK if options.quick else ALL)
    if not set(digits) <= set(ALL) or len(set(digits)) < len(digits):
        raise ValueError(f"digits must be distinct and from 0 to 9, got {digits}")
    return digits


def _settings(bandit: DigitBandit) -> dict[str, Any]:
    return {
        "d": bandit.prior.dim,
        "arms": bandit.num_arms,
        "m": bandit.num_tasks,
        "n": INTERACTIONS,
        "L": BATCH,
        "sigma": NOISE_STD,
        "sigma_q": 1.0,
        "mean rewards": [POSITIVE, NEGATIVE],
        "pictures of a task": bandit.subsample,
        "sub-samples for mu_* and Sigma_0": SUBSAMPLES,
        "added to the diagonal of Sigma_0": DIAGONAL,
    }


def _describe(report: Report, name: str, bandit: DigitBandit, runs: int) -> None:
    report.text(
        f"Every interaction offers {bandit.num_arms} pictures; one of the positive class is "
        f"rewarded with probability {POSITIVE}, any other with {NEGATIVE}. The learner sees "
        f"d = {bandit.prior.dim} pixels of each picture and supposes rewards to be linear in them "
        f"with Gaussian noise of {NOISE_STD}. {bandit.num_tasks} tasks of {INTERACTIONS} "
        f"interactions, {BATCH} in a round, {runs} runs; data: {name}.",
        f"A task is a sub-sample of {bandit.subsample} pictures of the test half. Sigma_0 and "
        f"mu_* are the covariance and the mean of the least-squares fit over {SUBSAMPLES} such "
        "sub-samples of the training half; all policies are told Sigma_0, OracleTS alone mu_*. "
        "Sub-samples of one half differ little, so that PooledTS, which takes them for one task, "
        "loses little by it.",
    )


def _table(report: Report, studies: Mapping[int, Study]) -> None:
    rows = []
    for digit, study in studies.items():
        values = [study.mean(name) for name in POLICIES] + [study.difference("TS", "HierTS")]
        rows.append([str(digit), *(f"{mean:.1f} ± {error:.1f}" for mean, error in values)])
    report.table(
        "Final regret over all tasks, ± one standard error",
        ("digit", *POLICIES, "TS minus HierTS (paired)"),
        rows,
    )


def _curves(studies: Mapping[int, Study]) -> Any:
    figure, axes = panels(len(studies), height=2.7, width=2.7, columns=COLUMNS)
    for place, (plot, (digit, study)) in enumerate(zip(axes, studies.items(), strict=True)):
        regret_curves(plot, study, f"digit {digit}")
        if place > 0:
            plot.get_legend().remove()  # the same as in the first
            plot.set(ylabel="regret" if place % COLUMNS == 0 else "")
    return figure


def _learned(bandits: Mapping[int, DigitBandit], studies: Mapping[int, Study], test: Images) -> Any:
    from matplotlib.figure import Figure

    columns = min(2, len(studies))
    rows = ceil(len(studies) / columns)
    figure = Figure(figsize=(6.6 * columns, 1.5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for plot in axes.flat[len(studies) :]:
        plot.set_axis_off()
    for plot, (digit, study) in zip(axes.flat, studies.items(), strict=False):
        learned = study.outcomes["HierTS"].snapshots[0]  # of the first run
        tiles = strip([*learned, bandits[digit].hyper], test)
        names = [str(EVERY * (shot + 1)) for shot in range(len(learned))] + ["$\\mu_*$"]
        width = tiles.shape[1] / len(names)
        plot.imshow(tiles)
        plot.set_xticks([(i + 0.5) * width for i in range(len(names))], names, fontsize=8)
        plot.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
        plot.set_yticks([])
        plot.set_ylabel(f"digit {digit}")
        plot.spines[:].set_visible(False)
    return figure


def strip(parameters: Sequence[Vector], test: Images) -> Matrix:
    """Colours of two rows of tiles: parameters, and the best test picture under each."""
    from matplotlib import colormaps

    tiles = []
    for mu in parameters:
        full = np.quantile(abs(mu), 0.95)  # a few pixels at the edge would drown the rest
        shades = colormaps["RdBu_r"](0.5 + 0.5 * mu / full)[:, :3]
        best = test.pictures[(test.features @ mu).argmax()]
        block = len(best) // test.side
        above = shades.reshape(test.side, test.side, 3).repeat(block, 0).repeat(block, 1)
        below = np.repeat(best[:, :, None] / best.max(), 3, axis=2)
        edge = max(1, len(best) // 16)
        pad = ((edge, edge), (edge, edge), (0, 0))
        tiles.append(np.vstack([np.pad(t, pad, constant_values=1.0) for t in (above, below)]))
    return np.hstack(tiles)


EXPERIMENT = Experiment("the appendix's figure: classifying MNIST's digits as a bandit", run)
