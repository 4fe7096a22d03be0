"""Facts of stored cases, decoded from the rows of their tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from analyzer.archive.packs import framebytes
from analyzer.archive.packs.columns import BLOCKS, FRAMES, HITS, NODES, SCANS
from analyzer.archive.packs.lossless import load_lossless, untag_cell
from analyzer.archive.restore.reading import Reading
from analyzer.archive.restore.searches import Names, Searches
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Frame, Row, Table
from analyzer.facts import Facts
from analyzer.facts.database import CASE, own_columns, quote_name
from analyzer.rules.language.logic import text_literal
from analyzer.scan.blocks import NulGap
from analyzer.scan.hits import Hit, LogScan, SearchStop
from analyzer.scan.parts import parts_of

FARTHEST = 1 << 25  # lines of one block; a text of 16 MiB has no more
NOTHING = "[]"  # the signatures that a log was searched for, as a pack writes them
AT_ONCE = 40_000  # rows of samples that are read at once; as many are in a group of the file
Tuples = list[tuple[Any, ...]]


class Revival:
    """Builds the facts of the cases of a reading.

    tables    the declared tables that are wanted
    searches  the signatures whose hits are wanted
    whole     with the lines of evidence; else only what verdicts need
    renamed   filled: numbers of cases with signatures that are called otherwise now, or are gone
    """

    def __init__(
        self, reading: Reading, tables: Collection[Table], searches: Searches, *, whole: bool
    ) -> None:
        self.reading, self.searches, self.whole = reading, searches, whole
        self.tables = sorted(tables, key=lambda table: table.name)
        self.renamed: set[int] = set()
        wanted = (table for table in parsing.tables().values() if table.name in searches.log_tables)
        self._parts = {
            table.name: {*table.inside, *table.partly} for table in wanted if table.shares_files
        }
        self._found: dict[int, Facts] = {}
        self._blocks: dict[tuple[int, int], Block] = {}
        self._offsets: dict[str, dict[str, int]] = {}

    def decode_facts(self) -> dict[int, Facts]:
        """Return the facts by the number of their case."""
        declared = parsing.tables()
        self._found = {number: Facts(declared) for number, _ in self.reading.cases}
        there = self._decode_nodes()
        rows = [(table, self._fetch_rows(table)) for table in self.tables if table.name in there]
        # The frames of the wanted tables: case, frame, table, block, rows, info, raw
        frames: Tuples = []
        if rows and self.reading.has_rows(FRAMES):
            names = ", ".join(text_literal(table.name) for table, _ in rows)
            columns = [CASE, "_frame", "table", "_block", "_rows", "_info", "_raw"]
            then = f'WHERE "table" IN ({names}) ORDER BY "table", {CASE}, _frame'
            frames = self.reading.read_rows(FRAMES, columns, then)
        wanted = {(row[0], row[3]) for row in frames}
        for _, found in rows:
            wanted |= {(row[0], row[1]) for row in found}
        columns = [CASE, "_block", "_info"]
        if self.whole:
            columns.append("_text")
        blocks = self.reading.read_rows(BLOCKS, columns, "") if wanted else []
        for number, block, info, *text in blocks:
            if (number, block) in wanted:
                address, node, command, params, taken, cut, first_line, order = load_lossless(info)
                lines = _block_lines(text[0], first_line) if text and text[0] else []
                made = Block(
                    lines, first_line, address, "", command, params, taken, cut, order
                ).assign_node(node)
                self._blocks[number, block] = made
        for table, found in rows:
            self._decode_rows(table, found)
        by_name = {table.name: table for table in self.tables}
        for name, some in groupby(frames, itemgetter(2)):
            for number, frame in self._of_table(by_name[name], list(some)):
                self._found[number].add_frame(frame)
        self._decode_scans()
        return self._found

    # -- nodes and blocks

    def _decode_nodes(self) -> set[str]:
        """Declare the nodes and how well their tables are known; return the names of the tables with rows."""
        there: set[str] = set()
        read: dict[str, Any] = {}
        beside = {
            table.name: {*parsing.find_siblings(table.name), *parsing.read_beside(table.name)}
            for table in self.tables
        }
        with_addresses = self.whole or any(beside.values())
        columns = [
            CASE,
            "_row",
            "_info",
            "complete",
            "_covers",
            "_counts",
            *(["_addresses"] if with_addresses else []),
        ]
        rows = self.reading.read_rows(NODES, columns, f"ORDER BY {CASE}, _row")
        for number, _, info, complete, covers, counts, *addresses in rows:
            facts = self._found[number]
            key, name, kind, product, captured = load_lossless(info)
            facts.node(key, name, kind, product, captured)
            if not complete:
                facts.incomplete(key)
            for text in (covers, counts):  # those of one kind of case are alike
                if text not in read:
                    read[text] = load_lossless(text)
            there |= read[counts].keys()
            for table, state, why in read[covers]:
                facts.cover(key, parsing.name_today(table), state, why)
            if (
                not self.whole
            ):  # a table that is not there is described by the file that may hold it
                left_out = [
                    beside[name] & read[counts].keys()
                    for name in beside.keys() - read[counts].keys()
                ]
                if not any(left_out):
                    continue
                facts.leave_out(key, frozenset().union(*left_out))
            for (table, state, why), known in zip(
                read[covers], load_lossless(addresses[0]) if addresses else (), strict=False
            ):
                for address in known:
                    facts.cover(key, parsing.name_today(table), state, why, address)
        return there

    # -- rows

    def _fetch_rows(self, table: Table) -> Tuples:
        """Return the rows of a table: case, block, line, lines, odd, and the declared columns."""
        own = own_columns(table)
        cells = [CASE, "_block", "_line", "_lines", "_odd"]
        for name, kind in own:
            cell = quote_name(name)
            if kind == "time":  # as text, as rows hold it
                cell = f"replace(strftime({cell}, '%Y-%m-%d %H:%M:%S.%f'), '.000000', '')"
            cells.append(cell)
        columns = [
            CASE,
            "_row",
            "_block",
            "_frame",
            "_line",
            "_lines",
            "_odd",
            *(name for name, _ in own),
        ]
        return self.reading.read_rows(
            table.name, columns, f"WHERE _frame IS NULL ORDER BY {CASE}, _row", ", ".join(cells)
        )

    def _decode_rows(self, table: Table, found: Tuples) -> None:
        names = [name for name, _ in own_columns(table)]
        blocks, offsets = self._blocks, self._offsets
        for number, own in groupby(found, itemgetter(0)):
            rows = []
            for _, block, line, lines, odd, *cells in own:
                values = {
                    name: cell for name, cell in zip(names, cells, strict=True) if cell is not None
                }
                if odd is not None:
                    values |= {
                        name: untag_cell(value) for name, value in load_lossless(odd).items()
                    }
                if lines is None:
                    rows.append(Row(table, values, blocks[number, block], line))
                    continue
                if lines not in offsets:
                    offsets[lines] = load_lossless(lines)
                own_lines = {name: line + offset for name, offset in offsets[lines].items()}
                rows.append(Row(table, values, blocks[number, block], line, own_lines))
            self._found[number].add_rows(table, rows)

    # -- frames

    def _of_table(self, table: Table, found: Tuples) -> Iterator[tuple[int, Frame]]:
        """Yield the frames of one table, cut out of its rows in their order, each with its case."""
        names = ["_line", *(name for name, _ in own_columns(table))]
        last: Frame | None = None
        for some in _at_once(found):
            # The rows of frames that follow one another
            (first, begin, *_), (stop, end, *_) = some[0], some[-1]
            if first == stop:
                rows = f"{CASE} = {int(first)} AND _frame BETWEEN {int(begin)} AND {int(end)}"
            else:
                rows = (
                    f"{CASE} BETWEEN {int(first)} AND {int(stop)} AND _frame IS NOT NULL"
                    f" AND ({CASE} > {int(first)} OR _frame >= {int(begin)})"
                    f" AND ({CASE} < {int(stop)} OR _frame <= {int(end)})"
                )
            then = f"WHERE {rows} ORDER BY {CASE}, _row"
            with self.reading.explain_errors():
                cells = ", ".join(map(quote_name, names))
                arrays = self.reading.ask_columns(
                    table.name, [CASE, "_row", "_frame", *names], cells, then
                ).fetchnumpy()
            at = 0
            for number, _, _, block, count, info, raw in some:
                own = {name: array[at : at + count] for name, array in arrays.items()}
                if len(own["_line"]) != count:
                    raise ValueError(
                        f"a frame of {table.name} has {count} rows, {len(own['_line'])} are there"
                    )
                at += count
                kept: Mapping[str, Any] = load_lossless(raw) if raw else {}
                frame = framebytes.restore_frame(
                    table, self._blocks[number, block], load_lossless(info), kept, own
                )
                last = framebytes.share_names(frame, last)
                yield number, last

    # -- logs

    def _decode_scans(self) -> None:
        looked_at = sorted(
            self.searches.log_tables | {log for logs in self._parts.values() for log in logs}
        )
        declared = parsing.tables()
        stored = sorted(
            {old for name in looked_at if name in declared for old in declared[name].formerly}
            | {*looked_at}
        )
        tables = "" if self.whole else f'WHERE "table" IN ({", ".join(map(text_literal, stored))})'
        if (not self.whole and not self.searches.log_tables) or not self.reading.has_rows(SCANS):
            return
        columns = [CASE, "_scan", "table", "_info", "_tallies", "_searched"]
        scans: dict[tuple[int, int], tuple[LogScan, Names]] = {}
        rows = self.reading.read_rows(SCANS, columns, f"{tables} ORDER BY {CASE}, _scan")
        for number, place, name, info, tallies, searched in rows:
            table = parsing.name_today(name)
            names = self.searches.current_names(table, searched)
            scan = _make_scan(table, load_lossless(info), load_lossless(tallies), names)
            scans[number, place] = scan, names
            if not names.same:
                self.renamed.add(number)
            self._found[number].scans.append(scan)
        for facts in self._found.values():
            self._complete_parts(facts)
        self._decode_hits(scans)
        for scan, names in scans.values():
            order = names.order
            scan.hits.sort(key=lambda hit, order=order: (hit.line, order.get(hit.signature, 0)))  # type: ignore[misc]

    def _complete_parts(self, facts: Facts) -> None:
        """Complete what is known of logs inside of others, in a case that an earlier version stored.

        A part is one of the log that its file was read as. Parts that were not read then are added: nothing
        searched them.
        """
        declared = parsing.tables()
        there = {(scan.table, scan.address) for scan in facts.scans}
        for scan in facts.scans:
            table = declared.get(scan.table)
            if table is None or scan.part_of:
                continue
            for log in (*table.inside, *table.partly, *table.copied_in):
                if (log, scan.address) in there:
                    scan.part_of = log
                    break
        for scan in list(facts.scans):
            wanted = {name for name, logs in self._parts.items() if scan.table in logs}
            if not wanted:
                continue
            for part in parts_of(declared.values(), scan.table, scan.address, ""):
                if part.table in wanted and (part.table, part.address) not in there:
                    part.assign_node(scan.node)
                    part.unsearched = self.searches.current_names(part.table, NOTHING).unsearched
                    part.excerpt, part.cut = scan.excerpt or part.excerpt, scan.cut
                    facts.add_hits(part)

    def _decode_hits(self, scans: Mapping[tuple[int, int], tuple[LogScan, Names]]) -> None:
        stored = sorted(
            {one for _, names in scans.values() for one, now in names.now.items() if now}
        )
        if not stored or not self.reading.has_rows(HITS):
            return
        columns = [
            CASE,
            "_row",
            "_scan",
            "signature",
            "address",
            "line",
            "text",
            "_last",
            "_groups",
            "_odd",
        ]
        columns += ["_around"] if self.whole else []
        then = f"WHERE signature IN ({', '.join(map(text_literal, stored))}) ORDER BY {CASE}, _row"
        rows = self.reading.read_rows(HITS, columns, then)
        for number, _, place, signature, address, line, text, last, groups, odd, *near in rows:
            if (number, place) not in scans:  # of a log that no rule of today looks at
                continue
            scan, names = scans[number, place]
            exact = load_lossless(odd) if odd else (address, text)
            before, after = load_lossless(near[0]) if near and near[0] else (b"", b"")
            named = load_lossless(groups) if groups else None
            for name in names.now.get(signature, ()):
                hit = Hit(name, exact[0], line, exact[1], before=before, after=after, search=named)
                if last:
                    scan.last_hits[name] = hit
                else:
                    scan.hits.append(hit)


def _at_once(found: Tuples) -> Iterator[Tuples]:
    """Yield frames in runs whose rows are asked for at once: all of them, but for those of large captures."""
    some: Tuples = []
    rows = 0
    for frame in found:
        if some and rows + frame[4] > AT_ONCE:
            yield some
            some, rows = [], 0
        some.append(frame)
        rows += frame[4]
    yield some


def _block_lines(text: str, first_line: int) -> list[str]:
    """Return the lines of a block from its first one on; those that were not kept are empty."""
    lines: list[str] = []
    for start, run in load_lossless(text):
        gap = start - first_line - len(lines)
        if not 0 <= gap <= FARTHEST:
            raise ValueError(f"lines of a block stand at {start}")
        lines += [""] * gap
        lines += run
    return lines


def _make_scan(
    table: str, info: Sequence[Any], tallies: Mapping[str, Sequence[Any]], names: Names
) -> LogScan:
    """Return the scan of one log under the names of today, without its hits."""
    address, node, lines, size, nul_bytes, long_lines, *ends, gaps, long_at, cut = info
    first, last, first_stamped, last_stamped = (text.encode("latin-1") for text in ends)
    cut, *more = (
        [cut] if isinstance(cut, str) else cut
    )  # entries written before excerpts were known hold a text
    excerpt, part_of = [*more, "", ""][:2]
    scan = LogScan(
        table,
        address,
        "",
        lines=lines,
        bytes=size,
        first=first,
        last=last,
        cut=cut,
        excerpt=excerpt,
    )
    scan.part_of = parsing.name_today(part_of) if part_of else ""
    scan.assign_node(node)
    scan.first_stamped, scan.last_stamped = first_stamped, last_stamped
    scan.nul_gaps, scan.nul_bytes = [NulGap(*gap) for gap in gaps], nul_bytes
    scan.long_lines, scan.long_at, scan.unsearched = long_lines, long_at, names.unsearched
    scan.counts = {name: 0 for now in names.now.values() for name in now}
    for stored, (count, capped, at_least, stop) in tallies.items():
        for name in names.now.get(stored, ()):
            if count is None:
                scan.counts.pop(name, None)
            else:
                scan.counts[name] = count
            if capped:
                scan.capped.add(name)
            if at_least:
                scan.at_least.add(name)
            if stop is not None:
                scan.stopped[name] = SearchStop(*stop)
    return scan
