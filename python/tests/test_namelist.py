"""Fortran namelists: what a Fortran program reads from them."""

from pathlib import Path
from typing import Any

import pytest

from octools.errors import OctoolsError
from octools.inputs.namelist import read_namelist


def values(tmp_path: Path, text: str) -> dict[str, Any]:
    """Return the values of group A by name."""
    path = tmp_path / "a.nml"
    path.write_bytes(text.encode())
    settings = read_namelist(path).settings
    return {key.partition("/")[2]: value for key, value in settings.items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=1", 1),
        ("X = -1.5D-3", -1.5e-3),
        ("x=1.d0", 1.0),
        ("x=.5", 0.5),
        ("x=1.0+5", 1e5),
        ("x=.true.", True),
        ("x=F", False),
        ("x=.T.", True),
        ("x='it''s'", "it's"),
        ('x="a/b ! c"', "a/b ! c"),
        ("x='hilbert   '", "hilbert"),
        ("x=3*0.1", [0.1, 0.1, 0.1]),
        ("x=1, 2,\n   3", [1, 2, 3]),
        ("x=1 2\t3", [1, 2, 3]),
        ("x=1, ! comment = 5\n 2", [1, 2]),
        ("x=1,,3", [1, None, 3]),
        ("x=2*1,2*,5", [1, 1, None, None, 5]),
        ("x=8.,", 8.0),
        ("x(2)=5", [None, 5]),
        ("x(2:3)=5,6", [None, 5, 6]),
        ("x(1)='a'\nx(3)='c'", ["a", None, "c"]),
        ("x=4*1\nx(2)=7", [1, 7, 1, 1]),
        ("x=1\nx=2", 2),
        ("x(1,1)=1\nx(2,1)=2\nx(1,2)=3", [[1, 2], [3]]),
        ("x(2,:)=1,2", [[None, 1], [None, 2]]),
        ("y=1; x=2", 2),
        ("y=1,x=2,z=3", 2),
        ("x=1\r\n", 1),
    ],
)
def test_values_are_those_of_fortran(tmp_path: Path, text: str, expected: Any) -> None:
    assert values(tmp_path, f"&A\n{text}\n/\n")["x"] == expected


@pytest.mark.parametrize(
    "text",
    [
        "It's a text\n&A x=1 /",
        "&a x=1 &end",
        "$A\n x=1\n$END\n",
        "  &A\n\n! x=3\n x=1/ x=2",
        "&A x=1 y= z=2 /",
        "&A x=1 /\n&A x=2 /",
        "\ufeff&A x=1 /",
    ],
)
def test_groups_begin_and_end_as_in_fortran(tmp_path: Path, text: str) -> None:
    found = values(tmp_path, text)
    assert found.pop("x") == 1
    assert "y" not in found  # a name without a value stays at its default


def test_the_first_group_of_a_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.nml"
    path.write_text("&A x=1 /\n&B y=2 /\n&a x=3 z=4 /\n")
    found = read_namelist(path)
    assert found.settings == {"a/x": 1, "b/y": 2}
    assert found.repeated == {"a/x": 3, "a/z": 4}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("&A\nx=1\n", "line 3, &A: the group does not end with /"),
        ("&A\nx=1\n&B\ny=1\n/", "line 3, &A: expected"),
        ("&A\nx\n/", "line 2, &A: expected NAME = VALUE"),
        ("&A\nx(i)=1\n/", "line 2, &A: .i. is not an index"),
        ("&A x=200000*1 /", "200000 values"),
        ("&A x(1:9999999)=1 /", "9999999 values"),
    ],
)
def test_damaged_groups_are_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(OctoolsError, match=message):
        values(tmp_path, text)


@pytest.mark.parametrize("element", ["a{n}(100000)=1", "a(100000,{n})=1"])
def test_indices_that_imply_many_values_are_refused(tmp_path: Path, element: str) -> None:
    path = tmp_path / "run.nml"
    path.write_text("&A\n" + "\n".join(element.format(n=n + 1) for n in range(50)) + "\n/\n")
    with pytest.raises(OctoolsError, match="the indices imply more than 1000000 values"):
        read_namelist(path)
