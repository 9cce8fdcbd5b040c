"""Wording of what Octant says: descriptions of parameters, errors, warnings, log lines.

A description of a parameter is a noun phrase that stands alone. Messages use the terms of the field
and do not personify the program. Comments, documentation and identifiers contain no retired words
either.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

LITERAL = r'"(?:\\.|[^"\\\n])*"'
LITERALS = rf"((?:{LITERAL}\s*)+)"
DESCRIPTIONS = [
    re.compile(rf"\.meaning\s*=\s*(?:std::string\(|fmt::format\()?\s*{LITERALS}"),
    re.compile(rf'^\s*(?:mass|length)\("problem\.\w+", [\w.]+,\s*{LITERALS}', re.MULTILINE),
]
NO_SUBJECT = re.compile(
    r"(?:Of|Its?|They|Their|That|Then|Those|These|How|In which|Another|Most|Whether|What|Where|"
    r"When|Which|By|As|From where|For how|Without|With)\b"
)
LEANS = re.compile(r"\b(?:likewise|as many|these|the same as)\b", re.IGNORECASE)

COMMENT = re.compile(rf"{LITERAL}|//[^\n]*")
PYTHON_TEXT = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|#[^\n]*')
LEAST_WORDS = 5  # of a literal that is taken for a message; shorter ones may be names of phases
PYTHON_CALLS = re.compile(r"Error$|^(?:print|warn|warning|info|error|exit|say|note)$")

# Retired words of messages, and their replacements.
RETIRED = {
    r"\banew\b": "again",
    r"\bmended\b": "restored",
    r"\bobey(?:s|ed)?\b": "applied",
    r"\bverdicts?\b": "comparison, validation",
    r"\b(?:owed|askers?|nursery|homing|feigns?|asks|wish(?:es|ed)?)\b": "a term of the field",
    r"\bfilms?\b": "movie",
    r"\bbooks of\b|\bleaves the books\b": "budget",
    r"\bknows? (?:of|nothing|no)\b|\bnobody knows\b": "does not support, has no",
    r"\bneeds? to know\b": "requires",
    r"\bdo(?:es)? not know\b": "does not support",
    r"\bmakes? no sense\b": "is not valid; expected ...",
    r"\bmeans nothing\b": "is not supported with",
    r"\bexcludes? each other\b": "is incompatible with",
    r"\bcomes? into being\b": "is created",
    r"\bnowhere near\b": "is too small to reach",
    r"\bstands? in\b": "is used instead",
    r"\bthe run goes on\b": "the run continues",
    r"\bfalls by\b": "requires",
    r"\bthat is meant\b|\bwhich is meant\b": "is intended",
    r"\bours\b": "that of Octant",
    r"\bsomewhere\b|\bof nobody\b": "where: cell, rank, row",
    r"\bmake the folder\b": "create the directory",
    r"\b(?:is|are) no unit\b|\bis no name\b|\bis no grafic": "is not a ...",
    r"\bholds no\b|\bhold no\b": "contains no",
    r"\bis there already\b|\bis taken\b": "already exists, is already in use",
    r"\bmust ascend\b|\bdoes not ascend\b": "increasing",
    r"\b(?:a|the|list of) texts?\b(?! (?:file|table))": "string",
    r"\bof the kind\b": "of type",
    r"\bgive it\b": "set it",
    r"\b(?:is|are) damaged\b": "is corrupt",
    r"\bdownload the file again\b|\bgenerate the file again\b": "replace the file",
    r"\boutside of the domain\b": "outside the domain",
    r"\bmirror images\b": "image masses",
    r"\bin hydrogen nuclei\b": "hydrogen number density",
    r"\bLoehner\b": "Löhner",
    r"\b(?:measures|tries) all and takes\b": "times all ... and uses the fastest",
    r"\ban expression of\b": "an expression in",
    r"^(?:its|it is|it has|it holds|they are)\b": "a message that names its subject",
    r"\b(?:is|are) not read\b|\bnot read:": "ignored",
    r"\bcut-outs?\b": "coarsened snapshots, slices",
    r"\bsides? along\b|\b(?:lower|upper) sides?\b": "boundary",
    r"\bof several (?:outputs|runs)\b": "of different ...",
    r"\b(?:goes|go|going) on\b": "continue",
    r"\btakes? turns\b": "share",
    r"\bin the mean\b": "on average",
    r"\bexists already\b": "already exists",
    r"\bthere must be\b": "expected ..., found ...",
    r"\bas (?:it|they) lies?\b": "without byte swapping",
    r"\b(?:is|it is) no (?:plain|regular|whole|multiple)\b": "is not a ...",
    r"\b(?:is|are) asked (?:for|of)\b": "is requested",
    r"\bthe same bits\b": "bitwise-identical",
}

# Retired words of all text: comments, documentation, and the descriptions of functions in Python.
RETIRED_IN_TEXT = {
    r"\banew\b": "again",
    r"\bmended\b": "restored, corrected",
    r"\bverdicts?\b": "comparison, validation",
    r"\b(?:owed|askers?|nursery|homing|feigns?|asks|wish(?:es|ed)?)\b": "a term of the field",
    r"\b(?:ask(?:ed)? (?:for|of))\b": "require, request, select",
    r"\bfilms?\b": "movie",
    r"\bbooks of\b": "budget of",
    r"\bknows? (?:of|nothing|no)\b|\bnobody knows\b": "does not support, has no",
    r"\bdo(?:es)? not know\b": "does not support, is independent of",
    r"\bcomes? into being\b": "is created",
    r"\bnowhere near\b": "far from",
    r"\bstands? in (?:for|the|them)\b": "replaces, is in",
    r"\b(?:the )?run goes on\b": "the run continues",
    r"\b(?:that|which) is meant\b": "is intended",
    r"\bin the mean\b": "on average",
    r"\boutside of the domain\b": "outside the domain",
    r"\btakes? turns\b": "alternate, share",
    r"\bholds? no\b": "contains no",
    r"\bof ours\b": "of Octant",
    r"\bLoehner\b": "Löhner",
}

# Retired identifiers.
RETIRED_NAMES = re.compile(
    r"\b(?:LevelJump|LevelNeeds|comes_from_afar|k_nowhere|FluxRequest|FluxAnswers|answer_requests|"
    r"Unjudged|judge_sweep|take_verdict|may_stay_unjudged|restore_broken|repair_behind|bring_home|"
    r"Travellers|OwedKick|Scene|TouchedGas|SweptCells|LoneCells|safe_cell|feigns_heat|thin_gas|"
    r"cool_thin_faces|SpreadGrid|GatheredGrid|hand_back|WorkOnFlow|to_slide|Cargo|residency|"
    r"hear_of_kernel|announce_kernel|Wishes|News|DrainQueue|MemoryApart)\b"
)


def compiled(words: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Return patterns of words, in any case, and their replacements."""
    return [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in words.items()]


RETIRED_WORDS = compiled(RETIRED)
RETIRED_TEXT = compiled(RETIRED_IN_TEXT)
ANY_RETIRED = re.compile("|".join(RETIRED_IN_TEXT), re.IGNORECASE)


def joined(literals: str) -> str:
    """Return the text of string literals that follow each other."""
    return "".join(part[1:-1] for part in re.findall(LITERAL, literals))


def described(text: str) -> Iterator[tuple[int, str]]:
    """Yield the descriptions of parameters in a source, and where they begin."""
    for pattern in DESCRIPTIONS:
        for match in pattern.finditer(text):
            yield match.start(1), joined(match[1])


def said(text: str) -> Iterator[tuple[int, str]]:
    """Yield the messages in a C++ source, and where they begin: literals of several words."""
    code = COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else " " * len(m[0]), text)
    for match in re.finditer(LITERALS, code):
        message = joined(match[1])
        if len(re.findall(r"[A-Za-z]+", message)) >= LEAST_WORDS:
            yield match.start(), message


def said_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of errors and printed lines in a Python source, and their line numbers."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if PYTHON_CALLS.search(name):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def helped(text: str) -> Iterator[tuple[int, str]]:
    """Yield the help texts of options in a Python source, and their line numbers."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword) and node.arg == "help":
            parts = [part for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            if parts and isinstance(parts[0].value, str):
                yield parts[0].lineno, parts[0].value


def retired(text: str) -> Iterator[str]:
    """Yield what is wrong with the words of a message."""
    for words, instead in RETIRED_WORDS:
        match = words.search(text)
        if match:
            yield f'"{match[0]}" in a message; say: {instead}'


def prose(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield comments, descriptions of functions and lines of pages, and where they begin."""
    if path.suffix in {".hpp", ".cpp"}:
        yield from ((m.start(), m[0]) for m in COMMENT.finditer(text) if m[0][0] == "/")
    elif path.suffix == ".py":
        yield from ((m.start(), m[0]) for m in PYTHON_TEXT.finditer(text) if m[0][0] != "'")
    else:
        yield 0, text


def everywhere(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find retired words in comments and pages, and retired identifiers."""
    if path.name == Path(__file__).name:
        return
    for start, part in prose(path, text) if ANY_RETIRED.search(text) else ():
        for words, instead in RETIRED_TEXT:
            for match in words.finditer(part):
                line = text.count("\n", 0, start + match.start()) + 1
                yield line, f'"{match[0]}" in a text; say: {instead}'
    for match in RETIRED_NAMES.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, f"retired identifier {match[0]}"


def findings(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find descriptions that do not stand alone, and retired words in messages."""
    if path.parts[:2] == ("python", "octools") and path.suffix == ".py":
        for line, message in said_in_python(text):
            yield from ((line, fault) for fault in retired(message))
        for line, help_text in helped(text):
            if NO_SUBJECT.match(help_text):
                yield line, f'the help "{help_text[:40]}" does not begin with its subject'
    if path.parts[0] not in {"src", "apps", "bench"} or path.suffix not in {".hpp", ".cpp"}:
        return
    for place, description in described(text):
        line = text.count("\n", 0, place) + 1
        if NO_SUBJECT.match(description) or not description[:1].isupper():
            yield line, f'the description "{description[:40]}" does not begin with its subject'
        leaning = LEANS.search(description)
        if leaning:
            yield line, f'"{leaning[0]}" in a description, which has to stand alone'
        yield from ((line, fault) for fault in retired(description))
    for place, message in said(text):
        line = text.count("\n", 0, place) + 1
        yield from ((line, fault) for fault in retired(message))
