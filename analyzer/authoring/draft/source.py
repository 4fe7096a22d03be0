"""What a draft is made from: log lines and rows that show the problem, and whose verdict it is.

`from_lines` takes lines an author chose in a case, `from_finding` the evidence of a finding in case.json.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Column, Row, Table
from analyzer.authoring.draft.mask import Mask
from analyzer.authoring.draft.pick import ChosenRow, LogLine, Picked
from analyzer.authoring.draft.signs import TROUBLE, Sign
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
    signs    what `when` asks for; also: what stood beside it
    rows     table -> rows for the examples; raws: the same as text
    apart    log tables that another machine than the subject's writes
    origin   what it was made of, in words without names
    made_up  values in `rows` that no evidence told
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


def from_lines(picked: Picked) -> DraftSource:
    """Return the material of chosen lines: log lines become signatures, rows the subject and its conditions."""
    names = names_of(picked.intake, picked.facts)
    for line in picked.lines:
        add_names(names, line.values.items())
    if picked.rows:
        made = _of_rows(picked.rows)
    else:
        first = picked.lines[0]
        table, apart, note = subject_of(picked.facts, first.table, first.node)
        made = DraftSource((ALIASES.get(table.name, alias_of(table, ())), table))
        made.apart |= {first.table.name} if apart else set()
        made.by_hits, made.lacks = True, note
        whole_machine(made)
    home = picked.rows[0].row.block.node if picked.rows else picked.lines[0].node
    made.apart |= {line.table.name for line in picked.lines if line.node != home}
    made.lines, made.quiet, made.names = picked.lines, picked.quiet, names
    made.notes += picked.notes
    parts = [count_noun(len(picked.lines), "log line")] if picked.lines else []
    parts += (
        [count_noun(len(picked.rows), "row of what a host printed", "rows of what a host printed")]
        if picked.rows
        else []
    )
    made.origin = " and ".join(parts)
    return made


# -- the subject of a rule over a log


def subject_of(facts: Facts, log: Table, node: str) -> tuple[Table, bool, str]:
    """Return the table whose rows a rule over a log judges, whether the log is another node's, and a remark."""
    kind = (facts.nodes[node].kind if node in facts.nodes else "") or kinds_of(log)[0]
    own = [facts.tables[name] for name in SUBJECTS.get(kind, ()) if name in facts.tables]
    for table in own:
        if facts.count(table.name, node):
            return table, False, ""
    for table in (
        facts.tables[name] for name in ("nsx.manager", "esxi.bundle") if name in facts.tables
    ):
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


def whole_machine(made: DraftSource) -> None:
    """Name the subject of a rule that judges a whole machine, and make its row for the examples."""
    alias, table = made.each
    made.subject = made.object = f"{{{alias}.node}}"
    row = {name: filler(table.column(name)) for name in table.key} or {table.columns[0].name: None}
    made.rows[table.name] = [row]
    made.made_up |= {value for value in row.values() if isinstance(value, str)}


def filler(column: Column | None) -> Any:
    """Return a made-up value for a key that the evidence does not tell."""
    kind = column.kind if column else "str"
    fillers: dict[str, Any] = {
        "int": 1, "float": 1.0, "bool": True, "version": "1.0", "time": "2017-10-14 16:53:20",
    }  # fmt: skip
    return fillers.get(kind, f"{column.name.replace('_', '-')}-1" if column else "one")


# -- rows


def _of_rows(chosen: Sequence[ChosenRow]) -> DraftSource:
    tables = list(dict.fromkeys(one.row.table.name for one in chosen))
    first = chosen[0].row
    each = (alias_of(first.table, ()), first.table)
    made = DraftSource(each)
    aliases = {first.table.name: each[0]}
    for name in tables[1:]:
        row = next(one.row for one in chosen if one.row.table.name == name)
        aliases[name] = alias_of(row.table, aliases.values())
        made.joins[aliases[name]] = join_body(
            each[1], row.table, apart=row.block.node != first.block.node
        )
    signs: list[Sign] = []
    for name in tables:
        signs += _signs_of(
            [one for one in chosen if one.row.table.name == name], aliases[name], made
        )
    for one in chosen:
        row_cells = {
            name: one.row.values.get(name)
            for name in dict.fromkeys([*one.row.table.key, *one.columns])
        }
        rows = made.rows.setdefault(one.row.table.name, [])
        if len(rows) < MOST_ROWS and row_cells not in rows:
            rows.append(row_cells)
    choose(made, signs)
    made.subject = made.subject or subject_text(*each)
    made.raws = _raws([one.row for one in chosen])
    return made


def _signs_of(chosen: Sequence[ChosenRow], alias: str, made: DraftSource) -> list[Sign]:
    """Return the signs of the chosen rows of one table: what all of them show, else what the first shows."""
    many = made.joins.get(alias, {}).get("rows") == "many"
    every = [[_sign(one.row, name, alias, many) for name in one.columns] for one in chosen]
    shared = [
        sign
        for sign in every[0]
        if all(any(_alike(sign, other) for other in rest) for rest in every[1:])
    ]
    return shared or every[0]


def _sign(row: Row, name: str, alias: str, many: bool) -> Sign:
    column = row.table.column(name)
    assert column is not None
    return Sign(alias, column, row.values[name], many)


def _alike(one: Sign, two: Sign) -> bool:
    return one.column.name == two.column.name and (
        one.value == two.value or (one.grows and two.grows)
    )


def choose(made: DraftSource, signs: Iterable[Sign], *, by_hand: bool = True) -> None:
    """Part signs into those a condition is made of and those that are only named.

    by_hand  the author chose their lines, so that a zero means something
    """
    unique = list({sign.name: sign for sign in reversed(list(signs))}.values())[::-1]
    told = [
        sign for sign in unique if NAME_COLUMNS.get(sign.column.name) is None and not _when(sign)
    ]
    if not by_hand and any(sign.grows for sign in told):
        told = [sign for sign in told if sign.value != 0 or isinstance(sign.value, bool)]
    if len(told) > MOST_SIGNS:
        trouble = [sign for sign in told if sign.grows and TROUBLE.search(sign.column.name)]
        told = trouble or [sign for sign in told if sign.grows] or told
    made.signs = told[:MOST_SIGNS]
    made.also = [sign for sign in unique if sign not in made.signs]


def _when(sign: Sign) -> bool:
    """Tell whether a value is a time, which is no sign of anything."""
    return sign.column.kind == "time" or (
        isinstance(sign.value, str) and bool(re.search(r"\d:\d\d", sign.value))
    )


def masked_cell(mask: Mask, column: str, value: str) -> str:
    """Return a cell without customer data: a column of names whole, of others what looks like it."""
    kind = NAME_COLUMNS.get(column)
    if kind is None:
        return (
            value
            if column.endswith("version") and version_key(value) is not None
            else mask.text(value)
        )
    name, dot, nic = value.rpartition(".") if re.search(r"\.eth\d+$", value) else (value, "", "")
    return f"{mask.cell(kind, name)}{dot}{nic}"


def subject_text(alias: str, table: Table) -> str:
    """Return a text that names a row by its key columns."""
    columns = [name for name in table.key if table.column(name)] or ["node"]
    words = [f"{name.replace('_id', '').replace('_', ' ')} {{{alias}.{name}}}" for name in columns]
    return ", ".join(words)


def join_body(mine: Table, table: Table, *, apart: bool) -> dict[str, Any]:
    """Return the mapping of a join: by the key columns that both tables have."""
    kinds = {column.name: column.kind for column in mine.columns}
    common = [
        name
        for name in table.key
        if (column := table.column(name)) and kinds.get(name) == column.kind
    ]
    made: dict[str, Any] = {"table": table.name, "by": common}
    if not common or common != list(table.key):
        made["rows"] = "many"
    if apart:
        made["nodes"] = "any"
    return made


def alias_of(table: Table, taken: Iterable[str]) -> str:
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


def _raws(rows: Iterable[Row]) -> list[Raw]:
    """Return the dumps that rows were read from, in their order; nothing when one is too long for an example."""
    blocks: dict[int, tuple[Block, str]] = {}
    for row in rows:
        parser = _parser_of(row.table, row.block)
        blocks.setdefault(id(row.block), (row.block, parser))
    found = sorted(blocks.values(), key=lambda item: item[0].order)
    if any(len(block.lines) > MOST_RAW or not block.lines or not parser for block, parser in found):
        return []
    kinds = {name: parser.node for name, parser in parsing.registry().items()}
    return [Raw(parser, kinds[parser], block.command, list(block.lines)) for block, parser in found]


def _parser_of(table: Table, block: Block) -> str:
    """Return the parser that read a block: the one its command or its first line names, else one of its table."""
    makers = [
        one
        for one in parsing.registry().values()
        if any(made.name == table.name for made in one.tables)
    ]
    by_command = [one for one in makers if block.command and one.match_command(block.command)]
    by_shape = [one for one in makers if block.lines and one.starts_at(block.lines[0])]
    by_place = [one for one in makers if one.matches_file(block.address.rpartition("!")[2])]
    return next((one.name for one in (*by_command, *by_place, *by_shape, *makers)), "")


# -- names of the customer's


def names_of(intake: Intake, facts: Facts) -> dict[str, set[str]]:
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
        if column in ("vmx_path", "command_line", "bundle_name"):
            names.setdefault("vm", set()).update(_of_path(text) if column == "vmx_path" else ())
            continue
        if column == "client_name":
            text = re.sub(r"\.eth\d+$", "", text)
        if not re.fullmatch(r"[\d.:a-fA-F]+", text) or kind == "vm":
            names.setdefault(kind, set()).add(text)


def _of_path(path: str) -> set[str]:
    """Return the folder and the file stem of a .vmx path, which are the VM's name most of the time."""
    parts = [part for part in path.split("/") if part]
    stems = {parts[-1].removesuffix(".vmx")} if parts and parts[-1].endswith(".vmx") else set()
    return stems | ({parts[-2]} if len(parts) > 1 and parts[-2] != "volumes" else set())


def document_names(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """Return the names a case document tells."""
    names: dict[str, set[str]] = {}
    for node in document["nodes"]:
        if node["kind"] in _NAMED and " (loose" not in node["name"]:
            names.setdefault("host", set()).add(node["name"])
    for port in document["topology"]:
        for kind, key in (("vm", "vm"), ("portgroup", "portgroup"), ("switch", "switch")):
            names.setdefault(kind, set()).add(re.sub(r"\.eth\d+$", "", port[key]))
    return names
