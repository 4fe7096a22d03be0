"""Labels of engineers: a finding confirmed or rejected, or a rule that should have matched and did not.

A label is an object that never changes; of several for one thing the newest counts, and one that says
"removed" takes it back. Who said it is kept only where given: nothing is taken from the environment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from analyzer.archive.entry import Stored
from analyzer.archive.store import Archive
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Finding
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line

CONFIRMED, REJECTED, REMOVED = "confirmed", "rejected", "removed"
HEALTHY = "healthy"  # in place of a rule: what is said of the whole case
LONGEST = 2000  # characters of a note


@dataclass(frozen=True, slots=True)
class Label:
    """One label; `id` is the case's, `missed` tells that the rule was silent, `at` is ISO 8601 UTC."""

    id: str
    rule: str
    node: str
    subject: str
    label: str
    at: str
    missed: bool = False
    by: str = ""
    note: str = ""


def current_labels(archive: Archive, case: str | None = None) -> list[Label]:
    """Return the labels that count, by case, rule, node and subject; of one case when `case` is its id.

    To show those of a case, see `order_labels`.
    """
    found = []
    for item in archive.read_labels():
        if case is None or item["id"] == case:
            texts = {
                key: str(item.get(key) or "")
                for key in ("id", "rule", "node", "subject", "label", "at", "by", "note")
            }
            found.append(Label(**texts, missed=item.get("missed") is True))
    return [label for label in found if label.label in (CONFIRMED, REJECTED)]


@dataclass(frozen=True, slots=True)
class LabelRequest:
    """What an engineer wants to label; empty `node` and `subject` mean whatever the rule found."""

    rule: str
    node: str = ""
    subject: str = ""
    label: str = CONFIRMED
    missed: bool = False
    force: bool = False
    by: str = ""
    note: str = ""


def give_labels(
    archive: Archive, case: Stored, asked: LabelRequest, now: datetime | None = None
) -> list[Label]:
    """Store labels for the findings that are meant, and return them.

    Raises UsageError when the case has no such finding (unless `missed` or `force`), and the other way
    round when a finding is said to be missed that is there.
    """
    if len(asked.note) > LONGEST:
        raise UsageError(f"the note is longer than {LONGEST} characters", do="Say it shorter.")
    stamp = (now or datetime.now(UTC)).astimezone(UTC)
    at = stamp.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if asked.label == REMOVED:
        things = [
            (label.node, label.subject)
            for label in current_labels(archive, case.id)
            if label.rule == asked.rule and _is_meant(asked, label.node, label.subject)
        ]
        if not things:
            raise UsageError(
                f"there is no such label of rule {_shorten_text(asked.rule)}",
                do="`backline archive show CASE` lists them.",
            )
    else:
        things = _labelled_things(archive, case, asked)
    given = []
    for node, subject in things:
        label = Label(
            case.id, asked.rule, node, subject, asked.label, at, asked.missed, asked.by, asked.note
        )
        archive.put_label(asdict(label))
        given.append(label)
    return given


def _labelled_things(archive: Archive, case: Stored, asked: LabelRequest) -> list[tuple[str, str]]:
    """Return node and subject of each finding that is meant."""
    if case.judged.kind == "none":
        raise UsageError(
            "this case was refused: it has no findings", do="Label a case that was judged."
        )
    if asked.rule == HEALTHY:
        if asked.missed or asked.node or asked.subject:
            raise UsageError(
                "healthy is said of a whole case", do="Leave --missed, --node and --subject out."
            )
        return [("", "")]
    document = archive.read_document(case)
    findings = [item for item in document.findings if item.rule == asked.rule]
    found = [
        (item.node, item.subject) for item in findings if _is_meant(asked, item.node, item.subject)
    ]
    if asked.missed:
        if found and not asked.force:
            raise UsageError(
                f"rule {_shorten_text(asked.rule)} did match here",
                do="Confirm or reject what it found.",
            )
        _check_known(document, asked)
        # The machine a missed finding belongs to: the one named, or the only one
        names = [node.name for node in document.nodes]
        if asked.node or asked.force:
            if asked.node not in names and not asked.force:
                raise UsageError(
                    f"the case has no machine {_shorten_text(asked.node)}",
                    do=did_you_mean(asked.node, names),
                )
            node = asked.node
        else:
            node = names[0] if len(names) == 1 else ""
        return [(node, asked.subject)]
    if found:
        return list(dict.fromkeys(found))
    if asked.force:
        return [(asked.node, asked.subject)]
    _check_known(document, asked)
    if findings:
        there = ", ".join(
            _shorten_text(" / ".join(filter(None, (item.node, item.subject))))
            for item in findings[:5]
        )
        raise UsageError(
            f"rule {_shorten_text(asked.rule)} found nothing like that here",
            why=f"it found {there}",
        )
    do = "If it should have, give --missed --confirm; --force labels it anyway."
    raise UsageError(f"rule {_shorten_text(asked.rule)} found nothing in this case", do=do)


def _check_known(document: CaseDocument, asked: LabelRequest) -> None:
    """Refuse a rule that did not judge the case: a slip of the pen would be a label no one ever finds."""
    rules = {finding.rule for finding in document.findings}
    rules |= {row.rule for row in document.quiet}
    rules |= {rule for question in document.cannot_tell for rule in question.rules}
    if asked.rule not in rules and not asked.force:
        do = (
            did_you_mean(asked.rule, rules)
            or "`backline rules list` lists them; --force labels it anyway."
        )
        raise UsageError(f"no rule {_shorten_text(asked.rule)} judged this case", do=do)


def _is_meant(asked: LabelRequest, node: str, subject: str) -> bool:
    return asked.node in ("", node) and asked.subject in ("", subject)


def _shorten_text(text: str) -> str:
    return f'"{one_line(text, 80)}"'


def order_labels(labels: Iterable[Label], findings: Iterable[Finding]) -> list[Label]:
    """Return labels in the order of the findings that they speak of, the worst first; those of no finding last."""
    places: dict[tuple[str, str, str], int] = {}
    for place, one in enumerate(findings):
        places.setdefault((one.rule, one.node, one.subject), place)
    return sorted(
        labels, key=lambda one: places.get((one.rule, one.node, one.subject), len(places))
    )


def label_lines(labels: Iterable[Label]) -> list[str]:
    """Return a line for each label, for people."""
    lines = []
    for label in labels:
        thing = " / ".join(filter(None, (label.node, label.subject))) or "the case"
        what = f"{label.label}{', missed by the rule' if label.missed else ''}"
        line = (
            f"{label.rule}: {what}: {thing} ({label.at[:10]}{', ' + label.by if label.by else ''})"
        )
        lines.append(one_line(line + (f": {label.note}" if label.note else "")))
    return lines
