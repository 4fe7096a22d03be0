"""Splits pasted text into commands, their outputs and prose.

What reaches an engineer is a terminal session, or a blog post or mail with pieces of one: prompts of several machines,
dumps without a closing brace or their prompt, quoted lines, `<snip>`, log lines and sentences in between. `split` finds
the stretches a parser can read, with host, command and parameters where the text tells them; no line is in two pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from analyzer.lazy_dataclass import dataclass
from analyzer.sources import prompts, ruled
from analyzer.sources.command_parsers import CommandParsers, TypedCommand
from analyzer.sources.doubled import without_gaps
from analyzer.sources.output_extent import Text
from analyzer.sources.prompts import Command, Prompt
from analyzer.sources.repeats import Repeats
from analyzer.sources.shapes import Recogniser, is_fence, is_snip
from analyzer.sources.transcript_piece import TranscriptPiece, close_pieces, spread_out

_LOG_SLACK = 30  # lines of another sort inside a log that a command printed


def split(
    lines: Sequence[str], recognisers: Iterable[Recogniser], first_line: int = 1, above: Prompt | None = None
) -> list[TranscriptPiece]:
    """Return the pieces of a text, in order, every line in exactly one of them.

    lines        without line ends
    recognisers  the parsers (or anything alike) that say which outputs they read
    first_line   number of lines[0] in its source
    above        the last prompt before lines[0], see `last_prompt`
    """
    kept, places = without_gaps(lines)
    if not places:
        return _Splitter(lines, list(recognisers), first_line, above).run()
    pieces = _Splitter(kept, list(recognisers), 1, above).run()
    spread_out(pieces, places, len(lines), first_line)
    return pieces


def last_prompt(pieces: Sequence[TranscriptPiece], above: Prompt | None) -> Prompt | None:
    """Return the last prompt of the pieces of a text, `above` where they hold none."""
    typed = next((one for one in reversed(pieces) if one.role == "command"), None)
    return Prompt(ruled.FORM, typed.host, typed.kind, bool(typed.kind), typed.command) if typed else above


@dataclass(slots=True)
class _Context:
    """The prompt whose output is being read."""

    prompt: Prompt
    line: int


class _Splitter:
    def __init__(
        self, lines: Sequence[str], recognisers: list[Recogniser], first_line: int, above: Prompt | None
    ) -> None:
        self.text = Text(lines, recognisers)
        self.first_line = first_line
        self.above = above  # the last prompt that somebody typed at
        self.pieces: list[TranscriptPiece] = []
        self.vsish_host = ""
        self.logs = {recogniser.name for recogniser in recognisers if recogniser.log}
        self.parsers = CommandParsers(self.text)
        self.repeats = Repeats(self.text.plain, self.text.prompts)

    def run(self) -> list[TranscriptPiece]:
        at = 0
        while at < len(self.text.lines):
            if end := self._repeated(at):
                at = end
                continue
            prompt = self._prompt(at)
            if prompt is not None:
                count = len(self.pieces)
                end = self.command(at, prompt)
                if len(self.pieces) == count + 2:
                    self._learn(at, end, prompt)
                at = end
            elif self.text.starts(at):
                at = self.dump(at, None)
            else:
                self.other(at, None, self.below(at))
                at += 1
        close_pieces(self.pieces)
        for piece in self.pieces:
            if piece.parser in self.logs:
                piece.excerpt = self._excerpt(piece)
        return self.pieces

    def _prompt(self, at: int) -> Prompt | None:
        """Return the prompt on a line, or what stands for one."""
        if at in self.text.heads:
            return ruled.prompt_of(self.text.lines[at + 1], self.above)
        prompt = self.text.prompt(at)
        self.above = prompt or self.above
        return prompt

    def _repeated(self, at: int) -> int:
        """Add the command and the dump on a line when they repeat one before; return the line after them, or 0."""
        found = self.repeats.find(self.text.lines, at)
        if found is None:
            return 0
        repeat, params = found
        number, end = self.first_line + at, at + repeat.size
        typed = self.text.lines[at][repeat.before :]
        name, lines = repeat.recogniser.name, self.text.lines
        command, output, host = lines[at : at + 1], lines[at + 1 : end], repeat.host
        self.pieces += (
            TranscriptPiece(None, number, command, host, repeat.node, typed, {}, False, "command", number),
            TranscriptPiece(name, number + 1, output, host, repeat.kind, typed, params, False, "output", number),
        )
        self.vsish_host = ""
        return end

    def _learn(self, at: int, end: int, prompt: Prompt) -> None:
        """Take note of one command with one dump below it, which may come again with other numbers."""
        command, output = self.pieces[-2:]
        whole = len(command.lines) == 1 and at + 1 + len(output.lines) == end
        next_is_prompt = end >= len(self.text.lines) or self.text.prompt(end) is not None
        if not (whole and next_is_prompt and output.parser and not output.filtered and prompt.form != "vsish"):
            return
        recogniser = next(
            (one for one, _, _ in self.parsers.known(Command(command.command, command.command, False))), None
        )
        if recogniser is not None and recogniser.name == output.parser and output.command == command.command:
            lines = self.text.lines[at:end]
            hosts = command.host, command.kind, output.kind
            self.repeats.learn(lines, recogniser, command.command, output.params, hosts)

    def _excerpt(self, piece: TranscriptPiece) -> str:
        """Return why a stretch of a log is not all of it, "" when a command printed the file whole."""
        begin = piece.first_line - self.first_line
        if not self.text.searched.isdisjoint(range(begin, begin + len(piece.lines))):
            return "an excerpt: grep output, with a file name or line number before each line"
        if not piece.command:
            return "an excerpt: lines without the command that printed them"
        named = " and ".join(prompts.log_files(piece.command)[:3])
        files = f"; {named} itself would settle it" if named else ""
        if tool := prompts.excerpt_by(piece.command):
            return f"an excerpt by {tool}{files}"
        return f"an excerpt: some lines were left out of the text{files}" if piece.filtered else ""

    # -- a command and what it printed ------------------------------------------------------------

    def command(self, at: int, prompt: Prompt) -> int:
        """Take a prompt line and the output below it; return the first line that is not taken."""
        typed, after = self._typed(at, prompt)
        remote, command = prompts.remote_host(typed)
        form, host, node, sure = prompt.form, prompt.host, prompt.node, prompt.sure
        if remote:
            form, host, node, sure = "linux", remote, prompts.node_by_name(remote) or prompts.GUEST, False
        if form == "vsish":
            host = self.vsish_host
        else:
            self.vsish_host = host if prompts.opens_vsish(command) else ""
        context = _Context(Prompt(form, host, node, sure, command), self.first_line + at)
        line = TranscriptPiece(None, context.line, self.text.lines[at:after], host, node, command, role="command")
        line.command_line = context.line
        self.pieces.append(line)
        wanted = self.parsers.of_line(command, context.prompt)
        return _Output(self, context, wanted).take(after)

    def _typed(self, at: int, prompt: Prompt) -> tuple[str, int]:
        """Return the whole command of a prompt, with lines the terminal or the writer broke it into."""
        typed, after = prompt.command, at + 1
        if prompt.form == ruled.FORM:
            return typed, at + ruled.LINES
        while typed.endswith("\\") and after < len(self.text.lines) and after - at < 20:
            typed = typed[:-1].rstrip() + " " + self.text.lines[after].strip().removeprefix("> ")
            after += 1
        if len(self.text.lines[at]) < 70 or after >= len(self.text.lines) or prompt.form == "vsish":
            return typed, after
        rest = self.text.lines[after].strip()
        if not rest or " " in rest or self.text.starts(after) or self.text.prompt(after):
            return typed, after
        before, joined = self.parsers.reach(typed), self.parsers.reach(typed + rest)
        return (typed + rest, after + 1) if joined > before else (typed, after)

    # -- stretches --------------------------------------------------------------------------------

    def dump(self, at: int, context: _Context | None) -> int:
        """Add the output that starts on a line as a piece; return the line after it.

        A line that starts only what another machine prints as well is a line of no output. Where several recognisers
        start, those of the prompt's kind of node come first; of these the one whose output reaches farthest takes it.
        """
        starting, line = self.text.starts(at), self.text.lines[at]
        choices = [one for one in starting if not one.rest] or starting
        if context is not None and context.prompt.sure:
            choices = [one for one in choices if one.node == context.prompt.node] or choices
        slack = _LOG_SLACK if context else 0
        ends = [(self.text.end(one, at, slack), one) for one in choices]
        ends = [(end, one) for end, one in ends if one.is_proved(self.text.lines[at:end])]
        if not ends:
            self.other(at, context)
            return at + 1
        end, recogniser = min(ends, key=lambda pair: (-pair[0], -_length(pair[1], line), pair[1].name))
        first = self.lead(recogniser, at)
        # a key of JSON: its answer began at a brace above and ends at that brace's other one
        if line.lstrip().startswith('"') and (opened := self.text.opened(first, at)):
            end = self.text.end(recogniser, at, slack, opened=opened)
        self.add(recogniser, first, end, context)
        return end

    def lead(self, recogniser: Recogniser, at: int) -> int:
        """Take the lines above a start that belong to its output back from the prose; return the first of them."""
        last = self.pieces[-1] if self.pieces else None
        while last is not None and last.lines and last.role in ("prose", "unread") and recogniser.leads(last.lines[-1]):
            last.lines.pop()
            at -= 1
        if last is not None and not last.lines:
            self.pieces.pop()
        return at

    def add(self, recogniser: Recogniser, at: int, end: int, context: _Context | None) -> TranscriptPiece:
        lines = self.text.lines[at:end]
        piece = TranscriptPiece(recogniser.name, self.first_line + at, lines, kind=recogniser.node, role="output")
        for number, line in enumerate(lines):
            if not self.text.quiet(line) and is_snip(line):
                piece.filtered = True
                if not (recogniser.body and recogniser.goes_on(line)):
                    lines[number] = ""
        if context is not None:
            prompt = context.prompt
            piece.host, piece.command, piece.command_line = prompt.host, prompt.command, context.line
            piece.kind = _kind(context.prompt, recogniser)
        self.pieces.append(piece)
        return piece

    # -- all that no parser reads -----------------------------------------------------------------

    def below(self, at: int) -> str:
        """Return whose output ends right above a line that is no sentence, or whose strange lines do."""
        last = self.pieces[-1] if self.pieces else None
        if last is None or self.text.blank(at) or self.text.blank(at - 1) or self.text.prose(at):
            return ""
        complete = last.parser is not None and "}" in last.lines[-1]
        fence = is_fence(self.text.lines[at]) or is_snip(self.text.lines[at])
        return "" if complete or fence else last.parser or last.after

    def other(self, at: int, context: _Context | None, after: str = "") -> None:
        """Put a line to the prose, to the unread output of a command, or below an output that ended (`after`)."""
        last = self.pieces[-1] if self.pieces else None
        number = self.first_line + at
        line = context.line if context else 0
        goes_on = last is not None and last.role in ("prose", "unread")
        goes_on = goes_on and last is not None and (last.after == after or self.text.blank(at))
        if last is not None and goes_on and (self.text.blank(at) or last.command_line == line):
            last.lines.append(self.text.lines[at])
            return
        piece = TranscriptPiece(None, number, [self.text.lines[at]], after=after)
        if context is not None and not self.text.blank(at):
            piece.role, piece.command_line, piece.host = "unread", context.line, context.prompt.host
            piece.kind, piece.command = context.prompt.node, context.prompt.command
        self.pieces.append(piece)


class _Output:
    """The lines below a prompt, shared out among the commands that were typed there."""

    def __init__(self, splitter: _Splitter, context: _Context, wanted: list[TypedCommand]) -> None:
        self.splitter, self.text = splitter, splitter.text
        self.context, self.wanted = context, wanted
        self.ranked = {one.name: one for want in wanted for one, _, _ in want.known}
        self.placed: list[tuple[Recogniser, TranscriptPiece]] = []
        self.alone = context.prompt.form == "echo"  # no prompt: only what stands right below is its output
        self.sole = len(wanted) == 1 and not self.alone  # all that is printed up to the next prompt is its output

    def take(self, at: int) -> int:
        """Add the pieces of the output; return the line where prose or the next prompt begins."""
        text, splitter = self.text, self.splitter
        begin, fences, seen = at, 0, False
        while at < len(text.lines):
            if not seen and fences < 2 and is_fence(text.lines[at]):
                fences += 1  # the command stands in one code block, its output in the next
                begin = at + 1
            elif not seen and fences == 1 and self._caption(at):
                splitter.other(at, None)
                begin = at = at + 1
                continue
            elif text.stops(at) or (self.alone and at - begin > 1 and not seen):
                break
            elif not text.blank(at):
                end = self._place(at, first=not seen and at - begin <= 2)
                if not end:
                    break
                at, seen = end, True
                continue
            splitter.other(at, self.context)
            at += 1
        self._assign()
        return at

    def _caption(self, at: int) -> bool:
        """Tell whether a line stands alone between the code block of the command and that of its output."""
        below = at + 1
        while below < len(self.text.lines) and self.text.blank(below):
            below += 1
        alone = below < len(self.text.lines) and is_fence(self.text.lines[below])
        return alone and not self.text.blank(at) and self.text.prompt(at) is None and not self.text.starts(at)

    def _place(self, at: int, *, first: bool) -> int:
        """Add the piece that starts on a line; return the line after it, 0 when the output is over."""
        text = self.text
        starting = {one.name for one in text.starts(at)}
        chosen = next((one for name, one in self.ranked.items() if name in starting), None)
        if chosen is None and (not starting or self._foreign(at)):
            chosen = self._without_title(at, first=first)
        if self.alone and (chosen is None or (self.placed and len(self.wanted) == 1)):
            return 0
        if chosen is not None:
            blanks = chosen.goes_on("") or bool(chosen.shape and not self._filtered(chosen))
            end = text.end(chosen, at, _LOG_SLACK, blanks=blanks, sole=self.sole)
            first_line = self.splitter.lead(chosen, at)
            self.placed.append((chosen, self.splitter.add(chosen, first_line, end, self.context)))
            return end
        if starting:
            return self.splitter.dump(at, None if self._elsewhere(at) else self.context)
        if text.prose(at) and not self._goes_on_below(at):
            return 0
        self.splitter.other(at, self.context, self._ended(at))
        return at + 1

    def _goes_on_below(self, at: int) -> bool:
        """Tell whether a further record of the command's only output begins right below a sentence."""
        below = at + 1
        if not (self.sole and self.placed) or below >= len(self.text.lines):
            return False
        return self.placed[-1][0] in self.text.starts(below)

    def _ended(self, at: int) -> str:
        """Return whose output a line that nobody reads belongs to: the command's, or that of the dump right above."""
        if self.sole and self.placed and not self._filtered(self.placed[-1][0]):
            return self.placed[-1][0].name
        return self.splitter.below(at)

    def _foreign(self, at: int) -> bool:
        """Tell whether only outputs of another kind of node start on a line: a host's ethtool is no guest's."""
        own = {one.node for one in self.ranked.values()}
        asked = (self.sole or self.alone) and bool(own)
        return asked and not any(one.node in own or not one.node for one in self.text.starts(at))

    def _elsewhere(self, at: int) -> bool:
        """Tell whether only what a host prints starts on a line, below a guest's command that shows no file."""
        prompt = self.context.prompt
        if prompt.node != prompts.GUEST or prompts.may_show(prompt.command):
            return False
        return all(one.node == prompts.ESXI for one in self.text.starts(at))

    def _filtered(self, recogniser: Recogniser) -> bool:
        return any(filtered for want in self.wanted for one, _, filtered in want.known if one is recogniser)

    def _without_title(self, at: int, *, first: bool) -> Recogniser | None:
        """Return the recogniser of a command whose output has no title line, or lost it (`| grep`)."""
        line = self.text.lines[at]
        taken = {one.name for one, _ in self.placed} if first or len(self.wanted) > 1 else self.ranked.keys()
        for recogniser in self.ranked.values():
            if recogniser.log or recogniser.name in taken or (recogniser.rest and self._begins_below(at)):
                continue
            if recogniser.body:
                if (first or not recogniser.shape) and recogniser.goes_on(line):
                    return recogniser
            elif first and not recogniser.shape and not self.text.prose(at):
                return recogniser
        return None

    def _begins_below(self, at: int) -> bool:
        """Tell whether an output of the command starts on the next line: this one is the end of a wrapped command."""
        below = self.text.starts(at + 1) if at + 1 < len(self.text.lines) else []
        return any(one.name in self.ranked and not one.rest for one in below)

    def _assign(self) -> None:
        """Give each output its command and parameters; where it is not sure whose it is, what all share."""
        loop = any(re.match(r"(?:for|while)\b", want.command.bare) for want in self.wanted)
        for recogniser in {one.name: one for one, _ in self.placed}.values():
            pieces = [piece for one, piece in self.placed if one is recogniser]
            asked = [
                (want.command.text, params, filtered)
                for want in self.wanted
                for one, params, filtered in want.known
                if one is recogniser
            ]
            if len(asked) == 1 and not loop:
                asked *= len(pieces)  # a command may print several of them: the rule sets of a filter
            if len(pieces) == len(asked):
                for piece, (text, params, filtered) in zip(pieces, asked, strict=True):
                    piece.command, piece.params = text, dict(params)
                    piece.filtered = piece.filtered or filtered
                continue
            shared = dict(asked[0][1])
            for _, params, _ in asked[1:]:
                shared = {name: value for name, value in shared.items() if params.get(name) == value}
            for piece in pieces:
                piece.params = dict(shared)
                piece.filtered = piece.filtered or any(filtered for _, _, filtered in asked)


def _length(recogniser: Recogniser, line: str) -> int:
    found = recogniser.starts_at(line)
    return found.end() - found.start() if found else 0


def _kind(prompt: Prompt, recogniser: Recogniser) -> str:
    """Return the kind of node: a sure prompt wins; else what only one kind of node can print."""
    if not prompt.sure and recogniser.node and (recogniser.node != prompts.GUEST or not prompt.node):
        return recogniser.node
    return prompt.node
