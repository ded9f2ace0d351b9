"""The structs of the binding have the sizes that the compiler gives them: layout.py SOURCE_DIR SCRATCH"""
import ctypes
import subprocess
import sys

from frix import _abi

source, scratch = sys.argv[1:3]
program = f"{scratch}/layout"
subprocess.check_call([sys.executable, f"{source}/tools/make_binding", "--check", f"{program}.c"])
subprocess.check_call(["cc", "-std=c17", f"-I{source}/include", f"-I{source}", f"{program}.c", "-o", program])
rows = subprocess.check_output([program], text=True).split()
sizes = dict(zip(rows[::2], map(int, rows[1::2])))
assert len(sizes) == len(_abi.STRUCTS) > 60
for struct in _abi.STRUCTS:
    assert ctypes.sizeof(struct) == sizes[struct.__name__], struct
print(f"{len(sizes)} structs")
