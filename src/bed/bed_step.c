/* A step of a bed: x1 = x0 + h v1, with contacts where the step begins and their law at its end. */
#include "base/threads.h"
#include "bed/bed_internal.h"

#include <string.h>

enum { REBALANCE = 50 }; /* steps after which ranks share out their blocks anew */

/* Velocities without impulses, of copies too. */
static void fall(frix_bed *bed) {
  frix_vec3 dv = fx_scale(bed->h, bed->config.gravity);
  for (int32_t k = 0; k < bed->count; k++) {
    bed->free[k].v = fx_add(bed->speed[k].v, dv);
    bed->free[k].s = bed->speed[k].s;
  }
}

/* q + h/2 w q, as long as before. */
static frix_quat turned(frix_quat q, frix_vec3 w, double h) {
  frix_quat by = fx_quat_mul((frix_quat){0.0, 0.5 * h * w.x, 0.5 * h * w.y, 0.5 * h * w.z}, q);
  return fx_quat_unit((frix_quat){q.w + by.w, q.x + by.x, q.y + by.y, q.z + by.z});
}

static void move(frix_bed *bed) {
  for (int32_t k = 0; k < bed->count; k++) {
    fx_bed_place *p = &bed->place[k];
    fx_bed_speed *a = &bed->speed[k];
    p->p = fx_bed_wrap(bed, fx_mad(p->p, bed->h, a->v));
    if (!(fx_norm2(a->s) > 0.0)) continue;
    frix_quat before = p->q;
    frix_vec3 s = a->s;
    if (bed->has_arms) { /* its spin changes as it turns: that of the middle of the step is of second order */
      p->q = turned(before, fx_scale(1.0 / a->radius, s), 0.5 * bed->h);
      s = fx_bed_keep_momentum(bed, k, before, s);
    }
    p->q = turned(before, fx_scale(1.0 / a->radius, s), bed->h);
    if (bed->has_arms) a->s = fx_bed_keep_momentum(bed, k, before, a->s);
  }
}

/* Grains where they belong, with their contacts. */
static frix_status prepare(frix_bed *bed, frix_bed_report *report) {
  double begin = fx_seconds();
  frix_status status = fx_bed_drive(bed, bed->h);
  if (!status) status = fx_bed_settle_joints(bed);
  if (!status && fx_bed_ranks(bed) > 1 && bed->step_count % REBALANCE == 0) status = fx_bed_balance(bed);
  if (!status) status = fx_bed_migrate(bed);
  if (!status) status = fx_bed_fetch(bed);
  if (!status) status = fx_bed_sort(bed);
  if (!status) status = fx_bed_turn(bed);
  report->sort_seconds = fx_seconds() - begin;
  if (status) return status;
  fx_bed_laws(bed);
  fall(bed);
  status = fx_bed_find_binds(bed);
  if (!status) status = fx_bed_find_contacts(bed);
  if (!status) status = fx_bed_routes(bed);
  if (!status) status = fx_bed_total(bed, 0, FX_SUMS);
  report->contact_seconds = fx_seconds() - begin - report->sort_seconds;
  if (!status && bed->total[FX_SUM_FAILED] > 0.0) return FRIX_ERROR_MEMORY;
  if (!status && bed->total[FX_SUM_LOST] > 0.0)
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the grains of %.0f joints are more than a cell (%g m) apart",
                   bed->total[FX_SUM_LOST], bed->near);
  return status;
}

static void tell(const frix_bed *bed, frix_bed_report *report) {
  report->grain_count = (int64_t)bed->total[FX_SUM_GRAINS];
  report->contact_count = (int64_t)bed->total[FX_SUM_CONTACTS];
  report->touching_count = (int64_t)bed->total[FX_SUM_TOUCHING];
  report->penetration = bed->total[FX_SUM_DEEPEST];
  report->kinetic = bed->total[FX_SUM_KINETIC];
  report->friction = bed->total[FX_SUM_FRICTION];
  report->left = bed->left, report->came = bed->came;
}

frix_status frix_bed_step(frix_bed *bed, double h, frix_bed_report *report) {
  frix_bed_report own = {0}, *to = report ? report : &own;
  if (!bed) return FRIX_ERROR_INPUT;
  if (!(h > 0.0) || !isfinite(h))
    return fx_fail(bed->context, FRIX_ERROR_INPUT, "bed: the step must be a positive number");
  double begin = fx_seconds();
  *to = (frix_bed_report){.size = sizeof *to};
  bed->h = h;
  frix_status status = prepare(bed, to);
  double prepared = fx_seconds();
  if (!status) status = fx_bed_solve(bed, to);
  to->solve_seconds = fx_seconds() - prepared;
  if (!status) status = fx_bed_remember(bed);
  if (!status) fx_bed_remember_joints(bed);
  if (!status) status = fx_bed_move_walls(bed);
  if (status) return status;
  move(bed);
  tell(bed, to);
  bed->time += h;
  bed->step_count++;
  to->seconds = fx_seconds() - begin;
  return FRIX_OK;
}
