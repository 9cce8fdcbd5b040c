"""What the compiler may not make of Octant's arithmetic."""

import shutil
import subprocess

import pytest

from running import program


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump, of binutils")
def test_no_products_are_fused_with_sums() -> None:
    """Where g++ 12 makes vectors of complex numbers it fuses whatever -ffp-contract says.

    std::fma requires another instruction, without the alternating signs.
    """
    fused: dict[str, list[str]] = {}
    function = ""
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(program())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as disassembly:
        for line in disassembly.stdout:
            if line.endswith(">:\n"):
                function = line.strip()
            elif "vfmaddsub" in line or "vfmsubadd" in line:
                fused.setdefault(function, []).append(line.strip())
    assert fused == {}, "compile these sources with -fno-tree-slp-vectorize"
