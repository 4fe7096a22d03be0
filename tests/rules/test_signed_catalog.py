"""A signed catalog file: what is taken, what is refused, and that the catalog before stays."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from analyzer.rules import default_paths
from analyzer.rules import signed_catalog as signed
from analyzer.runtime.catalog_home import find_catalog
from analyzer.runtime.errors import RefusedError, UsageError
from tools.sign_catalog import make_key, sign_catalog


def made(folder: Path, name: str = "2026-12-01", needs: str = "0.1") -> tuple[Path, str]:
    """Return a signed file of a small catalog, and the public key."""
    kb = folder / "kb"
    (kb / "host").mkdir(parents=True, exist_ok=True)
    (kb / "host" / "nn-one.yaml").write_text(f"rule: nn-one\n# {name}\n")
    public = folder / "public"
    if not public.exists():
        public.write_text(make_key(folder / "secret"))
    target = folder / f"{name}.zip"
    sign_catalog(kb, target, (folder / "secret").read_text().strip(), name, needs)
    return target, public.read_text()


def changed(path: Path, edit: dict[str, bytes | None]) -> Path:
    """Return the file with entries put in, changed or left out."""
    with zipfile.ZipFile(path) as archive:
        held: dict[str, bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in (held | edit).items():
            if content is not None:
                archive.writestr(name, content)
    return target


def test_an_update_is_taken_and_can_be_taken_back(tmp_path: Path) -> None:
    """The first update pins the key; the next keeps the catalog before, and --back changes both."""
    first, key = made(tmp_path)
    home = tmp_path / "home"
    with pytest.raises(UsageError, match="no key"):
        signed.install_catalog(first, home)
    assert signed.install_catalog(first, home, key).name == "2026-12-01"
    second, _ = made(tmp_path, "2027-01-01")
    signed.install_catalog(second, home)
    rule = home / "current" / "kb" / "host" / "nn-one.yaml"
    assert "2027-01-01" in rule.read_text()
    assert signed.restore_previous(home) == "2026-12-01" and "2026-12-01" in rule.read_text()
    assert {one.name for one in home.iterdir()} == {"current", "previous", "key"}


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ({"manifest.sig": None}, "not signed"),
        ({"manifest.json": b"{}"}, "signature"),
        ({"manifest.sig": b"0" * 64}, "signature"),
        ({"kb/host/nn-one.yaml": b"rule: nn-other\n"}, "not what was signed"),
        ({"kb/host/nn-two.yaml": b"rule: nn-two\n"}, "not those of its manifest"),
        ({"../evil.yaml": b"x"}, "not those of its manifest"),
        ({"kb/host/nn-one.yaml": b"0" * (signed.FILE_MOST + 1)}, "larger"),
    ],
    ids=str,
)
def test_a_file_that_was_changed_is_refused(
    tmp_path: Path, edit: dict[str, bytes | None], why: str
) -> None:
    """Nothing of it is written, and the catalog that is there stays."""
    good, key = made(tmp_path)
    home = tmp_path / "home"
    signed.install_catalog(good, home, key)
    with pytest.raises(RefusedError) as error:
        signed.install_catalog(changed(good, edit), home)
    assert why in error.value.why
    assert "2026-12-01" in (home / "current" / "kb" / "host" / "nn-one.yaml").read_text()
    assert not (home / "previous").exists()


def test_who_signs_and_for_which_engine_counts(tmp_path: Path) -> None:
    """A file for a newer engine, one by another key, a signed path that leads elsewhere, and no zip are refused."""
    good, key = made(tmp_path)
    newer, _ = made(tmp_path, "newer", "999.0")
    (tmp_path / "other").mkdir()
    other, other_key = made(tmp_path / "other")
    home = tmp_path / "home"
    signed.install_catalog(good, home, key)
    for path, with_key, why in (
        (newer, "", "999.0"),
        (other, "", "signature"),
        (other, other_key, "pins"),
    ):
        with pytest.raises(RefusedError) as error:
            signed.install_catalog(path, home, with_key)
        assert why in error.value.why
    (tmp_path / "none.zip").write_bytes(b"no zip")
    with pytest.raises(RefusedError):
        signed.install_catalog(tmp_path / "none.zip", home)
    (tmp_path / "kb" / "..evil.yaml").write_text("x")
    tricky, _ = made(tmp_path, "tricky")
    with pytest.raises(RefusedError, match="refused"):
        signed.install_catalog(tricky, home)
    with zipfile.ZipFile(good) as archive:
        assert json.loads(archive.read("manifest.json"))["catalog"] == "2026-12-01"


def test_a_run_looks_at_the_catalog_that_was_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the folder named, its rules are those of the tool; without one, or before an update, the program's own are."""
    own = find_catalog()
    good, key = made(tmp_path)
    home = tmp_path / "home"
    monkeypatch.setenv("BACKLINE_CATALOG", str(home))
    assert find_catalog() == own
    signed.install_catalog(good, home, key)
    assert default_paths() == [(home / "current" / "kb").resolve()]
    monkeypatch.delenv("BACKLINE_CATALOG")
    assert find_catalog() == own
