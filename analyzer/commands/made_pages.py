"""The pages of the documentation that are made from the program itself; none of them is a file of the repository.

`make docs` and the build of a wheel write them; `backline rules doc`, `backline tables --doc`, `backline rules schema`
and `backline show --schema` print them, and the help of the drag-in page makes them when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from analyzer import __version__, rules
from analyzer.authoring.pages import pages, schema
from analyzer.case.case_file import make_schema
from analyzer.commands import manual
from analyzer.commands.plain import speak_plainly
from analyzer.commands.showing import write_text
from analyzer.rules import fact_tables

Command = TypeVar("Command", bound=Callable[..., Any])

TABLES_COMMAND = "backline tables --doc"


def list_page_makers(main: click.Group) -> dict[str, Callable[[], str]]:
    """Return how each page is made, by the name of its file.

    main  the `backline` command, whose help two of the pages are made of
    """
    return {
        "rules.md": make_rules_page,
        "tables.md": make_tables_page,
        "cli.md": partial(manual.write_cli_page, main),
        "backline.1": partial(manual.write_man_page, main, __version__),
        "rule-schema.json": make_rule_schema,
        "case-schema.json": make_case_schema,
    }


def make_rules_page() -> str:
    """Return the page of the shipped catalog, retired rules as well."""

    return pages.rules_page(rules.load(retired=True, examples=True))


def make_area_pages() -> dict[str, str]:
    """Return the page of the shipped catalog as one page an area, for the site."""

    return pages.area_pages(rules.load(retired=True, examples=True))


def make_tables_page() -> str:
    """Return the page of all tables that the parsers and the shipped catalog declare."""

    return pages.tables_page(fact_tables.list_declared(), TABLES_COMMAND)


def make_rule_schema() -> str:
    """Return the JSON Schema of a rule file."""

    return schema.write_schema(fact_tables.list_declared())


def make_case_schema() -> str:
    """Return the JSON Schema of the case document."""

    return make_schema()


def printing_option(
    name: str, make: Callable[[], str], help_text: str
) -> Callable[[Command], Command]:
    """Return an option that prints a page and ends the command; the command needs no argument then."""

    @speak_plainly
    def print_page() -> None:
        write_text(make())

    def answer(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            print_page()
            context.exit()

    return click.option(
        name, is_flag=True, is_eager=True, expose_value=False, callback=answer, help=help_text
    )
