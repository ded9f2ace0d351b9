"""Answers from arrays in Python are those of the command, to the bit: solve.py FRIX FOLDER SCRATCH"""
import glob
import json
import os
import subprocess
import sys

import numpy as np

import frix

command, folder, scratch = sys.argv[1:4]
paths = sorted(glob.glob(os.path.join(folder, "*")))
assert paths
for path in paths:
    out = os.path.join(scratch, "answer.json")
    problem = frix.Problem.read(path)
    arrays = problem.arrays
    by_name = {k: arrays.get(k) for k in ("M", "H", "f", "w", "W", "q", "G", "b", "R", "r_c")}
    rows = problem.row_count // max(problem.contact_count, 1)
    again = frix.Problem(**by_name, mu=problem.mu, dim=rows) if rows in (2, 3) else problem
    subprocess.run([command, "solve", path, "--solver", "newton", "--out", out], check=False,
                   stdout=subprocess.DEVNULL)
    with open(out, encoding="utf-8") as file:
        told = np.array(json.load(file)["r"])
    for p in (problem, again):
        answer = p.solve(solver="newton")
        assert np.array_equal(answer.r, told), path
        assert p.certify(answer.r, answer.lambda_).residual == answer.certificate.residual
print(f"{len(paths)} files")
