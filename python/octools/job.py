"""Job scripts for clusters, in which a run continues over several jobs until its end.

A script starts the program on all ranks, has it stop with a checkpoint before the time is up, and
then puts the job into the queue again, and the next job continues from the newest checkpoint. With
a health check, the nodes are compared before and after the run, and spare nodes replace slow ones.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass
from pathlib import Path

from octools.errors import OctoolsError
from octools.text import printable, require_one_line

STOPPED_EARLY = 3  # the program's exit code
MOST_OF_A_CHECK = 120  # seconds after which a health check is ended


@dataclass(frozen=True)
class Job:
    """Resources and program of a job.

    Attributes
    ----------
    file
        The run's parameter file.
    results
        Its output directory.
    program
        The program `octant`.
    name
        Of the job.
    nodes, ranks, threads, gpus
        Nodes; ranks per node; threads per rank; GPUs per node, 0 for none.
    seconds, margin
        Time of one job, and how long before its end the run is to stop.
    settings
        ``section.key=value``, in place of what the file says.
    queue, account
        Where the job waits, and who pays; empty: the cluster's default.
    launcher
        ``srun``, ``mpirun`` or ``flux run``.
    modules
        Lines that set up the environment before the run, such as ``module load openmpi``.
    spares
        Nodes in addition to `nodes`, which replace slow ones.
    health
        Whether `octant bench health` compares the nodes before and after the run.
    """

    file: Path
    results: Path
    program: Path
    name: str
    nodes: int
    ranks: int
    threads: int
    gpus: int
    seconds: int
    margin: int
    settings: tuple[str, ...]
    queue: str
    account: str
    launcher: str
    modules: tuple[str, ...]
    spares: int = 0
    health: bool = False

    @property
    def reserved(self) -> int:
        """The number of nodes of the job, with the spare ones."""
        return self.nodes + self.spares

    @property
    def walltime(self) -> str:
        """The time of a job as HH:MM:SS."""
        return f"{self.seconds // 3600:02d}:{self.seconds // 60 % 60:02d}:{self.seconds % 60:02d}"


def seconds_of(text: str) -> int:
    """Read a length of time: ``12:00`` (hours and minutes), ``1:30:00``, ``2-00:00`` (days first).

    Raises
    ------
    OctoolsError
        If it is none, or no time at all.
    """
    match = re.fullmatch(r"(?:(\d+)-)?(\d+):([0-5]\d)(?::([0-5]\d))?", text)
    if not match:
        raise OctoolsError(f"--time {text}: expected hours and minutes, such as 12:00 or 1-12:00")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((24 * days + hours) * 60 + minutes) * 60 + seconds


WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:@+=/-]*")


def directive_word(text: str, what: str) -> str:
    """Return a name that becomes part of a scheduler's directive, where no quotes protect it.

    Raises
    ------
    OctoolsError
        If it could be read as more than one word, or as another option.
    """
    if text and not WORD.fullmatch(text):
        raise OctoolsError(
            f"{what} '{printable(text)}': expected letters, digits and _ . , : @ + = / -, not "
            "starting with -"
        )
    return text


def job_name(file: Path) -> str:
    """Make the name of a job from that of its parameter file."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", file.stem).lstrip("-.") or "octant"


def results_of(file: Path) -> Path:
    """Read where a parameter file's run writes to, from the folder in which it is started."""
    try:
        parameters = tomllib.loads(file.read_text())
    except OSError as cause:
        raise OctoolsError(f"{file} cannot be read: {cause.strerror}") from cause
    except ValueError as cause:
        raise OctoolsError(f"{file} is not a parameter file: {cause}") from cause
    return Path(str(parameters.get("output", {}).get("directory", "output")))


def script(job: Job, scheduler: str, path: Path, folder: Path) -> str:
    """Write the job script that is going to lie at `path` and starts the run in a folder.

    Raises
    ------
    OctoolsError
        If the time is too short for its margin, or if a text would become more than the part of
        the script that it is meant for.
    """
    for what, value in (
        ("the parameter file", job.file),
        ("--results", job.results),
        ("the program", job.program),
        ("--output", path),
        ("the run directory", folder.resolve()),
        *(("--set", setting) for setting in job.settings),
        *(("--setup", line) for line in job.modules),
    ):
        require_one_line(value, what)
    directive_word(job.name, "the job name")
    directive_word(job.queue, "--queue")
    directive_word(job.account, "--account")
    if job.margin >= job.seconds:
        raise OctoolsError(
            f"a job of {job.walltime} is shorter than the margin of {job.margin} s: choose a "
            "longer --time or a shorter --margin"
        )
    if job.spares and not job.health:
        raise OctoolsError("--spares requires the health check: expected no --no-health")
    header, again, restarts = _SCHEDULERS[scheduler](job, path)
    settings = [f"run.walltime_margin={job.margin}", *job.settings]
    bound = "close" if job.threads > 1 else "true"
    return "\n".join(
        [
            "#!/bin/bash",
            *header,
            f"# Octant on {job.nodes} node(s), each with {job.ranks} rank(s) of {job.threads} "
            f"thread(s); {job.spares} spare node(s). Returns to the queue until the run has ended.",
            "set -uo pipefail",
            f"cd {_quoted(folder.resolve())} || exit",
            *job.modules,
            f"export OMP_NUM_THREADS={job.threads} OMP_PLACES=cores OMP_PROC_BIND={bound}",
            "",
            f"results={_quoted_path(job.results)}",
            "going_on=()",
            'if compgen -G "$results/checkpoint_*.h5" > /dev/null; then',
            "  going_on=(--restart latest)",
            f"elif (({restarts} > 0)); then",
            "  going_on=(--overwrite)  # the job before ended without a checkpoint",
            "fi",
            "",
            "run='' status=0",
            "trap 'warned=yes; kill -s USR1 \"$run\" 2> /dev/null' USR1",
            *(_check_before(job, scheduler, restarts) if job.health else []),
            f"left=$(({job.seconds} - SECONDS))  # of the time limit",
            f"{_launch(job, job.nodes, survives=True)}{_AVOIDING if job.health else ''} \\",
            f'  {_quoted(job.program)} run {_quoted_path(job.file)} --output "$results" \\',
            '  --set "run.walltime=$((left > 0 ? left : 1))" \\',
            *(f"  --set {_quoted(setting)} \\" for setting in settings),
            '  "${going_on[@]}" &',
            "run=$!",
            "# A warning interrupts a wait: only one without a warning tells how the run ended.",
            'while warned=; wait "$run"; status=$?; [[ $warned ]]; do :; done',
            *(_check_after(job) if job.health else []),
            "",
            "# Stopped with a checkpoint because the time is up, and not on somebody's order.",
            f"if ((status == {STOPPED_EARLY})); then",
            '  case $(grep "stopping at step" "$results/log.txt" | tail -n 1) in',
            f'    *"signal 10" | *walltime*) {again} ;;',
            "  esac",
            "fi",
            "exit $status",
            "",
        ]
    )


Parts = tuple[list[str], str, str]  # directives, command that queues it again, number of restarts


def _slurm(job: Job, path: Path) -> Parts:
    options = {
        "job-name": job.name,
        "nodes": job.reserved,
        "ntasks-per-node": job.ranks,
        "cpus-per-task": job.threads,
        "gpus-per-node": job.gpus,
        "time": job.walltime,
        "signal": f"B:USR1@{job.margin}",
        "partition": job.queue,
        "account": job.account,
        "output": f"{job.name}-%j.log",
    }
    lines = [f"#SBATCH --{name}={value}" for name, value in options.items() if value]
    lines += ["#SBATCH --requeue", "#SBATCH --open-mode=append"]
    return lines, 'scontrol requeue "$SLURM_JOB_ID"', "${SLURM_RESTART_COUNT:-0}"


def _pbs(job: Job, path: Path) -> Parts:
    processors = job.ranks * job.threads
    gpus = f":ngpus={job.gpus}" if job.gpus else ""
    lines = [
        f"#PBS -N {job.name}",
        f"#PBS -l select={job.reserved}:ncpus={processors}:mpiprocs={job.ranks}"
        f":ompthreads={job.threads}{gpus}",
        *(["#PBS -l place=scatter"] if job.spares else []),  # as many nodes as chunks
        f"#PBS -l walltime={job.walltime}",
        "#PBS -j oe",
        *([f"#PBS -q {job.queue}"] if job.queue else []),
        *([f"#PBS -A {job.account}"] if job.account else []),
    ]
    again = f"qsub -v OCTANT_JOB=$((${{OCTANT_JOB:-0}} + 1)) {_quoted(path.resolve())}"
    return lines, again, "${OCTANT_JOB:-0}"


def _flux(job: Job, path: Path) -> Parts:
    lines = [
        f"#flux: --job-name={job.name}",
        f"#flux: -N {job.reserved}",
        f"#flux: -n {job.reserved * job.ranks}",
        f"#flux: -c {job.threads}",
        *([f"#flux: -g {job.gpus // job.ranks}"] if job.gpus else []),
        f"#flux: -t {job.seconds}s",
        f"#flux: --output={job.name}-{{{{id}}}}.log",
        *([f"#flux: -q {job.queue}"] if job.queue else []),
        *([f"#flux: --bank={job.account}"] if job.account else []),
    ]
    again = (
        "flux --parent batch --env=OCTANT_JOB=$((${OCTANT_JOB:-0} + 1)) "
        f"{_quoted(path.resolve())}"
    )
    return lines, again, "${OCTANT_JOB:-0}"


_SCHEDULERS = {"slurm": _slurm, "pbs": _pbs, "flux": _flux}


# The run avoids the nodes that the check before it has named.
_AVOIDING = ' "${avoiding[@]}"'

# Lists the nodes of the job, one per line.
_NODE_LISTS = {
    "slurm": 'scontrol show hostnames "$SLURM_JOB_NODELIST"',
    "pbs": "awk '!seen[$0]++' \"$PBS_NODEFILE\"",
    "flux": "flux hostlist --expand instance | tr ' ' '\\n'",
}
_JOB_IDS = {
    "slurm": "$SLURM_JOB_ID",
    "pbs": "${PBS_JOBID:-$$}",
    "flux": "${FLUX_ENCLOSING_ID:-$$}",
}


def _check_before(job: Job, scheduler: str, restarts: str) -> list[str]:
    """Write the lines that compare all nodes and choose those of the run."""
    most = max(1, min(MOST_OF_A_CHECK, job.margin // 2))
    return [
        "",
        "# Compares nodes: `check WHEN COMMAND...`. Writes the measurements and the names of slow",
        "# nodes, the slowest first; a check that fails names none.",
        f"health={_quoted_path(Path(f'{job.name}-health'))}",
        f"record=$health/{_JOB_IDS[scheduler]}-$(({restarts}))",
        'mkdir -p "$health"',
        "check() {",
        '  : > "$record-$1.txt"',
        f'  if ! timeout -k 5 {most} "${{@:2}}" \\',
        f"    {_quoted(job.program)} bench health \\",
        '    --json "$record-$1.json" --exclude "$record-$1.txt"; then',
        '    echo "health check $1 the run: failed"',
        '    : > "$record-$1.txt"',
        "  elif [[ -s $record-$1.txt ]]; then",
        '    echo "health check $1 the run: slow: $(paste -sd " " "$record-$1.txt")"',
        "  else",
        '    echo "health check $1 the run: no node is slow"',
        "  fi",
        "}",
        f"check before {_launch(job, job.reserved)}",
        "avoiding=()",
        *(_choose_nodes(job, scheduler) if job.spares else []),
        "",
    ]


def _choose_nodes(job: Job, scheduler: str) -> list[str]:
    """Write the lines that exclude as many slow nodes as there are spare ones."""
    names = f'head -n {job.spares} "$record-before.txt" | cut -d . -f 1'
    if job.launcher == "mpirun":
        return [
            f"hosts=$({_NODE_LISTS[scheduler]} |",
            f"  awk -F . -v nodes={job.nodes} -v slow=\"$({names} | paste -sd ' ')\" \\",
            '    \'BEGIN { split(slow, names, " "); for (n in names) is_slow[names[n]] }',
            f'     !($1 in is_slow) && used++ < nodes {{ print $0 ":{job.ranks}" }}\' |',
            "  paste -sd ,)",
            'avoiding=(--host "$hosts")',
            'echo "nodes of the run: $hosts"',
        ]
    option = "--exclude=" if job.launcher == "srun" else "--requires=-host:"
    return [
        f"slow=$({names} | paste -sd ,)",
        "if [[ $slow ]]; then",
        f'  avoiding=("{option}$slow")',
        '  echo "excluded from the run: $slow"',
        "fi",
    ]


def _check_after(job: Job) -> list[str]:
    return ["", f"check after {_launch(job, job.nodes)}{_AVOIDING}"]


def _launch(job: Job, nodes: int, *, survives: bool = False) -> str:
    """Write the command that starts ranks on some nodes; `survives` signals to the whole job."""
    total = nodes * job.ranks
    per_rank = f"{job.gpus // job.ranks}" if job.gpus else ""
    if job.launcher == "srun":
        gpus = f" --gpus-per-task={per_rank} --gpu-bind=single:1" if job.gpus else ""
        return (
            f"srun --nodes={nodes} --ntasks={total} --cpus-per-task={job.threads} "
            f"--cpu-bind=cores --kill-on-bad-exit=0{gpus}"
        )
    if job.launcher == "flux run":
        gpus = f" -g {per_rank} -o gpu-affinity=per-task" if job.gpus else ""
        return f"flux run -N {nodes} -n {total} -c {job.threads} -o cpu-affinity=per-task{gpus}"
    signals = "env --block-signal=INT,TERM,HUP " if survives else ""
    return (
        f"{signals}mpirun -n {total} --map-by ppr:{job.ranks}:node:PE={job.threads} --bind-to core"
    )


def _quoted(value: object) -> str:
    return shlex.quote(str(value))


def _quoted_path(path: Path) -> str:
    text = str(path)  # which must not look like an option
    return _quoted(f"./{text}" if text.startswith("-") else text)
