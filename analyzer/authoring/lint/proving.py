"""Complaints that need the examples to run: failing ones, and thresholds that none of them notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.authoring.proof.mutation import find_survivors
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
