/* The summary of a measured run, as text and as JSON, with where its energy went. */
#include <math.h>

#include "measure.h"

/* ---- numbers of the summary */

typedef struct number {
  const char *name, *words, *unit;
  double value;
} number;

enum { NUMBERS = 48 };

typedef struct list {
  number row[NUMBERS];
  int count;
} list;

static void put(list *l, const char *name, const char *words, const char *unit, double value) {
  if (l->count < NUMBERS) l->row[l->count++] = (number){name, words, unit, value};
}

/* First maximum of g(r) that is above 1, in diameters. */
static void first_peak(const fx_measured *m, double *at, double *height) {
  *at = *height = NAN;
  for (int k = 0; k < FX_PAIR_BINS && m->correlated; k++) {
    double r = (k + 0.5) * m->pairs.width / m->diameter, g = fx_pairs_radial(&m->pairs, m->dim, k);
    if (r < 1.5 && (!(g <= *height))) *height = g, *at = r;
  }
}

static list state_numbers(const fx_measured *m) {
  list l = {0};
  fx_grain_cell c = fx_state_cell(&m->mean, &m->whole, 0);
  const fx_forces *f = &m->forces;
  put(&l, "grains", "grains in the region", "", c.grains);
  put(&l, "packing", "packing fraction", "", c.packing);
  put(&l, "coordination", "coordination", "", c.coordination);
  put(&l, "coordination_bearing", "  without rattlers", "", c.coordination_bearing);
  put(&l, "rattlers", "rattlers, share", "", c.rattlers);
  put(&l, "anisotropy", "anisotropy of the fabric", "", c.anisotropy);
  put(&l, "pressure", "pressure", m->dim == 3 ? "Pa" : "N/m", c.pressure);
  put(&l, "deviator", "largest minus least principal stress", m->dim == 3 ? "Pa" : "N/m", c.deviator);
  put(&l, "kinetic_pressure", "pressure of fluctuations", m->dim == 3 ? "Pa" : "N/m", c.kinetic);
  put(&l, "temperature", "granular temperature", "m2/s2", c.temperature);
  put(&l, "force_mean", "normal force of a contact, mean", "N", f->count > 0 ? f->push / f->count : NAN);
  put(&l, "force_spread", "  standard deviation over mean", "",
      f->count > 0 ? sqrt(fmax(0, f->push2 * f->count / (f->push * f->push) - 1)) : NAN);
  put(&l, "force_most", "  largest", "N", f->count > 0 ? f->most : NAN);
  put(&l, "slipping", "contacts that slip, share", "", c.slipping);
  put(&l, "chains", "force chains", "", f->moments ? f->chains / f->moments : NAN);
  put(&l, "chain_grains", "  share of the grains in them", "", f->grains > 0 ? f->chained / f->grains : NAN);
  put(&l, "chain_longest", "  grains of the longest", "", f->moments ? f->longest : NAN);
  return l;
}

static list motion_numbers(const fx_measured *m) {
  list l = {0};
  const fx_motion *o = &m->motion;
  double at, height, span = m->last_time - m->first_time;
  first_peak(m, &at, &height);
  put(&l, "radial_peak_at", "first peak of g(r), at", "diameters", at);
  put(&l, "radial_peak", "  height", "", height);
  put(&l, "solid", "S2(0): points in grains", "", m->pairs.points > 0 ? m->pairs.solid / m->pairs.points : NAN);
  put(&l, "msd", "mean-square displacement at the end", "m2",
      o->displacement2[0] + o->displacement2[1] + (m->dim == 3 ? o->displacement2[2] : 0));
  put(&l, "followed", "  grains followed", "", o->followed);
  if (o->has_plane) {
    put(&l, "flow", "flow through the plane", "grains/s", span > 0 ? o->crossed / span : NAN);
    put(&l, "flow_mass", "  mass", "kg/s", span > 0 ? o->crossed_mass / span : NAN);
  }
  if (o->has_plane && o->jumps && o->crossed > 0)
    put(&l, "turnover", "  all grains pass in", "s", o->grains * span / o->crossed);
  put(&l, "jumps", "grains relocated", "", o->jumps);
  if (o->stays) {
    put(&l, "residence_mean", "  time between, mean", "s", o->stay_sum / o->stays);
    put(&l, "residence_least", "  least", "s", o->stay_least);
    put(&l, "residence_most", "  most", "s", o->stay_most);
  }
  put(&l, "repose_angle", "angle of repose", "degrees", m->slope.angle);
  put(&l, "repose_height", "  height of the heap", "m", m->slope.height);
  put(&l, "repose_spread", "  distance from the line", "diameters", m->slope.spread);
  return l;
}

/* Of the ledger between the first and the last frame; scheme and error are gains. */
static list energy_numbers(const fx_measured *m) {
  list l = {0};
  const frix_energy *a = &m->first, *b = &m->last;
  double friction = b->friction - a->friction, impact = b->impact - a->impact, damping = b->damping - a->damping,
         scheme = a->scheme - b->scheme, error = a->error - b->error;
  double lost = friction + impact + damping + fmax(0, scheme) + fmax(0, error);
  put(&l, "lost", "energy lost between first and last frame", "J", lost > 0 ? lost : NAN); /* beds keep no ledger */
  put(&l, "friction", "  share of friction", "", friction / lost);
  put(&l, "impact", "  share of impacts", "", impact / lost);
  put(&l, "damping", "  share of damping", "", damping / lost);
  put(&l, "scheme", "  share of the time discretisation", "", scheme / lost);
  put(&l, "error", "  share of the solver's error", "", error / lost);
  return l;
}

/* ---- JSON, text */

static void put_list(fx_json *json, const list *l) {
  for (int k = 0; k < l->count; k++) fx_put_real(json, l->row[k].name, l->row[k].value);
}

static void put_region(fx_json *json, const fx_measured *m) {
  static const char *const end[3][2] = {{"x0", "x1"}, {"y0", "y1"}, {"z0", "z1"}};
  const fx_region *r = &m->grid.region;
  fx_put_open(json, "region", '{');
  fx_put_text(json, "kind", r->round ? "cylinder" : "box");
  if (r->round) {
    fx_put_real(json, "x", r->axis[0]);
    fx_put_real(json, "y", r->axis[1]);
    fx_put_real(json, "radius", r->high[0]);
  }
  for (int a = r->round ? 2 : 0; a < m->dim; a++) {
    fx_put_real(json, end[a][0], r->low[a]);
    fx_put_real(json, end[a][1], r->high[a]);
  }
  fx_put_integer(json, "cells", fx_grid_count(&m->grid));
  fx_put_close(json, '}');
}

static void put_tensor(fx_json *json, const char *key, const double value[FX_SYM]) {
  static const char *const name[FX_SYM] = {"xx", "yy", "zz", "xy", "xz", "yz"};
  fx_put_open(json, key, '{');
  for (int a = 0; a < FX_SYM; a++) fx_put_real(json, name[a], value[a]);
  fx_put_close(json, '}');
}

void fx_measured_json(const fx_measured *m) {
  fx_json json = {.file = stdout};
  fx_grain_cell c = fx_state_cell(&m->mean, &m->whole, 0);
  list state = state_numbers(m), motion = motion_numbers(m), energy = energy_numbers(m);
  fx_put_open(&json, NULL, '{');
  fx_put_text(&json, "file", m->path);
  fx_put_integer(&json, "frames", m->frames);
  fx_put_real(&json, "first_time", m->first_time);
  fx_put_real(&json, "last_time", m->last_time);
  fx_put_integer(&json, "dimension", m->dim);
  fx_put_real(&json, "diameter", m->diameter);
  put_region(&json, m);
  put_list(&json, &state);
  put_tensor(&json, "fabric", c.fabric);
  put_tensor(&json, "stress", c.stress);
  put_list(&json, &motion);
  fx_put_open(&json, "dissipation", '{');
  put_list(&json, &energy);
  fx_put_close(&json, '}');
  fx_put_close(&json, '}');
  fx_put_end_line(&json);
}

static void print_list(const list *l) {
  for (int k = 0; k < l->count; k++)
    if (isfinite(l->row[k].value)) printf("  %-42s %.5g %s\n", l->row[k].words, l->row[k].value, l->row[k].unit);
}

void fx_measured_print(const fx_measured *m) {
  const fx_region *r = &m->grid.region;
  list state = state_numbers(m), motion = motion_numbers(m), energy = energy_numbers(m);
  printf("%s: %d frames, %.6g to %.6g s, %s ", fx_base_name(m->path), m->frames, m->first_time, m->last_time,
         r->round ? "cylinder" : "box");
  if (r->round) printf("of radius %.5g about (%.5g, %.5g), ", r->high[0], r->axis[0], r->axis[1]);
  for (int a = r->round ? 2 : 0; a < m->dim; a++)
    printf("%s%c %.5g..%.5g", a && !r->round ? ", " : "", "xyz"[a], r -> low[a], r -> high[a]);
  printf(" m\n");
  print_list(&state);
  print_list(&motion);
  print_list(&energy);
  double scheme = energy.row[4].value;
  if (scheme > 0.25)
    fx_remark(
        "%.0f %% of the energy was lost in the time discretisation (implicit contact springs): see docs/grains.md",
        100 * scheme);
}
