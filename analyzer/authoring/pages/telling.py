"""Describes a rule in plain words, for a reader who does not read YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.artefacts.tables import Table
from analyzer.authoring.pages.listing import mute_words, threshold_words
from analyzer.case.asks import pieces
from analyzer.report.wording import duration, kb_link
from analyzer.rules import Example, Join, LogDef, Outcome, Rule, SeenDef
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.language.template import Template, show_noun
from analyzer.rules.settings import Settings

STATUS = {
    "draft": "draft: judges only with --draft",
    "test": "test: its findings carry a mark",
    "stable": "stable",
    "retired": "retired: it no longer judges",
}
SEEN_RESULTS = {
    "match": "speaks",
    "no_match": "stays silent",
    "cannot_tell": "cannot tell",
    "not_applicable": "does not apply",
    "error": "breaks",
}


class Exact(str):
    """A line that is there to be copied: it is never wrapped."""

    __slots__ = ()


def describe(rule: Rule, settings: Settings, verbose: int = 0) -> Iterator[str]:
    """Yield the lines of a description; `verbose` adds notes, evidence, the columns and the examples whole."""
    yield f"{rule.id}: {rule.title}"
    yield from _head(rule)
    if rule.about:
        yield from ("", rule.about)
    yield from _section("LOOKS AT", _looks(rule, verbose))
    yield from _section("SPEAKS", _speaks(rule))
    yield from _section("SAYS", _says(rule, verbose))
    yield from _section("NUMBERS THAT DECIDE", _thresholds(rule, settings))
    yield from _section(
        "MUTED HERE", [mute_words(mute) for mute in settings.mutes if mute.rule == rule.id]
    )
    yield from _section("FIX", _fix(rule))
    yield from _section("NOT THIS", [f"- {line}" for line in rule.not_this])
    yield from _section("WHEN IT CANNOT TELL, ASK FOR", _ask(rule))
    yield from _section("EXAMPLES", _examples(rule, verbose))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", title, *(type(line)(f"  {line}") for line in found))


def _head(rule: Rule) -> Iterator[str]:
    origin = rule.origin.label if rule.origin is not None else ""
    revised = f", revised {rule.revised}" if rule.revised else ""
    yield f"{STATUS[rule.status]}{f', replaced by {rule.replaced_by}' if rule.replaced_by else ''}{revised}; {origin}"
    if rule.proven:
        yield f"proven by {rule.proven}"
    for number in rule.kb:
        yield f"KB {number}: {kb_link(number)}"
    if rule.issues:
        yield f"known issue {', '.join(map(str, rule.issues))}"
    if rule.source:
        yield f"facts from: {'; '.join(rule.source)}{f' (read on {rule.checked})' if rule.checked else ''}"
    if rule.owner:
        yield f"owner: {rule.owner}"
    if rule.tags:
        yield f"tags: {', '.join(rule.tags)}"
    if rule.replaces:
        yield f"takes the place of {', '.join(rule.replaces)}"


def _looks(rule: Rule, verbose: int) -> Iterator[str]:
    yield f"{rule.each.name}: each {_each(rule.each.table)}"
    for join in rule.joins:
        yield _join(rule, join)
    if rule.population is not None:
        where = f" where {rule.population.where.text}" if rule.population.where is not None else ""
        yield f'a row of {rule.population.alias.table.name}{where} without its {rule.each.name} is "cannot tell"'
    for log in rule.logs.values():
        yield _log(log)
    if verbose:
        for name, columns in _used(rule).items():
            table = rule.aliases[name].table
            for column in columns:
                declared = table.column(column)
                if declared is not None and declared.meaning:
                    unit = f" ({declared.unit})" if declared.unit else ""
                    yield f"{name}.{column}: {declared.meaning}{unit}"


def _each(table: Table) -> str:
    """Return of what there is one verdict: a row, or a line of a log, or a value in such lines."""
    if table.lines_of is None:
        return f"row of {_table(table)}"
    return (
        f"{' and '.join(table.key)} in lines of {_table(table)}"
        if table.key
        else f"line of {_table(table)}"
    )


def _table(table: Table, how: str = "") -> str:
    """Return a table's name, how its rows are chosen, what it is and where it comes from."""
    source = f" From {table.source}" if table.source else ""
    return f"{table.spoken_name}{how}. {table.meaning.rstrip('.')}.{source}"


def _join(rule: Rule, join: Join) -> str:
    rows = (
        "all rows"
        if join.alias.many
        else "each row, with a verdict of its own,"
        if join.each
        else "the row"
    )
    pairs = []
    for mine, theirs in join.by:
        owner, _, column = mine.rpartition(".")
        same = column == theirs and owner == rule.each.name
        pairs.append(f"the same {theirs}" if same else f"{theirs} equal to {mine}")
    by = f" with {' and '.join(pairs)}" if pairs else ""
    given = join.alias.table.given
    nodes = ", on any node of the case" if join.any_node and given is None else ""
    nodes += f", of {len(given.rows)} rows of the catalog" if given is not None else ""
    where = f", where {join.where.text}" if join.where is not None else ""
    return f"{join.alias.name}: {rows} of {_table(join.alias.table, by + nodes + where)}"


def _log(log: LogDef) -> str:
    case = ", upper or lower case" if log.ignore_case else ""
    where = f", where {log.where.text}" if log.where is not None else ""
    return f"{log.name}: lines of {log.table.name} that match {log.pattern}{case}{where}"


def _used(rule: Rule) -> dict[str, list[str]]:
    """Return the columns that conditions and texts of a rule read, by the name of their rows."""
    found: dict[str, list[str]] = {}
    for top in [*rule.expressions(), *rule.evidence]:
        for node in top.walk():
            if (
                node.op == "column"
                and node.name in rule.aliases
                and node.column not in found.setdefault(node.name, [])
            ):
                found[node.name].append(node.column)
    return {name: found[name] for name in rule.aliases if name in found}


def _speaks(rule: Rule) -> Iterator[str]:
    for what, several in (("affected", rule.affected), ("fixed in", rule.fixed_in)):
        for product, versions in several.items():
            yield f"{what}: {product} {'; '.join(versions)}"
    if rule.only is not None:
        yield f"only for rows with {rule.only.text}; to others it does not apply"
    yield "always" if _always(rule.when) else f"when {rule.when.text}"
    for seen in rule.seen.values():
        if seen.name not in rule.logs:  # a signature's own name asks for one line or more
            yield f"  {seen.name} is {_seen(seen)}"
    for name, node in rule.lets.items():
        if name not in rule.thresholds:
            yield f"  {name} is {node.text}"
    yield f'about "{_text(rule.subject)}"'
    if rule.explained_by:
        yield f"after {', '.join(rule.explained_by)}, which may explain it"


def _always(node: ExprNode) -> bool:
    return node.op == "literal" and node.value is True


def _seen(seen: SeenDef) -> str:
    logs = " then ".join(seen.logs)
    within = f" within {duration(seen.within)}" if seen.within else ""
    if seen.silence:
        return f"no {logs} in the last {duration(seen.within)} of the log"
    if seen.lasting:
        return f"{seen.logs[0]} for longer than {duration(seen.within)} until {seen.logs[1]}"
    if seen.sequence:
        return f"{logs}{within}"
    what = (
        f"{seen.at_least} or more different {seen.distinct} in {logs}"
        if seen.distinct
        else (f"{seen.at_least} or more {logs}")
    )
    return f"{what}{within}{f', counted for each {seen.per}' if seen.per else ''}"


def _says(rule: Rule, verbose: int) -> Iterator[str]:
    if len(rule.outcomes) > 1:
        yield "the first that fits:"
    for number, outcome in enumerate(rule.outcomes, 1):
        yield f"{number}. {_outcome(outcome, rule)}"
    for grade in rule.grades:
        yield f"by degree: {grade.severity} if {grade.when.text}"
    for note in rule.notes if verbose else ():
        yield f"adds, if {note.when.text}: {_text(note.say)}"
    if verbose and rule.evidence:
        yield f"shows {', '.join(node.text for node in rule.evidence)}"
    if verbose and rule.chart:
        yield f"draws {', '.join(node.text for node in rule.chart)}"


def _outcome(outcome: Outcome, rule: Rule) -> str:
    when = (
        "otherwise"
        if _always(outcome.when) and outcome is not rule.outcomes[0]
        else f"if {outcome.when.text}"
    )
    when = "in every case" if _always(outcome.when) and outcome is rule.outcomes[0] else when
    severity = outcome.severity or "severity by degree"
    return f"{when}: {severity}, {outcome.confidence}: {_text(outcome.say) if outcome.say is not None else rule.title}"


def _text(template: Template) -> str:
    """Return a text with its values as `<name>`, without their formats."""
    return "".join(
        part if isinstance(part, str) else " ".join([f"<{part[0].text}>", *show_noun(part[1])])
        for part in template.parts
    )


def _thresholds(rule: Rule, settings: Settings) -> Iterator[str]:
    changed = dict(zip(rule.changed_thresholds, threshold_words(rule, settings), strict=True))
    for name, (value, _) in rule.thresholds.items():
        yield changed.get(name, f"{name} = {value!r}")
    yield from _compared(rule)


def _compared(rule: Rule) -> list[str]:
    """Return the comparisons of a rule that have their number in themselves, each once."""
    found: dict[str, None] = {}
    for top in rule.expressions():
        for node in top.walk():
            if node.op == "compare" and any(
                side.op == "literal" and side.type in ("int", "float") and side.value != 0
                for side in node.args
            ):
                found[node.text] = None
    return list(found)


def _fix(rule: Rule) -> Iterator[str]:
    for step in rule.fix:
        yield f"{step.where}: {_text(step.do) if step.do else ''}".rstrip()
        if step.when.op != "literal":
            unknown = f'said with "{step.unsure}"' if step.unsure else "left out"
            yield f"  only if {step.when.text}; {unknown} where that is unknown"
        if step.run:
            yield from (Exact(f"  {line}") for line in _text(step.run).splitlines())
        if step.note:
            yield f"  {_text(step.note)}"
        if step.caution:
            yield f"  Caution: {_text(step.caution)}"
    if rule.caution:
        yield f"Caution: {rule.caution}"


def _ask(rule: Rule) -> Iterator[str]:
    own = rule.ask or {
        name: table.ask for name, table in sorted(_tables(rule).items()) if table.ask
    }
    for table, words in own.items():
        if table:
            yield f"{table}:"
        for piece in pieces(words):
            said = f"{'  ' if table else ''}{piece.text}"
            yield Exact(said) if piece.command else said


def _tables(rule: Rule) -> dict[str, Table]:
    tables = [alias.table for alias in rule.aliases.values()] + [
        log.table for log in rule.logs.values()
    ]
    return {table.declared.name: table.declared for table in tables}


def _examples(rule: Rule, verbose: int) -> Iterator[str]:
    try:
        examples = rule.examples
    except BadRuleError as error:
        yield f"cannot be read: {error.message}, line {error.place.line}"
        return
    for example in examples:
        yield _example(example)
        if verbose:
            yield from (type(line)(f"  {line}") for line in _given(example))


def _example(example: Example) -> str:
    result = str(example.expect.get("result", ""))
    weight = " ".join(
        str(example.expect[key]) for key in ("severity", "confidence") if key in example.expect
    )
    gap = " (known gap: it does not yet)" if example.gap else ""
    return (
        f"{example.name}: {SEEN_RESULTS.get(result, result)}{f', {weight}' if weight else ''}{gap}"
    )


def _given(example: Example) -> Iterator[str]:
    """Yield what an example gives to the rule, a line a row."""
    for name, rows in example.tables.items():
        if rows is None:
            yield f"{name}: not in the case"
        elif not rows:
            yield f"{name}: read, and empty"
        for row in rows or ():
            yield f"{name}: {', '.join(f'{key} {value}' for key, value in row.items())}"
    for name, text in example.logs.items():
        yield f"{name}: not in the case" if text is None else f"{name}:"
        yield from (Exact(f"  {line}") for line in (text or "").splitlines())
    for file in example.files:
        shown = next(
            (f"{key} {file[key]}" for key in ("path", "command", "parser") if file.get(key)),
            "a file",
        )
        yield f"{shown}:"
        yield from (Exact(f"  {line}") for line in file.get("text", "").splitlines())
