"""Checksums say what was written, and where."""

from hierbandits.service.event_checksum import added, event_checksum, replaced


def test_any_change_of_an_event_or_of_its_place_changes_the_checksum():
    data = b'{"kind":"reward","values":[0.5]}'
    own = event_checksum(3, 8, data)
    assert own == event_checksum(3, 8, data)
    others = {event_checksum(3, 9, data), event_checksum(4, 8, data), event_checksum(8, 3, data)}
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        others.add(event_checksum(3, 8, bytes(changed)))
    assert own not in others
    assert len(others) == 3 + len(data)


def test_a_total_counts_each_event_once_and_one_may_replace_another():
    sums = [event_checksum(1, number, b"x") for number in range(1, 6)]
    total = 0
    for one in sums:
        total = added(total, one)
    new = event_checksum(1, 3, b"y")
    again = 0
    for one in [*sums[:2], new, *sums[3:]]:
        again = added(again, one)
    assert replaced(total, sums[2], new) == again
    assert again != total
    assert 0 <= again < 1 << 64
