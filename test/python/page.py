"""A sim shows its replay page in a notebook and writes it; a record is read back; plots are SVG: page.py SCRATCH"""
import os
import sys
import xml.dom.minidom

import frix

scratch = sys.argv[1]
sim = frix.Scene("stack", n=2).sim()
path = os.path.join(scratch, "run.frx")
with frix.record(sim, path, every=2) as run:
    run.run(0.1)
trajectory = frix.Trajectory(path)
assert len(trajectory) == 6 and trajectory.certified.all() and trajectory.model.body_count == 2
picture = frix.plot(trajectory.time, {"height": trajectory.center[:, 0, 2], "energy": trajectory.energy["kinetic"]})
xml.dom.minidom.parseString(picture.svg)
try:
    page = sim.show(0.05, path=os.path.join(scratch, "page.html"))
except frix.Error as error:
    if "setup --web" not in str(error) and "replay" not in str(error):
        raise
    print("no replay pages in this build")
    sys.exit(0)
assert page.html.startswith("<!doctype html") or "<html" in page.html[:200]
assert "iframe" in page._repr_html_() and os.path.getsize(os.path.join(scratch, "page.html")) > 10000
print(f"page of {len(page.html) // 1024} KiB")
