/* Joints of a step: frames, coordinates and rows from the model's configuration and the bodies' poses.
 *
 *   bilateral  d . (v_b - v_a) + gamma e / h = 0, e: how far the frames are apart
 *   limit      rate + (q - lower) / h >= 0,  upper - q alike; beyond the limit gamma (q - lower) / h
 *   motor      rate = target, or |r| = h max_force against the difference;  position: target (q* - q) / h within
 * max_speed friction   rate = 0, or |r| = h friction against the rate spring     r = -h (k (q + h rate - rest) + c
 * rate) */
#include "judge_parts.h"

#include <string.h>

static int joint_number(const judge *j, frix_joint_id id) {
  for (int k = 0; k < j->joint_count; k++)
    if (frix_model_joint_at(j->model, k).index == id.index) return k;
  return 0;
}

sight judge_look(const judge *j, frix_joint_id id) {
  sight s = {.config = frix_joint_default(FRIX_JOINT_BALL)};
  frix_model_joint(j->model, id, &s.config);
  real far = 0;
  for (int side = 0; side < 2; side++) {
    s.body[side] = body_index(j, side ? s.config.b : s.config.a);
    const judged_body *b = &j->body[s.body[side]];
    frix_pose f = side ? s.config.frame_b : s.config.frame_a;
    vec local = v_sub(v_of(f.p), b->center);
    s.point[side] = v_add(b->c, q_turn(b->q, local));
    s.q[side] = q_mul(b->q, q_of(f.q));
    for (int k = 0; k < 3; k++) s.axis[side][k] = q_column(s.q[side], k);
    s.planar |= b->planar;
    far = fmaxl(far, v_far(s.point[side]) + v_norm(local) + v_norm(b->center));
  }
  s.noise = 1e-14L * far;
  return s;
}

static vec along_of(const sight *s) {
  vec gap = v_sub(s->point[1], s->point[0]);
  real length = v_norm(gap);
  return length > 0 ? v_mul(1 / length, gap) : s->axis[0][2];
}

static real unwound(real angle, real near) {
  real turn = 2 * 3.14159265358979323846264338327950288L;
  return angle + turn * floorl((near - angle) / turn + 0.5L);
}

static real coordinate_of(const sight *s, int axis, real near) {
  vec xb = s->axis[1][0], za = s->axis[0][2];
  switch (s->config.kind) {
    case FRIX_JOINT_HINGE: return unwound(atan2l(v_dot(xb, s->axis[0][1]), v_dot(xb, s->axis[0][0])), near);
    case FRIX_JOINT_SLIDER: return v_dot(v_sub(s->point[1], s->point[0]), za);
    case FRIX_JOINT_DISTANCE: return v_norm(v_sub(s->point[1], s->point[0]));
    case FRIX_JOINT_UNIVERSAL:
      if (axis == 0) return unwound(atan2l(v_dot(xb, s->axis[0][1]), v_dot(xb, s->axis[0][0])), near);
      return unwound(atan2l(v_dot(s->axis[1][1], za), v_dot(s->axis[1][2], za)), near);
    default: return 0;
  }
}

static bool is_angle(const sight *s) {
  return s->config.kind == FRIX_JOINT_HINGE || s->config.kind == FRIX_JOINT_UNIVERSAL;
}

/* ---- rows ---- */

static void add_term(row *r, int body, vec lin, vec ang) {
  for (int k = 0; k < r->count; k++)
    if (r->term[k].body == body) {
      r->term[k].lin = v_add(r->term[k].lin, lin);
      r->term[k].ang = v_add(r->term[k].ang, ang);
      return;
    }
  r->term[r->count++] = (term){.body = body, .lin = lin, .ang = ang};
}

static void linear_row(const judge *j, const sight *s, row *r, vec d, vec at_a, real scale) {
  d = v_mul(scale, d);
  vec arm_b = v_sub(s->point[1], j->body[s->body[1]].c), arm_a = v_sub(at_a, j->body[s->body[0]].c);
  add_term(r, s->body[1], d, v_cross(arm_b, d));
  add_term(r, s->body[0], v_mul(-1, d), v_mul(-1, v_cross(arm_a, d)));
}

static void angular_row(const sight *s, row *r, vec d, real scale) {
  vec zero = {0, 0, 0};
  add_term(r, s->body[1], zero, v_mul(scale, d));
  add_term(r, s->body[0], zero, v_mul(-scale, d));
}

static void rate_row(const judge *j, const sight *s, row *r, int axis, real scale) {
  if (s->config.kind == FRIX_JOINT_SLIDER) linear_row(j, s, r, s->axis[0][2], s->point[1], scale);
  if (s->config.kind == FRIX_JOINT_DISTANCE) linear_row(j, s, r, along_of(s), s->point[0], scale);
  if (s->config.kind == FRIX_JOINT_HINGE) angular_row(s, r, s->axis[0][2], scale);
  if (s->config.kind == FRIX_JOINT_UNIVERSAL) angular_row(s, r, axis == 0 ? s->axis[0][2] : s->axis[1][0], scale);
}

/* ---- bilateral: velocity and error of each row; impulses act along the reported directions ---- */

/* 2 tan(angle / 2) along the axis that turns a's frame into b's, world frame. */
static vec turn_between(const sight *s) {
  quat d = q_mul(s->q[1], q_inverse(s->q[0]));
  return v_mul(2 / d.w, (vec){d.x, d.y, d.z});
}

typedef struct held {
  bool angular;
  vec d, at_a;
  real error;
} held;

static int held_rows(const sight *s, held *out) {
  vec gap = v_sub(s->point[1], s->point[0]), turn = turn_between(s), world[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const vec *a = s->axis[0];
  int n = 0;
  frix_joint_kind kind = s->config.kind;
  if (kind == FRIX_JOINT_DISTANCE) {
    out[n++] = (held){false, along_of(s), s->point[0], v_norm(gap) - s->config.length};
    return n;
  }
  if (kind == FRIX_JOINT_SLIDER) {
    vec across = v_cross(world[2], a[2]);
    if (s->planar) across = v_mul(1 / v_norm(across), across);
    for (int k = 0; k < (s->planar ? 1 : 2); k++) {
      vec d = s->planar ? across : a[k];
      out[n++] = (held){false, d, s->point[1], v_dot(gap, d)};
    }
  } else {
    for (int k = 0; k < (s->planar ? 2 : 3); k++) out[n++] = (held){false, world[k], s->point[0], v_dot(gap, world[k])};
  }
  if (kind == FRIX_JOINT_FIXED || kind == FRIX_JOINT_SLIDER) {
    if (s->planar) out[n++] = (held){true, world[2], world[2], turn.z};
    for (int k = 0; k < 3 && !s->planar; k++) out[n++] = (held){true, a[k], a[k], v_dot(turn, a[k])};
  }
  if (kind == FRIX_JOINT_HINGE && !s->planar) {
    vec tilt = v_cross(a[2], s->axis[1][2]);
    for (int k = 0; k < 2; k++) out[n++] = (held){true, a[k], a[k], v_dot(tilt, a[k])};
  }
  if (kind == FRIX_JOINT_UNIVERSAL)
    out[n++] = (held){true, v_cross(s->axis[1][0], a[2]), a[0], v_dot(a[2], s->axis[1][0])};
  return n;
}

static void read_held(judge *j, group *g, const sight *s) {
  held rows[FRIX_MAX_DIM];
  int n = held_rows(s, rows);
  real gamma = j->config.joint_stabilisation;
  if (n != g->dim) { /* a row that the joint does not have */
    g->w[0] = INFINITY;
    return;
  }
  for (int k = 0; k < n; k++) {
    if (rows[k].angular)
      angular_row(s, &g->row[k], rows[k].d, 1);
    else
      linear_row(j, s, &g->row[k], rows[k].d, rows[k].at_a, 1);
    g->w[k] = gamma * rows[k].error / j->h;
    g->slack[k] = gamma * (rows[k].angular ? 1e-14L + fabsl(rows[k].error) * 1e-13L : s->noise) / j->h;
  }
}

static void read_coupling(judge *j, group *g, const frix_joint_config *c) {
  sight p = judge_look(j, c->first), q = judge_look(j, c->second);
  int first = joint_number(j, c->first), second = joint_number(j, c->second);
  real x = coordinate_of(&p, c->first_axis, j->coordinate[first][c->first_axis]);
  real y = coordinate_of(&q, c->second_axis, j->coordinate[second][c->second_axis]);
  rate_row(j, &p, &g->row[0], c->first_axis, 1);
  rate_row(j, &q, &g->row[0], c->second_axis, -(real)c->ratio);
  real gamma = j->config.joint_stabilisation, size = fabsl(x) + fabsl((real)c->ratio * y) + fabsl((real)c->offset);
  g->w[0] = gamma * (x - c->ratio * y - c->offset) / j->h;
  g->slack[0] = gamma * (1e-14L * (1 + size) + p.noise + fabsl((real)c->ratio) * q.noise) / j->h;
}

/* ---- along a coordinate ---- */

/* Dry friction and damping of a ball joint act on the relative spin, along the directions that the step chose. */
static void read_ball(judge *j, group *g, const sight *s, const frix_axis_config *c) {
  for (int k = 0; k < g->dim; k++) {
    vec d = v_of(g->report.direction[k]);
    if (v_norm(d) > 0) angular_row(s, &g->row[k], d, 1);
    if (g->report.kind == FRIX_ROW_SPRING) {
      real both = j->h * (real)c->damping + c->armature;
      g->R[k] = 1 / both;
      g->w[k] = -(c->armature * row_velocity(j, &g->row[k], BEFORE)) / both;
    }
  }
  g->bound = j->h * (real)c->friction;
}

static real clamped(real x, real most) { return x > most ? most : x < -most ? -most : x; }

static void read_axis(judge *j, group *g, const sight *s, const frix_axis_config *c, real q, real noise) {
  int k = g->dim - 1; /* a known bound stands before the row that moves */
  real h = j->h, gamma = j->config.joint_stabilisation;
  if (g->report.kind == FRIX_ROW_LIMIT) {
    bool upper = g->report.upper;
    real gap = upper ? c->upper - q : q - c->lower;
    rate_row(j, s, &g->row[0], g->report.axis, upper ? -1 : 1);
    g->w[0] = gap > 0 ? gap / j->h : gamma * gap / j->h;
    g->slack[0] = noise / j->h;
    g->push = gap < 0 ? -g->w[0] : 0;
    return;
  }
  rate_row(j, s, &g->row[k], g->report.axis, 1);
  if (g->report.kind == FRIX_ROW_FRICTION) g->bound = h * (real)c->friction;
  if (g->report.kind == FRIX_ROW_MOTOR) {
    g->bound = h * (real)c->max_force;
    real wanted = c->motor == FRIX_MOTOR_POSITION ? clamped((c->target - q) / h, c->max_speed) : (real)c->target;
    g->w[k] = -wanted;
    real both = h * h * (real)c->gain + h * (real)c->rate_gain;
    if (c->motor == FRIX_MOTOR_SERVO) {
      g->R[k] = 1 / both;
      g->w[k] = -h * (c->gain * (c->target - q) + (real)c->rate_gain * c->target_rate) / both;
      g->slack[k] = h * (real)c->gain * noise / both;
    } else
      g->slack[k] = c->motor == FRIX_MOTOR_POSITION ? fminl(noise / h, fabsl(wanted) + noise / h) : 0;
  }
  if (g->report.kind == FRIX_ROW_SPRING) {
    real both = h * h * (real)c->stiffness + h * (real)c->damping + c->armature;
    real before = c->armature > 0 ? c->armature * row_velocity(j, &g->row[0], BEFORE) : 0;
    g->R[0] = 1 / both;
    g->w[0] = (h * (real)c->stiffness * (q - c->rest) - before) / both;
    g->slack[0] = h * (real)c->stiffness * noise / both;
  }
}

/* Rods and ropes under tension, across the line between their ends: nothing is asked for, R is the step's own. */
static bool read_tension(judge *j, group *g, const sight *s) {
  if (g->report.kind != FRIX_ROW_SPRING || s->config.kind != FRIX_JOINT_DISTANCE) return false;
  if (fabsl(v_dot(v_of(g->report.direction[0]), along_of(s))) > 0.5L) return false;
  for (int k = 0; k < g->dim; k++) {
    linear_row(j, s, &g->row[k], v_of(g->report.direction[k]), s->point[0], 1);
    g->R[k] = g->report.compliance[k] > 0 ? (real)g->report.compliance[k] : INFINITY;
  }
  return true;
}

static void read_kind(judge *j, const frix_sim *sim, group *g) {
  sight s = judge_look(j, g->report.joint);
  g->joint = s.config.kind;
  if (s.config.kind == FRIX_JOINT_COUPLING) {
    read_coupling(j, g, &s.config);
    return;
  }
  if (g->report.kind == FRIX_ROW_JOINT) {
    read_held(j, g, &s);
    return;
  }
  if (read_tension(j, g, &s)) return;
  frix_axis_config c;
  frix_sim_axis(sim, g->report.joint, g->report.axis, &c);
  if (s.config.kind == FRIX_JOINT_BALL) {
    read_ball(j, g, &s, &c);
    return;
  }
  real near = j->coordinate[joint_number(j, g->report.joint)][g->report.axis];
  real q = coordinate_of(&s, g->report.axis, near), noise = is_angle(&s) ? 1e-14L * (1 + fabsl(q)) : s.noise;
  read_axis(j, g, &s, &c, q, noise + 1e-15L * (fabsl((real)c.lower) + fabsl((real)c.upper) + fabsl((real)c.target)));
}

void judge_read_joint(judge *j, const frix_sim *sim, group *g) {
  read_kind(j, sim, g);
  for (int k = 0; k < g->dim; k++) g->least[k] = g->most[k] = g->w[k];
}

/* Whether a contact acts on the body: then the answer that was projected may be quite another. */
static bool touches(const judge *j, int body) {
  for (int i = 0; i < j->group_count; i++) {
    const group *g = &j->group[i];
    bool own = body_index(j, g->report.a) == body || body_index(j, g->report.b) == body;
    if (g->report.kind == FRIX_ROW_CONTACT && own && j->body[body].moves) return true;
  }
  return false;
}

/* Spin that a body loses or gains where the row is asked for `more`: with it the error was taken. */
static real kick(const judged_body *b, const row *r, int t, real more, real weight) {
  return b->moves && weight > 0 ? v_norm(m_mul(b->J_inverse, r->term[t].ang)) * fabsl(more) / weight : 0;
}

/* With projections a joint's rows also ask for the error at the end of the step: 4 times this one, and what a turn by
 * h w makes of arms and axes in second order; every further projection may ask for half as much again. w is the spin
 * before, after, or of the answer that was projected, which is another by what the row was asked for beside. */
void judge_allow_projection(judge *j, group *g) {
  if (g->report.kind != FRIX_ROW_JOINT || j->config.projections == 0) return;
  sight s = judge_look(j, g->report.joint);
  for (int k = 0; k < g->dim; k++) {
    real gamma = j->config.joint_stabilisation, times = 2 + 2 * (real)j->config.projections;
    real drift = g->least[k]; /* what its control alone asks for */
    real more = gamma > 0 ? times * fabsl(drift) / gamma : 0, error = gamma > 0 ? j->h * fabsl(drift) / gamma : 0;
    for (int t = 0; t < g->row[k].count; t++) {
      const judged_body *b = &j->body[g->row[k].term[t].body];
      real w = fmaxl(v_norm(b->w[BEFORE]), v_norm(b->w[FREE])) + v_norm(b->w[AFTER]);
      w += kick(b, &g->row[k], t, (real)g->report.shift[k] - drift, g->weight[k]);
      real arm = fmaxl(v_norm(v_sub(s.point[0], b->c)), v_norm(v_sub(s.point[1], b->c)));
      if (!(v_norm(g->row[k].term[t].lin) > 0)) arm = 1;
      more += times * j->h * w * w * arm;
      bool blind = j->config.restitution == FRIX_RESTITUTION_POISSON; /* projected before the second phase */
      blind |= touches(j, g->row[k].term[t].body);
      if (blind || j->h * w > 0.5L || error > 0.25L * arm) more = INFINITY; /* no expansion says anything there */
    }
    g->least[k] -= more, g->most[k] += more;
  }
}

void judge_push_motors(judge *j, const frix_sim *sim) {
  for (int k = 0; k < j->joint_count; k++) {
    frix_joint_id id = frix_model_joint_at(j->model, k);
    for (int axis = 0; axis < FRIX_JOINT_AXES; axis++) {
      frix_axis_config c;
      if (frix_sim_axis(sim, id, axis, &c) != FRIX_OK || c.motor != FRIX_MOTOR_FORCE || c.target == 0) continue;
      sight s = judge_look(j, id);
      row r = {0};
      rate_row(j, &s, &r, axis, c.target);
      for (int t = 0; t < r.count; t++) {
        judged_body *b = &j->body[r.term[t].body];
        b->force = v_add(b->force, r.term[t].lin);
        b->torque = v_add(b->torque, r.term[t].ang);
      }
    }
  }
}
