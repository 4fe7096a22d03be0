"""Search of logs: all signatures of all rules in one pass over raw bytes.

A hit is defined as `re.search(pattern, line)` with Python's `re` on one line, decoded as UTF-8
with surrogateescape (what a line is: analyzer/scan/blocks.py). Engines only propose lines, so that
every engine gives the same hits.

A pattern whose work can grow beyond all bounds is searched with care: a line that would take it more
than `limits.pattern_steps` stays undecided and is named (analyzer/scan/careful.py).

A signature that hits without end (a storm) costs neither time nor memory: hits are kept up to
`limits.hits_per_signature` a node, then counted exactly up to ten times that, and from there
on looked for once a block, which makes the count a lower bound and still tells the last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from analyzer.errors import RuleFileError
from analyzer.limits import Limits
from analyzer.logtime import stamped
from analyzer.scan.blocks import Buffer, LineBlock, LineBlocks, Source
from analyzer.scan.careful import UNDECIDED, Answer, Careful, Groups, Proven, Undecided, search_of
from analyzer.scan.compiled_pattern import Engine, Needle, places_of
from analyzer.scan.engines import build, choose
from analyzer.scan.heads import Heads
from analyzer.scan.hits import CONTEXT_TEXT, Hit, LogScan, Search, SearchStop, Signature, decoded
from analyzer.scan.prefilter import ODD_CASE
from analyzer.scan.time_span import Ends
from analyzer.secrets.values import HIDDEN, hide_around

__all__ = ["CONTEXT", "EXACT", "FLOOR", "Hit", "LogScan", "Scanner", "Signature", "decoded", "encoded"]

CONTEXT = 2  # lines kept before and after a hit
MOST_ABOVE = 40  # lines kept before a hit inside a message over many lines, up to the head of the message
_STAMP = 128  # bytes of a line that tell whether it begins with a time
FLOOR = 20  # hits kept of each member even when the node's share is used up
EXACT = 10  # times the cap: up to there counts are exact

_CONTEXT_HITS = 200  # hits of a signature and node that get context lines
_TEXT = 8192  # characters kept of a hit's line
_KEPT_TEXT = 8 << 20  # characters kept of all hits of a signature and node
_PROBES = 64  # candidates looked at in a block for a signature that storms


@dataclass(slots=True)
class _Share:
    """What a signature has used of its share on one node, over all members; `steps` of careful search are left."""

    steps: int
    count: int = 0
    kept: int = 0
    text: int = 0


@dataclass(slots=True)
class _Set:
    """The signatures of one table, numbered, how lines are searched for them, and the engines built for them.

    needles  the signatures compiled, once a log of the table comes
    """

    signatures: list[Signature] = field(default_factory=list)
    needles: list[Needle] = field(default_factory=list)
    searches: list[Callable[[str], Answer] | None] = field(default_factory=list)  # None: not needed so far
    engines: dict[frozenset[int], Engine | None] = field(default_factory=dict)


class Scanner:
    """Searches logs for signatures; built once, used for every log of a case.

    signatures  of all tables; ids are unique. They are compiled when the first log of their table comes: RuleFileError
                then when a pattern is no regex
    engine      "auto", "hyperscan", "re2" or "pure": speed only, the hits are the same
    cache_dir   where compiled databases may be kept; None: nothing is written

    Not for use by two threads at a time. Shares of `limits.hits_per_signature` are counted
    per node over all members, so that a storm in sixty rotated files keeps memory flat.
    """

    def __init__(
        self,
        signatures: Sequence[Signature],
        engine: str = "auto",
        limits: Limits | None = None,
        *,
        cache_dir: Path | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._engine_name = choose(engine) if engine != "auto" else ""
        self._cache_dir = cache_dir
        self._sets: dict[str, _Set] = {}
        self._shares: dict[tuple[str, str], _Share] = {}
        seen: set[str] = set()
        for signature in signatures:
            if signature.id in seen:
                raise RuleFileError("two signatures have one id", where=signature.id)
            seen.add(signature.id)
            own = self._sets.setdefault(signature.table, _Set())
            own.signatures.append(signature)
            own.searches.append(None)

    def scan(
        self,
        source: Source,
        table: str,
        address: str = "",
        node: str = "",
        *,
        first_line: int = 1,
        heads: Heads | None = None,
    ) -> LogScan:
        """Read a member to its end and return what the signatures of `table` find in it.

        source is a member (an object with `readinto`, and perhaps `cut`) or an iterable of
        bytes-like chunks. A table without signatures is counted and looked at for its time
        span all the same. `heads` counts the lines that no form of the log takes.
        """
        result = LogScan(table, address, node)
        blocks = LineBlocks(source, self.limits.line_bytes, first_line=first_line)
        search = self.searching(result)
        ends = Ends(result)
        for block in blocks:
            ends.see(block)
            if heads:
                heads.see(block)
            if search:
                search.block(block)
        if search:
            search.close()
        tally = blocks.tally
        result.lines, result.bytes, result.cut = tally.lines, tally.bytes, tally.cut
        result.nul_gaps, result.nul_bytes = tally.nul_gaps, tally.nul_bytes
        result.long_lines, result.long_at = tally.long_lines, tally.long_at
        ends.close()
        return result

    def scan_lines(
        self,
        lines: Iterable[str],
        table: str,
        address: str = "",
        node: str = "",
        *,
        first_line: int = 1,
        heads: Heads | None = None,
    ) -> LogScan:
        """Do as `scan` for text that was split into lines already (UTF-16, CR only, transcripts)."""
        return self.scan(encoded(lines), table, address, node, first_line=first_line, heads=heads)

    def searching(self, result: LogScan) -> _Search | None:
        """Begin a search that fills `result`; None when nothing is looked for in its table."""
        own = self._sets.get(result.table)
        if own and not own.needles:
            own.needles = [_needle(signature) for signature in own.signatures]
        return _Search(self, own, result) if own else None

    @property
    def engine(self) -> str:
        """The engine in use, chosen when it is asked for: to look for one takes an import."""
        self._engine_name = self._engine_name or choose()
        return self._engine_name

    def _share(self, node: str, signature: str) -> _Share:
        return self._shares.setdefault((node, signature), _Share(self.limits.pattern_total))

    def _engine(self, own: _Set, left_out: frozenset[int]) -> Engine | None:
        """Return the engine for a table's signatures but those that storm."""
        if left_out not in own.engines:
            wanted = {
                number: needle
                for number, needle in enumerate(own.needles)
                if number not in left_out and not needle.every_line
            }
            own.engines[left_out] = build(self.engine, wanted, self._cache_dir) if wanted else None
            while len(own.engines) > 8:  # storms of other nodes; the full set stays
                own.engines.pop(next(key for key in own.engines if key))
        return own.engines[left_out]


def _needle(signature: Signature) -> Needle:
    try:
        return Needle.of(signature.pattern, re.IGNORECASE if signature.ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        raise RuleFileError(
            f"the pattern is no regular expression: {signature.pattern[:80]!r}",
            where=signature.id,
            why=str(error),
        ) from error


def encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines that were split already as chunks of bytes."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        try:
            raw = line.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half a pair of UTF-16
            raw = line.encode("utf-8", "replace")
        batch.append(raw.replace(b"\n", b" "))
        size += len(raw)
        if size > 1 << 18:
            yield b"\n".join(batch) + b"\n"
            batch, size = [], 0
    if batch:
        yield b"\n".join(batch) + b"\n"


@dataclass(slots=True)
class _Found:
    """A confirmed line of a block, before it has a number."""

    start: int
    stop: int
    text: str
    match: re.Match[str] | Proven


# offset, number of the signature, line, and whether it gets context (None: only the last one known)
_Wanted = tuple[int, int, _Found, bool]


class _Search:
    """The search of one member: proposals, confirmation, numbers, context, shares."""

    def __init__(self, scanner: Scanner, own: _Set, result: LogScan) -> None:
        self._scanner, self._own, self._result = scanner, own, result
        self._shares = [scanner._share(result.node, one.id) for one in own.signatures]
        self._here = [0] * len(own.signatures)  # hits kept of this member
        self._storms: frozenset[int] = frozenset()
        self._cap = scanner.limits.hits_per_signature
        self._tail = b""  # the last lines of the block before
        self._open: list[tuple[Hit, int]] = []  # hits that wait for so many lines after them
        for search, share in zip(own.searches, self._shares, strict=True):
            if isinstance(search, Careful):
                search.left = share.steps
        result.counts = {one.id: 0 for one in own.signatures}

    def block(self, block: LineBlock) -> None:
        """Search one block."""
        self._fill_open(block)
        storms = frozenset(n for n, share in enumerate(self._shares) if share.count > EXACT * self._cap)
        engine = self._scanner._engine(self._own, storms)
        proposals = engine.propose(block.data, block.end) if engine else []
        proposals += self._always(block, storms)
        wanted: list[_Wanted] = []
        lasts: dict[int, _Found] = {}
        for number, found in self._confirmed(block, proposals):
            self._take(number, found, wanted, lasts)
        for number in storms:
            if one := self._probe(block, number):
                self._take(number, one, wanted, lasts)
                self._result.at_least.add(self._own.signatures[number].id)
        if wanted or lasts:
            self._keep(block, wanted, lasts)
        self._tail = _tail(block.data, block.end, self._tail)

    def close(self) -> None:
        """Put the hits in order; call after the last block."""
        for search, share in zip(self._own.searches, self._shares, strict=True):
            if isinstance(search, Careful):
                share.steps = search.left
        order = {one.id: number for number, one in enumerate(self._own.signatures)}
        self._result.hits.sort(key=lambda hit: (hit.line, order[hit.signature]))

    def _always(self, block: LineBlock, storms: frozenset[int]) -> list[tuple[int, int]]:
        """Propose what no engine can: patterns without a foothold, and odd letters when case is ignored."""
        data, end = block.data, block.end
        found: list[tuple[int, int]] = []
        needles = [(n, needle) for n, needle in enumerate(self._own.needles) if n not in storms]
        every = [n for n, needle in needles if needle.every_line]
        at = 0
        while every and at < end:
            found += ((at, n) for n in every)
            at = data.find(b"\n", at, end) + 1
        folded = [n for n, needle in needles if not needle.every_line and needle.folds_case]
        for letter in ODD_CASE if folded and not data.isascii() else ():
            at = data.find(letter, 0, end)
            while at >= 0:
                found += ((at, n) for n in folded)
                at = data.find(letter, data.find(b"\n", at, end), end)
        return found

    def _confirmed(self, block: LineBlock, proposals: list[tuple[int, int]]) -> Iterator[tuple[int, _Found]]:
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
                text = decoded(data[start:stop])
                tried = set()
            if number in tried:
                continue
            tried.add(number)
            try:
                match = (searches[number] or self._search(number))(text)
            except SystemError:  # a fault of `re` with groups in possessive repeats (python/cpython#101955)
                match = UNDECIDED
            if match is None:
                continue
            if isinstance(match, Undecided):
                self._stopped(number, block.first_line + block.count(0, start)).lines += 1
                self._result.at_least.add(self._own.signatures[number].id)
                continue
            yield number, _Found(start, stop, text, match)

    def _search(self, number: int) -> Callable[[str], Answer]:
        """Return the search of a signature, made when a line is first proposed for it."""
        needle = self._own.needles[number]
        search = search_of(needle.compiled, self._scanner.limits.pattern_steps)
        if isinstance(search, Careful):
            search.left = self._shares[number].steps
        self._own.searches[number] = search
        return search

    def _stopped(self, number: int, line: int) -> SearchStop:
        """Return the note that a signature was stopped at a line, or before."""
        name = self._own.signatures[number].id
        known = self._result.stopped.get(name)
        if known is None:
            known = self._result.stopped[name] = SearchStop(line, total=self._left(number) <= 0)
        return known

    def _left(self, number: int) -> int:
        search = self._own.searches[number]
        return search.left if isinstance(search, Careful) else 1

    def _probe(self, block: LineBlock, number: int) -> _Found | None:
        """Return the first line of a block that a storming signature matches, if it is soon found."""
        places = places_of(self._own.needles[number], block.data, block.end)
        proposals = [(at, number) for at in islice(places, _PROBES)]
        return next((found for _, found in self._confirmed(block, proposals)), None)

    def _take(self, number: int, found: _Found, wanted: list[_Wanted], lasts: dict[int, _Found]) -> None:
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

    def _keep(self, block: LineBlock, wanted: list[_Wanted], lasts: dict[int, _Found]) -> None:
        """Number the lines of a block that are kept, and give them their context."""
        last = [(found.start, number, found, None) for number, found in lasts.items()]
        line, at = block.first_line, 0
        for start, number, found, context in sorted([*wanted, *last], key=lambda one: one[:2]):
            line += block.count(at, start)
            at = start
            hit = self._hit(number, line, found)
            if context is None:
                self._result.last_hits[hit.signature] = hit
                continue
            self._result.hits.append(hit)
            if context or not stamped(bytes(block.data[start : start + _STAMP])):
                self._surround(block, hit, found)

    def _hit(self, number: int, line: int, found: _Found) -> Hit:
        needle, match = self._own.needles[number], found.match
        text = found.text[:_TEXT]
        search: Search | Groups | None = None
        if isinstance(match, Proven):
            search = self._groups(number, line, found)
        elif named := match.re.groupindex:
            search = needle.search
            careful = self._own.searches[number]
            dear = isinstance(careful, Careful) and not careful.is_quick(found.text)
            if dear or len(found.text) > _TEXT:  # it costs, or the groups lie in what is not kept
                search = {key: match[key] and match[key][:_TEXT] for key in named}
        name = self._own.signatures[number].id
        shown = hide_around([], text, [])[1]
        if shown != text and search is not None:
            groups = search if isinstance(search, dict) else _named(search, text)
            search = {key: value if value is None or value in shown else HIDDEN for key, value in groups.items()}
        return Hit(name, self._result.address, line, shown, search=search)

    def _groups(self, number: int, line: int, found: _Found) -> Groups:
        """Return the named groups of a line that is only known to match; None where they cost too much."""
        search = self._own.searches[number]
        groups = search.groups(found.text) if isinstance(search, Careful) else {}
        if groups is None:
            self._stopped(number, line).groups += 1
            return dict.fromkeys(self._own.needles[number].compiled.groupindex)
        return {key: value and value[:_TEXT] for key, value in groups.items()}

    def _surround(self, block: LineBlock, hit: Hit, found: _Found) -> None:
        raw, missing = _head(block.data, found.stop + 1, block.end, CONTEXT)
        count = max(CONTEXT, _to_head(block.data, found.start))
        hit.surround(_tail(block.data, found.start, self._tail, count), raw)
        if missing:
            self._open.append((hit, missing))

    def _fill_open(self, block: LineBlock) -> None:
        still: list[tuple[Hit, int]] = []
        for hit, wanted in self._open:
            raw, missing = _head(block.data, 0, block.end, wanted)
            hit.more_after(raw)
            if missing:
                still.append((hit, missing))
        self._open = still


def _named(search: Search, text: str) -> Groups:
    match = search(text)
    return match.groupdict() if match else {}


def _to_head(data: Buffer, at: int) -> int:
    """Return how many lines above the one at `at` the head of its message stands; 0 when it bears a time itself.

    A message over many lines (`-->`, a trace) has its time and thread on the first of them only.
    """
    if stamped(bytes(data[at : at + _STAMP])):
        return 0
    for count in range(1, MOST_ABOVE + 1):
        if not at:
            break
        at = data.rfind(b"\n", 0, at - 1) + 1
        if stamped(bytes(data[at : at + _STAMP])):
            return count
    return 0


def _tail(data: Buffer, end: int, earlier: bytes, count: int = CONTEXT) -> bytes:
    """Return the last lines before offset `end`, with their line feeds, reaching back into `earlier`."""
    start = end
    for _ in range(count):
        if start:
            start = data.rfind(b"\n", 0, start - 1) + 1
    raw = _short(bytes(data[start:end]))
    if start == 0 and earlier:
        raw = b"".join(line + b"\n" for line in (earlier + raw).split(b"\n")[:-1][-count:])
    return raw


def _head(data: Buffer, at: int, end: int, count: int) -> tuple[bytes, int]:
    """Return up to `count` lines from offset `at` on, with their line feeds, and how many are missing."""
    stop = at
    while stop < end and count:
        stop = data.find(b"\n", stop, end) + 1
        count -= 1
    return _short(bytes(data[at:stop])), count


def _short(lines: bytes) -> bytes:
    """Return lines, each cut at what is kept of a context line."""
    if len(lines) <= 4 * CONTEXT_TEXT:
        return lines
    return b"".join(line[: 4 * CONTEXT_TEXT] + b"\n" for line in lines.split(b"\n")[:-1])
