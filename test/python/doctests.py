"""Every example in the docstrings of the package runs."""
import doctest
import importlib
import pkgutil
import sys

import frix

failed = count = 0
for found in pkgutil.iter_modules(frix.__path__, "frix."):
    if found.name.endswith("_frix") or "libfrix" in found.name or "hdf5" in found.name:  # no modules of Python
        continue
    result = doctest.testmod(importlib.import_module(found.name))
    failed, count = failed + result.failed, count + result.attempted
print(f"{count} examples")
sys.exit(failed > 0 or count < 60)
