"""Run the fuzz targets under libFuzzer and print a table (docs/developer/quality.md).

python3 tests/fuzz/run.py PROGRAM [--inputs N] [--seconds S] [--corpus FOLDER] [TARGET...]

PROGRAM is octant_fuzz of the preset `fuzz`, which `.ci/fuzz` builds. A target ends at its first
fault, and the input is stored in the folder of the corpus; to read it again:

FUZZ_TARGET=NAME PROGRAM FILE
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from seeds import write_all

DICTIONARY = Path(__file__).parent / "words.dict"
LIMITS = (
    "-rss_limit_mb=2048",
    "-malloc_limit_mb=512",  # of a single allocation
    "-timeout=60",  # seconds per input, of which a busy machine gives a part
    "-max_len=16384",
)
POINTS = (1000, 10_000, 100_000, 1_000_000)  # numbers of inputs at which coverage is reported


@dataclass
class Result:
    """Run of a target."""

    inputs: int = 0
    seconds: float = 0.0
    coverage: dict[int, int] = field(default_factory=dict)  # edges after so many inputs
    last_coverage: int = 0
    fault: str = ""


def run_target(program: Path, name: str, options: argparse.Namespace) -> Result:
    """Run a target until its number of inputs, its time or a fault."""
    corpus = options.corpus / name / "inputs"
    corpus.mkdir(parents=True, exist_ok=True)
    command = [str(program), f"-runs={options.inputs}", f"-max_total_time={options.seconds}",
               *LIMITS, f"-artifact_prefix={corpus.parent}/", f"-dict={DICTIONARY}",
               f"-seed={options.seed}", str(corpus), f"{options.corpus}/seeds/{name}"]  # fmt: skip
    settings = {
        "FUZZ_TARGET": name,
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "OMP_NUM_THREADS": "1",
        "TMPDIR": str(corpus.parent),  # of MPI: processes without a daemon may share no folder
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_ess_singleton_isolated": "1",  # without a daemon
        "OMPI_MCA_opal_signal": "",  # signals are those of libFuzzer
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = corpus.parent / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, env={**os.environ, **settings}, stdout=subprocess.DEVNULL, stderr=output
        ) as process,
    ):
        code = process.wait()
    shutil.rmtree(f"/dev/shm/octant-fuzz-{process.pid}", ignore_errors=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = read_log(log)
    result.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if code != 0 and not result.fault:
        result.fault = f"exit code {code}"
    return result


def read_log(log: Path) -> Result:
    """Read what libFuzzer wrote."""
    result = Result()
    for line in log.read_text(errors="replace").splitlines():
        if progress := re.match(r"#(\d+)\s.*cov: (\d+)", line):
            result.inputs, result.last_coverage = map(int, progress.groups())
            for point in POINTS:
                if result.inputs <= point:
                    result.coverage[point] = result.last_coverage
        elif found := re.search(r"(?:runtime error|unexpected error|ERROR: \w+): .*", line):
            result.fault = result.fault or found.group()
    return result


def row(name: str, result: Result) -> str:
    """Return a row of the table."""
    edges = [
        f"{result.coverage.get(point, 0) if result.inputs >= point / 2 else '':>8}"
        for point in POINTS
    ]
    fault = result.fault[:70] or "none"
    return (
        f"{name:14} {result.inputs:>9} {result.seconds:>8.0f} {' '.join(edges)}"
        f" {result.last_coverage:>8}  {fault}"
    )


def main() -> int:
    """Run the targets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=7200, help="limit for each target")
    parser.add_argument("--corpus", type=Path, default=Path("build/fuzz/corpus"))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_intermixed_args()
    options.corpus = options.corpus.resolve()
    seeds = options.corpus / "seeds"
    write_all(seeds)
    print(f"{'target':14} {'inputs':>9} {'cpu [s]':>8} " + " ".join(f"{p:>8}" for p in POINTS)
          + f" {'edges':>8}  fault")  # fmt: skip
    faults = 0
    for name in options.targets or sorted(path.name for path in seeds.iterdir()):
        result = run_target(options.program.resolve(), name, options)
        print(row(name, result), flush=True)
        faults += bool(result.fault)
    return 1 if faults else 0


if __name__ == "__main__":
    begin = time.time()
    code = main()
    print(f"{time.time() - begin:.0f} s")
    sys.exit(code)
