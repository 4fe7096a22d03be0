"""What the page accepts and how long it waits; a client that reaches a bound gets an answer."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one server; sizes in bytes, times in seconds, rates in bytes a second."""

    file_bytes: int = 64 * GIB
    case_bytes: int = 64 * GIB
    server_bytes: int = 512 * GIB  # of all cases that lie in the private folder or are on their way
    files: int = 50_000  # of one case
    folders: int = 64  # that may stand before the name of a file
    waiting: int = 32  # cases that wait for files
    abandoned: float = 3600  # a case that waits for files and gets none for so long is removed
    reserve: int = 512 * MIB  # left free on the disk
    look: int = 64 * MIB  # the free space is looked at again after so many bytes
    json_bytes: int = 16 * MIB  # the list of the files of a case
    small_json: int = 64 * KIB  # every other request
    idle: float = 60  # without one byte of a body
    slowest: int = 16 * KIB  # rate of a body, measured over `stretch`
    stretch: float = 60
    head: float = 30  # from connecting, or from the first byte, to the end of the head of a request
    head_bytes: int = 32 * KIB
    drain: float = 60  # the rest of a body that was refused is thrown away for so long
    connections: int = 64
    stop: int = 3  # whole seconds that requests under way get at the end
