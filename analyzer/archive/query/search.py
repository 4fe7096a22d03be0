"""The questions an engineer asks an archive: which machines, which findings, which lines, how many a month.

Every answer counts what was found and how much is unknown: absence is never innocence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analyzer.archive.packs.columns import CASE, FINDINGS, HITS, NODES, UNKNOWNS, VERDICTS
from analyzer.archive.query import views
from analyzer.archive.query.ask import SECONDS, QueryDatabase, ResultRows, Row, ask_archive
from analyzer.archive.query.hosts import CHOSEN, Machines, list_stored_tables
from analyzer.archive.query.terms import ADAPTERS, Term, union_adapters
from analyzer.archive.query.views import IDS
from analyzer.archive.store import Archive
from analyzer.artefacts import parsing
from analyzer.artefacts.tables import Table
from analyzer.facts.database import quote_name
from analyzer.rules.language.logic import text_literal
from analyzer.rules.language.rulefile import did_you_mean
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line

MONTH, HOST, RULE = "month", "host", "rule"
_SEVERITY = "list_position(['critical', 'major', 'warning', 'info'], severity)"


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, ISO texts that DuckDB reads; from `since` on, before `until`; empty for no end."""

    since: str = ""
    until: str = ""

    def condition_sql(self, moment: str) -> str:
        """Return the SQL condition that a time is in the window; an unknown time is in none that has an end."""
        parts = [f"{moment} >= TIMESTAMP {text_literal(self.since)}"] if self.since else []
        parts += [f"{moment} < TIMESTAMP {text_literal(self.until)}"] if self.until else []
        return " AND ".join(parts) or "TRUE"

    def holds_moment(self, moment: str) -> bool:
        """Say whether a time (`2026-01-31 12:00:00`) is in the window, as `condition_sql` does; "" is unknown."""
        if not moment:
            return not self
        return moment >= self.since and (not self.until or moment < self.until)

    def __bool__(self) -> bool:
        return bool(self.since or self.until)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which findings are meant: of one rule, or of the rules that name a KB article; "" and None for any.

    former  ids that the rule replaces: what they found counts as its own
    """

    rule: str = ""
    kb: int | None = None
    former: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rule) or self.kb is not None


@dataclass(slots=True)
class SearchResult:
    """An answer: its heading, its rows while they come, and what is to be said of the whole.

    counts  what is counted: machines, untold, asked, cases, …; what is not counted is not in it
    """

    head: list[str]
    rows: Iterator[Row]
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def _count_left_out(db: QueryDatabase, window: Window, *, unread: bool = True) -> dict[str, int]:
    """Return how many cases answer no question: not read, refused among those, and without a time for the window."""
    conditions = {
        "unread_cases": f"state IN ('refused', 'failed') AND {window.condition_sql('created')}"
        if unread
        else "FALSE",
        "refused_cases": f"state = 'refused' AND {window.condition_sql('created')}"
        if unread
        else "FALSE",
        "undated_cases": "created IS NULL" if window else "FALSE",
    }
    counts = ", ".join(f"count(*) FILTER ({condition})" for condition in conditions.values())
    return dict(
        zip(
            conditions,
            db.fetch_rows(f"SELECT {counts} FROM ({db.relation_sql(CASE)})")[0],
            strict=True,
        )
    )


def _cases_sql(db: QueryDatabase) -> str:
    """Return SQL of the cases with their id."""
    return f"SELECT r.*, i.case_id FROM ({db.relation_sql(CASE)}) r JOIN {IDS} i USING (_case)"


# -- machines that fulfil terms


def find_machines(
    archive: Archive,
    terms: Sequence[Term],
    *,
    window: Window = Window(),
    same: str = "",
    anywhere: bool = False,
    unknown: bool = False,
    seconds: float = SECONDS,
) -> SearchResult:
    """Return the machines (or with `anywhere` the cases) that fulfil all terms, newest case first.

    unknown  True for those of which no one can tell, with the terms that keep it open and why
    Rows: case, id, created, node, product, version, then for each term (how many rows fulfil it, some of
    them: node, cells, source, line); for `unknown` case, id, created, node, table, why, ask.
    """
    found = SearchResult([], iter(()))

    def search_machines(db: QueryDatabase) -> ResultRows:
        relations = {table: db.relation_sql(table) for table in list_stored_tables(terms)}
        if any(term.table is ADAPTERS for term in terms):
            relations[ADAPTERS.name] = union_adapters(relations, db.may_have)
        plan = Machines(terms, relations, same, anywhere=anywhere).build_plan()
        db.fetch_rows(
            f"CREATE TEMP TABLE {CHOSEN} AS SELECT * FROM ({_cases_sql(db)}) WHERE {window.condition_sql('created')}"
        )
        for statement in plan.create:
            db.fetch_rows(statement)
        yes, untold, total, cases = db.fetch_rows(plan.counts)[0]
        found.counts = {"machines": yes, "untold": untold, "asked": total, "cases": cases}
        found.counts |= _count_left_out(db, window, unread=not anywhere)
        body = plan.unknown if unknown else plan.matches
        order = "c.created DESC NULLS LAST, c.name, c.case_id, q.node" + (
            ", q.term" if unknown else ", q.same"
        )
        return db.ask_rows(
            f"SELECT c.name, c.case_id, c.created, q.* EXCLUDE (_case) FROM ({body}) q JOIN {CHOSEN} c USING (_case)"
            f" ORDER BY {order}"
        )

    answer = ask_archive(archive, [CASE, *list_stored_tables(terms)], search_machines, seconds)
    found.head, found.rows = answer.head, answer.rows
    return found


# -- findings of rules

_TIME = "coalesce(f.first_seen, c.created)"  # of a finding: of its evidence, else of its case
_SAY = "say || CASE WHEN muted <> '' THEN ' [muted: ' || muted || ']' ELSE '' END"
_MACHINES = "count(DISTINCT (_case, node))"
_WORST = f"['critical', 'major', 'warning', 'info'][min({_SEVERITY})]"
_FOLDED = {
    "": f"SELECT time AS first_seen, node, name AS case, case_id AS id, rule, severity, subject, {_SAY} AS say"
    " FROM _found ORDER BY time NULLS LAST, name, case_id, node, rule, subject",
    MONTH: f"SELECT strftime(time, '%Y-%m') AS month, rule, count(*) AS findings, {_MACHINES} AS machines,"
    " count(DISTINCT _case) AS cases FROM _found GROUP BY ALL ORDER BY month NULLS LAST, rule",
    HOST: "SELECT node, min(time) AS first_seen, max(time) AS last_seen, count(*) AS findings,"
    f" count(DISTINCT _case) AS cases, {_WORST} AS worst, list(DISTINCT rule ORDER BY rule) AS rules"
    f" FROM _found GROUP BY node ORDER BY min({_SEVERITY}), findings DESC, first_seen NULLS LAST, node",
    RULE: "SELECT rule, any_value(title) AS title, count(*) AS findings,"
    f" {_MACHINES} AS machines, count(DISTINCT _case) AS cases, min(time) AS first_seen, max(time) AS last_seen"
    " FROM _found GROUP BY rule ORDER BY findings DESC, rule",
}


def find_findings(
    archive: Archive,
    chosen: Filter,
    *,
    window: Window = Window(),
    by: str = "",
    unknown: bool = False,
    seconds: float = SECONDS,
) -> SearchResult:
    """Return what rules found: each finding, oldest first, or folded by MONTH, by HOST (worst first) or by RULE.

    unknown  True for the machines of which the rules cannot tell, and what to ask for
    Raises UsageError for a rule or a KB article that no stored case was judged by.
    """
    found = SearchResult([], iter(()))

    def search_findings(db: QueryDatabase) -> ResultRows:
        rules = select_rules(db, chosen)
        among = f"rule IN ({', '.join(map(text_literal, rules))})" if chosen else "TRUE"
        own = among
        if (
            chosen.kb is not None
        ):  # all findings of a rule speak of it, or its own row of the catalog
            spoken = db.fetch_rows(
                f"SELECT DISTINCT rule FROM ({db.relation_sql(VERDICTS)}) WHERE list_contains(kb, {chosen.kb})"
            )
            names = ", ".join(text_literal(rule) for (rule,) in spoken)
            by_rule = f"rule IN ({names})" if names else "FALSE"
            own = f"{among} AND ({by_rule} OR list_contains(kb, {chosen.kb}))"
        db.fetch_rows(
            f"CREATE TEMP TABLE _cases AS SELECT _case, case_id, name, created, state FROM ({_cases_sql(db)})"
        )
        db.fetch_rows(
            f"CREATE TEMP TABLE _found AS SELECT f.*, c.name, c.case_id, {_TIME} AS time"
            f" FROM (SELECT * FROM ({db.relation_sql(FINDINGS)}) WHERE {own} AND verdict = 'match') f"
            f" JOIN _cases c USING (_case) WHERE {window.condition_sql(_TIME)}"
        )
        found.counts = _count_findings(db, among, window) if chosen else {}
        found.counts |= _count_left_out(db, window)
        return db.ask_rows(_UNTOLD_ROWS if unknown and chosen else _FOLDED[by])

    answer = ask_archive(archive, [CASE, FINDINGS, UNKNOWNS, VERDICTS], search_findings, seconds)
    found.head, found.rows = answer.head, answer.rows
    return found


_UNTOLD_ROWS = (
    "SELECT name AS case, case_id AS id, created, node, rule, why, ask FROM _untold"
    " ORDER BY created DESC NULLS LAST, name, case_id, node, rule"
)


def select_rules(db: QueryDatabase, chosen: Filter) -> list[str]:
    """Return the rules that are meant, of those that judged a stored case. Raises UsageError when there is none."""
    if not chosen:
        return []
    named = " UNION ALL ".join(
        f"SELECT rule, kb FROM ({db.relation_sql(table)})" for table in (VERDICTS, FINDINGS)
    )
    known = db.fetch_rows(
        f"SELECT rule, list_sort(list_distinct(flatten(list(kb)))) FROM ({named}) GROUP BY rule"
    )
    rules = sorted(rule for rule, _ in known)
    if chosen.kb is not None:
        rules = sorted(rule for rule, articles in known if chosen.kb in (articles or ()))
        if not rules:
            do = "`backline rules list` shows the articles of the rules."
            raise UsageError(f"no rule that judged these cases names KB {chosen.kb}", do=do)
    if not chosen.rule:
        return rules
    wanted = [name for name in (chosen.rule, *chosen.former) if name in rules]
    if not wanted:
        what = f"rule {one_line(chosen.rule, 80)} judged none of these cases"
        raise UsageError(what, do=did_you_mean(chosen.rule, rules))
    return wanted


def _count_findings(db: QueryDatabase, among: str, window: Window) -> dict[str, int]:
    """Return how much was found and how much is unknown; makes `_untold`."""
    inside = window.condition_sql("c.created")
    db.fetch_rows(
        "CREATE TEMP TABLE _untold AS SELECT c.name, c.case_id, c.created, u._case, u.node, u.rule,"
        " min(u.why) AS why, min(u.ask) AS ask"
        f" FROM (SELECT * FROM ({db.relation_sql(UNKNOWNS)}) WHERE {among}) u JOIN _cases c USING (_case)"
        f" WHERE {inside} AND (u._case, u.node) NOT IN (SELECT (_case, node) FROM _found) GROUP BY ALL"
    )
    found, machines, cases = db.fetch_rows(
        f"SELECT count(*), {_MACHINES}, count(DISTINCT _case) FROM _found"
    )[0]
    untold = db.fetch_rows(f"SELECT {_MACHINES} FROM _untold")[0][0]
    judged = f"SELECT _case FROM ({db.relation_sql(VERDICTS)}) WHERE {among}"
    asked, unjudged = db.fetch_rows(
        f"SELECT count(*), count(*) FILTER (_case NOT IN ({judged})) FROM _cases c"
        f" WHERE {inside} AND state NOT IN ('refused', 'failed')"
    )[0]
    names = ("findings", "machines", "cases", "untold", "asked_cases", "unjudged_cases")
    return dict(zip(names, (found, machines, cases, untold, asked, unjudged), strict=True))


# -- cases and machines of a name


def find_named_cases(
    archive: Archive, text: str, *, window: Window = Window(), seconds: float = SECONDS
) -> ResultRows:
    """Return the cases whose name, or one of whose machines' names, holds a text, capitals or not; newest first.

    Rows: case, id, created, whether the name of the case holds it, the machines of such a name.
    """
    wanted = text_literal(text.lower())

    def search_names(db: QueryDatabase) -> ResultRows:
        machine = f"SELECT _case, node FROM ({db.relation_sql(NODES)}) WHERE contains(lower(node), {wanted})"
        own = f"contains(lower(c.name), {wanted})"
        return db.ask_rows(
            f"SELECT c.name, c.case_id, c.created, {own}, coalesce(m.nodes, []) FROM ({_cases_sql(db)}) c LEFT JOIN"
            f" (SELECT _case, list(DISTINCT node ORDER BY node) AS nodes FROM ({machine}) GROUP BY _case) m"
            " USING (_case)"
            f" WHERE ({own} OR m.nodes IS NOT NULL) AND {window.condition_sql('c.created')}"
            " ORDER BY c.created DESC NULLS LAST, c.name, c.case_id"
        )

    return ask_archive(archive, [CASE, NODES], search_names, seconds)


# -- lines that hold a text

# Several signatures may hit a line, and one line may be of several logs: esxi.vobd x, y; esxi.event z
_OF = "\"table\" || ' ' || string_agg(signature, ', ' ORDER BY signature)"
_LINE = "_case, node, address, line, text"


def find_texts(
    archive: Archive,
    text: str,
    chosen: Filter = Filter(),
    *,
    window: Window = Window(),
    seconds: float = SECONDS,
) -> SearchResult:
    """Return the findings whose sentence, and the kept log lines that hold a text, capitals or not; newest case first.

    Without a rule the rows of all stored tables are searched too: a driver, a firmware, a name of a datastore.
    Only lines that some signature hit are kept: a text that is not found here may still be in a bundle.
    """
    found = SearchResult([], iter(()))
    tables = [] if chosen else searched_tables()

    def search_texts(db: QueryDatabase) -> ResultRows:
        rules = select_rules(db, chosen)
        some = ", ".join(map(text_literal, rules))
        spoken = f"rule IN ({some})" if chosen else "TRUE"
        hit = f"split_part(signature, '/', 1) IN ({some})" if chosen else "TRUE"
        wanted = text_literal(text.lower())
        found.counts = _count_left_out(db, window)
        said = " OR ".join(
            f"contains(lower({column}), {wanted})"
            for column in ("say", "subject", "title", "object")
        )
        return db.ask_rows(
            "SELECT c.name AS case, c.case_id AS id, q.time, q.node, q.of, q.address, q.line, q.text FROM ("
            "SELECT _case, first_seen AS time, node, rule AS of, '' AS address, NULL AS line, say AS text"
            f" FROM ({db.relation_sql(FINDINGS)}) WHERE {spoken} AND ({said})"
            " UNION ALL SELECT _case, min(time), node, string_agg(of, '; ' ORDER BY of), address, line, text FROM ("
            f"SELECT min(time) AS time, {_OF} AS of, {_LINE} FROM ({db.relation_sql(HITS)})"
            f' WHERE {hit} AND contains(lower(text), {wanted}) GROUP BY "table", {_LINE}) GROUP BY {_LINE}'
            f"{''.join(_cells_with(db, table, wanted) for table in tables if db.may_have(table.name))}"
            f") q JOIN ({_cases_sql(db)}) c USING (_case) WHERE {window.condition_sql('coalesce(q.time, c.created)')}"
            " ORDER BY c.created DESC NULLS LAST, c.name, c.case_id, q.time NULLS LAST, q.address, q.line, q.of, q.text"
        )

    names = [table.name for table in tables]
    answer = ask_archive(archive, [CASE, FINDINGS, HITS, VERDICTS, *names], search_texts, seconds)
    found.head, found.rows = answer.head, answer.rows
    return found


def searched_tables() -> list[Table]:
    """Return the stored tables whose texts are searched for a word; lines of logs are, where they were kept."""
    named = {view.stored for view in views.list_views().values()}
    return [
        table
        for table in parsing.tables().values()
        if table.name in named and not table.log and _texts_of(table)
    ]


def _texts_of(table: Table) -> list[str]:
    return [column.name for column in table.columns if column.kind in ("str", "version")]


def _cells_with(db: QueryDatabase, table: Table, wanted: str) -> str:
    """Return the part of the query for the rows of a table that hold a text in some cell; each place of a file once."""
    holds = {
        name: f"contains(lower(CAST({quote_name(name)} AS VARCHAR)), {wanted})"
        for name in _texts_of(table)
    }
    held = " OR ".join(holds.values())
    names = list(dict.fromkeys([*table.key, *holds]))
    when = {name: "TRUE" if name in table.key else holds[name] for name in names}
    pairs = {name: f"'{name}=' || CAST({quote_name(name)} AS VARCHAR)" for name in names}
    shown = ", ".join(f"CASE WHEN {when[name]} THEN {pairs[name]} END" for name in names)
    return (
        f" UNION ALL SELECT _case, NULL AS time, node, {text_literal(table.name)} AS of, _source AS address,"
        f" _line AS line, concat_ws(' ', {shown}) AS text FROM ({db.relation_sql(table.name)}) WHERE {held}"
        " QUALIFY row_number() OVER (PARTITION BY _case, node, text ORDER BY _row) = 1"
    )
