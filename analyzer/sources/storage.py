"""Storages fsspec knows, by URL: opened lazily, their errors reported without secrets."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from analyzer.runtime.errors import BacklineError, UsageError
from analyzer.runtime.text import one_line

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")  # one letter is a drive of Windows
_HTTP = ("http", "https")
_SECRETS = re.compile(r"(?<=://)[^/@\s]*@|\?[^\s'\">)]*")
_LISTINGS = (
    64  # folders whose listing fsspec keeps, so that opening a file asks the storage nothing
)
# Names of exception classes (botocore, aiohttp, paramiko, …), so that none of them is imported here.
_LOST = {
    "HTTPClientError", "ConnectionError", "ClientConnectionError", "ClientPayloadError", "IncompleteRead",
    "SSHException", "EOFError", "ServerDisconnectedError", "ResponseParserError",
}  # fmt: skip
_NO_CREDENTIALS = {
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "TokenRetrievalError",
}


class MissingExtraError(BacklineError):
    """A package is not installed that is needed beyond one machine."""


def is_url(text: str) -> bool:
    """Say whether a word of the command line is an URL and not a path."""
    return bool(_URL.match(text))


def hide_login(url: str) -> str:
    """Return an URL without user, password and query."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() in _HTTP:
        rest = rest.partition("?")[0].partition("#")[0]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def filesystem(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of an URL and the name of the thing on it; the storage is not asked.

    Raises UsageError for an URL that cannot be used, MissingExtraError when a package is missing.
    """
    scheme, _, rest = url.partition("://")
    where = hide_login(url)
    if "::" in scheme or "::" in re.split(r"[/?]", rest)[0] or "://" in where.partition("://")[2]:
        raise UsageError(
            "chained URLs are not supported", where=where, do="Give the URL of the storage itself."
        )
    try:
        import fsspec  # noqa: PLC0415 - heavy

        kind = fsspec.get_filesystem_class(scheme.lower())
    except ValueError:
        raise UsageError(
            "unknown kind of URL", where=where, do="Use s3://, file:// or a path."
        ) from None
    except ImportError:
        raise MissingExtraError(
            f"{scheme}:// needs a package that is not installed",
            where=where, do="Install it: pip install 'backline[cluster]'.",
        ) from None  # fmt: skip
    if scheme.lower() in ("s3", "s3a") and "@" in rest.partition("/")[0]:
        raise UsageError(
            "credentials in an s3:// URL are not accepted", where=where,
            do="Put them into the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or into a profile.",
        )  # fmt: skip
    try:
        options = kind._get_kwargs_from_urls(url)
        return kind(**options, max_paths=_LISTINGS), str(kind._strip_protocol(url))
    except Exception as error:  # noqa: BLE001 - a storage raises what it likes
        why = plain_error(error).strerror or ""
        raise BacklineError(
            "the storage cannot be used", where=where, why=why, do="Check the URL."
        ) from None


class Storage:
    """A file system of fsspec as one case sees it; `use` gives it for one request.

    A lost connection (fsspec has tried several times by then) is not tried again for each further
    file of the case: what is left of it fails at once.
    """

    def __init__(self, fs: Any) -> None:
        self._fs = fs
        self._lost: OSError | None = None

    @contextmanager
    def use(self) -> Iterator[Any]:
        """Give the file system; every error becomes an OSError that says in plain words what is wrong."""
        if self._lost:
            raise ConnectionError(*self._lost.args)
        try:
            yield self._fs
        except Exception as error:  # noqa: BLE001 - a storage raises what it likes
            plain = plain_error(error)
            if isinstance(plain, ConnectionError):
                self._lost = plain
            raise plain from None


def plain_error(error: Exception) -> OSError:
    """Return an error of a storage in plain words: not found, denied, changed, connection lost, or its own message."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "no such file or folder")
    if isinstance(error, PermissionError):
        return PermissionError(errno.EACCES, "access denied by the storage")
    if "FileExpired" in names:
        return OSError(errno.EIO, "changed while it was being read")
    if names & _NO_CREDENTIALS:
        return PermissionError(errno.EACCES, "no credentials for the storage were found")
    if isinstance(error, TimeoutError | ConnectionError) or names & _LOST:
        return ConnectionError(errno.ECONNRESET, "the connection to the storage failed")
    message = one_line(_SECRETS.sub("", getattr(error, "strerror", None) or str(error)), 200)
    return OSError(
        errno.EIO,
        f"the storage failed: {message}"
        if message
        else f"the storage failed ({type(error).__name__})",
    )
