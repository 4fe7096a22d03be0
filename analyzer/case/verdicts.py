"""What a rule says of a subject, and what it rests on.

These records pass from the judge to the case document and on to the report;
they hold nothing but text, numbers and lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from analyzer.case.fields import (
    Address,
    Count,
    Customer,
    DocumentRecord,
    Number,
    Product,
    Stamp,
    Template,
    one_of,
)


class Verdict(StrEnum):
    """The five answers of a rule."""

    MATCH = "match"
    NO_MATCH = "no_match"
    NOT_APPLICABLE = "not_applicable"
    CANNOT_TELL = "cannot_tell"
    ERROR = "error"


class Reason(StrEnum):
    """Why a value is not there."""

    MISSING = "missing"  # no such member or command output
    UNREADABLE = "unreadable"  # cut archive, bad bytes, limit reached
    UNPARSED = "unparsed"  # lines the template did not take
    NOT_APPLICABLE = "not_applicable"  # the thing has no such value
    OUTSIDE = "outside"  # the log does not reach the time asked, or only an excerpt of it is there


SEVERITIES = ("critical", "major", "warning", "info")
CONFIDENCES = ("confirmed", "likely", "possible", "exposed")


class Evidence(DocumentRecord):
    """One place a finding rests on."""

    label: Annotated[Template, Meta(description="What it shows, e.g. `rx.ring1_full = 7086`.")]
    address: Address
    line: Annotated[Count, Meta(description="1-based line in that member, 0 when it has none.")]
    text: Annotated[Customer, Meta(description="The line itself.")]
    before: Annotated[list[Customer], Meta(description="Lines before it.")] = []
    after: Annotated[list[Customer], Meta(description="Lines after it.")] = []
    taken: Stamp = ""
    node: Annotated[Customer, Meta(description="Name of the node.")] = ""


class Trace(DocumentRecord):
    """A part of the condition, its value and its parts."""

    text: Annotated[Template, Meta(description="The expression.")]
    value: Annotated[Customer, Meta(description="Its value as text.")]
    children: list[Trace] = []
    at: Annotated[Customer, Meta(description="`address:line` of a leaf, or empty.")] = ""
    note: Annotated[
        Template, Meta(description="The arithmetic in numbers, or why a value is not known.")
    ] = ""


class Fix(DocumentRecord):
    """One step of the remedy."""

    where: Annotated[Template, Meta(description="Where to do it.")]
    run: Annotated[Template, Meta(description="A command, or empty.")] = ""
    do: Annotated[Template, Meta(description="A thing to do, or empty.")] = ""
    note: Annotated[Template, Meta(description="What to know about it.")] = ""
    caution: Annotated[
        Template, Meta(description="What the step interrupts or changes, or empty.")
    ] = ""


class Finding(DocumentRecord):
    """A rule that matches a subject, or that broke on it."""

    id: Annotated[Template, Meta(description="rule/object; the same in each run.")]
    rule: Annotated[Product, Meta(description="Id of the rule.")]
    title: Annotated[Template, Meta(description="The fault in one line.")]
    kb: list[int]
    issues: list[int]
    status: Annotated[Product, one_of("draft", "test", "stable", "retired")]
    node: Annotated[Customer, Meta(description="Name of the node.")]
    subject: Annotated[Template, Meta(description="Who is ill, in words.")]
    object: Annotated[
        Customer, Meta(description="Who is ill, in the one name other rules use as well.")
    ]
    verdict: Annotated[Product, one_of("match", "error")]
    severity: Annotated[
        Product,
        one_of("critical", "major", "warning", "info", ""),
        Meta(description="Empty only for an error."),
    ]
    confidence: Annotated[
        Product,
        one_of("confirmed", "likely", "possible", "exposed", ""),
        Meta(description="Empty only for an error."),
    ]
    say: Annotated[Template, Meta(description="The finding in a sentence with its numbers.")]
    also: Annotated[
        list[Template], Meta(description="Generated sentences, e.g. what could not be checked.")
    ] = []
    about: Annotated[Product, Meta(description="The cause.")] = ""
    evidence: list[Evidence] = []
    trace: Trace | None = None
    fix: list[Fix] = []
    caution: Annotated[Template, Meta(description="What the remedy may break.")] = ""
    not_this: Annotated[list[Product], Meta(description="What looks the same and is not.")] = []
    explained_by: Annotated[
        list[Template], Meta(description="Ids of findings to look at first.")
    ] = []
    explains: Annotated[list[Template], Meta(description="Ids of findings this one explains.")] = []
    maybe_worse: Annotated[
        list[Product], Meta(description="Tables whose absence hides a possibly higher severity.")
    ] = []
    chart: Annotated[list[Template], Meta(description="Keys into `series`.")] = []
    first_seen: Stamp = ""
    source: Annotated[
        list[Product], Meta(description="Where the facts of the rule come from.")
    ] = []
    origin: Annotated[
        Customer,
        Meta(
            description="Who brought the rule, e.g. `pack nn-rules 1.2`; empty for a shipped one."
        ),
    ] = ""
    muted: Annotated[Customer, Meta(description="Why it was muted and until when, or empty.")] = ""
    values: Annotated[
        dict[str, Customer],
        Meta(description="What the sentence fills in: name in the rule -> the value as printed."),
    ] = {}
    magnitude: Annotated[
        Number | None,
        Meta(
            description="How bad it is among findings of its rule and weight; the larger is the worse. "
            "null when the rule compares no number by size."
        ),
    ] = None
    excess: Annotated[
        Number | None,
        Meta(
            description="How many times the figure of the finding is over the bar of its severity, or the "
            "bar over the figure where less is worse; at most 1,000,000. null when no figure "
            "tells."
        ),
    ] = None


@dataclass(slots=True)
class CannotTell:
    """One (rule, subject) that could not be judged, and what would settle it."""

    rule: str
    title: str
    node: str
    subject: str
    reason: str
    missing: str  # table or column
    why: str
    ask: str
    muted: str = ""  # as in a finding


class NodeCut(DocumentRecord):
    """Of one node: how many subjects got a verdict, how many are shown in full and how many in short."""

    node: Customer
    subjects: Count
    full: Count
    short: Count


class Cut(DocumentRecord):
    """So many subjects of a rule got one verdict that not all are shown in full: the worst are, and the worst of every node."""

    rule: Product
    title: Product
    verdict: Annotated[Product, one_of("match", "cannot_tell")]
    subjects: Annotated[Count, Meta(description="All of them.")]
    full: Annotated[Count, Meta(description="Told with evidence, trace and charts.")]
    short: Annotated[Count, Meta(description="Told without; what is left is counted only.")]
    say: Annotated[Template, Meta(description="All of it in one sentence.")]
    by_node: Annotated[
        list[NodeCut], Meta(description="The same for each node; none is left out.")
    ] = []


@dataclass(slots=True)
class NearLeaf:
    """One condition that would have to be otherwise.

    text    the condition that would have to hold; part: the key of the rule it stands under
    wanted  what its value would have to be, e.g. `>= 0.3`; value: what it is
    at      `address:line` of the value, "" where there is none; note: how the value came about
    far     how far the value is off, as a share of the threshold; None where there is no share
    known   False when it does not hold because a value is missing; ask: what to request then
    """

    text: str
    part: str
    wanted: str
    value: str
    at: str = ""
    note: str = ""
    far: float | None = None
    known: bool = True
    ask: str = ""


@dataclass(slots=True)
class NearMiss:
    """How little was missing to a match: the least number of things that would have to be otherwise.

    distance  things to be otherwise, 1 or 2; None where one of them is not known, for a missing source says nothing of
              how near its values are
    text      all of it in one sentence
    """

    distance: int | None
    leaves: list[NearLeaf]
    text: str


@dataclass(slots=True)
class Mark:
    """Says of a leaf of a trace that it kept a rule or an outcome from holding: `no`, or `unknown` and what to ask."""

    says: str
    ask: str = ""


@dataclass(slots=True)
class Explained:
    """One verdict of a rule with its whole "why", made on request for every subject.

    marks  number of a line of `trace`, 0 the top -> what kept the rule, or a better outcome, from holding there
    """

    rule: str
    node: str
    subject: str
    object: str
    verdict: str
    why: str
    trace: Trace
    near: NearMiss | None = None
    marks: dict[int, Mark] = field(default_factory=dict)


@dataclass(slots=True)
class Judgement:
    """All verdicts of a case; findings are sorted worst first.

    explained  verdicts of the one rule that was asked about, `no_match` too
    notes      what the judge left out, and why
    cuts       rules with more subjects than are shown in full
    """

    findings: list[Finding] = field(default_factory=list)
    cannot_tell: list[CannotTell] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # rule -> verdict -> n
    series: dict[str, dict[str, list[float] | list[str] | str]] = field(default_factory=dict)
    explained: list[Explained] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
