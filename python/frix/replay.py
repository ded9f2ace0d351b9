"""Runs on record: files that go on bit for bit, replay pages, plots.

>>> import frix, tempfile, os
>>> sim = frix.Scene("stack", n=3).sim()
>>> path = os.path.join(tempfile.mkdtemp(), "run.frx")
>>> with frix.record(sim, path) as run:
...     report = run.run(0.1, h=0.01)
>>> trajectory = frix.Trajectory(path)
>>> len(trajectory), trajectory.center.shape
(11, (11, 3, 3))
"""
import base64
import os
import shutil
import tempfile

import numpy as np

from . import _frix as lib
from ._library import Context, Error, Handle, encode
from .sim import Report, Sim
from .world import Model



class Recorder:
    """Writes frames of a sim to a file while it is stepped; use as a context manager. record() makes one."""

    def __init__(self, sim: Sim, path: str = None, every: int = 1):
        self.sim, self.every, self._steps = sim, max(int(every), 1), 0
        self._folder = None
        if path is None:
            self._folder = tempfile.mkdtemp(prefix="frix-")
            path = os.path.join(self._folder, "run.frx")
        self.path = os.fspath(path)
        self._context = sim._context
        out = lib.cell_pointer()
        self._check(lib.frix_recorder_create(self._context.pointer, encode(self.path), sim.model._handle.pointer,
                                              b'{"scene":"python"}', out))
        self._recorder = out.value
        self._check(lib.frix_recorder_add(self._recorder, sim._pointer(), None))

    def _check(self, status):
        self._context.check(status)

    def add(self, report: Report = None) -> None:
        """A frame of the present state."""
        if not self._recorder:
            raise Error("the record is closed")
        self._check(lib.frix_recorder_add(self._recorder, self.sim._pointer(), report if report else None))

    def step(self, h: float) -> Report:
        """Steps the sim; every so many steps a frame."""
        report = self.sim.step(h)
        self._steps += 1
        if self._steps % self.every == 0:
            self.add(report)
        return report

    def run(self, time: float, h: float = 0.01, drive=None) -> Report:
        """Steps for some seconds; drive(sim) comes before every step. Returns the worst report."""
        worst = None
        for _ in range(int(round(float(time) / h))):
            if drive is not None:
                drive(self.sim)
            report = self.step(h)
            if worst is None or (report.certified, -report.residual) < (worst.certified, -worst.residual):
                worst = report
        return worst

    def close(self) -> None:
        """A checkpoint, from which the run can go on, and the end of the file."""
        recorder, self._recorder = self._recorder, None
        if recorder:
            status = lib.frix_recorder_checkpoint(recorder, self.sim._pointer())
            closed = lib.frix_recorder_close(recorder)
            self._check(status or closed)

    def page(self, path: str = None) -> "Page":
        """The replay page of what was recorded."""
        self.close()
        return Page(self.path, path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_recorder", None):
            lib.frix_recorder_close(self._recorder)
        if getattr(self, "_folder", None):
            shutil.rmtree(self._folder, ignore_errors=True)


def record(sim: Sim, path: str = None, every: int = 1) -> Recorder:
    """Records a sim to a file (.frx), a temporary one without a path."""
    return Recorder(sim, path, every)


class Page:
    """A replay page: one HTML text that needs nothing else. Notebooks show it; save() writes it."""

    def __init__(self, run: str, path: str = None):
        from .command import run as command

        with tempfile.TemporaryDirectory(prefix="frix-") as folder:
            out = os.fspath(path) if path is not None else os.path.join(folder, "page.html")
            done = command("view", run, "--out", out, "--no-open")
            if done.returncode != 0:
                raise Error(done.stderr.strip() or "frix view failed")
            with open(out, encoding="utf-8") as file:
                self.html: str = file.read()
        self.path = path

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.html.encode()).decode()
        return (f'<iframe src="data:text/html;base64,{data}" width="100%" height="600" '
                'style="border:0" sandbox="allow-scripts"></iframe>')

    def __repr__(self):
        return f"<frix.Page: {len(self.html)} characters" + (f", {self.path}>" if self.path else ">")


class Trajectory:
    """A recorded run: len() frames; time, residual, certified, energy and center as arrays over the frames."""

    def __init__(self, path: str):
        self._context = Context()
        self._handle = self._context.make(lib.frix_trajectory_open, self._context.pointer, encode(path),
                                          destroy="frix_trajectory_close")
        self._read()

    def __len__(self):
        return lib.frix_trajectory_frame_count(self._handle.pointer)

    @property
    def model(self) -> Model:
        pointer = lib.frix_trajectory_model(self._handle.pointer)
        return Model(self._context, Handle(pointer, None, (self._handle,)))

    @property
    def meta(self) -> str:
        """The JSON text about the run."""
        return lib.frix_trajectory_meta(self._handle.pointer)

    def _read(self):
        count, bodies = len(self), lib.frix_model_count(lib.frix_trajectory_model(self._handle.pointer)).body_count
        self.time, self.residual, self.certified = np.zeros(count), np.zeros(count), np.ones(count, dtype=bool)
        self.energy = np.zeros(count, dtype=[(name, np.float64) for name, *_ in lib.frix_energy._fields_])
        self.center = np.full((count, bodies, 3), np.nan)
        frame = lib.frix_frame(size=lib.frix_frame._size_)
        size = lib.frix_frame_body._size_
        for k in range(count):
            self._context.check(lib.frix_trajectory_frame(self._handle.pointer, k, frame))
            self.time[k], self.residual[k] = frame.time, frame.report.certificate.residual
            self.certified[k] = frame.report.certified or frame.step == 0
            self.energy[k] = tuple(getattr(frame.energy, name) for name, *_ in lib.frix_energy._fields_)
            for b in range(frame.body_count):
                body = lib.frix_frame_body.at(frame.body + b * size, frame)
                if body.id.index == body.pattern.index:
                    c = body.state.center
                    self.center[k, body.id.index - 1] = c.x, c.y, c.z


__all__ = ["record", "Recorder", "Page", "Trajectory"]
