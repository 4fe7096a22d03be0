"""A text as lines, and where a command's output ends in it.

The lines are cleaned of what terminals, mails and web pages add; each question to a line (a prompt?
the start of an output?) is answered once. `end` tells where an output that starts on a line is over.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from analyzer.kept_patterns import compiled
from analyzer.lazy_dataclass import dataclass
from analyzer.sources import prompts, ruled
from analyzer.sources.margins import without_margin
from analyzer.sources.markup import marked, unmarked
from analyzer.sources.prompts import Prompt
from analyzer.sources.shapes import EDGE_SIGNS, Recogniser, is_fence, is_heading, is_prose, is_snip, joined
from analyzer.sources.wrapped import unwrapped
from analyzer.sources.wrapped_tables import join_headings, join_tables

_ESCAPES = compiled(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_=>]|\x07")
_QUOTE = compiled(r"(?:> ?)+")
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_ORIGIN = compiled(
    r"(?:(?=[^\s:]{0,200}(?:/|\.(?:log|gz|txt|all|\d)|messages|syslog))[^\s:]{1,200}?[:-])?(?:\d{1,8}[:-])?"
    rf"(?=(?:<\d{{1,3}}>(?:1 )?|\[)?(?:\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|{_MONTH} [ \d]\d \d\d:\d\d:\d\d )"
    r"|TSC: \d+ cpu\d|\d+:\d\d:\d\d:\d\d\.\d+ cpu\d)"
)
_DIRT = compiled("[\x07\x08\r\x1b\x7f\xa0\u200b\ufeff]")
_WEB = str.maketrans({"\xa0": " ", "\u200b": None, "\ufeff": None, "\x7f": None})
_BRACE_LINE = compiled(r"\s*(?:[^:]{1,80}:(?!//)\S.*|\})\s*$")
_ROW = compiled(r"\s*(?:\d|.*[:=]\s*-?\d[\d.]*\s*$)")
_WORD = compiled(r"\s*([A-Za-z][\w-]*)")
_MORE_LOG = compiled(r"\s*-->|\s+\S|Caused by:")
_STRANGE_LINES = 3  # remarks in a row inside a dump whose brace is still open
_FAR = 200  # lines looked at for the place where the output of a command goes on behind strange ones


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a line is, wherever it stands: its prompt, the outputs it may start, and whether it ends one."""

    prompt: Prompt | None
    starts: list[Recogniser]
    stops: bool


# A line that is neither blank, prompt, start, fence nor snip and has no brace: most lines of a dump.
_QUIET = _Seen(None, [], stops=False)


class Text:
    """The cleaned lines of a text and what its recognisers see in them."""

    def __init__(self, lines: Sequence[str], recognisers: list[Recogniser]) -> None:
        self.lines = cleaned(lines)
        self.searched = _without_origins(self.lines)  # places of the lines that grep had put an origin before
        self._rests = unwrapped(self.lines)  # places of the ends of lines of logs that were wrapped
        join_tables(self.lines)
        self._heads = ruled.heads(self.lines)  # places of the rules above commands that stand between rules
        self.heads = frozenset(self._heads)
        self.shapes, self.commands = joined(recognisers)
        join_headings(self.lines, self._opens)
        self._seen: dict[str, _Seen] = {}  # by line: dumps repeat most of theirs
        self._inside: dict[str, set[str]] = {}  # by recogniser: quiet lines that belong to its output

    def _opens(self, line: str) -> bool:
        """Tell whether an output that is no log may start with a line."""
        return any(not one.log for one in self.shapes.starting(line))

    def _see(self, line: str) -> _Seen:
        seen = self._seen.get(line)
        if seen is None:
            seen = self._seen[line] = self._look(line)
        return seen

    def _look(self, line: str) -> _Seen:
        text = line.strip()
        prompt, starts = self._ask_prompt(text), self.shapes.starting(line)
        marked = text[:1] in EDGE_SIGNS
        stops = prompt is not None or (marked and is_fence(line))
        if stops or starts or not text or "{" in line or "}" in line or (marked and is_snip(line)):
            return _Seen(prompt, starts, stops)
        return _QUIET

    def quiet(self, line: str) -> bool:
        """Tell whether a line is known to be neither blank, prompt, start, fence nor snip, nor to hold a brace."""
        return self._seen.get(line) is _QUIET

    def plain(self, line: str) -> bool:
        """Tell whether a line is neither blank, prompt, start, fence nor snip and holds no brace."""
        return self._look(line) is _QUIET

    def prompts(self, line: str) -> bool:
        """Tell whether a line is a prompt, or a command without one."""
        return self._see(line).prompt is not None

    def prompt(self, at: int) -> Prompt | None:
        """Return the prompt on a line, or the command that stands there without its prompt."""
        return self._see(self.lines[at]).prompt

    def _ask_prompt(self, text: str) -> Prompt | None:
        if not text or len(text) > prompts.MOST_TYPED:
            return None
        found = prompts.find_prompt(text)
        if found is not None:
            return found
        if host := prompts.waiting_host(text):
            return self._prompted.get(host)  # prose has such words too: only that of a prompt elsewhere in the text
        typed = text.strip("`")
        if not (typed and (typed[0] in "/" or "a" <= typed[0] <= "z") and prompts.is_tool(typed)):
            return None
        if is_prose(typed.capitalize()) or self.shapes.starting(text):
            return None
        if not any(one.match_command(typed) for one in self.commands.candidates(typed)):
            return None
        node = prompts.ESXI if prompts.is_esxi_tool(typed) else ""
        return Prompt("echo", "", node, False, typed)

    @cached_property
    def _prompted(self) -> dict[str, Prompt]:
        """The prompts of NSX behind which something was typed, by host, as they stand where nothing was."""
        found = (prompts.find_prompt(line.strip()) for line in self.lines if len(line) < prompts.MOST_TYPED)
        return {one.host: replace(one, command="") for one in found if one is not None and one.form == "nsx"}

    def starts(self, at: int) -> list[Recogniser]:
        """Return the recognisers whose output may start on a line."""
        return self._see(self.lines[at]).starts

    def blank(self, at: int) -> bool:
        """Tell whether a line holds nothing but white space."""
        return not self.lines[at] or self.lines[at].isspace()

    def stops(self, at: int) -> bool:
        """Tell whether no output goes over this line: a prompt or the edge of a code block."""
        return at in self.heads or self._see(self.lines[at]).stops

    def prose(self, at: int) -> bool:
        """Tell whether a line is a sentence, or a heading between blank lines."""
        if is_prose(self.lines[at]):
            return True
        before = at == 0 or self.blank(at - 1)
        after = at + 1 >= len(self.lines) or self.blank(at + 1)
        return before and after and is_heading(self.lines[at])

    def end(
        self,
        recogniser: Recogniser,
        start: int,
        slack: int = 0,
        *,
        blanks: bool = True,
        sole: bool = False,
        opened: int = 0,
    ) -> int:
        """Return the line after the output of a recogniser that starts on a line; `opened` braces stand above it.

        `sole`: the command above printed nothing else, so that strange lines stand inside its output as long
        as a line that belongs follows before the next prompt; the parser counts them.
        """
        if recogniser.log:
            return self._log_end(recogniser, start, slack)
        inside = self._inside.setdefault(recogniser.name, set())
        depth = _depth(self.lines[start]) + opened
        brace = depth > 0
        end = at = start + 1
        strange = 0
        last = self._next_head(start)
        while at < last:
            line = self.lines[at]
            quiet = (self._seen.get(line) or self._see(line)) is _QUIET
            if not quiet:
                if self.blank(at):
                    over = self._over_blanks(recogniser, at, brace=brace) if blanks else len(self.lines)
                    again = sole and blanks and over == len(self.lines)
                    at = self._resumes(recogniser, at, start) if again else over
                    continue
                if self.stops(at) or self._again(recogniser, start, at):
                    break
                if is_snip(line):
                    end = at = at + 1
                    continue
            if line not in inside and not self._belongs(recogniser, at, brace=brace and not quiet):
                strange += 1
                going = self._resumes(recogniser, at, start) if sole else at + 1
                if not sole and not self._only_strange(recogniser, at, strange, brace=brace):
                    break
                if going != at:  # else a line between braces that another output could start, and no other does here
                    at = going
                    continue
            strange = 0
            end = at = at + 1
            if quiet:
                inside.add(line)  # it starts no other output, so no brace matters
            else:
                depth += _depth(line)
            if depth < 0 or (brace and depth == 0):
                break
        return end

    def opened(self, begin: int, end: int) -> int:
        """Return how many braces lines open that they do not close."""
        return max(0, sum(_depth(line) for line in self.lines[begin:end]))

    def _next_head(self, at: int) -> int:
        """Return the place of the next head below a line, or the end of the text."""
        place = bisect_right(self._heads, at)
        return self._heads[place] if place < len(self._heads) else len(self.lines)

    def _belongs(self, recogniser: Recogniser, at: int, *, brace: bool) -> bool:
        line = self.lines[at]
        if not recogniser.goes_on(line):
            return False
        if any(one.log and not one.rest and one.name != recogniser.name for one in self.starts(at)):
            return False  # a line of a log has a label and a value, too
        if recogniser.body and not brace:
            return True
        others = any(one.name != recogniser.name for one in self.starts(at)) and not _starts(recogniser, line)
        return not others and bool(recogniser.body or not is_prose(line))

    def _only_strange(self, recogniser: Recogniser, at: int, strange: int, *, brace: bool) -> bool:
        """Tell whether a line that does not belong is a remark inside the output, which goes on below it."""
        following = at + 1
        if not recogniser.body or following >= len(self.lines) or is_prose(self.lines[at]):
            return False
        if strange > (_STRANGE_LINES if brace else 1) or self.starts(at) or self.stops(following):
            return False
        if self.blank(following):
            return False
        return brace or self._belongs(recogniser, following, brace=brace)

    def _resumes(self, recogniser: Recogniser, at: int, start: int) -> int:
        """Return the line on which the output of a command goes on behind strange ones, or the end of the text."""
        none = len(self.lines)
        if not recogniser.body:
            return none
        blank = False
        for below in range(at, min(at + _FAR, none)):
            if self.stops(below) or self._again(recogniser, start, below):
                break
            if self.blank(below):
                blank = True
            elif self._belongs(recogniser, below, brace=False):
                return below
            elif self.starts(below) or (blank and self._paragraph(below)):
                break
            else:
                blank = False
        return none

    def _paragraph(self, at: int) -> bool:
        """Tell whether a sentence below a blank line is the writer's: a blank line follows, or another sentence."""
        below = at + 1
        if not self.prose(at):
            return False
        return below >= len(self.lines) or self.blank(below) or (self.prose(below) and not self.starts(below))

    def _over_blanks(self, recogniser: Recogniser, at: int, *, brace: bool) -> int:
        """Return the line on which an output goes on behind blank lines, or the end of the text."""
        while at < len(self.lines) and self.blank(at):
            at += 1
        none = len(self.lines)
        if at >= none or self.stops(at) or self.prose(at) or is_snip(self.lines[at]):
            return none
        if brace and not _BRACE_LINE.match(self.lines[at]):
            return none
        return at if self._belongs(recogniser, at, brace=brace) else none

    def _again(self, recogniser: Recogniser, start: int, at: int) -> bool:
        """Tell whether the title of the same output comes once more: the next dump starts."""
        if recogniser not in self.starts(at) or recogniser in self.starts(at - 1):
            return False
        if recogniser.shape == recogniser.body:  # each of its rows looks like the first, none is a title
            return False
        if recogniser.leads(self.lines[at - 1]):  # the next record of a list, whose first line stands above
            return False
        first, this = self.lines[start], self.lines[at]
        if _ROW.match(this):
            return False
        words = _WORD.match(first), _WORD.match(this)
        return words[0] is not None and words[1] is not None and words[0][1] == words[1][1]

    def _log_end(self, recogniser: Recogniser, start: int, slack: int) -> int:
        end = at = start + 1
        last = self._next_head(start)
        while at < last and at - end <= slack:
            line = self.lines[at]
            if at in self._rests:
                end = at = at + 1
                continue
            if recogniser.rest and not all(one.rest for one in self.starts(at)):
                break
            if recogniser.starts_at(line):
                end = at + 1
            elif self.blank(at) or self.stops(at):
                if not slack or not self.blank(at):
                    break
            elif self.starts(at) or is_prose(line):
                break
            elif at == end and (recogniser.goes_on(line) if recogniser.body else _MORE_LOG.match(line)):
                end = at + 1
            at += 1
        return end


def clean(line: str) -> str:
    """Return a line without terminal escapes, web blanks and the marks of a quotation or a page."""
    if not line.isprintable() and _DIRT.search(line):  # all dirt is unprintable, a tab is no dirt
        line = _washed(line)
    if line.startswith(">"):
        found = _QUOTE.match(line)
        line = line[found.end() :] if found else line
    return unmarked(line)


def cleaned(lines: Sequence[str]) -> list[str]:
    """Return the lines, each cleaned; most texts need none of it, which one look at the whole tells."""
    whole = "".join(lines)
    if whole.isprintable() and not any(line.startswith(">") for line in lines) and not marked(whole):
        return without_margin(lines)
    return without_margin([clean(line) for line in lines])


def origin(line: str) -> int:
    """Return how many characters grep put before a line of a log: a file's name, a line's number; 0 when none."""
    if line[:1].isspace():  # before a log line no blank stands
        return 0
    found = _ORIGIN.match(line)
    return found.end() if found is not None else 0


def _without_origins(lines: list[str]) -> set[int]:
    """Take from log lines the file name and the line number that grep puts before them; return their places.

    `/var/log/vmkernel.0.gz:2017-…`, `812:2017-…`, `vmkernel.log:812:2017-…`, and with `-` the neighbours of a hit.
    """
    taken = set()
    # most lines of a dump are indented, and none of a log is
    flush = [at for at, line in enumerate(lines) if line[:1] not in (" ", "}", "")]
    for at in flush:
        line = lines[at]
        if before := origin(line):
            lines[at] = line[before:]
            taken.add(at)
    return taken


def _washed(line: str) -> str:
    line = _ESCAPES.sub("", line)
    while "\x08" in line and (shorter := re.sub(r"[^\x08]\x08|^\x08", "", line)) != line:
        line = shorter
    if "\r" in line:  # a terminal wraps with blank and CR, and a CR alone starts the line anew
        line = line.replace(" \r", "").rpartition("\r")[2]
    return line.translate(_WEB)


def _depth(line: str) -> int:
    return line.count("{") - line.count("}")


def _starts(recogniser: Recogniser, line: str) -> bool:
    return bool(recogniser.shape) and recogniser.starts_at(line) is not None
