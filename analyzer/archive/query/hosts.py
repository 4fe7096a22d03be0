"""Finds the machines that meet all terms of a search, and those no one can tell of, in one query.

A machine is in question for a term when the term's table speaks of its kind, or when it has rows or
coverage of it. It answers a term as `any()` does in a rule:

  yes      some row fulfils the condition
  no       there are rows, none does, none lacks the value, and the table was read whole
  unknown  otherwise: the table is not there, was cut, or a row lacks the value

All terms together are AND, three-valued. With a column `same` the rows must agree in it where their
tables have it: the driver and the counter of one NIC, not of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from analyzer.archive.packs.columns import NODES as STORED_NODES
from analyzer.archive.query.terms import ADAPTERS, HBAS, NICS, NODES, Term, adapter_tables
from analyzer.facts.database import quote_name
from analyzer.rules.language.logic import text_literal
from analyzer.runtime.errors import UsageError

CHOSEN = "_chosen"  # the cases that are asked
ANSWERS = "_answers"
SHOWN = 3  # rows of a term that are shown of one machine


@dataclass(slots=True)
class SearchPlan:
    """The statements of a search: `create` makes the answers, the others read them.

    counts   (machines that fulfil, machines of which no one can tell, machines in question, cases that fulfil)
    matches  rows (case, node, kind, product, version, same, then of each term the rows that fulfil it)
    unknown  rows (case, node, number of the term, why)
    """

    create: list[str] = field(default_factory=list)
    counts: str = ""
    matches: str = ""
    unknown: str = ""


class Machines:
    """Writes the plan of a search. `relations` gives the SQL of a stored table."""

    def __init__(
        self,
        terms: Sequence[Term],
        relations: Mapping[str, str],
        same: str = "",
        *,
        anywhere: bool = False,
    ) -> None:
        self.terms, self.relations, self.same, self.anywhere = (
            list(terms),
            relations,
            same,
            anywhere,
        )
        if same and anywhere:
            raise UsageError(
                "--same and --anywhere do not go together", why="a NIC belongs to one machine"
            )
        self.agreeing = [bool(same) and term.table.column(same) is not None for term in self.terms]
        if same and sum(self.agreeing) < 2:
            have = ", ".join(
                term.table.name for term, has in zip(self.terms, self.agreeing, strict=True) if has
            )
            why = (
                f"only {have} has a column {same}"
                if have
                else f"no table of the terms has a column {same}"
            )
            raise UsageError("--same needs two tables with that column", why=why)

    def build_plan(self) -> SearchPlan:
        """Return all statements."""
        create = [f"CREATE TEMP TABLE _machines AS {self._machines_sql()}"]
        for number, term in enumerate(self.terms):
            create.append(f"CREATE TEMP TABLE _rows{number} AS {self._rows_sql(number, term)}")
        if self.same:
            some = [
                f"SELECT _case, _node, CAST(same AS VARCHAR) AS same FROM _rows{n}"
                for n in self._agreeing_terms()
            ]
            values = " UNION ".join(some)
            create.append(f"CREATE TEMP TABLE _values AS {values}")
        for number, term in enumerate(self.terms):
            create.append(f"CREATE TEMP TABLE _term{number} AS {self._term_sql(number, term)}")
        # All terms together: of each machine that is in question for all of them, or of each
        # case.
        cells = "".join(
            f", t{n}.answer AS answer{n}, t{n}.hit AS hit{n}, t{n}.shown AS shown{n}, t{n}.why AS why{n}"
            for n in range(len(self.terms))
        )
        answer = " AND ".join(f"t{n}.answer" for n in range(len(self.terms)))
        if self.anywhere:
            # A term's answer for each case: any machine may fulfil it, and all must be known not to.
            joins = " ".join(
                "LEFT JOIN (SELECT _case, CASE WHEN bool_or(answer) THEN TRUE"
                " WHEN count(*) = count(answer) THEN FALSE END AS answer, sum(hit) AS hit,"
                f" flatten(list(shown) FILTER (shown IS NOT NULL))[:{SHOWN}] AS shown,"
                f" min(why) FILTER (answer IS NULL) AS why FROM _term{n} GROUP BY _case"
                f") t{n} USING (_case)"
                for n in range(len(self.terms))
            )
            answers = f"SELECT i._case, NULL AS _node, NULL AS same, ({answer}) AS answer{cells} FROM {CHOSEN} i {joins}"
        else:
            joins = "_term0 t0"
            first = next(self._agreeing_terms(), None)
            for number in range(1, len(self.terms)):
                on = f"t{number}._case = t0._case AND t{number}._node = t0._node"
                if first is not None and self.agreeing[number] and number != first:
                    on += f" AND t{number}.same IS NOT DISTINCT FROM t{first}.same"
                joins += f" JOIN _term{number} t{number} ON {on}"
            same = f"t{first}.same" if first is not None else "NULL"
            answers = f"SELECT t0._case, t0._node, {same} AS same, ({answer}) AS answer{cells} FROM {joins}"
        create.append(f"CREATE TEMP TABLE {ANSWERS} AS {answers}")
        cells = "".join(f", a.hit{n}, a.shown{n}" for n in range(len(self.terms)))
        matches_sql = (
            f"SELECT a._case, m.node, m.kind, m.product, m.version, a.same{cells} FROM {ANSWERS} a"
            " LEFT JOIN _machines m USING (_case, _node) WHERE a.answer"
        )
        unknown = [  # of each unknown machine: the terms that keep it unknown, and why
            f"SELECT a._case, a._node, {n} AS term, coalesce(a.why{n}, 'the case has no such machine') AS why"
            f" FROM {ANSWERS} a WHERE a.answer IS NULL AND a.answer{n} IS NULL"
            for n in range(len(self.terms))
        ]
        unknown_sql = (
            f"SELECT a._case, m.node, a.term, min(a.why) AS why FROM ({' UNION ALL '.join(unknown)}) a"
            f" JOIN ({_UNTOLD}) u ON u._case = a._case AND u._node IS NOT DISTINCT FROM a._node"
            " LEFT JOIN _machines m ON m._case = a._case AND m._node = a._node GROUP BY a._case, m.node, a.term"
        )
        return SearchPlan(create, _COUNTS, matches_sql, unknown_sql)

    def _machines_sql(self) -> str:
        """One row a machine; its covers are read only where a term asks for a declared table."""
        names = [
            name
            for term in self.terms
            if term.table is not NODES
            for name in _covering_tables(term)
        ]
        tables = [text_literal(name) for name in dict.fromkeys(names)]
        covers = "NULL"
        if tables:  # [table, state, why] of each
            wanted = f"lambda c: c[1] IN ({', '.join(tables)})"
            covers = f"""list_filter(from_json(_covers, '[["VARCHAR"]]'), {wanted})"""
        return (
            "SELECT _case, _info->>'$[0]' AS _node, node, kind, product, version, complete,"
            f" {covers} AS covers FROM ({self.relations[STORED_NODES]}) SEMI JOIN {CHOSEN} USING (_case)"
        )

    def _rows_sql(self, number: int, term: Term) -> str:
        """The rows of a term folded to one a machine: how many, how many fulfil it or do not tell, and which."""
        if term.table is NODES:
            key, place = "_info->>'$[0]'", "'' AS source, NULL AS line"
        else:
            key, place = "_node", "_source AS source, _line AS line"
        names = [term.stored_name(column) for column in term.list_shown_columns()]
        cells = ", ".join(f"CAST(r.{quote_name(name)} AS VARCHAR)" for name in names)
        same = f", r.{quote_name(self.same)} AS same" if self.agreeing[number] else ""
        inner = (
            f"SELECT _case, {key} AS _node, node{same}, _row AS place, {term.condition_sql('r')} AS yes,"
            f" [{cells}] AS cells, {place} FROM ({self.relations[_stored_name(term)]}) r"
        )
        group = "_case, _node, same" if same else "_case, _node"
        where = " WHERE same IS NOT NULL" if same else ""
        return (
            f"SELECT {group}, count(*) AS n, count(*) FILTER (yes) AS hit, count(*) FILTER (yes IS NULL) AS odd,"
            f" arg_min({{'node': node, 'cells': cells, 'source': source, 'line': line}}, place, {SHOWN})"
            " FILTER (yes) AS shown"
            f" FROM ({inner}){where} GROUP BY {group}"
        )

    def _agreeing_terms(self) -> Iterator[int]:
        return (number for number, agrees in enumerate(self.agreeing) if agrees)

    def _term_sql(self, number: int, term: Term) -> str:
        """The answer of each machine in question for one term."""
        same = self.agreeing[number]
        cover = (
            "NULL"
            if term.table is NODES
            else f"list_filter(m.covers, lambda c: c[1] IN ({_list_literals(_covering_tables(term))}))[1]"
        )
        kinds = ", ".join(map(text_literal, term.node_kinds))
        own = (
            f"EXISTS (SELECT 1 FROM _rows{number} o WHERE o._case = m._case AND o._node = m._node)"
        )
        asked = f"m.kind IN ({kinds}) OR cover IS NOT NULL OR {own}" if kinds else "TRUE"
        whole = (
            "TRUE" if term.table is NODES else "m.complete AND coalesce(cover[2], 'read') = 'read'"
        )
        if (
            term.table is ADAPTERS
        ):  # no driver of that name only where both NICs and HBAs were listed
            read = "len(list_filter(m.covers, lambda c: c[1] IN ({}) AND c[2] = 'read')) > 0"
            whole = f"m.complete AND {read.format(_list_literals(NICS))} AND {read.format(_list_literals(HBAS))}"
        values = " LEFT JOIN _values v ON v._case = m._case AND v._node = m._node" if same else ""
        agree = " AND CAST(r.same AS VARCHAR) = v.same" if same else ""
        return (
            f"SELECT m._case, m._node{', v.same' if same else ''},"
            f" CASE WHEN r.hit > 0 THEN TRUE WHEN r.n > 0 AND r.odd = 0 AND {whole} THEN FALSE END AS answer,"
            f" r.hit, r.shown, CASE WHEN coalesce(r.hit, 0) = 0 THEN {_WHY} END AS why"
            f" FROM (SELECT *, {cover} AS cover FROM _machines m) m{values}"
            f" LEFT JOIN _rows{number} r ON r._case = m._case AND r._node = m._node{agree} WHERE {asked}"
        )


def _stored_name(term: Term) -> str:
    return STORED_NODES if term.table is NODES else term.table.name


def list_stored_tables(terms: Sequence[Term]) -> list[str]:
    """Return the stored tables that a search over these terms reads."""
    below = [
        name
        for term in terms
        for name in (_covering_tables(term) if term.table is ADAPTERS else [_stored_name(term)])
    ]
    return list(dict.fromkeys([STORED_NODES, *below]))


def _covering_tables(term: Term) -> list[str]:
    """Return the tables whose coverage tells whether a term can be answered."""
    return (
        [table.name for table in adapter_tables()] if term.table is ADAPTERS else [term.table.name]
    )


def _list_literals(names: Iterable[str]) -> str:
    return ", ".join(map(text_literal, names))


_WHY = (
    "CASE WHEN r.n IS NULL AND cover IS NULL THEN 'not in the material'"
    " WHEN cover[2] IN ('cut', 'unparsed', 'excerpt') THEN cover[2] || coalesce(': ' || nullif(cover[3], ''), '')"
    " WHEN r.n IS NULL THEN 'there, but without a row of it'"
    " WHEN r.odd > 0 THEN r.odd || ' of ' || r.n || ' rows do not tell the value'"
    " WHEN NOT m.complete THEN 'the archive of the machine is not whole'"
    " ELSE 'not all outputs that list it are there' END"
)
_FOLDED = (
    f"SELECT _case, _node, bool_or(coalesce(answer, FALSE)) AS yes, bool_or(answer IS NULL) AS untold"
    f" FROM {ANSWERS} GROUP BY _case, _node"
)
_UNTOLD = f"SELECT _case, _node FROM ({_FOLDED}) WHERE untold AND NOT yes"
_COUNTS = (
    "SELECT count(*) FILTER (yes), count(*) FILTER (untold AND NOT yes), count(*),"
    f" count(DISTINCT CASE WHEN yes THEN _case END) FROM ({_FOLDED})"
)
