"""The files of the page: which there are, and where they are served. None of them holds a secret."""

from __future__ import annotations

_MODULES = (
    "page", "dom", "link", "drop", "upload", "cases", "case", "lists", "library", "archived", "bench", "backtest",
)  # fmt: skip

# What the page is made of: path -> (file of web/page, kind). Answered without the cookie.
PAGE: dict[str, tuple[str, str]] = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/library.css": ("library.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in _MODULES},
}
