"""The command `hierbandits policy explain`."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierbandits.cli.answer import Answer, JsonOption, QuietOption
from hierbandits.cli.data_options import DataOption, StoreOption, data_place
from hierbandits.cli.policy_command import policy
from hierbandits.cli.terminal import console, fail, failing, say
from hierbandits.reporting.rounding import short_number
from hierbandits.reporting.terminal_table import terminal_table

if TYPE_CHECKING:
    from hierbandits.service.data_place import DataPlace


@policy.command()
def explain(
    name: Annotated[str, typer.Argument(help="The policy's name.")],
    id: Annotated[str, typer.Argument(metavar="ID", help="The decision's id.")],
    data: DataOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a decision once more, from the ledger, and say why this arm.

    hierbandits policy explain banners visit-1 --data shop-data

    It replays as many events as it takes, which the page does not.
    """
    with failing(), data_place(data, store) as place:
        found = _found(place, name, id)
    if "decision" not in found:
        fail(found["problem"])

    def show() -> None:
        for words in found["why"]:
            say(words)
        if found["problem"]:
            say(f"It cannot be made once more. {found['problem']}")
        if found["arms"]:
            scores = list(found["arms"][0]["scores"])
            head = ("arm", "expected", "low", "high", *scores)
            rows = [_cells(arm, scores) for arm in found["arms"]]
            console.print(terminal_table(head, rows, right=range(1, len(head))))

    Answer(as_json, quiet).give(lambda: found, show)


def _found(place: "DataPlace", name: str, id: str) -> dict[str, Any]:
    """What the ledger says of a decision."""
    from hierbandits.service.reader_process import LedgerReader

    if not place.has_ledger:
        fail(f"--data must be a data folder of the service, got {place}")
    reader = LedgerReader(place, most_seconds=math.inf)
    try:
        return reader.account_of(name, id)
    except LookupError as error:
        fail(str(error.args[0]))
    finally:
        reader.close()


def _cells(arm: dict[str, Any], scores: list[str]) -> tuple[str, ...]:
    values = [arm[part] for part in ("mean", "low", "high")]
    values += [arm["scores"][score] for score in scores]
    return str(arm["arm"]), *(short_number(value) for value in values)
