/* Derivatives of a run, step by step.
 *
 *   x1 = F(x0, p):   rows of (x0, p)  ->  answer (r, v)  ->  motion
 *
 * With the tangent s = dx/dp, what the rows leave of the law at the answer changes by
 *
 *   dl = [l(x0 + e s, p) - l(x0 - e s, p)] / 2e + [l(x0, p + d) - l(x0, p - d)] / 2d
 *
 * the factors of the natural map turn dl into dv (frix_gradient_forward), and the motion is differenced in the same way
 * with v + e dv. Nothing is solved but the step itself. */
#include "analysis/gradient.h"
#include "analysis/sensitivity_internal.h"

#include "base/abi.h"

#include <math.h>
#include <string.h>

#define EDGE 1e-2    /* of a change: by values of a parameter, more on one side than on the other */
#define NOISE 1e-6   /* of a change: half of it leads to something else than half */
#define MATCHES 1e-7 /* rows of state and parameters alone and those of the step */

void frix_sensitivity_init(frix_sensitivity_config *out, size_t size) {
  frix_sensitivity_config all = {.size = sizeof all, .step = 0.01, .step_parameter = -1, .apart = 16};
  fx_give_struct(out, size, &all, sizeof all);
}

/* ---- worlds ---- */

static frix_status open_sim(frix_sensitivity *s, const frix_model *model, frix_sim **out) {
  frix_status status = frix_sim_create(s->context, model, &s->sim_config, out);
  if (status == FRIX_OK) (*out)->of_state = true;
  return status;
}

static frix_status build_at(frix_sensitivity *s, int32_t k, double shift, frix_model **model, frix_sim **sim) {
  memcpy(s->shifted, s->parameter, (size_t)s->config.parameter_count * sizeof *s->shifted);
  if (k >= 0) s->shifted[k] += shift;
  frix_status status = s->config.build(s->context, s->shifted, model, s->config.user);
  return status == FRIX_OK ? open_sim(s, *model, sim) : status;
}

/* Where rounding and curvature of the differences are about as small. */
static double default_increment(double value) { return value == 0 ? 1e-6 : fx_max(4e-6 * fabs(value), 1e-7); }

static frix_status take_arrays(frix_sensitivity *s) {
  int32_t count = s->config.parameter_count;
  s->parameter = FX_TAKE(&s->arena, double, count + 1);
  s->increment = FX_TAKE(&s->arena, double, count + 1);
  s->shifted = FX_TAKE(&s->arena, double, count + 1);
  s->lower = FX_TAKE(&s->arena, frix_model *, count + 1);
  s->upper = FX_TAKE(&s->arena, frix_model *, count + 1);
  s->tangent = FX_TAKE(&s->arena, frix_sensitivity_motion *, count + 1);
  for (int k = 0; k < 2; k++) s->beside[k] = FX_TAKE(&s->arena, frix_sim *, count + 1);
  bool room = s->parameter && s->increment && s->shifted && s->lower && s->upper && s->tangent && s->beside[0];
  if (!room || !s->beside[1]) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < count; k++) {
    s->parameter[k] = s->config.parameter[k];
    s->increment[k] = s->config.increment ? s->config.increment[k] : default_increment(s->parameter[k]);
  }
  return FRIX_OK;
}

static frix_status take_places(frix_sensitivity *s) {
  size_t n = (size_t)s->slots + 1;
  s->before = FX_TAKE(&s->arena, fx_place, n), s->after = FX_TAKE(&s->arena, fx_place, n);
  s->moved = FX_TAKE(&s->arena, fx_place, n);
  for (int k = 0; k < 2; k++) s->end[k] = FX_TAKE(&s->arena, fx_place, n);
  s->part = FX_TAKE(&s->arena, frix_sensitivity_motion, n), s->change = FX_TAKE(&s->arena, frix_sensitivity_motion, n);
  for (int32_t k = 0; k < s->config.parameter_count; k++)
    if (!(s->tangent[k] = FX_TAKE(&s->arena, frix_sensitivity_motion, n))) return FRIX_ERROR_MEMORY;
  bool room = s->before && s->after && s->moved && s->end[0] && s->end[1] && s->part && s->change;
  return room ? FRIX_OK : FRIX_ERROR_MEMORY;
}

static frix_status build_worlds(frix_sensitivity *s) {
  frix_status status = build_at(s, -1, 0, &s->model, &s->sim);
  if (status != FRIX_OK) return status;
  if (s->sim->mechanism || s->sim->softs || s->sim->integrator->position_time != 1.0)
    return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED,
                   "sensitivity: bodies in maximal coordinates and the integrator moreau are needed");
  s->slots = s->sim->state.count;
  if ((status = take_places(s)) != FRIX_OK) return status;
  for (int k = 0; k < 2 && status == FRIX_OK; k++) status = open_sim(s, s->model, &s->side[k]);
  for (int32_t k = 0; k < s->config.parameter_count && status == FRIX_OK; k++) {
    status = build_at(s, k, -s->increment[k], &s->lower[k], &s->beside[0][k]);
    if (status == FRIX_OK) status = build_at(s, k, s->increment[k], &s->upper[k], &s->beside[1][k]);
    if (status != FRIX_OK) return status;
    if (s->beside[0][k]->state.count != s->slots || s->beside[1][k]->state.count != s->slots)
      return fx_fail(s->context, FRIX_ERROR_INPUT, "sensitivity: the number of bodies depends on a parameter");
    for (int side = 0; side < 2; side++) fx_places_get(s->beside[side][k], s->end[side]);
    fx_places_differ(s->end[1], s->end[0], 2 * s->increment[k], s->slots, s->tangent[k]);
  }
  return status;
}

static frix_status check(frix_context *context, const frix_sensitivity_config *c) {
  bool good = c->parameter_count > 0 && c->parameter_count <= 10000 && c->parameter && c->build && c->step > 0 &&
              isfinite(c->step) && c->step_parameter < c->parameter_count && c->apart > 0;
  for (int32_t k = 0; good && k < c->parameter_count; k++)
    good = isfinite(c->parameter[k]) && (!c->increment || (c->increment[k] > 0 && isfinite(c->increment[k])));
  if (good) return FRIX_OK;
  return fx_fail(context, FRIX_ERROR_INPUT, "sensitivity: parameters, build and a positive step are needed");
}

frix_status frix_sensitivity_create(frix_context *context, const frix_sim_config *sim,
                                    const frix_sensitivity_config *config, frix_sensitivity **out) {
  if (out) *out = NULL;
  if (!context || !config || !out) return FRIX_ERROR_INPUT;
  frix_sensitivity_config own;
  frix_sensitivity_init(&own, sizeof own);
  if (!fx_take_struct(&own, sizeof own, config))
    return fx_fail(context, FRIX_ERROR_INPUT, "frix_sensitivity_create: the config has a wrong size");
  frix_status status = check(context, &own);
  if (status != FRIX_OK) return status;
  frix_sensitivity *s = FX_NEW(context, frix_sensitivity, 1);
  if (!s) return FRIX_ERROR_MEMORY;
  s->context = context, s->config = own;
  s->sim_config = frix_sim_default();
  fx_arena_init(&s->arena, context);
  if (sim && !fx_take_struct(&s->sim_config, sizeof s->sim_config, sim))
    status = fx_fail(context, FRIX_ERROR_INPUT, "frix_sensitivity_create: the sim config has a wrong size");
  s->sim_config.contact = FRIX_CONTACT_KIND_RIGID;
  s->sim_config.coordinates = FRIX_COORDINATES_MAXIMAL; /* rows of joints have derivatives */
  s->sim_config.sleep = false;
  s->sim_config.stabilisation = 1; /* gaps and overlaps in one law: smooth where bodies just touch */
  s->sim_config.tolerance = fx_min(s->sim_config.tolerance, 1e-10);
  s->result = (frix_sensitivity_result){.size = sizeof s->result, .distance = INFINITY, .run_distance = INFINITY};
  s->result.certified = true;
  if (status == FRIX_OK) status = take_arrays(s);
  if (status == FRIX_OK) status = build_worlds(s);
  if (status == FRIX_OK)
    *out = s;
  else
    frix_sensitivity_destroy(s);
  return status;
}

void frix_sensitivity_destroy(frix_sensitivity *s) {
  if (!s) return;
  for (int32_t k = 0; s->beside[1] && k < s->config.parameter_count; k++)
    for (int side = 0; side < 2; side++) {
      frix_sim_destroy(s->beside[side][k]);
      frix_model_destroy(side ? s->upper[k] : s->lower[k]);
    }
  for (int k = 0; k < 2; k++) frix_sim_destroy(s->side[k]);
  for (int64_t k = 0; k < s->kept_count; k++) frix_snapshot_destroy(s->kept[k]);
  fx_free(s->context, s->kept);
  fx_free(s->context, s->closed);
  frix_sim_destroy(s->sim);
  frix_model_destroy(s->model);
  fx_arena_free(&s->arena);
  fx_free(s->context, s);
}

/* ---- a step ---- */

/* Rows of a world with the bodies there, driven with these parameters. */
frix_status fx_sensitivity_look(frix_sensitivity *s, frix_sim *sim, const fx_place *place, int32_t k, double shift) {
  memcpy(s->shifted, s->parameter, (size_t)s->config.parameter_count * sizeof *s->shifted);
  if (k >= 0) s->shifted[k] += shift;
  double h = s->config.step_parameter >= 0 ? s->shifted[s->config.step_parameter] : s->config.step;
  sim->state.time = s->sim->state.time, sim->state.step_count = s->sim->state.step_count;
  memset(sim->state.load, 0, (size_t)sim->state.count * sizeof *sim->state.load);
  frix_status status = fx_places_set(sim, place);
  if (status == FRIX_OK && s->config.drive) status = s->config.drive(sim, h, s->shifted, s->config.user);
  return status == FRIX_OK ? fx_sim_look(sim, h) : status;
}

/* The largest momentum and speed of the step. */
static void find_scales(fx_sensitivity_step *t) {
  const frix_sim *sim = t->s->sim;
  t->momentum = 0, t->speed = 1e-9;
  for (int32_t k = 0; k < sim->mover_count; k++) {
    const fx_mover *m = &sim->mover[k];
    double moves = fx_norm(m->v_free) + fx_norm(m->v1);
    t->momentum = fx_max(t->momentum, m->mass * (moves + sim->h * fx_norm(sim->state.gravity)));
    t->speed = fx_max(t->speed, moves);
  }
}

/* Rows of state and parameters alone are those of the step, and its answer fits them. */
frix_status fx_sensitivity_check_rows(fx_sensitivity_step *t) {
  frix_sensitivity *s = t->s;
  frix_status status = fx_sensitivity_look(s, s->side[0], s->before, -1, 0);
  if (status != FRIX_OK) return status;
  bool good = fx_leftover_find(&t->answer, s->side[0], &t->now);
  const fx_assembly *a = &s->sim->rows;
  double off = 0;
  for (int32_t k = 0; k < s->sim->mover_count; k++)
    for (int32_t c = 0; c < 3; c++) off = fx_max(off, fabs(t->now.f[6 * s->sim->mover[k].slot + c]));
  good = good && off <= MATCHES * t->momentum;
  for (int32_t k = 0; good && k < a->row_count; k++)
    good = fabs(t->now.w[k] + a->drive[k] - a->u[k] - a->w[k]) <= MATCHES * (t->speed + fabs(a->w[k]));
  for (int32_t k = 0; good && a->compliant && k < t->rows; k++) /* springs that the step set anew */
    good = fabs(t->now.R[k] - a->R[k]) <= MATCHES * fabs(a->R[k]) &&
           fabs(t->now.r_c[k] - a->r_c[k]) <= MATCHES * (fabs(a->r_c[k]) + fabs(t->answer.r[k]));
  for (int32_t k = 0; k < a->group_count; k++) {
    if (a->law[k].cone == FRIX_CONE_ELLIPTIC)
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "sensitivity: friction that depends on the direction");
    if (a->group[k].kind == FX_GROUP_SPINNING && s->config.backward)
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "sensitivity: drilling friction on the way back");
  }
  if (good) return FRIX_OK;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED,
                 "sensitivity: the rows of step %lld depend on more than state and parameters (or it is not exact)",
                 (long long)s->sim->state.step_count);
}

static bool take_data(fx_sensitivity_step *t) {
  t->f = FX_TAKE(&t->arena, double, t->dofs + 1), t->w = FX_TAKE(&t->arena, double, t->rows + 1);
  t->b = FX_TAKE(&t->arena, double, t->joints + 1), t->mu = FX_TAKE(&t->arena, double, t->contacts + 1);
  t->R = FX_TAKE(&t->arena, double, t->rows + 1), t->r_c = FX_TAKE(&t->arena, double, t->rows + 1);
  t->dv = FX_TAKE(&t->arena, double, t->dofs + 1), t->dr = FX_TAKE(&t->arena, double, t->rows + 1);
  return t->f && t->w && t->b && t->mu && t->R && t->r_c && t->dv && t->dr &&
         fx_leftover_take(&t->arena, &t->answer, &t->now) && fx_leftover_take(&t->arena, &t->answer, &t->lower) &&
         fx_leftover_take(&t->arena, &t->answer, &t->upper) &&
         fx_leftover_take(&t->arena, &t->answer, &t->half_lower) &&
         fx_leftover_take(&t->arena, &t->answer, &t->half_upper);
}

/* Adds (upper - lower) / scale to the changes; of bodies that no row touches, to their velocities. */
static void add_change(fx_sensitivity_step *t, double scale, const frix_sim *const looked[2]) {
  frix_sensitivity *s = t->s;
  static const int flat[3] = {0, 1, 5}, all[6] = {0, 1, 2, 3, 4, 5};
  for (int32_t k = 0; k < s->sim->mover_count; k++) {
    const fx_mover *m = &s->sim->mover[k], *p = &looked[1]->mover[k], *q = &looked[0]->mover[k];
    const int *at = m->dof == 3 ? flat : all;
    for (int32_t c = 0; c < m->dof && m->first >= 0; c++)
      t->f[m->first + c] += (t->upper.f[6 * m->slot + at[c]] - t->lower.f[6 * m->slot + at[c]]) / scale;
    if (m->first >= 0) continue;
    frix_sensitivity_motion *to = &s->change[m->slot];
    to->velocity = fx_mad(to->velocity, 1 / scale, fx_sub(p->v_free, q->v_free));
    to->spin = fx_mad(to->spin, 1 / scale, fx_sub(p->w_free, q->w_free));
  }
  for (int32_t k = 0; k < t->rows; k++) {
    t->w[k] += (t->upper.w[k] - t->lower.w[k]) / scale;
    t->R[k] += (t->upper.R[k] - t->lower.R[k]) / scale;
    t->r_c[k] += (t->upper.r_c[k] - t->lower.r_c[k]) / scale;
  }
  for (int32_t k = 0; k < t->joints; k++) t->b[k] += (t->upper.w[t->rows + k] - t->lower.w[t->rows + k]) / scale;
  for (int32_t k = 0; k < t->contacts; k++) t->mu[k] += (t->upper.mu[k] - t->lower.mu[k]) / scale;
}

static double longest(const frix_sensitivity_motion *t, int32_t slots) {
  double most = 1;
  for (int32_t k = 1; k < slots; k++)
    most = fx_max(fx_max(most, fx_max(fx_norm(t[k].place), fx_norm(t[k].turn))),
                  fx_max(fx_norm(t[k].velocity), fx_norm(t[k].spin)));
  return most;
}

bool fx_is_edge(int32_t count, const fx_beside *at, double rounding) {
  double most = 0, bend = 0, half = 0, slope = 0;
  for (int32_t k = 0; k < count; k++) {
    double change = at->upper[k] - at->lower[k];
    most = fx_max(most, fabs(change));
    bend = fx_max(bend, fabs(at->upper[k] + at->lower[k] - 2 * at->now[k]));
    if (!at->half_upper) continue;
    half = fx_max(half, fabs(at->half_upper[k] + at->half_lower[k] - 2 * at->now[k]));
    slope = fx_max(slope, fabs(change - 2 * (at->half_upper[k] - at->half_lower[k])));
  }
  if (!at->half_upper) return bend > EDGE * most + rounding;
  return slope > NOISE * most + 4 * rounding || half > fx_max(0.35 * bend, NOISE * most) + rounding;
}

/* Of what the rows leave, around t->now. */
static bool has_edge(const fx_sensitivity_step *t, bool halved) {
  const fx_leftover *a = &t->lower, *b = &t->now, *c = &t->upper, *d = &t->half_lower, *e = &t->half_upper;
  fx_beside f = {a->f, b->f, c->f, NULL, NULL}, w = {a->w, b->w, c->w, NULL, NULL},
            mu = {a->mu, b->mu, c->mu, NULL, NULL};
  if (halved) f.half_lower = d->f, w.half_lower = d->w, mu.half_lower = d->mu;
  if (halved) f.half_upper = e->f, w.half_upper = e->w, mu.half_upper = e->mu;
  const fx_assembly *rows = &t->s->sim->rows;
  for (int32_t k = 0; k < rows->group_count; k++) { /* what carries nothing changes nothing */
    const fx_group *g = &rows->group[k];
    double *const all[4] = {a->w, c->w, d->w, e->w};
    for (int n = 0; n < 4 && !fx_carries(&t->answer, g); n++)
      memcpy(all[n] + g->row, b->w + g->row, (size_t)g->dim * sizeof *b->w);
  }
  return fx_is_edge(6 * t->s->slots, &f, 1e-12 * t->momentum) ||
         fx_is_edge(t->rows + t->joints, &w, 1e-12 * t->speed) || fx_is_edge(t->contacts, &mu, 1e-14);
}

static void note_edge(frix_sensitivity_result *r) {
  if (r->verdict != FRIX_GRADIENT_SMOOTH) return;
  r->verdict = FRIX_GRADIENT_KINK, r->distance = r->run_distance = 0;
  if (r->run_verdict == FRIX_GRADIENT_SMOOTH) r->run_verdict = FRIX_GRADIENT_KINK;
  r->kinks++;
  if (!r->first_kink) r->first_kink = r->step;
}

/* A change of state and parameters. */
typedef struct aside {
  frix_sim *sim[2];
  const frix_sensitivity_motion *tangent; /* NULL: none */
  double nudge;                           /* times tangent */
  int32_t parameter;                      /* -1: none */
  double shift;
} aside;

/* Both worlds beside, and what they leave. */
static frix_status look_both(fx_sensitivity_step *t, const aside *d, double part, fx_leftover *lower,
                             fx_leftover *upper) {
  frix_sensitivity *s = t->s;
  for (int side = 0; side < 2; side++) {
    double sign = side ? part : -part;
    if (d->tangent)
      fx_places_move(s->before, d->tangent, sign * d->nudge, s->slots, s->moved);
    else
      memcpy(s->moved, s->before, (size_t)s->slots * sizeof *s->moved);
    frix_status status = fx_sensitivity_look(s, d->sim[side], s->moved, d->parameter, sign * d->shift);
    if (status != FRIX_OK) return status;
    if (d->sim[side]->mover_count != s->sim->mover_count ||
        !fx_leftover_find(&t->answer, d->sim[side], side ? upper : lower))
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "sensitivity: a contact that carries is lost beside step %lld",
                     (long long)s->sim->state.step_count);
  }
  return FRIX_OK;
}

/* The same. Shapes have edges, and iterative distances noise: where the rows change otherwise to either side, or on
 * half the way, the step has no derivative along this change that can be told. A world that was built for one value of
 * a parameter cannot be looked at for half of it. */
static frix_status look_beside(fx_sensitivity_step *t, const aside *d) {
  bool halved = t->gradient && d->parameter < 0;
  frix_status status = halved ? look_both(t, d, 0.5, &t->half_lower, &t->half_upper) : FRIX_OK;
  if (status == FRIX_OK) status = look_both(t, d, 1, &t->lower, &t->upper);
  if (status == FRIX_OK && t->gradient && has_edge(t, halved)) note_edge(&t->s->result);
  return status;
}

/* Of the velocities: from the changes of the rows. */
static frix_status solve_change(fx_sensitivity_step *t) {
  frix_sensitivity *s = t->s;
  static const int flat[3] = {0, 1, 5}, all[6] = {0, 1, 2, 3, 4, 5};
  if (!t->gradient) return FRIX_OK;
  bool compliant = s->sim->rows.compliant;
  frix_gradient_data data = {.size = sizeof data, .f = t->f, .w = t->w, .b = t->joints ? t->b : NULL, .mu = t->mu};
  if (compliant) data.R = t->R, data.r_c = t->r_c;
  frix_status status = fx_drilling_forward(s->sim, t->gradient, &data, t->r_c, t->dv, t->dr, false);
  for (int32_t k = 0; status == FRIX_OK && k < s->sim->mover_count; k++) {
    const fx_mover *m = &s->sim->mover[k];
    const int *at = m->dof == 3 ? flat : all;
    double v[6] = {0};
    if (m->first < 0) continue;
    for (int32_t c = 0; c < m->dof; c++) v[at[c]] = t->dv[m->first + c];
    s->change[m->slot].velocity = fx_vec(v[0], v[1], v[2]);
    s->change[m->slot].spin = fx_vec(v[3], v[4], v[5]);
  }
  return status;
}

/* after + scale change, velocities only. */
static void shift_velocities(const frix_sensitivity *s, double scale, fx_place *out) {
  memcpy(out, s->after, (size_t)s->slots * sizeof *out);
  for (int32_t k = 1; k < s->slots; k++) {
    out[k].velocity = fx_mad(out[k].velocity, scale, s->change[k].velocity);
    out[k].spin = fx_mad(out[k].spin, scale, s->change[k].spin);
  }
}

static void no_change(fx_sensitivity_step *t) {
  memset(t->s->change, 0, (size_t)t->s->slots * sizeof *t->s->change);
  memset(t->f, 0, (size_t)t->dofs * sizeof *t->f), memset(t->w, 0, (size_t)t->rows * sizeof *t->w);
  memset(t->b, 0, (size_t)t->joints * sizeof *t->b), memset(t->mu, 0, (size_t)t->contacts * sizeof *t->mu);
  memset(t->R, 0, (size_t)t->rows * sizeof *t->R), memset(t->r_c, 0, (size_t)t->rows * sizeof *t->r_c);
}

/* Adds what parameter k changes in the rows. */
static frix_status add_parameter(fx_sensitivity_step *t, int32_t k) {
  frix_sensitivity *s = t->s;
  frix_sim *const world[2] = {s->beside[0][k], s->beside[1][k]};
  const aside data = {{world[0], world[1]}, NULL, 0, k, s->increment[k]};
  frix_status status = look_beside(t, &data);
  if (status == FRIX_OK) add_change(t, 2 * s->increment[k], (const frix_sim *const[2]){world[0], world[1]});
  return status;
}

/* And in the end of the step, the velocities of the answer kept. */
static void end_by_parameter(frix_sensitivity *s, int32_t k, frix_sensitivity_motion *out) {
  for (int side = 0; side < 2; side++) fx_places_finish(s->beside[side][k], s->after, s->end[side]);
  fx_places_differ(s->end[1], s->end[0], 2 * s->increment[k], s->slots, out);
}

frix_status fx_sensitivity_by_parameter(fx_sensitivity_step *t, int32_t k) {
  no_change(t);
  frix_status status = add_parameter(t, k);
  if (status == FRIX_OK) end_by_parameter(t->s, k, t->s->part);
  return status;
}

static frix_status differentiate(fx_sensitivity_step *t, int32_t k) {
  frix_sensitivity *s = t->s;
  double e = FX_NUDGE / longest(s->tangent[k], s->slots);
  no_change(t);
  const aside state = {{s->side[0], s->side[1]}, s->tangent[k], e, -1, 0};
  frix_status status = look_beside(t, &state);
  if (status != FRIX_OK) return status;
  add_change(t, 2 * e, (const frix_sim *const[2]){s->side[0], s->side[1]});
  if ((status = add_parameter(t, k)) != FRIX_OK) return status;
  if ((status = solve_change(t)) != FRIX_OK) return status;
  e = fx_min(e, FX_NUDGE / longest(s->change, s->slots));
  for (int side = 0; side < 2; side++) {
    double sign = side ? 1 : -1;
    fx_places_move(s->before, s->tangent[k], sign * e, s->slots, s->moved);
    if ((status = fx_sensitivity_look(s, s->side[side], s->moved, -1, 0)) != FRIX_OK) return status;
    shift_velocities(s, sign * e, s->moved);
    fx_places_finish(s->side[side], s->moved, s->end[side]);
  }
  fx_places_differ(s->end[1], s->end[0], 2 * e, s->slots, s->part);
  end_by_parameter(s, k, s->tangent[k]);
  for (int32_t n = 1; n < s->slots; n++) fx_tangent_add(&s->tangent[k][n], &s->part[n]);
  return FRIX_OK;
}

static void note_verdict(frix_sensitivity *s, const frix_gradient_result *view) {
  frix_sensitivity_result *r = &s->result;
  r->step++;
  r->verdict = view ? view->verdict : FRIX_GRADIENT_SMOOTH;
  r->distance = view ? view->distance : INFINITY;
  r->run_distance = fx_min(r->run_distance, r->distance);
  if (r->verdict > r->run_verdict) r->run_verdict = r->verdict;
  if (r->verdict == FRIX_GRADIENT_SMOOTH) return;
  r->kinks++;
  if (!r->first_kink) r->first_kink = r->step;
}

static frix_status open_gradient(fx_sensitivity_step *t) {
  frix_sensitivity *s = t->s;
  t->answer = (fx_answer_at){s->sim, s->sim->rows.r, s->after, s->slots};
  if (s->sim->rows.row_count == 0) {
    if (!t->again) note_verdict(s, NULL);
    return FRIX_OK;
  }
  frix_gradient_result view = {.size = sizeof view};
  frix_status status = fx_gradient_of_step(s->sim, t->again && s->closed[s->sim->state.step_count], &t->gradient);
  if (status != FRIX_OK) return status;
  t->gradient->rounded = FX_ROUNDED;
  frix_gradient_view(t->gradient, &view);
  if (!t->again) note_verdict(s, &view);
  t->dofs = view.dof_count, t->rows = view.row_count, t->contacts = view.contact_count, t->joints = view.joint_count;
  double *r = FX_TAKE(&t->arena, double, t->rows + t->joints + 1);
  if (!r) return FRIX_ERROR_MEMORY;
  memcpy(r, view.r, (size_t)t->rows * sizeof *r);
  if (t->joints) memcpy(r + t->rows, view.lambda, (size_t)t->joints * sizeof *r);
  t->answer.r = r;
  if (view.verdict != FRIX_GRADIENT_SMOOTH) frix_gradient_destroy(t->gradient), t->gradient = NULL;
  return FRIX_OK;
}

/* Contacts remember nothing: what a step does then depends on state and parameters alone. */
static void forget(frix_sim *sim) {
  sim->state.touching_count = sim->state.ended_count = 0;
  fx_contacts_index(sim);
}

frix_status fx_sensitivity_replay(frix_sensitivity *s) {
  frix_step_report report;
  double h = s->config.step_parameter >= 0 ? s->parameter[s->config.step_parameter] : s->config.step;
  forget(s->sim);
  frix_status status = s->config.drive ? s->config.drive(s->sim, h, s->parameter, s->config.user) : FRIX_OK;
  if (status == FRIX_OK) status = frix_sim_step(s->sim, h, &report);
  if (status == FRIX_OK) s->result.certified &= report.certified;
  return status;
}

frix_status fx_sensitivity_open(frix_sensitivity *s, fx_sensitivity_step *t) {
  double begin = s->sim->state.time;
  t->s = s;
  fx_arena_init(&t->arena, s->context);
  fx_places_get(s->sim, s->before);
  frix_status status = fx_sensitivity_replay(s);
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; k < s->sim->mover_count; k++) {
    const fx_mover *m = &s->sim->mover[k];
    s->after[m->slot].velocity = m->v1, s->after[m->slot].spin = m->w1;
  }
  /* the worlds beside stand at the beginning of the step: so must the clock they read */
  t->opened = true, t->end = s->sim->state.time;
  s->sim->state.time = begin, s->sim->state.step_count--;
  status = open_gradient(t);
  if (status == FRIX_OK && !take_data(t)) status = FRIX_ERROR_MEMORY;
  find_scales(t);
  return status == FRIX_OK && !t->again ? fx_sensitivity_check_rows(t) : status;
}

void fx_sensitivity_close(fx_sensitivity_step *t) {
  if (t->opened) t->s->sim->state.time = t->end, t->s->sim->state.step_count++;
  frix_gradient_destroy(t->gradient);
  fx_arena_free(&t->arena);
}

static frix_status take_step(frix_sensitivity *s) {
  fx_sensitivity_step t = {0};
  frix_status status = s->config.backward ? fx_sensitivity_keep(s) : FRIX_OK;
  if (status != FRIX_OK) return status;
  status = fx_sensitivity_open(s, &t);
  for (int32_t k = 0; status == FRIX_OK && !s->config.backward && k < s->config.parameter_count; k++)
    status = differentiate(&t, k);
  if (status == FRIX_OK && s->config.backward) status = fx_sensitivity_note_closed(&t);
  fx_sensitivity_close(&t);
  return status;
}

frix_status frix_sensitivity_step_sized(frix_sensitivity *s, frix_sensitivity_result *result, size_t size) {
  if (!s) return FRIX_ERROR_INPUT;
  frix_status status = take_step(s);
  if (result) fx_give_struct(result, size, &s->result, sizeof s->result);
  return status;
}

const frix_sim *frix_sensitivity_sim(const frix_sensitivity *s) { return s ? s->sim : NULL; }

frix_status frix_sensitivity_body(const frix_sensitivity *s, frix_body_id body, int32_t parameter,
                                  frix_sensitivity_motion *out) {
  if (!s || !out) return FRIX_ERROR_INPUT;
  if (s->config.backward)
    return fx_fail(s->context, FRIX_ERROR_INPUT, "frix_sensitivity_body: this run goes backward; ask the adjoint");
  if (parameter < 0 || parameter >= s->config.parameter_count || !body.index || !frix_sim_alive(s->sim, body))
    return fx_fail(s->context, FRIX_ERROR_INPUT, "frix_sensitivity_body: no such body or parameter");
  *out = s->tangent[parameter][body.index];
  return FRIX_OK;
}
