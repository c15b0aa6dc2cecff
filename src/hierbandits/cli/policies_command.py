"""The command `hierbandits policies`."""

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.terminal import app, console
from hierbandits.reporting.terminal_table import terminal_table


@app.command()
def policies(as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the policies by name.

    These names go into hb.Agent(policy=...), hb.simulate and hierbandits evaluate --policy.
    """
    from hierbandits import POLICIES

    rows = {name: recipe.summary for name, recipe in POLICIES.items()}
    table = terminal_table(("policy", "what it does"), rows.items(), right=())
    Answer(as_json, quiet).give(lambda: rows, lambda: console.print(table))
