"""What a rule says of a subject, and what it rests on.

These records pass from the judge to the case document and on to the report;
they hold nothing but text, numbers and lists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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


@dataclass(slots=True)
class Evidence:
    """One place a finding rests on.

    label    what it shows, e.g. `rx.ring1_full = 7086`
    address  `outer.tgz!inner/member`; line is 1-based in that member
    text     the line itself (or the cell, for esxtop); before/after its neighbours
    taken    UTC stamp of the line or capture, "" when unknown
    node     name of the node it comes from
    """

    label: str
    address: str
    line: int
    text: str
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    taken: str = ""
    node: str = ""


@dataclass(slots=True)
class Trace:
    """A node of the "why" tree: an expression in words of the rule, its value, its origin."""

    text: str
    value: str
    children: list[Trace] = field(default_factory=list)
    at: str = ""  # `address:line` of a leaf
    note: str = ""  # e.g. "7086 + 3284" or why a value is unknown


@dataclass(slots=True)
class Fix:
    """One step of the remedy: where, a command to run or a thing to do, and what to mind before it."""

    where: str
    run: str = ""
    do: str = ""
    note: str = ""
    caution: str = ""


@dataclass(slots=True)
class Finding:
    """A verdict `match` or `error` on one subject."""

    id: str  # rule/object, stable between runs
    rule: str
    title: str
    kb: list[int]
    issues: list[int]
    status: str
    node: str
    subject: str
    object: str  # what is ill, in one name that other rules use as well (VM name, host, …)
    verdict: str
    severity: str
    confidence: str
    say: str
    also: list[str] = field(default_factory=list)  # generated sentences: could not check …
    about: str = ""
    evidence: list[Evidence] = field(default_factory=list)
    trace: Trace | None = None
    fix: list[Fix] = field(default_factory=list)
    caution: str = ""
    not_this: list[str] = field(default_factory=list)
    explained_by: list[str] = field(default_factory=list)  # ids of findings to look at first
    explains: list[str] = field(default_factory=list)
    maybe_worse: list[str] = field(default_factory=list)  # tables that could raise the severity
    chart: list[str] = field(default_factory=list)  # keys into the case's series
    first_seen: str = ""  # earliest time of the evidence
    source: list[str] = field(default_factory=list)  # where the facts of the rule come from
    origin: str = ""  # who brought the rule, e.g. `pack nn-rules 1.2`; "" for a shipped one
    muted: str = ""  # why, and until when; "" when it is not
    values: dict[str, str] = field(
        default_factory=dict
    )  # what `say` fills in: name in the rule -> as printed
    magnitude: float | None = (
        None  # how bad it is among findings of its rule and weight; the larger is the worse
    )
    excess: float | None = (
        None  # how many times its figure is over the bar of its severity, where a figure tells
    )


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


@dataclass(slots=True)
class NodeCut:
    """Of one node: how many subjects got a verdict, how many are told in full, and how many in short."""

    node: str
    subjects: int
    full: int
    short: int


@dataclass(slots=True)
class Cut:
    """Says of a rule that so many subjects got one verdict that not all are told in full.

    verdict   match or cannot_tell
    subjects  all of them; full: told with evidence, trace and charts; short: told without; the rest is counted only
    say       all of it in one sentence
    by_node   the same for each node, none left out
    """

    rule: str
    title: str
    verdict: str
    subjects: int
    full: int
    short: int
    say: str
    by_node: list[NodeCut] = field(default_factory=list)


@dataclass(slots=True)
class NearLeaf:
    """One condition that would have to be otherwise.

    text    the condition that would have to hold; part: the key of the rule it stands under
    wanted  what its value would have to be, e.g. `>= 0.3`; value: what it is
    at      `address:line` of the value, "" where there is none; note: how the value came about
    far     how far the value is off, as a share of the threshold; None where no share can be told
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
    cuts       rules with more subjects than are told in full
    """

    findings: list[Finding] = field(default_factory=list)
    cannot_tell: list[CannotTell] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)  # rule -> verdict -> n
    series: dict[str, dict[str, list[float] | list[str] | str]] = field(default_factory=dict)
    explained: list[Explained] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
