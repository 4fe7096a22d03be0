"""What the targets of a dump share: a target that is neither set nor in use prints two empty labels, and is a fact."""

from __future__ import annotations

from dataclasses import replace

from analyzer.artefacts.parsing import Output, Parser
from analyzer.artefacts.signs import says_bad
from analyzer.artefacts.tables import Block, Row
from analyzer.forms import Field, Made, get_block


def make_dump_target(name: str, path: str, table: str, meaning: str) -> Parser:
    """Return the parser of `esxcli system coredump … get`: `Active:` and `Configured:`, both of which may be empty."""
    form = get_block(
        name,
        path,
        table,
        meaning,
        Field("Active", "active_dump", "str", "target in use"),
        Field("Configured", "configured_dump", "str", "target that is set"),
        Made(
            "has_dump",
            "bool",
            "a target is in use: a crash (PSOD) leaves a dump",
            sign=says_bad("false", weight=3),
        ),
    )

    def parse(block: Block) -> Output:
        """Read the target; where both labels are empty the row says that there is none."""
        found = list(form.parse(block))
        rows = [item for item in found if isinstance(item, Row)]
        at = next(
            (
                n
                for n, line in enumerate(block.lines)
                if line.strip().strip('",').startswith("Active")
            ),
            None,
        )
        if not rows and at is not None:
            empty = Row(form.tables[0], form.tables[0].blank(), block, at)
            empty.line = block.first_line + at
            rows.append(empty)
            found.append(empty)
        for row in rows:
            if at is not None:
                row.values["has_dump"] = bool(row.values["active_dump"])
            else:
                row.values["has_dump"] = None
        yield from found

    # Without a template of its own: the quick look at one would not see a target whose labels are empty.
    return replace(form, parse=parse, template="")
