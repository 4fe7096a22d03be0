"""What hundreds of rules cost a case that most of them have nothing to say of: counted, not timed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main
from analyzer.facts import Facts
from analyzer.judge import whole_catalog
from analyzer.pipeline.triage import Options, triage
from analyzer.rules import Rule, catalog
from analyzer.rules.column_usage import needs_of
from analyzer.rules.language.rulefile import RuleText
from analyzer.scan.signatures import SignatureSet
from tests.kit import many_rules

CASES = Path(__file__).parents[2] / "samples" / "cases"
RULES = 300


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of rules and the filled cache beside it."""
    top = tmp_path_factory.mktemp("many")
    many_rules.write(top / "kb", RULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BACKLINE_CACHE", str(top / "cache"))
        triage([CASES / "lab-ring-before"], Options(kb=[top / "kb"]))
    return top


@pytest.fixture
def work(kb: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what is done from now on: YAML files read, rules read whole, signatures compiled, tables with rows."""
    done: dict[str, Any] = {"yaml": [], "whole": set(), "compiled": [], "there": {}, "rules": []}
    monkeypatch.setenv("BACKLINE_CACHE", str(kb / "cache"))
    tree, later, compile_set, alone = (
        RuleText.read_tree,
        catalog._RestOfRule.__call__,
        SignatureSet.compile,
        whole_catalog.judge_rule,
    )

    def compiled(one: SignatureSet) -> None:
        if not one.needles:
            done["compiled"] += [signature.table for signature in one.signatures]
        compile_set(one)

    def judged(rule: Rule, facts: Facts, *args: Any, **words: Any) -> Any:
        done["rules"].append(rule)
        done["there"][rule.id] = any(facts.count(name) for name in needs_of(rule).tables)
        done["logs"] = {scan.table for scan in facts.scans}
        return alone(rule, facts, *args, **words)

    monkeypatch.setattr(
        RuleText, "read_tree", lambda text: done["yaml"].append(text.name) or tree(text)
    )
    monkeypatch.setattr(
        catalog._RestOfRule,
        "__call__",
        lambda self, rule: done["whole"].add(rule.id) or later(self, rule),
    )
    monkeypatch.setattr(SignatureSet, "compile", compiled)
    monkeypatch.setattr(whole_catalog, "judge_rule", judged)
    return done


@pytest.mark.size
@pytest.mark.parametrize("case", ["lab-ring-before", "nsx-633-site"])
def test_a_rule_without_anything_to_look_at_is_a_line_in_the_list(
    case: str, kb: Path, work: dict[str, Any]
) -> None:
    """Of 300 rules no file is read as YAML; whole are read those with rows to look at or questions to logs."""
    triage([CASES / case], Options(kb=[kb / "kb"]))
    assert work["yaml"] == []
    assert len(work["rules"]) > RULES
    idle = {
        rule.id
        for rule in work["rules"]
        if not (work["there"][rule.id] or needs_of(rule).asks_logs)
    }
    assert len(idle) > RULES / 2
    assert idle.isdisjoint(work["whole"])


@pytest.mark.size
@pytest.mark.parametrize(("case", "none"), [("lab-ring-before", True), ("nsx-633-site", False)])
def test_signatures_are_compiled_for_the_logs_that_are_there(
    case: str, none: bool, kb: Path, work: dict[str, Any]
) -> None:
    """A signature of a log that is not in the case is never compiled."""
    triage([CASES / case], Options(kb=[kb / "kb"]))
    wanted = {signature[1] for rule in work["rules"] for signature in needs_of(rule).signatures}
    assert len(wanted) > 3
    assert set(work["compiled"]) <= work["logs"]
    assert bool(wanted - work["logs"])
    assert (set(work["compiled"]).isdisjoint(wanted)) == none


@pytest.mark.size
def test_examples_of_stored_rules_are_read_without_reading_the_files_again(
    kb: Path, work: dict[str, Any]
) -> None:
    """`rules test` reads no YAML of a stored rule: its examples are in the stored tree."""
    done = CliRunner().invoke(
        main, ["rules", "test", "--kb", str(kb / "kb"), "-k", "kb-2039495-x1: ", "--no-settings"]
    )
    assert "1 rule" in done.output
    assert done.exit_code == 0, done.output
    assert len(work["whole"]) > RULES
    assert work["yaml"] == []
