"""Terms of a search, `TABLE: CONDITION` in the words of the rule language, and their SQL.

A condition is checked as a rule's is, against the declared columns of its table, and asked of each
row by itself: the names of columns stand bare. A node answers a term as `any()` does in a rule: yes
when some row does, no when every row says no and none may be missing, else no one can tell.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Column, Table, Tables
from analyzer.facts.database import quote_name
from analyzer.facts.records import PRODUCT_KINDS
from analyzer.rules.language.checker import check_expression
from analyzer.rules.language.expression import Alias, NameScope
from analyzer.rules.language.logic import Writer, text_literal
from analyzer.rules.language.rulefile import (
    BadRuleError,
    FileSpan,
    RuleItem,
    RuleText,
    did_you_mean,
)
from analyzer.runtime.errors import UsageError

if TYPE_CHECKING:
    from analyzer.rules.language.expression import ExprNode

# What is known of every machine, as a table that a term can speak of.
NODES = Table(
    name="nodes",
    meaning="The machines of a case.",
    source="",
    ask="`vm-support`, or the support bundle of the appliance",
    columns=(
        Column("kind", "str", "esxi, guest, nsx_manager, nsx_controller, nsx_edge, vcenter"),
        Column("product", "str", "product in words: VMware ESXi"),
        Column("version", "version", "version as best stated"),
        Column("build", "str", "build number as text"),
        Column("release", "str", "name of the release, where the build is known"),
        Column("uptime_s", "float", "uptime", "s"),
        Column("captured", "time", "when the material was taken, UTC"),
        Column("complete", "bool", "false where its archive was cut or damaged"),
    ),
)
# All adapters of a machine, whichever output lists them: NICs, HBAs, NICs of guests and edges.
ADAPTERS = Table(
    name="adapters",
    meaning="NICs, HBAs and other adapters of a machine with their drivers, from all outputs that name a driver.",
    source="",
    ask="`esxcli network nic list` and `esxcli storage core adapter list`",
    columns=(
        Column("adapter", "str", "name of the adapter: vmnic0, vmhba1, eth0"),
        Column("driver", "str", "driver as the output names it: ixgben, lpfc, vmxnet3"),
        Column("driver_version", "version", "version of the driver, where the output has it"),
        Column("listed_in", "str", "table that lists it: esxi.pnic_info, esxi.storage_adapter"),
    ),
)
NICS = ("esxi.pnic_info", "esxi.pnic")  # one of these and one of those tell all adapters of a host
HBAS = ("esxi.storage_adapter",)
_NO_ADAPTERS = ("esxi.satp_rule",)  # its driver is one that a rule looks for
# A question that is asked often, in one word: `driver: ixgben`, in any capitals.
SHORT = {"driver": "adapters: driver in [{}]", "version": "nodes: version in [{}]"}
_ELSEWHERE = {
    "rule": "--rule ID", "kb": "--kb NUMBER", "text": "--text STRING", "host": "--text NAME",
    "name": "`backline archive list --name GLOB`", "severity": "`backline archive list --severity major`",
}  # fmt: skip
_VALUE = re.compile(r"\s*([\w.+-]+)\s*")
_FEW = 3  # tables that have a column of some name
_SHAPE = re.compile(r"\s*([^:\s]+)\s*(?::(.*))?\Z", re.DOTALL)
_ROW = "row"  # the alias behind the bare columns


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its table and the condition on one row; None asks for any row at all."""

    text: str
    table: Table
    condition: ExprNode | None

    @property
    def node_kinds(self) -> tuple[str, ...]:
        """Kinds of node that have the table; empty for every kind."""
        if self.table is ADAPTERS:
            return PRODUCT_KINDS.get("esxi", ("esxi",))
        return (
            ()
            if self.table is NODES
            else PRODUCT_KINDS.get(self.table.product, (self.table.product,))
        )

    def condition_sql(self, alias: str = "r") -> str:
        """Return the condition as SQL over a row of the table's relation: true, false, or NULL for unknown."""
        if self.condition is None:
            return "TRUE"

        def reference(_row: str, column: str) -> str:
            return f"{alias}.{quote_name(self.stored_name(column))}"

        return Writer(reference).sql(self.condition)

    def stored_name(self, column: str) -> str:
        """Return the name under which a column is kept: a machine was "taken" when it was captured."""
        return "captured" if self.table is NODES and column == "taken" else column

    def list_shown_columns(self) -> list[str]:
        """Return the columns that tell of a row: those that name the thing, then those of the condition."""
        asked = (
            [leaf.column for leaf in self.condition.walk() if leaf.op == "column"]
            if self.condition
            else []
        )
        named = ("adapter",) if self.table is ADAPTERS else self.table.key
        return list(dict.fromkeys([*named, *asked]))


def adapter_tables() -> list[Table]:
    """Return the declared tables that name the driver of an adapter, in the order of their names."""
    found = (
        table for table in parsing.tables().values() if table.column("driver") and not table.log
    )
    return sorted(
        (table for table in found if table.name not in _NO_ADAPTERS), key=lambda table: table.name
    )


def union_adapters(relations: Mapping[str, str], held: Callable[[str], bool]) -> str:
    """Return the SQL of `adapters`: the rows with a driver of all tables that list adapters."""
    parts = []
    for table in adapter_tables():
        if not held(table.name):
            continue
        name = table.key[0] if table.key else table.columns[0].name
        versions = [
            column.name
            for column in table.columns
            if column.name in ("driver_version", "hba_driver_version")
        ]
        version = f"CAST({quote_name(versions[0])} AS VARCHAR)" if versions else "NULL::VARCHAR"
        parts.append(
            f"SELECT _case, _node, node, _row, _source, _line, CAST({quote_name(name)} AS VARCHAR) AS adapter, driver,"
            f" {version} AS driver_version, {text_literal(table.name)} AS listed_in"
            f" FROM ({relations[table.name]}) WHERE driver IS NOT NULL"
        )
    empty = (
        "SELECT NULL::INTEGER AS _case, NULL::VARCHAR AS _node, NULL::VARCHAR AS node, NULL::BIGINT AS _row,"
        " NULL::VARCHAR AS _source, NULL::BIGINT AS _line, NULL::VARCHAR AS adapter, NULL::VARCHAR AS driver,"
        " NULL::VARCHAR AS driver_version, NULL::VARCHAR AS listed_in WHERE FALSE"
    )
    once = "row_number() OVER (PARTITION BY _case, _node, adapter, driver ORDER BY driver_version IS NULL, listed_in)"
    return f"SELECT * FROM ({' UNION ALL '.join(parts or [empty])}) QUALIFY {once} = 1"


@dataclass(frozen=True, slots=True)
class FieldPart:
    """A stretch of what was typed and where it begins."""

    text: str
    start: int


def split_field(field: str) -> Iterator[FieldPart]:
    """Yield what stands between semicolons and line ends outside of quotes."""
    start, quote = 0, ""
    for place, sign in enumerate(field):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in ";\n":
            yield FieldPart(field[start:place], start)
            start = place + 1
    yield FieldPart(field[start:], start)


def read_term(text: str, number: int = 1) -> Term:
    """Return a checked term; `driver: NAME` and `version: X` are short for two that are asked often.

    Raises BadRuleError, with the place in the term and a caret, for a table or column that is not
    there and for whatever the rule language refuses.
    """
    declared = parsing.tables() | {
        NODES.name: NODES,
        ADAPTERS.name: ADAPTERS,
    }
    source = RuleText(f"term {number}", text)
    source.is_rule = True  # it is the engineer's own line: errors may cite it
    found = _SHAPE.match(text)
    if found and found[1] not in declared and (long := spelled_out(text)):
        text = long
        source, found = RuleText(f"term {number}", text), _SHAPE.match(text)
        source.is_rule = True
    if found is None or (found[1] not in declared and found[2] is None):
        raise _term_error(
            source,
            "a term names a table first",
            FileSpan(1, 1, max(1, len(text.strip()))),
            _suggest_table(text, declared),
        )
    table = declared.get(found[1])
    if table is None:
        # The help for a table that is not there; the product may have been left out
        name = found[1]
        if elsewhere := _ELSEWHERE.get(name.lower()):
            near = f"{elsewhere} asks for that"
        else:
            ends = [known for known in declared if known.partition(".")[2] == name]
            if ends:
                near = f"did you mean `{ends[0]}`?"
            else:
                having = [
                    table.name for table in declared.values() if table.column(name) is not None
                ]
                if having:
                    more = f" and {len(having) - _FEW:,} more" if len(having) > _FEW else ""
                    near = f"`{name}` is a column of {', '.join(having[:_FEW])}{more}: write TABLE: CONDITION"
                else:
                    words = ", ".join([*SHORT, *_ELSEWHERE])
                    near = nearest_field(name) or did_you_mean(name, declared)
                    near = near or (
                        f"write {words} or a table (docs/tables.md); a word alone is looked for everywhere"
                    )
        raise _term_error(source, f"no table `{found[1]}`", _head_span(found), near)
    if table.log:
        help = "lines of logs are kept where a signature hit: ask with --text, or `hits` in `backline archive sql`"
        raise _term_error(source, f"`{table.name}` is a log", _head_span(found), help)
    if not (found[2] or "").strip():
        return Term(text.strip(), table, None)
    return Term(" ".join(text.split()), table, _check_condition(source, found, table))


def spelled_out(text: str) -> str:
    """Return the term that `driver: NAME` or `version: X` is short for; empty for anything else."""
    word, _, value = text.partition(":")
    pattern, name = SHORT.get(word.strip().lower()), _VALUE.fullmatch(value)
    if pattern is None or name is None:
        return ""
    spellings = dict.fromkeys((name[1], name[1].lower()))
    return pattern.format(", ".join(f'"{one}"' for one in spellings))


def _check_condition(source: RuleText, found: re.Match[str], table: Table) -> ExprNode:
    raw = found[2]
    start = found.start(2) + len(raw) - len(raw.lstrip())
    condition = raw.strip()
    before = found.string[:start]
    place = FileSpan(before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1, len(condition))
    item = RuleItem(condition, place, condition)
    try:
        return check_expression(item, source, NameScope(bare=Alias(_ROW, table)), want="bool")
    except BadRuleError as error:
        error.exit_code = UsageError.exit_code
        if "works over many rows" not in error.message:
            raise
        help = "a term looks at one row at a time; `backline archive sql` does sums and counts"
        raise _term_error(source, error.message.partition(",")[0], error.place, help) from None


def _term_error(source: RuleText, message: str, place: FileSpan, help: str) -> BadRuleError:
    """Return an error of the command line, written as that of a rule."""
    error = source.error(message, place, help)
    error.exit_code = UsageError.exit_code
    return error


def _head_span(found: re.Match[str]) -> FileSpan:
    before = found.string[: found.start(1)]
    return FileSpan(before.count("\n") + 1, len(before) - before.rfind("\n"), len(found[1]))


def _suggest_table(text: str, declared: Tables) -> str:
    """Return how to ask what somebody may have meant: the tables of a column, or the other ways to search."""
    column = re.match(r"\s*(\w+)\s*(?:[<>=!]|$)", text)
    having = [
        table.name
        for table in declared.values()
        if column and any(column[1] == one.name for one in table.columns)
    ]
    if having:
        more = f" and {len(having) - _FEW:,} more" if len(having) > _FEW else ""
        name = column[1] if column else ""
        short = f", or `{name}: VALUE`" if name in SHORT else ""
        return f"`{name}` is a column of {', '.join(having[:_FEW])}{more}: write TABLE: CONDITION{short}"
    if _VALUE.fullmatch(text):
        word = text.strip()
        ways = f"`driver: {word}`, --text {word}, --rule, --kb, or TABLE: CONDITION"
        return f"write {ways} (`backline tables --doc` lists tables)"
    return 'write TABLE: CONDITION, like nodes: version < "6.5"; `backline archive sql --tables` lists tables'


def nearest_field(name: str) -> str:
    """Return a question with the short field that a word is near to (`drivr`: `driver`), "" for none."""
    near = difflib.get_close_matches(name.lower()[:40], [*SHORT, *_ELSEWHERE], n=1, cutoff=0.8)
    return f"did you mean `{near[0]}`?" if near else ""


def is_bare_word(text: str) -> bool:
    """Say whether a term is a word to look for and no table: `i40en`."""
    return _VALUE.fullmatch(text) is not None and text.strip() not in {
        *parsing.tables(),
        NODES.name,
        ADAPTERS.name,
    }
