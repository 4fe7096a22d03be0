"""The linter: what each code sees beyond the example of its page, and what it leaves alone."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer import rules
from analyzer.authoring.draft.skeleton import write_skeleton
from analyzer.authoring.lint import catalog
from analyzer.authoring.lint import run as lint
from analyzer.authoring.lint.codes import CODES
from analyzer.authoring.lint.complaints import Complaint, RuleFile
from analyzer.authoring.lint.sharing import Sharing
from analyzer.cli import main
from analyzer.rules import packs
from analyzer.rules.run_catalog import Local
from analyzer.rules.settings import Settings
from analyzer.rules.sources import RuleSource
from analyzer.runtime.errors import UsageError
from analyzer.runtime.limits import Limits
from tests.kit.lint_kit import base, check, check_facts, codes, laid, told

PRIV = "join:\n  priv: {table: esxi.pnic_private_stats, by: [pnic], rows: many}\n"
LOG = (
    r"logs:"
    + "\n"
    + r"  down: {in: esxi.vobd, match: '\[esx\.problem\.net\.vmnic\.linkstate\.down\]'}"
    + "\n"
)
OUTCOME = "    severity: warning\n    confidence: confirmed\n    say: damaged frames\n"


def outcomes(*conditions: str, say: str = "damaged frames") -> str:
    """Return outcomes with these conditions."""
    return "outcomes:\n" + "".join(f"  - when: {one}\n{OUTCOME}" for one in conditions).replace(
        "damaged frames", say
    )


def sign(pattern: str) -> str:
    """Return a signature with this pattern, and a use of it."""
    return f"logs:\n  down: {{in: esxi.vobd, match: '{pattern}'}}\nevidence: [down]"


@cache
def whole() -> list[Complaint]:
    """Return the complaints about the catalog of the tool, looked for once."""
    return lint.check_files()


@pytest.mark.parametrize(
    ("code", "piece"),
    [
        ("R001", "title: [not closed"),
        ("R001", "title: !!str tagged"),
        ("R001", "title: &a one\nabout: *b"),
        ("R001", "title: x\n---\nzzz: y"),
        ("R002", "title: x\n\tabout: y"),
        ("R003", 'title: one title\n"title": another title'),
        ("R004", "examples: [{name: x, expext: {result: match}, expect: {result: match}}]"),
        ("R004", "join: {nic: {table: esxi.pnic, bye: [pnic]}}\nevidence: [nic.driver]"),
        ("R005", "logs: {down: {in: esxi.vobd}}\nevidence: [down]"),
        ("R005", "examples: [{name: x, expect: {severity: info}}]"),
        ("R005", "seen: {x: {at_least: 3}}"),
        ("R006", "kb: [one]"),
        ("R006", "status: finished"),
        ("R006", LOG + "seen: {flapping: {log: down, within: ten minutes}}\nevidence: [flapping]"),
        ("R008", "examples: [{name: x, tables: {esxi.vib: [{version: 6.70}]}, expect: {result: match}}]"),
        ("R008", "examples: [{name: x, tables: {esxi.pnic: [{driver: 7}]}, expect: {result: match}}]"),
        ("R010", "examples: [{name: x, tables: {esxi.pnics: []}, expect: {result: match}}]"),
        ("R010", "each: n in esxi.vobd"),
        ("R010", "ask: {esxi.nothing: x}"),
        ("R011", "examples: [{name: x, tables: {esxi.pnic: [{drv: ixgben}]}, expect: {result: match}}]"),
        ("R011", "join: {nic: {table: esxi.pnic, by: [nic]}}\nevidence: [nic.driver]"),
        ("R011", LOG + "evidence: [down.howmany]"),
        ("R012", "seen: {x: {log: nothing}}"),
        ("R012", "examples: [{name: x, like: y, expect: {result: match}}]"),
        ("R012", "evidence: [n]"),
        ("R014", PRIV + "evidence: [sum(n.rx_packets)]"),
        ("R015", "when: n.rx_crc_errors"),
        ("R015", "when: n.pnic + 1 > 2"),
        ("R015", PRIV.replace("[pnic]", "{rx_packets: pnic}") + "evidence: [priv.value]"),
        ("R016", "when: n.rx_crc_errors ** 2 > 1"),
        ("R016", "when: 'n.rx_crc_errors >'"),
        ("R017", "let: {n: 3}\nevidence: [n.pnic]"),
        ("R017", "examples: [{name: x, expect: {result: match}}, {name: x, expect: {result: match}}]"),
        ("R018", 'subject: "{n.nic}"'),
        ("R018", 'subject: "{n.pnic"'),
        ("R018", 'subject: "{n.pnic:.3%}"'),
        ("R020", "let: {one: n.rx_packets, two: one + 1}"),
        ("R021", PRIV + "evidence: [n.rx_packets]"),
        ("R024", "only: true\nwhen: true"),
        ("R025", outcomes("true", "n.rx_crc_errors > 10")),
        ("R025", outcomes("n.rx_packets > 5", "n.rx_packets > 5 and n.tx_packets > 1", "true")),
        ("R025", outcomes('n.pnic in ["a", "b"]', 'n.pnic == "b"', "true")),
        ("R025", "when: n.rx_crc_errors >= 10\n" + outcomes("n.rx_crc_errors > 9", "true")),
        ("R025", "let: {many: n.rx_crc_errors > 9}\n" + outcomes("many", "n.rx_crc_errors >= 10", "true")),
        ("R026", outcomes("n.rx_crc_errors > 9 or n.rx_packets > 1")),
        ("R027", "when: false"),
        ("R027", 'only: n.pnic == "a" and n.pnic == "b"'),
        ("R027", outcomes("n.rx_crc_errors == 0", "true")),
        ("R027", PRIV + 'when: any(priv.meaning == "crc" and priv.meaning == "fifo")'),
        ("R027", "notes: [{when: n.rx_crc_errors < 1, say: none}]"),
        ("R028", "only: true"),
        ("R028", "only: n.rx_packets >= 0 or n.rx_packets < 0"),
        ("R031", "only: known(vib.version)\njoin: {vib: {table: esxi.vib, by: []}}\nwhen: vib.vib_build > 7\n" + outcomes("true")),
        ("R032", LOG + outcomes("down", "true", say="damaged frames, and the link never went down")),
        ("R033", "outcomes: [{when: true, severity: info, confidence: likely, say: ''}]"),
        ("R034", "outcomes: [{when: true, severity: info, say: damaged}]"),
        ("R040", LOG.replace("down: {in: esxi.vobd, match: '\\[", "down: {in: esxi.vobd, match: '(") + "evidence: [down]"),
        ("R040", "logs: {all: {in: esxi.vobd, match: 'x*'}}\nevidence: [all]"),
        ("R041", sign(r"(?:a|b|ab)*linkstate(?! up)")),
        ("R043", sign(r"linkstate 6.5")),
        ("R044", sign(r"vm\d+")),
        ("R045", sign(r"linkstate (?P<one>\w+) (?P=one)")),
        ("R054", "rule: kb-12345"),
        ("R055", "title: " + "A physical NIC receives damaged frames and nobody knows since when it has been doing so " * 2),
        ("R055", "title: KB 2039495"),
        ("R055", "title: How to look for damaged frames"),
        ("R055", "title: Are frames damaged by the cable?"),
        ("R055", "title: Damaged frames"),
        ("R056", "source: []"),
        ("R057", "about: One. Two. Three. Four. Five."),
        ("R057", "about: ''"),
        ("R058", "revised: 2026-02-30"),
        ("R058", "revised: ''"),
        ("R058", "checked: last week"),
        ("R059", "needs: newest"),
        ("R061", "replaced_by: pnic-loses-packets"),
        ("R063", "fix: [{where: host, run: vsish -e set /config/Net/intOpts/UseHwTSO 0}]\ncaution: ''"),
        ("R063", "fix: [{where: host, run: 'rm -f /tmp/x'}]\ncaution: ''"),
        ("R063", "fix: [{where: host, do: 'Then `esxcli storage core device detached remove -d x`.'}]\ncaution: ''"),
        ("R063", "fix: [{where: host, run: localcli boot system restore --bootbanks}]\ncaution: ''"),
        ("R095", "fix: [{where: host, run: esxcli network nic statistics get}]"),
        ("R095", "ask: '`nsxcli -c get cluster state`'"),
        ("R095", "not_this: ['Seen in `esxcli network nic list | esxcfg-nicks -l`.']"),
        ("R067", "fix: [{where: host, do: TODO}]"),
        ("R074", "status: stable\nexamples: [{name: x, expect: {result: match}, gap: true}]"),
    ],
)  # fmt: skip
def test_what_is_complained_of(code: str, piece: str) -> None:
    """The code is found in further shapes of the mistake than that of its page."""
    assert code in codes(piece)


@pytest.mark.parametrize(
    ("code", "piece"),
    [
        ("R001", "title: 'A title: with a colon'"),
        ("R002", "about: \"one\ttwo. Three.\""),
        ("R006", "kb: 1005577"),
        ("R008", 'examples: [{name: x, tables: {esxi.vib: [{version: "6.70"}]}, expect: {result: match}}]'),
        ("R014", PRIV + "evidence: [priv.value]"),
        ("R018", 'subject: "{{n}} {n.pnic}"'),
        ("R020", "let: {one: n.rx_packets, two: one + 1}\nevidence: [two]"),
        ("R020", "let: {one: n.rx_packets}\nnotes: [{when: n.rx_crc_errors > 5, say: 'of {one}'}]"),
        ("R021", PRIV + "chart: [priv.value]"),
        ("R021", "join:\n  nic: {table: esxi.pnic, by: [pnic]}\n  info: {table: esxi.pnic_info, by: {nic.pnic: pnic}}\n"
                 "evidence: [info.driver]"),
        ("R022", LOG + "seen: {flapping: {log: down, at_least: 3}}\nevidence: [flapping.count]"),
        ("R023", LOG + "seen: {flapping: {log: down, at_least: 3}}\nnotes: [{when: flapping, say: x}]"),
        ("R024", "only: n.rx_packets > 0\nwhen: true"),
        ("R025", outcomes("n.rx_crc_errors >= 1000", "n.rx_crc_errors >= 10", "true")),
        ("R025", outcomes("n.rx_crc_errors > 9 and n.rx_packets > 1", "n.rx_crc_errors > 9", "true")),
        ("R025", outcomes("n.rx_crc_errors > 9 or n.rx_packets > 1", "n.rx_crc_errors > 8", "true")),
        ("R026", "when: n.rx_crc_errors > 0\n" + outcomes("n.rx_crc_errors >= 1")),
        ("R026", "outcomes: [{severity: info, confidence: likely, say: damaged}]"),
        ("R027", "when: n.rx_crc_errors >= 5 and n.rx_crc_errors <= 5\n" + outcomes("true")),
        ("R027", 'only: n.pnic != "a" and n.pnic != "b"'),
        ("R027", "join: {vib: {table: esxi.vib, by: []}}\nonly: vib.version > \"6.3.9\" and vib.version < \"6.3.10\""),
        ("R027", PRIV + 'when: any(priv.meaning == "crc") and any(priv.meaning == "fifo")'),
        ("R028", 'only: n.pnic == "a" or n.pnic == "b"'),
        ("R028", "notes: [{when: true, say: always}]"),
        ("R031", "join: {vib: {table: esxi.vib, by: []}}\nonly: vib.version < \"7\"\n" + outcomes("true")),
        ("R032", outcomes("n.rx_crc_errors > 10", "true", say="no frame is sound")),
        ("R032", LOG + outcomes("down", "true", say="damaged frames; the log is not in the case")),
        ("R032", LOG + outcomes("down", "not down", say="the link was not down")),
        ("R032", LOG + "when: n.rx_crc_errors > 0 and down\n" + outcomes("down.count > 3", "true", say="no more than three")),
        ("R041", sign(r"(?:linkstate|speed) (?:up|down)")),
        ("R041", sign(r"(?:a|b|ab)*linkstate")),
        ("R043", sign(r"linkstate.*6\.5 .$")),
        ("R044", LOG + "evidence: [down]"),
        ("R045", sign(r"linkstate (?:up|down)")),
        ("R054", "rule: kb-12345\nkb: [1, 12345]"),
        ("R055", "title: Frames are damaged, dropped, repeated etc."),
        ("R055", "title: Checksums of received frames are wrong"),
        ("R057", "about: Frames of e.g. vmnic0 (NSX 6.3.3) are damaged. They are lost."),
        ("R059", "needs: 0.1"),
        ("R060", "explained_by: [pnic-loses-packets]"),
        ("R060", "explained_by: [esx-event/esx.problem.storage.apd.start]"),
        ("R061", "status: retired\nreplaced_by: pnic-loses-packets"),
        ("R062", "status: retired\nfix: []"),
        ("R063", "fix: [{where: host, run: esxcli network nic list}]\ncaution: ''"),
        ("R063", "fix: [{where: host, run: reboot}]\ncaution: Evacuate the host first."),
        ("R063", "fix: [{where: host, do: 'Look at `esxcli storage core device detached list`.'}]\ncaution: ''"),
        ("R095", "ask: '`localcli --plugin-dir=/x network nic list`, `nsxcli -c get managers`, `esxcli software vib`'"),
        ("R095", "ask: '`vmkfstools -v 10 -P /vmfs/volumes/x`, `ls -l /tmp`, `GET /api/v1/alarms`'"),
        ("R070", "only: n.rx_packets > 0\nwhen: true\nexamples: [{name: a, expect: {result: match}},"
                 " {name: b, expect: {result: not_applicable}}, {name: c, expect: {result: cannot_tell}}]"),
        ("R067", "examples: [{name: x, logs: {esxi.vobd: TODO}, expect: {result: match}}]"),
        ("R074", "status: test\nexamples: [{name: x, expect: {result: match}, gap: true}]"),
    ],
)  # fmt: skip
def test_what_is_left_alone(code: str, piece: str) -> None:
    """What only looks like the mistake is no complaint."""
    assert code not in codes(piece)


def test_the_place_is_the_very_word() -> None:
    """Line, column and width mark the word that is wrong, in quotes and folded blocks as well."""
    for piece, code, word in (
        (
            "when: n.rx_crc_errors > 0 and n.rx_packets > 9 and n.rx_packets < 3",
            "R027",
            "n.rx_crc_errors",
        ),
        ('title: "A physical NIC receives damaged frames."', "R055", '"A physical'),
        ("about: >-\n  One sentence about frames. Another with a FIXME in it.", "R067", "FIXME"),
        ("let: {unused: n.rx_packets}", "R020", "unused"),
    ):
        text = laid(piece)
        found = next(
            one for one in lint.check_text(text, "damaged-frames.yaml") if one.code == code
        )
        line = text.splitlines()[found.place.line - 1]

        assert line[found.place.column - 1 :].startswith(word)
        assert found.source == line
        assert found.place.width >= len(word)


def test_a_complaint_reads_like_every_error_of_a_rule_file() -> None:
    """Code, sentence, place, line with caret, help, and where to read more."""
    text = laid("when: n.rx_crc_error > 0")
    number = next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith("when"))

    assert [str(one) for one in lint.check_text(text, "damaged-frames.yaml")] == [
        "error[R011]: table behind `n` has no column `rx_crc_error`\n"
        f"  --> damaged-frames.yaml:{number}:9\n"
        "  |\n"
        f"{number}| when: n.rx_crc_error > 0\n"
        "  |         ^^^^^^^^^^^^\n"
        "  = help: did you mean `rx_crc_errors`?\n"
        "  = see: backline rules lint --explain R011"
    ]


def test_many_mistakes_are_told_in_one_run() -> None:
    """The loader stops at the first mistake; the linter tells all that do not follow from another."""
    piece = (
        "titel: A slip\n"
        "kb: one\n"
        "join:\n"
        "  nic: {table: esxi.pnik, by: [pnic]}\n"
        "  priv: {table: esxi.pnic_private_stats, by: [pnick], rows: many}\n"
        "logs:\n"
        "  down: {in: esxi.vobd, match: '(down'}\n"
        "let:\n"
        "  speed: nic.speed_mbps\n"
        "  slow: speed < 1000\n"
        "  bad: n.rx_crc_error\n"
        "when: slow or down or bad > 0 or nonsense\n"
        "evidence: [n.rx_packet, nic.driver, priv.value]\n"
        "examples:\n"
        "  - {name: a, tables: {esxi.pnic_stats: [{pnic: 7}]}, expect: {result: match}}\n"
        "  - {name: b, like: a, expect: {result: maybe}}\n"
    )
    found = [(one.code, one.message) for one in told(piece) if CODES[one.code].stage == "load"]

    assert found == [
        ("R006", "kb must be a list, not text"),
        ("R010", "no parser makes table `esxi.pnik`"),
        ("R011", "table `esxi.pnic_stats` has no column `pnick`"),
        ("R040", "not a regular expression: missing ), unterminated subpattern at position 0"),
        ("R011", "table behind `n` has no column `rx_crc_error`"),
        ("R011", "table behind `n` has no column `rx_packet`"),
        ("R008", "`pnic` is str, not a number"),
        ("R006", "unknown result `maybe`"),
        ("R004", "unknown key `titel` in the rule"),
    ]


def test_words_and_examples_are_looked_at_although_the_rule_does_not_load() -> None:
    """A mistake in a condition hides no complaint about the words."""
    assert codes("when: nonsense\nabout: One.\nfix: []") == ["R057", "R012", "R062"]


def test_a_broken_each_ends_the_search_for_names() -> None:
    """Without the table nothing can be said of any column, and nothing is."""
    assert codes("each: n in esxi.nothing\nwhen: nonsense > 0") == ["R010"]


def test_a_missing_key_is_told_with_the_others() -> None:
    """A file without title and outcomes gives both complaints, and those of what it holds."""
    found = [
        one.code
        for one in lint.check_text(
            "rule: x\neach: n in esxi.pnic_stats\nwhen: n.nothing\n", "x.yaml"
        )
    ]

    assert [code for code in found if CODES[code].stage == "load"] == ["R005", "R005", "R011"]


@pytest.mark.size
def test_what_the_loader_takes_the_linter_calls_no_load_error() -> None:
    """The linter and the loader agree on every shipped rule."""
    assert [one for one in whole() if CODES[one.code].level == "error"] == []
    assert rules.load(examples=True).broken == []


def test_two_files_share_no_id_title_or_subject(tmp_path: Path) -> None:
    """The later of two files is complained of, with the name of the first."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "damaged-frames.yaml").write_text(base().replace("kb: []", "kb: [99]"))
    found = lint.check_files([tmp_path / "a", tmp_path / "b"])

    assert [(one.code, Path(one.file).parent.name) for one in found] == [
        ("R051", "b"),
        ("R052", "b"),
        ("R053", "b"),
    ]
    assert str(tmp_path / "a") in found[0].message


def test_a_file_that_is_named_twice_is_no_second_rule(tmp_path: Path) -> None:
    """A folder and a file in it, also by another spelling of the path, are one rule."""
    path = tmp_path / "damaged-frames.yaml"
    path.write_text(base())

    assert (
        lint.check_files([tmp_path, path, tmp_path / ".." / tmp_path.name / path.name], [tmp_path])
        == []
    )


def test_names_of_a_private_catalog_are_known(tmp_path: Path) -> None:
    """`explained_by` may name a rule of `--kb`, but not one that is retired."""
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "our-own.yaml").write_text(
        base().replace("damaged-frames", "our-own").replace("A physical NIC", "B")
    )
    text = base().replace("evidence:", "explained_by: [our-own]\nevidence:")

    assert [one.code for one in check(text, tmp_path)] == ["R060", "R007"]
    path = tmp_path / "own" / "damaged-frames.yaml"
    assert [one.code for one in lint.check_files([path], [tmp_path / "kb"])] == ["R007"]
    (tmp_path / "kb" / "our-own.yaml").write_text(
        base()
        .replace("damaged-frames", "our-own")
        .replace("status: test", "status: retired\nreplaced_by: cpu-contention")
    )
    found = lint.check_files([path], [tmp_path / "kb"])
    assert [(one.code, one.help) for one in found if one.code == "R060"] == [
        ("R060", "`cpu-contention` took over from it")
    ]


@pytest.mark.parametrize(
    "name",
    [
        "esx-event/esx.problem.storage.apd.begin",
        "pnic-loses-packets/esx.problem.storage.apd.start",
        "no-rule/row",
    ],
)
def test_a_row_that_is_not_there_explains_nothing(tmp_path: Path, name: str) -> None:
    """`rule/row` needs both: a rule over a table of facts, and that row of it."""
    text = base().replace("evidence:", f"explained_by: [{name}]\nevidence:")

    assert "R060" in [one.code for one in check(text, tmp_path)]


@pytest.mark.size
def test_what_rules_may_not_share_is_the_same_out_of_the_cache_as_out_of_their_files() -> None:
    """Of shipped rules beside those that are checked no YAML is read: each has the id, title, KBs and subject it writes."""

    def shared(file: RuleFile) -> tuple[object, ...]:
        alone = catalog.collect_others([file])
        return (
            list(alone.ids),
            list(alone.titles),
            list(alone.subjects),
            file.is_retired,
            file.read_word("replaced_by"),
        )

    limits = Limits()
    names, sharing = catalog.ShippedNames(limits), Sharing(rules.default_paths(), limits)
    for path in lint.choose_files([], local=Local(packs=False)):
        read, stored = (lint._read_file(path, limits, sharing) for _ in range(2))
        lint._read_tree(read)
        assert names.put_names(stored)
        assert shared(stored) == shared(read), path.name


@pytest.mark.size
def test_settings_and_packs_belong_to_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders of the settings are checked like `--kb`; a pack is only looked at for its ids and titles."""
    for name in ("set", "pack"):
        (tmp_path / name).mkdir()
    (tmp_path / "set" / "damaged-frames.yaml").write_text(base())
    (tmp_path / "pack" / "damaged-frames.yaml").write_text(base().replace("fix:", "fixes:"))
    (tmp_path / "pack" / "broken.yaml").write_text("{")
    pack = RuleSource("pack", "our-pack", "1.0", files=sorted((tmp_path / "pack").iterdir()))
    monkeypatch.setattr(packs, "find_installed", lambda: [pack])
    local = Local(Settings(kb=(tmp_path / "set",)))

    found = [one for one in lint.check_files(local=local) if "kb" not in one.file]
    assert [one.code for one in found] == ["R051", "R052"]
    assert "our-pack-1.0/damaged-frames.yaml" in found[0].message
    assert lint.check_files([tmp_path / "set"], local=Local(local.settings, packs=False)) == []
    assert [path.parent.name for path in lint.choose_files(["damaged-frames"], local=local)] == [
        "set"
    ]


@pytest.mark.size
def test_thorough_runs_the_examples(tmp_path: Path) -> None:
    """An example that fails, a gap that is none any more, a file nobody reads: each is told at its `expect`."""
    for old, new, line, message in (
        ("{result: no_match}", "{result: match}", "expect: {result: match}",
         'example "a clean NIC": result is no_match, expected match'),
        ("severity: major}}", "severity: major}, gap: true}", "expect: {result: match, severity: major}",
         'example "a thousand damaged frames" is marked `gap: true`, but it passes now'),
        ("path: esx.txt", "command: nothing we read", "expect: {result: match, severity: info, say: vmnic9",
         'example "the block as esxcli prints it": damaged-frames, example the block as esxcli prints it: no parser'),
    ):  # fmt: skip
        text = base().replace(old, new)
        told = [one for one in check(text, tmp_path, thorough=True) if one.code == "R072"]

        assert [one.source.strip()[: len(line)] for one in told] == [line]
        assert told[0].message.startswith(message)
        assert "R072" not in [one.code for one in check(text, tmp_path)]


def test_thorough_moves_the_thresholds(tmp_path: Path) -> None:
    """A number that no example holds in place is told once, with both moves and an example that would notice."""
    (found,) = check(
        base().replace("rx_crc_errors: 1000}", "rx_crc_errors: 5000}"), tmp_path, thorough=True
    )

    assert (found.code, found.source.strip()) == (
        "R073",
        "- {when: n.rx_crc_errors / n.rx_packets >= 0.01, severity: major, confidence: confirmed,",
    )
    assert found.message == "`0.01` may become 0.011 and no example notices (outcomes 1)"
    assert "is 0.01" in found.help

    allowed = base().replace(
        "  - {when: n.rx_crc_errors / n.rx_packets >= 0.01",
        "  # lint: allow R073 because so\n  - {when: n.rx_crc_errors / n.rx_packets >= 0.01",
    )
    assert [one.code for one in check(allowed, tmp_path, thorough=True)] == ["R091"]
    assert (
        check(
            allowed.replace("rx_crc_errors: 1000}", "rx_crc_errors: 5000}"), tmp_path, thorough=True
        )
        == []
    )
    assert check(allowed, tmp_path) == []


def test_thorough_tells_rules_of_one_id_apart(tmp_path: Path) -> None:
    """Two files of one id are each proved by their own examples."""
    for name, text in (("a", base()), ("b", base().replace("severity: major}", "severity: info}"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "damaged-frames.yaml").write_text(text)
    found = lint.check_files([tmp_path / "a", tmp_path / "b"], thorough=True)

    assert [Path(one.file).parent.name for one in found if one.code == "R072"] == ["b"]


def test_a_new_skeleton_gives_the_list_of_what_is_to_be_done() -> None:
    """A fresh rule loads; the linter names each text to write and each example to add, and nothing else.

    Of a log the cases "cannot tell" and "read by the real parser" are made for the author.
    """
    for made, asked in (
        (write_skeleton("kb-12345"), {"R067", "R070", "R071"}),
        (write_skeleton("kb-12345", log="esxi.vmkernel"), {"R067"}),
    ):
        assert {one.code for one in lint.check_text(made, "kb-12345.yaml")} == asked


def test_files_that_cannot_be_read_are_complaints(tmp_path: Path) -> None:
    """Bytes that are no text, an empty file and a huge one: an error with the file's name, and the others are checked."""
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00rule")
    (tmp_path / "empty.yaml").write_text("")
    (tmp_path / "huge.yaml").write_text("# " + "x" * (1 << 20))
    (tmp_path / "damaged-frames.yaml").write_text(base())
    found = lint.check_files([tmp_path])

    assert [(Path(one.file).name, one.code) for one in found] == [
        ("bytes.yaml", "R001"), ("empty.yaml", "R001"), ("huge.yaml", "R001"),
    ]  # fmt: skip


def test_names_choose_files(tmp_path: Path) -> None:
    """Ids, files and folders; a slip gets the nearest id."""
    (tmp_path / "damaged-frames.yaml").write_text(base())

    assert [path.stem for path in lint.choose_files(["beacon-probing", str(tmp_path)])] == [
        "beacon-probing",
        "damaged-frames",
    ]
    assert [path.stem for path in lint.choose_files(["damaged-frames"], [tmp_path])] == [
        "damaged-frames"
    ]
    assert len(lint.choose_files([])) == len(list(rules.default_paths()[0].glob("*/*.yaml")))
    with pytest.raises(UsageError, match="did you mean `beacon-probing`"):
        lint.choose_files(["beacon-probin"])
    with pytest.raises(UsageError, match="no rule and no file"):
        lint.choose_files([str(tmp_path / "never.yaml")])


@pytest.mark.size
def test_the_same_files_give_the_same_complaints() -> None:
    """Two runs over the catalog are equal to the letter."""
    assert [str(one) for one in lint.check_files()] == [str(one) for one in whole()]


@pytest.mark.size
def test_a_hostile_rule_does_not_hold_the_linter(tmp_path: Path) -> None:
    """Names that double, very long conditions, thousands of mistakes: seconds, as the limits of rule files promise."""
    doubling = "".join(f"  n{n}: n{n - 1} + n{n - 1}\n" for n in range(1, 11))
    long = " or ".join(f"n9 > {n} and n10 != {n}" for n in range(90))
    piece = f"let:\n  n0: n.rx_packets\n{doubling}  x: {long}\n" + outcomes(
        *[f"x and n9 > {n}" for n in range(49)], "true"
    )
    rows = "".join(
        f"  - {{name: e{n}, tables: {{esxi.pnic: [{{a{n}: 1}}]}}, expect: {{result: match}}}}\n"
        for n in range(450)
    )
    start = time.process_time()
    codes(piece)
    assert set(codes("examples:\n" + rows)) >= {"R011"}

    assert time.process_time() - start < 30


@pytest.mark.size
def test_the_released_rules_hold_every_number() -> None:
    """`rules lint --thorough` has nothing to say of the catalog; a number held by the words of an answer counts as held."""
    done = CliRunner().invoke(main, ["rules", "lint", "--thorough", "--no-settings"])
    assert done.exit_code == 0, done.output
    assert "0 errors, 0 warnings" in done.output


@pytest.mark.release
@pytest.mark.size
def test_three_hundred_rules_take_seconds(tmp_path: Path) -> None:
    """A catalog of 300 rules of the common size is checked in well under half a minute on any machine."""
    shipped = sorted(rules.default_paths()[0].glob("*/*.yaml"))
    for number in range(300):
        text = shipped[number % len(shipped)].read_text(encoding="utf-8")
        (tmp_path / f"rule-{number}.yaml").write_text(text, encoding="utf-8")
    start = time.process_time()
    lint.check_files([tmp_path])

    assert time.process_time() - start < 30


def test_a_command_in_a_cell_is_looked_up(tmp_path: Path) -> None:
    """A cell is shown as it is, so a mistyped command in it costs the reader as much as one in a rule."""
    head = "module,since,fixed_in,build,source,mark\n"
    for command, wanted in (
        ("esxcli network nic statistics", ["R095"]),
        ("esxcli vm process list", []),
    ):
        found = check_facts(f"{head}i40en,1.0,1.7,,KB 1: `{command}`,verified\n", tmp_path)
        assert [one.code for one in found if one.code == "R095"] == wanted
