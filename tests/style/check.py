#!/usr/bin/env python3
"""Check what a compiler does not: layers, floating-point sums, long lines, long files.

1. A module includes only modules of lower layers, and the exceptions listed here.
2. No floating-point sum whose order could vary (Kokkos reductions and scans, atomics, MPI, OpenMP)
   outside src/comm, which has the reproducible sums. An atomic addition to an integer that is not
   plainly one carries the comment `// integer sum`.
3. No line is longer than 100 columns.
4. No file is longer than 600 lines, and no page of the documentation longer than 250, except the
   guide with all worked examples.
5. Files that a page of the documentation names exist, functions that docs/architecture.md and
   two pages of docs/developer/ (time_step.md, reading_paths.md) name with them are in them, the
   words of docs/glossary.md are used, and code in docs/extending.md is that of tests/extending/.
6. A source includes what it takes from the standard library, by itself or through Octant's own
   headers: what others bring along differs between their versions, and between batches.
7. No two sources in src/ have the same name but for a .hpp and its .cpp in one folder.
8. Nothing but src/core/memory_transfer.hpp copies between the memories of host and device.
9. No private function and no constructor holds a kernel, of which nvcc takes none there.
10. No source of the program takes both Kokkos and CLI11, which clang 16 for AMD's GPUs does not.
11. Files are created, and opened for writing, by src/core/own_files.cpp and python/octools/files.py
    alone, which follow no links. A file that such code has created under a temporary name, called
    `beside` or `part` in Python, may be opened again.
12. Descriptions of parameters, and help of options, begin with their subject. Messages and they
    use the terms of the field: none of the words in tests/style/wording.py. Comments, pages and
    identifiers contain none of its retired words and names.
13. Text files are read by functions of src/core/, with which src/io/input_files.hpp lets rank 0
    alone open the files of users; other sources open files of the system and of the run itself.

Usage: check.py [ROOT]
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import wording

LAYERS = [
    {"core"},
    {"comm", "telemetry", "io"},
    {"decomp"},
    {"mesh", "pencil"},
    {"hydro", "gravity", "particles", "cosmology", "subgrid", "radiation", "dns"},
    {"problems"},
    {"output"},
    {"run"},
    {"amr", "dns_model"},
    {"ramses"},
    {"commands"},
    {"python"},
    {"bench"},
    {"apps"},
]
LAYER = {module: layer for layer, modules in enumerate(LAYERS) for module in modules}
GENERATED_PAGES = {"parameters.md", "commands.md", "python_api.md", "index.md"}  # by docs/site
# Exceptions, by which a module includes another one of its layer, or one of its headers.
EXCEPTIONS = {
    ("io", "comm"),
    ("radiation", "hydro/gas_cell.hpp"),
    ("radiation", "hydro/hydro_options.hpp"),
    ("subgrid", "hydro/gas_cell.hpp"),
    ("subgrid", "hydro/gas_gradients.hpp"),
    ("subgrid", "particles/kind.hpp"),
    ("subgrid", "particles/particle_halo.hpp"),
    ("subgrid", "particles/particles.hpp"),
}

FOLDERS = ["src", "apps", "bench", "tests", "python", "cmake", "examples", ".ci"]
SUFFIXES = {".hpp", ".cpp", ".py", ".sh", ".cmake", ".toml", ".txt"}
MAX_COLUMNS = 100
MAX_LINES = 600
MAX_PAGE_LINES = 250
LONG_PAGES = {"extending.md"}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
REDUCTION = re.compile(r"\bparallel_(?:reduce|scan)\s*\(")
ORDER_FREE = re.compile(r"\b(?:Max|Min|MinMax|MaxLoc|MinLoc|MinMaxLoc|LAnd|LOr|BAnd|BOr)\s*<")
FLOATING = r"(?:double|float|[Rr]eal|Real_t|real_t)"
ATOMIC = re.compile(r"\batomic_(?:fetch_)?(?:add|sub|add_fetch|sub_fetch)\s*\(")
PLAIN_INTEGER = re.compile(
    r",\s*(?:\d+[uUlL]*|static_cast<(?:std::)?u?int\w*>\(.*\))\s*$", re.DOTALL
)
OTHER_SUMS = [
    (re.compile(rf"\b(?:Sum|Prod)\s*<\s*{FLOATING}\b"), "Kokkos sum of floating-point numbers"),
    (re.compile(r"\bMPI_SUM\b"), "MPI_SUM"),
    (re.compile(r"\breduction\s*\(\s*[+*-]"), "OpenMP sum"),
    (re.compile(r"\bstd::(?:transform_)?reduce\s*\("), "std::reduce, whose order is unspecified"),
]

# Headers of the standard library, and words that come from them.
STANDARD = {
    "algorithm": "find|lower_bound|max|max_element|min|min_element|sort|stable_sort|upper_bound",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast|bit_width|popcount",
    "cmath": "abs|cbrt|exp|isfinite|log|pow|sqrt",
    "cstdint": "int8_t|int32_t|int64_t|uint8_t|uint32_t|uint64_t",
    "cstring": "memcmp|memcpy|strerror",
    "functional": "function",
    "limits": "numeric_limits",
    "map": "map|multimap",
    "memory": "make_shared|make_unique|shared_ptr|unique_ptr|weak_ptr",
    "mutex": "lock_guard|mutex|scoped_lock|unique_lock",
    "numeric": "accumulate|iota",
    "optional": "nullopt|optional",
    "set": "set|multiset",
    "span": "span",
    "sstream": "istringstream|ostringstream|stringstream",
    "string": "string|to_string",
    "string_view": "string_view",
    "thread": "thread|this_thread",
    "tuple": "tie|tuple",
    "unordered_map": "unordered_map",
    "utility": "exchange|move|pair|swap",
    "variant": "variant|visit",
    "vector": "vector",
}
STANDARD_WORDS = {name: re.compile(rf"\bstd::(?:{words})\b") for name, words in STANDARD.items()}
INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.MULTILINE)

DEVICE_COPY = re.compile(
    r"\bKokkos::(?:Experimental::)?(?:(?:local_)?deep_copy|create_mirror_view_and_copy)\b"
    r"|\b(?:cuda|hip)Memcpy\w*"
)
COPIES = Path("src/core/memory_transfer.hpp")

WRITES = re.compile(
    r"\b(?:std::)?(?:basic_)?(?:ofstream|fstream)\b(?!>)|\bfopen\s*\(|\bmkstemp\s*\(|\bcreat\s*\("
    r"|\bO_(?:CREAT|WRONLY|RDWR|TRUNC|APPEND)\b|\bH5F_ACC_RDWR\b|\bbasic_file_sink"
)
PYTHON_WRITES = re.compile(
    r"(?<!beside)(?<!part)\.write_(?:text|bytes)\(|\bos\.open\(|(?<!beside)\.open\(\"[wax]|"
    r"\bh5py\.File\((?!beside|part)[^()]*, \"[wax]|\.savefig\((?!beside)"
)
WRITERS = {
    Path("src/core/own_files.cpp"), Path("python/octools/files.py"),
    # Exclusively, for a file that must not be there yet.
    Path("python/octools/initial.py"),
}  # fmt: skip

READERS = {
    Path("src/core/number_file.cpp"), Path("src/core/parameter_input.cpp"),
    # Files of the system, and the tables of telemetry, which rank 0 or one rank per node reads.
    Path("src/core/memory.cpp"), Path("src/run/machine.cpp"), Path("src/run/run_control.cpp"),
    Path("src/telemetry/parquet_io.cpp"),
}  # fmt: skip

CLASS = re.compile(r"^(class|struct) (\w+)\b[^;\n]*\{$", re.MULTILINE)
ACCESS = re.compile(r"^ (private|protected|public):$", re.MULTILINE)
MEMBER = re.compile(r"^  (?! )[^#/\n(]*?\b(\w+)\(", re.MULTILINE)
DEFINITION = re.compile(r"^\w[^;\n=]*?\b(\w+)::(\w+)\(", re.MULTILINE)
CONSTRUCTOR = re.compile(r"^(\w+)::\1\(.*\n(?:(?:[ ].*)?\n)*", re.MULTILINE)  # with its body

PATH_IN_TEXT = re.compile(
    r"`((?:src|apps|bench|cmake|docs|examples|python|tests)/[\w./-]*\w[./]?)`"
)
LINK = re.compile(r"\]\(([\w./-]+)(?:#[\w-]*)?\)")
FUNCTION_IN_TEXT = re.compile(r"`(\w+)\(\)`")
PARAGRAPH = re.compile(r"(?:^(?![ \t]*$).*\n?)+", re.MULTILINE)
ITEM = re.compile(r"\n(?=\d+\. |- |\|)")
QUOTED_CODE = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
TERM = re.compile(r"^\| ([a-z, ]+) \|", re.MULTILINE)


def module_of(path: Path) -> str | None:
    """Return the module of a file, given relative to the root."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in {"bench", "apps"} else None


def blank(text: str) -> str:
    """Replace comments and strings by spaces, keeping every line where it is."""
    return COMMENT_OR_STRING.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def line_of(text: str, position: int) -> int:
    """Return the line number of a position."""
    return text.count("\n", 0, position) + 1


def arguments(text: str, opening: int) -> str:
    """Return what lies between the parenthesis at `opening` and the one that closes it."""
    depth = 0
    for position in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            return text[opening + 1 : position]
    return text[opening + 1 :]


def climbing_includes(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find includes of modules of the same layer or of higher ones."""
    module = module_of(path)
    if module is None:
        return
    if module not in LAYER:
        yield 1, f"the module {module} has no layer in tests/style/check.py"
        return
    for include in re.finditer(r'^\s*#\s*include\s+"(([a-z_]+)/[^"]*)"', text, re.MULTILINE):
        header, other = include[1], include[2]
        excepted = (module, other) in EXCEPTIONS or (module, header) in EXCEPTIONS
        if not (other == module or excepted or LAYER.get(other, -1) < LAYER[module]):
            yield line_of(text, include.start()), f"{module}/ must not include {header}"


def varying_sums(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find floating-point sums whose order could vary."""
    module = module_of(path)
    if module is None or module == "comm":
        return
    code, lines = blank(text), text.splitlines()
    for match in REDUCTION.finditer(code):
        call = arguments(code, match.end() - 1)
        if re.search(rf"\b{FLOATING}\s*&", call) and not ORDER_FREE.search(call):
            yield line_of(code, match.start()), "floating-point reduction without Max or Min"
    for match in ATOMIC.finditer(code):
        line = line_of(code, match.start())
        plain = PLAIN_INTEGER.search(arguments(code, match.end() - 1))
        if not plain and "integer sum" not in lines[line - 1]:
            yield line, "atomic sum; if it is of integers, say so: // integer sum"
    for pattern, name in OTHER_SUMS:
        for match in pattern.finditer(code):
            yield line_of(code, match.start()), f"{name} (use the reproducible sums of comm/)"


def stray_copies(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find copies between host and device that nobody counts."""
    if path.parts[0] != "src" or path == COPIES:
        return
    for match in DEVICE_COPY.finditer(blank(text)):
        yield line_of(text, match.start()), f"{match[0]} (use the functions of {COPIES})"


def stray_writes(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find files that are created or opened for writing without the functions for that."""
    if path in WRITERS or not (path.parts[0] == "src" or path.parts[:2] == ("python", "octools")):
        return
    pattern = PYTHON_WRITES if path.suffix == ".py" else WRITES
    for match in pattern.finditer(text if path.suffix == ".py" else blank(text)):
        yield line_of(text, match.start()), "a file is written other than by own_files or files.py"


def stray_reads(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find text files that each rank may open."""
    if path.parts[0] != "src" or path in READERS:
        return
    for match in re.finditer(r"\bstd::ifstream\b|\bfopen\s*\(", blank(text)):
        yield line_of(text, match.start()), f"{match[0]} (use read_on_root of io/input_files.hpp)"


def private_parts(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield what is private in each class: its name, where it begins, and where it ends."""
    for start in CLASS.finditer(text):
        end = text.find("\n};", start.end())
        private, since = start[1] == "class", start.end()
        for access in ACCESS.finditer(text, start.end(), end):
            if private:
                yield start[2], since, access.start()
            private, since = access[1] != "public", access.end()
        if private:
            yield start[2], since, end


def private_kernels(root: Path, path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find kernels in private functions and in constructors."""
    if "KOKKOS_LAMBDA" not in text:
        return
    private = set()
    for header in {path, *(h.relative_to(root) for h in (root / path).parent.glob("*.hpp"))}:
        code = (root / header).read_text(encoding="utf-8")
        for name, start, end in private_parts(code):
            private |= {(name, member[1]) for member in MEMBER.finditer(code, start, end)}
            if header == path and "KOKKOS_LAMBDA" in code[start:end]:
                yield line_of(text, text.index("KOKKOS_LAMBDA", start)), "kernel in a private part"
    for function in DEFINITION.finditer(text):
        body = text[function.end() : text.find("\n}", function.end())]
        if function.groups() in private and "KOKKOS_LAMBDA" in body:
            yield line_of(text, function.start()), f"{function[2]} is private and holds a kernel"
    for constructor in CONSTRUCTOR.finditer(text):
        if "KOKKOS_LAMBDA" in constructor[0]:
            yield (
                line_of(text, constructor.start()),
                f"constructor of {constructor[1]} holds a kernel",
            )


@functools.cache
def included(root: Path, path: Path) -> frozenset[str]:
    """Return what a source includes, by itself and through headers of this repository."""
    names = INCLUDE.findall((root / path).read_text(encoding="utf-8"))
    found = set(names)
    for name in names:
        places = [Path("src") / name, Path(name)]
        for place in [place for place in places if (root / place).is_file()][:1]:
            found |= included(root, place)
    return frozenset(found)


def missing_includes(root: Path, path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find words of the standard library whose header no include of this repository brings."""
    if module_of(path) is None:
        return
    code, brought = blank(text), included(root, path)
    for header, words in STANDARD_WORDS.items():
        match = None if header in brought else words.search(code)
        if match:
            yield line_of(code, match.start()), f"{match[0]} without #include <{header}>"


def kernels_on_the_command_line(root: Path, path: Path, _: str) -> Iterator[tuple[int, str]]:
    """Find sources in src/ that know kernels, be it through headers, and CLI11."""
    known = {name.split("/")[0].split("_")[0] for name in included(root, path)}
    if path.parts[0] == "src" and {"CLI", "Kokkos"} <= known:
        yield 1, "takes CLI11 and Kokkos (see src/run/commands.hpp)"


def length(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find lines and files that are too long."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns; at most {MAX_COLUMNS}"
    if len(lines) > MAX_LINES:
        yield len(lines), f"{path.name} has {len(lines)} lines; at most {MAX_LINES}"


def missing_files(root: Path, page: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find files that a page names, or links to, and that are not there."""
    for match in PATH_IN_TEXT.finditer(text):
        if not (root / match[1]).exists():
            yield line_of(text, match.start()), f"there is no {match[1]}"
    for match in LINK.finditer(text):
        target = root / page.parent / match[1]
        if not target.exists() and target.name not in GENERATED_PAGES:
            yield line_of(text, match.start()), f"the link to {match[1]} leads nowhere"


def missing_functions(root: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find functions that none of the files named in the same item has."""
    for paragraph in PARAGRAPH.finditer(text):
        for item in ITEM.split(paragraph[0]):
            places = [root / name for name in PATH_IN_TEXT.findall(item)]
            sources = "".join(place.read_text() for place in places if place.is_file())
            for name in FUNCTION_IN_TEXT.findall(item):
                if not re.search(rf"\b{name}\(", sources):
                    line = line_of(text, paragraph.start() + paragraph[0].index(item))
                    yield line, f"no file that is named with it has {name}()"


def unused_words(root: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find words of a glossary that the program does not use."""
    sources = "\n".join(path.read_text() for path in sorted((root / "src").rglob("*.[ch]pp")))
    used = set(re.findall(r"[a-z]+", sources.lower()))
    for match in TERM.finditer(text):
        for word in match[1].split(", "):
            if word not in used and match[1] != "word":
                yield line_of(text, match.start()), f"src/ does not use the word {word}"


def stale_quotes(root: Path, text: str) -> Iterator[tuple[int, str]]:
    """Find code that is neither in a worked example nor among the lines that its build changes."""
    folder = root / "tests/extending"
    examples = [path.read_text() for path in sorted(folder.glob("*.cpp"))]
    changes = (folder / "CMakeLists.txt").read_text().replace(r"\"", '"').replace(r"\n", "\n")
    for match in QUOTED_CODE.finditer(text):
        lines = [line.strip().rstrip(",;") for line in match[1].splitlines()]
        quoted = any(match[1] in example for example in examples)
        if not quoted and not all(line in changes for line in lines):
            yield line_of(text, match.start()), "tests/extending/ has no such code"


def documentation(root: Path) -> Iterator[str]:
    """Find what pages of documentation say of files, functions and words that is not so."""
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    for page in sorted(path.relative_to(root) for path in pages):
        text = (root / page).read_text(encoding="utf-8")
        findings = [*missing_files(root, page, text), *wording.everywhere(page, text)]
        lines = len(text.splitlines())
        if page.parts[0] == "docs" and lines > MAX_PAGE_LINES and page.name not in LONG_PAGES:
            findings.append((1, f"{page.name} has {lines} lines; at most {MAX_PAGE_LINES}"))
        if page.name in ("architecture.md", "time_step.md", "reading_paths.md"):
            findings += missing_functions(root, text)
        if page.name == "glossary.md":
            findings += unused_words(root, text)
        if page.name == "extending.md":
            findings += stale_quotes(root, text)
        yield from (f"{page}:{line}: {message}" for line, message in findings)


def names_twice(root: Path) -> Iterator[str]:
    """Find sources that are named as one in another folder."""
    folders: dict[str, Path] = {}
    for path in sorted((root / "src").rglob("*.[ch]pp")):
        folder = path.parent.relative_to(root)
        other = folders.setdefault(path.stem, folder)
        if other != folder:
            yield f"{folder / path.name}:1: {other} has a source of this name, too"


def files(root: Path) -> Iterator[Path]:
    """Yield the files to check, relative to the root."""
    yield from (Path(name) for name in ("octant", "CMakeLists.txt") if (root / name).exists())
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(root / folder).parts)
            if path.suffix in SUFFIXES and path.is_file() and not hidden:
                yield path.relative_to(root)


def main(root: Path) -> int:
    """Print every finding as file:line: text; return the exit code."""
    findings = [*documentation(root), *names_twice(root)]
    for path in files(root):
        text = (root / path).read_text(encoding="utf-8")
        checks = [length, stray_writes, wording.findings, wording.everywhere]
        if path.suffix in {".hpp", ".cpp"}:
            checks += [climbing_includes, varying_sums, stray_copies, stray_reads]
            checks += [functools.partial(missing_includes, root)]
            checks += [functools.partial(private_kernels, root)]
            checks += [functools.partial(kernels_on_the_command_line, root)]
        for check in checks:
            findings += [f"{path}:{line}: {message}" for line, message in check(path, text)]
    print("\n".join(findings) or "style: nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2])))
