/* Dry friction of ball joints: a moment m on the relative spin w,
 *
 *   |m| <= b,   b = h F;    w = 0,  or  m = -b w / |w|
 *
 * Rows of the contact problem know friction in a plane. While the joint turns, the plane that holds the spin of the
 * answer is enough: the step is solved with the plane of the last answer until the spin stays in it. While it holds,
 * three rows hold it, and their moment must be within the bound. An answer for which neither is so is not certified. */
#include "sim/joints.h"
#include "sim/step.h"

#include <math.h>

#define IN_PLANE 1e-7 /* of the spin: what may turn out of the plane of friction */
#define AT_BOUND 1e-7 /* of the bound: less is not at it */
#define ROUNDING 1e-13

static bool is_ball_friction(const frix_sim *sim, const fx_group *g) {
  return !g->robot && g->kind == FX_GROUP_AXIS && g->part == FX_AXIS_FRICTION &&
         sim->model->joint[g->source].config.kind == FRIX_JOINT_BALL;
}

static frix_vec3 spin_of(const frix_sim *sim, int32_t slot, fx_when when) {
  frix_vec3 v, w;
  if (when == FX_BEFORE) return sim->state.spin[slot];
  fx_slot_motion(sim, slot, when, &v, &w);
  return w;
}

/* The answer at one joint. */
typedef struct ball_answer {
  frix_vec3 spin;       /* b against a, after the step */
  frix_vec3 moment;     /* of friction, on b */
  double bound, across; /* across: spin out of the plane of friction */
  double near;          /* a spin below is none */
  double rounding;      /* of spins */
} ball_answer;

static ball_answer look(const frix_sim *sim, const fx_assembly *a, const fx_group *g) {
  const fx_joint *joint = &sim->model->joint[g->source];
  const fx_ball *ball = &sim->ball[g->source];
  int32_t first = g->dim == 3 && ball->holds ? 0 : 1;
  ball_answer out = {.spin = fx_sub(spin_of(sim, joint->b, FX_AFTER), spin_of(sim, joint->a, FX_AFTER)),
                     .bound = sim->h * sim->state.joint[g->source].axis[0].friction};
  double weight = 0.0, own = 0.0; /* own: spins before and after the step; free: those of the forces alone */
  for (int32_t k = first; k < 3; k++) {
    out.moment = fx_mad(out.moment, a->r[g->row + k], ball->direction[k - first]);
    weight = fmax(weight, fx_group_weight(sim, a, g, k));
  }
  static const fx_when ends[2] = {FX_BEFORE, FX_AFTER};
  for (int k = 0; k < 2; k++)
    own += fx_norm(spin_of(sim, joint->a, ends[k])) + fx_norm(spin_of(sim, joint->b, ends[k]));
  double free = fx_norm(spin_of(sim, joint->a, FX_FREE)) + fx_norm(spin_of(sim, joint->b, FX_FREE));
  out.across = fabs(fx_dot(out.spin, ball->direction[2]));
  /* what acts, not what friction could carry: that hides spins of light links; and, as in the certificate, forces that
   * cancel count up to one radian per step */
  double acts = free + weight * fmin(out.bound, fx_norm(out.moment));
  out.rounding = ROUNDING * (own + free);
  out.near = fmax(sim->config.tolerance, 1e-12) * fmin(own + acts, fmax(own, 1.0 / sim->h));
  return out;
}

/* Whether the law holds; else how the joint is tried next. */
static bool holds(fx_ball *ball, const ball_answer *x) {
  double most = fx_norm(x->moment), turns = fx_norm(x->spin);
  if (ball->holds) {
    if (most <= x->bound * (1.0 + AT_BOUND)) return true;
    ball->holds = false;
    ball->slid = true;
    ball->axis = fx_scale(-1.0 / most, x->moment);
    return false;
  }
  if (turns <= x->near) return true;
  bool at_bound = most >= x->bound * (1.0 - AT_BOUND);
  if (at_bound && x->across <= fmax(IN_PLANE * turns, x->rounding)) return true;
  if (!at_bound && !ball->slid)
    ball->holds = true;
  else
    ball->axis = fx_scale(1.0 / turns, x->spin);
  return false;
}

/* Joints whose answer is not that of their law; they are tried otherwise next. */
static int32_t count_broken(frix_sim *sim) {
  int32_t broken = 0;
  for (int32_t k = 0; sim->ball && k < sim->rows.joint_first; k++) {
    const fx_group *g = &sim->rows.group[k];
    if (!is_ball_friction(sim, g)) continue;
    ball_answer x = look(sim, &sim->rows, g);
    broken += !holds(&sim->ball[g->source], &x);
  }
  return broken;
}

frix_status fx_retry_balls(frix_sim *sim, fx_round round, fx_redo *redo) {
  if (!sim->ball || (!round.last && (sim->deadline > 0.0 || !sim->report.certified))) return FRIX_OK;
  if (count_broken(sim) > 0) *redo = FX_REDO_ROWS;
  return FRIX_OK;
}
