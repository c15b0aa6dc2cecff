"""The table of experiments: each leaves a complete folder."""

import json
import re

import polars as pl
import pytest

from hierbandits.experiments import EXPERIMENTS

KEYS = {"experiment", "panel", "sigma_q", "sigma_0", "L", "policy", "runs"}
KEYS |= {"mean", "standard_error"}
OURS = [name for name in EXPERIMENTS if name != "digits"]  # which has data, and its own test


@pytest.mark.parametrize("name", OURS)
def test_an_experiment_leaves_a_complete_folder(name, reports):
    report, folder, heard = reports(name)
    rows = json.loads((folder / "summary.json").read_text())
    assert rows == json.loads(json.dumps(report.rows))
    assert all(set(row) >= KEYS and row["experiment"] == name for row in rows)
    assert all(row["runs"] == 4 for row in rows)
    assert heard[-1][0] == heard[-1][1]  # the bar ends at its end
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["seed"] == 1
    assert {"hierbandits", "numpy", "numba", "python"} <= set(settings["versions"])
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / f"{name}.svg").read_text()
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 1
    assert not re.search(r'(src|href)="http', page)  # one page, nothing fetched
    frames = [pl.read_parquet(path) for path in folder.glob("*.parquet")]
    assert frames
    assert all("regret" in frame.columns for frame in frames)
    assert settings["files"] == sorted(path.name for path in folder.iterdir())
