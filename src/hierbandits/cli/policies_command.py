"""The command `hierbandits policies`."""

from rich.table import Table

from hierbandits.cli.terminal import app, console


@app.command()
def policies() -> None:
    """List the policies by name.

    These names go into hb.Agent(policy=...), hb.simulate and hierbandits evaluate --policy.
    """
    from hierbandits import POLICIES

    table = Table("policy", "what it does", box=None, pad_edge=False)
    for name, recipe in POLICIES.items():
        table.add_row(name, recipe.summary)
    console.print(table)
