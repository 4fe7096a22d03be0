"""A text as lines, and where a command's output ends in it.

The lines come out of `passes.run_passes`; each question to a line (a prompt? the start of an output?) is answered
once. `Text.find_end` finds where an output that starts on a line is over.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from analyzer.artefacts.logtime import is_stamped
from analyzer.sources import prompts
from analyzer.sources.passes import run_passes
from analyzer.sources.prompts import Prompt
from analyzer.sources.shapes import (
    EDGE_SIGNS,
    Recogniser,
    find_joined,
    is_fence,
    is_heading,
    is_prose,
    is_snip,
)

_BRACE_LINE = re.compile(r"\s*(?:[^:]{1,80}:(?!//)\S.*|\})\s*$")
_ROW = re.compile(r"\s*(?:\d|.*[:=]\s*-?\d[\d.]*\s*$)")
_WORD = re.compile(r"\s*([A-Za-z][\w-]*)")
_MORE_LOG = re.compile(r"\s*-->|\s+\S|Caused by:")
# A time without its date, as somebody left of a stamp or a program prints it.
_CLOCK = re.compile(r"\[?\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?Z?\b")
_STAMP_REACH = 120  # characters in which a stamp stands
_TOGETHER = 5000  # lines that are asked together whether they are quiet
_STRANGE_LINES = 3  # remarks in a row inside a dump whose brace is still open
_FAR = (
    200  # lines looked at for the place where the output of a command goes on behind strange ones
)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a line is, wherever it is: its prompt, the outputs it may start, and whether it ends one."""

    prompt: Prompt | None
    starts: list[Recogniser]
    stops: bool


# A line that is neither blank, prompt, start, fence nor snip and has no brace: most lines of a dump.
_QUIET = _Seen(None, [], stops=False)


class Text:
    """The cleaned lines of a text and what its recognisers see in them.

    places  index in the source of each line, empty when they are the same lines
    """

    def __init__(self, lines: Sequence[str], recognisers: list[Recogniser]) -> None:
        self.recognisers = recognisers
        self.shapes, self.commands = find_joined(recognisers)
        text = run_passes(lines, self._starts_output)
        self.lines, self.places, self.searched = text.lines, text.places, text.searched
        self._rests = text.rests
        self._heads = text.heads
        self.heads = frozenset(text.heads)
        self._seen: dict[str, _Seen] = {}  # by line: dumps repeat most of theirs
        self._noted = 0  # the line after those that were asked together
        self._inside: dict[
            str, set[str]
        ] = {}  # by recogniser: quiet lines that belong to its output

    def _starts_output(self, line: str) -> bool:
        """Say whether an output that is no log may start with a line."""
        return any(not one.log for one in self.shapes.find_starting(line))

    def _see_line(self, line: str) -> _Seen:
        seen = self._seen.get(line)
        if seen is None:
            seen = self._seen[line] = self._look_at(line)
        return seen

    def _look_at(self, line: str) -> _Seen:
        text = line.strip()
        prompt = self._ask_prompt(text)
        starts = self.shapes.find_starting(line)
        at_edge = text[:1] in EDGE_SIGNS
        stops = prompt is not None or (at_edge and is_fence(line))
        if stops or starts or not text or "{" in line or "}" in line or (at_edge and is_snip(line)):
            return _Seen(prompt, starts, stops)
        return _QUIET

    def is_quiet(self, line: str) -> bool:
        """Say whether a line is known to be neither blank, prompt, start, fence nor snip, nor to hold a brace."""
        return self._seen.get(line) is _QUIET

    def find_quiet_end(self, at: int) -> int:
        """Return the line after the quiet ones from a line on: a text may have millions of them."""
        lines, known = self.lines, self._seen.get
        last = self._find_next_head(at - 1)
        while at < last:
            if at >= self._noted and lines[at] not in self._seen:
                self._note_quiet(at)
            if (known(lines[at]) or self._see_line(lines[at])) is not _QUIET:
                break
            at += 1
        return at

    def _note_quiet(self, at: int) -> None:
        """Note which of the next lines are quiet, asked together; left out are those that need a closer look."""
        self._noted = at + _TOGETHER
        fresh = set(self.lines[at : self._noted]).difference(self._seen)
        some = [line for line in fresh if line[:1].isalnum()]
        others = self.shapes.find_possible_starts(some) | prompts.find_possible_commands(some)
        others.update(line for line in some if "{" in line or "}" in line)
        self._seen.update((line, _QUIET) for line in some if line not in others)

    def is_plain(self, line: str) -> bool:
        """Say whether a line is neither blank, prompt, start, fence nor snip and holds no brace."""
        return self._look_at(line) is _QUIET

    def is_prompt(self, line: str) -> bool:
        """Say whether a line is a prompt, or a command without one."""
        return self._see_line(line).prompt is not None

    def prompt_at(self, at: int) -> Prompt | None:
        """Return the prompt on a line, or the command that is there without its prompt."""
        return self._see_line(self.lines[at]).prompt

    def _ask_prompt(self, text: str) -> Prompt | None:
        if not text or len(text) > prompts.MOST_TYPED:
            return None
        found = prompts.find_prompt(text)
        if found is not None:
            return found
        if host := prompts.find_waiting_host(text):
            # Prose has such words too: only that of a prompt elsewhere in the text counts.
            return self._prompts_by_host.get(host)
        typed = text.strip("`")
        if (
            not typed
            or not (typed[0] == "/" or "a" <= typed[0] <= "z")
            or not prompts.is_tool(typed)
        ):
            return None
        if is_prose(typed.capitalize()) or self.shapes.find_starting(text):
            return None
        if not any(one.match_command(typed) for one in self.commands.find_candidates(typed)):
            return None
        node = prompts.ESXI if prompts.is_esxi_tool(typed) else ""
        return Prompt("echo", "", node, False, typed)

    @cached_property
    def _prompts_by_host(self) -> dict[str, Prompt]:
        """The prompts of NSX behind which something was typed, by host, as they stand where nothing was."""
        found = {}
        for line in self.lines:
            prompt = prompts.find_prompt(line.strip()) if len(line) < prompts.MOST_TYPED else None
            if prompt is not None and prompt.form == "nsx":
                found[prompt.host] = replace(prompt, command="")
        return found

    def starts_at(self, at: int) -> list[Recogniser]:
        """Return the recognisers whose output may start on a line."""
        return self._see_line(self.lines[at]).starts

    def is_blank(self, at: int) -> bool:
        """Say whether a line holds nothing but white space."""
        return not self.lines[at] or self.lines[at].isspace()

    def stops_at(self, at: int) -> bool:
        """Say whether no output goes over this line: a prompt or the edge of a code block."""
        return at in self.heads or self._see_line(self.lines[at]).stops

    def is_prose_at(self, at: int) -> bool:
        """Say whether a line is a sentence, or a heading between blank lines."""
        if is_prose(self.lines[at]):
            return True
        if at > 0 and not self.is_blank(at - 1):
            return False
        if at + 1 < len(self.lines) and not self.is_blank(at + 1):
            return False
        return is_heading(self.lines[at])

    def is_stamped_at(self, at: int) -> bool:
        """Say whether a line begins with a time, with or without its date."""
        line = self.lines[at].lstrip()[:_STAMP_REACH]
        return _CLOCK.match(line) is not None or is_stamped(line.encode("utf-8", "replace"))

    def find_named_end(self, recogniser: Recogniser, start: int) -> int:
        """Return the line after a stretch of the log that a command named.

        Each line with a time is one of it, unless it surely begins an output of its own; a line without a time
        belongs to the one above it.
        """
        at = start + 1
        last = self._find_next_head(start)
        while at < last and not self.is_blank(at) and not self.stops_at(at):
            line = self.lines[at]
            if is_snip(line):
                break
            if at in self._rests or recogniser.starts_at(line) is not None:
                at += 1
                continue
            others = [one for one in self.starts_at(at) if not one.rest]
            if others or (is_prose(line) and not self.is_stamped_at(at)):
                break
            at += 1
        return at

    def find_end(
        self,
        recogniser: Recogniser,
        start: int,
        slack: int = 0,
        *,
        blanks: bool = True,
        sole: bool = False,
        opened: int = 0,
    ) -> int:
        """Return the line after the output of a recogniser that starts on a line; `opened` braces are above it.

        `sole`: the command above printed nothing else, so that strange lines stand inside its output as long
        as a line that belongs follows before the next prompt; the parser counts them.
        """
        if recogniser.log:
            return self._find_log_end(recogniser, start, slack)
        inside = self._inside.setdefault(recogniser.name, set())
        depth = _count_open_braces(self.lines[start]) + opened
        brace = depth > 0
        end = at = start + 1
        strange = 0
        last = self._find_next_head(start)
        while at < last:
            line = self.lines[at]
            quiet = (self._seen.get(line) or self._see_line(line)) is _QUIET
            if not quiet:
                if self.is_blank(at):
                    if not blanks:
                        break
                    at = self._skip_blanks(recogniser, at, start, brace=brace, sole=sole)
                    continue
                if self.stops_at(at) or self._begins_again(recogniser, start, at):
                    break
                if is_snip(line):
                    end = at = at + 1
                    continue
            if line not in inside and not self._belongs(recogniser, at, brace=brace and not quiet):
                strange += 1
                if not sole and not self._is_remark(recogniser, at, strange, brace=brace):
                    break
                going = self._find_resumption(recogniser, at, start) if sole else at + 1
                if (
                    going != at
                ):  # else a line between braces that another output could start, and no other does here
                    at = going
                    continue
            strange = 0
            end = at = at + 1
            if quiet:
                inside.add(line)  # it starts no other output, so no brace matters
            depth += _count_open_braces(line)
            if depth < 0 or (brace and depth == 0):
                break
        return end

    def count_opened(self, begin: int, end: int) -> int:
        """Return how many braces lines open that they do not close."""
        return max(0, sum(_count_open_braces(line) for line in self.lines[begin:end]))

    def _find_next_head(self, at: int) -> int:
        """Return the place of the next head below a line, or the end of the text."""
        place = bisect_right(self._heads, at)
        return self._heads[place] if place < len(self._heads) else len(self.lines)

    def _belongs(self, recogniser: Recogniser, at: int, *, brace: bool) -> bool:
        line = self.lines[at]
        if not recogniser.goes_on(line):
            return False
        others = [one for one in self.starts_at(at) if one.name != recogniser.name]
        if any(one.log and not one.rest for one in others):
            return False  # a line of a log has a label and a value, too
        if recogniser.body and not brace:
            return True
        if others and not (recogniser.shape and recogniser.starts_at(line) is not None):
            return False
        return bool(recogniser.body) or not is_prose(line)

    def _is_remark(self, recogniser: Recogniser, at: int, strange: int, *, brace: bool) -> bool:
        """Say whether a line that does not belong is a remark inside the output, which goes on below it."""
        following = at + 1
        if not recogniser.body or following >= len(self.lines) or is_prose(self.lines[at]):
            return False
        if (
            strange > (_STRANGE_LINES if brace else 1)
            or self.starts_at(at)
            or self.stops_at(following)
        ):
            return False
        if self.is_blank(following):
            return False
        return brace or self._belongs(recogniser, following, brace=brace)

    def _find_resumption(self, recogniser: Recogniser, at: int, start: int) -> int:
        """Return the line on which the output of a command goes on behind strange ones, or the end of the text."""
        none = len(self.lines)
        if not recogniser.body:
            return none
        blank = False
        for below in range(at, min(at + _FAR, none)):
            if self.stops_at(below) or self._begins_again(recogniser, start, below):
                break
            if self.is_blank(below):
                blank = True
            elif self._belongs(recogniser, below, brace=False):
                return below
            elif self.starts_at(below) or (blank and self._is_paragraph(below)):
                break
            else:
                blank = False
        return none

    def _is_paragraph(self, at: int) -> bool:
        """Say whether a sentence below a blank line is the writer's: a blank line follows, or another sentence."""
        below = at + 1
        if not self.is_prose_at(at):
            return False
        if below >= len(self.lines) or self.is_blank(below):
            return True
        return self.is_prose_at(below) and not self.starts_at(below)

    def _skip_blanks(
        self, recogniser: Recogniser, at: int, start: int, *, brace: bool, sole: bool
    ) -> int:
        """Return the line on which an output goes on behind blank lines, or the end of the text."""
        below = at
        while below < len(self.lines) and self.is_blank(below):
            below += 1
        if below < len(self.lines):
            line = self.lines[below]
            is_end = self.stops_at(below) or self.is_prose_at(below) or is_snip(line)
            fits = not is_end and (not brace or _BRACE_LINE.match(line))
            if fits and self._belongs(recogniser, below, brace=brace):
                return below
        return self._find_resumption(recogniser, at, start) if sole else len(self.lines)

    def _begins_again(self, recogniser: Recogniser, start: int, at: int) -> bool:
        """Say whether the title of the same output comes once more: the next dump starts."""
        if recogniser not in self.starts_at(at) or recogniser in self.starts_at(at - 1):
            return False
        if (
            recogniser.shape == recogniser.body
        ):  # each of its rows looks like the first, none is a title
            return False
        if recogniser.leads(
            self.lines[at - 1]
        ):  # the next record of a list, whose first line is above
            return False
        line = self.lines[at]
        if _ROW.match(line):
            return False
        first_word, word = _WORD.match(self.lines[start]), _WORD.match(line)
        return first_word is not None and word is not None and first_word[1] == word[1]

    def _find_log_end(self, recogniser: Recogniser, start: int, slack: int) -> int:
        end = at = start + 1
        last = self._find_next_head(start)
        while at < last and at - end <= slack:
            line = self.lines[at]
            if at in self._rests:
                end = at = at + 1
                continue
            if recogniser.rest and not all(one.rest for one in self.starts_at(at)):
                break
            if recogniser.starts_at(line):
                end = at + 1
            elif self.is_blank(at) or self.stops_at(at):
                if not slack or not self.is_blank(at):
                    break
            elif self.starts_at(at) or is_prose(line):
                break
            elif at == end and (
                recogniser.goes_on(line) if recogniser.body else _MORE_LOG.match(line)
            ):
                end = at + 1
            at += 1
        return end


def _count_open_braces(line: str) -> int:
    return line.count("{") - line.count("}")
