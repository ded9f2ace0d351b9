/* Packing fraction, coordination, fabric, stress and velocity of cells.
 *
 *   packing        sum of part V_g / V
 *   coordination   neighbours that press on a grain, mean over the grains; without rattlers: between those that are
 * none fabric         mean of n n over the contacts whose point lies in the cell, trace 1 stress         sum over
 * grains of part (x_g - x_c) f / V, symmetric part, compression positive [Love 1927, Weber 1966]; f acts on the grain
 * at x_c temperature    mean of m |v - v_mean|^2 / (dim m): v_mean is that of the cell over all moments */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "grains.h"

void fx_state_new(fx_state *state, int32_t count) {
  *state = (fx_state){.count = count, .sum = fx_grow(NULL, (size_t)count, sizeof *state->sum)};
  memset(state->sum, 0, (size_t)count * sizeof *state->sum);
}

void fx_state_free(fx_state *state) { free(state->sum); }

static void add_product(double out[FX_SYM], frix_vec3 a, frix_vec3 b, double weight) {
  out[FX_XX] += weight * a.x * b.x;
  out[FX_YY] += weight * a.y * b.y;
  out[FX_ZZ] += weight * a.z * b.z;
  out[FX_XY] += weight * 0.5 * (a.x * b.y + a.y * b.x);
  out[FX_XZ] += weight * 0.5 * (a.x * b.z + a.z * b.x);
  out[FX_YZ] += weight * 0.5 * (a.y * b.z + a.z * b.y);
}

typedef struct grain_sum {
  double stress[FX_SYM];
  int32_t neighbours;
} grain_sum;

/* Sums of each grain over its contacts, along the region's axes at its centre. */
static grain_sum *by_grain(const fx_grains *g, const fx_region *region) {
  grain_sum *sum = fx_grow(NULL, (size_t)g->count, sizeof *sum);
  memset(sum, 0, (size_t)g->count * sizeof *sum);
  for (int32_t k = 0; k < g->touch_count; k++) {
    const fx_touch *t = &g->touch[k];
    for (int side = 0; side < 2; side++) {
      int32_t n = side ? t->b : t->a;
      if (n < 0) continue;
      frix_vec3 center = g->grain[n].center, arm = fx_grain_minus(center, t->point);
      add_product(sum[n].stress, fx_region_turn(region, center, arm), fx_region_turn(region, center, t->force),
                  side ? -1 : 1);
      sum[n].neighbours++;
    }
  }
  return sum;
}

static void add_share(fx_grain_cell_sum *cell, const fx_region *region, const fx_grain *g, const grain_sum *sum,
                      double part) {
  double m = part * g->mass;
  frix_vec3 v = fx_region_turn(region, g->center, g->velocity), w = fx_region_turn(region, g->center, g->spin);
  cell->solid += part * g->volume;
  cell->mass += m;
  cell->momentum[0] += m * v.x, cell->momentum[1] += m * v.y, cell->momentum[2] += m * v.z;
  cell->spin[0] += m * w.x, cell->spin[1] += m * w.y, cell->spin[2] += m * w.z;
  add_product(cell->flux, v, v, m);
  for (int a = 0; a < FX_SYM; a++) cell->stress[a] += part * sum->stress[a];
  cell->grains += part;
  cell->contacts += part * sum->neighbours;
  if (g->rattler) return;
  cell->bearing += part;
  cell->contacts_bearing += part * g->neighbours;
}

void fx_state_add(fx_state *state, const fx_grains *g, const fx_grid *grid) {
  grain_sum *sum = by_grain(g, &grid->region);
  for (int32_t k = 0; k < grid->share_count; k++) {
    const fx_share *s = &grid->share[k];
    add_share(&state->sum[s->cell], &grid->region, &g->grain[s->grain], &sum[s->grain], s->part);
  }
  for (int32_t k = 0; k < g->touch_count; k++) {
    const fx_touch *t = &g->touch[k];
    int32_t cell = fx_grid_cell(grid, t->point);
    if (cell < 0) continue;
    frix_vec3 n = fx_region_turn(&grid->region, t->point, t->normal);
    add_product(state->sum[cell].fabric, n, n, 1);
    state->sum[cell].touches++;
    state->sum[cell].slips += t->slips;
  }
  state->moments++;
  free(sum);
}

/* Jacobi's rotations, largest entry first; three by three, so that eight sweeps end at rounding. */
void fx_principal(const double s[FX_SYM], int dim, double value[3], frix_vec3 *first) {
  double a[3][3] = {{s[FX_XX], s[FX_XY], s[FX_XZ]}, {s[FX_XY], s[FX_YY], s[FX_YZ]}, {s[FX_XZ], s[FX_YZ], s[FX_ZZ]}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int k = 0; k < (dim == 3 ? 24 : 3); k++) {
    int p = 0, q = dim == 3 ? 1 + k % 2 : 1;
    if (dim == 3 && k % 3 == 2) p = 1, q = 2;
    if (a[p][q] == 0) continue;
    double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]),
           t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), d = t * c;
    for (int i = 0; i < 3; i++) {
      double x = a[i][p], y = a[i][q];
      a[i][p] = c * x - d * y, a[i][q] = d * x + c * y;
    }
    for (int i = 0; i < 3; i++) {
      double x = a[p][i], y = a[q][i], e = v[i][p], f = v[i][q];
      a[p][i] = c * x - d * y, a[q][i] = d * x + c * y;
      v[i][p] = c * e - d * f, v[i][q] = d * e + c * f;
    }
  }
  int order[3] = {0, 1, 2};
  for (int i = 0; i < dim; i++)
    for (int j = i + 1; j < dim; j++)
      if (a[order[j]][order[j]] > a[order[i]][order[i]]) {
        int swap = order[i];
        order[i] = order[j], order[j] = swap;
      }
  for (int i = 0; i < 3; i++) value[i] = a[order[i]][order[i]];
  if (first) *first = (frix_vec3){v[0][order[0]], v[1][order[0]], v[2][order[0]]};
}

static void set_tensors(fx_grain_cell *c, const fx_grain_cell_sum *s, double space, int dim) {
  double value[3];
  for (int a = 0; a < FX_SYM; a++) {
    c->fabric[a] = s->touches > 0 ? s->fabric[a] / s->touches : NAN;
    c->stress[a] = s->stress[a] / space;
  }
  c->anisotropy = NAN;
  if (s->touches > 0) {
    fx_principal(c->fabric, dim, value, NULL);
    c->anisotropy = (value[0] - 1.0 / dim) * dim / (dim - 1);
  }
  fx_principal(c->stress, dim, value, NULL);
  c->pressure = (c->stress[FX_XX] + c->stress[FX_YY] + (dim == 3 ? c->stress[FX_ZZ] : 0)) / dim;
  c->deviator = value[0] - value[dim - 1];
}

fx_grain_cell fx_state_cell(const fx_state *state, const fx_grid *grid, int32_t cell) {
  const fx_grain_cell_sum *s = &state->sum[cell];
  int moments = state->moments ? state->moments : 1, dim = grid->dim;
  fx_grain_cell c = {.volume = fx_grid_volume(grid, cell)};
  double space = c.volume * moments;
  c.grains = s->grains / moments;
  c.packing = s->solid / space;
  c.coordination = s->grains > 0 ? s->contacts / s->grains : NAN;
  c.coordination_bearing = s->bearing > 0 ? s->contacts_bearing / s->bearing : NAN;
  c.rattlers = s->grains > 0 ? 1 - s->bearing / s->grains : NAN;
  c.slipping = s->touches > 0 ? s->slips / s->touches : NAN;
  set_tensors(&c, s, space, dim);
  double swing = s->flux[FX_XX] + s->flux[FX_YY] + s->flux[FX_ZZ];
  for (int a = 0; a < 3; a++) {
    c.velocity[a] = s->mass > 0 ? s->momentum[a] / s->mass : NAN;
    c.spin[a] = s->mass > 0 ? s->spin[a] / s->mass : NAN;
    if (s->mass > 0) swing -= s->momentum[a] * s->momentum[a] / s->mass;
  }
  swing = fmax(swing, 0);
  c.kinetic = swing / (dim * space);
  c.temperature = s->mass > 0 ? swing / (dim * s->mass) : NAN;
  return c;
}
