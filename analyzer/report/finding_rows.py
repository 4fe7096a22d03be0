"""Findings as every report shows them: folded into rows, ordered as stories, numbered, with their fixes and doubts.

A row is one fault at one severity and confidence, on any number of subjects. A fault is a rule; of a rule over known
problems it is what one of these is called, with its KB articles. A row that another row explains is folded under it:
one cause, one story. Rows are numbered as they are read, and the number is the same in the page, the note, the
terminal and in `backline log --around 3`. The objects of row 3 are `3`, `3.2`, `3.3`; what is muted has no number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from msgspec import structs

from analyzer.case.document import CannotTellGroup, CaseDocument
from analyzer.case.ranking import (
    is_of_version,
    order_rows,
    rank_stories,
    rules_by_version,
    severity_rank,
)
from analyzer.case.verdicts import Finding
from analyzer.report.wording import count_noun, join_few
from analyzer.runtime.reasons import count_reasons, list_names

# As the judge writes it: the reason, what the finding could be then, what to ask for; and as older cases have it.
_COULD = r"; could be \w+\.|\. (?:(?:Severity|Confidence) may (?:rise|drop) to|It may be(?: only)?) \w+\."
_DOUBT = re.compile(
    rf"(?:Needs more data|Could not check): (?P<why>.*?)(?P<could>{_COULD}|\.)(?P<ask> Ask for: .*)?",
    re.DOTALL,
)
_MOST_NODES = 3  # nodes by name; more are counted


@dataclass(slots=True)
class FindingGroup:
    """Findings of one rule with the same weight: one row of a report."""

    findings: list[Finding]
    _same: dict[str, bool] = field(default_factory=dict)

    @property
    def first(self) -> Finding:
        """The finding that speaks for the row."""
        return self.findings[0]

    @property
    def word(self) -> str:
        """Severity in a word; `error` for a rule that broke."""
        if self.first.verdict == "error":
            return "error"
        return str(self.first.severity)

    @property
    def loud_word(self) -> str:
        """Severity in capitals, as the texts print it."""
        if self.word == "error":
            return "RULE BROKE"
        return self.word.upper()

    @property
    def confidence(self) -> str:
        """How sure the finding is; empty for a rule that broke."""
        if self.word == "error":
            return ""
        return str(self.first.confidence)

    @property
    def weight(self) -> str:
        """Severity and confidence: `MAJOR likely`."""
        return f"{self.loud_word} {self.confidence}".rstrip()

    @property
    def hollow(self) -> bool:
        """True when no sign of the fault was seen: only the version fits."""
        return bool(self.first.confidence == "exposed")

    @property
    def first_time(self) -> str:
        """When the first of its findings was seen, as the document has it; empty when not known."""
        return min((one.first_seen for one in self.findings if one.first_seen), default="")

    def is_same(self, key: str) -> bool:
        """Say whether all subjects of the row have the same value under `key`; ask when the row is complete."""
        if key not in self._same:
            self._same[key] = all(
                getattr(finding, key) == getattr(self.first, key) for finding in self.findings
            )
        return self._same[key]

    @property
    def has_same_notes(self) -> bool:
        """Say whether the same sentences are added for all subjects of the row."""
        if "notes" not in self._same:
            first = list_notes(self.first)
            self._same["notes"] = all(list_notes(finding) == first for finding in self.findings)
        return self._same["notes"]

    def waits_alike(self, doc: CaseDocument) -> bool:
        """Say whether all subjects of the row wait for a cause, or none does."""
        if "wait" not in self._same:
            live = {finding.id for finding in doc.findings if not finding.muted}
            waits = {live.isdisjoint(finding.explained_by) for finding in self.findings}
            self._same["wait"] = len(waits) == 1
        return self._same["wait"]

    @property
    def names(self) -> list[str]:
        """The subjects, each name once; a name that several nodes have is followed by these nodes."""
        nodes_by_name: dict[str, list[str]] = {}
        for finding in self.findings:
            nodes_by_name.setdefault(finding.subject, []).append(finding.node)
        names = []
        for name, nodes in nodes_by_name.items():
            several = len(set(nodes)) > 1
            if several:
                names.append(f"{name} (on {join_few(nodes, 4)})")
            else:
                names.append(name)
        return names

    @property
    def worse(self) -> str:
        """The tables that could make the row worse or surer, in one sentence; empty for none."""
        tables: dict[str, None] = {}
        for finding in self.findings:
            tables.update(dict.fromkeys(finding.maybe_worse))
        if not tables:
            return ""
        names = ", ".join(tables)
        verb = "are"
        if len(tables) == 1:
            verb = "is"
        return f"May be worse or more certain than shown: {names} {verb} only partly known."

    def group_by_node(self) -> list[tuple[str, list[Finding]]]:
        """Return the nodes of the row, the worst first, each with its findings, worst first."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            found.setdefault(finding.node, []).append(finding)
        return list(found.items())

    def split_shown(self, most: int) -> tuple[list[Finding], list[Finding]]:
        """Return the findings that are shown with their evidence, and those that are shown in short.

        The first are the worst `most` and the worst of every node, of that as many again at the utmost.
        """
        worst = {id(own[0]) for _, own in self.group_by_node()}
        full: list[Finding] = []
        short: list[Finding] = []
        for place, one in enumerate(self.findings):
            wanted = place < most or (id(one) in worst and len(full) < 3 * most)
            has_proof = one.trace or one.evidence or not place
            if wanted and has_proof:
                full.append(one)
            else:
                short.append(one)
        return full, short


@dataclass(slots=True)
class Story:
    """A row that no other row explains, and the rows that it explains, each cause before its signs."""

    row: FindingGroup
    signs: list[FindingGroup] = field(default_factory=list)

    @property
    def rows(self) -> list[FindingGroup]:
        """The row, then what it explains."""
        return [self.row, *self.signs]

    @property
    def first_time(self) -> str:
        """When the first of its findings was seen, as the document has it; empty when not known."""
        return min(filter(None, (row.first_time for row in self.rows)), default="")

    @property
    def sentence(self) -> str:
        """How many findings follow from the row, and what that means for the one who fixes them; "" for none."""
        many = count_noun(len(self.signs), "more finding follows", "more findings follow")
        if many:
            return f"{many} from this: fix this first, then check whether they are gone"
        return ""

    @property
    def worse(self) -> list[FindingGroup]:
        """The folded rows that are more severe than the row they are folded under: they must stay in sight."""
        own = severity_rank(self.row.word)
        return [sign for sign in self.signs if severity_rank(sign.word) < own]

    @property
    def explains(self) -> str:
        """How many rows follow, and which of them are more severe: `explains 3 more, 1 of them critical`."""
        if not self.signs:
            return ""
        text = f"explains {len(self.signs):,} more"
        words = [sign.word for sign in self.worse]
        if not words:
            return text
        worst = min(words, key=severity_rank)
        if len(self.signs) == 1:
            return f"{text}, {worst}"
        return f"{text}, {words.count(worst):,} of them {worst}"


class CasePart(CaseDocument, kw_only=True):
    """A part of a case document. Its findings keep the order and the numbers that they have in the whole case."""

    numbers: dict[str, str]

    @property
    def places(self) -> dict[str, int]:
        """Where each finding is in the whole case, by its id."""
        return {identity: place for place, identity in enumerate(self.numbers)}

    def find_place(self, row: FindingGroup) -> int:
        """Return where the first finding of a row is in the whole case."""
        places = self.places
        return min(places.get(finding.id, len(places)) for finding in row.findings)


def take_part(doc: CaseDocument, part: CaseDocument) -> CasePart:
    """Return a part of a case document in which findings keep their numbers."""
    fields = {name: getattr(part, name) for name in CaseDocument.__struct_fields__}
    return CasePart(**fields, numbers=number_findings(doc))


def group_findings(doc: CaseDocument) -> list[FindingGroup]:
    """Return the findings that count, folded by rule and weight, in the order of `analyzer.case.ranking`."""
    live = [finding for finding in doc.findings if not finding.muted]
    return [FindingGroup(row.findings) for row in order_rows(show_as_one(live))]


def group_muted(doc: CaseDocument) -> list[FindingGroup]:
    """Return the muted findings, folded the same way."""
    muted = [finding for finding in doc.findings if finding.muted]
    return [FindingGroup(row.findings) for row in order_rows(muted)]


def show_as_one(findings: list[Finding]) -> list[Finding]:
    """Return findings, those that rest on the version alone under one title: dozens of headings would bury the rest.

    Their own title goes in front of their sentence.
    """
    many = rules_by_version(findings)
    if not many:
        return findings
    shown = []
    for one in findings:
        if one.rule not in many or not is_of_version(one):
            shown.append(one)
            continue
        articles = ""
        if one.kb:
            articles = f" KB {', '.join(map(str, one.kb))}."
        title = f"{many[one.rule]} known faults of this release, by its version alone"
        sentence = f"{one.title}. {one.say}{articles}"
        shown.append(structs.replace(one, title=title, say=sentence, kb=[]))
    return shown


def list_stories(doc: CaseDocument) -> list[Story]:
    """Return the rows of a report as stories, in the order of `analyzer.case.ranking`, also those of a part.

    A row is folded when each of its findings has a cause that is not muted and is in another row; a chain of
    causes is one story under the first of them.
    """
    live = [finding for finding in doc.findings if not finding.muted]
    stories = []
    for ranked in rank_stories(show_as_one(live)):
        row, *signs = [FindingGroup(one.findings) for one in ranked]
        stories.append(Story(row, signs))
    if isinstance(doc, CasePart):
        for story in stories:
            story.signs.sort(key=doc.find_place)
        stories.sort(key=lambda story: min(map(doc.find_place, story.rows)))
    return stories


def list_story_rows(stories: list[Story]) -> list[FindingGroup]:
    """Return all rows as they are read: each story, then what it explains."""
    return [row for story in stories for row in story.rows]


def list_rows(doc: CaseDocument) -> list[FindingGroup]:
    """Return the findings that count, folded, in the order in which every report shows them."""
    return list_story_rows(list_stories(doc))


def is_node_named(finding: Finding) -> bool:
    """Say whether what a finding is about names its machine; a host `esx1` is not in `vmnic0 of esx12`."""
    node = re.escape(finding.node)
    return re.search(rf"(?<![\w.-]){node}(?![\w.-])", finding.subject) is not None


def number_findings(doc: CaseDocument) -> dict[str, str]:
    """Return id of a finding -> its number; the first object of a row has the number alone."""
    if isinstance(doc, CasePart):
        return doc.numbers
    numbers: dict[str, str] = {}
    for number, row in enumerate(list_rows(doc), 1):
        for place, one in enumerate(row.findings, 1):
            numbers[one.id] = f"{number}.{place}" if place > 1 else str(number)
    return numbers


def number_row(row: FindingGroup, numbers: dict[str, str]) -> str:
    """Return the number of a row, given the numbers of all findings of its document."""
    return numbers.get(row.first.id, "").partition(".")[0]


def list_columns(findings: list[Finding]) -> list[str]:
    """Return the names of the values that findings differ in; none when their names differ."""
    if not findings:
        return []
    names = list(findings[0].values)
    if any(list(one.values) != names for one in findings):
        return []
    return names[:6]


def count_by_node(row: FindingGroup, most: int) -> str:
    """Return how many subjects of a row each node has: `esx01 50, esx02 50`; empty when there is one node."""
    nodes = row.group_by_node()
    if len(nodes) < 2:
        return ""
    return join_few([f"{name or 'no name'} {len(own):,}" for name, own in nodes], most)


def list_cuts(doc: CaseDocument, rule: str = "") -> list[str]:
    """Return in sentences of which rules not all subjects are shown in full; `rule` names one."""
    return [cut.say for cut in doc.cuts if rule in ("", cut.rule)]


def list_unknowns(doc: CaseDocument, *, muted: bool = False) -> list[CannotTellGroup]:
    """Return what cannot be judged and is not muted, or is."""
    return [group for group in doc.cannot_tell if bool(group.muted) is muted]


def list_notes(finding: Finding) -> list[str]:
    """Return the sentences that a finding adds to its own, but for what could not be checked."""
    return [line for line in finding.also if _DOUBT.fullmatch(line) is None]


def list_unchecked(doc: CaseDocument, row: FindingGroup) -> list[str]:
    """Return what could not be checked of the findings of a row, one sentence for each reason.

    Of several findings each sentence says for how many subjects it holds, and on which nodes.
    """
    findings = row.findings
    if len(findings) == 1:
        return [line for line in findings[0].also if _DOUBT.fullmatch(line)]
    doubts: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for finding in findings:
        for line in finding.also:
            doubt = _DOUBT.fullmatch(line)
            if doubt:
                key = (doubt["could"], doubt["ask"] or "")
                doubts.setdefault(key, []).append((doubt["why"], finding))
    sentences = []
    for (could, ask), members in doubts.items():
        reasons = [(why, finding.node) for why, finding in members]
        for why, places in count_reasons(reasons, name=False):
            who = _count_subjects(doc, row, [members[place][1] for place in places])
            sentences.append(f"Needs more data for {who}: {why}{could}{ask}")
    return sentences


def _count_subjects(doc: CaseDocument, row: FindingGroup, findings: list[Finding]) -> str:
    """Return `12 objects on 3 hosts`, `4 of 12 objects on esx02`."""
    subjects = len({one.id for one in findings})
    total = len(row.findings)
    if subjects == total:
        text = f"{subjects:,} objects"
    else:
        text = f"{subjects:,} of {total:,} objects"
    nodes = sorted({one.node for one in findings if one.node})
    if not nodes:
        return text
    if len(nodes) <= _MOST_NODES:
        return f"{text} on {list_names(nodes)}"
    kinds = {node.name: node.kind for node in doc.nodes}
    unit = "nodes"
    if {kinds.get(node) for node in nodes} == {"esxi"}:
        unit = "hosts"
    return f"{text} on {len(nodes):,} {unit}"


def waits_for_cause(doc: CaseDocument, finding: Finding) -> bool:
    """Say whether the fix of a finding waits until another finding of the case, its cause, is fixed."""
    causes = set(finding.explained_by)
    if not causes:
        return False
    for one in doc.findings:
        if one.id in causes and not one.muted:
            return True
    return False


def has_one_fix(doc: CaseDocument, row: FindingGroup) -> bool:
    """Say whether the same steps help all objects of a row, and wait for a cause with all of them or with none."""
    return row.is_same("fix") and row.waits_alike(doc)


def find_earlier_fixes(doc: CaseDocument, rows: list[FindingGroup]) -> dict[str, Finding]:
    """Return the finding that shows the fix of a row already, by the id of the row's first finding.

    One rule at three weights makes three rows. Their fixes are one when every step and the caution are the same, and
    when both wait for a cause or neither does.
    """
    shown: dict[str, list[Finding]] = {}
    earlier: dict[str, Finding] = {}
    for row in rows:
        first = row.first
        if not first.fix or not has_one_fix(doc, row):
            continue
        known = shown.setdefault(first.rule, [])
        for one in known:
            same_steps = one.fix == first.fix and one.caution == first.caution
            if same_steps and waits_for_cause(doc, one) == waits_for_cause(doc, first):
                earlier[first.id] = one
                break
        else:
            known.append(first)
    return earlier


def refer_to_fix(finding: Finding) -> str:
    """Return where the fix is: `the same as for the major finding above (web-01)`."""
    return f"the same as for the {finding.severity} finding above ({finding.subject})"
