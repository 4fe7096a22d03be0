"""The short form in the rule schema: `sign`, `cleared`, the one answer, examples as bare lines or rows."""

from __future__ import annotations

from typing import Any

from analyzer.authoring.pages.schema_parts import TEXT
from analyzer.rules import keys as rule_keys
from analyzer.rules import short, short_examples

# Keys that one form has and the other has not.
_LONG_ONLY = ("each", "population")
EXAMPLE_KEYS = tuple(dict.fromkeys((*short_examples.RESULT_KEYS[:-1], *short_examples.SHORT_KEYS)))


def type_sign(log: dict[str, Any], counted: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of `sign`, out of those of a signature and of a question to its lines."""
    texts: dict[str, Any] = {
        "type": ["string", "array"],
        "items": {"type": "string"},
        "minItems": 1,
    }
    names = {"minLength": 1, "examples": ["node", "device"]}
    return (
        _choose_keys(log, short.SIGN_KEYS)
        | {"per": texts | names}
        | _choose_keys(counted, ("at_least", "within", "distinct"))
    )


def type_cleared(
    log: dict[str, Any], span: dict[str, Any], answer: dict[str, Any]
) -> dict[str, Any]:
    """Return the keys of `cleared`."""
    return (
        _choose_keys(log, short.CLEARED_KEYS)
        | {"longer_than": span}
        | _choose_keys(answer, short.ANSWER_KEYS)
    )


def _choose_keys(parts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: parts[name] for name in names if name in parts}


def type_case(expect: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of one case that is more than lines."""
    return {"name": TEXT, "lines": TEXT} | _choose_keys(expect, short_examples.CASE_KEYS)


def bare_examples(long: dict[str, Any], either: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of `examples` below their results; `more` holds examples of the long form."""
    cases = {"type": ["string", "array"], "items": either, "minLength": 1}
    return dict.fromkeys(EXAMPLE_KEYS, cases) | {"more": long}


_CLEARED: dict[str, Any] = {"type": "object", "required": ["cleared"]}
_BARE_CLEARED: dict[str, Any] = {"required": ["examples"], "properties": {"examples": _CLEARED}}


def type_forms(severe: dict[str, Any]) -> dict[str, Any]:
    """Return what makes a rule one of the two forms, and whole in it.

    severe  every outcome has a severity
    """
    graded: dict[str, Any] = {
        "required": ["grade"],
        "properties": {"grade": {"type": "array", "minItems": 1}},
    }
    answered: dict[str, Any] = {
        "if": {"required": ["outcomes"]},
        "then": severe | {"not": any_of(short.ANSWER_KEYS)},
    }
    one: dict[str, Any] = {"required": ["severity"]}
    ended: dict[str, Any] = {"properties": {"cleared": {"not": {"required": ["severity"]}}}}
    of_lines: dict[str, Any] = {"propertyNames": {"enum": list(short_examples.SHORT_KEYS)}}
    short_form: dict[str, Any] = {
        "not": any_of(_LONG_ONLY),
        "if": {"required": ["outcomes"]},
        "then": ended,
        "else": {"if": graded, "else": one},
        "properties": {"examples": of_lines},
    }
    of_rows: dict[str, Any] = {
        "properties": {
            key: {"type": "array", "items": {"type": "object"}}
            for key in short_examples.RESULT_KEYS[:-1]
        },
        "propertyNames": {"enum": list(short_examples.RESULT_KEYS)},
    }
    long_form: dict[str, Any] = {
        "required": [
            name for name in rule_keys.NEEDED if name not in ("rule", "title", "outcomes")
        ],
        "properties": {"examples": of_rows},
        "if": {"not": {"required": ["outcomes"]}},
        "then": {
            "if": graded,
            "then": {"if": {"required": ["say"]}, "else": {"required": ["confidence"]}},
            "else": one,
        },
    }
    return {
        "dependencies": {short.CLEARED: [short.SIGN]},
        "allOf": [
            {"if": _BARE_CLEARED, "then": {"required": [short.CLEARED]}},
            {"if": {"required": [short.SIGN]}, "then": short_form, "else": long_form},
            {"if": graded, "else": answered},
            {"if": {"required": ["outcomes"]}, "then": {"not": any_of(short.ANSWER_KEYS)}},
        ],
    }


def any_of(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of a mapping that has one of some keys at least."""
    return {"anyOf": [{"required": [name]} for name in names]}
