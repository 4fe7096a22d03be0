"""Which release a host runs: one row a host, chosen from all places that state a version.

A bundle states its version in a dozen places, and old logs still name the release before an upgrade. The place that is
trusted most decides (`rank`: the running system, then what was installed, then logs, then configuration); what others
state is kept beside it.
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


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that state a version, the most trusted first."""
    stated = [row for row in rows if row.values.get("version")]
    return sorted(stated, key=lambda row: row.values.get("rank") or UNRANKED)


def build_of(stated: Sequence[Row]) -> Value:
    """Return the build number of the version that the first of some ranked rows states, None when nobody tells it."""
    version = stated[0].values.get("version") if stated else None
    same = (row for row in stated if row.values.get("version") == version)
    return next((row.values["build"] for row in same if row.values.get("build")), None)


def put(facts: Facts) -> set[str]:
    """Make the table of releases from what the facts state; return its name when its rows are not those it had.

    Rows that were given by hand, without any statement to choose from, stay.
    """
    if STATED not in facts.tables or (facts.count(MADE) and not facts.count(STATED)):
        return set()
    stated: defaultdict[str, list[Row]] = defaultdict(list)
    for row in facts.store(STATED).rows:
        stated[row.block.node].append(row)
    rows = [_row(best) for _, own in sorted(stated.items()) if (best := ranked(own))]
    there = {row.block.node for row in rows}
    nodes = facts.nodes_with(STATED)
    covers = {key: Coverage("read") if key in there else _untold(facts, key) for key in nodes}
    return {MADE} if facts.derive(parsing.tables()[MADE], rows, covers) else set()


def _untold(facts: Facts, node: str) -> Coverage:
    """Return the coverage of a host whose version nobody states: it has one all the same."""
    known = facts.coverage(node, STATED)
    if known.state != "read":
        return known
    return Coverage("unparsed", f"the version of {facts.name(node)} does not appear in any file")


def _row(stated: Sequence[Row]) -> Row:
    best = stated[0]
    build = build_of(stated)
    known = builds.find_release("esxi", build) if isinstance(build, int) else None
    others = {
        str(row.values["version"]): str(row.values.get("origin") or "") for row in reversed(stated)
    }
    others.pop(str(best.values["version"]))
    values: dict[str, Value] = {
        "version": best.values["version"],
        "build": build,
        "release": known.name
        if known is not None and known.version == best.values["version"]
        else None,
        "update_text": best.values.get("update_text"),
        "origin": best.values.get("origin"),
        "others": ", ".join(
            f"{version} ({place})" if place else version
            for version, place in sorted(others.items())
        )
        or None,
    }
    return Row(parsing.tables()[MADE], values, best.block, best.line, dict(best.lines))
