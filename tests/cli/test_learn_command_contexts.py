"""From a log with contexts to a warm agent, by the command line, in processes of their own."""

import json

import numpy as np
import polars as pl
from support.context_worlds import CITIES, PROMOS, context_log
from support.processes import command, python

import hierbandits as hb


def _done(*words):
    result = command(*map(str, words))
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_from_a_log_to_decisions_and_rewards(tmp_path):
    world, frame, _ = context_log(3, count=600, stores=5)
    log, agent, out = tmp_path / "log.csv", tmp_path / "agent.hb", tmp_path / "out"
    frame.write_csv(log)
    shown = _done(
        "learn", log, "--task", "store", "--arm", "promo", "--features", "age,city", "--reward",
        "revenue", "--structure", "diagonal", "--runs", 0, "--held-out", 0, "--agent", agent,
        "--out", out,
    )  # fmt: skip
    report = json.loads((out / "report.json").read_text())
    assert "promo=flyer × age" in report["similarity"]["coordinates"]
    assert set(hb.Start.load(out / "start.hb").encoder.arms) == set(PROMOS)
    snippet = [line.strip() for line in shown.split("to go on:")[1].splitlines() if line.strip()]
    assert "context={'age': " in snippet[2]
    result = python("-c", "\n".join(snippet))
    assert result.stdout.strip() in PROMOS, result.stderr

    store, age, city, _ = world.visitors(np.random.default_rng(4), 300)
    names = {"store": [world.stores[i] for i in store], "city": [CITIES[i] for i in city]}
    pl.DataFrame({**names, "age": age}).write_parquet(tmp_path / "tasks.parquet")
    decisions = tmp_path / "decisions.parquet"
    decide = ["decide", agent, tmp_path / "tasks.parquet", "--task", "store", "--out", decisions]
    assert "300 decisions, 0 tasks are new" in _done(*decide)
    assert "Decided before" in _done(*decide)
    decided = pl.read_parquet(decisions)
    chosen = [PROMOS.index(arm) for arm in decided["arm"]]
    means = world.means(store, age, city)
    earned, best = means[np.arange(300), chosen].mean(), means.max(axis=1).mean()
    single = means.mean(axis=0).max()
    assert earned > (single + best) / 2  # it knows whom to give what
    decided.with_columns(reward=pl.Series(means[np.arange(300), chosen])).write_csv(
        tmp_path / "rewards.csv"
    )
    assert "300" in _done("reward", agent, tmp_path / "rewards.csv")
    assert hb.Agent.load(agent).pending == []
