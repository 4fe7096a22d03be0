"""Which release a host runs: one row a host, chosen from all places that state a version.

A bundle states its version in a dozen places, and old logs still name the release before an upgrade. The place that is
trusted most decides (`rank`: the running system, then what was installed, then logs, then configuration); what others
state is kept next to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from analyzer.artefacts import builds, parsing
from analyzer.artefacts.tables import Row, Value
from analyzer.facts.records import Coverage
from analyzer.facts.store import Facts

STATED, MADE = "esxi.version", "esxi.release"
UNRANKED = 50


def rank_statements(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that state a version, the most trusted first."""
    stated = [row for row in rows if row.values.get("version")]
    return sorted(stated, key=lambda row: row.values.get("rank") or UNRANKED)


def find_build(stated: Sequence[Row]) -> Value:
    """Return the build number of the version that the first of some ranked rows states, None when no row has it."""
    version = None
    if stated:
        version = stated[0].values.get("version")
    for row in stated:
        if row.values.get("version") == version and row.values.get("build"):
            return row.values["build"]
    return None


def put_releases(facts: Facts) -> set[str]:
    """Make the table of releases from what the facts state; return its name when its rows are not those it had.

    Rows that were given by hand, without any statement to choose from, stay.
    """
    if STATED not in facts.tables or (facts.count(MADE) and not facts.count(STATED)):
        return set()
    stated: defaultdict[str, list[Row]] = defaultdict(list)
    for row in facts.store(STATED).rows:
        stated[row.block.node].append(row)
    rows = []
    covers = {}
    for node in facts.nodes_with(STATED):
        covers[node] = facts.coverage(node, STATED)
        if covers[node].state == "read":  # a host has a version even where no file states it
            why = f"the version of {facts.name(node)} does not appear in any file"
            covers[node] = Coverage("unparsed", why)
    for node, own in sorted(stated.items()):
        ranked = rank_statements(own)
        if ranked:
            rows.append(make_release(ranked))
            covers[node] = Coverage("read")
    if facts.derive(parsing.tables()[MADE], rows, covers):
        return {MADE}
    return set()


def make_release(stated: Sequence[Row]) -> Row:
    """Return the release of a host from the rows that state it, the most trusted first."""
    best = stated[0]
    version = best.values["version"]
    build = find_build(stated)
    known = None
    if isinstance(build, int):
        known = builds.find_release("esxi", build)
    others = {}
    for row in reversed(stated):
        version = str(row.values["version"])
        others[version] = str(row.values.get("origin") or "")
    others.pop(str(version))
    shown = []
    for other, place in sorted(others.items()):
        if place:
            shown.append(f"{other} ({place})")
        else:
            shown.append(other)
    values: dict[str, Value] = {
        "version": version,
        "build": build,
        "release": known.name if known is not None and known.version == version else None,
        "update_text": best.values.get("update_text"),
        "origin": best.values.get("origin"),
        "others": ", ".join(shown) or None,
    }
    return Row(parsing.tables()[MADE], values, best.block, best.line, dict(best.lines))
