"""Search of logs: all signatures of all rules in one pass over raw bytes.

A hit is defined as `re.search(pattern, line)` with Python's `re` on one line, decoded as UTF-8
with surrogateescape (what a line is: analyzer/scan/blocks.py). Engines only propose lines, so that
every engine gives the same hits.

A pattern whose work can grow beyond all bounds is searched with care: a line that would take it more
than `limits.pattern_steps` stays undecided and is named (analyzer/scan/careful.py).

A signature that hits without end (a storm) costs neither time nor memory: hits are kept up to
`limits.hits_per_signature` a scope, then counted exactly up to ten times that, and from there
on looked for once a block, which makes the count a lower bound and still tells the last one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import TypedDict, Unpack

from analyzer.artefacts.logtime import is_stamped
from analyzer.runtime.errors import RuleFileError
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import NEIGHBOURS, BlockSearch, Buffer, LineBlock, LineBlocks, Source
from analyzer.scan.careful import (
    UNDECIDED,
    Answer,
    Careful,
    Groups,
    Proven,
    Undecided,
    search_of,
)
from analyzer.scan.engines import (
    NUMBER_BITS,
    NUMBER_MASK,
    Engine,
    Needle,
    build_engine,
    choose_engine,
    find_needle_places,
)
from analyzer.scan.heads import Heads
from analyzer.scan.hits import (
    CONTEXT_TEXT,
    Ends,
    Hit,
    LogScan,
    Search,
    SearchStop,
    Signature,
    decode_line,
)
from analyzer.scan.prefilter import ODD_CASE
from analyzer.scan.tallies import CountedLine, KindShare, LineRun, Tallies
from analyzer.secrets.values import HIDDEN, hide_lone_line

SMALL = (
    256 << 10
)  # bytes of the logs of one table; to compile 150 signatures takes as long as to search these by hand


@dataclass(slots=True)
class SignatureSet:
    """The signatures of one table, numbered, how lines are searched for them, and the engines built for them.

    engine_name  gives the engine in use; cache_dir: where compiled databases may be kept, None for nowhere
    free         no engine was asked for by name
    needles      the signatures compiled, once a log of the table comes
    sought       those of them that engines seek; every_line: the numbers of all others, which are tried on every line
    folding      the numbers of those sought that ignore case
    counting     those that propose the lines of which others are counted; they are sought by themselves, as most logs
                 have one and the same
    careful      the numbers of those whose search is bounded, of the searches made so far
    """

    engine_name: Callable[[], str]
    cache_dir: Path | None = None
    free: bool = False
    signatures: list[Signature] = field(default_factory=list)
    needles: list[Needle] = field(default_factory=list)
    sought: dict[int, Needle] = field(default_factory=dict)
    every_line: list[int] = field(default_factory=list)
    folding: list[int] = field(default_factory=list)
    counting: dict[int, Needle] = field(default_factory=dict)
    searches: list[Callable[[str], Answer] | None] = field(
        default_factory=list
    )  # None: not needed so far
    careful: set[int] = field(default_factory=set)
    _engines: dict[frozenset[int], Engine | None] = field(default_factory=dict)
    _searched: int = 0  # bytes of its logs
    _counting: dict[tuple[int, bool], Engine] = field(default_factory=dict)
    _counted: int = 0  # bytes in which lines were counted
    _small: Engine | None = None  # for the first of them
    _sorted: tuple[dict[int, Signature], dict[str, int]] | None = None

    def add(self, signature: Signature) -> None:
        """Take a signature of the table."""
        self.signatures.append(signature)
        self.searches.append(None)

    def compile(self) -> None:
        """Compile the signatures, once; raises RuleFileError for a pattern that is no regex."""
        if self.needles:
            return
        needles = []
        for signature in self.signatures:
            flags = re.IGNORECASE if signature.ignore_case else 0
            try:
                needles.append(Needle.of(signature.pattern, flags))
            except (re.error, OverflowError, RecursionError) as error:
                raise RuleFileError(
                    f"the pattern is not a regular expression: {signature.pattern[:80]!r}",
                    where=signature.id,
                    why=str(error),
                ) from error
        self._sort_needles(needles)

    def join_sets(self, sets: Sequence[SignatureSet]) -> SignatureSet:
        """Take the signatures of other sets that are compiled, one set after the other, and return this set."""
        self.signatures = [signature for one in sets for signature in one.signatures]
        self._sort_needles([needle for one in sets for needle in one.needles])
        return self

    def _sort_needles(self, needles: list[Needle]) -> None:
        self.needles = needles
        for number, needle in enumerate(needles):
            if self.signatures[number].name_kinds is not None:
                self.counting[number] = needle
                continue
            if needle.every_line:
                self.every_line.append(number)
                continue
            self.sought[number] = needle
            if needle.folds_case:
                self.folding.append(number)

    def sort_signatures(self) -> tuple[dict[int, Signature], dict[str, int]]:
        """Return the signatures that count lines by kind, by number, and a zero for each of all others.

        Each search of a log begins with these, so they are sorted once.
        """
        if self._sorted is None:
            counted: dict[int, Signature] = {}
            zeros: dict[str, int] = {}
            for number, signature in enumerate(self.signatures):
                if signature.kind_of is None and signature.name_kinds is None:
                    zeros[signature.id] = 0
                else:
                    counted[number] = signature
            self._sorted = counted, zeros
        return self._sorted

    def find_engine(self, left_out: frozenset[int], length: int) -> Engine | None:
        """Return what proposes lines for all signatures but some, for so many bytes more; None when none is.

        The first bytes are left to the engine that needs no compiling, unless another one was asked for by name.
        """
        self._searched += length
        if left_out not in self._engines:
            wanted = {
                number: needle for number, needle in self.sought.items() if number not in left_out
            }
            if self.free and self._searched <= SMALL and wanted and not left_out:
                self._small = self._small or build_engine("pure", wanted)
                return self._small
            self._engines[left_out] = (
                build_engine(self.engine_name(), wanted, self.cache_dir) if wanted else None
            )
            while len(self._engines) > 8:  # storms of other nodes; the full set stays
                self._engines.pop(next(key for key in self._engines if key))
        return self._engines[left_out]

    def find_counting_engine(self, number: int, length: int) -> Engine:
        """Return what proposes lines, as of a pattern 0, for one that counts, and for so many bytes more."""
        self._counted += length
        small = self.free and self._counted <= SMALL
        engine = self._counting.get((number, small))
        if engine is None:
            name = "pure" if small else self.engine_name()
            engine = build_engine(name, {0: self.counting[number]}, self.cache_dir)
            self._counting[number, small] = engine
        return engine


FLOOR = 20  # hits kept of each member even when the node's share is used up
EXACT = 10  # times the cap: up to there counts are exact

_CONTEXT_HITS = 200  # hits of a signature and node that get context lines
_TEXT = 8192  # characters kept of a hit's line
_KEPT_TEXT = 8 << 20  # characters kept of all hits of a signature and node
_PROBES, _FIRST_PROBES = 64, 4  # candidates looked at in a block for a signature that storms
_NEAR = (
    16 << 10
)  # bytes of the block in which the first of them are sought: in a storm they are there
CONTEXT = NEIGHBOURS  # lines kept before and after a hit
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


class HitShares(dict[int, HitShare]):
    """The shares of the signatures of a table on one node, by number; one is made when it is first used.

    steps  what each may take of careful search
    """

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def __missing__(self, number: int) -> HitShare:
        """Return the whole share of a signature that used nothing so far."""
        share = self[number] = HitShare(self.steps)
        return share


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
    """The search of one member: proposals, confirmation, numbers, context, shares.

    signatures  how many are searched for
    """

    def __init__(
        self, own: SignatureSet, shares: HitShares, limits: Limits, result: LogScan
    ) -> None:
        self._own, self._shares, self._result = own, shares, result
        self.signatures = len(own.signatures)
        self._steps = limits.pattern_steps
        self._here: Counter[int] = Counter()  # hits kept of this member
        self._cap = limits.hits_per_signature
        self._tail = b""  # the last lines of the block before
        self._open: list[tuple[Hit, int]] = []  # hits that wait for so many lines after them
        for number in own.careful:
            search = own.searches[number]
            if isinstance(search, Careful):
                search.left = shares[number].steps
        # Those whose lines are counted by kind, by number
        self._counted, counts = own.sort_signatures()
        result.counts = dict(counts)
        kinds = {one.id: shares[number].kinds for number, one in self._counted.items()}
        self._tallies = Tallies(self._counted.values(), kinds, result.tallies)

    def find_storms(self) -> frozenset[int]:
        """Return the signatures that hit without end, by number."""
        return frozenset(n for n, share in self._shares.items() if share.count > EXACT * self._cap)

    def search_block(self, block: LineBlock, proposals: Sequence[int] | None = None) -> None:
        """Search one block; `proposals` as an engine makes them, where they are known already."""
        still: list[tuple[Hit, int]] = []
        for hit, lacking in self._open:
            raw, missing = lines_after(block.data, 0, block.end, lacking)
            hit.more_after(raw)
            if missing:
                still.append((hit, missing))
        self._open = still
        storms = self.find_storms()
        if proposals is None:
            engine = self._own.find_engine(storms, block.end)
            proposals = engine.propose(block.data, block.end) if engine else ()
        proposals = sorted(chain(proposals, self._propose_always(block, storms)))
        wanted: list[_Wanted] = []
        lasts: dict[int, _Found] = {}
        for number in self._own.counting:
            self._count_proposed(block, number)
        for number, found in self._confirm_proposals(block, proposals):
            signature = self._counted.get(number)
            if signature is not None:
                assert signature.kind_of is not None
                kind = signature.kind_of(found.text)
                self._tallies.count_line(signature.id, kind, CountedLine(found.start, found.stop))
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
        for number in self._own.careful:
            search = self._own.searches[number]
            if isinstance(search, Careful):
                self._shares[number].steps = search.left
        if not self._result.hits:
            return
        order = {one.id: number for number, one in enumerate(self._own.signatures)}
        self._result.hits.sort(key=lambda hit: (hit.line, order[hit.signature]))

    def _propose_always(self, block: LineBlock, storms: frozenset[int]) -> list[int]:
        """Propose what no engine can: patterns without a foothold, and odd letters when case is ignored."""
        data, end = block.data, block.end
        found: list[int] = []
        every = [number for number in self._own.every_line if number not in storms]
        at = 0
        while every and at < end:
            found += (at << NUMBER_BITS | number for number in every)
            at = data.find(b"\n", at, end) + 1
        folded = [number for number in self._own.folding if number not in storms]
        return [*found, *_propose_odd(block, folded)]

    def _count_proposed(self, block: LineBlock, number: int) -> None:
        """Count the lines that a pattern proposes by the kinds that its signature names."""
        signature = self._own.signatures[number]
        assert signature.name_kinds is not None
        engine = self._own.find_counting_engine(number, block.end)
        proposals = [*engine.propose(block.data, block.end), *_propose_odd(block, (0,))]
        data = bytes(memoryview(block.data)[: block.end])
        lines: list[bytes] = []
        starts: list[int] = []
        stop = -1
        for proposal in sorted(proposals):
            at = proposal >> NUMBER_BITS
            if at > stop:
                start = data.rfind(b"\n", 0, at) + 1
                stop = data.find(b"\n", at)
                starts.append(start)
                lines.append(data[start:stop])
        kinds = signature.name_kinds(lines)
        numbers = range(len(kinds))
        lasts = dict(zip(kinds, numbers, strict=True))
        firsts = dict(zip(reversed(kinds), reversed(numbers), strict=True))
        for kind, count in Counter(kinds).items():
            first, last = firsts[kind], lasts[kind]
            first_line = CountedLine(starts[first], starts[first] + len(lines[first]))
            last_line = CountedLine(starts[last], starts[last] + len(lines[last]))
            self._tallies.count_lines(signature.id, kind, LineRun(first_line, last_line, count))

    def _confirm_proposals(
        self, block: LineBlock, proposals: Iterable[int]
    ) -> Iterator[tuple[int, _Found]]:
        """Yield the proposals that are true, each line and signature once, in order of lines."""
        data, end, searches = block.data, block.end, self._own.searches
        start = stop = -1
        text = ""
        tried: set[int] = set()
        for proposal in proposals:
            at = proposal >> NUMBER_BITS
            number = proposal & NUMBER_MASK
            if at > stop:
                start = data.rfind(b"\n", 0, at) + 1
                stop = data.find(b"\n", at, end)
                text = decode_line(data[start:stop])
                tried = set()
            if number in tried:
                continue
            tried.add(number)
            try:
                search = searches[number]
                if search is None:  # made when a line is first proposed for it
                    search = search_of(self._own.needles[number].regex, self._steps)
                    if isinstance(search, Careful):
                        search.left = self._shares[number].steps
                        self._own.careful.add(number)
                    searches[number] = search
                match = search(text)
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
            proposals = [at << NUMBER_BITS | number for at in islice(places, most)]
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
            text = found.text[:_TEXT]
            search = self._choose_groups(number, line, found)
            shown = hide_lone_line(text)
            if shown != text and search is not None:
                # no secret stays in a group either
                if not isinstance(search, dict):
                    match = search(text)
                    search = match.groupdict() if match else {}
                search = dict(search)
                for name, value in search.items():
                    if value is not None and value not in shown:
                        search[name] = HIDDEN
            hit = Hit(
                self._own.signatures[number].id, self._result.address, line, shown, search=search
            )
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


def _propose_odd(block: LineBlock, numbers: Sequence[int]) -> Iterator[int]:
    """Yield the lines with letters beyond ASCII that are an ASCII letter where case is ignored."""
    data, end = block.data, block.end
    if not numbers or data.isascii():
        return
    for letter in ODD_CASE:
        at = data.find(letter, 0, end)
        while at >= 0:
            yield from (at << NUMBER_BITS | number for number in numbers)
            line_end = data.find(b"\n", at, end)
            at = data.find(letter, line_end, end)


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


@dataclass(slots=True)
class SearchesTogether:
    """Searches of one member for several logs, fed block by block; one engine proposes lines for all of them.

    own  the signatures of all these logs, in the order of `searches`
    """

    searches: Sequence[MemberSearch]
    own: SignatureSet

    def search_block(self, block: LineBlock) -> None:
        """Search one block."""
        storms: set[int] = set()
        begin = 0
        for search in self.searches:
            storms.update(begin + number for number in search.find_storms())
            begin += search.signatures
        engine = self.own.find_engine(frozenset(storms), block.end)
        proposals = engine.propose(block.data, block.end) if engine else ()
        begin = 0
        for search in self.searches:
            end = begin + search.signatures
            own = [one - begin for one in proposals if begin <= one & NUMBER_MASK < end]
            search.search_block(block, own)
            begin = end

    def close(self) -> None:
        """Put the hits in order."""
        for one in self.searches:
            one.close()


class HowToScan(TypedDict, total=False):
    """What one search may be given besides the log: the number of its first line, and what else it fills.

    heads  counts the lines that no form of the log takes
    parts  results of tables whose lines are in the same log
    """

    first_line: int
    heads: Heads | None
    parts: Sequence[LogScan]


class Scanner:
    """Searches logs for signatures; built once, used for every log of a case.

    signatures  of all tables; ids are unique. They are compiled when the first log of their table comes: RuleFileError
                then when a pattern is no regex
    engine      "auto", "hyperscan", "re2" or "pure": speed only, the hits are the same
    cache_dir   where compiled databases may be kept; None: nothing is written

    Not for use by two threads at a time. Shares of `limits.hits_per_signature` are counted
    per scope over all members, so that a storm in sixty rotated files keeps memory flat.
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
        self._engine_name = choose_engine(engine) if engine != "auto" else ""
        self._free, self._cache_dir = engine == "auto", cache_dir
        self._sets: dict[str, SignatureSet] = {}
        self._together: dict[tuple[str, ...], SignatureSet] = {}
        self._shares: dict[tuple[str, str], HitShares] = {}
        seen: set[str] = set()
        for signature in signatures:
            if signature.id in seen:
                raise RuleFileError("two signatures have one id", where=signature.id)
            seen.add(signature.id)
            if signature.table not in self._sets:
                self._sets[signature.table] = self._empty_set()
            self._sets[signature.table].add(signature)

    def scan(
        self,
        source: Source,
        table: str,
        address: str = "",
        scope: str = "",
        **how: Unpack[HowToScan],
    ) -> LogScan:
        """Read a member to its end and return what the signatures of `table` find in it.

        source is a member (an object with `readinto`, and perhaps `cut`) or an iterable of
        bytes-like chunks. A table without signatures is counted and looked at for its time
        span all the same.
        """
        result = LogScan(table, address, scope, parts=[*how.get("parts", ())])
        blocks = LineBlocks(source, self.limits.line_bytes, first_line=how.get("first_line", 1))
        heads = how.get("heads")
        search = self.begin_search(result)
        ends = Ends(result)
        for block in blocks:
            ends.see_block(block)
            if heads:
                heads.see_block(block)
            if search:
                search.search_block(block)
        if search:
            search.close()
        tally = blocks.tally
        result.lines, result.bytes, result.cut = tally.lines, tally.bytes, tally.cut
        result.nul_gaps, result.nul_bytes = tally.nul_gaps, tally.nul_bytes
        result.long_lines, result.long_at = tally.long_lines, tally.long_at
        ends.close()
        result.share_with_parts()
        return result

    def scan_lines(
        self,
        lines: Iterable[str],
        table: str,
        address: str = "",
        scope: str = "",
        **how: Unpack[HowToScan],
    ) -> LogScan:
        """Do as `scan` for text that was split into lines already (UTF-16, CR only, transcripts)."""
        return self.scan(encode_lines(lines), table, address, scope, **how)

    def begin_search(self, result: LogScan) -> BlockSearch | None:
        """Begin a search that fills `result` and its parts; None when nothing is looked for in their tables."""
        searches: list[MemberSearch] = []
        tables: list[str] = []
        for one in (result, *result.parts):
            own = self._sets.get(one.table)
            if own is None:
                continue
            own.compile()
            key = one.scope, one.table
            if key not in self._shares:
                self._shares[key] = HitShares(self.limits.pattern_total)
            shares = self._shares[key]
            searches.append(MemberSearch(own, shares, self.limits, one))
            tables.append(one.table)
        if len(searches) < 2:
            return searches[0] if searches else None
        names = tuple(tables)
        if names not in self._together:
            self._together[names] = self._empty_set().join_sets(
                [self._sets[table] for table in names]
            )
        return SearchesTogether(searches, self._together[names])

    def _empty_set(self) -> SignatureSet:
        return SignatureSet(lambda: self.engine, self._cache_dir, free=self._free)

    @property
    def engine(self) -> str:
        """The engine in use, chosen when it is asked for: to look for one takes an import."""
        self._engine_name = self._engine_name or choose_engine()
        return self._engine_name


def encode_lines(lines: Iterable[str]) -> Iterator[bytes]:
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
