"""Complaints about a rule's examples: answers without one, and whether the real parser is used."""

from __future__ import annotations

from analyzer.authoring.lint.complaints import RuleFile, empty
from analyzer.language.rulefile import FileSpan


def check(file: RuleFile) -> None:
    """Keep the complaints about what the examples leave out."""
    if file.retired:
        return
    numbers = [number for number, _ in enumerate(file.entries("examples"))]
    proven = [number for number in numbers if file.word("examples", number, "gap") != "true"]
    results = {file.word("examples", number, "expect", "result") for number in proven}
    wanted: list[tuple[str, ...]] = [("match",), ("no_match",), ("cannot_tell",)]
    if file.word("when") == "true":  # where the gate alone decides, the other answer is "not applicable"
        wanted[1] = ("no_match", "not_applicable")
    missing = [" or ".join(choice) for choice in wanted if not results & set(choice)]
    place: FileSpan = file.key("examples")
    if missing:
        text = f"no example expects {', '.join(f'`{name}`' for name in missing)}"
        help_text = "an answer without an example may be wrong and nobody sees it"
        file.complain("R070", text, place, help_text)
    if not any(not empty(file.at("examples", number, "files")) for number in proven):
        text = "no example has `files`: that the parser reads what a host prints is not shown"
        file.complain("R071", text, place, "add one with the text as the host prints it")
