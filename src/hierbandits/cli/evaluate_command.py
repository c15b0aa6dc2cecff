"""The command that evaluates policies on a log."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.spelling import spelt
from hierbandits.cli.terminal import app, console, fail, need, paragraph, report_folder, say

if TYPE_CHECKING:
    from hierbandits import GaussianHierarchy


@app.command()
def evaluate(
    log: Annotated[Path, typer.Argument(help="A .parquet or .csv file, a row for each decision.")],
    task: Annotated[str, typer.Option(help="The column of tasks: stores, users, wards.")],
    arm: Annotated[str, typer.Option(help="The column of the arms that were played.")],
    reward: Annotated[str, typer.Option(help="The column of rewards.")],
    propensity: Annotated[
        str | None, typer.Option(help="The column of the probabilities of the logged choices.")
    ] = None,
    uniform: Annotated[
        bool, typer.Option("--uniform", help="In place of it: all eligible arms equally likely.")
    ] = False,
    eligible: Annotated[
        str | None, typer.Option(help="The column of eligible arms: lists, a|b|c in a CSV.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="The column of times: train on early rows, judge by late.")
    ] = None,
    population: Annotated[str | None, typer.Option(help="The column of populations.")] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="HierOPO, greedy, uniform, arm:NAME, frozen:HierTS (frozen), or HierTS, TS, ... "
            "(learning); may be repeated."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="ips, snips, dm, dr or replay; all that fit by default; may repeat."),
    ] = None,
    prior: Annotated[
        Path | None, typer.Option(help="A hierarchy as JSON; fitted to the log by default.")
    ] = None,
    arms: Annotated[
        list[str] | None,
        typer.Option(help="An arm; repeat it to fix the arms and their order, that of the prior."),
    ] = None,
    arm_features: Annotated[
        Path | None, typer.Option(help="JSON, arms to lists of features: linear beliefs.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="folds or time.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of cross-fitting.")] = 5,
    delta: Annotated[float, typer.Option(help="HierOPO: how often a bound may fail.")] = 0.05,
    draws: Annotated[int, typer.Option(min=1, help="Posterior draws of frozen:HierTS.")] = 1000,
    batch: Annotated[int, typer.Option(min=1, help="Replay: rows decided together.")] = 1,
    confidence: Annotated[
        float, typer.Option(help="How often an interval is meant to hold.")
    ] = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("results/evaluate"),
) -> None:
    """Say what policies would have earned, from a log of decisions that others made.

    Frozen policies, whose probabilities are fixed, are evaluated by inverse propensity scoring \
(ips), its self-normalised form (snips), a reward model alone (dm), and both together (dr, the one \
to trust first).  Learning policies, which change with every reward, are evaluated by replay.  The \
reward model is the hierarchical belief, trained on rows that are not evaluated.

    ips, snips, dr and replay need the probability of every logged choice: --propensity, or \
--uniform.  The log's own mean reward stands first, as what is to be beaten.

    Example: hierbandits evaluate log.parquet --task store --arm promo --reward revenue \
--propensity p --policy HierOPO --policy arm:none --policy HierTS
    """
    need("matplotlib", "polars")
    import hierbandits as hb

    believed, order = (None, None) if prior is None else _read_prior(prior)
    features = None if arm_features is None else _read_json("--arm-features", arm_features)
    with report_folder(out):
        try:
            named = spelt(log, arm, arms or order)
            table = None
            if features is not None:
                table = dict(zip(spelt(log, arm, [*features]), features.values(), strict=True))
            columns = hb.Columns(
                task=task, arm=arm, reward=reward, propensity=propensity, eligible=eligible,
                time=time, population=population,
            )  # fmt: skip
            source = hb.Log.read(log, columns, arms=named)
            found = hb.evaluate(
                source, policy, method, prior=believed, arm_features=table, uniform=uniform,
                split=split, folds=folds, delta=delta, draws=draws, batch=batch,  # type: ignore[arg-type]
                confidence=confidence, seed=seed,
            )  # fmt: skip
            report = found.report()
            page = report.write(out)
        except (ValueError, OSError) as error:
            fail(" ".join(str(error).split()))
    for note in found.notes:
        paragraph(note)
    report.show(console)
    for warning in found.warnings:
        paragraph(f"Warning: {warning}")
    for name in report.figures:
        say(f"Figure: {out / name}.png")
    say(f"Report: {page}\nResults and settings: {out}")


def _read_prior(path: Path) -> "tuple[GaussianHierarchy, list[Any] | None]":
    """The hierarchy, and the names of its arms if the file has them."""
    from hierbandits import GaussianHierarchy

    parts = _read_json("--prior", path)
    try:
        prior, arms = GaussianHierarchy.from_dict(parts), parts.get("arms")
    except ValueError as error:
        fail(f"--prior must be a file with a hierarchy as JSON, got {path}: {error}")
    if arms is not None and not isinstance(arms, list):
        fail(f"--prior must hold a list of arms if any, got {arms!r:.80} in {path}")
    return prior, arms


def _read_json(option: str, path: Path) -> dict[Any, Any]:
    import json

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        fail(f"{option} must be a JSON file, got {path}: {error}")
    if not isinstance(content, dict):
        fail(f"{option} must hold a JSON object, got {path}")
    return content
