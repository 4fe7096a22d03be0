"""The documentation as pages of the server: no network is needed, and they are those of this version.

The Markdown of `docs/` is in the wheel; a page is rendered when it is asked for. HTML in it is shown as text,
pictures are left out.

    GET /help/NAME    docs/NAME.md; lint/R001 for what the linter says
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from analyzer.web.app import Serving
from analyzer.web.wire import Refusal

if TYPE_CHECKING:
    from markdown_it.token import Token

POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
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


def routes(serving: Serving) -> list[BaseRoute]:
    """Return the route of the documentation."""
    del serving
    return [Route("/help/{name:path}", _send, methods=["GET"])]


async def _send(request: Request) -> Response:
    text = await asyncio.to_thread(page, request.path_params["name"])
    return Response(text, media_type="text/html", headers={"content-security-policy": POLICY})


@lru_cache(maxsize=16)
def page(name: str) -> str:
    """Return a page of the documentation as HTML, `page` for docs/page.md; Refusal (404) when there is none."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - on request

    text = _text(name)
    if text is None:
        raise Refusal(404, "there is no such page of the help", do='Open "page": it tells of everything on this page.')
    tool = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = tool.parse(text)
    _mend(tokens)
    title = next((tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"), name)
    body = tool.renderer.render(tokens, tool.options, {})
    body = body.replace("<pre>", '<pre tabindex="0">')  # a wide block is scrolled by the keyboard as well
    return _FRAME.format(title=escape(title.replace("`", "")), body=body)


def anchor(heading: str) -> str:
    """Return the id of a heading, as a link in the documentation names it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower())


def _text(name: str) -> str | None:
    if not _NAME.fullmatch(name):
        return None
    beside = Path(__file__).resolve().parents[2] / "docs"
    if beside.is_dir():  # a checkout
        file = beside / f"{name}.md"
        return file.read_text(encoding="utf-8") if file.is_file() else None
    room, _, last = name.rpartition("/")
    packed = resources.files("analyzer.lintpages" if room else "analyzer.docpages") / f"{last}.md"
    return packed.read_text(encoding="utf-8") if packed.is_file() else None


def _mend(tokens: Sequence[Token]) -> None:
    """Give headings their ids, lead links to our pages or out of the window, and leave pictures out."""
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[at + 1].content))
        for one in token.children or ():
            if one.type == "link_open":
                _lead(one)
            elif one.type == "image":
                one.type, one.tag, one.content = "text", "", ""


def _lead(link: Token) -> None:
    to = str(link.attrGet("href") or "")
    if to.startswith(("http:", "https:")):
        link.attrSet("target", "_blank")
        link.attrSet("rel", "noopener noreferrer")
    elif found := _BETWEEN.fullmatch(to):
        link.attrSet("href", f"{found[1]}{found[2] or ''}")
    elif not to.startswith("#"):
        del link.attrs["href"]  # a file of the source, which is not here
