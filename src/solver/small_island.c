/* Small islands where they stand. */
#include "solver/small_island.h"

#include "solver/exact_sweep.h"

#include <math.h>
#include <string.h>

enum { ROWS = FX_SMALL_ISLAND * FRIX_MAX_DIM };

typedef struct island {
  const fx_small_islands *all;
  const int32_t *contact;
  int32_t count, k;
  fx_exact_sweep sweep;
  fx_one_contact one[FX_SMALL_ISLAND];
  bool nothing; /* impulses are zero */
  double residual, best, best_r[ROWS];
} island;

/* The island's impulses, one contact after the other, to `own` and back. */
static void take(const island *d, double *own) {
  const fx_system *s = d->all->system;
  for (int32_t c = 0; c < d->count; own += s->contact[d->contact[c++]].dim)
    memcpy(own, d->all->r + s->row[d->contact[c]], (size_t)s->contact[d->contact[c]].dim * sizeof *own);
}

static void give(const island *d, const double *own) {
  const fx_system *s = d->all->system;
  for (int32_t c = 0; c < d->count; own += s->contact[d->contact[c++]].dim)
    memcpy(d->all->r + s->row[d->contact[c]], own, (size_t)s->contact[d->contact[c]].dim * sizeof *own);
}

static bool is_nothing(const island *d) {
  const fx_system *s = d->all->system;
  for (int32_t c = 0; c < d->count; c++)
    for (int32_t k = s->row[d->contact[c]]; k < s->row[d->contact[c] + 1]; k++)
      if (d->all->r[k] != 0) return false;
  return true;
}

/* ---- judging ---- */

/* v of the island's movers from the impulses. */
static void move(const island *d) {
  const fx_system *s = d->all->system;
  const fx_islands *islands = d->all->islands;
  if (s->has_W) return;
  const int32_t *first = islands->mover + islands->mover_start[d->k],
                *end = islands->mover + islands->mover_start[d->k + 1];
  for (const int32_t *m = first; m < end; m++) fx_motion_begin(s, *m, *m + 1, d->all->v);
  for (int32_t c = 0; c < d->count && !d->nothing; c++)
    fx_motion_add(s, d->contact[c], d->contact[c] + 1, d->all->r, d->all->v);
  for (const int32_t *m = first; m < end; m++) fx_motion_end(s, *m, *m + 1, d->all->v);
}

/* What the monitor makes of single contacts. */
static void judge_rows(island *d, const double *r, const double *u) {
  if (!(d->residual <= d->all->tolerance)) return;
  fx_row_set own = {d->contact, d->count};
  double row = fx_row_error(d->all->system, &own, FRIX_LAW_COULOMB, d->all->scales, r, u);
  d->residual = fx_rank_of_rows(d->residual, row, d->all->tolerance);
}

/* The certificate's residual of the island alone; v afterwards belongs to r. */
static void judge(island *d) {
  const fx_system *s = d->all->system;
  double *r = d->all->r, *u = d->all->u;
  fx_residual_sums t = {{0, 0}, {0, 0}, {0, 0}};
  move(d);
  for (int32_t c = 0; c < d->count; c++) {
    int32_t i = d->contact[c], row = s->row[i], end = s->row[i + 1];
    for (int32_t k = row; k < end; k++) u[k] = s->has_W ? s->q[k] : s->w[k];
    fx_block_multiply_add_rows(s->has_W ? &s->W : &s->Ht, i, i + 1, s->has_W ? r : d->all->v, u);
    for (int32_t k = row; s->R && k < end; k++) u[k] += s->R[k] * r[k];
    fx_residual_add(s, FRIX_LAW_COULOMB, i, r + row, u + row, &t);
  }
  d->residual = fx_residual_end(s, &t);
  judge_rows(d, r, u);
  if (!(d->residual < d->best) || d->residual <= d->all->tolerance) return;
  d->best = d->residual;
  take(d, d->best_r);
}

/* Whether no impulse at all is the answer. */
static bool is_free(island *d) {
  static const double nothing[ROWS];
  const fx_system *s = d->all->system;
  fx_residual_sums t = {{0, 0}, {0, 0}, {0, 0}};
  for (int32_t c = 0; c < d->count; c++)
    fx_residual_add(s, FRIX_LAW_COULOMB, d->contact[c], nothing, s->q + s->row[d->contact[c]], &t);
  d->residual = fx_residual_end(s, &t);
  if (!(d->residual <= d->all->tolerance)) return false;
  double start[ROWS];
  take(d, start);
  give(d, nothing);
  judge_rows(d, d->all->r, s->q);
  if (d->residual <= d->all->tolerance) return true;
  give(d, start);
  return false;
}

/* ---- sweeps ---- */

static void sweep(island *d, bool backward) {
  d->sweep.change = d->sweep.size = 0;
  for (int32_t c = 0; c < d->count; c++) {
    int32_t at = backward ? d->count - 1 - c : c;
    fx_exact_sweep_visit(&d->sweep, d->contact[at], &d->one[at]);
  }
}

/* So many sweeps, judged when the monitor would; returns how many were made. */
static frix_status stage(island *d, fx_arena *arena, int64_t most, int64_t *made) {
  const fx_system *s = d->all->system;
  for (int32_t c = 0; c < d->count; c++) {
    int32_t i = d->contact[c];
    frix_status status = fx_one_contact_prepare(arena, &s->contact[i], s->D + s->diagonal[i], &d->one[c]);
    if (status != FRIX_OK) return status;
  }
  move(d);
  d->nothing = false;
  for (int64_t k = 1, next = 0;; k++) {
    sweep(d, d->all->option[FX_SWEEP_SYMMETRIC] != 0 && k % 2 == 0);
    double step = sqrt(d->sweep.change / (d->sweep.size > 0 ? d->sweep.size : 1));
    if (k < next && k < most && !(step <= 2 * d->all->tolerance)) continue;
    judge(d);
    *made = k;
    if (d->residual <= d->all->tolerance || k >= most || isnan(d->residual)) return FRIX_OK;
    next = fx_monitor_next(k);
  }
}

frix_status fx_small_island_solve(const fx_small_islands *all, int32_t k, fx_arena *arena, fx_small_answer *out) {
  island d;
  double start[ROWS];
  d.all = all;
  d.k = k;
  d.contact = all->islands->contact + all->islands->start[k];
  d.count = all->islands->start[k + 1] - all->islands->start[k];
  d.sweep =
      (fx_exact_sweep){.s = all->system, .r = all->r, .v = all->v, .relaxation = all->option[FX_SWEEP_RELAXATION]};
  d.best = INFINITY;
  *out = (fx_small_answer){.solved = true};

  /* Nothing, or the start, may be the answer. */
  bool stop = is_free(&d);
  take(&d, start);
  d.nothing = is_nothing(&d);
  if (!stop && !d.nothing) {
    judge(&d);
    stop = d.residual <= all->tolerance;
  }
  frix_status status = FRIX_OK;
  double before = d.best;
  if (!stop) status = stage(&d, arena, FX_FIRST_SWEEPS, &out->iterations);
  bool on = !stop && status == FRIX_OK && !(d.residual <= all->tolerance);
  if (on && fx_sweeps_will_finish(d.residual, all->tolerance)) {
    int64_t more = 0;
    if (d.best < before) give(&d, d.best_r);
    status = stage(&d, arena, FX_MORE_SWEEPS, &more);
    out->iterations += more;
  }
  out->residual = d.residual;
  out->solved = status == FRIX_OK && d.residual <= all->tolerance;
  if (!out->solved) give(&d, start);
  return status;
}
