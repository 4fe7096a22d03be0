"""The tables an engineer can query with SQL: their columns, described, and how they map to what is stored.

Every view begins with `case_id`. What is stored beside the declared columns stays out of sight, but for
the key by which a version compares: `driver_version_key < version_key('1.7.20')`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from analyzer import parsing
from analyzer.facts.database import KEY, quoted
from analyzer.lazy_dataclass import dataclass
from analyzer.tables import SQL_TYPES, Table

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
    def sql(self) -> str:
        """The column as a view selects it."""
        return f"r.{quoted(self.stored or self.name)} AS {quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class View:
    """One view: its name, what it holds, the stored table below it and its columns."""

    name: str
    meaning: str
    stored: str
    columns: tuple[ViewColumn, ...]

    @property
    def every(self) -> list[ViewColumn]:
        """All columns, with the case in front."""
        return [ViewColumn("case_id", "VARCHAR", "id of the case"), *self.columns]


def _columns(text: str) -> tuple[ViewColumn, ...]:
    """Return columns from lines `name TYPE meaning`; `shown<stored` names the stored column as well."""
    found = []
    for line in text.strip().splitlines():
        name, type_, meaning = line.strip().split(" ", 2)
        shown, _, stored = name.partition("<")
        found.append(ViewColumn(shown, type_, meaning, stored))
    return tuple(found)


CASE_COLUMNS = _columns("""
    name VARCHAR name of the case: its file or folder
    source VARCHAR where it was read from
    state VARCHAR ok, partial, refused or failed
    why VARCHAR why it was refused or failed
    created TIMESTAMP newest time in the material
    first TIMESTAMP first time of a log line
    last TIMESTAMP last time of a log line
    complete BOOLEAN false when something could not be read
    files INTEGER files it was read from
    bytes BIGINT bytes of these files
    stored TIMESTAMP when it was stored
    seconds DOUBLE how long reading and judging took
    tool VARCHAR version of Backline that judged it
    catalog VARCHAR hash of the rules that judged it
    findings INTEGER findings, one a subject, muted ones as well
    worst VARCHAR severity of the worst finding that is not muted
    unknowns INTEGER questions that are open, as the report counts them: things that are missing, without muted ones
""")

SYSTEM: tuple[View, ...] = (
    View(CASES, "the stored cases, refused ones as well", "_case", CASE_COLUMNS),
    View(
        "nodes",
        "the machines of the cases",
        "_nodes",
        _columns("""
            node VARCHAR name of the machine
            kind VARCHAR esxi, guest, nsx_manager, nsx_controller, nsx_edge, vcenter
            product VARCHAR product in words
            version VARCHAR version as best stated
            version_key<version#key VARCHAR by which it compares
            build VARCHAR build number
            release VARCHAR name of the release, where the build is known
            uptime_s DOUBLE uptime in seconds
            captured TIMESTAMP when the material was taken
            complete BOOLEAN false where its archive was cut or damaged
        """),
    ),
    View(
        "findings",
        "what rules found",
        "_findings",
        _columns("""
            rule VARCHAR id of the rule
            title VARCHAR title of the rule
            kb INTEGER[] KB articles of the rule
            issues INTEGER[] issues of the rule
            node VARCHAR name of the machine
            subject VARCHAR what was judged
            object VARCHAR what is ill
            verdict VARCHAR match, or error when the rule failed
            severity VARCHAR critical, major, warning or info
            confidence VARCHAR confirmed, likely, possible or exposed
            say VARCHAR the finding in a sentence
            first_seen TIMESTAMP earliest time of the evidence
            muted VARCHAR why it is muted, empty when it is not
            finding_id VARCHAR id of the finding in its case
        """),
    ),
    View(
        "unknowns",
        "what could not be judged: a row for each rule and subject, many of which one thing may settle",
        "_unknowns",
        _columns("""
            rule VARCHAR id of the rule
            node VARCHAR name of the machine
            subject VARCHAR what was to be judged
            reason VARCHAR missing, unreadable, unparsed, not_applicable or outside
            missing VARCHAR table or column that is missing
            why VARCHAR why it cannot be told
            ask VARCHAR what to request
            muted VARCHAR why it is muted, empty when it is not
        """),
    ),
    View(
        "verdicts",
        "one row for each rule that judged a case",
        "_verdicts",
        _columns("""
            rule VARCHAR id of the rule
            title VARCHAR title of the rule
            kb INTEGER[] KB articles of the rule
            match BIGINT subjects it matched
            no_match BIGINT subjects it cleared
            not_applicable BIGINT subjects it does not apply to
            cannot_tell BIGINT subjects it could not judge
            error BIGINT 1 when it failed
        """),
    ),
    View(
        "hits",
        "log lines that a signature hit and that were kept",
        "_hits",
        _columns("""
            node VARCHAR name of the machine
            table VARCHAR log it stands in
            signature VARCHAR the signature that hit, rule/name
            address VARCHAR member it stands in
            line BIGINT its line there
            text VARCHAR the line
            time TIMESTAMP its time
        """),
    ),
    View(
        "labels",
        "what engineers said of findings",
        LABELS,
        _columns("""
            rule VARCHAR id of the rule
            node VARCHAR name of the machine
            subject VARCHAR what was judged
            label VARCHAR confirmed or rejected
            missed BOOLEAN true where the rule should have matched and did not
            by VARCHAR who said so, where given
            note VARCHAR in their words
            at TIMESTAMP when
        """),
    ),
)


@cache
def every() -> Mapping[str, View]:
    """Return all views by name: those of the archive, then one for each declared table of facts."""
    found = {view.name: view for view in SYSTEM}
    return found | {name: facts(table) for name, table in sorted(parsing.tables().items()) if not table.log}


def facts(table: Table) -> View:
    """Return the view of a declared table."""
    columns: list[ViewColumn] = []
    for column in table.columns:
        if column.name in ("node", "taken"):
            continue
        meaning = f"{column.meaning} [{column.unit}]" if column.unit else column.meaning
        columns.append(ViewColumn(column.name, SQL_TYPES[column.kind], meaning))
        if column.kind == "version":
            columns.append(ViewColumn(f"{column.name}_key", "VARCHAR", "by which it compares", column.name + KEY))
    taken = {column.name for column in columns}
    origin = [
        ViewColumn("node", "VARCHAR", "name of the machine"),
        ViewColumn("taken", "TIMESTAMP", "when it was taken, where known"),
        ViewColumn(
            "address" if "address" not in taken else "_address", "VARCHAR", "member it was read from", "_source"
        ),
        ViewColumn("line" if "line" not in taken else "_line", "BIGINT", "its line there", "_line"),
    ]
    return View(table.name, table.meaning, table.name, (*columns, *origin))


def create(view: View, relation: str) -> str:
    """Return the SQL that makes a view over the relation of its stored table."""
    columns = ", ".join(["i.case_id", *(column.sql for column in view.columns)])
    body = f"SELECT {columns} FROM ({relation}) r JOIN {IDS} i USING (_case)"
    name = ".".join(quoted(part) for part in view.name.split("."))
    return f"CREATE VIEW {name} AS {body}"


def schemas(views: Sequence[View]) -> Iterator[str]:
    """Yield the SQL that makes the schemas of some views."""
    for name in sorted({view.name.partition(".")[0] for view in views if "." in view.name}):
        yield f"CREATE SCHEMA IF NOT EXISTS {quoted(name)}"


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
