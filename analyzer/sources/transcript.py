"""Splits pasted text into commands, their outputs and prose.

What reaches an engineer is a terminal session, or a blog post or mail with pieces of one: prompts of several machines,
dumps without a closing brace or their prompt, quoted lines, `<snip>`, log lines and sentences in between. `split` finds
the stretches a parser can read, with host, command and parameters where the text names them; no line is in two pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from analyzer.sources import prompts
from analyzer.sources.output_extent import Text
from analyzer.sources.passes import RULED, RULED_LINES, make_ruled_prompt
from analyzer.sources.prompts import Command, Prompt
from analyzer.sources.repeats import Repeats
from analyzer.sources.shapes import Recogniser, is_fence, is_snip


class KnownCommand(NamedTuple):
    """A parser that knows a command, the parameters it reads from it, and whether the output is filtered."""

    recogniser: Recogniser
    params: dict[str, str]
    filtered: bool


@dataclass(slots=True)
class TypedCommand:
    """One command of a command line and the parsers that know it, best first."""

    command: Command
    known: list[KnownCommand]


class CommandParsers:
    """The parsers of the commands of one text; what was found for a command is kept."""

    def __init__(self, text: Text) -> None:
        self.commands = text.commands
        self._known: dict[Command, list[KnownCommand]] = {}

    def read_line(self, typed: str, prompt: Prompt) -> list[TypedCommand]:
        """Return the commands of a command line, each with the parsers that may read its output at such a prompt."""
        nodes = {prompt.node} if prompt.sure else set()
        if nodes & {prompts.NSXT_MANAGER, prompts.NSXT_EDGE}:
            nodes.add(prompts.NSXT)
        commands = []
        for command in prompts.split_commands(typed):
            known = []
            for one in self.find_known(command):
                # A command that others have too takes a sure prompt.
                if not one.recogniser.common or one.recogniser.node in nodes:
                    known.append(one)
            commands.append(TypedCommand(command, known))
        return commands

    def measure_known(self, command: str) -> int:
        """Return how many characters of a command a parser knows at most."""
        longest = 0
        for recogniser in self.commands.find_candidates(command):
            found = recogniser.match_command(command)
            if found:
                longest = max(longest, found.end() - found.start())
        return longest

    def find_known(self, command: Command) -> list[KnownCommand]:
        """Return the parsers that know a command, the longest match first, then those for the rest."""
        if command not in self._known:
            ranked = []
            for recogniser in self.commands.find_candidates(f"{command.bare}\n{command.text}"):
                bare = recogniser.match_command(command.bare)
                whole = recogniser.match_command(command.text) if command.filtered else None
                found = whole if bare is None else bare
                if found is None:
                    continue
                # a pattern that reaches over the pipe knows its filter
                filtered = command.filtered and bare is not None
                params = {
                    name: value
                    for name, value in found.groupdict().items()
                    if (value is not None and not any(sign in value for sign in "$`{}*<>"))
                }
                order = (
                    recogniser.rest,
                    found.start() - found.end(),
                    -len(found.re.pattern),
                    recogniser.name,
                )
                ranked.append((order, KnownCommand(recogniser, params, filtered)))
            ranked.sort(key=lambda entry: entry[0])
            self._known[command] = [known for _, known in ranked]
        return self._known[command]


@dataclass(slots=True)
class TranscriptPiece:
    """A stretch of lines of one sort.

    parser        name of the recogniser that reads it, None for all other roles
    first_line    number of lines[0]
    lines         the text without quote marks, escapes and non-breaking blanks; one for each line of
                  the source
    host          from the prompt, "" when none was there; same host, same node
    kind          kind of node: esxi, guest, nsx_controller, nsx_manager, nsx_edge, ""
    command       what printed it, "" when the text does not say
    params        named groups of the recogniser's command pattern (switch, port_id, queue, …)
    filtered      True behind `| grep` and the like, or with `<snip>`: what is not there proves nothing
    role          output (a parser reads it), command (a prompt), unread (output of a command that no
                  parser reads), prose
    excerpt       of a log: why these are only some of its lines, "" when they are all that the file holds
    command_line  number of the line the command was typed on, 0 when there is none
    after         name of the recogniser whose output ended here, though the command's may go on: lines of
                  the output that were not understood
    gaps          numbers of blank lines that a copy put below those of the text: no parser need see them
    """

    parser: str | None
    first_line: int
    lines: list[str]
    host: str = ""
    kind: str = ""
    command: str = ""
    params: dict[str, str] = field(default_factory=dict)
    filtered: bool = False
    role: str = "prose"
    command_line: int = 0
    excerpt: str = ""
    after: str = ""
    gaps: frozenset[int] = frozenset()


def close_pieces(pieces: Sequence[TranscriptPiece]) -> None:
    """Give all pieces of a host the kind of node that one of them proves."""
    weak = ("", prompts.GUEST)
    proved = {}
    for piece in pieces:
        if piece.host and piece.kind not in weak:
            proved[piece.host] = piece.kind
    for piece in pieces:
        if piece.host in proved and piece.kind in weak:
            piece.kind = proved[piece.host]


def spread_out(
    pieces: Sequence[TranscriptPiece], places: Sequence[int], size: int, first_line: int
) -> None:
    """Put the pieces of a text whose gaps were left out back on the lines of its source.

    places  of the lines that were kept; size: number of lines of the source; first_line: number of its first
    """
    for piece in pieces:
        begin = piece.first_line - 1
        end = begin + len(piece.lines)
        first, after = places[begin], places[end] if end < len(places) else size
        lines = [""] * (after - first)
        gaps = set(range(len(lines)))
        for place, text in zip(places[begin:end], piece.lines, strict=True):
            lines[place - first] = text
            gaps.discard(place - first)
        piece.gaps = frozenset(first_line + first + at for at in gaps)
        piece.lines, piece.first_line = lines, first_line + first
        if piece.command_line:
            piece.command_line = first_line + places[piece.command_line - 1]


def find_unread_outputs(pieces: Sequence[TranscriptPiece]) -> list[tuple[int, str, int]]:
    """Return the commands that printed something of which nothing is read: line, command, lines that are not blank.

    What comes below a bare prompt (the help of a `?` that leaves no trace) is the output of no command.
    """
    read = {piece.command_line for piece in pieces if piece.parser is not None}
    counts: dict[int, int] = {}
    commands: dict[int, str] = {}
    for piece in pieces:
        typed = piece.command.strip()
        if piece.role != "unread" or not typed or piece.command_line in read:
            continue
        count = sum(bool(line.strip()) for line in piece.lines)
        if count:
            commands[piece.command_line] = typed
            counts[piece.command_line] = counts.get(piece.command_line, 0) + count
    return [(line, typed, counts[line]) for line, typed in commands.items()]


_LOG_SLACK = 30  # lines of another sort inside a log that a command printed
_MOST_BROKEN = 20  # lines that a command line with backslashes goes over
_NARROWEST = 70  # characters of a line that a terminal may have broken


def split(
    lines: Sequence[str],
    recognisers: Iterable[Recogniser],
    first_line: int = 1,
    above: Prompt | None = None,
) -> list[TranscriptPiece]:
    """Return the pieces of a text, in order, every line in exactly one of them.

    lines        without line ends
    recognisers  the parsers (or anything alike) that say which outputs they read
    first_line   number of lines[0] in its source
    above        the last prompt before lines[0], see `find_last_prompt`
    """
    text = Text(lines, list(recognisers))
    if not text.places:
        return _Splitter(text, first_line, above).split_text()
    pieces = _Splitter(text, 1, above).split_text()
    spread_out(pieces, text.places, len(lines), first_line)
    return pieces


def find_last_prompt(pieces: Sequence[TranscriptPiece], above: Prompt | None) -> Prompt | None:
    """Return the last prompt of the pieces of a text, `above` where they hold none."""
    for piece in reversed(pieces):
        if piece.role == "command":
            return Prompt(RULED, piece.host, piece.kind, bool(piece.kind), piece.command)
    return above


@dataclass(slots=True)
class _Context:
    """The prompt whose output is being read."""

    prompt: Prompt
    line: int


class _Splitter:
    """Goes through the lines of a text and makes its pieces."""

    def __init__(self, text: Text, first_line: int, above: Prompt | None) -> None:
        self.text = text
        self.first_line = first_line
        self.above = above  # the last prompt that somebody typed at
        self.pieces: list[TranscriptPiece] = []
        self.vsish_host = ""
        self.parsers = CommandParsers(text)
        self.repeats = Repeats(text.is_plain, text.is_prompt)

    def split_text(self) -> list[TranscriptPiece]:
        """Return the pieces of the whole text."""
        at = 0
        while at < len(self.text.lines):
            at = self._take_quiet(at) or self._take_repeated(at) or self._take_stretch(at)
        close_pieces(self.pieces)
        logs = {recogniser.name for recogniser in self.text.recognisers if recogniser.log}
        for piece in self.pieces:
            if piece.parser in logs:
                begin = piece.first_line - self.first_line
                if not self.text.searched.isdisjoint(range(begin, begin + len(piece.lines))):
                    piece.excerpt = (
                        "an excerpt: grep output, with a file name or line number before each line"
                    )
                elif not piece.command:
                    piece.excerpt = "an excerpt: lines without the command that printed them"
                else:
                    named = " and ".join(prompts.find_log_files(piece.command)[:3])
                    files = f"; {named} itself would settle it" if named else ""
                    if tool := prompts.find_excerpt_tool(piece.command):
                        piece.excerpt = f"an excerpt by {tool}{files}"
                    else:
                        piece.excerpt = (
                            f"an excerpt: some lines were left out of the text{files}"
                            if piece.filtered
                            else ""
                        )
        return self.pieces

    def _take_quiet(self, at: int) -> int:
        """Add the lines that begin nothing to the prose above them; return the line after them, 0 where none is."""
        last = self.pieces[-1] if self.pieces else None
        if last is None or last.role != "prose" or last.after or last.command_line:
            return 0
        end = self.text.find_quiet_end(at)
        last.lines += self.text.lines[at:end]
        return end if end > at else 0

    def _take_stretch(self, at: int) -> int:
        """Take a command with its output, a dump, or one line of neither; return the line after it."""
        if at in self.text.heads:
            prompt: Prompt | None = make_ruled_prompt(self.text.lines[at + 1], self.above)
        else:
            prompt = self.text.prompt_at(at)
            self.above = prompt or self.above
        if prompt is not None:
            count = len(self.pieces)
            typed, after = self._read_typed(at, prompt)
            remote, command = prompts.split_remote(typed)
            shown = replace(prompt, command=command)
            if remote:
                node = prompts.guess_node(remote) or prompts.GUEST
                shown = Prompt("linux", remote, node, False, command)
            if shown.form == "vsish":
                shown = replace(shown, host=self.vsish_host)
            else:
                self.vsish_host = shown.host if prompts.opens_vsish(command) else ""
            number = self.first_line + at
            line = TranscriptPiece(
                None, number, self.text.lines[at:after], shown.host, shown.node, command
            )
            line.role = "command"
            line.command_line = number
            self.pieces.append(line)
            wanted = self.parsers.read_line(command, shown)
            end = _Output(self, _Context(shown, number), wanted).take_lines(after)
            if len(self.pieces) == count + 2:
                self._learn_repeat(at, end, prompt)
            return end
        if self.text.starts_at(at):
            return self.take_dump(at, None)
        self.add_other(at, None, self.find_owner_above(at))
        return at + 1

    def _take_repeated(self, at: int) -> int:
        """Add the command and the dump on a line when they repeat one before; return the line after them, or 0."""
        lines = self.text.lines
        found = self.repeats.find_repeat(lines, at)
        if found is None:
            return 0
        repeat, params = found
        number, end = self.first_line + at, at + repeat.size
        typed = lines[at][repeat.before :]
        name, host = repeat.recogniser.name, repeat.host
        command, output = lines[at : at + 1], lines[at + 1 : end]
        self.pieces += (
            TranscriptPiece(
                None, number, command, host, repeat.node, typed, {}, False, "command", number
            ),
            TranscriptPiece(
                name, number + 1, output, host, repeat.kind, typed, params, False, "output", number
            ),
        )
        self.vsish_host = ""
        return end

    def _learn_repeat(self, at: int, end: int, prompt: Prompt) -> None:
        """Take note of one command with one dump below it, which may come again with other numbers."""
        command, output = self.pieces[-2:]
        if len(command.lines) != 1 or at + 1 + len(output.lines) != end:
            return
        if end < len(self.text.lines) and self.text.prompt_at(end) is None:
            return
        if (
            not output.parser
            or output.filtered
            or prompt.form == "vsish"
            or output.command != command.command
        ):
            return
        known = self.parsers.find_known(Command(command.command, command.command, False))
        if not known or known[0].recogniser.name != output.parser:
            return
        hosts = command.host, command.kind, output.kind
        self.repeats.learn_dump(
            self.text.lines[at:end], known[0].recogniser, command.command, output.params, hosts
        )

    # -- a command and what it printed ------------------------------------------------------------

    def _read_typed(self, at: int, prompt: Prompt) -> tuple[str, int]:
        """Return the whole command of a prompt, with lines the terminal or the writer broke it into."""
        lines = self.text.lines
        typed, after = prompt.command, at + 1
        if prompt.form == RULED:
            return typed, at + RULED_LINES
        while typed.endswith("\\") and after < len(lines) and after - at < _MOST_BROKEN:
            typed = typed[:-1].rstrip() + " " + lines[after].strip().removeprefix("> ")
            after += 1
        if len(lines[at]) < _NARROWEST or after >= len(lines) or prompt.form == "vsish":
            return typed, after
        rest = lines[after].strip()
        if not rest or " " in rest or self.text.starts_at(after) or self.text.prompt_at(after):
            return typed, after
        # A rest without blanks belongs to the command when a parser then knows more of it.
        if self.parsers.measure_known(typed + rest) > self.parsers.measure_known(typed):
            return typed + rest, after + 1
        return typed, after

    # -- stretches --------------------------------------------------------------------------------

    def take_dump(self, at: int, context: _Context | None) -> int:
        """Add the output that starts on a line as a piece; return the line after it.

        A line that starts only what another machine prints as well is a line of no output. Where several recognisers
        start, those of the prompt's kind of node come first; of these the one whose output reaches farthest takes it.
        """
        starting, line = self.text.starts_at(at), self.text.lines[at]
        choices = [one for one in starting if not one.rest] or starting
        if context is not None and context.prompt.sure:
            choices = [one for one in choices if one.node == context.prompt.node] or choices
        slack = _LOG_SLACK if context else 0
        proved = []
        for recogniser in choices:
            end = self.text.find_end(recogniser, at, slack)
            if recogniser.is_proved(self.text.lines[at:end]):
                start = recogniser.starts_at(line)
                length = start.end() - start.start() if start else 0
                proved.append(((-end, -length, recogniser.name), recogniser, end))
        if not proved:
            self.add_other(at, context)
            return at + 1
        _, recogniser, end = min(proved, key=lambda entry: entry[0])
        first = self.take_back_lead(recogniser, at)
        # a key of JSON: its answer began at a brace above and ends at that brace's other one
        if line.lstrip().startswith('"') and (opened := self.text.count_opened(first, at)):
            end = self.text.find_end(recogniser, at, slack, opened=opened)
        self.add_output(recogniser, first, end, context)
        return end

    def take_back_lead(self, recogniser: Recogniser, at: int) -> int:
        """Take the lines above a start that belong to its output back from the prose; return the first of them."""
        last = self.pieces[-1] if self.pieces else None
        if last is None:
            return at
        while last.lines and last.role in ("prose", "unread") and recogniser.leads(last.lines[-1]):
            last.lines.pop()
            at -= 1
        if not last.lines:
            self.pieces.pop()
        return at

    def add_output(
        self, recogniser: Recogniser, at: int, end: int, context: _Context | None
    ) -> TranscriptPiece:
        """Add the lines of an output as a piece; a blank one marks where lines were left out."""
        lines = self.text.lines[at:end]
        piece = TranscriptPiece(
            recogniser.name, self.first_line + at, lines, kind=recogniser.node, role="output"
        )
        for number, line in enumerate(lines):
            if not self.text.is_quiet(line) and is_snip(line):
                piece.filtered = True
                if not (recogniser.body and recogniser.goes_on(line)):
                    lines[number] = ""
        if context is not None:
            prompt = context.prompt
            piece.host, piece.command, piece.command_line = (
                prompt.host,
                prompt.command,
                context.line,
            )
            # A sure prompt wins; else what only one kind of node can print.
            proves_node = recogniser.node and (recogniser.node != prompts.GUEST or not prompt.node)
            piece.kind = recogniser.node if proves_node and not prompt.sure else prompt.node
        self.pieces.append(piece)
        return piece

    # -- all that no parser reads -----------------------------------------------------------------

    def find_owner_above(self, at: int) -> str:
        """Return whose output ends right above a line that is no sentence, or whose strange lines do."""
        last = self.pieces[-1] if self.pieces else None
        owner = (last.parser or last.after) if last is not None else ""
        if last is None or not owner:  # first: a text may have millions of such lines
            return ""
        if self.text.is_blank(at) or self.text.is_blank(at - 1) or self.text.is_prose_at(at):
            return ""
        line = self.text.lines[at]
        is_complete = last.parser is not None and "}" in last.lines[-1]
        if is_complete or is_fence(line) or is_snip(line):
            return ""
        return owner

    def add_other(self, at: int, context: _Context | None, after: str = "") -> None:
        """Put a line to the prose, to the unread output of a command, or below an output that ended (`after`)."""
        line = self.text.lines[at]
        last = self.pieces[-1] if self.pieces else None
        if last is not None and last.role in ("prose", "unread"):
            owner = after, context.line if context else 0
            if owner == (last.after, last.command_line) or self.text.is_blank(at):
                last.lines.append(line)
                return
        blank = self.text.is_blank(at)
        piece = TranscriptPiece(None, self.first_line + at, [line], after=after)
        if context is not None and not blank:
            prompt = context.prompt
            piece.role, piece.command_line = "unread", context.line
            piece.host, piece.kind, piece.command = prompt.host, prompt.node, prompt.command
        self.pieces.append(piece)


class _Output:
    """The lines below a prompt, shared out among the commands that were typed there."""

    def __init__(self, splitter: _Splitter, context: _Context, wanted: list[TypedCommand]) -> None:
        self.splitter, self.text = splitter, splitter.text
        self.context, self.wanted = context, wanted
        self.ranked: dict[str, Recogniser] = {}
        for command in wanted:
            for known in command.known:
                self.ranked[known.recogniser.name] = known.recogniser
        self.placed: list[tuple[Recogniser, TranscriptPiece]] = []
        self.log = self._find_named_log()
        self.alone = (
            context.prompt.form == "echo"
        )  # no prompt: only what comes right below is its output
        self.sole = (
            len(wanted) == 1 and not self.alone
        )  # all that is printed up to the next prompt is its output

    def take_lines(self, at: int) -> int:
        """Add the pieces of the output; return the line where prose or the next prompt begins."""
        text, splitter = self.text, self.splitter
        begin, fences, seen = at, 0, False
        while at < len(text.lines):
            if not seen and fences < 2 and is_fence(text.lines[at]):
                fences += 1  # the command is in one code block, its output in the next
                begin = at + 1
            elif not seen and fences == 1 and self._is_caption(at):
                splitter.add_other(at, None)
                begin = at = at + 1
                continue
            elif text.stops_at(at) or (self.alone and at - begin > 1 and not seen):
                break
            elif not text.is_blank(at):
                end = self._take_from(at, first=not seen and at - begin <= 2)
                if not end:
                    break
                at, seen = end, True
                continue
            splitter.add_other(at, self.context)
            at += 1
        self._assign_commands()
        return at

    def _is_caption(self, at: int) -> bool:
        """Say whether a line is alone between the code block of the command and that of its output."""
        if self.text.is_blank(at) or self.text.prompt_at(at) is not None or self.text.starts_at(at):
            return False
        below = at + 1
        while below < len(self.text.lines) and self.text.is_blank(below):
            below += 1
        return below < len(self.text.lines) and is_fence(self.text.lines[below])

    def _take_from(self, at: int, *, first: bool) -> int:
        """Add the piece that starts on a line; return the line after it, 0 when the output is over."""
        text = self.text
        starting = text.starts_at(at)
        names = {one.name for one in starting}
        chosen = next((one for name, one in self.ranked.items() if name in names), None)
        if chosen is None and self.log is not None and self._is_of_named_log(at, starting):
            end = text.find_named_end(self.log, at)
            piece = self.splitter.add_output(self.log, at, end, self.context)
            self.placed.append((self.log, piece))
            return end
        own = {one.node for one in self.ranked.values()}
        # Only outputs of another kind of node start here: a host's ethtool is no guest's.
        is_foreign = own and not any(one.node in own or not one.node for one in starting)
        if chosen is None and (not starting or (is_foreign and (self.sole or self.alone))):
            chosen = self._find_untitled(at, first=first)
        if self.alone and (chosen is None or (self.placed and len(self.wanted) == 1)):
            return 0
        if chosen is not None:
            blanks = chosen.goes_on("") or bool(chosen.shape and not self._is_filtered(chosen))
            end = text.find_end(chosen, at, _LOG_SLACK, blanks=blanks, sole=self.sole)
            first_line = self.splitter.take_back_lead(chosen, at)
            piece = self.splitter.add_output(chosen, first_line, end, self.context)
            self.placed.append((chosen, piece))
            return end
        if starting:
            prompt = self.context.prompt
            # Only what a host prints starts here, below a guest's command that shows no file.
            is_elsewhere = prompt.node == prompts.GUEST and not prompts.may_show(prompt.command)
            if is_elsewhere and all(one.node == prompts.ESXI for one in starting):
                return self.splitter.take_dump(at, None)
            return self.splitter.take_dump(at, self.context)
        if text.is_prose_at(at):
            # A further record of the command's only output may begin right below a sentence.
            below = text.starts_at(at + 1) if at + 1 < len(text.lines) else []
            if not (self.sole and self.placed and self.placed[-1][0] in below):
                return 0
        if self.sole and self.placed and not self._is_filtered(self.placed[-1][0]):
            owner = self.placed[-1][0].name
        else:
            owner = self.splitter.find_owner_above(at)
        self.splitter.add_other(at, self.context, owner)
        return at + 1

    def _find_named_log(self) -> Recogniser | None:
        """Return the log whose file the command names, None where it names none or several.

        Any Linux has files of the same names: a log of a host needs the prompt of one.
        """
        logs = [one for one in self.ranked.values() if one.log and not one.rest]
        if len(logs) != 1 or len(self.wanted) != 1:
            return None
        files = prompts.find_log_files(self.wanted[0].command.text)
        names = {name.rpartition("/")[2] for name in files}
        fits = logs[0].node == self.context.prompt.node
        return logs[0] if fits and len(names) <= 1 else None

    def _is_of_named_log(self, at: int, starting: list[Recogniser]) -> bool:
        """Say whether a line with a time is one of the log that the command names: none that is sure of it begins."""
        return self.text.is_stamped_at(at) and all(one.rest for one in starting)

    def _is_filtered(self, recogniser: Recogniser) -> bool:
        for command in self.wanted:
            if any(known.filtered for known in command.known if known.recogniser is recogniser):
                return True
        return False

    def _find_untitled(self, at: int, *, first: bool) -> Recogniser | None:
        """Return the recogniser of a command whose output has no title line, or lost it (`| grep`)."""
        line = self.text.lines[at]
        taken = set(self.ranked)
        if first or len(self.wanted) > 1:
            taken = {one.name for one, _ in self.placed}
        below = self.text.starts_at(at + 1) if at + 1 < len(self.text.lines) else []
        # This line is the end of a wrapped command when an output of it starts on the next one.
        ends_command = any(one.name in self.ranked and not one.rest for one in below)
        for recogniser in self.ranked.values():
            if recogniser.log or recogniser.name in taken or (recogniser.rest and ends_command):
                continue
            if recogniser.body:
                if (first or not recogniser.shape) and recogniser.goes_on(line):
                    return recogniser
            elif first and not recogniser.shape and not self.text.is_prose_at(at):
                return recogniser
        return None

    def _assign_commands(self) -> None:
        """Give each output its command and parameters; where it is not sure whose it is, what all share."""
        loop = any(re.match(r"(?:for|while)\b", typed.command.bare) for typed in self.wanted)
        by_recogniser: dict[str, list[TranscriptPiece]] = {}
        for recogniser, piece in self.placed:
            by_recogniser.setdefault(recogniser.name, []).append(piece)
        for name, pieces in by_recogniser.items():
            asked = []
            for typed in self.wanted:
                asked += [
                    (typed.command.text, known)
                    for known in typed.known
                    if known.recogniser.name == name
                ]
            if len(asked) == 1 and not loop:
                asked *= len(
                    pieces
                )  # a command may print several of them: the rule sets of a filter
            if len(pieces) == len(asked):
                for piece, (text, known) in zip(pieces, asked, strict=True):
                    piece.command, piece.params = text, dict(known.params)
                    piece.filtered = piece.filtered or known.filtered
                continue
            first, *others = [known.params for _, known in asked]
            shared = {
                name: value
                for name, value in first.items()
                if all(other.get(name) == value for other in others)
            }
            filtered = any(known.filtered for _, known in asked)
            for piece in pieces:
                piece.params = dict(shared)
                piece.filtered = piece.filtered or filtered
