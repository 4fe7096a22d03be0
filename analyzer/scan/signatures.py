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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, Unpack

from analyzer.runtime.errors import RuleFileError
from analyzer.runtime.limits import Limits
from analyzer.scan.blocks import LineBlock, LineBlocks, Source
from analyzer.scan.engines import choose_engine
from analyzer.scan.heads import Heads
from analyzer.scan.hits import Hit, LogScan, Signature, decode_line
from analyzer.scan.member_search import CONTEXT, EXACT, FLOOR, HitShare, MemberSearch
from analyzer.scan.parted import BlockSearch
from analyzer.scan.signature_set import SignatureSet
from analyzer.scan.time_span import Ends

__all__ = [
    "CONTEXT",
    "EXACT",
    "FLOOR",
    "Hit",
    "LogScan",
    "Scanner",
    "Signature",
    "decode_line",
    "encode_lines",
]


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
        proposals = engine.propose(block.data, block.end) if engine else []
        begin = 0
        for search in self.searches:
            end = begin + search.signatures
            own = [(at, number - begin) for at, number in proposals if begin <= number < end]
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
        self._shares: dict[tuple[str, str], HitShare] = {}
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
            shares = []
            for signature in own.signatures:
                share = HitShare(self.limits.pattern_total)
                shares.append(self._shares.setdefault((one.scope, signature.id), share))
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
