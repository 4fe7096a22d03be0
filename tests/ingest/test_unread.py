"""What came in and was not read or understood stands on the first screen, and the exit code tells it.

All content is synthetic.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analyzer.cli import main

GOOD = "".join(
    f"2026-01-20T09:27:{second:02d}.000Z cpu{second % 4}:2097152)ScsiDeviceIO: 2954: Cmd 0x85 to dev failed\n"
    for second in range(60)
)
NOTE = "Dear colleague,\n\nthe customer says that everything is slow since Monday.\n\nRegards\n"
APP = "".join(
    f"2026-01-20 09:27:{second:02d} WARN billing: order {second} is late\n" for second in range(30)
)
TABLE = "order;customer;late\n" + "".join(
    f"{number};c{number % 7};{number % 3}\n" for number in range(30)
)
CLEAN = re.compile(
    r"(?i)nothing (?:was )?found(?! in what could be read)|nothing (?-i:(?:was )?cut)"
)


def run(*paths: Path, out: Path) -> tuple[int, str]:
    done = CliRunner().invoke(
        main, ["triage", *map(str, paths), "-o", str(out), "--no-settings", "--no-packs", "--all"]
    )
    return done.exit_code, " ".join(done.output.split())  # whatever the width of the terminal


def written(out: Path) -> tuple[dict[str, Any], str, str]:
    """Return the case document, the head of the page as text, and the case note."""
    page = (out / "report.html").read_text()
    head = page[page.index("<header>") : page.index("</nav>")]
    head = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", head))
    return (
        json.loads((out / "case.json").read_text()),
        head,
        (out / "report.md").read_text().replace("\\", ""),
    )


def lay(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    paths = []
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        paths.append(path)
    return paths


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return raw.getvalue()


def tgz(files: Mapping[str, str | bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, body in files.items():
            data = body.encode() if isinstance(body, str) else body
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return raw.getvalue()


SOS = {
    f"sosreport-web01-2026-01-20/sos_commands/{name}": body
    for name, body in {
        "kernel/uname_-a": "Linux web01 5.14.0\n",
        "date/date": "Tue Jan 20\n",
        "x/y.bin": "\1\2\3" * 99,
    }.items()
}
BOMB = '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;">]>\n<lolz>&lol1;</lolz>\n'
CUT = gzip.compress(tgz(SOS) * 3, mtime=0)
UNKNOWN: dict[str, tuple[str, str | bytes, str]] = {
    "a mail": ("mail.txt", NOTE, "that Backline knows"),
    "a log of something else": ("app.log", APP, "that Backline knows"),
    "a table of something else": ("orders.csv", TABLE, "that Backline knows"),
    "six bytes": ("x.txt", "hello\n", "that Backline knows"),
    "six bytes by the name of a known log": ("vmkernel.log", "hello\n", "no"),
    "nothing at all": ("empty.txt", "", "empty"),
    "a gzip cut after 99 bytes": (
        "vmkernel.1.gz",
        gzip.compress(GOOD.encode() * 9, mtime=0)[:15],
        "cut",
    ),
    "a sosreport": ("sosreport-web01.tgz", tgz(SOS), "members, none of them"),
    "a cut archive": ("b.tgz", tgz(SOS)[:40], ""),
    "an XML bomb": ("bomb.xml", BOMB, ""),
    "a zip of notes": (
        "notes.zip",
        zipped({"a.txt": NOTE, "b.txt": NOTE * 2}),
        "members, none of them",
    ),
    "a picture": ("p.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4, "picture"),
    "a 7-Zip archive": ("b.7z", b"7z\xbc\xaf\x27\x1c" + bytes(range(256)) * 4, "7-Zip"),
}


TEXTS = [kind for kind, (_, _, why) in UNKNOWN.items() if why == "that Backline knows"]
TEXTS += ["six bytes by the name of a known log", "a zip of notes", "a sosreport", "an XML bomb"]


@pytest.mark.parametrize("kind", TEXTS)
def test_no_text_is_refused(tmp_path: Path, kind: str) -> None:
    """The only file is a text of nothing that is known: exit 5 with the reason, and no word of a clean case."""
    name, body, why = UNKNOWN[kind]
    code, said = run(*lay(tmp_path, {name: body}), out=tmp_path / "out")
    doc, head, note = written(tmp_path / "out")

    assert code == 5, said
    assert name in said
    assert why in said
    assert doc["case"]["complete"] is False
    for text in (said, head, note):
        assert "NOT COMPLETE" in text
        assert not CLEAN.search(text), CLEAN.search(text)


def test_signs_in_a_text_are_shown(tmp_path: Path) -> None:
    """What a text of another product says of trouble is shown line for line; nothing is made of it."""
    text = "2026-01-20 09:27:01 ERROR billing: cannot open the database: connection refused\n"
    code, said = run(*lay(tmp_path, {"app.txt": text}), out=tmp_path / "out")

    assert code in (0, 5), said
    assert "connection refused" in said


@pytest.mark.parametrize("kind", [kind for kind in UNKNOWN if kind not in TEXTS])
def test_the_only_file_not_understood_is_refused(tmp_path: Path, kind: str) -> None:
    """Exit 3 with the file and the reason on one line; no report that could look clean."""
    name, body, why = UNKNOWN[kind]
    code, said = run(*lay(tmp_path, {name: body}), out=tmp_path / "out")

    assert code == 3, said
    assert name in said
    assert why in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_file_not_understood_beside_a_good_one_is_named_first(tmp_path: Path, kind: str) -> None:
    """Given by name: exit 5, named on terminal, head of the page and note; no word of a clean case.

    A picture is no diagnostic material: it is named as not read, and the case is complete without it.
    """
    name, body, _ = UNKNOWN[kind]
    is_material = kind != "a picture"
    paths = lay(tmp_path / "in", {"good/vmkernel.log": GOOD, name: body})
    code, said = run(*paths, out=tmp_path / "out")
    doc, head, note = written(tmp_path / "out")

    assert code == (5 if is_material else 0), said
    assert doc["case"]["complete"] is not is_material
    for text in (said, head, note[: note.index("---\n\nBackline")]):
        assert name in text
        assert ("NOT COMPLETE" in text) is is_material
        assert not (is_material and CLEAN.search(text)), CLEAN.search(text)


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("README", NOTE, 0),
        ("mail.txt", NOTE, 0),
        ("photo.png", UNKNOWN["a picture"][1], 0),
        ("letter.pdf", b"%PDF-1.7\n" + bytes(range(256)), 0),
        ("app.log", APP, 5),
        ("app-output.txt", APP, 5),
        ("orders.csv", TABLE, 5),
        ("orders.txt", TABLE, 5),
        ("notes.zip", zipped({"a.txt": NOTE}), 5),
        ("b.7z", UNKNOWN["a 7-Zip archive"][1], 5),
        ("sosreport-web01.tgz", tgz(SOS), 5),
        ("b.tgz", b"", 5),
        ("answer.xml", BOMB, 5),
    ],
)
def test_in_a_folder_only_what_looks_like_support_material_counts(
    tmp_path: Path, name: str, body: str | bytes, code: int
) -> None:
    """Beside a good file: each is named on the first screen; a log, a table or an archive makes it exit 5."""
    lay(tmp_path / "in", {"vmkernel.log": GOOD, name: body})
    done, said = run(tmp_path / "in", out=tmp_path / "out")
    doc, head, note = written(tmp_path / "out")

    assert done == code, said
    assert doc["case"]["complete"] is (code == 0)
    for text in (said, head, note[: note.index("## ")]):
        assert name in text
        assert ("NOT COMPLETE" in text) is (code == 5)


def test_a_folder_of_which_nothing_is_understood_is_not_complete(tmp_path: Path) -> None:
    """A README and a mail alone are all there is: exit 5, both named."""
    lay(tmp_path / "in", {"README": NOTE, "mail.txt": NOTE * 2})
    code, said = run(tmp_path / "in", out=tmp_path / "out")

    assert code == 5
    assert not CLEAN.search(said)
    assert "README" in said
    assert "mail.txt" in said


def test_a_cut_bundle_never_says_nothing_found(tmp_path: Path) -> None:
    """A bundle without a fault, cut: exit 5, and «nothing found» only of what could be read."""
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    dice = [f"{i:x}{i * 7919 % 104729:x}" for i in range(4000)]
    files = {
        f"{top}/var/run/log/vmkernel.log": GOOD,
        f"{top}/var/run/log/hostd.log": "\n".join(dice),
    }
    data = tgz(files)
    (path,) = lay(tmp_path, {"b.tgz": data[: len(data) * 3 // 4]})
    code, said = run(path, out=tmp_path / "out")
    _, head, note = written(tmp_path / "out")

    assert code == 5, said
    for text in (said, head, note):
        assert "NOT COMPLETE" in text
        assert not CLEAN.search(text)
        flat = re.sub(r"\s+", "", text)
        assert "b.tgz(compresseddataendsearly,thefileiscut)" in flat
        assert "Cutshort:" in flat


def test_left_out_counts_what_is_listed_only(tmp_path: Path) -> None:
    """A sound bundle with a member that nothing reads does not say that nothing was left out."""
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    files = {f"{top}/var/run/log/vmkernel.log": GOOD, f"{top}/etc/nobody-reads.conf": "a=b\n"}
    (path,) = lay(tmp_path, {"b.tgz": tgz(files)})
    code, said = run(path, out=tmp_path / "out")

    assert code == 0
    assert (
        "complete, nothing cut or damaged; left out: 1 source that Backline does not read"
        in " ".join(said.split())
    )


def test_a_note_on_the_sources_is_shown(tmp_path: Path) -> None:
    """Garbage behind the end mark of a tar costs nothing, and stands in terminal, page and document."""
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    data = gzip.decompress(tgz({f"{top}/var/run/log/vmkernel.log": GOOD})) + b"garbage" * 512
    (path,) = lay(tmp_path, {"b.tar": data})
    code, said = run(path, out=tmp_path / "out")
    doc, _, _ = written(tmp_path / "out")

    assert code == 0
    assert "garbage after the end of the tar" in doc["notes"][0]
    assert "garbage after the end" in said
    assert "garbage after the end of the tar" in (tmp_path / "out" / "report.html").read_text()


def test_a_document_of_an_earlier_version_is_shown(tmp_path: Path) -> None:
    """case.json without `notes` can be rendered again."""
    (path,) = lay(tmp_path, {"vmkernel.log": GOOD})
    run(path, out=tmp_path / "out")
    doc = json.loads((tmp_path / "out" / "case.json").read_text())
    del doc["notes"]
    (tmp_path / "old.json").write_text(json.dumps(doc))

    assert CliRunner().invoke(main, ["show", str(tmp_path / "old.json")]).exit_code == 0


@pytest.mark.parametrize("where", ["loose", "bundle"])
def test_a_log_out_of_order_has_a_span_and_is_told(tmp_path: Path, where: str) -> None:
    """The newest line first: the span goes from the earliest to the latest, and a note names the log."""
    lines = "".join(reversed(GOOD.splitlines(keepends=True)))
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    body = lines if where == "loose" else tgz({f"{top}/var/run/log/vmkernel.log": lines})
    (path,) = lay(tmp_path, {"vmkernel.log" if where == "loose" else "b.tgz": body})
    code, said = run(path, out=tmp_path / "out")
    doc, _, _ = written(tmp_path / "out")

    assert code == 0
    assert doc["case"]["span"] == {"first": "2026-01-20T09:27:00Z", "last": "2026-01-20T09:27:59Z"}
    (node_log,) = doc["nodes"][0]["logs"]
    assert (node_log["first"], node_log["last"]) == ("2026-01-20T09:27:00Z", "2026-01-20T09:27:59Z")
    assert "out of order" in doc["notes"][0]
    assert "out of order" in said


def test_a_log_without_years_over_new_year_is_in_order(tmp_path: Path) -> None:
    """Stamps of syslog have no year: December before January is the year before, not disorder."""
    stamps = ["Dec 31 23:59:58", "Dec 31 23:59:59", "Jan  1 00:00:01"]
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    body = "".join(
        f"{stamp} vmkernel: 1:02:03.4 cpu1:4096)ScsiDeviceIO: Cmd 0x85 failed\n" for stamp in stamps
    )
    (path,) = lay(tmp_path, {"b.tgz": tgz({f"{top}/var/log/messages": body})})
    run(path, out=tmp_path / "out")
    doc, _, _ = written(tmp_path / "out")

    assert doc["notes"] == []
    assert doc["case"]["span"] == {"first": "2025-12-31T23:59:58Z", "last": "2026-01-01T00:00:01Z"}


def test_a_log_without_stamps_at_the_start_of_its_lines_is_a_log(tmp_path: Path) -> None:
    """The first lines of a boot have a counter for a time: known by their form, searched, exit 0."""
    text = "".join(
        f"TSC: {number * 9000} cpu0:1)BootConfig: 705: option{number} = 0 (0)\n"
        for number in range(12)
    )
    (path,) = lay(tmp_path, {"boot.txt": text})
    code, said = run(path, out=tmp_path / "out")

    assert code == 0, said
    assert written(tmp_path / "out")[0]["sources"][0]["state"] == "searched"


STRANGE: dict[str, tuple[str, str | bytes, int]] = {
    "a log": ("app.log", APP, 5),
    "a log by its lines": ("run/app-output.txt", APP, 5),
    "a log where a bundle has its logs": ("var/log/app.log", APP, 5),
    "a table": ("orders.csv", TABLE, 5),
    "a 7-Zip archive": ("b.7z", UNKNOWN["a 7-Zip archive"][1], 5),
    "a mail": ("mail.txt", NOTE, 0),
    "a picture": ("photo.png", UNKNOWN["a picture"][1], 0),
}


@pytest.mark.parametrize("where", ["a zip", "a folder with logs", "a tar in a zip"])
@pytest.mark.parametrize("kind", STRANGE)
def test_support_material_that_nobody_understands_is_named_inside_an_archive_too(
    tmp_path: Path, kind: str, where: str
) -> None:
    """Beside a good log in a zip or in a case folder: a log, a table or an archive is named first and means exit 5."""
    name, body, code = STRANGE[kind]
    inner: dict[str, str | bytes] = {"logs/vmkernel.log": GOOD, name: body}
    if where == "a folder with logs":
        lay(tmp_path / "in", inner)
    else:
        packed = zipped(inner) if where == "a zip" else zipped({"c.tgz": tgz(inner)})
        lay(tmp_path / "in", {"case.zip": packed})
    done, said = run(tmp_path / "in", out=tmp_path / "out")
    doc, head, note = written(tmp_path / "out")

    assert done == code, said
    assert doc["case"]["complete"] is (code == 0)
    for text in (said, head, note[: note.index("## ")]):
        assert (name in text) is (code == 5 or kind == "a picture")


def test_a_strange_archive_inside_an_archive_is_one_line(tmp_path: Path) -> None:
    """Many logs of another product in an inner tar do not fill the first screen: the tar is named with their number."""
    top = "product-logs"
    files: dict[str, str | bytes] = {
        f"{top}/app{number}.log": APP + f"{number}\n" for number in range(30)
    }
    lay(tmp_path / "in", {"case.zip": zipped({"logs/vmkernel.log": GOOD, "inner.tgz": tgz(files)})})
    done, said = run(tmp_path / "in", out=tmp_path / "out")
    doc, _, _ = written(tmp_path / "out")

    assert done == 5
    assert [one["why"] for one in doc["sources"] if one["state"] == "unknown"] == [
        "30 logs, tables or archives, none of them in a known format"
    ]
    assert "inner.tgz" in said


def test_a_recognised_bundle_lists_what_nothing_reads(tmp_path: Path) -> None:
    """Logs and tables in the layout of a vm-support bundle that no parser knows make no noise: exit 0, listed."""
    top = "esx-esx71.lab.example-2026-01-20--09.27-4711"
    strange = {
        f"{top}/var/run/log/strange{number}.log": APP + f"{number}\n" for number in range(300)
    }
    files = {
        f"{top}/var/run/log/vmkernel.log": GOOD,
        **strange,
        f"{top}/commands/orders.txt": TABLE,
    }
    (path,) = lay(tmp_path, {"b.tgz": tgz(files)})
    done, said = run(path, out=tmp_path / "out")

    assert done == 0, said
    assert "301 sources that Backline does not read" in " ".join(said.split())


def test_a_refused_case_has_its_document_where_json_is_asked_for(tmp_path: Path) -> None:
    """A program that reads `--json -` learns what came in also when nothing of it was understood; the exit code stays 3."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "broken.tgz").write_bytes(tgz(SOS)[:40])
    done = CliRunner().invoke(
        main, ["triage", str(tmp_path / "notes"), "--json", "-", "--no-settings", "--no-packs"]
    )

    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert document["case"]["complete"] is False
    assert [source["state"] for source in document["sources"]] == ["refused"]
    assert "nothing could be read" in done.stderr


def test_a_command_that_nothing_reads_is_named(tmp_path: Path) -> None:
    """The output of a command without a parser is no other text: the first screen names the command, the source its line."""
    lines = [
        "[root@esx1:~] vmware -v",
        "VMware ESXi 7.0.3 build-19193900",
        "[root@esx1:~] made-up --all",
        "one",
        "two",
    ]
    lines += [
        "[root@esx1:~] cd /tmp",
        "[root@esx1:~] made-up-too",
        "three",
        "[root@esx1:~]",
        "below nothing typed",
        "",
    ]
    lines += [
        "[root@esx1:~]",
        "cd     Change the folder",
        "[root@esx1:~] cd /",
        "",
    ]  # what a `?` printed: of no command
    paths = lay(tmp_path / "case", {"paste.txt": "\n".join(lines)})
    code, said = run(*paths, out=tmp_path / "out")
    document, head, note = written(tmp_path / "out")
    named = "left out: the output of `made-up --all`, `made-up-too`, which Backline does not read"
    assert code == 0
    assert named in " ".join(said.split()) and named in note
    assert named.replace("`", "") in head  # as code there
    assert "nothing found;" not in said
    assert document["sources"][0]["unread_outputs"] == [
        {"line": 3, "command": "made-up --all", "lines": 2},
        {"line": 7, "command": "made-up-too", "lines": 1},
    ]
    assert "`made-up --all` (line 3), `made-up-too` (line 7)" in document["sources"][0]["why"]


def test_a_line_that_was_not_understood_stands_on_the_first_screen(tmp_path: Path) -> None:
    """A capture that ends inside a row loses the row: no first screen calls it whole, and none says just "nothing found"."""
    whole = (
        Path(__file__).parents[2] / "samples" / "esxtop" / "esxtop_csv" / "three_samples.csv"
    ).read_text()
    paths = lay(tmp_path / "case", {"esxtop.csv": whole.rstrip("\n")[:-40]})
    _, said = run(*paths, out=tmp_path / "out")
    document, head, note = written(tmp_path / "out")
    last = whole.count("\n")
    named = f"complete but for 1 line that was not understood (esxtop.csv:{last})"
    assert document["faults"][0]["why"] == "the file ends inside this row; it is left out"
    assert named in " ".join(said.split()) and named in head and named in note
    assert not CLEAN.search(said + head + note)
