"""The part `each` of a rule file, the tables that `ask` names, and signatures that a rule uses as tables.

`each: dev in late per device` and `join: {hit: {table: late, …}}` speak of a signature under `logs`:
its lines are the rows, its named groups and the columns of its log are the columns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace

from analyzer.artefacts.tables import ORIGIN_COLUMNS, Table
from analyzer.rules.language.expression import Alias
from analyzer.rules.language.rulefile import FileSpan, RuleItem, RuleItems, did_you_mean
from analyzer.rules.logs import LogReader
from analyzer.rules.model import HitTable, LogDef, Rule, list_hit_columns, make_hit_table

_EACH = re.compile(r"(\S+)\s+in\s+(\S+)(?:\s+per(?:\s+(.+))?)?$")
_GROUP = re.compile(r"[a-z][a-z0-9_]{0,59}$")
_HELP = "for example: port in esxi.client_stats; or, of a signature under `logs`: dev in late per device"
MANY_KEYS = 5


class TableReader(LogReader):
    """Reads `each`, and makes the tables of signatures."""

    rule_id: str
    match_items: RuleItems

    def _read_signatures(self, item: RuleItem | None) -> None:
        """Read `logs` before all else: `each` and `join` may name a signature."""
        self.hits: dict[tuple[str, tuple[str, ...]], HitTable] = {}
        self.logs = self._read_logs(item)
        bodies = item.value if item is not None and isinstance(item.value, dict) else {}
        self.match_items = {name: body.value["match"] for name, body in bodies.items()}

    def _free_names(self, item: RuleItem | None) -> None:
        """Refuse a signature that is called as a row is."""
        for name in self.logs:
            assert item is not None
            self._read_name(name, item.keys[name])

    def _read_each(self, item: RuleItem) -> Alias:
        found = _EACH.match(self._read_line(item, "each"))
        if found is None:
            raise self.text.error("each is `alias in table`", item.place, _HELP)
        name = self._read_name(found[1], self.text.within(item, 0, len(found[1])))
        start = item.text.find(found[2], item.text.find(" in ") + 1)
        place = self.text.within(item, start, start + len(found[2]))
        keys = (
            self._read_per(item, found[2], start + len(found[2]), found[3])
            if found.end(2) < found.end()
            else ()
        )
        alias = Alias(name, self._rows_of(found[2], place, keys))
        if alias.table.given is not None:
            help_text = "judge what the case holds, and join these rows"
            raise self.text.error(
                f"`{found[2][:80]}` is a table of the catalog, not of the case", place, help_text
            )
        self.scope.aliases[name] = alias
        return alias

    def _read_per(
        self, item: RuleItem, source: str, after: int, words: str | None
    ) -> tuple[str, ...]:
        """Return the columns behind `per`: of each of their values there is one subject."""
        at = item.text.index("per", after)
        if source not in self.logs:
            message = f"`per` goes with a signature under `logs`; `{source[:60]}` is not one"
            near = "the rows of a table are already distinct; leave `per` out"
            near = near if source in self.tables else did_you_mean(source, self.logs)
            raise self.text.error(message, self.text.within(item, at, at + 3), near)
        names = [word.strip() for word in (words or "").split(",")]
        if not 1 <= len(names) <= MANY_KEYS or not all(name and " " not in name for name in names):
            help_text = f"one to {MANY_KEYS} of them, separated by commas: per device, lun"
            raise self.text.error(
                "`per` needs names of columns", self.text.within(item, at, at + 3), help_text
            )
        log = self.logs[source]
        known = ["node", *(column.name for column in list_hit_columns(log.table, log.columns))]
        at += 3
        for number, name in enumerate(names):
            at = item.text.find(name, at)
            place = self.text.within(item, at, at + len(name))
            at += len(name)
            if name not in known:
                raise self.text.error(
                    f"hits of `{source}` have no `{name[:60]}`", place, did_you_mean(name, known)
                )
            if name in names[:number]:
                raise self.text.error(f"`{name}` is given twice after `per`", place)
        return tuple(names)

    def _rows_of(self, name: str, place: FileSpan, per: tuple[str, ...] = ()) -> Table:
        """Return the table of a name: one that a parser makes, or a signature's."""
        if name in self.logs:
            log = self.logs[name]
            if (log.name, per) not in self.hits:
                item = self.match_items[log.name]
                for column in log.columns:
                    help_text = ""
                    if column.name in ORIGIN_COLUMNS:
                        help_text = f"every row has a column `{column.name}` already; give the group another name"
                    elif not _GROUP.match(column.name):
                        help_text = "use a-z, 0-9 and _, a letter first"
                    if help_text:
                        at = max(0, item.text.find(f"(?P<{column.name}>"))
                        group_place = self.text.within(item, at + 4, at + 4 + len(column.name))
                        raise self.text.error(
                            f"the group `{column.name[:60]}` cannot be a column",
                            group_place,
                            help_text,
                        )
                own_name = _table_name(self.rule_id, log, per)
                table = make_hit_table(own_name, log.table, log.name, log.columns, per)
                self.hits[log.name, per] = HitTable(table, log.name, per)
            return self.hits[log.name, per].table
        if name not in self.tables:
            near = did_you_mean(name, [*self.tables, *self.logs])
            what = "" if "." in name else ", and no signature has this name"
            raise self.text.error(f"no parser makes table `{name[:80]}`{what}", place, near)
        return self._find_table(name, place)

    def _read_ask(self, item: RuleItem | None) -> dict[str, str]:
        if item is None or item.value is None:
            return {}
        if not isinstance(item.value, dict):
            return {"": self.text.string(item, "ask")}
        found = {}
        for name, child in item.value.items():
            if name not in self.tables or self.tables[name].given is not None:
                near = did_you_mean(name, self.tables)
                raise self.text.error(f"no parser makes table `{name[:80]}`", item.keys[name], near)
            found[name] = self.text.string(child, "ask")
        return found


def refit_tables(rule: Rule) -> Rule:
    """Return a rule whose tables of signatures are named after its signatures, after one of these was changed."""
    renamed: dict[str, Table] = {}
    for hit in rule.hits:
        name = _table_name(rule.id, rule.logs[hit.log], hit.per)
        renamed[hit.table.name] = replace(hit.table, name=name)
    if all(name == table.name for name, table in renamed.items()):
        return rule

    def fit(alias: Alias) -> Alias:
        return replace(alias, table=renamed.get(alias.table.name, alias.table))

    return replace(
        rule,
        each=fit(rule.each),
        joins=[replace(join, alias=fit(join.alias)) for join in rule.joins],
        hits=[replace(hit, table=renamed[hit.table.name]) for hit in rule.hits],
    )


def _table_name(rule: str, log: LogDef, per: Iterable[str]) -> str:
    """Return a name that no other table has, with a few letters for what the signature finds.

    Facts may outlive an edit of the rule, or be judged by the same rule with a number moved.
    """
    where = (
        [(node.op, node.text, node.value) for node in log.where.walk()]
        if log.where is not None
        else []
    )
    kinds = [(column.name, column.kind) for column in log.columns]
    identity = repr((log.pattern, log.ignore_case, kinds, where, tuple(per), *log.otherwise))
    mark = hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{log.table.name}/{rule}/{log.name}#{mark}"
