"""Every experiment once, small, for all tests of this folder."""

import pytest

from hierbandits.experiments import EXPERIMENTS, Options

MANY_WORLDS = {"clicks", "rules", "shapes"}  # too many for a test


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """A function of an experiment's name: its report, its folder and what progress was heard."""
    made = {}

    def make(name):
        if name not in made:
            heard = []
            options = Options(
                runs=4,
                seed=1,
                quick=name in MANY_WORLDS,
                progress=lambda done, total: heard.append((done, total)),
            )
            report = EXPERIMENTS[name].run(options)
            folder = tmp_path_factory.mktemp(name)
            report.write(folder)
            made[name] = report, folder, heard
        return made[name]

    return make
