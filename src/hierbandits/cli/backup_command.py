"""The command `hierbandits backup`."""

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.service_access import FolderOption, TokenOption, UrlOption, ask
from hierbandits.cli.terminal import app, say


@app.command()
def backup(
    url: UrlOption = None,
    token: TokenOption = None,
    data: FolderOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Copy the data folder of a service while it runs.

    The copy, in the folder backups of the data folder, is named after the moment. It is a data \
folder itself: hierbandits serve --data takes it as it is.
    """
    folder = ask(url, token, data, lambda client: client.backup())
    Answer(as_json, quiet).give(lambda: {"folder": str(folder)}, lambda: say(folder))
