"""Sentences of experiments hold the numbers of the run."""

import re

import numpy as np
import polars as pl
import pytest

from hierbandits import Study
from hierbandits.experiments import EXPERIMENTS, Options
from hierbandits.experiments.findings import (
    certainty,
    compared,
    compared_ratio,
    interval,
    number,
    of_errors,
    ratio_interval,
    spread,
    sure,
    totals,
)
from hierbandits.simulation.study import Outcome

NAN = float("nan")


def _study(**totals):
    outcomes = {}
    for name, values in totals.items():
        total = np.array(values, float)
        empty = np.zeros((total.size, 0, 1))
        outcomes[name] = Outcome(total[:, None], total[:, None], total, total, empty, 0.0)
    return Study(np.array([1]), outcomes)


def test_a_difference_is_less_more_or_not_told():
    assert compared_ratio("A", "B", 0.6, 0.02) == "A has 40 ± 2 % less regret than B"
    assert compared_ratio("A", "B", 1.25, 0.1) == "A has 25 ± 10 % more regret than B"
    assert compared_ratio("A", "B", 1.05, 0.03) == "A has about the regret of B (+5.0 ± 3 %)"
    assert compared_ratio("A", "B", 0.999, 0.004) == "A has about the regret of B (-0.1 ± 0.4 %)"
    assert compared_ratio("A", "B", 0.6, NAN) == "A had 40 % less regret than B"
    study = _study(A=[1, 2, 3], B=[2, 4, 6.1])
    assert compared(study, "A", "B") == "A has 50 ± 0.3 % less regret than B"


def test_few_runs_need_more_standard_errors():
    """Two runs that happen to agree have a small error, and tell nothing."""
    assert [round(sure(runs), 1) for runs in (2, 3, 10, 1000)] == [12.7, 4.3, 2.3, 2.0]
    assert "less than 13 standard errors may be luck" in certainty(2)
    assert "less than 2 standard errors may be luck" in certainty(500)
    two = _study(A=[1.0, 1.1], B=[1.5, 2.0])
    assert compared(two, "A", "B").startswith("A has about the regret of B (")
    assert ratio_interval(two, "A", "B") == "0.60 (-0.13 to 1.33)"  # 12.7 errors of 0.1 / 1.75
    many = _study(A=[1.0, 1.1] * 20, B=[1.5, 2.0] * 20)
    assert ratio_interval(many, "A", "B") == "0.60 (0.58 to 0.62)"
    assert compared(many, "A", "B").startswith("A has 40 ± ")


def test_one_run_has_numbers_and_no_errors():
    study = _study(A=[3.25], B=[6.5])
    assert totals(study, ["A", "B"]) == "A 3.25, B 6.5"
    assert compared(study, "A", "B") == "A had 50 % less regret than B"
    assert (number(2.0, NAN), interval(2.0, NAN)) == ("2", "2.00")
    assert "There is one run" in certainty(1)
    assert "±" not in certainty(1)
    assert (
        of_errors(1, "Bars are errors.") == "There is one run, so that there are no errors to show."
    )


def test_several_runs_have_both():
    assert totals(_study(A=[2, 4]), ["A"]) == "A 3.0 ± 1.0"
    assert number(1075.3, 72.4) == "1,075 ± 72"
    assert number(0.99996, 0.0648) == "1.000 ± 0.065"
    assert number(123456.0, 1840.0) == "123,456 ± 1,840"
    assert number(2.0, 0.0) == "2 ± 0"
    assert number(0.5, 1.26e-9) == "0.5 ± 1.3e-09"
    assert interval(2.0, 0.5) == "2.00 (1.50 to 2.50)"
    assert interval(2.0, 0.5, digits=1) == "2.0 (1.5 to 2.5)"
    assert certainty(1000).startswith("From 1,000 runs.")
    assert of_errors(2, "Bars are errors.") == "Bars are errors."
    assert spread([1.0, 3.0, 2.0]) == "from 1.00 to 3.00 times, 2.00 in the middle"


@pytest.mark.parametrize("name", ["meta", "similarity"])
def test_an_experiment_of_one_run_claims_no_interval(name, tmp_path):
    report = EXPERIMENTS[name].run(Options(runs=1, seed=2, quick=True))
    page = re.sub(r"base64,[^\"]*", "", report.write(tmp_path).read_text())
    page = page[: page.index("<details>")]
    assert "nan" not in page.split("</style>")[1]
    assert "There is one run" in page
    assert not re.search(r"\d ± \d|\d to \d|% interval", page.split("</style>")[1])
    assert all(row["standard_error"] != 0 for row in report.rows)
    assert '"standard_error": null' in (tmp_path / "summary.json").read_text()


def test_rules_need_two_runs():
    with pytest.raises(ValueError, match="runs must be at least 2"):
        EXPERIMENTS["rules"].run(Options(runs=1, quick=True))


@pytest.mark.parametrize("name", ["synthetic", "similarity", "adaptive", "concurrency", "meta"])
def test_a_page_opens_with_an_answer_from_this_run(name, reports):
    report, folder, _ = reports(name)
    page = (folder / "report.html").read_text()
    opening = ['class="answer"', 'class="certainty"', "<figure", "<table", "<footer>"]
    places = [page.index(part) for part in opening]
    assert places == sorted(places)
    caption = re.search(r"<figcaption>(.*?)</figcaption>", page)[1]
    assert "From 4 runs." in page
    pairs = [
        (row["ratio"], row["ratio_error"])
        if "ratio" in row
        else (row["mean"], row["standard_error"])
        for row in report.rows
    ]
    if name == "meta":  # whose numbers are of single tasks
        frame = pl.read_parquet(folder / "tasks_0.1.parquet").filter(policy="TS", task=19)
        pairs = [(frame["regret"].mean(), frame["regret"].std() / 2)]
    assert any(number(*pair) in caption for pair in pairs)
