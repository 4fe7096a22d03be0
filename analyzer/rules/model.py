"""The model of a rule: conditions, logs, steps, examples, and the texts it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.artefacts.tables import Column, Table
from analyzer.rules.cited_sources import CitedSource
from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.rulefile import FileSpan, RuleText
from analyzer.rules.language.template import Template
from analyzer.rules.sources import RuleSource
from analyzer.runtime.errors import UsageError

STATUSES = ("draft", "test", "stable", "retired")
USED = ("test", "stable")
SAME_LINE = "*"  # in `explained_by`: every other rule whose finding rests on one of the same lines
PRODUCTS = ("nsx", "nsxt")  # that a rule may be about whose table is one of the host

# Rule -> name -> value, as a settings file changes them.
Thresholds = Mapping[str, Mapping[str, float]]


class ThresholdError(UsageError):
    """A threshold that cannot be changed so: `rule` and `name` say which."""

    def __init__(self, message: str, rule: str, name: str, help: str = "") -> None:
        super().__init__(message, where=f"{rule}.{name}", do=help)
        self.message, self.rule, self.name, self.help = message, rule, name, help


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of another table next to the subject: one (the nearest) or many.

    by        pairs (mine, theirs); mine is a column of the subject or `alias.column`
    any_node  look on all nodes of the case, not only on the subject's
    each      one verdict for each of the rows, which are rows of the catalog
    """

    alias: Alias
    by: tuple[tuple[str, str], ...]
    any_node: bool
    where: ExprNode | None = None
    each: bool = False


@dataclass(frozen=True, slots=True)
class LogForm:
    """The words of another driver, plug-in or release for the same sign, and who prints them so."""

    pattern: str
    source: str


@dataclass(frozen=True, slots=True)
class LogDef:
    """A signature in a log table; named groups of the pattern are columns of its hits.

    pattern  finds every form, with masked digits too; main: the first of them alone as it is written, also: the others
    columns  the named groups with their kinds, for lines that are used as a table
    otherwise  group -> what it is in a line that has none
    """

    name: str
    table: Table
    pattern: str
    ignore_case: bool
    alias: Alias
    where: ExprNode | None = None
    keep: int = 3  # lines shown as evidence
    any_node: bool = False
    columns: tuple[Column, ...] = ()
    otherwise: tuple[tuple[str, str], ...] = ()
    main: str = ""
    also: tuple[LogForm, ...] = ()

    def list_forms(self) -> list[str]:
        """Return the pattern of each form, the first one first."""
        return [self.main or self.pattern, *(form.pattern for form in self.also)]


@dataclass(frozen=True, slots=True)
class HitTable:
    """A signature that a rule uses as a table: a row is a line, or with `per` the earliest line of each value.

    table  made for this rule (rules/tables.py); judge/rule_evaluation.py fills it
    log    name of the signature
    """

    table: Table
    log: str
    per: tuple[str, ...] = ()


def list_hit_columns(log: Table, groups: Iterable[Column]) -> tuple[Column, ...]:
    """Return the columns of a signature's lines: its named groups, and what its log has besides."""
    names = {column.name for column in groups}
    return (*groups, *(column for column in log.columns if column.name not in names))


def make_hit_table(
    name: str, log: Table, signature: str, groups: Iterable[Column], per: tuple[str, ...]
) -> Table:
    """Return the table of the lines of a log that a signature matches."""
    return Table(
        name=name,
        meaning=f"Lines of {log.name} that the signature matches.",
        source=log.source,
        ask=log.ask,
        columns=list_hit_columns(log, groups),
        key=per,
        lines_of=log,
        signature=signature,
    )


@dataclass(frozen=True, slots=True)
class SeenDef:
    """A question to the hits of signatures: a count, a window, a sequence or a silence.

    logs      one signature, or those of a sequence in their order
    within    seconds of the sliding window; 0 for the whole log
    silence   True for `none`: no hit in the last `within` seconds of the log
    lasting   True for `until`: of two signatures the second ends what the first begins; true of what lasts longer
              than `within` seconds
    """

    name: str
    logs: tuple[str, ...]
    at_least: int = 1
    within: float = 0.0
    per: str = ""
    distinct: str = ""
    sequence: bool = False
    silence: bool = False
    lasting: bool = False

    @property
    def in_order(self) -> bool:
        """Whether the order of lines of several signatures decides."""
        return self.sequence or self.lasting


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer of a rule whose condition holds; the first true one is taken.

    severity  "" where the rule's grades tell it
    """

    when: ExprNode
    severity: str
    confidence: str
    say: Template | None


@dataclass(frozen=True, slots=True)
class Grade:
    """How severe a finding is when its outcome does not say; the first true one is taken."""

    when: ExprNode
    severity: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence added to a finding when its condition holds."""

    when: ExprNode
    say: Template


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the remedy, as the rule has it; texts take values of the case.

    when    whether the step fits this case
    unsure  words before the step where `when` is unknown: "if …"; "" leaves it out there
    caution what this step interrupts or changes; shown with the step and nowhere else
    """

    when: ExprNode
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
    """Rows of a table that list every subject there should be: one without a row in `each` is unknown.

    by  pairs (column of `each`, column of the list)
    """

    alias: Alias
    by: tuple[tuple[str, str], ...]
    subject: Template
    where: ExprNode | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A case inside a rule and what the rule must say of it.

    tables  table -> rows; [] was read and is empty, None was not there
    logs    table -> text; None: not there
    files   (how to read it: path, command or parser; text)
    cut     tables whose source ended early
    made    no author wrote it: it follows from the rule
    """

    name: str
    place: FileSpan
    tables: Mapping[str, list[dict[str, Any]] | None]
    logs: Mapping[str, str | None]
    files: tuple[dict[str, str], ...]
    cut: tuple[str, ...]
    expect: Mapping[str, Any]
    gap: bool = False
    made: bool = False


@dataclass(frozen=True, slots=True)
class RuleNeeds:
    """What is asked of every rule before a case is read, and of a case before the rule is judged.

    tables      the tables and logs it looks at
    signatures  what it searches in logs: name, log, pattern, whether capitals do not matter
    columns     table -> the columns that it looks at; None where the table is needed whole
    listed      the table of its population, "" without one
    asked       the questions under `seen` that a condition, a text or its evidence uses
    asks_logs   it has questions under `seen`
    reads_lines it uses lines of signatures as tables
    unasked     see Rule
    lacks  while none of its tables is there its condition is unknown, first for want of the log of `each` ("log"), or
           of rows of it ("rows"); "" when that is not sure
    """

    tables: tuple[str, ...]  # sorted, as the columns: a stored rule has the same bytes every time
    signatures: tuple[tuple[str, str, str, bool], ...]
    columns: Mapping[str, tuple[str, ...] | None]
    listed: str = ""
    asked: tuple[str, ...] = ()
    asks_logs: bool = False
    reads_lines: bool = False
    lacks: str = ""
    unasked: bool = False


@dataclass(slots=True)
class Rule:
    """One rule of the catalog, names and types checked.

    product  nsx or nsxt when it speaks of that product alone: hosts that run it are looked at, others are not
    unasked  where nothing of the table of `each` is in the case, it does not apply, and nobody is asked for that
    at_once  what is asked of it before it is judged, once that was worked out (rules/column_usage.py)
    nodes    what the judge looks up of it in every case, once that was worked out (judge/subjects.py)
    later    of a rule that is stored: brings all other fields when the first of them is asked for
    """

    id: str
    title: str
    each: Alias
    when: ExprNode
    outcomes: list[Outcome]
    subject: Template
    object: Template | None
    text: RuleText
    rests_on: list[Template] = field(
        default_factory=list
    )  # further objects: causes are looked for there as well
    kb: list[int] = field(default_factory=list)
    issues: list[int] = field(default_factory=list)
    source: list[CitedSource] = field(default_factory=list)
    status: str = "test"
    replaced_by: str = ""
    revised: str = ""
    needs: str = ""
    about: str = ""
    product: str = ""
    unasked: bool = False
    joins: list[Join] = field(default_factory=list)
    fact: str = (
        ""  # alias of the row of the catalog that gives a finding its title, KB, text and source
    )
    logs: dict[str, LogDef] = field(default_factory=dict)
    hits: list[HitTable] = field(default_factory=list)
    seen: dict[str, SeenDef] = field(default_factory=dict)
    only: ExprNode | None = None  # with what `affected` asks for
    affected: dict[str, list[str]] = field(
        default_factory=dict
    )  # product -> ranges of versions in words
    fixed_in: dict[str, list[str]] = field(default_factory=dict)
    lets: dict[str, ExprNode] = field(default_factory=dict)
    population: Population | None = None
    grades: list[Grade] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    evidence: list[ExprNode] = field(default_factory=list)
    chart: list[ExprNode] = field(default_factory=list)
    fix: list[Step] = field(default_factory=list)
    caution: str = ""
    not_this: list[str] = field(default_factory=list)
    explained_by: list[str] = field(default_factory=list)
    owner: str = ""
    tags: list[str] = field(default_factory=list)
    checked: str = ""  # date on which the sources were read last
    replaces: list[str] = field(default_factory=list)
    proven: str = ""  # in words, what a stable rule held on
    ask: dict[str, str] = field(default_factory=dict)  # table -> what to request; "" for all
    thresholds: dict[str, tuple[float, float]] = field(
        default_factory=dict
    )  # name -> (value, as shipped)
    path: Path | None = None
    origin: RuleSource | None = None
    read_examples: Callable[[Rule], list[Example]] | None = None
    _examples: list[Example] | None = None
    at_once: RuleNeeds | None = field(default=None, init=False, repr=False, compare=False)
    nodes: Any = field(default=None, init=False, repr=False, compare=False)
    later: Callable[[Rule], None] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    if not TYPE_CHECKING:  # a checker would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Bring the fields that the cache holds back, when one of them is asked for."""
            later = None if name in ("later", "at_once") else self.later
            if later is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self.later = None
            later(self)
            return getattr(self, name)

    @property
    def examples(self) -> list[Example]:
        """The rule's examples, read on the first call: a triage does not need them; raises BadRuleError."""
        if self._examples is None:
            self._examples = self.read_examples(self) if self.read_examples is not None else []
        return self._examples

    @property
    def changed_thresholds(self) -> dict[str, tuple[float, float]]:
        """Thresholds that local settings have changed: name -> (value, as shipped)."""
        return {name: pair for name, pair in self.thresholds.items() if pair[0] != pair[1]}

    @property
    def last_read(self) -> str:
        """The day on which the source that waits longest was read, "" when one was never read."""
        sources = [source for source in self.source if not source.is_own] or self.source
        return min((source.checked or self.checked for source in sources), default=self.checked)

    @property
    def aliases(self) -> dict[str, Alias]:
        """Names of rows: the subject's, those of the joins, and that of the population."""
        found = {self.each.name: self.each, **{join.alias.name: join.alias for join in self.joins}}
        return found | (
            {self.population.alias.name: self.population.alias} if self.population else {}
        )

    def expressions(self) -> list[ExprNode]:
        """Return the conditions and named values, in the order of the file."""
        gate = [self.only] if self.only else []
        answers = [
            part.when
            for parts in (self.grades, self.outcomes, self.notes, self.fix)
            for part in parts
        ]
        return [*gate, *self.lets.values(), self.when, *answers]

    def tables(self) -> set[str]:
        """Return the names of the tables and logs of a case that the rule looks at."""
        if self.at_once is not None:
            return set(self.at_once.tables)
        own = {
            alias.table.declared_table.name
            for alias in self.aliases.values()
            if alias.table.given is None
        }
        own |= {name for alias in self.aliases.values() for name in alias.table.made_of}
        return own | {log.table.name for log in self.logs.values()}

    def fact_tables(self) -> dict[str, Table]:
        """Return the tables of the catalog the rule looks at, by name."""
        return {
            one.table.name: one.table
            for one in self.aliases.values()
            if one.table.given is not None
        }

    def ask_for(self, table: Table | None) -> str:
        """Return what to request when `table` is missing."""
        named = self.ask.get(table.declared_table.name, "") if table else ""
        return named or self.ask.get("", "") or (table.ask if table else "")
