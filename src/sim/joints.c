/* Joints to rows.
 *
 *   bilateral   G' v + gamma e / h = 0
 *   limit       0 <= rate + (q - lower) / h  _|_  r >= 0
 *   friction    |r| <= h F: a planar cone whose normal impulse is known, u_N = R (r_N - h F)
 *   motor       the same about the wanted rate; without a bound it is bilateral
 *   spring      rate + R r + w = 0,  R = 1 / (h^2 k + h c + A),  w = (h k (q - rest) - A rate0) R:
 *               r = -h (k (q + h rate - rest) + c rate) - A (rate - rate0),  A the inertia of a rotor
 *   servo       the same about its targets, and |r| <= h F as for friction */
#include "sim/joints.h"
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

#define NOISE 1e-12 /* of the largest entry of a joint's rows: rounding */

enum { AXIS_GROUPS = FRIX_JOINT_AXES * FX_AXIS_PARTS };

void fx_joints_room(const frix_sim *sim, int32_t *groups, int32_t *rows, size_t *values) {
  int32_t n = sim->state.joint_count;
  *groups = n * (1 + AXIS_GROUPS);
  *rows = n * (FRIX_MAX_DIM + 3 * AXIS_GROUPS);
  *values = n ? (size_t)*rows * fx_row_values(sim, 4) : 0;
}

/* The slots a coordinate of joint j moves, two (or, for a coupling, four). */
static int32_t slots_of(const frix_sim *sim, int32_t j, int32_t slot[4]) {
  const fx_joint *joint = &sim->model->joint[j];
  if (joint->config.kind != FRIX_JOINT_COUPLING) {
    slot[0] = joint->a, slot[1] = joint->b;
    return 2;
  }
  const fx_joint *p = &sim->model->joint[joint->first], *q = &sim->model->joint[joint->second];
  slot[0] = p->a, slot[1] = p->b, slot[2] = q->a, slot[3] = q->b;
  return 4;
}

static bool moves(const frix_sim *sim, int32_t j) {
  int32_t slot[4], n = slots_of(sim, j, slot);
  for (int32_t k = 0; k < n; k++)
    if (sim->mover_of[slot[k]] >= 0) return fx_joint_active(sim, j);
  return false;
}

/* ---- along a coordinate ---- */

/* What one coordinate is, for the groups that act on it; ball joints have three rates and no coordinate. */
typedef struct along {
  frix_sim *sim;
  fx_assembly *a;
  int32_t j, axis;
  fx_joint_view view;
  double q;
} along;

static fx_group *add(along *x, int32_t part, frix_contact law) {
  int32_t slot[2] = {x->view.slot[0], x->view.slot[1]};
  fx_group *g = fx_group_add(x->sim, x->a, FX_GROUP_AXIS, x->j, law, 2, slot);
  g->axis = x->axis;
  g->part = part;
  for (int32_t k = 0; k < law.dim; k++) x->a->guess[g->row + k] = x->sim->state.joint[x->j].part[x->axis][part][k];
  return g;
}

static frix_contact one_row(frix_cone cone) { return (frix_contact){.cone = cone, .dim = 1}; }

/* Up to `bound` against the rate's difference from target; endless bounds are bilateral. */
static fx_group *add_bounded(along *x, int32_t part, double bound, double target) {
  bool endless = !isfinite(bound);
  fx_group *g = add(x, part, endless ? one_row(FRIX_CONE_BILATERAL) : frix_contact_of_dim(2, 1.0, 0.0));
  int32_t k = endless ? 0 : 1;
  fx_joint_rate_row(x->sim, x->a, g, k, x->j, &x->view, x->axis, 1.0);
  x->a->w[g->row + k] = x->a->drive[g->row + k] - target;
  if (endless) return g;
  double weight = fx_group_weight(x->sim, x->a, g, 1);
  x->a->compliant = true;
  x->a->R[g->row] = weight > 0.0 ? weight : 1.0;
  x->a->r_c[g->row] = x->a->guess[g->row] = bound;
  return g;
}

static void add_servo(along *x, const frix_axis_config *c) {
  double h = x->sim->h, both = h * h * c->gain + h * c->rate_gain;
  if (!(both > 0.0)) return;
  double wanted = h * (c->gain * (c->target - x->q) + c->rate_gain * c->target_rate) / both;
  fx_group *g = add_bounded(x, FX_AXIS_MOTOR, h * c->max_force, wanted);
  x->a->compliant = true;
  x->a->R[g->row + g->dim - 1] = 1.0 / both;
}

static void add_limit(along *x, int32_t part, double sign, double gap) {
  fx_group *g = add(x, part, one_row(FRIX_CONE_LIMIT));
  fx_joint_rate_row(x->sim, x->a, g, 0, x->j, &x->view, x->axis, sign);
  double shift = (gap > 0.0 ? 1.0 : x->sim->config.joint_stabilisation) * gap / x->sim->h;
  x->a->w[g->row] = x->a->drive[g->row] + shift;
}

static void add_spring(along *x, const frix_axis_config *c) {
  double h = x->sim->h, both = h * h * c->stiffness + h * c->damping + c->armature;
  fx_group *g = add(x, FX_AXIS_SPRING, one_row(FRIX_CONE_BILATERAL));
  fx_joint_rate_row(x->sim, x->a, g, 0, x->j, &x->view, x->axis, 1.0);
  g->damper = h * c->damping, g->armature = c->armature;
  x->a->compliant = true;
  x->a->R[g->row] = 1.0 / both;
  double before = c->armature > 0.0 ? c->armature * fx_group_velocity(x->sim, x->a, g, 0, FX_BEFORE) : 0.0;
  x->a->w[g->row] = x->a->drive[g->row] + (h * c->stiffness * (x->q - c->rest) - before) / both;
}

static double clamped(double x, double most) { return x > most ? most : x < -most ? -most : x; }

static void add_axis(along *x) {
  frix_axis_config *c = &x->sim->state.joint[x->j].axis[x->axis];
  double h = x->sim->h;
  if (c->limited) {
    add_limit(x, FX_AXIS_LOWER, 1.0, x->q - c->lower);
    add_limit(x, FX_AXIS_UPPER, -1.0, c->upper - x->q);
  }
  if (c->friction > 0.0) add_bounded(x, FX_AXIS_FRICTION, h * c->friction, 0.0);
  if (c->motor == FRIX_MOTOR_VELOCITY) add_bounded(x, FX_AXIS_MOTOR, h * c->max_force, c->target);
  if (c->motor == FRIX_MOTOR_POSITION)
    add_bounded(x, FX_AXIS_MOTOR, h * c->max_force, clamped((c->target - x->q) / h, c->max_speed));
  if (c->motor == FRIX_MOTOR_SERVO) add_servo(x, c);
  if (c->stiffness > 0.0 || c->damping > 0.0 || c->armature > 0.0) add_spring(x, c);
}

/* A row of a ball joint: the relative spin along a direction. */
static void add_spin(along *x, fx_group *g, int32_t k, frix_vec3 axis) {
  frix_vec3 zero = {0.0, 0.0, 0.0};
  fx_group_term(x->sim, x->a, g, k, x->view.slot[1], zero, axis);
  fx_group_term(x->sim, x->a, g, k, x->view.slot[0], zero, fx_neg(axis));
  x->a->w[g->row + k] = x->a->drive[g->row + k];
  x->a->guess[g->row + k] = 0.0;
}

static void add_ball_friction(along *x, double bound) {
  frix_sim *sim = x->sim;
  fx_assembly *a = x->a;
  fx_ball *ball = &sim->ball[x->j];
  frix_vec3 *d = ball->direction;
  frix_vec3 spin = fx_sub(sim->state.spin[x->view.slot[1]], sim->state.spin[x->view.slot[0]]);
  d[0] = fx_unit_or(fx_norm2(ball->axis) > 0.0 ? ball->axis : spin, fx_mat3_col(x->view.axes[0], 0));
  d[1] = fx_across(d[0]);
  d[2] = fx_cross(d[0], d[1]);
  bool held = ball->holds;
  fx_group *g = add(x, FX_AXIS_FRICTION,
                    held ? (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = 3} : frix_contact_of_dim(3, 1.0, 0.0));
  for (int32_t k = held ? 0 : 1; k < 3; k++) add_spin(x, g, k, d[held ? k : k - 1]);
  g->damper = g->armature = 0.0;
  if (held) return;
  a->compliant = true;
  a->R[g->row] = fx_group_weight(sim, a, g, 1);
  a->r_c[g->row] = a->guess[g->row] = bound;
}

/* Damping and armature of ball joints, on the relative spin. */
static void add_ball_spring(along *x, const frix_axis_config *c) {
  double both = x->sim->h * c->damping + c->armature;
  fx_group *g = add(x, FX_AXIS_SPRING, (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = 3});
  for (int32_t k = 0; k < 3; k++) {
    add_spin(x, g, k, fx_mat3_col(x->view.axes[0], k));
    x->a->R[g->row + k] = 1.0 / both;
    if (c->armature > 0.0) x->a->w[g->row + k] -= c->armature * fx_group_velocity(x->sim, x->a, g, k, FX_BEFORE) / both;
  }
  g->damper = x->sim->h * c->damping;
  g->armature = c->armature;
  x->a->compliant = true;
}

static void add_ball(along *x) {
  const frix_axis_config *c = &x->sim->state.joint[x->j].axis[0];
  if (c->friction > 0.0) add_ball_friction(x, x->sim->h * c->friction);
  if (x->sim->h * c->damping + c->armature > 0.0) add_ball_spring(x, c);
}

/* ---- bilateral ---- */

/* Rows of a joint that closes a loop of a tree may move nothing but by rounding, as those across a flat linkage do.
 * Such a row has no answer: it asks for nothing, with an impulse of zero. */
static void still_noise(frix_sim *sim, fx_assembly *a, const fx_group *g) {
  double size[FRIX_MAX_DIM] = {0}, most = 0.0;
  for (int32_t k = 0; k < g->dim; k++) {
    for (int32_t b = 0; b < g->body_count; b++) {
      const double *J = fx_group_block(sim, a, g, g->mover[b], k);
      for (int32_t i = 0; i < sim->mover[g->mover[b]].dof; i++) size[k] = fx_max(size[k], fabs(J[i]));
    }
    most = fx_max(most, size[k]);
  }
  for (int32_t k = 0; k < g->dim; k++) {
    if (size[k] > NOISE * most) continue;
    for (int32_t b = 0; b < g->body_count; b++)
      memset(fx_group_block(sim, a, g, g->mover[b], k), 0, (size_t)sim->mover[g->mover[b]].dof * sizeof *a->J);
    a->w[g->row + k] = a->guess[g->row + k] = 0.0;
  }
}

static void add_bilateral(frix_sim *sim, fx_assembly *a, int32_t j) {
  fx_joint_view v = fx_joint_look(sim, j);
  fx_joint_row row[FRIX_MAX_DIM];
  int32_t n = fx_joint_rows(sim, j, &v, row), slot[4];
  if (n == 0) return;
  fx_group *g = fx_group_add(sim, a, FX_GROUP_JOINT, j, (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = n},
                             slots_of(sim, j, slot), slot);
  for (int32_t k = 0; k < n; k++) {
    fx_joint_bilateral_row(sim, a, g, k, &v, &row[k]);
    a->w[g->row + k] = a->drive[g->row + k] + sim->config.joint_stabilisation * row[k].error / sim->h;
    a->guess[g->row + k] = sim->state.joint[j].lambda[k];
  }
  if (sim->mechanism && sim->mechanism->own) still_noise(sim, a, g);
}

static double coupling_error(const frix_sim *sim, int32_t j) {
  const fx_joint *c = &sim->model->joint[j];
  const fx_joint_memory *m = sim->state.joint;
  double q = m[c->first].coordinate[c->config.first_axis], p = m[c->second].coordinate[c->config.second_axis];
  return q - c->config.ratio * p - c->config.offset;
}

static void add_coupling(frix_sim *sim, fx_assembly *a, int32_t j) {
  const fx_joint *c = &sim->model->joint[j];
  fx_joint_view first = fx_joint_look(sim, c->first), second = fx_joint_look(sim, c->second);
  int32_t slot[4], n = slots_of(sim, j, slot);
  fx_group *g = fx_group_add(sim, a, FX_GROUP_JOINT, j, one_row(FRIX_CONE_BILATERAL), n, slot);
  fx_joint_rate_row(sim, a, g, 0, c->first, &first, c->config.first_axis, 1.0);
  fx_joint_rate_row(sim, a, g, 0, c->second, &second, c->config.second_axis, -c->config.ratio);
  a->w[g->row] = a->drive[g->row] + sim->config.joint_stabilisation * coupling_error(sim, j) / sim->h;
  a->guess[g->row] = sim->state.joint[j].lambda[0];
}

/* Room for how the friction of ball joints is tried, where there is any. */
static frix_status take_balls(frix_sim *sim) {
  bool any = false;
  for (int32_t j = 0; j < sim->state.joint_count && !sim->ball; j++)
    any |= sim->model->joint[j].config.kind == FRIX_JOINT_BALL && sim->state.joint[j].axis[0].friction > 0.0;
  if (any && !(sim->ball = FX_TAKE(&sim->arena, fx_ball, sim->state.joint_count))) return FRIX_ERROR_MEMORY;
  return FRIX_OK;
}

frix_status fx_joints_assemble(frix_sim *sim, fx_assembly *a) {
  int32_t n = sim->state.joint_count;
  if (n) fx_joints_measure(sim, false);
  frix_status status = take_balls(sim);
  if (status != FRIX_OK) return status;
  for (int32_t j = 0; j < n; j++) {
    if (!moves(sim, j)) continue;
    frix_joint_kind kind = sim->model->joint[j].config.kind;
    along x = {.sim = sim, .a = a, .j = j, .view = fx_joint_look(sim, j)};
    if (kind == FRIX_JOINT_BALL) add_ball(&x);
    if (kind == FRIX_JOINT_DISTANCE) fx_tension_rows(sim, a, j, &x.view);
    for (int32_t k = 0; k < frix_joint_table((int32_t)kind)->coordinate_count; k++) {
      x.axis = k;
      x.q = sim->state.joint[j].coordinate[k];
      add_axis(&x);
    }
  }
  if (sim->mechanism) fx_mechanism_rows(sim, a);
  a->joint_first = a->group_count;
  for (int32_t j = 0; j < n; j++) {
    if (!moves(sim, j)) continue;
    if (sim->model->joint[j].config.kind == FRIX_JOINT_COUPLING)
      add_coupling(sim, a, j);
    else if (!fx_in_tree(sim, j))
      add_bilateral(sim, a, j);
  }
  return FRIX_OK;
}

/* ---- afterwards ---- */

/* Coordinates where the bodies are now, and their rates. fresh: angles start within half a turn. */
void fx_joints_measure(frix_sim *sim, bool fresh) {
  for (int32_t j = 0; j < sim->state.joint_count; j++) {
    fx_joint_memory *m = &sim->state.joint[j];
    frix_joint_kind kind = sim->model->joint[j].config.kind;
    if (kind == FRIX_JOINT_COUPLING || !fx_joint_active(sim, j)) continue;
    fx_joint_view v = fx_joint_look(sim, j);
    for (int32_t k = 0; k < frix_joint_table((int32_t)kind)->coordinate_count; k++) {
      m->coordinate[k] = fx_joint_coordinate(sim, j, &v, k, fresh ? 0.0 : m->coordinate[k]);
      m->rate[k] = fx_joint_rate(sim, j, &v, k);
    }
    fx_joint_row row[FRIX_MAX_DIM];
    int32_t n = fx_joint_rows(sim, j, &v, row);
    double sum = 0.0;
    for (int32_t k = 0; k < n; k++) sum += row[k].error * row[k].error;
    m->error = sqrt(sum);
  }
  for (int32_t j = 0; j < sim->state.joint_count; j++)
    if (sim->model->joint[j].config.kind == FRIX_JOINT_COUPLING && fx_joint_active(sim, j))
      sim->state.joint[j].error = fabs(coupling_error(sim, j));
}

static void keep_impulses(frix_sim *sim, const fx_group *g) {
  const fx_assembly *a = &sim->rows;
  fx_joint_memory *m = &sim->state.joint[g->source];
  if (g->kind == FX_GROUP_AXIS)
    for (int32_t k = 0; k < g->dim && k < 3; k++) m->part[g->axis][g->part][k] = a->r[g->row + k];
  if (g->kind != FX_GROUP_JOINT) return;
  for (int32_t k = 0; k < g->dim; k++) m->lambda[k] = a->r[g->row + k];
  if (sim->model->joint[g->source].config.kind == FRIX_JOINT_COUPLING) return;
  fx_joint_view v = fx_joint_look(sim, g->source);
  fx_joint_row row[FRIX_MAX_DIM];
  int32_t n = fx_joint_rows(sim, g->source, &v, row);
  for (int32_t k = 0; k < n && k < g->dim; k++) {
    double r = a->r[g->row + k] / sim->h;
    if (row[k].angular)
      m->torque = fx_mad(m->torque, r, row[k].direction);
    else
      m->force = fx_mad(m->force, r, row[k].direction);
  }
}

/* Joints of bodies that sleep remember what they carried. */
static bool sleeps(const frix_sim *sim, int32_t j) {
  if (!sim->config.sleep || !fx_joint_active(sim, j)) return false;
  int32_t slot[4], n = slots_of(sim, j, slot);
  for (int32_t k = 0; k < n; k++)
    if (sim->mover_of[slot[k]] >= 0) return false;
  for (int32_t k = 0; k < n; k++)
    if (sim->state.asleep[slot[k]]) return true;
  return false;
}

void fx_joints_keep(frix_sim *sim) {
  const fx_assembly *a = &sim->rows;
  for (int32_t j = 0; j < sim->state.joint_count; j++) {
    fx_joint_memory *m = &sim->state.joint[j];
    if (sleeps(sim, j)) continue;
    m->force = m->torque = fx_vec(0.0, 0.0, 0.0);
    memset(m->part, 0, sizeof m->part);
    memset(m->lambda, 0, sizeof m->lambda);
  }
  for (int32_t k = 0; k < a->group_count; k++)
    if (fx_group_of_joint(&a->group[k])) keep_impulses(sim, &a->group[k]);
}

double fx_joints_potential(const frix_sim *sim) {
  double sum = 0.0;
  for (int32_t j = 0; j < sim->state.joint_count; j++) {
    const fx_joint_memory *m = &sim->state.joint[j];
    if (!fx_joint_active(sim, j)) continue;
    for (int32_t k = 0; k < FRIX_JOINT_AXES; k++) {
      double stretch = m->coordinate[k] - m->axis[k].rest;
      if (m->axis[k].stiffness > 0.0) sum += 0.5 * m->axis[k].stiffness * stretch * stretch;
    }
  }
  return sum;
}
