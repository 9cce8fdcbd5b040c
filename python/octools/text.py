"""Text from files and arguments, made safe for terminals and for lines of scripts."""

from __future__ import annotations

import re
import unicodedata

from octools.errors import OctoolsError

# Control characters, and those that change the direction of text or have no meaning of their own.
UNSHOWN = ("Cc", "Cf", "Cs", "Zl", "Zp")
LINES = "\n\t"


def printable(text: str, lines: bool = False) -> str:
    r"""Write control characters as escapes such as ``\x1b``; with `lines`, line breaks stay."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if unicodedata.category(letter) not in UNSHOWN or (lines and letter in LINES)
        else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )


def require_one_line(value: object, what: str) -> str:
    """Return a text that becomes part of a line.

    Raises
    ------
    OctoolsError
        If it holds a line break or another control character, which would begin a line of its own.
    """
    text = str(value)
    if any(unicodedata.category(letter) in UNSHOWN for letter in text):
        raise OctoolsError(
            f"{what}: '{printable(text)}' contains a line break or a control character; expected "
            "text on one line"
        )
    return text


def require_name(name: object, what: str) -> str:
    """Return the name of a quantity, by the rule of the program.

    Raises
    ------
    OctoolsError
        If the name is none: letters of ASCII, digits and ``_``, no digit first, at most 100
        characters.
    """
    if isinstance(name, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", name):
        return name
    raise OctoolsError(
        f'{what}: "{printable(str(name))}" is not a name; expected letters (a-z, A-Z), digits '
        "and _, not starting with a digit, at most 100 characters"
    )
