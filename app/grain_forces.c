/* Normal forces of the contacts in a region, and force chains.
 *
 * Chains after Peters et al., Phys. Rev. E 72 (2005) 041307: grains whose largest principal stress is above the mean,
 * linked where they touch and the line between their centres is within 45 degrees of the principal direction of both;
 * a chain is a linked group of three or more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "grains.h"

enum { SHORTEST = 3 };

static bool inside(const fx_grid *grid, frix_vec3 p) { return fx_grid_cell(grid, p) >= 0; }

static void add_forces(fx_forces *f, const fx_grains *g, const fx_grid *grid) {
  double sum = 0, count = 0;
  for (int32_t k = 0; k < g->touch_count; k++)
    if (inside(grid, g->touch[k].point)) sum += g->touch[k].push, count++;
  for (int32_t k = 0; k < g->touch_count; k++) {
    const fx_touch *t = &g->touch[k];
    if (!inside(grid, t->point)) continue;
    double share = t->push * count / sum, slip2 = fx_grain_dot(t->force, t->force) - t->push * t->push;
    int bin = share < 0.1 * FX_FORCE_BINS ? (int)(share / 0.1) : FX_FORCE_BINS - 1;
    f->bin[bin < FX_FORCE_BINS ? bin : FX_FORCE_BINS - 1]++;
    f->push += t->push, f->push2 += t->push * t->push;
    f->most = fmax(f->most, t->push);
    f->mobilised += slip2 > 0 ? sqrt(slip2) / t->push : 0;
  }
  f->count += count;
}

/* ---- chains */

typedef struct axis {
  double stress[FX_SYM], most;
  frix_vec3 direction;
} axis;

static void add_stress(axis *out, frix_vec3 arm, frix_vec3 force, double sign) {
  double *s = out->stress;
  s[FX_XX] += sign * arm.x * force.x, s[FX_YY] += sign * arm.y * force.y, s[FX_ZZ] += sign * arm.z * force.z;
  s[FX_XY] += sign * 0.5 * (arm.x * force.y + arm.y * force.x);
  s[FX_XZ] += sign * 0.5 * (arm.x * force.z + arm.z * force.x);
  s[FX_YZ] += sign * 0.5 * (arm.y * force.z + arm.z * force.y);
}

/* Largest principal stress of every grain; *mean: over the grains in the region that bear anything. */
static axis *principal_axes(const fx_grains *g, const fx_grid *grid, double *mean) {
  axis *all = fx_grow(NULL, (size_t)g->count, sizeof *all);
  double count = 0;
  memset(all, 0, (size_t)g->count * sizeof *all);
  for (int32_t k = 0; k < g->touch_count; k++) {
    const fx_touch *t = &g->touch[k];
    add_stress(&all[t->a], fx_grain_minus(g->grain[t->a].center, t->point), t->force, 1);
    if (t->b >= 0) add_stress(&all[t->b], fx_grain_minus(g->grain[t->b].center, t->point), t->force, -1);
  }
  *mean = 0;
  for (int32_t k = 0; k < g->count; k++) {
    double value[3];
    fx_principal(all[k].stress, g->dim, value, &all[k].direction);
    if (g->grain[k].volume > 0) value[0] /= g->grain[k].volume;
    all[k].most = inside(grid, g->grain[k].center) ? value[0] : 0;
    if (all[k].most > 0) *mean += all[k].most, count++;
  }
  if (count > 0) *mean /= count;
  return all;
}

static int32_t root(int32_t *parent, int32_t k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static bool aligned(const axis *a, frix_vec3 branch) {
  double along = fx_grain_dot(a->direction, branch);
  return 2 * along * along >= fx_grain_dot(branch, branch);
}

static void add_chains(fx_forces *f, const fx_grains *g, const fx_grid *grid, int32_t *member) {
  double mean;
  axis *all = principal_axes(g, grid, &mean);
  int32_t *parent = fx_grow(NULL, (size_t)g->count, sizeof *parent),
          *size = fx_grow(NULL, (size_t)g->count, sizeof *size), chains = 0;
  for (int32_t k = 0; k < g->count; k++) parent[k] = k, size[k] = 0;
  for (int32_t k = 0; k < g->touch_count; k++) {
    const fx_touch *t = &g->touch[k];
    if (t->b < 0 || all[t->a].most <= mean || all[t->b].most <= mean) continue;
    frix_vec3 branch = fx_grain_minus(g->grain[t->a].center, g->grain[t->b].center);
    if (aligned(&all[t->a], branch) && aligned(&all[t->b], branch)) parent[root(parent, t->b)] = root(parent, t->a);
  }
  for (int32_t k = 0; k < g->count; k++) {
    size[root(parent, k)]++;
    f->grains += inside(grid, g->grain[k].center);
  }
  for (int32_t k = 0; k < g->count; k++) {
    if (parent[k] != k || size[k] < SHORTEST) continue;
    chains++;
    f->chained += size[k];
    f->longest = fmax(f->longest, size[k]);
    size[k] = -chains; /* its number */
  }
  f->chains += chains;
  for (int32_t k = 0; member && k < g->count; k++) {
    int32_t number = size[root(parent, k)];
    member[k] = number < 0 ? -number : 0;
  }
  free(all);
  free(parent);
  free(size);
}

void fx_forces_add(fx_forces *forces, const fx_grains *grains, const fx_grid *grid, int32_t *member) {
  add_forces(forces, grains, grid);
  add_chains(forces, grains, grid, member);
  forces->moments++;
}
