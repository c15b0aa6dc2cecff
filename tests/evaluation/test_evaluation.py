"""The results of an evaluation, for people and for programs."""

import json
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from support.logged import World

from hierbandits import evaluate


@pytest.fixture(scope="module")
def evaluation():
    world = World.drawn(np.random.default_rng(13))
    log = world.log(world.rows(np.random.default_rng(14), 300))
    return evaluate(log, ["HierOPO", "uniform", "HierTS"], prior=world.prior())


def test_the_summary_prints_and_looks_up(evaluation):
    text = str(evaluation)
    for word in ("logged", "SNIPS", "replay", "never logged", "accepted"):
        assert word in text
    with pytest.raises(KeyError, match="no estimate of"):
        evaluation["uniform", "replay"]
    assert evaluation.frame().height == 10
    assert evaluation.task_frame().height == 10 * 6


def test_the_verdict_comes_first(evaluation):
    line, verdict = repr(evaluation), evaluation.verdict.sentence
    assert line == f"<Evaluation on 300 rows of 6 tasks: {verdict}>"
    assert "\n" not in line
    assert str(evaluation).startswith(f"{verdict}\n\nEstimates")


def test_the_method_to_trust_first_is_doubly_robust(evaluation):
    trusted = {each.policy: each.method for each in evaluation.trusted()}
    assert trusted == {"HierOPO": "dr", "uniform": "dr", "HierTS": "replay"}


def test_plain_data_have_every_estimate(evaluation):
    data = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert (data["rows"], data["tasks"], data["arms"]) == (300, 6, ["a0", "a1", "a2"])
    assert [each["value"] for each in data["estimates"]] == [e.value for e in evaluation.estimates]
    assert data["estimates"][1]["improvement_low"] == evaluation.estimates[1].improvement_low
    assert data["diagnostics"]["uniform"]["rows"] == 300
    accepted = evaluation.replays["HierTS"].accepted
    assert data["replays"]["HierTS"]["accepted"] == accepted
    assert data["verdict"]["sentence"] == evaluation.verdict.sentence
    assert [each["low"] for each in data["differences"]] == [e.low for e in evaluation.differences]
    assert data["warnings"] == list(evaluation.warnings)
    assert data["settings"]["confidence"] == 0.95


def test_the_terminal_shows_notes_tables_and_warnings(evaluation):
    text = StringIO()
    evaluation.show(Console(file=text, width=200))
    shown = text.getvalue()
    joined = " ".join(shown.split())
    for sentence in (*evaluation.notes, *evaluation.warnings):
        assert " ".join(sentence.split()) in joined
    assert joined.startswith(evaluation.verdict.sentence)
    for word in ("Estimates, ± 95 % intervals", "can they be trusted?", "Replay", "HierOPO's arms"):
        assert word in shown
