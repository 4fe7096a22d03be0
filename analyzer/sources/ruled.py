"""Commands that stand between two rules of dashes, where a program prints the outputs of many below one another.

Source: NSX CLI guide. `get support-bundle` without a file prints 80 dashes, a command with its path, 80 dashes and
its output, for all commands of the node. `on <node> exec <command>` heads the answer of each node with its id, kind and
name between dashes as long as that line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from analyzer.sources.prompts import ESXI, MOST_TYPED, NSXT_EDGE, NSXT_MANAGER, Prompt

FORM = "ruled"
LINES = 3  # a rule, the command, a rule
_LEAST = 40  # dashes: the ruler of a table has blanks between its columns, or is shorter
_EXEC = re.compile(r"on\s+.{1,2000}?\bexec\s+(?P<command>\S.*)$")
_COMMAND = re.compile(r"/(?:[\w.+-]+/)*[\w.+-]+(?:\s.*)?$")
_NODE = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\s+(?P<kind>ctl|edg|esx|mgr)\s+(?P<host>\S+)$"
)
_KINDS = {"ctl": NSXT_MANAGER, "mgr": NSXT_MANAGER, "edg": NSXT_EDGE, "esx": ESXI}


def is_head(lines: Sequence[str], at: int) -> bool:
    """Say whether a line is the upper rule of a head that names a command or a node."""
    if not lines[at].startswith("-" * _LEAST) or at + LINES > len(lines):
        return False
    rule = lines[at].rstrip()
    if (
        len(rule) != rule.count("-")
        or lines[at + 2].rstrip() != rule
        or len(lines[at + 1]) > MOST_TYPED
    ):
        return False
    text = lines[at + 1].strip()
    return bool(_COMMAND.match(text) or _NODE.match(text))


def find_heads(lines: Sequence[str]) -> list[int]:
    """Return the places of all heads in order: those of their upper rules."""
    rule = "-" * _LEAST
    return [at for at, line in enumerate(lines) if line.startswith(rule) and is_head(lines, at)]


def make_prompt(text: str, above: Prompt | None) -> Prompt:
    """Return the prompt that a head stands for: whose output follows, and which command printed it.

    text   the line between the rules
    above  the last prompt before it, whose command printed all of it
    """
    text = text.strip()
    if node := _NODE.match(text):
        kind, host = node.group("kind", "host")
        command = _EXEC.sub(r"\g<command>", above.command) if above else ""
        return Prompt(FORM, host, _KINDS[kind], True, command)
    if above is None:
        return Prompt(FORM, "", "", False, text)
    return replace(above, form=FORM, command=text)
