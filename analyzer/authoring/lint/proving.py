"""Complaints that need the examples to run: failing ones, and thresholds that none of them notices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from analyzer.authoring.lint.complaints import RuleFile
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import FileSpan
from analyzer.runtime.errors import BacklineError

if TYPE_CHECKING:
    from analyzer.authoring.proof.mutation import Survivor
    from analyzer.pipeline.examples import ExampleResult


def check(files: Sequence[RuleFile]) -> None:
    """Run the examples of all rules that load, and move their thresholds; takes seconds for a catalog."""
    from analyzer.authoring.proof.prove import prove  # noqa: PLC0415 - the judge and its database are for this only

    for some in _apart([file for file in files if file.rule is not None]):
        proofs = prove(Catalog([_rule(file) for file in some]))
        for file, proof in zip(some, proofs, strict=True):
            for result in proof.failed:
                _failed(file, result)
            _thresholds(file)


def _rule(file: RuleFile) -> Rule:
    assert file.rule is not None
    return file.rule


def _apart(files: Sequence[RuleFile]) -> Iterator[list[RuleFile]]:
    """Yield stretches of files in which no id stands twice: examples are told apart by it."""
    rest = list(files)
    while rest:
        some: dict[str, RuleFile] = {}
        for file in rest:
            some.setdefault(_rule(file).id, file)
        yield list(some.values())
        rest = [file for file in rest if some[_rule(file).id] is not file]


def _thresholds(file: RuleFile) -> None:
    from analyzer.authoring.proof.mutation import survivors  # noqa: PLC0415 - with the judge

    places: dict[FileSpan, list[Survivor]] = {}
    try:
        for one in survivors(_rule(file)):
            places.setdefault(one.place, []).append(one)
    except BacklineError:  # a rule that cannot be judged at all: its examples have told so
        return
    for place, (first, *more) in places.items():
        values = " or ".join(one.value for one in (first, *more))
        text = f"`{first.text}` may become {values} and no example notices ({first.where})"
        file.complain("R073", text, place, first.advice)


def _failed(file: RuleFile, result: ExampleResult) -> None:
    names = [
        file.word("examples", number, "name") for number, _ in enumerate(file.entries("examples"))
    ]
    place = (
        file.key("examples", names.index(result.name), "expect")
        if result.name in names
        else file.key("examples")
    )
    if result.gap:
        text = f'example "{result.name}" is marked `gap: true`, but it passes now'
        file.complain("R072", text, place, "remove the mark")
        return
    wrong = "; ".join(str(one) for one in result.got.get("wrong", []))
    help_text = f"see backline rules test {file.name} for the trace"
    file.complain("R072", f'example "{result.name}": {wrong}', place, help_text)
