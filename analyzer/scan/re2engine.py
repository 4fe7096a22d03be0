"""The engine that asks RE2."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from analyzer.scan.blocks import Buffer
from analyzer.scan.compiled_pattern import Needle, Proposal, list_expressions
from analyzer.scan.pureengine import PureEngine


class Re2Engine:
    """One alternation over the block finds lines, an RE2 set tells which patterns; rest to PureEngine."""

    def __init__(self, needles: Mapping[int, Needle]) -> None:
        re2 = importlib.import_module("re2")
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = 256 << 20
        self._numbers: list[int] = []
        refused: list[int] = []
        self._set = re2.Set.SearchSet(options)
        for number, needle in needles.items():
            try:
                raw = b"(?m)" + "|".join(list_expressions(needle)).encode("ascii")
                re2.compile(raw, options)
                self._set.Add(raw)
            except re2.error:
                refused.append(number)
            else:
                self._numbers.append(number)
        self._search = None
        if self._numbers:
            self._set.Compile()
            arms = [
                f"(?:{'|'.join(list_expressions(needles[number]))})" for number in self._numbers
            ]
            self._search = re2.compile(b"(?m)" + "|".join(arms).encode("ascii"), options).search
        self._rest = (
            PureEngine({number: needles[number] for number in refused}) if refused else None
        )

    def propose(self, data: Buffer, end: int) -> list[Proposal]:
        """See Engine."""
        found = self._rest.propose(data, end) if self._rest else []
        if self._search is None:
            return found
        view = memoryview(data)[:end]
        at = 0
        while at < end and (match := self._search(view, at)):
            place = match.end() - 1
            start = data.rfind(b"\n", 0, place) + 1
            stop = data.find(b"\n", place, end)
            stop = end if stop < 0 else stop
            found += (
                (place, self._numbers[one]) for one in self._set.Match(bytes(view[start:stop]))
            )
            at = stop + 1
        return found
