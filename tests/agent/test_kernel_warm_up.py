from pathlib import Path

from support.processes import python

TESTS = Path(__file__).parent.parent

FREEZE = """
import gc, numpy as np, hierbandits as hb
luck = np.random.get_state()[1].tolist()
before = gc.get_freeze_count()
hb.warm_up()
print(before, gc.get_freeze_count() > 10_000, np.random.get_state()[1].tolist() == luck)
"""


def test_nothing_is_compiled_or_loaded_afterwards():
    """In a session that uses every policy and form; see `support.kernel_loads`."""
    done = python("-m", "support.kernel_loads", path=TESTS)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


def test_objects_of_the_start_are_set_aside_and_luck_is_left_alone():
    done = python("-c", FREEZE)
    assert done.stdout == "0 True True\n", done.stderr
