"""The newest cases of the archive, as the list of a page shows them: looked at in a thread, and not too often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from analyzer.runtime.errors import BacklineError
from analyzer.runtime.text import one_line
from analyzer.web.cases.history import History

LOOK = 30.0  # seconds after which the archive is looked at again, when somebody asks


class PastCases:
    """What was last seen of an archive; without one there is nothing.

    on_change  called when something else is seen than before, with why it cannot be seen, else ""
    """

    def __init__(self, history: History | None, on_change: Callable[[str], None]) -> None:
        self._history, self._on_change = history, on_change
        self._seen: list[dict[str, Any]] | None = None
        self._looked = 0.0
        self._task: asyncio.Future[None] | None = None
        self._closed = False

    @property
    def newest(self) -> list[dict[str, Any]]:
        """The cases as far as they are known yet, newest first."""
        return self._seen or []

    def find_record(self, case: str) -> dict[str, Any] | None:
        """Return the record of one case, None without an archive; Refusal (404) when it has none of that id."""
        found = next((one for one in self.newest if one["id"] == case), None)
        return (
            self._history.find_record(case)
            if found is None and self._history is not None
            else found
        )

    def look_again(self, *, anew: bool = False) -> None:
        """Look at the archive when that was not done lately or must be done again. Needs a running event loop."""
        lately = self._seen is not None and not anew and time.monotonic() - self._looked < LOOK
        if self._history is not None and not (self._task or lately or self._closed):
            self._task = asyncio.ensure_future(self._read_archive(self._history))

    def close(self) -> list[asyncio.Future[None]]:
        """Look no more; return what is still to be waited for."""
        self._closed = True
        return [self._task] if self._task is not None else []

    async def _read_archive(self, history: History) -> None:
        before, say = self._seen, ""
        try:
            self._seen = await asyncio.to_thread(history.list_newest)
        except BacklineError as error:
            self._seen, say = self.newest, one_line(str(error), 500)
        finally:
            self._task, self._looked = None, time.monotonic()
        if self._seen != before or say:
            self._on_change(say)
