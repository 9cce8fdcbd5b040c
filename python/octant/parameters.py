"""Conversion of Python dictionaries to parameter files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


def as_value(value: Any) -> str:
    """Write a value as TOML."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        items = (f"{json.dumps(str(key))} = {as_value(item)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    return "[" + ", ".join(as_value(item) for item in value) + "]"


def as_toml(parameters: Mapping[str, Any]) -> str:
    """Write a dictionary of sections as a parameter file."""
    lines = [
        f"{key} = {as_value(value)}"
        for key, value in parameters.items()
        if not isinstance(value, Mapping)
    ]
    for section, values in parameters.items():
        if isinstance(values, Mapping):
            lines += [f"[{section}]", *(f"{key} = {as_value(v)}" for key, v in values.items())]
    return "\n".join(lines) + "\n"


def override(name: str, value: Any) -> str:
    """Write a parameter as after ``--set``."""
    return f"{name}={as_value(value)}"
