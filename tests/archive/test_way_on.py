"""Each step of an engineer's day leads to the next: a summary, a refusal and a list say what to type now.

All material is synthetic: the samples of the project and hosts of its generators.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from analyzer.archive.batches.jobs import Done
from analyzer.archive.object_store.object_store import StoreWriteError
from analyzer.cli import main
from analyzer.runtime.paths import folder_name
from tools import make_cases
from tools.case_hosts import new_host
from tools.case_pack import tgz

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"
VOLUME = "59e1f0aa-1b2c3d4e-0007-002590aa7001"
BAD = "2021-03-01T00:10:00.100Z: [vmfsCorrelator] 3536820000000us: [esx.problem.vmfs.heartbeat.timedout] {} lun-07\n"


def run(*words: object, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, words)), input=given)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of ten hosts, the last two of which have a problem, and the results of a triage of it."""
    folder = tmp_path_factory.mktemp("site") / "cluster"
    folder.mkdir()
    for number in range(10):
        host = new_host(random.Random(number), number, datetime(2021, 3, 1, 1))
        top, members = host.make_bundle()
        for lost in range(max(0, number - 7)):
            log = members.get(f"{top}/var/run/log/vobd.log", "")
            text = log if isinstance(log, str) else log.decode()
            members[f"{top}/var/run/log/vobd.log"] = text + BAD.format(f"{VOLUME[:-1]}{lost}")
        (folder / f"{top}.tgz").write_bytes(tgz(members, stamp=int(host.when.timestamp())))
    out = folder.parent / "out"
    assert run("triage", folder, "-o", out, "--no-settings", "--no-packs", "--quiet").exit_code == 0
    return folder, out


@pytest.mark.size
def test_the_summary_of_many_hosts_names_the_worst(hosts: tuple[Path, Path]) -> None:
    """Where hosts are shown as one crowd the summary names those with the worst findings, with their counts."""
    folder, out = hosts
    said = run("triage", folder, "-o", out, "--no-settings", "--no-packs").stdout
    line = next(line for line in said.splitlines() if line.startswith("  worst  "))
    names = [word for word in line.split() if word.startswith("esx00")]
    assert [name[:7] for name in names[:2]] == ["esx0008", "esx0009"], (
        line
    )  # as bad as one another: how many objects there are does not count
    assert line.count("(1 major") == 2  # of the first it concerns two objects
    assert (
        "  worst  "
        not in run("triage", CASES / "nsx-633-site", "--no-settings", "-o", out.parent / "n").stdout
    )


@pytest.mark.size
def test_the_summary_gives_the_command_that_shows_the_log(hosts: tuple[Path, Path]) -> None:
    """The line before the report is a command; as it stands it prints the lines around the first finding."""
    folder, out = hosts
    said = run("triage", folder, "-o", out, "--no-settings", "--no-packs").stdout.splitlines()
    assert said[-2].startswith("log: backline log ") and said[-1].startswith("report: ")
    done = run(*shlex.split(said[-2])[2:], "--for", "2s")
    assert done.exit_code == 0, done.output
    first = json.loads((out / "case.json").read_text())["findings"][0]
    assert first["evidence"][0]["text"].partition("Z: ")[2] in done.stdout
    part = run(
        "triage", folder, "-o", out, "--no-settings", "--no-packs", "--node", "esx0008*"
    ).stdout.splitlines()
    number = next(line.partition(".")[0] for line in part if re.match(r"\d+\. ", line))
    assert shlex.split(part[-2])[-1].partition(".")[0] == number, part


def test_a_finding_is_named_as_people_name_it(
    hosts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A KB article or words of the title are a finding; several are listed a line each; a case elsewhere is pointed at."""
    folder, out = hosts
    findings = json.loads((out / "case.json").read_text())["findings"]
    by = {one["title"]: one for one in findings}
    title = next(one["title"] for one in findings if "heartbeat" in one["title"])
    done = run("log", folder, "--case", out, "--around", title[4:].upper())
    fitting = [one for one in findings if one["title"] == title]
    assert (done.exit_code, len(fitting)) == (2, 3), done.output
    listed = [line.split() for line in done.stderr.splitlines()[1:]]
    assert [words[1] for words in listed] == [one["id"] for one in fitting]
    assert run("log", folder, "--case", out, "--around", listed[1][0], "--for", "2s").exit_code == 0
    article = next((one["kb"][0] for one in by.values() if one["kb"]), None)
    assert article is not None
    many = sum(article in one["kb"] for one in findings)
    assert run("log", folder, "--case", out, "--around", f"KB {article}").exit_code == (
        0 if many == 1 else 2
    )
    (tmp_path / "somewhere").mkdir()
    (tmp_path / "somewhere" / "case.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    lost = run("log", folder, "--around", "lost")
    assert (lost.exit_code, lost.stderr.splitlines()[1]) == (2, "  --case somewhere")


def test_a_machine_is_named_by_its_first_label(hosts: tuple[Path, Path]) -> None:
    """`--node esx0009` is esx0009.site.example, and `show` takes the folder of a triage; half a name is none."""
    _, out = hosts
    full = next(
        node["name"]
        for node in json.loads((out / "case.json").read_text())["nodes"]
        if "esx0009" in node["name"]
    )
    short = full.partition(".")[0]
    assert short != full
    said = [
        run("show", out, "--node", name, "--format", "csv").stdout for name in (full, short.upper())
    ]
    assert said[0] == said[1] and full in said[0]
    assert run("show", out, "--node", short[:-1]).exit_code == 2
    assert "it holds no case.json" in run("show", out.parent).stderr


def test_the_mail_names_every_machine(hosts: tuple[Path, Path]) -> None:
    """The customer is not left with "and 4 more": all hosts are "each of the 10 hosts", most are all but some, few are named."""
    folder, out = hosts
    document = json.loads((out / "case.json").read_text())
    assert (
        "Please run on each of the 10 hosts that you sent files of:"
        in run("show", out, "--format", "mail").stdout
    )
    names = sorted(node["name"] for node in document["nodes"])
    for given, words in (
        (names[:3], ", ".join(names[:3])),
        (
            names[:8],
            f"each of the 10 hosts that you sent files of, but not on {', '.join(names[8:])}",
        ),
    ):
        for group in document["cannot_tell"]:
            group["nodes"] = given
            for one in group["asks"]:
                one["nodes"] = given
        (folder.parent / "some.json").write_text(json.dumps(document))
        said = run("show", folder.parent / "some.json", "--format", "mail").stdout
        assert f"Please run on {words}:" in said and " more:" not in said


def test_the_mail_to_the_customer_is_a_form(hosts: tuple[Path, Path]) -> None:
    """`--format mail` prints what the report offers to copy; hints are for the engineer, one that many files share told once."""
    _, out = hosts
    document = json.loads((out / "case.json").read_text())
    said = run("show", out / "case.json", "--format", "mail")
    assert said.stdout.startswith("Subject: cluster: ") and said.exit_code == 0
    assert said.stdout.strip() in (out / "report.html").read_text().replace("&#39;", "'").replace(
        "&gt;", ">"
    ).replace("&lt;", "<")
    document["advice"] = [f"b{n}.tgz!top/x.txt is a dump. Send it as `text`." for n in range(3)] + [
        "Set NTP."
    ]
    (out / "more.json").write_text(json.dumps(document))
    assert run("show", out / "more.json", "--format", "mail").stdout == said.stdout
    told = run("show", out / "more.json", "--all").stdout
    assert (
        "  b0.tgz!top/x.txt (and 2 more files) is a dump. Send it as `text`.\n  Set NTP.\n" in told
    )


def test_tables_and_esxtop_read_standard_input() -> None:
    """`-` is standard input for `tables` and `esxtop` as for `triage`; the rows are those of the file."""
    paste = (CASES / "lab-ring-before" / "esx0.txt").read_bytes()
    piped = run("tables", "-", "esxi.vmxnet3_rx_summary", "--json", given=paste)
    rows = json.loads(piped.stdout)
    assert piped.exit_code == 0 and rows
    assert "esxi.vmxnet3_rx_summary" in run("tables", "-", given=paste).stdout
    csv = next(CASES.rglob("*esxtop*.csv"))
    from_file = run("esxtop", csv).stdout.splitlines()
    from_pipe = run("esxtop", "-", given=csv.read_bytes()).stdout.splitlines()
    assert from_pipe[0] == "stdin" and from_pipe[1:] == from_file[1:]


def test_a_folder_of_cases_counts_archives_too(tmp_path: Path) -> None:
    """Forty cases, some packed and some not, are forty."""
    for number in range(6):
        (tmp_path / f"case-{number}").mkdir()
        (tmp_path / f"case-{number}" / "esx.txt").write_text("uptime\n")
    for number in range(34):
        (tmp_path / f"case-x{number}.tgz").touch()
    assert "this folder holds 40 cases" in run("triage", tmp_path).stderr


def test_a_driver_is_found_by_its_name(tmp_path: Path) -> None:
    """`driver: NAME` finds its machines; a bare word or a column without a table is answered with what to write."""
    make_cases.write_cases(tmp_path / "cases", 2)
    archive = tmp_path / "archive"
    told = run("batch", tmp_path / "cases", "--archive", archive, "--no-settings", "--no-packs")
    following = re.search(r"next: backline (archive list .*--sort worst)", told.stdout)
    assert following and run(*shlex.split(following[1])).exit_code == 0
    sql = run(
        "archive",
        "sql",
        "--archive",
        archive,
        "SELECT DISTINCT driver FROM esxi.pnic_info WHERE driver <> ''",
        "--csv",
    ).stdout
    driver = sql.splitlines()[1]
    long = run(
        "archive", "search", "--archive", archive, f'esxi.pnic_info: driver == "{driver}"'
    ).stdout
    short = run("archive", "search", "--archive", archive, f"driver: {driver}").stdout
    rows = re.compile(r"=(vmnic\d+) driver=(\S+)")
    assert rows.findall(short) == rows.findall(long) != []
    word = run("archive", "search", "--archive", archive, driver)
    assert word.exit_code == 0 and f"driver={driver}" in word.stdout
    assert "`driver_version` is a column of esxi.pnic_info" in run(
        "archive", "search", "--archive", archive, 'driver_version == "1"'
    ).stderr  # fmt: skip

    # A stored case is deleted as docs/questions.md says: its files, known by the id in what --source shows.
    source = run("archive", "show", "case-000000", "--archive", archive, "--source").stdout
    pack = re.search(r"^stored in +(packs/../([0-9a-f]{32})-\S+\.zip)$", source, re.M)
    assert pack and (archive / pack[1]).is_file()
    for file in (archive / pack[1]).parent.glob(f"{pack[2]}-*"):
        file.unlink()
    assert (
        run("archive", "verify", "--archive", archive)
        .stdout.splitlines()[-1]
        .startswith("1 case, ")
    )
    assert run("archive", "show", "case-000000", "--archive", archive).exit_code != 0


def test_a_worker_that_cannot_write_ends_the_run_as_the_readme_says() -> None:
    """What a worker tells of a full disk keeps its kind on the way to the command: a failed write, 6."""
    done = Done(
        1, "read", fatal=StoreWriteError("cannot write", where="x", why="full", do="Free some.")
    )
    back: Done = pickle.loads(pickle.dumps(done))
    assert back.fatal is not None
    assert (type(back.fatal), back.fatal.exit_code, str(back.fatal)) == (
        StoreWriteError, 6, "x: cannot write (full). Free some.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("case", "folder"),
    [("CON", "case-CON"), ("nul.tgz", "case-nul.tgz"), ("com1", "case-com1"), ("console", "console"), ("a b.", "a-b"),
     ("x" * 99 + ".y", "x" * 99), ("..", "case"), ("Fälle: März/7", "F-lle-M-rz-7")],
)  # fmt: skip
def test_results_have_a_folder_that_every_system_takes(case: str, folder: str) -> None:
    """A case called as a device of Windows, with a dot at the end or too long still has a folder for its results there."""
    assert folder_name(case) == folder


@pytest.mark.process
def test_a_pipe_of_windows_is_written_to(tmp_path: Path) -> None:
    """Code page 1252 has no arrow: a comparison shows it escaped and ends with 0, where it ended as a fault of Backline."""
    sides = [ROOT / "samples" / "cases" / name for name in ("lab-ring-before", "lab-ring-after")]
    command = [sys.executable, "-m", "analyzer", "compare", *map(str, sides), "-o", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert rb"\u2192" in done.stdout and "→".encode() in (tmp_path / "compare.md").read_bytes()
