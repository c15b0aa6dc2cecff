"""Draws the pictures of docs/design.md: python docs/pictures.py."""

from pathlib import Path

from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def node(axes, x, y, text, colour=GREY):
    axes.text(
        x, y, text, ha="center", va="center", fontsize=9,
        bbox={"boxstyle": "round,pad=0.45", "fc": "white", "ec": colour, "lw": 1.6},
    )  # fmt: skip


def edge(axes, start, end, colour=GREY, arrow=False, lw=1.2):
    style = {"arrowstyle": "-|>" if arrow else "-", "color": colour, "lw": lw}
    axes.annotate("", end, start, arrowprops=style, zorder=0)


def forest(axes):
    axes.set_title("A forest: each population is a tree", fontsize=10)
    for left, name in ((0.0, "population 0"), (6.0, "population 1")):
        root = (left + 2.0, 2.0)
        for group in range(2):
            middle = (left + 1.0 + 2.0 * group, 1.0)
            edge(axes, root, middle)
            for task in range(2):
                leaf = (middle[0] - 0.5 + task, 0.0)
                edge(axes, middle, leaf)
                node(axes, *leaf, "task")
            node(axes, *middle, "group")
        node(axes, *root, name, BLUE)
    axes.set(xlim=(-0.2, 10.2), ylim=(-0.5, 2.5))


def event(axes):
    axes.set_title("One event climbs: a task's surprise is its parent's observation", fontsize=10)
    spots = {"event": (0.6, 0.0), "task": (3.4, 0.0), "root": (3.4, 1.15), "log": (3.4, 2.2)}
    node(axes, *spots["event"], "features x, reward y\nnoise σ²", ORANGE)
    node(axes, *spots["task"], "task:  t, S\nu = P x,  v = σ² + x·u\nr = y − x·t")
    node(axes, *spots["root"], "population:  mean, S\ne = r − w·mean,  V = v + w·P w", BLUE)
    node(axes, *spots["log"], "log evidence\n−½ (log 2πV + e²/V)")
    edge(axes, (1.55, 0.0), (2.1, 0.0), ORANGE, True, 2)
    edge(axes, (3.4, 0.34), (3.4, 0.86), ORANGE, True, 2)
    edge(axes, (3.4, 1.42), (3.4, 1.92), ORANGE, True, 2)
    axes.text(3.5, 0.6, "features w = Σ₀⁻¹ u, reward r, noise v", fontsize=9, va="center")
    axes.set(xlim=(-0.4, 6.4), ylim=(-0.5, 2.6))


def main() -> None:
    figure = Figure(figsize=(11.5, 3.6), layout="constrained")
    for axes, draw in zip(figure.subplots(1, 2), (forest, event), strict=True):
        axes.axis("off")
        draw(axes)
    folder = Path(__file__).parent / "images"
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / "forest.png", dpi=130)
    figure.savefig(folder / "forest.svg")


if __name__ == "__main__":
    main()
