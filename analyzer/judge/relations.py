"""Relations between findings: ids, causes and signs, the order to read them in."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from analyzer.case.ranking import RANKED, place_findings
from analyzer.case.verdicts import SEVERITIES, Finding, Verdict
from analyzer.facts.other_names import same_name

_SLUG = re.compile(r"[^a-z0-9]+")


def relate(
    findings: list[Finding],
    explained_by: Mapping[str, Sequence[str]],
    rests_on: Sequence[tuple[Finding, str]] = (),
    names: Mapping[str, str] | None = None,
) -> None:
    """Give ids, tie each sign to its cause, and sort as `analyzer.case.ranking` does.

    explained_by  rule -> rules whose finding on the same object explains it. `rule/row` is what a rule over known
                  problems says of a row of the catalog; a row of the rule itself is explained by what stands before it
    rests_on      findings with a further object that each rests on: causes are looked for there as well
    names         name of an object -> the name it goes by, see `other_names`
    """
    rows = {id(finding): finding.id for finding in findings}
    _name(findings)
    _Ties(findings, rests_on, names or {}, rows).tie(explained_by)
    known = {id(finding): finding for finding in findings}
    records = [
        {name: getattr(finding, name) for name in RANKED} | {"is": id(finding)}
        for finding in findings
    ]
    findings[:] = [known[record["is"]] for record in place_findings(records)]


def slug(text: str) -> str:
    """Return a name as a part of an id: a-z, 0-9 and dashes."""
    return _SLUG.sub("-", text.lower()).strip("-")[:80].rstrip("-") or "case"


def _name(findings: list[Finding]) -> None:
    """Give each finding an id that is the same in every run: rule/object, with the node where two have one.

    What a row of the catalog tells (its key stands as id till now) is rule/row/object.
    """
    groups: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        row = f"{slug(finding.id)}/" if finding.id else ""
        groups[f"{finding.rule}/{row}{slug(finding.object)}"].append(finding)
    for base, members in groups.items():
        nodes = {finding.node for finding in members}
        taken: Counter[str] = Counter()
        for finding in members:
            name = base if len(nodes) == 1 else f"{base}@{slug(finding.node)}"
            taken[name] += 1
            finding.id = name if taken[name] == 1 else f"{name}-{taken[name]}"


class _Ties:
    """Finds the findings that explain others, by the objects they speak of."""

    def __init__(
        self,
        findings: Sequence[Finding],
        rests_on: Sequence[tuple[Finding, str]],
        names: Mapping[str, str],
        rows: Mapping[int, str],
    ) -> None:
        self.names = names
        self.rows = rows
        self.matches = [finding for finding in findings if finding.verdict == Verdict.MATCH]
        self.by_id = {finding.id: finding for finding in self.matches}
        self.further: defaultdict[int, list[str]] = defaultdict(list)
        for finding, thing in rests_on:
            self.further[id(finding)].append(thing)
        self.causes: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
        for finding in self.matches:
            vague = finding.severity == "info" and finding.confidence == "possible"
            if (
                finding.confidence != "exposed" and not vague
            ):  # a version alone explains nothing, nor does a mere hint
                thing = self._same(finding.object)
                self.causes[finding.rule, thing].append(finding)
                if row := self._row(finding):
                    self.causes[row, thing].append(finding)

    def _same(self, thing: str) -> str:
        name = same_name(thing)
        first = name.partition(".")[
            0
        ]  # a Manager tells the domain of a host that the host's own files leave out
        return self.names.get(name, self.names.get(first, name))

    def tie(self, explained_by: Mapping[str, Sequence[str]]) -> None:
        """Write into each sign what explains it, and into each cause what it explains; the worse of a circle leads."""
        named = {
            id(sign): sign.explained_by for sign in self.matches
        }  # rules that a row of the catalog names
        for sign in self.matches:
            sign.explained_by = []
        for sign in sorted(
            self.matches, key=lambda one: SEVERITIES.index(one.severity), reverse=True
        ):
            things = dict.fromkeys(
                self._same(thing) for thing in (sign.object, *self.further[id(sign)])
            )
            for rule in (*self._before(sign, explained_by.get(sign.rule, ())), *named[id(sign)]):
                for thing in things:
                    self._tie(sign, self.causes.get((rule, thing), ()))

    def _row(self, finding: Finding) -> str:
        """Return the row of the catalog behind a finding as `rule/row`, "" where none is."""
        row = self.rows.get(id(finding), "")
        return f"{finding.rule}/{row}" if row else ""

    def _before(self, sign: Finding, rules: Sequence[str]) -> Sequence[str]:
        """Return the rules that may explain a sign: of a row that is among them itself those that stand before it."""
        own = self._row(sign)
        return rules[: rules.index(own)] if own in rules else rules

    def _tie(self, sign: Finding, causes: Sequence[Finding]) -> None:
        near = [cause for cause in causes if cause.node == sign.node]
        for cause in near or causes:
            if cause.id not in sign.explained_by and not self._rests(cause, sign):
                sign.explained_by.append(cause.id)
                cause.explains.append(sign.id)

    def _rests(self, finding: Finding, cause: Finding) -> bool:
        """Tell whether a finding is another one, or is explained by it, over any number of others."""
        seen: set[str] = set()
        waiting = [finding.id]
        while waiting:
            at = waiting.pop()
            if at == cause.id:
                return True
            if at not in seen:
                seen.add(at)
                waiting += self.by_id[at].explained_by
        return False
