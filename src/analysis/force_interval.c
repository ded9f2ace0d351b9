/* Intervals of measures, island by island: ends by force_programme.c, judged as answers by the certificate. */
#include "analysis/force_set.h"

#include "base/abi.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

#define DIFFERENT 1e-6 /* width of an interval over its scale: answers that are not the same */
#define SAME 1e-7      /* and that are */

typedef struct measure {
  frix_forces *f;
  fx_arena *arena;
  const double *row; /* c by row of the system */
  double *r;         /* answer at an end */
  double *c, *x;     /* by variable of the island at hand */
} measure;

static double over_island(const frix_forces *f, int32_t k, const double *c, const double *r) {
  double sum = 0;
  for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
    int32_t i = f->islands.contact[e];
    for (int32_t row = f->s.row[i]; row < f->s.row[i + 1]; row++) sum += c[row] * r[row];
  }
  return sum;
}

/* Lowers sign c . r over island k as far as it goes; *slack gets the distance to its bound. */
static frix_status lower(measure *m, int32_t k, double sign, double *slack, bool *unbounded, int64_t *steps) {
  frix_forces *f = m->f;
  const fx_force_island *is = &f->island[k];
  frix_status status = fx_force_system(f, k);
  if (status != FRIX_OK || is->rank == is->variable_count) return status;
  if (!is->affordable) {
    *slack = INFINITY;
    return FRIX_OK;
  }
  m->c = FX_TAKE(m->arena, double, is->variable_count);
  m->x = FX_TAKE(m->arena, double, is->variable_count);
  if (!m->c || !m->x) return FRIX_ERROR_MEMORY;
  fx_force_measure(f, k, m->row, m->c);
  for (int32_t e = 0; e < is->variable_count; e++) m->c[e] *= sign;
  fx_force_end end;
  status = fx_force_minimum(f, k, m->c, m->x, &end);
  if (status != FRIX_OK) return status;
  double before = sign * over_island(f, k, m->row, f->r);
  memset(m->c, 0, (size_t)is->variable_count * sizeof *m->c);
  fx_force_impulses(f, k, end.found ? m->x : m->c, m->r);
  double value = sign * over_island(f, k, m->row, m->r), constant = value - (end.found ? end.value : 0);
  if (!end.found || value > before) {
    value = before;
    for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
      int32_t i = f->islands.contact[e];
      memcpy(m->r + f->s.row[i], f->r + f->s.row[i], (size_t)f->s.contact[i].dim * sizeof *m->r);
    }
  }
  *unbounded = *unbounded || end.unbounded;
  *slack += fmax(0, value - (end.bound + constant));
  *steps += end.steps;
  return FRIX_OK;
}

static bool touches(const frix_forces *f, int32_t k, const double *row) {
  for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
    int32_t i = f->islands.contact[e];
    for (int32_t r = f->s.row[i]; r < f->s.row[i + 1]; r++)
      if (row[r] != 0) return true;
  }
  return false;
}

/* One end: its value in *end, the bound beyond it in *bound. */
static frix_status find_end(measure *m, double sign, double *end, double *bound, frix_interval *out) {
  frix_forces *f = m->f;
  bool unbounded = false;
  double slack = 0;
  memcpy(m->r, f->r, (size_t)f->s.row_count * sizeof *m->r);
  for (int32_t k = 0; k < f->islands.count; k++) {
    if (!touches(f, k, m->row)) continue;
    frix_status status = lower(m, k, sign, &slack, &unbounded, &out->steps);
    if (status != FRIX_OK) return status;
  }
  double value = fx_dot(f->s.row_count, m->row, m->r);
  *end = unbounded ? -sign * INFINITY : value;
  *bound = unbounded ? *end : value - sign * slack;
  frix_certificate judged;
  frix_status status =
      frix_certify(f->context, f->problem, FRIX_LAW_COULOMB, m->r, m->r + f->problem->row_count, &judged, NULL, NULL);
  if (status == FRIX_OK && !(judged.residual <= out->residual)) out->residual = judged.residual;
  return status;
}

/* The largest weight times the largest impulse of the islands that are measured. */
static double size_of(const frix_forces *f, const double *row, const frix_interval *v) {
  double c = 0, r = 0;
  for (int32_t k = 0; k < f->s.row_count; k++) {
    c = fmax(c, fabs(row[k]));
    if (row[k] != 0) r = fmax(r, fabs(f->r[k]));
  }
  for (int32_t k = 0; k < f->islands.count; k++) {
    if (!touches(f, k, row)) continue;
    for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
      int32_t i = f->islands.contact[e];
      for (int32_t at = f->s.row[i]; at < f->s.row[i + 1]; at++) r = fmax(r, fabs(f->r[at]));
    }
  }
  double most = c * r;
  if (isfinite(v->least)) most = fmax(most, fabs(v->least));
  if (isfinite(v->most)) most = fmax(most, fabs(v->most));
  return most > 0 ? most : 1;
}

static frix_status interval(frix_forces *f, const double *row, double *r_least, double *r_most, frix_interval *out) {
  fx_arena own;
  fx_arena_init(&own, f->context);
  measure m = {.f = f, .arena = &own, .row = row, .r = FX_TAKE(&own, double, f->s.row_count)};
  *out = (frix_interval){0};
  frix_status status = m.r ? find_end(&m, 1, &out->least, &out->least_bound, out) : FRIX_ERROR_MEMORY;
  if (status == FRIX_OK && r_least) memcpy(r_least, m.r, (size_t)f->problem->row_count * sizeof *m.r);
  if (status == FRIX_OK) status = find_end(&m, -1, &out->most, &out->most_bound, out);
  if (status == FRIX_OK && r_most) memcpy(r_most, m.r, (size_t)f->problem->row_count * sizeof *m.r);
  out->scale = size_of(f, row, out);
  if (isfinite(out->least)) out->gap = fmax(out->gap, (out->least - out->least_bound) / out->scale);
  if (isfinite(out->most)) out->gap = fmax(out->gap, (out->most_bound - out->most) / out->scale);
  fx_arena_free(&own);
  return status;
}

frix_status frix_forces_interval_sized(frix_forces *f, const double *c, const double *c_lambda, double *r_least,
                                       double *r_most, frix_interval *out, size_t size) {
  if (!f || !c || !out) return FRIX_ERROR_INPUT;
  FX_OUTPUT(frix_interval, out, size);
  fx_arena own;
  fx_arena_init(&own, f->context);
  double *row = FX_TAKE(&own, double, f->s.row_count);
  frix_status status = row ? FRIX_OK : FRIX_ERROR_MEMORY;
  if (row) {
    memcpy(row, c, (size_t)f->problem->row_count * sizeof *row);
    if (c_lambda) memcpy(row + f->problem->row_count, c_lambda, (size_t)f->problem->joint_count * sizeof *row);
    for (int32_t k = 0; status == FRIX_OK && k < f->s.row_count; k++)
      if (!isfinite(row[k])) status = fx_fail(f->context, FRIX_ERROR_INPUT, "measure of row %d is not finite", k);
    if (status == FRIX_OK) status = interval(f, row, r_least, r_most, out_all);
  }
  FX_GIVE(out, size);
  fx_arena_free(&own);
  return status;
}

/* ---- uniqueness ---- */

/* Weights without symmetry, the same on every machine, scaled so that all contacts count alike. */
static void scatter(const frix_forces *f, int32_t k, double *row) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  for (int32_t e = f->islands.start[k]; e < f->islands.start[k + 1]; e++) {
    int32_t i = f->islands.contact[e];
    for (int32_t r = f->s.row[i]; r < f->s.row[i + 1]; r++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      row[r] = ((double)(state >> 11) / 9007199254740992.0 - 0.5) / f->scale[i];
    }
  }
}

frix_status frix_forces_unique(frix_forces *f, frix_force_verdict *out, double *r_other) {
  if (!f || !out) return FRIX_ERROR_INPUT;
  fx_arena own;
  fx_arena_init(&own, f->context);
  double *row = FX_TAKE(&own, double, f->s.row_count), *r_least = FX_TAKE(&own, double, f->s.row_count);
  double *r_most = FX_TAKE(&own, double, f->s.row_count);
  frix_status status = row && r_least && r_most ? FRIX_OK : FRIX_ERROR_MEMORY;
  *out = FRIX_FORCES_UNIQUE;
  for (int32_t k = 0; status == FRIX_OK && *out != FRIX_FORCES_SEVERAL && k < f->islands.count; k++) {
    frix_interval v;
    memset(row, 0, (size_t)f->s.row_count * sizeof *row);
    scatter(f, k, row);
    status = interval(f, row, r_least, r_most, &v);
    if (status != FRIX_OK) break;
    double width = (v.most - v.least) / v.scale, most = (v.most_bound - v.least_bound) / v.scale;
    if (!(most <= SAME)) *out = FRIX_FORCES_UNDECIDED;
    if (!(width > DIFFERENT) || !(v.residual <= 10 * f->tolerance)) continue;
    *out = FRIX_FORCES_SEVERAL;
    if (r_other) { /* the end that is farther from r */
      double there = fx_dot(f->problem->row_count, row, f->r), least = fx_dot(f->problem->row_count, row, r_least);
      double most_value = fx_dot(f->problem->row_count, row, r_most);
      memcpy(r_other, there - least > most_value - there ? r_least : r_most,
             (size_t)f->problem->row_count * sizeof *r_other);
    }
  }
  fx_arena_free(&own);
  return status;
}
