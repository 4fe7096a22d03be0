"""`rules fmt`: a rule file in the one layout that all rule files share.

The text is laid out anew from its tokens, so that every comment, quote and number stays as the author wrote
it. The result is read again before anybody gets it: when a value or a comment were not the same, the file
would be left alone.
"""

from __future__ import annotations

import difflib
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from analyzer.authoring.fmt.printing import print_document
from analyzer.authoring.fmt.slim import ONE_TEXT
from analyzer.authoring.fmt.tree import (
    MODELINE,
    CannotLayOutError,
    YamlNode,
    list_comments,
    read_document,
)
from analyzer.rules.language import rulefile
from analyzer.rules.language.rulefile import BadRuleError, FileSpan, RuleItem, RuleText
from analyzer.rules.repeats import BadRepeatError, write_out_repeats
from analyzer.rules.short import with_default_subject
from analyzer.runtime.errors import WriteError
from analyzer.runtime.limits import Limits

KEY_MOST = 500
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")  # YAML ends a line at them, no editor does


@dataclass(frozen=True, slots=True)
class Layout:
    """One rule file as it is and as it should be, both as bytes."""

    path: Path
    before: bytes
    after: bytes

    @property
    def is_changed(self) -> bool:
        """True when the file is not laid out as it should be."""
        return self.before != self.after

    def make_diff(self) -> str:
        """Return the difference as a unified diff; a note where only line ends or a byte order mark differ."""
        one, two = (
            _unify_ends(raw.decode()).splitlines(keepends=True) for raw in (self.before, self.after)
        )
        name = self.path.as_posix()
        text = "".join(difflib.unified_diff(one, two, name, f"{name} (formatted)"))
        if not text and self.is_changed:
            return f"{name}: only its line ends or its byte order mark differ\n"
        return text


def format_rule(text: str, name: str = "rule.yaml") -> str:
    """Return the text of a rule file well kept: order of keys, blank lines, indent, width; line ends are `\\n`.

    What the rule says, its comments and anchors stay; a first line that names a schema goes. Raises
    BadRuleError with the place when the text is no rule file.
    """
    text = _unify_ends(text)
    source = RuleText(name, text)
    found = _ODD_BREAK.search(text)
    if found:
        message = f"a line break that editors do not show (U+{ord(found[0]):04X})"
        raise source.error(
            message,
            _find_place(source, found.start()),
            "remove it, or write it as an escape in quotes",
        )
    tree = source.tree()
    if not isinstance(tree.value, dict):
        raise source.error(f"the rule must be a mapping, not {tree.what}", tree.place)
    try:
        document = read_document(text)
        _check_keys(document.root)
        result = print_document(document)
    except CannotLayOutError as error:
        raise source.error(error.message, _find_place(source, error.index), error.do) from None
    if result != text:  # where nothing changes there is nothing to prove
        # The layout must change neither values nor comments.
        try:
            again = RuleText(source.name, result).tree()
            same = list_said(tree) == list_said(again) and _list_kept(text) == _list_kept(result)
        except BadRuleError:
            same = False
        if not same:
            message = "this file cannot be formatted without changing its meaning"
            raise source.error(message, FileSpan(), "it is left as it is; please report it")
    return result


def read_layout(path: Path) -> Layout:
    """Return how a rule file is laid out and how it should be; nothing is written.

    The line ends stay those of its first line, a byte order mark goes. Raises BadRuleError.
    """
    text, raw = rulefile.read_file(path, Limits())
    result = format_rule(text.text, text.name).encode()
    first = raw.partition(b"\n")[0]
    if first.endswith(b"\r"):
        result = result.replace(b"\n", b"\r\n")
    return Layout(path, raw, result)


def write_layout(layout: Layout) -> None:
    """Put the right layout into its file, whole or not at all; mode and owner of the file stay.

    A symbolic link is left alone: what it leads to may lie in a place that no one named. Raises
    WriteError when the file cannot be written.
    """
    path = layout.path
    if path.is_symlink():
        why = "it is a symbolic link, and Backline does not write through links"
        raise WriteError("left as it is", where=str(path), why=why, do="Name the file it leads to.")
    temporary = ""
    try:
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "the file is read-only")
        state = path.stat()
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(layout.after)
            stream.flush()
            os.fsync(stream.fileno())
        if hasattr(os, "chown"):
            with suppress(PermissionError):
                os.chown(temporary, state.st_uid, state.st_gid)
        Path(temporary).chmod(state.st_mode & 0o7777)
        Path(temporary).replace(path)
        temporary = ""
    except OSError as error:
        why = error.strerror or str(error)
        raise WriteError(
            "cannot be written", where=str(path), why=why, do="It was left as it is."
        ) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def _unify_ends(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _check_keys(node: YamlNode) -> None:
    """Refuse keys that need the `? key` form; no one writes them by hand."""
    for entry in node.entries:
        if entry.key is not None and (len(entry.key.raw) > KEY_MOST or "\n" in entry.key.raw):
            message = "a key over several lines, or a very long one, cannot be formatted"
            raise CannotLayOutError(entry.start, message, "write a short key on one line")
        _check_keys(entry.value)


def _find_place(source: RuleText, index: int) -> FileSpan:
    rows = (source.text[:index] + "x").splitlines()
    return FileSpan(len(rows), len(rows[-1]))


def _list_kept(text: str) -> list[str]:
    """Return the comments that stay: all but the line that names a schema, which an editor's settings name now."""
    return sorted(one for one in list_comments(text) if not MODELINE.match(one))


def list_said(tree: RuleItem) -> object:
    """Return what a rule file says, down to its spelling, in a form in which the old and the slim layout are equal."""
    if not isinstance(tree.value, dict):
        return _say_item(tree)
    values = with_default_subject(tree.value)
    found = {}
    for key, item in values.items():
        said = _say_item(item, in_full=key == "examples")
        found[key] = [said] if key in ONE_TEXT and isinstance(said, tuple) else said
    return found


def _say_item(item: RuleItem, *, in_full: bool = False, key: str = "") -> object:
    """Return a value with the spelling of its scalars; of examples `in_full`, with repeated lines written out."""
    if isinstance(item.value, dict):
        return {
            key: _say_item(child, in_full=in_full, key=key) for key, child in item.value.items()
        }
    if isinstance(item.value, list):
        return [_say_item(child, in_full=in_full) for child in item.value]
    if item.value is None:
        return (None,)
    text = item.text
    if in_full and isinstance(item.value, str):
        with suppress(BadRepeatError):
            text = write_out_repeats(text)
        return (str, text if key == "text" else text.removesuffix("\n"))
    return (type(item.value), item.value, text)
