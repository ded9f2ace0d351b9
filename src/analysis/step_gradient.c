/* Derivatives of one step of a sim by anything that can be changed before it: bodies, robots, controls, the world.
 *
 *   dl = [l(x + e) - l(x - e)] / 2e,    l = (M (v_free - v) + H r,  w + H'v,  mu, R, r_c) at the answer (r, v) of the
 * step
 *
 * where nothing is solved but the step; its factors turn dl into dv and dr, and the motion that follows is differenced
 * with v + e dv. Worlds beside are copies of the sim that are changed and looked at. Where half a change does not lead
 * to half, the step is told as a kink. */
#include "analysis/step_study.h"

#include "base/abi.h"
#include "sim/hooks_internal.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define WIDE 20.0    /* widths of the rows, for the motion behind the answer */
#define FASTEST 1e-3 /* m/s, rad/s: the most that velocities change over such a width */
#define AGREES 1e-5  /* differences over a width and over half of it */

void frix_step_gradient_init(frix_step_gradient_config *out, size_t size) {
  frix_step_gradient_config all = {.size = sizeof all, .step = 0.01};
  fx_give_struct(out, size, &all, sizeof all);
}

static const double part_of[4] = {-1, 1, -0.5, 0.5};

/* ---- widths ---- */

/* What a mover's coordinates carry: J'r, term by term, the largest of the first `count` from `first`. */
static double carried_by(fx_study *s, const fx_mover *m, int32_t first, int32_t count) {
  double *size = s->change.f, most = 0;
  memset(size, 0, (size_t)s->view.dof_count * sizeof *size);
  fx_study_impulses(s, size);
  for (int32_t c = first; m->first >= 0 && c < first + count && c < m->dof; c++) most = fmax(most, size[m->first + c]);
  return most;
}

/* Differences of rows have the rounding of what they are sums of: where bodies are fast, or carry far more than they
 * weigh, inputs that enter linearly are changed by more. */
static void widen(fx_study *s, fx_step_input *in) {
  const fx_state *state = &s->base->state;
  double h = s->config->step;
  int32_t mover = in->body.index ? s->base->mover_of[in->body.index] : -1;
  if (in->kind == FX_INPUT_GRAVITY) in->width = fmax(in->width, FX_INPUT_NARROW * s->speed / h);
  if (in->kind == FX_INPUT_VELOCITY)
    in->width = fmax(in->width, FX_INPUT_NARROW * fx_norm(state->velocity[in->body.index]));
  if (in->kind == FX_INPUT_SPIN) in->width = fmax(in->width, FX_INPUT_NARROW * fx_norm(state->spin[in->body.index]));
  if (in->kind != FX_INPUT_FORCE || mover < 0) return;
  const fx_mover *m = &s->base->mover[mover];
  bool whole = m->tree || m->dof == 3;
  in->width =
      fmax(in->width, FX_INPUT_NARROW / h * carried_by(s, m, whole || in->axis < 3 ? 0 : 3, whole ? m->dof : 3));
}

/* ---- one input ---- */

static void note_edge(fx_study *s) {
  s->edge = true;
  s->view.verdict = FRIX_GRADIENT_KINK, s->view.distance = 0;
}

static bool has_edge(const fx_study *s) {
  const fx_law_left *l = s->at;
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count);
  for (int32_t k = 0; k < s->base->rows.group_count; k++) { /* what carries nothing changes nothing */
    const fx_group *g = &s->base->rows.group[k];
    for (int n = 0; n < 4 && !fx_study_carries(s, g); n++)
      memcpy(l[n].w + g->row, s->now.w + g->row, (size_t)g->dim * sizeof *l[n].w);
  }
  fx_beside f = {l[0].f, s->now.f, l[1].f, l[2].f, l[3].f}, w = {l[0].w, s->now.w, l[1].w, l[2].w, l[3].w};
  fx_beside R = {l[0].R, s->now.R, l[1].R, l[2].R, l[3].R}, mu = {l[0].mu, s->now.mu, l[1].mu, l[2].mu, l[3].mu};
  fx_beside r_c = {l[0].r_c, s->now.r_c, l[1].r_c, l[2].r_c, l[3].r_c};
  double most = 0, held = 0;
  for (size_t k = 0; k < rows; k++) most = fmax(most, fabs(s->now.R[k])), held = fmax(held, fabs(s->now.r_c[k]));
  return fx_is_edge(s->view.dof_count, &f, 1e-12 * s->momentum) || fx_is_edge((int32_t)rows, &w, 1e-12 * s->speed) ||
         fx_is_edge(s->view.contact_count, &mu, 1e-14) || fx_is_edge((int32_t)rows, &R, 1e-12 * most) ||
         fx_is_edge((int32_t)rows, &r_c, 1e-12 * held);
}

/* From differences over the width and half of it: what is left is of its fourth power. */
static void slope_of(int32_t count, const double *const at[4], double width, double *out) {
  for (int32_t k = 0; k < count; k++) {
    double wide = (at[1][k] - at[0][k]) / (2 * width), narrow = (at[3][k] - at[2][k]) / width;
    out[k] = (4 * narrow - wide) / 3;
  }
}

static void change_of(const fx_study *s, double width) {
  const fx_law_left *l = s->at;
  int32_t rows = s->view.row_count + s->view.joint_count;
  slope_of(s->view.dof_count, (const double *const[4]){l[0].f, l[1].f, l[2].f, l[3].f}, width, s->change.f);
  slope_of(rows, (const double *const[4]){l[0].w, l[1].w, l[2].w, l[3].w}, width, s->change.w);
  slope_of(rows, (const double *const[4]){l[0].R, l[1].R, l[2].R, l[3].R}, width, s->change.R);
  slope_of(rows, (const double *const[4]){l[0].r_c, l[1].r_c, l[2].r_c, l[3].r_c}, width, s->change.r_c);
  slope_of(s->view.contact_count, (const double *const[4]){l[0].mu, l[1].mu, l[2].mu, l[3].mu}, width, s->change.mu);
}

static frix_status change_friction(fx_study *s, const fx_step_input *in) {
  bool any = false;
  memset(s->change.f, 0, (size_t)s->view.dof_count * sizeof(double));
  memset(s->change.w, 0, (size_t)(s->view.row_count + s->view.joint_count) * sizeof(double));
  memset(s->change.R, 0, (size_t)s->view.row_count * sizeof(double));
  memset(s->change.r_c, 0, (size_t)s->view.row_count * sizeof(double));
  for (int32_t k = 0; k < s->view.contact_count; k++) {
    const fx_group *g = &s->base->rows.group[k];
    const fx_contact *c = g->kind == FX_GROUP_CONTACT ? &s->base->contact[g->source] : NULL;
    bool meant = c && fx_pair_meant(in->body, in->other, (uint32_t)c->body_a, (uint32_t)c->body_b);
    s->change.mu[k] = meant ? 1 : 0, any |= meant;
  }
  return any ? FRIX_OK : fx_fail(s->context, FRIX_ERROR_INPUT, "%s: there is no such contact in the step", in->name);
}

/* What one unit of the input changes in the rows, into s->change. */
static frix_status differ(fx_study *s, const fx_step_input *in) {
  if (in->kind == FX_INPUT_FRICTION) return change_friction(s, in);
  for (int n = 0; n < 4; n++) {
    frix_status status = fx_study_look(s, in, part_of[n] * in->width);
    if (status == FRIX_OK) status = fx_study_find(s, &s->at[n]);
    if (status != FRIX_OK) return status;
  }
  for (int32_t k = 0; k < 2 * s->view.contact_count; k++)
    if (s->at[0].other[k] != s->at[1].other[k])
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "%s: no derivative by friction of this kind", in->name);
  if (has_edge(s)) note_edge(s);
  change_of(s, in->width);
  return FRIX_OK;
}

/* dv, dr along the change; side: 0 both, 1 as the input grows, -1 as it shrinks. */
static frix_status solve(fx_study *s, int side) {
  fx_law_left *c = &s->change;
  bool compliant = s->base->rows.compliant;
  int32_t rows = s->view.row_count, joints = s->view.joint_count;
  frix_gradient_data data = {.size = sizeof data, .f = c->f, .w = c->w, .b = joints ? c->w + rows : NULL, .mu = c->mu};
  if (compliant) data.R = c->R, data.r_c = c->r_c;
  bool forces = false;
  for (int32_t k = 0; k < s->config->of_count; k++) forces |= s->output[k].kind == FX_OUTPUT_PRESS;
  if (side == 0) return fx_drilling_forward(s->base, s->gradient, &data, c->r_c, s->dv, s->dr, forces);
  for (int32_t k = 0; k < s->base->rows.joint_first; k++)
    if (s->base->rows.group[k].kind == FX_GROUP_SPINNING)
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "step gradient: drilling friction from one side");
  double *all[5] = {c->f, c->w, c->mu, c->R, c->r_c};
  int32_t count[5] = {s->view.dof_count, rows + joints, s->view.contact_count, rows, rows};
  for (int e = 0; side < 0 && e < 5; e++)
    for (int32_t k = 0; k < count[e]; k++) all[e][k] = -all[e][k];
  frix_status status = frix_gradient_one_sided(s->gradient, &data, s->dv, NULL, forces ? s->dr : NULL);
  for (int32_t k = 0; side < 0 && k < s->view.dof_count; k++) s->dv[k] = -s->dv[k];
  for (int32_t k = 0; side < 0 && k < rows; k++) s->dr[k] = -s->dr[k];
  return status;
}

/* ---- behind the step ---- */

static double press(const fx_study *s, const fx_step_output *o, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < s->view.contact_count; k++) {
    const fx_group *g = &s->base->rows.group[k];
    const fx_contact *c = g->kind == FX_GROUP_CONTACT ? &s->base->contact[g->source] : NULL;
    if (c && fx_pair_meant(o->body, o->other, (uint32_t)c->body_a, (uint32_t)c->body_b)) sum += r[g->row];
  }
  return sum;
}

/* What holds bodies at the end of the step are the impulses of the answer. */
static frix_status take_impulses(fx_study *s) {
  fx_assembly *a = &s->beside->rows;
  const fx_assembly *base = &s->base->rows;
  a->r = FX_TAKE(a->arena, double, (size_t)a->row_count + 1);
  if (!a->r) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0, hint = 0; k < base->group_count; k++) {
    const fx_group *g = &base->group[k], *found = fx_group_like(s->base, g, s->beside, &hint);
    if (found) memcpy(a->r + found->row, s->r + g->row, (size_t)g->dim * sizeof *a->r);
  }
  return FRIX_OK;
}

/* The outputs where the input is changed by `amount` and the answer with it. */
static frix_status arrive(fx_study *s, const fx_step_input *in, double amount, double *out) {
  bool friction = in->kind == FX_INPUT_FRICTION;
  frix_status status = fx_study_look(s, friction ? NULL : in, amount);
  if (status == FRIX_OK) status = take_impulses(s);
  if (status != FRIX_OK) return status;
  for (int32_t k = 0; s->gradient && k < s->view.dof_count; k++) s->moved[k] = s->view.v[k] + amount * s->dv[k];
  fx_put_answer(s->beside, s->moved);
  s->beside->integrator->finish(s->beside);
  for (int32_t k = 0; k < s->config->of_count; k++)
    out[k] = fx_step_output_value(s->beside, s->base, &s->output[k], s->scratch);
  return FRIX_OK;
}

/* d of / d in into column e of value, from differences over d and d / 2. */
static frix_status motion(fx_study *s, int32_t e, double *value) {
  const fx_step_input *in = &s->input[e];
  const frix_step_gradient_config *c = s->config;
  double fastest = 0, d = WIDE * (in->kind == FX_INPUT_FRICTION ? FX_INPUT_RELATIVE : in->width), h = c->step;
  for (int32_t k = 0; s->gradient && k < s->view.dof_count; k++) fastest = fmax(fastest, fabs(s->dv[k]));
  if (fastest * d > FASTEST) d = fmax(FASTEST / fastest, in->width > 0 ? in->width : 0);
  for (int n = 0; n < 4; n++) {
    frix_status status = arrive(s, in, part_of[n] * d, s->behind[n]);
    if (status != FRIX_OK) return status;
  }
  for (int32_t k = 0; k < c->of_count; k++) {
    double wide = (s->behind[1][k] - s->behind[0][k]) / (2 * d), narrow = (s->behind[3][k] - s->behind[2][k]) / d;
    double rounding = 1e-13 * (1 + s->speed) / d;
    if (fabs(wide - narrow) > AGREES * fabs(narrow) + rounding) note_edge(s);
    slope_of(1, (const double *const[4]){s->behind[0] + k, s->behind[1] + k, s->behind[2] + k, s->behind[3] + k}, d,
             &value[k * c->wrt_count + e]);
    if (s->output[k].kind != FX_OUTPUT_PRESS) continue;
    double now = press(s, &s->output[k], s->view.r) / h;
    value[k * c->wrt_count + e] = press(s, &s->output[k], s->dr) / h - (in->kind == FX_INPUT_STEP ? now / h : 0);
  }
  return FRIX_OK;
}

/* ---- the proof ---- */

typedef struct proof {
  double near, part, rounding; /* change of velocities; what may be missed, of the largest; errors of the steps */
} proof;

static const proof exactly = {2e-5, 1e-5, 1e-14}, /* steps that are corrected to rounding */
    roughly = {1e-4, 1e-3, 1e-8};                 /* those of the solver */

enum { NARROWER = 8 };

/* Outputs of the steps at -d and d; *exact: both were corrected. */
static frix_status step_beside(fx_study *s, const fx_step_input *in, double d, bool *exact) {
  const frix_step_gradient_config *c = s->config;
  frix_step_report report = {.certified = false};
  *exact = true;
  for (int side = 0; side < 2; side++) {
    double amount = side ? d : -d;
    bool corrected = false;
    frix_status status = fx_study_begin(s, s->beside);
    if (status == FRIX_OK) status = fx_step_input_change(s->beside, in, amount);
    if (status == FRIX_OK)
      status = fx_step_exactly(s->beside, in->kind == FX_INPUT_STEP ? c->step + amount : c->step, &report, &corrected);
    if (status != FRIX_OK) return status;
    if (!report.certified) note_edge(s);
    *exact &= corrected || s->beside->rows.row_count == 0;
    for (int32_t k = 0; k < c->of_count; k++)
      s->behind[side][k] = fx_step_output_value(s->beside, s->base, &s->output[k], s->scratch);
  }
  return FRIX_OK;
}

/* Whether they lead where the derivative says. */
static bool is_proven(const fx_study *s, int32_t e, const double *value, const proof *p, double d) {
  const frix_step_gradient_config *c = s->config;
  double most = 0;
  for (int32_t k = 0; k < c->of_count; k++) most = fmax(most, fabs(value[k * c->wrt_count + e]));
  for (int32_t k = 0; k < c->of_count; k++) {
    double apart = fabs((s->behind[1][k] - s->behind[0][k]) / (2 * d) - value[k * c->wrt_count + e]);
    bool press = s->output[k].kind == FX_OUTPUT_PRESS;
    if (!press && !(apart <= p->part * most + p->rounding * (1 + s->speed + s->farthest) / d)) return false;
  }
  return true;
}

/* Two steps beside lead where the derivative says; it would be a kink otherwise, whatever was missed. Where slips are
 * small they turn: nearer by, less. */
static frix_status prove(fx_study *s, int32_t e, const double *value) {
  const fx_step_input *in = &s->input[e];
  double fastest = 0;
  for (int32_t k = 0; s->gradient && k < s->view.dof_count; k++) fastest = fmax(fastest, fabs(s->dv[k]));
  for (const proof *p = &exactly; p; p = p == &exactly ? &roughly : NULL) {
    double d = fastest * WIDE * in->width > p->near ? p->near / fastest : WIDE * in->width;
    for (int round = 0; round < 2; round++, d /= NARROWER) {
      bool exact;
      frix_status status = step_beside(s, in, d, &exact);
      if (status != FRIX_OK) return status;
      if (p == &exactly && !exact) break;
      if (is_proven(s, e, value, p, d)) return FRIX_OK;
      if (round > 0 || p == &roughly) {
        note_edge(s);
        return FRIX_OK;
      }
    }
  }
  return FRIX_OK;
}

static frix_status differentiate(fx_study *s, int32_t e, double *value, double *below) {
  bool sides = s->config->one_sided;
  frix_status status = s->gradient ? differ(s, &s->input[e]) : FRIX_OK;
  if (status != FRIX_OK || s->edge) return status;
  if (s->gradient) status = solve(s, sides ? 1 : 0);
  if (status == FRIX_OK) status = motion(s, e, value);
  bool proven = !sides && !(s->config->kappa > 0) && s->input[e].kind != FX_INPUT_FRICTION;
  if (status == FRIX_OK && !s->edge && proven) status = prove(s, e, value);
  if (status != FRIX_OK || s->edge || !sides || !below) return status;
  if (s->gradient) status = solve(s, -1);
  return status == FRIX_OK ? motion(s, e, below) : status;
}

/* ---- the whole ---- */

static frix_status take_step(fx_study *s) {
  frix_step_report report;
  frix_status status = fx_study_begin(s, s->base);
  if (status == FRIX_OK) status = frix_sim_step(s->base, s->config->step, &report);
  if (status != FRIX_OK) return status;
  if (!report.certified) return fx_fail(s->context, FRIX_ERROR_CERTIFICATE, "step gradient: the step is not certified");
  for (int32_t k = 0; k < s->base->mover_count; k++)
    s->farthest = fmax(s->farthest, fx_norm(s->base->state.pose[s->base->mover[k].slot].p));
  s->view = (frix_gradient_result){.size = sizeof s->view, .distance = INFINITY, .contact = -1, .forces_unique = true};
  if (s->base->rows.row_count == 0) return FRIX_OK;
  status = s->config->kappa > 0 ? frix_gradient_of_step_smoothed(s->base, NULL, s->config->kappa, &s->gradient)
                                : frix_gradient_of_step(s->base, NULL, &s->gradient);
  if (status != FRIX_OK) return status;
  s->gradient->rounded = FX_ROUNDED;
  frix_gradient_view(s->gradient, &s->view);
  return status;
}

static frix_status take_room(fx_study *s) {
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count) + 1, dofs = (size_t)s->view.dof_count + 1;
  size_t wide = 6;
  for (int32_t k = 0; k < s->base->mover_count; k++)
    wide = wide > (size_t)s->base->mover[k].dof ? wide : (size_t)s->base->mover[k].dof;
  if (s->base->mechanism) wide += (size_t)s->base->mechanism->tree.dof_count;
  s->r = FX_TAKE(&s->arena, double, rows), s->dr = FX_TAKE(&s->arena, double, rows);
  s->dv = FX_TAKE(&s->arena, double, dofs), s->moved = FX_TAKE(&s->arena, double, dofs);
  s->scratch = FX_TAKE(&s->arena, double, wide);
  bool room =
      s->r && s->dr && s->dv && s->moved && s->scratch && fx_study_take(s, &s->now) && fx_study_take(s, &s->change);
  for (int n = 0; n < 4 && room; n++) {
    s->behind[n] = FX_TAKE(&s->arena, double, s->config->of_count + 1);
    room = s->behind[n] && fx_study_take(s, &s->at[n]);
  }
  if (!room) return FRIX_ERROR_MEMORY;
  if (s->view.row_count) memcpy(s->r, s->view.r, (size_t)s->view.row_count * sizeof *s->r);
  if (s->view.joint_count) memcpy(s->r + s->view.row_count, s->view.lambda, (size_t)s->view.joint_count * sizeof *s->r);
  return FRIX_OK;
}

static frix_status check(const frix_sim *sim, const frix_step_gradient_config *c, const double *value) {
  bool good = c->wrt_count > 0 && c->of_count > 0 && c->wrt && c->of && value && c->step > 0 && isfinite(c->step) &&
              c->kappa >= 0 && c->kappa <= 1 && !(c->kappa > 0 && c->one_sided);
  if (!good)
    return fx_fail(sim->context, FRIX_ERROR_INPUT,
                   "frix_sim_step_gradient: a positive step, inputs and outputs, and one_sided or kappa are needed");
  if (sim->in_force)
    return fx_fail(sim->context, FRIX_ERROR_INPUT, "frix_sim_step_gradient: called from the force callback");
  bool hooks = sim->hooks && (sim->hooks->user.filter || sim->hooks->user.modify);
  if (sim->softs || hooks || sim->integrator->position_time != 1.0)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED,
                   "step gradient: the integrator moreau, no soft bodies and no contact hooks");
  return FRIX_OK;
}

static frix_status read_names(fx_study *s, frix_sim *sim) {
  const frix_step_gradient_config *c = s->config;
  s->input = FX_TAKE(&s->arena, fx_step_input, c->wrt_count);
  s->output = FX_TAKE(&s->arena, fx_step_output, c->of_count);
  frix_status status = s->input && s->output ? FRIX_OK : FRIX_ERROR_MEMORY;
  for (int32_t k = 0; status == FRIX_OK && k < c->wrt_count; k++) {
    status = fx_step_input_read(sim, c->wrt[k], &s->input[k]);
    if (s->input[k].kind == FX_INPUT_STEP) s->input[k].width = FX_INPUT_RELATIVE * c->step;
  }
  for (int32_t k = 0; status == FRIX_OK && k < c->of_count; k++)
    status = fx_step_output_read(sim, c->of[k], &s->output[k]);
  return status;
}

static frix_status run(fx_study *s, frix_sim *sim, double *value, double *below) {
  const frix_step_gradient_config *c = s->config;
  size_t count = (size_t)c->wrt_count * (size_t)c->of_count;
  frix_status status = read_names(s, sim);
  if (status == FRIX_OK) status = frix_sim_save(sim, &s->start);
  if (status == FRIX_OK) status = fx_study_open(s, sim, &s->base);
  if (status == FRIX_OK) status = fx_study_open(s, sim, &s->beside);
  if (status == FRIX_OK) status = take_step(s);
  if (status == FRIX_OK) status = take_room(s);
  if (status == FRIX_OK && s->gradient) status = fx_study_check(s);
  if (status != FRIX_OK) return status;
  for (int32_t e = 0; s->gradient && e < c->wrt_count; e++) widen(s, &s->input[e]);
  bool kink = s->view.verdict == FRIX_GRADIENT_KINK && c->one_sided;
  bool known = s->view.verdict == FRIX_GRADIENT_SMOOTH || s->view.verdict == FRIX_GRADIENT_SMOOTHED || kink;
  for (int32_t e = 0; known && status == FRIX_OK && e < c->wrt_count; e++) status = differentiate(s, e, value, below);
  for (size_t k = 0; k < count && (!known || s->edge); k++) {
    value[k] = NAN;
    if (below) below[k] = NAN;
  }
  return status;
}

frix_status frix_sim_step_gradient_sized(frix_sim *sim, const frix_step_gradient_config *config, double *value,
                                         double *below, frix_gradient_result *result, size_t size) {
  if (!sim || !config) return FRIX_ERROR_INPUT;
  FX_WHOLE(frix_step_gradient_config, config, frix_step_gradient_default());
  frix_status status = check(sim, config, value);
  if (status != FRIX_OK) return status;
  fx_study s = {.config = config, .context = sim->context};
  fx_arena_init(&s.arena, sim->context);
  status = run(&s, sim, value, below);
  s.view.r = s.view.lambda = s.view.u = s.view.v = NULL;
  if (status == FRIX_OK && result) fx_give_struct(result, size, &s.view, sizeof s.view);
  frix_gradient_destroy(s.gradient);
  frix_sim_destroy(s.base);
  frix_sim_destroy(s.beside);
  frix_snapshot_destroy(s.start);
  fx_arena_free(&s.arena);
  return status;
}
