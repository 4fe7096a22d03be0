"""The parts `logs` and `seen` of a rule file: signatures, and the questions to their hits."""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Column, Kind, Table
from analyzer.rules.language.checker import check
from analyzer.rules.language.expression import Alias, NameScope
from analyzer.rules.language.rulefile import FileSpan, RuleItem, did_you_mean
from analyzer.rules.model import LogDef, SeenDef
from analyzer.rules.values import Values
from analyzer.runtime.text import span_in_words
from analyzer.scan.patterns import find_ambiguity, find_fatal

LOG_KEYS = ("in", "match", "ignore_case", "columns", "otherwise", "where", "keep", "nodes")
GROUP_KINDS: tuple[Kind, ...] = (
    "int",
    "float",
    "str",
    "version",
    "time",
)  # what a named group may be read as
SEEN_KEYS = (
    "log",
    "sequence",
    "none",
    "at_least",
    "distinct",
    "per",
    "within",
    "for",
    "until",
    "longer_than",
)


class LogReader(Values):
    """Reads signatures and `seen` names into the scope of a rule."""

    def _logs(self, item: RuleItem | None) -> dict[str, LogDef]:
        logs: dict[str, LogDef] = {}
        if item is None or item.value is None:
            return logs
        if not isinstance(item.value, dict):
            raise self.text.error(f"logs must be a mapping, not {item.what}", item.place)
        for name, body in item.value.items():
            logs[name] = self._log(self._name(name, item.keys[name]), body)
        return logs

    def _log(self, name: str, item: RuleItem) -> LogDef:
        keys = self.text.mapping(item, LOG_KEYS, f"log `{name}`")
        for key in ("in", "match"):
            if key not in keys:
                raise self.text.error(f"log `{name}` has no `{key}`", item.place)
        table = self._table(self._line(keys["in"], "in"), keys["in"].place, log=True)
        pattern = keys["match"].text
        fold = self._flag(keys.get("ignore_case"), "ignore_case")
        groups = self._groups(keys["match"], pattern, fold)
        self._check_case(keys["match"], groups, table)
        alias = Alias(
            name, table, groups=tuple(group for group in groups if table.column(group) is None)
        )
        where = None
        if "where" in keys:
            where = check(
                keys["where"], self.text, NameScope({name: alias}, bare=alias), want="bool"
            )
        keep = self._count(keys["keep"], "keep", 50) if "keep" in keys else 3
        nodes = self._choice(keys.get("nodes"), ("same", "any"), "nodes", "same")
        columns = self._group_columns(keys.get("columns"), name, groups, table)
        otherwise = self._otherwise(keys.get("otherwise"), name, columns, table)
        return LogDef(
            name, table, pattern, fold, alias, where, keep, nodes == "any", columns, otherwise
        )

    def _otherwise(
        self, item: RuleItem | None, name: str, columns: tuple[Column, ...], table: Table
    ) -> tuple[tuple[str, str], ...]:
        """Return what a named group is where the line has none: words for a line that speaks of the whole machine."""
        if item is None or item.value is None:
            return ()
        groups = [
            column.name
            for column in columns
            if column.kind == "str" and table.column(column.name) is None
        ]
        words = self.text.mapping(item, groups, f"otherwise of `{name}`")
        return tuple((group, self._line(child, "otherwise")) for group, child in words.items())

    def _group_columns(
        self, item: RuleItem | None, name: str, groups: tuple[str, ...], table: Table
    ) -> tuple[Column, ...]:
        """Return the named groups as columns; one that `columns` does not name is as in the log, or text."""
        kinds: dict[str, Kind] = {}
        if item is not None and item.value is not None:
            for group, child in self.text.mapping(item, item.value, f"columns of `{name}`").items():
                if group not in groups:
                    near = did_you_mean(group, groups) or "name a group of `match`: (?P<name>…)"
                    raise self.text.error(
                        f"hits of `{name}` have no `{group[:60]}`", item.keys[group], near
                    )
                word = self._choice(child, GROUP_KINDS, "kind of column", "str")
                kinds[group] = next(kind for kind in GROUP_KINDS if kind == word)
        own = {column.name: column.kind for column in table.columns}
        found = [(group, kinds.get(group) or own.get(group) or "str") for group in groups]
        return tuple(
            Column(group, kind, f"`{group}` of a line of `{name}`") for group, kind in found
        )

    def _groups(self, item: RuleItem, pattern: str, fold: bool) -> tuple[str, ...]:
        if not isinstance(item.value, str) or not pattern:
            raise self.text.error(
                "match is a regular expression", item.place, "put it in single quotes"
            )
        if len(pattern.encode()) > self.limits.pattern_bytes:
            raise self.text.error(
                f"a pattern longer than {self.limits.pattern_bytes} bytes", item.place
            )
        compiled = self._compiled(item, pattern, re.IGNORECASE if fold else 0)
        if danger := find_fatal(pattern, fold):
            place = self.text.within(item, danger.start, danger.end)
            raise self.text.error(f"this pattern can run away: {danger.why}", place, danger.instead)
        if compiled.search(""):
            raise self.text.error("the pattern matches every line", item.place)
        return tuple(compiled.groupindex)

    def _check_case(self, item: RuleItem, groups: tuple[str, ...], table: Table) -> None:
        """Refuse groups that the database cannot tell from another group or column."""
        taken = {column.name: column.name for column in table.columns}
        for group in groups:
            other = taken.setdefault(group.lower(), group)
            if other != group:
                message = f"`{group}` and `{other}` differ only in case"
                raise self.text.error(message, item.place, "give the group another name")

    def _compiled(self, item: RuleItem, pattern: str, flags: int) -> re.Pattern[str]:
        """Return the pattern compiled; what Python only warns of is refused, because it will mean something else."""
        try:
            if warning := find_ambiguity(pattern, flags):
                raise self.text.error(
                    f"not clear to `re`: {warning}", item.place, "escape it with a backslash"
                )
            return re.compile(pattern, flags)
        except (re.error, OverflowError, RecursionError, MemoryError) as error:
            at = getattr(error, "pos", None) or 0
            place = self.text.within(item, at, at + 1)
            raise self.text.error(f"not a regular expression: {error}", place) from None

    def _seen(self, item: RuleItem | None, logs: dict[str, LogDef]) -> dict[str, SeenDef]:
        seen: dict[str, SeenDef] = {}
        if item is not None and item.value is not None:
            if not isinstance(item.value, dict):
                raise self.text.error(f"seen must be a mapping, not {item.what}", item.place)
            for name, body in item.value.items():
                seen[name] = self._one_seen(self._name(name, item.keys[name]), body, logs)
                asked_seen = seen[name]
                asked: dict[str, int | str] = {}
                if not (asked_seen.ordered or asked_seen.silence):
                    asked["at_least"] = asked_seen.at_least
                if asked_seen.within and not asked_seen.lasting:
                    asked["within"] = span_in_words(asked_seen.within)
                self.scope.seen[name] = asked
        for name in logs:  # a signature itself is a name: seen at least once
            if name not in seen:
                seen[self._name(name, FileSpan())] = SeenDef(name, (name,))
                self.scope.seen[name] = {}
        return seen

    def _one_seen(self, name: str, item: RuleItem, logs: dict[str, LogDef]) -> SeenDef:
        keys = self.text.mapping(item, SEEN_KEYS, f"seen `{name}`")
        kinds = [key for key in ("log", "sequence", "none") if key in keys]
        if len(kinds) != 1:
            raise self.text.error(f"seen `{name}` needs one of log, sequence, none", item.place)
        kind = kinds[0]
        if kind == "sequence":
            names = [
                self._signature(child, logs) for child in self._list(keys["sequence"], "sequence")
            ]
            if not 2 <= len(names) <= 10:
                raise self.text.error("a sequence has 2 to 10 signatures", keys["sequence"].place)
        else:
            names = [self._signature(keys[kind], logs)]
        ends = "until" in keys or "longer_than" in keys
        if ends:
            names.append(self._end(name, keys, logs, item))
        counts = ("until", "longer_than") if ends else ("at_least", "within", "per", "distinct")
        allowed = {"log": counts, "sequence": ("within", "per"), "none": ("for",)}
        for key in keys:
            if key != kind and key not in allowed[kind]:
                raise self.text.error(f"`{key}` does not go with `{kind}`", item.keys[key])
        span = keys.get("for") or keys.get("within") or keys.get("longer_than")
        return SeenDef(
            name,
            tuple(names),
            at_least=self._count(keys["at_least"], "at_least", 1_000_000)
            if "at_least" in keys
            else 1,
            within=self._seconds(span, "the span") if span else 0.0,
            per=self._hit_column(keys.get("per"), names, logs),
            distinct=self._hit_column(keys.get("distinct"), names, logs),
            sequence=kind == "sequence",
            silence=kind == "none",
            lasting=ends,
        )

    def _end(
        self, name: str, keys: dict[str, RuleItem], logs: dict[str, LogDef], item: RuleItem
    ) -> str:
        """Return the signature that ends what another begins."""
        for key in ("log", "until", "longer_than"):
            if key not in keys:
                help_text = "write {log: …, until: …, longer_than: 60s}"
                raise self.text.error(f"seen `{name}` has no `{key}`", item.place, help_text)
        return self._signature(keys["until"], logs)

    def _signature(self, item: RuleItem, logs: dict[str, LogDef]) -> str:
        name = self._line(item, "a signature")
        if name not in logs:
            raise self.text.error(
                f"no signature `{name[:60]}` under logs", item.place, did_you_mean(name, logs)
            )
        return name

    def _hit_column(self, item: RuleItem | None, names: list[str], logs: dict[str, LogDef]) -> str:
        if item is None:
            return ""
        column = self._line(item, "a column")
        for name in names:
            alias = logs[name].alias
            if alias.column(column) is None and column not in alias.groups:
                near = did_you_mean(column, alias.columns())
                raise self.text.error(f"hits of `{name}` have no `{column[:60]}`", item.place, near)
        return column
