"""The tables an engineer can query with SQL: their columns, described, and how they map to what is stored.

Every view begins with `case_id`. What is stored next to the declared columns stays out of sight, but for
the key by which a version compares: `driver_version_key < version_key('1.7.20')`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from analyzer.archive.packs.columns import (
    ASKED,
    CASE,
    FINDINGS,
    HITS,
    NODES,
    SIGNALS,
    UNKNOWNS,
    VERDICTS,
    parse_columns,
)
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import SQL_TYPES, Table
from analyzer.facts.database import KEY, quote_name

IDS = "_ids"  # table of an asked database: `_case` and the case's id
LABELS = "_labels"
CASES = "cases"


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """One column of a view: its name, type and meaning, and the column it is made of."""

    name: str
    type: str
    meaning: str
    stored: str = ""

    @property
    def select_sql(self) -> str:
        """The column as a view selects it."""
        return f"r.{quote_name(self.stored or self.name)} AS {quote_name(self.name)}"


@dataclass(frozen=True, slots=True)
class View:
    """One view: its name, what it holds, the stored table below it and its columns."""

    name: str
    meaning: str
    stored: str
    columns: tuple[ViewColumn, ...]

    @property
    def every_column(self) -> list[ViewColumn]:
        """All columns, with the case in front."""
        return [ViewColumn("case_id", "VARCHAR", "id of the case"), *self.columns]


def _make_view(name: str, meaning: str, stored: str, columns: str = "") -> View:
    return View(
        name,
        meaning,
        stored,
        tuple(ViewColumn(*one) for one in parse_columns(columns or ASKED[stored])),
    )


_LABELS = """
    rule VARCHAR id of the rule
    node VARCHAR name of the machine
    subject VARCHAR what was judged
    label VARCHAR confirmed or rejected
    missed BOOLEAN true where the rule should have matched and did not
    by VARCHAR who said so, where given
    note VARCHAR in their words
    at TIMESTAMP when
"""
SYSTEM = (
    _make_view(CASES, "the stored cases, refused ones as well", CASE),
    _make_view("nodes", "the machines of the cases", NODES),
    _make_view("findings", "what rules found", FINDINGS),
    _make_view(
        "unknowns",
        "what could not be judged: a row for each rule and subject, many of which one thing may settle",
        UNKNOWNS,
    ),
    _make_view("verdicts", "one row for each rule that judged a case", VERDICTS),
    _make_view("signals", "kinds of signs of trouble that no finding rests on", SIGNALS),
    _make_view("hits", "log lines that a signature hit and that were kept", HITS),
    _make_view("labels", "what engineers said of findings", LABELS, _LABELS),
)


@cache
def list_views() -> Mapping[str, View]:
    """Return all views by name: those of the archive, then one for each declared table of facts."""
    found = {view.name: view for view in SYSTEM}
    return found | {
        name: make_fact_view(table)
        for name, table in sorted(parsing.tables().items())
        if not table.log
    }


def make_fact_view(table: Table) -> View:
    """Return the view of a declared table."""
    columns: list[ViewColumn] = []
    for column in table.columns:
        if column.name in ("node", "taken"):
            continue
        meaning = f"{column.meaning} [{column.unit}]" if column.unit else column.meaning
        columns.append(ViewColumn(column.name, SQL_TYPES[column.kind], meaning))
        if column.kind == "version":
            columns.append(
                ViewColumn(
                    f"{column.name}_key", "VARCHAR", "by which it compares", column.name + KEY
                )
            )
    taken = {column.name for column in columns}
    origin = [
        ViewColumn("node", "VARCHAR", "name of the machine"),
        ViewColumn("taken", "TIMESTAMP", "when it was taken, where known"),
        ViewColumn(
            "address" if "address" not in taken else "_address",
            "VARCHAR",
            "member it was read from",
            "_source",
        ),
        ViewColumn("line" if "line" not in taken else "_line", "BIGINT", "its line there", "_line"),
    ]
    return View(table.name, table.meaning, table.name, (*columns, *origin))


def create_view_sql(view: View, relation: str) -> str:
    """Return the SQL that makes a view over the relation of its stored table."""
    columns = ", ".join(["i.case_id", *(column.select_sql for column in view.columns)])
    body = f"SELECT {columns} FROM ({relation}) r JOIN {IDS} i USING (_case)"
    name = ".".join(quote_name(part) for part in view.name.split("."))
    return f"CREATE VIEW {name} AS {body}"


def create_schemas_sql(views: Sequence[View]) -> Iterator[str]:
    """Yield the SQL that makes the schemas of some views."""
    for name in sorted({view.name.partition(".")[0] for view in views if "." in view.name}):
        yield f"CREATE SCHEMA IF NOT EXISTS {quote_name(name)}"


# What database.version_key does, in SQL: parts parted by . - + _, a number with a word behind it or the other way.
_TAIL = "ltrim(regexp_extract(p, '[0-9]*$'), '0')"
_PART = (
    "CASE WHEN regexp_full_match(p, '[0-9]{1,18}[A-Za-z]*')"
    " THEN lpad(regexp_extract(p, '^[0-9]+'), 18, '0') || lower(regexp_extract(p, '[A-Za-z]*$'))"
    " WHEN regexp_full_match(p, '[A-Za-z]+[0-9]*')"
    f" THEN lower(regexp_extract(p, '^[A-Za-z]+')) || lpad({_TAIL}, greatest(18, length({_TAIL}))::INTEGER, '0') END"
)
_PARTS = f"[{_PART} FOR p IN regexp_split_to_array(trim(v), '[.\\-+_]')]"
VERSION_KEY = (
    "CREATE MACRO version_key(v) AS CASE WHEN length(v) <= 100 AND regexp_matches(trim(v), '^[0-9]')"
    f" AND NOT list_contains([p IS NULL FOR p IN {_PARTS}], TRUE)"
    f" THEN regexp_replace(array_to_string({_PARTS}, '.'), '(\\.0{{18}})+$', '') END"
)
