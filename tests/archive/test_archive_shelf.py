"""Objects of an archive: the same contract for a folder, a store in memory and S3 (moto's server on loopback)."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive.object_store.local_store import LocalStore, path_of
from analyzer.archive.object_store.object_store import (
    FORMAT,
    HEAD,
    GoneError,
    NotAnArchiveError,
    ObjectStore,
    StorageError,
    check_name,
    show_url,
)
from analyzer.archive.object_store.opening import open_store
from analyzer.runtime.errors import BacklineError
from tests.kit.s3_kit import s3_server

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The URL of an empty bucket of a real S3 server on loopback."""
    pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    with s3_server() as server:
        yield server.url


@pytest.fixture(params=["folder", "file", "memory", pytest.param("s3", marks=pytest.mark.process)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an archive can be made, of each kind."""
    if request.param == "folder":
        return str(tmp_path / "an archive")
    if request.param == "file":
        return (tmp_path / "an archive").as_uri()
    pytest.importorskip("fsspec")
    base = request.getfixturevalue("s3") if request.param == "s3" else "memory:/"
    return f"{base}/{uuid4().hex}/archive"


@pytest.fixture
def objects(url: str) -> ObjectStore:
    """An empty archive's shelf."""
    return open_store(url, create=True)


def in_threads(run: Callable[[int], None], count: int) -> None:
    """Run something in so many threads at once, each with its number."""
    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_what_is_put_is_got(objects: ObjectStore) -> None:
    """An object has the bytes that were put last, is read in parts, and is told with its size and time."""
    for data in (b"one", b"", bytes(range(256)) * 1000):
        objects.put("packs/aa/x.full.zip", data)
        assert objects.get("packs/aa/x.full.zip") == data
    with objects.open("packs/aa/x.full.zip") as stream:
        stream.seek(-3, os.SEEK_END)
        assert stream.read() == bytes([253, 254, 255])
        stream.seek(0)
        assert stream.read(2) == b"\0\1"
    (found,) = objects.list("packs/")
    assert (found.name, found.size) == ("packs/aa/x.full.zip", 256_000)
    assert found.mtime > 1_500_000_000
    assert objects.exists("packs/aa/x.full.zip")


def test_a_listing_is_sorted_and_begins_with_the_prefix(objects: ObjectStore) -> None:
    """Names come sorted as whole names, below any prefix, also one that ends inside a name."""
    names = [
        "a-/1",
        "a/1",
        "a/10",
        "a/2",
        "a0/1",
        "claims/x",
        "packs/ab/q.zip",
        "packs/ac/q.zip",
        "packs-x",
    ]
    for name in reversed(names):
        objects.put(name, name.encode())
    assert [item.name for item in objects.list() if item.name != HEAD] == sorted(names)
    assert [item.name for item in objects.list("packs/")] == ["packs/ab/q.zip", "packs/ac/q.zip"]
    assert [item.name for item in objects.list("packs/a")] == ["packs/ab/q.zip", "packs/ac/q.zip"]
    assert [item.name for item in objects.list("a/1")] == ["a/1", "a/10"]
    assert list(objects.list("nothing/")) == []
    assert dict(objects.get_many([*names, "gone/1"])) == {name: name.encode() for name in names}


def test_an_object_that_is_gone(objects: ObjectStore) -> None:
    """Reading a gone object is a GoneError that names it; deleting it twice is none."""
    objects.put("labels/a/1.json", b"x")
    objects.delete("labels/a/1.json")
    objects.delete("labels/a/1.json")
    assert not objects.exists("labels/a/1.json")
    for read in (objects.get, lambda name: objects.open(name).read()):
        with pytest.raises(GoneError, match=r"labels/a/1\.json: the object is not there"):
            read("labels/a/1.json")
    assert list(objects.list("labels/")) == []
    objects.put("labels/a/1.json", b"again")
    assert objects.get("labels/a/1.json") == b"again"


def test_put_new_writes_once(objects: ObjectStore) -> None:
    """The first writer of a name wins, the second is told and changes nothing."""
    assert objects.put_new("claims/x", b"first")
    assert not objects.put_new("claims/x", b"second")
    assert objects.get("claims/x") == b"first"


def test_of_many_threads_one_is_first(objects: ObjectStore, url: str) -> None:
    """Where the store can tell (a folder, S3), exactly one of eight writers at the same moment is first."""
    if url.startswith("memory:"):
        pytest.skip("the store in memory cannot tell two writers apart")
    start = threading.Barrier(8)
    won = []

    def run(number: int) -> None:
        start.wait()
        if objects.put_new("claims/race", str(number).encode()):
            won.append(number)

    in_threads(run, 8)
    assert [str(number).encode() for number in won] == [objects.get("claims/race")]


def test_a_file_of_the_scratch_folder_becomes_an_object(objects: ObjectStore) -> None:
    """A file written in the private folder is put whole; nothing of the folder is listed, and it goes away."""
    folder = objects.make_scratch()
    (folder / "part.parquet").write_bytes(b"abc" * 1000)
    other = objects.make_scratch()
    assert folder != other
    objects.done_with(other)
    objects.put_file("segments/s/part.parquet", folder / "part.parquet")
    assert objects.get("segments/s/part.parquet") == b"abc" * 1000
    assert [item.name for item in objects.list() if item.name != HEAD] == [
        "segments/s/part.parquet"
    ]
    objects.done_with(folder)
    assert not folder.exists()


def test_duckdb_reads_an_object(objects: ObjectStore) -> None:
    """A database without extensions reads Parquet of the shelf, wherever it lies."""
    from analyzer.facts import database

    con = database.connect()
    folder = objects.make_scratch()
    con.execute(
        f"COPY (SELECT range AS n, 'it''s ' || range AS t FROM range(3000)) TO '{folder}/t.parquet'"
    )
    objects.put_file("segments/s/t.parquet", folder / "t.parquet")
    objects.done_with(folder)
    path = objects.duck_path(con, "segments/s/t.parquet")
    objects.duck_path(con, "segments/s/t.parquet")
    assert con.execute("SELECT count(*), max(t) FROM read_parquet(?)", [path]).fetchall() == [
        (3000, "it's 999")
    ]


def test_a_shelf_travels_to_another_process(objects: ObjectStore) -> None:
    """A shelf is pickled as the place it stands for."""
    objects.put("labels/a/1.json", b"x")
    again = pickle.loads(pickle.dumps(objects))
    assert again.url == objects.url
    assert again.get("labels/a/1.json") == b"x"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "..",
        "../x",
        "a/../../x",
        "a//b",
        "a/",
        "a/./b",
        ".hidden",
        "a\\b",
        "C:x",
        "a\nb",
        "tmp/x",
        "tmp",
        "a/..b/c..d",
        "x" * 600,
        "a b",
        "é",
    ],
)
def test_names_that_are_not_ours_are_refused(objects: ObjectStore, name: str) -> None:
    """A name that could lead out of the archive, or into tmp/, is never handed to a store."""
    for use in (
        objects.get,
        objects.open,
        objects.delete,
        objects.exists,
        lambda name: objects.put(name, b""),
    ):
        with pytest.raises(ValueError, match="not the name of an object"):
            use(name)


@given(st.text(alphabet="abc./\\:~\0\n -_", max_size=20))
def test_a_checked_name_stays_below_the_archive(name: str) -> None:
    """Whatever name is let through is a relative path that goes down only."""
    try:
        parts = check_name(name).split("/")
    except ValueError:
        return
    assert all(part and part not in (".", "..") and not part.startswith(".") for part in parts)
    assert Path(os.path.normpath(Path("/archive", *parts))).parts[:2] == ("/", "archive")


def test_opening(url: str) -> None:
    """An archive is made only when asked for; made again it is the same one; a newer one is told as such."""
    with pytest.raises(
        NotAnArchiveError, match=r"this is not a case archive .it has no backline-archive.json"
    ):
        open_store(url)
    objects = open_store(url, create=True)
    assert objects.get(HEAD) == b'{"format": "%s"}\n' % FORMAT.encode()
    objects.put("labels/a/1.json", b"x")
    assert open_store(url, create=True).get("labels/a/1.json") == b"x"
    for head, why in (
        (b'{"format": "backline/archive-3"}', "made by a newer version .*backline/archive-3"),
        (b'{"format": "other"}', "is of something else"),
        (b"[1]", "cannot be read"),
        (b"\xff", "cannot be read"),
        (b"", "cannot be read"),
    ):
        objects.put(HEAD, head)
        with pytest.raises(NotAnArchiveError, match=why):
            open_store(url, create=True)


def test_a_folder_with_other_things_is_not_made_an_archive(tmp_path: Path) -> None:
    """`--archive` with the wrong folder writes nothing into it."""
    (tmp_path / "holiday.jpg").write_bytes(b"x")
    with pytest.raises(NotAnArchiveError, match=r"other things, such as holiday.jpg"):
        open_store(tmp_path, create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_file_is_no_archive(tmp_path: Path) -> None:
    """The path of a file is refused, with and without `create`, in one plain line."""
    file = tmp_path / "bundle.tgz"
    file.write_bytes(b"x")
    for create in (False, True):
        with pytest.raises(BacklineError) as caught:
            open_store(file, create=create)
        assert "\n" not in str(caught.value)
        assert str(file) in str(caught.value)
    assert file.read_bytes() == b"x"


def test_a_read_only_folder_is_one_plain_line(tmp_path: Path) -> None:
    """What cannot be written says where and why, and leaves nothing behind."""
    objects = LocalStore(tmp_path / "a")
    open_store(tmp_path / "a", create=True)
    (tmp_path / "a" / "packs").write_bytes(b"in the way")
    with pytest.raises(StorageError, match=r"packs/aa/x.zip: cannot write in the archive"):
        objects.put("packs/aa/x.zip", b"x")
    assert list((tmp_path / "a" / "tmp").iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("step", ["fsync", "replace", "link"])
def test_a_store_that_fails_keeps_the_old_object(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, step: str
) -> None:
    """A full disk or a lost right at any step leaves the object as it was and nothing in tmp/."""
    objects = open_store(tmp_path / "a", create=True)
    objects.put("labels/x/1", b"old")

    def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError(code, os.strerror(code))

    if step == "replace":
        monkeypatch.setattr(Path, "replace", fail)
    else:
        monkeypatch.setattr(os, step, fail)
    put = objects.put_new if step == "link" else objects.put
    name = "labels/x/2" if step == "link" else "labels/x/1"
    if step == "link":  # a file system without hard links: the rename does it
        assert put(name, b"new")
    else:
        with pytest.raises(StorageError, match=os.strerror(code)):
            put(name, b"new")
    monkeypatch.undo()
    assert objects.get("labels/x/1") == b"old"
    assert list((tmp_path / "a" / "tmp").iterdir()) == []


def test_a_file_size_limit_is_told_like_a_full_disk(tmp_path: Path) -> None:
    """A real process that may not write more bytes ends with one line and no half object."""
    resource = pytest.importorskip("resource")
    assert resource
    open_store(tmp_path / "a", create=True)
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from analyzer.archive.object_store.opening import open_store\n"
        "from analyzer.archive.object_store.object_store import StorageError\n"
        "try:\n"
        "    open_store(sys.argv[1]).put('packs/aa/x.zip', b'x' * 5000)\n"
        "except StorageError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "packs/aa/x.zip: cannot write in the archive (File too large)" in run.stdout
    assert sorted(path.name for path in (tmp_path / "a").rglob("*") if path.is_file()) == [HEAD]


def test_links_are_not_followed_by_a_listing(tmp_path: Path) -> None:
    """A link in an archive from elsewhere brings in no file or folder of this machine."""
    objects = open_store(tmp_path / "a", create=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("x")
    try:
        (tmp_path / "a" / "packs").symlink_to(outside)
        (tmp_path / "a" / "linked").symlink_to(outside / "secret")
    except OSError:
        pytest.skip("no links here")
    assert [item.name for item in objects.list()] == [HEAD]


def test_writers_and_deleters_of_one_folder(objects: ObjectStore) -> None:
    """Writing into a folder that others empty at the same time never fails."""
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            for turn in range(10):
                objects.put(f"packs/aa/{number}-{turn}", b"x")
                objects.delete(f"packs/aa/{number}-{turn}")
        except BaseException as error:  # noqa: BLE001 - shown by the assert
            failures.append(error)

    in_threads(run, 3)
    assert failures == []
    assert list(objects.list("packs/")) == []


def test_what_is_on_its_way_is_seen_and_swept(tmp_path: Path) -> None:
    """Files and folders of dead writers are told with their size and swept one by one, nothing else is."""
    objects = open_store(tmp_path / "a", create=True)
    folder = objects.make_scratch()
    (folder / "x.parquet").write_bytes(b"12345")
    (tmp_path / "a" / "tmp" / "9-9.part").write_bytes(b"12")
    found = {item.name: item.size for item in objects.on_the_way()}
    assert found == {f"tmp/{folder.name}": 5, "tmp/9-9.part": 2}
    for name in found:
        objects.sweep_leftover(name)
    assert objects.on_the_way() == []
    for name in ("tmp/..", "tmp/", "packs/aa", "tmp/a/b", "tmp/."):
        with pytest.raises(ValueError, match="nothing on its way"):
            objects.sweep_leftover(name)
    assert objects.exists(HEAD)


def test_passwords_of_a_url_are_not_shown() -> None:
    """Messages show a URL without what stands before its @, and on one line."""
    assert show_url("sftp://me:secret@host/a\n") == "sftp://…@host/a "
    assert show_url("s3://bucket/a@b") == "s3://bucket/a@b"


def test_file_urls() -> None:
    """A file:// URL is the path it names, with blanks and percent signs."""
    assert path_of("file:///a%20b/c%25") == Path("/a b/c%")
    assert path_of("file://localhost/x") == Path("/x")


def test_a_url_of_an_unknown_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is not installed, or no fsspec at all, is one sentence with the command that helps."""
    pytest.importorskip("fsspec")
    with pytest.raises(BacklineError, match="cannot open the archive"):
        open_store("nosuch://x/y", create=True)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(BacklineError, match=r"pip install 'backline\[cluster\]'"):
        open_store("s3://x/y", create=True)


def test_a_local_archive_needs_no_other_package(tmp_path: Path) -> None:
    """A folder and a file:// URL work in a process in which fsspec, s3fs and DuckDB cannot be imported."""
    program = (
        "import sys\n"
        "for name in ('fsspec', 's3fs', 'duckdb', 'pandas', 'numpy'): sys.modules[name] = None\n"
        "from analyzer.archive.store import Archive\n"
        "for url in sys.argv[1:]:\n"
        "    archive = Archive.open(url, create=True)\n"
        "    assert archive.take_snapshot().list_visible_cases() == []\n"
        "    assert archive.claim_case('a' * 32)\n"
    )
    urls = [str(tmp_path / "a"), (tmp_path / "b").as_uri()]
    subprocess.run([sys.executable, "-c", program, *urls], cwd=ROOT, check=True)
    assert (tmp_path / "b" / HEAD).is_file()
