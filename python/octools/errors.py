"""Error type for users, and suggestions for misspelt names."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class OctoolsError(Exception):
    """Invalid request or file. The message is one line that states the remedy."""


def unknown_name(kind: str, name: str, known: Iterable[str], where: str) -> OctoolsError:
    """Describe a name that does not exist, with the nearest ones that do.

    Parameters
    ----------
    kind
        What the name stands for, such as ``"field"``.
    name
        The unknown name.
    known
        All names that exist.
    where
        The place that was searched, for the message.

    Returns
    -------
    OctoolsError
        To be raised by the caller.
    """
    known = sorted(set(known))
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    all_names = ", ".join(known) or "none"
    hint = f"did you mean {', '.join(near)}?" if near else f"there are: {all_names}"
    return OctoolsError(f"{where} has no {kind} '{name}'; {hint}")


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Name the file in what h5py and Python say of one that is damaged, or not what was expected.

    Raises
    ------
    OctoolsError
        In place of what they raise.
    """
    try:
        yield
    except (AttributeError, KeyError, OSError, RuntimeError, TypeError, ValueError) as cause:
        raise OctoolsError(f"{path} is not a complete {expected}: {cause}") from cause
