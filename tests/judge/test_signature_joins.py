"""Tables of log lines joined to others, mistakes of their authors, many cases, storms of lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.artefacts.tables import Table
from analyzer.authoring.proof.mutants import make_mutants
from analyzer.facts import Facts
from analyzer.facts.records import Store
from analyzer.judge import joining, judge, judge_cases, rule_evaluation
from analyzer.rules import Catalog, Rule
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.tables import refit_tables
from analyzer.runtime.errors import RuleFileError
from analyzer.runtime.limits import Limits
from analyzer.scan.signatures import Scanner
from tests.kit.line_rules import LINES, RULE, THINGS, changed, line, subjects, verdicts
from tests.kit.rule_kit import BASE, LOG, TABLES, Kit, full

# -- joins


def things(
    when: str, log: str | None, *, cut: str = "", names: Sequence[str | None] = ("a", "b")
) -> dict[str, int]:
    """Return the verdicts on things of a table that are joined with lines of a log."""
    one = full(THINGS.replace("WHEN", when))
    kit = Kit().add(BASE, [{"key": number, "s": name} for number, name in enumerate(names)])
    if log is not None:
        kit.log(one, log, cut=cut)
    return verdicts(kit.judge(one))


ONE_LATE = line(1, "late a 120") + line(2, "late a 130")


@pytest.mark.parametrize(
    ("when", "well"),
    [
        ("count(hit) >= 2", "no_match"),
        ("count(hit.us) == 0", "match"),
        ("sum(hit.us) > 5", "no_match"),
        ("any(hit.us > 5)", "no_match"),
        ("max(hit.us) >= 120", "cannot_tell"),
        ("min(hit.us) < 500", "cannot_tell"),
        ("100 < max(hit.us)", "cannot_tell"),
        ("count(hit) > 0 and max(hit.us) >= 120", "no_match"),
        ("max(hit.us) < 5", "cannot_tell"),
        ("min(hit.us) > 5", "cannot_tell"),
        ("all(hit.us > 5)", "cannot_tell"),
        ("share(hit.us > 5) > 0.5", "cannot_tell"),
    ],
)
def test_who_has_no_line_in_a_whole_log_has_none(when: str, well: str) -> None:
    """Where the log was read whole, no line is a fact: count and sum are 0, any() is false.

    The greatest and the least of none have no value, and what is said of all lines stays open.
    """
    assert things(when, "well\n", names=["b"]) == {well: 1}
    beside = things(when, ONE_LATE)
    assert beside[well] >= 1
    assert sum(beside.values()) == 2


@pytest.mark.parametrize(
    "when",
    [
        "count(hit) >= 2",
        "count(hit) == 0",
        "any(hit.us > 5)",
        "max(hit.us) >= 999",
        "sum(hit.us) > 5",
    ],
)
def test_who_has_no_line_in_a_log_that_is_not_whole_is_not_known(when: str) -> None:
    """The same without the log, or with a log that was cut, is «cannot tell»."""
    assert things(when, None, names=["b"]) == {"cannot_tell": 1}
    assert things(when, ONE_LATE, cut="cut", names=["b"]) == {"cannot_tell": 1}
    assert things(when, ONE_LATE, names=[None]) == {"cannot_tell": 1}


def test_lines_join_other_tables_and_each_other() -> None:
    """A device of the log finds its row of a table, and the lines of a second signature with its name."""
    text = changed(
        (
            "  hit: {table: late, by: [device], rows: many}",
            "  hit: {table: late, by: [device], rows: many}\n  thing: {table: esxi.base, by: {dev.device: s}}\n  gone: {table: lost, by: {dev.device: what}, rows: many, where: gone.n > 1}",
        ),
        (
            "logs:\n",
            "logs:\n  lost:\n    in: esxi.made_up_log\n    match: 'lost (?P<what>\\w+) (?P<n>\\d+)'\n    columns: {n: int}\n",
        ),
        ("when: count(hit) > 0", "when: thing.a == 5 and count(gone) == 1"),
    )
    one = full(text)
    log = LINES + line(8, "lost a 1") + line(9, "lost a 2") + line(9, "lost b 1")
    kit = (
        Kit().log(one, log).add(BASE, [{"key": 1, "s": "a", "a": 5}, {"key": 2, "s": "b", "a": 5}])
    )

    assert list(subjects(kit.judge(one))) == ["a"]
    assert verdicts(kit.judge(one)) == {"match": 1, "no_match": 1}


def test_of_one_line_the_nearest_in_time_is_taken() -> None:
    """A join of one line takes the one written nearest to its partner, in whichever file it stands."""
    text = changed(
        ("join:\n", "join:\n  boot: {table: started, by: []}\n"),
        (
            "logs:\n",
            "logs:\n  started:\n    in: esxi.made_up_log\n    match: 'started as (?P<name>\\w+)'\n",
        ),
        ('"{dev.device}"', '"{dev.device} {boot.name}"'),
    )
    one = full(text)
    kit = Kit().log(
        one, line(1, "started as old") + line(40, "late a took 5"), source="made_up.0.gz"
    )
    kit.log(one, line(41, "started as new") + line(59, "started as last"), source="made_up.log")

    assert list(subjects(kit.judge(one))) == ["a new"]


@pytest.mark.parametrize("where", ["join", "log"])
def test_lines_of_all_nodes(where: str) -> None:
    """`nodes: any` at the join, or at the signature, looks at the logs of every host."""
    text = THINGS.replace("WHEN", "count(hit) >= 2")
    if where == "join":
        text = changed(("rows: many}", "rows: many, nodes: any}"), text=text)
    else:
        text = changed(("    columns:", "    nodes: any\n    columns:"), text=text)
    one = full(text)
    kit = Kit("esx1", "esx2", "esx3").add(BASE, [{"key": 1, "s": "a"}, {"key": 2, "s": "b"}])
    for node in ("esx2", "esx3"):
        kit.log(one, line(1, f"late a {len(node)}"), node)
    kit.facts.cover("esx2", "esxi.base", "read")
    kit.facts.cover("esx3", "esxi.base", "read")

    assert list(subjects(kit.judge(one))) == ["a"]
    assert verdicts(kit.judge(one)) == {"match": 1, "no_match": 3}
    kit.facts.incomplete("esx3")
    judgement = kit.judge(one)
    assert verdicts(judgement) == {"match": 1, "cannot_tell": 2, "no_match": 1}
    assert (
        judgement.findings[0]
        .also[0]
        .startswith("There may be more such lines: the archive of esx3 ended early")
    )


def test_a_gate_is_asked_of_the_line() -> None:
    """`only` speaks of the subject's line as of any row."""
    one = full(changed(("let: {", "only: dev.device != 'b'\nlet: {")))
    assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 1, "not_applicable": 1}


def test_a_population_of_devices() -> None:
    """Who is listed and has no line is well in a whole log, and «cannot tell» by name where the log is cut or absent."""
    text = changed(
        (
            "subject:",
            "population: {table: esxi.base, as: p, by: {device: s}, where: p.a == 1, subject: 'listed {p.s}'}\nsubject:",
        )
    )
    one = full(text)

    def told(log: str | None, cut: str = "") -> tuple[dict[str, int], list[str]]:
        kit = Kit().add(
            BASE,
            [
                {"key": 1, "s": "a", "a": 1},
                {"key": 2, "s": "c", "a": 1},
                {"key": 3, "s": "d", "a": 2},
            ],
        )
        if log is not None:
            kit.log(one, log, cut=cut)
        judgement = kit.judge(one)
        return verdicts(judgement), sorted(item.subject for item in judgement.cannot_tell)

    assert told(LINES) == ({"match": 2}, [])
    assert told("well\n") == ({"no_match": 1}, [])
    assert told(LINES, "cut") == ({"match": 2, "cannot_tell": 1}, ["listed c"])
    assert told(None) == ({"cannot_tell": 2}, ["listed a", "listed c"])


# -- errors of the author


@pytest.mark.parametrize(
    ("old", "new", "place", "says"),
    [
        ("per device", "per devise", "3:23: hits of `late` have no `devise`", "did you mean `device`?"),
        ("per device", "per device, levl", "3:31: hits of `late` have no `levl`", "did you mean `level`?"),
        ("per device", "per", "3:19: `per` needs names of columns", "per device, lun"),
        ("per device", "per device us", "3:19: `per` needs names of columns", "separated by commas"),
        ("per device", "per device, device", "3:31: `device` is given twice after `per`", ""),
        ("in late per device", "in esxi.base per key", "3:24: `per` goes with a signature under `logs`", "already distinct"),
        ("in late per device", "in lat per device", "3:18: `per` goes with a signature under `logs`", "`late`"),
        ("in late per device", "in esxi.made_up_log", "3:14: `esxi.made_up_log` is a log", "use it as a table"),
        ("{table: late", "{table: lat", "5:16: no parser makes table `lat`, and no signature", "did you mean `late`?"),
        ("by: [device]", "by: [devices]", "5:27: table `late` has no column `devices`", "did you mean `device`?"),
        ("{us: int}", "{su: int}", "10:15: hits of `late` have no `su`", "known: device, us"),
        ("{us: int}", "{us: bool}", "10:19: unknown kind of column `bool`", "float, int, str, time, version"),
        ("{us: int}", "[us]", "10:14: columns of `late` must be a mapping", ""),
        ("(?P<device>", "(?P<node>", "9:22: the group `node` cannot be a column", "another name"),
        ("(?P<device>", "(?P<Device>", "9:22: the group `Device` cannot be a column", "a-z, 0-9 and _"),
        ("each: dev in", "each: late in", "7:3: the name `late` is already taken", ""),
        ("  hit: {", "  late: {", "7:3: the name `late` is already taken", ""),
        ("hit.us)", "hit.su)", "12:22: table behind `hit` has no column `su`", "known: device,"),
        ("max(hit.us)", "max(hit.us > 1)", "12:14: max() needs a number, a time or a text", ""),
        ("when: count", "when: dev.us == 'x' and count", "13:7: a number cannot be compared with text", ""),
    ],
    ids=str,
)  # fmt: skip
def test_mistakes_are_told_with_their_place(old: str, new: str, place: str, says: str) -> None:
    """Names of groups, columns and signatures are checked: line, column and what may have been meant."""
    text = changed((old, new)).replace(
        "(?P<node>\\w+)(?: took (?P<us>\\S+))?", "(?P<node>\\w+) (?P<us>\\S+)"
    )
    if new.startswith("(?P<"):
        text = (
            text.replace("per device", "")
            .replace("[device]", "[us]")
            .replace("{dev.device}", "{dev.us}")
        )
    with pytest.raises(BadRuleError) as caught:
        full(text)

    assert place in f"{str(caught.value.where).partition(':')[2]}: {caught.value.message}"
    assert says in caught.value.help
    assert "^" in str(caught.value)


def test_the_order_of_keys_does_not_matter() -> None:
    """`logs` may stand below or above what speaks of its signatures."""
    parts = RULE.split("logs:\n")
    body, rest = parts[1].split("subject:", 1)
    first = f"logs:\n{body}{parts[0]}subject:{rest}"
    last = f"{parts[0]}subject:{rest}logs:\n{body}"

    for text in (first, last):
        one = full(text)
        assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 2}


def test_a_signature_is_still_a_name() -> None:
    """Used as a table or not, `late` alone asks whether a subject has such a line, and `seen` may count its lines."""
    one = full(
        changed(
            ("when: count(hit) > 0", "when: late and often"),
            ("let:", "seen: {often: {log: late, at_least: 2}}\nlet:"),
        )
    )
    assert verdicts(Kit().log(one, LINES).judge(one)) == {"match": 1, "no_match": 1}


@given(st.text(max_size=40))
def test_no_each_breaks_the_reader(text: str) -> None:
    """Whatever stands behind `each`, the reader takes it or says what is wrong."""
    try:
        full(
            changed(
                ("each: dev in late per device", f"each: {json.dumps('dev in late per ' + text)}")
            )
        )
    except RuleFileError as error:
        assert str(error).startswith("error: ")


# -- many cases, many rules, edits


def test_a_rule_looks_at_its_log_and_not_at_a_table_of_its_own() -> None:
    """What a list of tables shows is the log; the two tables of a signature are known to the judge alone."""
    one = full(RULE)

    assert one.tables() == {"esxi.made_up_log"}
    assert {hit.per for hit in one.hits} == {(), ("device",)}
    assert {table.product for table in _tables(one)} == {"esxi"}
    assert len({table.name for table in (*_tables(one), *TABLES.values())}) == 2 + len(TABLES)


def _tables(one: Rule) -> list[Table]:
    return [hit.table for hit in one.hits]


def test_two_rules_may_name_their_signatures_alike() -> None:
    """Each rule has its own rows, whatever its signatures are called."""
    one = full(RULE)
    other = full(
        changed(
            ("rule: made-up", "rule: made-too"), ("late (?P<device>", "(?:late|slow) (?P<device>")
        )
    )
    facts = Facts(TABLES)
    facts.node("esx1", "esx1", "esxi")
    log = LINES + line(9, "slow z took 1")
    facts.add_hits(
        Scanner(Catalog([one, other]).signatures(), engine="pure")
        .scan_lines(log.splitlines(), LOG.name, "l")
        .assign_node("esx1")
    )
    counts = judge(Catalog([other, one]), facts).counts

    assert (counts["made-up"]["match"], counts["made-too"]["match"]) == (2, 3)


def test_a_table_of_lines_leaves_the_others_as_they_were_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Judging such a rule reads its own tables; nothing else is read a second time."""
    one = full(THINGS.replace("WHEN", "count(hit) >= 2"))
    kit = Kit().add(BASE, [{"key": 1, "s": "a"}]).log(one, ONE_LATE)
    filled: list[str] = []
    read_rows = joining.read_rows

    def note_table(facts: Facts, store: Store) -> Any:
        filled.append(store.table.name)
        return read_rows(facts, store)

    monkeypatch.setattr(joining, "read_rows", note_table)

    for _ in range(3):
        assert verdicts(kit.judge(one)) == {"match": 1}
    assert len(filled) == len(set(filled)) == 2


def test_more_log_is_more_rows() -> None:
    """Log lines that come in after a judgement are rows of the next."""
    one = full(RULE)
    kit = Kit().log(one, line(3, "late b took 7"))
    assert subjects(kit.judge(one)) == {"b": ("info", "1 lines, at most 7")}
    kit.log(one, line(4, "late b took 700"), source="made_up.0.gz")
    assert subjects(kit.judge(one)) == {"b": ("major", "2 lines, the slowest 700")}


def test_a_changed_signature_is_another_table() -> None:
    """A rule with another `where` over the same cases is judged by its own lines, and the first as before."""
    one = full(changed(("    columns:", "    where: us >= 100\n    columns:")))
    cases = {"case": Kit().log(one, LINES).facts}
    low = next(
        one.rule
        for one in make_mutants(one)
        if one.site.where == "logs late, where" and one.direction == "down"
    )
    wide = full(changed(("    columns:", "    where: us >= 40\n    columns:")))
    before = judge_cases(one, cases)["case"]

    assert refit_tables(one) is one
    assert {table.name for table in _tables(low)}.isdisjoint({table.name for table in _tables(one)})
    assert subjects(before) == {"a": ("major", "1 lines, the slowest 120")}
    assert subjects(judge_cases(wide, cases)["case"]) == {
        "a": ("major", "2 lines, the slowest 120")
    }
    assert judge_cases(low, cases)["case"].findings == before.findings
    assert judge_cases(one, cases)["case"] == before


def test_some_cases_and_then_the_others() -> None:
    """Cases that are asked for later are put beside those that were judged before."""
    one = full(RULE)
    cases = {
        "first": Kit().log(one, LINES).facts,
        "second": Kit().log(one, line(1, "late z took 1")).facts,
    }

    assert list(subjects(judge_cases(one, cases, ["first"])["first"])) == ["a", "b"]
    assert list(subjects(judge_cases(one, cases, ["second"])["second"])) == ["z"]
    assert list(subjects(judge_cases(one, cases)["first"])) == ["a", "b"]


@given(st.dictionaries(st.text("abc", max_size=2), st.integers(0, 500)), st.integers(0, 600))
def test_a_storm_on_one_node_leaves_room_for_the_others(counts: dict[str, int], most: int) -> None:
    """Kept lines are never more than the limit, nobody gets more than it has, and who has few keeps all."""
    shares = rule_evaluation.share_places(counts, most)

    assert sum(shares.values()) <= most
    assert all(shares[key] <= counts[key] for key in counts)
    assert sum(shares.values()) == min(most, sum(counts.values())) or most < sum(counts.values())
    fair = most // max(1, len(counts))
    assert all(shares[key] == counts[key] for key in counts if counts[key] <= fair)


def test_no_more_rows_than_the_limit_of_hits() -> None:
    """Of a signature at most hits_per_signature lines become rows, over all nodes; the rest is doubt, not silence."""
    one = full(RULE)
    kit = Kit("esx1", "esx2", "esx3")
    for node, count in (("esx1", 3), ("esx2", 40), ("esx3", 60)):
        kit.log(one, "".join(f"{n} late {node} took {n}\n" for n in range(count)), node)
    judgement = judge(Catalog([one]), kit.facts, Limits(hits_per_signature=21))

    whole = next(hit.table.name for hit in one.hits if not hit.per)
    assert [kit.facts.count(whole, node) for node in ("esx1", "esx2", "esx3")] == [3, 9, 9]
    assert [item.node for item in judgement.cannot_tell] == ["esx2", "esx3"]
    assert judgement.cannot_tell[0].why == "9 of 40 lines of `late` were kept"


@pytest.mark.size
def test_ten_thousand_lines_of_a_thousand_devices() -> None:
    """As many lines as are kept are judged in a moment, by device and line by line."""
    log = "".join(f"2017-10-02T08:00:00Z late d{n % 1000} took {n}\n" for n in range(10_000))
    for text in (RULE, changed(("per device", ""))):
        one = full(text)
        judgement = judge(Catalog([one]), Kit().log(one, log).facts, Limits(findings_per_rule=5))
        assert sum(judgement.counts["made-up"].values()) == (1000 if "per" in text else 10_000)
