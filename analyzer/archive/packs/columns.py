"""Names and columns of the tables of a stored case.

Columns that begin with `_` are what a case needs to come back as it was; people ask the others.
"""

from __future__ import annotations

from analyzer import parsing
from analyzer.facts import database
from analyzer.facts.database import KEY
from analyzer.tables import SQL_TYPES, Table

Schema = dict[str, str]  # column -> SQL type, in order

# What a row of a declared table has besides its own columns and its origin.
#   _block  number of its block in `_blocks`;  _frame  number of its frame, NULL for a row by itself
#   _lines  column -> its line, counted from the row's;  _odd  column -> value its type cannot hold
ROW: Schema = {"_block": "INTEGER", "_frame": "INTEGER", "_lines": "VARCHAR", "_odd": "VARCHAR"}

CASE, NODES, FINDINGS, UNKNOWNS, VERDICTS = "_case", "_nodes", "_findings", "_unknowns", "_verdicts"
BLOCKS, SCANS, HITS, FRAMES = "_blocks", "_scans", "_hits", "_frames"

TABLES: dict[str, Schema] = {
    CASE: {
        "name": "VARCHAR",
        "source": "VARCHAR",
        "stored": "TIMESTAMP",
        "tool": "VARCHAR",
        "catalog": "VARCHAR",
        "state": "VARCHAR",
        "why": "VARCHAR",
        "created": "TIMESTAMP",
        "first": "TIMESTAMP",
        "last": "TIMESTAMP",
        "complete": "BOOLEAN",
        "files": "INTEGER",
        "bytes": "BIGINT",
        "seconds": "DOUBLE",
        "findings": "INTEGER",
        "worst": "VARCHAR",
        "unknowns": "INTEGER",
    },
    FINDINGS: {
        "rule": "VARCHAR",
        "title": "VARCHAR",
        "kb": "INTEGER[]",
        "issues": "INTEGER[]",
        "node": "VARCHAR",
        "subject": "VARCHAR",
        "object": "VARCHAR",
        "verdict": "VARCHAR",
        "severity": "VARCHAR",
        "confidence": "VARCHAR",
        "say": "VARCHAR",
        "first_seen": "TIMESTAMP",
        "muted": "VARCHAR",
        "finding_id": "VARCHAR",
        "_row": "INTEGER",
    },
    UNKNOWNS: {
        "rule": "VARCHAR",
        "node": "VARCHAR",
        "subject": "VARCHAR",
        "reason": "VARCHAR",
        "missing": "VARCHAR",
        "why": "VARCHAR",
        "ask": "VARCHAR",
        "muted": "VARCHAR",
        "_row": "INTEGER",
    },
    VERDICTS: {
        "rule": "VARCHAR",
        "title": "VARCHAR",
        "kb": "INTEGER[]",
        "match": "BIGINT",
        "no_match": "BIGINT",
        "not_applicable": "BIGINT",
        "cannot_tell": "BIGINT",
        "error": "BIGINT",
        "_row": "INTEGER",
    },
    # _info [key, name, kind, product, captured]; _covers [[table, state, why], …]; _addresses of each of them;
    # _counts table -> rows
    NODES: {
        "node": "VARCHAR",
        "kind": "VARCHAR",
        "product": "VARCHAR",
        "version": "VARCHAR",
        "version" + KEY: "VARCHAR",
        "build": "VARCHAR",
        "release": "VARCHAR",
        "uptime_s": "DOUBLE",
        "captured": "TIMESTAMP",
        "complete": "BOOLEAN",
        "_row": "INTEGER",
        "_info": "VARCHAR",
        "_covers": "VARCHAR",
        "_addresses": "VARCHAR",
        "_counts": "VARCHAR",
    },
    # _info [address, node, command, params, taken, cut, first_line, order]; _text [[line, [text, …]], …]
    BLOCKS: {"_block": "INTEGER", "_info": "VARCHAR", "_text": "VARCHAR"},
    # _tallies id -> [count, capped, at_least, stop]; _searched [[id, pattern, ignore_case], …]
    SCANS: {
        "_scan": "INTEGER",
        "table": "VARCHAR",
        "_info": "VARCHAR",
        "_tallies": "VARCHAR",
        "_searched": "VARCHAR",
    },
    # _last: the last hit of a signature of which not all are kept; _odd [address, text]
    HITS: {
        "node": "VARCHAR",
        "table": "VARCHAR",
        "signature": "VARCHAR",
        "address": "VARCHAR",
        "line": "BIGINT",
        "text": "VARCHAR",
        "time": "TIMESTAMP",
        "_row": "BIGINT",
        "_scan": "INTEGER",
        "_last": "BOOLEAN",
        "_around": "VARCHAR",
        "_groups": "VARCHAR",
        "_odd": "VARCHAR",
    },
    # _info {line: type, columns: [[name, type, whether it lies in `_raw`], …], cells}, and of samples that are kept in
    # little memory `samples`: [objects, columns that name them, columns of a sample, counters the capture lacks]
    FRAMES: {
        "_frame": "INTEGER",
        "table": "VARCHAR",
        "_block": "INTEGER",
        "_rows": "BIGINT",
        "_info": "VARCHAR",
        "_raw": "VARCHAR",
    },
}
JUDGED = (CASE, FINDINGS, UNKNOWNS, VERDICTS)  # what a judgement gives; all others are facts


def schema(table: Table) -> Schema:
    """Return the columns of a declared table as it is stored: its own, its origin, and what a row needs."""
    own = database.own_columns(table)
    keys = {name + KEY: "VARCHAR" for name, kind in own if kind == "version"}
    return {**{name: SQL_TYPES[kind] for name, kind in own}, **keys, **database.ORIGIN, **ROW}


def schema_of(name: str) -> Schema:
    """Return the columns of a stored table by its name; KeyError when no such table is declared."""
    return TABLES[name] if name in TABLES else schema(parsing.tables()[name])


def is_known(name: str) -> bool:
    """Tell whether a stored table of this name is one that this version writes."""
    return name in TABLES or name in parsing.tables()
