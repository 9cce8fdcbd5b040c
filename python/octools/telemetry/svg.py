"""Charts as inline SVG, coloured by the CSS classes of the page so that they follow its theme.

Every chart carries its numbers as JSON for the page's script, which shows them under the pointer.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Array = NDArray[np.float64]

WIDTH, HEIGHT = 960, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 14, 12, 34


@dataclass(frozen=True)
class Series:
    """Named row of numbers, and its CSS class."""

    name: str
    kind: str
    values: Array


@dataclass(frozen=True)
class Frame:
    """Area of a chart between its axes, and its data ranges."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: int = HEIGHT

    def across(self, x: Array | float) -> Array:
        """Place values of x, in pixels."""
        share = (np.asarray(x, float) - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def up(self, y: Array | float) -> Array:
        """Place values of y, in pixels."""
        share = (np.asarray(y, float) - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return self.height - BOTTOM - share * (self.height - TOP - BOTTOM)


def ceiling(values: Array) -> float:
    """Choose the top of a scale: few values far above all others do not flatten these."""
    shown = values[np.isfinite(values)]
    if not shown.any():
        return 1.0
    usual = max(5 * float(np.median(shown)), float(np.quantile(shown, 0.9)))
    return min(float(shown.max()), usual) or float(shown.max())


def ticks(low: float, high: float, most: int = 6, whole: bool = False) -> list[float]:
    """Choose round numbers between two values."""
    span = (high - low) or 1.0
    step = 10.0 ** np.floor(np.log10(span / most))
    for factor in (1, 2, 5, 10):
        if span / (step * factor) <= most:
            step *= factor
            break
    step = max(1.0, step) if whole else step
    first = np.ceil(low / step - 1e-9)
    count = int(np.floor((high - first * step) / step + 1e-9)) + 1
    return [float((first + n) * step) for n in range(count)]


def stacked(x: Array, series: Sequence[Series], unit: str, x_label: str = "step") -> str:
    """Draw areas on top of each other."""
    edges = _steps(x)
    layers = np.vstack([np.zeros(len(x)), np.cumsum([s.values for s in series], axis=0)])
    top, most = ceiling(layers[-1]), float(layers[-1].max(initial=0.0))
    frame = Frame((edges[0], edges[-1]), (0.0, 1.05 * top))
    parts = []
    for n, each in enumerate(series):
        lower, upper = np.minimum(layers[n : n + 2], 1.05 * top)
        outline = _corners(frame, edges, upper) + _corners(frame, edges, lower)[::-1]
        parts.append(f'<path class="area {each.kind}" d="{_path(outline)}Z"/>')
    if most > 1.05 * top:
        parts.append(_note(TOP, f"cut off; up to {most:.4g} {unit}"))
    return _chart(frame, parts, x, series, unit, x_label)


def lines(
    x: Array,
    series: Sequence[Series],
    unit: str,
    x_label: str = "step",
    least: float = 0.0,
    marks: Sequence[tuple[float, str]] = (),
) -> str:
    """Draw curves; `marks` are horizontal lines with their names."""
    shown = np.concatenate([each.values[np.isfinite(each.values)] for each in series] or [[0.0]])
    top = max([float(shown.max(initial=least)), *(value for value, _ in marks)])
    frame = Frame(_span(x), (least, least + (top - least) * 1.08 or least + 1.0))
    parts = []
    for value, name in marks:
        y = frame.up(value)
        parts.append(f'<path class="mark" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_note(float(y), name))
    for each in series:
        good = np.isfinite(each.values)
        points = list(zip(frame.across(x[good]), frame.up(each.values[good]), strict=True))
        parts.append(f'<path class="curve {each.kind}" d="{_path(points)}"/>')
        if len(points) == 1:
            parts.append(_dot(points[0], each.kind, 3.5))
    return _chart(frame, parts, x, series, unit, x_label)


def dots(
    x: Array, series: Sequence[Series], unit: str, x_label: str, marks: Sequence[float] = ()
) -> str:
    """Draw one dot per value, and horizontal lines at `marks`."""
    values = np.concatenate([each.values for each in series] or [[0.0]])
    frame = Frame(
        _span(x, 0.5), (0.0, max(float(np.nanmax(values, initial=0.0)), *marks, 1e-300) * 1.1)
    )
    parts = [f'<path class="mark" d="M{LEFT},{frame.up(m):.1f}H{WIDTH - RIGHT}"/>' for m in marks]
    for each in series:
        radius = 4.0 if len(x) <= 64 else 2.2
        points = zip(frame.across(x), frame.up(each.values), strict=True)
        parts += [_dot(point, each.kind, radius) for point in points if np.isfinite(point[1])]
    return _chart(frame, parts, x, series, unit, x_label)


def heat_map(
    values: Array, x: tuple[float, float], y: tuple[float, float], unit: str, colours: str
) -> str:
    """Draw an array [row][column] as an image; the first row is at the bottom.

    Parameters
    ----------
    x, y
        What the first and the last column, and row, stand for.
    unit
        Of the values, for the scale.
    colours
        A matplotlib colour map.
    """
    top, most = ceiling(values), float(np.nanmax(values, initial=0.0))
    levels = np.nan_to_num(np.clip(values / top, 0, 1) * 255).astype(np.uint8)
    height = min(max(22 * len(levels), 44), 256)
    frame = Frame((x[0] - 0.5, x[1] + 0.5), (y[0] - 0.5, y[1] + 0.5), height + TOP + BOTTOM)
    width = WIDTH - LEFT - RIGHT
    picture = (
        f'<image class="pixels" x="{LEFT}" y="{TOP}" width="{width}" height="{height}" '
        f'preserveAspectRatio="none" href="{_png(levels[::-1], colours)}"/>'
    )
    about = {
        "kind": "map",
        "columns": levels.shape[1],
        "rows": levels.shape[0],
        "x": x,
        "y": y,
        "top": top,
        "unit": unit,
        "levels": base64.b64encode(levels.tobytes()).decode(),
    }
    last = f"{top:.4g} {unit}" if most <= top else f"{top:.4g} to {most:.4g} {unit}"
    scale = _png(np.arange(256, dtype=np.uint8)[None, :], colours)
    legend = (
        f'<p class="scale"><span>0</span><img src="{scale}" alt="colours from 0 to the greatest '
        f'value"><span>{escape(last)}</span></p>'
    )
    return _svg(frame, [picture, *_axes(frame, "step", "rank", True)], about) + legend


def bars(rows: Sequence[tuple[str, str, float]]) -> str:
    """Draw shares as horizontal bars: name, class and value between 0 and 1."""
    items = [
        f'<li><span class="name">{escape(name)}</span><span class="bar"><i class="{kind}" '
        f'style="width:{100 * value:.1f}%"></i></span><span class="value">{100 * value:.1f} %'
        "</span></li>"
        for name, kind, value in rows
    ]
    return f'<ul class="bars">{"".join(items)}</ul>'


def _chart(
    frame: Frame, parts: list[str], x: Array, series: Sequence[Series], unit: str, x_label: str
) -> str:
    about = {
        "kind": "series",
        "x": [float(value) for value in x],
        "at": [round(float(at), 1) for at in frame.across(x)],
        "label": x_label,
        "unit": unit,
        "series": [
            {"name": s.name, "kind": s.kind, "values": [_short(value) for value in s.values]}
            for s in series
        ],
    }
    legend = "".join(
        f'<span><i class="{each.kind}"></i>{escape(each.name)}</span>' for each in series
    )
    drawn = _svg(frame, [*_axes(frame, x_label, unit), *parts], about)
    return f'{drawn}<p class="legend">{legend}</p>'


def _svg(frame: Frame, parts: Sequence[str], about: dict[str, object]) -> str:
    data = json.dumps(about).replace("</", "<\\/")
    return (
        f'<figure class="chart"><svg viewBox="0 0 {WIDTH} {frame.height}" role="img">'
        f'{"".join(parts)}<path class="pointer" d=""/></svg>'
        f'<script type="application/json">{data}</script></figure>'
    )


def _axes(frame: Frame, x_label: str, y_label: str, whole: bool = False) -> list[str]:
    parts = []
    bottom = frame.height - BOTTOM
    for value in ticks(*frame.y, most=5, whole=whole):
        y = frame.up(value)
        if not whole:
            parts.append(f'<path class="grid" d="M{LEFT},{y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    parts += [
        f'<text class="tick" x="{frame.across(value):.1f}" y="{bottom + 16}" '
        f'text-anchor="middle">{value:g}</text>'
        for value in ticks(*frame.x, most=9, whole=True)
    ]
    middle = (bottom + TOP) / 2
    parts.append(
        f'<text class="label" x="{WIDTH - RIGHT}" y="{frame.height - 3}" '
        f'text-anchor="end">{escape(x_label)}</text>'
    )
    parts.append(
        f'<text class="label" transform="translate(13 {middle:.0f}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_label)}</text>'
    )
    return parts


def _png(levels: NDArray[np.uint8], colours: str) -> str:
    image = Image.fromarray(np.ascontiguousarray(levels), mode="P")
    palette = (mpl.colormaps[colours](np.arange(256))[:, :3] * 255).astype(np.uint8)
    image.putpalette(palette.tobytes())
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _steps(x: Array) -> Array:
    """Return the edges of bins around positions."""
    if len(x) == 1:
        return np.array([x[0] - 0.5, x[0] + 0.5])
    middles = (x[1:] + x[:-1]) / 2
    return np.concatenate([[x[0] - (middles[0] - x[0])], middles, [2 * x[-1] - middles[-1]]])


def _span(x: Array, margin: float = 0.0) -> tuple[float, float]:
    low, high = float(x.min(initial=np.inf)), float(x.max(initial=-np.inf))
    if not np.isfinite(low + high):
        return 0.0, 1.0
    margin = margin or (0.5 if low == high else 0.0)
    return low - margin, high + margin


def _corners(frame: Frame, edges: Array, values: Array) -> list[tuple[float, float]]:
    across, up = np.repeat(frame.across(edges), 2)[1:-1], np.repeat(frame.up(values), 2)
    return list(zip(across, up, strict=True))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points) if points else ""


def _note(y: float, text: str) -> str:
    return (
        f'<text class="note" x="{WIDTH - RIGHT - 4}" y="{y - 3:.1f}" '
        f'text-anchor="end">{escape(text)}</text>'
    )


def _dot(point: tuple[float, float], kind: str, radius: float) -> str:
    return f'<circle class="dot {kind}" cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="{radius}"/>'


def _short(value: float) -> float | None:
    return float(f"{value:.5g}") if np.isfinite(value) else None
