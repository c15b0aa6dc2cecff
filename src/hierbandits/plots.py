"""Pictures of results, for people who would rather look than read."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hierbandits.arrays import Matrix

STYLES = {  # one colour and dash for each policy, wherever it is drawn
    "HierTS": ("#0072b2", "-"),
    "TS": ("#d55e00", "--"),
    "OracleTS": ("#444444", ":"),
    "PooledTS": ("#009e73", "-."),
}


def regret_plot(regret: Mapping[str, Matrix], folder: Path) -> Path:
    """Cumulative regret against rounds with bands of one standard error; PNG and SVG.

    `regret` holds the regret of every run and round, (runs, rounds), for each policy.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for name, values in regret.items():
        total = np.cumsum(values, axis=1)
        rounds = np.arange(1, total.shape[1] + 1)
        mean = total.mean(axis=0)
        error = total.std(axis=0, ddof=1) / np.sqrt(len(total))
        colour, dash = STYLES.get(name, (None, "-"))
        (line,) = axes.plot(rounds, mean, dash, color=colour, label=name, linewidth=1.8)
        axes.fill_between(
            rounds, mean - error, mean + error, color=line.get_color(), alpha=0.25, linewidth=0
        )
    axes.set(xlabel="round", ylabel="cumulative regret", xlim=(0, None), ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "regret.svg")
    path = folder / "regret.png"
    figure.savefig(path, dpi=150)
    return path
