"""Comments of C++ headers as Doxygen reads them: `//` before and behind declarations to `///`."""

import re

# Text before a brace that encloses declarations. All other braces enclose statements.
DECLARES = re.compile(r'(?:inline\s+)?(?:namespace|class|struct|union|enum|extern\s+"C")\b')
NO_TEXT = re.compile(r"//\s*(?:---|===|NOLINT|clang-format)")
STRING = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'')
SPECIAL = re.compile(r"[\\@<>&\"]|::")


class Scope:
    """The position in a header: open braces and parentheses, and the statement that has begun."""

    def __init__(self) -> None:
        self.braces: list[bool] = []  # whether declarations are inside
        self.parentheses = 0
        self.statement = ""

    def declares(self) -> bool:
        """Return whether the position is one of declarations."""
        return all(self.braces) and self.parentheses == 0

    def advance(self, code: str) -> None:
        """Move behind a line of code without its comments."""
        if code.lstrip().startswith("#"):
            return
        for letter in STRING.sub('""', code) + "\n":
            if letter == "{":
                self.braces.append(bool(DECLARES.match(without_template(self.statement))))
            elif letter == "}" and self.braces:
                self.braces.pop()
            self.parentheses += (letter == "(") - (letter == ")")
            self.statement = "" if letter in "{};" else self.statement + letter


def without_template(statement: str) -> str:
    """Remove `public:` and `template <...>` from the beginning of a statement."""
    statement = re.sub(r"^\s*(?:(?:public|protected|private)\s*:\s*)*", "", statement)
    if not statement.startswith("template"):
        return statement
    depth = 0
    for n, letter in enumerate(statement):
        depth += (letter == "<") - (letter == ">")
        if letter == ">" and depth == 0:
            return without_template(statement[n + 1 :])
    return statement


def escaped(text: str) -> str:
    """Protect what Doxygen would take for commands or HTML."""
    return SPECIAL.sub(lambda found: "\\" + found[0], text)


def comment_column(line: str) -> int:
    """Find where the comment of a line begins; -1 if it has none."""
    blank = STRING.sub(lambda found: "x" * len(found[0]), line)
    return blank.find("//")


def converted(header: str) -> str:
    """Convert the comments of a header: one line becomes one line."""
    lines, scope, behind = header.splitlines(), Scope(), -1
    result, block = [], []
    for line in lines:
        column = comment_column(line)
        code = (line if column < 0 else line[:column]).rstrip()
        text = line[column + 2 :].strip() if column >= 0 else ""
        if column >= 0 and not code and column == behind:
            result.append(f"{line[:column]}///< {escaped(text)}")
        elif column >= 0 and not code:
            block.append(len(result))
            result.append(line)
        else:
            document(result, block, code, scope)
            block = []
            scope.advance(code)
            is_behind = code.endswith((";", ",", "}")) and not code.lstrip().startswith("}")
            behind = column if is_behind and scope.declares() else -1
            is_text = behind >= 0 and not NO_TEXT.match(line[column:])
            result.append(f"{code}  ///< {escaped(text)}" if is_text else code)
    return "\n".join(result) + "\n"


def document(result: list[str], block: list[int], code: str, scope: Scope) -> None:
    """Make a block of comments the description of the declaration or file that follows it."""
    is_file = code.startswith("#pragma once")
    while block and NO_TEXT.match(result[block[0]].strip()):
        block = block[1:]
    if not block or not (is_file or scope.declares()):
        return
    if not is_file and (not code or code.lstrip().startswith(("#", "}", "public:", "private:"))):
        return
    for n in block:
        indent, text = result[n].split("//", 1)
        result[n] = f"{indent}/// {escaped(text.strip())}"
    if is_file:
        result[block[-1]] += " \\file"
