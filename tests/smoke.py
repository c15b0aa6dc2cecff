"""What an installed hierbandits must do; run by the Python of an environment that has it.

python smoke.py core    # only what the package itself requires is installed
python smoke.py all     # its extra `all` is installed too

It runs in a folder of its own and imports nothing of the repository.
"""

import subprocess
import sys
from importlib.metadata import files, metadata, version
from importlib.util import find_spec
from pathlib import Path

import hierbandits as hb

COMMAND = Path(sys.executable).with_name("hierbandits")


def run(*words):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False)


def core():
    """The import, its version and its types; a decision; files; the sample log."""
    place = Path(hb.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), f"hierbandits is {place}"
    assert version("hierbandits") == hb.__version__
    assert metadata("hierbandits")["License-Expression"] == "MIT"
    assert place.with_name("py.typed").is_file()
    packaged = {str(path) for path in files("hierbandits")}
    assert not {path for path in packaged if path.startswith(("tests", "docs", "examples"))}
    for name in hb.__all__:
        assert getattr(hb, name) is not None

    agent = hb.Agent(arms=["low", "high"], seed=0)
    decision = agent.decide("ward-1")
    assert decision.arm in ("low", "high")
    assert agent.reward(decision.id, 1.0)
    agent.save("agent.hb")
    assert hb.Agent.load("agent.hb").summary() == agent.summary()

    sample = hb.datasets.sample_log("stores.csv")
    assert sample.read_text(encoding="utf-8").count("\n") == 3026
    assert hb.datasets.warfarin().counts.sum() == 6037


def without_extras():
    """What an extra does is refused with the line that installs it."""
    assert find_spec("polars") is None
    assert find_spec("typer") is None
    shown = run("--help")
    assert shown.returncode == 1
    assert "pip install 'hierbandits[all]'" in shown.stderr
    asked = "import hierbandits as hb; hb.inspect('stores.csv')"
    refused = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=False
    )
    assert "ImportError" in refused.stderr
    assert "pip install 'hierbandits[data]'" in refused.stderr, refused.stderr


def with_extras():
    """The commands, the sample log and a figure."""
    shown = run("--help")
    assert shown.returncode == 0, shown.stderr
    assert "inspect" in shown.stdout
    assert run("--version").stdout.split() == ["hierbandits", hb.__version__]
    looked = run("inspect", "stores.csv")
    assert looked.returncode == 0, looked.stderr
    assert "--task=store --arm=promo --reward=revenue" in looked.stdout
    assert run("bound", "--tasks", "5", "--json").stdout.startswith("{")
    prior = hb.GaussianHierarchy.armed(3, hyper_std=1.0, task_std=0.3, noise_std=0.5)
    world = hb.environments.HierarchicalBandit(hierarchy=prior, num_tasks=3)
    study = hb.simulate(world, ["HierTS"], hb.schedules.Federated(), runs=2, num_interactions=5)
    assert study.picture()._repr_png_()


if __name__ == "__main__":
    core()
    {"core": without_extras, "all": with_extras}[sys.argv[1]]()
    print(f"hierbandits {hb.__version__}, {sys.argv[1]}: it imports, decides, saves and reads")
