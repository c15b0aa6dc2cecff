"""The service on a real PostgreSQL: kills, takeovers, restarts of the server, cut connections."""

import time
from pathlib import Path

import pytest
from support.servers import Server
from support.service_kills import KilledService
from support.standby_servers import StandbyServers

from hierbandits.service.data_place import STORE
from hierbandits.service.doctor import doctor
from hierbandits.service.store_url import StoreUrl


@pytest.fixture
def killed(store_url, tmp_path):
    """A service on a store, under the hand of a test."""
    own = KilledService(
        tmp_path / "data", seed=3, server=Server(tmp_path / "data", store=store_url)
    )
    yield own
    own.close()


def test_what_was_acknowledged_survives_kills_and_lost_snapshots(killed, store_url, tmp_path):
    for _ in range(2):
        killed.round(longest=0.5)
    assert killed.counts["acknowledged rewards"] > 0
    assert doctor(tmp_path / "none", store=store_url).faults == []


def test_connections_that_are_cut_lose_nothing(killed, postgres, store_url):
    for only in (None, "owner", None):
        killed.round(longest=0.3, trouble=lambda only=only: postgres.cut(store_url, only=only))
    assert killed.counts["acknowledged rewards"] > 0
    assert doctor_is_sound(store_url)


def test_a_restart_of_postgres_loses_nothing(killed, postgres, store_url):
    if not postgres.is_own:
        pytest.skip("the server of others is not stopped")

    def restart():
        postgres.stop()
        time.sleep(0.3)
        postgres.start()

    killed.round(longest=0.3, trouble=restart)
    assert killed.counts["refused"] > 0
    assert doctor_is_sound(store_url)


def test_the_second_process_takes_over_when_the_first_is_killed(store_url, tmp_path):
    servers = StandbyServers(tmp_path, store_url)
    service = KilledService(None, seed=5, server=servers)
    try:
        for _ in range(2):
            service.round(longest=0.3)
        assert doctor_is_sound(store_url)
    finally:
        servers.close()
    assert service.counts["acknowledged rewards"] > 0


def doctor_is_sound(store_url):
    report = doctor(Path("no snapshots here"), store=store_url)
    assert report.faults == []
    return report.is_sound


def test_the_compose_file_is_sound_and_holds_no_secret():
    yaml = pytest.importorskip("yaml")
    path = Path(__file__).parents[2] / "deploy" / "compose.yml"
    parts = yaml.safe_load(path.read_text())
    workers = [parts["services"][name] for name in ("worker-1", "worker-2")]
    assert workers[0] == workers[1]
    assert workers[0]["command"][:2] == ["serve", "--shared"]
    store = workers[0]["environment"][STORE]
    assert "${POSTGRES_PASSWORD:?}" in store
    assert str(StoreUrl(store.replace("${POSTGRES_PASSWORD:?}", "x"))) == (
        "postgresql://postgres/bandits"
    )
    build = path.parent / workers[0]["build"]["context"] / workers[0]["build"]["dockerfile"]
    assert "serve,client,postgres" in build.read_text()
    (config,) = parts["services"]["balancer"]["configs"]
    assert set(parts["configs"]) == {config["source"]}
