"""Which tasks are held out: a fixed share of them, by a secret of the policy."""

from hashlib import blake2b

SECRET = 16
"""The last bytes of a policy's salt that are its secret."""
_ALL = 1 << 64


def in_share(salt: bytes, task: str, share: float) -> bool:
    """Whether a task, as JSON, is in this share of all tasks: always the same answer.

    The secret is the end of the salt, which a policy keeps wherever it is moved.
    """
    if share <= 0:
        return False
    digest = blake2b(task.encode(), digest_size=8, key=salt[-SECRET:]).digest()
    return int.from_bytes(digest, "big") < share * _ALL
