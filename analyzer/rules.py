"""Rules as they are used: the typed model, and the catalog that holds them.

A rule is one YAML file (format 1). `load` reads files, folders and packs; a file with a mistake is
kept in `Catalog.broken` with file, line, column and caret, and all others are used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analyzer import parsing
from analyzer.errors import UsageError
from analyzer.language.expression import Alias, Node
from analyzer.language.template import Template
from analyzer.limits import Limits
from analyzer.rulebook.rulefile import BadRuleError, Item, Place, RuleText
from analyzer.rulebook.rulesources import Source, read_from, rule_files, sources_of
from analyzer.scan.hits import Signature
from analyzer.tables import Column, Table

STATUSES = ("draft", "test", "stable", "retired")
USED = ("test", "stable")

# Rule -> name -> value, as a settings file changes them.
Thresholds = Mapping[str, Mapping[str, float]]


class ThresholdError(UsageError):
    """A threshold that cannot be changed so: `rule` and `name` say which."""

    def __init__(self, message: str, rule: str, name: str, help: str = "") -> None:
        super().__init__(message, where=f"{rule}.{name}", do=help)
        self.message, self.rule, self.name, self.help = message, rule, name, help


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
    """A signature in a log table; named groups of the pattern are columns of its hits.

    columns  the named groups with their kinds, for lines that are used as a table
    """

    name: str
    table: Table
    pattern: str
    ignore_case: bool
    alias: Alias
    where: Node | None = None
    keep: int = 3  # lines shown as evidence
    any_node: bool = False
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class HitTable:
    """A signature that a rule uses as a table: a row is a line, or with `per` the earliest line of each value.

    table  made for this rule (rulebook/ruletables.py); judging/hitrows.py fills it
    log    name of the signature
    """

    table: Table
    log: str
    per: tuple[str, ...] = ()


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
class Step:
    """One step of the remedy, as the rule has it; texts take values of the case.

    when    whether the step fits this case
    unsure  words before the step where `when` is unknown: "if …"; "" leaves it out there
    caution what this step interrupts or changes; shown with the step and nowhere else
    """

    when: Node
    unsure: str
    where: str
    run: Template | None
    do: Template | None
    note: Template | None
    caution: Template | None

    @property
    def templates(self) -> list[Template]:
        """The texts that hold values."""
        return [text for text in (self.run, self.do, self.note, self.caution) if text is not None]


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
    hits: list[HitTable] = field(default_factory=list)
    seen: dict[str, SeenDef] = field(default_factory=dict)
    only: Node | None = None
    lets: dict[str, Node] = field(default_factory=dict)
    population: Population | None = None
    grades: list[Grade] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    evidence: list[Node] = field(default_factory=list)
    chart: list[Node] = field(default_factory=list)
    fix: list[Step] = field(default_factory=list)
    caution: str = ""
    not_this: list[str] = field(default_factory=list)
    explained_by: list[str] = field(default_factory=list)
    ask: dict[str, str] = field(default_factory=dict)  # table -> what to request; "" for all
    thresholds: dict[str, tuple[float, float]] = field(default_factory=dict)  # name -> (value, as shipped)
    path: Path | None = None
    origin: Source | None = None
    read_examples: Callable[[], list[Example]] = list
    _examples: list[Example] | None = None

    @property
    def examples(self) -> list[Example]:
        """The rule's own examples, read on the first call: a triage does not need them; raises BadRuleError."""
        if self._examples is None:
            self._examples = self.read_examples()
        return self._examples

    @property
    def changed(self) -> dict[str, tuple[float, float]]:
        """Thresholds that local settings have changed: name -> (value, as shipped)."""
        return {name: pair for name, pair in self.thresholds.items() if pair[0] != pair[1]}

    @property
    def aliases(self) -> dict[str, Alias]:
        """Names of rows: the subject's, those of the joins, and that of the population."""
        found = {self.each.name: self.each, **{join.alias.name: join.alias for join in self.joins}}
        return found | ({self.population.alias.name: self.population.alias} if self.population else {})

    def expressions(self) -> list[Node]:
        """Return the conditions and named values, in the order of the file."""
        gate = [self.only] if self.only else []
        answers = [part.when for parts in (self.grades, self.outcomes, self.notes, self.fix) for part in parts]
        return [*gate, *self.lets.values(), self.when, *answers]

    def tables(self) -> set[str]:
        """Return the names of the tables and logs the rule looks at."""
        own = {alias.table.declared.name for alias in self.aliases.values()}
        own |= {name for alias in self.aliases.values() for name in alias.table.made_of}
        return own | {log.table.name for log in self.logs.values()}

    def ask_for(self, table: Table | None) -> str:
        """Return what to request when `table` is missing."""
        named = self.ask.get(table.declared.name, "") if table else ""
        return named or self.ask.get("", "") or (table.ask if table else "")


@dataclass(slots=True)
class Catalog:
    """All rules of a run; `broken` holds the files that could not be used, `hash` the content of all.

    known    id -> status of every rule that was read, those not in use (retired, drafts) as well
    sources  where they came from
    """

    rules: list[Rule] = field(default_factory=list)
    broken: list[BadRuleError] = field(default_factory=list)
    hash: str = ""
    known: dict[str, str] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)

    def __getitem__(self, rule: str) -> Rule:
        return next(item for item in self.rules if item.id == rule)

    def only_drafts(self) -> list[str]:
        """Return a sentence for each place that judged nothing because all it has to judge are drafts."""
        return [
            f"{source.label} judged nothing: it holds only drafts ({source.drafts}), which --draft judges as well"
            for source in self.sources
            if source.drafts and not source.rules
        ]

    def signatures(self) -> list[Signature]:
        """Return what all rules search in logs, for one pass of the scanner; ids are `rule/name`."""
        return [
            Signature(f"{rule.id}/{log.name}", log.table.name, log.pattern, log.ignore_case)
            for rule in self.rules
            for log in rule.logs.values()
        ]


def _with_thresholds(digest: Any, found: list[Rule]) -> str:
    """Return the hash of the rule files and of every threshold that is not as they have it."""
    for rule in found:
        for name, (value, _) in sorted(rule.changed.items()):
            digest.update(f"{rule.id}\0{name}\0{value!r}\0".encode())
    return str(digest.hexdigest())


def default_paths() -> list[Path]:
    """Return the folder of the rules that come with the tool."""
    return [Path(__file__).resolve().parent / "kb"]


def load(
    paths: Sequence[Path | Source] | None = None,
    tables: Mapping[str, Table] | None = None,
    *,
    limits: Limits | None = None,
    drafts: bool = False,
    retired: bool = False,
    examples: bool = False,
    thresholds: Thresholds | None = None,
) -> Catalog:
    """Return the rules of files, folders (`*.yaml`, `*.yml`) and packs, in order of their ids.

    Retired rules and drafts are left out unless asked for. A file with a mistake, a second
    rule of one id and a path that does not exist go to `Catalog.broken`; a mistake in an
    example only when `examples` asks to read them as well. `thresholds` changes named
    numbers of rules: ThresholdError for a name or a kind of number that is not there; whether
    there is such a rule at all is for the caller to ask (`Catalog.known`).
    """
    limits, thresholds = limits or Limits(), thresholds or {}
    tables = parsing.tables() if tables is None else tables
    catalog = Catalog(sources=sources_of(default_paths() if paths is None else paths, default_paths()))
    digest = hashlib.sha256()
    own = {id(source): hashlib.sha256() for source in catalog.sources}
    known: dict[str, Rule] = {}
    files, catalog.broken = rule_files(catalog.sources, limits)
    for source, path in files:
        try:
            text, raw = read_from(source, path, limits)
            for one in (digest, own[id(source)]):
                one.update(path.name.encode(errors="replace") + b"\0" + raw + b"\0")
            name = _stem(path.name)
            rule = build(text, tables, limits, thresholds.get(name) if name not in known else None)
            if examples:
                _ = rule.examples
            _check_id(rule, path.name, known, source)
        except BadRuleError as error:
            catalog.broken.append(error)
            source.broken += 1
            continue
        rule.path, rule.origin = Path(str(path)), source
        known[rule.id] = rule
    wanted = (*USED, *(["draft"] if drafts else []), *(["retired"] if retired else []))
    catalog.rules = [known[name] for name in sorted(known) if known[name].status in wanted]
    catalog.known = {name: known[name].status for name in sorted(known)}
    for source in catalog.sources:
        source.hash = own[id(source)].hexdigest()
        source.rules = sum(rule.origin is source for rule in catalog.rules)
        mine = [rule for rule in known.values() if rule.origin is source]
        source.drafts = 0 if drafts else sum(rule.status == "draft" for rule in mine)
    catalog.hash = _with_thresholds(digest, catalog.rules)
    return catalog


def parse(text: str, tables: Mapping[str, Table] | None = None, name: str = "rule.yaml") -> Rule:
    """Return the rule of a YAML text, examples read as well; raises BadRuleError with place and caret."""
    rule = build(RuleText(name, text), parsing.tables() if tables is None else tables, Limits())
    _ = rule.examples
    return rule


def build(
    text: RuleText, tables: Mapping[str, Table], limits: Limits, thresholds: Mapping[str, float] | None = None
) -> Rule:
    """Return the rule of a rule file's text, with `thresholds` changed; raises BadRuleError, ThresholdError."""
    from analyzer.rulebook.rulereader import Reader  # noqa: PLC0415 - the reader makes this model's records

    return Reader(text, tables, limits).rule(thresholds or {})


def _check_id(rule: Rule, file: str, known: Mapping[str, Rule], source: Source) -> None:
    """Refuse a rule whose id is not the stem of its file, or is taken."""
    text = rule.text
    if _stem(file) != rule.id:
        message = f"rule `{rule.id}` is in a file named {file}"
        raise text.error(message, _place_of(text, "rule"), f"name the file {rule.id}.yaml")
    if rule.id not in known:
        return
    first = known[rule.id]
    if first.origin is not None and first.origin.kind == "shipped" and source.kind != "shipped":
        message = f"rule `{rule.id}` comes with the tool; a rule of one's own cannot take its place"
        advice = f"give yours another id; to silence the shipped one, mute it: [[mute]] rule = \"{rule.id}\""
    else:
        where = first.origin.label if first.origin is not None and first.origin.kind == "pack" else first.path
        message, advice = f"rule `{rule.id}` exists already in {where}", "an id is used once"
    raise text.error(message, _place_of(text, "rule"), advice)


def _stem(name: str) -> str:
    return name.rpartition(".")[0]


def _place_of(text: RuleText, key: str) -> Place:
    tree = text.tree()
    item: Item = tree.value.get(key, tree)
    return item.place
