"""The appendix's experiment on pictures of digits.  [HBB, Image Classification Experiment]"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierbandits.environments.digit_bandit import DigitBandit, subsample_size
from hierbandits.environments.digit_estimators import NEGATIVE, NOISE_STD, POSITIVE
from hierbandits.environments.digit_reading import DigitReading
from hierbandits.environments.images import load
from hierbandits.experiments.digit_figures import learned_figure, regret_figure
from hierbandits.experiments.digit_reading_text import describe_reading, reading_settings
from hierbandits.experiments.experiment import (
    Experiment,
    Options,
    StudyRunner,
    add_rows,
    labelled,
)
from hierbandits.experiments.findings import certainty, compared_ratio, of_errors, totals
from hierbandits.reporting.provenance import MADE_FROM
from hierbandits.reporting.report import Report
from hierbandits.simulation.schedules import Concurrent
from hierbandits.simulation.study import Study, mean_and_error, ratio_and_error
from hierbandits.types import Vector

COMPARED = ("HierTS", "TS", "OracleTS", "PooledTS")
INTERACTIONS, ROUND_SIZE, EVERY = 400, 5, 80
ALL, QUICK = tuple(range(10)), (0, 1)


def run(options: Options) -> Report:
    """Regret with each digit as the positive class, and what HierTS has learned of it."""
    runs = options.num_runs(20, 4)
    digits = _checked_digits(options)
    reading = _reading(options)
    images = load(options.dataset, options.data)
    train, test = images.halves()
    runner = StudyRunner(options, runs * len(COMPARED) * len(digits))
    bandits, studies = {}, {}
    for digit in digits:
        bandits[digit] = DigitBandit.of(train, test, digit, reading)
        studies[digit] = runner.run(
            bandits[digit], COMPARED, Concurrent(ROUND_SIZE), runs,
            num_interactions=INTERACTIONS, snapshot_every=EVERY,
        )  # fmt: skip
    name, bandit = options.dataset or "mnist", bandits[digits[0]]
    size = subsample_size(len(train.labels))
    report = Report(
        "digits",
        "Digits: find the positive class among thirty pictures",
        {"runs": runs, "seed": options.seed, "dataset": name, "sha256": images.sha256()}
        | {"digits": digits, "pictures": [len(train.labels), len(test.labels)]}
        | {MADE_FROM: {"log": f"{name}, pictures of digits, SHA-256 {images.sha256()}"}}
        | _settings(bandit)
        | reading_settings(reading, size),
    )
    own, other = (
        np.mean([study.outcomes[policy].total for study in studies.values()], axis=0)
        for policy in ("HierTS", "TS")
    )
    report.answer(
        f"{compared_ratio('HierTS', 'TS', *ratio_and_error(own, other))}, on average over "
        f"{len(digits)} digits.",
        certainty(runs),
    )
    ends = "; ".join(f"{digit}: {totals(studies[digit], COMPARED)}" for digit in digits)
    report.figure(
        "digits",
        regret_figure(studies),
        f"Regret over all tasks with each digit as the positive class; at the end, {ends}. "
        + of_errors(runs, "Bands are one standard error."),
    )
    _describe(report, bandit, runs, name)
    _table(report, studies)
    report.figure(
        "hyper",
        learned_figure(studies, {d: b.hyper for d, b in bandits.items()}, test, EVERY),
        f"What HierTS has learned in the first run, every {EVERY} rounds: above, the mean of the "
        "hyper-posterior (red adds to the reward, blue takes from it; the strongest "
        "twentieth of the pixels in full colour), and last mu_*, which OracleTS is told; below, "
        "the test picture that is most rewarding under it.",
    )
    describe_reading(report, reading, size)
    for digit, study in studies.items():
        add_rows(report, study, str(digit), sigma_q=1.0, sigma_0=None, L=ROUND_SIZE, digit=digit)
    report.frame(
        "curves", labelled((study.frame(), {"digit": digit}) for digit, study in studies.items())
    )
    return report


def _checked_digits(options: Options) -> tuple[int, ...]:
    digits = options.digits or (QUICK if options.quick else ALL)
    if not set(digits) <= set(ALL) or len(set(digits)) < len(digits):
        raise ValueError(f"digits must be distinct and from 0 to 9, got {digits}")
    return digits


def _reading(options: Options) -> DigitReading:
    """The reading that the options ask for; what they leave open is as in the default."""
    asked = {"estimator": options.estimator, "arms_from": options.arms_from}
    return DigitReading(**{name: value for name, value in asked.items() if value is not None})


def _settings(bandit: DigitBandit) -> dict[str, Any]:
    return {
        "d": bandit.prior.dim,
        "arms": bandit.num_arms,
        "m": bandit.num_tasks,
        "n": INTERACTIONS,
        "L": ROUND_SIZE,
        "sigma": NOISE_STD,
        "sigma_q": 1.0,
        "mean rewards": [POSITIVE, NEGATIVE],
        "pictures of a task": bandit.subsample,
    }


def _describe(report: Report, bandit: DigitBandit, runs: int, dataset: str) -> None:
    report.text(
        f"Every interaction offers {bandit.num_arms} pictures. A picture of the positive class is "
        f"rewarded with probability {POSITIVE}, any other with probability {NEGATIVE}. The learner "
        f"sees d = {bandit.prior.dim} pixels of each picture, and assumes that rewards are linear "
        f"in them with Gaussian noise of standard deviation {NOISE_STD}. There are "
        f"{bandit.num_tasks} tasks of {INTERACTIONS} interactions, {ROUND_SIZE} in a round, and "
        f"{runs} runs; the data are {dataset}. All policies are told Sigma_0, and OracleTS alone "
        "is told mu_*.",
    )


def _table(report: Report, studies: Mapping[int, Study]) -> None:
    """A row for each digit, and their mean; every digit's runs meet the same luck."""
    totals = {
        name: np.array([study.outcomes[name].total for study in studies.values()])
        for name in COMPARED
    }  # (digits, runs) each
    columns = [totals[name] for name in COMPARED]
    columns += [totals[name] - totals["HierTS"] for name in ("TS", "PooledTS")]
    rows = [
        [str(digit), *(_cell(column[place]) for column in columns)]
        for place, digit in enumerate(studies)
    ]
    if len(studies) > 1:
        rows.append(["mean", *(_cell(column.mean(axis=0)) for column in columns)])
    report.table(
        "Final regret over all tasks; differences are paired"
        + (", and ± is one standard error" if columns[0].shape[1] > 1 else ""),
        ("digit", *COMPARED, "TS minus HierTS", "PooledTS minus HierTS"),
        rows,
    )


def _cell(values: Vector) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.0f}" if values.size == 1 else f"{mean:.0f} ± {error:.0f}"


EXPERIMENT = Experiment(
    "the appendix's figure: classifying MNIST's digits as a bandit",
    run,
    ("data", "dataset", "digits", "estimator", "arms_from"),
)
