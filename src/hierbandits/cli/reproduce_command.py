"""The command `hierbandits reproduce`, which runs an experiment."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.backend_option import BackendOption, JobsOption, needed_jobs, own_cluster
from hierbandits.cli.chunk_folder import chunks_of
from hierbandits.cli.completion import experiment_names, policy_names
from hierbandits.cli.own_file import FromOption, OwnFile
from hierbandits.cli.run_folder import OverwriteOption, RunFolder
from hierbandits.cli.terminal import app, console, fail, need, say
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from hierbandits.experiments import Experiment


@app.command()
def reproduce(
    call: typer.Context,
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="Its name. Without it, a list of all.", autocompletion=experiment_names
        ),
    ] = None,
    own: FromOption = None,
    tasks: Annotated[int | None, typer.Option(min=1, help="Number of tasks, m.")] = None,
    concurrent: Annotated[int | None, typer.Option(min=1, help="Tasks in a round, L.")] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            autocompletion=policy_names,
            help="Policies to compare with HierTS; repeat it, or separate them by commas.",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=2, help="Number of runs. Each experiment has its own default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    jobs: JobsOption = None,
    backend: BackendOption = "local",
    out: Annotated[Path | None, typer.Option(help="Folder; results/NAME by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, a first look.")] = False,
    data: Annotated[Path | None, typer.Option(help="digits: a folder with MNIST's files.")] = None,
    dataset: Annotated[str | None, typer.Option(help="digits: mnist or digits8x8.")] = None,
    digit: Annotated[
        list[int] | None,
        typer.Option(metavar="<int>", help="digits: a positive class; may be repeated."),
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            help="digits: how theta_s is computed: choice-weighted (the default), least-squares, "
            "or positive-mean (the paper's words)."
        ),
    ] = None,
    arms_from: Annotated[
        str | None,
        typer.Option(
            help="digits: where a task's pictures come from: subsample (its own, the default), or "
            "test-half (all test pictures, the paper's words)."
        ),
    ] = None,
    overwrite: OverwriteOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run an experiment and leave a folder of figures, results, settings and a report.

    hierbandits reproduce synthetic --quick --tasks 20 --policies TS,HierIDS

    hierbandits reproduce stores --from my.py

    While it runs, finished chunks are kept in the folder, from which an interrupted experiment \
resumes. The numbers do not depend on --jobs or --backend.
    """
    from hierbandits.environments.images import NotFetchedError
    from hierbandits.experiments import Options
    from hierbandits.reporting.progress import progress_bar

    answer, mine = Answer(as_json, quiet), OwnFile(own)
    experiments = mine.experiments
    if experiment is None:
        _list_experiments(answer, experiments)
        return
    if experiment not in experiments:
        fail(f"EXPERIMENT must be one of {', '.join(experiments)}, got {experiment!r}")
    for field, (option, value) in {
        "tasks": ("--tasks", tasks),
        "concurrent": ("--concurrent", concurrent),
        "policies": ("--policies", policies),
        "data": ("--data", data),
        "dataset": ("--dataset", dataset),
        "digits": ("--digit", digit),
        "estimator": ("--estimator", estimator),
        "arms_from": ("--arms-from", arms_from),
    }.items():
        if value and field not in experiments[experiment].takes:
            takers = [name for name, entry in experiments.items() if field in entry.takes]
            alone = f"the experiment {takers[0]} alone" if len(takers) == 1 else ", ".join(takers)
            fail(f"{option} is for {alone}, got it for {experiment}")
    compared = mine.chosen("--policies", policies, mine.policies) if policies else None
    need("matplotlib", "polars")
    processes = needed_jobs(jobs, backend)
    if experiment == "digits" and data is None:
        need("sklearn")
    place = out or Path("results") / experiment
    folder = RunFolder(place, call, overwrite=overwrite)
    with own_cluster(backend), folder.made(), chunks_of(place) as chunks:
        with progress_bar(f"Simulating {experiment}", None, answer.progress) as steps:
            options = Options(
                runs=runs,
                seed=seed,
                jobs=processes,
                backend=backend,
                quick=quick,
                checkpoint=chunks,
                progress=steps.update,
                tasks=tasks,
                concurrent=concurrent,
                policies=compared,
                data=data,
                dataset=dataset,
                digits=tuple(digit or ()),
                estimator=estimator,
                arms_from=arms_from,
            )
            try:
                report = experiments[experiment].run(options)
            except NotFetchedError as error:
                raise ValueError(f"{error} (--data FOLDER or --dataset digits8x8)") from None
        page = folder.write(report)

    def show() -> None:
        report.show(console)
        for name in report.figures:
            say(f"Figure: {place / name}.png")
        say(f"Report: {page}\nResults and settings: {place}")

    told = {"experiment": experiment, "rows": report.rows, "files": {"page": str(page)}}
    answer.give(lambda: told, show)


def _list_experiments(answer: Answer, experiments: "Mapping[str, Experiment]") -> None:
    rows = {name: entry.summary for name, entry in experiments.items()}
    table = terminal_table(("experiment", "what it shows"), rows.items(), right=())
    answer.give(lambda: rows, lambda: console.print(table))
