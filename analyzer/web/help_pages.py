"""The documentation as pages of the server: no network is needed, and they are those of this version.

The Markdown of `docs/` is in the wheel; a page is rendered when it is asked for. Pages of the catalog, of tables and of
the command line are no files: they are made then. HTML in a page is shown as text, pictures are left out.

    GET /help/NAME    docs/NAME.md; lint/R001 for what the linter says
"""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from html import escape
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from analyzer.authoring.pages.page_links import command_link, link_code
from analyzer.web.cases.app import Serving
from analyzer.web.guard.wire import Refusal

if TYPE_CHECKING:
    from markdown_it.token import Token

POLICY = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
WAY_ON = 'Open "page": it tells of everything on this page.'
_NAME = re.compile(r"(?:lint/)?[A-Za-z0-9][\w-]*")
_BETWEEN = re.compile(r"((?:lint/|\.\./)?[\w-]+)\.md(#.*)?")  # a link from page to page
_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} - Backline help</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/base.css">
<link rel="stylesheet" href="/page.css">
</head>
<body class="help">
<header><p class="brand">Backline help</p></header>
<main>
{body}</main>
</body>
</html>
"""


def help_routes(serving: Serving) -> list[BaseRoute]:
    """Return the route of the documentation."""
    book = HelpBook(serving.made_pages)

    async def send(request: Request) -> Response:
        text = await asyncio.to_thread(book.render_page, request.path_params["name"])
        return Response(text, media_type="text/html", headers={"content-security-policy": POLICY})

    return [Route("/help/{name:path}", send, methods=["GET"])]


class HelpBook:
    """The pages of the help: files of `docs/`, and those that are made of the program when they are asked for.

    made_pages  how to make a page, by the name of its file; it goes before a file of that name, which may be old
    """

    def __init__(self, made_pages: Mapping[str, Callable[[], str]]) -> None:
        self._made_pages = made_pages
        self.render_page = lru_cache(maxsize=16)(self._render_page)

    def _render_page(self, name: str) -> str:
        """Return a page of the documentation as HTML, `page` for docs/page.md; Refusal (404) when there is none."""
        from markdown_it import MarkdownIt  # noqa: PLC0415 - on request

        if not self._has_page(name):
            raise Refusal(404, "there is no such page of the help", do=WAY_ON)
        tool = MarkdownIt("commonmark", {"html": False}).enable("table")
        make = self._made_pages.get(f"{name}.md")
        if make:
            text = make()
        else:
            folder = posixpath.dirname(name)
            text = link_code(
                _page_file(name).read_text(encoding="utf-8"), partial(command_link, folder=folder)
            )
        tokens = tool.parse(text)
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                token.attrSet("id", make_anchor(tokens[at + 1].content))
            for one in token.children or ():
                if one.type == "link_open":
                    self._adapt_link(one, name)
                elif one.type == "image":
                    one.type, one.tag, one.content = "text", "", ""
        title = next(
            (tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"),
            name,
        )
        body = tool.renderer.render(tokens, tool.options, {})
        body = body.replace(
            "<pre>", '<pre tabindex="0">'
        )  # a wide block is scrolled by the keyboard as well
        return _FRAME.format(title=escape(title.replace("`", "")), body=body)

    def _has_page(self, name: str) -> bool:
        if not _NAME.fullmatch(name):
            return False
        return f"{name}.md" in self._made_pages or _page_file(name).is_file()

    def _adapt_link(self, link: Token, name: str) -> None:
        """Lead a link of the page `name` to another page of the help; one that is not there becomes plain text."""
        to = str(link.attrGet("href") or "")
        if to.startswith("#"):
            return
        if to.startswith(("http:", "https:")):
            link.attrSet("target", "_blank")
            link.attrSet("rel", "noopener noreferrer")
            return
        found = _BETWEEN.fullmatch(to)
        if found and self._has_page(
            posixpath.normpath(posixpath.join(posixpath.dirname(name), found[1]))
        ):
            link.attrSet("href", f"{found[1]}{found[2] or ''}")
        else:
            del link.attrs["href"]  # a file of the source, which is not here


def make_anchor(heading: str) -> str:
    """Return the id of a heading, as a link in the documentation names it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


def _page_file(name: str) -> Traversable:
    """Return the file of a page: of `docs/` in a checkout, of the package where it is installed."""
    checkout = Path(__file__).resolve().parents[2] / "docs"
    if checkout.is_dir():
        return checkout / f"{name}.md"
    room, _, last = name.rpartition("/")
    return resources.files("analyzer.lintpages" if room else "analyzer.docpages") / f"{last}.md"
