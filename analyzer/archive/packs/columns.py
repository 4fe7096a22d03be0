"""Names and columns of the tables of a stored case.

Columns that begin with `_` are what a case needs to come back as it was; people ask the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import SQL_TYPES, Table
from analyzer.facts import database
from analyzer.facts.database import KEY

Schema = dict[str, str]  # column -> SQL type, in order

# What a row of a declared table has besides its own columns and its origin.
#   _block  number of its block in `_blocks`;  _frame  number of its frame, NULL for a row by itself
#   _lines  column -> its line, counted from the row's;  _odd  column -> value its type cannot hold
ROW: Schema = {"_block": "INTEGER", "_frame": "INTEGER", "_lines": "VARCHAR", "_odd": "VARCHAR"}

CASE, NODES, FINDINGS, UNKNOWNS, VERDICTS = "_case", "_nodes", "_findings", "_unknowns", "_verdicts"
SIGNALS = "_signals"
BLOCKS, SCANS, HITS, FRAMES = "_blocks", "_scans", "_hits", "_frames"

# Columns that people ask: `name TYPE meaning`, a line each; `shown<stored` names the stored column as well.
ASKED: dict[str, str] = {
    CASE: """
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
        signals INTEGER kinds of signs of trouble that no finding rests on; NULL where they are not known
    """,
    NODES: """
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
    """,
    FINDINGS: """
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
        excess DOUBLE how many times its figure is over the bar of its severity, where a figure tells
    """,
    UNKNOWNS: """
        rule VARCHAR id of the rule
        node VARCHAR name of the machine
        subject VARCHAR what was to be judged
        reason VARCHAR missing, unreadable, unparsed, not_applicable or outside
        missing VARCHAR table or column that is missing
        why VARCHAR why it cannot be told
        ask VARCHAR what to request
        muted VARCHAR why it is muted, empty when it is not
    """,
    VERDICTS: """
        rule VARCHAR id of the rule
        title VARCHAR title of the rule
        kb INTEGER[] KB articles of the rule
        match BIGINT subjects it matched
        no_match BIGINT subjects it cleared
        not_applicable BIGINT subjects it does not apply to
        cannot_tell BIGINT subjects it could not judge
        error BIGINT 1 when it failed
    """,
    SIGNALS: """
        kind VARCHAR line, cell, event, alert, backtrace, core dump, core dump file or few lines
        module VARCHAR subsystem, driver or program of the line; table and column of the cell
        template VARCHAR what it says, with # for values and names
        count BIGINT lines, cells and files of it
        machines INTEGER machines that have it
        weight DOUBLE where it ranks: 6 and more is heavy, 3 is light
        age VARCHAR new, grown, all along, steady, burst, known background, or empty where it is not known
    """,
    HITS: """
        node VARCHAR name of the machine
        table VARCHAR log it stands in
        signature VARCHAR the signature that hit, rule/name
        address VARCHAR member it stands in
        line BIGINT its line there
        text VARCHAR the line
        time TIMESTAMP its time
    """,
}
# Columns that only a case that comes back needs.
_BESIDE = {
    FINDINGS: "_row INTEGER",
    UNKNOWNS: "_row INTEGER",
    VERDICTS: "_row INTEGER",
    # the same in all cases for one kind, module and template; an export without names has none, for it would prove a guess
    SIGNALS: "_hash VARCHAR",
    # _info [key, name, kind, product, captured]; _covers [[table, state, why], …]; _addresses of each of them;
    # _counts table -> rows
    NODES: "_row INTEGER, _info VARCHAR, _covers VARCHAR, _addresses VARCHAR, _counts VARCHAR",
    # _info [address, node, command, params, taken, cut, first_line, order]; _text [[line, [text, …]], …]
    BLOCKS: "_block INTEGER, _info VARCHAR, _text VARCHAR",
    # _tallies id -> [count, capped, at_least, stop]; _searched [[id, pattern, ignore_case], …]
    SCANS: "_scan INTEGER, table VARCHAR, _info VARCHAR, _tallies VARCHAR, _searched VARCHAR",
    # _last: the last hit of a signature of which not all are kept; _odd [address, text]
    HITS: "_row BIGINT, _scan INTEGER, _last BOOLEAN, _around VARCHAR, _groups VARCHAR, _odd VARCHAR",
    # _info {line: type, columns: [[name, type, whether it lies in `_raw`], …], cells}, and of samples that are kept in
    # little memory `samples`: [objects, columns that name them, columns of a sample, counters the capture lacks]
    FRAMES: "_frame INTEGER, table VARCHAR, _block INTEGER, _rows BIGINT, _info VARCHAR, _raw VARCHAR",
}


def parse_columns(text: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, type, meaning and stored name of each column that a text of `ASKED` declares."""
    for line in text.strip().splitlines():
        name, kind, meaning = line.strip().split(" ", 2)
        shown, _, stored = name.partition("<")
        yield shown, kind, meaning, stored or shown


def _read_schema(name: str) -> Schema:
    kinds = {stored: kind for _, kind, _, stored in parse_columns(ASKED.get(name, ""))}
    for column in filter(None, _BESIDE.get(name, "").split(", ")):
        own, kind = column.split()
        kinds[own] = kind
    return kinds


TABLES = {
    name: _read_schema(name)
    for name in (CASE, NODES, FINDINGS, UNKNOWNS, VERDICTS, SIGNALS, BLOCKS, SCANS, HITS, FRAMES)
}
LATER = {
    CASE: ("signals",),
    FINDINGS: ("excess",),
}  # columns that packs of earlier versions have not
JUDGED = (
    CASE,
    FINDINGS,
    UNKNOWNS,
    VERDICTS,
    SIGNALS,
)  # what a judgement gives; all others are facts


def table_schema(table: Table) -> Schema:
    """Return the columns of a declared table as it is stored: its own, its origin, and what a row needs."""
    own = database.own_columns(table)
    keys = {name + KEY: "VARCHAR" for name, kind in own if kind == "version"}
    return {**{name: SQL_TYPES[kind] for name, kind in own}, **keys, **database.ORIGIN, **ROW}


def schema_of(name: str) -> Schema:
    """Return the columns of a stored table by its name; KeyError when no such table is declared."""
    return TABLES[name] if name in TABLES else table_schema(parsing.tables()[name])


def is_known(name: str) -> bool:
    """Say whether a stored table of this name is one that this version writes."""
    return name in TABLES or name in parsing.tables()
