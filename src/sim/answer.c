/* The answer of a solve: impulses of the rows and velocities of the movers, rounding taken off.
 *
 * An answer that is not certified is scaled back until the contacts take energy out: v = v_free + s M^-1 (H r + G
 * lambda), the s in [0, 1] of least kinetic energy where the full one adds some. */
#include "base/threads.h"
#include "sim/mechanism.h"
#include "sim/solving.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-13 /* of a sum of some tens of terms */

void fx_put_answer(frix_sim *sim, const double *v) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    m->v1 = m->v_free;
    m->w1 = m->w_free;
    if (m->tree) m->tree->stands = false;
    if (m->tree) memcpy(m->tree->v1, m->first < 0 ? m->tree->v_free : v + m->first, (size_t)m->dof * sizeof *v);
    if (m->first < 0 || m->tree) continue;
    const double *x = v + m->first;
    m->v1 = m->dof == 3 ? fx_vec(x[0], x[1], 0.0) : fx_vec(x[0], x[1], x[2]);
    m->w1 = m->dof == 3 ? fx_vec(0.0, 0.0, x[2]) : fx_vec(x[3], x[4], x[5]);
  }
}

/* |J' r| of one body's block, linear and angular; inlined with the sizes of the common contacts. */
static inline void sum_size(int32_t dim, int32_t dof, const double *J, const double *r, double size[2]) {
  double linear = 0.0, angular = 0.0;
  for (int32_t j = 0; j < dim; j++, J += dof) {
    double f = fabs(r[j]);
    if (f == 0.0) continue;
    linear += f * (fabs(J[0]) + fabs(J[1]) + (dof == 3 ? 0.0 : fabs(J[2])));
    angular += f * (dof == 3 ? fabs(J[2]) : fabs(J[3]) + fabs(J[4]) + fabs(J[5]));
  }
  size[0] += linear;
  size[1] += angular;
}

/* Each thread has some of the movers and looks at all groups: a mover adds them in the same order, whoever does it. */
typedef struct sizes {
  const frix_sim *sim;
  const fx_assembly *a;
  const double *r;
  double (*size)[2];
  int32_t parts;
} sizes;

static void sum_some(int32_t part, void *user) {
  const sizes *t = user;
  const frix_sim *sim = t->sim;
  const fx_assembly *a = t->a;
  const double *r = t->r;
  double(*size)[2] = t->size;
  int32_t first = (int32_t)((int64_t)sim->mover_count * part / t->parts);
  int32_t end = (int32_t)((int64_t)sim->mover_count * (part + 1) / t->parts);
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    const double *J = a->J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      int32_t dof = sim->mover[g->mover[b]].dof;
      bool other = g->mover[b] < first || g->mover[b] >= end;
      if (other || sim->mover[g->mover[b]].tree) { /* trees by coordinate: fx_tree_stands */
        J += g->dim * dof;
        continue;
      }
      if (dof == 6 && g->dim == 3)
        sum_size(3, 6, J, r + g->row, size[g->mover[b]]);
      else
        sum_size(g->dim, dof, J, r + g->row, size[g->mover[b]]);
      J += g->dim * dof;
    }
  }
  for (int32_t k = first; k < end; k++) {
    const fx_mover *m = &sim->mover[k];
    frix_sym3 B = m->B_inverse;
    size[k][0] = fx_norm(m->v_free) + m->A_inverse.xx * size[k][0];
    size[k][1] = fx_norm(m->w_free) + (m->dof == 3 ? B.zz : fmax(B.xx, fmax(B.yy, B.zz))) * size[k][1];
  }
}

/* Sizes of what the movers' velocities are the sums of: |v_free| + |M^-1| |J' r|, linear and angular. */
void fx_sum_sizes(const frix_sim *sim, const fx_assembly *a, const double *r, double (*size)[2]) {
  int32_t threads = a->group_count >= 2 * FX_LEAST_CONTACTS ? sim->config.thread_count : 1;
  sizes t = {sim, a, r, size, threads};
  fx_parallel(sim->inner, threads, threads, sum_some, &t);
}

/* Tension holds some axes of a body much more than others: there the momentum tells what is rounding. */
static bool is_turning(const fx_mover *m, double size) {
  if (m->dof == 3 || !fx_is_tense(m)) return false;
  frix_sym3 B = m->B_inverse;
  double moments = (size - fx_norm(m->w_free)) / fmax(B.xx, fmax(B.yy, B.zz));
  return fx_norm(fx_sym3_mul(m->B, m->w1)) > ROUNDING * (moments + fx_norm(fx_sym3_mul(m->B, m->w_free)));
}

/* A body in contact with a tree moves with its rounding (fx_tree_stands). */
static bool is_noise(const frix_sim *sim, const fx_mover *m, const double size[2]) {
  if (!sim->mechanism) return false;
  double times = fx_has_loops(sim) ? FX_STANDS_LOOPS : 1.0, radius = fx_slot_body(sim, m->slot)->radius;
  double place = fx_norm(sim->state.pose[m->slot].p) + (isfinite(radius) ? radius : 0.0);
  double v = fmax(fx_norm(m->v0), fx_norm(m->v1)), w = fmax(fx_norm(m->w0), fx_norm(m->w1));
  return fx_norm(m->v1) <= times * FX_STANDS_LOAD * size[0] && fx_norm(m->w1) <= times * FX_STANDS_LOAD * size[1] &&
         sim->h * v <= times * FX_STANDS_PLACE * place && sim->h * w <= times * FX_STANDS_PLACE;
}

/* A velocity no larger than the rounding of the terms that cancelled is zero. So what rests keeps every bit, and the
 * impulses of one step are those of the next. */
static frix_status stop_rounding(frix_sim *sim, const fx_assembly *a) {
  double(*size)[2] = (double(*)[2])FX_TAKE(&sim->arena, double, 2 * (size_t)sim->mover_count);
  if (!size) return FRIX_ERROR_MEMORY;
  fx_sum_sizes(sim, a, a->r, size);
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    if (m->tree) {
      m->tree->stands = m->first >= 0 && fx_tree_stands(sim, a, a->r, k, ROUNDING);
      continue;
    }
    if (m->first < 0) continue;
    bool small = fx_norm_careful(m->v1) <= ROUNDING * size[k][0] && fx_norm_careful(m->w1) <= ROUNDING * size[k][1];
    if (!small && !is_noise(sim, m, size[k])) continue;
    if (is_turning(m, size[k][1])) continue;
    m->v1 = m->w1 = fx_vec(0.0, 0.0, 0.0);
  }
  return FRIX_OK;
}

static bool all_finite(const double *x, int32_t count) {
  for (int32_t k = 0; k < count; k++)
    if (!isfinite(x[k])) return false;
  return true;
}

/* Scales the impulses so that they add no energy to the free motion. */
static void hold_energy(frix_sim *sim, fx_assembly *a) {
  double before = 0.0, after = 0.0; /* r . J v_free and r . J v1 */
  bool good = all_finite(a->r, a->row_count);
  for (int32_t k = 0; good && k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    for (int32_t j = 0; j < g->dim; j++) {
      double r = a->r[g->row + j], drive = a->drive[g->row + j];
      before += r * (fx_group_velocity(sim, a, g, j, FX_FREE) - drive);
      after += r * (fx_group_velocity(sim, a, g, j, FX_AFTER) - drive);
    }
  }
  if (good && 0.5 * (before + after) <= 0.0) return;
  double s = good && before < 0.0 && after > before ? -before / (after - before) : 0.0;
  for (int32_t k = 0; k < a->row_count; k++) a->r[k] = s > 0.0 ? s * a->r[k] : 0.0;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    m->v1 = s > 0.0 ? fx_mad(m->v_free, s, fx_sub(m->v1, m->v_free)) : m->v_free;
    m->w1 = s > 0.0 ? fx_mad(m->w_free, s, fx_sub(m->w1, m->w_free)) : m->w_free;
    for (int32_t i = 0; m->tree && i < m->dof; i++) {
      double free = m->tree->v_free[i];
      m->tree->v1[i] = s > 0.0 ? free + s * (m->tree->v1[i] - free) : free;
    }
  }
}

frix_status fx_finish_answer(frix_sim *sim, fx_assembly *a) {
  frix_step_report *report = &sim->report;
  frix_status status = FRIX_OK;
  fx_name_worst_row(sim, a);
  report->certified = fx_certified(sim);
  if (report->certified) {
    report->outcome = FRIX_OUTCOME_SOLVED;
    status = stop_rounding(sim, a);
  } else {
    if (report->outcome == FRIX_OUTCOME_SOLVED) report->outcome = FRIX_OUTCOME_STALLED;
    hold_energy(sim, a);
  }
  fx_rows_velocities(sim, a, FX_AFTER, a->u);
  return status;
}

frix_status fx_take_answer(frix_sim *sim, fx_assembly *a, const double *r, const double *v,
                           const frix_certificate *certificate) {
  memcpy(a->r, r, (size_t)a->row_count * sizeof *a->r);
  fx_put_answer(sim, v);
  sim->report.certificate = *certificate;
  fx_name_worst_row(sim, a);
  frix_status status = stop_rounding(sim, a);
  fx_rows_velocities(sim, a, FX_AFTER, a->u);
  return status;
}
