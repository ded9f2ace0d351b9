/* The judge: bodies, momentum, scales.
 *
 *   m (v1 - v0) = h F + sum of impulses,   L1 - L0 = h T + sum of their moments,   L = R I R' w, world frame
 *
 * A row sees the spin w1 = w0 + J^-1 (L1 - L0) with the inertia J where rows are taken (start or half step); the state
 * shows it at the new pose. Joints under tension damp the spin of their bodies by an impulse d = -S w1 that no row
 * shows, S unknown and positive semidefinite: there d . w1 <= 0 is asked for instead of d = 0. */
#include "judge_soft.h"
#include "judge_trees.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const real SUM_ERROR = 1e-11L; /* momentum: of sums of doubles, with room */
static const real LEAST = 0x1p-1074L; /* the least double: a product below half of it is none */

/* The largest turn at once, and how many at most, as the sim divides a free turn. */
#define TURN 0.1
enum { MOST_TURNS = 100 };

const char *law_name(law which) {
  static const char *const name[LAW_COUNT] = {"momentum",       "contact",       "drilling", "limit",
                                              "joint_friction", "ball_friction", "motor",    "spring",
                                              "joint",          "overlap",       "energy",   "demand"};
  return (unsigned)which < LAW_COUNT ? name[which] : "none";
}

law verdict_worst(const verdict *v) {
  law worst = LAW_COUNT;
  double most = 1;
  for (int k = 0; k < LAW_COUNT; k++)
    if (!(v->excess[k] <= most)) worst = (law)k, most = v->excess[k];
  return worst;
}

void note(verdict *out, law which, real excess, const char *format, ...) {
  double e = isnan(excess) ? INFINITY : (double)excess;
  if (e <= out->excess[which]) return;
  out->excess[which] = e;
  va_list list;
  va_start(list, format);
  vsnprintf(out->text[which], sizeof out->text[which], format, list);
  va_end(list);
}

int body_index(const judge *j, frix_body_id id) { return id.index < (uint32_t)j->body_count ? (int)id.index : 0; }

/* ---- the model ---- */

/* Farthest point of a shape from a point of its body; 0 for shapes without end. */
static real reach_of(const frix_model *model, const frix_shape_config *s, vec from) {
  real own = 0;
  switch (s->kind) {
    case FRIX_SHAPE_SPHERE:
    case FRIX_SHAPE_DISC: own = s->radius; break;
    case FRIX_SHAPE_CAPSULE: own = (real)s->radius + s->half_length; break;
    case FRIX_SHAPE_CYLINDER: own = hypotl(s->radius, s->half_length); break;
    case FRIX_SHAPE_BOX: own = v_norm(v_of(s->half)); break;
    case FRIX_SHAPE_RECTANGLE: own = hypotl(s->half.x, s->half.y); break;
    case FRIX_SHAPE_ELLIPSOID: own = v_far(v_of(s->half)); break;
    case FRIX_SHAPE_ELLIPSE: own = fmaxl(s->half.x, s->half.y); break;
    case FRIX_SHAPE_HULL:
    case FRIX_SHAPE_POLYGON: {
      frix_geometry_config g = frix_geometry_default();
      if (frix_model_geometry(model, s->geometry, &g) != FRIX_OK) return 0;
      for (int k = 0; k < g.point_count; k++) own = fmaxl(own, v_norm(v_of(g.point[k])));
      break;
    }
    default: return 0;
  }
  return own + v_norm(v_sub(v_of(s->pose.p), from));
}

static void read_body(judge *j, int k) {
  judged_body *b = &j->body[k];
  b->id = frix_model_body_at(j->model, k - 1);
  frix_body_config c = frix_body_default();
  frix_model_body(j->model, b->id, &c);
  b->moves = c.kind == FRIX_BODY_DYNAMIC;
  b->planar = c.planar;
  b->mass = c.mass;
  b->gravity_scale = c.gravity_scale;
  b->center = v_of(c.center);
  b->inertia = m_of(c.inertia);
  if (b->planar) b->inertia = (mat){{{1, 0, 0}, {0, 1, 0}, {0, 0, c.inertia.zz}}};
  const frix_soft *soft = frix_model_soft(j->model, b->id);
  if (soft) { /* for tolerances: undeformed */
    frix_soft_info info = frix_soft_view(soft);
    b->soft = true, b->mass = info.mass, b->inertia = m_of(info.inertia), c.inertia = info.inertia;
  }
  real trace = b->planar ? c.inertia.zz : (real)c.inertia.xx + c.inertia.yy + c.inertia.zz;
  b->size = b->moves ? sqrtl(trace / b->mass) : 0;
}

static void read_shapes(judge *j) {
  real *radius = calloc((size_t)j->body_count, sizeof *radius);
  for (int k = 0; k < frix_model_count(j->model).shape_count; k++) {
    frix_shape_config s = frix_shape_default();
    frix_body_id owner;
    frix_model_shape(j->model, frix_model_shape_at(j->model, k), &s, &owner);
    int body = body_index(j, owner);
    judged_body *b = &j->body[body];
    if (b->moves) radius[body] = fmaxl(radius[body], reach_of(j->model, &s, b->center));
  }
  j->least_radius = INFINITY;
  for (int k = 1; k < j->body_count; k++) {
    if (radius[k] > 0) j->least_radius = fminl(j->least_radius, radius[k]);
    j->body[k].reach = radius[k];
    j->body[k].size = fmaxl(j->body[k].size, radius[k]);
  }
  if (isinf(j->least_radius)) j->least_radius = 0;
  free(radius);
  springs_begin(j);
}

judge *judge_new(const frix_model *model, const frix_sim_config *config) {
  judge *j = calloc(1, sizeof *j);
  frix_model_counts n = frix_model_count(model);
  j->model = model;
  j->config = *config;
  j->body_count = n.body_count + 1;
  j->body = calloc((size_t)j->body_count, sizeof *j->body);
  j->joint_count = n.joint_count;
  j->coordinate = calloc((size_t)n.joint_count + 1, sizeof *j->coordinate);
  j->belt = calloc((size_t)n.shape_count + 1, sizeof *j->belt);
  j->body[0].q0 = j->body[0].q = (quat){1, 0, 0, 0};
  j->body[0].sharp = true;
  for (int k = 1; k < j->body_count; k++) read_body(j, k);
  read_shapes(j);
  for (int k = 0; k < n.joint_count; k++) {
    frix_joint_config c = frix_joint_default(FRIX_JOINT_BALL);
    frix_model_joint(model, frix_model_joint_at(model, k), &c);
    if (c.kind == FRIX_JOINT_COUPLING) continue;
    j->body[body_index(j, c.a)].jointed = j->body[body_index(j, c.b)].jointed = true;
  }
  j->body[0].jointed = false;
  j->smallest = INFINITY;
  for (int k = 1; k < j->body_count; k++)
    if (j->body[k].moves) j->smallest = fminl(j->smallest, j->body[k].size);
  if (j->config.coordinates == FRIX_COORDINATES_REDUCED) j->trees = trees_new(j);
  j->softs = softs_new(j);
  return j;
}

double judge_size(const judge *j, frix_body_id body) {
  const judged_body *b = &j->body[body_index(j, body)];
  return b->moves ? (double)b->size : 0;
}

void judge_free(judge *j) {
  if (!j) return;
  free(j->body);
  free(j->coordinate);
  free(j->belt);
  trees_free(j->trees);
  softs_free(j->softs);
  free(j->group);
  springs_end(j);
  free(j);
}

/* ---- before ---- */

void judge_begin(judge *j, const frix_sim *sim) {
  for (int k = 1; k < j->body_count && j->trees; k++) {
    frix_body_state s;
    frix_sim_body(sim, j->body[k].id, &s);
    trees_begin(j, k, v_of(s.center), v_of(s.velocity), v_of(s.spin));
  }
}

void judge_before(judge *j, const frix_sim *sim) {
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    frix_body_state s;
    frix_sim_body(sim, b->id, &s);
    b->q0 = q_of(s.pose.q);
    b->spin = v_of(s.spin);
    b->c0 = v_of(s.center);
    for (int m = 0; m < MOMENTS; m++) b->v[m] = v_of(s.velocity), b->w[m] = v_of(s.spin);
    b->force = b->torque = (vec){0, 0, 0};
    b->J = m_turned(b->q0, b->inertia);
    if (b->planar) b->J = b->inertia;
    if (b->moves) b->J_inverse = m_inverse(b->J);
    if (b->planar && b->moves) b->J_inverse = (mat){{{0, 0, 0}, {0, 0, 0}, {0, 0, 1 / b->inertia.row[2].z}}};
  }
  softs_before(j, sim);
  for (int k = 0; k < j->joint_count; k++) {
    frix_joint_state s = {.active = false};
    frix_sim_joint(sim, frix_model_joint_at(j->model, k), &s); /* fails for robots of files: their joints are no rows */
    memcpy(j->coordinate[k], s.coordinate, sizeof s.coordinate);
    if (j->trees) trees_pull(j, k, v_of(s.force));
  }
}

void judge_push(judge *j, frix_body_id body, frix_vec3 force, frix_vec3 torque) {
  judged_body *b = &j->body[body_index(j, body)];
  b->force = v_add(b->force, v_of(force));
  b->torque = v_add(b->torque, v_of(torque));
}

void judge_belt(judge *j, frix_shape_id shape, frix_vec3 velocity) { j->belt[shape.index] = v_of(velocity); }

/* ---- after ---- */

/* The spin at the middle of a turn that keeps the momentum L; false: the sim, which stops after twelve rounds, ends
 * elsewhere. */
static bool middle_spin(const judged_body *b, quat q, vec L, real time, vec *w) {
  mat inverse = m_inverse(b->inertia);
  int rounds = 0;
  for (real change = INFINITY; rounds < 60 && change > 1e-16L * v_norm(*w); rounds++) {
    quat middle = q_after(q, *w, time / 2);
    vec next = q_turn(middle, m_mul(inverse, q_turn(q_inverse(middle), L)));
    change = v_norm(v_sub(next, *w));
    *w = next;
  }
  return rounds <= 11;
}

/* Pose where the rows are taken, `time` after the start: momenta are kept and turns, of TURN at most, use the spin at
 * their middle. */
static void find_pose(judged_body *b, real time) {
  b->q = b->q0, b->c = b->c0, b->sharp = true;
  if (time == 0) return;
  b->c = v_mad(b->c0, time, b->v[BEFORE]);
  vec w = b->w[BEFORE], L = m_mul(b->J, w);
  real ratio = v_norm(w) * time / TURN, parts = floorl(ratio);
  bool steps = b->moves && !b->planar && v_norm(w) > 0;
  int n = !steps ? 1 : parts < MOST_TURNS ? 1 + (int)parts : MOST_TURNS;
  if (steps && fabsl(ratio - roundl(ratio)) < 1e-12L * ratio) b->sharp = false; /* rounding tells the number of turns */
  for (int k = 0; k < n; k++) {
    if (steps) b->sharp &= middle_spin(b, b->q, L, time / n, &w);
    b->q = q_after(b->q, w, time / n);
  }
}

static void read_after(judge *j, const frix_sim *sim, vec gravity) {
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    frix_body_state s;
    frix_sim_body(sim, b->id, &s);
    find_pose(b, j->half ? j->h / 2 : 0);
    b->linear = b->angular = b->linear_first = b->angular_first = (vec){0, 0, 0};
    b->linear_size = b->angular_size = b->angular_noise = 0;
    b->island = k;
    b->blurred = false;
    b->damped = (vec){0, 0, 0};
    if (!b->moves) continue;
    b->force = v_mad(b->force, b->mass * b->gravity_scale, gravity);
    b->v[AFTER] = v_of(s.velocity);
    b->w[AFTER] = v_of(s.spin);
    if (!b->planar) {
      vec L1 = m_mul(m_turned(q_of(s.pose.q), b->inertia), v_of(s.spin)), L0 = m_mul(b->J, b->w[BEFORE]);
      if (j->half) {
        b->J = m_turned(b->q, b->inertia);
        b->J_inverse = m_inverse(b->J);
        b->w[BEFORE] = m_mul(b->J_inverse, L0);
      }
      b->w[AFTER] = v_add(b->w[BEFORE], m_mul(b->J_inverse, v_sub(L1, L0)));
    }
  }
  softs_after(j, sim);
  if (j->trees) {
    trees_find(j, sim);
    if (j->half) trees_advance(j, j->h / 2);
    trees_put_after(j, sim);
    trees_take(j);
  }
  judge_push_motors(j, sim);
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    if (!b->moves) continue;
    if (b->planar) b->force.z = b->torque.x = b->torque.y = 0;
    b->v[FREE] = v_mad(b->v[BEFORE], j->h / b->mass, b->force);
    b->w[FREE] = v_mad(b->w[BEFORE], j->h, m_mul(b->J_inverse, b->torque));
  }
  if (!j->trees) return;
  trees_push_none(j);
  trees_push_forces(j);
  trees_push_end(j);
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    if (!b->in_tree) continue;
    b->v[FREE] = b->v[BEFORE], b->w[FREE] = b->w[BEFORE];
    trees_pushed(j, k, &b->v[FREE], &b->w[FREE]);
  }
}

static real energy_root(const judged_body *b, moment when) {
  vec v = b->v[when], w = b->w[when];
  return sqrtl(b->mass) * v_norm(v) + sqrtl(fmaxl(0, v_dot(w, m_mul(b->J, w))));
}

/* Adds what a group does to its bodies. */
static void add_impulses(judge *j, const group *g) {
  bool blurred = g->report.joint.index != 0 && !group_is_sharp(j, g);
  for (int t = 0; t < 4; t++) {
    vec p = {0, 0, 0}, l = {0, 0, 0};
    int body = -1;
    for (int k = 0; k < g->dim; k++) {
      if (t >= g->row[k].count) continue;
      const term *x = &g->row[k].term[t];
      judged_body *b = &j->body[x->body];
      body = x->body;
      p = v_mad(p, g->r[k], x->lin);
      l = v_mad(l, g->r[k], x->ang);
      b->linear_first = v_mad(b->linear_first, g->first[k], x->lin);
      b->angular_first = v_mad(b->angular_first, g->first[k], x->ang);
      b->linear_size += fabsl(g->r[k]) * v_norm(x->lin);
      b->angular_size += fabsl(g->r[k]) * v_norm(x->ang);
      b->angular_noise += 8 * 0x1p-52L * fabsl(g->r[k]) * v_norm(x->lin) * (farthest(g, b) + b->size);
    }
    if (body < 0 || !j->body[body].moves) continue;
    judged_body *b = &j->body[body];
    b->blurred |= blurred;
    b->linear = v_add(b->linear, p);
    b->angular = v_add(b->angular, l);
    b->all += v_norm(p) / sqrtl(b->mass) + sqrtl(fmaxl(0, v_dot(l, m_mul(b->J_inverse, l))));
  }
}

static void find_scales(judge *j) {
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    if (!b->moves) continue;
    vec T = v_mul(j->h, b->torque);
    b->own = energy_root(b, BEFORE) + energy_root(b, AFTER);
    if (b->soft) b->own += sqrtl(soft_rates(j, k, BEFORE)) + sqrtl(soft_rates(j, k, AFTER));
    b->all = b->own + j->h * v_norm(b->force) / sqrtl(b->mass) + sqrtl(fmaxl(0, v_dot(T, m_mul(b->J_inverse, T))));
  }
  for (int k = 0; k < j->group_count; k++) add_impulses(j, &j->group[k]);
  if (j->trees && j->two_phases) {
    trees_push_none(j);
    for (int k = 0; k < j->group_count; k++)
      for (int i = 0; i < j->group[k].dim; i++) trees_push_row(j, &j->group[k].row[i], j->group[k].first[i]);
    trees_push_end(j);
  }
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    b->v[COMPRESSED] = b->v[AFTER], b->w[COMPRESSED] = b->w[AFTER];
    if (!j->two_phases || !b->moves) continue;
    b->v[COMPRESSED] = v_mad(b->v[FREE], 1 / b->mass, b->linear_first);
    b->w[COMPRESSED] = v_add(b->w[FREE], m_mul(b->J_inverse, b->angular_first));
    if (b->in_tree) {
      b->v[COMPRESSED] = b->v[FREE], b->w[COMPRESSED] = b->w[FREE];
      trees_pushed(j, k, &b->v[COMPRESSED], &b->w[COMPRESSED]);
    }
    b->own += energy_root(b, COMPRESSED);
    b->all += energy_root(b, COMPRESSED);
  }
}

/* What momenta lose where products underflow: each of some hundred impulses, moments and velocities by the least double
 * at most, a velocity times the mass or inertia it moves. */
static real underflow(real moves, real arm) { return 100 * LEAST * (1 + arm + moves); }

static real largest_row(mat m) { return fmaxl(v_norm(m.row[0]), fmaxl(v_norm(m.row[1]), v_norm(m.row[2]))); }

/* Ratio of the largest to the least diagonal entry of the inertia and of its inverse: what solving with it costs. */
static real condition_of(const judged_body *b) { return largest_row(b->J) * largest_row(b->J_inverse); }

static void judge_momentum(judge *j, verdict *out) {
  real tolerance = 100 * (real)j->config.tolerance;
  for (int k = 1; k < j->body_count; k++) {
    judged_body *b = &j->body[k];
    if (!b->moves || b->blurred || b->in_tree) continue;
    vec dp = v_mul(b->mass, v_sub(b->v[AFTER], b->v[FREE])), dl = m_mul(b->J, v_sub(b->w[AFTER], b->w[FREE]));
    if (b->planar) dl.x = dl.y = 0;
    vec linear = b->linear, angular = b->angular;
    if (b->planar) linear.z = angular.x = angular.y = 0;
    real own = b->mass * (v_norm(b->v[BEFORE]) + v_norm(b->v[AFTER])) + j->h * v_norm(b->force);
    real miss = v_norm(v_sub(dp, linear)), grant = tolerance * own + SUM_ERROR * b->linear_size + underflow(b->mass, 0);
    if (miss > 0)
      note(out, LAW_MOMENTUM, miss / grant, "body %d: linear momentum misses %.3Lg of %.3Lg N s", k, miss,
           own + b->linear_size);
    own = v_norm(m_mul(b->J, b->w[BEFORE])) + v_norm(m_mul(b->J, b->w[AFTER])) + j->h * v_norm(b->torque);
    grant = tolerance * own + fmaxl(SUM_ERROR, 1e-14L * condition_of(b)) * b->angular_size + b->angular_noise +
            underflow(largest_row(b->J), b->size);
    if (b->soft) dl = v_sub(soft_turned(j, k), v_mul(j->h, b->torque));
    vec defect = v_sub(dl, angular), w = b->w[AFTER];
    miss = v_norm(defect);
    if (b->jointed && miss > 0) {
      real speed = v_norm(w);
      if (miss > grant) b->damped = defect;
      miss = speed > 0 ? fmaxl(0, v_dot(defect, w) / speed) : miss;
    }
    if (miss > 0)
      note(out, LAW_MOMENTUM, miss / grant, "body %d: angular momentum misses %.3Lg of %.3Lg N m s", k, miss,
           own + b->angular_size);
  }
}

void judge_after(judge *j, const frix_sim *sim, double h, frix_vec3 gravity, const frix_step_report *report,
                 verdict *out) {
  memset(out, 0, sizeof *out);
  j->h = h;
  j->half = strcmp(j->config.integrator, "moreau") != 0; /* variational without forces of its own is two_step */
  j->time = j->half ? (real)h / 2 : (real)h;
  j->kept = report->restitution;
  j->gravity = v_norm(v_of(gravity));
  j->certified = report->certified;
  j->left = report->overlaps_left;
  read_after(j, sim, v_of(gravity));
  judge_read_rows(j, sim);
  if (j->trees) trees_blur(j);
  find_scales(j);
  judge_momentum(j, out);
  if (j->trees) trees_judge_momentum(j, 100 * (real)j->config.tolerance, SUM_ERROR, out);
  judge_laws(j, out);
  judge_energy(j, out);
  judge_overlaps(j, sim, out);
  springs_keep(j);
  out->rows = j->group_count;
}
