"""Complains when a file is not formatted as `backline rules fmt` would."""

from __future__ import annotations

from itertools import zip_longest

from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules.keys import KEYS
from analyzer.rules.language.rulefile import BadRuleError, FileSpan


def check_layout(file: RuleFile) -> None:
    """Keep one complaint: the first key out of order, else the first line that the formatter would change."""
    own = file.text.text.replace("\r\n", "\n").replace("\r", "\n")  # line ends are the author's
    try:
        wanted = format_rule(own)
    except BadRuleError:  # what it cannot lay out it leaves alone
        return
    if wanted == own:
        return
    help_text = f"run backline rules fmt {file.name}"
    order = list(KEYS)
    last = ""
    for key, place in file.tree.keys.items() if file.tree is not None else ():
        if file.tree is not None and file.tree.value[key].made:
            continue
        if key in KEYS and last and order.index(key) < order.index(last):
            file.complain("R007", f"`{key}` comes after `{last}`", place, help_text)
            return
        if key in KEYS:
            last = key
    for number, (one, two) in enumerate(zip_longest(own.splitlines(), wanted.splitlines()), 1):
        if one != two:
            line = one or ""
            start = len(line) - len(line.lstrip()) + 1
            place = FileSpan(number, start, max(1, len(line.strip())))
            file.complain(
                "R007", "`backline rules fmt` formats this line differently", place, help_text
            )
            return
    file.complain(
        "R007", "the file ends without a line feed, or with empty lines", FileSpan(), help_text
    )
