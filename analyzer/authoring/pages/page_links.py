"""Links from the documentation to the pages that are made from the program.

The Markdown in `docs/` names the command that prints such a page, because there is no file to link to. Where the page
exists, on the site and in the help of the drag-in page, the command in a sentence becomes a link to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

PAGE_COMMANDS = {
    "backline --help": "cli.md",
    "backline archive --help": "cli.md#backline-archive",
    "backline rules doc": "rules.md",
    "backline rules schema": "rule-schema.json",
    "backline show --schema": "case-schema.json",
    "backline tables --doc": "tables.md",
}
_FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!\[)`([^`\n]+)`(?!\])")


def link_code(text: str, link_of: Callable[[str], str]) -> str:
    """Return a Markdown page with links on code spans; blocks of code, headings and texts of links stay as they are.

    link_of  returns where a code span leads, "" where it is only code
    """

    def link_span(match: re.Match[str]) -> str:
        target = link_of(match[1])
        if target:
            return f"[{match[0]}]({target})"
        return match[0]

    parts = _FENCE.split(text)
    for place in range(0, len(parts), 2):
        lines = parts[place].split("\n")
        texts = []
        for line in lines:
            if line.startswith("#"):
                texts.append(line)
            else:
                texts.append(_CODE.sub(link_span, line))
        parts[place] = "\n".join(texts)
    return "".join(parts)


def command_link(code: str, folder: str = "") -> str:
    """Return the page that a command prints, seen from a page in `folder`; "" for any other code."""
    page = PAGE_COMMANDS.get(code, "")
    if page and folder:
        return f"{'../' * len(folder.split('/'))}{page}"
    return page
