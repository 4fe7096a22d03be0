"""`python -m analyzer.web.cases.log_reader`: the process that reads the logs of a case around a moment for the page.

The order comes as one line of JSON on stdin, as that of an analysis (analyst.py) does, and ends with it:

    {"name", "files", "path", "around": seconds since 1970, "parent": pid, …}   and how cases are judged

What it finds goes out as lines of JSON:

    {"type": "progress", "bytes", "members", "member", …}   while the files are read
    {"type": "lines", "lines": [[when, time, host, log, level, component, object, text, address], …]}
    {"type": "end", "state": "done", "shown", "lines", "said": [sentence, …]}   or "failed" with the error

Of more than MOST lines those nearest to the moment are sent, and all are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.ingest.reader import ReadListener
from analyzer.merged_log import around
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line
from analyzer.views.log_reading import LogQuery, MergedLine, MergedLog, list_nearest
from analyzer.views.log_text import describe_reading
from analyzer.web.cases.labelled import places_of
from analyzer.web.cases.order_process import answer_order
from analyzer.web.cases.progress_writer import ProgressWriter

MOST = 2_000  # lines sent: half of them before the moment
LENGTH = timedelta(minutes=10)  # of the stretch, the moment in its middle
TEXT = 4_000  # characters of a line
PIECE = 32 << 10  # characters of lines sent at once


def read_log(order: Mapping[str, Any], out: ProgressWriter) -> dict[str, Any]:
    """Send the lines of an order; return the last line."""
    try:
        moment = datetime.fromtimestamp(order["around"], UTC)
    except (OverflowError, ValueError, OSError):
        raise UsageError("the time is too far away") from None
    window = around.center_window(moment, LENGTH)
    query = LogQuery(window=window, limits=RunOptions.of_record(dict(order)).limits)
    log = MergedLog(
        places_of(order),
        query,
        watch=ReadListener(out.begin_member, out.end_member),
        on_read=out.count_bytes,
    )
    shown = 0
    for piece in _split_lines(list_nearest(log.read_lines(), moment, MOST)):
        shown += len(piece)
        out.write_line("lines", lines=piece)
    sentences = [one_line(text, 300) for text in describe_reading(log.summary, window)]
    return {"state": "done", "shown": shown, "lines": log.summary.lines, "said": sentences}


def _split_lines(lines: Iterable[MergedLine]) -> Iterator[list[list[object]]]:
    piece: list[list[object]] = []
    size = 0
    for line in lines:
        words = (line.time, line.host, line.log, line.level, line.component, line.object)
        when = datetime.fromisoformat(line.time).timestamp()
        texts = (one_line(line.text.strip(), TEXT), one_line(f"{line.address}:{line.line}", TEXT))
        cells = [when, *(one_line(word, 300) for word in words), *texts]
        piece.append(cells)
        size += sum(len(str(cell)) for cell in piece[-1])
        if size >= PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


if __name__ == "__main__":
    answer_order(read_log, "the logs cannot be read")
