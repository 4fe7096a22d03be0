"""A database of facts asked with a clock running."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import duckdb

from analyzer.facts.database import LateDatabase
from analyzer.runtime.errors import BacklineError
from analyzer.runtime.limits import Limits


def ask(
    database: LateDatabase, tables: Iterable[str], sql: str, seconds: float = Limits().rule_seconds
) -> list[tuple[Any, ...]]:
    """Return the rows of a query over the named tables; BacklineError when it takes too long or too much memory."""
    con = database.connection(tables)
    clock = threading.Timer(seconds, con.interrupt)
    clock.start()
    try:
        return con.execute(sql).fetchall()
    except duckdb.InterruptException:
        raise BacklineError(
            f"the query was stopped after {seconds:g} seconds", why="limit rule_seconds"
        ) from None
    except duckdb.OutOfMemoryException:
        raise BacklineError(
            "the query was stopped: it needs more memory than a rule may have"
        ) from None
    finally:
        clock.cancel()
