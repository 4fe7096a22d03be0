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

import json
import os
import sys
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.ingest.reader import ReadListener
from analyzer.merged_log import around
from analyzer.rules.run_options import RunOptions
from analyzer.runtime import garbage
from analyzer.runtime.errors import BacklineError, UsageError, failure_text
from analyzer.runtime.text import one_line
from analyzer.views.log_reading import LogQuery, MergedLine, MergedLog
from analyzer.views.log_text import describe_reading
from analyzer.web.cases.labelled import places_of
from analyzer.web.cases.progress_writer import ProgressWriter, describe_failure
from analyzer.workers.lifetime import end_with, order_line, own_stdout

MOST = 2_000  # lines sent: half of them before the moment
LENGTH = timedelta(minutes=10)  # of the stretch, the moment in its middle
TEXT = 4_000  # characters of a line
PIECE = 32 << 10  # characters of lines sent at once


def read_log(order: Mapping[str, Any], out: ProgressWriter) -> dict[str, Any]:
    """Send the lines of an order; return the last line, nothing is raised."""
    try:
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
        for piece in _split_lines(list_nearest(log.read_lines(), moment)):
            shown += len(piece)
            out.write_line("lines", lines=piece)
        sentences = [one_line(text, 300) for text in describe_reading(log.summary, window)]
        return {"state": "done", "shown": shown, "lines": log.summary.lines, "said": sentences}
    except BacklineError as error:
        return describe_failure(error)
    except Exception as error:  # noqa: BLE001 - whatever a case does, the page gets the reason
        traceback.print_exc()
        return describe_failure(
            BacklineError(
                "the logs cannot be read", why=failure_text(error), do="Please report it."
            )
        )


def list_nearest(
    lines: Iterable[MergedLine], moment: datetime, most: int = MOST
) -> Iterator[MergedLine]:
    """Yield the lines nearest to a moment, in order, at most `most`; all are taken, so that all count."""
    before: deque[MergedLine] | None = deque(maxlen=most // 2)
    room = most
    for line in lines:
        if before is not None and datetime.fromisoformat(line.time) < moment:
            before.append(line)
            continue
        if before is not None:
            yield from before
            room, before = most - len(before), None
        if room > 0:
            room -= 1
            yield line
    yield from before or ()


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


def main() -> None:
    """Take an order from stdin and do it."""
    garbage.look_seldom()
    out = own_stdout()
    order = json.loads(order_line())
    end_with(order["parent"])
    writer = ProgressWriter(out)
    writer.write_line("end", **read_log(order, writer))
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
