"""Thousands of damaged parameter files of other codes: converted, or refused in one line, quickly.

OCTANT_FUZZ_INPUTS is the number of inputs for each seed. An input follows from its number alone.
"""

import os
import re
import time
import tomllib
from pathlib import Path
from random import Random

import pytest
from test_inputs import ATHINPUT, CANS, INI, NAMELIST, STAR

from octools.errors import OctoolsError
from octools.inputs.codes import convert

INPUTS = int(os.environ.get("OCTANT_FUZZ_INPUTS", "300"))
SEED = int(os.environ.get("OCTANT_FUZZ_SEED", "0"))
LONGEST = 2.0  # seconds of processor time for one input
WORDS = ["0", "-1", "1", "2", "1e400", "-1e300", "nan", "inf", "999999999999", "100000", "1d0",
         ".true.", "F", "''", "'", '"', "(", ")", "(1,2)", "(:)", "3*", "3*1", "=", "==", ",", ",,",
         "/", "&",
         "&end", "$", "!", "#", "%", "[", "]", "<", ">", "\n", "\n&x\n", "\x00", "\xff", "é", " ",
         "\t", ":", ";", "1:", "*", "1,1", "file.dat", ".."]  # fmt: skip
SEEDS = {"run.nml": NAMELIST, "input.nml": CANS, "blast.ini": INI, "star.ini": STAR,
         "athinput.blast": ATHINPUT}  # fmt: skip
SEEDS |= {path.name: path.read_text() for path in Path(__file__).parent.glob("namelists/*.nml")}


def damaged(text: str, random: Random) -> bytes:
    """Change a few characters, words or lines."""
    for _ in range(random.randint(1, 4)):
        lines = text.splitlines(keepends=True) or [""]
        line = random.randrange(len(lines))
        kind = random.randrange(6)
        if kind == 0:
            at = random.randrange(len(text) + 1)
            text = text[:at] + chr(random.randrange(128)) + text[at + random.randrange(3) :]
        elif kind == 1:
            values = list(re.finditer(r"[\w.+'\"-]+", lines[line]))
            if values:
                value = random.choice(values)
                changed = random.choice(WORDS)
                lines[line] = lines[line][: value.start()] + changed + lines[line][value.end() :]
            text = "".join(lines)
        elif kind == 2:
            at = random.randrange(len(text) + 1)
            text = text[:at] + random.choice(WORDS) + text[at:]
        elif kind == 3:
            lines.insert(random.randrange(len(lines) + 1), lines[line])
            text = "".join(lines)
        elif kind == 4:
            del lines[line]
            text = "".join(lines)
        else:
            text = text[: random.randrange(len(text) + 1)]
    return text.encode("latin-1", errors="replace")


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_parameter_files_are_converted_or_refused(tmp_path: Path, name: str) -> None:
    path, written = tmp_path / name, tmp_path / "written.toml"
    for n in range(SEED, SEED + INPUTS):
        path.write_bytes(damaged(SEEDS[name], Random(f"{name} {n}")))
        written.unlink(missing_ok=True)
        begin = time.process_time()
        try:
            convert(path, written)
            tomllib.loads(written.read_text())
        except OctoolsError as error:
            assert str(error).strip(), f"input {n}: an empty message"
        except Exception as error:
            raise AssertionError(f"input {n}: {type(error).__name__}: {error}") from error
        assert time.process_time() - begin < LONGEST, f"input {n} takes too long"
