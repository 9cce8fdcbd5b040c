"""Command that writes job scripts."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from octools.errors import OctoolsError
from octools.files import write_new
from octools.job import Job, job_name, results_of, script, seconds_of
from octools.options import Output, console


class Scheduler(StrEnum):
    """Batch systems of clusters."""

    slurm = "slurm"
    pbs = "pbs"
    flux = "flux"


class Launcher(StrEnum):
    """MPI launchers."""

    srun = "srun"
    mpirun = "mpirun"
    flux = "flux run"


SUBMIT = {"slurm": "sbatch", "pbs": "qsub", "flux": "flux batch"}
LAUNCHERS = {"slurm": Launcher.srun, "pbs": Launcher.mpirun, "flux": Launcher.flux}


def job(
    file: Annotated[Path, typer.Argument(help="The run's parameter file.")],
    scheduler: Annotated[Scheduler, typer.Option("--for", help="Batch system of the cluster.")],
    time: Annotated[
        str, typer.Option(help="Wall-clock limit of a job, HOURS:MINUTES or DAYS-HOURS:MINUTES.")
    ],
    nodes: Annotated[int, typer.Option(min=1, help="Number of nodes.")] = 1,
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of ranks per node. (default: one per GPU, or this machine's processors)",
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads per rank.")] = 1,
    spares: Annotated[
        int, typer.Option(min=0, help="Number of additional nodes that replace slow ones.")
    ] = 0,
    health: Annotated[
        bool | None,
        typer.Option(
            "--health/--no-health",
            help="Compare the nodes before and after the run. (default: with several nodes)",
        ),
    ] = None,
    gpus: Annotated[int, typer.Option(min=0, help="Number of GPUs per node.")] = 0,
    margin: Annotated[
        int, typer.Option(min=1, help="Seconds before the end at which the run stops.")
    ] = 600,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="Override of a parameter, section.key=value.")
    ] = None,
    queue: Annotated[str, typer.Option(help="Partition or queue of the batch system.")] = "",
    account: Annotated[str, typer.Option(help="Account or bank of the batch system.")] = "",
    launcher: Annotated[
        Launcher | None,
        typer.Option(help="Command that starts the ranks. (default: the scheduler's own)"),
    ] = None,
    setup: Annotated[
        list[str] | None,
        typer.Option(help="Shell line before the run, such as 'module load openmpi'."),
    ] = None,
    results: Annotated[
        Path | None, typer.Option(help="Output directory. (default: that of the parameter file)")
    ] = None,
    output: Output = None,
) -> None:
    """Write a job script that resubmits itself until the run is done."""
    ranks = ranks or gpus or max(1, len(os.sched_getaffinity(0)) // threads)
    if gpus % ranks:
        raise OctoolsError(
            f"{gpus} GPUs cannot be divided evenly among the {ranks} ranks on a node"
        )
    build = Path(os.environ.get("OCTANT_BUILD", "build/release")).resolve()
    destination = output or Path(f"{file.stem}.{scheduler.value}.sh")
    wanted = Job(
        file=file,
        results=results or results_of(file),
        program=build / "octant",
        name=job_name(file),
        nodes=nodes,
        ranks=ranks,
        threads=threads,
        gpus=gpus,
        seconds=seconds_of(time),
        margin=margin,
        settings=tuple(setting or ()),
        queue=queue,
        account=account,
        launcher=(launcher or LAUNCHERS[scheduler.value]).value,
        modules=tuple(setup or ()),
        spares=spares,
        health=nodes + spares > 1 if health is None else health,
    )
    text = script(wanted, scheduler.value, destination, Path.cwd())
    try:
        write_new(destination, text, 0o755)
    except FileExistsError:
        raise OctoolsError(
            f"{destination} already exists; move it aside, or choose another --output"
        ) from None
    except OSError as cause:
        raise OctoolsError(f"cannot write {destination}: {cause.strerror}") from cause
    console.print(
        f"{nodes} node(s) and {spares} spare(s), each with {ranks} rank(s) of {threads} thread(s), "
        f"{wanted.walltime}\nwrote {destination}; submit it from this directory: "
        f"{SUBMIT[scheduler.value]} {destination}"
    )
