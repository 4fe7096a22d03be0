"""The texts of a rule file laid out: plain on one line or folded, block texts with their lines, expressions.

A paragraph of prose is filled to MOST. The lines of an expression stay as the author wrote them while all fit.
"""

from __future__ import annotations

from analyzer.authoring.fmt.tree import YamlNode

MOST = 120
DEPTH = 3  # brackets in brackets at which an expression is still broken before `and` and `or`


def indent_line(line: str, column: int) -> str:
    """Return a line of a text that belongs to an entry at `column`; a blank one stays empty."""
    if line:
        return " " * (column + 2) + line
    return ""


def write_plain(
    node: YamlNode, column: int, start: int, *, expression: bool, alone: bool
) -> list[str]:
    """Return a plain scalar on one line, or as a folded text when that would be too wide.

    column  of the entry the scalar is the value of
    start   column at which the scalar itself would begin on its line
    alone   no comment stands beside it, which would end it there
    """
    if node.kind == "scalar":
        flat = join_lines(node.raw)
    else:
        flat = node.raw
    if "\n" not in flat and (" " not in flat or start + len(flat) <= MOST):
        return [flat]
    if (
        "\n" not in flat
        and alone
        and not expression
        and (body := _fill_plain(flat, MOST - column - 2, start - column - 2))
    ):
        return [body[0], *(indent_line(line, column) for line in body[1:])]
    body = []
    for number, paragraph in enumerate(flat.split("\n")):
        body += ([""] if number else []) + _fill_lines(
            paragraph, MOST - column - 2, 0 if expression else None
        )
    return [">-", *(indent_line(line, column) for line in body)]


def _fill_plain(text: str, width: int, used: int) -> list[str]:
    """Break a plain text behind its key; none where a line of it would be read as something else.

    used  what stands before the text on the first line, beyond the indent of the others
    """
    if ": " in text or " #" in text or text.endswith(":") or "  " in text or "\t" in text:
        return []
    first, *rest = _fill_lines(("\0" * used + text) if used > 0 else text, width, None)
    return [first.lstrip("\0"), *rest]


def join_lines(raw: str) -> str:
    """Return the text of a plain scalar over several lines: a break is a space, a blank line a break."""
    parts = [line.strip(" \t") for line in raw.split("\n")]
    text = parts[0]
    blank = 0
    for part in parts[1:]:
        if not part:
            blank += 1
            continue
        text += ("\n" * blank or " ") + part
        blank = 0
    return text


def write_block_text(node: YamlNode, column: int, *, expression: bool) -> tuple[str, list[str]]:
    """Return the head and the lines of a literal or folded text; the value stays what it is."""
    head = node.raw.partition("\n")[0].partition("#")[0].strip()
    ends = len(node.value) - len(node.value.rstrip("\n"))
    lines: list[str] = []
    if node.style == "|":
        if node.value.strip("\n"):
            lines = node.value.rstrip("\n").split("\n")
    else:
        # Paragraphs of a folded text that are too wide are broken anew.
        indent = column + 2
        level = 0 if expression else None
        paragraph: list[str] = []

        def flush() -> None:
            if paragraph and (not expression or any(indent + len(row) > MOST for row in paragraph)):
                lines.extend(_fill_lines(" ".join(paragraph), MOST - indent, level))
            else:
                lines.extend(paragraph)
            paragraph.clear()

        for row in _read_content(node, head):
            if row and not row.startswith((" ", "\t")):
                paragraph.append(row)
                continue
            flush()
            lines.append(row)
        flush()
    if not lines:
        keep = "-" if "-" in head else ""
        if ends:
            keep = "+"
        return node.style + keep, [""] * ends
    keep = {0: "-", 1: ""}.get(ends, "+")
    first = next((line for line in lines if line), "")
    explicit = "2" if first.startswith((" ", "\t")) else ""
    indented = [indent_line(line, column) for line in lines]
    return node.style + explicit + keep, indented + [""] * (ends - 1)


def _read_content(node: YamlNode, head: str) -> list[str]:
    """Return the lines of a block text without their indent and without blank lines at the end."""
    rows = node.raw.split("\n")[1:]
    digits = [sign for sign in head if sign.isdigit()]
    full = [row for row in rows if row.strip(" ")]
    indent = 0
    if full:
        indent = len(full[0]) - len(full[0].lstrip(" "))
    if digits:
        indent = node.indent + int(digits[0])
    rows = [row[indent:] for row in rows]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _fill_lines(text: str, width: int, level: int | None) -> list[str]:
    """Break a text at single spaces into lines of at most `width`.

    level  of an expression: it is broken before `and` and `or`, those in fewer brackets first; None for prose
    """
    lines: list[str] = []
    # Wider gaps, where a break would change the text, and `commands` stay whole.
    groups: list[list[str]] = []
    last, in_command = "", False
    for piece in text.split(" "):
        loose = bool(piece and last) and last[-1] != "\t" and piece[0] != "\t"
        if groups and not (loose and not in_command):
            groups[-1].append(piece)
        else:
            groups.append([piece])
        in_command ^= piece.count("`") % 2 == 1
        last = piece
    words = [" ".join(group) for group in groups]
    if level is None:
        parts = words
    else:
        parts = _split_parts(words, level)
    for part in parts:
        if lines and len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] += " " + part
        elif level is not None and len(part) > width:
            lines += _fill_lines(part, width, level + 1 if level < DEPTH else None)
        else:
            lines.append(part)
    return lines


def _split_parts(words: list[str], level: int) -> list[str]:
    """Join words of an expression to parts; one begins at each `and` and `or` inside `level` open brackets."""
    parts: list[list[str]] = []
    open_brackets, quote = 0, ""
    for word in words:
        if not parts or (word in ("and", "or") and not quote and open_brackets == level):
            parts.append([word])
        else:
            parts[-1].append(word)
        for sign in word:
            if quote:
                if sign == quote:
                    quote = ""
            elif sign in "\"'":
                quote = sign
            else:
                open_brackets += (sign in "([") - (sign in ")]")
    return [" ".join(part) for part in parts]
