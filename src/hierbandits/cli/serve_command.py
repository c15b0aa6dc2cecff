"""The command `hierbandits serve`."""

from pathlib import Path
from typing import Annotated

import typer

from hierbandits.cli.terminal import app, fail, failing, in_one_line, need

SERVER = ("apsw", "msgspec", "prometheus_client", "starlette", "uvicorn")
"""What the service is made of; the extra `serve` brings it."""

DataOption = Annotated[
    Path, typer.Option("--data", help="The service's data folder; a new one is made.")
]


@app.command()
def serve(
    data: DataOption,
    host: Annotated[
        str, typer.Option(help="The address to listen on; one that others reach needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 8080,
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

    Without tokens only this machine is served. Make one first, with hierbandits token create.
    """
    need(*SERVER, extra="serve")
    from hierbandits.service.serve import serve as run

    with failing():
        try:
            run(
                data, host=host, port=port, logs_requests=log_requests,
                logs_evaluations=log_evaluations,
            )  # fmt: skip
        except RuntimeError as error:  # another process serves the folder
            fail(in_one_line(error))
        except KeyboardInterrupt:  # everything is stored and closed by now
            return
