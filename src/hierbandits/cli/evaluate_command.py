"""The command `hierbandits evaluate`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.backend_option import BackendOption, need_backend, own_cluster
from hierbandits.cli.completion import policy_names
from hierbandits.cli.interruption import stopped_at_once
from hierbandits.cli.prior_file import read_prior
from hierbandits.cli.reading_options import (
    Decimal,
    Decision,
    DropMissing,
    Limit,
    LogFiles,
    MergeNames,
    Missing,
    MostArms,
    Rewards,
    Separator,
    Strip,
    Thousands,
    TimeFormat,
    limits_of,
    opened_log,
    reading_of,
    source_of,
)
from hierbandits.cli.run_folder import OverwriteOption, RunFolder
from hierbandits.cli.spelling import names_as_in_log
from hierbandits.cli.terminal import app, console, fail, failing, need, say
from hierbandits.reporting.provenance import MADE_FROM, file_facts


@app.command()
def evaluate(
    call: typer.Context,
    log: LogFiles,
    task: Annotated[str, typer.Option(help="Column of tasks: stores, users, wards.")],
    arm: Annotated[str, typer.Option(help="Column of the arms that were played.")],
    reward: Annotated[str, typer.Option(help="Column of rewards.")],
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Columns of the context, numbers or text, as age,city: policies choose in each "
            "row's context. Commas between them, or repeat the option.",
        ),
    ] = None,
    propensity: Annotated[
        str | None, typer.Option(help="Column of probabilities: how likely each choice was.")
    ] = None,
    uniform: Annotated[
        bool,
        typer.Option(
            "--uniform", help="Instead of --propensity: all eligible arms were equally likely."
        ),
    ] = False,
    eligible: Annotated[
        str | None, typer.Option(help="Column of eligible arms: lists, or a|b|c in a CSV file.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times: train on early rows, evaluate on late.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(help="Column of populations. Each has a shared mean of its own.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            autocompletion=policy_names,
            help="Frozen: 'best arm', HierOPO, greedy, uniform, arm:NAME or frozen:HierTS. "
            "Learning: HierTS, TS, ... Repeat the option for more.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="ips, snips, dm, dr or replay. Default: all that fit. Repeat the option for more.",
        ),
    ] = None,
    prior: Annotated[
        Path | None, typer.Option(help="A hierarchy as JSON. Fitted to the log by default.")
    ] = None,
    rewards: Rewards = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Name of an arm. Repeat the option for every arm, in the order of the prior.",
        ),
    ] = None,
    arm_features: Annotated[
        Path | None,
        typer.Option(help="A JSON object from arms to lists of features, for linear beliefs."),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="How rows are split for training: folds or time.")
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    delta: Annotated[float, typer.Option(help="HierOPO: how often a comparison may fail.")] = 0.05,
    draws: Annotated[int, typer.Option(min=1, help="Posterior draws of frozen:HierTS.")] = 1000,
    round_size: Annotated[
        int, typer.Option(min=1, help="Replay: rows that are decided together.")
    ] = 1,
    confidence: Annotated[
        float, typer.Option(help="How often an interval is meant to cover the truth.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    most_arms: MostArms = 1000,
    limit: Limit = None,
    decision: Decision = None,
    strip: Strip = False,
    merge_names: MergeNames = False,
    missing: Missing = None,
    drop_missing: DropMissing = False,
    time_format: TimeFormat = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    thousands: Thousands = None,
    backend: BackendOption = "local",
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("results/evaluate"),
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Estimate what policies would have earned, from a log of decisions that others made.

    The first sentence is the answer: whether the best of the policies earns more than the log did \
and more than the best single arm, and how certain that is. Both comparisons are on the same rows. \
The best single arm is chosen by other rows than those that judge it.

    Frozen policies have fixed probabilities. They are evaluated by inverse propensity scoring \
(ips), its self-normalised form (snips), a reward model (dm), and both together (dr). Trust dr \
first.

    Learning policies change with every reward. They are evaluated by replay: they decide row by \
row, and learn from the rows where the log played the arm they chose.

    The reward model is the hierarchical belief. It is trained on rows that are not evaluated.

    ips, snips, dr and replay need the probability of every logged choice. Give --propensity or \
--uniform. Without them there is the reward model alone, which nothing checks.

    Example: hierbandits evaluate log.parquet --task store --arm promo --reward revenue \
--propensity p --policy "best arm" --policy HierOPO --policy arm:none --policy HierTS
    """
    need("matplotlib", "polars")
    need_backend(backend)
    import hierbandits as hb

    hierarchy = None if prior is None else read_prior(prior)
    of_arms = None if arm_features is None else _read_features(arm_features)
    answer, folder = Answer(as_json, quiet), RunFolder(out, call, overwrite=overwrite)
    with own_cluster(backend), stopped_at_once(), folder.made(), failing():
        reading = reading_of(
            strip=strip, merge_names=merge_names, missing=missing, drop_missing=drop_missing,
            decision=decision, separator=separator, decimal=decimal,
            thousands=thousands, time_format=time_format,
        )  # fmt: skip
        source, named_arms = source_of(log), arms
        if hierarchy is not None and hierarchy.arms is not None:
            prior_arms = names_as_in_log(source, arm, hierarchy.arms, reading)
            hierarchy = hierarchy.with_arms(prior_arms)
            named_arms = named_arms or [str(name) for name in prior_arms]
        if of_arms is not None:
            names = names_as_in_log(source, arm, [*of_arms], reading)
            of_arms = dict(zip(names, of_arms.values(), strict=True))
        columns = {
            "task": task, "reward": reward, "arm": arm, "features": features or None,
            "propensity": propensity,
            "eligible": eligible, "time": time, "population": population, "decision": decision,
        }  # fmt: skip
        evaluation = hb.evaluate(
            opened_log(log, columns, named_arms, reading), policy, method,
            prior=hierarchy, arm_features=of_arms, rewards=rewards, uniform=uniform,
            split=split, folds=folds, delta=delta, draws=draws,  # type: ignore[arg-type]
            round_size=round_size, confidence=confidence, seed=seed,
            limits=hb.Limits(**{"fit_arms": most_arms} | limits_of(limit)),
            backend=backend, progress=answer.progress,
        )  # fmt: skip
        report = evaluation.report()
        made_from = report.settings[MADE_FROM]
        more = [file_facts(path) for path in (prior, arm_features) if path is not None]
        report.settings[MADE_FROM] = {**made_from, "files": [*made_from["files"], *more]}
        page = folder.write(report)

    def show() -> None:
        evaluation.show(console)
        for name in report.figures:
            say(f"Figure: {out / name}.png")
        say(f"Report: {page}\nResults and settings: {out}")

    answer.give(lambda: evaluation.to_dict() | {"files": {"page": str(page)}}, show)


def _read_features(path: Path) -> dict[Any, Any]:
    """The features of each arm; names are text, as JSON's keys are."""
    try:
        features = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        fail(f"--arm-features must be a JSON file, got {path}: {error}")
    if not isinstance(features, dict):
        fail(f"--arm-features must hold a JSON object, got {path}")
    return features
