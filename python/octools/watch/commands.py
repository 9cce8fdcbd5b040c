"""Command that monitors runs."""

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:
    from octools.watch.state import RunState

COLOURS = {"running": "green", "done": "bold", "failed": "bold red"}


def watch(
    runs: Annotated[list[Path], typer.Argument(help="Run directories.")],
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between updates.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print the state once and exit.")] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Serve a web page on this machine instead.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the web page. (0: any)")] = 0,
) -> None:
    """Monitor runs: progress, remaining time, warnings and log.

    The page has pictures and phases as well, and orders to the run. Its address has a secret:
    whoever has it may stop the run.
    """
    if page:
        from octools.watch.page import serve

        end_by_signals()
        serve(runs, port, lambda address: print(address, flush=True))
        return
    from rich.live import Live

    from octools.watch.state import Watched

    end_by_signals()
    watched = [Watched(run) for run in runs]
    screen = Console(highlight=False)
    if once or not screen.is_terminal:
        screen.print(_page([each.look() for each in watched]))
        return
    try:
        with Live(console=screen, auto_refresh=False, screen=True) as live:
            while True:
                live.update(_page([each.look() for each in watched]), refresh=True)
                time.sleep(every)
    except (KeyboardInterrupt, SystemExit):
        screen.print(_page([each.look() for each in watched]))


def end_by_signals() -> None:
    """Have SIGTERM and SIGHUP end the program as Ctrl-C does: what is temporary is removed."""

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, end)


def _page(states: "list[RunState]") -> Any:
    from rich.console import Group
    from rich.text import Text

    from octools.watch.state import in_words

    parts = []
    for state in states:
        head = Text(f"{state.name}  ", "bold")
        head.append(state.state, COLOURS.get(state.state, "yellow"))
        words = [f"step {state.step}", state.when, f"{in_words(state.step_seconds)} a step"]
        words += [f"{in_words(state.left)} left", f"wrote {in_words(state.quiet)} ago"]
        bar = f"{_bar(state.share)} {100 * state.share:.0f} %"
        numbers = ", ".join(
            f"{name} {'not finite' if value is None else f'{value:.5g}'}"
            for name, value in state.numbers.items()
        )
        parts += [head, Text(f"{bar}  {', '.join(words)}"), Text(numbers)]
        parts += [Text(line, "yellow") for line in state.warnings[-3:]]
        lines = LOG_SHARE // max(1, len(states))
        for line in state.log[-lines:]:
            parts.append(Text(line, "dim", no_wrap=True, overflow="ellipsis"))
        parts.append(Text())
    return Group(*parts)


LOG_SHARE = 12  # lines of all logs together


def _bar(share: float, width: int = 10) -> str:
    full = round(share * width)
    return "█" * full + "·" * (width - full)
