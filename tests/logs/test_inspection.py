"""What was found: for people, for programs, and the command that goes on."""

import json
import shlex
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from support.messy_logs import ROLES, as_text, messy_file, rows_of, write

import hierbandits as hb


def _shown(inspection):
    page = StringIO()
    inspection.show(Console(width=150, file=page))
    return page.getvalue()


def test_a_messy_log_is_shown_with_the_command_that_goes_on(tmp_path):
    path = tmp_path / "my log.csv"
    messy_file(3, ["empty_reward", "missing_word", "american_days"], path)
    inspection = hb.inspect(path, **ROLES)
    text = _shown(inspection)
    for part in (
        "The log", "mean reward", "Columns, 300 rows", " cells are missing (rows ",
        "Problem: time, column 'day'", "Rows are counted from 0",
        "A log is refused while it has problems",
    ):  # fmt: skip
        assert part in text
    learn, evaluate = inspection.commands
    words = shlex.split(evaluate)
    assert words[:3] == ["hierbandits", "evaluate", str(path)]
    assert words[3:] == [
        "--task=store", "--arm=promo", "--reward=revenue", "--propensity=p", "--time=day",
        "--decision=id", "--missing=n/a", "--drop-missing", "--time-format=%m/%d/%Y",
    ]  # fmt: skip
    assert learn == (
        evaluate.replace("evaluate", "learn", 1).replace(" --propensity=p", "")
        + " --agent=agent.hb"
    )
    assert text.rstrip().endswith(f"Go on with: {learn}\nGo on with: {evaluate}")
    assert repr(inspection) == (
        "<Inspection of 300 rows and 7 columns: 3 problems that stop, 1 to look at>"
    )


def test_plain_data_is_json(tmp_path):
    path = tmp_path / "log.csv"
    messy_file(4, ["empty_reward", "copies"], path)
    data = json.loads(json.dumps(hb.inspect(path, **ROLES).to_dict(), allow_nan=False))
    assert (data["sound"], data["rows"], data["roles"]) == (False, 308, ROLES)
    assert data["suggested"] == {"drop_missing": True, "drop_repeated": True}
    assert {problem["role"] for problem in data["problems"] if problem["stops"]} == {
        "reward", "decision"
    }  # fmt: skip
    assert data["summary"]["arms"][0]["rows"] > 0
    assert [column["name"] for column in data["columns"]][:2] == ["id", "store"]


def test_a_command_to_learn_names_what_learn_takes(tmp_path):
    path = write(tmp_path / "log.csv", as_text(rows_of(np.random.default_rng(0))))
    named = {"task": "store", "reward": "revenue"}
    inspection = hb.inspect(path, **named, arm="promo")
    assert inspection.commands == (
        f"hierbandits learn {path} --task=store --arm=promo --reward=revenue --agent=agent.hb",
    )
    assert "Go on with: hierbandits learn" in _shown(inspection)
    features = hb.inspect(path, **named, features=["p"], time="day")
    (command,) = features.commands
    assert command.split()[1] == "learn"
    assert "--features=p" in command
    assert "--time=day" in command
    assert "--agent" not in command


def test_a_frame_is_called_log(tmp_path):
    inspection = hb.inspect({"s": ["a", "b"], "k": ["x", "y"], "y": [1.0, 2.0]})
    assert inspection.commands[0].startswith("hierbandits inspect LOG")
    assert inspection.source == "dict"
    assert inspection.is_sound


def test_words_for_missing_cells_are_gathered():
    cells = {"s": ["a", "b"], "k": ["x", "y"], "y": [1.0, 2.0]}
    inspection = hb.inspect(cells, reading=hb.Reading(missing=["NA"]))
    assert inspection.suggested == hb.Reading(missing=["NA"])


@pytest.mark.parametrize("roles", [{}, ROLES])
def test_a_clean_log_says_so(roles, tmp_path):
    rows = rows_of(np.random.default_rng(1))
    for place, row in enumerate(rows):
        row[5] = "0.25" if row[2] == "none" else "0.375"
        row[6] = f"c{place % 4}"
    path = write(tmp_path / "log.csv", as_text(rows))
    inspection = hb.inspect(path, **roles)
    assert inspection.problems == ()
    assert ("No problems." in _shown(inspection)) == bool(roles)
