"""What a transcript is split into: stretches of lines of one sort, each with what the text tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from analyzer.lazy_dataclass import dataclass
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
    command       what printed it, "" when the text does not tell
    params        named groups of the recogniser's command pattern (switch, port_id, queue, …)
    filtered      True behind `| grep` and the like, or with `<snip>`: what is not there proves nothing
    role          output (a parser reads it), command (a prompt), unread (output of a command that no
                  parser reads), prose
    excerpt       of a log: why these are only some of its lines, "" when they are all that the file holds
    command_line  number of the line the command was typed on, 0 when there is none
    after         name of the recogniser whose output ended here, though the command's may go on: lines of
                  the output that were not understood
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


def close_pieces(pieces: Sequence[TranscriptPiece]) -> None:
    """Give all pieces of a host the kind of node that one of them proves."""
    weak = ("", prompts.GUEST)
    proved = {piece.host: piece.kind for piece in pieces if piece.host and piece.kind not in weak}
    for piece in pieces:
        if piece.host in proved and piece.kind in weak:
            piece.kind = proved[piece.host]
