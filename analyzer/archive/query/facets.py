"""What the stored cases can be searched by: hosts, rules, KB articles, severities, drivers, versions, with cases."""

from __future__ import annotations

from analyzer.archive.packs.columns import CASE, FINDINGS, NODES
from analyzer.archive.query.ask import QueryDatabase, ResultRows, ask_archive
from analyzer.archive.store import Archive

DRIVERS = "esxi.pnic_info"
MOST = 12  # values of a facet, those of the most cases


def count_facets(archive: Archive) -> dict[str, list[tuple[str, int]]]:
    """Return for each facet its values with the number of cases that have them, the most frequent first.

    A severity counts the cases with a finding this severe that is not muted; what a case does not tell is no value.
    """

    def ask_facets(db: QueryDatabase) -> ResultRows:
        live = f"SELECT * FROM ({db.relation_sql(FINDINGS)}) WHERE verdict = 'match' AND muted = ''"
        values = {
            "severity": f"SELECT severity AS value, _case FROM ({live})",
            "host": f"SELECT node AS value, _case FROM ({db.relation_sql(NODES)})",
            "rule": f"SELECT rule AS value, _case FROM ({live})",
            "KB": f"SELECT unnest(kb)::VARCHAR AS value, _case FROM ({live})",
            "driver": f"SELECT driver AS value, _case FROM ({db.relation_sql(DRIVERS)})",
            "version": f"SELECT version AS value, _case FROM ({db.relation_sql(NODES)})",
        }
        parts = [
            f"(SELECT {number} AS facet, '{name}' AS name, value, count(DISTINCT _case) AS cases FROM ({body})"
            f" WHERE value IS NOT NULL AND value <> '' GROUP BY value ORDER BY cases DESC, value LIMIT {MOST})"
            for number, (name, body) in enumerate(values.items())
        ]
        return db.ask_rows(
            f"SELECT name, value, cases FROM ({' UNION ALL '.join(parts)}) ORDER BY facet, cases DESC, value"
        )

    rows = ask_archive(archive, [CASE, FINDINGS, NODES, DRIVERS], ask_facets).rows
    found: dict[str, list[tuple[str, int]]] = {}
    for name, value, cases in rows:
        found.setdefault(str(name), []).append((str(value), int(str(cases))))
    return found
