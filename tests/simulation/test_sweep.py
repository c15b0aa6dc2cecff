"""A sweep: the same numbers as its studies, in one table."""

import polars as pl
import pytest
from support.environments import ENVIRONMENTS

import hierbandits as hb
from hierbandits.simulation.schedules import SCHEDULES, Concurrent

WORLDS = {"arms": ENVIRONMENTS["armed"], "features": ENVIRONMENTS["linear, arms per run"]}


@pytest.fixture(scope="module")
def swept():
    heard = []
    made = hb.sweep(
        WORLDS,
        ["TS", "HierTS"],
        ["sequential", "federated"],
        5,
        3,
        num_interactions=4,
        progress=lambda *step: heard.append(step),
    )
    assert heard[-1] == (40, 40)
    return made


def test_each_study_is_that_of_simulate(swept):
    assert list(swept.studies) == [(w, s) for w in WORLDS for s in ("sequential", "federated")]
    alone = hb.simulate(
        WORLDS["features"], ["HierTS"], SCHEDULES["federated"], 5, 3, num_interactions=4
    )
    assert swept.studies["features", "federated"].mean("HierTS") == alone.mean("HierTS")


def test_one_table_has_everything(swept, tmp_path):
    rows = swept.rows()
    assert len(rows) == 8
    assert [row["policy"] for row in rows] == ["TS", "HierTS"] * 4
    study = swept.studies["arms", "sequential"]
    assert (rows[1]["difference"], rows[1]["difference_error"]) == study.difference("HierTS", "TS")
    frame = swept.frame()
    assert frame.to_dicts() == rows
    assert swept.to_pandas().to_dict("records") == rows
    swept.write_parquet(tmp_path / "sweep.parquet")
    assert pl.read_parquet(tmp_path / "sweep.parquet").equals(frame)


def test_a_sweep_shows_itself(swept, tmp_path):
    assert repr(swept) == "<Sweep of 2 worlds, 2 schedules and 2 policies, 5 runs each>"
    assert swept._repr_html_().count("<tr>") == 9
    assert len(swept.picture().figure.axes) >= 4
    page = swept.write(tmp_path)
    assert "arms" in page.read_text()
    assert (tmp_path / "sweep.png").exists()
    assert pl.read_parquet(tmp_path / "sweep.parquet").equals(swept.frame())


def test_schedules_may_be_ones_own():
    made = hb.sweep({"arms": WORLDS["arms"]}, ["TS"], {"two": Concurrent(2)}, 2, num_interactions=2)
    assert list(made.studies) == [("arms", "two")]


@pytest.mark.parametrize(
    ("worlds", "schedules", "message"),
    [
        ([WORLDS["arms"]], ["federated"], "worlds must be a mapping from name to environment"),
        ({}, ["federated"], "worlds must be a mapping"),
        (WORLDS, "federated", "schedules must be names among sequential, "),
        (WORLDS, ["sometimes"], "schedules must be names among sequential, "),
        (
            WORLDS,
            {"wide": Concurrent(99)},
            "world 'arms', schedule 'wide': schedule's size",
        ),
    ],
)
def test_what_is_wrong_is_named(worlds, schedules, message):
    with pytest.raises(ValueError, match=message):
        hb.sweep(worlds, ["TS"], schedules, 2, num_interactions=2)
