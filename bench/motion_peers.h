/* Other engines for moving scenes: Bullet and ODE where they are built in, and those that node runs. */
#ifndef FRIX_BENCH_MOTION_PEERS_H
#define FRIX_BENCH_MOTION_PEERS_H

#include "motion_engine.h"

extern const motion_engine motion_bullet, motion_ode;

/* WebAssembly builds, run by bench/rivals/run.mjs in a process of its own, which sends times and states back. */
extern const motion_engine motion_jolt, motion_rapier, motion_mujoco, motion_frix_wasm;

/* Where run.mjs is; before the first of them is created. */
void motion_node_folder(const char *folder);

#endif
