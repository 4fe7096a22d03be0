"""Errors and warnings of commands with --redact: they call what was given by what of its name stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli import main

GIVEN = "zwickelbau/esx-quendel-2017-10-14--16.53-71234.tgz"
KEPT = "esx-file01anon-2017-10-14--16.53-71234.tgz"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with material of which nothing can be read, and an archive."""
    place = tmp_path_factory.mktemp("place")
    (place / "zwickelbau").mkdir()
    (place / "zwickelbau/case.json").write_text("{\n")
    (place / GIVEN).write_bytes(bytes(range(256)) * 12)
    batch = ["batch", str(place / "zwickelbau"), "--archive", str(place / "ar"), "--jobs", "1"]
    CliRunner().invoke(main, batch)
    return place


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("triage", GIVEN, "-o", "out"), f"{KEPT}: nothing that Backline can read"),
        (("triage", "zwickelbau/hoyer.tgz"), "file01anon.tgz: no such file"),
        (("show", "zwickelbau", "--redact-map", "m"), "file01anon/case.json:2: this case document"),
        (("log", GIVEN, "--redact-map", "m"), f"{KEPT}: "),
        (("compare", GIVEN, GIVEN, "-o", "out"), f"{KEPT}: nothing that Backline can read"),
        (
            ("archive", "show", "quendel", "--archive", "ar", "--redact-map", "m"),
            'case "file01anon"',
        ),
        (("archive", "export", "quendel", "--archive", "ar", "-o", "out"), 'no case "file01anon"'),
    ],
)
@pytest.mark.parametrize("absolute", [False, True])
def test_no_error_quotes_what_was_given(
    place: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], kept: str, absolute: bool
) -> None:
    """Neither the name of a file nor that of a folder, however the path was written."""
    monkeypatch.chdir(place)
    if absolute:
        words = tuple(str(place / word) if "/" in word else word for word in words)
    result = CliRunner().invoke(main, [*words, "--redact"])
    assert kept in result.stderr, result.stderr
    said = result.output + result.stderr
    assert not [one for one in ("zwickel", "quendel", "hoyer") if one in said], said


def test_an_error_about_the_map_names_its_file(tmp_path: Path) -> None:
    """Only its owner reads that, and is to mend it."""
    map_file = tmp_path / "quendel.json"
    map_file.write_text("{}")
    map_file.chmod(0o600)
    words = ["show", str(tmp_path / "quendel"), "--redact", "--redact-map", str(map_file)]
    (tmp_path / "quendel").write_text("{}")
    assert f"{map_file}: the map of names cannot be used" in CliRunner().invoke(main, words).stderr
