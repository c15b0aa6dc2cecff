"""Secrets that follow from a seed: with them, what a policy draws is the same in every run."""

import secrets
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np


@contextmanager
def seeded_secrets(seed):
    """Within it, the module `secrets` gives the same numbers and bytes for the same seed.

    Numbers have a generator of their own: seeds of policies do not depend on how many names were
    made before, for a warm-up say, which a process does once.
    """
    numbers, names = np.random.default_rng(seed).spawn(2)
    with (
        patch.object(secrets, "randbits", lambda bits: int(numbers.integers(1 << min(bits, 62)))),
        patch.object(secrets, "token_bytes", names.bytes),
        patch.object(secrets, "token_hex", lambda size: names.bytes(size).hex()),
    ):
        yield
