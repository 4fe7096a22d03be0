"""Every signature that tells objects apart: two objects are two subjects, and the end of one never ends the other.

A sweep over all rules of the catalog, with the lines of their own examples and a second object made of the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest

from analyzer import rules
from analyzer.artefacts.loghost import _ABOUT, _ELSE, OBJECT
from analyzer.judge import judge
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Example, Rule
from analyzer.rules.language.rulefile import FileSpan
from analyzer.scan.prefilter import literal_choices


class Told(NamedTuple):
    """Lines of an example of a rule that speak of one object.

    log, lines  where they stand, and the lines
    group       the named group that holds the object; value: what stands there
    """

    rule: Rule
    log: str
    lines: tuple[str, ...]
    group: str
    value: str

    def renamed(self) -> list[str]:
        """Return the lines with another object; [] where no other value of this form is one for the signature."""
        pattern = signature_of(self.rule)
        signs = [
            line
            for line in self.lines
            if (found := pattern.search(line)) and found[self.group] == self.value
        ]
        for other in others_like(self.value):
            made = [line.replace(self.value, other) for line in signs]
            if all((found := pattern.search(line)) and found[self.group] == other for line in made):
                return [line.replace(self.value, other) for line in self.lines]
        return []


def others_like(value: str) -> Iterator[str]:
    """Yield values of the same form: one digit or letter is another."""
    for place in range(len(value) - 1, -1, -1):
        sign = value[place]
        if sign.isdigit():
            yield value[:place] + str((int(sign) + 1) % 10) + value[place + 1 :]
        elif sign.isascii() and sign.isalpha():
            yield value[:place] + ("b" if sign != "b" else "c") + value[place + 1 :]


def signatures_of(rule: Rule) -> dict[str, re.Pattern[str]]:
    """Return the signatures of a rule by their names in it."""
    return {
        one.id.rpartition("/")[2]: re.compile(one.pattern, re.IGNORECASE if one.ignore_case else 0)
        for one in Catalog([rule]).signatures()
    }


def signature_of(rule: Rule) -> re.Pattern[str]:
    """Return the signature of the subjects of a rule."""
    return signatures_of(rule)[rule.each.table.signature]


def told_of(rule: Rule) -> Told | None:
    """Return the first example of a rule whose lines are of one object, None where the rule has none such."""
    made = next(hit for hit in rule.hits if hit.table.name == rule.each.table.name)
    pattern = signature_of(rule)
    groups = [name for name in made.per if name in pattern.groupindex]
    for example in rule.examples:
        if (
            example.made
            or example.expect.get("result") != "match"
            or example.tables
            or len(example.logs) != 1
        ):
            continue
        ((log, text),) = example.logs.items()
        lines = tuple((text or "").splitlines())
        for group in groups:
            values = {found[group] for line in lines if (found := pattern.search(line))}
            if len(values) == 1 and (value := values.pop()):
                told = Told(rule, log, lines, group, value)
                if told.renamed():
                    return told
    return None


def judged(rule: Rule, log: str, lines: list[str]) -> Mapping[str, str]:
    """Return what a rule says of lines of a log: subject -> severity."""
    example = Example("made", FileSpan(), {}, {log: "\n".join(lines) + "\n"}, (), (), {})
    facts = examples.facts_of(rule, example)
    try:
        return {one.subject: one.severity for one in judge(Catalog([rule]), facts).findings}
    finally:
        facts.close()


def woven(one: list[str], other: list[str]) -> list[str]:
    """Return the lines of two objects in turn, each in its own order."""
    return [line for pair in zip(one, other, strict=True) for line in dict.fromkeys(pair)]


# Whose lines name an object, and whose subject is the node all the same, and why that is right.
WHOLE_NODE = {
    "kb-1005006": "of ESX 3.x alone, with paths in a form of their own",
    "nsx-zero-cluster": "the ids are those of clusters, and the cluster is its object",
    "vsan-checksum-errors": "one bad disk has many components: the host is what to look at",
}

RULES = [rule for rule in rules.load().rules if rule.each.table.signature]
TOLD = {rule.id: told for rule in RULES if (told := told_of(rule)) is not None}


def test_the_sweep_is_not_empty() -> None:
    """Most rules that tell objects of a log apart are swept."""
    assert len(TOLD) > 100


@pytest.mark.parametrize("name", sorted(TOLD))
def test_two_objects_of_a_signature_are_two_subjects(name: str) -> None:
    """The same lines with another object beside them: as many findings again, the first ones as before."""
    told = TOLD[name]
    other = told.renamed()
    alone = judged(told.rule, told.log, list(told.lines))
    both = judged(told.rule, told.log, woven(list(told.lines), other))

    assert len(both) == 2 * len(alone)
    assert alone.items() <= both.items()


def ends_of(rule: Rule) -> tuple[str, list[str]] | None:
    """Return the log and the lines of an example of the trouble and its end, None for a rule without."""
    sign, end = signature_of(rule), signatures_of(rule)["cleared"]
    for example in sorted(rule.examples, key=lambda one: "cleared" not in one.name):
        if example.made or example.tables or len(example.logs) != 1:
            continue
        ((log, text),) = example.logs.items()
        lines = (text or "").splitlines()
        if any(map(sign.search, lines)) and any(map(end.search, lines)):
            return log, lines
    return None


CLEARED = {
    rule.id: (rule, *ends)
    for rule in RULES
    if "cleared" in signatures_of(rule) and (ends := ends_of(rule))
}


def named_in(rule: Rule) -> set[str]:
    """Return the objects that the lines of a rule's examples name, where the rule makes no subjects of them."""
    made = next(hit for hit in rule.hits if hit.table.name == rule.each.table.name)
    if set(made.per) - {"node"}:
        return set()
    sign = signature_of(rule)
    texts = [
        text
        for one in rule.examples
        if one.expect.get("result") == "match"
        for text in one.logs.values()
    ]
    lines = [line for text in texts for line in (text or "").splitlines() if sign.search(line)]
    return {found.group() for line in lines for found in OBJECT.finditer(line)}


def test_no_signature_drops_the_object_that_its_lines_name() -> None:
    """A line that names a NIC, a device, a disk or a target makes a subject of it, or the list above says why not."""
    dropped = {rule.id: named for rule in RULES if (named := named_in(rule))}

    assert dropped.keys() <= WHOLE_NODE.keys(), dropped


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES if "cleared" in signatures_of(rule)], ids=lambda rule: rule.id
)
def test_an_end_names_what_the_trouble_names(rule: Rule) -> None:
    """What tells the subjects of the trouble apart stands in the line of its end as well."""
    made = next(hit for hit in rule.hits if hit.table.name == rule.each.table.name)
    groups = set(made.per) & set(signature_of(rule).groupindex)

    assert groups <= set(signatures_of(rule)["cleared"].groupindex)


@pytest.mark.parametrize("name", sorted(CLEARED))
def test_the_end_of_one_object_never_ends_another(name: str) -> None:
    """Trouble of two objects, the end of one: the other is judged as if it stood alone, without an end."""
    rule, log, lines = CLEARED[name]
    end, sign = signatures_of(rule)["cleared"], signature_of(rule)
    trouble = [line for line in lines if not end.search(line)]
    made = next(hit for hit in rule.hits if hit.table.name == rule.each.table.name)
    group = next((one for one in made.per if one in sign.groupindex), "")
    if not group:
        assert set(made.per) <= {
            "node"
        }  # the whole node is what is troubled, and what is well again
        return
    value = next(found[group] for line in lines if (found := sign.search(line)))
    other = Told(rule, log, tuple(lines), group, value).renamed()
    assert other
    open_alone, ended_alone = judged(rule, log, trouble), judged(rule, log, other)
    later = [
        line[:11] + "23" + line[13:] for line in other if end.search(line)
    ]  # so that the log goes on
    both = judged(rule, log, sorted([*trouble, *other, *later], key=lambda line: line[:24]))

    if open_alone:
        assert both == {**open_alone, **ended_alone}
    else:  # where the log stops at once the end may still come
        assert any(value in subject for subject in both.keys() - ended_alone.keys())


def test_what_is_looked_for_before_a_form_of_an_object_is_in_every_match_of_it() -> None:
    """The word of a form stands in each text that the form fits, or the form would be passed over."""
    for word, form in (*_ABOUT, *_ELSE):
        certain = [
            next(iter(choice.texts))
            for choice in literal_choices(form.pattern)
            if len(choice.texts) == 1 and not choice.ignore_case
        ]
        assert not word or any(word in text for text in certain), form.pattern
