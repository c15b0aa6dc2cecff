"""A record of results, to show that a change of the code's shape changes no number.

    python tests/record.py make FOLDER          # some minutes: experiments, a log, agents
    python tests/record.py compare OLD NEW      # every number of OLD is in NEW, to 1e-9
    python tests/record.py compare OLD NEW gain=improvement,advantage     # under another name

Make one before the change and one after it.  Only commands and the public surface are used, so
that both can be made by different versions.  MNIST's files, if there are any, are named by the
environment variable MNIST.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

Names = dict[str, list[str]]

TOLERANCE = 1e-9
EXPERIMENTS = ("synthetic", "similarity", "adaptive", "concurrency", "meta")
POLICIES = ("HierOPO", "greedy", "uniform", "HierTS", "PooledTS", "AdaptiveHierTS")
FROZEN = ("HierTS", "TS", "PooledTS", "HierUCB", "HierGreedy")
IGNORED = ("seconds", "versions", "files", "python")  # keys whose values say nothing of results
DECISIONS = 1000


def make(folder: Path) -> None:
    """Write the record into a folder."""
    folder.mkdir(parents=True)
    for name in EXPERIMENTS:
        command("reproduce", name, "--quick", "--seed", "0", "--out", folder / name)
    small = ("reproduce", "digits", "--quick", "--seed", "0", "--out")
    command(*small, folder / "digits8x8", "--dataset", "digits8x8")
    if "MNIST" in os.environ:
        command(*small, folder / "digits", "--data", os.environ["MNIST"])
    warfarin(folder)
    populations(folder)
    agents = {name: play(kind, name) for kind in ("armed", "linear") for name in names(kind)}
    (folder / "agents.json").write_text(json.dumps(agents))


def command(*words: object) -> None:
    """Run a command of hierbandits, and stop if it fails."""
    print("hierbandits", *words, flush=True)
    program = [sys.executable, "-c", "from hierbandits.cli import main; main()"]
    subprocess.run([*program, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def warfarin(folder: Path) -> None:
    """Learn from the sites of the warfarin log, and evaluate policies on it."""
    import hierbandits as hb

    log = folder / "warfarin.parquet"
    hb.datasets.warfarin().as_log(np.random.default_rng(0)).source.write_parquet(log)
    columns = ("--task", "site", "--arm", "dose", "--reward", "reward", "--seed", "0")
    command("learn", log, *columns, "--out", folder / "learn")
    policies = [*POLICIES, "arm:medium", *(f"frozen:{name}" for name in FROZEN)]
    chosen = [word for name in policies for word in ("--policy", name)]
    columns += ("--propensity", "propensity")
    command("evaluate", log, *columns, *chosen, "--out", folder / "evaluate")


def populations(folder: Path) -> None:
    """The same for logs of uneven populations: with features, and with arms, times and masks."""
    import polars as pl

    rng = np.random.default_rng(1)
    task = rng.integers(0, 23, 3000)
    group = np.digitize(task, [3, 9])  # 3, 6 and 14 tasks
    centre = rng.normal(0, 1, (3, 3))[group] + rng.normal(0, 0.4, (23, 3))[task]
    x = np.column_stack([np.ones(task.size), rng.normal(0, 1, task.size), rng.random(task.size)])
    y = (x * centre).sum(axis=1) + rng.normal(0, 0.7, task.size)
    names = {"store": [f"s{t}" for t in task], "region": [f"r{g}" for g in group]}
    linear = folder / "linear.parquet"
    features = {"one": x[:, 0], "age": x[:, 1], "basket": x[:, 2]}
    pl.DataFrame({**names, **features, "y": y}).write_parquet(linear)
    which = ("--task", "store", "--reward", "y", "--population", "region")
    listed = [word for name in features for word in ("--features", name)]
    for structure in ("diagonal", "full"):
        out = folder / f"learn_{structure}"
        command("learn", linear, *which, *listed, "--structure", structure, "--out", out)
    allowed = rng.random((task.size, 4)) < 0.7
    allowed[np.arange(task.size), rng.integers(0, 4, task.size)] = True
    scores = np.where(allowed, rng.random(allowed.shape), -1.0)
    arm = scores.argmax(axis=1)
    value = rng.normal(0, 1, (23, 4))[task, arm] + rng.normal(0, 0.5, task.size)
    armed = folder / "armed.parquet"
    lists = [[f"a{a}" for a in np.flatnonzero(mask)] for mask in allowed]
    columns = {"arm": [f"a{a}" for a in arm], "can": lists, "day": np.arange(task.size) // 10}
    columns |= {"p": 1 / allowed.sum(axis=1), "y": value}
    pl.DataFrame({**names, **columns}).write_parquet(armed)
    which += ("--arm", "arm", "--propensity", "p", "--eligible", "can")
    policies = [word for name in (*POLICIES, "frozen:HierTS") for word in ("--policy", name)]
    command("evaluate", armed, *which, *policies, "--out", folder / "evaluate_folds")
    command("evaluate", armed, *which, *policies, "--time", "day", "--out", folder / "times")
    table = folder / "features.json"
    table.write_text(json.dumps({f"a{a}": [1.0, a / 3, (a % 2) / 2] for a in range(4)}))
    out = ("--arm-features", table, "--out", folder / "evaluate_linear")
    command("evaluate", armed, *which, *policies, *out)


def names(kind: str) -> list[str]:
    """The policies that can be agents of this kind, under the names of the record."""
    import hierbandits as hb

    known = [name for name, recipe in hb.POLICIES.items() if not recipe.knows_truth]
    return [f"{kind} {name}" for name in (*known, "HierTS with propensities", "no prior")]


def play(kind: str, label: str) -> dict[str, object]:
    """An agent's first decisions, with rewards that come late, and what it knows in the end."""
    import hierbandits as hb

    name = label.removeprefix(f"{kind} ")
    armed, rng = kind == "armed", np.random.default_rng(5)
    arms = ["a", "b", "c"] if armed else {f"x{k}": rng.normal(0, 1, 2).tolist() for k in range(5)}
    if armed:
        prior = hb.GaussianHierarchy.armed(
            3, hyper_std=1.0, task_std=[0.2, 0.3, 0.4], noise_std=0.5
        )
    else:
        prior = hb.GaussianHierarchy(
            hyper_mean=[0.1, -0.2], hyper_cov=[[1.0, 0.3], [0.3, 0.8]],
            task_cov=[[0.3, 0.1], [0.1, 0.2]], noise_std=0.5,
        )  # fmt: skip
    draws = 20 if name.endswith("propensities") else None
    policy = None if name == "no prior" else name.split(" ")[0]
    given = None if name == "no prior" else prior
    agent = hb.Agent(given, policy, arms=arms, seed=0, draws=draws, floor=0.1 if draws else 0.0)
    theta = rng.normal(0, 1, (20, len(arms)))
    places, waiting, made = {arm: k for k, arm in enumerate(arms)}, [], []
    for number in range(DECISIONS):
        task = int(rng.integers(20))
        decision = agent.decide(f"task-{task}", id=str(number))
        place = places[decision.arm]
        made.append([place, decision.propensity])
        waiting.append((decision.id, float(theta[task, place] + 0.5 * rng.normal())))
        if len(waiting) > 3:
            agent.reward(*waiting.pop(int(rng.integers(4))))
    columns = agent.table()
    numbers = {key: columns[key] for key in ("mean", "low", "high", "within_var", "shared_var")}
    return {"decisions": made, "evidence": agent.belief.log_evidence().tolist(), **numbers}


def compare(old: Path, new: Path, renamed: Names) -> list[str]:
    """What of the old record is not in the new one; `renamed` holds new names by the old one."""
    wrong = []
    files = sorted(path for path in old.rglob("*") if path.suffix in (".json", ".parquet"))
    if old / "agents.json" not in files:  # which is written last
        return [f"{old} is not a whole record"]
    for path in files:
        other = new / path.relative_to(old)
        if not other.exists():
            wrong.append(f"{other} is missing")
        elif path.suffix == ".json":
            pair = (json.loads(file.read_text()) for file in (path, other))
            wrong += [f"{other}{text}" for text in differences(*pair, renamed)]
        else:
            import polars as pl

            pair = (pl.read_parquet(file).to_dict(as_series=False) for file in (path, other))
            wrong += [f"{other}{text}" for text in differences(*pair, renamed)]
    return wrong


def differences(old: object, new: object, renamed: Names, where: str = "") -> list[str]:
    """Where numbers, or names that are not sentences, differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        kept = [key for key in old if key not in IGNORED]
        wrong = []
        for key in kept:
            name = next((n for n in (key, *renamed.get(key, ())) if n in new), None)
            if name is None:
                wrong.append(f"{where}/{key} is missing")
            else:
                wrong += differences(old[key], new[name], renamed, f"{where}/{key}")
        return wrong
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return [f"{where} has {len(new)} entries, not {len(old)}"]
        pairs = enumerate(zip(old, new, strict=True))
        return [d for i, (a, b) in pairs for d in differences(a, b, renamed, f"{where}[{i}]")]
    if isinstance(old, str) and isinstance(new, str):
        return [] if " " in old else [f"{where}: {new!r}, not {old!r}"] * (old != new)
    if isinstance(old, int | float) and isinstance(new, int | float):
        close = np.isclose(new, old, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        return [] if close else [f"{where}: {new!r}, not {old!r}"]
    return [] if old == new else [f"{where}: {new!r:.80}, not {old!r:.80}"]


def main() -> None:
    """The two commands."""
    words = sys.argv[1:]
    if words[:1] == ["make"] and len(words) == 2:
        make(Path(words[1]))
    elif words[:1] == ["compare"] and len(words) >= 3 and all("=" in word for word in words[3:]):
        renamed = {old: new.split(",") for old, new in (word.split("=") for word in words[3:])}
        wrong = compare(Path(words[1]), Path(words[2]), renamed)
        print("\n".join(wrong[:50]) or "All numbers are equal to 1e-9.")
        sys.exit(bool(wrong))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
