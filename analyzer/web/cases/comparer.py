"""`python -m analyzer.web.cases.comparer`: the process that compares cases for the page.

The order comes as one line of JSON on stdin, as that of an analysis (analyst.py) does, and ends with it:

    {"sides": [{"name", "files", "path"}, …], "out": folder, "parent": pid, …}   and how cases are judged

A side may be {"name", "archive", "case"}: a stored case, by its id or name.

One line goes out: {"type": "end", "state": "done"} or "failed" with the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.archive.query.sides import stored_side
from analyzer.archive.store import Archive
from analyzer.compare import compare_cases, read_sides
from analyzer.compare.sides import number_names
from analyzer.pipeline.triage import Options
from analyzer.report import comparison
from analyzer.rules.run_options import RunOptions
from analyzer.runtime.output import write_all
from analyzer.web.cases.labelled import places_of
from analyzer.web.cases.order_process import answer_order
from analyzer.web.cases.progress_writer import ProgressWriter

if TYPE_CHECKING:
    from analyzer.compare.sides import Recall
    from analyzer.sources.remote import Place


def compare_sides(order: Mapping[str, Any], _: ProgressWriter) -> dict[str, Any]:
    """Compare the sides of an order and write the results; return the last line."""
    _write_results(order["sides"], Path(order["out"]), RunOptions.of_record(dict(order)))
    return {"state": "done"}


def _write_results(sides: Sequence[Mapping[str, Any]], out: Path, how: RunOptions) -> None:
    folders = [Path(side["path"]) for side in sides if side.get("path")]
    local, _ = how.local(folders)
    given_sides: list[Sequence[Place] | Recall] = []
    for given in sides:
        if "archive" in given:
            archive = Archive.open(given["archive"])
            given_sides.append(
                stored_side(archive, archive.take_snapshot().find_case(given["case"]))
            )
        else:
            given_sides.append(places_of(given))
    found = read_sides(
        given_sides,
        Options(how.limits, how.folders(), local, with_drafts=how.drafts),
    )
    for side, given in zip(found, sides, strict=True):
        side.name = str(given["name"]) or side.name
    document = compare_cases(number_names(found))
    texts = (
        comparison.dump_document(document),
        comparison.render_html(document),
        comparison.render_markdown(document),
    )
    write_all(out, dict(zip(comparison.FILES, texts, strict=True)))


if __name__ == "__main__":
    answer_order(compare_sides, "the comparison failed")
