"""A disk that is full under load; the long form is tests/soak/service_full_disks.py."""

from support.full_disks import full_and_empty, small_disk


def test_a_full_disk_refuses_changes_lets_reads_go_on_and_loses_nothing(tmp_path):
    with small_disk(tmp_path / "disk") as disk:
        counts = full_and_empty(disk, rounds=1, seed=3)
    assert counts["changes refused"] == 40
    assert counts["reads on a full disk"] == 40
    assert counts["seconds until it went on"] < 10
