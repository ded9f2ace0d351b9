/* The conic problem: its structure, its merit, and the run of the two iterations that solve it. The interior point is
 * sure and slow at the end; Newton is fast once the faces are right, which the interior point arranges. Reference:
 * M. Anitescu 2006 (contact as a cone QP). */
#include "solver/conic_steps.h"

#include "problem/cone_slope.h"
#include "solver/scaling.h"

#include <math.h>
#include <string.h>

/* ---- structure ---- */

static frix_status count_entries(fx_arena *arena, const fx_system *s, const frix_contact *full, fx_conic *c) {
  int32_t n = s->contact_count;
  c->part_start = FX_TAKE(arena, int32_t, (size_t)n + 1);
  c->entry = FX_TAKE(arena, int32_t, (size_t)n + 1);
  c->E_offset = FX_TAKE(arena, size_t, (size_t)n + 1);
  c->off = FX_TAKE(arena, bool, n);
  if (!c->part_start || !c->entry || !c->E_offset || !c->off) return FRIX_ERROR_MEMORY;
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM];
  for (int32_t i = 0; i < n; i++) {
    int32_t entries;
    c->part_start[i + 1] = c->part_start[i] + fx_conic_parts(full ? &full[i] : &s->contact[i], part, E, &entries);
    c->entry[i + 1] = c->entry[i] + entries;
    c->E_offset[i + 1] = c->E_offset[i] + (size_t)(entries * s->contact[i].dim);
  }
  c->part_count = c->part_start[n];
  c->entry_count = c->entry[n];
  return FRIX_OK;
}

static void fill_entries(const fx_system *s, const frix_contact *full, fx_conic *c) {
  fx_conic_part part[FX_CONIC_ENTRIES];
  double E[FX_CONIC_ENTRIES * FRIX_MAX_DIM];
  for (int32_t i = 0; i < s->contact_count; i++) {
    const frix_contact *contact = full ? &full[i] : &s->contact[i];
    int32_t entries, d = s->contact[i].dim, drop = contact->dim - d;
    int32_t count = fx_conic_parts(contact, part, E, &entries);
    for (int32_t k = 0; k < count; k++) {
      c->part[c->part_start[i] + k] = part[k];
      c->part[c->part_start[i] + k].first += c->entry[i];
    }
    for (int32_t e = 0; e < entries; e++) {
      c->column[c->entry[i] + e] = E[e * contact->dim];
      memcpy(c->E + c->E_offset[i] + (size_t)(e * d), E + e * contact->dim + drop, (size_t)d * sizeof *E);
    }
  }
}

frix_status fx_conic_setup(fx_arena *arena, const fx_system *s, const frix_contact *full, fx_newton_linear *shared,
                           fx_conic *c) {
  *c = (fx_conic){.s = s, .row_count = s->row_count};
  frix_status status = count_entries(arena, s, full, c);
  if (status != FRIX_OK) return status;
  double **rows[] = {&c->q, &c->x, &c->rd, &c->dx, &c->b, &c->y, &c->slope, &c->x_keep, &c->x_best};
  double **entries[] = {&c->g, &c->z, &c->column, &c->sl,     &c->ds, &c->dz,
                        &c->p, &c->t, &c->z_keep, &c->z_best, &c->w,  &c->lambda};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!(*rows[k] = FX_TAKE(arena, double, c->row_count))) return FRIX_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
    if (!(*entries[k] = FX_TAKE(arena, double, c->entry_count))) return FRIX_ERROR_MEMORY;
  c->part = FX_TAKE(arena, fx_conic_part, c->part_count);
  c->eta = FX_TAKE(arena, double, c->part_count);
  c->E = FX_TAKE(arena, double, c->E_offset[s->contact_count]);
  if (!c->part || !c->eta || !c->E) return FRIX_ERROR_MEMORY;
  fill_entries(s, full, c);
  if ((status = fx_kkt_setup(arena, s, shared, &c->kkt)) != FRIX_OK) return status;
  c->S = c->kkt.linear->S;
  for (int32_t k = 0; k < c->row_count; k++) c->q[k] = c->S[k] * s->q[k];
  return FRIX_OK;
}

void fx_conic_impulse(fx_conic *c, int32_t i, double impulse) {
  c->off[i] = !(impulse > 0);
  for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++)
    c->g[e] = c->off[i] ? 0 : c->column[e] * impulse / c->S[c->s->row[i]];
}

/* ---- products over contacts ---- */

void fx_conic_times_E(const fx_conic *c, const double *a, double *out) {
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim;
    const double *E = c->E + c->E_offset[i], *from = a + c->s->row[i];
    for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++, E += d) {
      double sum = 0;
      for (int32_t k = 0; k < d; k++) sum += E[k] * from[k];
      out[e] = sum;
    }
  }
}

void fx_conic_add_Et(const fx_conic *c, double factor, const double *a, double *out) {
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim;
    const double *E = c->E + c->E_offset[i];
    double *to = out + c->s->row[i];
    for (int32_t e = c->entry[i]; e < c->entry[i + 1]; e++, E += d)
      for (int32_t k = 0; k < d; k++) to[k] += factor * E[k] * a[e];
    if (c->off[i])
      for (int32_t k = 0; k < d; k++) to[k] = 0;
  }
}

void fx_conic_dual_residual(fx_conic *c) {
  const fx_system *s = c->s;
  fx_kkt_multiply(&c->kkt, c->x, c->rd);
  for (int32_t k = 0; k < c->row_count; k++) c->rd[k] += c->q[k];
  if (c->exact) {
    memset(c->y, 0, (size_t)c->row_count * sizeof *c->y);
    fx_conic_add_Et(c, 1, c->z, c->y);
    for (int32_t i = 0; i < s->contact_count; i++) {
      c->rd[s->row[i]] += fx_cone_shift(&s->contact[i], c->y + s->row[i]);
      fx_cone_shift_slope(&s->contact[i], c->y + s->row[i], c->slope + s->row[i]);
    }
  }
  fx_conic_add_Et(c, -1, c->z, c->rd);
}

void fx_conic_add_block(fx_conic *c, int32_t i, const fx_conic_part *part, const double *B) {
  int32_t d = c->s->contact[i].dim, m = part->dim;
  const double *E = c->E + c->E_offset[i] + (size_t)((part->first - c->entry[i]) * d);
  double *D = c->kkt.D + c->s->diagonal[i];
  for (int32_t a = 0; a < m; a++) {
    double row[FRIX_MAX_DIM] = {0}; /* of B E */
    for (int32_t b = 0; b < m; b++)
      for (int32_t k = 0; k < d; k++) row[k] += B[a * m + b] * E[b * d + k];
    for (int32_t r = 0; r < d; r++)
      for (int32_t k = 0; k < d; k++) D[r * d + k] += E[a * d + r] * row[k];
  }
}

void fx_conic_clear_D(fx_conic *c) {
  const fx_system *s = c->s;
  memset(c->kkt.D, 0, s->diagonal[s->contact_count] * sizeof *c->kkt.D);
  for (int32_t i = 0; i < s->contact_count; i++)
    for (int32_t k = 0; c->off[i] && k < s->contact[i].dim; k++)
      c->kkt.D[s->diagonal[i] + (size_t)(k * (s->contact[i].dim + 1))] = 1e12;
}

/* a := N a for contact i: a_N less the slope of the shift times a_T; a has `width` columns. */
static void tilt(const fx_conic *c, int32_t i, int32_t width, double *a) {
  const double *slope = c->slope + c->s->row[i];
  for (int32_t k = 1; k < c->s->contact[i].dim; k++)
    for (int32_t b = 0; b < width; b++) a[b] -= slope[k] * a[k * width + b];
}

bool fx_conic_factor(fx_conic *c, double delta) {
  const fx_system *s = c->s;
  for (int32_t i = 0; i < s->contact_count; i++) {
    int32_t d = s->contact[i].dim;
    double *D = c->kkt.D + s->diagonal[i];
    if (c->exact) tilt(c, i, d, D);
    for (int32_t k = 0; k < d && !c->off[i]; k++) D[k * (d + 1)] += delta;
  }
  c->steps++;
  return fx_kkt_factor(&c->kkt);
}

void fx_conic_solve_for(fx_conic *c, const double *a, double accuracy, double enough) {
  memset(c->b, 0, (size_t)c->row_count * sizeof *c->b);
  fx_conic_add_Et(c, 1, a, c->b);
  for (int32_t i = 0; c->exact && i < c->s->contact_count; i++) tilt(c, i, 1, c->b + c->s->row[i]);
  for (int32_t k = 0; k < c->row_count; k++) c->b[k] -= c->rd[k];
  fx_kkt_solve(&c->kkt, c->b, fmax(accuracy * sqrt(fx_dot(c->row_count, c->b, c->b)), enough), c->dx);
}

/* ---- merit ---- */

double fx_conic_size(const fx_conic *c) {
  double sum = fx_dot(c->row_count, c->q, c->q) + fx_dot(c->entry_count, c->g, c->g);
  return sum > 0 ? sqrt(sum) : 1;
}

double fx_conic_measure(fx_conic *c) {
  fx_conic_dual_residual(c);
  fx_conic_times_E(c, c->x, c->ds);
  for (int32_t e = 0; e < c->entry_count; e++) c->ds[e] += c->g[e];
  double sum = fx_dot(c->row_count, c->rd, c->rd), y[3], projected[3];
  FX_EACH_PART(c, i, part) {
    const double *s = c->ds + part->first, *z = c->z + part->first;
    for (int32_t k = 0; k < part->dim; k++) y[k] = s[k] - z[k];
    if (part->held)
      projected[0] = 0;
    else
      fx_soc_project(part->dim, y, projected);
    for (int32_t k = 0; k < part->dim; k++) {
      double gap = s[k] - projected[k];
      c->p[part->first + k] = gap;
      sum += gap * gap;
    }
  }
  c->merit = sqrt(sum) / fx_conic_size(c);
  if (c->merit < c->best) {
    c->best = c->merit;
    memcpy(c->x_best, c->x, (size_t)c->row_count * sizeof *c->x);
    memcpy(c->z_best, c->z, (size_t)c->entry_count * sizeof *c->z);
  }
  return c->merit;
}

fx_conic_verdict fx_conic_judge(fx_conic *c, const fx_conic_run *run) {
  if (run->stop && run->stop(c, run->user)) return (fx_conic_verdict){true, FX_CONIC_STOPPED};
  if (c->merit <= run->tolerance) return (fx_conic_verdict){true, FX_CONIC_SOLVED};
  if (c->steps >= run->max_steps) return (fx_conic_verdict){true, FX_CONIC_LIMIT};
  return (fx_conic_verdict){false, FX_CONIC_STALLED};
}

/* ---- the run ---- */

static void return_to_best(fx_conic *c) {
  memcpy(c->x, c->x_best, (size_t)c->row_count * sizeof *c->x);
  memcpy(c->z, c->z_best, (size_t)c->entry_count * sizeof *c->z);
  c->merit = c->best;
}

fx_conic_end fx_conic_solve(fx_conic *c, const fx_conic_run *run) {
  fx_conic_verdict v = {false, FX_CONIC_STALLED};
  for (int32_t i = 0; i < c->s->contact_count; i++)
    for (int32_t k = c->s->row[i]; c->off[i] && k < c->s->row[i + 1]; k++) c->x[k] = 0;
  c->steps = 0;
  c->best = INFINITY;
  if (run->warm) {
    fx_conic_measure(c);
    v = fx_conic_judge(c, run);
    if (v.done) return v.end;
    if (fx_conic_newton(c, run, 1, &v)) return v.end;
  }
  if (run->warm && c->best <= run->accept) {
    return_to_best(c);
    return FX_CONIC_STALLED;
  }
  fx_conic_end end = fx_conic_interior(c, run);
  if (c->exact && end == FX_CONIC_STALLED) return_to_best(c);
  if (c->exact || end != FX_CONIC_STALLED || !(c->best < INFINITY)) return end;
  /* The interior is lost to rounding: Newton has the last word, more and more cautious. */
  for (double caution = 1; caution < 1e5; caution *= 30) {
    return_to_best(c);
    if (fx_conic_newton(c, run, caution, &v)) return v.end;
  }
  return_to_best(c);
  return FX_CONIC_STALLED;
}

/* ---- warm start ---- */

void fx_conic_warm(fx_conic *c) {
  fx_kkt_multiply(&c->kkt, c->x, c->rd);
  for (int32_t k = 0; k < c->row_count; k++) c->rd[k] += c->q[k];
  memset(c->z, 0, (size_t)c->entry_count * sizeof *c->z);
  for (int32_t i = 0; i < c->s->contact_count; i++) {
    int32_t d = c->s->contact[i].dim, m = c->entry[i + 1] - c->entry[i];
    const double *E = c->E + c->E_offset[i], *u = c->rd + c->s->row[i];
    double size = 0, *z = c->z + c->entry[i];
    for (int32_t e = 0; e < m * d; e++) size += E[e] * E[e];
    /* projected gradient on |E' z - u|^2 */
    for (int round = 0; round < 40 && size > 0; round++) {
      double rest[FRIX_MAX_DIM];
      for (int32_t k = 0; k < d; k++) {
        rest[k] = u[k];
        for (int32_t e = 0; e < m; e++) rest[k] -= E[e * d + k] * z[e];
      }
      for (int32_t e = 0; e < m; e++)
        for (int32_t k = 0; k < d; k++) z[e] += E[e * d + k] * rest[k] / size * (m > d ? 1 : 1.5);
      for (int32_t k = c->part_start[i]; k < c->part_start[i + 1]; k++)
        if (!c->part[k].held) fx_soc_project(c->part[k].dim, c->z + c->part[k].first, c->z + c->part[k].first);
    }
  }
}
