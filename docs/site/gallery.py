#!/usr/bin/env python3
"""The gallery: a picture of every example, what it took, and the numbers that it must give.

    docs/site/gallery.py RUNS [EXAMPLE ...]     renew the entries of these, or of all

An example that has not been run into the folder RUNS is run first, on one thread. What it took is
told by the processor time of its steps, which a busy machine hardly changes. Entries are kept in
docs/gallery: a small picture, and a row of runs.csv that names the machine.
"""

import csv
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from octools.examples import Example, read_examples
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = ROOT / "docs/gallery"
WIDTH = 640  # of a picture, in pixels
GALAXY = ("cooling", "stars", "supernovae", "black_holes", "agn")
GROUPS = {
    "Gas": "docs/amr.md",
    "Gravity and cosmology": "docs/gravity.md",
    "Galaxy physics": "docs/galaxy.md",
    "Incompressible flow": "docs/dns.md",
}


@dataclass(frozen=True)
class Run:
    """What a run of an example took and said."""

    example: str
    processor_seconds: float
    machine: str
    says: str  # the comparisons of its plots, one a line
    part: str = ""  # of the whole run, where it was not all of it


def group(entry: Example) -> str:
    """Choose under which title an example is shown."""
    if entry.model == "dns":
        return "Incompressible flow"
    if any(section in entry.parameters for section in GALAXY):
        return "Galaxy physics"
    gravity = entry.parameters.get("gravity", {}).get("enabled", False)
    return "Gravity and cosmology" if gravity or "cosmology" in entry.parameters else "Gas"


def runs() -> dict[str, Run]:
    """Read what is known of earlier runs."""
    if not (ENTRIES / "runs.csv").exists():
        return {}
    with (ENTRIES / "runs.csv").open(newline="") as lines:
        found = [
            Run(
                row["example"],
                float(row["processor_seconds"]),
                row["machine"],
                row["says"],
                row.get("part") or "",
            )
            for row in csv.DictReader(lines)
        ]
    return {run.example: run for run in found}


def page(root: Path) -> str:
    """Write the gallery as a page of docs/."""
    known = runs()
    parts = ["# Gallery\n\nEvery example: `./octant run examples/NAME.toml` makes its picture.\n"]
    examples = read_examples(ROOT / "examples")
    for title, more in GROUPS.items():
        parts.append(f"## {title}\n\nMore: [{more}](../{more})\n\n:::::{{container}} gallery")
        members = [entry for entry in examples if group(entry) == title]
        parts += [_card(entry, known.get(entry.name)) for entry in members]
        parts.append(":::::\n")
    return "\n".join(parts)


def _card(entry: Example, run: Run | None) -> str:
    text = f"**[{entry.name}](../examples/{entry.name}.toml)**: {entry.said['Shows']}"
    if not run:
        takes = entry.said["Takes"].rstrip(".")
        text += f" Takes {takes}: too long for this page to draw."
    else:
        takes = f"{_duration(run.processor_seconds)} of processor time ({run.machine})"
        if run.part:
            takes += f" {run.part}, as drawn here"
        comparisons = f"\n\n```text\n{run.says}\n```" if run.says else ""
        text = f"![{entry.name}](gallery/{entry.name}.png)\n\n{text} Takes {takes}.{comparisons}"
    return f"\n::::{{container}} card\n{text}\n::::\n"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def renew(entry: Example, output: Path) -> Run:
    """Run an example unless that has been done, and keep its picture and what it took."""
    octant = ROOT / "octant"
    if not output.exists():
        file = ROOT / "examples" / f"{entry.name}.toml"
        _said([octant, *entry.launch, "-t", "1", "run", file, "--output", output])
    drawn = _said([octant, "pictures", output])
    seconds = 0.0  # where nothing was done but to begin
    if any(output.glob("telemetry/*.parquet")):
        query = "select sum(cpu_ns) / 1e9 from ranks"
        seconds = float(_said([octant, "sql", output, query, "--format", "csv"]).split()[-1])
    ran = tomllib.loads((output / "run.toml").read_text())
    part = " ".join(_differences(entry.parameters, ran))
    _keep_picture(entry, output)
    comparisons = re.findall(r"^(?:PASS|DEVIATES) .*$", drawn, re.MULTILINE)
    return Run(entry.name, round(seconds, 1), _processor(), "\n".join(comparisons), part)


def _differences(whole: Mapping[str, Any], ran: Mapping[str, Any]) -> Iterator[str]:
    """Say how a run was shorter or coarser than the example's own."""
    for section in ("mesh", "grid"):
        for name in ("base_cells", "cells"):
            cells = ran.get(section, {}).get(name)
            if name in whole.get(section, {}) and cells != whole[section][name]:
                yield f"on {'x'.join(map(str, cells))} cells"
    end = whole.get("time", {}).get("end")
    until = ran.get("time", {}).get("end")
    if end is not None and until != end:
        yield f"until t = {until:g} of {end:g}"


def _said(words: list[str | Path]) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def _keep_picture(entry: Example, output: Path) -> None:
    found = [sorted(output.glob(pattern)) for pattern in (*entry.pictures, "*.png")]
    drawn = [paths[-1] for paths in found if paths]
    if not drawn:
        raise SystemExit(f"{entry.name} drew no picture")
    with Image.open(drawn[0]) as picture:
        small = picture.convert("RGB")
        small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
        ENTRIES.mkdir(exist_ok=True)
        small.save(ENTRIES / f"{entry.name}.png", optimize=True)


def _processor() -> str:
    names = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return names[0] if names else "a machine without /proc/cpuinfo"


def main() -> None:
    """Renew the selected entries."""
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    for entry in read_examples(ROOT / "examples"):
        if not names or entry.name in names:
            run = renew(entry, folder / entry.name)
            _write(runs() | {entry.name: run})
            print(f"{entry.name}: {run.processor_seconds} s", flush=True)


def _write(known: dict[str, Run]) -> None:
    with (ENTRIES / "runs.csv").open("w", newline="") as out:
        table = csv.DictWriter(out, list(Run.__dataclass_fields__), lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(known[name]) for name in sorted(known))


if __name__ == "__main__":
    main()
