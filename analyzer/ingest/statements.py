"""What files without a host name say about themselves, and whether they contradict each other.

Two files of one machine may state two versions after an upgrade, but hardly without a third that states both; and
its logs do not end years before others begin. A VM's log tells of other hosts and older times by its nature.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from analyzer.ingest.intake import FactScope, Intake

_VERSIONS = ("esxi.version", "nsx.manager")
_NOT_OF_A_HOST = "esxi.vm_log"
GAP = timedelta(days=366)  # between the end of one log and the begin of the next of one machine

Span = tuple[datetime, datetime]


class Statements:
    """Versions and times that the places of a case state."""

    def __init__(self, intake: Intake) -> None:
        self._versions: dict[str, set[str]] = defaultdict(set)
        self._spans: dict[str, Span] = {}
        self._prompted = intake.prompted
        for row in intake.rows:
            version = row.values.get("version")
            if row.table.name in _VERSIONS and version and row.values.get("origin") != "vmware.log":
                self._versions[row.block.scope].add(str(version))
        for span in intake.spans:
            if (
                span.table != _NOT_OF_A_HOST
                and (times := _times(span.first, span.last)) is not None
            ):
                known = self._spans.get(span.place.key, times)
                self._spans[span.place.key] = min(known[0], times[0]), max(known[1], times[1])

    def against(self, place: FactScope, others: Iterable[FactScope], name: str = "") -> str:
        """Return what a place states that cannot be of the machine of some others, "" when nothing is.

        name  of that machine, "" when it has none
        """
        keys = [other.key for other in others]
        shown = self._prompted.get(place.key, "")
        if shown and name and name.lower().partition(".")[0] != shown:
            return f"shows the prompt of a machine that is called {shown}"
        mine, theirs = (
            self._versions.get(place.key, set()),
            {v for key in keys for v in self._versions.get(key, ())},
        )
        if mine and theirs and not mine & theirs:
            return f"states version {' and '.join(sorted(mine))}"
        spans = [self._spans[key] for key in keys if key in self._spans]
        own = self._spans.get(place.key)
        if (
            own
            and spans
            and all(own[0] - last > GAP or first - own[1] > GAP for first, last in spans)
        ):
            return f"holds lines of {_days(own)}"
        return ""

    def groups(self, places: Sequence[FactScope]) -> list[tuple[list[FactScope], str]]:
        """Group places into machines, each with what sets it apart; one group when nothing contradicts that."""
        versions, times = self._by_version(places), self._by_time(places)
        many_versions, many_times = len(set(versions.values())) > 1, len(set(times.values())) > 1
        if not many_versions and not many_times:
            return [(list(places), "")] if places else []
        parted: dict[tuple[str, ...], list[FactScope]] = defaultdict(list)
        for place in places:
            version, time = versions.get(place.key, ""), times.get(place.key, "")
            unknown = (many_versions and not version) or (many_times and not time)
            parted[
                (place.key,) if unknown else (version * many_versions, time * many_times)
            ].append(place)
        return [(group, self._apart(key)) for key, group in parted.items()]

    @staticmethod
    def _apart(key: tuple[str, ...]) -> str:
        if len(key) == 1:
            return "other loose files are of different machines"
        told = [f"version {key[0]}"] * bool(key[0]) + [f"lines of {key[1]}"] * bool(key[1])
        return f"it states {' and '.join(told)}, unlike other loose files"

    def _by_version(self, places: Sequence[FactScope]) -> dict[str, str]:
        """Return place key -> versions of its machine: what one place states together is of one machine."""
        machines: list[set[str]] = []
        for place in places:
            stated = set(self._versions.get(place.key, ()))
            if stated:
                joined = [one for one in machines if one & stated]
                machines = [one for one in machines if not one & stated] + [stated.union(*joined)]
        named = {version: " and ".join(sorted(one)) for one in machines for version in one}
        return {
            place.key: named[min(self._versions[place.key])]
            for place in places
            if self._versions.get(place.key)
        }

    def _by_time(self, places: Sequence[FactScope]) -> dict[str, str]:
        """Return place key -> times of its machine; logs that lie more than a year apart are of two."""
        known = sorted(
            (self._spans[place.key], place.key) for place in places if place.key in self._spans
        )
        runs: list[tuple[Span, list[str]]] = []
        for span, key in known:
            if runs and span[0] - runs[-1][0][1] <= GAP:
                (first, last), keys = runs.pop()
                runs.append(((first, max(last, span[1])), [*keys, key]))
            else:
                runs.append((span, [key]))
        return {key: _days(span) for span, keys in runs for key in keys}


def _times(first: str, last: str) -> Span | None:
    try:
        ends = sorted(datetime.fromisoformat(text) for text in (first, last))
    except ValueError:
        return None
    return ends[0], ends[1]


def _days(span: Span) -> str:
    return f"{span[0]:%Y-%m-%d} to {span[1]:%Y-%m-%d}"
