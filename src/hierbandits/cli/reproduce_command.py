"""The command `hierbandits reproduce`, which runs an experiment."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.terminal import (
    app,
    command_line,
    console,
    fail,
    need,
    report_folder,
    say,
    tell,
)
from hierbandits.reporting.terminal_table import terminal_table

CHUNKS = ".hierbandits-chunks"
"""Inside the folder of an experiment that runs: the folder of its finished chunks."""


@app.command()
def reproduce(
    experiment: Annotated[
        str | None, typer.Argument(help="Its name. Without it, a list of all.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=2, help="Number of runs. Each experiment has its own default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Same seed, same numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for all cores.")] = -1,
    out: Annotated[Path | None, typer.Option(help="Folder; results/NAME by default.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, a first look.")] = False,
    data: Annotated[Path | None, typer.Option(help="digits: a folder with MNIST's files.")] = None,
    dataset: Annotated[str | None, typer.Option(help="digits: mnist or digits8x8.")] = None,
    digit: Annotated[
        list[int] | None, typer.Option(help="digits: a positive class; may be repeated.")
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
) -> None:
    """Run an experiment and leave a folder of figures, results, settings and a report.

    While it runs, finished chunks are kept in the folder, from which an interrupted experiment \
resumes. The numbers do not depend on --jobs.
    """
    from hierbandits.environments.images import NotFetchedError
    from hierbandits.experiments import EXPERIMENTS, Options
    from hierbandits.reporting.progress import progress_bar

    if experiment is None:
        _list_experiments()
        return
    if experiment not in EXPERIMENTS:
        fail(f"EXPERIMENT must be one of {', '.join(EXPERIMENTS)}, got {experiment!r}")
    for_digits = {"--data": data, "--dataset": dataset, "--digit": digit}
    for_digits |= {"--estimator": estimator, "--arms-from": arms_from}
    for option, value in for_digits.items():
        if value and experiment != "digits":
            fail(f"{option} is for the experiment digits alone, got it for {experiment}")
    need("matplotlib", "polars", *(["joblib"] if jobs != 1 else []))
    if experiment == "digits" and data is None:
        need("sklearn")
    folder = out or Path("results") / experiment
    with report_folder(folder), _chunks_of(folder) as chunks:
        with progress_bar(f"Simulating {experiment}", None, None) as steps:
            options = Options(
                runs=runs,
                seed=seed,
                jobs=jobs,
                quick=quick,
                checkpoint=chunks,
                progress=steps.update,
                data=data,
                dataset=dataset,
                digits=tuple(digit or ()),
                estimator=estimator,
                arms_from=arms_from,
            )
            try:
                report = EXPERIMENTS[experiment].run(options)
            except NotFetchedError as error:
                raise ValueError(f"{error} (--data FOLDER or --dataset digits8x8)") from None
        report.settings["command"] = command_line()
        page = report.write(folder)
    report.show(console)
    for name in report.figures:
        say(f"Figure: {folder / name}.png")
    say(f"Report: {page}\nResults and settings: {folder}")


def _list_experiments() -> None:
    from hierbandits.experiments import EXPERIMENTS

    rows = [(name, entry.summary) for name, entry in EXPERIMENTS.items()]
    console.print(terminal_table(("experiment", "what it shows"), rows, right=()))


@contextmanager
def _chunks_of(folder: Path) -> Iterator[Path]:
    """The folder of an experiment's chunks while it runs.

    The chunks of an experiment that fails or is interrupted stay, for the next attempt; its error
    ends the command with one line.
    """
    from hierbandits.simulation.checkpoint import Checkpoint

    chunks = folder / CHUNKS
    if chunks.is_symlink():
        fail(f"--out must not have a link to another folder, got {chunks}")
    try:
        chunks.mkdir(exist_ok=True)
    except OSError as error:
        fail(f"--out must be a folder that can be written, got {folder}: {error.strerror}")
    try:
        yield chunks
        Checkpoint.remove(chunks)
    except (ValueError, OSError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        tell("Interrupted: run the same command again to resume")
        raise typer.Exit(130) from None
    finally:
        with suppress(OSError):  # it is not empty
            chunks.rmdir()
