"""`python -m analyzer.web.cases.drafter`: the process that drafts a rule from a line of a case for the page.

The order comes as one line of JSON on stdin, as that of an analysis (analyst.py) does, and ends with it:

    {"name", "files", "path", "address": "bundle.tgz!…/vmkernel.log:120", "parent": pid, …}

One line goes out: {"type": "end", "state": "done", "text": the rule as YAML} or "failed" with the error. It is the draft
of `backline rules new my-rule --from-lines ADDRESS`, names masked; nothing is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.authoring.draft import draft, pick, source
from analyzer.pipeline.triage import Options
from analyzer.rules.run_options import RunOptions
from analyzer.web.cases.labelled import places_of
from analyzer.web.cases.order_process import answer_order
from analyzer.web.cases.progress_writer import ProgressWriter

RULE_ID = "my-rule"


def draft_text(order: Mapping[str, Any], _: ProgressWriter) -> dict[str, Any]:
    """Return the last line of an order: the draft of a rule."""
    options = Options(RunOptions.of_record(dict(order)).limits)
    picked = pick.pick_lines(places_of(order), [pick.read_spec(order["address"])], options)
    try:
        made = source.read_lines(picked)
    finally:
        picked.facts.close()
    return {"state": "done", "text": draft.draft_rule(RULE_ID, "", made).text}


if __name__ == "__main__":
    answer_order(draft_text, "the rule cannot be drafted")
