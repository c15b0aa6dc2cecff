"""Settings that all tests share."""

import os

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "fixed", deadline=None, derandomize=True, print_blob=False, database=None
)
hypothesis.settings.load_profile("fixed")

# Set before numba is imported in the processes that tests start.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL server."""
    from support.postgres_servers import PostgresServer

    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def store_url(postgres):
    """The address of a new database."""
    url = postgres.database()
    yield url
    postgres.drop(url)
