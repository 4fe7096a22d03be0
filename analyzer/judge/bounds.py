"""Which shown values are only bounds: in a storm or a cut log not every line is known.

A count of lines that were not all kept is "at least" that, and so is a greatest value; a smallest one is "at most".
Of times these are "or later" and "or earlier".
"""

from __future__ import annotations

from analyzer.case.verdicts import Reason
from analyzer.judge.trace import TraceContext
from analyzer.rules.language.expression import ExprNode
from analyzer.rules.language.template import Template

_WORDS = {"count": "at least ", "max": "at least ", "min": "at most "}
_TIMES = {"max": " or later", "min": " or earlier"}
_SEEN_COUNT = "count"


def filled(template: Template, why: TraceContext) -> str:
    """Return a text with the values of a subject, those that are bounds marked as such."""
    return template.fill(why.value, lambda node: bound(node, why), why.machine)[0]


def values(template: Template, why: TraceContext) -> dict[str, str]:
    """Return the values a text shows by their names in the rule, those that are bounds marked as such."""
    return template.values(why.value, lambda node: bound(node, why))


def bound(node: ExprNode, why: TraceContext) -> str:
    """Return `at least `, ` or later`, … for a value over lines of which there may be more, else "" ."""
    if node.op == "let":
        return bound(node.args[0], why)
    if node.op == "seen_field":
        answer = why.answers.get(node.name)
        return (
            _WORDS["count"]
            if node.column == _SEEN_COUNT and answer is not None and answer.more
            else ""
        )
    if node.op not in _WORDS or node.type not in ("int", "float", "time"):
        return ""
    alias = why.rule.aliases[node.name]
    if alias.table.lines_of is None:
        cut = why.facts.coverage(why.detail.node, alias.table.name).state == "cut"
    else:
        cause = why.absent(node.name)
        cut = cause.table is alias.table and cause.reason in (Reason.UNREADABLE, Reason.UNPARSED)
    return (_TIMES if node.type == "time" else _WORDS)[node.op] if cut else ""
