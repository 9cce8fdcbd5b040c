"""Job scripts: stopped by the time limit and queued again, they end with the bits of one long run.

tests/measure/slurm_job.py has a real Slurm do the same, which takes minutes.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from octools.errors import OctoolsError
from octools.job import Job, script, seconds_of

from inputs import TINY_BLAST
from running import Outcome, octant, octant_environment, program

STEPS = 6

# Stands for srun, mpirun and `flux run` with one rank. As srun it has the script warned, as Slurm
# does, when two more steps are done.
LAUNCHER = """#!/bin/bash
if [[ $1 == --parent ]]; then touch again; exit; fi
until [[ $1 == */octant ]]; do shift; done
rows() { cat run/history.csv 2> /dev/null | wc -l; }
if [[ $0 == */srun ]]; then
  before=$(rows)
  (while (($(rows) < before + 2)); do sleep 0.02; kill -0 $$ || exit; done; kill -s USR1 $PPID) &
fi
exec "$@"
"""


def job(folder: Path, scheduler: str, **changes: object) -> Job:
    """Describe a job that goes on for a few steps at a time; Slurm's would go on for longer."""
    long, short = {"seconds": 1000, "margin": 10}, {"seconds": 4, "margin": 3}
    given: dict[str, object] = {
        "file": folder / "blast.toml",
        "results": Path("run"),
        "program": program(),
        "name": "blast",
        "nodes": 1,
        "ranks": 1,
        "threads": 1,
        "gpus": 0,
        "settings": (f"time.max_steps={STEPS}", "debug.step_seconds=0.15"),
        "queue": "",
        "account": "",
        "launcher": {"slurm": "srun", "pbs": "mpirun", "flux": "flux run"}[scheduler],
        "modules": (),
        **(long if scheduler == "slurm" else short),
    }
    return Job(**(given | changes))  # type: ignore[arg-type]


def write(folder: Path, wanted: Job, scheduler: str) -> Path:
    path = folder / "job.sh"
    path.write_text(script(wanted, scheduler, path, folder))
    return path


@pytest.fixture
def cluster(tmp_path: Path) -> dict[str, str]:
    """Make commands that stand for those of a cluster; return the environment that has them."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("srun", "mpirun", "flux"):
        (commands / name).write_text(LAUNCHER)
    for name in ("scontrol", "qsub"):
        (commands / name).write_text("#!/bin/sh\ntouch again\n")
    for command in commands.iterdir():
        command.chmod(0o755)
    (tmp_path / "blast.toml").write_text(TINY_BLAST)
    return octant_environment() | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "SLURM_JOB_ID": "1",
    }


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "flux"])
def test_jobs_come_back_until_the_run_is_done(
    tmp_path: Path, cluster: dict[str, str], scheduler: str
) -> None:
    path = write(tmp_path, job(tmp_path, scheduler), scheduler)
    codes = []
    while len(codes) <= STEPS:
        done = subprocess.run(["bash", str(path)], cwd="/", env=cluster, check=False, timeout=60)
        codes.append(done.returncode)
        if not (tmp_path / "again").exists():
            break
        (tmp_path / "again").unlink()
    assert len(codes) > 1
    assert codes == [3] * (len(codes) - 1) + [0]
    straight = octant(
        "run", tmp_path / "blast.toml", "--set", f"time.max_steps={STEPS}", "--output",
        tmp_path / "straight",
    )  # fmt: skip
    assert straight.code == 0
    ended, whole = (Outcome(0, "", tmp_path / name).history() for name in ("run", "straight"))
    assert ended["step"][-1] == STEPS
    for name, column in whole.items():
        assert (ended[name] == column).all(), name


def test_a_warning_as_the_run_ends_hides_nothing_of_how_it_ended(
    tmp_path: Path, cluster: dict[str, str]
) -> None:
    """The run is over when the script, which is slow here, hands the warning on."""
    (tmp_path / "bin/srun").write_text(
        "#!/bin/bash\nbuiltin kill -s USR1 $PPID\nsleep 0.1\nexit 5\n"
    )
    slow = cluster | {"BASH_FUNC_kill%%": '() { sleep 0.5; builtin kill "$@"; }'}
    path = write(tmp_path, job(tmp_path, "slurm"), "slurm")
    assert subprocess.run(["bash", str(path)], env=slow, check=False, timeout=60).returncode == 5


def test_a_stop_on_somebodys_order_is_no_reason_to_come_back(
    tmp_path: Path, cluster: dict[str, str]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/control.toml").write_text("stop = true\n")
    path = write(tmp_path, job(tmp_path, "pbs", seconds=1000), "pbs")
    assert subprocess.run(["bash", str(path)], env=cluster, check=False).returncode == 3
    assert not (tmp_path / "again").exists()


def test_a_failure_is_no_reason_to_come_back(tmp_path: Path, cluster: dict[str, str]) -> None:
    path = write(tmp_path, job(tmp_path, "slurm", settings=("time.cfl=-1",)), "slurm")
    assert subprocess.run(["bash", str(path)], env=cluster, check=False).returncode == 2
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "flux"])
def test_scripts_are_clean_and_ask_for_what_is_needed(tmp_path: Path, scheduler: str) -> None:
    wanted = job(
        tmp_path, scheduler, nodes=4, ranks=8, threads=6, gpus=8, seconds=43200, margin=600,
        queue="large", account="stars", results=Path("it's here"),
    )  # fmt: skip
    path = write(tmp_path, wanted, scheduler)
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    if shutil.which("shellcheck"):
        checked = subprocess.run(["shellcheck", str(path)], capture_output=True, check=False)
        assert checked.returncode == 0, checked.stdout
    text = path.read_text()
    needed = {
        "slurm": (
            "--nodes=4", "--ntasks-per-node=8", "--cpus-per-task=6", "--gpus-per-node=8",
            "--time=12:00:00", "--signal=B:USR1@600", "--requeue", "--partition=large",
            "--account=stars", "srun --nodes=4 --ntasks=32 --cpus-per-task=6 --cpu-bind=cores",
        ),
        "pbs": (
            "select=4:ncpus=48:mpiprocs=8:ompthreads=6:ngpus=8", "walltime=12:00:00", "-q large",
            "-A stars", "mpirun -n 32 --map-by ppr:8:node:PE=6 --bind-to core",
        ),
        "flux": (
            "-N 4", "-n 32", "-c 6", "-g 1", "-t 43200s", "-q large", "--bank=stars",
            "flux run -N 4 -n 32 -c 6 -o cpu-affinity=per-task -g 1",
        ),
    }  # fmt: skip
    for words in (*needed[scheduler], "OMP_NUM_THREADS=6", "run.walltime_margin=600"):
        assert words in text


def test_bad_requests_are_named(tmp_path: Path) -> None:
    assert seconds_of("12:00") == 43200
    assert seconds_of("1-06:30") == 109800
    assert seconds_of("0:10:30") == 630
    for text in ("12", "1:60", "half an hour", ""):
        with pytest.raises(OctoolsError, match="hours and minutes"):
            seconds_of(text)
    with pytest.raises(OctoolsError, match="margin"):
        write(tmp_path, job(tmp_path, "slurm", seconds=600, margin=600), "slurm")
    with pytest.raises(OctoolsError, match="--no-health"):
        write(tmp_path, job(tmp_path, "slurm", spares=1), "slurm")


# Stands for the program: two nodes are slow before the run, n2 more so.
CHECKED = """#!/bin/bash
[[ $1 == bench ]] || exit 0
[[ $* == *--json*--exclude* ]] || exit 2
while (($#)); do case $1 in --json) json=$2 ;; --exclude) names=$2 ;; esac; shift; done
echo '[]' > "$json"
if [[ $json == *before* ]]; then printf 'n2.cluster\nn1.cluster\n'; fi > "$names"
"""
NODES = ("n1.cluster", "n2.cluster", "n3.cluster")


@pytest.fixture
def pool(tmp_path: Path, cluster: dict[str, str]) -> dict[str, str]:
    """Make three nodes, launchers that write down how they are called, and a program."""
    for name in ("srun", "mpirun", "flux"):
        (tmp_path / "bin" / name).write_text(
            "#!/bin/bash\n"
            'if [[ $1 == hostlist ]]; then echo "n1.cluster n2.cluster n3.cluster"; exit; fi\n'
            'echo "${0##*/} $*" >> calls\n'
            "until [[ $1 == */octant ]]; do shift; done\n"
            'exec "$@"\n'
        )
    (tmp_path / "bin/scontrol").write_text("#!/bin/sh\nprintf 'n1\\nn2\\nn3\\n'\n")
    (tmp_path / "octant").write_text(CHECKED)
    (tmp_path / "octant").chmod(0o755)
    # PBS repeats a node for each of its ranks.
    (tmp_path / "nodes").write_text("".join(f"{name}\n{name}\n" for name in NODES))
    return cluster | {"PBS_NODEFILE": str(tmp_path / "nodes"), "SLURM_JOB_NODELIST": "n[1-3]"}


def run_on_pool(tmp_path: Path, pool: dict[str, str], wanted: Job, scheduler: str) -> list[str]:
    """Run a job; return how ranks were started, and keep what it printed in `printed`."""
    path = write(tmp_path, wanted, scheduler)
    done = subprocess.run(["bash", str(path)], env=pool, capture_output=True, text=True, check=True)
    (tmp_path / "printed").write_text(done.stdout)
    return (tmp_path / "calls").read_text().splitlines()


@pytest.mark.parametrize(
    ("scheduler", "launcher", "excluded", "nodes"),
    [
        ("slurm", "srun", "--exclude=n2 ", "--nodes={} --ntasks={}"),
        ("slurm", "mpirun", "--host n1:2,n3:2 ", "-n {1}"),
        ("pbs", "mpirun", "--host n1.cluster:2,n3.cluster:2 ", "-n {1}"),
        ("flux", "flux run", "--requires=-host:n2 ", "-N {} -n {}"),
        ("flux", "mpirun", "--host n1.cluster:2,n3.cluster:2 ", "-n {1}"),
    ],
)
def test_slow_nodes_are_left_to_the_spares(
    tmp_path: Path, pool: dict[str, str], scheduler: str, launcher: str, excluded: str, nodes: str
) -> None:
    """Of two slow nodes, the single spare one replaces the slowest."""
    wanted = job(
        tmp_path, scheduler, program=tmp_path / "octant", nodes=2, ranks=2, spares=1, health=True,
        launcher=launcher,
    )  # fmt: skip
    before, run, after = run_on_pool(tmp_path, pool, wanted, scheduler)
    assert nodes.format(3, 6) in before
    assert "n2" not in before
    for call in (run, after):
        assert nodes.format(2, 4) in call
        assert excluded in call
    assert "octant run" in run
    assert "octant bench health" in after
    records = sorted(path.name.split("-", 1)[1] for path in (tmp_path / "blast-health").iterdir())
    assert records == ["0-after.json", "0-after.txt", "0-before.json", "0-before.txt"]
    printed = (tmp_path / "printed").read_text()
    assert "health check before the run: slow: n2.cluster n1.cluster" in printed
    assert "health check after the run: no node is slow" in printed
    directives = (tmp_path / "job.sh").read_text()
    requested = {"slurm": "--nodes=3\n", "pbs": "select=3:", "flux": "-N 3\n#flux: -n 6\n"}
    assert requested[scheduler] in directives
    checked = shutil.which("shellcheck") and subprocess.run(
        ["shellcheck", str(tmp_path / "job.sh")], capture_output=True, text=True, check=False
    )
    assert not checked or checked.returncode == 0, checked.stdout


def test_a_failed_health_check_excludes_nothing(tmp_path: Path, pool: dict[str, str]) -> None:
    (tmp_path / "octant").write_text(CHECKED + "exit 1\n")
    wanted = job(
        tmp_path, "slurm", program=tmp_path / "octant", nodes=2, spares=1, health=True
    )  # fmt: skip
    calls = run_on_pool(tmp_path, pool, wanted, "slurm")
    assert len(calls) == 3
    assert not any("--exclude=" in call for call in calls)
    assert "health check before the run: failed" in (tmp_path / "printed").read_text()


def test_the_program_checks_the_health_of_a_job(tmp_path: Path, cluster: dict[str, str]) -> None:
    """One rank has nobody to be slower than; the run ends as without the check."""
    short = ("time.max_steps=1",)
    wanted = job(tmp_path, "pbs", seconds=1000, health=True, settings=short)
    done = subprocess.run(
        ["bash", str(write(tmp_path, wanted, "pbs"))], env=cluster, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for when in ("before", "after"):
        assert f"health check {when} the run: no node is slow" in done.stdout
    [measured] = json.loads(next((tmp_path / "blast-health").glob("*-after.json")).read_text())
    assert measured["flops_per_second_median"] > 0


INJECTED = "x\ntouch owned\n#"


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", "flux"])
@pytest.mark.parametrize(
    "changes",
    [
        {"queue": INJECTED},
        {"account": INJECTED},
        {"queue": "large --wrap=reboot"},
        {"account": "-x"},
        {"name": INJECTED},
        {"file": Path(f"{INJECTED}.toml")},
        {"results": Path(INJECTED)},
        {"program": Path(INJECTED)},
        {"settings": (f"time.end={INJECTED}",)},
        {"modules": ("module load a\ntouch owned",)},
        {"queue": "a\u2028b"},
        {"account": "a\rb"},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_texts_do_not_become_commands(
    tmp_path: Path, scheduler: str, changes: dict[str, object]
) -> None:
    with pytest.raises(OctoolsError, match="expected"):
        write(tmp_path, job(tmp_path, scheduler, **changes), scheduler)


def test_file_names_do_not_become_commands(tmp_path: Path) -> None:
    """Through the command itself, whose job has the name of the file."""
    for name in ("a\ntouch owned\nb.toml", "-x y;touch owned.toml"):
        file = tmp_path / name
        file.write_text(TINY_BLAST)
        command = [
            sys.executable, "-m", "octools", "job", "--for", "slurm", "--time", "1:00",
            "--output", "job.sh", "--", name,
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
        )
        script_file = tmp_path / "job.sh"
        if "\n" in name:
            assert (done.returncode, script_file.exists()) == (2, False), done.stdout
            assert "line break" in done.stderr
        else:
            assert done.returncode == 0, done.stderr
            lines = script_file.read_text().splitlines()
            assert "#SBATCH --job-name=x_y_touch_owned" in lines
            [start] = [line.removesuffix("\\") for line in lines if "octant run " in line]
            assert f"./{name}" in shlex.split(start)


@pytest.mark.parametrize("leads_somewhere", [True, False])
def test_a_script_replaces_nothing(tmp_path: Path, leads_somewhere: bool) -> None:
    (tmp_path / "blast.toml").write_text(TINY_BLAST)
    victim = tmp_path / "victim"
    if leads_somewhere:
        victim.write_text("precious")
    (tmp_path / "job.sh").symlink_to(victim)
    command = [
        sys.executable, "-m", "octools", "job", "blast.toml", "--for", "pbs", "--time", "1:00",
        "--output", "job.sh",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100
    )
    assert (done.returncode, "already exists" in done.stderr) == (2, True), done.stderr
    assert victim.exists() == leads_somewhere
