"""Keeps the earliest entries of a reading, as many as memory may hold; the others wait for the next reading."""

from __future__ import annotations

from analyzer.merged_log.entry import LogEntry

_ENTRY = 400  # bytes that an entry costs beside its text, and a line of it
Key = tuple[object, ...]


class WindowPart:
    """The entries behind `after` that come first.

    behind  the key of the first entry that had no room, None when all had
    """

    def __init__(self, after: Key | None, most: int) -> None:
        self.behind: Key | None = None
        self._after, self._most = after, most
        self._entries: list[LogEntry] = []
        self._bytes = 0

    def add(self, entry: LogEntry) -> None:
        """Take an entry, if it is one of the earliest."""
        key = entry.key
        if self._after is not None and key <= self._after:
            return
        if self.behind is not None and key >= self.behind:
            return
        self._entries.append(entry)
        self._bytes += _size(entry)
        if self._bytes > self._most and len(self._entries) > 1:
            self._trim()

    def _trim(self) -> None:
        self._entries.sort(key=lambda one: one.key)
        size = kept = 0
        for entry in self._entries:
            size += _size(entry)
            if kept and size > self._most // 2:
                break
            kept += 1
        if kept < len(self._entries):
            self.behind = self._entries[kept].key
        del self._entries[kept:]
        self._bytes = sum(map(_size, self._entries))

    def sorted(self) -> list[LogEntry]:
        """Return the entries in order."""
        self._entries.sort(key=lambda one: one.key)
        return self._entries


def _size(entry: LogEntry) -> int:
    return _ENTRY + sum(len(text) + 160 for _, text in entry.lines)
