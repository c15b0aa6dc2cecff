"""The command `hierbandits sweep`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.backend_option import BackendOption, JobsOption, needed_jobs, own_cluster
from hierbandits.cli.chunk_folder import chunks_of
from hierbandits.cli.completion import policy_names
from hierbandits.cli.own_file import FromOption, OwnFile
from hierbandits.cli.run_folder import OverwriteOption, RunFolder
from hierbandits.cli.terminal import app, console, need, say


@app.command()
def sweep(
    call: typer.Context,
    world: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A world; repeat it, or separate them by commas."),
    ] = None,
    schedule: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A schedule: federated, sequential, ... Repeat it."),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            autocompletion=policy_names,
            help="A policy; others are compared with the first. Repeat it.",
        ),
    ] = None,
    own: FromOption = None,
    runs: Annotated[int, typer.Option(min=2, help="Number of runs.")] = 200,
    interactions: Annotated[int, typer.Option(min=1, help="Interactions with each task.")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    jobs: JobsOption = None,
    backend: BackendOption = "local",
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("results/sweep"),
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Simulate policies in several worlds under several schedules, with one table out.

    hierbandits sweep --from my.py --world stores --policy HierTS,mine --schedule federated

    While it runs, finished chunks are kept in the folder, from which an interrupted sweep resumes.

    Worlds are paper-a and paper-b, the problems of the paper's figure, arms, and those of --from.
    """
    from hierbandits import sweep
    from hierbandits.simulation.schedules import SCHEDULES

    need("matplotlib", "polars")
    processes = needed_jobs(jobs, backend)
    answer, mine = Answer(as_json, quiet), OwnFile(own)
    worlds = mine.chosen("--world", world or ["paper-b"], mine.worlds)
    policies = mine.chosen("--policy", policy or ["HierTS", "TS"], mine.policies)
    schedules = mine.chosen("--schedule", schedule or ["federated"], SCHEDULES)
    folder = RunFolder(out, call, overwrite=overwrite)
    with own_cluster(backend), folder.made(), chunks_of(out) as chunks:
        swept = sweep(
            worlds,
            policies,
            schedules,
            runs,
            seed,
            num_interactions=interactions,
            jobs=processes,
            backend=backend,
            checkpoint=chunks,
            progress=answer.progress,
        )
        report = swept.report({"runs": runs, "seed": seed, "interactions": interactions})
        page = folder.write(report)

    def show() -> None:
        report.show(console)
        say(f"Report: {page}\nTable: {out / 'sweep.parquet'}")

    answer.give(lambda: {"rows": swept.rows(), "files": {"page": str(page)}}, show)
