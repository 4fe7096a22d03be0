"""Checks a draft against the case it was drafted from: what its signatures find there, and what it reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.authoring.draft.draft import Draft, Remarks
from analyzer.authoring.draft.generalise import LEAST_LITERAL, DraftSignature
from analyzer.authoring.explain import casework
from analyzer.authoring.fmt.yamltext import write_quoted
from analyzer.judge import judge
from analyzer.rules import Catalog, parse
from analyzer.scan.hits import Hit
from analyzer.scan.hits import Signature as Wanted

SHOWN = 3  # hits of a signature that are shown
COMMON = 100  # a signature that finds more than one line in so many is too general,
FEW = 20  # unless these are few lines: a short log proves nothing


@dataclass(slots=True)
class SignatureCount:
    """What one signature finds in a case.

    hits    lines it finds; at_least when they were not all counted
    lines   lines of its log in the case, over so many members
    narrow  lines that the narrower pattern finds, None when there is none
    """

    signature: DraftSignature
    chosen: int
    hits: int = 0
    at_least: bool = False
    lines: int = 0
    members: int = 0
    narrow: int | None = None
    shown: list[Hit] = field(default_factory=list)

    @property
    def too_general(self) -> str:
        """Why the signature is too general, "" when it is not."""
        if self.signature.literal < LEAST_LITERAL:
            plain = f"it holds no {LEAST_LITERAL} plain characters in a row"
            return f"{plain}, so it is slow to search for and matches almost anything"
        if self.hits > max(self.chosen, FEW) and self.hits * COMMON > self.lines:
            share = self.hits / max(1, self.lines)
            return f"it finds {self.hits:,} of {self.lines:,} lines ({share:.1%})"
        return ""

    @property
    def proposal(self) -> str:
        """The narrower pattern when it helps."""
        helps = self.narrow is not None and self.narrow < self.hits
        if self.too_general and helps:
            return self.signature.narrow
        return ""


@dataclass(slots=True)
class CaseCheck:
    """What a draft does in its case: its signatures, and how many subjects got which verdict."""

    counts: list[SignatureCount]
    verdicts: dict[str, int]
    subjects: list[str]
    unsure: str = ""

    def list_remarks(self) -> Remarks:
        """Return the comments for the file: what each signature finds, and a narrower one."""
        found = Remarks()
        for count in self.counts:
            more = ""
            if count.at_least:
                more = "at least "
            remarks = [
                f"finds {more}{count.hits:,} of {count.lines:,} lines of the case, {count.chosen} of them chosen"
            ]
            if count.too_general:
                remarks.append(f"TOO GENERAL: {count.too_general}")
            if count.proposal:
                proposal = write_quoted(count.proposal)
                remarks.append(f"narrower, {count.narrow:,} lines: {proposal}")
            elif count.too_general:
                remarks.append(
                    "nothing narrower in these lines: take more words, or lines that are rarer"
                )
            found.of[count.signature.name] = remarks
        return found


def check_draft(draft: Draft, paths: Sequence[Path]) -> CaseCheck:
    """Read the case at `paths` once more and try the draft on it."""
    rule = parse(draft.text)
    narrow = {one.name: one.narrow for one in draft.signatures if one.narrow != one.pattern}
    wanted = [
        *Catalog([rule]).signatures(),
        *(Wanted(f"narrow/{n}", draft.tables[n], p) for n, p in narrow.items()),
    ]
    facts = casework.read_case(paths, wanted).facts
    try:
        judgement = judge(Catalog([rule]), facts)
        counts = []
        for one in draft.signatures:
            table = draft.tables[one.name]
            count = SignatureCount(one, len(one.lines))
            if one.name in narrow:
                count.narrow = 0
            name = f"{rule.id}/{one.name}"
            for scan in facts.scans:
                if scan.table != table:
                    continue
                count.lines += scan.lines
                count.members += scan.counts.get(name, 0) > 0
                count.hits += scan.counts.get(name, 0)
                count.at_least |= name in scan.at_least
                count.shown += [hit for hit in scan.hits if hit.signature == name][
                    : SHOWN - len(count.shown)
                ]
                if count.narrow is not None:
                    count.narrow += scan.counts.get(f"narrow/{one.name}", 0)
            counts.append(count)
    finally:
        facts.close()
    verdicts = {
        verdict: count for verdict, count in judgement.counts.get(rule.id, {}).items() if count
    }
    subjects = []
    for finding in judgement.findings:
        subjects.append(f"{finding.subject} on {finding.node}")
    return CaseCheck(
        counts, verdicts, subjects, judgement.cannot_tell[0].why if judgement.cannot_tell else ""
    )
