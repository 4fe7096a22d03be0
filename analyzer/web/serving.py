"""One run of `backline serve`, from the socket to the removal of what was uploaded."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from pathlib import Path

from analyzer.rules.run_options import RunOptions
from analyzer.web import api_page, comparisons, help_pages, log_lines
from analyzer.web.cases.app import CaseManagerApi, Serving, make_application
from analyzer.web.cases.case_manager import CaseManager as Real
from analyzer.web.cases.upload import Uploads
from analyzer.web.guard.bounds import Bounds
from analyzer.web.guard.place import PrivatePlace, remove_leftovers
from analyzer.web.guard.session import PageSession
from analyzer.web.questions import library
from analyzer.web.rules import rule_editor
from analyzer.web.server import ADDRESS, Server, bind_socket, port_of

MakeManager = Callable[[PrivatePlace, str], CaseManagerApi]


def serve_page(
    port: int = 0,
    archive: str = "",
    work_dir: Path | None = None,
    *,
    say: Callable[[str], None],
    open_browser: bool = True,
    bounds: Bounds | None = None,
    make_manager: MakeManager | None = None,
    how: RunOptions | None = None,
    made_pages: Mapping[str, Callable[[], str]] | None = None,
) -> None:
    """Serve until a signal says stop; then remove the private folder.

    how         further rules and settings, for the cases and for the rules that are tried
    say         called with the line that tells the address
    made_pages  pages of the help that are made of the program, by the name of the file

    Raises BacklineError when the port or the folder cannot be used.
    """
    bounds, how = bounds or Bounds(), how or RunOptions()
    remove_leftovers(work_dir)
    with bind_socket(port) as listener:
        place = PrivatePlace.make_folder(work_dir)
        try:
            session = PageSession(port_of(listener))
            manager = (
                make_manager(place, archive)
                if make_manager
                else _make_server_config(place, archive, how)
            )
            serving = Serving(
                session,
                place,
                Uploads(place, bounds),
                manager,
                archive,
                bounds,
                how,
                made_pages=made_pages or {},
            )
            url = f"http://{ADDRESS}:{session.port}/#"

            def ready() -> None:
                say(url + session.token)
                if open_browser and _has_screen():
                    threading.Thread(
                        target=webbrowser.open, args=(url + session.make_ticket(),), daemon=True
                    ).start()

            app = make_application(
                serving,
                library.library_routes,
                rule_editor.rule_routes,
                comparisons.comparison_routes,
                log_lines.log_routes,
                help_pages.help_routes,
                api_page.api_routes,
            )
            Server(app, bounds, on_ready=ready, on_stop=serving.stopping.set).run([listener])
        finally:
            place.remove_all()


def _has_screen() -> bool:
    """Say whether a browser would open a window; over SSH it would be one of text, in our own terminal."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _make_server_config(place: PrivatePlace, archive: str, how: RunOptions) -> CaseManagerApi:
    manager: CaseManagerApi = Real(place, archive, how)
    return manager
