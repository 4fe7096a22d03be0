"""What a draft is made from: log lines and rows that show the problem, and whose verdict it is.

`from_lines` takes lines an author chose in a case, `from_finding` the evidence of a finding in case.json.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.pick import ChosenRow, LogLine, Picked
from analyzer.authoring.draft.signs import TROUBLE, Sign
from analyzer.case.document import CaseDocument
from analyzer.facts import Facts
from analyzer.facts.database import version_key
from analyzer.ingest.intake import Intake
from analyzer.judge import kinds_of
from analyzer.runtime.text import count_noun

MOST_SIGNS = 6  # conditions joined by `and`; what is beyond is named in a comment
MOST_RAW = 150  # lines of a dump that go into an example as they are
MOST_ROWS = 5  # rows of one table in an example

# Columns that hold a name of the customer's -> kind of mask.
NAME_COLUMNS = {
    "hostname": "host", "host": "host", "vm_name": "vm", "client_vm": "vm", "vm_folder": "vm", "portgroup": "portgroup",
    "switch": "switch", "switch_name": "switch", "dvs": "switch", "user": "user", "username": "user",
    "virtual_wire": "label", "port_name": "label", "client_name": "vm", "bundle_name": "label", "world_name": "vm",
    "vmx_path": "label", "command_line": "label", "used_by": "vm", "dvportgroup": "portgroup",
    "opaque_network": "portgroup", "volume_name": "datastore", "object_label": "datastore", "cluster_name": "label",
}  # fmt: skip
# Tables with one row for a machine, the best first, by the kind of node a log comes from.
SUBJECTS = {
    "esxi": ("esxi.bundle", "esxi.host", "esxi.uptime", "esxi.version"),
    "nsx_manager": ("nsx.manager",),
    "nsx_controller": ("nsx.controller_health", "nsx.controller_startup_nodes"),
}
_NAMED = (
    "esxi",
    "guest",
    "nsx_manager",
    "vcenter",
    "nsxt_manager",
    "nsxt_edge",
    "nsx_t",
    "nsx_edge",
)  # kinds of node with a name of their own
ALIASES = {"esxi.bundle": "host", "nsx.manager": "mgr", "nsx.controller_health": "ctl"}


@dataclass(slots=True)
class Raw:
    """Text as a host printed it, for an example through `files`."""

    parser: str
    kind: str
    command: str
    lines: list[str]


@dataclass(slots=True)
class DraftSource:
    """Everything a draft is made of; names and values are unmasked.

    each     alias and table of the subject; joins: alias -> the mapping of the join
    signs    what `when` asks for; also: what stood next to it
    rows     table -> rows for the examples; raws: the same as text
    apart    log tables that another machine than the subject's writes
    origin   what it was made of, in words without names
    made_up  values in `rows` that are in no evidence
    only     gate of the rule a draft starts from, "" for none; gate: the columns it asks for
    by_hits  what the log lines name may be the subjects, instead of `each`
    lacks    a remark on `each`, where it is the subject
    """

    each: tuple[str, Table]
    subject: str = ""
    object: str = ""
    joins: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: list[LogLine] = field(default_factory=list)
    signs: list[Sign] = field(default_factory=list)
    also: list[Sign] = field(default_factory=list)
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    raws: list[Raw] = field(default_factory=list)
    quiet: dict[str, list[str]] = field(default_factory=dict)
    apart: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=dict)
    origin: str = ""
    notes: list[str] = field(default_factory=list)
    made_up: set[str] = field(default_factory=set)
    only: str = ""
    gate: set[str] = field(default_factory=set)
    by_hits: bool = False
    lacks: str = ""


def read_lines(picked: Picked) -> DraftSource:
    """Return the material of chosen lines: log lines become signatures, rows the subject and its conditions."""
    names = collect_names(picked.intake, picked.facts)
    for line in picked.lines:
        add_names(names, line.values.items())
    if picked.rows:
        made = _read_rows(picked.rows)
    else:
        first = picked.lines[0]
        table, apart, note = find_subject(picked.facts, first.table, first.node)
        made = DraftSource((ALIASES.get(table.name, choose_alias(table, ())), table))
        made.apart |= {first.table.name} if apart else set()
        made.by_hits, made.lacks = True, note
        judge_machine(made)
    if picked.rows:
        home = picked.rows[0].row.block.node
    else:
        home = picked.lines[0].node
    made.apart |= {line.table.name for line in picked.lines if line.node != home}
    made.lines, made.quiet, made.names = picked.lines, picked.quiet, names
    made.notes += picked.notes
    parts = []
    if picked.lines:
        parts.append(count_noun(len(picked.lines), "log line"))
    if picked.rows:
        parts.append(
            count_noun(
                len(picked.rows), "row of what a host printed", "rows of what a host printed"
            )
        )
    made.origin = " and ".join(parts)
    return made


# -- the subject of a rule over a log


def find_subject(facts: Facts, log: Table, node: str) -> tuple[Table, bool, str]:
    """Return the table whose rows a rule over a log judges, whether the log is another node's, and a remark."""
    kind = ""
    if node in facts.nodes:
        kind = facts.nodes[node].kind
    kind = kind or kinds_of(log)[0]
    own = []
    for name in SUBJECTS.get(kind, ()):
        if name in facts.tables:
            own.append(facts.tables[name])
    for table in own:
        if facts.count(table.name, node):
            return table, False, ""
    others = [facts.tables.get(name) for name in ("nsx.manager", "esxi.bundle")]
    for table in filter(None, others):
        if table.product == log.product and kind != "esxi" and facts.count(table.name):
            return table, True, ""
    if own:
        why = f'the case holds no {own[0].words}; without it the rule can only say "cannot tell"'
        return own[0], False, why
    return (
        facts.tables["esxi.bundle"],
        True,
        f"no table describes a node of the kind {kind or 'of this log'} yet",
    )


def judge_machine(made: DraftSource) -> None:
    """Name the subject of a rule that judges a whole machine, and make its row for the examples."""
    alias, table = made.each
    made.subject = made.object = f"{{{alias}.node}}"
    row = {name: make_filler(table.column(name)) for name in table.key} or {
        table.columns[0].name: None
    }
    made.rows[table.name] = [row]
    made.made_up |= {value for value in row.values() if isinstance(value, str)}


def make_filler(column: Column | None) -> Any:
    """Return a made-up value for a key that the evidence does not tell."""
    kind = "str"
    if column:
        kind = column.kind
    fillers: dict[str, Any] = {
        "int": 1, "float": 1.0, "bool": True, "version": "1.0", "time": "2017-10-14 16:53:20",
    }  # fmt: skip
    return fillers.get(kind, f"{column.name.replace('_', '-')}-1" if column else "one")


# -- rows


def _read_rows(chosen: Sequence[ChosenRow]) -> DraftSource:
    """Return a source made of rows: the first one is the subject, other tables are joined to it."""
    by_table: dict[str, list[ChosenRow]] = {}
    for one in chosen:
        by_table.setdefault(one.row.table.name, []).append(one)
    first = chosen[0].row
    each = (choose_alias(first.table, ()), first.table)
    made = DraftSource(each)
    aliases = {first.table.name: each[0]}
    for name, members in by_table.items():
        if name == first.table.name:
            continue
        row = members[0].row
        alias = choose_alias(row.table, aliases.values())
        aliases[name] = alias
        apart = row.block.node != first.block.node
        made.joins[alias] = write_join(each[1], row.table, apart=apart)
    signs: list[Sign] = []
    for name, members in by_table.items():
        signs += _find_signs(members, aliases[name], made)
    for one in chosen:
        table = one.row.table
        cells = {}
        for column in (*table.key, *one.columns):
            cells[column] = one.row.values.get(column)
        rows = made.rows.setdefault(table.name, [])
        if len(rows) < MOST_ROWS and cells not in rows:
            rows.append(cells)
    choose_signs(made, signs)
    if not made.subject:
        made.subject = describe_subject(*each)
    made.raws = _read_raws([one.row for one in chosen])
    return made


def _read_raws(rows: Iterable[Row]) -> list[Raw]:
    """Return the dumps that rows were read from, in their order; none where one is too long or has no parser."""
    blocks: dict[int, tuple[Block, str]] = {}
    for row in rows:
        if id(row.block) not in blocks:
            blocks[id(row.block)] = (row.block, _find_maker(row))
    raws = []
    for block, name in sorted(blocks.values(), key=lambda item: item[0].order):
        if len(block.lines) > MOST_RAW or not block.lines or not name:
            return []
        kind = parsing.registry()[name].node
        raws.append(Raw(name, kind, block.command, list(block.lines)))
    return raws


def _find_maker(row: Row) -> str:
    """Return the parser that most likely made a row: by the command, else the file, else the first line."""
    block = row.block
    place = block.address.rpartition("!")[2]
    best = 4
    name = ""
    for parser in parsing.registry().values():
        if all(table.name != row.table.name for table in parser.tables):
            continue
        if block.command and parser.match_command(block.command):
            rank = 0
        elif parser.matches_file(place):
            rank = 1
        elif block.lines and parser.starts_at(block.lines[0]):
            rank = 2
        else:
            rank = 3
        if rank < best:
            best = rank
            name = parser.name
    return name


def _find_signs(chosen: Sequence[ChosenRow], alias: str, made: DraftSource) -> list[Sign]:
    """Return the signs of the chosen rows of one table: what all of them show, else what the first shows."""
    many = made.joins.get(alias, {}).get("rows") == "many"
    every: list[dict[str, Sign]] = []
    for one in chosen:
        signs = {}
        for name in one.columns:
            column = one.row.table.column(name)
            assert column is not None
            signs[name] = Sign(alias, column, one.row.values[name], many)
        every.append(signs)
    shared = []
    for name, sign in every[0].items():
        others = [signs.get(name) for signs in every[1:]]
        if all(
            other and (sign.value == other.value or (sign.grows and other.grows))
            for other in others
        ):
            shared.append(sign)
    return shared or list(every[0].values())


def choose_signs(made: DraftSource, signs: Iterable[Sign], *, by_hand: bool = True) -> None:
    """Part signs into those a condition is made of and those that are only named.

    by_hand  the author chose their lines, so that a zero means something
    """
    first_of_each = {sign.name: sign for sign in reversed(list(signs))}
    unique = list(first_of_each.values())[::-1]
    chosen = []
    for sign in unique:
        # A name or a time is no sign of anything.
        timed = isinstance(sign.value, str) and re.search(r"\d:\d\d", sign.value)
        if sign.column.name not in NAME_COLUMNS and sign.column.kind != "time" and not timed:
            chosen.append(sign)
    growing = [sign for sign in chosen if sign.grows]
    if not by_hand and growing:
        chosen = [sign for sign in chosen if sign.value != 0 or isinstance(sign.value, bool)]
    if len(chosen) > MOST_SIGNS:
        trouble = [sign for sign in growing if TROUBLE.search(sign.column.name)]
        chosen = trouble or growing or chosen
    made.signs = chosen[:MOST_SIGNS]
    made.also = [sign for sign in unique if sign not in made.signs]


def mask_cell(mask: Mask, column: str, value: str) -> str:
    """Return a cell without customer data: a column of names whole, of others what looks like it."""
    kind = NAME_COLUMNS.get(column)
    if kind is None:
        if column.endswith("version") and version_key(value) is not None:
            return value
        return mask.mask_text(value)
    name, dot, nic = value, "", ""
    if re.search(r"\.eth\d+$", value):
        name, dot, nic = value.rpartition(".")
    return f"{mask.mask_cell(kind, name)}{dot}{nic}"


def describe_subject(alias: str, table: Table) -> str:
    """Return a text that names a row by its key columns."""
    columns = [name for name in table.key if table.column(name)] or ["node"]
    words = []
    for name in columns:
        spoken = name.replace("_id", "").replace("_", " ")
        words.append(f"{spoken} {{{alias}.{name}}}")
    return ", ".join(words)


def write_join(mine: Table, table: Table, *, apart: bool) -> dict[str, Any]:
    """Return the mapping of a join: by the key columns that both tables have."""
    kinds = {column.name: column.kind for column in mine.columns}
    common = []
    for name in table.key:
        if (column := table.column(name)) and kinds.get(name) == column.kind:
            common.append(name)
    made: dict[str, Any] = {"table": table.name, "by": common}
    if not common or common != list(table.key):
        made["rows"] = "many"
    if apart:
        made["nodes"] = "any"
    return made


def choose_alias(table: Table, taken: Iterable[str]) -> str:
    """Return a short name for the rows of a table."""
    parts = table.name.partition(".")[2].split("_")
    for length in range(1, len(parts) + 1):
        name = "_".join(parts[-length:])
        if (
            name not in taken
            and not keyword.iskeyword(name)
            and re.fullmatch(r"[a-z][a-z0-9_]*", name)
        ):
            return name
    return f"{'_'.join(parts)}_too"


# -- names of the customer's


def collect_names(intake: Intake, facts: Facts) -> dict[str, set[str]]:
    """Return the names the case tells: of hosts, VMs, users, networks and switches."""
    names: dict[str, set[str]] = {}
    for node in facts.nodes.values():
        if " (loose files)" not in node.name:
            names.setdefault("host", set()).add(node.name)
    for place in intake.places.values():
        if place.scope == "host":
            names.setdefault("host", set()).add(place.name)
    for row in intake.rows:
        add_names(names, row.values.items())
        if row.table.name in ("esxi.vnic", "esxi.portgroup"):
            add_names(names, [("portgroup", row.values.get("network"))])
    for frame in intake.frames:
        for column in set(frame.columns) & set(NAME_COLUMNS):
            add_names(names, ((column, cell) for cell in set(frame.columns[column])))
    return names


def add_names(names: dict[str, set[str]], cells: Iterable[tuple[str, Any]]) -> None:
    """Add the cells, (column, value), of columns that hold names of the customer's."""
    for column, value in cells:
        kind = NAME_COLUMNS.get(column)
        if kind is None or not isinstance(value, str) or not value.strip():
            continue
        text = value.strip()
        if column == "vmx_path":
            # The folder and the stem of the file are the name of the VM most of the time.
            parts = [part for part in text.split("/") if part]
            if parts and parts[-1].endswith(".vmx"):
                names.setdefault("vm", set()).add(parts[-1].removesuffix(".vmx"))
            if len(parts) > 1 and parts[-2] != "volumes":
                names.setdefault("vm", set()).add(parts[-2])
        if column in ("vmx_path", "command_line", "bundle_name"):
            continue
        if column == "client_name":
            text = re.sub(r"\.eth\d+$", "", text)
        if not re.fullmatch(r"[\d.:a-fA-F]+", text) or kind == "vm":
            names.setdefault(kind, set()).add(text)


def collect_document_names(document: CaseDocument) -> dict[str, set[str]]:
    """Return the names a case document tells."""
    names: dict[str, set[str]] = {}
    for node in document.nodes:
        if node.kind in _NAMED and " (loose" not in node.name:
            names.setdefault("host", set()).add(node.name)
    for port in document.topology:
        for kind, name in (("vm", port.vm), ("portgroup", port.portgroup), ("switch", port.switch)):
            names.setdefault(kind, set()).add(re.sub(r"\.eth\d+$", "", name))
    return names
