"""Cases on a storage: read where they lie, the bytes of case.json as from a disk, whatever the storage does."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fsspec")

import fsspec
from fsspec.caching import BackgroundBlockCache
from fsspec.implementations.memory import MemoryFileSystem

from analyzer.case import case_file
from analyzer.cli import main
from analyzer.pipeline.triage import Options, triage
from analyzer.runtime.errors import BacklineError, RefusedError
from analyzer.runtime.limits import Limits
from analyzer.sources import remotefile
from analyzer.sources.case_names import name_case_by_files
from analyzer.sources.remote import RemotePath, place
from analyzer.sources.remotefile import Digest, RemoteFile, SmallFiles
from analyzer.sources.storage import Storage, hide_login, plain_error
from tests.kit.s3_kit import s3_server

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "samples" / "cases"


class Moody(MemoryFileSystem):  # type: ignore[misc]
    """A storage in memory that notes what is asked of it and fails where it is told to."""

    protocol = "moody"
    cachable = False
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    fails: ClassVar[dict[str, Exception]] = {}  # of files whose name ends so
    fails_after: ClassVar[dict[str, int]] = {}  # such a file fails behind so many bytes
    asked: ClassVar[list[tuple[str, int, int]]] = []
    listings: ClassVar[dict[str, list[dict[str, Any]]]] = {}

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(MemoryFileSystem._strip_protocol(path.removeprefix("moody://")))

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        return self.listings.get(path) or super().ls(path, detail=detail, **kwargs)

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **_: Any
    ) -> bytes:
        data = self.store[path].getvalue()
        start, end = start or 0, len(data) if end is None else end
        self.asked.append((path, start, end))
        for name, error in self.fails.items():
            if path.endswith(name) and end > self.fails_after.get(name, 0):
                raise error
        return bytes(data[start:end])

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode != "rb":
            return super()._open(path, mode, **kwargs)
        handle = io.BytesIO(self.store[path].getvalue())
        fs, read = self, handle.read
        handle.read = lambda size=-1: (  # type: ignore[method-assign,assignment]
            fs.cat_file(path, handle.tell(), handle.tell() + size) and read(size)
        )
        return handle


@pytest.fixture
def moody() -> Iterator[Moody]:
    """An empty moody storage."""
    fsspec.register_implementation("moody", Moody, clobber=True)
    Moody.store, Moody.pseudo_dirs = {}, [""]
    Moody.fails, Moody.fails_after, Moody.asked, Moody.listings = {}, {}, [], {}
    yield Moody()
    Moody.store, Moody.pseudo_dirs = {}, [""]


@pytest.fixture
def memory() -> Iterator[Any]:
    """An empty storage in memory."""
    fs = fsspec.filesystem("memory")
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]
    yield fs
    fs.store.clear()
    fs.pseudo_dirs[:] = [""]


def put(fs: Any, path: Path, key: str) -> None:
    """Copy a file or folder onto a storage."""
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file():
                fs.pipe_file(f"{key}/{file.relative_to(path).as_posix()}", file.read_bytes())
    else:
        fs.pipe_file(key, path.read_bytes())


def document(path: Any, **options: Any) -> str:
    """Return the text of case.json."""
    return case_file.write_case(triage([path], Options(**options)).document)


def unpacked(folder: Path) -> Path:
    """Make the folder of an unpacked bundle with fragments, a sealed file, results of an earlier run and loose text."""
    bundle = next((CASES / "healthy-host").glob("*.tgz"))
    with tarfile.open(bundle) as tar:
        tar.extractall(folder, filter="data")
    (top,) = folder.iterdir()
    words = "".join(
        random.Random(5).choices("abcdef 0123456789\n", k=remotefile.SMALL * 5)
    ).encode()
    (top / "commands" / "big.txt.FRAG-00000").write_bytes(words.ljust(1 << 20, b"."))
    (top / "commands" / "big.txt.FRAG-00002").write_bytes(b"the third piece\n")
    (top / "local.tgz").write_bytes(b"sealed")
    (top / "empty.txt").write_bytes(b"")
    for name in ("case.json", "report.html", "report.md"):
        (folder / name).write_text('{"schema": "backline/case-1"}', encoding="utf-8")
    shutil.copy(CASES / "cpu-limited-vm" / "vsish.txt", folder / "vsish.txt")
    return folder


@pytest.mark.size
@pytest.mark.parametrize(
    "name", ["nsx-633-site", "cut-bundle", "cpu-limited-vm", "lab-ring-before"]
)
def test_a_case_on_a_storage_gives_the_bytes_of_its_local_copy(name: str, memory: Any) -> None:
    """Addresses, hashes, findings and case name are those of a run on files; each file and the folder as a whole."""
    put(memory, CASES / name, f"/bucket/{name}")
    assert document(place(f"memory://bucket/{name}/")) == document(CASES / name)
    for file in sorted((CASES / name).glob("*.t*"))[:1]:
        assert document(place(f"memory://bucket/{name}/{file.name}")) == document(file)


@pytest.mark.size
def test_a_zip_and_an_unpacked_bundle_are_read_as_on_a_disk(memory: Any, tmp_path: Path) -> None:
    """A zip is read by seeking; of a folder fragments are joined, sealed files and earlier results left alone."""
    with zipfile.ZipFile(tmp_path / "case.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((CASES / "cpu-limited-vm").iterdir()):
            archive.write(file, file.name)
    folder = tmp_path / "case-7"
    folder.mkdir()
    unpacked(folder)
    for path in (tmp_path / "case.zip", folder):
        put(memory, path, f"/bucket/{path.name}")
        local = document(path)
        assert document(place(f"memory://bucket/{path.name}")) == local
    assert "fragment 00001 is missing" in local
    assert "credentials, not opened" in local
    assert "written by an earlier run" in local


def test_several_urls_are_one_case(memory: Any, tmp_path: Path) -> None:
    """Files given one by one make one case named after the folder that holds them, pieces are joined."""
    folder = tmp_path / "case-8"
    shutil.copytree(CASES / "lab-ring-before", folder)
    (folder / "long.txt.FRAG-00000").write_bytes(b"made up\n" * 10)
    (folder / "long.txt.FRAG-00001").write_bytes(b"made up\n" * 10)
    put(memory, folder, "/bucket/case-8")
    files = sorted(folder.iterdir())
    local = case_file.write_case(triage(files).document)
    there = [place(f"memory://bucket/case-8/{file.name}") for file in files]
    assert case_file.write_case(triage(there).document) == local
    assert name_case_by_files(there) == "case-8"
    assert name_case_by_files([there[0], files[0]]) == "case"


@pytest.mark.size
def test_s3_gives_the_same_bytes_and_says_what_is_not_there() -> None:
    """A real S3 server: the same document by the command; a missing object and bucket are one plain sentence."""
    pytest.importorskip("s3fs")
    pytest.importorskip("moto.server")
    with s3_server() as s3:
        fs = fsspec.filesystem("s3", skip_instance_cache=True)
        for name in ("cut-bundle", "cpu-limited-vm"):
            fs.put(f"{CASES / name}/", f"{s3.bucket}/{name}/", recursive=True)
            run = CliRunner().invoke(
                main, ["triage", f"{s3.url}/{name}", "--json", "-", "--no-settings"]
            )
            assert run.stdout == document(CASES / name)
        for missing in (f"{s3.url}/none.tgz", "s3://no-such-bucket/case.tgz"):
            run = CliRunner().invoke(main, ["triage", missing, "--json", "-"])
            assert run.exit_code == 3
            assert f"{missing}: no such file or folder" in run.stderr
        fs.pipe_file(f"{s3.bucket}/big.bin", random.Random(1).randbytes(remotefile.BLOCK * 3))
        path = place(f"{s3.url}/big.bin")
        assert isinstance(path, RemotePath)
        with path.source() as source:
            assert len(source.pread(0, 100)) == 100
            fs.pipe_file(f"{s3.bucket}/big.bin", random.Random(2).randbytes(remotefile.BLOCK * 3))
            with pytest.raises(OSError, match="changed while it was being read"):
                source.pread(remotefile.BLOCK * 2, 100)
        with pytest.raises(OSError, match="changed while it was being read"):
            path.sha256()


@pytest.mark.size
def test_each_byte_is_fetched_once(moody: Moody, tmp_path: Path) -> None:
    """Hashing does not fetch again what was read, and files of a folder come in the order in which they are read."""
    folder = tmp_path / "case-9"
    folder.mkdir()
    unpacked(folder)
    put(moody, folder, "/bucket/case-9")
    local = document(folder)
    moody.asked.clear()
    assert document(place("moody://bucket/case-9")) == local
    whole = {
        key: size
        for key, size in ((key, len(file.getvalue())) for key, file in moody.store.items())
        if size
    }
    fetched = {
        key: sum(end - start for name, start, end in moody.asked if name == key) for key in whole
    }
    results = {key for key in whole if key.endswith(("case.json", "report.html", "report.md"))}
    assert {key: fetched[key] for key in whole.keys() - results} == {
        key: whole[key] for key in whole.keys() - results
    }
    assert sum(fetched[key] for key in results) <= 64


def test_a_connection_that_breaks_in_the_middle_is_damage_and_the_rest_of_the_case_is_not_tried(
    moody: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before the break is read, the break is told, the hash is left out, no further file is waited for."""
    monkeypatch.setattr(remotefile, "BLOCK", 16 << 10)
    monkeypatch.setattr(remotefile, "SMALL", 0)
    lines = [
        f"2017-10-14T16:41:02.120Z cpu3:65822)made up line {number}\n" for number in range(40_000)
    ]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        info = tarfile.TarInfo("esx-a/var/log/vmkernel.log")
        data = "".join(lines).encode()
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    moody.pipe_file("/bucket/case/a.tgz", packed.getvalue())
    for number in range(20):
        moody.pipe_file(f"/bucket/case/b{number}.txt", b"made up\n" * 10)
    moody.fails["a.tgz"] = ConnectionResetError("made up")
    moody.fails_after["a.tgz"] = len(packed.getvalue()) * 2 // 3
    moody.asked.clear()
    made = triage([place("moody://bucket/case")]).document
    assert made.case.complete is False
    assert any("the connection to the storage failed" in one.what for one in made.damage)
    assert made.case.files == []
    assert not [name for name, _, _ in moody.asked if "/b" in name.removeprefix("/bucket")]
    refused = [source for source in made.sources if source.state == "refused"]
    assert len(refused) == 20
    assert {source.why for source in refused} == {
        "cannot be opened: the connection to the storage failed"
    }


def test_what_came_before_a_break_is_given_where_fsspecs_cache_loses_it(
    moody: Moody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that fails behind its tenth block: we give ten blocks, fsspec's cache that reads ahead gives nine."""
    block = 4 << 10
    monkeypatch.setattr(remotefile, "BLOCK", block)
    content = random.Random(3).randbytes(40 * block)
    moody.pipe_file("/bucket/log", content)
    moody.fails["log"], moody.fails_after["log"] = ConnectionResetError("made up"), 10 * block
    given = {"ours": 0, "theirs": 0}
    with (
        RemoteFile(Storage(moody), "/bucket/log", len(content), digest=Digest()) as ours,
        suppress(OSError),
    ):
        while part := ours.pread(given["ours"], block // 2):
            given["ours"] += len(part)
    theirs = BackgroundBlockCache(
        block,
        lambda start, end: moody.cat_file("/bucket/log", start, end),
        len(content),
        maxblocks=4,
    )
    with suppress(OSError):
        while part := theirs._fetch(given["theirs"], given["theirs"] + block // 2):
            given["theirs"] += len(part)
            time.sleep(0.02)  # what is fetched in the background has come

    assert given["ours"] == 10 * block
    assert given["theirs"] == 9 * block


def test_a_file_that_may_not_be_read_is_refused_and_the_others_are_read(moody: Moody) -> None:
    """One denied object costs that object; a URL that is denied as a whole is a refusal with the reason."""
    put(moody, CASES / "lab-ring-before", "/bucket/case")
    moody.pipe_file("/bucket/case/secret.txt", b"made up\n" * 10)
    moody.fails["secret.txt"] = PermissionError("made up")
    made = triage([place("moody://bucket/case")]).document
    (refused,) = [source for source in made.sources if source.state == "refused"]
    assert (refused.address, refused.why) == (
        "secret.txt", "cannot be opened: access denied by the storage",
    )  # fmt: skip
    assert made.findings
    assert "secret.txt" not in {Path(file.name).name for file in made.case.files}
    with pytest.raises(RefusedError, match="access denied by the storage"):
        triage([place("moody://bucket/case/secret.txt")])


def test_a_listing_that_no_disk_could_give_ends(moody: Moody) -> None:
    """Names that are empty, lead up, or hold a slash, and a folder in itself, are listed and not opened."""
    text = b"[root@esx1:~] vmware -v\nVMware ESXi 6.5.0 build-5969303\n"
    moody.pipe_file("/bucket/case/esx.txt", text)
    entry = {"size": 3, "type": "file"}
    moody.listings["/bucket/case"] = [
        {"name": "/bucket/case/esx.txt", "size": len(text), "type": "file"},
        {"name": "/bucket/case/", **entry},
        {"name": "/bucket/case", "size": 0, "type": "directory"},
        {"name": "/bucket/case/", "size": 0, "type": "directory"},
        {"name": "/bucket/case/..", "size": 0, "type": "directory"},
        {"name": "/bucket/case/.", **entry},
        {"name": "/elsewhere/etc/passwd", **entry},
        {"name": "/bucket/case/pipe", "size": 0, "type": "other"},
    ]
    made = triage([place("moody://bucket/case")]).document
    read = {source.address for source in made.sources if source.state == "read"}
    assert read <= {"esx.txt"}
    listed = [source for source in made.sources if "not a regular file" in source.why]
    assert len(listed) >= 5
    assert {Path(file.name).name for file in made.case.files} == {"esx.txt"}


def test_limits_and_progress_hold(memory: Any) -> None:
    """`bundle_bytes` cuts a remote file as a local one; progress counts every byte once."""
    bundle = next((CASES / "cpu-limited-vm").glob("*.tgz"))
    put(memory, bundle, f"/bucket/{bundle.name}")
    limits = Limits(bundle_bytes=900)
    url = f"memory://bucket/{bundle.name}"
    assert document(place(url), limits=limits) == document(bundle, limits=limits)
    counts: list[int] = []
    triage([place(url)], Options(on_read=counts.append))
    assert sum(counts) == bundle.stat().st_size


@settings(max_examples=60)
@given(data=st.data(), size=st.integers(0, 3000), block=st.integers(16, 400))
def test_ranges_are_the_bytes_and_the_hash_is_that_of_the_file(
    data: st.DataObject, size: int, block: int
) -> None:
    """Whatever is read in whatever order: the right bytes, no more blocks in memory than told, the hash in the end."""
    content = random.Random(size).randbytes(size)
    fs = MemoryFileSystem()
    fs.pipe_file("/ranges/file", content)
    before = remotefile.BLOCK
    remotefile.BLOCK = block
    try:
        digest = Digest()
        with RemoteFile(Storage(fs), "/ranges/file", size, digest=digest) as source:
            for _ in range(data.draw(st.integers(0, 12))):
                offset, length = (
                    data.draw(st.integers(0, size + 50)),
                    data.draw(st.integers(0, 1200)),
                )
                assert source.pread(offset, length) == content[offset : offset + length]
                assert len(source._blocks) <= remotefile.HELD
            while digest.position < size:
                source.pread(digest.position, data.draw(st.integers(1, 900)))
        assert digest.hexdigest() == hashlib.sha256(content).hexdigest()
    finally:
        remotefile.BLOCK = before


@given(
    sizes=st.lists(st.integers(0, remotefile.SMALL + 1), max_size=40),
    skipped=st.sets(st.integers(0, 39)),
)
def test_small_files_come_in_order_and_skipped_ones_are_let_go(
    sizes: list[int], skipped: set[int]
) -> None:
    """Each expected file that is asked for is given once with its content; nothing is held in the end."""
    fs = MemoryFileSystem()
    files = [(f"/small/{number:03d}", size) for number, size in enumerate(sizes)]
    for key, size in files:
        fs.pipe_file(key, key.encode().ljust(size, b".")[:size])
    small = SmallFiles(Storage(fs))
    small.expect_files(files)
    for number, (key, size) in enumerate(files):
        if number not in skipped:
            expected = (
                key.encode().ljust(size, b".")[:size] if 0 < size <= remotefile.SMALL else None
            )
            assert small.take_content(key) == expected
    small.expect_files([])
    assert small._bytes == 0
    assert not small._coming


WORD = st.text("abcdefXYZ0123456789", min_size=4, max_size=12)


@given(
    user=WORD,
    password=WORD,
    token=WORD,
    scheme=st.sampled_from(["http", "https", "ftp", "sftp", "s3"]),
)
def test_no_secret_of_an_url_is_shown(user: str, password: str, token: str, scheme: str) -> None:
    """User, password and the query of a signed URL appear in no text that is shown, nor in an error of a storage."""
    secrets = {f"Q{user}", f"Q{password}", f"Q{token}"}
    url = f"{scheme}://Q{user}:Q{password}@host.example/case.tgz"
    if scheme.startswith("http"):
        url += f"?X-Amz-Signature=Q{token}"
    for text in (hide_login(url), str(plain_error(ValueError(f"404 for {url} there")).strerror)):
        assert not [secret for secret in secrets if secret in text]
        assert "host.example/case.tgz" in text


@pytest.mark.parametrize(
    ("url", "status", "words"),
    [
        ("nosuch://host/case.tgz", 2, "unknown kind of URL"),
        ("s3://KEYID:hunter22@bucket/case.tgz", 2, "credentials in an s3:// URL are not accepted"),
        ("simplecache::s3://bucket/case.tgz", 2, "chained URLs are not supported"),
        ("zip://case.txt::s3://bucket/case.zip", 2, "chained URLs are not supported"),
        ("memory://nowhere/case.tgz", 3, "no such file or folder"),
        ("file:///no/such/case.tgz", 3, "no such file or folder"),
    ],
)
def test_a_url_that_cannot_be_used_is_one_plain_sentence(url: str, status: int, words: str) -> None:
    """The command tells what is wrong with a URL, shows no secret, and writes nothing."""
    run = CliRunner().invoke(main, ["triage", url, "--json", "-"])
    assert run.exit_code == status
    assert words in run.stderr
    assert "hunter22" not in run.output
    assert run.stdout == ""


def test_a_file_url_is_a_path() -> None:
    """`file://` needs no package and follows the rules of the disk."""
    assert place("file:///tmp/a%20b.tgz") == Path("/tmp/a b.tgz")
    assert place("plain/path") == Path("plain/path")
    assert isinstance(place("memory://x"), RemotePath)


def test_without_the_extra_a_url_is_refused_and_files_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is missing is named with the command that installs it."""
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(BacklineError, match=r"pip install 'backline\[cluster\]'"):
        place("s3://bucket/case.tgz")
    assert triage([CASES / "lab-ring-before"]).document.findings


@pytest.mark.process
def test_a_local_run_loads_no_storage_and_a_remote_one_writes_no_file() -> None:
    """Reading files needs neither fsspec nor threads of it; reading a URL opens nothing for writing."""
    code = """
import sys
from pathlib import Path
from analyzer.pipeline.triage import triage
from analyzer.sources.remote import place
bundle = next(Path(sys.argv[1]).glob("*.tgz"))
triage([bundle])
assert not {"fsspec", "concurrent.futures.thread"} & set(sys.modules)
import fsspec
fsspec.filesystem("memory").pipe_file("/case.tgz", bundle.read_bytes())
written = []
def watch(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        written.append(args)
sys.addaudithook(watch)
triage([place("memory://case.tgz")])
assert not written, written
"""
    run = subprocess.run(
        [sys.executable, "-B", "-c", code, str(CASES / "cpu-limited-vm")],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr


def test_a_gzip_that_must_be_read_twice_is(
    moody: Moody, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut gzip, which is inflated again from its start, gives the same text as on a disk, blocks or not."""
    monkeypatch.setattr(remotefile, "BLOCK", 4 << 10)
    dice = random.Random(2)
    text = "".join(
        f"2017-10-14T16:41:02.120Z cpu3:65822)made up {dice.random()}\n" for _ in range(4000)
    ).encode()
    file = tmp_path / "vmkernel.1.gz"
    file.write_bytes(gzip.compress(text)[:-2000])
    moody.pipe_file("/bucket/vmkernel.1.gz", file.read_bytes())
    there = document(place("moody://bucket/vmkernel.1.gz"))
    assert there == document(file)
    assert "the file is cut" in there
