"""Complaints that need the examples to run: failing ones, thresholds that none of them notices, lines of two rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.artefacts.tables import Tables
from analyzer.authoring.lint.complaints import RuleFile
from analyzer.authoring.proof.mutation import find_survivors
from analyzer.authoring.proof.overlaps import TABLE, find_overlaps
from analyzer.authoring.proof.prove import prove_rules
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import FileSpan
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.authoring.proof.mutation import Survivor
    from analyzer.pipeline.examples import ExampleResult


def check_proofs(files: Sequence[RuleFile]) -> None:
    """Run the examples of all rules that load, and move their thresholds; takes seconds for a catalog."""

    rest = [(file, file.rule) for file in files if file.rule is not None]
    while rest:
        # The id of the rule tells examples apart, so a run takes each id once.
        some: dict[str, tuple[RuleFile, Rule]] = {}
        for file, rule in rest:
            some.setdefault(rule.id, (file, rule))
        proofs = prove_rules(Catalog([rule for _, rule in some.values()]))
        for (file, rule), proof in zip(some.values(), proofs, strict=True):
            for result in proof.failures:
                _report_failed(file, result)
            _check_thresholds(file, rule)
        rest = [(file, rule) for file, rule in rest if some[rule.id][0] is not file]


def check_lines(files: Sequence[RuleFile], everything: Sequence[RuleFile], tables: Tables) -> None:
    """Complain of rules that rest on a line of another rule in one of their examples, and say nothing of it.

    everything  the files of the whole catalog, those asked among them
    """
    judged: dict[str, Rule] = {}
    for file in everything:
        if file.rule is not None and not file.is_retired:
            judged.setdefault(file.rule.id, file.rule)
    catalog = Catalog(list(judged.values()), tables=tables)
    asked = {}
    for file in files:
        rule = file.rule
        if rule is not None and judged.get(rule.id) is rule:
            asked[rule.id] = file
    for one in find_overlaps([judged[name] for name in asked], catalog):
        file = asked[one.rule]
        key = "explained_by" if file.find_item("explained_by") is not None else "examples"
        text = f'`{one.beside}` rests on a line of example "{one.example}" as well, and neither names the other'
        help_text = (
            f"merge the two, name the cause under `explained_by`, or add the pair to {TABLE}"
        )
        file.complain("R096", text, file.find_place(key), help_text)


def _check_thresholds(file: RuleFile, rule: Rule) -> None:
    """Complain of numbers that no example holds in place."""
    places: dict[FileSpan, list[Survivor]] = {}
    try:
        for one in find_survivors(rule):
            places.setdefault(one.place, []).append(one)
    except BacklineError:  # a rule that cannot be judged at all: its examples say so
        return
    for place, (first, *more) in places.items():
        values = " or ".join(one.value for one in (first, *more))
        text = f"`{first.text}` may become {values} and no example notices ({first.where})"
        file.complain("R073", text, place, first.advice)


def _report_failed(file: RuleFile, result: ExampleResult) -> None:
    """Complain of an example that fails, or that passes in spite of its mark."""
    names = []
    for number, _ in enumerate(file.list_entries("examples")):
        names.append(file.read_word("examples", number, "name"))
    if result.name in names:
        place = file.find_place("examples", names.index(result.name), "expect")
    else:
        place = file.find_place("examples")
    if result.gap:
        text = f'example "{result.name}" is marked `gap: true`, but it passes now'
        file.complain("R072", text, place, "remove the mark")
        return
    wrong = "; ".join(str(one) for one in result.got.get("wrong", []))
    help_text = f"see backline rules test {file.name} for the trace"
    file.complain("R072", f'example "{result.name}": {wrong}', place, help_text)
