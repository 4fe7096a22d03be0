"""What the calls of the page take and answer, as records: `/openapi.json` has their schemas (api_page.py).

The handlers answer with dictionaries; tests/web/test_web_api.py holds each answer to its record, and a key that
no record names is a failure there.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Severity = Literal["critical", "major", "warning", "info"]
CaseState = Literal[
    "waiting", "queued", "reading", "judging", "writing",
    "done", "partial", "refused", "failed", "cancelled",
]  # fmt: skip


class ApiExact(Struct, kw_only=True, forbid_unknown_fields=True):
    """A record that has no other keys."""


# --- errors, session ---


class Mistake(ApiExact):
    """Where a mistake is in what was typed: the line, the caret below it, and the characters it spans."""

    line: str
    caret: str
    start: int
    end: int


class ErrorParts(ApiExact):
    """What went wrong, where, why, and what to do; "" where there is nothing to say."""

    what: str
    where: str = ""
    why: str = ""
    do: str = ""
    mistake: Mistake | None = None


class ApiRefused(ApiExact):
    """The answer to a call that was not done."""

    error: ErrorParts


class Entered(ApiExact):
    """The secret path below which all other calls go."""

    path: str


class ServerInfo(ApiExact):
    """What the server has."""

    archive: bool


class ApiNothing(ApiExact):
    """Done; there is nothing to tell."""


# --- cases ---


class FileToSend(ApiExact):
    """A file that is announced: its name with folders, its bytes, and when it changed (seconds since 1970)."""

    name: str
    size: int
    modified: float | None = None


class CaseToTake(ApiExact):
    """A new case: files that will be sent, or a path of this machine.

    together  it is one case, also when it looks like many; incident: when the trouble was, UTC: 06:15 or 2026-03-01 06:15
    """

    name: str = ""
    files: list[FileToSend] = []
    path: str = ""
    together: bool = False
    incident: str = ""


class CaseTaken(ApiExact):
    """The case was taken; nothing is read yet."""

    id: str


class ManyAsked(ApiExact):
    """Nothing was taken: the folder holds what looks like a case each. Announce each, or all with `together`."""

    many: list[str]
    kind: str
    beside: list[str]
    archive: bool


class FilesToSend(ApiExact):
    """Further files of a case that is not read yet."""

    files: list[FileToSend]
    name: str = ""


class FilesTaken(ApiExact):
    """The number of the first of the further files."""

    first: int


class CaseTitle(ApiExact):
    """Another name of a case and its SR number."""

    name: str
    sr: str = ""


class IncidentTime(ApiExact):
    """When the trouble was, UTC: 06:15, 2026-03-01 06:15; "" takes the time away."""

    incident: str


class CaseProgress(ApiExact):
    """How far the reading of a case is."""

    bytes: int = 0
    total: int = 0
    files: int = 0
    members: int = 0
    lines: int = 0
    member: str = ""
    judged: int = 0
    rules: int = 0
    unknowns: int = 0


class FindingRow(ApiExact):
    """A finding of a case, and its weight: of the first numbers that differ the smaller comes first."""

    rule: str
    title: str
    severity: str
    confidence: str
    subject: str
    object: str
    node: str
    say: str
    exposed: bool
    weight: list[float]


class MachineRow(ApiExact):
    """A machine of a case."""

    name: str
    kind: str
    product: str
    version: str


class CaseError(ApiExact):
    """Why a case has no report; empty where it has one."""

    what: str = ""
    where: str = ""
    why: str = ""
    do: str = ""


class ApiCaseRow(ApiExact):
    """A case: of this start, or one of the newest of the archive (`archived`).

    time      of the incident, else the newest in the material, seconds since 1970; 0 for none
    no_log    why all lines of its logs cannot be read, "" where they can
    opened    it was given as the case.json of an earlier triage
    """

    id: str
    name: str
    state: CaseState
    created: float
    report: bool
    archived: bool
    path: str
    error: CaseError
    time: float = 0.0
    own_name: str = ""
    sr: str = ""
    edits: int = 0
    incident: str = ""
    no_log: str = ""
    say: str = ""
    place: int = 0
    files: int = 0
    here: int = 0
    bytes: int = 0
    progress: CaseProgress | None = None
    findings: list[FindingRow] = []
    more: int = 0
    opened: bool = False
    unknowns: int = 0
    counts: dict[str, int] = {}
    worst: str = ""
    nodes: list[MachineRow] = []
    notes: list[str] = []
    stored: str = ""
    seconds: float = 0.0


class CaseRows(ApiExact):
    """Cases, newest first, then the newest of the archive."""

    cases: list[ApiCaseRow]


class LineAddress(ApiExact):
    """The address of a line, as findings and the log show it."""

    address: str


class RuleDraft(ApiExact):
    """The text of a rule that somebody must read and finish."""

    text: str


class ApiLogAnswer(Struct, kw_only=True):
    """A line of the answer: `progress`, then `lines`, then `end` with its state.

    lines  [seconds since 1970, time, host, log, level, component, object, text, address] each
    """

    type: Literal["progress", "lines", "end"]
    lines: list[list[float | str]] | int = []
    state: str = ""
    shown: int = 0
    said: list[str] = []
    error: CaseError | None = None


# --- comparisons ---


class ComparedPlace(ApiExact):
    """A path of this machine, or a stored case by its name or id."""

    place: str


class CasesToCompare(ApiExact):
    """The cases, in their order: ids of this start, or places."""

    cases: list[str | ComparedPlace]


# --- rules ---


class RuleHits(ApiExact):
    """What a rule said in the archive."""

    findings: int
    cases: int
    untold: int
    judged: int


class RuleRow(ApiExact, rename={"origin": "from"}):
    """A rule of the catalog."""

    rule: str
    title: str
    status: str
    kb: list[int]
    origin: str
    tables: list[str]
    muted: list[str]
    hits: RuleHits | None


class RuleRows(ApiExact):
    """The catalog, and the files of it that cannot be used."""

    rules: list[RuleRow]
    broken: list[str]
    archive: bool
    note: str


class ApiRuleText(ApiExact):
    """The text of a rule."""

    rule: str
    file: str
    status: str
    text: str


class RuleToJudge(ApiExact):
    """The text of a rule and the case it is tried on; `examples` for its own examples alone."""

    text: str
    case: str


class RuleVerdict(Struct, kw_only=True):
    """What a rule says of the case: its verdicts, complaints and examples, under `shown`."""

    type: Literal["shown", "error"]
    run: int
    shown: dict[str, Any] = {}
    error: CaseError | None = None
    refused: bool = False


class RuleToTest(ApiExact):
    """The text of a rule and the stored cases it is tried on: a glob of names, a stretch of time; "" for all."""

    text: str
    cases: str = ""
    since: str = ""
    until: str = ""


class BacktestAnswer(Struct, kw_only=True):
    """A line of the answer: `progress` and the like, then the `report`."""

    type: str
    done: int = 0
    total: int = 0
    report: dict[str, Any] = {}


# --- archive ---


class ArchiveCounts(ApiExact):
    """How much the archive holds, and what of it cannot be read."""

    url: str
    cases: int
    damaged: list[str]


class AnswerColumn(ApiExact):
    """A column of an answer and how its cells are shown."""

    name: str
    kind: str


class AnswerRow(ApiExact):
    """A row of an answer and the case it is of."""

    case: str
    cells: list[Any]


class ArchiveAnswer(ApiExact):
    """The answer to a question; `more`: there are further rows, `left out` and the like under `notes`."""

    empty: bool
    kind: str
    columns: list[AnswerColumn]
    rows: list[AnswerRow]
    said: str
    notes: list[str]
    damaged: list[str]
    terms: list[str] = []
    more: bool = False
    untold: int = 0
    partly: bool = False


class TableColumn(ApiExact):
    """A column of a table."""

    name: str
    type: str
    unit: str
    meaning: str


class TableRow(ApiExact):
    """A table that can be asked."""

    name: str
    meaning: str
    columns: list[TableColumn]


class TableRows(ApiExact):
    """All tables that can be asked."""

    tables: list[TableRow]


class FacetValue(ApiExact):
    """A value and in how many cases it is."""

    value: str
    cases: int


class ApiFacet(ApiExact):
    """What cases can be filtered by."""

    name: str
    values: list[FacetValue]


class ApiFacets(ApiExact):
    """All that cases can be filtered by."""

    facets: list[ApiFacet]


class LabelRow(ApiExact):
    """What somebody said of a finding."""

    rule: str
    node: str
    subject: str
    label: str
    missed: bool
    by: str
    note: str
    at: str


class StoredFinding(ApiExact):
    """A finding of a stored case with its label."""

    rule: str
    title: str
    severity: str
    confidence: str
    say: str
    verdict: str
    muted: str
    node: str
    subject: str
    number: str
    anchor: str
    label: LabelRow | None


class StoredCase(ApiExact):
    """A stored case: what is known of it, its findings, its labels.

    visible  it was not read again since; facts: rules can be tried on it; no_log: why its logs cannot be read
    """

    id: str
    name: str
    source: str
    state: str
    why: str
    stored: str
    catalog: str
    visible: bool
    report: bool
    facts: bool
    findings: list[StoredFinding]
    quiet: list[str]
    labels: list[LabelRow]
    more: int = 0
    no_log: str = ""
    incident: str = ""
    counts: dict[str, int] = {}
    unknowns: int = 0


class LabelToSet(ApiExact):
    """What is said of a finding; `missed`: the rule should have found it."""

    rule: str
    label: Literal["confirmed", "rejected", "removed"]
    node: str = ""
    subject: str = ""
    note: str = ""
    by: str = ""
    missed: bool = False


class CasesRemoved(ApiExact):
    """Ids that are gone from the archive, and how many labels went with them."""

    gone: list[str]
    labels: int
