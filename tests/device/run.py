"""What tests/device/run.sh does."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from smaller_examples import SMALLER, STEPS  # noqa: E402

Result = dict[str, Any]

# Largest difference from the reference, as a share of what a column's kind is at most. Transforms
# and powers of a GPU's libraries are not those of a processor.
TOLERANCE = 1e-9
# Columns that are what is left when all has been added up: their scale is another column's.
SCALE_OF = {
    "momentum": "absolute_momentum",
    "angular": "absolute_momentum",  # domains are about one unit of length wide
    "divergence": "max_u",
    "energy": "total_energy",  # outflow_energy
    "mean": "max_u",
}
OF_ABOUT_ONE = ("centre", "scalar")  # where nothing moves the mean from zero
BY_RANKS = ("paper_channel",)  # on one rank, as the reference

SMALL_BLAST = ("--case", "uniform", "--cells", "32", "--steps", "2", "--repeats", "1")
BENCHES: dict[str, tuple[str, ...]] = {
    "hydro muscl_hancock": ("hydro", "--case", "uniform", "--block-size", "8,16"),
    "hydro rk2": ("hydro", "--case", "uniform", "--scheme", "rk2", "--block-size", "8,16"),
    "hydro rk3 ppm": (
        *("hydro", "--case", "uniform", "--scheme", "rk3"),
        *("--reconstruction", "ppm", "--block-size", "16"),
    ),
    "hydro amr_sedov": ("hydro", "--case", "amr_sedov", "--block-size", "8,16"),
    "poisson": ("poisson", "--cells", "128,256"),
    "dns": ("dns", "--schedule", "batches"),
    "particles": ("particles",),
    "regrid": ("regrid",),
    "ghost": ("ghost",),
}
QUICK: dict[str, tuple[str, ...]] = {
    "hydro muscl_hancock": ("hydro", *SMALL_BLAST, "--block-size", "8,16"),
    "hydro rk3 ppm": (
        *("hydro", *SMALL_BLAST, "--scheme", "rk3"),
        *("--reconstruction", "ppm", "--block-size", "16"),
    ),
}
QUICK_EXAMPLES = ("sedov", "jeans", "taylor_green")
PROFILED_STEPS = 10


def failed(result: Result) -> bool:
    """Say whether a result is none."""
    return str(result.get("verdict", "")).startswith("FAILED")


class Session:
    """One program, and what is known of it so far."""

    def __init__(self, program: Path, file: Path, quick: bool) -> None:
        self.program = program
        self.quick = quick
        self._file = file
        self.folder = file.resolve().parent
        self.results: Result = json.loads(file.read_text()) if file.exists() else {}

    def once(self, part: str, name: str, work: Callable[[], Result]) -> None:
        """Do something unless it is known to have gone well, and keep its result."""
        known = self.results.setdefault(part, {})
        if name not in known or failed(known[name]):
            begun = time.monotonic()
            known[name] = work() | {"seconds": round(time.monotonic() - begun, 2)}
            self._file.write_text(json.dumps(self.results, indent=1) + "\n")
        print(f"{part}, {name}: {known[name].get('verdict', 'done')}", flush=True)

    def run(self, *words: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run the program with some words."""
        carried = [str(self.program.parent / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        environment = os.environ | {
            "LD_LIBRARY_PATH": ":".join(filter(None, carried)),  # by pack.sh
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        command = [*before, str(self.program), *(str(word) for word in words)]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False
        )


def history_of(directory: Path) -> dict[str, list[float]]:
    """Read history.csv by columns."""
    rows = (directory / "history.csv").read_text().splitlines()
    names = rows[0].split(",")
    values = [[float(value) for value in row.split(",")] for row in rows[1:]]
    return {name: [row[n] for row in values] for n, name in enumerate(names)}


def kind_of(column: str) -> str:
    """Name what a column is of: `momentum` for `momentum_x`, and for `outflow_momentum_x`."""
    return column.removeprefix("outflow_").split("_")[0]


def compare(found: dict[str, list[float]], expected: dict[str, list[float]]) -> Result:
    """Find the largest difference of all columns, as a share of their kind's largest value."""
    largest: dict[str, float] = {}
    for name, values in expected.items():
        size = max(abs(value) for value in values)
        largest[kind_of(name)] = max(largest.get(kind_of(name), 0.0), size)
    worst, column, same = 0.0, "", 0
    for name, values in expected.items():
        if found.get(name) == values:
            same += 1
            continue
        other = expected.get(SCALE_OF.get(kind_of(name), ""), [0.0])
        least = 1.0 if kind_of(name) in OF_ABOUT_ONE else 1e-300
        scale = max(largest[kind_of(name)], max(abs(value) for value in other), least)
        pairs = zip(found.get(name, []), values, strict=False)
        apart = max((abs(a - b) / scale for a, b in pairs), default=float("inf"))
        if len(found.get(name, [])) != len(values):
            apart = float("inf")
        if not apart <= worst:
            worst, column = apart, name
    good = worst <= TOLERANCE
    verdict = "the same bits" if same == len(expected) else f"{worst:.1e} apart in {column}"
    return {
        "verdict": verdict if good else f"FAILED: {verdict}",
        "difference": worst,
        "columns": len(expected),
        "columns_with_same_bits": same,
    }


def about(session: Session) -> None:
    """Say what runs, and on what."""

    def look() -> Result:
        found: Result = {"version": session.run("--version").stdout.strip()}
        if shutil.which("nvidia-smi"):
            query = "--query-gpu=name,driver_version,memory.total"
            asked = ["nvidia-smi", query, "--format=csv,noheader"]
            found["gpu"] = subprocess.run(
                asked, capture_output=True, text=True, check=False
            ).stdout.strip()
        return found

    session.once("about", "machine", look)


def overrides(*extra: str) -> Iterator[str]:
    """Give the words that override parameters."""
    for override in extra:
        yield from ("--set", override)


def first_steps(session: Session, example: str, scratch: Path, *extra: str) -> Result:
    """Run an example's first steps: what failed, or nothing but its history."""
    directory = scratch / example
    ended = session.run(
        "run",
        ROOT / "examples" / f"{example}.toml",
        "--output",
        directory,
        *overrides(
            f"time.max_steps={STEPS}",
            "output.history_interval=1",
            "output.snapshot_interval=0",
            "telemetry.enabled=false",
            *SMALLER[example],
            *extra,
        ),
    )
    if ended.returncode != 0:
        message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
        return {"verdict": f"FAILED with {ended.returncode}: {' '.join(message)}"}
    return {"history": history_of(directory)}


def is_flow(example: str) -> bool:
    """Say whether an example is of incompressible flow."""
    return 'model = "dns"' in (ROOT / "examples" / f"{example}.toml").read_text()


def schedule_of_a_gpu(example: str) -> list[str]:
    """Choose the schedule that a GPU has."""
    return ["dns.schedule=batches" if is_flow(example) else "execution.schedule=device"]


def as_the_reference(example: str) -> list[str]:
    """Choose the schedules of a GPU, and the solver of gravity's base that cores have."""
    if is_flow(example):
        grid = ["grid.process_grid=1x1"] if example in BY_RANKS else []
        return [*schedule_of_a_gpu(example), *grid]
    text = (ROOT / "examples" / f"{example}.toml").read_text()
    by_grids = "[gravity]" in text and 'solver = "fmm"' not in text
    return [*schedule_of_a_gpu(example), *(["gravity.base=fft"] if by_grids else [])]


def chosen_examples(session: Session) -> list[str]:
    """Name the examples to run."""
    return [name for name in SMALLER if not session.quick or name in QUICK_EXAMPLES]


def examples(session: Session) -> None:
    """Compare every example's first steps with those that a processor gave."""
    reference = json.loads((ROOT / "tests/reference_bits.json").read_text())["examples"]
    for name in chosen_examples(session):

        def check(name: str = name) -> Result:
            with tempfile.TemporaryDirectory() as scratch:
                found = first_steps(session, name, Path(scratch), *as_the_reference(name))
            if "history" not in found:
                return found
            return compare(found["history"], reference[name]["history"])

        session.once("examples", name, check)


def schedules(session: Session) -> None:
    """Compare small and large batches of tiles: the same bits."""
    for name in ("sedov", "shock_cloud"):

        def check(name: str = name) -> Result:
            histories = []
            for megabytes in (0.1, 64.0):
                with tempfile.TemporaryDirectory() as scratch:
                    size = f"execution.batch_megabytes={megabytes}"
                    found = first_steps(
                        session, name, Path(scratch), "execution.schedule=device", size
                    )
                if "history" not in found:
                    return found
                histories.append(found["history"])
            same = histories[0] == histories[1]
            return {"verdict": "the same bits" if same else "FAILED: batches change results"}

        session.once("schedules", name, check)


def sanitizer(session: Session) -> None:
    """Let compute-sanitizer look for bad accesses and races in a small blast."""
    tool = shutil.which("compute-sanitizer")
    if not tool:
        print("sanitizer: left out, there is no compute-sanitizer in the path", flush=True)
        return
    for check in ("memcheck", "racecheck"):

        def look(check: str = check) -> Result:
            with tempfile.TemporaryDirectory() as scratch:
                words = ("run", ROOT / "examples/sedov.toml", "--output", Path(scratch) / "run")
                chosen = overrides("time.max_steps=1", "telemetry.enabled=false", *SMALLER["sedov"])
                ended = session.run(
                    *words, *chosen, before=(str(tool), "--tool", check, "--error-exitcode", "9")
                )
            good = ended.returncode == 0
            lines = (ended.stdout + ended.stderr).strip().splitlines()
            return {"verdict": "nothing found" if good else "FAILED", "log": lines[-40:]}

        session.once("sanitizer", check, look)


def benches(session: Session) -> None:
    """Measure."""
    for name, words in (QUICK if session.quick else BENCHES).items():

        def measure(words: tuple[str, ...] = words) -> Result:
            with tempfile.TemporaryDirectory() as scratch:
                file = Path(scratch) / "bench.json"
                ended = session.run("bench", *words, "--json", file)
                if ended.returncode != 0:
                    message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
                    return {"verdict": f"FAILED: {' '.join(message)}"}
                return {"command": " ".join(words), "rows": json.loads(file.read_text())}

        session.once("benches", name, measure)


def profile(session: Session) -> None:
    """Keep the telemetry of some runs beside the results, for `octools roofline` elsewhere."""
    folder = session.folder / "profile"
    for name in QUICK_EXAMPLES:

        def run(name: str = name) -> Result:
            shutil.rmtree(folder / name, ignore_errors=True)  # of a try that was cut off
            ended = session.run(
                "run",
                ROOT / "examples" / f"{name}.toml",
                "--output",
                folder / name,
                *overrides(
                    f"time.max_steps={PROFILED_STEPS}",
                    "output.snapshot_interval=0",
                    "output.checkpoint_interval=0",
                    "telemetry.detail=full",
                    *schedule_of_a_gpu(name),
                    *(SMALLER[name] if session.quick else ()),
                ),
            )
            if ended.returncode != 0:
                message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
                return {"verdict": f"FAILED with {ended.returncode}: {' '.join(message)}"}
            return {"telemetry": str(folder / name / "telemetry")}

        session.once("profile", name, run)

    def limits() -> Result:
        file = folder / "health.json"
        ended = session.run("bench", "health", "--json", file)
        if ended.returncode != 0:
            message = (ended.stdout + ended.stderr).strip().splitlines()[-1:]
            return {"verdict": f"FAILED: {' '.join(message)}"}
        return {"rows": json.loads(file.read_text())}

    session.once("profile", "health", limits)


PARTS = {
    "about": about,
    "examples": examples,
    "schedules": schedules,
    "sanitizer": sanitizer,
    "profile": profile,
    "benches": benches,
}


def main() -> int:
    """Do the parts that are asked for; return the exit code."""
    parser = argparse.ArgumentParser(description="What a machine with a GPU has to show.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--program", type=Path, default=ROOT / "build/cuda/octant")
    parser.add_argument("--json", type=Path, default=Path("device.json"))
    parser.add_argument("--quick", action="store_true", help="small cases alone, for a dry run")
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    if not asked.program.is_file():
        parser.error(f"there is no program {asked.program}: build it (docs/gpu.md)")
    session = Session(asked.program.resolve(), asked.json, asked.quick)
    begun = session.run("--version")
    if begun.returncode != 0:
        message = (begun.stdout + begun.stderr).strip()
        parser.error(f"{asked.program} does not run here: {message}")
    for part in asked.parts or PARTS:
        PARTS[part](session)
    results = [result for part in session.results.values() for result in part.values()]
    failures = sum(map(failed, results))
    print(f"{len(results)} results in {asked.json}, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
