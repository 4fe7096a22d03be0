"""The parts `logs` and `seen` of a rule file: signatures, and the questions to their hits."""

from __future__ import annotations

import re

from analyzer.artefacts.tables import Column, Kind
from analyzer.rules.cited_sources import SourceReader
from analyzer.rules.language.checker import check_expression
from analyzer.rules.language.expression import Alias, NameScope
from analyzer.rules.language.rulefile import FileSpan, RuleItem, did_you_mean
from analyzer.rules.model import LogDef, LogForm, SeenDef
from analyzer.runtime.text import span_in_words
from analyzer.scan.also import join_forms
from analyzer.scan.masked import admit_masks
from analyzer.scan.patterns import find_ambiguity, find_fatal

LOG_KEYS = ("in", "match", "also", "ignore_case", "columns", "otherwise", "where", "keep", "nodes")
ALSO_KEYS = ("match", "source")  # of a further form of the same sign
GROUP_KINDS: tuple[Kind, ...] = (
    "int",
    "float",
    "str",
    "version",
    "time",
)  # what a named group may be read as
NUMBERS = ("int", "float", "version", "time")  # kinds whose text has to be read
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


class LogReader(SourceReader):
    """Reads signatures and `seen` names into the scope of a rule."""

    def _read_logs(self, item: RuleItem | None) -> dict[str, LogDef]:
        logs: dict[str, LogDef] = {}
        for name, place, body in self.text.list_entries(item, "logs"):
            logs[name] = self._read_log(self._read_name(name, place), body)
        return logs

    def _read_log(self, name: str, item: RuleItem) -> LogDef:
        keys = self._read_mapping(item, LOG_KEYS, f"log `{name}`", ("in", "match"))
        table = self._find_table(self._read_line(keys["in"], "in"), keys["in"].place, log=True)
        pattern = keys["match"].text
        fold = self._read_yes(keys.get("ignore_case"), "ignore_case")
        groups = self._read_groups(keys["match"], pattern, fold)
        forms = self._read_forms(keys.get("also"), groups, fold)
        pattern = join_forms([pattern, *(form.pattern for form in forms)])
        if len(pattern.encode()) > self.limits.pattern_bytes:
            message = f"all forms together are longer than {self.limits.pattern_bytes} bytes"
            raise self.text.error(message, keys["match"].place, "make a second signature of them")
        taken = {column.name: column.name for column in table.columns}
        for group in groups:  # the database cannot tell names apart that differ only in case
            other = taken.setdefault(group.lower(), group)
            if other != group:
                message = f"`{group}` and `{other}` differ only in case"
                raise self.text.error(message, keys["match"].place, "give the group another name")
        own_groups = tuple(group for group in groups if table.column(group) is None)
        alias = Alias(name, table, groups=own_groups)
        where = None
        if "where" in keys:
            scope = NameScope({name: alias}, bare=alias)
            where = check_expression(keys["where"], self.text, scope, want="bool")
        keep = self._read_count(keys["keep"], "keep", 50) if "keep" in keys else 3
        nodes = self._read_choice(keys.get("nodes"), ("same", "any"), "nodes", "same")
        kinds: dict[str, Kind] = {column.name: column.kind for column in table.columns}
        listed = keys.get("columns")
        if listed is not None and listed.value is not None:
            parts = self.text.mapping(listed, listed.value, f"columns of `{name}`")
            for group, child in parts.items():
                if group not in groups:
                    near = did_you_mean(group, groups) or "name a group of `match`: (?P<name>…)"
                    message = f"hits of `{name}` have no `{group[:60]}`"
                    raise self.text.error(message, listed.keys[group], near)
                word = self._read_choice(child, GROUP_KINDS, "kind of column", "str")
                kinds[group] = next(kind for kind in GROUP_KINDS if kind == word)
        columns = tuple(
            Column(group, kinds.get(group, "str"), f"`{group}` of a line of `{name}`")
            for group in groups
        )
        # What a group is where the line has none: words for a line that speaks of the whole machine.
        otherwise: tuple[tuple[str, str], ...] = ()
        given = keys.get("otherwise")
        if given is not None and given.value is not None:
            texts = [one.name for one in columns if one.kind == "str" and one.name in own_groups]
            words = self.text.mapping(given, texts, f"otherwise of `{name}`")
            otherwise = tuple(
                (group, self._read_line(child, "otherwise")) for group, child in words.items()
            )
        numbers = frozenset(group for group in groups if kinds.get(group, "str") in NUMBERS)
        return LogDef(
            name,
            table,
            admit_masks(pattern, numbers),
            fold,
            alias,
            where,
            keep,
            nodes == "any",
            columns,
            otherwise,
            main=keys["match"].text,
            also=tuple(forms),
        )

    def _read_forms(
        self, item: RuleItem | None, groups: tuple[str, ...], fold: bool
    ) -> list[LogForm]:
        """Return the further forms of a sign; each names the objects by groups of the first one, and its source."""
        forms: list[LogForm] = []
        if item is None or item.value is None:
            return forms
        for child in self._read_list(item, "also"):
            keys = self._read_mapping(child, ALSO_KEYS, "a form of `also`", ALSO_KEYS)
            pattern = keys["match"]
            own = self._read_groups(pattern, pattern.text, fold)
            for group in own:
                if group not in groups:
                    near = did_you_mean(group, groups) or "leave it out, or put it into `match`"
                    message = f"`match` of the signature has no group `{group[:60]}`"
                    raise self.text.error(message, pattern.place, near)
            if re.search(r"\\[1-9]", pattern.text):
                advice = "name the group: (?P=name)"
                raise self.text.error("a form cannot count its groups", pattern.place, advice)
            forms.append(LogForm(pattern.text, self._read_line(keys["source"], "source")))
        return forms

    def _read_groups(self, item: RuleItem, pattern: str, fold: bool) -> tuple[str, ...]:
        if not isinstance(item.value, str) or not pattern:
            raise self.text.error(
                "match is a regular expression", item.place, "put it in single quotes"
            )
        if len(pattern.encode()) > self.limits.pattern_bytes:
            raise self.text.error(
                f"a pattern longer than {self.limits.pattern_bytes} bytes", item.place
            )
        flags = re.IGNORECASE if fold else 0
        if self.text.is_checked:
            return tuple(re.compile(pattern, flags).groupindex)
        try:
            # What Python only warns of is refused, because it will mean something else.
            if warning := find_ambiguity(pattern, flags):
                advice = "escape it with a backslash"
                raise self.text.error(f"not clear to `re`: {warning}", item.place, advice)
            compiled = re.compile(pattern, flags)
        except (re.error, OverflowError, RecursionError, MemoryError) as error:
            at = getattr(error, "pos", None) or 0
            place = self.text.within(item, at, at + 1)
            raise self.text.error(f"not a regular expression: {error}", place) from None
        if danger := find_fatal(pattern, fold):
            place = self.text.within(item, danger.start, danger.end)
            raise self.text.error(f"this pattern can run away: {danger.why}", place, danger.instead)
        if compiled.search(""):
            raise self.text.error("the pattern matches every line", item.place)
        return tuple(compiled.groupindex)

    def _read_seen(self, item: RuleItem | None, logs: dict[str, LogDef]) -> dict[str, SeenDef]:
        seen: dict[str, SeenDef] = {}
        for name, place, body in self.text.list_entries(item, "seen"):
            question = self._one_seen(self._read_name(name, place), body, logs)
            asked: dict[str, int | str] = {}
            if not (question.in_order or question.silence):
                asked["at_least"] = question.at_least
            if question.within and not question.lasting:
                asked["within"] = span_in_words(question.within)
            seen[name] = question
            self.scope.seen[name] = asked
        for name in logs:  # a signature itself is a name: seen at least once
            if name not in seen:
                seen[self._read_name(name, FileSpan())] = SeenDef(name, (name,))
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
                self._find_signature(child, logs)
                for child in self._read_list(keys["sequence"], "sequence")
            ]
            if not 2 <= len(names) <= 10:
                raise self.text.error("a sequence has 2 to 10 signatures", keys["sequence"].place)
        else:
            names = [self._find_signature(keys[kind], logs)]
        ends = "until" in keys or "longer_than" in keys
        if ends:
            for key in ("log", "until", "longer_than"):
                if key not in keys:
                    advice = "write {log: …, until: …, longer_than: 60s}"
                    raise self.text.error(f"seen `{name}` has no `{key}`", item.place, advice)
            names.append(self._find_signature(keys["until"], logs))
        counts = ("until", "longer_than") if ends else ("at_least", "within", "per", "distinct")
        allowed = {"log": counts, "sequence": ("within", "per"), "none": ("for",)}
        for key in keys:
            if key != kind and key not in allowed[kind]:
                raise self.text.error(f"`{key}` does not go with `{kind}`", item.keys[key])
        least = 1
        if "at_least" in keys:
            least = self._read_count(keys["at_least"], "at_least", 1_000_000)
        span = keys.get("for") or keys.get("within") or keys.get("longer_than")
        return SeenDef(
            name,
            tuple(names),
            at_least=least,
            within=self._read_seconds(span, "the span") if span else 0.0,
            per=self._hit_column(keys.get("per"), names, logs),
            distinct=self._hit_column(keys.get("distinct"), names, logs),
            sequence=kind == "sequence",
            silence=kind == "none",
            lasting=ends,
        )

    def _find_signature(self, item: RuleItem, logs: dict[str, LogDef]) -> str:
        name = self._read_line(item, "a signature")
        if name not in logs:
            raise self.text.error(
                f"no signature `{name[:60]}` under logs", item.place, did_you_mean(name, logs)
            )
        return name

    def _hit_column(self, item: RuleItem | None, names: list[str], logs: dict[str, LogDef]) -> str:
        if item is None:
            return ""
        column = self._read_line(item, "a column")
        for name in names:
            alias = logs[name].alias
            if alias.column(column) is None and column not in alias.groups:
                near = did_you_mean(column, alias.columns())
                raise self.text.error(f"hits of `{name}` have no `{column[:60]}`", item.place, near)
        return column
