"""The name of a stored case: what it is, where it came from, how it was read and judged, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass

PACKS, SEGMENTS, MANIFEST = "packs/", "segments/", "manifest.json"

_ENTRY = r"([0-9a-f]{32})-([0-9a-f]{8,16})-([0-9a-f]{12})-([0-9a-f]{12})-([0-9a-f]{11})"
_TEXT = re.compile(_ENTRY)
_PACK = re.compile(rf"packs/([0-9a-f]{{2}})/{_ENTRY}\.(full|case|none)\.zip")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One stored case of one run, as its name tells it.

    stamp   milliseconds since 1970 at writing
    kind    full (facts and judgement), case (a judgement only) or none (refused or failed)
    holder  name of its pack, or `segments/<segment>`
    place   number of the case in the segment, -1 in a pack
    """

    id: str
    source: str
    reading: str
    judging: str
    stamp: int
    kind: str
    holder: str = ""
    place: int = -1

    @property
    def entry_text(self) -> str:
        """The entry as names and manifests write it."""
        return f"{self.id}-{self.source}-{self.reading}-{self.judging}-{self.stamp:011x}"

    @property
    def pack_name(self) -> str:
        """The name of its pack, when it is in one."""
        return f"{PACKS}{self.id[:2]}/{self.entry_text}.{self.kind}.zip"

    @staticmethod
    def parse_name(name: str) -> Entry | None:
        """Return the entry of a pack's name, or None when it is none."""
        found = _PACK.fullmatch(name)
        if found is None or found[2][:2] != found[1]:
            return None
        return Entry(found[2], found[3], found[4], found[5], int(found[6], 16), found[7], name)

    @staticmethod
    def of_text(text: str, kind: str, holder: str, place: int) -> Entry | None:
        """Return the entry that a manifest writes as `text`, or None when it is none."""
        found = _TEXT.fullmatch(text)
        if found is None:
            return None
        return Entry(found[1], found[2], found[3], found[4], int(found[5], 16), kind, holder, place)


@dataclass(frozen=True, slots=True)
class Stored:
    """One case as it is: its newest judgement (else its refusal), and where its facts are."""

    id: str
    judged: Entry
    facts: Entry | None

    @property
    def facts_segment(self) -> str:
        """The segment in which its facts are, "" for none: cases of one segment are best read together."""
        if self.facts is None or self.facts.place < 0:
            return ""
        return self.facts.holder


def age_key(entry: Entry) -> tuple[int, str, str]:
    """Order entries of one case: by age, and of the same entry twice the newer segment before the pack."""
    return entry.stamp, entry.entry_text, entry.holder
