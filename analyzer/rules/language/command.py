"""Commands to copy, with values of the case in them.

A value comes from the customer's files and may have been written by anybody: a VM can be named
`x; reboot`. So a value goes into a command only when no shell (sh, bash, cmd, PowerShell, the CLI of
an appliance) reads anything in it: plain letters, digits and `. _ : -` as they are, a few harmless
signs more in single quotes. Of any other value, and of an unknown one, the command keeps a
placeholder like `<interface>`. A value that begins with a dash would be read as an option and
stays out as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from analyzer.rules.language.expression import ExprNode, NameScope
from analyzer.rules.language.rulefile import RuleItem, RuleText
from analyzer.rules.language.template import Template, parse_template, show_value

LONGEST = 200
_PLAIN = re.compile(r"[A-Za-z0-9._:][A-Za-z0-9._:-]*\Z")
_QUOTED = re.compile(r"[A-Za-z0-9._:/@+=,][A-Za-z0-9._:/@+=, -]*\Z")
_WORDS = re.compile(r"[A-Za-z0-9_]+")


def quote_word(value: object, spec: str = "") -> str | None:
    """Return a value as a word of a command, None when it must not or cannot stand in one."""
    if value is None:
        return None
    text = show_value(value, spec)
    if len(text) > LONGEST:
        return None
    if _PLAIN.match(text):
        return text
    return f"'{text}'" if _QUOTED.match(text) else None


def describe_gap(node: ExprNode) -> str:
    """Return what is in a command in place of a value: `<interface>` for `guest.interface`."""
    words = _WORDS.findall(node.text)
    return f"<{words[-1] if words else 'value'}>"


def fill_command(template: Template, value: Callable[[ExprNode], object]) -> str:
    """Return a command with its values."""
    return "".join(
        part
        if isinstance(part, str)
        else quote_word(value(part[0]), part[1]) or describe_gap(part[0])
        for part in template.parts
    )


def parse_command(item: RuleItem, rule: RuleText, scope: NameScope) -> Template:
    """Return the template of a command; raises BadRuleError where a value could not be kept from the shell.

    The tool puts the quotes: inside quotes of the author they would end those, and a here-document
    has none.
    """
    template = parse_template(item, rule, scope)
    before = ""
    for part in template.parts:
        if isinstance(part, str):
            before += part
        elif _open_quote(before) or "<<" in before:
            what = "a value is inside quotes or a here-document of `run`"
            raise rule.error(
                what, item.place, "leave the quotes out; the tool quotes a value where it must"
            )
        else:
            before += "x"
    return template


def _open_quote(text: str) -> bool:
    """Say whether a shell would be inside quotes at the end of a text."""
    quote, skip = "", False
    for sign in text:
        if skip:
            skip = False
        elif sign == "\\" and quote != "'":
            skip = True
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"`":
            quote = sign
    return bool(quote)
