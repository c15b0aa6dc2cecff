"""The command `hierbandits serve`."""

import signal
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from hierbandits.cli.data_options import StoreOption, data_place
from hierbandits.cli.terminal import app, fail, failing, in_one_line, say


@app.command()
def serve(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="The service's data folder; a new one is made."),
    ] = None,
    store: StoreOption = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; one that others reach needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 8080,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Let a simulated shop use the service; without --data in a folder that is deleted "
            "in the end.",
        ),
    ] = False,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared",
            help="Decide at the same time as other processes for the policies that they share in "
            "the store.",
        ),
    ] = False,
    log_requests: Annotated[
        bool,
        typer.Option(
            "--log-requests",
            help="Log every request. Otherwise those that fail or take more than a second.",
        ),
    ] = False,
    log_evaluations: Annotated[
        bool,
        typer.Option(
            "--log-evaluations",
            help="Log each decision as OpenTelemetry's feature_flag.evaluation, with its task.",
        ),
    ] = False,
) -> None:
    """Run the decision service until Ctrl-C or SIGTERM.

    hierbandits serve --data shop-data

    Decisions and rewards are on the disk before they are answered: after a crash, start it again. \
The log, one JSON object a line, goes to the standard error.

    Many processes may serve one database: the first one works, the others wait to take over. \
What they keep in --data can be made again: hierbandits serve --store postgresql://host/shop

    With --shared all of them work, on policies of their own kind: see docs/scale.md. \
hierbandits serve --store postgresql://host/shop --shared

    Its page, at /dashboard, shows what policies do: hierbandits serve --demo

    Without tokens only this machine is served. Make one first, with hierbandits token create.
    """
    if data is None and store is None and not demo:
        fail("--data must be given, a folder, or --store, a database, unless --demo is")
    if demo and store is not None:
        fail("--store must not be given with --demo, whose shop needs a folder of its own")
    if shared and (demo or store is None):
        fail("--shared must come with --store, a database, and without --demo")
    with ExitStack() as stack, failing():
        if data is None and demo:
            data = Path(stack.enter_context(TemporaryDirectory(prefix="hierbandits-demo-")))
        place = stack.enter_context(data_place(data, store))
        from hierbandits.service.serve import serve as run

        if demo or data is None:  # a folder of its own is deleted, whatever ends the service
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        if demo and port:
            say(f"The page: http://{host}:{port}/dashboard")
        try:
            run(
                place.folder, store=place.store, host=host, port=port, logs_requests=log_requests,
                logs_evaluations=log_evaluations, demo=demo, shared=shared,
            )  # fmt: skip
        except RuntimeError as error:  # another process serves the folder
            fail(in_one_line(error))
        except KeyboardInterrupt:  # everything is stored and closed by now
            return
