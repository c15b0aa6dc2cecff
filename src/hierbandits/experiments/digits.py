"""The appendix's experiment on pictures of digits.  [HBB, Image Classification Experiment]"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from hierbandits.environments.digits import (
    DIAGONAL,
    NEGATIVE,
    NOISE_STD,
    POSITIVE,
    SUBSAMPLES,
    DigitBandit,
)
from hierbandits.experiments.experiment import Experiment, Options, Progress, add_rows
from hierbandits.images import Images, load
from hierbandits.plots import regret_curves
from hierbandits.report import Report
from hierbandits.schedules import Concurrent
from hierbandits.study import Study

POLICIES = ("HierTS", "TS", "OracleTS", "PooledTS")
INTERACTIONS, BATCH, EVERY = 400, 5, 80
ALL, QUICK = tuple(range(10)), (0, 1)


def run(options: Options) -> Report:
    """Regret with each digit as the positive class, and what HierTS has learned of it."""
    runs = options.num_runs(20, 4)
    digits = _digits(options)
    images = load(options.dataset, options.data)
    train, test = images.halves()
    progress = Progress(options, runs * len(POLICIES) * len(digits))
    bandits, studies = {}, {}
    for digit in digits:
        bandits[digit] = DigitBandit.of(train, test, digit)
        studies[digit] = progress.study(
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
        "hyper-posterior (red adds to the reward, blue takes from it), and last mu_*, which "
        "OracleTS is told; below, the test picture that is most rewarding under it.",
    )
    for digit, study in studies.items():
        add_rows(report, study, str(digit), sigma_q=1.0, sigma_0=None, L=BATCH, digit=digit)
    report.frame("curves", _frame(studies))
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
        "does as well as HierTS.",
    )


def _table(report: Report, studies: Mapping[int, Study]) -> None:
    rows = []
    for digit, study in studies.items():
        values = [study.mean(name) for name in POLICIES] + [study.difference("TS", "HierTS")]
        rows.append([str(digit), *(f"{value:.1f}" for pair in values for value in pair)])
    columns = [cell for name in POLICIES for cell in (name, "± s.e.")]
    report.table(
        "Final regret over all tasks",
        ("positive digit", *columns, "TS minus HierTS", "± s.e. (paired)"),
        rows,
    )


def _curves(studies: Mapping[int, Study]) -> Any:
    from matplotlib.figure import Figure

    columns = min(5, len(studies))
    rows = ceil(len(studies) / columns)
    figure = Figure(figsize=(0.6 + 2.7 * columns, 0.4 + 2.5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for place, plot in enumerate(axes.flat):
        if place >= len(studies):
            plot.set_axis_off()
            continue
        digit, study = list(studies.items())[place]
        regret_curves(plot, study, f"digit {digit}")
        plot.spines[["top", "right"]].set_visible(False)
        plot.grid(alpha=0.25)
        if place > 0:
            plot.get_legend().remove()  # the same as in the first
            plot.set(ylabel="regret" if place % columns == 0 else "")
    return figure


def _learned(bandits: Mapping[int, DigitBandit], studies: Mapping[int, Study], test: Images) -> Any:
    """Two rows for each digit: hyper-parameters, and the best test picture under each."""
    from matplotlib.figure import Figure

    shots = {digit: study.outcomes["HierTS"].snapshots[0] for digit, study in studies.items()}
    columns = 1 + len(next(iter(shots.values())))
    figure = Figure(figsize=(0.4 + 0.85 * columns, 0.3 + 1.8 * len(shots)), layout="constrained")
    axes = figure.subplots(2 * len(shots), columns, squeeze=False)
    for row, (digit, learned) in enumerate(shots.items()):
        parameters = [*learned, bandits[digit].hyper]
        for column, mu in enumerate(parameters):
            above, below = axes[2 * row : 2 * row + 2, column]
            size = abs(mu).max()
            above.imshow(mu.reshape(test.side, -1), cmap="RdBu_r", vmin=-size, vmax=size)
            best = int((bandits[digit].features @ mu).argmax())
            below.imshow(test.pictures[best], cmap="gray")
            last = column == len(learned)
            above.set_title("$\\mu_*$" if last else f"{EVERY * (column + 1)}", fontsize=9)
            for each in (above, below):
                each.set(xticks=[], yticks=[])
        axes[2 * row, 0].set_ylabel(f"digit {digit}", fontsize=9)
    return figure


def _frame(studies: Mapping[int, Study]) -> Any:
    import polars as pl

    parts = [
        study.frame().with_columns(pl.lit(digit, pl.Int64).alias("digit"))
        for digit, study in studies.items()
    ]
    return pl.concat(parts)


EXPERIMENT = Experiment("the appendix's figure: classifying MNIST's digits as a bandit", run)
