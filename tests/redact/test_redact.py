"""A redacted case: nothing of it tells a name, all else is as it was. Names come from who made the samples."""

from __future__ import annotations

import json
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.case import case_file
from analyzer.case.case_file import write_case
from analyzer.cli import main
from analyzer.redact import learnt, namemap, textforms
from analyzer.redact.redaction import Redaction
from analyzer.redact.reversing import reverse_text
from analyzer.report import markdown
from analyzer.runtime.output import write_all
from tests.kit.redaction_check import left

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path for path in (ROOT / "samples" / "cases").iterdir() if path.is_dir())
# What the makers of the samples (tools/case_*.py) call hosts, VMs, networks, devices.
NAMES = [
    "lab.example", "esx0", "esx21", "esx31", "esx41", "esx42", "esx51", "esx61", "esx71", "lin-app07", "lin-db02", "lin-db,02",
    "iperf-test1", "iperf-test2", "lin-erp02", "lun-prod-07", "naa.600508b1001c0000000000000000a107",
    "59e1f0aa-1b2c3d4e-0007-002590aa7001", "59e1f0aa-1b2c3d4e-0002-002590aa3001", "nsxmgr01", "10.0.0.1", "192.0.2.15",
    "00:50:56:a6:80:01", "00:25:90:aa:10:01",
]  # fmt: skip
SPELLINGS = (
    "esx31", "ESX31.LAB", "es\u00adx31", "es<wbr>x31", "<b>es</b>x31", "e&#115;x31", "%65sx31", "\\u0065sx31",
    b"lin-app07".hex(), "bGluLWFwcDA3", "eGxpbi1hcHAwNw", "00-50-56-A6-80-01", "005056a68001", "lin-db%2C02%20%28prod%29",
    "esx31-lab-example", "ordinary words",
)  # fmt: skip
RESULTS = ("case.json", "report.html", "report.md")


def run(*words: object) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def redacted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, Path]]:
    """Every sample case redacted with one map, and its document as it was before: the folders of both, and the map."""
    base = tmp_path_factory.mktemp("redacted")
    whole = Redaction.redact_document
    before: list[dict[str, Any]] = []

    def watched(self: Redaction, doc: dict[str, Any]) -> dict[str, Any]:
        before.append(doc)
        return whole(self, doc)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Redaction, "redact_document", watched)
        for case in CASES:
            words = (
                "triage",
                case,
                "-o",
                base / "out" / case.name,
                "--quiet",
                "--redact",
                "--redact-map",
                base / "names",
            )
            done = run(*words)
            assert done.exit_code in (0, 5), done.output
            write_all(base / "plain" / case.name, {"case.json": write_case(before[-1])})
    yield base / "plain", base / "out", base / "names"


@pytest.mark.size
def test_no_name_of_a_sample_is_left(redacted: tuple[Path, Path, Path]) -> None:
    """None of the names that the samples were made with stands in a redacted result; in the plain ones they do."""
    plain, out, _ = redacted
    found = {
        line.split(": ")[1]
        for case in CASES
        for line in left(plain / case.name / "case.json", NAMES)
    }
    assert len(found) > 15, found
    assert left(out, NAMES) == []


def test_nothing_but_names_changed(redacted: tuple[Path, Path, Path]) -> None:
    """With the names put back, every document is the plain one: findings, numbers, lines and their order."""
    plain, out, names = redacted
    known = namemap.load_map(names)
    for case in CASES:
        before = json.loads((plain / case.name / "case.json").read_text(encoding="utf-8"))
        after = json.loads((out / case.name / "case.json").read_text(encoding="utf-8"))
        assert after["case"].pop("map") and after["case"].pop("masked") is True
        assert before["case"].pop("masked") is False
        again = reverse_text(known, json.dumps(after, ensure_ascii=False))
        assert json.loads(again) == before, case.name


def test_a_host_has_one_pseudonym_in_all_cases(redacted: tuple[Path, Path, Path]) -> None:
    """The two cases of one lab host, redacted with one map, speak of the same pseudonym; another host has another."""
    _, out, _ = redacted

    def host(case: str) -> str:
        document = case_file.read_case(out / case / "case.json")
        return str(next(node.name for node in document.nodes if node.kind == "esxi"))

    assert host("lab-ring-before") == host("lab-ring-after") != host("healthy-host")


def test_the_map_is_for_its_owner_alone_and_apart(redacted: tuple[Path, Path, Path]) -> None:
    """The map has mode 0600 and is in no folder of results; without a file of its own it lies beside the folder."""
    _, out, names = redacted
    assert stat.S_IMODE(names.stat().st_mode) == 0o600
    assert sorted(path.name for path in (out / CASES[0].name).iterdir()) == sorted(RESULTS)


def test_the_report_says_so_on_its_head(redacted: tuple[Path, Path, Path]) -> None:
    """Page, note and document say that names are replaced, and by which state of the map."""
    _, out, _ = redacted
    folder = out / "healthy-host"
    for name, words in (
        ("report.html", "Redacted: names"),
        ("report.md", "Redacted: names"),
        ("case.json", '"masked":true'),
    ):
        text = (folder / name).read_text(encoding="utf-8")
        assert words in text
        assert re.search(r"map of names: revision \d+|\"map\":\"revision \d+", text)


def test_reverse_gives_the_names_back(redacted: tuple[Path, Path, Path]) -> None:
    """`redact --reverse` turns an answer that speaks of pseudonyms into one that speaks of the case."""
    _, out, names = redacted
    document = case_file.read_case(out / "cpu-limited-vm" / "case.json")
    node, vm = document.nodes[0].name, document.topology[0].vm
    done = run(
        "redact", "--reverse", names, f"Raise the limit of {vm.upper()} on {node}, then look again."
    )
    assert done.output == "Raise the limit of LIN-APP07 on esx31.lab.example, then look again.\n"


@pytest.mark.size
def test_a_saved_case_is_shown_redacted(redacted: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """`show --redact` replaces the names of a saved case without its bundle, in every form."""
    plain, _, names = redacted
    for form in ("text", "md", "html", "json"):
        done = run(
            "show",
            plain / "cpu-limited-vm" / "case.json",
            "--format",
            form,
            "-vv",
            "--redact",
            "--redact-map",
            names,
        )
        assert done.exit_code == 0, done.output
        (tmp_path / form).write_text(done.output, encoding="utf-8")
    assert left(tmp_path, [name for name in NAMES if name != "nsxmgr01"]) == []
    refused = run("show", plain / "cpu-limited-vm" / "case.json", "--redact")
    assert refused.exit_code == 2 and "--redact-map" in refused.output


@pytest.mark.parametrize("name", ["target", "target-2291", "slow-customer"])
def test_a_case_called_by_words_of_the_product_keeps_no_name(tmp_path: Path, name: str) -> None:
    """A customer may be called Target: the name of a case is replaced though running text says the word of devices."""
    shutil.copytree(CASES[0].parent / "lab-ring-before", tmp_path / name)
    done = run(
        "triage",
        tmp_path / name,
        "-o",
        tmp_path / "out",
        "--quiet",
        "--redact",
        "--redact-map",
        tmp_path / "map",
    )
    assert done.exit_code == 0, done.output
    document = case_file.read_case(tmp_path / "out" / "case.json")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert document.case.name == "file01anon"
    assert "<title>file01anon:" in page
    assert name == "target" or name not in page


def test_a_name_that_is_left_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result that shows a name is never written, nor the others; the message names the place, not the name."""
    whole = markdown.render_note
    monkeypatch.setattr(markdown, "render_note", lambda doc: whole(doc) + "ESX0\n")
    done = run(
        "triage",
        ROOT / "samples/cases/lab-ring-before",
        "-o",
        tmp_path / "out",
        "--quiet",
        "--redact",
    )
    assert done.exit_code == 6
    assert "report.md, line" in done.output or "report.html, line" in done.output
    assert "esx0" not in done.output.lower()
    assert list(tmp_path.iterdir()) == [], "a result or a map without results"


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_name_is_found_however_it_is_written(
    redacted: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    """In other case, split, in entities, percent signs, escapes, hexadecimal and base64 a name is found; a word is not."""
    plain, _, _ = redacted
    monkeypatch.setattr(markdown, "render_note", lambda _doc: f"one\n{spelled}\n")
    case = plain / "cpu-limited-vm" / "case.json"
    done = run("show", case, "--format", "md", "--redact", "--redact-map", tmp_path / "map")
    assert (done.exit_code, done.stdout) == (
        (6, "") if spelled != "ordinary words" else (0, "one\nordinary words\n")
    )
    assert done.exit_code == 0 or "the output, line 2" in done.output


def test_what_a_text_showed_is_kept_with_the_map(
    redacted: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that is shown again with its map says the same without a look at its lines; with other signs they are read."""
    case, names, looks = redacted[0] / "cpu-limited-vm" / "case.json", tmp_path / "map", list[str]()
    whole = textforms.found_in
    monkeypatch.setattr(
        textforms, "found_in", lambda text, known: (looks.append(text), whole(text, known))[1]
    )
    monkeypatch.setattr(learnt, "LEAST", 0)
    shown = [
        run("show", case, "--format", "md", "--redact", "--redact-map", names) for _ in range(2)
    ]
    assert shown[0].exit_code == 0 and shown[0].stdout == shown[1].stdout
    assert len([text for text in looks if len(text) > 1000]) == 1
    assert stat.S_IMODE(names.stat().st_mode) == 0o600 and namemap.load_map(names).learnt.kept
    monkeypatch.setattr(learnt, "_sign_text", lambda: b"other signs")
    again = run("show", case, "--format", "md", "--redact", "--redact-map", names)
    assert (
        again.stdout == shown[0].stdout and len([text for text in looks if len(text) > 1000]) == 2
    )


def test_the_names_of_a_map_are_gathered_once(tmp_path: Path) -> None:
    """A new pseudonym does not look through all that were given before; each is another, also beside those of a kept map."""

    class Counted(dict[str, str]):
        looks = 0

        def values(self) -> Any:
            self.looks += 1
            return super().values()

    kept = Counted({"old": "vm02anon"})
    known = namemap.NameMap(tmp_path / "map", {"vm": kept})
    given = [known.give_pseudonym("vm", f"name {number}") for number in range(50)]
    assert kept.looks == 1
    assert len({*given, "vm02anon"}) == 51


def test_the_map_must_be_one(tmp_path: Path) -> None:
    """A file that is no map is refused before anything is written, and stays as it was."""
    for text in (
        "",
        "{}",
        '{"format": "backline-names-1"}',
        '{"format": "backline-names-1", "names": [], "revision": 1}',
    ):
        (tmp_path / "m").write_text(text, encoding="utf-8")
        done = run(
            "triage", CASES[0], "-o", tmp_path / "out", "--redact", "--redact-map", tmp_path / "m"
        )
        assert (done.exit_code, (tmp_path / "m").read_text(encoding="utf-8")) == (3, text)
        assert not (tmp_path / "out").exists()
    assert run("triage", CASES[0], "--redact-map", tmp_path / "m").exit_code == 2


@pytest.mark.size
def test_a_machine_is_shown_by_its_name_or_its_pseudonym(
    redacted: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """`--node` with `--redact` takes the name that the user knows, a pattern of it, or the pseudonym; it prints none."""
    plain, _, names = redacted
    given = {
        "triage": CASES[0].parent / "cpu-limited-vm",
        "show": plain / "cpu-limited-vm" / "case.json",
    }
    told = []
    for command, path in given.items():
        whole = run(command, path, "--format", "json", "--redact", "--redact-map", names)
        pseudonym = json.loads(whole.stdout)["nodes"][0]["name"]
        for word in ("esx31.lab.example", "ESX3*", pseudonym):
            words = (
                command,
                path,
                "--format",
                "json",
                "--node",
                word,
                "--redact",
                "--redact-map",
                names,
            )
            done = run(*words)
            part = json.loads(done.stdout)
            assert [node["name"] for node in part["nodes"]] == [pseudonym], (command, word)
            assert part["findings"], command
            told.append(done.stdout)
        refused = run(
            command, path, "--format", "json", "--node", "esx77", "--redact", "--redact-map", names
        )
        assert (refused.exit_code, "no machine of this case" in refused.output) == (2, True)
    (tmp_path / "told").write_text("\n".join(told), encoding="utf-8")
    assert left(tmp_path, ["esx3", "lab.example", "lin-app07"]) == []


@pytest.mark.size
def test_a_redacted_case_may_be_redacted_again(tmp_path: Path) -> None:
    """Pseudonyms are names like others: with the same map or a new one the second run ends well, and no name is a part of its own
    pseudonym, as the head of an iSCSI name or a host called host-1 would be."""
    lines = [
        f"cpu{at}:33994)ALERT: iscsi host host-{at} lost iqn.1998-01.com.acmecorp:zq{at} on vm vm-{at}x"
        for at in range(1, 15)
    ]
    log = tmp_path / "in" / "vmkernel.log"
    log.parent.mkdir()
    log.write_text(
        "".join(f"2021-03-01T04:{at:02}:08.775Z {line}\n" for at, line in enumerate(lines)),
        encoding="utf-8",
    )
    first = [
        "triage",
        str(log.parent),
        "-o",
        str(tmp_path / "out"),
        "--quiet",
        "--redact",
        "--redact-map",
        str(tmp_path / "a"),
    ]
    assert CliRunner().invoke(main, first).exit_code in (0, 5)
    for names in ("a", "b"):
        again = [
            "show",
            str(tmp_path / "out"),
            "--format",
            "html",
            "--redact",
            "--redact-map",
            str(tmp_path / names),
        ]
        done = CliRunner().invoke(main, again)
        assert done.exit_code == 0, done.output
