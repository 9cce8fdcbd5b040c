"""What tests/device/run.sh does."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from goals import against_goals, lines_of
from histories import compare, history_of
from session import ROOT, Result, Session, carried, failed, failure, overrides

sys.path.insert(0, str(ROOT / "tests"))

from smaller_examples import SMALLER, STEPS

BY_RANKS = ("paper_channel",)  # on one rank, as the reference
# Gas, grids of gravity, Fourier transforms, particles, walls: what the first minute has to tell of.
FIRST_EXAMPLES = ("sedov", "jeans", "taylor_green", "cosmology", "channel", "shock_cloud")

UNIFORM = ("hydro", "--case", "uniform")
GAS: dict[str, tuple[str, ...]] = {
    "muscl_hancock": (*UNIFORM, "--block-size", "16,8"),
    "rk2": (*UNIFORM, "--scheme", "rk2", "--block-size", "16,8"),
    "rk3 ppm": (*UNIFORM, "--scheme", "rk3", "--reconstruction", "ppm", "--block-size", "16"),
    "amr_sedov": ("hydro", "--case", "amr_sedov", "--block-size", "16,8", "--repeats", "1"),
    "muscl_hancock 256^3": (*UNIFORM, "--block-size", "16,8", "--cells", "256", "--repeats", "1"),
}
GRIDS: dict[str, tuple[str, ...]] = {
    "multigrid": ("poisson", "--case", "uniform", "--cells", "256"),
    "fft": ("poisson", "--case", "fft", "--cells", "256"),
}
FLOWS: dict[str, tuple[str, ...]] = {
    "dns explicit": (
        *("dns", "--schedule", "batches", "--diffusion", "explicit"),
        *("--cells", "256,192,256"),
    ),
}
OTHERS: dict[str, tuple[str, ...]] = {
    "dns": ("dns", "--schedule", "batches"),
    "multigrid of a level": ("poisson", "--case", "amr"),
    "particles": ("particles",),
    "regrid": ("regrid",),
    "ghost": ("ghost",),
}
QUICK_GAS = ("--cells", "32", "--steps", "2", "--repeats", "1")
QUICK: dict[str, tuple[str, ...]] = {
    "muscl_hancock": (*GAS["muscl_hancock"], *QUICK_GAS),
    "rk3 ppm": (*GAS["rk3 ppm"], *QUICK_GAS),
    "multigrid": ("poisson", "--case", "uniform", "--cells", "32", "--repeats", "1"),
    "dns explicit": (*FLOWS["dns explicit"][:-1], "32,24,32", "--steps", "2"),
}

# So large that a GPU has work for all of its threads, and steps of which there are enough.
PROFILED: dict[str, tuple[str, ...]] = {
    "sedov": ("mesh.base_cells=[64,64,64]",),
    "jeans": ("mesh.base_cells=[128,128,128]",),
    "taylor_green": ("grid.cells=[128,128,128]",),
    "cosmology": ("mesh.base_cells=[64,64,64]",),
}
PROFILED_STEPS = 10
UNIVERSE = ("mesh.base_cells=[64,64,64]", "time.max_steps=60")
SILENT = ("output.snapshot_interval=0", "output.checkpoint_interval=0")


def about(session: Session) -> None:
    """Say what runs, and on what."""

    def look() -> Result:
        found: Result = {
            "version": session.run("--version").stdout.strip(),
            "cores": os.cpu_count(),
            "small_cases": session.quick,
        }
        if shutil.which("nvidia-smi"):
            query = "--query-gpu=name,driver_version,memory.total"
            asked = ["nvidia-smi", query, "--format=csv,noheader"]
            found["gpu"] = subprocess.run(
                asked, capture_output=True, text=True, check=False
            ).stdout.strip()
        return found

    session.once("about", "machine", look)


def first_steps(
    session: Session,
    example: str,
    scratch: Path,
    *extra: str,
    words: tuple[str, ...] = (),
    before: tuple[str, ...] = (),
) -> Result:
    """Run an example's first steps: what failed, or nothing but its history."""
    directory = scratch / example
    ended = session.run(
        "run",
        ROOT / "examples" / f"{example}.toml",
        "--output",
        directory,
        *words,
        *overrides(
            f"time.max_steps={STEPS}",
            "output.history_interval=1",
            "output.snapshot_interval=0",
            "telemetry.enabled=false",
            *SMALLER[example],
            *extra,
        ),
        before=before,
    )
    if ended.returncode != 0:
        return failure(ended)
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


def examples(session: Session) -> None:
    """Compare every example's first steps with those that a processor gave."""
    reference = json.loads((ROOT / "tests/reference_bits.json").read_text())["examples"]
    others = () if session.quick else (name for name in SMALLER if name not in FIRST_EXAMPLES)

    def check(name: str) -> Result:
        with tempfile.TemporaryDirectory() as scratch:
            found = first_steps(session, name, Path(scratch), *as_the_reference(name))
        if "history" not in found:
            return found
        return compare(found["history"], reference[name]["history"])

    session.once_each(
        "examples", {name: partial(check, name) for name in (*FIRST_EXAMPLES, *others)}
    )


def ranks(session: Session) -> None:
    """Compare first steps on two and three ranks, which share a GPU, with those on one."""
    launcher = shutil.which("mpirun", path=carried(session.program.parent).get("PATH"))
    if not launcher or not session.built_with(" MPI "):
        print("ranks: left out, there is no mpirun, or the program is without MPI", flush=True)
        return

    def check(name: str, several: int) -> Result:
        by_ranks = (launcher, "--oversubscribe", "--bind-to", "none", "-n", str(several))
        histories = []
        for before in ((), by_ranks):
            with tempfile.TemporaryDirectory() as scratch:
                chosen = schedule_of_a_gpu(name)
                found = first_steps(session, name, Path(scratch), *chosen, before=before)
            if "history" not in found:
                return found
            histories.append(found["history"])
        return compare(histories[1], histories[0])

    names = FIRST_EXAMPLES[:1] if session.quick else FIRST_EXAMPLES
    session.once_each(
        "ranks",
        {f"{name} on {n}": partial(check, name, n) for n in (2, 3) for name in names},
    )


def restarts(session: Session) -> None:
    """Compare steps after a restart with those of a run that was not interrupted."""
    if not session.built_with("HDF5"):
        print("restarts: left out, the program is without HDF5", flush=True)
        return

    def check(name: str) -> Result:
        last = f"time.max_steps={2 * STEPS}"
        chosen = schedule_of_a_gpu(name)
        with tempfile.TemporaryDirectory() as scratch:
            whole = first_steps(session, name, Path(scratch), *chosen, last)
        if "history" not in whole:
            return whole
        with tempfile.TemporaryDirectory() as scratch:
            kept = "output.final_checkpoint=true"
            first = first_steps(session, name, Path(scratch), *chosen, kept)
            if "history" not in first:
                return first
            words = ("--restart", "latest")
            later = first_steps(session, name, Path(scratch), *chosen, last, words=words)
        return compare(later["history"], whole["history"]) if "history" in later else later

    names = FIRST_EXAMPLES[:1] if session.quick else (*FIRST_EXAMPLES, "galaxies", "binary")
    session.once_each("restarts", {name: partial(check, name) for name in names})


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
            return {"status": "the same bits" if same else "FAILED: batches change results"}

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
            return {"status": "nothing found" if good else "FAILED", "log": lines[-40:]}

        session.once("sanitizer", check, look)


def benches(of: dict[str, tuple[str, ...]]) -> Callable[[Session], None]:
    """Measure by these benchmarks."""

    def measure_all(session: Session) -> None:
        for name, words in of.items():
            if session.quick and name not in QUICK:
                continue
            asked = QUICK[name] if session.quick else words

            def measure(asked: tuple[str, ...] = asked) -> Result:
                with tempfile.TemporaryDirectory() as scratch:
                    file = Path(scratch) / "bench.json"
                    ended = session.run("bench", *asked, "--json", file)
                    if ended.returncode != 0:
                        return failure(ended)
                    return {"command": " ".join(asked), "rows": json.loads(file.read_text())}

            session.once("benches", name, measure)

    return measure_all


def universe(session: Session, program: Path, *extra: str) -> Result:
    """Advance a piece of the universe, from files as MUSIC writes them where OCTANT_DATA is set."""
    data = os.environ.get("OCTANT_DATA")
    files = ["initial.kind=grafic", f"initial.path={data}/ics/b50_n064_2lpt/grafic"] if data else []
    size = (*SMALLER["cosmology"], f"time.max_steps={STEPS}") if session.quick else UNIVERSE
    with tempfile.TemporaryDirectory() as scratch:
        ended = session.run(
            "run",
            ROOT / "examples/cosmology.toml",
            "--output",
            Path(scratch) / "run",
            *overrides(*SILENT, *([] if session.quick else files), *size, *extra),
            program=program,
        )
    updates = re.search(r"([0-9.e+]+) cell updates,", ended.stdout)
    if ended.returncode != 0 or updates is None:
        return failure(ended)
    timed = re.findall(r"^(\w[\w ]*?) +[0-9.]+ +([0-9.]+) +[0-9.]+%$", ended.stdout, re.MULTILINE)
    parts = {name: float(seconds) for name, seconds in timed}
    seconds = sum(parts.values()) - parts["initial state"] - parts["output"]
    return {
        "cell_updates": float(updates.group(1)),
        "cell_updates_per_second": float(updates.group(1)) / seconds,
        "parts": parts,
    }


def cosmology(session: Session) -> None:
    """Measure a run with particles and refinement, on the GPU and on all cores of its host."""
    session.once("cosmology", "device", lambda: universe(session, session.program))
    host = session.host
    if host is None:
        print("cosmology: no --host PROGRAM, so that cores are not measured", flush=True)
        return
    session.once("cosmology", "host", lambda: universe(session, host))


def profile(session: Session) -> None:
    """Keep the telemetry of some runs beside the results, for `octools roofline` elsewhere."""

    def limits() -> Result:
        file = session.file.parent / "health.json"
        ended = session.run("bench", "health", "--json", file)
        return {"rows": json.loads(file.read_text())} if ended.returncode == 0 else failure(ended)

    session.once("profile", "health", limits)
    for name, larger in PROFILED.items():

        def run(name: str = name, larger: tuple[str, ...] = larger) -> Result:
            with tempfile.TemporaryDirectory() as scratch:
                ended = session.run(
                    "run",
                    ROOT / "examples" / f"{name}.toml",
                    "--output",
                    Path(scratch) / name,
                    *overrides(
                        f"time.max_steps={PROFILED_STEPS}",
                        *SILENT,
                        "telemetry.detail=full",
                        *schedule_of_a_gpu(name),
                        *(SMALLER[name] if session.quick else larger),
                    ),
                )
                if ended.returncode != 0:
                    return failure(ended)
                packed = session.file.parent / f"profile_{name}.tar.gz"
                with tarfile.open(packed, "w:gz") as archive:
                    archive.add(Path(scratch) / name / "telemetry", f"{name}/telemetry")
            return {"telemetry": packed.name}

        session.once("profile", name, run)


class Part(NamedTuple):
    """What there is to do, and for how many seconds until the others had their turn."""

    work: Callable[[Session], None]
    seconds: float


# What is wanted most comes first.
PARTS: dict[str, Part] = {
    "about": Part(about, 20.0),
    "examples": Part(examples, 60.0),
    "ranks": Part(ranks, 40.0),
    "restarts": Part(restarts, 30.0),
    "gas": Part(benches(GAS), 90.0),
    "grids": Part(benches(GRIDS), 40.0),
    "flows": Part(benches(FLOWS), 40.0),
    "cosmology": Part(cosmology, 60.0),
    "profile": Part(profile, 90.0),
    "schedules": Part(schedules, 20.0),
    "sanitizer": Part(sanitizer, 60.0),
    "others": Part(benches(OTHERS), 60.0),
}


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="What a machine with a GPU has to show.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--program", type=Path, default=ROOT / "build/cuda/octant")
    parser.add_argument("--host", type=Path, help="program for cores, to compare with")
    parser.add_argument("--json", type=Path, default=Path("device.json"))
    parser.add_argument("--minutes", type=float, default=9.0, help="for all together")
    parser.add_argument("--quick", action="store_true", help="small cases alone, for a dry run")
    asked = parser.parse_args()
    unknown = [part for part in asked.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    for program in filter(None, (asked.program, asked.host)):
        if not program.is_file():
            parser.error(f"there is no program {program}: build it (docs/gpu.md)")
    return asked


def main() -> int:
    """Run the selected parts; return the exit code."""
    asked = parse()
    session = Session(
        asked.program, asked.json, 60.0 * asked.minutes, host=asked.host, quick=asked.quick
    )
    begun = session.run("--version")
    if begun.returncode != 0:
        print(f"{asked.program} does not run here: {(begun.stdout + begun.stderr).strip()}")
        return 2
    parts = [PARTS[name] for name in asked.parts or PARTS]
    for limited in (True, False):  # what a limit left over is done while there is time
        for part in parts:
            session.begin_part(part.seconds if limited else None)
            part.work(session)
            session.results["goals"] = against_goals(session.results)
            session.keep()
    return conclude(session)


def conclude(session: Session) -> int:
    """Say what was found; return the exit code."""
    goals = session.results["goals"]
    parts = [part for part in session.results.values() if part is not goals]
    results = [result for part in parts for result in part.values()]
    failures = sum(map(failed, results))
    print("\n".join(lines_of(goals)))
    if session.quick:
        print("These are small cases, for a dry run: rates say nothing.")
    print(f"{len(results)} results in {session.file}, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
