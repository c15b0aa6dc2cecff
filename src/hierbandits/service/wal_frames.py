"""The write-ahead log of an SQLite file: whether more than its end is missing.

When a log is read again after a crash, SQLite stops at the first frame whose checksum is wrong, and
takes it for the end: there the crash may have cut a transaction short.  If whole transactions come
after it, though, they were on the disk: then the log is damaged, and they would be lost.
"""

import struct
from pathlib import Path

_HEADER, _FRAME_HEADER = 32, 24
_LITTLE_ENDIAN, _BIG_ENDIAN = 0x377F0682, 0x377F0683  # the words of its checksums


def lost_frames(path: Path) -> tuple[int, int] | None:
    """The first frame that is damaged, and the number of frames; None if a crash explains all.

    A frame that follows a commit was written when that commit was on the disk.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(data) <= _HEADER or not any(data[:_HEADER]):
        return None
    magic, _, page, _, salt1, salt2, sum1, sum2 = struct.unpack(">8I", data[:_HEADER])
    order = "<" if magic == _LITTLE_ENDIAN else ">"
    chain = _checksum((0, 0), data[:24], order)
    if magic not in (_LITTLE_ENDIAN, _BIG_ENDIAN) or chain != (sum1, sum2):
        return 0, (len(data) - _HEADER) // (_FRAME_HEADER + 512)  # frames come after the header
    broken: int | None = None
    was_commit = False
    for number, start in enumerate(range(_HEADER, len(data), _FRAME_HEADER + page), start=1):
        frame = data[start : start + _FRAME_HEADER + page]
        if len(frame) < _FRAME_HEADER + page:
            break
        _, commit, own1, own2, sum1, sum2 = struct.unpack(">6I", frame[:_FRAME_HEADER])
        if (own1, own2) != (salt1, salt2):
            if broken is None:
                broken = number  # or the rest is of an earlier log
            continue
        if broken is not None and was_commit:
            return broken, number
        if broken is None:
            chain = _checksum(chain, frame[:8] + frame[_FRAME_HEADER:], order)
            if chain != (sum1, sum2):
                broken = number
        was_commit = broken is not None and commit != 0
    return None


def _checksum(chain: tuple[int, int], data: bytes, order: str) -> tuple[int, int]:
    """SQLite's checksum of some words, going on from that of what came before."""
    one, two = chain
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for first, second in zip(words, words, strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
