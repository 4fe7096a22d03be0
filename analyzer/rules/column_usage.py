"""Which columns a rule reads, so that no more are fetched and logs are parsed only where needed."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.artefacts.tables import ORIGIN_COLUMNS
from analyzer.facts.database import KEY
from analyzer.rules.language.expression import AGGREGATES, ExprNode
from analyzer.rules.model import Rule, RuleNeeds
from analyzer.rules.own import find_scopes


def columns_of(rule: Rule) -> dict[str, set[str]]:
    """Return the columns that a rule needs of each of its aliases, next to those by which joins find their rows."""
    columns: dict[str, set[str]] = {alias: set() for alias in rule.aliases}
    wheres = [join.where for join in rule.joins if join.where is not None]
    for node in [*rule.expressions(), *shown_of(rule), *wheres]:
        for leaf in node.walk():
            if leaf.op == "column" and leaf.name in columns:
                columns[leaf.name].add(leaf.column)
                if leaf.type == "version":
                    columns[leaf.name].add(leaf.column + KEY)
    for join in rule.joins:
        for mine, _ in join.by:
            owner, _, column = mine.rpartition(".")
            columns[owner].add(column)
    for scope in find_scopes(rule).values():
        for key in scope.keys:
            owner, _, column = key.mine.rpartition(".")
            columns[owner].add(column)
    if rule.population is not None:
        columns[rule.each.name] |= {mine for mine, _ in rule.population.by}
    return columns


def needs_of(rule: Rule) -> RuleNeeds:
    """Return what is asked of a rule before a case is read; worked out once."""
    if rule.at_once is None:
        found: dict[str, set[str]] = {}
        for name, columns in columns_of(rule).items():
            table = rule.aliases[name].table
            if table.given is not None:
                continue
            found.setdefault(table.name, set()).update(
                table.key, (column.removesuffix(KEY) for column in columns)
            )
        for join in (one for one in rule.joins if one.alias.table.given is None):
            found[join.alias.table.name] |= {theirs for _, theirs in join.by}
        if rule.population is not None:
            listed = found[rule.population.alias.table.name]
            listed |= {
                *rule.each.table.key,
                *(name for pair in rule.population.by for name in pair),
            }
            where = rule.population.where.walk() if rule.population.where is not None else ()
            listed |= {leaf.column for leaf in where if leaf.op == "column"}
        whole = rule.each.table.name if rule.each.table.key else ""
        stored_columns: dict[str, tuple[str, ...] | None] = {}
        for name in sorted(found):
            stored_columns[name] = None if name == whole else tuple(sorted(found[name]))
        nodes = [*rule.expressions(), *shown_of(rule)] if rule.seen else []
        used = {leaf.name for node in nodes for leaf in node.walk() if leaf.op.startswith("seen")}
        asked_of_logs = tuple(name for name in rule.seen if name in used)
        rule.at_once = RuleNeeds(
            tables=tuple(sorted(rule.tables())),
            signatures=tuple(
                (log.name, log.table.name, log.pattern, log.ignore_case)
                for log in rule.logs.values()
            ),
            columns=stored_columns,
            listed=rule.population.alias.table.name if rule.population else "",
            asked=asked_of_logs,
            asks_logs=bool(rule.seen),
            reads_lines=bool(rule.hits),
            lacks=_find_lack(rule),
            unasked=rule.unasked,
        )
    return rule.at_once


def _find_lack(rule: Rule) -> str:
    """Return what a rule lacks before all else while none of its tables is there, see RuleNeeds.lacks."""
    log = rule.each.table.lines_of
    gates = [node for node in (rule.only, rule.when) if node is not None]
    if log is None or any(
        join.alias.table.given is not None and not join.by for join in rule.joins
    ):
        return ""
    if not all(_is_unknown(node) for node in gates):
        return ""
    first = next(
        leaf for leaf in gates[0].walk() if leaf.op in ("column", "row", "seen", "seen_field")
    )
    if first.op in ("column", "row"):
        asked = rule.aliases[first.name].table
        return "rows" if asked.lines_of == log or asked.given is not None else ""
    return "log" if rule.logs[rule.seen[first.name].logs[0]].table.name == log.name else ""


def _is_unknown(node: ExprNode) -> bool:
    """Say whether an expression surely has no value while no row and no log is there."""
    if node.op in ("seen", "seen_field"):
        return True
    if node.op == "column":
        return node.column not in ORIGIN_COLUMNS
    if node.op in ("and", "or", "let"):
        return all(_is_unknown(child) for child in node.args)
    if node.op in AGGREGATES or node.op == "known":
        return all(
            leaf.op == "row" or _is_unknown(leaf)
            for leaf in node.walk()
            if leaf.op in ("column", "row")
        )
    return node.op in ("not", "compare") and any(_is_unknown(child) for child in node.args)


def sample_columns(rules: Iterable[Rule]) -> dict[str, set[str] | None]:
    """Return the columns of tables that some rules look at, None for a table that is needed whole.

    No rule looks at a table that is not named.
    """
    found: dict[str, set[str] | None] = {}
    for rule in rules:
        for table, columns in needs_of(rule).columns.items():
            others = found.setdefault(table, set())
            found[table] = None if others is None or columns is None else others | set(columns)
    return found


def shown_of(rule: Rule) -> Iterable[ExprNode]:
    """Yield what a finding prints besides the conditions."""
    templates = [
        rule.subject,
        rule.object,
        *rule.rests_on,
        *(outcome.say for outcome in rule.outcomes),
    ]
    templates += [
        rule.population.subject if rule.population else None,
        *(note.say for note in rule.notes),
    ]
    templates += [text for step in rule.fix for text in step.templates]
    for template in templates:
        if template is not None:
            yield from template.nodes()
    yield from rule.evidence
    yield from rule.chart


def line_columns(rule: Rule, log: str) -> set[str]:
    """Return the columns that a rule reads of the lines of a signature: by questions under `seen`, and as a table."""
    asked = [seen for seen in rule.seen.values() if log in seen.logs]
    found = {name for seen in asked for name in (seen.per, seen.distinct)}
    own = find_scopes(rule)
    found |= {column for seen in asked if seen.name in own for _, column in own[seen.name].of(log)}
    for hit in rule.hits:
        if hit.log == log:
            aliases = rule.aliases.items()
            rows = {name for name, alias in aliases if alias.table.name == hit.table.name}
            found.update(hit.per)
            for name, columns in columns_of(rule).items():
                if name in rows:
                    found |= columns
            for join in rule.joins:
                if join.alias.name in rows:
                    found.update(theirs for _, theirs in join.by)
    return found - {""}
