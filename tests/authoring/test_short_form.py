"""The short form of rules: it says the same as the long one, and a mistake is told where the author made it.

All log lines are synthetic; their form is that of vobd.log and of a made-up log (ISO stamp, words).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import rules
from analyzer.artefacts import parsing
from analyzer.authoring.fmt.layout import format_rule
from analyzer.authoring.lint import run as lint
from analyzer.cli import main
from analyzer.pipeline import examples as runner
from analyzer.rules import Rule
from analyzer.rules.language.rulefile import BadRuleError
from analyzer.rules.short_examples import MADE, own_path
from tests.kit.rule_kit import TABLES, Kit
from tests.kit.sample_kit import list_samples
from tests.kit.together import together

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"

DOWN = "2017-10-14T14:{}Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.down] vmnic {} linkstate down\n"
UP = "2017-10-14T14:{}Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic {} linkstate up\n"

SHORT = r"""rule: kb-1234567
title: An uplink lost its link
source: VMware KB 1234567
revised: 2026-11-22
about: The port of the switch lost the link. The traffic went to the other uplinks.

sign:
  in: esxi.vobd
  match: '\[vob\.net\.vmnic\.linkstate\.down\] vmnic (?P<vmnic>\S+) linkstate down'
  per: vmnic
cleared: '\[vob\.net\.vmnic\.linkstate\.up\] vmnic (?P<vmnic>\S+) linkstate up'

severity: warning
confidence: confirmed
say: "{vmnic} lost its link {sign.count} times, the first at {sign.first}."

fix: {switch: Look at the port and the cable.}
not_this: Somebody pulled the cable on purpose.

examples:
  match: |
    2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.down] vmnic vmnic4 linkstate down
  cleared: |
    2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.down] vmnic vmnic4 linkstate down
    2017-10-14T14:02:09.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up
  no_match: |
    2017-10-14T14:02:02.101Z: [netCorrelator] 3532322000000us: [vob.net.vmnic.linkstate.up] vmnic vmnic4 linkstate up
"""

LONG = r"""rule: kb-1234567
title: An uplink lost its link
kb: [1234567]
source: VMware KB 1234567
revised: 2026-11-22
about: The port of the switch lost the link. The traffic went to the other uplinks.

each: it in sign per vmnic
join:
  hit: {table: sign, by: [vmnic], rows: many}
  end: {table: cleared, by: [vmnic], rows: many}
object: "{it.vmnic}"
logs:
  sign: {in: esxi.vobd, match: '\[vob\.net\.vmnic\.linkstate\.down\] vmnic (?P<vmnic>\S+) linkstate down'}
  cleared: {in: esxi.vobd, match: '\[vob\.net\.vmnic\.linkstate\.up\] vmnic (?P<vmnic>\S+) linkstate up'}
let:
  over: any(end.time >= max(hit.time))
when: sign and not over
outcomes:
  - when: true
    severity: warning
    confidence: confirmed
    say: "{it.vmnic} lost its link {sign.count} times, the first at {sign.first}."
evidence: [sign, cleared]
fix: [{where: switch, do: Look at the port and the cable.}]
not_this: [Somebody pulled the cable on purpose.]
"""


def backline(*args: str) -> tuple[int, str]:
    """Run a command; returns its status and what it prints."""
    done = CliRunner().invoke(main, list(args))
    return done.exit_code, done.output


def written(folder: Path, text: str, name: str = "kb-1234567") -> str:
    """Write a rule file and return its path."""
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def replaced(old: str, new: str, text: str = SHORT) -> str:
    """Return the short rule with a piece of it replaced."""
    assert old in text
    return text.replace(old, new, 1)


# -- a rule of at most thirty lines


def test_a_signature_rule_of_thirty_lines_is_clean_under_lint_test_and_fmt(tmp_path: Path) -> None:
    """At most 30 lines, examples among them: no complaint, all examples hold, every number is held, laid out well."""
    path = written(tmp_path, format_rule(SHORT))

    assert len(SHORT.splitlines()) <= 30
    assert backline("rules", "lint", "--thorough", path) == (0, "1 rule: 0 errors, 0 warnings\n")
    status, told = backline("rules", "test", "--mutate", path)
    assert status == 0
    assert "6 examples: all as expected" in told
    assert backline("rules", "fmt", "--check", path)[0] == 0


def test_the_short_form_stands_for_the_long_one() -> None:
    """Numbers of the KB, subjects, joins, condition, answers, evidence, remedy: all as in the rule written out."""
    one, two = rules.parse(SHORT), rules.parse(LONG)

    def told(rule: Rule) -> dict[str, Any]:
        steps = [(step.where, step.do.text if step.do else "") for step in rule.fix]
        joins = [
            (join.alias.name, join.alias.table.spoken_name, join.by, join.alias.many)
            for join in rule.joins
        ]
        return {
            "kb": rule.kb, "each": (rule.each.name, rule.each.table.spoken_name, rule.each.table.key), "joins": joins,
            "logs": {name: (log.table.name, log.pattern) for name, log in rule.logs.items()}, "seen": rule.seen,
            "when": rule.when.text, "let": {name: node.text for name, node in rule.lets.items()},
            "evidence": [node.text for node in rule.evidence], "fix": steps, "not_this": rule.not_this,
            "answers": [(part.when.text, part.severity, part.confidence) for part in rule.outcomes],
        }  # fmt: skip

    assert told(one) == told(two)


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 59), st.sampled_from([DOWN, UP]), st.sampled_from(["vmnic0", "vmnic1"])
    ),
    max_size=12,
)


@pytest.mark.size
@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_both_forms_judge_alike(events: list[tuple[int, str, str]]) -> None:
    """Of any lines, in any order, both say the same of the same uplinks, with the same evidence."""
    text = "".join(
        line.format(f"02:{second:02}.101", vmnic) for second, line, vmnic in sorted(events)
    )
    told = []
    for source in (SHORT, LONG):
        rule = rules.parse(source.partition("examples:")[0])
        kit = _vobd(rule, text)
        judged = kit.judge(rule)
        shown = [
            (one.subject, one.object, one.severity, one.say, [e.line for e in one.evidence])
            for one in judged.findings
        ]
        told.append((shown, judged.counts))
    assert told[0] == told[1]


def _vobd(rule: Rule, text: str) -> Kit:
    from analyzer.facts import Facts
    from analyzer.rules import Catalog
    from analyzer.scan.signatures import Scanner

    kit = Kit()
    kit.facts = Facts(parsing.tables())
    kit.facts.node("esx1", "esx1", "esxi", captured="2017-10-31T00:00:00Z")
    scanner = Scanner(Catalog([rule]).signatures(), engine="pure")
    kit.facts.add_hits(
        scanner.scan_lines(text.splitlines(), "esxi.vobd", "vobd.log").assign_node("esx1")
    )
    return kit


@pytest.mark.size
def test_a_case_is_judged_by_a_short_rule(tmp_path: Path) -> None:
    """`triage --kb` reads a short rule and writes its finding, with the line as evidence."""
    written(tmp_path, SHORT)
    log = tmp_path / "case" / "vobd.log"
    log.parent.mkdir()
    log.write_text(DOWN.format("02:02.101", "vmnic4"), encoding="utf-8")
    status, _ = backline(
        "triage",
        str(log.parent),
        "--kb",
        str(tmp_path),
        "-o",
        str(tmp_path / "out"),
        "--no-settings",
    )

    assert status == 0
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "vmnic4 lost its link 1 times, at 2017-10-14 14:02:02 UTC." in page


# -- what is derived


def test_without_per_there_is_one_verdict_for_each_machine() -> None:
    """The subject is the host that wrote the lines."""
    rule = rules.parse(
        replaced("  per: vmnic\n", "").replace("{vmnic} lost its link", "The host lost links")
    )

    assert rule.each.table.key == ("node",)
    assert all(result.ok for result in runner.run(rule))


def test_what_is_over_has_its_own_answer() -> None:
    """With a severity under `cleared` the rule speaks of what has ended as well, and says so."""
    new = """cleared:
  match: '\\[vob\\.net\\.vmnic\\.linkstate\\.up\\] vmnic (?P<vmnic>\\S+) linkstate up'
  severity: info
  say: "{vmnic} is back since {cleared.last}."
"""
    old = SHORT[SHORT.index("cleared:") : SHORT.index("\nseverity")]
    rule = rules.parse(replaced(old, new))
    results = {result.name: result for result in runner.run(rule)}

    assert all(result.ok for result in results.values())
    assert results["cleared 1"].got["severity"] == "info"
    assert results["cleared 1"].got["say"] == "vmnic4 is back since 2017-10-14 14:02:09 UTC."


def test_the_examples_nobody_writes_are_made() -> None:
    """The log is missing, the log is cut, the first matching line read from the place of its log: all three hold."""
    results = {result.name: result for result in runner.run(rules.parse(SHORT))}
    made = [name for name in results if name.startswith(MADE)]

    assert made == [
        f"{MADE}esxi.vobd is not in the case",
        f"{MADE}esxi.vobd is cut and shows nothing",
        f'{MADE}"match 1" read from var/run/log/vobd.log',
    ]
    assert all(results[name].ok for name in made)


def test_a_made_example_can_fail() -> None:
    """A line that no reader takes for one of that log does not prove the rule, and `rules test` says so."""
    line = SHORT[SHORT.index("    2017-10") : SHORT.index("  cleared: |")]
    odd = "    up to here [vob.net.vmnic.linkstate.down] vmnic vmnic4 linkstate down\n"
    broken = replaced(
        "  per: vmnic\n", '  per: vmnic\n  where: correlator == "x"\n', replaced(line, odd)
    )

    assert not all(result.ok for result in runner.run(rules.parse(broken)))


def test_a_long_rule_over_lines_need_not_write_them_either(tmp_path: Path) -> None:
    """Lint asks neither for "cannot tell" nor for `files` where both follow from the rule and its lines."""
    examples = "ask: vobd.log\nexamples:\n"
    for name, text, result in (("down", DOWN, "match"), ("up", UP, "no_match")):
        line = text.format("02:02.101", "vmnic4")
        examples += f"  - name: {name}\n    logs:\n      esxi.vobd: |\n        {line}    expect: {{result: {result}}}\n"
    codes = {one.code for one in lint.check_files([Path(written(tmp_path, LONG + examples))])}

    assert not codes & {"R070", "R071"}
    rows = LONG.replace("each: it in sign per vmnic", "each: it in esxi.pnic").partition("\njoin")[
        0
    ]
    rows += "\nwhen: it.mtu > 9000\noutcomes: [{when: true, severity: info}]\n"
    codes = {one.code for one in lint.check_files([Path(written(tmp_path, rows))])}
    assert {"R070", "R071"} <= codes


@together(
    "name",
    sorted(
        p.name for p in parsing.registry().values() if p.log and p.files and not p.tables[0].inside
    ),
)
def test_every_log_has_a_place_that_its_reader_takes(name: str, tmp_path: Path) -> None:
    """The first sample of a log, laid where its table says, is read as that log."""
    parser = parsing.registry()[name]
    table = parser.tables[0]
    path = own_path(table)
    line = next(
        line
        for sample in list_samples(name.replace("vmkwarning", "vmkernel"), "*.txt")
        for line in sample.read_text(encoding="utf-8").splitlines()
        if (not parser.shape or parser.starts_at(line))
        and not line.startswith(("cloudnet", "INFO."))
    )
    assert path
    target = tmp_path / "case" / path
    target.parent.mkdir(parents=True)
    target.write_text(line + "\n", encoding="utf-8")
    status, told = backline("tables", str(tmp_path / "case"))

    assert status == 0
    assert any(row.split()[:1] == [table.name] for row in told.splitlines()), (path, told)


# -- rates and pairs

RATE = r"""rule: made-up
title: Conflicts come in bursts
sign:
  in: esxi.made_up_log
  match: 'conflict on (?P<device>\S+)'
  per: device
  at_least: 3
  within: 10m
severity: warning
say: "{often.count} conflicts of {device}"
examples:
  match: |
    2024-01-05T12:00:00Z conflict on a
    2024-01-05T12:05:00Z conflict on a
    2024-01-05T12:10:00Z conflict on a
  no_match: |
    2024-01-05T12:00:00Z conflict on a
    2024-01-05T12:05:00Z conflict on b
    2024-01-05T12:10:00Z conflict on a
    2024-01-05T12:15:00Z conflict on b
"""


def test_a_rate_is_asked_of_each_subject_by_itself() -> None:
    """Three conflicts of one device within ten minutes: lines of another device do not count."""
    rule = rules.parse(RATE, TABLES)
    again = RATE.replace("conflict on b", "conflict on a")

    assert [result.ok for result in _run(rule)][:2] == [True, True]
    assert [result.ok for result in _run(rules.parse(again, TABLES))][:2] == [True, False]


def _run(rule: Rule) -> list[Any]:
    told = []
    for example in rule.examples:
        if example.files:
            continue
        kit = Kit()
        for text in example.logs.values():
            kit.log(rule, text or "")
        told.append(runner.result_of(rule, example, kit.judge(rule)))
    return told


LASTING = r"""rule: made-up
title: A link is down for long
sign: {in: esxi.made_up_log, match: 'down (?P<link>\S+)', per: link}
cleared: {match: 'up (?P<link>\S+)', longer_than: 10s}
severity: warning
say: "{lasting.count}"
"""
START = datetime(2024, 1, 5, 12)
Event = tuple[int, str, str]


def _pauses(events: Sequence[Event], link: str, end: int) -> int | None:
    """Return how often a link was down for more than ten seconds, by walking second by second; None when open."""
    own = {(at, kind) for at, kind, name in events if name == link}
    since, count = None, 0
    for now in range(end + 1):
        if (now, "down") in own and since is None:
            since = now
        if (now, "up") in own and since is not None:
            count += now - since > 10
            since = None
    if since is not None:
        count += end - since > 10
        if not count:
            return None
    return count


@pytest.mark.size
@settings(max_examples=150, deadline=None)
@given(
    st.sets(
        st.tuples(st.integers(0, 40), st.sampled_from(["down", "up"]), st.sampled_from("ab")),
        max_size=14,
    )
)
def test_what_lasts_longer_is_what_a_walk_by_seconds_finds(found: set[Event]) -> None:
    """From the first line of the trouble to the next that ends it; what has no end goes on to the end of the log."""
    events = sorted(found, key=lambda one: (one[0], one[1]))
    lines = [
        f"{START + timedelta(seconds=at):%Y-%m-%dT%H:%M:%S}Z {kind} {link}\n"
        for at, kind, link in events
    ]
    lines.append(f"{START + timedelta(seconds=45):%Y-%m-%dT%H:%M:%S}Z end of the log\n")
    rule = rules.parse(LASTING, TABLES)
    judged = Kit().log(rule, "".join(lines)).judge(rule)

    wanted = {
        link: _pauses(events, link, 45)
        for link in {link for _, kind, link in events if kind == "down"}
    }
    assert {one.subject: int(one.say) for one in judged.findings} == {
        k: n for k, n in wanted.items() if n
    }
    assert {one.subject for one in judged.cannot_tell if one.subject} == {
        k for k, n in wanted.items() if n is None
    }


def test_an_end_that_was_not_read_may_have_come() -> None:
    """In a log that was cut nothing is said to have lasted: its end may stand in the part that is missing."""
    rule = rules.parse(LASTING, TABLES)
    text = "2024-01-05T12:00:00Z down a\n2024-01-05T12:01:00Z other\n"

    assert Kit().log(rule, text).counts(rule) == {"match": 1}
    assert Kit().log(rule, text, cut="ended early").counts(rule) == {
        "cannot_tell": 2
    }  # of other links as well


# -- mistakes


@pytest.mark.parametrize(
    ("old", "new", "message", "marked"),
    [
        ("in: esxi.vobd", "in: esxi.vobs", "no parser makes table `esxi.vobs`", "esxi.vobs"),
        ("per: vmnic", "per: vmnik", "hits of `sign` have no `vmnik`", "vmnik"),
        ("  per: vmnic", "  pre: vmnic", "unknown key `pre` in `sign`", "pre"),
        ("  in: esxi.vobd\n", "", "`sign` has no `in`", "sign"),
        ("per: vmnic", "per: vmnic\n  within: soon", "the span is a time span", "soon"),
        (
            "vmnic (?P<vmnic>\\S+) linkstate up",
            "vmnic (?P<nic>\\S+) linkstate up",
            "has no column `vmnic`",
            None,
        ),
        ("severity: warning", "severity: high", "unknown severity `high`", "high"),
        ("severity: warning\n", "", "an outcome has no severity", "confidence"),
        ("{vmnic} lost", "{vmnik} lost", "unknown name `vmnik`", "vmnik"),
        ("confidence: confirmed", "each: a in esxi.vm", "`each` does not go with `sign`", "each"),
        ("confidence: confirmed", "let: {over: 1}", "the name `over` is already taken", "over"),
        (
            "severity: warning",
            "outcomes: [{when: true, severity: info}]",
            "does not go with `outcomes`",
            "confidence",
        ),
        ("  no_match: |", "  nomatch: |", "unknown key `nomatch` in `examples`", "nomatch"),
        ("fix: {switch: Look", "fix: {switch: 'Look {at}", "unknown name `at`", "at"),
    ],
)
def test_a_mistake_is_told_at_the_key_of_the_author(
    old: str, new: str, message: str, marked: str | None
) -> None:
    """File, line and caret point at the short form's own words; nothing speaks of what was made from them."""
    text = replaced(old, new)
    if "'Look" in new:
        text = text.replace("and the cable.}", "and the cable.'}")
    with pytest.raises(BadRuleError) as caught:
        rules.parse(text)

    error = caught.value
    assert message in error.message
    if marked is not None:
        line = text.splitlines()[error.place.line - 1]
        assert line[error.place.column - 1 :].startswith(marked), str(error)
    assert "^" in str(error)


def test_lint_tells_of_several_mistakes_at_their_places(tmp_path: Path) -> None:
    """One run names them all, each with its own code, though one of them keeps the rule from being loaded."""
    text = replaced(
        "severity: warning",
        "severity: high",
        replaced("not_this: Somebody pulled the cable on purpose.\n", ""),
    )
    text = replaced("{sign.count}", "{sign.counts}", text)
    found = lint.check_files([Path(written(tmp_path, text))])
    found = [one for one in found if one.code != "R007"]  # the layout is another question

    assert [(one.code, text.splitlines()[one.place.line - 1].split(":")[0]) for one in found] == [
        ("R064", "rule"),
        ("R006", "severity"),
        ("R018", "say"),
    ]


@pytest.mark.parametrize("key", ["sign", "cleared"])
def test_a_pattern_that_can_run_away_is_refused_in_the_short_form(key: str, tmp_path: Path) -> None:
    """A pattern of a stranger costs nothing before it is refused, also where examples are sorted by it."""
    start = SHORT.index("match: '" if key == "sign" else "cleared: '")
    end = SHORT.index("\n", start)
    text = (
        SHORT[:start]
        + f"{'match' if key == 'sign' else 'cleared'}: '(?P<vmnic>(\\w+\\s?)+)(?! is up)'"
        + SHORT[end:]
    )
    codes = [one.code for one in lint.check_files([Path(written(tmp_path, text))])]

    assert "R041" in codes


def test_what_a_comment_allows_holds_for_what_was_made() -> None:
    """`# lint: allow` on the line above `match` reaches a complaint about a part that stands for it."""
    text = SHORT
    text = text.replace(
        "  match: '", "  # lint: allow R043 because the id is written so\n  match: '"
    )
    text = text.replace(r"vob\.net\.vmnic\.linkstate\.down", r"vob.net\.vmnic\.linkstate\.down")
    codes = {one.code for one in lint.check_text(text, "kb-1234567.yaml")}
    assert codes <= {"R007"}  # the layout is another question


# -- drafts


def test_a_draft_from_lines_of_one_sort_is_short(tmp_path: Path) -> None:
    """`rules new --from-lines` writes the short form where one signature says it; all its examples hold at once."""
    case = tmp_path / "case"
    case.mkdir()
    (case / "vobd.log").write_text(
        DOWN.format("02:02.101", "vmnic4") + DOWN.format("09:02.101", "vmnic5"), "utf-8"
    )
    status, told = backline(
        "rules", "new", "kb-77", str(case), "--kb", str(tmp_path), "--from-lines", "vobd.log:1-2"
    )
    text = (tmp_path / "kb-77.yaml").read_text(encoding="utf-8")

    assert status == 0, told
    assert "3 of 3 drafted, all of these hold" in told
    assert "\nsign:\n" in text
    assert "\nlogs:" not in text
    assert len([line for line in text.splitlines() if line and not line.startswith("#")]) <= 30
    assert backline("rules", "test", str(tmp_path / "kb-77.yaml"))[0] == 0


def test_a_draft_from_a_trouble_and_its_end_has_both(tmp_path: Path) -> None:
    """A line and the one that ends it become `sign` and `cleared`, with an example of what is over."""
    case = tmp_path / "case"
    case.mkdir()
    head = "2017-10-14T14:0{}:02.101Z: [scsiCorrelator] 3532322000000us: [esx."
    lost = (
        head
        + "problem.storage.connectivity.lost] Lost connectivity to storage device naa.60000000000000000000000000000007.\n"
    )
    back = (
        head
        + "clear.storage.connectivity.restored] Connectivity to storage device naa.60000000000000000000000000000007.\n"
    )
    (case / "vobd.log").write_text(
        lost.format(1) + back.format(2) + lost.format(3), encoding="utf-8"
    )
    status, told = backline(
        "rules", "new", "kb-77", str(case), "--kb", str(tmp_path), "--from-lines", "vobd.log:1-2"
    )
    rule = rules.parse((tmp_path / "kb-77.yaml").read_text(encoding="utf-8"))

    assert status == 0, told
    assert list(rule.logs) == ["sign", "cleared"]
    assert rule.when.text == "sign and not over"
    assert "cleared 1" in [example.name for example in rule.examples]
    assert all(result.ok for result in runner.run(rule))


# -- more than one log


def test_bare_lines_are_sorted_into_their_logs_in_bounded_time() -> None:
    """With the end in another log each line goes to the log whose signature finds it; no pattern runs away on them."""
    old = SHORT[SHORT.index("cleared:") : SHORT.index("\nseverity")]
    new = (
        "cleared:\n  in: esxi.vmkernel\n  match: 'link of (?P<vmnic>vmnic\\d+) is (?:\\w+)+ up$'\n"
    )
    up = SHORT[SHORT.rindex("  cleared: |") : SHORT.rindex("  no_match: |")].splitlines()[2]
    text = replaced(
        up,
        f"    2017-10-14T14:02:09.101Z cpu1:1)link of vmnic4 is {'a' * 60} up",
        replaced(old, new),
    )
    text = text.replace(
        "  no_match: |", f"  cannot_tell: |\n    link of vmnic4 is {'a' * 60}\n  no_match: |"
    )
    rule = rules.parse(text)
    results = {result.name: result for result in runner.run(rule)}
    (over,) = [example for example in rule.examples if example.name == "cleared 1"]

    assert set(over.logs) == {"esxi.vobd", "esxi.vmkernel"}
    assert all("vmnic4" in (lines or "") for lines in over.logs.values())
    assert results["cleared 1"].ok
    assert results["match 1"].ok
