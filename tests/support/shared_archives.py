"""Files of policies, shared and others, and how many rows a store has."""

from hierbandits.service.data_place import DataPlace
from hierbandits.service.policy_archive import PolicyArchive, read_policy
from hierbandits.service.shared_export import write_shared
from hierbandits.service.shared_move import move_to_workers

_TABLES = ("policies", "versions", "decisions", "rewards", "tasks", "generations")


def exported(live, links, path):
    """The archive of a shared policy."""
    with open(path, "wb") as file:
        write_shared(live.record, links, file)
    return read_policy(path)


def archive_of(core, *more):
    """The archive of a policy of one process, with more events in the end."""
    core.store()
    storage, policy = core.storage, core.record.id
    events = [data for _, data in storage.events(policy)]
    return PolicyArchive(core.record.salt, storage.versions(policy), [*events, *more], [])


def rows_of(links):
    """How many rows all tables of shared policies have."""
    return {name: links.read(f"SELECT count(*) FROM shared_{name}")[0][0] for name in _TABLES}


def share(folder, url):
    """Let workers of a new database have the policies of a folder."""
    move_to_workers(DataPlace(folder), DataPlace(folder, url))
