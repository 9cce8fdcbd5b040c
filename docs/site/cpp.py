"""Pages on the C++ interfaces: one for each module of src/ and for each header of its interface.

The interface of a module are the headers that other modules, applications or the worked examples of
docs/extending.md include. Doxygen lists what these headers declare, with the comments; the
declarations are shown as the headers have them. Without Doxygen, one page states that the reference
is missing.
"""

import re
import shutil
import subprocess
import textwrap
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cpp_comments import STRING, converted

SETTINGS = """
INPUT = {headers}
RECURSIVE = YES
OUTPUT_DIRECTORY = {output}
STRIP_FROM_PATH = {headers}
FULL_PATH_NAMES = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = NO
QUIET = YES
WARNINGS = YES
WARN_IF_UNDOCUMENTED = YES
WARN_LOGFILE = {output}/warnings.txt
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SEARCH_INCLUDES = NO
PREDEFINED = KOKKOS_INLINE_FUNCTION=inline KOKKOS_FORCEINLINE_FUNCTION=inline KOKKOS_FUNCTION= \\
  OCTANT_OUT_OF_LINE=
"""
# "src/mesh/" in the table of docs/architecture.md, and what the table says of it.
MODULE_ROW = re.compile(r"^\| \d+ \| ((?:`src/\w+/` ?)+)\| (.*) \|$", re.MULTILINE)
ORPHAN = (
    "---\norphan: true\n---\n\n"  # not in the site's contents, whose length costs time on each page
)
INCLUDE = re.compile(r'^#include "(\w+/[\w/]+\.hpp)"', re.MULTILINE)
MISSING = """# C++ interfaces

The reference of the C++ interfaces is missing, because Doxygen was not installed when this site was
built. The headers in `src/` contain the same text. To add the reference, install `doxygen` and run
`./octant manual` again.
"""


@dataclass
class Entity:
    """A class, function, type, variable or macro of a header."""

    kind: str
    name: str
    line: int
    text: str
    is_counted: bool = False
    members: "list[Entity]" = field(default_factory=list)


@dataclass
class Header:
    """A header: its path below src/, lines, description and entities in the order of the lines."""

    path: str
    lines: list[str]
    text: str
    entities: list[Entity]

    def count(self) -> tuple[int, int]:
        """Count described functions and classes, and all of them."""
        every = [
            entity
            for outer in self.entities
            for entity in (outer, *outer.members)
            if entity.is_counted
        ]
        return sum(bool(entity.text) for entity in every), len(every)


def write_pages(root: Path, work: Path, pages: Path) -> None:
    """Write the pages to a folder, with `index.md` among them. `work` is a folder for Doxygen."""
    shutil.rmtree(work, ignore_errors=True)
    pages.mkdir(parents=True)
    if not shutil.which("doxygen"):
        (pages / "index.md").write_text(MISSING)
        return
    headers = read_headers(root / "src", work)
    modules = descriptions((root / "docs/architecture.md").read_text())
    rows = []
    for name in dict.fromkeys([*modules, *(header.path.split("/")[0] for header in headers)]):
        own = [header for header in headers if header.path.startswith(f"{name}/")]
        if not own:
            continue
        (pages / name).mkdir()
        for header in own:
            page = pages / header.path.replace(".hpp", ".md")
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(header_page(header))
        (pages / f"{name}.md").write_text(module_page(name, modules.get(name, ""), own))
        described, every = (sum(column) for column in zip(*map(Header.count, own), strict=True))
        rows.append(f"| [{name}]({name}.md) | {modules.get(name, '')} | {described} of {every} |")
    (pages / "index.md").write_text(index_page(rows))


def descriptions(architecture: str) -> dict[str, str]:
    """Give the description of each module, from the lowest layer, in docs/architecture.md."""
    found = {}
    for row in reversed(MODULE_ROW.findall(architecture)):
        text = re.sub(r"`src/(\S+)`", r"`\1`", row[1])
        found |= dict.fromkeys(re.findall(r"src/(\w+)/", row[0]), text)
    return found


def interfaces(source: Path) -> list[str]:
    """List the headers that are included outside of their module, by their paths below src/."""
    found = set()
    for folder in (source, source.parent / "apps", source.parent / "tests/extending"):
        for path in folder.rglob("*.[ch]pp"):
            inside = path.is_relative_to(source)
            module = path.relative_to(source).parts[0] if inside else ""
            names = INCLUDE.findall(path.read_text())
            found |= {name for name in names if name.split("/")[0] != module}
    return sorted(name for name in found if (source / name).is_file())


def read_headers(source: Path, work: Path) -> list[Header]:
    """Let Doxygen read all headers, and collect what it has found."""
    texts = {name: (source / name).read_text() for name in interfaces(source)}
    for name, text in texts.items():
        copy = work / "headers" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(converted(text))
    settings = SETTINGS.format(headers=work / "headers", output=work)
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    about, entities = {}, {name: [] for name in texts}
    for path in sorted((work / "xml").glob("*.xml")):
        for compound in ElementTree.parse(path).getroot().iter("compounddef"):
            name = compound.findtext("compoundname") or ""
            if compound.get("kind") == "file":
                about[compound.find("location").get("file")] = text_of(compound)
            elif is_public(name, compound):
                for file, entity in entities_of(compound, name):
                    entities[file].append(entity)
    return [
        Header(name, text.splitlines(), about.get(name, ""), by_line(entities[name]))
        for name, text in sorted(texts.items())
    ]


def entities_of(compound: ElementTree.Element, name: str) -> Iterator[tuple[str, Entity]]:
    """Give a class, or the members of a namespace, each with the header that declares it."""
    kind, members = compound.get("kind") or "", list(members_of(compound))
    if kind == "namespace":
        yield from members
    elif kind in ("class", "struct", "union"):
        file, line = location(compound)
        short = re.sub(r"^octant::(?:[a-z_0-9]+::)*", "", name)
        own = by_line([entity for _, entity in members])
        yield file, Entity(kind, short, line, text_of(compound), True, own)


def members_of(compound: ElementTree.Element) -> Iterator[tuple[str, Entity]]:
    """Give the public members of a class or namespace."""
    for node in compound.iterfind("sectiondef/memberdef"):
        if is_public(node.findtext("definition") or "", node):
            file, line = location(node)
            name, kind = node.findtext("name") or "", node.get("kind") or ""
            yield file, Entity(kind, name, line, text_of(node), is_counted(node))


def is_public(name: str, node: ElementTree.Element) -> bool:
    """Return whether a declaration is neither private nor for the header's own use."""
    return node.get("prot") != "private" and not re.search(r"\bdetail::|@|<", name.split(" ")[-1])


def location(node: ElementTree.Element) -> tuple[str, int]:
    """Give header and line of a declaration."""
    place = node.find("location")
    return place.get("file"), int(place.get("line"))


def by_line(entities: list[Entity]) -> list[Entity]:
    """Sort as the header does."""
    return sorted(entities, key=lambda entity: entity.line)


def is_counted(node: ElementTree.Element) -> bool:
    """Return whether a member needs a description: a function that no other one describes."""
    arguments = node.findtext("argsstring") or ""
    return (
        node.get("kind") == "function"
        and node.find("reimplements") is None
        and not (node.findtext("name") or "").startswith("~")
        and not re.search(r"=\s*(?:default|delete)", arguments)
    )


def text_of(node: ElementTree.Element) -> str:
    """Give the description of an entity, in the Markdown that the comments use."""
    paragraphs = [
        " ".join("".join(paragraph.itertext()).split())
        for part in ("briefdescription", "detaileddescription")
        for paragraph in node.iterfind(f"{part}/para")
    ]
    return "\n\n".join(map(protected, filter(None, paragraphs)))


def protected(text: str) -> str:
    """Protect what Markdown would take for emphasis, links, formulas or HTML, but not code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text]
    parts[::2] = [re.sub(r"([\\*_<>$\[\]#{}|~])", r"\\\1", part) for part in parts[::2]]
    return re.sub(r"^([-+]|\d+[.)]) ", r"\\\1 ", "`".join(parts))


# --- pages ---


def index_page(rows: list[str]) -> str:
    """List the modules, and how many of their functions and classes are described."""
    table = "\n".join(rows)
    return f"""# C++ interfaces

This reference lists the public declarations of all headers in `src/` that other modules use, by
module, from the lowest layer to the highest. [Architecture](../architecture.md) describes the
modules and lists their main interfaces; [Extending Octant](../extending.md) has complete examples.
The last column counts the public functions and classes that have a description of their own.

| module | contents | described |
|---|---|---|
{table}
"""


def module_page(name: str, about: str, headers: list[Header]) -> str:
    """List the headers of a module with the first sentence of their descriptions."""
    rows = []
    for header in headers:
        first = re.split(r"(?<=[.:])\s", header.text, maxsplit=1)[0].removesuffix(":")
        entities = ", ".join(f"`{entity.name}`" for entity in header.entities if entity.members)
        page = header.path.replace(".hpp", ".md")
        rows.append(f"| [{header.path}]({page}) | {first} | {entities} |")
    table = "\n".join(rows)
    contents = f"{about[0].upper()}{about[1:]}.\n\n" if about else ""
    return (
        f"{ORPHAN}# {name}\n\n{contents}:::{{container}} interfaces\n"
        f"| header | contents | classes |\n|---|---|---|\n{table}\n:::\n"
    )


def header_page(header: Header) -> str:
    """Show the declarations of a header and their descriptions."""
    module = header.path.split("/")[0]
    up = "../" * (header.path.count("/"))
    parts = [
        f"{ORPHAN}# {header.path}",
        header.text,
        f'Module [{module}]({up}{module}.md). Include with `#include "{header.path}"`.',
    ]
    group: list[Entity] = []
    for entity in header.entities:
        if entity.members or entity.kind in ("class", "struct", "union"):
            parts += shown(header, group)
            group = []
            parts += [f"## {entity.kind} {protected(entity.name)}", entity.text]
            declared = declaration(header.lines, entity)
            parts.append("" if len(declared.split()) == 2 else code([declared]))
            parts += shown(header, entity.members)
        else:
            if not group and not parts[-1].startswith("## Functions"):
                parts.append("## Functions, types and constants")
            group.append(entity)
    parts += shown(header, group)
    return merge_headings("\n\n".join(filter(None, parts)) + "\n")


def merge_headings(page: str) -> str:
    """Distinguish repeated headings by numbers, because anchors must differ."""
    seen: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        seen[match[0]] = seen.get(match[0], 0) + 1
        return match[0] if seen[match[0]] == 1 else f"{match[0]} ({seen[match[0]]})"

    return re.sub(r"^## .*$", numbered, page, flags=re.MULTILINE)


def shown(header: Header, entities: list[Entity]) -> list[str]:
    """Show declarations: those without a description share a block of code with the next ones."""
    parts, block = [], []
    for entity in entities:
        declared = declaration(header.lines, entity)
        is_note = entity.text[:1].islower() and "\n" not in declared + entity.text
        if not entity.text or is_note or entity.kind in ("variable", "enum"):
            block.append(with_comment(declared, entity.text))
            continue
        if block:
            parts.append(code(block))
            block = []
        parts += [code([declared]), entity.text]
    return parts + ([code(block)] if block else [])


def code(block: list[str]) -> str:
    """Show lines of C++."""
    text = "\n".join(block)
    return f"```cpp\n{text}\n```"


def with_comment(declared: str, text: str) -> str:
    """Give a declaration its description as a comment: behind it if there is room, else before."""
    plain = re.sub(r"\\([\\*_<>$\[\]#{}|~])", r"\1", " ".join(text.split()))
    if not plain:
        return declared
    if "\n" not in declared and len(declared) + len(plain) < 96:
        return f"{declared}  // {plain}"
    return "\n".join(f"// {line}" for line in textwrap.wrap(plain, 94)) + f"\n{declared}"


def declaration(lines: list[str], entity: Entity) -> str:
    """Cut a declaration out of a header: without comments, body and member initialisers."""
    begin = entity.line - 1
    while begin > 0 and continues(lines[begin - 1]):
        begin -= 1
    text = "\n".join(line.split("//")[0].rstrip() for line in lines[begin : begin + 40])
    end = end_of(text, whole=entity.kind in ("variable", "typedef", "enum"))
    text = text[:end].rstrip()
    if entity.kind == "function":
        text = re.sub(r"\)(\s*noexcept)?\s*:\s[\s\S]*$", r")\1", text)
    indent = len(text) - len(text.lstrip())
    body = "\n".join(line.removeprefix(" " * indent) for line in text.splitlines())
    return body + ("" if body.endswith(";") else ";")


def continues(line: str) -> bool:
    """Return whether a declaration that began in this line continues in the next one."""
    text = line.split("//")[0].strip()
    return bool(text) and not text.startswith("#") and not text.endswith((";", "{", "}", ":"))


def end_of(text: str, *, whole: bool) -> int:
    """Find the end of a declaration: its semicolon, or the brace of its body unless `whole`."""
    depth = 0
    for n, letter in enumerate(STRING.sub(lambda found: "x" * len(found[0]), text)):
        if letter == "{" and depth == 0 and not whole:
            return n
        depth += (letter in "({") - (letter in ")}")
        if letter == ";" and depth == 0:
            return n + 1
    return len(text)
