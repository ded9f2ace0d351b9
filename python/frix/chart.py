"""Plots as SVG, without another package: notebooks show them, save() writes them.

>>> import frix
>>> picture = frix.plot([0, 1, 2], {"height": [1.0, 0.5, 0.2]}, x_label="t, s", y_label="z, m")
>>> picture.svg.startswith("<svg")
True
"""
import html
import math

import numpy as np

_colors = ("#1f5fa8", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569")
_width, _height = 640, 360
_left, _right, _top, _bottom = 70, 150, 20, 50


class Plot:
    """An SVG text; with matplotlib present figure() draws the same there."""

    def __init__(self, x, curves, x_label, y_label, title, log):
        self._x, self._curves = x, curves
        self._labels = (x_label, y_label, title)
        self._log = log
        self.svg: str = "\n".join(_draw(x, curves, x_label, y_label, title, log)) + "\n"

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def figure(self):
        """A figure of matplotlib, where that is installed."""
        from matplotlib import pyplot

        figure, axes = pyplot.subplots()
        for name, y in self._curves.items():
            axes.plot(self._x, y, label=name)
        axes.set_xlabel(self._labels[0])
        axes.set_ylabel(self._labels[1])
        axes.set_title(self._labels[2])
        axes.set_yscale("log" if self._log else "linear")
        axes.legend()
        return figure

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self):
        return f"<frix.Plot: {', '.join(self._curves)}>"


def _ticks(low, high):
    """About five round numbers between low and high."""
    if not high > low:
        return [low]
    raw = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(s * unit for s in (1, 2, 5, 10) if s * unit >= raw)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, int(math.floor(high / step + 1e-9)) + 1)]


def _range(values):
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if low == high:
        pad = abs(low) * 0.1 or 0.5
        return low - pad, high + pad
    return low, high


def _draw(x, curves, x_label, y_label, title, log):
    shown = {n: np.log10(np.where(y > 0, y, np.nan)) if log else y for n, y in curves.items()}
    x0, x1 = _range(x)
    y0, y1 = _range(np.concatenate(list(shown.values())))
    w, h = _width - _left - _right, _height - _top - _bottom

    def at(px, py):
        return _left + (px - x0) / (x1 - x0) * w, _top + (1 - (py - y0) / (y1 - y0)) * h

    escape = html.escape
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_width} {_height}" width="{_width}" '
           f'height="{_height}" font-family="sans-serif" font-size="12">')
    yield f'<rect width="{_width}" height="{_height}" fill="white"/>'
    for t in _ticks(x0, x1):
        px, _ = at(t, y0)
        yield f'<path d="M{px:.1f} {_top}V{_top + h}" stroke="#ddd"/>'
        yield f'<text x="{px:.1f}" y="{_top + h + 16}" text-anchor="middle">{t:g}</text>'
    for t in _ticks(y0, y1):
        _, py = at(x0, t)
        label = f"1e{t:g}" if log else f"{t:g}"
        yield f'<path d="M{_left} {py:.1f}H{_left + w}" stroke="#ddd"/>'
        yield f'<text x="{_left - 6}" y="{py + 4:.1f}" text-anchor="end">{label}</text>'
    for k, (name, y) in enumerate(shown.items()):
        color, pen, parts = _colors[k % len(_colors)], "M", []
        for px, py in zip(x, y):
            if not (math.isfinite(px) and math.isfinite(py)):
                pen = "M"
                continue
            parts.append("{}{:.2f} {:.2f}".format(pen, *at(px, py)))
            pen = "L"
        yield f'<path d="{"".join(parts)}" fill="none" stroke="{color}" stroke-width="1.5"/>'
        yield f'<text x="{_left + w + 10}" y="{_top + 14 + 18 * k}" fill="{color}">{escape(name)}</text>'
    yield f'<text x="{_left + w / 2}" y="{_height - 12}" text-anchor="middle">{escape(x_label)}</text>'
    yield (f'<text transform="translate(16 {_top + h / 2}) rotate(-90)" text-anchor="middle">{escape(y_label)}'
           "</text>")
    if title:
        yield f'<text x="{_left + w / 2}" y="14" text-anchor="middle">{escape(title)}</text>'
    yield "</svg>"


def plot(x, curves, x_label: str = "", y_label: str = "", title: str = "", log: bool = False) -> Plot:
    """Curves over x: one array, or a dict of arrays by name; log: logarithmic y."""
    x = np.asarray(x, dtype=np.float64).ravel()
    if not isinstance(curves, dict):
        curves = {"y": curves}
    curves = {str(n): np.asarray(y, dtype=np.float64).ravel() for n, y in curves.items()}
    for name, y in curves.items():
        if y.shape != x.shape:
            raise ValueError(f"{name}: {len(y)} values over {len(x)} points")
    if not curves or not len(x):
        raise ValueError("nothing to plot")
    return Plot(x, curves, x_label, y_label, title, log)


__all__ = ["plot", "Plot"]
