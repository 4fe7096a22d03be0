"""What a batch takes for done, and the fingerprints on which that rests."""

from __future__ import annotations

import io
import time
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress as Bars

from analyzer.archive import prints
from analyzer.archive.batches.find import FoundCase
from analyzer.archive.batches.jobs import (
    FAILED,
    HASH,
    HASHED,
    JUDGE,
    OK,
    PARTIAL,
    READ,
    Done,
    Job,
    Result,
    Work,
)
from analyzer.archive.batches.plan import (
    DONE,
    NO_RESULT,
    Decision,
    StoredCases,
    Wishes,
    decide_case,
    known_id,
    plan_jobs,
    rescan_lacking,
)
from analyzer.archive.batches.progress import LineProgress, Progress, format_duration, format_size
from analyzer.archive.batches.run_config import RunConfig
from analyzer.archive.batches.summary import Summary, summary_lines
from analyzer.archive.entries import Snapshot
from analyzer.archive.entry import Entry, Stored
from analyzer.archive.hashcache import HashCache
from analyzer.artefacts import parsing
from analyzer.rules.settings import Settings
from analyzer.runtime.limits import Limits

R, J, OTHER = "a" * 12, "b" * 12, "c" * 12
A, B = "1" * 32, "2" * 32
DESK = RunConfig("", reading=R, judging=J)
PLACE = FoundCase("case", "/cases/case", ("/cases/case",), (("case/a.tgz", 5, 7),))
KEY = prints.source_key(PLACE.source)


def known(*entries: tuple[str, str, str, str]) -> StoredCases:
    """Return entries (id, reading, judging, kind) of one place, oldest first."""
    made = [Entry(case, KEY, reading, judging, stamp, kind, f"p{stamp}") for stamp, (case, reading, judging, kind) in
            enumerate(entries)]  # fmt: skip
    return StoredCases.from_snapshot(Snapshot(None, made, [], []))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entries", "case", "act"),
    [
        ((), "", READ),
        ((), A, READ),
        (((A, R, J, "full"),), "", HASH),
        (((A, R, J, "full"),), A, DONE),
        (((A, R, OTHER, "full"),), A, JUDGE),
        (((A, OTHER, J, "full"),), A, READ),
        (((A, R, OTHER, "full"), (A, R, J, "case")), A, DONE),
        (((A, R, J, "full"), (A, R, OTHER, "case")), A, JUDGE),
        (((A, R, J, "full"),), B, READ),
        (((A, R, J, "full"), (B, R, J, "full")), A, JUDGE),
        (((A, R, J, "full"), (B, R, J, "full")), B, DONE),
        (((A, R, "0" * 12, "none"),), A, NO_RESULT),
        (((A, OTHER, "0" * 12, "none"),), A, READ),
        (((A, R, J, "full"), (A, OTHER, J, "full")), A, JUDGE),
        (((A, R, J, "case"),), A, DONE),
        (((A, R, OTHER, "case"),), A, READ),
    ],
)
def test_what_is_to_do(entries: tuple[tuple[str, str, str, str], ...], case: str, act: str) -> None:
    """New and changed cases are read, others judged again or done; a place stored with unknown content is hashed."""
    assert decide_case(PLACE, case, known(*entries), DESK, Wishes()).act == act


def test_retry_reads_what_was_refused() -> None:
    """--retry reads a refused case again."""
    assert (
        decide_case(PLACE, A, known((A, R, "0" * 12, "none")), DESK, Wishes(retry=True)).act == READ
    )


def test_facts_of_another_place_will_do() -> None:
    """The same content at another place is judged from the facts that are there, and stored for its own place."""
    elsewhere = replace(PLACE, source="/other/case")
    decision = decide_case(elsewhere, A, known((A, R, J, "full")), DESK, Wishes())
    assert (decision.act, decision.stored and decision.stored.id) == (JUDGE, A)


def test_judging_again_rests_on_facts_of_this_reading() -> None:
    """Of facts that were read in several ways those of this reading are taken."""
    decision = decide_case(
        PLACE, A, known((A, R, OTHER, "full"), (A, OTHER, J, "full")), DESK, Wishes()
    )
    assert decision.stored is not None and decision.stored.facts is not None
    assert (decision.stored.facts.reading, decision.stored.judged.reading) == (R, R)


def test_rescan_takes_done_and_judged_cases_only() -> None:
    """A case whose facts lack a signature is read again, whether it was done or to be judged; others stay."""
    entry = Entry(A, KEY, R, J, 1, "full")
    with_facts = [Decision(act, PLACE, A, Stored(A, entry, entry)) for act in (DONE, JUDGE)]
    others = [Decision(NO_RESULT, PLACE, A), Decision(READ, PLACE)]
    assert [one.act for one in rescan_lacking([*with_facts, *others], lambda _: {A})] == [
        READ,
        READ,
        NO_RESULT,
        READ,
    ]
    assert rescan_lacking([*with_facts, *others], lambda _: set()) == [*with_facts, *others]


def test_largest_first_and_cheap_work_before() -> None:
    """Jobs are ordered: hashes, then cases to judge again in chunks, then cases to read from the largest down."""

    def case(name: str, size: int) -> FoundCase:
        return FoundCase(name, f"/{name}", (f"/{name}",), ((name, size, 0),))

    entry = Entry(A, KEY, R, J, 1, "full")
    decisions = [
        Decision(READ, case("small", 1)), Decision(READ, case("large", 9)), Decision(HASH, case("h", 3)),
        *(Decision(JUDGE, case(f"j{n}", 4), A, Stored(A, entry, entry)) for n in range(5)), Decision(DONE, case("d", 1)),
    ]  # fmt: skip
    found = plan_jobs(decisions, first=10, chunk=2)
    assert [(job.number, job.act, len(job.works)) for job in found] == [
        (10, HASH, 1), (11, JUDGE, 2), (12, JUDGE, 2), (13, JUDGE, 1), (14, READ, 1), (15, READ, 1),
    ]  # fmt: skip
    assert [job.works[0].name for job in found if job.act == READ] == ["large", "small"]


def test_a_case_is_known_by_hashes_of_unchanged_files_only() -> None:
    """The id of a case follows from the cache while size and time of all files are as they were."""
    cache = HashCache("here")
    later = 7 + 10**10
    cache.note_hash("/cases/case/a.tgz", 5, 7, "f" * 64, later)
    assert known_id(PLACE, cache) == prints.case_id("case", [("case/a.tgz", 5, "f" * 64)])
    for files in (
        (("case/a.tgz", 6, 7),),
        (("case/a.tgz", 5, 8),),
        (*PLACE.files, ("case/b.tgz", 1, 1)),
    ):
        assert known_id(replace(PLACE, files=files), cache) == ""


_FILES = st.lists(
    st.tuples(st.text(max_size=8), st.integers(0, 99), st.sampled_from(["", "ab", "cd"])),
    max_size=5,
)


@given(st.text(max_size=8), _FILES, st.randoms())
def test_the_id_of_a_case_does_not_depend_on_order(
    name: str, files: list[tuple[str, int, str]], dice: object
) -> None:
    """The same name and files in any order give one id, of 32 hex digits."""
    other = list(files)
    dice.shuffle(other)  # type: ignore[attr-defined]
    assert prints.case_id(name, files) == prints.case_id(name, other)
    assert len(bytes.fromhex(prints.case_id(name, files))) == 16


@given(st.text(max_size=6), _FILES, st.text(max_size=6), _FILES)
def test_other_content_is_another_case(
    name: str, files: list[tuple[str, int, str]], name2: str, files2: object
) -> None:
    """Another name, file, size or hash gives another id; nothing can be written so that two cases look like one."""
    assert isinstance(files2, list)
    same = (name, sorted(files)) == (name2, sorted(files2))
    assert (prints.case_id(name, files) == prints.case_id(name2, files2)) == same


def test_every_limit_has_been_thought_of() -> None:
    """A limit changes what is read, or what is said, or neither: a new one must be put into one of the lists."""
    neither = {"report_bytes", "rule_seconds", "bundle_wall_s", "log_bytes"}
    named = [*prints.READING_LIMITS, *prints.JUDGING_LIMITS, *neither]
    assert sorted(named) == sorted(field.name for field in fields(Limits))


@pytest.mark.parametrize("name", [*prints.READING_LIMITS, *prints.JUDGING_LIMITS])
def test_each_limit_changes_its_print(name: str) -> None:
    """A limit of reading changes both fingerprints, one of judging the second only."""

    def both(limits: Limits) -> tuple[str, str]:
        reading = prints.reading_print(limits)
        return reading, prints.judging_print(reading, "cat", Settings(), limits, drafts=False)

    before, after = both(Limits()), both(replace(Limits(), **{name: 17}))
    assert (before[0] != after[0]) == (name in prints.READING_LIMITS)
    assert before[1] != after[1]


def test_rules_settings_and_drafts_change_the_judging() -> None:
    """Other rules, another settings file, drafts: each judges otherwise."""

    def one(catalog: str = "cat", settings: Settings | None = None, *, drafts: bool = False) -> str:
        return prints.judging_print(R, catalog, settings or Settings(), Limits(), drafts=drafts)

    different = [one(), one("dog"), one(settings=Settings("a.toml", "h1")), one(settings=Settings("a.toml", "h2")),
                 one(settings=Settings("b.toml", "h1")), one(drafts=True)]  # fmt: skip
    assert len(set(different)) == len(different)
    assert one(settings=Settings("x/a.toml", "h1")) == one(settings=Settings("y/a.toml", "h1"))


def test_the_reading_follows_parsers_templates_and_the_fixed_date(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A changed parser or template, or SOURCE_DATE_EPOCH, means another reading."""
    seen = [prints.reading_print(Limits())]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    seen.append(prints.reading_print(Limits()))
    monkeypatch.undo()
    assert prints.reading_print(Limits()) == seen[0]
    read = Path.read_bytes
    for name in ("vmkernel.py", "vmkernel.textfsm", "tables.py"):
        prints._hash_artefacts.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(
                Path,
                "read_bytes",
                lambda self, name=name: read(self) + (b"#" if self.name == name else b""),
            )
            seen.append(prints.reading_print(Limits()))
    prints._hash_artefacts.cache_clear()
    assert len(set(seen)) == len(seen)
    assert all(
        (Path(prints.__file__).parents[2] / "parsers/esxi/logs" / f"{name}.py").exists()
        for name in ("vmkernel", "vobd")
    )
    assert parsing.registry()


def test_progress_counts_and_foretells() -> None:
    """The line tells cases, rates, what went wrong and how long it may take; hashing is not done work."""
    now = [0.0]
    progress = Progress(lambda: now[0])
    progress.begin_run(4, 400 << 20)
    works = [Work(f"case {n}", "", size=100 << 20) for n in range(4)]
    for number, work in enumerate(works):
        progress.note_started(Job(number, READ, (work,)))
    assert progress.running_names() == "case 0, case 1, case 2…"
    now[0] = 10.0
    progress.note_finished(Done(0, HASH, (Result("", "", HASHED),)))
    assert progress.progress_line().startswith("0 of 4 cases")
    progress.note_started(Job(0, READ, (works[0],)))
    for number, state in enumerate((OK, PARTIAL)):
        progress.note_finished(Done(number, READ, (Result("", "", state),)))
    assert (
        progress.progress_line()
        == "2 of 4 cases, 0.2 cases/s, 21.0 MB/s, about 10 s left, 1 partial"
    )
    progress.note_finished(Done(2, READ, (Result("", "", FAILED),)))
    progress.note_finished(Done(3, READ, (Result("", "", OK),)))
    assert progress.remaining_seconds() == 0
    assert progress.running_names() == ""


def test_without_a_terminal_lines_are_written_where_rich_writes_none() -> None:
    """A log of a batch run gets a line now and then; rich's own progress is silent there until its end."""
    told: list[str] = []
    silent = io.StringIO()
    with (
        LineProgress(told.append, every=0.01) as progress,
        Bars(console=Console(file=silent)) as bars,
    ):
        progress.begin_run(4, 100)
        bars.advance(bars.add_task("cases", total=4))
        while not told:
            time.sleep(0.01)
        assert silent.getvalue() == ""
    assert told[0].startswith("0 of 4 cases, 0.0 cases/s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.4, "0 s"),
        (99, "99 s"),
        (106, "1 min 46 s"),
        (120, "2 min 00 s"),
        (599.6, "10 min"),
        (720, "12 min"),
        (3599, "1 h 00 min"),
        (11100, "3 h 05 min"),
    ],
)
def test_times_are_spelt_for_people(seconds: float, text: str) -> None:
    """A time is told in two units at most."""
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0.0 kB"), (48_120, "48.1 kB"), (999_900, "999.9 kB"), (12_300_000, "12.3 MB")],
)
def test_amounts_are_told_in_the_unit_that_shows_them(size: float, text: str) -> None:
    """A small case is not read with 0.0 MB a second."""
    assert format_size(size) == text


def test_a_summary_of_small_cases_tells_kilobytes() -> None:
    """Rate and size of what was stored are in a unit in which they are not nothing."""
    told = summary_lines(Summary(found=2, read=2, bytes=500_000, stored=64_000, seconds=106))
    assert "  1 min 46 s, 0.0 cases/s, 4.7 kB/s; 64.0 kB stored, 32.0 kB a case" in told
