"""The extension module: structs hold what the compiler laid out, keep what they refer to, and refuse what is not theirs."""
import gc
import os
import re

import numpy as np

from frix import _frix as lib
from refusal import refused


# one binary for every Python from 3.9 on
assert re.search(r"_frix\.abi3\.so$", lib.__file__), lib.__file__

# the library and the extension agree on sizes: a config has the size that its init was given
count = 0
for name in dir(lib):
    if name.endswith("_default") and name != "frix_joint_default":
        config = getattr(lib, name)()
        sizes = {field[0] for field in config._fields_}
        if "size" in sizes:
            assert config.size == config._size_, name
            count += 1
assert count > 15, count
structs = [s for s in vars(lib).values() if isinstance(s, type) and issubclass(s, lib.Struct) and s is not lib.Struct]
assert len(structs) > 90
for struct in structs:  # fields lie within, in order
    ends = [offset for _, _, offset, _ in struct._fields_]
    assert ends == sorted(ends) and ends[-1] < struct._size_, struct
    assert bytes(struct._size_) == lib.bytes_at(struct(), struct._size_), struct

# values, structs within structs, arrays within structs, copies
pose = lib.frix_pose(lib.frix_vec3(1, 2, 3), lib.frix_quat(1, 0, 0, 0))
pose.p.x = 5
assert (pose.p.x, pose.p.y, pose.q.w) == (5.0, 2.0, 1.0)
inner = pose.p
del pose
gc.collect()
assert inner.z == 3.0
copy = lib.frix_vec3(inner)
copy.z = 7
assert inner.z == 3.0
contact = lib.frix_contact(dim=3, mu=0.5)
contact.axis = (0.6, 0.8)
assert contact.axis == (0.6, 0.8) and contact.dim == 3
joint = lib.frix_joint_default(1)
joint.axis[1].target = 2.5
assert joint.axis[1].target == 2.5 and joint.axis[0].target == 0.0

# several in a row
ids = lib.frix_body_id.array(3)
ids[1] = lib.frix_body_id(7, 1)
ids[2].index = 9
assert [i.index for i in ids] == [0, 7, 9] and len(ids) == 3
refused(IndexError, lambda: ids[3])

# what a pointer refers to is kept
config = lib.frix_material_default()
config.name = b"wood" * 100
gc.collect()
assert config.name == "wood" * 100
bulk = lib.frix_bulk_default()
bulk.center = np.arange(3000.0)
gc.collect()
assert np.frombuffer(lib.bytes_at(bulk.center, 8 * 3000)).sum() == 3000 * 2999 / 2

# what is not theirs
refused(TypeError, lambda: setattr(config, "mu", "much"), "real number")
refused(TypeError, lambda: setattr(config, "name", "str"), "bytes")
refused(TypeError, lambda: setattr(bulk, "center", object()), "array")
refused(OverflowError, lambda: setattr(ids[0], "index", -1), "range")
refused(AttributeError, lambda: setattr(config, "muu", 1))
refused(TypeError, lambda: lib.Struct(), "no instances")
refused(TypeError, lambda: lib.frix_vec3(1, 2, 3, 4), "at most 3")
refused(TypeError, lambda: lib.frix_sim_time(), "1 arguments")
refused(TypeError, lambda: lib.frix_sim_default(1))
refused(TypeError, lambda: lib.Handle(0, "no_such", ()), "Handle")
refused(TypeError, lambda: lib.Handle(0, None, (1,)), "Handle")
refused(TypeError, lambda: lib.frix_builder_set_gravity(None, (0, 0, 1)), "frix_vec3")
refused(TypeError, lambda: lib.frix_context_create(lib.frix_vec3(), None), "frix_context_config")
refused(RuntimeError, lambda: lib.SimCore().step(0.1), "not made")
refused(ValueError, lambda: lib.frix_vec3.at(0, None), "address")
refused(ValueError, lambda: lib.listen(config, None, "nothing"), "callback")
assert os.path.dirname(lib.__file__).endswith("frix")
print(f"{len(structs)} structs, {sum(n.startswith('frix_') and callable(getattr(lib, n)) for n in dir(lib)) - len(structs)} functions")
