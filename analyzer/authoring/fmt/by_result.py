"""`rules fmt --short`: the examples of a rule over rows, put below their results.

    - name: nearly full                       match:
      tables:                                   - {name: nearly full, rows: {used_pct: 91}}
        esxi.ramdisk: [{used_pct: 91}]
      expect: {result: match, severity: …}

The severity goes where the rule has one answer, the example without the table where one is made for the rule.
"""

from __future__ import annotations

from analyzer.authoring.fmt.text import MOST, one_line_scalar
from analyzer.authoring.fmt.tree import YamlEntry, YamlNode
from analyzer.rules import Rule
from analyzer.rules.short_examples import RESULT_KEYS

_DASH = 6  # columns before an example


def by_result(node: YamlNode, rule: Rule) -> YamlNode:
    """Return a list of examples as a mapping of their results; what cannot be taken apart stays as it is."""
    cases: dict[str, list[YamlEntry]] = {}
    table = rule.each.table.declared.name
    severities = {outcome.severity for outcome in rule.outcomes}
    only = severities.pop() if len(severities) == 1 and not rule.grades else ""
    for entry in node.entries:
        parts = {part.name: part.value for part in entry.value.entries}
        expect = {part.name: part.value.value for part in parts["expect"].entries}
        result = expect.get("result", "")
        if result not in RESULT_KEYS[:-1]:
            return node
        cases.setdefault(result, []).append(entry)
    missing = cases.get("cannot_tell", [])
    if len(missing) == 1 and _is_made(missing[0], table) and rule.each.table.lines_of is None:
        del cases["cannot_tell"]
    for found in cases.values():
        for entry in found:
            entry.value, entry.blank = _case(entry.value, table, only), False
    made = [
        _entry(key, YamlNode("seq", 0, 0, "block", entries=cases[key]))
        for key in RESULT_KEYS
        if key in cases
    ]
    return YamlNode("map", node.start, node.end, "block", entries=made)


def _entry(key: str, value: YamlNode) -> YamlEntry:
    return YamlEntry(one_line_scalar(key), value, 0, 0)


def _is_made(entry: YamlEntry, table: str) -> bool:
    """Tell whether an example says no more than that the table is not in the case."""
    parts = {part.name: part.value for part in entry.value.entries}
    if set(parts) != {"name", "tables", "expect"}:
        return False
    tables = {part.name: part.value.value for part in parts["tables"].entries}
    expect = {part.name: part.value.value for part in parts["expect"].entries}
    return tables == {table: "null"} and expect in (
        {"result": "cannot_tell"},
        {"result": "cannot_tell", "missing": table},
    )


def _case(node: YamlNode, table: str, only: str) -> YamlNode:
    """Return one example below its result: rows of the table of `each`, and what is expected beside the result."""
    parts: list[YamlEntry] = []
    for part in node.entries:
        if part.name == "tables" and [inner.name for inner in part.value.entries] == [table]:
            parts.append(_entry("rows", _one_row(part.value.entries[0].value)))
            continue
        if part.name == "expect":
            asked = [one for one in part.value.entries if not _goes_without(one, only)]
            expect = YamlNode("map", 0, 0, part.value.style, entries=asked)
            parts += [_entry("expect", expect)] if asked else []
            continue
        parts.append(part)
    made = YamlNode("map", node.start, node.end, "block", entries=parts)
    return _on_one_line(made)


def _goes_without(part: YamlEntry, only: str) -> bool:
    return part.name == "result" or (part.name == "severity" and part.value.value == only)


def _one_row(node: YamlNode) -> YamlNode:
    rows = node.entries
    return (
        rows[0].value
        if node.kind == "seq" and len(rows) == 1 and rows[0].value.style == "flow"
        else node
    )


def _on_one_line(node: YamlNode) -> YamlNode:
    """Return an example in braces where it fits on a line so."""
    flat = [YamlEntry(part.key, _flat(part.value), 0, 0) for part in node.entries]
    width = _DASH + sum(len(part.name) + 4 + _width(part.value) for part in flat)
    return YamlNode("map", node.start, node.end, "flow", entries=flat) if width <= MOST else node


def _flat(node: YamlNode) -> YamlNode:
    return (
        one_line_scalar(node.value, flow=True)
        if not node.style and set(node.value) & set("[]{},")
        else node
    )


def _width(node: YamlNode) -> int:
    """Return about how wide a value is on one line; far too wide for what is written in lines."""
    if node.style in ("|", ">", "block") or "\n" in node.raw:
        return MOST
    if node.kind == "scalar":
        return len(node.raw)
    return 2 + sum(
        2 + len(one.name) + 2 * bool(one.key) + _width(one.value) for one in node.entries
    )
