"""Command line of octools: a list of commands, each of which is imported when it is called."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from octools.errors import OctoolsError
from octools.options import PlainConsole, console, finite
from octools.run import picture_command, wanted_pictures

# Help without boxes: to draw them takes longer than all the rest.
PLAIN: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


@dataclass(frozen=True)
class Entry:
    """Line of commands.txt, which ./octant reads as well.

    Attributes
    ----------
    name
        What users type.
    place
        MODULE:FUNCTION in octools.
    meaning
        A few words for the list of commands.
    """

    name: str
    place: str
    meaning: str

    def function(self) -> Callable[..., None]:
        """Import the function."""
        module, name = self.place.split(":")
        found: Callable[..., None] = getattr(import_module(f"octools.{module}"), name)
        return found


def commands() -> dict[str, Entry]:
    """List all commands by name, in the order in which they are shown."""
    lines = Path(__file__).with_name("commands.txt").read_text().splitlines()
    return {entry.name: entry for entry in (Entry(*line.split(maxsplit=2)) for line in lines)}


class Commands(TyperGroup):
    """Commands of commands.txt. Listing them imports none."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: D102
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: D102
        entry = commands().get(cmd_name)
        return None if entry is None else _command_of(entry)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: D102
        lines = [f"  {entry.name:<9} {entry.meaning}" for entry in commands().values()]
        formatter.write(
            "\n".join(
                (
                    "octools COMMAND [OPTIONS]: analyse and plot results of Octant.\n",
                    *lines,
                    "\noctools COMMAND -h lists the options of a command.",
                )
            )
        )


def _command_of(entry: Entry) -> Any:
    one = typer.Typer(**PLAIN)
    one.command(entry.name)(entry.function())
    command = typer.main.get_command(one)
    for parameter in command.params:
        parameter.type = finite(parameter.type)
    return command


app = typer.Typer(cls=Commands, help="Analyse and plot results of Octant.", **PLAIN)


@app.callback()
def _main() -> None:
    """Analyse and plot results of Octant."""


def pictures(run: Annotated[Path, typer.Argument(help="A run directory.")]) -> None:
    """Make the plots listed in output.pictures of a run."""
    wanted = wanted_pictures(run)
    codes = [_ended(lambda text=text: app(picture_command(text, run))) for text in wanted]
    if not codes:
        console.print(f"{run / 'run.toml'}: output.pictures is empty")
    raise typer.Exit(max(codes, default=0))


def main() -> None:
    """Run the command line."""
    sys.exit(_ended(lambda: app(sys.argv[1:] or ["-h"])))


def _ended(command: Callable[[], object]) -> int:
    """Run a command; one that cannot be met ends with one line and exit code 2."""
    try:
        command()
    except (OctoolsError, OSError) as error:
        PlainConsole(stderr=True, highlight=False, soft_wrap=True).print(
            f"octools: {' '.join(str(error).split())}"
        )
        return 2
    except MemoryError:
        PlainConsole(stderr=True, highlight=False, soft_wrap=True).print(
            "octools: the result requires more memory than there is; choose smaller numbers of "
            "points, bins or pixels"
        )
        return 2
    except SystemExit as end:
        return int(end.code or 0)
    return 0
