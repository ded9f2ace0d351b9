/* Worlds beside a step: copies of its sim that are changed and looked at, and what their rows leave of the law at its
 * answer.
 *
 *   l = (M (v_free - v) + H r,  w + H'v,  mu, R, r_c) */
#include "analysis/step_study.h"

#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define MATCHES 1e-7 /* rows of the state alone and those of the step */

/* ---- copies of the sim ---- */

frix_status fx_study_open(fx_study *s, const frix_sim *sim, frix_sim **out) {
  frix_sim_config config = sim->config;
  config.sleep = false;
  config.projections = 0;
  if (config.contact == FRIX_CONTACT_KIND_RIGID)
    config.stabilisation = 1; /* gaps and overlaps in one law: smooth where bodies just touch */
  config.tolerance = fx_min(config.tolerance, 1e-10);
  frix_status status = frix_sim_create(s->context, sim->root, &config, out);
  if (status == FRIX_OK) (*out)->of_state = true;
  return status;
}

/* What springs remember is part of the state; what rigid contacts do is not. */
static void forget_rigid(frix_sim *sim) {
  fx_state *state = &sim->state;
  int32_t kept = 0;
  if (sim->config.contact == FRIX_CONTACT_KIND_STIFF) return;
  for (int32_t k = 0; k < state->touching_count; k++)
    if (state->touching[k].stiffness > 0) state->touching[kept++] = state->touching[k];
  state->touching_count = kept, state->ended_count = 0;
  fx_contacts_index(sim);
}

/* At the beginning of the step, awake. What trees remember of the last step beside their coordinates is forgotten, as
 * it is where these are set by hand, and so is what rigid contacts remember: the step is then one of the state. */
frix_status fx_study_begin(fx_study *s, frix_sim *sim) {
  frix_status status = frix_sim_restore(sim, s->start);
  if (status == FRIX_OK && sim->mechanism) fx_transport_drop(sim);
  if (status == FRIX_OK) forget_rigid(sim);
  for (int32_t k = 1; status == FRIX_OK && k < sim->state.count; k++)
    if (sim->state.prototype[k] > 0) fx_wake(sim, k);
  return status;
}

/* The world beside with input `in` (NULL: as it is) changed by `amount`, its rows assembled. */
frix_status fx_study_look(fx_study *s, const fx_step_input *in, double amount) {
  frix_sim *sim = s->beside;
  double h = s->config->step;
  frix_status status = fx_study_begin(s, sim);
  if (status == FRIX_OK && in) status = fx_step_input_change(sim, in, amount);
  if (status == FRIX_OK && in && in->kind == FX_INPUT_STEP) h += amount;
  if (status == FRIX_OK) status = fx_sim_look(sim, h);
  if (status != FRIX_OK) return status;
  bool same = sim->mover_count == s->base->mover_count;
  for (int32_t k = 0; same && k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k], *n = &s->base->mover[k];
    same = m->slot == n->slot && m->dof == n->dof && !m->tree == !n->tree;
    sim->mover[k].first = n->first;
  }
  return same ? FRIX_OK
              : fx_fail(s->context, FRIX_ERROR_UNSUPPORTED,
                        "step gradient: '%s' changes what moves (a body on joints: differentiate by qpos:JOINT)",
                        in ? in->name : "");
}

/* ---- rows ---- */

bool fx_study_take(fx_study *s, fx_law_left *l) {
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count) + 1;
  l->f = FX_TAKE(&s->arena, double, s->view.dof_count + 1), l->w = FX_TAKE(&s->arena, double, rows);
  l->R = FX_TAKE(&s->arena, double, rows), l->r_c = FX_TAKE(&s->arena, double, rows);
  l->mu = FX_TAKE(&s->arena, double, s->view.contact_count + 1);
  l->other = FX_TAKE(&s->arena, double, 2 * (size_t)s->view.contact_count + 1);
  return l->f && l->w && l->R && l->r_c && l->mu && l->other;
}

/* M (v_free - v) of one mover. */
static void add_inertia(const fx_study *s, const fx_mover *m, fx_law_left *out) {
  const double *v = s->view.v + m->first;
  double drive[6];
  if (m->tree) {
    for (int32_t c = 0; c < m->dof; c++) s->scratch[c] = m->tree->v_free[c] - v[c];
    fx_tree_multiply(m, s->scratch, out->f + m->first);
    return;
  }
  fx_mover left = *m;
  frix_vec3 linear = {v[0], v[1], m->dof == 3 ? 0 : v[2]};
  frix_vec3 spin = m->dof == 3 ? (frix_vec3){0, 0, v[2]} : (frix_vec3){v[3], v[4], v[5]};
  left.v_free = fx_sub(m->v_free, linear), left.w_free = fx_sub(m->w_free, spin);
  fx_mover_drive(&left, drive);
  memcpy(out->f + m->first, drive, (size_t)m->dof * sizeof *drive);
}

/* J'r into f and J v into w. */
static void add_group(const fx_study *s, const fx_group *g, const double *r, double *f, double *w) {
  const double *J = s->beside->rows.J + g->value;
  for (int32_t b = 0; b < g->body_count; b++) {
    const fx_mover *m = &s->beside->mover[g->mover[b]];
    for (int32_t k = 0; k < g->dim && m->first >= 0; k++)
      for (int32_t c = 0; c < m->dof; c++) {
        f[m->first + c] += J[k * m->dof + c] * r[k];
        w[k] += J[k * m->dof + c] * s->view.v[m->first + c];
      }
    J += g->dim * m->dof;
  }
}

bool fx_study_carries(const fx_study *s, const fx_group *g) {
  for (int32_t e = 0; e < g->dim; e++)
    if (s->r[g->row + e] != 0) return true;
  return false;
}

/* Of the rows that look left; groups that are not there must carry nothing. */
frix_status fx_study_find(fx_study *s, fx_law_left *out) {
  const fx_assembly *base = &s->base->rows, *a = &s->beside->rows;
  memset(out->f, 0, (size_t)s->view.dof_count * sizeof *out->f);
  for (int32_t k = 0; k < s->beside->mover_count; k++)
    if (s->beside->mover[k].first >= 0) add_inertia(s, &s->beside->mover[k], out);
  for (int32_t k = 0, hint = 0; k < base->group_count; k++) {
    const fx_group *g = &base->group[k], *found = fx_group_like(s->base, g, s->beside, &hint);
    if (!found && fx_study_carries(s, g))
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "step gradient: a contact that carries something goes");
    for (int32_t e = 0; e < g->dim; e++) {
      out->w[g->row + e] = found ? a->w[found->row + e] : base->w[g->row + e];
      out->R[g->row + e] = found && a->compliant ? a->R[found->row + e] : 0;
      out->r_c[g->row + e] = found && a->compliant ? a->r_c[found->row + e] : 0;
    }
    if (g->kind == FX_GROUP_SPINNING) out->r_c[g->row] = base->r_c[g->row]; /* follows the answer */
    if (k < base->joint_first) {
      const frix_contact *law = found ? &a->law[found - a->group] : &base->law[k];
      out->mu[k] = law->mu, out->other[2 * k] = law->mu2, out->other[2 * k + 1] = law->mu_r;
    }
    if (found) add_group(s, found, s->r + g->row, out->f, out->w + g->row);
  }
  return FRIX_OK;
}

/* The groups of both are the same, and what drives them. */
static bool same_rows(const fx_study *s) {
  const fx_assembly *a = &s->base->rows, *b = &s->beside->rows;
  double small = 1e-9 * s->config->step * fx_norm(s->base->state.gravity);
  if (a->group_count != b->group_count) return false;
  for (int32_t k = 0, hint = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k], *found = fx_group_like(s->base, g, s->beside, &hint);
    for (int32_t e = 0; found && e < g->dim; e++)
      if (!(fabs(a->w[g->row + e] - b->w[found->row + e]) <= 1e-9 * fabs(a->w[g->row + e]) + small)) return false;
    if (!found) return false;
  }
  return true;
}

/* Adds |J'| |r| to size, by degree of freedom. */
void fx_study_impulses(const fx_study *s, double *size) {
  for (int32_t k = 0; k < s->base->rows.group_count; k++) {
    const fx_group *g = &s->base->rows.group[k];
    const double *J = s->base->rows.J + g->value;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_mover *m = &s->base->mover[g->mover[b]];
      for (int32_t e = 0; e < g->dim; e++)
        for (int32_t c = 0; c < m->dof && m->first >= 0; c++)
          size[m->first + c] += fabs(J[e * m->dof + c] * s->r[g->row + e]);
      J += g->dim * m->dof;
    }
  }
}

/* M (v_free - v) + J'r of every coordinate is nothing beside its own terms. */
static bool balances(fx_study *s) {
  double *size = s->change.f;
  memset(size, 0, (size_t)s->view.dof_count * sizeof *size);
  for (int32_t k = 0; k < s->beside->mover_count; k++)
    if (s->beside->mover[k].first >= 0) add_inertia(s, &s->beside->mover[k], &s->change);
  for (int32_t k = 0; k < s->view.dof_count; k++) size[k] = fabs(size[k]);
  fx_study_impulses(s, size);
  bool good = true;
  for (int32_t k = 0; k < s->view.dof_count; k++)
    good = good && fabs(s->now.f[k]) <= MATCHES * size[k] + 1e-14 * s->momentum;
  return good;
}

/* Rows of the state alone are those of the step, and its answer fits them. */
frix_status fx_study_check(fx_study *s) {
  const fx_assembly *a = &s->base->rows;
  frix_status status = fx_study_look(s, NULL, 0);
  if (status == FRIX_OK) status = fx_study_find(s, &s->now);
  if (status != FRIX_OK) return status;
  s->momentum = 0, s->speed = s->config->step * fx_norm(s->base->state.gravity) + 1e-9;
  for (int32_t k = 0; k < s->beside->mover_count; k++) {
    const fx_mover *m = &s->beside->mover[k];
    if (m->first < 0) continue;
    for (int32_t c = 0; c < m->dof; c++) {
      double v = s->view.v[m->first + c];
      s->speed = fx_max(s->speed, fabs(v));
      if (m->tree) s->scratch[c] = fx_max(fabs(v), fabs(m->tree->v_free[c]));
    }
    double moves = fx_norm(m->v_free) + s->config->step * fx_norm(s->base->state.gravity);
    double drive[6] = {m->mass * moves, 0};
    if (m->tree) fx_tree_multiply(m, s->scratch, s->moved + m->first);
    for (int32_t c = 0; c < (m->tree ? m->dof : 1); c++)
      s->momentum = fx_max(s->momentum, fabs(m->tree ? s->moved[m->first + c] : drive[c]));
  }
  bool good = same_rows(s) && (s->config->kappa > 0 || balances(s));
  for (int32_t k = 0; good && k < s->view.row_count + s->view.joint_count && !(s->config->kappa > 0); k++)
    good = fabs(s->now.w[k] + a->drive[k] - a->u[k] - a->w[k]) <= MATCHES * (s->speed + fabs(a->w[k]));
  for (int32_t k = 0; good && a->compliant && k < s->view.row_count; k++) /* springs that the step set anew */
    good = fabs(s->now.R[k] - a->R[k]) <= MATCHES * fabs(a->R[k]) &&
           fabs(s->now.r_c[k] - a->r_c[k]) <= MATCHES * (fabs(a->r_c[k]) + fabs(s->r[k]));
  if (good) return FRIX_OK;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED,
                 "step gradient: the rows of the step depend on more than the state (or it is not exact)");
}
