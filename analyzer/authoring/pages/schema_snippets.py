"""Snippets of the rule schema: what an editor offers for a new join, outcome, example, or a whole rule.

Their bodies are those of the language server protocol: `$1`, `${2:text}`, `${3|one,two|}`.
"""

from __future__ import annotations

from typing import Any

from analyzer.case.verdicts import CONFIDENCES, SEVERITIES, Verdict

Body = dict[str, Any]
_SEVERITY = "|" + ",".join(SEVERITIES) + "|"
_CONFIDENCE = "|" + ",".join(CONFIDENCES) + "|"
_RESULT = "|" + ",".join(Verdict) + "|"


def _make_snippet(label: str, description: str, body: Body) -> Body:
    return {"defaultSnippets": [{"label": label, "description": description, "body": body}]}


JOIN = _make_snippet(
    "a join", "rows of another table", {"${1:alias}": {"table": "$2", "by": ["${3:column}"]}}
)
LOG = _make_snippet(
    "a signature", "a pattern in a log", {"${1:name}": {"in": "$2", "match": "'${3:pattern}'"}}
)
SIGN = _make_snippet(
    "the lines of the trouble",
    "a pattern in a log",
    {"in": "$1", "match": "'${2:pattern}'", "per": "$3"},
)
SEEN = _make_snippet(
    "a count",
    "hits in a window",
    {"${1:name}": {"log": "${2:signature}", "at_least": "${3:3}", "within": "${4:10m}"}},
)
WHEN: Body = {
    "defaultSnippets": [
        {"label": label, "description": description, "body": body}
        for label, description, body in (
            ("sign", "there is such a line", "sign"),
            ("often", "there are so many", "often"),
            ("not over", "it has not ended", "sign and not over"),
            ("count", "so many rows", "count(${1:hit}.${2:column}) >= ${3:1}"),
            ("any", "some row", "any(${1:hit}.${2:column} > ${3:0})"),
            ("greatest", "the greatest value", "max(${1:hit}.${2:column}) > ${3:0}"),
            ("share", "the part of the rows", "share(${1:hit}.${2:column} > ${3:0}) >= ${4:0.3}"),
            ("known", "the value is there", "known(${1:column})"),
        )
    ]
}
OUTCOME = _make_snippet(
    "an outcome",
    "an answer of the rule",
    {
        "when": "${1:true}",
        "severity": f"${{2{_SEVERITY}}}",
        "confidence": f"${{3{_CONFIDENCE}}}",
        "say": '"${4:what is wrong, with {name} for a value}"',
    },
)
FIX = _make_snippet("a step", "a step of the remedy", {"where": "${1:host}", "run": "${2:command}"})
EXAMPLE = _make_snippet(
    "an example",
    "a case the rule must judge correctly",
    {
        "name": "${1:what is special about this case}",
        "tables": {"${2:table}": [{"${3:column}": "${4:value}"}]},
        "expect": {"result": f"${{5{_RESULT}}}"},
    },
)
RULE = _make_snippet(
    "a whole rule",
    "every part that a rule needs",
    {
        "rule": "${1:kb-0000000}",
        "title": "${2:the fault in one line}",
        "kb": ["${3:0}"],
        "source": "${4:where the facts and thresholds come from}",
        "status": "draft",
        "about": "${5:cause, in two to four sentences}",
        "each": "${6:alias} in ${7:table}",
        "when": "${8:condition}",
        "outcomes": [
            {
                "when": "true",
                "severity": f"${{9{_SEVERITY}}}",
                "confidence": f"${{10{_CONFIDENCE}}}",
                "say": '"${11:what is wrong, with {name} for a value}"',
            }
        ],
        "fix": [{"where": "${12:host}", "do": "${13:step}"}],
        "ask": '${14:what to request when the answer is "cannot tell"}',
        "examples": [
            {
                "name": "${15:what is special about this case}",
                "tables": {"${7:table}": [{"${16:column}": "${17:value}"}]},
                "expect": {"result": "match"},
            }
        ],
    },
)
