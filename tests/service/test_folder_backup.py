"""A copy that is made while a folder is served is a folder to serve."""

import asyncio
import shutil

import pytest
from support.service_lives import known
from support.service_rooms import PLAIN, in_room

from hierbandits.service.doctor import doctor
from hierbandits.service.folder_backup import backup_folder


def test_the_copy_has_the_beliefs_of_the_moment(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "tokens.json").write_text("{}")

    async def scenario(room):
        await room.book.put("shop", PLAIN)
        for i in range(20):
            await room.reward((await room.decide(f"u{i % 3}")).id, float(i))
        before = known(room.agent())
        made = await asyncio.to_thread(backup_folder, folder, room.storage, 1_800_000_000.0)
        await room.reward((await room.decide("later")).id, 1.0)
        with pytest.raises(ValueError, match="a second apart"):
            backup_folder(folder, room.storage, 1_800_000_000.5)
        return before, made

    before, made = in_room(folder, scenario)
    assert made.name == "2027-01-15T08-00-00Z"
    assert sorted(path.name for path in made.iterdir()) == ["ledger.db", "tokens.json"]
    assert doctor(made).is_sound
    shutil.copytree(made, tmp_path / "restored")

    async def again(room):
        seen = known(room.agent())
        await room.decide("u1")
        return seen

    assert in_room(tmp_path / "restored", again) == before


def test_it_is_whole_while_others_write(tmp_path):
    async def scenario(room):
        await room.book.put("shop", PLAIN)
        is_done = False

        async def client(task):
            while not is_done:
                await room.reward((await room.decide(task)).id, 1.0)

        clients = [asyncio.ensure_future(client(f"u{i}")) for i in range(4)]
        made = [
            await asyncio.to_thread(backup_folder, tmp_path, room.storage, float(second))
            for second in range(4)
        ]
        is_done = True
        await asyncio.gather(*clients)
        return made

    reports = [doctor(path) for path in in_room(tmp_path, scenario)]
    assert all(report.is_sound for report in reports)
    events = [report.policies[0].events for report in reports]
    assert events == sorted(events)


def test_a_copy_that_fails_leaves_nothing(tmp_path):
    class Full:
        def backup(self, path):
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        backup_folder(tmp_path, Full(), 0.0)
    assert list((tmp_path / "backups").iterdir()) == []
