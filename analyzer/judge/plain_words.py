"""Parts of a condition in plain words, for the "Why" of a finding: names of columns, and no rule language.

Authors read their own language in `rules explain`; who reads a report has not seen the rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.rules.language.expression import Alias, ExprNode
from analyzer.rules.language.template import show_number

_COMPARED = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
_FOLDED = {
    "any": "some {rows} where {what}",
    "all": "every {rows} where {what}",
    "share": "share of {rows} where {what}",
    "count": "number of {rows} where {what}",
    "sum": "sum of {what} over {rows}",
    "max": "largest {what} of {rows}",
    "min": "smallest {what} of {rows}",
    "mean": "mean {what} of {rows}",
}
_JOINED = ("and", "or", "+", "-", "*", "/")
_EXTREMES = {"least": "smallest", "greatest": "largest"}
_TITLES = {"only": "Looked at when", "when": "Found when"}


def title(name: str, said: str) -> str:
    """Return a condition in words behind its part of the rule: `only`, `when`, `outcome 2, major`, `fix 1`."""
    part, _, rest = name.partition(" ")
    if part == "outcome":
        rest = f"Outcome {rest}, when"
    elif part == "grade":
        rest = f"Severity {rest}, when"
    elif part == "fix":
        rest = f"Step {rest} of the fix, when"
    return f"{_TITLES.get(name, rest)}: {said}"


def name(text: str) -> str:
    """Return the name that a rule gives a value as words."""
    return text.replace("_", " ")


def in_words(node: ExprNode, aliases: Mapping[str, Alias], inside: bool = False) -> str:
    """Return a part of a condition in words.

    inside  it stands within an aggregate, which names the rows itself
    """

    def part(child: ExprNode) -> str:
        said = in_words(child, aliases, inside)
        return f"({said})" if child.op in _JOINED and node.op in ("not", *_JOINED) else said

    if node.is_aggregate:
        return _folded(node, aliases)
    if not node.args:
        return _leaf(node, aliases, inside)
    match node.op:
        case "let":
            return name(node.name)
        case "not":
            denied = node.args[0]
            return (
                f"{part(denied.args[0])} is not known"
                if denied.op == "known"
                else f"not {part(denied)}"
            )
        case "neg":
            return f"-{part(node.args[0])}"
        case "compare":
            return f"{part(node.args[0])} {_COMPARED[node.name]} {part(node.args[1])}"
        case "in":
            return f"{part(node.args[0])} is one of {', '.join(map(part, node.args[1:]))}"
        case "known":
            return f"{part(node.args[0])} is known"
        case "least" | "greatest":
            return f"the {_EXTREMES[node.op]} of {', '.join(map(part, node.args))}"
        case _:
            return f" {node.op} ".join(map(part, node.args))


def _leaf(node: ExprNode, aliases: Mapping[str, Alias], inside: bool) -> str:
    """Return a value that is made of no other: a constant, a column, a row, lines of a log."""
    match node.op:
        case "column":
            return node.column if inside else f"{node.column} of {_rows(aliases[node.name], 'the')}"
        case "row":
            return _rows(aliases[node.name], "the row of")
        case "seen":
            return _seen("seen in the log", node)
        case "seen_field":
            return _seen(f"{name(node.column)} of the log lines", node)
        case _:
            return show_number(node.value) if isinstance(node.value, float) else node.text


def _seen(said: str, node: ExprNode) -> str:
    """Return what is said of log lines; `sign` is what the short form of a rule calls the only ones."""
    return said if node.name == "sign" else f"{said} ({name(node.name)})"


def _folded(node: ExprNode, aliases: Mapping[str, Alias]) -> str:
    """Return an aggregate in words: what is counted or measured, over which rows."""
    rows, what = _rows(aliases[node.name]), node.args[0]
    if node.op == "count" and what.op == "row":
        return f"number of {rows}"
    said = in_words(what, aliases, inside=True)
    if node.op == "count" and what.op == "column":
        said = f"{said} is known"
    return _FOLDED[node.op].format(what=said, rows=rows)


def _rows(alias: Alias, lead: str = "rows of") -> str:
    """Return what rows of a table are to a reader: log lines, rows of the catalog, rows of a table by its name."""
    table = alias.table
    if table.lines_of is not None:
        return "the log line" if lead != "rows of" else f"log lines ({name(table.signature)})"
    if table.given is not None:
        return "the catalog" if lead != "rows of" else "entries of the catalog"
    return f"{lead} {table.name}" if lead != "the" else table.name
