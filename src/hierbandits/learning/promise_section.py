"""What a start promises, as words, a table and a picture."""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from hierbandits.learning.captions import of_promises
from hierbandits.learning.promises import CONFIDENCE, Promise, Promises
from hierbandits.learning.sections import Section
from hierbandits.learning.sentence import Claim, Sentence, listed, texts
from hierbandits.learning.start_trial import BEST_ARM, NEW, NOTHING, OWN, START
from hierbandits.learning.verdict import SURE
from hierbandits.reporting.figure import panels
from hierbandits.simulation.line_styles import line_style
from hierbandits.types import Name

SHARING = 20.0  # odds from which tasks share for sure
MUCH = 20.0  # percent of regret: worlds that leave so much open show no two as equal
FAR = 8.0  # times the median regret, from where one line needs a picture by powers of ten
SHARES = "HierTS"  # chooses as TS does, and shares while it acts
WHO = {NOTHING: "without the log", "TS": "with TS", "PooledTS": "with PooledTS"}
OF = {NEW: "new tasks", OWN: "the log's own tasks"}
_SHARE = f"{100 * CONFIDENCE:g} %"


NO_PROMISE = Sentence(
    Claim.NO_PROMISE,
    "What an agent with this start would earn is not simulated: that depends on how much tasks "
    "differ, which this log cannot tell.",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What else a report knows, which words on promises must not forget."""

    log_odds_of_sharing: float = 0.0  # of a hierarchy over independent tasks
    states_widths: bool = False  # whether the start does not go on learning widths
    never_played: tuple[Name, ...] = ()  # arms, or features that are always zero


def on_promises(promises: Promises, setting: Setting) -> list[Sentence]:
    """What the start promises, and whether it is worth it."""
    sentences = []
    for tasks, number in promises.num_tasks.items():
        promise = promises.of(tasks)
        promised = f"a regret of {promise.mean:.3g} a task, {_SHARE} {_ranges(promise, number)}"
        if promise.mean == 0:
            promised = f"no regret: it had none in any of {promises.runs} worlds"
        text = (
            f"In {OF[tasks]}, {number} of them for {promises.rounds}, an agent that begins "
            f"with this start is promised {promised}."
        )
        others = [name for name in WHO if name in promises.policies]
        saved = [_saved(promises, tasks, other) for other in others]
        sentences.append(Sentence(Claim.PROMISE, text))
        text = f"That is {', '.join(saved[:-1])} and {saved[-1]}."
        if not sentences[1:]:
            text += " TS and PooledTS know the log too; TS then learns each task alone, and "
            text += "PooledTS takes all tasks for one."
        sentences.append(Sentence(Claim.SAVING, text))
    sentences += _on_sharing(promises)
    if promises.offered is not None:
        sentences.append(Sentence(Claim.OFFERED, promises.offered))
    percent, error = promises.saving(NEW, "TS", by=_sharing(promises))
    if setting.log_odds_of_sharing >= log(SHARING) and _no_worse(percent, error):
        than = "" if _sharing(promises) == START else f" than {SHARES}"
        text = (
            f"Tasks do share, and TS is no worse{than} here all the same: it starts from what the "
            "log says of new tasks, and new tasks have little left to teach each other. What the "
            "log is worth shows beside an agent without it."
        )
        sentences.append(Sentence(Claim.TS_SHARES_TOO, text, setting.log_odds_of_sharing))
    if setting.states_widths:
        text = (
            "This start states its widths and does not go on learning them: where tasks are more "
            "equal than it states, it explores more than it should."
        )
        sentences.append(Sentence(Claim.STATED_WIDTHS, text))
    if never := setting.never_played:
        text = f"The log says nothing of {listed(never)}, so these promises are without it."
        sentences.append(Sentence(Claim.PROMISE_WITHOUT, text, about=never))
    return sentences


def _sharing(promises: Promises) -> str:
    """Who shares and chooses as TS does."""
    return START if promises.policy == SHARES else SHARES


def _no_worse(percent: float, error: float) -> bool:
    """Whether TS does as well as who shares, and the worlds are enough to tell."""
    return percent <= SURE * error and percent + SURE * error <= MUCH


def _on_sharing(promises: Promises) -> list[Sentence]:
    """What sharing is worth beside TS; nothing if the start chooses as TS does."""
    if _sharing(promises) == START or SHARES not in promises.policies:
        return []
    parts = [
        f"{_saved(promises, tasks, 'TS', by=SHARES)} in {OF[tasks]}" for tasks in promises.num_tasks
    ]
    text = (
        f"The start chooses by {promises.policy}, TS and PooledTS by Thompson sampling. {SHARES}, "
        f"which shares and chooses as they do, has {' and '.join(parts)}: so much is sharing worth "
        "while tasks act."
    )
    return [Sentence(Claim.SHARING_ALONE, text)]


def promises_section(promises: Promises, setting: Setting) -> Section:
    """The promises of all who play."""
    rows = []
    for promise in promises.promises:
        row = [f"{promise.tasks}: {promise.policy}", f"{promise.mean:.4g}"]
        row += [f"{low:.4g} to {high:.4g}" for low, high in (promise.expected, promise.interval)]
        if promise.policy == START:
            row += ["", ""]
        else:
            percent, error = promises.saving(promise.tasks, promise.policy)
            row += [f"{percent:+.1f} %", f"{error:.1f}"]
        rows.append(row)
    start = f"{START} is hb.Agent(hb.Start.load(...)), whose policy is {promises.policy}."
    return Section(
        name="regret",
        heading="What this start promises",
        columns=("tasks: policy", "regret", _SHARE, "with luck", "the start saves", "± s.e."),
        rows=rows,
        words=[
            *texts(on_promises(promises, setting)),
            f"Regret of a task, on average over the tasks that act, in {promises.runs} worlds "
            "drawn given the log: first widths and noise, then what tasks have in common, then "
            "tasks. So the first interval of new tasks holds what the log leaves open, and the "
            f"second also the luck of those that act. {start}{_on_more_tasks(promises)} HierTS has "
            "the widths "
            f"that fit best, TS and PooledTS too; all have learned the log. {BEST_ARM} always "
            f"plays what is best on average. {NOTHING} is an agent that starts with nothing.",
        ],
        draw=lambda: draw_promises(promises),
        caption=of_promises(promises, START, CONFIDENCE),
    )


def _on_more_tasks(promises: Promises) -> str:
    """That the start's mean is over more tasks than those in which all play."""
    start = promises.of(NEW)
    if start.others is None or start.others.size == 0:
        return ""
    return (
        f" Its regret in new tasks is over {start.num_tasks} of them in each world; in the "
        f"{promises.num_tasks[NEW]} in which all play, and which the picture and what it saves "
        f"are of, it is {start.beside:.4g}."
    )


def draw_promises(promises: Promises) -> Any:
    """Regret in new tasks, and in the log's own."""
    figure, plots = panels(len(promises.num_tasks), width=5.0)
    for axes, (tasks, number) in zip(plots, promises.num_tasks.items(), strict=True):
        for promise in promises.promises:
            if promise.tasks != tasks:
                continue
            mean, low, high = promise.band()
            rounds = range(1, mean.size + 1)
            colour, dash = line_style(promise.policy)
            if promise.policy == START:
                axes.fill_between(rounds, low, high, color=colour, alpha=0.18, linewidth=0)
            width = 2.4 if promise.policy == START else 1.4
            axes.plot(
                rounds, mean, color=colour, linestyle=dash, linewidth=width, label=promise.policy
            )
        title = f"{number} {'new tasks' if tasks == NEW else 'tasks of the log'}"
        axes.set(title=title, xlabel="round", ylabel="regret of a task", xlim=(0, None))
        _scale(axes)
        axes.legend(frameon=False, fontsize=8)
    return figure


def _scale(axes: Any) -> None:
    """From zero; by powers of ten where one line would press all others to the bottom."""
    lines = [np.asarray(line.get_ydata(), float) for line in axes.lines]
    ends = np.array([line[-1] for line in lines])
    positive = np.concatenate([line[line > 0] for line in lines])
    if not positive.size or ends.max() <= FAR * np.median(ends[ends > 0]):
        axes.set_ylim(0, None)
        return
    axes.set_yscale("log")
    axes.set_ylabel("regret of a task, log scale")
    axes.set_ylim(max(positive.min(), ends[ends > 0].min() / 100) / 1.5, 1.5 * ends.max())


def _ranges(promise: Promise, number: int) -> str:
    """Where the regret may be, of new tasks on average over many of them first."""
    low, high = promise.interval
    if promise.tasks == OWN:
        return f"from {low:.3g} to {high:.3g}"
    least, most = promise.expected
    return (
        f"from {least:.3g} to {most:.3g} on average over many such tasks, and from {low:.3g} to "
        f"{high:.3g} with the luck of {number}"
    )


def _saved(promises: Promises, tasks: str, other: str, by: str = START) -> str:
    """How much less or more regret the start has than another, or who stands for the start."""
    percent, error = promises.saving(tasks, other, by)
    name = WHO[other] if by == START else other
    if percent == 0 and error == 0:
        return f"as much as {name}"
    if abs(percent) <= SURE * error:
        near = "about" if abs(percent) + SURE * error <= MUCH else "perhaps"
        return f"{near} as much as {name} ({_percent(0.0 - percent, '+')} ± {_percent(error)} %)"
    word = "less" if percent > 0 else "more"
    return f"{_percent(abs(percent))} ± {_percent(error)} % {word} than {name}"


def _percent(value: float, sign: str = "") -> str:
    """Two digits, or more before the point."""
    return f"{value:{sign}.0f}" if abs(value) >= 9.95 else f"{value:{sign}.2g}"
