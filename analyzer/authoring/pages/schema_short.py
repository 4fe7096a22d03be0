"""The short form in the rule schema: `sign`, `cleared`, the one answer, examples as bare lines or rows."""

from __future__ import annotations

from analyzer.authoring.pages.schema_parts import TEXT, Schema
from analyzer.rules import keys as rule_keys
from analyzer.rules import short, short_examples

# Keys that one form has and the other has not.
_LONG_ONLY = ("each", "population")
EXAMPLE_KEYS = tuple(dict.fromkeys((*short_examples.RESULT_KEYS[:-1], *short_examples.SHORT_KEYS)))


def type_sign(log: Schema, counted: Schema) -> Schema:
    """Return the keys of `sign`, out of those of a signature and of a question to its lines."""
    texts: Schema = {"type": ["string", "array"], "items": {"type": "string"}, "minItems": 1}
    names = {"minLength": 1, "examples": ["node", "device"]}
    return (
        _choose_keys(log, short.SIGN_KEYS)
        | {"per": texts | names}
        | _choose_keys(counted, ("at_least", "within", "distinct"))
    )


def type_cleared(log: Schema, span: Schema, answer: Schema) -> Schema:
    """Return the keys of `cleared`."""
    return (
        _choose_keys(log, short.CLEARED_KEYS)
        | {"longer_than": span}
        | _choose_keys(answer, short.ANSWER_KEYS)
    )


def _choose_keys(parts: Schema, names: tuple[str, ...]) -> Schema:
    return {name: parts[name] for name in names if name in parts}


def type_case(expect: Schema) -> Schema:
    """Return the keys of one case that is more than lines."""
    return {"name": TEXT, "lines": TEXT} | _choose_keys(expect, short_examples.CASE_KEYS)


def bare_examples(long: Schema, either: Schema) -> Schema:
    """Return the keys of `examples` below their results; `more` holds examples of the long form."""
    cases = {"type": ["string", "array"], "items": either, "minLength": 1}
    return dict.fromkeys(EXAMPLE_KEYS, cases) | {"more": long}


_CLEARED: Schema = {"type": "object", "required": ["cleared"]}
_BARE_CLEARED: Schema = {"required": ["examples"], "properties": {"examples": _CLEARED}}


def type_forms(severe: Schema) -> Schema:
    """Return what makes a rule one of the two forms, and whole in it.

    severe  every outcome has a severity
    """
    graded: Schema = {
        "required": ["grade"],
        "properties": {"grade": {"type": "array", "minItems": 1}},
    }
    answered: Schema = {
        "if": {"required": ["outcomes"]},
        "then": severe | {"not": any_of(short.ANSWER_KEYS)},
    }
    one: Schema = {"required": ["severity"]}
    ended: Schema = {"properties": {"cleared": {"not": {"required": ["severity"]}}}}
    of_lines: Schema = {"propertyNames": {"enum": list(short_examples.SHORT_KEYS)}}
    short_form: Schema = {
        "not": any_of(_LONG_ONLY),
        "if": {"required": ["outcomes"]},
        "then": ended,
        "else": {"if": graded, "else": one},
        "properties": {"examples": of_lines},
    }
    of_rows: Schema = {
        "properties": {
            key: {"type": "array", "items": {"type": "object"}}
            for key in short_examples.RESULT_KEYS[:-1]
        },
        "propertyNames": {"enum": list(short_examples.RESULT_KEYS)},
    }
    long_form: Schema = {
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


def any_of(names: tuple[str, ...]) -> Schema:
    """Return the schema of a mapping that has one of some keys at least."""
    return {"anyOf": [{"required": [name]} for name in names]}
