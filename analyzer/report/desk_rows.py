"""The front table of a case: one line a row of findings, signs that no rule explains among them, exposures last.

A line answers what an engineer asks first: how bad, since when, which object, what with its figure, how sure, where
it stands. It leads to the full account of the finding beside or below the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from analyzer.case.document import CaseDocument, Signal
from analyzer.case.ranking import severity_rank
from analyzer.case.verdicts import Finding
from analyzer.report import finding_rows, machines, signals
from analyzer.report.finding_rows import FindingGroup, Story
from analyzer.report.wording import count_noun, format_time, write_place
from analyzer.runtime.short_lines import bound_line, bound_middle

UNEXPLAINED = "unexplained"
OBJECT = 16  # characters of the name of an object
FIGURE = 90  # characters of what is said beside a title
STORIES = 2  # named in the sentence that opens the page
HEAVY = 6.0  # weight from which a sign stands before the warnings (analyzer.case.document.Signal)


@dataclass(frozen=True, slots=True)
class DeskRow:
    """One line of the table.

    part, key  of the account it leads to: a finding (f), a row of several objects (n), a sign (s)
    word       severity, `error` for a rule that broke, UNEXPLAINED for a sign
    first      when it was first seen, UTC, empty when not known
    depth      1 for what the row above explains
    exposed    nothing was seen, only the release fits
    """

    part: str
    key: str
    number: str
    word: str
    first: str
    host: str
    object: str
    full_object: str
    what: str
    figure: str
    confidence: str
    kb: list[int]
    place: str
    depth: int = 0
    exposed: bool = False
    findings: list[Finding] = field(default_factory=list)
    sign: Signal | None = None

    @property
    def year(self) -> str:
        """The year of the first time."""
        return self.first[:4]

    @property
    def day(self) -> str:
        """Month and day of the first time."""
        return self.first[5:10]

    @property
    def clock(self) -> str:
        """The time of day of the first time, to the second."""
        return self.first[11:19]

    @property
    def short_place(self) -> str:
        """The address without the folders above the file."""
        return self.place.rpartition("/")[2].rpartition("!")[2]


def list_desk_rows(doc: CaseDocument, stories: list[Story]) -> list[DeskRow]:
    """Return the lines of the table in their order: what was seen, worst first, then what only the release tells."""
    seen: list[DeskRow] = []
    exposed: list[DeskRow] = []
    numbers = finding_rows.number_findings(doc)
    heavy, light = split_signs(doc)
    is_placed = False
    for story in stories:
        worst = min(severity_rank(row.word) for row in story.rows)
        if worst > severity_rank("major") and not is_placed:
            seen += heavy
            is_placed = True
        rows = [make_desk_row(story.row, numbers)]
        for sign in story.signs:
            rows.append(make_desk_row(sign, numbers, depth=1))
        if all(row.hollow for row in story.rows):
            exposed += rows
        else:
            seen += rows
    if not is_placed:
        seen += heavy
    return [*seen, *light, *exposed]


def split_signs(doc: CaseDocument) -> tuple[list[DeskRow], list[DeskRow]]:
    """Return the lines of the first unexplained signs: those that stand before the warnings, and those after them."""
    heavy: list[DeskRow] = []
    light: list[DeskRow] = []
    for number, sign in enumerate(list_first_signs(doc), 1):
        row = make_sign_row(doc, sign, number)
        if sign.weight >= HEAVY:
            heavy.append(row)
        else:
            light.append(row)
    return heavy, light


def list_first_signs(doc: CaseDocument) -> list[Signal]:
    """Return the signs that stand in the table: the likeliest lines, then the likeliest values."""
    likely = signals.list_likely(doc)
    lines = signals.list_lines(likely)[: signals.FIRST]
    cells = signals.list_cells(likely)[: signals.FIRST]
    return [*lines, *cells]


def make_desk_row(row: FindingGroup, numbers: dict[str, str], depth: int = 0) -> DeskRow:
    """Return the line of a row of findings."""
    first = row.first
    nodes = [name for name, _ in row.group_by_node() if name]
    host = nodes[0] if len(nodes) == 1 else count_noun(len(nodes), "machine", "machines")
    name = first.object or first.subject
    if len(row.findings) > 1:
        name = count_noun(len(row.findings), "object", "objects")
    elif name in nodes:
        name = ""
    place = ""
    if first.evidence:
        place = write_place(first.evidence[0])
    number = finding_rows.number_row(row, numbers)
    part, key = "n", number
    if len(row.findings) == 1:
        part, key = "f", first.id
    return DeskRow(
        part=part,
        key=key,
        number=number,
        word=row.word,
        first=row.first_time,
        host=host,
        object=bound_middle(name, OBJECT),
        full_object=name,
        what=first.title,
        figure=bound_line(first.say, FIGURE),
        confidence=row.confidence,
        kb=first.kb,
        place=place,
        depth=depth,
        exposed=row.hollow,
        findings=row.findings,
    )


def make_sign_row(doc: CaseDocument, sign: Signal, number: int) -> DeskRow:
    """Return the line of a sign that no finding rests on."""
    names = machines.name_nodes(doc)
    what = sign.title or sign.module or signals.name_kind(sign)
    figure = sign.text or sign.what
    if sign.kind == "cell":
        figure = sign.what
    places = signals.list_places(sign)
    return DeskRow(
        part="s",
        key=str(number),
        number="",
        word=UNEXPLAINED,
        first=sign.first,
        host=names.get(sign.node, sign.node),
        object=bound_middle(sign.object, OBJECT),
        full_object=sign.object,
        what=what,
        figure=bound_line(figure, FIGURE),
        confidence="",
        kb=[],
        place=places[0] if places else "",
        sign=sign,
    )


def write_verdict(stories: list[Story]) -> str:
    """Return the case in one sentence, of its worst stories: what, on which object, since when; "" without any."""
    ranked = [story for story in stories if not story.row.hollow and story.row.word != "info"]
    parts = []
    for story in ranked[:STORIES]:
        parts.append(describe_story(story))
    if not parts:
        return ""
    more = len(ranked) - len(parts)
    if more:
        parts.append(count_noun(more, "more problem", "more problems"))
    return "; ".join(parts)


def describe_story(story: Story) -> str:
    """Return a story in a few words: `APD timeout: naa…a101, from 2021-03-01 00:02:17 UTC, explains 1 more`."""
    row = story.row
    if len(row.findings) > 1:
        who = count_noun(len(row.findings), "object", "objects")
    else:
        who = bound_middle(row.first.object or row.first.subject, OBJECT)
    title = row.first.title.partition(";")[0].rstrip(".")
    facts = [f"{title}: {who}"]
    if story.first_time:
        facts.append(f"from {format_time(story.first_time)}")
    if story.signs:
        facts.append(f"explains {len(story.signs):,} more")
    return ", ".join(facts)
