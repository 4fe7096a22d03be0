"""Hostile material through the whole command: the public corner cases alone, and grafted on a sound bundle.

A few are run each time; all of them with `BACKLINE_ALL_HOSTILE=1`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from msgspec import structs

from analyzer.cli import main
from analyzer.pipeline.triage import Options, triage
from analyzer.report import html
from analyzer.runtime.text import for_csv
from tests.kit import hostile
from tests.kit.case_factory import rich_case
from tests.kit.hostile import Answer, Page, ask

ALL = bool(os.environ.get("BACKLINE_ALL_HOSTILE"))
ARCHIVES = ("tar", "tar-other", "zip", "gzip", "bzip2", "tgz", "other")
corpus = pytest.mark.skipif(
    not hostile.CORPUS.exists(), reason="the public corner cases are not here"
)

RULE = """\
rule: {id}
title: "</script><img src=x onerror=alert(1)> {{{{ 7*7 }}}}"
status: test
revised: 2026-11-20
each: v in esxi.version
subject: x
logs:
  l: {{in: esxi.vmkernel, match: {pattern}}}
seen:
  s: {{log: l, at_least: 1}}
when: s
outcomes:
  - {{when: true, severity: info, confidence: possible, say: "<script>alert(1)</script> {{s.count}}"}}
ask: x
examples:
  - {{name: a, tables: {{esxi.version: []}}, expect: {{verdict: no_match}}}}
"""
EVIL_PATTERNS = [
    r"(a+)+$",
    r"(.*)*x\Z",
    r"([a-z0-9]+)+[A-Z]",
    r"(x+x+)+y",
    r"(?=.)(a+)+$",
    "(",
    "\\",
    "[z-a]",
    "a{9999999}",
]


@pytest.fixture(scope="module", autouse=True)
def _rules() -> Iterator[None]:
    with hostile.rules_read_once():
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Answer:
    """The answer to the bundle without a graft; several rules find something in it."""
    answer = ask(hostile.bundle(tmp_path_factory.mktemp("sound")))
    assert answer.state == "ok"
    assert len(answer.findings) >= 5
    return answer


@pytest.fixture(scope="module")
def page(sound: Answer) -> Page:
    """Elements and attributes that the page of a sound case may have."""
    crowd = rich_case()  # many machines stand in a table
    crowd.nodes += [structs.replace(crowd.nodes[0], id=f"esx{n}", name=f"esx{n}") for n in range(6)]
    logs = ask(
        hostile.ROOT / "samples" / "cases" / "slow-storage"
    ).document  # with lines of logs around its findings
    assert logs is not None and logs.log
    pages = [
        Page(html.render_page(doc)) for doc in (rich_case(), crowd, sound.document or {}, logs)
    ]
    pages[0].kinds |= pages[1].kinds | pages[2].kinds | pages[3].kinds
    assert not pages[0].trouble
    return pages[0]


def few(paths: list[Path], count: int) -> list[Path]:
    """Return all files when asked for, else the same few."""
    return paths if ALL else hostile.sampled(paths, count)


def check_graft(answer: Answer, sound: Answer, *, host: str = hostile.HOST) -> None:
    """The sound part is answered as it is without the graft."""
    assert answer.document is not None
    assert host in [node.name for node in answer.document.nodes]
    assert sound.findings == answer.findings


def peak_mib() -> float:
    """Return the most memory this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.corpus
@corpus
def test_every_corner_case_alone_is_answered(page: Page) -> None:
    """Ok, partial or refused, within ten seconds each, without a fault inside; its outputs are harmless."""

    def check(path: Path) -> None:
        begun = time.process_time()
        answer = ask(path)
        assert time.process_time() - begun < 10
        if answer.document:
            hostile.check_outputs(answer.document, page)

    assert hostile.each(few(hostile.corpus_files(), 60), check) == []
    assert not ALL or peak_mib() < 500


@pytest.mark.size
@pytest.mark.corpus
@corpus
@pytest.mark.parametrize(
    "place", ["behind the last member", "as a member", "as rotated logs", "as artefacts"]
)
def test_a_grafted_archive_leaves_the_sound_part_alone(
    tmp_path: Path, sound: Answer, page: Page, place: str
) -> None:
    """Bytes of a hostile file anywhere in a bundle: the report exists, names the host and finds the same."""

    def check(path: Path) -> None:
        data = path.read_bytes()
        if place == "behind the last member":
            bundle = hostile.bundle(tmp_path, tail=data)
        elif place == "as a member":
            bundle = hostile.bundle(tmp_path, {f"extra/{path.name}": data})
        elif place == "as rotated logs":
            bundle = hostile.bundle(
                tmp_path, {f"var/run/log/{log}.0.gz": data for log in ("vmkernel", "vobd", "hostd")}
            )
        else:
            names = (
                "esxtop.csv",
                "vmfs/volumes/x/y/y.vmx",
                "vmfs/volumes/x/y/vmware.log",
                "commands/vsish.txt",
            )
            bundle = hostile.bundle(tmp_path, dict.fromkeys(names, data))
        answer = ask(bundle)
        check_graft(answer, sound)
        if not ALL or hash(path.stat().st_size) % 8 == 0:
            hostile.check_outputs(answer.document or {}, page)

    folders = ("csv", "gzip", "other") if place == "as artefacts" else ARCHIVES
    assert hostile.each(few(hostile.corpus_files(*folders), 6), check) == []


def test_payloads_as_names_and_lines_are_shown_and_not_run(
    tmp_path: Path, sound: Answer, page: Page
) -> None:
    """Strings written to do harm, as VM names, log lines, file names, hosts and commands: all outputs harmless."""
    wanted = hostile.payloads() if ALL else hostile.payloads()[:60]
    flat = [
        text.encode("utf-8", "surrogateescape").replace(b"\n", b" ").replace(b"\0", b"")
        for text in wanted
    ]
    ports = b"".join(
        b"%-16d    5       9 vSwitch0         00:50:56:a6:%02x:%02x  %s\n"
        % (50331650 + n, n >> 8, n & 255, text)
        for n, text in enumerate(flat)
    )
    vmx = {
        f"vmfs/volumes/x/{n}/vm{n}.vmx": b'displayName = "%s"\nethernet0.present = "TRUE"\nethernet0.virtualDev = "e1000"\n'
        % text.replace(b'"', b"|22")
        for n, text in enumerate(flat)
    }
    stamp = (
        b"2017-10-14T16:30:00.000Z: [netCorrelator] 1us: [esx.problem.net.vmnic.linkstate.down] "
    )
    prompts = b"".join(
        b"[root@%s:~] vmware -vl %s\nVMware ESXi 6.0.0 build-5224934\n" % (t[:60], t)
        for t in flat[:25]
    )
    files: hostile.Files = {
        "commands/net-stats_-l.txt": b"PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        + ports,
        "var/run/log/vobd.0.gz": hostile.gzip.compress(
            b"".join(stamp + text + b"\n" for text in flat)
        ),
        "extra/pasted.txt": prompts,
        **vmx,
        **{f"extra/{text.decode('utf-8', 'surrogateescape')[:200]}.txt": b"x\n" for text in flat},
    }
    answer = ask(hostile.bundle(tmp_path, files))

    assert answer.document is not None
    shown = {finding.subject for finding in answer.document.findings}
    assert sum("</script>" in subject for subject in shown), (
        "the payloads did not get through to the outputs"
    )
    assert {found for found in sound.findings if "vmnic0" in found[2]} <= answer.findings
    hostile.check_outputs(answer.document, page)


def test_every_csv_cell_is_data(tmp_path: Path) -> None:
    """`tables --csv` of a case full of formulas has no cell that a spreadsheet would run."""
    names = [
        "=cmd|'/c calc'!A0",
        "@SUM(1)",
        "+1+1",
        "-2+3",
        "\t=1",
        '=HYPERLINK("http://evil.example")',
    ]
    names += [
        "\uff1dcmd|'/c calc'!A0",
        "\uff0b1\uff0b1",
        "\uff0d2+3",
        "\uff20SUM(1)",
        "\ufe66\u200b1",
        "\u200b=1",
    ]
    ports = (
        "PortNum          Type SubType SwitchName       MACAddress         ClientName\n"
        + "".join(
            f"{50331650 + n:<16d}    5       9 vSwitch0         00:50:56:a6:00:{n:02x}  {name}\n"
            for n, name in enumerate(names)
        )
    )
    log = "".join(
        f"2017-10-14T16:30:{n:02d}.000Z cpu0:33000){name}\n" for n, name in enumerate(names)
    )
    bundle = hostile.bundle(
        tmp_path, {"commands/net-stats_-l.txt": ports, "var/run/log/vmkernel.log": log}
    )
    for table in ("esxi.net_stats", "esxi.vmkernel"):
        result = CliRunner().invoke(main, ["tables", str(bundle), table, "--csv"])
        rows = list(csv.reader(io.StringIO(result.stdout)))
        assert result.exit_code == 0
        assert len(rows) == len(names) + 1
        assert any("cmd|" in cell for row in rows for cell in row)
        ran = [
            cell
            for row in rows
            for cell in row
            if hostile.FORMULA.match(cell) and not hostile.NUMBER.match(cell)
        ]
        assert ran == []
        assert not hostile.STEERS.search(result.stdout.replace("\r\n", "\n"))


@pytest.mark.parametrize(
    "before",
    ["", "\t", "\r", "\n", " ", "\u3000", "\xa0", "\u200b", "\u200d \t", "\ufeff", "\ufe0f"],
)
@pytest.mark.parametrize("sign", "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212\u207a")
def test_no_spelling_of_a_formula_passes(before: str, sign: str) -> None:
    """Wide, small and raised signs, and what may stand unseen in front of them, begin no cell."""
    cell = for_csv(f"{before}{sign}cmd|' /c calc'!A0")
    assert cell.startswith(("'", "\\x", "\\u")), (
        "quoted, or begun by what stands for a control character"
    )


@pytest.mark.parametrize(
    "cell", ["-5", "+1.5e-7", "-0.25", "vmnic0", "naa.600", "", "\u0394 = 3", "a=b", "(-2)", "3-4"]
)
def test_numbers_and_texts_stay_as_they_are(cell: str) -> None:
    """A number keeps its sign without a quote, and a text that is none of these is not touched."""
    assert for_csv(cell) == cell


@pytest.mark.corpus
@corpus
def test_hostile_yaml_as_rules_costs_only_itself(tmp_path: Path, sound: Answer) -> None:
    """181 corner cases of YAML and our own bombs beside the rules: each is refused with its place, nothing else changes."""
    folder = tmp_path / "kb"
    folder.mkdir()
    for path in hostile.corpus_files("yaml"):
        shutil.copy(path, folder / path.name)
    bombs: dict[str, bytes] = {
        "deep": b"[" * 100_000,
        "bytes": bytes(range(256)),
        "utf16": "rule: x\n".encode("utf-16"),
        "laugh": b"a0: &a0 [x, x]\n"
        + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n + 1, n + 1, n, n) for n in range(30)),
        "merge": b"a0: &a0 {k: 1}\n"
        + b"".join(b"a%d: &a%d\n  <<: [*a%d, *a%d]\n" % (n + 1, n + 1, n, n) for n in range(40)),
        "large": b"x: " + b"a" * (2 << 20),
        "tag": b"!!python/object/apply:os.system ['touch owned']\n",
    }
    for name, body in bombs.items():
        (folder / f"{name}.yaml").write_bytes(body)
    os.mkfifo(folder / "pipe.yaml")
    (folder / "zero.yaml").symlink_to("/dev/zero")
    (folder / "folder.yaml").mkdir()
    begun = time.process_time()
    outcome = triage([hostile.bundle(tmp_path)], Options(kb=[folder]))

    assert time.process_time() - begun < 10
    assert len(outcome.broken_rules) == len(
        [path for path in folder.iterdir() if not path.is_dir()]
    )
    assert all("-->" in told and not hostile.STEERS.search(told) for told in outcome.broken_rules)
    found = {
        (f.rule, f.node, f.subject, f.severity)
        for f in outcome.document.findings
        if f.verdict == "match"
    }
    assert found == sound.findings


def test_hostile_patterns_of_rules_cost_only_themselves(
    tmp_path: Path, page: Page, sound: Answer
) -> None:
    """Corner cases of regular expressions as rules: broken ones are named, the others end in time."""
    pytest.importorskip("hyperscan", reason="only an engine without backtracking bounds a pattern")
    lines = "".join(
        f"2017-10-14T16:20:0{n}.312Z cpu0:33000){text}!\n"
        for n, text in enumerate(("a" * 40, "x" * 4000, "1" * 60_000))
    )
    patterns = [
        path.read_bytes().decode("utf-8", "replace") for path in hostile.corpus_files("regexp")
    ] + EVIL_PATTERNS
    folder = tmp_path / "kb"
    folder.mkdir()
    for number, pattern in enumerate(patterns):
        rule = RULE.format(id=f"mine-{number}", pattern=json.dumps(pattern))
        (folder / f"mine-{number}.yaml").write_text(rule, encoding="utf-8")
    bundle = hostile.bundle(tmp_path, {"var/run/log/vmkernel.log": lines})
    begun = time.process_time()
    outcome = triage([bundle], Options(kb=[folder]))

    assert time.process_time() - begun < 10
    assert len(outcome.broken_rules) >= 3
    assert all(".yaml:" in told for told in outcome.broken_rules)
    document = outcome.document
    assert sound.findings <= {(f.rule, f.node, f.subject, f.severity) for f in document.findings}
    hostile.check_outputs(document, page)
