"""The files of the page and where they are served. None of them holds a secret."""

from __future__ import annotations

from importlib import resources

from analyzer.report.styles import add_dark_choice, read_styles

_MODULES = (
    "page", "dom", "link", "drop", "upload", "cases", "case", "compare", "rename", "when", "lists", "log",
    "library", "archived", "bench", "backtest", "drafts",
)  # fmt: skip

# What the page is made of: path -> (name for `content`, kind). Answered at the root, without the cookie.
PAGE: dict[str, tuple[str, str]] = {
    "/": ("page.html", "text/html"),
    "/base.css": ("base.css", "text/css"),
    "/page.css": ("page.css", "text/css"),
    "/library.css": ("library.css", "text/css"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in _MODULES},
}


def read_page_file(name: str) -> bytes:
    """Return what the browser gets for a file of web/page; base.css is the report's, so that both look alike."""
    if name == "base.css":
        return read_styles(name).encode()
    file = resources.files("analyzer.web.page") / name
    return (
        add_dark_choice(file.read_text(encoding="utf-8")).encode()
        if name.endswith(".css")
        else file.read_bytes()
    )
