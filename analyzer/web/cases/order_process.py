"""What the processes have in common that do one order of the page and end: compare, read logs, draft a rule."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from analyzer.runtime import garbage
from analyzer.runtime.errors import BacklineError, failure_text
from analyzer.web.cases.progress_writer import ProgressWriter, describe_failure
from analyzer.workers.lifetime import end_with, order_line, own_stdout

Order = Callable[[Mapping[str, Any], ProgressWriter], dict[str, Any]]


def answer_order(do_order: Order, failed: str) -> None:
    """Take an order from stdin, do it, tell its last line, and end the process.

    do_order  gets the order and what reports progress; returns the last line
    failed    what the page says of a fault that is none of the order
    """
    garbage.look_seldom()
    out = own_stdout()
    order = json.loads(order_line())
    end_with(order["parent"])
    writer = ProgressWriter(out)
    writer.write_line("end", **finish_order(do_order, order, writer, failed))
    sys.stderr.flush()
    os._exit(0)


def finish_order(
    do_order: Order, order: Mapping[str, Any], writer: ProgressWriter, failed: str
) -> dict[str, Any]:
    """Do an order; return its last line, nothing is raised."""
    try:
        return do_order(order, writer)
    except BacklineError as error:
        return describe_failure(error)
    except Exception as error:  # noqa: BLE001 - whatever a case does, the page gets the reason
        traceback.print_exc()
        fault = BacklineError(failed, why=failure_text(error), do="Please report it.")
        return describe_failure(fault)
