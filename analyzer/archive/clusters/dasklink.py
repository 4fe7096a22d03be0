"""The connection to a Dask scheduler, or a local cluster of processes on this machine."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from analyzer.archive.clusters import worker_protocol
from analyzer.runtime import safepath
from analyzer.runtime.errors import UsageError
from analyzer.runtime.text import one_line
from analyzer.sources.storage import MissingExtraError, is_url
from analyzer.workers.resources import count_cores, find_memory

LOCAL = "local"
ANSWER = 10.0  # seconds within which a scheduler answers


@dataclass(frozen=True, slots=True)
class Tls:
    """Paths of PEM files: the authority that all trust, certificate and key of this machine."""

    ca: str = ""
    cert: str = ""
    key: str = ""


class Link:
    """The connection with a scheduler, and the cluster itself when it is a local one."""

    def __init__(self, scheduler: str, workers: int, tls: Tls) -> None:
        try:
            import distributed  # noqa: PLC0415 - heavy, and an extra
        except ImportError:
            raise MissingExtraError(
                "a cluster needs packages that are not installed",
                do="Install them: pip install 'backline[cluster]'.",
            ) from None
        self._distributed: Any = distributed
        # Let the libraries of the cluster say nothing on stderr: what matters is in our
        # words.
        names = [
            name
            for name in logging.root.manager.loggerDict
            if name.partition(".")[0] in ("distributed", "tornado")
        ]
        for name in [*names, "distributed", "tornado", "asyncio"]:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._fetchers = ThreadPoolExecutor(4, thread_name_prefix="answers")
        self._client: Any = None
        self._line: Any = None
        self._local: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.why = ""
        self.address = scheduler
        self._security = self._make_security(scheduler, tls)
        self._job_runner = worker_protocol.job_runner()
        self._want = worker_protocol.tool_print()
        if scheduler == LOCAL:
            start_workers = workers or count_cores()
            memory = find_memory() * 8 // 10
            safepath.for_children()
            self._folder = tempfile.TemporaryDirectory(
                prefix="backline-dask-", ignore_cleanup_errors=True
            )
            self._local = self._distributed.LocalCluster(
                n_workers=start_workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                memory_limit=memory // start_workers, dashboard_address=None,
                local_directory=self._folder.name, silence_logs=logging.CRITICAL,
            )  # fmt: skip
            self.address = str(self._local.scheduler_address)

    def _make_security(self, scheduler: str, tls: Tls) -> Any:
        files = [tls.ca, tls.cert, tls.key]
        if scheduler != LOCAL and not is_url(scheduler):
            raise UsageError(
                "not the address of a scheduler",
                where=scheduler,
                do="Give tcp://HOST:PORT or local.",
            )
        if not any(files):
            return None
        if not all(files) or not scheduler.startswith("tls://"):
            what = (
                "TLS needs an address tls://HOST:PORT, and authority, certificate and key together"
            )
            raise UsageError(what, where=scheduler, do="Give --tls CA CERT KEY.")
        for file in files:
            if not os.path.isfile(file):  # noqa: PTH113 - kept as the text that was given
                raise UsageError("no such file", where=file, do="Check the path.")
        return self._distributed.Security(
            tls_ca_file=tls.ca,
            tls_client_cert=tls.cert,
            tls_client_key=tls.key,
            require_encryption=True,
        )

    def connect(self) -> bool:
        """Connect again; False when no one answers, and `why` holds the reason."""
        self._leave_scheduler()
        began = time.monotonic()
        try:
            with (
                warnings.catch_warnings()
            ):  # of other versions of packages; what matters is compared by us
                warnings.simplefilter("ignore")
                self._client = self._distributed.Client(
                    self.address, timeout=ANSWER, security=self._security, set_as_default=False
                )
        except Exception as error:  # noqa: BLE001 - no route, no scheduler, no TLS: all reported alike
            self.why = one_line(str(error), 200) or type(error).__name__
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))
            return False
        self._line = self._client.scheduler_comm
        return True

    def list_workers(self) -> set[str] | None:
        """Return the addresses of the workers; None when the scheduler is lost, or was and has forgotten our jobs."""
        try:
            # Dask's client may have found a new scheduler, or the same one again, between two looks.
            if self._client.status != "running" or self._client.scheduler_comm is not self._line:
                return None
            return set(self._client.nthreads(callback_timeout=ANSWER))
        except Exception as error:  # noqa: BLE001 - whatever it is, there was no answer
            self.why = one_line(str(error), 200) or type(error).__name__
            return None

    def submit_parcel(self, parcel: bytes, worker: str, key: str) -> Any:
        """Send a job to a worker."""
        return self._client.submit(
            self._job_runner,
            self._want,
            parcel,
            key=key,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )

    def when_done(self, future: Any, heard: Callable[[Any], None]) -> None:
        """Call `heard` with the answer to a job, or with None when there will be none; from another thread.

        The answer lies on the worker: one that died or sleeps since then must not hold up those who wait for others.
        """

        def fetch() -> None:
            answer = None
            with suppress(Exception):  # then there is no answer
                if future.status == "finished":
                    answer = future.result(timeout=ANSWER)
            heard(answer)

        def fetched_by_another(_: Any) -> None:
            with suppress(RuntimeError):  # the run is over
                self._fetchers.submit(fetch)

        future.add_done_callback(fetched_by_another)

    def was_there(self, key: str) -> bool:
        """Say whether a job had reached its worker when that died; True when the scheduler does not know."""

        def look(dask_scheduler: Any) -> bool:
            task = dask_scheduler.tasks.get(key)
            return task is None or task.suspicious > 0

        try:
            return bool(self._client.run_on_scheduler(look))
        except Exception:  # noqa: BLE001 - then it is better to count one death too many
            return True

    def ask_worker(self, worker: str) -> Any:
        """Ask a worker for a sign of life; the answer comes when it has nothing else to do."""
        return self._client.submit(
            time.time, workers=[worker], allow_other_workers=False, pure=False
        )

    def _leave_scheduler(self) -> None:
        if self._client is not None:
            with suppress(Exception):  # the scheduler may be gone
                self._client.close(timeout=2)
            self._client = None

    def close(self) -> None:
        """Go; a local cluster ends."""
        self._fetchers.shutdown(wait=False, cancel_futures=True)
        self._leave_scheduler()
        if self._local is not None:
            with suppress(Exception):  # processes that are gone already
                self._local.close(timeout=10)
            self._local = None
        if self._folder is not None:
            self._folder.cleanup()
