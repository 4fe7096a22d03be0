"""What the site has next to the files of `docs/`: a hook of mkdocs (mkdocs.yml) that adds the made pages and mends links.

The catalog is one page an area, `rules/storage.md`; the tables, the command line and both schemas are made as the
commands print them; SECURITY.md of the repository is a page as well.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzer.authoring.pages.page_links import command_link, link_code
from analyzer.cli import main
from analyzer.commands.made_pages import list_page_makers, make_area_pages

ROOT = Path(__file__).resolve().parent.parent

BUILT = "out/site/"  # what the pages call the folder of the site
CATALOG = "rules.md"


@cache
def made_pages() -> dict[str, str]:
    """Return every page that is no file of `docs/`, by its place on the site."""
    one_file = {CATALOG, "backline.1"}  # the site has the catalog by area, and no man page
    found = {name: make() for name, make in list_page_makers(main).items() if name not in one_file}
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8").replace("](docs/", "](")
    return found | make_area_pages() | {"SECURITY.md": security}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the areas of the catalog below its overview in the menu."""
    areas = sorted(name for name in made_pages() if name.startswith("rules/"))
    for group in config["nav"]:
        for pages in group.values():
            for entry in pages:
                if isinstance(entry, dict) and CATALOG in entry.values():
                    title = next(iter(entry))
                    entry[title] = [
                        {"Overview": CATALOG},
                        *({Path(name).stem: name} for name in areas),
                    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the made pages; one that `make docs` left in the folder, which may be old, is replaced."""
    for name, text in made_pages().items():
        old = files.get_file_from_path(name)
        if old is not None:
            files.remove(old)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Return the text of a page as Python-Markdown reads it, with links to what only the site has."""
    if page.file.src_uri in made_pages():
        return markdown
    folder = Path(page.file.src_uri).parent.as_posix().removeprefix(".")

    def link_of(code: str) -> str:
        if code.startswith(BUILT):
            return code.removeprefix(BUILT)
        return command_link(code, folder)

    markdown = re.sub(
        r"^(```\w+) .*$", r"\1", markdown, flags=re.MULTILINE
    )  # a second word is no fence to it
    markdown = markdown.replace("](../SECURITY.md", "](SECURITY.md")
    return link_code(markdown, link_of)


def on_post_page(output: str, **_: Any) -> str:
    """Return a page as HTML that a screen reader and a keyboard can use."""
    return mend_html(output)


def on_post_template(output_content: str, template_name: str, **_: Any) -> str:
    """Do the same with pages that have no Markdown, such as 404.html."""
    return mend_html(output_content) if template_name.endswith(".html") else output_content


def mend_html(output: str) -> str:
    """Add what the theme lacks: landmarks for the bar and for the text, blocks of code that the keyboard scrolls.

    A cell without a text is no heading.
    """
    if 'role="main"' not in output:
        before, box, after = output.rpartition('<div class="container">')
        if box:
            output = f'{before}{box[:-1]} role="main">{after}'
    output = output.replace('<div class="navbar', '<div role="banner" class="navbar', 1)
    output = output.replace("<pre>", '<pre tabindex="0">')
    return re.sub(r"<th( [^>]*)?></th>", r"<td\1></td>", output)
