"""Prints a fix that several rows share once, at the first of them; the others refer to it."""

from __future__ import annotations

from analyzer.report.finding_rows import FindingGroup
from analyzer.report.view import has_one_fix, waits_for_cause
from analyzer.report.wording import Doc


def find_earlier_fixes(doc: Doc, rows: list[FindingGroup]) -> dict[str, Doc]:
    """Return the finding that shows the fix of a row already, by the id of the row's first finding.

    One rule at three weights makes three rows. Their fixes are one when every step is the same, and when both wait
    for a cause or neither does.
    """
    shown: dict[str, list[Doc]] = {}
    found: dict[str, Doc] = {}
    for row in rows:
        first = row.first
        if not first["fix"] or not has_one_fix(doc, row):
            continue
        known = shown.setdefault(first["rule"], [])
        same = next((one for one in known if _have_same_fix(doc, one, first)), None)
        if same is None:
            known.append(first)
        else:
            found[first["id"]] = same
    return found


def _have_same_fix(doc: Doc, one: Doc, other: Doc) -> bool:
    """Tell whether two findings advise the same steps with the same caution, at the same time."""
    if one["fix"] != other["fix"] or one["caution"] != other["caution"]:
        return False
    return waits_for_cause(doc, one) == waits_for_cause(doc, other)


def refer_to_fix(finding: Doc) -> str:
    """Return where the fix stands: `the same as for the major finding above (web-01)`."""
    return f"the same as for the {finding['severity']} finding above ({finding['subject']})"
