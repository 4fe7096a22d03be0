"""A paste shows what a command let through: its hits count, its silence proves nothing.

All log lines are synthetic, written by the generator below in the forms of vmkernel.log (5.0 to 8.0).
"""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from analyzer.cli import main

RULE = """\
rule: {name}
title: A test of logs
source: [a test]
status: test
revised: 2026-11-21
about: A test of logs.
logs:
  dead: {{in: esxi.vmkernel, match: 'NMP: path (?P<path>\\S+) is dead'}}
{seen}
each: {each}
subject: host
when: {when}
outcomes:
  - {{when: true, severity: major, confidence: confirmed, say: lines were seen or not}}
evidence: [{evidence}]
"""
RULES = {
    "counted": ("seen: {lost: {log: dead, at_least: 1}}", "esx in esxi.version", "lost", "lost"),
    "tabled": ("", "line in dead per node", "true", "line.path"),
    "silent": ("seen: {calm: {none: dead, for: 1h}}", "esx in esxi.version", "calm", "calm"),
}
VERSION = "VMware ESXi 6.5.0 build-4564106\n"
PROMPTS = [
    "[root@{host}:~] ",
    "~ # ",
    "# ",
    "{host}# ",
    "{host}> ",
    "root@{host}:~# ",
    "[root@{host}:/var/log] ",
]
FILTERS = [
    "grep -i scsi /var/log/vmkernel.log", "egrep 'scsi|nmp' /var/log/vmkernel.log", "zgrep nmp /var/log/vmkernel.0.gz",
    "tail /var/log/vmkernel.log", "tail -n 50 /var/run/log/vmkernel.log", "head -20 vmkernel.log", "dmesg", "dmesg | tail",
    "awk '/nmp/' /var/log/vmkernel.log", "sed -n 1,9p /var/log/vmkernel.log", "less /var/log/vmkernel.log", "more vmkernel.log",
    "cut -c1-200 /var/log/vmkernel.log", "cat /var/log/vmkernel.log | grep -i nmp | tail -5", "zcat vmkernel.0.gz | head",
    "sudo grep nmp /var/log/vmkernel.log", "cat /var/log/vmkernel.log | less",
]  # fmt: skip
WHOLE = [
    "cat /var/log/vmkernel.log",
    "cat vmkernel.log",
    "zcat /var/log/vmkernel.0.gz",
    "gunzip -c vmkernel.0.gz",
]
# each filter with some prompt, each prompt with some filters; any mix of them is tried at the end
MIXED = [(PROMPTS[n % len(PROMPTS)], command, "68"[n % 2]) for n, command in enumerate(FILTERS)]
START = datetime(2017, 10, 14, 8, tzinfo=UTC)


def log(
    lines: int = 40,
    *,
    hit: int | None = None,
    minutes: int = 10,
    form: str = "6",
    start: datetime = START,
) -> list[str]:
    """Return lines of a vmkernel.log as 6.x or 8.x writes it; line number `hit` says that a path is dead."""
    found = []
    for number in range(lines):
        stamp = (start + timedelta(minutes=minutes * number)).strftime("%Y-%m-%dT%H:%M:%S.123Z")
        text = (
            "NMP: path vmhba1:C0:T0:L1 is dead"
            if number == hit
            else f"ScsiDeviceIO: 2595: all is well {number}"
        )
        head = (
            f"{stamp} In(182) vmkernel: cpu{number % 8}:{33000 + number})"
            if form == "8"
            else f"{stamp} cpu1:33011)"
        )
        found.append(head + text)
    return found


def paste(prompt: str, command: str, lines: list[str], host: str = "esx01") -> str:
    """Return a terminal session: the version of the host, and a command with what it printed."""
    at = prompt.format(host=host)
    return f"{at}{command}\n" + "\n".join(lines) + f"\n{at}vmware -v\n{VERSION}{at}\n"


def verdicts(folder: Path, *rules: str) -> dict[str, Any]:
    """Run `backline triage` over a folder with rules of this test; return rule -> match, cannot_tell, or no_match."""
    kb = folder.parent / f"kb-{folder.name}"
    kb.mkdir(exist_ok=True)
    for name in rules:
        seen, each, when, evidence = RULES[name]
        text = RULE.format(name=name, seen=seen, each=each, when=when, evidence=evidence)
        (kb / f"{name}.yaml").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(folder), "--kb", str(kb), "--no-packs", "--json", "-"]
    )
    assert done.exit_code in (0, 5), done.output
    document = json.loads(done.stdout)
    found: dict[str, Any] = {"document": document}
    for name in rules:
        if any(one["rule"] == name for one in document["findings"]):
            found[name] = "match"
        elif any(name in group["rules"] for group in document["cannot_tell"]):
            found[name] = "cannot_tell"
        else:
            found[name] = (
                "no_match"
                if any(row["rule"] == name and row["looked_at"] for row in document["quiet"])
                else "none"
            )
    return found


def case(folder: Path, **files: str) -> Path:
    """Write files into a new folder, `_` in a name for a dot."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return folder


def why(document: dict[str, Any], rule: str) -> str:
    """Return the reasons why a rule cannot tell."""
    return " ".join(group["why"] for group in document["cannot_tell"] if rule in group["rules"])


@pytest.mark.size
@pytest.mark.parametrize(("prompt", "command", "form"), MIXED)
def test_an_excerpt_without_a_hit_proves_nothing(
    tmp_path: Path, prompt: str, command: str, form: str
) -> None:
    """What grep, tail, dmesg and the like printed is no log: no rule says that a line is not in it."""
    found = verdicts(
        case(tmp_path / "case", paste_txt=paste(prompt, command, log(form=form))), *RULES
    )

    assert {name: found[name] for name in RULES} == dict.fromkeys(RULES, "cannot_tell")
    assert "an excerpt by" in why(found["document"], "counted")


@pytest.mark.size
@pytest.mark.parametrize(("prompt", "command", "form"), MIXED)
def test_a_hit_counts_wherever_it_was_printed(
    tmp_path: Path, prompt: str, command: str, form: str
) -> None:
    """A line of an excerpt is evidence with its line in the paste, on the host of the prompt."""
    found = verdicts(
        case(tmp_path / "case", paste_txt=paste(prompt, command, log(hit=3, form=form))),
        "counted",
        "tabled",
    )

    assert (found["counted"], found["tabled"]) == ("match", "match")
    [finding] = [one for one in found["document"]["findings"] if one["rule"] == "counted"]
    evidence = finding["evidence"][0]
    assert (evidence["address"].endswith("paste.txt"), evidence["line"]) == (True, 5)
    assert evidence["text"] == log(hit=3, form=form)[3]
    if "{host}" in prompt:
        assert finding["node"] == "esx01"


@pytest.mark.parametrize(("prompt", "command"), list(zip(PROMPTS, WHOLE * 2, strict=False)))
def test_a_log_that_was_printed_whole_is_the_log(tmp_path: Path, prompt: str, command: str) -> None:
    """`cat` without a filter shows the file: no line of it is «no match», and silence is proved after its first stamp."""
    found = verdicts(case(tmp_path / "case", paste_txt=paste(prompt, command, log())), *RULES)

    assert (found["counted"], found["tabled"], found["silent"]) == ("no_match", "no_match", "match")


def test_a_log_as_a_file_is_the_log(tmp_path: Path) -> None:
    """vmkernel.log beside a version is the log itself, as before."""
    text = "\n".join(log()) + "\n"
    found = verdicts(case(tmp_path / "case", vmkernel_log=text, version_txt=VERSION), *RULES)

    assert (found["counted"], found["tabled"], found["silent"]) == ("no_match", "no_match", "match")


def test_a_log_in_utf16_is_searched(tmp_path: Path) -> None:
    """A log that PowerShell wrote in UTF-16 hides no hit behind its zeros."""
    for name, hit in (("hit", 3), ("none", None)):
        folder = case(tmp_path / name, version_txt=VERSION)
        (folder / "vmkernel.log").write_text("\n".join(log(hit=hit)) + "\n", encoding="utf-16")
        assert verdicts(folder, "counted")["counted"] == ("match" if hit else "no_match")


@pytest.mark.size
def test_silence_is_not_proved_before_the_first_stamp_of_a_cat(tmp_path: Path) -> None:
    """A log that begins ten minutes before its end tells nothing of the hour before."""
    found = verdicts(case(tmp_path / "case", paste_txt=paste("~ # ", WHOLE[0], log(2))), "silent")

    assert found["silent"] == "cannot_tell"


@pytest.mark.parametrize("name", ["vmkernel_log", "notes_txt"])
def test_a_paste_saved_under_the_name_of_a_log_is_a_paste(tmp_path: Path, name: str) -> None:
    """The name of the file does not make an excerpt the log."""
    found = verdicts(
        case(tmp_path / "case", **{name: paste(PROMPTS[0], FILTERS[0], log())}), "counted"
    )

    assert found["counted"] == "cannot_tell"
    assert [node["name"] for node in found["document"]["nodes"]] == ["esx01"]


def test_a_prompt_below_the_lines_names_the_host(tmp_path: Path) -> None:
    """The scrollback begins in the middle of a log: its lines are an excerpt, of the host that the prompt names."""
    text = "\n".join(log()) + "\n[root@esx07:~] vmware -v\n" + VERSION
    found = verdicts(case(tmp_path / "case", scroll_txt=text), *RULES)

    assert [node["name"] for node in found["document"]["nodes"]] == ["esx07"]
    assert {name: found[name] for name in RULES} == dict.fromkeys(RULES, "cannot_tell")


MAILS = [
    "Hello support,\n\nthe datastore was gone this morning, here is what the log says about that:\n\n{log}\n",
    "{log}\n[...]\n{log}\n",
    "```\n{log}\n```\n",
    "Log excerpt\n\n{log}\n",
]


@pytest.mark.parametrize("mail", MAILS)
def test_lines_quoted_in_a_mail_are_no_log(tmp_path: Path, mail: str) -> None:
    """Log lines among sentences, fences or marks of what was left out are an excerpt, however many they are."""
    folder = case(
        tmp_path / "case", mail_txt=mail.format(log="\n".join(log(12))), version_txt=VERSION
    )

    assert verdicts(folder, "counted", "silent") | {"document": 0} == {
        "counted": "cannot_tell", "silent": "cannot_tell", "document": 0,
    }  # fmt: skip


PREFIXES = [
    "vmkernel.log:",
    "/var/log/vmkernel.0.gz:",
    "{n}:",
    "/var/run/log/vmkernel.log:{n}:",
    "./vmkernel.1.gz-{n}-",
    "{n}-",
]


@pytest.mark.size
@pytest.mark.parametrize("prompt", ["", PROMPTS[0]])
@pytest.mark.parametrize("prefix", PREFIXES)
def test_lines_that_grep_put_an_origin_before_are_read(
    tmp_path: Path, prefix: str, prompt: str
) -> None:
    """File names and line numbers before the lines hide no hit, and make the text an excerpt."""
    head = f"{prompt.format(host='esx01')}grep -n path /var/log/vmkernel*\n" if prompt else ""
    for name, hit in (("hit", 3), ("none", None)):
        lines = [prefix.format(n=number) + line for number, line in enumerate(log(hit=hit), 100)]
        folder = case(
            tmp_path / name, greped_txt=head + "\n".join(lines) + "\n", version_txt=VERSION
        )
        assert verdicts(folder, "counted")["counted"] == ("match" if hit else "cannot_tell")


def test_an_excerpt_takes_nothing_from_the_log_beside_it(tmp_path: Path) -> None:
    """The whole log and a grep of an older one: what the log proves stays proved, within its own times."""
    old = paste(PROMPTS[0], FILTERS[0], log(start=START - timedelta(days=3)))
    whole = paste(PROMPTS[0], WHOLE[0], log(4))
    found = verdicts(case(tmp_path / "case", old_txt=old, whole_txt=whole), *RULES)

    assert (found["counted"], found["tabled"]) == ("no_match", "no_match")
    assert (
        found["silent"] == "cannot_tell"
    )  # the log begins half an hour before its end; an old line proves no hour


def test_what_would_tell_is_named(tmp_path: Path) -> None:
    """The reason names the program and the file that it read."""
    found = verdicts(
        case(tmp_path / "case", paste_txt=paste(PROMPTS[0], FILTERS[0], log())), "counted"
    )

    assert (
        "paste.txt:1 holds an excerpt by grep; /var/log/vmkernel.log itself would settle it"
        in why(found["document"], "counted")
    )


@pytest.mark.size
def test_a_large_session_is_searched_to_its_end(tmp_path: Path) -> None:
    """Of a session larger than a parser gets, 17 MB, the hit in the last line is found, and it stays an excerpt."""
    lines = log(250_000, minutes=0, hit=249_999)
    for name, text in (("hit", lines), ("none", lines[:-1])):
        folder = case(
            tmp_path / name,
            big_txt="[root@esx01:~] grep cpu vmkernel.log\n" + "\n".join(text) + "\n",
            version_txt=VERSION,
        )
        assert (folder / "big.txt").stat().st_size > 16 << 20
        found = verdicts(folder, "counted")
        assert found["counted"] == ("match" if name == "hit" else "cannot_tell")
        assert [node["name"] for node in found["document"]["nodes"]] == ["esx01"]


@pytest.mark.size
def test_a_large_session_says_that_other_outputs_in_it_were_not_read(tmp_path: Path) -> None:
    """17 MB: searched as a log, and the source's row and the limits say what was not read; the case is not complete."""
    lines = log(250_000, minutes=0)
    text = (
        "[root@esx01:~] vmware -v\n"
        + VERSION
        + "[root@esx01:~] cat vmkernel.log\n"
        + "\n".join(lines)
        + "\n"
    )
    (tmp_path / "big.txt").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "big.txt"), "--no-packs", "-o", str(tmp_path / "out")]
    )
    document = json.loads((tmp_path / "out/case.json").read_text())

    assert done.exit_code == 5, done.output
    said = "outputs of other commands in it were not read"
    assert said in " ".join(done.output.split())
    assert said in document["sources"][0]["why"]
    assert document["sources"][0]["state"] == "searched"


_HOSTS = st.from_regex(r"esx[0-9]{1,3}(?:\.lab\.example)?", fullmatch=True)


@pytest.mark.size
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    host=_HOSTS,
    prompt=st.sampled_from(PROMPTS),
    command=st.sampled_from(FILTERS + WHOLE),
    lines=st.integers(1, 30),
    hit=st.booleans(),
    form=st.sampled_from("68"),
    before=st.sampled_from(["", "\n", "Last login: Fri Oct 13 2017\n"]),
)
@example(host="esx1", prompt=PROMPTS[3], command="dmesg", lines=1, hit=False, form="6", before="")
def test_prompts_filters_and_logs_in_any_mix(
    tmp_path_factory: pytest.TempPathFactory,
    host: str,
    prompt: str,
    command: str,
    lines: int,
    hit: bool,
    form: str,
    before: str,
) -> None:
    """Whatever prompt, filter and length: a hit matches, silence of an excerpt proves nothing, silence of a file does."""
    folder = tmp_path_factory.mktemp("mix") / "case"
    text = before + paste(
        prompt, command, log(lines, hit=lines // 2 if hit else None, form=form), host
    )
    found = verdicts(case(folder, paste_txt=text), "counted")
    expected = "match" if hit else "no_match" if command in WHOLE else "cannot_tell"

    assert found["counted"] == expected
    if "{host}" in prompt:
        assert {node["name"] for node in found["document"]["nodes"]} == {host}


ORIGINS = [
    "vmkernel.log:",
    "812:",
    "/var/log/vmkernel.0.gz:",
    "vmkernel.log:812:",
    "./esx01/vmkernel.log-",
]


@pytest.mark.size
@pytest.mark.parametrize("where", ["loose", "a zip", "a tree"])
@pytest.mark.parametrize("origin", ORIGINS)
def test_lines_that_grep_printed_into_a_file_called_like_the_log_are_an_excerpt(
    tmp_path: Path, origin: str, where: str
) -> None:
    """The name of a log does not make a log: hits count, with their line; that other lines are missing proves nothing."""
    for name, hit in (("hit", 7), ("calm", None)):
        folder = case(tmp_path / name, version_txt=f"[root@esx01:~] vmware -v\n{VERSION}")
        text = "".join(f"{origin}{line}\n" for line in log(hit=hit))
        if where == "a zip":
            with zipfile.ZipFile(folder / "logs.zip", "w") as archive:
                archive.writestr("esx01/var/log/vmkernel.log", text)
        else:
            file = folder / ("logs/vmkernel.log" if where == "a tree" else "vmkernel.log")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
    calm, hit_ = verdicts(tmp_path / "calm", *RULES), verdicts(tmp_path / "hit", *RULES)

    assert {name: calm[name] for name in RULES} == dict.fromkeys(RULES, "cannot_tell")
    assert "an excerpt: grep output" in why(calm["document"], "counted")
    assert hit_["counted"] == "match"
    (finding,) = [one for one in hit_["document"]["findings"] if one["rule"] == "counted"]
    assert {line["line"] for line in finding["evidence"] if "is dead" in line["text"]} == {8}


def test_a_session_in_an_archive_called_like_the_log_is_an_excerpt(tmp_path: Path) -> None:
    """What grep printed at a prompt and was saved as vmkernel.log is no log inside a zip either."""
    folder = case(tmp_path / "case", version_txt=f"[root@esx01:~] vmware -v\n{VERSION}")
    with zipfile.ZipFile(folder / "logs.zip", "w") as archive:
        archive.writestr("var/log/vmkernel.log", paste("[root@{host}:~] ", FILTERS[0], log()))
    found = verdicts(folder, *RULES)

    assert {name: found[name] for name in RULES} == dict.fromkeys(RULES, "cannot_tell")


@pytest.mark.parametrize("prompt", ["[root@esx07:~] ", "# "])
def test_an_excerpt_alone_is_understood(tmp_path: Path, prompt: str) -> None:
    """A paste that holds nothing but what grep printed of a log is read: exit 0, and nothing is called unknown."""
    folder = case(
        tmp_path / "case",
        paste_txt=f"{prompt}grep -i scsi /var/log/vmkernel.log\n" + "\n".join(log()) + "\n",
    )
    done = CliRunner().invoke(
        main, ["triage", str(folder), "-o", str(tmp_path / "out"), "--no-settings", "--no-packs"]
    )

    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "out" / "case.json").read_text())
    assert [source["state"] for source in document["sources"]] == ["read"]
    assert "NOT COMPLETE" not in done.output
