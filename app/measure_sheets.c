/* From grains to sheets: one row per moment, per cell, per bin and per grain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

/* ---- sheets */

void fx_sheet_new(fx_sheet *sheet, const char *name, const char *const *column) {
  *sheet = (fx_sheet){.name = name, .column = column};
  while (column[sheet->columns]) sheet->columns++;
}

void fx_sheet_add(fx_sheet *s, const double *row) {
  if (s->rows == s->room) {
    s->room = 2 * s->room + 64;
    s->value = fx_grow(s->value, (size_t)s->room * (size_t)s->columns, sizeof *s->value);
  }
  memcpy(s->value + s->rows++ * s->columns, row, (size_t)s->columns * sizeof *row);
}

void fx_sheet_free(fx_sheet *sheet) { free(sheet->value); }

double *fx_sheet_column(const fx_sheet *s, const char *name) {
  int k = 0;
  while (k < s->columns && strcmp(s->column[k], name)) k++;
  if (k == s->columns) return NULL;
  double *out = fx_grow(NULL, (size_t)s->rows, sizeof *out);
  for (int64_t row = 0; row < s->rows; row++) out[row] = s->value[row * s->columns + k];
  return out;
}

/* ---- columns */

#define CELL_COLUMNS                                                                                                \
  "grains", "packing", "coordination", "coordination_bearing", "rattlers", "slipping", "fabric_xx", "fabric_yy",    \
      "fabric_zz", "fabric_xy", "fabric_xz", "fabric_yz", "anisotropy", "stress_xx", "stress_yy", "stress_zz",      \
      "stress_xy", "stress_xz", "stress_yz", "pressure", "deviator", "kinetic_pressure", "temperature", "vx", "vy", \
      "vz", "wx", "wy", "wz"
enum { CELL_COUNT = 29 };

static const char *const series_column[] = {
    "time",         CELL_COLUMNS,    "force_mean",    "followed",     "msd_x", "msd_y",
    "msd_z",        "drift_x",       "drift_y",       "drift_z",      "flow",  "flow_mass",
    "repose_angle", "repose_height", "repose_spread", "chain_grains", NULL};
static const char *const grid_column[] = {"x0", "x1", "y0", "y1", "z0", "z1", "volume", CELL_COLUMNS, NULL};
static const char *const forces_column[] = {"force", "density", NULL};
static const char *const correlation_column[] = {"r", "radial", "two_point", NULL};
static const char *const grains_column[] = {"x",  "y",  "z",  "radius",     "mass",    "vx",    "vy", "vz",
                                            "wx", "wy", "wz", "neighbours", "rattler", "chain", NULL};

static void cell_row(const fx_grain_cell *c, double *out) {
  const double head[] = {c->grains, c->packing, c->coordination, c->coordination_bearing, c->rattlers, c->slipping};
  memcpy(out, head, sizeof head);
  memcpy(out + 6, c->fabric, sizeof c->fabric);
  out[12] = c->anisotropy;
  memcpy(out + 13, c->stress, sizeof c->stress);
  const double tail[] = {c->pressure,    c->deviator,    c->kinetic, c->temperature, c->velocity[0],
                         c->velocity[1], c->velocity[2], c->spin[0], c->spin[1],     c->spin[2]};
  memcpy(out + 19, tail, sizeof tail);
}

/* ---- moments */

void fx_measured_begin(fx_measured *m) {
  fx_state_new(&m->cells, fx_grid_count(&m->grid));
  fx_state_new(&m->mean, 1);
  fx_sheet_new(&m->sheet[FX_SHEET_SERIES], "series", series_column);
  fx_sheet_new(&m->sheet[FX_SHEET_GRID], "grid", grid_column);
  fx_sheet_new(&m->sheet[FX_SHEET_FORCES], "forces", forces_column);
  fx_sheet_new(&m->sheet[FX_SHEET_CORRELATION], "correlation", correlation_column);
  fx_sheet_new(&m->sheet[FX_SHEET_GRAINS], "grains", grains_column);
}

static void motion_row(const fx_measured *m, double *out) {
  const fx_motion *o = &m->motion;
  const double row[] = {o->followed, o->displacement2[0], o->displacement2[1], o->displacement2[2],
                        o->drift[0], o->drift[1],         o->drift[2],         o->flow,
                        o->flow_mass};
  memcpy(out, row, sizeof row);
}

void fx_measured_moment(fx_measured *m, const fx_grains *g, bool has_forces) {
  double row[1 + CELL_COUNT + 15];
  fx_forces before = m->forces, *forces = &m->forces;
  fx_state now;
  fx_state_new(&now, 1);
  fx_grid_share(&m->whole, g);
  fx_state_add(&now, g, &m->whole);
  fx_grain_motion_add(&m->motion, g, &m->grid.region);
  m->slope = fx_surface_slope(g, &m->grid.region);
  if (has_forces) {
    fx_grid_share(&m->grid, g);
    fx_state_add(&m->cells, g, &m->grid);
    fx_state_add(&m->mean, g, &m->whole);
    fx_forces_add(forces, g, &m->whole, NULL);
    if (fx_pairs_add(&m->pairs, g, &m->grid.region)) m->correlated = true;
  }
  fx_grain_cell cell = fx_state_cell(&now, &m->whole, 0);
  row[0] = g->time;
  cell_row(&cell, row + 1);
  /* of this moment alone; 0 / 0 where it has no forces */
  row[1 + CELL_COUNT] = (forces->push - before.push) / (forces->count - before.count);
  motion_row(m, row + 2 + CELL_COUNT);
  row[11 + CELL_COUNT] = m->slope.angle, row[12 + CELL_COUNT] = m->slope.height;
  row[13 + CELL_COUNT] = m->slope.spread;
  row[14 + CELL_COUNT] = (forces->chained - before.chained) / (forces->grains - before.grains);
  fx_sheet_add(&m->sheet[FX_SHEET_SERIES], row);
  if (!m->frames++) m->first_time = g->time;
  m->last_time = g->time;
  fx_state_free(&now);
}

/* ---- what was summed up */

static void add_cells(fx_measured *m) {
  for (int32_t k = 0; k < m->cells.count; k++) {
    double row[7 + CELL_COUNT], low[3], high[3];
    fx_grain_cell cell = fx_state_cell(&m->cells, &m->grid, k);
    fx_grid_ends(&m->grid, k, low, high);
    for (int a = 0; a < 3; a++) row[2 * a] = low[a], row[2 * a + 1] = high[a];
    row[6] = cell.volume;
    cell_row(&cell, row + 7);
    fx_sheet_add(&m->sheet[FX_SHEET_GRID], row);
  }
}

static void add_bins(fx_measured *m) {
  for (int k = 0; k < FX_FORCE_BINS - 1 && m->forces.count > 0; k++) { /* the last bin is open */
    const double row[] = {0.1 * (k + 0.5), m->forces.bin[k] / (0.1 * m->forces.count)};
    fx_sheet_add(&m->sheet[FX_SHEET_FORCES], row);
  }
  for (int k = 0; k < FX_PAIR_BINS && m->correlated; k++) {
    const double row[] = {(k + 0.5) * m->pairs.width, fx_pairs_radial(&m->pairs, m->dim, k),
                          fx_pairs_two_point(&m->pairs, k)};
    fx_sheet_add(&m->sheet[FX_SHEET_CORRELATION], row);
  }
}

void fx_measured_finish(fx_measured *m, const fx_grains *g) {
  int32_t *chain = fx_grow(NULL, (size_t)g->count, sizeof *chain);
  fx_forces last = {0};
  add_cells(m);
  add_bins(m);
  fx_forces_add(&last, g, &m->whole, chain);
  for (int32_t k = 0; k < g->count; k++) {
    const fx_grain *n = &g->grain[k];
    const double row[] = {n->center.x,   n->center.y,   n->center.z,   n->radius, n->mass,
                          n->velocity.x, n->velocity.y, n->velocity.z, n->spin.x, n->spin.y,
                          n->spin.z,     n->neighbours, n->rattler,    chain[k]};
    fx_sheet_add(&m->sheet[FX_SHEET_GRAINS], row);
  }
  free(chain);
}

void fx_measured_free(fx_measured *m) {
  fx_grid_free(&m->grid);
  fx_grid_free(&m->whole);
  fx_state_free(&m->cells);
  fx_state_free(&m->mean);
  fx_grain_motion_free(&m->motion);
  for (int k = 0; k < FX_SHEETS; k++) fx_sheet_free(&m->sheet[k]);
}
