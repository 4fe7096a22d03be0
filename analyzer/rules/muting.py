"""Applies local settings to a judgement: muted findings, changed thresholds, whose rule it was.

Nothing is left out: a muted finding stays in the case document with its reason, and every mute
and every changed threshold is recorded, those that changed nothing as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from analyzer.case.verdicts import CannotTell, Finding, Judgement, Verdict
from analyzer.rules.catalog import Catalog
from analyzer.rules.model import Rule
from analyzer.rules.settings import Mute, Settings


@dataclass(slots=True)
class MuteRecord:
    """What became of one mute in a case.

    state      holds, ran out, or undated: it holds, but the case has no date to judge its end by
    findings   findings it folds away (ran out: would have folded away); unknowns: "cannot tell" likewise
    """

    rule: str
    subject: str
    node: str
    reason: str
    until: str
    state: str
    findings: int = 0
    unknowns: int = 0


def apply_settings(
    judgement: Judgement, catalog: Catalog, settings: Settings, day: str
) -> dict[str, Any]:
    """Mark findings and "cannot tell" with what local settings say of them; return the record of the settings.

    day  the day of the case (ISO 8601), by which mutes run out; "" when it is not known
    """
    rules = {rule.id: rule for rule in catalog.rules}
    for finding in judgement.findings:
        if finding.rule in rules:
            _sign_finding(finding, rules[finding.rule], settings)
    mutes = []
    for mute in settings.mutes:
        state = {True: "holds", False: "ran out", None: "undated"}[mute.holds_on(day)]
        mutes.append(MuteRecord(mute.rule, mute.subject, mute.node, mute.reason, mute.until, state))
    pairs = list(zip(settings.mutes, mutes, strict=True))
    for finding in judgement.findings:
        if finding.verdict == Verdict.MATCH:  # a rule that broke is never muted
            _mute_item(finding, (finding.subject, finding.object), pairs)
    for unknown in judgement.cannot_tell:
        _mute_item(unknown, (unknown.subject,), pairs)
    return {
        "file": settings.file.replace("\\", "/").rpartition("/")[2],
        "sha256": settings.hash,
        "day": day if mutes else "",
        "mutes": [asdict(mute) for mute in mutes],
        "thresholds": (
            [
                {
                    "rule": rule.id,
                    "name": name,
                    "value": value,
                    "shipped": shipped,
                    "reason": _find_reason(settings, rule.id, name),
                }
                for rule in catalog.rules
                for name, (value, shipped) in rule.changed_thresholds.items()
            ]
        ),
        "unused": _list_unused(rules, settings),
        "catalogs": [
            {
                "kind": source.kind,
                "name": source.name,
                "version": source.version,
                "sha256": source.hash,
                "rules": source.rules,
                "broken": source.broken,
            }
            for source in catalog.sources
        ],
    }


def _sign_finding(finding: Finding, rule: Rule, settings: Settings) -> None:
    """Say in a finding who brought its rule and which of its thresholds are others here."""
    if rule.origin is not None and rule.origin.kind != "shipped":
        finding.origin = rule.origin.label
    if finding.verdict != Verdict.MATCH:
        return
    for name, (value, shipped) in rule.changed_thresholds.items():
        reason = _find_reason(settings, rule.id, name)
        finding.also.append(
            f"Threshold {name} is {value!r} here ({shipped!r} as shipped): {reason}."
        )


def _find_reason(settings: Settings, rule: str, name: str) -> str:
    found = (
        change.reason for change in settings.changes if (change.rule, change.name) == (rule, name)
    )
    return next(found, "no reason given").rstrip(".")


def _mute_item(
    item: Finding | CannotTell, names: Iterable[str], pairs: Iterable[tuple[Mute, MuteRecord]]
) -> None:
    """Mark one item by the first mute that covers it and holds; count it for those that ran out as well."""
    for mute, record in pairs:
        ran_out = record.state == "ran out"
        if (item.muted and not ran_out) or not mute.covers(item.rule, names, item.node):
            continue
        if isinstance(item, Finding):
            record.findings += 1
        else:
            record.unknowns += 1
        if not ran_out:
            item.muted = f"{mute.reason} (until {mute.until})"


def _list_unused(rules: Mapping[str, Rule], settings: Settings) -> list[str]:
    """Return a sentence for each threshold of the settings that changed nothing."""
    out = []
    for change in settings.changes:
        rule = rules.get(change.rule)
        if rule is None:
            out.append(
                f"Threshold {change.name} of {change.rule} was not used: the rule was not judged in this run."
            )
        elif change.name not in rule.changed_thresholds:
            out.append(
                f"Threshold {change.name} of {change.rule} is {change.value!r}, as shipped: nothing is changed."
            )
    return out
