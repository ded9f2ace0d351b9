"""Builds the C library with the project's CMake and packs it with the Python files: pip install ./python
--no-build-isolation, or ./dev python. The extension keeps to the limited API, so that one wheel serves every Python from
3.9 on."""
import os
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
built = os.environ.get("FRIX_BUILD", os.path.join(root, "build"))
try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # newer setuptools has its own
    from setuptools.command.bdist_wheel import bdist_wheel


class Build(build_py):
    """The package as the project's build assembles it, in build/python/frix."""

    def run(self):
        subprocess.check_call(["cmake", "-S", root, "-B", built])
        subprocess.check_call(["cmake", "--build", built, "--target", "frix_python", "-j", os.environ.get("JOBS", "2")])
        target = os.path.join(self.build_lib, "frix")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(built, "python", "frix"), target, ignore=shutil.ignore_patterns("__pycache__"))

    def get_outputs(self, include_bytecode=1):
        folder = os.path.join(self.build_lib, "frix")
        return [os.path.join(folder, name) for name in os.listdir(folder)]


class Wheel(bdist_wheel):
    """For this platform and any Python from 3.9 on."""

    def get_tag(self):
        return "cp39", "abi3", super().get_tag()[2]


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Binary)
