"""Letters for the long names of bundles: `A: var/run/log/vobd.log:352`, explained once in each part of a page.

An address begins with the name of the file that was given and that of the folder in it, sixty signs or more. Where a
part lists hundreds of addresses a letter stands for that beginning; the lines of evidence keep the whole address.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from string import ascii_uppercase

from analyzer.case.document import CaseDocument

SHORT = 16  # signs of a beginning that needs no letter
FEW = 5  # addresses that are written out


@dataclass(frozen=True, slots=True)
class BundleLetters:
    """The letter of each long beginning."""

    letters: dict[str, str]

    def shorten_address(self, address: str) -> str:
        """Return an address with the letter of its bundle, or as it is."""
        beginning = find_beginning(address)
        if beginning in self.letters:
            return f"{self.letters[beginning]}: {address[len(beginning) :]}"
        return address

    def cut_beginning(self, address: str) -> str:
        """Return the path in the bundle, for a link to the line of evidence that has the whole address."""
        beginning = find_beginning(address)
        if beginning in self.letters:
            return address[len(beginning) :]
        return address


def give_letters(doc: CaseDocument) -> BundleLetters:
    """Return the letters of a case: of the beginnings of its sources, in their order."""
    counts = Counter(find_beginning(source.address) for source in doc.sources)
    long = [name for name, count in counts.items() if len(name) > SHORT and count > FEW]
    return BundleLetters(dict(zip(long, ascii_uppercase, strict=False)))


def find_beginning(address: str) -> str:
    """Return what an address has before the path in the bundle: the given file and the top folder in it."""
    given, mark, inner = address.partition("!")
    if not mark:
        return ""
    top, slash, _ = inner.partition("/")
    if slash:
        return f"{given}!{top}/"
    return f"{given}!"
