"""The paper's figure: its panels, its files, the bounds beside it."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from support.study_files import assert_rows_match, totals

from hierbandits import bounds
from hierbandits.experiments.experiment import paper_problem


def test_the_synthetic_panels(reports):
    report, folder, _ = reports("synthetic")
    rows = report.rows
    for panel, width in (("a", 0.5), ("b", 1.0)):
        own = {row["policy"]: row for row in rows if row["panel"] == panel}
        assert set(own) == {"HierTS", "TS", "OracleTS", "PooledTS", "HierUCB"}
        for row in own.values():
            assert (row["sigma_q"], row["sigma_0"], row["L"]) == (width, 0.1, 5)
        curves = pl.read_parquet(folder / f"curves_{panel}.parquet").filter(round=400)
        regrets = {
            name: curves.filter(policy=name)["regret"].to_numpy()
            for name in curves["policy"].unique()
        }
        assert_rows_match(own, regrets)
        assert own["OracleTS"]["mean"] < own["HierTS"]["mean"] < own["TS"]["mean"]
    sizes = {(row["sigma_q"], row["L"]): row for row in rows if row["panel"] == "c"}
    assert list(sizes) == [(width, size) for width in (0.5, 1.0) for size in (1, 2, 5, 10)]
    assert_rows_match(sizes, totals(folder / "tasks_c.parquet", "sigma_q", "L"))
    same = {row["panel"]: row["mean"] for row in rows if row["policy"] == "HierTS"
            and (row["sigma_q"], row["L"]) == (0.5, 5)}  # fmt: skip
    assert same["a"] == same["c"]


def _eta(arms):
    """The largest least eigenvalue of a a' + b b' over pairs of arms."""
    pairs = combinations(arms, 2)
    return max(np.linalg.eigvalsh(np.outer(a, a) + np.outer(b, b))[0] for a, b in pairs)


@pytest.mark.parametrize(("width", "size"), [(0.5, 5), (1.0, 10)])
def test_the_bounds_are_averages_over_the_action_sets_of_the_first_runs(reports, width, size):
    report, _, _ = reports("synthetic")
    problem = paper_problem(width, 0.1)
    sets = problem.worlds(np.random.default_rng([1, 0, 0]), 1, 0, 100).sets
    (row,) = (r for r in report.rows
              if (r["panel"], r["sigma_q"], r["L"]) == ("c", width, size))  # fmt: skip
    for key, constants in (("bound", "repaired"), ("bound_paper", "paper")):
        values = [
            bounds.concurrent(
                problem.prior, 10, 200, size, eta=_eta(arms), constants=constants,
                max_norm=np.sqrt(0.5),
            ).total
            for arms in sets
        ]  # fmt: skip
        assert row[key] == pytest.approx(np.mean(values))
    assert row["bound"] < row["bound_paper"]
