"""What machines of other sites say all the time (kb.background): such a sign ranks lower, and is never hidden for it.

Only lines and values of tables are known in that way: what a host itself calls a problem keeps its rank, as does what
began, grew or came in a burst on this machine, whatever others say. A sign over the bar of the report stays over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from analyzer.artefacts.tables import Tables
from analyzer.case.document import SHOWN_FROM
from analyzer.signals.ages import BURST, GROWN, NEW
from analyzer.signals.kinds import hash_kind, write_template

TABLE = "kb.background"
BACKGROUND = "known background"  # an age
LEAST_SITES = 3  # that have to say the same
QUIET_KINDS = ("line", "cell")  # kinds of signals that can be background
_NEWS = frozenset({NEW, GROWN, BURST})
_LOSS, _SHARE_LOSS = 1.0, 2.0  # of weight: of any, and of one that all machines have; our own


class KnownBackground(NamedTuple):
    """A kind of sign that machines have all the time: how many of how many, and whose cases were called healthy."""

    machines: int
    of: int
    healthy: int

    @property
    def share(self) -> float:
        """The part of the machines that have it, 0 to 1."""
        return min(self.machines / self.of, 1.0)

    def describe_share(self) -> str:
        """Return it in words: `in 81 % of 37 healthy machines`."""
        words = f"in {100 * self.share:.0f} % of {self.of:,}"
        if self.healthy >= self.of:
            return f"{words} healthy machines"
        return f"{words} other machines, there all along"


def read_background(tables: Tables) -> dict[str, KnownBackground]:
    """Return the rows of the catalog by hash; those of fewer than three sites are left out."""
    table = tables.get(TABLE)
    found: dict[str, KnownBackground] = {}
    if table is None:
        return found
    for row in table.own_rows:
        having, of, healthy = (
            int(str(row[name]))
            for name in ("machines_with", "machines_counted", "machines_healthy")
        )
        if int(str(row["sites_with"])) >= LEAST_SITES and having > 0 and of > 0:
            found[str(row["kind_hash"])] = KnownBackground(having, of, healthy)
    return found


def lower_background(
    signals: Iterable[dict[str, Any]], known: Mapping[str, KnownBackground]
) -> list[dict[str, Any]]:
    """Return signals, those that are background with less weight and the reason for it; none is left out.

    signals  with the keys of the record `Signal`; those with defaults may be missing
    known    of `read_background`
    """
    if not known:
        return list(signals)
    return [_lower_signal(one, known) for one in signals]


def _lower_signal(signal: dict[str, Any], known: Mapping[str, KnownBackground]) -> dict[str, Any]:
    """Return a signal, lowered where it is background."""
    kind, what = str(signal["kind"]), str(signal["what"])
    age = str(signal.get("age", ""))
    if not what or kind not in QUIET_KINDS or age in _NEWS:
        return signal
    module = str(signal.get("module", ""))
    row = known.get(hash_kind(kind, module, write_template(kind, what)))
    if row is None:
        return signal
    weight = float(signal.get("weight", 0.0))
    lowered = max(weight - _LOSS - _SHARE_LOSS * row.share, min(weight, SHOWN_FROM))
    why = [*signal.get("why", ()), row.describe_share()]
    return {**signal, "weight": lowered, "age": age or BACKGROUND, "why": why}
