"""Wording of the checker: types, Python features that rules lack, operators of other languages."""

from __future__ import annotations

TYPES: dict[str, str] = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "text",
    "version": "a version",
    "time": "a time",
    "group": "text of a log line",
}
PLAIN = {
    "Lambda": "lambda",
    "IfExp": "if … else",
    "Subscript": "[…]",
    "List": "a list",
    "Tuple": "a comma",
    "Dict": "a dictionary",
    "JoinedStr": "an f-string",
    "ListComp": "a loop",
    "GeneratorExp": "a loop",
    "SetComp": "a loop",
    "DictComp": "a loop",
    "NamedExpr": ":=",
    "Await": "await",
    "Starred": "*",
    "Mod": "%",
    "Pow": "**",
    "FloorDiv": "//",
    "BitAnd": "& (write and)",
    "BitOr": "| (write or)",
    "BitXor": "^",
    "LShift": "<<",
    "RShift": ">>",
    "MatMult": "@",
}


def short(text: str) -> str:
    """Return an expression as a message quotes it."""
    return text if len(text) <= 60 else text[:59] + "…"


def syntax_help(text: str) -> str:
    """Return what helps with a text that Python cannot read, "" when that is not clear."""
    if "&&" in text or "||" in text or "!" in text.replace("!=", ""):
        return "write and, or, not"
    if "=" in text.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", ""):
        return "compare with =="
    return ""
