"""The command `frix` of this package: the same program as build/frix."""
import os
import subprocess
import sys

from ._library import UnsupportedError, folder


def path() -> str:
    """Of the program."""
    program = os.path.join(folder, "frix")
    if not os.path.exists(program):
        raise UnsupportedError("this build of the package has no frix command (FRIX_APP=OFF)")
    return program


def run(*arguments, **options) -> subprocess.CompletedProcess:
    """Runs the command and returns what it printed: run("view", "run.frx").stdout"""
    return subprocess.run([path(), *map(str, arguments)], capture_output=True, text=True, **options)


def main() -> None:
    program = path()
    if not os.access(program, os.X_OK):  # some installers drop the mode
        os.chmod(program, 0o755)
    os.execv(program, [program, *sys.argv[1:]])
