"""Whole triages of mutated cases, which are then shown, redacted, compared, stored or read twice.

    python -m tests.kit.fuzz_ways --seconds 3600 --seed 1

A round is named by one number; `--only N` repeats it in every way. Rounds that take long are named, and so are rules that
became quiet though the lines they rested on are still there: what is mutated may be what settles them, so each is
for somebody to judge. A question that was dropped though nobody answered it is a failure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from analyzer.archive.packs import encode
from analyzer.archive.restore import recall
from analyzer.archive.store import Archive
from analyzer.case import case_file
from analyzer.case.document import CaseDocument
from analyzer.case.verdicts import Verdict
from analyzer.compare import CaseSide, compare_cases
from analyzer.judge import judge
from analyzer.pipeline.case_data import CaseData
from analyzer.pipeline.triage import Options
from analyzer.redact.redaction import Redaction
from analyzer.report import comparison
from analyzer.rules import Catalog
from tests.kit import archive_kit, every_form, fuzz_kit, hostile
from tests.kit.fuzz_kit import Material


@dataclass(slots=True)
class ReadCase:
    """A case that was read and judged."""

    given: Material
    document: CaseDocument
    material: CaseData
    redaction: Redaction

    @property
    def side(self) -> CaseSide:
        """The case as a side of a comparison."""
        return CaseSide(self.material.name, self.document, self.material.facts)


def read_case(given: Material, *, redacts: bool = False) -> ReadCase | None:
    """Triage a case, None where nothing of it could be read; AssertionError when something failed inside.

    redacts  learns the names for `redact_case`, before the judge puts lines of logs into the facts
    """
    gathered: list[CaseData] = []
    redaction = Redaction()

    def take(material: CaseData) -> None:
        gathered.append(material)
        if redacts:
            redaction.take_facts(material.facts)

    with tempfile.TemporaryDirectory() as folder:
        path = (
            Path(folder) / "mutated-7"
        )  # of a plain name, such as case, the folder above would be the name
        path.mkdir()
        answer = hostile.ask(fuzz_kit.written(given, path), options=Options(on_gathered=take))
    if answer.document is None:
        return None
    return ReadCase(given, answer.document, gathered[0], redaction)


@cache
def read_sound(name: str) -> ReadCase:
    """Return a sample case as it is."""
    found = read_case(fuzz_kit.sound(name))
    assert found is not None
    return found


def show_forms(case: ReadCase, _sound: str) -> None:
    """Every form can be made, and making it changes nothing."""
    before = case_file.write_case(case.document)
    every_form.render_forms(case.document)
    assert case_file.write_case(case.document) == before, "rendering changed the document"


def redact_case(case: ReadCase, _sound: str) -> None:
    """No form of the redacted case has a name; LeftNameError where one has."""
    document = case.redaction.redact_document(case.document)
    case.redaction.check_results(every_form.render_forms(document))


def compare_with_sound(case: ReadCase, sound: str) -> None:
    """The case can be compared with what it was before, in every form."""
    document = compare_cases([read_sound(sound).side, case.side])
    assert comparison.render_html(document)
    assert comparison.render_markdown(document)


def store_case(case: ReadCase, _sound: str) -> None:
    """Stored, and judged again from its pack, the case is the same."""
    before = case_file.write_case(case.document)
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive.open(Path(folder) / "archive", create=True)
        judged = archive_kit.judged(case.material)
        pack = encode.encode_case(case.material, judged, archive_kit.meta_of("case"))
        stored = archive_kit.stored(archive, "case", pack)
        assert archive.document_text(stored) == before, "stored as another document"
        again = recall.recall_case(archive, stored, archive_kit.catalog().signatures())
        assert archive_kit.text_of(again) == before, "another document from the archive"


def read_again(case: ReadCase, _sound: str) -> None:
    """Read again, the case has the same bytes."""
    again = read_case(case.given)
    assert again is not None
    assert case_file.write_case(again.document) == case_file.write_case(case.document)


LONG = 10.0  # seconds of CPU
WAYS: tuple[Callable[[ReadCase, str], None], ...] = (
    show_forms,
    compare_with_sound,
    redact_case,
    compare_with_sound,
    store_case,
    compare_with_sound,
    read_again,
    compare_with_sound,
)  # reading takes most of a round: the cheapest way makes room for more of them


def list_quiet(case: ReadCase, sound: str) -> Iterator[str]:
    """Yield the rules that had something to say of the sound case, whose lines are all still there, and that say nothing.

    A rule that could not tell may know now what it asked for: `list_lost_questions` has those that do not.
    """
    said = list_speaking(case.document)
    text = "\n".join(raw.decode("utf-8", "surrogateescape") for raw in case.given.values())
    for finding in read_sound(sound).document.findings:
        if finding.rule not in said and all(one.text in text for one in finding.evidence):
            yield finding.rule


def list_lost_questions(case: ReadCase, sound: str) -> Iterator[str]:
    """Yield the rules that asked for the table of their subjects, say nothing now, and still do not have it.

    Whatever else was changed, a machine whose rows nobody saw may have a bad one. Where the machine lost its name, the
    table may be any machine's.
    """
    said = list_speaking(case.document)
    facts = case.material.facts
    names = {facts.name(key) for key in facts.nodes}
    kinds = {node.kind for node in case.document.nodes}
    before = read_sound(sound).document
    for group in before.cannot_tell:
        if kinds.isdisjoint(node.kind for node in before.nodes if node.name in group.nodes):
            continue  # no machine of the kind is left to be asked
        silent = [rule for rule in group.rules if rule not in said]
        silent = [rule for rule in silent if _read_tables()[rule] == group.missing]
        if not silent:
            continue
        there = {facts.name(key) for key in facts.nodes_with(group.missing)}
        asked = names.intersection(group.nodes)
        if not asked <= there or not there:
            for rule in silent:
                if not is_settled(case, rule):
                    yield f"{rule} asked for {group.missing}"


def is_settled(case: ReadCase, name: str) -> bool:
    """Say whether a rule says no of what nobody saw, whatever it is: another of its conditions is known by now."""
    (rule,) = [one for one in archive_kit.catalog().rules if one.id == name]
    said = judge(Catalog([rule]), case.material.facts, explain=name)
    settled = (Verdict.NO_MATCH, Verdict.NOT_APPLICABLE)
    return any(not one.subject and one.verdict in settled for one in said.explained)


@cache
def _read_tables() -> dict[str, str]:
    """Return the table of the subjects of each rule."""
    return {rule.id: rule.each.table.declared_table.name for rule in archive_kit.catalog().rules}


def list_speaking(document: CaseDocument) -> set[str]:
    """Return the rules that say something of a case: a finding, or that they cannot tell."""
    said = {finding.rule for finding in document.findings}
    return said.union(*(group.rules for group in document.cannot_tell))


def run_round(seed: int, *, every_way: bool = False) -> ReadCase | None:
    """Go one way with a mutated case; the exception where it failed inside."""
    ways = tuple(dict.fromkeys(WAYS)) if every_way else (WAYS[seed % len(WAYS)],)
    case = read_case(fuzz_kit.mutated(seed), redacts=redact_case in ways)
    if case is not None:
        sound = fuzz_kit.choose_case(seed)
        lost = list(list_lost_questions(case, sound))
        assert not lost, f"became quiet: {', '.join(lost)}"
        for way in ways:
            way(case, sound)
    return case


def report_round(seed: int, *, every_way: bool) -> bool:
    """Run a round and print what is odd about it; True when nothing failed."""
    start = time.process_time()
    try:
        case = run_round(seed, every_way=every_way)
    except Exception:  # noqa: BLE001 - whatever fails is what is looked for
        print(f"--- seed {seed}\n{traceback.format_exc(limit=-6)}", flush=True)
        return False
    took = time.process_time() - start
    if took > LONG:
        print(f"seed {seed} took {took:.0f} s", flush=True)
    for rule in list_quiet(case, fuzz_kit.choose_case(seed)) if case else ():
        print(f"seed {seed}: {rule} became quiet", flush=True)
    return True


def main() -> int:
    """Fuzz for a time; print each failure with its seed."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=60)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--only", type=int)
    asked = ask.parse_args()
    end, rounds, passed = time.monotonic() + asked.seconds, 0, 0
    with hostile.rules_read_once():
        if asked.only is not None:
            return 0 if report_round(asked.only, every_way=True) else 1
        while time.monotonic() < end:
            passed += report_round(asked.seed + rounds, every_way=False)
            rounds += 1
    print(f"{passed} passed, {rounds - passed} failed")
    return 0 if passed == rounds else 1


if __name__ == "__main__":
    sys.exit(main())
