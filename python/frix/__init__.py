"""frix: frictional contact dynamics, exact and certified.

>>> import frix
>>> sim = frix.Scene("cardhouse").sim()
>>> sim.step(0.005).certified
True
"""
from . import _frix
from ._library import (CancelledError, CertificateError, Error, FileError, FormatError, InputError, OutOfMemory,
                       UnsupportedError)
from .batch import *  # noqa: F401,F403
from .bed import *  # noqa: F401,F403
from .chart import *  # noqa: F401,F403
from .complementarity import *  # noqa: F401,F403
from .edit import *  # noqa: F401,F403
from .hooks import *  # noqa: F401,F403
from .problem import *  # noqa: F401,F403
from .queries import *  # noqa: F401,F403
from .replay import *  # noqa: F401,F403
from .robots import *  # noqa: F401,F403
from .scenes import *  # noqa: F401,F403
from .sensitivity import *  # noqa: F401,F403
from .sim import *  # noqa: F401,F403
from .world import *  # noqa: F401,F403

__version__: str = _frix.frix_version()
