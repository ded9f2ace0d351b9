/* The data of a step without its answer: what they leave of the law at a given one, and the motion they lead to. */
#include "analysis/sensitivity_internal.h"
#include "analysis/step_inputs.h"

#include "base/trig.h"

#include <math.h>
#include <string.h>

/* ---- places ---- */

static bool moves(const frix_sim *sim, int32_t slot) {
  return sim->state.prototype[slot] > 0 && fx_slot_body(sim, slot)->kind != FRIX_BODY_STATIC;
}

void fx_places_get(const frix_sim *sim, fx_place *out) {
  for (int32_t k = 1; k < sim->state.count; k++)
    out[k] = (fx_place){sim->state.pose[k], sim->state.velocity[k], sim->state.spin[k]};
}

frix_status fx_places_set(frix_sim *sim, const fx_place *place) {
  for (int32_t k = 1; k < sim->state.count; k++) {
    if (!moves(sim, k)) continue;
    frix_body_id id = fx_slot_id(sim, k);
    const fx_body *body = fx_slot_body(sim, k);
    frix_pose user = {fx_sub(place[k].pose.p, fx_rotate(place[k].pose.q, body->center)), place[k].pose.q};
    frix_status status = frix_sim_set_pose(sim, id, user);
    if (status == FRIX_OK) status = frix_sim_set_velocity(sim, id, place[k].velocity, place[k].spin);
    if (status != FRIX_OK) return status;
  }
  return FRIX_OK;
}

static frix_quat turned(frix_quat q, frix_vec3 turn) {
  return fx_quat_unit(fx_quat_mul(frix_quat_turn(turn, fx_norm(turn)), q));
}

void fx_places_move(const fx_place *p, const frix_sensitivity_motion *t, double scale, int32_t slots, fx_place *out) {
  for (int32_t k = 1; k < slots; k++) {
    out[k].pose.p = fx_mad(p[k].pose.p, scale, t[k].place);
    out[k].pose.q = turned(p[k].pose.q, fx_scale(scale, t[k].turn));
    out[k].velocity = fx_mad(p[k].velocity, scale, t[k].velocity);
    out[k].spin = fx_mad(p[k].spin, scale, t[k].spin);
  }
}

void fx_places_differ(const fx_place *a, const fx_place *b, double scale, int32_t slots, frix_sensitivity_motion *out) {
  for (int32_t k = 1; k < slots; k++) {
    frix_quat q = fx_quat_mul(a[k].pose.q, fx_quat_conj(b[k].pose.q));
    double sign = q.w < 0 ? -2 : 2, s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double factor = s > 1e-8 ? sign * fx_atan2(s, fabs(q.w)) / s : sign; /* sign |angle| / (2 sin(angle / 2)) */
    out[k].place = fx_scale(1 / scale, fx_sub(a[k].pose.p, b[k].pose.p));
    out[k].turn = fx_scale(factor / scale, fx_vec(q.x, q.y, q.z));
    out[k].velocity = fx_scale(1 / scale, fx_sub(a[k].velocity, b[k].velocity));
    out[k].spin = fx_scale(1 / scale, fx_sub(a[k].spin, b[k].spin));
  }
}

void fx_places_finish(frix_sim *sim, const fx_place *after, fx_place *out) {
  for (int32_t k = 0; k < sim->mover_count; k++) {
    fx_mover *m = &sim->mover[k];
    m->v1 = after[m->slot].velocity, m->w1 = after[m->slot].spin;
  }
  sim->integrator->finish(sim);
  fx_places_get(sim, out);
}

/* ---- rows ---- */

static bool same_group(const frix_sim *p, const fx_group *a, const frix_sim *q, const fx_group *b) {
  if (a->kind != b->kind || a->dim != b->dim || a->robot != b->robot) return false;
  if (a->kind == FX_GROUP_CONTACT || a->kind == FX_GROUP_SPINNING) {
    const fx_contact *c = &p->contact[a->source], *d = &q->contact[b->source];
    return c->id == d->id && c->body_a == d->body_a && c->body_b == d->body_b;
  }
  return a->source == b->source && a->axis == b->axis && a->part == b->part;
}

bool fx_leftover_take(fx_arena *arena, const fx_answer_at *answer, fx_leftover *out) {
  int32_t rows = answer->sim->rows.row_count, groups = answer->sim->rows.group_count;
  out->f = FX_TAKE(arena, double, 6 * (size_t)answer->slots);
  out->w = FX_TAKE(arena, double, rows + 1);
  out->R = FX_TAKE(arena, double, rows + 1);
  out->r_c = FX_TAKE(arena, double, rows + 1);
  out->mu = FX_TAKE(arena, double, groups + 1);
  return out->f && out->w && out->R && out->r_c && out->mu;
}

/* Places of the dofs of a mover among six. */
static const int *dofs_of(const fx_mover *m) {
  static const int flat[3] = {0, 1, 5}, all[6] = {0, 1, 2, 3, 4, 5};
  return m->dof == 3 ? flat : all;
}

static void add_inertia(const fx_mover *m, const fx_place *after, double *f) {
  frix_vec3 lin = fx_sym3_mul(m->A, fx_sub(m->v_free, after->velocity));
  frix_vec3 ang = fx_sym3_mul(m->B, fx_sub(m->w_free, after->spin));
  double all[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
  if (m->dof == 3) all[5] = m->B.zz * (m->w_free.z - after->spin.z);
  for (int32_t c = 0; c < m->dof; c++) f[dofs_of(m)[c]] += all[dofs_of(m)[c]];
}

/* J'r and J v of one group of `looked`, whose impulses are r. */
static void add_group(const frix_sim *looked, const fx_group *g, const fx_answer_at *answer, const double *r, double *f,
                      double *w) {
  const double *J = looked->rows.J + g->value;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &looked->mover[g->mover[b]];
    const fx_place *p = &answer->after[m->slot];
    const double v[6] = {p->velocity.x, p->velocity.y, p->velocity.z, p->spin.x, p->spin.y, p->spin.z};
    for (int32_t k = 0; k < g->dim; k++)
      for (int32_t c = 0; c < m->dof; c++) {
        double x = J[k * m->dof + c];
        f[6 * m->slot + dofs_of(m)[c]] += x * r[k];
        w[k] += x * v[dofs_of(m)[c]];
      }
    J += g->dim * m->dof;
  }
}

const fx_group *fx_group_like(const frix_sim *sim, const fx_group *g, const frix_sim *looked, int32_t *hint) {
  const fx_assembly *a = &looked->rows;
  for (int32_t n = 0; n < a->group_count; n++) {
    const fx_group *other = &a->group[(*hint + n) % a->group_count];
    if (!same_group(sim, g, looked, other)) continue;
    *hint = (int32_t)(other - a->group) + 1;
    return other;
  }
  return NULL;
}

bool fx_carries(const fx_answer_at *answer, const fx_group *g) {
  for (int32_t e = 0; e < g->dim; e++)
    if (answer->r[g->row + e] != 0) return true;
  return false;
}

bool fx_leftover_find(const fx_answer_at *answer, const frix_sim *looked, fx_leftover *out) {
  const fx_assembly *base = &answer->sim->rows, *a = &looked->rows;
  memset(out->f, 0, 6 * (size_t)answer->slots * sizeof *out->f);
  for (int32_t k = 0; k < looked->mover_count; k++)
    add_inertia(&looked->mover[k], &answer->after[looked->mover[k].slot], out->f + 6 * looked->mover[k].slot);
  for (int32_t k = 0, hint = 0; k < base->group_count; k++) {
    const fx_group *g = &base->group[k], *found = fx_group_like(answer->sim, g, looked, &hint);
    if (!found && fx_carries(answer, g)) return false;
    for (int32_t e = 0; e < g->dim; e++) {
      out->w[g->row + e] = found ? a->w[found->row + e] : base->w[g->row + e];
      out->R[g->row + e] = found && a->compliant ? a->R[found->row + e] : 0;
      out->r_c[g->row + e] = found && a->compliant ? a->r_c[found->row + e] : 0;
    }
    if (g->kind == FX_GROUP_SPINNING) out->r_c[g->row] = base->r_c[g->row]; /* follows the answer */
    if (k < base->joint_first) out->mu[k] = found ? a->law[found - a->group].mu : base->law[k].mu;
    if (found) add_group(looked, found, answer, answer->r + g->row, out->f, out->w + g->row);
  }
  return true;
}

/* ---- a step corrected to rounding ---- */

/* The answer (r, v) of the rows that `sim` was looked at for, and the end of the step it leads to. */
static frix_status finish_with(frix_sim *sim, const frix_gradient_result *answer) {
  fx_assembly *a = &sim->rows;
  size_t rows = (size_t)answer->row_count, joints = (size_t)answer->joint_count;
  a->r = FX_TAKE(a->arena, double, (size_t)a->row_count + 1);
  if (!a->r) return FRIX_ERROR_MEMORY;
  memcpy(a->r, answer->r, rows * sizeof *a->r);
  if (joints) memcpy(a->r + rows, answer->lambda, joints * sizeof *a->r);
  fx_put_answer(sim, answer->v);
  sim->integrator->finish(sim);
  return FRIX_OK;
}

frix_status fx_step_exactly(frix_sim *sim, double h, frix_step_report *report, bool *exact) {
  frix_snapshot *start = NULL;
  frix_gradient *g = NULL;
  frix_gradient_result answer = {.size = sizeof answer};
  *exact = false;
  frix_status status = frix_sim_save(sim, &start);
  if (status == FRIX_OK) status = frix_sim_step(sim, h, report);
  bool corrected = status == FRIX_OK && report->certified && sim->rows.row_count > 0 && !sim->rows.leaves_overlaps &&
                   frix_gradient_of_step(sim, NULL, &g) == FRIX_OK;
  if (corrected) frix_gradient_view(g, &answer);
  if (corrected && answer.verdict == FRIX_GRADIENT_SMOOTH) {
    int32_t groups = sim->rows.group_count;
    status = frix_sim_restore(sim, start);
    if (status == FRIX_OK) status = fx_sim_look(sim, h);
    if (status == FRIX_OK) status = fx_rows_count(sim, &sim->rows);
    *exact = status == FRIX_OK && sim->rows.group_count == groups &&
             sim->rows.row_count == answer.row_count + answer.joint_count;
    if (*exact) status = finish_with(sim, &answer);
  }
  frix_gradient_destroy(g);
  frix_snapshot_destroy(start);
  return status;
}

/* ---- drilling friction ---- */

/* Bounds from the normal impulses; how far they moved, over the largest. */
static double follow_normals(const fx_assembly *a, const double *dr, double *r_c) {
  double moved = 0, most = 0;
  for (int32_t k = 1; k < a->joint_first; k++) {
    if (a->group[k].kind != FX_GROUP_SPINNING) continue;
    double normal = dr[a->group[k - 1].row], *bound = &r_c[a->group[k].row]; /* its contact stands just before */
    moved = fmax(moved, fabs(normal - *bound)), most = fmax(most, fabs(normal));
    *bound = normal;
  }
  return moved > 0 ? moved / most : 0;
}

frix_status fx_drilling_forward(const frix_sim *sim, frix_gradient *g, const frix_gradient_data *data, double *r_c,
                                double *dv, double *dr, bool forces) {
  enum { ROUNDS = 60 };
  const double agrees = 1e-13;
  bool any = false;
  for (int32_t k = 0; k < sim->rows.joint_first; k++) any |= sim->rows.group[k].kind == FX_GROUP_SPINNING;
  if (!any) return frix_gradient_forward(g, data, dv, NULL, forces ? dr : NULL);
  for (int k = 0; k < ROUNDS; k++) {
    frix_status status = frix_gradient_forward(g, data, dv, NULL, dr);
    if (status != FRIX_OK || follow_normals(&sim->rows, dr, r_c) <= agrees) return status;
  }
  return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED, "no derivative: bounds of drilling friction do not agree");
}

/* ---- what a change of the rows is worth ---- */

static double worth_of_group(const fx_answer_at *answer, const frix_sim *looked, const fx_group *found,
                             const fx_group *g, const fx_worth *worth, double *f) {
  const fx_assembly *a = &looked->rows;
  double w[FRIX_MAX_DIM] = {0}, sum = 0;
  for (int32_t b = 0; b < found->body_count; b++) memset(f + 6 * looked->mover[found->mover[b]].slot, 0, 6 * sizeof *f);
  add_group(looked, found, answer, answer->r + g->row, f, w);
  for (int32_t b = 0; b < found->body_count; b++) {
    const fx_mover *m = &looked->mover[found->mover[b]];
    for (int32_t c = 0; c < m->dof; c++)
      sum += worth->f[answer->sim->mover[found->mover[b]].first + c] * f[6 * m->slot + dofs_of(m)[c]];
  }
  for (int32_t e = 0; e < g->dim; e++) {
    int32_t row = g->row + e, from = found->row + e;
    bool joint = row >= worth->rows;
    sum += (joint ? worth->b[row - worth->rows] : worth->w[row]) * (a->w[from] + w[e]);
    if (a->compliant && !joint) sum += worth->R[row] * a->R[from] + worth->r_c[row] * a->r_c[from];
  }
  return sum;
}

bool fx_worth_find(const fx_answer_at *answer, const frix_sim *looked, const fx_worth *worth, double *f, double *group,
                   double *mover) {
  const fx_assembly *base = &answer->sim->rows;
  if (looked->mover_count != answer->sim->mover_count) return false;
  for (int32_t k = 0; k < looked->mover_count; k++) {
    const fx_mover *m = &looked->mover[k];
    int32_t first = answer->sim->mover[k].first;
    const frix_sensitivity_motion *free = &worth->free[m->slot];
    mover[k] = 0;
    if (first < 0) mover[k] = fx_dot(free->velocity, m->v_free) + fx_dot(free->spin, m->w_free);
    if (first < 0 || !worth->f) continue;
    memset(f + 6 * m->slot, 0, 6 * sizeof *f);
    add_inertia(m, &answer->after[m->slot], f + 6 * m->slot);
    for (int32_t c = 0; c < m->dof; c++) mover[k] += worth->f[first + c] * f[6 * m->slot + dofs_of(m)[c]];
  }
  for (int32_t k = 0, hint = 0; k < base->group_count; k++) {
    const fx_group *g = &base->group[k], *found = worth->f ? fx_group_like(answer->sim, g, looked, &hint) : NULL;
    group[k] = 0;
    if (!worth->f) continue;
    if (!found && fx_carries(answer, g)) return false;
    if (found) group[k] = worth_of_group(answer, looked, found, g, worth, f);
    if (found && k < base->joint_first) group[k] += worth->mu[k] * looked->rows.law[found - looked->rows.group].mu;
  }
  return true;
}
