"""What a transcript is split into: stretches of lines of one sort, each with what the text says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from analyzer.sources import prompts


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

    What stands below a bare prompt (the help of a `?` that leaves no trace) is the output of no command.
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
