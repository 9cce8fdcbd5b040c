#!/usr/bin/env python3
"""List what kernels take of a GPU, from compiled objects, libraries or programs alone.

Usage: registers.py [--stack] FILE...
       registers.py --spills LOG...

A line for each kernel: registers and bytes of stack per thread, bytes of shared memory per block,
the occupancy that registers allow (warps at once, in % of 64), and its name; the most registers
first. Stack is what does not fit into registers: spilled values,
and arrays that are indexed at run time. `--stack` lists kernels with a stack alone, and the exit
code is 1 if there are any. Which of both it is, ptxas tells while it compiles: of what nvcc says
with `-Xptxas=-v`, `--spills` lists the kernels that spill, with bytes of stack and those of them
that are for spilled values, and the exit code is 1 if there are any. Without it, it reads what nvcc
embeds (section .nv_fatbin), as cuobjdump --dump-resource-usage does, for machines that have no such
tool; zstd must be there.
"""

import argparse
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FATBIN_MAGIC = 0xBA55ED50
CUBIN = 2  # kind of an entry that holds machine code
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
REGISTERS, FRAME = 0x2F, 0x11  # attributes of a kernel in .nv.info
SYMBOLS = 2  # type of an ELF section

# Of a multiprocessor of an A100 or H100 (CUDA C++ Programming Guide, technical specifications): a
# quarter of its registers serves a quarter of its warps.
QUARTERS, REGISTERS_OF_QUARTER, WARPS = 4, 16384, 64
THREADS, GRANULE = 32, 8  # of a warp; registers are given to threads in eights


@dataclass
class Kernel:
    """What one kernel takes."""

    name: str
    registers: int
    stack: int
    shared: int

    @property
    def occupancy(self) -> float:
        """The share of a multiprocessor's warps that can run at once, as far as registers go."""
        of_warp = THREADS * max(GRANULE, -(-self.registers // GRANULE) * GRANULE)
        return min(QUARTERS * (REGISTERS_OF_QUARTER // of_warp), WARPS) / WARPS


def embedded(path: Path) -> bytes:
    """Read the fat binaries of an object; of a library, those of all its objects."""
    with tempfile.TemporaryDirectory() as folder:
        objects = [path]
        if path.suffix == ".a":
            subprocess.run(["ar", "x", str(path.resolve())], cwd=folder, check=True)
            objects = sorted(Path(folder).glob("*.o"))
        found = b""
        for item in objects:
            section = Path(folder) / "section"
            command = ["objcopy", "-O", "binary", "--only-section", ".nv_fatbin"]
            command += ["--set-section-flags", ".nv_fatbin=alloc"]
            subprocess.run([*command, item, section], check=True)
            found += section.read_bytes() if section.exists() else b""
        return found


def cubins(data: bytes) -> Iterator[bytes]:
    """Unpack the machine code of fat binaries."""
    place = data.find(struct.pack("<I", FATBIN_MAGIC))
    while place >= 0:
        header, size = struct.unpack_from("<HQ", data, place + 6)
        entry, end = place + header, place + header + size
        while entry < end:
            kind, _, entry_header, length = struct.unpack_from("<HHIQ", data, entry)
            (packed,) = struct.unpack_from("<I", data, entry + 16)
            code = data[entry + entry_header :][:length]
            if code.startswith(ZSTD_MAGIC):
                unpack = ["zstd", "--decompress", "--stdout"]
                code = subprocess.run(unpack, input=code[:packed], capture_output=True).stdout
            if kind == CUBIN:
                yield code
            entry += entry_header + length
        place = data.find(struct.pack("<I", FATBIN_MAGIC), end)


def kernels(cubin: bytes) -> Iterator[Kernel]:
    """Read what the kernels of one ELF file of machine code take."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", cubin, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", cubin, table + n * entry_size) for n in range(count)
    ]

    def text(place: int) -> str:
        return cubin[place : cubin.index(b"\0", place)].decode()

    named = {text(sections[names_index][4] + section[0]): section for section in sections}
    symbols = next(section for section in sections if section[1] == SYMBOLS)
    strings = sections[symbols[6]][4]
    attributes: dict[int, dict[int, int]] = {}
    place, end = named[".nv.info"][4], sum(named[".nv.info"][4:6])
    while place < end:
        form, attribute, size = struct.unpack_from("<BBH", cubin, place)
        place += 4
        if form == 4:  # else the value is in place of the size
            if attribute in (REGISTERS, FRAME):
                symbol, value = struct.unpack_from("<II", cubin, place)
                attributes.setdefault(symbol, {})[attribute] = value
            place += size
    for symbol, found in attributes.items():
        name = text(strings + struct.unpack_from("<I", cubin, symbols[4] + 24 * symbol)[0])
        if f".nv.constant0.{name}" in named:  # a kernel, and no function that one calls
            shared = named.get(f".nv.shared.{name}", [0] * 6)[5]
            yield Kernel(name, found[REGISTERS], found.get(FRAME, 0), shared)


def readable(name: str) -> str:
    """Give the functor or function that Kokkos launches."""
    demangled = subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()
    demangled = re.sub(r"_INTERNAL_\w+::|\(anonymous namespace\)::", "", demangled)
    body = re.search(r"ParallelFor<(.*?)\(", demangled) or re.search(r"Parallel\w+<(.*)", demangled)
    return (body[1] if body else demangled).replace("octant::", "")[:100]


def spilling(log: Path) -> Iterator[str]:
    """List the kernels that spill, from what nvcc said: a line each, the most first."""
    name, found = "", []
    for line in log.read_text().splitlines():
        if kernel := re.search(r"Compiling entry function '(\S+)'", line):
            name = kernel[1]
        bytes_of = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores", line)
        if bytes_of and int(bytes_of[2]) > 0:
            found.append((int(bytes_of[2]), int(bytes_of[1]), readable(name)))
    for spilled, stack, kernel_name in sorted(found, reverse=True):
        yield f"{stack:6} {spilled:6}  {kernel_name}"


def main() -> int:
    """List the kernels of the given files; return the exit code."""
    parser = argparse.ArgumentParser(description="What kernels take of a GPU.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--stack", action="store_true", help="those with a stack alone")
    parser.add_argument("--spills", action="store_true", help="those that spill, from nvcc's logs")
    asked = parser.parse_args()
    if asked.spills:
        lines = [line for log in asked.files for line in spilling(log)]
        print("\n".join([*lines, f"{len(lines)} kernels spill"]))
        return 1 if lines else 0
    found = [
        kernel
        for path in asked.files
        for code in cubins(embedded(path))
        for kernel in kernels(code)
    ]
    listed = [kernel for kernel in found if kernel.stack > 0 or not asked.stack]
    for kernel in sorted(listed, key=lambda kernel: (-kernel.registers, -kernel.stack)):
        columns = f"{kernel.registers:4} {kernel.stack:6} {kernel.shared:6}"
        columns += f" {100 * kernel.occupancy:4.0f}"
        print(f"{columns}  {readable(kernel.name)}")
    with_stack = sum(kernel.stack > 0 for kernel in found)
    print(f"{len(found)} kernels, {with_stack} with a stack")
    return 1 if asked.stack and with_stack else 0


if __name__ == "__main__":
    sys.exit(main())
