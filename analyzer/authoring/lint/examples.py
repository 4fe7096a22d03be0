"""Complaints about a rule's examples: answers without one, and whether the real parser is used."""

from __future__ import annotations

from analyzer.authoring.lint.complaints import RuleFile, is_empty
from analyzer.rules.language.rulefile import FileSpan


def check_examples(file: RuleFile) -> None:
    """Keep the complaints about what the examples leave out."""
    if file.is_retired:
        return
    # The answers that have an example, made ones among them, and whether the real reader is asked.
    results = {*file.list_pairs("examples"), "cannot_tell"}
    read = True
    if file.rule is not None:
        proven = [example for example in file.rule.examples if not example.gap]
        results = {str(example.expect["result"]) for example in proven}
        read = any(example.files for example in proven)
    elif not file.list_pairs("examples"):  # no bare lines, which bring made examples along
        numbers = []
        for number, _ in enumerate(file.list_entries("examples")):
            if file.read_word("examples", number, "gap") != "true":
                numbers.append(number)
        results = {file.read_word("examples", number, "expect", "result") for number in numbers}
        read = any(not is_empty(file.find_item("examples", number, "files")) for number in numbers)
    wanted: list[tuple[str, ...]] = [("match",), ("no_match",), ("cannot_tell",)]
    if file.read_word("when") == "true":  # the gate alone decides: otherwise "not applicable"
        wanted[1] = ("no_match", "not_applicable")
    if file.read_word("unasked") == "true":  # nobody is asked for its table
        wanted[2] = ("cannot_tell", "not_applicable")
    missing = []
    for choice in wanted:
        if not results & set(choice):
            missing.append(" or ".join(choice))
    place: FileSpan = file.find_place("examples")
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        text = f"no example expects {names}"
        help_text = "an answer without an example may be wrong without anybody noticing"
        file.complain("R070", text, place, help_text)
    if not read:
        text = "no example has `files`, so nothing shows that the parser reads what a host prints"
        file.complain("R071", text, place, "add one with the text as the host prints it")
