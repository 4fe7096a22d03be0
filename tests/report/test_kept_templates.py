"""Compiled templates are kept for the next start: by their source, and only in a file that nobody else can write."""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest
from jinja2 import Environment

from analyzer.report import html, page, styles
from analyzer.runtime import cache_folder, snapshot

TEMPLATES = sorted(one.name for one in Path(html.__file__).parent.glob("*.html"))
SMALL = "macros.html"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own."""
    cache = tmp_path / "cache"
    monkeypatch.setenv(cache_folder.VARIABLE, str(cache))
    return cache


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the templates that are compiled from now on."""
    names: list[str] = []
    compile_ = Environment.compile

    def count_compile(self: Environment, source: str, name: str, *rest: object) -> object:
        names.append(name)
        return compile_(self, source, name, *rest)  # type: ignore[call-overload]

    monkeypatch.setattr(Environment, "compile", count_compile)
    return names


def start_anew(names: list[str]) -> None:
    """Ask for templates as a process that has just started does."""
    environment = html.load_templates.__wrapped__()
    for name in names:
        environment.get_template(name)


def kept_in(folder: Path) -> Path:
    """Return the one file of templates."""
    (file,) = folder.glob(f"{cache_folder.TEMPLATES}*")
    return file


@pytest.mark.size
def test_a_second_start_compiles_no_template(compiled: list[str]) -> None:
    """Every template of the report is compiled by the first start, and by no other."""
    of_report = [name for name in TEMPLATES if name not in ("fleet.html", "comparison.html")]
    start_anew(of_report)
    assert sorted(compiled) == of_report
    compiled.clear()

    start_anew(of_report)

    assert compiled == []


def break_seal(file: Path) -> None:
    """Change the last byte."""
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")


def cut_file(file: Path) -> None:
    """Leave the first half."""
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def seal_no_code(file: Path) -> None:
    """Put in what is sealed well, and is no code."""
    codes = _read_codes(file)
    snapshot.write_kept(file, _read_maker(file), {key: (sha, b"\xff") for key, (sha, _) in codes.items()})  # fmt: skip


def seal_a_value(file: Path) -> None:
    """Put in a value that marshal reads, and is no code."""
    codes = _read_codes(file)
    data = marshal.dumps("no code")
    snapshot.write_kept(file, _read_maker(file), {key: (sha, data) for key, (sha, _) in codes.items()})  # fmt: skip


def let_others_write(file: Path) -> None:
    """Let the group write."""
    file.chmod(0o660)


def link_file(file: Path) -> None:
    """Put a link in its place."""
    elsewhere = file.with_name("elsewhere")
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def _read_maker(file: Path) -> str:
    return snapshot.msgspec.msgpack.decode(file.read_bytes().partition(b"\n")[2])[0]  # type: ignore[no-any-return]


def _read_codes(file: Path) -> dict[str, tuple[str, bytes]]:
    return snapshot.msgspec.msgpack.decode(file.read_bytes().partition(b"\n")[2])[1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "spoil", [break_seal, cut_file, seal_no_code, seal_a_value, let_others_write, link_file]
)
def test_a_file_that_cannot_be_trusted_is_a_miss(
    folder: Path, compiled: list[str], spoil: Callable[[Path], None]
) -> None:
    """What is damaged, no code, or may be another user's is compiled again, and no word said."""
    if sys.platform == "win32" and spoil in (let_others_write, link_file):
        pytest.skip("permissions of POSIX")
    start_anew([SMALL])
    compiled.clear()
    spoil(kept_in(folder))

    start_anew([SMALL])

    assert compiled == [SMALL]


@pytest.mark.skipif(sys.platform == "win32", reason="owners of POSIX")
def test_a_file_of_another_user_is_a_miss(
    folder: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code of another owner is not run, and his folder not written to."""
    start_anew([SMALL])
    before = kept_in(folder).read_bytes()
    compiled.clear()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)

    start_anew([SMALL])

    assert compiled == [SMALL]
    assert kept_in(folder).read_bytes() == before


@pytest.mark.parametrize("wanted", ["off", "a/relative/one", "file/cache"])
def test_without_a_folder_nothing_is_kept(
    tmp_path: Path, compiled: list[str], monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    """Switched off, or where the folder cannot be made: every start compiles, and nothing is written, here neither."""
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    place = str(tmp_path / wanted) if wanted == "file/cache" else wanted
    monkeypatch.setenv(cache_folder.VARIABLE, place)

    for _ in range(2):
        start_anew([SMALL])

    assert compiled == [SMALL, SMALL]
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("other", ["source", "jinja", "code"])
def test_templates_count_for_what_they_were_made_of(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    """Another source, another Jinja and other code of ours are compiled anew."""
    start_anew([SMALL])
    compiled.clear()
    if other == "source":
        monkeypatch.setattr(page, "read_asset", lambda name: styles.read_asset(name) + "{# #}")
    elif other == "jinja":
        monkeypatch.setattr(jinja2, "__version__", "3.0.0")
    else:
        monkeypatch.setattr(snapshot, "hash_code", lambda times: f"other code {times}")

    start_anew([SMALL])

    assert compiled == [SMALL]


def test_each_page_has_its_own_templates(compiled: list[str]) -> None:
    """One source gives other code with other filters, so no page gets what was compiled for another."""
    for name in ("report", "fleet", "report"):
        page.make_environment(name).get_template("log_link.html")

    assert compiled == ["log_link.html", "log_link.html"]
