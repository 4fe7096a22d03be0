"""SQL over an archive: what can be asked, and that nothing else can be reached or written."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.archive.query import ask, rows, statement, views
from analyzer.archive.query.statement import BadQueryError
from analyzer.archive.store import Archive
from analyzer.archive.upkeep.compaction import compact_archive
from analyzer.artefacts import parsing
from analyzer.facts import database
from analyzer.runtime.errors import BacklineError
from tests.kit.ask_kit import FORMS, filled, in_form, run


@pytest.fixture(scope="module", params=FORMS)
def archive(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small archive, once as loose packs and once compacted."""
    return in_form(request.param, tmp_path_factory.mktemp(request.param) / "archive")


def asked(archive: Path, sql: str, **more: Any) -> list[tuple[Any, ...]]:
    """Return all rows of a statement."""
    return list(ask.run_sql(Archive.open(archive), sql, **more).rows)


def files(place: Path) -> dict[str, bytes]:
    """Return every file below a folder with its bytes."""
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def test_tables_of_the_archive_and_of_facts_are_asked(archive: Path) -> None:
    """Cases join their findings and facts by case_id; a fact has its node, its address and its line."""
    assert asked(archive, "SELECT name, state FROM cases ORDER BY name")[-1] == (
        "bert-3",
        "refused",
    )
    found = asked(
        archive,
        "SELECT c.name, p.node, p.pnic, s.rx_missed_errors, s.address, s.line FROM esxi.pnic_info p"
        " JOIN esxi.pnic_stats s USING (case_id, node, pnic) JOIN cases c USING (case_id)"
        " WHERE p.driver = 'ixgben' AND p.driver_version_key < version_key('1.7.20') AND s.rx_missed_errors > 0",
    )
    assert found == [("acme-1", "host-a", "vmnic0", 9121, "host-a.tgz!commands/nicinfo.sh.txt", 40)]
    assert asked(archive, "SELECT rule, severity FROM findings") == [("beacon-probing", "warning")]
    assert asked(archive, "SELECT signature, line FROM hits") == [("made-up/lost", 10)]
    assert asked(archive, "SELECT sum(match), count(DISTINCT rule) FROM verdicts") == [(1, 3)]


@pytest.mark.size
def test_every_table_can_be_asked(archive: Path) -> None:
    """Each table has the columns that --tables tells, also where no case has a row of it; thirty are asked at once."""
    known = sorted(views.list_views())
    for start in range(0, len(known), 30):
        some = known[start : start + 30]
        row_of_each = " ".join(
            f"LEFT JOIN (SELECT * FROM {name} LIMIT 1) AS t{n} ON true"
            for n, name in enumerate(some)
        )
        columns = ", ".join(f"t{n}.*" for n in range(len(some)))
        answer = ask.run_sql(
            Archive.open(archive), f"SELECT {columns} FROM (SELECT 1) AS one {row_of_each}"
        )
        assert answer.head == [
            column.name for name in some for column in views.list_views()[name].every_column
        ]
        assert len(list(answer.rows)) == 1


def test_all_declared_tables_of_facts_are_there() -> None:
    """Every table a parser declares is a table, but for logs, whose kept lines are in hits."""
    declared = {name for name, table in parsing.tables().items() if not table.log}
    assert declared == {name for name in views.list_views() if "." in name}


# -- what it must not do

WRITES = [
    "COPY (SELECT 1) TO '{out}/x.csv'",
    "COPY cases TO '{parquet}' (FORMAT parquet, USE_TMP_FILE false)",
    "WITH x AS (COPY (SELECT 1) TO '{out}/x.csv') SELECT 1",
    "WITH x AS (COPY (SELECT 666 AS a) TO '{parquet}' (FORMAT parquet, USE_TMP_FILE false)) SELECT * FROM cases",
    "SELECT * FROM (WITH x AS (COPY (SELECT 1) TO '{parquet}' (FORMAT parquet, USE_TMP_FILE false)) SELECT 1)",
    "SELECT (WITH x AS (COPY (SELECT 1) TO '{parquet}' (FORMAT parquet, USE_TMP_FILE false)) SELECT 1) FROM cases",
    "EXPLAIN ANALYZE COPY cases TO '{out}/x.csv'",
    "EXPORT DATABASE '{out}'",
    "ATTACH '{out}/x.db'",
    "CREATE TABLE x AS SELECT 1",
    "INSERT INTO _ids VALUES (1, 'x')",
    "WITH x AS (INSERT INTO _ids VALUES (1, 'x') RETURNING *) SELECT * FROM x",
    "WITH x AS (DELETE FROM _ids RETURNING *) SELECT * FROM x",
    "DROP VIEW cases",
    "CHECKPOINT",
    "PREPARE p AS COPY cases TO '{out}/x.csv'",
    "FROM query('COPY cases TO ''{out}/x.csv''')",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
]
READS = [
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM read_blob('{secret}')",
    "SELECT * FROM read_csv('{secret}', columns = {{'a': 'VARCHAR'}})",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM '{secret}'",
    'SELECT * FROM "{secret}"',
    "SELECT * FROM '{parquet}'",
    "SELECT * FROM glob('{out}/*')",
    "SELECT * FROM sniff_csv('{secret}')",
    "SELECT * FROM parquet_metadata('{parquet}')",
    "FROM query('SELECT * FROM read_text(''{secret}'')')",
    "FROM query_table('{secret}')",
    "SELECT getenv('HOME')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM cases WHERE name IN (SELECT content FROM read_text('{secret}'))",
    "SELECT * FROM cases, LATERAL (SELECT * FROM read_text('{secret}'))",
    "WITH cases AS (SELECT content AS name FROM read_text('{secret}')) SELECT name FROM cases",
    "SELECT * FROM pandas_scan(0)",
    "SELECT * FROM secret_rows",
]
SETTINGS = [
    "SET enable_external_access = true",
    "RESET lock_configuration",
    "PRAGMA enable_external_access = true",
    "SET GLOBAL allowed_directories = ['/']",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CALL enable_logging()",
    "USE memory",
    "SELECT 1; SELECT 2",
    "SELECT 1; COPY cases TO '{out}/x.csv'",
    "",
    "-- nothing",
]


@pytest.mark.parametrize("sql", [*WRITES, *READS, *SETTINGS])
def test_no_statement_writes_or_reads_anything_else(
    archive: Path, tmp_path: Path, sql: str
) -> None:
    """Real attempts to write, to read other files and to unlock are refused in plain words, and no file changes."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the-password", encoding="utf-8")
    secret_rows = [("the-password",)]  # noqa: F841 - a Python variable that DuckDB could see
    parquet = next(iter(sorted(archive.rglob("_case.parquet"))), archive / "none.parquet")
    before = files(archive)
    text = sql.format(out=tmp_path, secret=secret, parquet=parquet)
    done = run("sql", "--archive", archive, "--", text)
    assert done.exit_code == 2, done.output
    assert done.stdout == "" and done.stderr.startswith("backline: error: ")
    assert "the-password" not in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]
    assert files(archive) == before


def locked(archive: Path) -> ask.QueryDatabase:
    """Return the database of a question after it was locked, for attempts that get past the look at the statement."""
    opened = Archive.open(archive)
    db = ask.QueryDatabase(opened, opened.take_snapshot().list_visible_cases(), ["_case"])
    db.create_view("cases")
    db.lock_files()
    return db


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM read_blob('{head}')",
        "SELECT * FROM read_parquet('{other}')",
        "SELECT * FROM glob('{folder}/*')",
        "COPY (SELECT 1) TO '{folder}/x.csv'",
        "ATTACH '{folder}/x.db'",
        "SET enable_external_access = true",
        "SET allowed_paths = ['{secret}']",
        "LOAD httpfs",
    ],
)
def test_the_database_is_locked_by_itself(archive: Path, tmp_path: Path, sql: str) -> None:
    """Even a statement that nobody looked at cannot reach what is not below its views: the second of two locks."""
    import duckdb

    secret = tmp_path / "secret.txt"
    secret.write_text("the-password", encoding="utf-8")
    other = next(iter(sorted(archive.rglob("_nodes.parquet"))), archive / "none.parquet")
    db = locked(archive)
    try:
        with pytest.raises(duckdb.Error):
            db.con.execute(
                sql.format(
                    secret=secret,
                    head=archive / "backline-archive.json",
                    other=other,
                    folder=tmp_path,
                )
            ).fetchall()
        assert db.con.execute("SELECT count(*) FROM cases").fetchone() == (6,)
    finally:
        db.close()
    assert [path.name for path in tmp_path.iterdir()] == ["secret.txt"]


def test_the_attempts_of_this_file_are_real(tmp_path: Path) -> None:
    """In a database that is not locked a SELECT does write a file: the look at the statement is what stops it."""
    import duckdb

    target = tmp_path / "x.csv"
    with duckdb.connect() as con:
        try:
            con.execute(f"WITH x AS (COPY (SELECT 1) TO '{target}') SELECT 1").fetchall()
        except duckdb.Error:
            pytest.skip("this version of DuckDB has no COPY inside a query")
    assert target.exists()


@settings(max_examples=80, deadline=None)
@given(
    st.recursive(
        st.sampled_from(["SELECT 1", "SELECT name FROM cases", "COPY cases TO 'x'", "DELETE FROM cases RETURNING *",
                         "INSERT INTO cases VALUES (1) RETURNING *", "SELECT * FROM read_text('x')", "VALUES (1)"]),
        lambda inner: st.one_of(
            inner.map(lambda sql: f"SELECT * FROM ({sql})"),
            inner.map(lambda sql: f"SELECT * FROM cases WHERE EXISTS ({sql})"),
            st.tuples(inner, inner).map(lambda pair: f"WITH a AS ({pair[0]}) SELECT * FROM ({pair[1]})"),
            st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) UNION ALL ({pair[1]})"),
        ),
        max_leaves=6,
    )
)  # fmt: skip
def test_only_queries_pass_however_they_are_nested(sql: str) -> None:
    """A statement with a write or a reading function anywhere in it is refused; one without passes."""
    harmful = any(word in sql for word in ("COPY", "DELETE", "INSERT", "read_text"))
    try:
        passed = statement.check_statement(sql, ["cases"])
    except BadQueryError:
        assert harmful or "ESCAPE" in sql
        return
    assert not harmful and set(passed.tables) <= {"cases"}


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=80))
def test_no_text_breaks_the_look_at_a_statement(text: str) -> None:
    """Whatever is typed as SQL passes or is refused in plain words."""
    for sql in (text, f"SELECT {text}", f"SELECT '{text}' FROM cases"):
        try:
            statement.check_statement(sql, ["cases"])
        except BadQueryError as error:
            assert str(error).startswith("error: ")


# -- bounds


@pytest.mark.size
def test_a_question_has_a_time(archive: Path) -> None:
    """A query without end is stopped, also while its rows are fetched, and says what to do."""
    endless = "SELECT count(*) FROM range(100000000) a, range(100000) b"
    with pytest.raises(BacklineError, match=r"stopped after 0\.3 seconds"):
        asked(archive, endless, seconds=0.3)
    done = run("sql", "--archive", archive, endless, "--seconds", "0.3")
    assert (
        done.exit_code == 3
        and "stopped after 0.3 seconds" in done.stderr
        and "--seconds" in done.stderr
    )
    slow = "SELECT a.range FROM range(100000000) a WHERE a.range % 7919 = 3"
    with pytest.raises(BacklineError, match="stopped"):
        list(
            ask.run_sql(
                Archive.open(archive), slow.replace("100000000", "100000000000"), seconds=0.5
            ).rows
        )


def test_a_question_has_a_bound_of_memory(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that wants more than it may have is stopped, and writes nothing to a disk instead."""
    monkeypatch.setattr(database, "_OPENING", [*database._OPENING, "SET memory_limit='60MB'"])
    with pytest.raises(BacklineError, match="memory"):
        asked(
            archive,
            "SELECT list(range || 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx') FROM range(10000000)",
        )


def test_rows_are_streamed(archive: Path) -> None:
    """The first rows of a large answer are there before the last ones are made."""
    answer = ask.run_sql(Archive.open(archive), "SELECT range FROM range(10000000000)")
    assert [next(answer.rows)[0] for _ in range(2500)] == [*range(2500)]
    answer.close()


# -- mistakes


@pytest.mark.parametrize(
    ("sql", "says", "pointed"),
    [
        ("SELECT name\nFRM cases", 'syntax error at or near "cases"', "cases"),
        ("SELECT nam FROM cases", "nam", "nam"),
        ("SELECT *\nFROM casez", "there is no table casez", "casez"),
        ("SELECT * FROM pnic_info", "there is no table pnic_info", "pnic_info"),
        (
            "SELECT CAST(name AS INTEGER) FROM cases",
            "Could not convert string",
            "CAST(name AS INTEGER)",
        ),
        ("SELECT 'ü', * FROM nodez", "there is no table nodez", "nodez"),
    ],
)
def test_mistakes_are_told_with_line_and_caret(
    archive: Path, sql: str, says: str, pointed: str
) -> None:
    """What DuckDB says becomes one sentence, with the line and a caret below the mistake."""
    done = run("sql", "--archive", archive, sql)
    assert done.exit_code == 2 and says in done.stderr and "Error:" not in done.stderr
    lines = done.stderr.splitlines()
    caret = next(line for line in lines if set(line) <= set(" |^") and "^" in line)
    line = lines[lines.index(caret) - 1]
    assert line[caret.index("^") :].startswith(
        pointed.split("\n", maxsplit=1)[0][: caret.count("^")]
    )


def test_near_names_are_suggested(archive: Path) -> None:
    """A table that is not there is told with the one that was meant."""
    assert "did you mean `cases`?" in run("sql", "--archive", archive, "SELECT * FROM casez").stderr
    assert (
        "did you mean `esxi.vnic`?" in run("sql", "--archive", archive, "SELECT * FROM vnic").stderr
    )
    done = run("sql", "--archive", archive, "--tables", "esxi.vnik")
    assert done.exit_code == 2 and "did you mean `esxi.vnic`?" in done.stderr


@pytest.mark.size
@given(
    st.text(st.sampled_from("0123456789.-+_abRC é"), max_size=30)
    | st.from_regex(r"\A[0-9]{1,3}(\.[0-9]{1,3}){0,3}(-[a-z]{1,3}[0-9]{0,20})?\Z")
)
@settings(max_examples=150, deadline=None)
def test_versions_have_the_same_key_in_sql(text: str) -> None:
    """version_key() of SQL is the key the archive stores, so that both compare."""
    con = _macro()
    row = con.execute("SELECT version_key($1)", [text]).fetchone()
    assert row == (database.version_key(text),)


_CON: list[Any] = []


def _macro() -> Any:
    if not _CON:
        _CON.append(database.connect())
        _CON[0].execute(views.VERSION_KEY)
    return _CON[0]


# -- in and out


def test_a_statement_comes_from_a_file_or_standard_input(archive: Path, tmp_path: Path) -> None:
    """`-` reads standard input, --file a file; both together, none, or a file that is no text are refused."""
    sql = "SELECT count(*) AS cases FROM cases\n"
    assert run("sql", "--archive", archive, "-", "--csv", stdin=sql).stdout == "cases\n6\n"
    (tmp_path / "q.sql").write_text(sql, encoding="utf-8")
    assert (
        run("sql", "--archive", archive, "--file", tmp_path / "q.sql", "--csv").stdout
        == "cases\n6\n"
    )
    (tmp_path / "bad.sql").write_bytes(b"SELECT '\xff'")
    os.mkfifo(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    for words in ([], [sql, "--file", tmp_path / "q.sql"], ["--file", tmp_path / "none"], ["--file", tmp_path / "bad.sql"],
                  ["--file", tmp_path / "pipe"], ["--file", tmp_path]):  # fmt: skip
        done = run("sql", "--archive", archive, *words)
        assert done.exit_code == 2 and done.stdout == "", words


def test_csv_is_safe_for_a_spreadsheet_and_json_is_json(archive: Path) -> None:
    """A cell that a spreadsheet would run is quoted; times are ISO in UTC, lists are lists, no number is no NaN."""
    sql = "SELECT '=1+1' AS f, -5 AS n, [1, 2] AS l, TIMESTAMP '2026-01-02 03:04:05' AS t, 'nan'::DOUBLE AS x, NULL AS z"
    row = next(csv.DictReader(io.StringIO(run("sql", "--archive", archive, sql, "--csv").stdout)))
    assert row == {
        "f": "'=1+1",
        "n": "-5",
        "l": "1, 2",
        "t": "2026-01-02T03:04:05Z",
        "x": "",
        "z": "",
    }
    record = json.loads(run("sql", "--archive", archive, sql, "--json").stdout)
    assert record == {
        "f": "=1+1",
        "n": -5,
        "l": [1, 2],
        "t": "2026-01-02T03:04:05Z",
        "x": None,
        "z": None,
    }


def test_the_terminal_gets_a_thousand_rows_unless_it_wants_more(archive: Path) -> None:
    """The limit is told; CSV is whole."""
    sql = "SELECT range AS n FROM range(1500)"
    done = run("sql", "--archive", archive, sql)
    assert (
        len(done.stdout.splitlines()) == 1001
        and "only the first 1,000 rows are shown" in done.stderr
    )
    assert len(run("sql", "--archive", archive, sql, "--limit", "0").stdout.splitlines()) == 1501
    done = run("sql", "--archive", archive, sql, "--csv")
    assert len(done.stdout.splitlines()) == 1501 and done.stderr == ""
    done = run("sql", "--archive", archive, "SELECT range AS n FROM range(1000)")
    assert done.stderr == ""


def test_a_kept_text_cannot_steer_the_terminal(archive: Path) -> None:
    """Cells and headings are shown on one line, control and bidi characters as what they are."""
    done = run(
        "sql",
        "--archive",
        archive,
        "SELECT chr(27) || '[2J' || chr(10) || chr(8238) AS \"a\x07\u202e\"",
    )
    assert done.exit_code in (0, 2)
    assert "\x1b" not in done.output and "\u202e" not in done.output and "\x07" not in done.output


@given(st.lists(st.tuples(st.text(max_size=12), st.integers() | st.none()), max_size=12))
def test_columns_stand_below_each_other(cells: list[tuple[str, int | None]]) -> None:
    """Aligned text has one line a row, and the second column ends where its heading ends or beyond."""
    lines = list(rows.align_rows(["text", "number"], cells))
    assert len(lines) == len(cells) + 1
    for line, (_text, number) in zip(lines[1:], cells, strict=True):
        assert line.endswith("-" if number is None else str(number))


def test_times_with_a_zone_become_utc() -> None:
    """A time east of Greenwich is told as its moment in UTC."""
    east = timezone(timedelta(hours=2))
    assert rows.to_plain_cell(datetime(2026, 1, 1, 1, 0, tzinfo=east)) == "2025-12-31T23:00:00Z"
    assert rows.to_plain_cell(datetime(2026, 1, 1, 1, 0, tzinfo=UTC)) == "2026-01-01T01:00:00Z"


# -- while others work


def test_a_compaction_in_between_does_not_hurt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packs that a compaction took over after the listing are found again in their segment."""
    place = tmp_path / "archive"
    stored = filled(place)
    old = stored.take_snapshot()
    compact_archive(Archive.open(place), older_than=0)
    found = list(ask.run_sql(stored, "SELECT count(*) FROM findings", old).rows)
    assert found == [(1,)]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """A file of a segment that cannot be read is told with its name and the way out, not with a traceback."""
    place = tmp_path / "archive"
    compact_archive(filled(place), older_than=0)
    victim = next(place.rglob("_findings.parquet"))
    victim.write_bytes(b"PAR1 no more")
    done = run("sql", "--archive", place, "SELECT * FROM findings")
    assert done.exit_code == 5 and "_findings.parquet" in done.stderr
    done = run("list", "--archive", place)
    assert done.exit_code == 5 and "archive verify" in done.stderr


# -- remote


@pytest.fixture
def remote() -> Iterator[str]:
    """An archive in an object store by URL (fsspec's store in memory)."""
    fsspec = pytest.importorskip("fsspec")
    url = "memory://bucket/archive"
    yield url
    fs = fsspec.filesystem("memory")
    for path in ("/bucket", "/other"):
        if fs.exists(path):
            fs.rm(path, recursive=True)


def test_a_remote_archive_is_asked_and_locked_alike(remote: str) -> None:
    """By URL the same answers come, and another bucket of the same store stays out of reach."""
    import duckdb
    import fsspec

    stored = filled(remote)
    compact_archive(stored, older_than=0)
    assert asked(remote, "SELECT count(*) FROM cases") == [(6,)]  # type: ignore[arg-type]
    assert (
        run(
            "search", "--archive", remote, "esxi.pnic_stats: rx_missed_errors > 0", "--csv"
        ).exit_code
        == 0
    )
    fsspec.filesystem("memory").pipe("/other/secret.txt", b"the-password")
    db = ask.QueryDatabase(stored, stored.take_snapshot().list_visible_cases(), ["_case"])
    try:
        db.lock_files()
        for sql in ("SELECT * FROM read_text('memory://other/secret.txt')", "SELECT * FROM glob('memory://**')",
                    "COPY (SELECT 1) TO 'memory://other/x.csv'"):  # fmt: skip
            with pytest.raises(duckdb.Error):
                db.con.execute(sql).fetchall()
    finally:
        db.close()
    assert not fsspec.filesystem("memory").exists("/other/x.csv")
