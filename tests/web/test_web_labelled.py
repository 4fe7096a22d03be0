"""Numbered files read under the names a client told: as on the disk for good names, harmless for all others."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.case import case_file
from analyzer.ingest.file_hashes import FileHashes
from analyzer.pipeline.triage import triage
from analyzer.runtime.errors import RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import Ledger, walk
from analyzer.sources.remote import Place
from analyzer.web.cases.labelled import NamedFile, list_labelled
from tools.long_run import list_sent_files

UNAME = b"VMkernel esx-07 6.5.0 #1 SMP Release build-5969303 Jun 2 2017 17:39:12 x86_64 x86_64 x86_64 ESXi\n"
LOG = b"2017-10-09T14:00:00.000Z cpu3:65536)ScsiDeviceIO: 1: made up for this test\n" * 20
BUNDLE = {
    "esx-07-2017-10-09--14.02/commands/uname_-a.txt": UNAME,
    "esx-07-2017-10-09--14.02/commands/big.txt.FRAG-00000": b"a" * (1 << 20),
    "esx-07-2017-10-09--14.02/commands/big.txt.FRAG-00001": b"b" * 10,
    "esx-07-2017-10-09--14.02/var/run/log/vmkernel.log": LOG,
    "esx-07-2017-10-09--14.02/var/run/log/vmkernel.0.gz": gzip.compress(LOG, mtime=0),
    "esx-07-2017-10-09--14.02/etc/vmware/empty": b"",
}


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """Return files packed as .tgz."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return files packed as .zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(name, data)
    return packed.getvalue()


def numbered(folder: Path, files: Mapping[str, bytes] | list[tuple[str, bytes]]) -> list[Any]:
    """Lay files down under numbers and return them under their labels."""
    pairs = list(files.items()) if isinstance(files, Mapping) else files
    for number, (_, data) in enumerate(pairs):
        (folder / str(number)).write_bytes(data)
    return list_labelled(
        NamedFile(label, folder / str(number), 1e9) for number, (label, _) in enumerate(pairs)
    )


def on_disk(folder: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Lay files down under their names and return what lies at the top."""
    for label, data in files.items():
        path = folder / label
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (1e9, 1e9))
    return sorted(folder.iterdir())


def seen(paths: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return all that a walk gives of every member, and all that it writes down."""
    ledger = Ledger()
    members = []
    for member in walk(paths, Limits(), ledger):
        digest = hashlib.sha256()
        for chunk in member.chunks():
            digest.update(chunk)
        told = (
            member.address,
            member.path,
            member.root,
            member.in_archive,
            member.mtime,
            member.packed,
        )
        members.append((*told, member.size, member.cut, digest.hexdigest()))
    sources = [(one.address, one.size, one.state, one.why) for one in ledger.sources]
    return members, [*sources, *map(str, ledger.damage), *map(str, ledger.limits)]


CASES = {
    "an unpacked bundle": BUNDLE,
    "a bundle inside a folder": {f"case 12/{name}": data for name, data in BUNDLE.items()},
    "two bundles and a note": {
        **BUNDLE,
        **{f"b{name}": data for name, data in BUNDLE.items()},
        "note.txt": UNAME,
    },
    "a packed bundle": {"esx-07.tgz": tar_of(BUNDLE)},
    "a packed bundle as zip": {"esx-07.zip": zip_of(BUNDLE)},
    "a large file": {"vmkernel.log": LOG * 5000},
    "loose fragments": {"x.log.FRAG-00000": LOG, "x.log.FRAG-00001": LOG, "y.log.FRAG-00001": LOG},
    "a single file": {"vmkernel.log": LOG},
    "the results of an earlier run": {
        "d/case.json": b'{"schema": "backline/case-1"}',
        "d/report.html": b"x",
        "d/report.md": b"x",
        "d/a.log": LOG,
    },
    "names as they are given": {
        "Größe (2).log": LOG,
        " leading": LOG,
        "con": LOG,
        "a'b\"c": LOG,
        "日本/ログ.log": LOG,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_labels_are_read_as_the_disk_is(tmp_path: Path, name: str) -> None:
    """Members, addresses, roots, bytes, faults and hashes are the same as for files that lie there by these names."""
    files = CASES[name]
    for folder in ("numbers", "names"):
        (tmp_path / folder).mkdir()
    paths, there = numbered(tmp_path / "numbers", files), on_disk(tmp_path / "names", files)
    assert seen(paths) == seen(there)
    assert FileHashes(paths).collect_listed() == FileHashes(there).collect_listed()


@pytest.mark.parametrize("name", ["an unpacked bundle", "a packed bundle", "a single file"])
def test_a_dropped_case_gives_the_same_document(tmp_path: Path, name: str) -> None:
    """case.json of dropped files is, byte for byte, that of the same files on the disk."""
    files = CASES[name]
    for folder in ("numbers", "names"):
        (tmp_path / folder).mkdir()
    dropped = triage(numbered(tmp_path / "numbers", files)).document
    assert case_file.write_case(dropped) == case_file.write_case(
        triage(on_disk(tmp_path / "names", files)).document
    )


def test_a_dropped_tree_is_a_bundle(tmp_path: Path) -> None:
    """A dropped unpacked folder is one host with its name, not a heap of loose files."""
    document = triage(numbered(tmp_path, BUNDLE)).document
    assert [node.name for node in document.nodes] == ["esx-07"]
    assert document.case.name == "esx-07-2017-10-09--14.02"


PARTS = st.sampled_from(
    ["commands", "etc", "var", "a", "b", "log", "x.txt", "ü", "Con", "y.FRAG-00000", "y.FRAG-00001"]
)
TREES = st.lists(
    st.tuples(st.lists(PARTS, min_size=1, max_size=4).map("/".join), st.binary(max_size=40)),
    max_size=12,
)


def agreeing(pairs: list[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return the files that can lie on a disk together: no name twice, none both file and folder."""
    kept: dict[str, bytes] = {}
    folders: set[str] = set()
    for label, data in pairs:
        parts = label.split("/")
        above = {"/".join(parts[:n]) for n in range(1, len(parts))}
        if label not in folders and not above & kept.keys():
            kept[label] = data
            folders |= above
    return kept


@settings(max_examples=60)
@given(TREES)
def test_any_tree_is_read_as_the_disk_is(pairs: list[tuple[str, bytes]]) -> None:
    """Random trees of bundle folders, loose files and fragments give the same walk from numbers as from names."""
    files = agreeing(pairs)
    with tempfile.TemporaryDirectory() as folder:
        numbers, names = Path(folder, "numbers"), Path(folder, "names")
        numbers.mkdir()
        names.mkdir()
        paths, there = numbered(numbers, files), on_disk(names, files)
        assert walked(paths) == walked(there)


def walked(paths: list[Any]) -> Any:
    """Return what a walk gives, or why it refused, with the place put aside."""
    try:
        return seen(paths)
    except RefusedError as error:
        return error.what, error.why


# --- hostile names ---

HOSTILE = [
    "../../etc/passwd", "/etc/passwd", "..", "../..", ".", "", "/", "//", "a//b", "./a", "a/./b", "a/../b", "x\0y", "\0",
    "C:\\Windows\\x", "\\\\server\\share\\x", "con", "NUL.txt", "aux/com1", "a" * 4096, "d/" * 200 + "deep", "ü" * 3000,
    "\u202egol.exe", "\u2066x\u2069", "a\nb", "a\x1b[2J", "\ud800", "a\udcffb", "~/x", "$HOME", "-rf", "a:b", "x" * 300 + ".log",
]  # fmt: skip


@contextmanager
def opened() -> Iterator[list[str]]:
    """Note every path that Python opens, lists or looks for by name, as the audit of the interpreter tells it."""
    _NOTED.clear()
    _STATE["on"] = True
    try:
        yield _NOTED
    finally:
        _STATE["on"] = False


_NOTED: list[str] = []
_STATE = {"on": False}


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if _STATE["on"] and event in (
        "open",
        "os.scandir",
        "os.listdir",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.link",
    ):
        _NOTED.append(os.fspath(args[0]) if isinstance(args[0], str | Path) else repr(args[0]))


sys.addaudithook(_audit)


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=30), min_size=1, max_size=8))
@settings(max_examples=80)
def test_names_are_labels_only(labels: list[str]) -> None:
    """Whatever names are told: every file is read whole under some name of its own, and only numbers are opened."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = numbered(folder, [(label, b"content %d\n" % n) for n, label in enumerate(labels)])
        with opened() as noted:
            found = contents(paths)
            hashes = FileHashes(paths).collect_listed()
        assert sorted(data for _, data in found) == sorted(
            b"content %d\n" % n for n in range(len(labels))
        )
        assert len({one["name"] for one in hashes}) == len(labels)
        inside = {str(folder / str(n)) for n in range(len(labels))}
        assert {path for path in noted if not path.endswith((".py", ".pyc"))} <= inside
        for address, _ in found:
            parts = address.split("/")
            assert not {"", ".", ".."} & set(parts), address
            assert len(address.encode()) <= Limits().name_bytes + 20


def contents(paths: list[Any]) -> list[tuple[str, bytes]]:
    """Return address and content of every member."""
    members = walk(paths, Limits(), Ledger())
    return [
        (member.address, b"".join(bytes(chunk) for chunk in member.chunks())) for member in members
    ]


def test_a_path_of_the_disk_would_be_seen(tmp_path: Path) -> None:
    """The look at what is opened can fail: read by its name, a file is noted under that name."""
    [path] = on_disk(tmp_path, {"named.log": LOG})
    with opened() as noted:
        contents([path])
    assert str(path) in noted


def test_two_of_one_name_are_both_kept(tmp_path: Path) -> None:
    """Equal names, and a file named like a folder, get a number; the folder keeps its name, in any order."""
    pairs = [
        ("a", b"1"),
        ("x.log", b"2"),
        ("x.log", b"3"),
        ("x.log", b"4"),
        ("a/b", b"5"),
        ("a", b"6"),
        ("x (2).log", b"7"),
    ]
    found = contents(numbered(tmp_path, pairs))
    assert dict(found) == {"a (2)": b"1", "x.log": b"2", "x (2).log": b"3", "x (3).log": b"4", "b": b"5", "a (3)": b"6",
                     "x (2) (2).log": b"7"}  # fmt: skip


def test_a_folder_sent_by_a_page_is_the_folder_itself(tmp_path: Path) -> None:
    """A note that nobody reads lies beside the material either way: watch, batch and page say one state of the case."""
    folder = tmp_path / "case-7"
    folder.mkdir()
    on_disk(folder, {"esx-07.tgz": tar_of(BUNDLE), "README.md": b"# A case\n\nof nobody.\n"})
    sent = list_labelled(NamedFile(name, path) for name, path in list_sent_files(folder).items())

    given = triage([folder])
    assert not given.partial
    assert case_file.write_case(triage(sent).document) == case_file.write_case(given.document)


def test_many_of_one_name_do_not_take_for_ever(tmp_path: Path) -> None:
    """20 000 files of one name get their numbers in a moment."""
    (tmp_path / "0").write_bytes(LOG)
    paths = list_labelled(NamedFile("same.log", tmp_path / "0") for _ in range(20_000))
    assert len({str(path) for path in paths}) == 20_000


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    """A numbered file that is not there costs itself only, and the ledger says so."""
    paths = numbered(tmp_path, {"d/a.log": LOG, "d/b.log": LOG})
    (tmp_path / "0").unlink()
    members, told = seen(paths)
    assert [member[0] for member in members] == ["b.log"]
    assert any("a.log" in str(line) for line in told)


def test_a_link_in_place_of_a_number_is_not_followed(tmp_path: Path) -> None:
    """Should somebody put a link where a numbered file was, what it leads to is not read."""
    secret = tmp_path / "secret"
    secret.write_bytes(LOG)
    folder = tmp_path / "case"
    folder.mkdir()
    paths = numbered(folder, {"d/a.log": LOG, "d/b.log": LOG})
    (folder / "0").unlink()
    (folder / "0").symlink_to(secret)
    members, _ = seen(paths)
    assert [member[0] for member in members] == ["b.log"]


def test_a_label_is_no_path_for_another_process(tmp_path: Path) -> None:
    """A label cannot be pickled: what came out would be a path of the disk by a name of the client."""
    [path] = numbered(tmp_path, {"etc": LOG})
    with pytest.raises(TypeError, match="not a path"):
        pickle.dumps(path)


def test_a_refused_drop_names_the_label(tmp_path: Path) -> None:
    """What is no support material is refused under the name the engineer knows, not under a number."""
    with pytest.raises(RefusedError) as told:
        list(
            walk(
                numbered(tmp_path, {"setup.exe": b"MZ" + bytes(range(256)) * 9}), Limits(), Ledger()
            )
        )
    assert "setup.exe" in str(told.value)
    assert str(tmp_path) not in str(told.value)


def test_a_label_is_a_place(tmp_path: Path) -> None:
    """What is given back is what the walk, the hashes and the pipeline take."""
    place: Place = numbered(tmp_path, {"a.log": LOG})[0]
    assert (str(place), place.name, place.is_file(), place.stat().st_mtime) == (
        "a.log",
        "a.log",
        True,
        1e9,
    )
