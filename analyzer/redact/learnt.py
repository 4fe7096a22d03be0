"""What the forms of a long text showed, kept with the map: `show` again, in another form, need not look again.

The map holds names anyhow, and is its owner's alone; the cache folder never keeps what a case holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from analyzer.redact import textforms

LEAST = 20_000  # characters of a text that is worth an entry
MOST = 12  # texts that are kept, the last ones
Found = tuple[tuple[str, str], ...]  # (kind, name)


@dataclass(slots=True)
class Learnt:
    """Texts by their hash, with what they show; `new` says that one was added since it was read."""

    kept: dict[str, Found] = field(default_factory=dict)
    new: bool = False

    def found_in(self, text: str, versions: set[str]) -> Iterable[tuple[str, str]]:
        """Return what `textforms.found_in` does, without a look where the same text was looked at before."""
        if len(text) < LEAST:
            return textforms.found_in(text, versions)
        told = hashlib.blake2b(_sign_text(), digest_size=16)
        told.update("\n".join(sorted(versions)).encode("utf-8", "surrogatepass") + b"\x00")
        told.update(text.encode("utf-8", "surrogatepass"))
        key = told.hexdigest()
        found = self.kept.pop(key, None)
        if found is None:
            found = tuple(dict.fromkeys(textforms.found_in(text, versions)))
            self.new = True
        self.kept[key] = found
        while len(self.kept) > MOST:
            del self.kept[next(iter(self.kept))]
        return found


def parse_learnt(given: Any) -> Learnt:
    """Return what a file of JSON holds; ValueError or TypeError for something else."""
    return Learnt(
        {
            str(key): tuple((str(kind), str(name)) for kind, name in found)
            for key, found in dict(given).items()
        }
    )


@cache
def _sign_text() -> bytes:
    """Return what the signs are: with others a text may show something else."""
    return repr(textforms.text_signs()).encode("utf-8")
