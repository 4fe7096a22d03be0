"""The passes over a pasted text, in their order: each undoes what one kind of program did to the lines.

What reaches an engineer was copied from a terminal, a mail, a ticket or a web page, often through several of them.
`run_passes` undoes that before anyone looks for prompts and outputs; the functions below it follow in the same order.

Two steps are no passes. The bytes of a saved web page or of a mail become text earlier, while the source is opened
(`webpage.read_page`), since line numbers then count the lines of that text. Prompts and the starts of outputs are found
later, line by line (`output_extent.Text`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from analyzer.sources.encoding import decode
from analyzer.sources.member import Member
from analyzer.sources.prompts import (
    ESXI,
    MOST_TYPED,
    NSXT_EDGE,
    NSXT_MANAGER,
    Prompt,
    find_prompt,
)
from analyzer.sources.shapes import is_fence, is_heading, is_prose, is_snip


@dataclass(slots=True)
class PastedText:
    """The lines of a text after all passes, and what these found out about them.

    places    index in the source of each line, empty when no line was dropped
    searched  indexes of the lines that grep had put a file name or a line number before
    rests     indexes of the rests of wrapped log lines, which are blank now
    heads     indexes of the upper rules of commands between rules, in order
    """

    lines: list[str]
    places: list[int]
    searched: set[int]
    rests: frozenset[int]
    heads: list[int]


def run_passes(lines: Sequence[str], starts_output: Callable[[str], bool]) -> PastedText:
    """Return a text after all passes; `lines` stay as they are, and after the first pass their number does.

    starts_output  says whether an output that is no log may start with a line
    """
    kept, places = drop_gaps(lines)
    text = remove_margin(clean_lines(kept))
    # Most texts need none of it, which one look at the whole shows.
    whole = "\n".join(text)
    searched = remove_origins(text) if _ORIGIN_END.search(whole) else set()
    rests = join_log_lines(text) if _ANY_STAMP.search(whole) else frozenset()
    if "--" in whole:
        join_tables(text)
    heads = find_ruled_heads(text) if "-" * _RULE in whole else []
    join_headings(text, starts_output)
    return PastedText(text, places, searched, rests, heads)


# --- marks around a line ---
#
# Signs in a line that are not of the text: terminal escapes, quote marks of a mail, marks of a page.
#
# Marks that a web page, a ticket or a word processor puts into the lines of a log, seen in public posts:
# `> **Jan 22 12:39:34 host vmkernel: …**`, a log line between fences on one line, `<br />` at its end, `&#8216;` and
# typographic quotes for the printed ones, `0×2` for `0x2`, `Heap\_Align`, `_2018-06-07T08:02:43Z …_`.


_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_=>]|\x07")
_DIRT = re.compile("[\x07\x08\r\x1b\x7f\xa0\u200b\ufeff]")
_WEB_BLANKS = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None, "\x7f": None})
_QUOTE = re.compile(r"(?:> ?)+")
_MARKS = re.compile(
    '\\*\\*|```\\S|\\S ?```|</?(?:em|strong|br|tt)\\b|&#82\\d\\d;|[“”″]|\\b0×[0-9a-fA-F]|^\\s*_\\d{4}-|\\\\[_"\\[\\]]'
)
_TIMED = re.compile(r"\d:\d\d:\d\d|^\s*(?:WARNING|ALERT): ")
_FENCED = re.compile(r"\s*```+ ?(?P<text>\S.*?) ?```+\s*$")
_BOLD = re.compile(r"\*\*(?=\S)([^*]{3,4000})(?<=\S)\*\*")
_TAGS = re.compile(r"</?(?:em|strong|tt)>|<br ?/?>")
_ITALIC = re.compile(r"(\s*)_(?=\d{4}-)(.*?)_?\s*")
_OF_KERNEL = re.compile(r"\bcpu\d+:\d+|Correlator\\?\]|^\s*(?:WARNING|ALERT): |\\\[Originator@\d")
QUOTES = str.maketrans({"“": '"', "”": '"', "″": '"', "‘": "'", "’": "'"})  # of a word processor
_ENTITIES = {"&#8216;": "'", "&#8217;": "'", "&#8220;": '"', "&#8221;": '"', "&#8243;": '"'}


def clean_line(line: str) -> str:
    """Return a line without terminal escapes, web blanks and the marks of a quotation or a page."""
    if not line.isprintable() and _DIRT.search(line):  # all dirt is unprintable, a tab is no dirt
        line = wash_line(line)
    if line.startswith(">"):
        found = _QUOTE.match(line)
        line = line[found.end() :] if found else line
    return remove_marks(line)


def clean_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines, each cleaned; most texts need none of it, which one look at the whole shows."""
    whole = "".join(lines)
    if (
        whole.isprintable()
        and not (">" in whole and any(line.startswith(">") for line in lines))
        and not (not _is_bare(whole) and _MARKS.search(whole) is not None)
    ):
        return lines
    return [clean_line(line) for line in lines]


def wash_line(line: str) -> str:
    """Return a line as a terminal shows it: without escapes, with backspaces and carriage returns carried out."""
    line = _ESCAPES.sub("", line)
    while "\x08" in line:
        shorter = re.sub(r"[^\x08]\x08|^\x08", "", line)
        if shorter == line:
            break
        line = shorter
    if "\r" in line:  # a terminal wraps with blank and CR, and a CR alone starts the line anew
        line = line.replace(" \r", "").rpartition("\r")[2]
    return line.translate(_WEB_BLANKS)


def remove_marks(line: str) -> str:
    """Return a log line without the marks of a page; a line without a time of day stays, the marks may be its own."""
    if _is_bare(line) or not _MARKS.search(line) or not _TIMED.search(line):
        return line
    if found := _FENCED.match(line):
        line = found["text"]
    if "***" not in line:  # a row of asterisks masks a name
        line = _BOLD.sub(r"\1", line)
    line = _TAGS.sub("", line)
    if found := _ITALIC.fullmatch(line):
        line = found[1] + found[2]
    if _OF_KERNEL.search(
        line
    ):  # other logs print escapes of their own, but not before the bracket of their head
        line = re.sub(r'\\([_"\[\]])', r"\1", line)
    for entity, sign in _ENTITIES.items():
        line = line.replace(entity, sign)
    return re.sub(r"\b0×(?=[0-9a-fA-F])", "0x", line.translate(QUOTES)).rstrip()


def _is_bare(text: str) -> bool:
    """Say quickly that a text holds no mark: nearly no line does, and a search for marks takes ten times as long.

    A mark is not ASCII, holds one of these signs, or is an underline that begins the text.
    """
    signs = "**" in text or "```" in text or "<" in text or "&#82" in text or "\\" in text
    return not signs and text.isascii() and not text.lstrip().startswith("_")


# --- a blank line below every line ---
#
# What mails, word processors and note programs make of a pasted text.
#
# A line that was blank itself lies between two of those, so three blank lines in a row mean a paragraph.

LEAST_DOUBLED = 6  # lines with something in them; fewer may be an output with paragraphs
_PRINTED = re.compile(
    r"\s+\S|.*\S {2,}\S|[^:]{1,60}:(?: \S|$)|(?:\\?-){3}|\d{4}-\d\d-\d\dT|\S*[#\]>$] \S|(?:\S+ ){0,2}\d+ \d+(?: |$)"
)


def drop_gaps(lines: Sequence[str]) -> tuple[Sequence[str], list[int]]:
    """Return the lines of a text without the blank ones below each of its doubled stretches, and the place of each.

    A text in which nothing is doubled comes back as it is, without places.
    """
    gaps: set[int] = set()
    for begin, end in _find_stretches(lines):
        gaps.update(range(begin + 1, end, 2))
    if not gaps:
        return lines, []
    places = [place for place in range(len(lines)) if place not in gaps]
    return [lines[place] for place in places], places


def _find_stretches(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first line of each doubled stretch and the line after its last one."""
    at = 0
    while True:
        try:
            blank = lines.index("", at)
        except ValueError:
            return
        begin = blank - 1
        if begin < at or not lines[begin].strip() or (begin > 0 and lines[begin - 1].strip()):
            at = blank + 1
            continue
        end = begin
        printed = []
        while end < len(lines) and (end + 1 >= len(lines) or not lines[end + 1].strip()):
            if lines[end].strip():
                printed.append(lines[end])
            end += 2
        if end < len(lines) and lines[end].strip():
            printed.append(lines[end])  # more comes right below the last one, which has no gap
        end = min(end, len(lines))
        if len(printed) >= LEAST_DOUBLED:
            # Mostly what a program prints, not the paragraphs of a writer.
            sentences = sum(map(is_prose, printed))
            formed = sum(_PRINTED.match(line) is not None for line in printed)
            if sentences * 3 <= len(printed) and formed * 2 >= len(printed):
                yield begin, end
        at = max(blank + 1, end)


# --- what comes before every line ---
#
# `cat -n`, `nl`, `less -N` and editors number the lines; SecureCRT, MobaXterm and Tera Term write the time in brackets
# before each line of a session. A note keeps an output behind the `#` of a script's remarks. Text copied from the source
# of a web page has its signs as entities. What pandoc and note programs write as Markdown has a backslash before signs,
# and brackets without one around what was underlined. `grep` puts the name of a file and the number of a line before log
# lines.

LOOKED_AT = 200  # lines of a text
LEAST_IN_MARGIN = 2  # lines with something in them
REMARKS = 3  # lines that all begin with #
NUMBERED = 5  # lines that are surely numbered, not by chance; from 1 on these are fewer
FROM_1 = 3
_NUMBER = re.compile(r"\s{0,7}(?P<number>\d{1,7})(?P<gap>\t|[:.)|] ?| {1,2}|$)")
_DAY = r"(?:(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d)[ T])?"
_TIME = re.compile(
    rf"(?:\[{_DAY}\d\d:\d\d[:.]\d\d(?:[.,]\d{{1,6}})?(?: \d{{4}})?\]|{_DAY}\d\d:\d\d:\d\d(?:\.\d{{1,6}})?[>|])(?: |$)"
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#39|#x27);")
# What WordPress and mail programs make of two and three dashes and of quotes.
_TYPESET = QUOTES | str.maketrans({"–": "--", "—": "---"})
_ANY_TYPESET = re.compile(f"[{''.join(map(chr, _TYPESET))}]")
# A ruler of a table, a prompt of ESXi or the head of a log line whose signs have backslashes: no program prints that.
_ESCAPED = re.compile(
    r"\s*(?:\\-){3,}|\[?\\\[\w[\w.-]*@[\w.-]+:[^\]]*\\\]|\s*\d{4}-\d\d-\d\dT[\d:.]{8,20}Z [\w .-]{0,40}\\\[\w{1,20}"
)
_SPAN = re.compile(r"(?<!\\)\[((?:[^\[\]\\]|\\.)*)\](?:\{\.\w+\})?")
# Of the writer, behind what was underlined: --> that
_REMARK = re.compile(r"(\])?(?:\[\s*\]|\[)?\s*(?:\\?-){2,}(?:\\>|\]).*$")
_SIGN = re.compile(r"\\([-_~\[\]|<>*#`'\"$.!(){}+=^&\\])")
_TAG = re.compile(r"<[/?A-Za-z]")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_BELOW_ORIGIN = (
    rf"(?=(?:<\d{{1,3}}>(?:1 )?|\[)?(?:\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|{_MONTH} [ \d]\d \d\d:\d\d:\d\d )"
    r"|TSC: \d+ cpu\d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_ORIGIN = re.compile(
    r"(?:(?=[^\s:]{0,200}(?:/|\.(?:log|gz|txt|all|\d)|messages|syslog))[^\s:]{1,200}?[:-])?(?:\d{1,8}[:-])?"
    + _BELOW_ORIGIN
)
_ORIGIN_END = re.compile("[:-]" + _BELOW_ORIGIN)
_BOLD_WORDS = re.compile(
    r"(?<![\w*:.-])\*\*(\w[^*]{0,200}?\w)\*\*(?![\w*:-])"
)  # asterisks of a masked name stand inside of it


def remove_margin(lines: Sequence[str]) -> list[str]:
    """Return lines without what comes before every one of them, and with entities of HTML as the signs they mean."""
    lines = list(lines)
    whole = "\n".join(lines)
    if "\\" in whole and any("\\" in line and _ESCAPED.match(line) for line in lines):
        lines = [_undo_markdown(line) for line in lines]
    if _ENTITY.search(whole) and not any(map(_TAG.search, lines)):
        import html  # noqa: PLC0415 - its table of signs costs more than most cases need

        lines = [html.unescape(line) for line in lines]
    if not whole.isascii() and any(map(_ANY_TYPESET.search, lines)):
        lines = [line.translate(_TYPESET) for line in lines]
    if "**" in whole:
        lines = [_BOLD_WORDS.sub(r"\1", line) for line in lines]

    # Every line of a script's remark begins with #, and the output follows it.
    is_remark = all(line.lstrip()[:1] in ("#", "") for line in lines)
    if is_remark and sum(bool(line.strip("# \t\r\n")) for line in lines) >= REMARKS:
        lines = [line.lstrip() for line in lines]
        wide = all(line.startswith("# ") for line in lines if line.strip("# \t\r\n"))
        width = 2 if wide else 1
        lines = [line[width:] for line in lines]
    if not has_margin(lines):
        return lines
    if all(_TIME.match(line) for line in lines[:LOOKED_AT] if line.strip()):
        return [_TIME.sub("", line, count=1) for line in lines]
    matches = [_NUMBER.match(line) for line in lines]
    gap = min(
        (len(found["gap"]) for found in matches if found is not None and found["gap"]), default=0
    )
    kept = []
    for line, found in zip(lines, matches, strict=True):
        kept.append(line if found is None else line[found.end("number") + gap :])
    return kept


def _undo_markdown(line: str) -> str:
    """Return a line of Markdown as it was printed, without what a writer put behind an underlined part of it."""
    remark = _REMARK.search(line) if "[" in line else None
    if remark:
        line = line[: remark.start()] + (remark[1] or "")
    line = _SPAN.sub(r"\1", line)
    return _SIGN.sub(r"\1", line)


def has_margin(lines: Sequence[str]) -> bool:
    """Say whether the time of a terminal's log or a number comes before every line of a text."""
    some = [line for line in lines[:LOOKED_AT] if line.strip()]
    if len(some) < LEAST_IN_MARGIN:
        return False
    if all(map(_TIME.match, some)):
        return True
    numbers = []
    for line in some:
        found = _NUMBER.match(line)
        if found is None:
            return False
        numbers.append(int(found["number"]))
    least = FROM_1 if numbers[0] == 1 else NUMBERED
    return len(numbers) >= least and all(after == before + 1 for before, after in pairwise(numbers))


def measure_origin(line: str) -> int:
    """Return how many characters grep put before a log line: a file's name, a line's number; 0 when none."""
    if line[:1].isspace():  # no blank comes before a log line
        return 0
    found = _ORIGIN.match(line)
    return found.end() if found is not None else 0


def remove_origins(lines: list[str]) -> set[int]:
    """Remove the file name and the line number that grep puts before log lines, in place; return their indexes.

    `/var/log/vmkernel.0.gz:2017-…`, `812:2017-…`, `vmkernel.log:812:2017-…`, and with `-` the neighbours of a hit.
    """
    changed = set()
    for at, line in enumerate(lines):
        if line[:1] in (" ", "}", ""):  # most lines of a dump are indented, and none of a log is
            continue
        if width := measure_origin(line):
            lines[at] = line[width:]
            changed.add(at)
    return changed


# --- wrapped lines ---
#
# Log lines, tables and headings that a mail program or a terminal has wrapped are joined again.
#
# A mail breaks between words at 72 to 78 characters, a terminal after its last column. Either way the first word of a
# rest would not have fitted on the line above: this is how a rest differs from a remark below a log line.
#
# A table that was wrapped has its heading, ruler and each row on several lines. Two lines of dashes, one below the other,
# are one ruler that was broken. After a terminal the places of the cells stay; after a mail only their order is left.

WIDEST = 200  # characters a line has been wrapped at
NARROWEST = 68
MOST_RESTS = 60  # lines that one log line became
_MOST_INDENTED = 6  # such lines that one log line became
COLUMNS = (80, 100, 120, 132, 160)  # of terminals
MAIL = 80  # characters that no mail program goes over
NARROWEST_RULER = 40  # characters of a broken ruler
MOST_PARTS = 8  # lines that one line of a table became
SHORTEST_HEADING = 48  # characters of a heading that a mail broke
MOST_HEADING = 3  # lines that such a heading became
MOST_LINES = 5000  # of a text that somebody sent as a mail
_BEGINS = re.compile(
    r"\s*(?:<\d{1,3}>(?:1 )?)?\[?(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d"
    r"|TSC: \d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_ANY_STAMP = re.compile(r"\d:\d\d|TSC: \d")  # in each line that `_BEGINS` matches
_FIRST = frozenset("0123456789<[JFMASONDT")  # characters, most lines of dumps begin with others
_PANIC = re.compile(
    r"#[A-Z]{2} Exception|@BlueScreen|\w*:?\[0x|Panic|0x[0-9a-f]+:"
)  # a line of a purple screen
_RULER = re.compile(r" *-+(?: +-+)* *$")


def join_log_lines(lines: list[str]) -> frozenset[int]:
    """Join each wrapped log line, in place; return where its rests stood, which are blank now."""
    indented = _find_indented(lines)
    for at in reversed(indented):
        lines[at - 1] = f"{lines[at - 1].rstrip()} {lines[at].strip()}"
        lines[at] = ""
    rests = _find_rests(lines)
    if not rests:
        return frozenset(indented)
    width = _measure_width(lines, rests)
    ends = {len(lines[at - 1]) for at in rests}
    hard = ends == {width} and (len(rests) > 1 or width in COLUMNS)
    for at in sorted(rests, reverse=True):
        if hard:
            lines[at - 1] += lines[at]
        else:
            lines[at - 1] = f"{lines[at - 1].rstrip()} {lines[at]}"
        lines[at] = ""
    return rests | frozenset(indented)


def is_wrapped(lines: Sequence[str]) -> bool:
    """Say whether some lines of a text are the rests of log lines; few that are indented a program may have printed."""
    return bool(_find_rests(lines)) or len(_find_indented(lines)) * _FEW > len(lines)


def _find_indented(lines: Sequence[str]) -> list[int]:
    """Return the lines below one of the VMkernel that are indented: it prints none, so that somebody broke its line."""
    found = []
    open_at = -MOST_RESTS
    for at, line in enumerate(lines):
        text = line.strip()
        is_indented = line.startswith(("  ", "\t")) and text and not _BEGINS.match(line)
        if line[:1] in _FIRST and _BEGINS.match(line) and _OF_KERNEL.search(line):
            open_at = at
        elif not is_indented or at - open_at > _MOST_INDENTED or _PANIC.match(text):
            open_at = -MOST_RESTS
        elif find_prompt(text[:MOST_TYPED]) is None:
            found.append(at)
    return found


def _find_rests(lines: Sequence[str]) -> frozenset[int]:
    """Return the lines that are rests of the ones above; one alone is none if it may be a sentence."""
    near: set[int] = set()
    begun = -MOST_RESTS
    for at, line in enumerate(lines):
        if line.lstrip()[:1] in _FIRST and _BEGINS.match(line):
            begun = at
        elif (
            at - begun >= MOST_RESTS
            or not line.strip()
            or line.startswith(("  ", "\t", "-->"))
            or is_fence(line)
            or is_snip(line)
            or _PANIC.match(line)
            or find_prompt(line.strip()) is not None
        ):
            begun = -MOST_RESTS
        else:
            near.add(at)
    width = _measure_width(lines, near) if near else 0
    if not NARROWEST <= width <= WIDEST:
        return frozenset()
    rests = set()
    for at in near:
        # A blank is where a terminal broke the line, and then the line was full.
        word = 0 if lines[at][0] == " " else len(lines[at].split(maxsplit=1)[0])
        if len(lines[at - 1]) + word >= width:
            rests.add(at)
    chained = set()
    for at in rests:
        top = at
        while top in rests:
            top -= 1
        if _BEGINS.match(lines[top]):  # all lines from the beginning of a log line on are rests
            chained.add(at)
    if len(chained) == 1 and _is_doubtful(lines, *chained):
        return frozenset()
    return frozenset(chained)


def _measure_width(lines: Sequence[str], rests: Collection[int]) -> int:
    """Return how wide the lines are that were wrapped: as the widest of them, or of their rests."""
    return max(max(len(lines[at]), len(lines[at - 1])) for at in rests)


def _is_doubtful(lines: Sequence[str], at: int) -> bool:
    """Say whether the only rest of a text may be a sentence, or is below a line of a length that nothing wraps at."""
    line = lines[at].rstrip()
    if is_prose(line) or line.endswith("?"):
        return True
    wide = len(lines[at - 1])
    return wide > MAIL and wide not in COLUMNS


def join_tables(lines: list[str]) -> None:
    """Join the wrapped lines of tables, in place; where their rests stood is a blank line."""
    at = 1
    while at < len(lines):
        parts = _count_ruler_parts(lines, at)
        if parts:
            begin, below = at - parts, at + parts
            end = _find_table_end(lines, below)
            width = max(map(len, lines[begin:end]))
            groups = [(begin, at), (at, below), *_group_rows(lines, below, end, parts, width)]
            ruler = [len(line.strip()) for line in lines[at:below]]
            by_column = all(_fits_ruler(lines[first:after], ruler) for first, after in groups)
            for first, after in groups:
                group = lines[first:after]
                cells = [line.strip() for line in group]
                if width in COLUMNS:  # a terminal broke the lines
                    joined = "".join(line.ljust(width) for line in group)
                elif (
                    by_column
                ):  # each line was broken where a column ends: the places of the cells stay
                    padded = [cell.ljust(size) for cell, size in zip(cells, ruler, strict=True)]
                    joined = "  ".join(padded)
                else:
                    joined = " ".join(cells)
                lines[first] = joined.rstrip()
                for rest in range(first + 1, after):
                    lines[rest] = ""
            at = end - 1
        at += 1


def _count_ruler_parts(lines: Sequence[str], at: int) -> int:
    """Return on how many lines a broken ruler extends that begins on a line; 0 where it is whole, or none."""
    if (
        not lines[at].lstrip(" ").startswith("--")
        or len(lines[at]) < NARROWEST_RULER
        or not _RULER.match(lines[at])
    ):
        return 0
    end = at + 1
    while (
        end < len(lines)
        and end - at <= MOST_PARTS
        and lines[end].strip()
        and _RULER.match(lines[end])
    ):
        end += 1
    parts = end - at
    if parts == 1 or parts > MOST_PARTS or parts > at:
        return 0
    heading = lines[at - parts : at]
    return parts if all(line.strip() and not _RULER.match(line) for line in heading) else 0


def _fits_ruler(group: Sequence[str], ruler: Sequence[int]) -> bool:
    """Say whether no part of a line is wider than the part of the ruler that belongs to it."""
    if len(group) != len(ruler):
        return False
    return all(len(line.strip()) <= width for line, width in zip(group, ruler, strict=True))


def _find_table_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the rows of a table."""
    while at < len(lines):
        text = lines[at].strip()
        if (
            not text
            or is_fence(lines[at])
            or (len(text) < MOST_TYPED and find_prompt(text) is not None)
        ):
            break
        at += 1
    return at


def _group_rows(
    lines: Sequence[str], begin: int, end: int, parts: int, width: int
) -> list[tuple[int, int]]:
    """Return the lines of each row: as many as the ruler has, or up to one that is not full."""
    if (end - begin) % parts == 0:
        return [(first, first + parts) for first in range(begin, end, parts)]
    rows = []
    first = begin
    for at in range(begin, end):
        if len(lines[at]) < width or at - first + 1 == parts or at + 1 == end:
            rows.append((first, at + 1))
            first = at + 1
    return rows


# --- commands between rules ---
#
# A program that prints the outputs of many commands below one another puts each between two rules of dashes.
#
# Source: NSX CLI guide. `get support-bundle` without a file prints 80 dashes, a command with its path, 80 dashes and
# its output, for all commands of the node. `on <node> exec <command>` heads the answer of each node with its id, kind and
# name between dashes as long as that line.

RULED = "ruled"
RULED_LINES = 3  # a rule, the command, a rule
_RULE = 40  # dashes: the ruler of a table has blanks between its columns, or is shorter
_EXEC = re.compile(r"on\s+.{1,2000}?\bexec\s+(?P<command>\S.*)$")
_RULED_COMMAND = re.compile(r"/(?:[\w.+-]+/)*[\w.+-]+(?:\s.*)?$")
_RULED_NODE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\s+(?P<kind>ctl|edg|esx|mgr)\s+(?P<host>\S+)$"
)
_NODE_KINDS = {"ctl": NSXT_MANAGER, "mgr": NSXT_MANAGER, "edg": NSXT_EDGE, "esx": ESXI}


def is_ruled_head(lines: Sequence[str], at: int) -> bool:
    """Say whether a line is the upper rule of a head that names a command or a node."""
    if not lines[at].startswith("-" * _RULE) or at + RULED_LINES > len(lines):
        return False
    rule = lines[at].rstrip()
    if (
        len(rule) != rule.count("-")
        or lines[at + 2].rstrip() != rule
        or len(lines[at + 1]) > MOST_TYPED
    ):
        return False
    text = lines[at + 1].strip()
    return bool(_RULED_COMMAND.match(text) or _RULED_NODE.match(text))


def find_ruled_heads(lines: Sequence[str]) -> list[int]:
    """Return the places of all heads in order: those of their upper rules."""
    rule = "-" * _RULE
    return [
        at for at, line in enumerate(lines) if line.startswith(rule) and is_ruled_head(lines, at)
    ]


def make_ruled_prompt(text: str, above: Prompt | None) -> Prompt:
    """Return the prompt that a head represents: whose output follows, and which command printed it.

    text   the line between the rules
    above  the last prompt before it, whose command printed all of it
    """
    text = text.strip()
    if node := _RULED_NODE.match(text):
        kind, host = node.group("kind", "host")
        command = _EXEC.sub(r"\g<command>", above.command) if above else ""
        return Prompt(RULED, host, _NODE_KINDS[kind], True, command)
    if above is None:
        return Prompt(RULED, "", "", False, text)
    return replace(above, form=RULED, command=text)


# --- broken headings ---
#
# A mail breaks a heading as it breaks a line; only together do its parts start an output.


def join_headings(lines: list[str], starts: Callable[[str], bool]) -> None:
    """Join headings that a mail broke in two or three, in place, on the last of their lines.

    starts  says whether an output starts with a line: the joined heading must, its first part alone must not
    """
    if len(lines) > MOST_LINES or any(len(line) > MAIL and " " in line.strip() for line in lines):
        return
    for at, line in enumerate(lines):
        if len(line) < SHORTEST_HEADING or starts(line):
            continue
        heading, parts, known = line.rstrip(), 1, 0
        while parts < MOST_HEADING and at + parts < len(lines):
            below = lines[at + parts].strip()
            is_row = known > 0 and any(map(str.isdigit, below))
            if not below or is_row or starts(lines[at + parts]):
                break
            heading = f"{heading} {below}"
            parts += 1
            if starts(heading):
                known = parts
                # What is left of the heading comes right below it.
                lines[at : at + parts] = [*[""] * (parts - 1), heading]
            elif known:
                break


# --- whether a text is pasted ---
#
# Whether a file that looks like a log is the log itself, or a paste: a terminal session, a mail, a ticket.
#
# A log begins with a line of its own and holds no prompts. What a paste shows of a log may be all of it
# or what `grep` let through, so the two must not be taken for one another.


# Lines that may begin with a prompt: whoever matches is asked again, so this may say yes too often.
_MAYBE = (
    rb"([ \t>]*+(?:\[[\w.-]++@|(?:\([\w.-]++\) ?)?[\w.-]++@[\w.-]++(?::| \[)|[A-Za-z0-9][\w.-]*+:[~/]|(?:~|/[\w./@:+-]*+) #"
    rb"|[A-Za-z0-9][\w.-]*+(?:\([\w-]++\))? ?[#>]|(?:[\w./~-]*+[$#]|%) ?[a-z/(]|(?:PS )?[A-Za-z]:\\"
    rb"|(?:PS|PowerCLI) [\w/~])[^\r\n]*+)"
)
_PROMPT = re.compile(_MAYBE)
_PROMPT_BELOW = re.compile(rb"\n" + _MAYBE)  # a line feed is sought faster than `^`
_STAMPED = re.compile(
    r"\s*(?:<\d{1,3}>(?:1 )?|\[)?(?:\d{4}-\d\d-\d\d[T ]\d\d:|[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:)"
)
# Lines of an entry below its first: hostd, traces of Java and Python, the closing brackets of a dump.
_INSIDE = re.compile(r"\s*-->|\s+(?:at |File \"|\.\.\. \d)|Caused by: |\s*[\])}]+[,;]?\s*$")
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # UTF-16, as PowerShell writes it
_MOST_TRIED = 10_000
_FEW = 10  # one line in so many is enough
_SAMPLE = 200  # lines at the beginning of a text


class Begun:
    """A member of which the first bytes were read already, as a source of the log search."""

    def __init__(self, begun: bytes, member: Member) -> None:
        self._begun, self._member = memoryview(begun), member

    @property
    def cut(self) -> str:
        """Why the member ended early, or ""."""
        return self._member.cut

    def readinto(self, buffer: bytearray | memoryview, /) -> int:
        """Fill `buffer` from the front and return the number of bytes, 0 at the end."""
        if not self._begun:
            return self._member.readinto(buffer)
        count = min(len(self._begun), len(buffer))
        memoryview(buffer).cast("B")[:count] = self._begun[:count]
        self._begun = self._begun[count:]
        return count


def is_utf16(raw: bytes) -> bool:
    """Say whether a text begins as UTF-16 does."""
    return raw.startswith(_WIDE)


def find_typed(raw: bytes) -> Prompt | None:
    """Return a prompt with a command that is in a text, the first that names its host, or None."""
    if is_utf16(raw):
        raw = "\n".join(decode(raw)).encode("utf-8", "replace")
    first: Prompt | None = None
    first_match = _PROMPT.match(raw)
    matches = chain([first_match] if first_match else [], _PROMPT_BELOW.finditer(raw))
    for found in islice(matches, _MOST_TRIED):
        line = clean_line(found[1][:MOST_TYPED].decode("utf-8", "replace")).strip()
        prompt = find_prompt(line)
        if prompt is None:
            continue
        if prompt.host:
            return prompt
        if first is None and prompt.command:
            first = prompt
    return first


def is_quoted(sample: Sequence[str], starts: Callable[[str], object]) -> bool:
    """Say whether the first lines of a text are words about a log or bear marks of a page, or parts were left out.

    sample  the first lines of the text
    starts  says whether a line is one of the log
    """
    some = [line for line in sample[:_SAMPLE] if line.strip()]
    with_marks = sum(remove_marks(line) != line for line in some)
    if with_marks * 2 >= max(len(some), 1):
        return True
    if has_margin(some) and any(map(starts, remove_margin(some))):
        return True
    begun = False
    for line in sample[:_SAMPLE]:
        text = line.strip()
        if starts(line) or _STAMPED.match(line):
            begun = True
        elif is_fence(line) or is_snip(line):
            return True
        if not begun and (is_prose(text) or (text and is_heading(text))):
            return True
    return False


def find_lead(sample: Sequence[str], starts: Callable[[str], object]) -> str:
    """Return the first line of a text that stands above its log and is none of it, "" where the log begins at once.

    A copy of a log may begin inside an entry of many lines; a prompt, a command, a remark or a heading was put there.

    sample  the first lines of the text
    starts  says whether a line is one of the log
    """
    for line in sample[:_SAMPLE]:
        text = clean_line(line).strip("\0 \t\r\n")
        if not text or _INSIDE.match(line):
            continue
        if find_prompt(text[:MOST_TYPED]) is not None:
            return line
        return "" if starts(text) or _STAMPED.match(text) else line
    return ""


def is_searched(sample: Sequence[str]) -> bool:
    """Say whether grep printed the first lines of a text: a file's name or a line's number comes before them."""
    lines = [clean_line(line) for line in sample[:_SAMPLE]]
    printed = set(filter(measure_origin, lines))
    if not printed:
        return False
    stamped = [line for line in lines if line in printed or _STAMPED.match(line)]
    return sum(line in printed for line in stamped) * _FEW > len(stamped)


def is_paste(sample: Sequence[str]) -> bool:
    """Say of a file in an archive whether its first lines are a terminal session's, or what grep printed."""
    first = next((line for line in sample if line.strip()), "")
    return find_prompt(clean_line(first).strip()[:MOST_TYPED]) is not None or is_searched(sample)
