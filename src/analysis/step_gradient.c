/* Derivatives of one step of a sim by anything that can be changed before it: bodies, robots, controls, the world.
 *
 *   dl = [l(x + e) - l(x - e)] / 2e,    l = (M (v_free - v) + H r,  w + H'v,  mu, R, r_c) at the answer (r, v) of the
 * step
 *
 * where nothing is solved but the step; its factors turn dl into dv and dr, and the motion that follows is differenced
 * with v + e dv. Worlds beside are copies of the sim that are changed and looked at. Where half a change does not lead
 * to half, the step is told as a kink. */
#include "analysis/gradient.h"
#include "analysis/sensitivity_internal.h"
#include "analysis/step_inputs.h"

#include "base/abi.h"
#include "sim/hooks_internal.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define MATCHES 1e-7 /* rows of the state alone and those of the step */
#define WIDE 20.0    /* widths of the rows, for the motion behind the answer */
#define FASTEST 1e-3 /* m/s, rad/s: the most that velocities change over such a width */
#define NEAR 1e-4    /* the same of the steps beside that prove a derivative */
#define PROOF 1e-3   /* of the largest: what they may be apart from it */
#define SOLVED 1e-8  /* of velocities of such steps, with room to spare */
#define AGREES 1e-5  /* differences over a width and over half of it */

void frix_step_gradient_init(frix_step_gradient_config *out, size_t size) {
  frix_step_gradient_config all = {.size = sizeof all, .step = 0.01};
  fx_give_struct(out, size, &all, sizeof all);
}

/* What the rows leave of the law: dofs, rows and joints; by contact its coefficients. */
typedef struct leftover {
  double *f, *w, *R, *r_c, *mu, *other;
} leftover;

typedef struct study {
  const frix_step_gradient_config *config;
  frix_context *context;
  fx_arena arena;
  frix_snapshot *start;
  frix_sim *base, *beside; /* the step; what is looked at */
  frix_gradient *gradient; /* NULL: nothing is touched */
  frix_gradient_result view;
  fx_step_input *input;
  fx_step_output *output;
  double *r, *dv, *dr, *moved, *scratch, *behind[4];
  leftover now, at[4], change; /* at: -1, 1, -1/2, 1/2 of the width */
  double momentum, speed;
  bool edge; /* an input bends what follows from it */
} study;

static const double part_of[4] = {-1, 1, -0.5, 0.5};

/* ---- copies of the sim ---- */

static frix_status open_copy(study *s, const frix_sim *sim, frix_sim **out) {
  frix_sim_config config = sim->config;
  config.sleep = false;
  config.projections = 0;
  config.stabilisation = 1; /* gaps and overlaps in one law: smooth where bodies just touch */
  config.tolerance = fx_min(config.tolerance, 1e-10);
  frix_status status = frix_sim_create(s->context, sim->root, &config, out);
  if (status == FRIX_OK) (*out)->raw_gaps = true;
  return status;
}

/* At the beginning of the step, awake. What trees remember of the last step beside their coordinates is forgotten, as
 * it is where these are set by hand, and so is what rigid contacts remember: the step is then one of the state. */
static frix_status begin_again(study *s, frix_sim *sim) {
  frix_status status = frix_sim_restore(sim, s->start);
  if (status == FRIX_OK && sim->mechanism) fx_transport_drop(sim);
  if (status == FRIX_OK) {
    sim->state.touching_count = sim->state.ended_count = 0;
    fx_contacts_index(sim);
  }
  for (int32_t k = 1; status == FRIX_OK && k < sim->state.count; k++)
    if (sim->state.prototype[k] > 0) fx_wake(sim, k);
  return status;
}

/* The world beside with input `in` (NULL: as it is) changed by `amount`, its rows assembled. */
static frix_status look(study *s, const fx_step_input *in, double amount) {
  frix_sim *sim = s->beside;
  double h = s->config->step;
  frix_status status = begin_again(s, sim);
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
  return same ? FRIX_OK : fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "step gradient: an input changes what moves");
}

/* ---- rows ---- */

static bool take_leftover(study *s, leftover *l) {
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count) + 1;
  l->f = FX_TAKE(&s->arena, double, s->view.dof_count + 1), l->w = FX_TAKE(&s->arena, double, rows);
  l->R = FX_TAKE(&s->arena, double, rows), l->r_c = FX_TAKE(&s->arena, double, rows);
  l->mu = FX_TAKE(&s->arena, double, s->view.contact_count + 1);
  l->other = FX_TAKE(&s->arena, double, 2 * (size_t)s->view.contact_count + 1);
  return l->f && l->w && l->R && l->r_c && l->mu && l->other;
}

/* M (v_free - v) of one mover. */
static void add_inertia(const study *s, const fx_mover *m, leftover *out) {
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
static void add_group(const study *s, const fx_group *g, const double *r, double *f, double *w) {
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

static bool carries(const study *s, const fx_group *g) {
  for (int32_t e = 0; e < g->dim; e++)
    if (s->r[g->row + e] != 0) return true;
  return false;
}

/* Of the rows that look left; groups that are not there must carry nothing. */
static frix_status find(study *s, leftover *out) {
  const fx_assembly *base = &s->base->rows, *a = &s->beside->rows;
  memset(out->f, 0, (size_t)s->view.dof_count * sizeof *out->f);
  for (int32_t k = 0; k < s->beside->mover_count; k++)
    if (s->beside->mover[k].first >= 0) add_inertia(s, &s->beside->mover[k], out);
  for (int32_t k = 0, hint = 0; k < base->group_count; k++) {
    const fx_group *g = &base->group[k], *found = fx_group_like(s->base, g, s->beside, &hint);
    if (!found && carries(s, g))
      return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED, "step gradient: a contact that carries something goes");
    for (int32_t e = 0; e < g->dim; e++) {
      out->w[g->row + e] = found ? a->w[found->row + e] : base->w[g->row + e];
      out->R[g->row + e] = found && a->compliant ? a->R[found->row + e] : 0;
      out->r_c[g->row + e] = found && a->compliant ? a->r_c[found->row + e] : 0;
    }
    if (k < base->joint_first) {
      const frix_contact *law = found ? &a->law[found - a->group] : &base->law[k];
      out->mu[k] = law->mu, out->other[2 * k] = law->mu2, out->other[2 * k + 1] = law->mu_r;
    }
    if (found) add_group(s, found, s->r + g->row, out->f, out->w + g->row);
  }
  return FRIX_OK;
}

/* The groups of both are the same, and what drives them. */
static bool same_rows(const study *s) {
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

/* M (v_free - v) + J'r of every coordinate is nothing beside its own terms. */
static bool balances(study *s) {
  double *size = s->change.f;
  memset(size, 0, (size_t)s->view.dof_count * sizeof *size);
  for (int32_t k = 0; k < s->beside->mover_count; k++)
    if (s->beside->mover[k].first >= 0) add_inertia(s, &s->beside->mover[k], &s->change);
  for (int32_t k = 0; k < s->view.dof_count; k++) size[k] = fabs(size[k]);
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
  bool good = true;
  for (int32_t k = 0; k < s->view.dof_count; k++)
    good = good && fabs(s->now.f[k]) <= MATCHES * size[k] + 1e-14 * s->momentum;
  return good;
}

/* Rows of the state alone are those of the step, and its answer fits them. */
static frix_status check_rows(study *s) {
  const fx_assembly *a = &s->base->rows;
  frix_status status = look(s, NULL, 0);
  if (status == FRIX_OK) status = find(s, &s->now);
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
    good = fabs(s->now.w[k] - a->u[k] - a->w[k]) <= MATCHES * (s->speed + fabs(a->w[k]));
  for (int32_t k = 0; good && a->compliant && k < s->view.row_count; k++) /* springs that the step set anew */
    good = fabs(s->now.R[k] - a->R[k]) <= MATCHES * fabs(a->R[k]) &&
           fabs(s->now.r_c[k] - a->r_c[k]) <= MATCHES * (fabs(a->r_c[k]) + fabs(s->r[k]));
  if (good) return FRIX_OK;
  return fx_fail(s->context, FRIX_ERROR_UNSUPPORTED,
                 "step gradient: the rows of the step depend on more than the state (or it is not exact)");
}

/* ---- one input ---- */

static void note_edge(study *s) {
  s->edge = true;
  s->view.verdict = FRIX_GRADIENT_KINK, s->view.distance = 0;
}

static bool has_edge(const study *s) {
  const leftover *l = s->at;
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count);
  for (int32_t k = 0; k < s->base->rows.group_count; k++) { /* what carries nothing changes nothing */
    const fx_group *g = &s->base->rows.group[k];
    for (int n = 0; n < 4 && !carries(s, g); n++)
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

static void change_of(const study *s, double width) {
  const leftover *l = s->at;
  int32_t rows = s->view.row_count + s->view.joint_count;
  slope_of(s->view.dof_count, (const double *const[4]){l[0].f, l[1].f, l[2].f, l[3].f}, width, s->change.f);
  slope_of(rows, (const double *const[4]){l[0].w, l[1].w, l[2].w, l[3].w}, width, s->change.w);
  slope_of(rows, (const double *const[4]){l[0].R, l[1].R, l[2].R, l[3].R}, width, s->change.R);
  slope_of(rows, (const double *const[4]){l[0].r_c, l[1].r_c, l[2].r_c, l[3].r_c}, width, s->change.r_c);
  slope_of(s->view.contact_count, (const double *const[4]){l[0].mu, l[1].mu, l[2].mu, l[3].mu}, width, s->change.mu);
}

static frix_status change_friction(study *s, const fx_step_input *in) {
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
static frix_status differ(study *s, const fx_step_input *in) {
  if (in->kind == FX_INPUT_FRICTION) return change_friction(s, in);
  for (int n = 0; n < 4; n++) {
    frix_status status = look(s, in, part_of[n] * in->width);
    if (status == FRIX_OK) status = find(s, &s->at[n]);
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
static frix_status solve(study *s, int side) {
  leftover *c = &s->change;
  bool compliant = s->base->rows.compliant;
  int32_t rows = s->view.row_count, joints = s->view.joint_count;
  frix_gradient_data data = {.size = sizeof data, .f = c->f, .w = c->w, .b = joints ? c->w + rows : NULL, .mu = c->mu};
  if (compliant) data.R = c->R, data.r_c = c->r_c;
  bool forces = false;
  for (int32_t k = 0; k < s->config->of_count; k++) forces |= s->output[k].kind == FX_OUTPUT_PRESS;
  if (side == 0) return frix_gradient_forward(s->gradient, &data, s->dv, NULL, forces ? s->dr : NULL);
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

static double press(const study *s, const fx_step_output *o, const double *r) {
  double sum = 0;
  for (int32_t k = 0; k < s->view.contact_count; k++) {
    const fx_group *g = &s->base->rows.group[k];
    const fx_contact *c = g->kind == FX_GROUP_CONTACT ? &s->base->contact[g->source] : NULL;
    if (c && fx_pair_meant(o->body, o->other, (uint32_t)c->body_a, (uint32_t)c->body_b)) sum += r[g->row];
  }
  return sum;
}

/* What holds bodies at the end of the step are the impulses of the answer. */
static frix_status take_impulses(study *s) {
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
static frix_status arrive(study *s, const fx_step_input *in, double amount, double *out) {
  bool friction = in->kind == FX_INPUT_FRICTION;
  frix_status status = look(s, friction ? NULL : in, amount);
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
static frix_status motion(study *s, int32_t e, double *value) {
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

/* Two steps beside lead where the derivative says, to a thousandth: it would be a kink otherwise, whatever was missed.
 */
static frix_status prove(study *s, int32_t e, const double *value) {
  const fx_step_input *in = &s->input[e];
  const frix_step_gradient_config *c = s->config;
  frix_step_report report = {.certified = false};
  double fastest = 0, most = 0, d = WIDE * in->width;
  for (int32_t k = 0; s->gradient && k < s->view.dof_count; k++) fastest = fmax(fastest, fabs(s->dv[k]));
  if (fastest * d > NEAR) d = NEAR / fastest;
  for (int side = 0; side < 2; side++) {
    double amount = side ? d : -d;
    frix_status status = begin_again(s, s->beside);
    if (status == FRIX_OK) status = fx_step_input_change(s->beside, in, amount);
    if (status == FRIX_OK)
      status = frix_sim_step(s->beside, in->kind == FX_INPUT_STEP ? c->step + amount : c->step, &report);
    if (status != FRIX_OK) return status;
    if (!report.certified) note_edge(s);
    for (int32_t k = 0; k < c->of_count; k++)
      s->behind[side][k] = fx_step_output_value(s->beside, s->base, &s->output[k], s->scratch);
  }
  for (int32_t k = 0; k < c->of_count; k++) most = fmax(most, fabs(value[k * c->wrt_count + e]));
  for (int32_t k = 0; k < c->of_count; k++) {
    double apart = fabs((s->behind[1][k] - s->behind[0][k]) / (2 * d) - value[k * c->wrt_count + e]);
    bool press = s->output[k].kind == FX_OUTPUT_PRESS;
    if (!press && !(apart <= PROOF * most + SOLVED * (1 + s->speed) / d)) note_edge(s);
  }
  return FRIX_OK;
}

static frix_status differentiate(study *s, int32_t e, double *value, double *below) {
  bool sides = s->config->one_sided;
  frix_status status = s->gradient ? differ(s, &s->input[e]) : FRIX_OK;
  if (status != FRIX_OK || s->edge) return status;
  if (s->gradient) status = solve(s, sides ? 1 : 0);
  if (status == FRIX_OK) status = motion(s, e, value);
  bool proof = !sides && !(s->config->kappa > 0) && s->input[e].kind != FX_INPUT_FRICTION;
  if (status == FRIX_OK && !s->edge && proof) status = prove(s, e, value);
  if (status != FRIX_OK || s->edge || !sides || !below) return status;
  if (s->gradient) status = solve(s, -1);
  return status == FRIX_OK ? motion(s, e, below) : status;
}

/* ---- the whole ---- */

static frix_status take_step(study *s) {
  frix_step_report report;
  frix_status status = begin_again(s, s->base);
  if (status == FRIX_OK) status = frix_sim_step(s->base, s->config->step, &report);
  if (status != FRIX_OK) return status;
  if (!report.certified) return fx_fail(s->context, FRIX_ERROR_CERTIFICATE, "step gradient: the step is not certified");
  s->view = (frix_gradient_result){.size = sizeof s->view, .distance = INFINITY, .contact = -1, .forces_unique = true};
  if (s->base->rows.row_count == 0) return FRIX_OK;
  status = s->config->kappa > 0 ? frix_gradient_of_step_smoothed(s->base, NULL, s->config->kappa, &s->gradient)
                                : frix_gradient_of_step(s->base, NULL, &s->gradient);
  if (status != FRIX_OK) return status;
  s->gradient->rounded = FX_ROUNDED;
  frix_gradient_view(s->gradient, &s->view);
  return status;
}

static frix_status take_room(study *s) {
  size_t rows = (size_t)(s->view.row_count + s->view.joint_count) + 1, dofs = (size_t)s->view.dof_count + 1;
  size_t wide = 6;
  for (int32_t k = 0; k < s->base->mover_count; k++)
    wide = wide > (size_t)s->base->mover[k].dof ? wide : (size_t)s->base->mover[k].dof;
  if (s->base->mechanism) wide += (size_t)s->base->mechanism->tree.dof_count;
  s->r = FX_TAKE(&s->arena, double, rows), s->dr = FX_TAKE(&s->arena, double, rows);
  s->dv = FX_TAKE(&s->arena, double, dofs), s->moved = FX_TAKE(&s->arena, double, dofs);
  s->scratch = FX_TAKE(&s->arena, double, wide);
  bool room =
      s->r && s->dr && s->dv && s->moved && s->scratch && take_leftover(s, &s->now) && take_leftover(s, &s->change);
  for (int n = 0; n < 4 && room; n++) {
    s->behind[n] = FX_TAKE(&s->arena, double, s->config->of_count + 1);
    room = s->behind[n] && take_leftover(s, &s->at[n]);
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
  bool rigid = sim->config.contact == FRIX_CONTACT_KIND_RIGID;
  if (!rigid || sim->softs || hooks || sim->integrator->position_time != 1.0)
    return fx_fail(sim->context, FRIX_ERROR_UNSUPPORTED,
                   "step gradient: rigid contacts, the integrator moreau, no soft bodies and no contact hooks");
  return FRIX_OK;
}

static frix_status read_names(study *s, frix_sim *sim) {
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

static frix_status run(study *s, frix_sim *sim, double *value, double *below) {
  const frix_step_gradient_config *c = s->config;
  size_t count = (size_t)c->wrt_count * (size_t)c->of_count;
  frix_status status = read_names(s, sim);
  if (status == FRIX_OK) status = frix_sim_save(sim, &s->start);
  if (status == FRIX_OK) status = open_copy(s, sim, &s->base);
  if (status == FRIX_OK) status = open_copy(s, sim, &s->beside);
  if (status == FRIX_OK) status = take_step(s);
  if (status == FRIX_OK) status = take_room(s);
  if (status == FRIX_OK && s->gradient) status = check_rows(s);
  if (status != FRIX_OK) return status;
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
  study s = {.config = config, .context = sim->context};
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
