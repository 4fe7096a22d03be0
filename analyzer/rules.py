"""Rules as they are used: the typed model, and the catalog that holds them.

A rule is one YAML file (format 1). `load` reads files and folders; a file with a mistake is
kept in `Catalog.broken` with file, line, column and caret, and all others are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer import parsing
from analyzer.language.expression import Alias, Node
from analyzer.language.template import Template
from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError, Item, Place, RuleText, read
from analyzer.scan.hits import Signature
from analyzer.tables import Table
from analyzer.verdicts import Fix

STATUSES = ("draft", "test", "stable", "retired")


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of another table beside the subject: one (the nearest) or many.

    by        pairs (mine, theirs); mine is a column of the subject or `alias.column`
    any_node  look on all nodes of the case, not only on the subject's
    """

    alias: Alias
    by: tuple[tuple[str, str], ...]
    any_node: bool
    where: Node | None = None


@dataclass(frozen=True, slots=True)
class LogDef:
    """A signature in a log table; named groups of the pattern are columns of its hits."""

    name: str
    table: Table
    pattern: str
    ignore_case: bool
    alias: Alias
    where: Node | None = None
    keep: int = 3  # lines shown as evidence
    any_node: bool = False


@dataclass(frozen=True, slots=True)
class SeenDef:
    """A question to the hits of signatures: a count, a window, a sequence or a silence.

    logs      one signature, or those of a sequence in their order
    within    seconds of the sliding window; 0 for the whole log
    silence   True for `none`: no hit in the last `within` seconds of the log
    """

    name: str
    logs: tuple[str, ...]
    at_least: int = 1
    within: float = 0.0
    per: str = ""
    distinct: str = ""
    sequence: bool = False
    silence: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer of a rule whose condition holds; the first true one is taken.

    severity  "" where the rule's grades tell it
    """

    when: Node
    severity: str
    confidence: str
    say: Template | None


@dataclass(frozen=True, slots=True)
class Grade:
    """How severe a finding is when its outcome does not say; the first true one is taken."""

    when: Node
    severity: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence added to a finding when its condition holds."""

    when: Node
    say: Template


@dataclass(frozen=True, slots=True)
class Population:
    """Rows of a table that list every subject there should be: one without a row in `each` cannot be told.

    by  pairs (column of `each`, column of the list)
    """

    alias: Alias
    by: tuple[tuple[str, str], ...]
    subject: Template
    where: Node | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A case inside a rule and what the rule must say of it.

    tables  table -> rows; [] was read and is empty, None was not there
    logs    table -> text; None: not there
    files   (how to read it: path, command or parser; text)
    cut     tables whose source ended early
    """

    name: str
    place: Place
    tables: Mapping[str, list[dict[str, Any]] | None]
    logs: Mapping[str, str | None]
    files: tuple[dict[str, str], ...]
    cut: tuple[str, ...]
    expect: Mapping[str, Any]
    gap: bool = False


@dataclass(slots=True)
class Rule:
    """One rule of the catalog, names and types checked."""

    id: str
    title: str
    each: Alias
    when: Node
    outcomes: list[Outcome]
    subject: Template
    object: Template | None
    text: RuleText
    kb: list[int] = field(default_factory=list)
    issues: list[int] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    status: str = "test"
    replaced_by: str = ""
    revised: str = ""
    needs: str = ""
    about: str = ""
    joins: list[Join] = field(default_factory=list)
    logs: dict[str, LogDef] = field(default_factory=dict)
    seen: dict[str, SeenDef] = field(default_factory=dict)
    only: Node | None = None
    lets: dict[str, Node] = field(default_factory=dict)
    population: Population | None = None
    grades: list[Grade] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    evidence: list[Node] = field(default_factory=list)
    chart: list[Node] = field(default_factory=list)
    fix: list[Fix] = field(default_factory=list)
    caution: str = ""
    not_this: list[str] = field(default_factory=list)
    explained_by: list[str] = field(default_factory=list)
    ask: dict[str, str] = field(default_factory=dict)  # table -> what to request; "" for all
    path: Path | None = None
    read_examples: Callable[[], list[Example]] = list
    _examples: list[Example] | None = None

    @property
    def examples(self) -> list[Example]:
        """The rule's own examples, read on the first call: a triage does not need them; raises BadRuleError."""
        if self._examples is None:
            self._examples = self.read_examples()
        return self._examples

    @property
    def aliases(self) -> dict[str, Alias]:
        """Names of rows: the subject's, those of the joins, and that of the population."""
        found = {self.each.name: self.each, **{join.alias.name: join.alias for join in self.joins}}
        return found | ({self.population.alias.name: self.population.alias} if self.population else {})

    def expressions(self) -> list[Node]:
        """Return the conditions and named values, in the order of the file."""
        gate = [self.only] if self.only else []
        answers = [part.when for parts in (self.grades, self.outcomes, self.notes) for part in parts]
        return [*gate, *self.lets.values(), self.when, *answers]

    def tables(self) -> set[str]:
        """Return the names of the tables and logs the rule looks at."""
        return {alias.table.name for alias in self.aliases.values()} | {log.table.name for log in self.logs.values()}

    def ask_for(self, table: Table | None) -> str:
        """Return what to request when `table` is missing."""
        named = self.ask.get(table.name, "") if table else ""
        return named or self.ask.get("", "") or (table.ask if table else "")


@dataclass(slots=True)
class Catalog:
    """All rules of a run; `broken` holds the files that could not be used, `hash` the content of all."""

    rules: list[Rule] = field(default_factory=list)
    broken: list[BadRuleError] = field(default_factory=list)
    hash: str = ""

    def __getitem__(self, rule: str) -> Rule:
        return next(item for item in self.rules if item.id == rule)

    def signatures(self) -> list[Signature]:
        """Return what all rules search in logs, for one pass of the scanner; ids are `rule/name`."""
        return [
            Signature(f"{rule.id}/{log.name}", log.table.name, log.pattern, log.ignore_case)
            for rule in self.rules
            for log in rule.logs.values()
        ]


def default_paths() -> list[Path]:
    """Return the folder of the rules that come with the tool."""
    return [Path(__file__).resolve().parent / "kb"]


def load(
    paths: Sequence[Path] | None = None,
    tables: Mapping[str, Table] | None = None,
    *,
    limits: Limits | None = None,
    drafts: bool = False,
    examples: bool = False,
) -> Catalog:
    """Return the rules of files and folders (`*.yaml`, `*.yml`), in order of their ids.

    Retired rules are left out, drafts too unless asked for. A file with a mistake, a second
    rule of one id and a path that does not exist go to `Catalog.broken`; a mistake in an
    example only when `examples` asks to read them as well.
    """
    limits = limits or Limits()
    catalog = Catalog()
    digest = hashlib.sha256()
    known: dict[str, Rule] = {}
    tables = parsing.tables() if tables is None else tables
    for path in _files(default_paths() if paths is None else paths, limits, catalog):
        try:
            text, raw = read(path, limits)
            digest.update(path.name.encode(errors="replace") + b"\0" + raw + b"\0")
            rule = build(text, tables, limits)
            if examples:
                _ = rule.examples
            if path.stem != rule.id:
                raise text.error(f"rule `{rule.id}` stands in a file named {path.name}", _place_of(text, "rule"),
                                 f"name the file {rule.id}.yaml")
            if rule.id in known:
                first = known[rule.id].path
                raise text.error(f"rule `{rule.id}` exists already in {first}", _place_of(text, "rule"))
        except BadRuleError as error:
            catalog.broken.append(error)
            continue
        rule.path = path
        known[rule.id] = rule
    wanted = ("test", "stable", "draft") if drafts else ("test", "stable")
    catalog.rules = [known[name] for name in sorted(known) if known[name].status in wanted]
    catalog.hash = digest.hexdigest()
    return catalog


def parse(text: str, tables: Mapping[str, Table] | None = None, name: str = "rule.yaml") -> Rule:
    """Return the rule of a YAML text, examples read as well; raises BadRuleError with place and caret."""
    rule = build(RuleText(name, text), parsing.tables() if tables is None else tables, Limits())
    _ = rule.examples
    return rule


def build(text: RuleText, tables: Mapping[str, Table], limits: Limits) -> Rule:
    """Return the rule of a rule file's text; raises BadRuleError."""
    from analyzer.rulebook.rulereader import Reader  # noqa: PLC0415 - the reader makes this model's records

    return Reader(text, tables, limits).rule()


def _files(paths: Iterable[Path], limits: Limits, catalog: Catalog) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(item for item in path.iterdir() if item.suffix in (".yaml", ".yml"))
        elif path.exists():
            found.append(path)
        else:
            catalog.broken.append(BadRuleError("no such file or folder", file=str(path), place=Place()))
    if len(found) > limits.rules:
        catalog.broken.append(
            BadRuleError(
                f"{len(found)} rule files; the first {limits.rules} are used",
                file=str(found[limits.rules]),
                place=Place(),
                help="raise it with --limit rules=N",
            )
        )
    return found[: limits.rules]


def _place_of(text: RuleText, key: str) -> Place:
    tree = text.tree()
    item: Item = tree.value.get(key, tree)
    return item.place
