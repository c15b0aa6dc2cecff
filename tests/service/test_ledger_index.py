"""What finds decisions, made from events alone, is what the live policy has written."""

import numpy as np
import pytest
from support.service_lives import KINDS, Core, live_on

from hierbandits.service.ledger_index import LedgerIndex
from hierbandits.service.storage import Batch


@pytest.mark.parametrize("kind", ["armed", "deep"])
def test_it_is_what_the_service_keeps(tmp_path, kind):
    core = Core(tmp_path / "a.db", KINDS[kind])
    live_on(core, np.random.default_rng(3), steps=50)
    index = LedgerIndex(core.record.salt)
    for number, data in core.storage.events(core.record.id):
        index.add(number, data)
    read = core.storage._file.read
    assert {id: (n, p) for _, id, n, p in read("SELECT * FROM ids")} == index.given
    assert {(n, p): event for _, n, p, event in read("SELECT * FROM rewards")} == index.rewards
    assert len(index.given) > 5
    assert len(index.rewards) > 5
    assert index.num_decisions > len(index.given)
    assert not index.has_erased
    core.storage.close()


def test_defaults_late_rewards_and_erased_decisions(tmp_path):
    index = LedgerIndex(b"0" * 16)
    for number, data in enumerate(
        [
            b'{"kind":"decide","decisions":[{"id":"x"},null,{"id":"y"},{"id":"z"}]}',
            b'{"kind":"expire","ids":["x"],"default":0.5}',
            b'{"kind":"expire","ids":["y"],"default":null}',
            b'{"kind":"learn","late":"y","rewards":[1.0]}',
            b'{"kind":"correct","id":"x","value":2.0}',
            b'{"kind":"reward","ids":["nobody"],"values":[1.0]}',
        ],
        start=1,
    ):
        index.add(number, data)
    assert index.given == {"x": (1, 0), "y": (1, 2), "z": (1, 3)}
    assert index.rewards == {(1, 0): 5, (1, 2): 4}
    assert index.has_erased


def test_it_is_taken_bit_by_bit(tmp_path):
    """All pieces together are the whole; of a reward that was replaced the last one counts."""
    core = Core(tmp_path / "a.db", KINDS["armed"])
    live_on(core, np.random.default_rng(3), steps=50)
    whole, pieces = LedgerIndex(core.record.salt), LedgerIndex(core.record.salt)
    found = Batch()
    for number, data in core.storage.events(core.record.id):
        whole.add(number, data)
        pieces.add(number, data)
        found.add(pieces.take(1, [(1, number, data)]))
    assert {id: tuple(place) for _, id, *place in found.ids} == whole.given
    assert len(found.ids) == len(whole.given)
    assert {(n, p): event for _, n, p, event in found.rewards} == whole.rewards
    assert len(found.rewards) > len(whole.rewards)
    assert [number for _, number, _ in found.events] == list(range(1, core.live.number + 1))
    core.storage.close()
