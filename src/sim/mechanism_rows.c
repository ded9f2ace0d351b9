/* Rows over the coordinates of trees.
 *
 *   limit      0 <= rate + gap / h  _|_  r >= 0, where the step may reach it
 *              far beyond: 0 <= rate + gap / RETURN + R r,   R = GENTLE / (h mass)
 *   friction   |r| <= h F: a planar cone whose normal impulse is known, as for joints of the model (joints.c)
 *   servo      V1 + R (r - h (F0 + c V0)) = 0 with |r - h mid| <= h half: R = 1 / (h^2 k + h c), V its velocity, F0 its
 *              force at the beginning; mid and half those of its range, mid being part of the free motion
 *   tendon     the same without bounds where its spring acts across branches; its force at the beginning is passive
 *   equality   G v + gamma g(q) / h + R (r - r of the last step) = 0,   R = 1e-7 / mass: rows of closed loops repeat
 * each other, and R tells their impulses apart; what is at rest feels nothing of it */
#include "sim/mechanism.h"

#include <math.h>
#include <string.h>

const double fx_loop_softness = 1e-7; /* R, of the largest weight of the rows of an equality */
#define NOISE 1e-12
#define ROUNDING 1e-15 /* m or rad, a metre from the origin */
#define HELD 0.9       /* of its bound: a servo below needs no row in the next step */
#define SMALL 1e-4     /* m, rad */
#define RETURN 0.1     /* s */
#define GENTLE 0.02    /* s, in which a joint far beyond its limit takes the speed of its return */
#define FAR 0.1        /* m, rad */
#define NEAR 1e-3      /* of a coordinate: limits that are looked at in any case */

/* ---- groups ---- */

/* A row of numbers over some coordinates. */
typedef struct line {
  const int32_t *dof;
  const double *value;
  int32_t count;
} line;

static int32_t slots_of(const fx_mechanism *x, const line *l, int32_t slot[4]) {
  int32_t count = 0;
  for (int32_t n = 0; n < l->count; n++) {
    int32_t part = x->part_of_dof[l->dof[n]], k = 0;
    if (part < 0 || x->mover[part] < 0 || l->value[n] == 0.0) continue;
    while (k < count && slot[k] != x->part[part].slot) k++;
    if (k == count && count < 4) slot[count++] = x->part[part].slot;
  }
  return count;
}

static void put_line(const frix_sim *sim, const fx_assembly *a, const fx_group *g, int32_t k, const line *l,
                     double sign) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t n = 0; n < l->count; n++) {
    int32_t part = x->part_of_dof[l->dof[n]];
    if (part < 0 || l->value[n] == 0.0) continue;
    double *J = fx_group_block(sim, a, g, x->mover[part], k);
    if (J) J[l->dof[n] - x->part[part].first] += sign * l->value[n];
  }
}

static fx_group *add(frix_sim *sim, fx_assembly *a, const line *l, int32_t source, int32_t part, frix_contact law) {
  int32_t slot[4], count = slots_of(sim->mechanism, l, slot);
  if (count == 0) return NULL;
  fx_group *g = fx_group_add(sim, a, FX_GROUP_AXIS, source, law, count, slot);
  g->robot = true, g->part = part;
  return g;
}

static frix_contact one_row(frix_cone cone) { return (frix_contact){.cone = cone, .dim = 1}; }

/* ---- kinds ---- */

bool fx_loop_remembers(double error) { return !(fabs(error) > SMALL); } /* one that limits keep open does not */

/* The speed with which an error goes: in one step where it is small, otherwise within RETURN seconds, so that a file
 * which starts with an open loop or beyond a limit does not explode. */
double fx_returning(const frix_sim *sim, double error) {
  double speed = fabs(error) * sim->config.joint_stabilisation / sim->h;
  double most = fx_max(SMALL / sim->h, fabs(error) / RETURN);
  return error < 0.0 ? -fx_min(speed, most) : fx_min(speed, most);
}

/* The same for a loop of the tree whose root is a slot: an error that is rounding of the places it is found from is
 * none, so that what rests does not follow it. */
double fx_closing(const frix_sim *sim, int32_t slot, double error) {
  double rounding = ROUNDING * (1.0 + fx_norm(sim->state.pose[slot].p));
  return fabs(error) <= rounding ? 0.0 : fx_returning(sim, error);
}

/* J M~^-1 J' of a line, as if no loop held it. */
static double weight_without_loops(const frix_sim *sim, const line *l) {
  const fx_mechanism *x = sim->mechanism;
  double sum = 0.0, *y = x->row;
  for (int32_t n = 0; n < l->count; n++) y[l->dof[n]] += l->value[n];
  for (int32_t p = 0; p < x->part_count; p++)
    fx_tree_solve_part(x->state, x->part[p].first, x->part[p].count, y + x->part[p].first);
  for (int32_t n = 0; n < l->count; n++) sum += l->value[n] * y[l->dof[n]];
  memset(y, 0, (size_t)x->tree.dof_count * sizeof *y);
  return sum;
}

static void add_limit(frix_sim *sim, fx_assembly *a, const line *l, int32_t source, int32_t part, double sign,
                      double gap, double *memory) {
  double rate = 0.0, free = 0.0;
  const fx_mechanism *x = sim->mechanism;
  for (int32_t n = 0; n < l->count; n++) {
    int32_t of = x->part_of_dof[l->dof[n]];
    if (of < 0 || x->mover[of] < 0) continue;
    const fx_tree_mover *m = sim->mover[x->mover[of]].tree;
    rate += sign * l->value[n] * m->v0[l->dof[n] - m->first];
    free += sign * l->value[n] * m->v_free[l->dof[n] - m->first];
  }
  if (gap > NEAR + 2.0 * sim->h * fx_max(fabs(rate), fabs(free)) && *memory == 0.0) return;
  fx_group *g = add(sim, a, l, source, part, one_row(FRIX_CONE_LIMIT));
  if (!g) return;
  put_line(sim, a, g, 0, l, sign);
  g->memory = memory;
  a->guess[g->row] = *memory;
  a->w[g->row] = gap > 0.0 ? gap / sim->h : fx_returning(sim, gap);
  if (gap >= -SMALL) return;
  /* far beyond, as where a file starts so: other limits and loops may not let it return, and it does not insist */
  a->R[g->row] = weight_without_loops(sim, l) * GENTLE / sim->h * fx_min(1.0, -gap / FAR);
  a->compliant = true;
}

/* |r| <= most against the velocity's difference from -w, with compliance R. */
static void add_bounded(frix_sim *sim, fx_assembly *a, const line *l, int32_t source, int32_t part, double most,
                        double w, double R, double *memory) {
  bool endless = !isfinite(most);
  fx_group *g = add(sim, a, l, source, part, endless ? one_row(FRIX_CONE_BILATERAL) : frix_contact_of_dim(2, 1.0, 0.0));
  if (!g) return;
  int32_t k = endless ? 0 : 1;
  put_line(sim, a, g, k, l, 1.0);
  g->memory = memory;
  a->w[g->row + k] = w;
  a->R[g->row + k] = R;
  a->guess[g->row + k] = *memory;
  a->compliant |= !endless || R > 0.0;
  if (endless) return;
  double weight = fx_group_weight(sim, a, g, 1);
  a->R[g->row] = weight > 0.0 ? weight : 1.0;
  a->r_c[g->row] = a->guess[g->row] = most;
}

/* ---- joints ---- */

static void joint_limits(frix_sim *sim, fx_assembly *a, const fx_tree_joint *j) {
  const fx_mechanism *x = sim->mechanism;
  double *memory = sim->state.robot;
  const double *q = x->state->qpos + j->q, one = 1.0;
  if (!j->limited || x->tree.no_limit) return;
  if (j->kind == FRIX_ROBOT_BALL) {
    frix_vec3 turn = fx_quat_log(fx_quat_at(q)), axis = fx_unit_or(turn, fx_vec(1.0, 0.0, 0.0));
    const int32_t dof[3] = {j->v, j->v + 1, j->v + 2};
    const double value[3] = {axis.x, axis.y, axis.z};
    double most = fx_max(j->range[0], j->range[1]);
    line l = {dof, value, 3};
    add_limit(sim, a, &l, j->v, FX_AXIS_UPPER, -1.0, most - j->margin - fx_norm(turn), memory + x->at.upper + j->v);
    return;
  }
  line l = {&j->v, &one, 1};
  add_limit(sim, a, &l, j->v, FX_AXIS_LOWER, 1.0, q[0] - j->range[0] - j->margin, memory + x->at.lower + j->v);
  add_limit(sim, a, &l, j->v, FX_AXIS_UPPER, -1.0, j->range[1] - j->margin - q[0], memory + x->at.upper + j->v);
}

static void joint_friction(frix_sim *sim, fx_assembly *a, const fx_tree_joint *j) {
  const fx_mechanism *x = sim->mechanism;
  const double one = 1.0;
  if (!(j->friction > 0.0) || x->tree.no_friction) return;
  for (int32_t i = j->v; i < j->v + fx_joint_v_size(j->kind); i++) {
    line l = {&i, &one, 1};
    if (x->hold[i].mode != FX_HOLD_ROW) continue;
    add_bounded(sim, a, &l, i, FX_AXIS_FRICTION, sim->h * j->friction, 0.0, 0.0, sim->state.robot + x->at.friction + i);
  }
}

/* ---- tendons and actuators ---- */

static void tendon_rows(frix_sim *sim, fx_assembly *a, int32_t k) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_tendon *t = &x->tree.tendon[k];
  double *memory = sim->state.robot, length = x->state->tendon_length[k], h = sim->h, stiffness, damping;
  line l = {x->tree.list + t->dofs.first, x->state->tendon_moment + t->dofs.first, t->dofs.count};
  if (t->limited && !x->tree.no_limit) {
    add_limit(sim, a, &l, k, FX_AXIS_LOWER, 1.0, length - t->range[0] - t->margin, memory + x->at.tendon_lower + k);
    add_limit(sim, a, &l, k, FX_AXIS_UPPER, -1.0, t->range[1] - t->margin - length, memory + x->at.tendon_upper + k);
  }
  if (t->friction > 0.0 && !x->tree.no_friction)
    add_bounded(sim, a, &l, k, FX_AXIS_FRICTION, h * t->friction, 0.0, 0.0, memory + x->at.tendon_friction + k);
  fx_tree_tendon_slopes(x->state, k, &stiffness, &damping);
  double both = h * h * stiffness + h * damping;
  if (x->tendon_fits[k] || !(both > 0.0)) return;
  add_bounded(sim, a, &l, k, FX_AXIS_SPRING, INFINITY, -h * damping * x->state->tendon_velocity[k] / both, 1.0 / both,
              memory + x->at.tendon_spring + k);
}

static void drive_row(frix_sim *sim, fx_assembly *a, int32_t k) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_actuator *t = &x->tree.actuator[k];
  const fx_drive *d = &x->drive[k];
  if (d->mode != FX_DRIVE_ROW) return;
  double h = sim->h, both = h * h * d->stiffness + h * d->damping;
  bool bounded = isfinite(d->lowest) && isfinite(d->highest);
  double mid = bounded ? 0.5 * (d->lowest + d->highest) : 0.0, half = bounded ? 0.5 * (d->highest - d->lowest) : 0.0;
  line l = {x->tree.list + t->dofs.first, x->state->actuator_moment + t->dofs.first, t->dofs.count};
  double w = h * (mid - d->force - d->damping * x->state->actuator_velocity[k]) / both;
  add_bounded(sim, a, &l, k, FX_AXIS_MOTOR, bounded ? h * fx_max(half, 0.0) : INFINITY, w, 1.0 / both,
              sim->state.robot + x->at.drive + k);
}

/* ---- equalities ---- */

/* The parts that an equality moves are few, and its rows have entries for all coordinates of the world: only theirs are
 * looked at. Tendons may reach any. */
typedef struct reach {
  int32_t count, part[2]; /* in the order of parts */
  bool any;
} reach;

static reach reach_of(const fx_mechanism *x, const fx_tree_equality *e) {
  reach out = {.any = e->kind == FX_EQUAL_TENDON};
  for (int side = 0; side < 2 && !out.any; side++) {
    int32_t k = side ? e->second : e->first;
    if (k < 0) continue;
    int32_t dof = e->kind == FX_EQUAL_JOINT ? x->tree.joint[k].v : x->tree.body[k].dof_last;
    if (dof < 0) continue;
    int32_t part = x->part_of_dof[dof];
    if (part < 0) out.any = true;
    if (out.count == 1 && out.part[0] == part) continue;
    out.part[out.count++] = part;
  }
  if (out.count == 2 && out.part[1] < out.part[0]) out = (reach){2, {out.part[1], out.part[0]}, out.any};
  return out;
}

static int32_t range_count(const fx_mechanism *x, const reach *r) { return r->any ? x->part_count : r->count; }

static int32_t range_part(const reach *r, int32_t k) { return r->any ? k : r->part[k]; }

/* The trees that rows of the Jacobian move, as slots. */
static int32_t slots_of_rows(const fx_mechanism *x, const reach *r, int32_t rows, int32_t slot[4]) {
  size_t n = (size_t)x->tree.dof_count;
  int32_t count = 0;
  for (int32_t c = 0; c < range_count(x, r) && count < 4; c++) {
    int32_t p = range_part(r, c);
    bool any = false;
    if (x->mover[p] < 0) continue;
    for (int32_t k = 0; k < rows; k++)
      for (int32_t i = x->part[p].first; i < x->part[p].first + x->part[p].count; i++)
        any |= x->jacobian[(size_t)k * n + (size_t)i] != 0.0;
    if (any) slot[count++] = x->part[p].slot;
  }
  return count;
}

/* The largest entry of a row. */
static double size_of_row(const fx_mechanism *x, const reach *r, const double *row) {
  double most = 0.0;
  for (int32_t i = 0; r->any && i < x->tree.dof_count; i++) most = fx_max(most, fabs(row[i]));
  for (int32_t c = 0; !r->any && c < r->count; c++) {
    const fx_part *p = &x->part[r->part[c]];
    for (int32_t i = p->first; i < p->first + p->count; i++) most = fx_max(most, fabs(row[i]));
  }
  return most;
}

/* Rows that move nothing but by rounding, as those across a flat linkage do, are left out; which ones stay is kept, so
 * that each remembers its own impulse. */
int32_t fx_equality_rows(const frix_sim *sim, int32_t equality, double *error) {
  const fx_mechanism *x = sim->mechanism;
  int32_t *kept = x->equality_row + FRIX_MAX_DIM * equality;
  int32_t rows = frix_robot_equality_rows(x->state, equality, FRIX_MAX_DIM, error, x->jacobian);
  reach r = reach_of(x, &x->tree.equality[equality]);
  size_t n = (size_t)x->tree.dof_count;
  double size[FRIX_MAX_DIM] = {0}, most = 0.0;
  int32_t count = 0;
  for (int32_t k = 0; k < rows; k++) {
    size[k] = size_of_row(x, &r, x->jacobian + (size_t)k * n);
    most = fx_max(most, size[k]);
  }
  for (int32_t k = 0; k < rows; k++) {
    if (!(size[k] > NOISE * most)) continue;
    if (count < k) memcpy(x->jacobian + (size_t)count * n, x->jacobian + (size_t)k * n, n * sizeof *x->jacobian);
    kept[count] = k;
    error[count++] = error[k];
  }
  return count;
}

double *fx_equality_memory(const frix_sim *sim, int32_t equality, int32_t k) {
  const fx_mechanism *x = sim->mechanism;
  int32_t first = FRIX_MAX_DIM * equality;
  return sim->state.robot + x->at.equality + first + x->equality_row[first + k];
}

static void add_equality(frix_sim *sim, fx_assembly *a, int32_t e) {
  const fx_mechanism *x = sim->mechanism;
  double error[FRIX_MAX_DIM], weight = 0.0, *memory = sim->state.robot + x->at.equality + FRIX_MAX_DIM * e;
  int32_t slot[4], rows = x->loop_of_equality[e] >= 0 ? 0 : fx_equality_rows(sim, e, error);
  reach r = reach_of(x, &x->tree.equality[e]);
  int32_t count = slots_of_rows(x, &r, rows, slot);
  if (rows == 0 || count == 0) return;
  fx_group *g =
      fx_group_add(sim, a, FX_GROUP_JOINT, e, (frix_contact){.cone = FRIX_CONE_BILATERAL, .dim = rows}, count, slot);
  g->robot = true;
  g->memory = memory;
  for (int32_t k = 0; k < rows; k++) {
    const double *row = x->jacobian + (size_t)k * (size_t)x->tree.dof_count;
    for (int32_t b = 0; b < g->body_count; b++) {
      const fx_tree_mover *t = sim->mover[g->mover[b]].tree;
      memcpy(fx_group_block(sim, a, g, g->mover[b], k), row + t->first, (size_t)t->count * sizeof *row);
    }
    a->w[g->row + k] = fx_closing(sim, slot[0], error[k]);
    double past = *fx_equality_memory(sim, e, k);
    a->guess[g->row + k] = past;
    a->r_c[g->row + k] = fx_loop_remembers(error[k]) ? past : 0.0;
    weight = fx_max(weight, fx_group_weight(sim, a, g, k));
  }
  for (int32_t k = 0; k < rows; k++) a->R[g->row + k] = fx_loop_softness * weight;
  a->compliant = true;
}

void fx_mechanism_rows(frix_sim *sim, fx_assembly *a) {
  const fx_mechanism *x = sim->mechanism;
  for (int32_t k = 0; k < x->tree.joint_count; k++) {
    if (x->part_of_dof[x->tree.joint[k].v] < 0) continue;
    joint_limits(sim, a, &x->tree.joint[k]);
    joint_friction(sim, a, &x->tree.joint[k]);
  }
  for (int32_t k = 0; k < x->tree.tendon_count; k++) tendon_rows(sim, a, k);
  for (int32_t k = 0; k < x->tree.actuator_count; k++) drive_row(sim, a, k);
  for (int32_t k = 0; k < x->tree.equality_count; k++) add_equality(sim, a, k);
}

/* ---- room and memory ---- */

/* Whether something of it moves in this step, or it moves nothing. */
static bool moves_span(const fx_mechanism *x, fx_tree_span span) {
  bool sleeps = false;
  for (int32_t n = span.first; n < span.first + span.count; n++) {
    int32_t part = x->part_of_dof[x->tree.list[n]];
    if (part >= 0 && x->mover[part] >= 0) return true;
    sleeps |= part >= 0;
  }
  return !sleeps;
}

static bool moves_equality(const fx_mechanism *x, const fx_tree_equality *e) {
  bool sleeps = false;
  for (int side = 0; side < 2; side++) {
    int32_t k = side ? e->second : e->first, dof = -1;
    if (k < 0) continue;
    if (e->kind == FX_EQUAL_TENDON) {
      if (!moves_span(x, x->tree.tendon[k].dofs)) return false;
      continue;
    }
    dof = e->kind == FX_EQUAL_JOINT ? x->tree.joint[k].v : x->tree.body[k].dof_last;
    int32_t part = dof >= 0 ? x->part_of_dof[dof] : -1;
    if (part >= 0 && x->mover[part] >= 0) return true;
    sleeps |= part >= 0;
  }
  return !sleeps;
}

void fx_mechanism_room(const frix_sim *sim, int32_t *groups, int32_t *rows, size_t *values) {
  const fx_tree *t = &sim->mechanism->tree;
  int32_t more = 3 * t->dof_count + 4 * t->tendon_count + t->actuator_count;
  *groups += more + t->equality_count;
  *rows += 2 * more + FRIX_MAX_DIM * t->equality_count;
  *values += (size_t)(2 * more + FRIX_MAX_DIM * t->equality_count) * fx_row_values(sim, 2);
}

/* Rows of trees that sleep remember what they had. */
static void clear_memory(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree *t = &x->tree;
  double *list = sim->state.robot;
  const int32_t dof[3] = {x->at.lower, x->at.upper, x->at.friction};
  const int32_t tendon[4] = {x->at.tendon_lower, x->at.tendon_upper, x->at.tendon_friction, x->at.tendon_spring};
  for (int32_t i = 0; i < t->dof_count; i++) {
    bool sleeps = x->part_of_dof[i] >= 0 && x->mover[x->part_of_dof[i]] < 0;
    for (int k = 0; k < 3 && !sleeps; k++) list[dof[k] + i] = 0.0;
  }
  for (int32_t n = 0; n < t->tendon_count; n++)
    for (int k = 0; k < 4 && moves_span(x, t->tendon[n].dofs); k++) list[tendon[k] + n] = 0.0;
  memset(list + x->at.drive, 0, (size_t)t->actuator_count * sizeof *list);
  for (int32_t e = 0; e < t->equality_count; e++)
    if (moves_equality(x, &t->equality[e]))
      memset(list + x->at.equality + FRIX_MAX_DIM * e, 0, FRIX_MAX_DIM * sizeof *list);
}

void fx_mechanism_keep(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  const fx_assembly *a = &sim->rows;
  fx_holds_keep(sim);
  clear_memory(sim);
  for (int32_t i = 0; i < x->tree.dof_count; i++) {
    const fx_hold *h = &x->hold[i];
    if (h->mode != FX_HOLD_STUCK && h->mode != FX_HOLD_SLIDES) continue; /* none of a tree that sleeps */
    const fx_tree_mover *t = sim->mover[x->mover[x->part_of_dof[i]]].tree;
    sim->state.robot[x->at.friction + i] = h->impulse - h->slope * t->v1[i - t->first];
  }
  for (int32_t l = 0; l < x->loop_count; l++) {
    const fx_loop *loop = &x->loop[l];
    if (x->mover[loop->part] < 0) continue;
    const fx_tree_mover *t = sim->mover[x->mover[loop->part]].tree;
    for (int32_t k = 0; k < loop->rows; k++)
      *fx_equality_memory(sim, loop->equality, k) = fx_loop_impulse(x, loop, k, t->v1);
  }
  for (int32_t k = 0; k < a->group_count; k++) {
    const fx_group *g = &a->group[k];
    if (!g->robot) continue;
    bool bounded = g->kind == FX_GROUP_AXIS && g->dim == 2;
    double most = bounded ? HELD * a->r_c[g->row] : 0.0;
    if (bounded && g->part == FX_AXIS_MOTOR && fabs(a->r[g->row + 1]) < most) continue; /* not at its bounds */
    bool equality = g->kind == FX_GROUP_JOINT;
    for (int32_t j = bounded; j < g->dim; j++)
      *(equality ? fx_equality_memory(sim, g->source, j) : &g->memory[j - bounded]) = a->r[g->row + j];
  }
}
