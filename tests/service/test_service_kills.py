"""A short form of tests/soak/service_kills.py."""

from support.service_kills import KilledService


def test_what_was_acknowledged_survives_kills_under_load(tmp_path):
    service = KilledService(tmp_path / "data", seed=1)
    try:
        for _ in range(3):
            service.round(longest=0.5)
    finally:
        service.close()
    assert service.counts["acknowledged rewards"] > 0
