"""Has a real Slurm run a job script to its end: stopped by the time limit, queued again, same bits.

Starts munged, slurmctld and slurmd for this machine alone, in a folder and on ports of their own,
and ends them. Takes some five minutes: Slurm counts limits in minutes, and lets a job that comes
back wait for one or two. Needs root and Debian's packages munge, slurmctld, slurmd, slurm-client:

    python tests/measure/slurm_job.py
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from octools.job import Job, script

from running import Outcome, octant, program

CASE = """
[problem]
name = "sedov"

[mesh]
base_cells = [16, 16, 16]
block_size = 4
max_level = 1

[time]
end = 100.0
max_steps = 60
"""
CONFIGURATION = """
ClusterName=alone
SlurmctldHost={host}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation={folder}/controller
SlurmdSpoolDir={folder}/node
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/node.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/node.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
MpiDefault=pmix
NodeName={host} CPUs={processors} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def start_slurm(folder: Path) -> list[subprocess.Popen[bytes]]:
    """Start what Slurm consists of; return the processes."""
    for name in ("controller", "node"):
        (folder / name).mkdir()
    text = CONFIGURATION.format(host=socket.gethostname(), folder=folder, processors=os.cpu_count())
    (folder / "slurm.conf").write_text(text)
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o400)
    folder.chmod(0o755)
    munged = ["munged", "--foreground", "--force", f"--key-file={folder}/key"]
    munged += [f"--{what}-file={folder}/munge.{what}" for what in ("log", "pid", "seed")]
    commands = [
        [*munged, f"--socket={folder}/munge.socket", "--num-threads=2"],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    ]
    started = []
    for command in commands:
        with (folder / f"{command[0]}.out").open("wb") as out:
            started.append(subprocess.Popen(command, stdout=out, stderr=out))
        time.sleep(2)
    return started


def queue(job: int) -> str:
    """State of a job, and how often it has come back; empty when it is done."""
    shown = subprocess.run(
        ["squeue", "--noheader", f"--job={job}", "--format=%T %r"],
        capture_output=True,
        text=True,
        check=False,
    )
    return shown.stdout.strip()


def main() -> None:
    """Submit a job of two ranks, watch it, and compare its end with that of one long run."""
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    file = folder / "blast.toml"
    file.write_text(CASE)
    root = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    slow = ("debug.step_seconds=2.5",)
    job = Job(
        file, Path("run"), program(), "blast", 1, 2, 1, 0, 120, 30, slow, "", "", "srun", (root,)
    )
    path = folder / "job.sh"
    path.write_text(script(job, "slurm", path, folder))
    assert octant("run", file, "--output", folder / "straight").code == 0
    services = start_slurm(folder)
    try:
        told = subprocess.run(
            ["sbatch", str(path)], capture_output=True, text=True, check=True, cwd=folder
        )
        number, begin, shown = int(told.stdout.split()[-1]), time.monotonic(), ""
        while state := queue(number):
            if state != shown:
                print(f"{time.monotonic() - begin:6.0f} s: {state}", flush=True)
            shown = state
            time.sleep(1)
    finally:
        for service in reversed(services):
            service.terminate()
            service.wait()
    for line in (folder / "run/log.txt").read_text().splitlines():
        if any(word in line for word in ("stopping", "restarted", "done")):
            print(line)
    ended, whole = (Outcome(0, "", folder / name).history() for name in ("run", "straight"))
    same = all((ended[name] == column).all() for name, column in whole.items())
    print("the same bits in every column of history.csv" if same else "DIFFERENT")
    sys.exit(not same)


if __name__ == "__main__":
    main()
