"""Checksums of the events of a ledger, and of all events of a policy together."""

from hashlib import blake2b

_MODULUS = 1 << 64


def event_checksum(policy: int, number: int, data: bytes) -> int:
    """A number of 64 bits that tells whether an event is what was written, and where."""
    where = policy.to_bytes(8, "big") + number.to_bytes(8, "big")
    return int.from_bytes(blake2b(data, digest_size=8, person=where).digest(), "big")


def added(total: int, checksum: int) -> int:
    """The total of a policy's checksums with one more."""
    return (total + checksum) % _MODULUS


def replaced(total: int, old: int, new: int) -> int:
    """The total of a policy's checksums with one in place of another."""
    return (total - old + new) % _MODULUS
