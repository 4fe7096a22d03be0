"""The search of one log for the signatures of its table: proposals, confirmation, numbers of lines, context, shares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter

from analyzer.artefacts.logtime import is_stamped
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import Buffer, LineBlock
from analyzer.scan.careful import (
    PROVEN,
    UNDECIDED,
    Answer,
    Careful,
    Groups,
    Proven,
    Undecided,
    search_of,
)
from analyzer.scan.compiled_pattern import find_needle_places
from analyzer.scan.hits import (
    CONTEXT_TEXT,
    Hit,
    LogScan,
    Search,
    SearchStop,
    Signature,
    decode_line,
)
from analyzer.scan.prefilter import ODD_CASE
from analyzer.scan.signature_set import SignatureSet
from analyzer.scan.tallies import CountedLine, KindShare, Tallies
from analyzer.secrets.values import HIDDEN, hide_around

FLOOR = 20  # hits kept of each member even when the node's share is used up
EXACT = 10  # times the cap: up to there counts are exact

_CONTEXT_HITS = 200  # hits of a signature and node that get context lines
_TEXT = 8192  # characters kept of a hit's line
_KEPT_TEXT = 8 << 20  # characters kept of all hits of a signature and node
_PROBES, _FIRST_PROBES = 64, 4  # candidates looked at in a block for a signature that storms
_NEAR = (
    16 << 10
)  # bytes of the block in which the first of them are sought: in a storm they are there
CONTEXT = 2  # lines kept before and after a hit
# lines kept before a hit inside a message over many lines, up to the head of the message
MOST_ABOVE = 40
STAMP = 128  # bytes of a line that show whether it begins with a time


@dataclass(slots=True)
class HitShare:
    """What a signature has used of its share on one node, over all members; `steps` of careful search are left."""

    steps: int
    count: int = 0
    kept: int = 0
    text: int = 0
    kinds: KindShare = field(default_factory=KindShare)


@dataclass(slots=True)
class _Found:
    """A confirmed line of a block, before it has a number."""

    start: int
    stop: int
    text: str
    match: re.Match[str] | Proven


# offset, number of the signature, line, and whether it gets context (None: only the last one known)
_Wanted = tuple[int, int, _Found, bool | None]


class MemberSearch:
    """The search of one member: proposals, confirmation, numbers, context, shares."""

    def __init__(
        self, own: SignatureSet, shares: Sequence[HitShare], limits: Limits, result: LogScan
    ) -> None:
        self._own, self._shares, self._result = own, shares, result
        self._steps = limits.pattern_steps
        self._here = [0] * len(own.signatures)  # hits kept of this member
        self._cap = limits.hits_per_signature
        self._tail = b""  # the last lines of the block before
        self._open: list[tuple[Hit, int]] = []  # hits that wait for so many lines after them
        for search, share in zip(own.searches, self._shares, strict=True):
            if isinstance(search, Careful):
                search.left = share.steps
        result.counts = {}
        self._counted: dict[int, Signature] = {}  # those whose lines are counted by kind, by number
        self._deciding: set[int] = set()  # of these, whose pattern only proposes lines
        kinds: dict[str, KindShare] = {}
        for number, signature in enumerate(own.signatures):
            if signature.kind_of is None:
                result.counts[signature.id] = 0
            else:
                self._counted[number] = signature
                if signature.decides:
                    self._deciding.add(number)
                kinds[signature.id] = shares[number].kinds
        self._tallies = Tallies(self._counted.values(), kinds, result.tallies)

    @property
    def signatures(self) -> int:
        """The number of signatures that are searched for."""
        return len(self._own.signatures)

    def find_storms(self) -> frozenset[int]:
        """Return the signatures that hit without end, by number."""
        return frozenset(
            n for n, share in enumerate(self._shares) if share.count > EXACT * self._cap
        )

    def search_block(
        self, block: LineBlock, proposals: list[tuple[int, int]] | None = None
    ) -> None:
        """Search one block; `proposals` are places and numbers of signatures, where they are known already."""
        self._fill_open(block)
        storms = self.find_storms()
        if proposals is None:
            engine = self._own.find_engine(storms, block.end)
            proposals = engine.propose(block.data, block.end) if engine else []
        proposals += self._propose_always(block, storms)
        wanted: list[_Wanted] = []
        lasts: dict[int, _Found] = {}
        for number, found in self._confirm_proposals(block, proposals):
            if number in self._counted:
                self._tallies.count_line(
                    self._counted[number], CountedLine(found.start, found.stop, found.text)
                )
            else:
                self._take_hit(number, found, wanted, lasts)
        if self._counted:
            self._tallies.number_lines(block)
        for number in storms:
            if one := self._probe_block(block, number):
                self._take_hit(number, one, wanted, lasts)
                self._result.at_least.add(self._own.signatures[number].id)
        if wanted or lasts:
            self._keep_hits(block, wanted, lasts)
        self._tail = lines_before(block.data, block.end, self._tail)

    def close(self) -> None:
        """Put the hits in order; call after the last block."""
        for search, share in zip(self._own.searches, self._shares, strict=True):
            if isinstance(search, Careful):
                share.steps = search.left
        order = {one.id: number for number, one in enumerate(self._own.signatures)}
        self._result.hits.sort(key=lambda hit: (hit.line, order[hit.signature]))

    def _propose_always(self, block: LineBlock, storms: frozenset[int]) -> list[tuple[int, int]]:
        """Propose what no engine can: patterns without a foothold, and odd letters when case is ignored."""
        data, end = block.data, block.end
        found: list[tuple[int, int]] = []
        every = [number for number in self._own.every_line if number not in storms]
        at = 0
        while every and at < end:
            found += ((at, number) for number in every)
            at = data.find(b"\n", at, end) + 1
        folded = [number for number in self._own.folding if number not in storms]
        if not folded or data.isascii():
            return found
        for letter in ODD_CASE:
            at = data.find(letter, 0, end)
            while at >= 0:
                found += ((at, number) for number in folded)
                line_end = data.find(b"\n", at, end)
                at = data.find(letter, line_end, end)
        return found

    def _confirm_proposals(
        self, block: LineBlock, proposals: list[tuple[int, int]]
    ) -> Iterator[tuple[int, _Found]]:
        """Yield the proposals that are true, each line and signature once, in order of lines."""
        data, end, searches = block.data, block.end, self._own.searches
        start = stop = -1
        text = ""
        tried: set[int] = set()
        proposals.sort()
        for at, number in proposals:
            if at > stop:
                start = data.rfind(b"\n", 0, at) + 1
                stop = data.find(b"\n", at, end)
                text = decode_line(data[start:stop])
                tried = set()
            if number in tried:
                continue
            tried.add(number)
            if number in self._deciding:
                yield number, _Found(start, stop, text, PROVEN)
                continue
            try:
                match = (searches[number] or self._make_search(number))(text)
            except (
                SystemError
            ):  # a fault of `re` with groups in possessive repeats (python/cpython#101955)
                match = UNDECIDED
            if match is None:
                continue
            if isinstance(match, Undecided):
                self._note_stop(number, block.first_line + block.count(0, start)).lines += 1
                self._result.at_least.add(self._own.signatures[number].id)
                continue
            yield number, _Found(start, stop, text, match)

    def _make_search(self, number: int) -> Callable[[str], Answer]:
        """Return the search of a signature, made when a line is first proposed for it."""
        needle = self._own.needles[number]
        search = search_of(needle.regex, self._steps)
        if isinstance(search, Careful):
            search.left = self._shares[number].steps
        self._own.searches[number] = search
        return search

    def _note_stop(self, number: int, line: int) -> SearchStop:
        """Return the note that a signature was stopped at a line, or before."""
        name = self._own.signatures[number].id
        known = self._result.stopped.get(name)
        if known is None:
            search = self._own.searches[number]
            used_up = isinstance(search, Careful) and search.left <= 0
            known = self._result.stopped[name] = SearchStop(line, total=used_up)
        return known

    def _probe_block(self, block: LineBlock, number: int) -> _Found | None:
        """Return the first line of a block that a storming signature matches, if it is soon found."""
        near = block.data.rfind(b"\n", 0, min(_NEAR, block.end)) + 1
        for stop, most in ((near, _FIRST_PROBES), (block.end, _PROBES)):
            places = find_needle_places(self._own.needles[number], block.data, stop)
            proposals = [(at, number) for at in islice(places, most)]
            for _, found in self._confirm_proposals(block, proposals):
                return found
        return None

    def _take_hit(
        self, number: int, found: _Found, wanted: list[_Wanted], lasts: dict[int, _Found]
    ) -> None:
        """Count a hit, and keep it when there is room."""
        share, name = self._shares[number], self._own.signatures[number].id
        share.count += 1
        self._result.counts[name] += 1
        room = share.kept < self._cap and share.text < _KEPT_TEXT
        if room or self._here[number] < min(FLOOR, self._cap):
            self._here[number] += 1
            share.kept += 1
            share.text += min(len(found.text), _TEXT)
            wanted.append((found.start, number, found, share.kept <= _CONTEXT_HITS))
        else:
            self._result.capped.add(name)
            lasts[number] = found

    def _keep_hits(self, block: LineBlock, wanted: list[_Wanted], lasts: dict[int, _Found]) -> None:
        """Number the lines of a block that are kept, and give them their context."""
        kept = [*wanted]
        kept += [(found.start, number, found, None) for number, found in lasts.items()]
        kept.sort(key=itemgetter(0, 1))
        line, at = block.first_line, 0
        for start, number, found, context in kept:
            line += block.count(at, start)
            at = start
            hit = self._make_hit(number, line, found)
            if context is None:
                self._result.last_hits[hit.signature] = hit
                continue
            self._result.hits.append(hit)
            if context or not is_stamped(bytes(block.data[start : start + STAMP])):
                raw, missing = lines_after(block.data, found.stop + 1, block.end, CONTEXT)
                count = max(CONTEXT, lines_to_head(block.data, found.start))
                hit.set_neighbours(lines_before(block.data, found.start, self._tail, count), raw)
                if missing:
                    self._open.append((hit, missing))

    def _make_hit(self, number: int, line: int, found: _Found) -> Hit:
        """Return the hit of a confirmed line, without secrets in its text and its groups."""
        text = found.text[:_TEXT]
        search = self._choose_groups(number, line, found)
        shown = hide_around([], text, [])[1]
        if shown != text and search is not None:
            groups = search if isinstance(search, dict) else _find_named(search, text)
            search = {}
            for name, value in groups.items():
                search[name] = value if value is None or value in shown else HIDDEN
        return Hit(
            self._own.signatures[number].id, self._result.address, line, shown, search=search
        )

    def _choose_groups(self, number: int, line: int, found: _Found) -> Search | Groups | None:
        """Return the named groups of a line, or the search that finds them when they are asked for."""
        match = found.match
        if isinstance(match, Proven):
            search = self._own.searches[number]
            own_groups = search.find_groups(found.text) if isinstance(search, Careful) else {}
            if own_groups is None:
                self._note_stop(number, line).groups += 1
                return dict.fromkeys(self._own.needles[number].regex.groupindex)
            return {key: value and value[:_TEXT] for key, value in own_groups.items()}
        named = match.re.groupindex
        if not named:
            return None
        careful = self._own.searches[number]
        slow = isinstance(careful, Careful) and not careful.is_quick(found.text)
        if slow or len(found.text) > _TEXT:  # it costs, or the groups lie in what is not kept
            return {name: match[name] and match[name][:_TEXT] for name in named}
        return self._own.needles[number].search

    def _fill_open(self, block: LineBlock) -> None:
        still: list[tuple[Hit, int]] = []
        for hit, wanted in self._open:
            raw, missing = lines_after(block.data, 0, block.end, wanted)
            hit.more_after(raw)
            if missing:
                still.append((hit, missing))
        self._open = still


def _find_named(search: Search, text: str) -> Groups:
    match = search(text)
    return match.groupdict() if match else {}


# --- the lines before and after a place in a block of a log, as raw bytes ---


def lines_to_head(data: Buffer, at: int) -> int:
    """Return how many lines above the one at `at` the head of its message is; 0 when it bears a time itself.

    A message over many lines (`-->`, a trace) has its time and thread on the first of them only.
    """
    if is_stamped(bytes(data[at : at + STAMP])):
        return 0
    for count in range(1, MOST_ABOVE + 1):
        if not at:
            break
        at = data.rfind(b"\n", 0, at - 1) + 1
        if is_stamped(bytes(data[at : at + STAMP])):
            return count
    return 0


def lines_before(data: Buffer, end: int, earlier: bytes, count: int = CONTEXT) -> bytes:
    """Return the last lines before offset `end`, with their line feeds, reaching back into `earlier`."""
    start = end
    for _ in range(count):
        if start:
            start = data.rfind(b"\n", 0, start - 1) + 1
    raw = _shorten_line(bytes(data[start:end]))
    if start == 0 and earlier:
        raw = b"".join(line + b"\n" for line in (earlier + raw).split(b"\n")[:-1][-count:])
    return raw


def lines_after(data: Buffer, at: int, end: int, count: int) -> tuple[bytes, int]:
    """Return up to `count` lines from offset `at` on, with their line feeds, and how many are missing."""
    stop = at
    while stop < end and count:
        stop = data.find(b"\n", stop, end) + 1
        count -= 1
    return _shorten_line(bytes(data[at:stop])), count


def _shorten_line(lines: bytes) -> bytes:
    """Return lines, each cut at what is kept of a context line."""
    if len(lines) <= 4 * CONTEXT_TEXT:
        return lines
    return b"".join(line[: 4 * CONTEXT_TEXT] + b"\n" for line in lines.split(b"\n")[:-1])
