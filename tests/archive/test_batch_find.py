"""Which cases are found in a tree."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.archive.batches.find import LAYOUTS, FindSummary, cases_in
from analyzer.commands import batch as command
from analyzer.ingest.file_hashes import FileHashes
from analyzer.runtime.errors import BacklineError
from analyzer.sources.case_names import name_case_by_files
from tests.kit.batch_kit import write


def found(
    *paths: Path,
    layout: str = "auto",
    count: FindSummary | None = None,
    skip: tuple[Path, ...] = (),
) -> list[str]:
    """Return the sources of the cases below some paths, relative to the first."""
    top = paths[0] if paths[0].is_dir() else paths[0].parent
    cases = cases_in(
        [str(path) for path in paths], layout=layout, count=count, skip=[str(path) for path in skip]
    )
    return [os.path.relpath(case.source, top) for case in cases]


def tree(top: Path, *names: str) -> Path:
    """Write small files by their names; a name that ends in a slash is an empty folder."""
    for name in names:
        if name.endswith("/"):
            (top / name).mkdir(parents=True)
        else:
            write(top / name, f"synthetic {name}")
    return top


def test_a_folder_and_a_file_of_a_path_are_a_case_each(tmp_path: Path) -> None:
    """Archives and loose files that lie in a PATH are cases, and each sub-folder with all below it is one."""
    tree(
        tmp_path,
        "1/a.tgz",
        "1/b.tgz",
        "1/notes/session.txt",
        "2.tgz",
        "3.zip",
        "4.txt",
        "esxtop.csv.gz",
    )
    assert found(tmp_path) == ["1", "2.tgz", "3.zip", "4.txt", "esxtop.csv.gz"]


def test_a_file_that_is_named_is_a_case(tmp_path: Path) -> None:
    """A PATH that is a file is a case, whatever its name; twice named, it is found once."""
    tree(tmp_path, "case.bin")
    assert found(tmp_path / "case.bin", tmp_path / "case.bin") == ["case.bin"]


def test_years_and_months_are_walked_through(tmp_path: Path) -> None:
    """Folders named by dates are no cases, but what lies in them is; so are folders that hold only folders."""
    tree(
        tmp_path,
        "2024/05/17/a.tgz",
        "2024/05/case/vsish.txt",
        "2023-11/b.tgz",
        "emea/team/c/d.tgz",
        "2024/May/e.tgz",
    )
    assert found(tmp_path) == [
        "2023-11/b.tgz",
        "2024/05/17/a.tgz",
        "2024/05/case",
        "2024/May/e.tgz",
        "emea/team/c",
    ]


def test_a_number_is_a_month_only_below_a_year(tmp_path: Path) -> None:
    """Cases that are simply numbered are cases."""
    assert found(tree(tmp_path, "1/a.tgz", "1/x.txt", "05/b.tgz", "mar/c.txt")) == [
        "05",
        "1",
        "mar",
    ]


def test_archives_beside_folders_of_cases_are_cases(tmp_path: Path) -> None:
    """A folder with archives, and with a folder that holds an archive or a bundle, is walked through."""
    tree(
        tmp_path,
        "north/a.tgz",
        "north/b/c.tgz",
        "south/a.tgz",
        "south/pictures/x.txt",
        "west/a.tgz",
        "west/esx/var/log/x",
    )
    assert found(tmp_path) == ["north/a.tgz", "north/b", "south", "west/a.tgz", "west/esx"]


def test_more_than_ten_archives_are_cases_of_their_own(tmp_path: Path) -> None:
    """Up to ten archives in one folder belong to one case, more are one case each."""
    tree(tmp_path, *(f"ten/{n}.tgz" for n in range(10)), *(f"many/{n}.tgz" for n in range(11)))
    assert len([name for name in found(tmp_path) if name.startswith("many/")]) == 11
    assert "ten" in found(tmp_path)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_unpacked_bundle_is_one_case(tmp_path: Path, layout: str) -> None:
    """A folder that holds `commands`, `etc`, `var`, … is one case in every layout, also as the PATH itself."""
    tree(
        tmp_path,
        "esx-host/commands/nicinfo.sh.txt",
        "esx-host/var/log/vmkernel.log",
        "esx-host/README",
    )
    assert found(tmp_path, layout=layout) == ["esx-host"]
    assert found(tmp_path / "esx-host", layout=layout) == ["."]


def test_everyday_names_do_not_make_a_bundle(tmp_path: Path) -> None:
    """One folder named `tmp` or `config` beside cases does not turn a shelf into a bundle."""
    assert found(tree(tmp_path, "a/b.tgz", "tmp/c.tgz")) == ["a", "tmp"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pieces_of_one_file_are_one_case(tmp_path: Path, layout: str) -> None:
    """X.FRAG-00000 and X.FRAG-00001 on a shelf are one case, named X, with both files."""
    tree(tmp_path, "x.txt.FRAG-00001", "x.txt.FRAG-00000", "y.txt")
    cases = list(cases_in([str(tmp_path)], layout="files" if layout == "folders" else layout))
    assert [(case.name, len(case.paths)) for case in cases] == [("x.txt", 2), ("y.txt", 1)]
    assert cases[0].source == str(tmp_path / "x.txt")


def test_layout_folders(tmp_path: Path) -> None:
    """With --layout folders the first folder that holds a file is a case, and loose files beside folders are none."""
    tree(
        tmp_path, "2024/a/b.tgz", "2024/a/sub/c.tgz", "north/x.tgz", "north/deep/y.tgz", "stray.txt"
    )
    count = FindSummary()
    assert found(tmp_path, layout="folders", count=count) == ["2024/a", "north"]
    assert [Path(path).name for path in count.left_out] == ["stray.txt"]
    assert found(tree(tmp_path / "one", "a.tgz", "b.txt"), layout="folders") == ["."]


def test_layout_files(tmp_path: Path) -> None:
    """With --layout files every file is a case wherever it lies."""
    tree(tmp_path, "a/b.tgz", "a/c/d.txt", "e.zip")
    assert found(tmp_path, layout="files") == ["a/b.tgz", "a/c/d.txt", "e.zip"]


def test_what_is_no_case_is_counted(tmp_path: Path) -> None:
    """Empty folders and files that hold no support material by their names are told, hidden files and links are not."""
    tree(
        tmp_path,
        "empty/",
        "deep/empty/",
        "only/picture.png",
        "read.md",
        ".hidden.tgz",
        ".git/x.tgz",
        "real/a.tgz",
    )
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "link.tgz").symlink_to(tmp_path / "real" / "a.tgz")
    count = FindSummary()
    assert found(tmp_path, count=count) == ["real"]
    assert sorted(Path(path).name for path in count.empty) == ["empty", "empty"]
    assert sorted(Path(path).name for path in count.left_out) == ["picture.png", "read.md"]


def test_archives_and_earlier_results_are_left_alone(tmp_path: Path) -> None:
    """The archive of this run, any other archive and the files of an earlier triage are no material."""
    tree(
        tmp_path,
        "mine/packs/x.zip",
        "other/packs/y.zip",
        "other/backline-archive.json",
        "case/a.tgz",
    )
    write(tmp_path / "out" / "case.json", '{"schema": "backline/case-1"}')
    tree(tmp_path, "out/report.html", "out/report.md")
    count = FindSummary()
    assert found(tmp_path, count=count, skip=(tmp_path / "mine",)) == ["case"]
    assert [Path(path).name for path in count.archives] == ["other"]


def test_a_path_that_looks_like_one_case_is_told(tmp_path: Path) -> None:
    """Bundles beside loose files in a PATH are cases each, with a hint that they may belong together."""
    count = FindSummary()
    assert found(tree(tmp_path, "a.tgz", "vsish.txt"), count=count) == ["a.tgz", "vsish.txt"]
    assert count.mixed == [str(tmp_path)]


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    """A PATH that is not there is a plain error that names it."""
    with pytest.raises(BacklineError, match="no such file"):
        found(tmp_path, tmp_path / "nothing")
    with pytest.raises(BacklineError, match="no such file"):
        list(cases_in([""]))


def test_a_chained_url_is_told() -> None:
    """A URL that goes through another storage is refused by its name, as `triage` does, and not sought on the disk."""
    with pytest.raises(BacklineError, match="chained URLs are not supported"):
        list(cases_in(["simplecache::s3://bucket/cases"]))


def test_an_unreadable_folder_is_told(tmp_path: Path) -> None:
    """A folder that cannot be read does not stop the search."""
    tree(tmp_path, "a/x.tgz", "b/y.tgz")
    (tmp_path / "a").chmod(0)
    try:
        if os.access(tmp_path / "a", os.R_OK):
            pytest.skip("this user reads every folder")
        count = FindSummary()
        assert found(tmp_path, count=count) == ["b"]
        assert [Path(path).name for path, _ in count.unreadable] == ["a"]
    finally:
        (tmp_path / "a").chmod(0o755)


def test_the_files_of_a_case_are_those_that_triage_hashes(tmp_path: Path) -> None:
    """Name, files and sizes are those by which `triage` knows the case; so a stored case is known again."""
    tree(
        tmp_path, "case/a.tgz", "case/deep/b.txt", "case/.hidden", "case/empty/", "case/report.html"
    )
    (tmp_path / "case" / "link").symlink_to("a.tgz")
    (one,) = cases_in([str(tmp_path)])
    hashed = FileHashes([Path(path) for path in one.paths], every=True).collect_all()
    assert sorted((name, size, mtime) for name, size, mtime in one.files) == sorted(
        (file.name, file.size, file.mtime_ns) for file in hashed
    )
    assert one.name == name_case_by_files([Path(path) for path in one.paths])


def test_the_command_offers_the_layouts_there_are() -> None:
    """The choice of the command line is the list of the finder."""
    assert command.LAYOUTS == LAYOUTS


_NAMES = st.sampled_from(
    ["a", "b", "2024", "05", "var", "tmp", "x.tgz", "y.zip", "z.txt", "p.png", "q.FRAG-00000", ".h"]
)


@given(st.lists(st.lists(_NAMES, min_size=1, max_size=4), max_size=12), st.sampled_from(LAYOUTS))
def test_no_file_is_in_two_cases(
    tmp_path_factory: pytest.TempPathFactory, paths: list[list[str]], layout: str
) -> None:
    """Whatever lies in a tree, a file belongs to one case at most, and every case holds a file."""
    top = tmp_path_factory.mktemp("tree")
    for parts in paths:
        path = top.joinpath(*parts)
        if not any(above.is_file() for above in path.parents) and not path.exists():
            write(path, "synthetic")
    seen: set[str] = set()
    for case in cases_in([str(top)], layout=layout):
        above = case.source[: len(case.source) - len(case.name)]
        files = {above + name for name, _, _ in case.files}
        assert files and not files & seen
        assert all(Path(file).is_file() for file in files)
        seen |= files
