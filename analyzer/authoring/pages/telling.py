"""Describes a rule in plain words, for a reader who does not read YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from analyzer.artefacts.tables import Table
from analyzer.authoring.pages.listing import mute_words, threshold_words
from analyzer.case.asks import split_ask
from analyzer.report.wording import format_duration, link_article
from analyzer.rules import Example, Join, LogDef, Outcome, Rule, SeenDef
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.language.template import Template, show_noun
from analyzer.rules.model import SAME_LINE
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


def describe_rule(rule: Rule, settings: Settings, verbose: int = 0) -> Iterator[str]:
    """Yield the lines of a description; `verbose` adds notes, evidence, the columns and the examples whole."""
    yield f"{rule.id}: {rule.title}"
    status = STATUS[rule.status]
    if rule.replaced_by:
        status += f", replaced by {rule.replaced_by}"
    if rule.revised:
        status += f", revised {rule.revised}"
    origin = rule.origin.label if rule.origin is not None else ""
    yield f"{status}; {origin}"
    if rule.proven:
        yield f"proven by {rule.proven}"
    for number in rule.kb:
        yield f"KB {number}: {link_article(number)}"
    if rule.issues:
        yield f"known issue {', '.join(map(str, rule.issues))}"
    yield from describe_sources(rule)
    if rule.owner:
        yield f"owner: {rule.owner}"
    if rule.tags:
        yield f"tags: {', '.join(rule.tags)}"
    if rule.replaces:
        yield f"takes the place of {', '.join(rule.replaces)}"
    if rule.about:
        yield from ("", rule.about)
    yield from _write_section("LOOKS AT", describe_looks(rule, verbose))
    yield from _write_section("SPEAKS", describe_condition(rule))
    yield from _write_section("SAYS", describe_answers(rule, verbose))
    yield from _write_section("NUMBERS THAT DECIDE", describe_thresholds(rule, settings))
    yield from _write_section(
        "MUTED HERE", [mute_words(mute) for mute in settings.mutes if mute.rule == rule.id]
    )
    yield from _write_section("FIX", describe_fix(rule))
    yield from _write_section("NOT THIS", [f"- {line}" for line in rule.not_this])
    yield from _write_section("WHEN IT CANNOT TELL, ASK FOR", describe_asks(rule))
    yield from _write_section("EXAMPLES", describe_examples(rule, verbose))


def describe_sources(rule: Rule) -> Iterator[str]:
    """Yield where the facts of a rule come from, and the addresses of articles that its head does not have."""
    if not rule.source:
        return
    checked = f" (read on {rule.checked})" if rule.checked else ""
    sources = "; ".join(source.describe_source() for source in rule.source)
    yield f"facts from: {sources}{checked}"
    cited = dict.fromkeys(number for source in rule.source for number in source.articles)
    for number in cited:
        if number not in rule.kb:
            yield f"KB {number}: {link_article(number)}"


def _write_section(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield a section with its lines indented; nothing without lines."""
    found = list(lines)
    if found:
        yield from ("", title, *(type(line)(f"  {line}") for line in found))


def describe_looks(rule: Rule, verbose: int) -> Iterator[str]:
    """Yield which rows and lines a rule looks at."""
    yield f"{rule.each.name}: each {describe_table(rule.each.table)}"
    for join in rule.joins:
        yield describe_join(rule, join)
    if rule.population is not None:
        condition = rule.population.where
        where = ""
        if condition is not None:
            where = f" where {condition.text}"
        yield f'a row of {rule.population.alias.table.name}{where} without its {rule.each.name} is "cannot tell"'
    for log in rule.logs.values():
        yield describe_log(log)
    if verbose:
        for name, columns in list_columns(rule).items():
            table = rule.aliases[name].table
            for column in columns:
                declared = table.column(column)
                if declared is not None and declared.meaning:
                    unit = ""
                    if declared.unit:
                        unit = f" ({declared.unit})"
                    yield f"{name}.{column}: {declared.meaning}{unit}"


def describe_table(table: Table) -> str:
    """Return of what there is one verdict: a row, or a line of a log, or a value in such lines."""
    if table.lines_of is None:
        return f"row of {_name_table(table)}"
    if table.key:
        return f"{' and '.join(table.key)} in lines of {_name_table(table)}"
    return f"line of {_name_table(table)}"


def _name_table(table: Table, how: str = "") -> str:
    """Return a table's name, how its rows are chosen, what it is and where it comes from."""
    if table.source:
        source = f" From {table.source}"
    else:
        source = ""
    return f"{table.spoken_name}{how}. {table.meaning.rstrip('.')}.{source}"


def describe_join(rule: Rule, join: Join) -> str:
    """Return which rows a join brings."""
    if join.alias.many:
        rows = "all rows"
    else:
        rows = "the row"
        if join.each:
            rows = "each row, with a verdict of its own,"
    pairs = []
    for mine, theirs in join.by:
        owner, _, column = mine.rpartition(".")
        same = column == theirs and owner == rule.each.name
        if same:
            pairs.append(f"the same {theirs}")
        else:
            pairs.append(f"{theirs} equal to {mine}")
    how = ""
    if pairs:
        how = f" with {' and '.join(pairs)}"
    given = join.alias.table.given
    if given is not None:
        how += f", of {len(given.rows)} rows of the catalog"
    elif join.any_node:
        how += ", on any node of the case"
    if join.where is not None:
        how += f", where {join.where.text}"
    return f"{join.alias.name}: {rows} of {_name_table(join.alias.table, how)}"


def describe_log(log: LogDef) -> str:
    """Return which lines a signature finds."""
    case = ""
    if log.ignore_case:
        case = ", upper or lower case"
    where = ""
    if log.where is not None:
        where = f", where {log.where.text}"
    forms = " or ".join(log.list_forms())
    return f"{log.name}: lines of {log.table.name} that match {forms}{case}{where}"


def list_columns(rule: Rule) -> dict[str, list[str]]:
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


def describe_condition(rule: Rule) -> Iterator[str]:
    """Yield when a rule speaks."""
    for what, several in (("affected", rule.affected), ("fixed in", rule.fixed_in)):
        for product, versions in several.items():
            yield f"{what}: {product} {'; '.join(versions)}"
    if rule.only is not None:
        yield f"only for rows with {rule.only.text}; to others it does not apply"
    if _is_always(rule.when):
        yield "always"
    else:
        yield f"when {rule.when.text}"
    for seen in rule.seen.values():
        if seen.name not in rule.logs:  # a signature's own name asks for one line or more
            yield f"  {seen.name} is {describe_question(seen)}"
    for name, node in rule.lets.items():
        if name not in rule.thresholds:
            yield f"  {name} is {node.text}"
    yield f'about "{_write_text(rule.subject)}"'
    if rule.explained_by:
        causes = [describe_cause(name) for name in rule.explained_by]
        yield f"after {', '.join(causes)}, which may explain it"


def describe_cause(name: str) -> str:
    """Return how a rule named by `explained_by` is called in a sentence."""
    return "whatever rests on the same lines" if name == SAME_LINE else name


def _is_always(node: ExprNode) -> bool:
    return node.op == "literal" and node.value is True


def describe_question(seen: SeenDef) -> str:
    """Return what a question to the hits of signatures asks."""
    logs = " then ".join(seen.logs)
    within = ""
    if seen.within:
        within = f" within {format_duration(seen.within)}"
    if seen.silence:
        return f"no {logs} in the last {format_duration(seen.within)} of the log"
    if seen.lasting:
        begin, end = seen.logs
        return f"{begin} for longer than {format_duration(seen.within)} until {end}"
    if seen.sequence:
        return f"{logs}{within}"
    what = f"{seen.at_least} or more {logs}"
    if seen.distinct:
        what = f"{seen.at_least} or more different {seen.distinct} in {logs}"
    each = ""
    if seen.per:
        each = f", counted for each {seen.per}"
    return f"{what}{within}{each}"


def describe_answers(rule: Rule, verbose: int) -> Iterator[str]:
    """Yield the answers of a rule; `verbose` adds notes, evidence and charts."""
    if len(rule.outcomes) > 1:
        yield "the first that fits:"
    for number, outcome in enumerate(rule.outcomes, 1):
        yield f"{number}. {describe_outcome(outcome, rule)}"
    for grade in rule.grades:
        yield f"by degree: {grade.severity} if {grade.when.text}"
    for note in rule.notes if verbose else ():
        yield f"adds, if {note.when.text}: {_write_text(note.say)}"
    if verbose and rule.evidence:
        yield f"shows {', '.join(node.text for node in rule.evidence)}"
    if verbose and rule.chart:
        yield f"draws {', '.join(node.text for node in rule.chart)}"


def describe_outcome(outcome: Outcome, rule: Rule) -> str:
    """Return one answer with its condition."""
    when = f"if {outcome.when.text}"
    if _is_always(outcome.when):
        when = "otherwise"
        if outcome is rule.outcomes[0]:
            when = "in every case"
    severity = outcome.severity or "severity by degree"
    if outcome.say is not None:
        text = _write_text(outcome.say)
    else:
        text = rule.title
    return f"{when}: {severity}, {outcome.confidence}: {text}"


def _write_text(template: Template) -> str:
    """Return a text with its values as `<name>`, without their formats."""
    text = ""
    for part in template.parts:
        if isinstance(part, str):
            text += part
        else:
            text += " ".join([f"<{part[0].text}>", *show_noun(part[1])])
    return text


def describe_thresholds(rule: Rule, settings: Settings) -> Iterator[str]:
    """Yield the numbers that decide, as the settings of this desk have them."""
    changed = dict(zip(rule.changed_thresholds, threshold_words(rule, settings), strict=True))
    for name, (value, _) in rule.thresholds.items():
        yield changed.get(name, f"{name} = {value!r}")
    # The comparisons of a rule that have their number in themselves, each once.
    found: dict[str, None] = {}
    for top in rule.expressions():
        for node in top.walk():
            sides = []
            for side in node.args:
                if side.op == "literal" and side.value != 0:
                    sides.append(side)
            if node.op == "compare" and any(side.type in ("int", "float") for side in sides):
                found[node.text] = None
    yield from found


def describe_fix(rule: Rule) -> Iterator[str]:
    """Yield the steps of the remedy."""
    for step in rule.fix:
        action = _write_text(step.do) if step.do else ""
        yield f"{step.where}: {action}".rstrip()
        if step.when.op != "literal":
            unknown = "left out"
            if step.unsure:
                unknown = f'said with "{step.unsure}"'
            yield f"  only if {step.when.text}; {unknown} where that is unknown"
        if step.run:
            for line in _write_text(step.run).splitlines():
                yield (Exact(f"  {line}"))
        if step.note:
            yield f"  {_write_text(step.note)}"
        if step.caution:
            yield f"  Caution: {_write_text(step.caution)}"
    if rule.caution:
        yield f"Caution: {rule.caution}"


def describe_asks(rule: Rule) -> Iterator[str]:
    """Yield what to ask for when the rule cannot tell."""
    own = rule.ask
    if not own:
        tables = [alias.table for alias in rule.aliases.values()]
        tables += [log.table for log in rule.logs.values()]
        declared = {table.declared_table.name: table.declared_table for table in tables}
        own = {name: table.ask for name, table in sorted(declared.items()) if table.ask}
    for table, words in own.items():
        if table:
            yield f"{table}:"
        for piece in split_ask(words):
            if table:
                text = f"  {piece.text}"
            else:
                text = piece.text
            if piece.command:
                yield Exact(text)
            else:
                yield text


def describe_examples(rule: Rule, verbose: int) -> Iterator[str]:
    """Yield the examples; `verbose` shows their rows and lines."""
    try:
        examples = rule.examples
    except BadRuleError as error:
        yield f"cannot be read: {error.message}, line {error.place.line}"
        return
    for example in examples:
        yield describe_example(example)
        if verbose:
            for line in describe_given(example):
                yield (type(line)(f"  {line}"))


def describe_example(example: Example) -> str:
    """Return the name of an example and what it expects."""
    result = str(example.expect.get("result", ""))
    weights = []
    for key in ("severity", "confidence"):
        if key in example.expect:
            weights.append(str(example.expect[key]))
    weight = " ".join(weights)
    gap = ""
    if example.gap:
        gap = " (known gap: it does not yet)"
    return (
        f"{example.name}: {SEEN_RESULTS.get(result, result)}{f', {weight}' if weight else ''}{gap}"
    )


def describe_given(example: Example) -> Iterator[str]:
    """Yield what an example gives to the rule, a line a row."""
    for name, rows in example.tables.items():
        if rows is None:
            yield f"{name}: not in the case"
        elif not rows:
            yield f"{name}: read, and empty"
        for row in rows or ():
            cells = [f"{key} {value}" for key, value in row.items()]
            yield f"{name}: {', '.join(cells)}"
    for name, text in example.logs.items():
        if text is None:
            yield f"{name}: not in the case"
        else:
            yield f"{name}:"
        for line in (text or "").splitlines():
            yield (Exact(f"  {line}"))
    for file in example.files:
        shown = "a file"
        for key in ("path", "command", "parser"):
            if file.get(key):
                shown = f"{key} {file[key]}"
                break
        yield f"{shown}:"
        yield from (Exact(f"  {line}") for line in file.get("text", "").splitlines())
