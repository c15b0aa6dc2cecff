"""Settings that all tests share."""

import os

import hypothesis

hypothesis.settings.register_profile(
    "fixed", deadline=None, derandomize=True, print_blob=False, database=None
)
hypothesis.settings.load_profile("fixed")

# Set before numba is imported in the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
