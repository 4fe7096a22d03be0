"""The examples of many rules, and one rule over many cases: the same answers as one by one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Block, Row
from analyzer.authoring.proof.prove import prove_rules
from analyzer.case.verdicts import Judgement
from analyzer.facts import Facts, SharedRows
from analyzer.judge import judge, judge_cases
from analyzer.judge.joining import read_table
from analyzer.pipeline import examples
from analyzer.rules import Catalog, Rule
from tests.kit.rule_kit import BASE, GUEST, LOG, MANAGER, PART, RULE, TABLES, Kit, full, rule
from tests.kit.together import together
from tests.sql_oracle import judging

CATALOG = rules.load(drafts=True, examples=True)


def plain(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as plain values: findings with evidence and trace, doubts, counts, notes."""
    return dataclasses.asdict(judgement)


def judge_at_once(one: Rule, facts: dict[str, Facts]) -> dict[str, dict[str, Any]]:
    """Judge all cases at once."""
    return {name: plain(judgement) for name, judgement in judge_cases(one, facts).items()}


def alone(one: Rule, facts: Facts) -> dict[str, Any]:
    """Judge one case by itself."""
    try:
        return plain(judge(Catalog([one]), facts))
    finally:
        facts.close()


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let examples speak of the made-up tables."""
    monkeypatch.setattr(examples, "Facts", lambda: Facts({**parsing.tables(), **TABLES}))


# -- the catalog


@together("one", CATALOG.rules[::8], ids=lambda one: one.id, parts=3)
def test_examples_at_once_are_judged_as_one_by_one(one: Rule) -> None:
    """Verdicts, texts, evidence with its lines, what is missing, trace: all of it is the same, example by example."""
    facts = {example.name: examples.facts_of(one, example) for example in one.examples}

    assert judge_at_once(one, facts) == {name: alone(one, own) for name, own in facts.items()}


@pytest.mark.size
def test_the_proof_says_what_a_single_run_says() -> None:
    """Each example has the same result in a proof of the whole catalog and run alone."""
    proofs = prove_rules(CATALOG)

    assert [proof.rule.id for proof in proofs] == [one.id for one in CATALOG.rules]
    assert not any(proof.failures for proof in proofs)
    for proof in proofs[::4]:
        for example, result in zip(proof.rule.examples, proof.results, strict=True):
            single = examples.run_one(proof.rule, example)
            assert (result.name, result.ok) == (single.name, single.ok)
            if single.got.get("count", 0) <= 1:
                assert result.got == single.got
            else:  # which of several equal findings is first is decided by times, which a proof does not read
                for key in ("result", "count", "severity", "confidence"):
                    assert result.got.get(key) == single.got.get(key), (
                        proof.rule.id,
                        example.name,
                        key,
                    )


def test_rules_in_two_threads_are_proved_in_order(made_up: None) -> None:
    """Sixty rules share some databases and two threads; each has its own results, in the order of the catalog."""
    text = (
        (RULE % "when: one.a > NN").replace("rule: made-up", "rule: made-NN")
        + """
examples:
  - {name: above, tables: {esxi.base: [{key: 1, a: ABOVE}]}, expect: {result: match}}
  - {name: at, tables: {esxi.base: [{key: 1, a: NN}]}, expect: {result: no_match}}
"""
    )
    many = [full(text.replace("NN", str(n)).replace("ABOVE", str(n + 1))) for n in range(60)]
    proofs = prove_rules(Catalog(many))

    assert [proof.rule.id for proof in proofs] == [f"made-{n}" for n in range(60)]
    assert [[result.ok for result in proof.results] for proof in proofs] == [[True, True]] * 60


# -- any cases

CONDITIONS = [
    "one.a > 1", "any(part.x > 1)", "all(part.x > 1)", "count(part.x > 1) >= 2", "sum(part.x) > 3 or one.t",
    "known(first)", "not known(first.x)", "max(part.y) < 3", "share(part.ok) > 0.5 and one.a > 0", "first.x >= one.a",
    "count(part) == 2", "min(part.x) >= 1 and not any(part.ok)", "one.v >= '6.3'", "count(far.n) >= 1 or one.a > 2",
    "boss.version == '6.3.3'", "any(far.n > 1)", "not known(boss)", "mean(part.y) >= 1",
]  # fmt: skip
SHAPES = [
    "",
    "only: one.s != 'other'",
    "only: boss.version == '6.3.3'",
    "let:\n  twice: one.a * 2\nnotes:\n  - {when: twice > 2, say: 'twice {twice}'}\nevidence: [one.a, part.x, far.n]",
    "population: {table: esxi.part, as: p, by: [key], where: p.ok, subject: 'part {p.part}'}",
    "grade:\n  - {when: one.a > 2, severity: critical}\n  - {when: first.x > 0, severity: info}\nobject: '{first.name}'",
    "logs:\n  fail: {in: esxi.made_up_log, match: 'failed'}\nseen:\n  twice: {log: fail, at_least: 2, within: 10m}\n"
    "notes:\n  - {when: twice, say: '{twice.count} from {twice.first}'}",
]


def shaped(condition: str, shape: str) -> Rule:
    """Return a made-up rule with a condition and further keys."""
    text = (RULE % f"{shape}\nwhen: {condition}").replace(
        "  first: {table: esxi.part, by: [key]}",
        "  first: {table: esxi.part, by: [key]}\n"
        "  far: {table: guest.thing, by: [], rows: many, nodes: any, where: far.n > 0}\n"
        "  boss: {table: nsx.boss, nodes: any}",
    )
    text = text.replace(
        "  - when: true",
        "  - {when: any(part.x > 2), severity: warning, say: '{max(part.x)}'}\n  - when: true",
    )
    return full(text.replace("    severity: major\n", "") if "grade:" in shape else text)


THING = st.fixed_dictionaries(
    {
        "key": st.integers(0, 2),
        "a": st.one_of(st.none(), st.integers(0, 3)),
        "t": st.one_of(st.none(), st.booleans()),
        "s": st.sampled_from(["x", "other", None]),
        "v": st.sampled_from(["6.3", "6.3.3", "6.2", None]),
    }
)
PIECE = st.fixed_dictionaries(
    {
        "key": st.integers(0, 2),
        "part": st.integers(0, 2),
        "x": st.one_of(st.none(), st.integers(0, 3)),
        "y": st.one_of(st.none(), st.sampled_from([0.5, 1.0, 4.5])),
        "ok": st.one_of(st.none(), st.booleans()),
        "name": st.sampled_from(["vm", None]),
    }
)
WHERE = st.tuples(
    st.sampled_from(["esx1", "esx2"]), st.sampled_from(["a.txt", "b.txt"]), st.integers(0, 2)
)
STATES = st.lists(
    st.tuples(
        st.sampled_from(["esx1", "esx2", "g"]),
        st.sampled_from(["esxi.base", "esxi.part", "guest.thing"]),
        st.sampled_from(["read", "cut", "unparsed"]),
    ),
    max_size=3,
)
CASE = st.fixed_dictionaries(
    {
        "nodes": st.lists(
            st.sampled_from(["esx1", "esx2", "g", "stranger"]), max_size=3, unique=True
        ),
        "things": st.lists(st.tuples(WHERE, THING), max_size=4),
        "parts": st.lists(st.tuples(WHERE, PIECE), max_size=5),
        "guests": st.lists(st.integers(0, 3), max_size=2),
        "boss": st.sampled_from([None, "6.3.3", "6.4.0"]),
        "states": STATES,
        "incomplete": st.lists(st.sampled_from(["esx1", "g"]), max_size=1),
        "log": st.sampled_from(
            [None, "", "2017-10-02T08:01:00Z failed\n2017-10-02T08:05:00Z failed", "failed\nfailed"]
        ),
    }
)
KINDS = {"esx1": "esxi", "esx2": "esxi", "g": "guest", "stranger": ""}


def built(case: dict[str, Any], one: Rule) -> Facts:
    """Return the facts of a random case."""
    kit = Kit()
    kit.facts.nodes.clear()
    for name in case["nodes"]:
        kit.facts.node(name, name, KINDS[name])
    for (node, source, order), row in case["things"]:
        kit.add(BASE, [row], node=node, source=source, order=order)
    for (node, source, order), row in case["parts"]:
        kit.add(PART, [row], node=node, source=source, order=order)
    for n in case["guests"]:
        kit.add(GUEST, [{"n": n}], node="g")
    if case["boss"]:
        kit.facts.node("mgr", "mgr", "nsx_manager")
        kit.add(MANAGER, [{"version": case["boss"]}], node="mgr")
    for node, table, state in case["states"]:
        kit.facts.cover(node, table, state, "the reader's words")
    for node in case["incomplete"]:
        kit.facts.incomplete(node)
    if case["log"] is not None and one.logs:
        kit.log(one, case["log"], node="esx1")
    return kit.facts


@pytest.mark.size
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(CONDITIONS), st.sampled_from(SHAPES), st.lists(CASE, min_size=2, max_size=4))
def test_cases_side_by_side_do_not_see_each_other(
    condition: str, shape: str, cases: list[dict[str, Any]]
) -> None:
    """Ghosts, cut tables, rows of any node, populations, logs: one SQL query over all cases tells each as if it were alone."""
    one = shaped(condition, shape)
    facts = {f"case {number}": built(case, one) for number, case in enumerate(cases)}
    found = {name: plain(told) for name, told in judging.judge_many(Catalog([one]), facts).items()}

    assert found == {name: alone(one, own) for name, own in facts.items()}


def test_some_of_the_cases_may_be_chosen() -> None:
    """Cases that are not asked for change nothing."""
    one = rule("any(part.x > 1)")
    kits = {
        name: Kit().add(BASE, [{"key": 1}]).add(PART, [{"key": 1, "part": 1, "x": x}])
        for name, x in zip("abc", (1, 2, 3), strict=True)
    }
    cases = {name: kit.facts for name, kit in kits.items()}
    found = judge_cases(one, cases, ["a", "c"])

    assert {name: judgement.counts["made-up"]["match"] for name, judgement in found.items()} == {
        "a": 0,
        "c": 1,
    }


def test_rows_that_cases_share_are_in_each_of_them() -> None:
    """Hundreds of rows that several cases hold in common are put in once and copied; each case has its own."""
    block = Block([], 1, "series").assign_node("esx1")
    shared = [Row(PART, {"key": 1, "part": n, "x": 1}, block, n) for n in range(600)]
    facts = {}
    for name, more in (("a", 0), ("b", 5), ("c", 0)):
        kit = Kit().add(BASE, [{"key": 1, "a": 600 + more}])
        kit.facts.add_rows(PART, shared)
        kit.add(PART, [{"key": 1, "part": 1000 + n, "x": 1} for n in range(more)])
        facts[name] = kit.facts
    one = rule("sum(part.x) == one.a and count(part) == one.a")

    assert judge_at_once(one, facts) == {name: alone(one, own) for name, own in facts.items()}
    assert all(alone(one, own)["counts"]["made-up"]["match"] == 1 for own in facts.values())


def test_shared_rows_are_read_once_for_all_cases_that_hold_them_alone() -> None:
    """Rows that cases share are read once; a case with rows besides, or another name for their node, is told its own."""
    block = Block([], 1, "series").assign_node("esx1")
    shared = SharedRows([Row(PART, {"key": 1, "part": n, "x": 1}, block, n) for n in range(3)])
    kits = {
        name: Kit().add(BASE, [{"key": 1, "a": 1}])
        for name in ("same", "again", "more", "other name")
    }
    for kit in kits.values():
        kit.facts.share(PART, shared)
    kits["more"].add(PART, [{"key": 1, "part": 9, "x": 1}])
    kits["other name"].facts.nodes["esx1"].name = "esx-renamed"
    tables = {name: read_table(kit.facts, PART.name) for name, kit in kits.items()}
    assert tables["same"] is tables["again"]
    assert [len(table.rows) for table in tables.values()] == [3, 3, 4, 3]
    assert {name: table.rows[0].name for name, table in tables.items()} == {
        **dict.fromkeys(kits, tables["same"].rows[0].name),
        "other name": "esx-renamed",
    }
    facts = {name: kit.facts for name, kit in kits.items()}
    one = rule("count(part) == 3")
    assert judge_at_once(one, facts) == {name: alone(one, own) for name, own in facts.items()}
    assert alone(one, facts["more"])["counts"]["made-up"]["match"] == 0


def test_without_evidence_the_answer_is_the_same() -> None:
    """`lean` leaves out evidence, trace and charts; verdict, texts and doubts stay."""
    one = CATALOG["kb-2039495"]
    facts = {example.name: examples.facts_of(one, example) for example in one.examples}
    full_ones, lean = judge_cases(one, facts), judge_cases(one, facts, lean=True)
    for name, judgement in full_ones.items():
        for finding, thin in zip(judgement.findings, lean[name].findings, strict=True):
            assert not thin.evidence and thin.trace is None
            finding.evidence, finding.trace, finding.first_seen, finding.chart = [], None, "", []
            assert finding == thin
        assert judgement.cannot_tell == lean[name].cannot_tell


# -- what a shorter query must not change


def test_of_rows_that_meet_by_name_one_is_taken() -> None:
    """Names that differ in case meet the same subject: it is judged once, with the nearest of them."""
    text = (RULE % "when: far.a >= 1").replace(
        "  first: {table: esxi.part, by: [key]}", "  far: {table: esxi.base, by: {one.s: s}}"
    )
    kit = Kit().add(
        BASE, [{"key": 1, "a": 1, "s": "Web"}, {"key": 2, "a": 2, "s": "WEB"}], source="a.txt"
    )

    assert kit.counts(full(text)) == {"match": 2}
    hosts = (RULE % "when: far.x >= 1").replace(
        "  first: {table: esxi.part, by: [key]}",
        "  far: {table: esxi.part, by: {node: name}, nodes: any}",
    )
    two = (
        Kit()
        .add(BASE, [{"key": 1}])
        .add(PART, [{"key": n, "part": n, "x": 1, "name": f"esx1.{n}"} for n in (1, 2)])
    )
    assert two.counts(full(hosts)) == {"match": 1}


def test_of_equal_samples_the_first_is_evidence() -> None:
    """Where several rows are the worst, the one that stands first is shown, in whatever order the database meets them."""
    one = rule("max(part.x) > 1", evidence="[worst]", let="{worst: max(part.x)}")
    rows = [{"key": 1, "part": part, "x": x} for part, x in ((1, 0), (2, 7), (3, 7), (4, 7))]
    finding = Kit().add(BASE, [{"key": 1}]).add(PART, rows).judge(one).findings[0]

    assert finding.evidence[0].text == "key=1 part=2 x=7"


def test_a_named_number_is_shown() -> None:
    """A name that stands for a plain number prints that number, in texts and in the trace."""
    text = (RULE % "let:\n  most: 3\nwhen: one.a > most").replace(
        "say: found", 'say: "{one.a} of {most}"'
    )

    assert Kit().add(BASE, [{"key": 1, "a": 5}]).judge(full(text)).findings[0].say == "5 of 3"


# -- results

EXAMPLES = """
examples:
  - {name: as it should be, tables: {esxi.base: [{key: 1, a: 3}]}, expect: {result: match, say: found}}
  - {name: otherwise, tables: {esxi.base: [{key: 1, a: 3}]}, expect: {result: match, severity: info}}
  - {name: a known gap, gap: true, tables: {esxi.base: [{key: 1, a: 3}]}, expect: {result: no_match}}
  - {name: a closed gap, gap: true, tables: {esxi.base: [{key: 1, a: 0}]}, expect: {result: no_match}}
  - {name: unread, files: [{command: rm -rf /, text: x}], expect: {result: match}}
"""


def test_a_proof_tells_what_failed_and_why(made_up: None) -> None:
    """A wrong example has the difference and the trace; a gap that passes and a file that nobody reads fail too."""
    proof = prove_rules(Catalog([full(RULE % "when: one.a > 0" + EXAMPLES)]))[0]
    found = {result.name: result for result in proof.results}

    assert [name for name, result in found.items() if result.ok] == [
        "as it should be",
        "a known gap",
    ]
    assert [str(one) for one in found["otherwise"].unlike] == ["severity is major, expected info"]
    assert examples.tree(found["otherwise"].trace).startswith(
        "made-up: thing 1  =  match\n  when: one.a > 0  =  true"
    )
    assert "no parser reads `rm -rf /`" in found["unread"].error
    assert [result.name for result in proof.failures] == ["otherwise", "a closed gap", "unread"]
    assert found["otherwise"].place.line > found["as it should be"].place.line > 10


def test_a_pattern_keeps_to_some_examples(made_up: None) -> None:
    """TEXT is looked for in `rule: name`, in whatever case; rules without such an example are left out."""
    catalog = Catalog([full(RULE % "when: one.a > 0" + EXAMPLES), CATALOG["beacon-probing"]])

    assert [
        (proof.rule.id, [result.name for result in proof.results])
        for proof in prove_rules(catalog, "GAP")
    ] == [("made-up", ["a known gap", "a closed gap"])]
    assert [proof.rule.id for proof in prove_rules(catalog, "beacon-probing: two")] == [
        "beacon-probing"
    ]
    assert prove_rules(catalog, "nothing of the kind") == []


def test_log_lines_of_a_case_are_its_own(made_up: None) -> None:
    """Signatures are searched in the log of each example; what one log says is nothing to the next example."""
    text = RULE % "logs:\n  fail: {in: esxi.made_up_log, match: 'call failed'}\nwhen: fail"
    one = full(
        text
        + """
examples:
  - {name: seen, tables: {esxi.base: [{key: 1}]}, logs: {esxi.made_up_log: call failed}, expect: {result: match}}
  - {name: quiet, like: seen, logs: {esxi.made_up_log: all well}, expect: {result: no_match}}
  - {name: absent, like: seen, logs: {esxi.made_up_log: null}, expect: {result: cannot_tell, missing: esxi.made_up_log}}
"""
    )

    assert LOG.name in one.tables()
    assert [result.got.get("wrong") for result in prove_rules(Catalog([one]))[0].results] == [
        None,
        None,
        None,
    ]
