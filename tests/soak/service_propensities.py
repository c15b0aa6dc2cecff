"""A million decisions of beliefs that stay as they are, against the propensities they log.

PYTHONPATH=tests python -m tests.soak service_propensities

SOAK_FIRST_SEED names the seed of all draws; about one seed in a hundred fails by chance.
"""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from support.propensities import TASKS, Plays
from support.seeded_secrets import seeded_secrets
from support.virtual_loop import run

DECISIONS = int(os.environ.get("SOAK_DECISIONS", "1000000"))
SEED = int(os.environ.get("SOAK_FIRST_SEED", "0"))
RULES = {"HierTS": 0.0, "HierTS with a floor": 0.1, "the default rule": None}


def main(seconds: float) -> dict[str, float]:
    """P-values and standard errors; any that is too far off is an error."""
    with seeded_secrets(SEED):
        return run(_main(seconds))


async def _main(seconds):
    counts = {}
    for name, floor in RULES.items():
        rule = None if floor is None else "HierTS"
        end = time.monotonic() + seconds / len(RULES)
        with TemporaryDirectory() as folder:
            plays = await Plays.begin(Path(folder), rule=rule, floor=floor)
            rounds = DECISIONS // len(RULES) // len(TASKS)
            while plays.rounds < rounds or time.monotonic() < end:
                await plays.go_on(100)
        counts[f"decisions of {name}"] = plays.rounds * len(TASKS)
        if floor is not None:
            least = min(plays.p_values(floor))
            assert least > 0.001 / len(TASKS), least
            counts[f"least p-value of {len(TASKS)} tests, {name}"] = least
        if floor != 0.0:
            p_value, errors = plays.p_value_of_weights(), plays.standard_errors()
            assert p_value > 0.001, p_value
            assert abs(errors) < 3, errors
            counts[f"p-value of all weights, {name}"] = p_value
            counts[f"standard errors of the estimate, {name}"] = errors
    return counts
