"""The rows of tasks that stand out."""

import numpy as np
import polars as pl
import pytest
from support.learn_logs import drawn, other_prior, posteriors, sums_of

import hierbandits as hb
from hierbandits.learning.outlier_rows import (
    MOST_ROWS,
    MOST_TASKS,
    OutlierRows,
    outlier_rows_section,
)
from hierbandits.learning.outliers import Outliers
from hierbandits.logs import Survey

ODD = (3, 8)


def _found(armed, batch_rows=7, dense=False):
    """A log with odd tasks, its outliers and their rows."""
    rows = drawn(17, armed=armed, tasks=14, events=60)
    for task in ODD:
        rows.rewards[rows.task == task] += 8.0 * rows.vectors[rows.task == task][:, 1]
    prior = other_prior(rows)
    if dense:
        cov = np.diag(prior.task_cov) + 0.02
        prior = hb.GaussianHierarchy.armed(
            3, hyper_mean=prior.hyper_mean, hyper_std=np.sqrt(prior.hyper_cov), task_cov=cov,
            noise_std=prior.noise_std,
        )  # fmt: skip
    known = posteriors(prior, sums_of(rows), rows.population)
    survey = Survey.of(rows.log(batch_rows=batch_rows))
    outliers = Outliers.of(prior, sums_of(rows), known, survey.tasks, survey.coordinates)
    return rows, prior, outliers, OutlierRows.of(survey, outliers, np.array([prior.noise_std]))


@pytest.mark.parametrize(("armed", "dense"), [(True, False), (True, True), (False, False)])
def test_rows_are_those_that_other_tasks_explain_least(armed, dense):
    rows, prior, outliers, found = _found(armed, dense=dense)
    assert {f"t{task}" for task in ODD} <= set(outliers.flagged_tasks)
    assert tuple(dict.fromkeys(found.tasks)) == tuple(outliers.flagged_tasks[:MOST_TASKS])
    for task in ODD:
        mean, cov = rows.joint(prior, rows.task != task).of(task)  # by all other tasks
        own = np.flatnonzero(rows.task == task)
        x = rows.vectors[own]
        std = np.sqrt(np.einsum("ni,ij,nj->n", x, cov, x) + prior.noise_std**2)
        z = (rows.rewards[own] - x @ mean) / std
        order = np.argsort(-np.abs(z), kind="stable")[:MOST_ROWS]
        mine = np.array([name == f"t{task}" for name in found.tasks])
        np.testing.assert_array_equal(found.numbers[mine], own[order])
        np.testing.assert_allclose(found.z[mine], z[order], rtol=1e-6)
        np.testing.assert_allclose(found.expected[mine], (x @ mean)[order], rtol=1e-6)
        np.testing.assert_array_equal(found.rewards[mine], rows.rewards[own[order]])
        np.testing.assert_array_equal(found.features[mine], rows.features[own[order]])


def test_rows_do_not_depend_on_batches():
    one, other = (_found(True, batch_rows)[3] for batch_rows in (5, 100_000))
    np.testing.assert_array_equal(one.numbers, other.numbers)
    assert one.tasks == other.tasks


def test_a_log_without_outliers_is_not_read_again():
    rows, prior, outliers, _ = _found(True)
    none = Outliers.of(
        prior, sums_of(rows), posteriors(prior, sums_of(rows), rows.population), outliers.tasks,
        outliers.coordinates,
    )  # fmt: skip
    none.flagged[:] = False
    survey = Survey.of(rows.log())
    assert OutlierRows.of(survey, none, np.array([prior.noise_std])) is None


def test_the_page_names_row_value_and_what_was_expected():
    rows, _, outliers, found = _found(True)
    section = outlier_rows_section(found)
    assert len(section.rows) == 3 * min(MOST_TASKS, len(outliers.flagged_tasks))
    task, row, arm, reward, *_, z = section.rows[0]
    number = int(row)
    assert rows.frame()["store"][number] == task == outliers.flagged_tasks[0]
    assert rows.frame()["promo"][number] == arm
    assert f"{rows.frame()['revenue'][number]:.4g}" == reward
    assert float(z) == pytest.approx(found.z[0], abs=0.01)
    features = outlier_rows_section(_found(False)[3]).rows[0][2]
    assert features.startswith("x0 = ")


def test_more_tasks_than_are_looked_for_are_counted():
    rows = drawn(3, armed=True, tasks=60, events=30, task_std=0.1)
    odd = np.flatnonzero(rows.task < 13)
    rows.rewards[odd] += 25.0 * (1 - 2 * (rows.task[odd] % 2))
    prior = other_prior(rows)
    known = posteriors(prior, sums_of(rows), rows.population)
    survey = Survey.of(rows.log())
    outliers = Outliers.of(prior, sums_of(rows), known, survey.tasks, survey.coordinates)
    found = OutlierRows.of(survey, outliers, np.array([prior.noise_std]))
    assert len(set(found.tasks)) == MOST_TASKS
    assert found.more_tasks == outliers.flagged.sum() - MOST_TASKS >= 3
    assert f"{found.more_tasks} more tasks stand out." in outlier_rows_section(found).words[1]


def test_a_report_has_the_rows(tmp_path):
    rows = drawn(17, armed=True, tasks=14, events=60)
    rows.rewards[rows.task == 3] += 30.0
    _, report = hb.learn_prior(rows.frame(), **rows.arguments, held_out=0, runs=0)
    page = report.write(tmp_path).read_text()
    frame = pl.read_parquet(tmp_path / "outlier_rows.parquet")
    assert frame.columns == ["task", "row", "arm", "reward", "expected", "std", "z"]
    first = frame.row(0, named=True)
    logged = rows.frame().row(first["row"], named=True)
    assert (first["task"], first["arm"], first["reward"]) == (
        logged["store"], logged["promo"], logged["revenue"],
    )  # fmt: skip
    assert "Rows of tasks that stand out" in page
    assert _found(False)[3].frame().columns[2:5] == ["feature x0", "feature x1", "feature x2"]
