"""Search of an archive: terms in the words of rules, three-valued; findings, months, texts."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.archive.query import search, terms
from analyzer.archive.query.browse import parse_window
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.cli import main
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.runtime.errors import UsageError
from tests.kit.ask_kit import FORMS, LOST, Host, in_form, put, run

OLD = 'esxi.pnic_info: driver == "ixgben" and driver_version < "1.7.20"'
MISSED = "esxi.pnic_stats: rx_missed_errors > 0"
ON_65 = 'nodes: version >= "6.5" and version < "6.6"'


@pytest.fixture(scope="module", params=FORMS)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small archive, once as loose packs and once compacted."""
    return in_form(request.param, tmp_path_factory.mktemp(request.param) / "archive")


def nodes_of(archive: Path, *asked: str, **more: Any) -> list[str]:
    """Return the names of the machines that fulfil terms, or with `unknown` cannot be told."""
    some = [terms.read_term(text) for text in asked]
    found = search.find_machines(Archive.open(archive), some, **more)
    return [row[3] for row in found.rows]


def test_the_question_of_the_driver_is_one_line(archive: Path) -> None:
    """«ixgben below 1.7.20 and missed errors on 6.5» finds the hosts, newest case first, with address and line."""
    done = run("search", "--archive", archive, OLD, MISSED, ON_65)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("host-b  (VMware ESXi 6.5.0)  case acme-2  ")
    assert (
        "  esxi.pnic_stats: pnic=vmnic0 rx_missed_errors=77  at host-b.tgz!commands/nicinfo.sh.txt:40"
        in lines
    )
    assert [line.split()[0] for line in lines if not line.startswith(" ") and "case" in line][
        :2
    ] == [
        "host-b",
        "host-a",
    ]
    assert lines[-1] == (
        "2 machines in 2 cases, of 5 asked; cannot tell for 2 machines (--unknown lists them)"
    )


def test_versions_compare_part_by_part(archive: Path) -> None:
    """1.7.1 lies below 1.7.20 and above 1.7.0; as text it would not."""
    assert nodes_of(
        archive, 'esxi.pnic_info: driver_version < "1.7.20" and driver_version > "1.7"'
    ) == [
        "host-b",
        "host-a",
    ]
    assert nodes_of(archive, 'esxi.pnic_info: driver_version == "1.7.1.0"') == ["host-b", "host-a"]


def test_the_same_nic_is_asked_for_with_same(archive: Path) -> None:
    """With --same pnic the old driver and the missed frames must be those of one NIC."""
    assert nodes_of(archive, OLD, MISSED, same="pnic") == ["host-a"]


def test_absence_is_never_innocence(archive: Path) -> None:
    """A host without the table, one with the table but no row, and one of a cut archive are unknown, not innocent."""
    found = run("search", "--archive", archive, MISSED, "--unknown", "--csv")
    rows = list(csv.DictReader(io.StringIO(found.stdout)))
    assert [(row["node"], row["why"]) for row in rows] == [
        ("host-c", "there, but without a row of it"),
        ("host-e", "the archive of the machine is not whole"),
    ]
    assert all(row["ask"] == "`esxcli network nic stats get -n <vmnic>`" for row in rows)
    assert "cannot tell for 2 machines" in found.stderr
    rows = list(
        csv.DictReader(
            io.StringIO(run("search", "--archive", archive, OLD, "--unknown", "--csv").stdout)
        )
    )
    assert next((row["node"], row["why"]) for row in rows) == ("host-c", "not in the material")


def test_a_guest_is_not_asked_for_tables_of_hosts(archive: Path) -> None:
    """A guest is neither a match nor unknown for a table of ESXi, and both are for `nodes`."""
    found = search.find_machines(Archive.open(archive), [terms.read_term(MISSED)])
    assert found.counts["asked"] == 5 == len(list(found.rows)) + found.counts["untold"]
    assert "guest-1" in nodes_of(archive, 'nodes: kind == "guest"')


def test_a_version_that_is_not_known_is_unknown(archive: Path) -> None:
    """A machine whose version nobody stated is told as unknown for a condition on it."""
    assert nodes_of(archive, ON_65, unknown=True) == ["guest-1"]


def test_a_term_without_a_condition_asks_for_any_row(archive: Path) -> None:
    """`TABLE` alone is fulfilled by every machine with a row of it."""
    assert sorted(nodes_of(archive, "esxi.teaming")) == ["host-e"]


def test_terms_may_hold_on_different_machines_of_a_case(archive: Path) -> None:
    """With --anywhere one host of the case is on 6.7 and another one's counters were read."""
    asked = [terms.read_term('nodes: version >= "6.7"'), terms.read_term('nodes: version < "6.6"')]
    found = search.find_machines(Archive.open(archive), asked, anywhere=True)
    assert [row[0] for row in found.rows] == ["acme-3"]
    assert nodes_of(archive, 'nodes: version >= "6.7"', 'nodes: version < "6.6"') == []
    done = run(
        "search",
        "--archive",
        archive,
        "--anywhere",
        'nodes: version >= "6.7"',
        'nodes: version < "6.6"',
    )
    assert "nodes: host-d: version=6.7.0" in done.stdout


def test_terms_mind_the_time_of_the_case(archive: Path) -> None:
    """--since and --until narrow the cases, and what is counted as asked."""
    assert nodes_of(archive, MISSED, window=parse_window("2026-03", "2026-03")) == ["host-a"]
    assert nodes_of(archive, MISSED, window=parse_window("2026", "")) == ["host-b", "host-a"]
    assert nodes_of(archive, MISSED, window=parse_window("", "2025")) == ["host-d"]


def test_json_holds_each_deciding_row(archive: Path) -> None:
    """One object a machine: for each term the values, the address and the line."""
    done = run("search", "--archive", archive, OLD, MISSED, "--same", "pnic", "--json")
    record = json.loads(done.stdout)
    assert (record["case"], record["node"], record["same"]) == ("acme-1", "host-a", "vmnic0")
    assert record["terms"][1]["rows"] == [
        {
            "node": "host-a",
            "values": {"pnic": "vmnic0", "rx_missed_errors": "9121"},
            "address": "host-a.tgz!commands/nicinfo.sh.txt",
            "line": 40,
        }
    ]


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("esxi.pnic_infos: driver == \"x\"", "no table `esxi.pnic_infos`", "did you mean `esxi.pnic_info`?"),
        ("pnic_info: driver == \"x\"", "no table `pnic_info`", "did you mean `esxi.pnic_info`?"),
        ("esxi.pnic_info: drver == \"x\"", "unknown name `drver`", "did you mean `driver`?"),
        ("nodes: version >= 6.5", "a version cannot be compared with a number", 'write version: "6.5"'),
        ("esxi.pnic_stats: rx_errors = 1", "not an expression: invalid syntax", "compare with =="),
        ("esxi.pnic_stats: sum(rx_errors) > 1", "sum() works over many rows", "`backline archive sql`"),
        ("esxi.pnic_stats: rx_errors", "this must be true or false", ""),
        ("esxi.vmkernel: time > taken", "`esxi.vmkernel` is a log", "--text"),
        ("driver == \"ixgben\"", "a term names a table first", "TABLE: CONDITION"),
        ("", "a term names a table first", "TABLE: CONDITION"),
        ("nodes: __import__('os').system('true') == 1", "not allowed here", ""),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_their_place(
    tmp_path: Path, text: str, message: str, help: str
) -> None:
    """A wrong table, column, kind or sign is told with a caret and a hint, before the archive is opened."""
    with pytest.raises(BadRuleError) as caught:
        terms.read_term(text)
    said = str(caught.value)
    assert message in said and help in said and (not text or "^" in said)
    done = run("search", "--archive", tmp_path / "none", text)
    assert done.exit_code == 2 and message in done.stderr and done.stdout == ""


def test_the_caret_stands_below_the_mistake() -> None:
    """Place and width are those of the wrong word in the engineer's own line."""
    text = 'esxi.pnic_info:   driver == "x" and drver_version < "1"'
    with pytest.raises(BadRuleError) as caught:
        terms.read_term(text)
    place = caught.value.place
    assert text[place.column - 1 :][: place.width] == "drver_version"
    assert f"| {text}\n" in str(caught.value)


def test_same_needs_a_column_of_two_tables(archive: Path) -> None:
    """--same with a column that only one table has, or none, is refused with the reason."""
    for column, why in (("driver", "only esxi.pnic_info"), ("vmnic", "no table of the terms")):
        with pytest.raises(UsageError, match=why):
            nodes_of(archive, OLD, MISSED, same=column)


# -- against an oracle

KNOWN: tuple[str | None, ...] = (None, "ixgben", "nenic")
VERSIONS: tuple[str | None, ...] = (None, "1.7.1", "1.7.20", "1.10.0", "unknown")
COUNTS: tuple[int | None, ...] = (None, 0, 3, 900)


@dataclass
class World:
    """Random hosts as stored, and as Python knows them."""

    place: Path
    hosts: dict[str, Host]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Forty random hosts in twenty cases: NICs with and without values, cut archives, tables read without a row."""
    dice, place = random.Random(4), tmp_path_factory.mktemp("world") / "archive"
    archive, hosts, numbers = Archive.open(place, create=True), {}, itertools.count()
    for case in range(20):
        own = []
        for _ in range(dice.choice((1, 2, 3))):
            nics = [
                (f"vmnic{n}", dice.choice(KNOWN), dice.choice(VERSIONS), dice.choice(COUNTS))
                for n in range(dice.choice((0, 1, 2, 3)))
            ]
            covers = (
                {"esxi.pnic_stats": (dice.choice(("read", "cut", "unparsed")), "made up")}
                if dice.random() < 0.3
                else {}
            )
            host = Host(
                f"h{next(numbers)}", "6.5.0", nics, complete=dice.random() < 0.8, covers=covers
            )
            own.append(host)
            hosts[host.name] = host
        put(archive, f"case-{case}", own)
    compact_archive(archive, older_than=0, target=7)
    return World(place, hosts)


Answer = bool | None


def both(*some: Answer) -> Answer:
    """Kleene's and."""
    return False if False in some else None if None in some else True


def either(*some: Answer) -> Answer:
    """Kleene's or."""
    return True if True in some else None if None in some else False


def told(host: Host, table: str, answers: list[Answer]) -> Answer:
    """What a host answers, given the answers of its rows."""
    if True in answers:
        return True
    state = host.covers.get(table, ("read", ""))[0]
    sure = host.complete and state == "read" and answers and None not in answers
    return False if sure else None


def parts(version: str | None) -> tuple[int, ...] | None:
    """A version as numbers, None where it is none."""
    return tuple(map(int, version.split("."))) if version and version[0].isdigit() else None


def less(value: Any, bar: Any) -> Answer:
    """Whether a value lies below a bar, None where it is not known."""
    return None if value is None else value < bar


@pytest.mark.size
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    driver=st.sampled_from(["ixgben", "nenic", "tg3"]),
    version=st.sampled_from(["1.7.1", "1.7.2", "1.8", "1.10"]),
    count=st.sampled_from([0, 1, 3, 4, 901]),
    either_one=st.booleans(),
    negated=st.booleans(),
    same=st.booleans(),
)
def test_answers_are_those_of_an_oracle(
    world: World, driver: str, version: str, count: int, either_one: bool, negated: bool, same: bool
) -> None:
    """Over random hosts every machine is a match, no match or unknown exactly as three-valued logic written anew says."""
    word = "or" if either_one else "and"
    condition = f'driver == "{driver}" {word} driver_version < "{version}"'
    one = f"esxi.pnic_info: {'not (' + condition + ')' if negated else condition}"
    two = f"esxi.pnic_stats: rx_missed_errors < {count}"
    join = either if either_one else both

    def info(nic: tuple[str, str | None, str | None, int | None]) -> Answer:
        answer = join(
            None if nic[1] is None else nic[1] == driver, less(parts(nic[2]), parts(version))
        )
        return None if negated and answer is None else answer != negated if negated else answer

    expected: dict[str, Answer] = {}
    for host in world.hosts.values():
        groups = [[nic] for nic in host.nics] if same and host.nics else [host.nics]
        answers = [
            both(
                told(host, "esxi.pnic_info", [info(nic) for nic in group]),
                told(host, "esxi.pnic_stats", [less(nic[3], count) for nic in group]),
            )
            for group in groups
        ]
        expected[host.name] = either(*answers)
    column = "pnic" if same else ""
    assert set(nodes_of(world.place, one, two, same=column)) == {
        name for name, answer in expected.items() if answer
    }
    untold = nodes_of(world.place, one, two, same=column, unknown=True)
    assert set(untold) == {name for name, answer in expected.items() if answer is None}


@settings(max_examples=60)
@given(
    st.text(st.characters(codec="utf-8"), max_size=60),
    st.sampled_from(["", "nodes: ", "esxi.pnic_info: driver == ", "esxi.vnic:"]),
)
def test_no_text_breaks_the_reader_of_terms(text: str, head: str) -> None:
    """Whatever is typed as a term is read or refused with a place; its SQL can be prepared by DuckDB."""
    import duckdb

    try:
        term = terms.read_term(head + text)
    except BadRuleError as error:
        assert "error:" in str(error) and error.exit_code == 2
        return
    with duckdb.connect() as con:
        assert len(con.extract_statements(f"SELECT {term.condition_sql()} FROM t r")) == 1


@pytest.mark.size
@given(
    st.text(
        st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_characters='"\\'), max_size=20
    )
)
def test_texts_in_conditions_stay_texts(text: str) -> None:
    """A quoted value comes out of DuckDB as it was typed: it cannot end the string it stands in."""
    import duckdb

    try:
        term = terms.read_term(f'esxi.pnic_info: driver == "{text}"')
    except BadRuleError:
        assert not text.isprintable()
        return
    with duckdb.connect() as con:
        row = con.execute(
            f"SELECT {term.condition_sql()} FROM (SELECT $1::VARCHAR AS driver) r", [text]
        ).fetchone()
    assert row == (True,)


# -- findings


def test_hosts_that_showed_a_kb_with_the_time(archive: Path) -> None:
    """--kb lists host, case, rule and when it was first seen, and counts machines and cases that cannot be told."""
    done = run("search", "--archive", archive, "--kb", "999999999")
    lines = done.stdout.splitlines()
    assert (
        lines[1].startswith("2024-01-05T08:00:00Z  host-e  bert-1") and "beacon-probing" in lines[1]
    )
    assert lines[-2:] == [
        "1 case could not be read",
        "1 finding on 1 machine in 1 case of 5; of 4 machines the rule cannot tell (--unknown lists them)",
    ]
    assert (
        run("search", "--archive", archive, "--kb", "999999999", "--since", "2025")
        .stdout.splitlines()[-1]
        .startswith("0 findings on 0 machines in 0 cases of 3;")
    )


def test_machines_a_rule_cannot_judge_are_listed(archive: Path) -> None:
    """--unknown tells what to ask for; the machine with the finding is not among them."""
    done = run("search", "--archive", archive, "--rule", "beacon-probing", "--unknown", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["node"] for row in rows] == ["host-b", "host-a", "host-c", "host-d"]
    assert all("policy failover get" in row["ask"] for row in rows)


def test_unknown_rules_and_articles_are_refused(archive: Path) -> None:
    """A rule or KB that judged no stored case is an error with a hint, not an empty answer."""
    done = run("search", "--archive", archive, "--rule", "beacon-probin")
    assert done.exit_code == 2 and "did you mean `beacon-probing`?" in done.stderr
    done = run("search", "--archive", archive, "--kb", "99")
    assert done.exit_code == 2 and "no rule that judged these cases names KB 99" in done.stderr


def test_findings_are_counted_by_month_host_and_rule(archive: Path) -> None:
    """--by folds all findings, or those of one rule, in one line each."""
    rows = list(
        csv.DictReader(
            io.StringIO(run("search", "--archive", archive, "--by", "month", "--csv").stdout)
        )
    )
    assert rows == [
        {
            "month": "2024-01",
            "rule": "beacon-probing",
            "findings": "1",
            "machines": "1",
            "cases": "1",
        }
    ]
    rows = list(
        csv.DictReader(
            io.StringIO(run("search", "--archive", archive, "--by", "host", "--csv").stdout)
        )
    )
    assert [(row["node"], row["worst"], row["rules"]) for row in rows] == [
        ("host-e", "warning", "beacon-probing")
    ]
    rows = list(
        csv.DictReader(
            io.StringIO(run("search", "--archive", archive, "--by", "rule", "--csv").stdout)
        )
    )
    assert [(row["rule"], row["findings"]) for row in rows] == [("beacon-probing", "1")]


def test_an_answer_of_nothing_says_how_capitals_count(archive: Path) -> None:
    """A term in other capitals fits no machine: the answer names --text; a text that is nowhere, the log command that ignores case."""
    done = run("search", "--archive", archive, 'esxi.pnic_info: driver == "IXGBEN"')
    assert "0 machines" in done.stdout and "--text WORD" in done.stdout
    assert "--text WORD" not in run("search", "--archive", archive, "driver: ixgben").stdout
    done = run("search", "--archive", archive, "--text", "Never (seen)")
    assert r"--grep '(?i)Never\ \(seen\)'" in done.stdout


def test_the_short_terms_ignore_capitals_and_may_stand_in_one(archive: Path) -> None:
    """`Driver: IXGBEN; version: 6.5.0` asks what both terms in small letters ask; what has an option of its own names it."""
    one = run("search", "--archive", archive, "Driver: IXGBEN; version: 6.5.0", "--json").stdout
    two = run("search", "--archive", archive, "driver: ixgben", "version: 6.5.0", "--json").stdout
    nodes = [[json.loads(line)["node"] for line in told.splitlines()] for told in (one, two)]
    assert nodes[0] == nodes[1] and nodes[0]
    assert (
        "archive list --severity major"
        in run("search", "--archive", archive, "severity: major").stderr
    )


# -- texts


def test_a_text_is_found_in_log_lines_and_findings(archive: Path) -> None:
    """Capitals do not matter; a stored line comes with address and line, a finding with its rule."""
    done = run("search", "--archive", archive, "--text", "lost network connectivity", "--json")
    record = json.loads(done.stdout)
    assert (record["case"], record["node"], record["address"], record["line"], record["text"]) == (
        "acme-1", "host-a", "host-a.tgz!var/log/vobd.log", 10, LOST,
    )  # fmt: skip
    assert record["time"] == "2026-03-01T07:00:00Z"
    record = json.loads(
        run("search", "--archive", archive, "--text", "STANDBY INCLUDED", "--json").stdout
    )
    assert (record["case"], record["of"], record["address"]) == ("bert-1", "beacon-probing", "")


@pytest.mark.process
def test_a_line_that_two_logs_share_stands_once(tmp_path: Path) -> None:
    """A line of vobd.log is of esxi.vobd and of esxi.event: it is one line of the answer, which names both."""
    folder = (
        tmp_path
        / "cases"
        / "acme"
        / "esx-esx0.lab.example-2017-10-14--16.53-71234"
        / "var"
        / "run"
        / "log"
    )
    folder.mkdir(parents=True)
    text = "2017-10-14T09:12:46.002Z: [netCorrelator] 844396129us: [esx.problem.net.redundancy.lost] Lost uplink redundancy"
    (folder / "vobd.log").write_text(f"{text}\n", encoding="utf-8")
    archive = tmp_path / "archive"
    done = CliRunner().invoke(main, ["batch", str(tmp_path / "cases"), "--archive", str(archive)])
    assert done.exit_code in (0, 1), done.output

    found = run(
        "search", "--archive", archive, "--text", "redundancy.lost] Lost uplink", "--json"
    ).stdout.splitlines()
    lines = [json.loads(one) for one in found if json.loads(one)["address"]]

    assert [one["line"] for one in lines] == [1]
    assert {part.split()[0] for part in lines[0]["of"].split("; ")} == {"esxi.event", "esxi.vobd"}


def test_a_text_stands_before_its_address_on_the_terminal(archive: Path) -> None:
    """The line comes first, then a short address with its number; JSON holds the address whole."""
    done = run("search", "--archive", archive, "--text", "lost network connectivity")
    head, line = done.stdout.splitlines()[:2]
    assert head.split() == ["case", "id", "time", "node", "of", "text", "at"]
    assert line.endswith("host-a.tgz!var/log/vobd.log:10") and line.index(LOST) < line.index(
        "host-a.tgz!"
    )


@pytest.mark.parametrize("text", ["%", "_", "'", "100%_'; DROP TABLE x; --", "\\", "[a-z]*"])
def test_signs_of_sql_and_patterns_are_plain_text(archive: Path, text: str) -> None:
    """Nothing in a searched text is a pattern or ends a string."""
    done = run("search", "--archive", archive, "--text", text)
    assert done.exit_code == 0
    assert "0 lines" in done.stdout, done.stdout


def test_lines_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Control and bidi characters of a log line, a case and a host are shown as what they are."""
    archive = Archive.open(tmp_path / "a", create=True)
    put(
        archive,
        "bad\x1b[2J\u202ename",
        [Host("h\x1b]0;x\x07", lines=("2026-03-01T07:00:00Z \x1b[31mevil\u202e text",))],
    )
    for words in (
        ("--text", "evil"),
        ('nodes: kind == "esxi"',),
        ("--rule", "kb-2039495", "--unknown"),
    ):
        done = run("search", "--archive", tmp_path / "a", *words)
        assert done.exit_code == 0 and "x1b" in done.stdout.lower(), done.output
        assert (
            "\x1b" not in done.output and "\u202e" not in done.output and "\x07" not in done.output
        )


@pytest.mark.parametrize(
    "words",
    [[], [OLD, "--rule", "x"], [OLD, "--text", "x"], ["--text", "x", "--by", "month"], ["--same", "pnic", "--rule", "x"],
     ["--unknown"], ["--by", "month", "--unknown"]],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(archive: Path, words: list[str]) -> None:
    """Each question is of one kind; anything else is told as a mistake of the command line."""
    done = run("search", "--archive", archive, *words)
    assert done.exit_code == 2 and done.stderr.startswith("backline: ")


@pytest.mark.parametrize(
    "time", ["yesterday", "2026-13", "2026-02-30", "26", "2026-03-01T25:00", "99999", "２０２６"]
)
def test_what_is_no_time_is_refused(time: str) -> None:
    """Only years, months, days and moments of the calendar are times."""
    with pytest.raises(UsageError, match="is not a time"):
        parse_window(time, "")


def test_until_takes_its_year_month_or_day_whole() -> None:
    """The end of --until is the first moment after it."""
    assert parse_window("2026", "2026").until == "2027-01-01 00:00:00"
    assert parse_window("", "2026-12").until == "2027-01-01 00:00:00"
    assert parse_window("", "2024-02-28").until == "2024-02-29 00:00:00"
    assert parse_window("2026-03-01T08:00:00Z", "").since == "2026-03-01 08:00:00"
    with pytest.raises(UsageError, match="is after"):
        parse_window("2027", "2026")


def test_limits_are_told(archive: Path) -> None:
    """What is cut is said on stderr, so that the rows stay rows."""
    done = run("search", "--archive", archive, MISSED, "--limit", "1")
    assert "only the first 1 are shown" in done.stderr and "host-a " not in done.stdout
    done = run("search", "--archive", archive, MISSED, "--unknown", "--limit", "1", "--csv")
    assert len(done.stdout.splitlines()) == 2 and "only the first 1" in done.stderr
