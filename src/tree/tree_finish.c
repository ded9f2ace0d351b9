/* From lists to a tree: coordinates, links, the pattern of M, spans of tendons and actuators; then the numbers that are
 * taken at the reference: M's diagonal, lengths, damping by ratio, frames of equalities. */
#include <string.h>

#include "tree/tree.h"

/* ---- coordinates and links ---- */

static frix_status number_joints(fx_arena *arena, fx_tree *t) {
  t->q_count = t->dof_count = 0;
  for (int32_t k = 0; k < t->joint_count; k++) {
    fx_tree_joint *j = &t->joint[k];
    j->q = t->q_count, j->v = t->dof_count;
    t->q_count += fx_joint_q_size(j->kind), t->dof_count += fx_joint_v_size(j->kind);
  }
  t->dof = FX_TAKE(arena, fx_tree_dof, t->dof_count);
  t->qpos0 = FX_TAKE(arena, double, t->q_count);
  t->m0 = FX_TAKE(arena, double, t->dof_count);
  if (!t->dof || !t->qpos0 || !t->m0) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < t->joint_count; k++) {
    const fx_tree_joint *j = &t->joint[k];
    memcpy(t->qpos0 + j->q, j->ref, (size_t)fx_joint_q_size(j->kind) * sizeof *j->ref);
  }
  return FRIX_OK;
}

static void number_body(fx_tree *t, int32_t b) {
  fx_tree_body *body = &t->body[b];
  const fx_tree_body *parent = &t->body[body->parent];
  bool moves = body->joint_count > 0;
  body->dof_last = parent->dof_last;
  body->dof_first = body->joint_count ? t->joint[body->joint_first].v : 0;
  body->dof_count = 0;
  for (int32_t k = body->joint_first; k < body->joint_first + body->joint_count; k++)
    for (int32_t n = 0; n < fx_joint_v_size(t->joint[k].kind); n++) {
      int32_t i = t->joint[k].v + n;
      t->dof[i] = (fx_tree_dof){k, b, body->dof_last, 0};
      body->dof_last = i;
      body->dof_count++;
    }
  body->link = moves ? b : parent->link;
  body->root = !body->link ? 0 : parent->root ? parent->root : b;
}

/* What is fixed to a link is part of it. */
static frix_status merge(fx_arena *arena, fx_tree *t) {
  frix_pose *place = FX_TAKE(arena, frix_pose, t->body_count);
  if (!place) return FRIX_ERROR_MEMORY;
  for (int32_t b = 1; b < t->body_count; b++) {
    fx_tree_body *body = &t->body[b];
    bool own = body->link == b;
    place[b] = own ? fx_pose_one() : b && body->link ? fx_pose_mul(place[body->parent], body->place) : fx_pose_one();
    if (own) body->carried = body->mass;
    if (!own && body->link) fx_mass_add(&t->body[body->link].carried, &body->mass, 1.0, place[b], false);
  }
  return FRIX_OK;
}

static void set_axes(fx_tree_body *body) {
  double value[3];
  frix_vec3 axis[3];
  fx_sym3_eigen(body->mass.inertia, value, axis);
  if (!body->has_axes) body->axes = fx_quat_of_axes(axis[2], axis[1], fx_cross(axis[2], axis[1]));
  frix_sym3 turned = fx_sym3_turn(fx_quat_conj(body->axes), body->mass.inertia);
  body->moments = fx_vec(turned.xx, turned.yy, turned.zz);
}

static void number_rows(fx_tree *t) {
  int32_t at = 0;
  for (int32_t i = 0; i < t->dof_count; i++) {
    t->dof[i].row = at;
    for (int32_t j = i; j >= 0; j = t->dof[j].parent) at++;
  }
  t->m_count = at;
}

/* ---- spans ---- */

typedef struct span_maker {
  fx_arena *arena;
  fx_tree *tree;
  int32_t room;
  bool *in; /* by coordinate */
} span_maker;

static void include_body(const span_maker *m, int32_t body) {
  for (int32_t i = m->tree->body[body].dof_last; i >= 0; i = m->tree->dof[i].parent) m->in[i] = true;
}

static void include_joint(const span_maker *m, int32_t k) {
  const fx_tree_joint *j = &m->tree->joint[k];
  for (int32_t n = 0; n < fx_joint_v_size(j->kind); n++) m->in[j->v + n] = true;
}

/* Puts what is included down as a span and forgets it. */
static frix_status close_span(span_maker *m, fx_tree_span *out) {
  fx_tree *t = m->tree;
  *out = (fx_tree_span){t->list_count, 0};
  for (int32_t i = 0; i < t->dof_count; i++) {
    if (!m->in[i]) continue;
    m->in[i] = false;
    if (t->list_count == m->room) {
      int32_t room = m->room ? 2 * m->room : 256;
      int32_t *grown = FX_TAKE_RAW(m->arena, int32_t, room);
      if (!grown) return FRIX_ERROR_MEMORY;
      if (t->list_count) memcpy(grown, t->list, (size_t)t->list_count * sizeof *grown);
      t->list = grown, m->room = room;
    }
    t->list[t->list_count++] = i;
    out->count++;
  }
  return FRIX_OK;
}

static frix_status tendon_spans(span_maker *m) {
  fx_tree *t = m->tree;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < t->tendon_count && !status; k++) {
    for (int32_t n = 0; n < t->tendon[k].wrap_count; n++) {
      const fx_tree_wrap *w = &t->wrap[t->tendon[k].wrap_first + n];
      if (w->kind == FX_WRAP_JOINT) include_joint(m, w->object);
      if (w->kind == FX_WRAP_SITE) include_body(m, t->site[w->object].body);
      if (w->kind == FX_WRAP_SPHERE || w->kind == FX_WRAP_CYLINDER) include_body(m, t->geom[w->object].body);
    }
    status = close_span(m, &t->tendon[k].dofs);
  }
  return status;
}

static frix_status actuator_spans(span_maker *m) {
  fx_tree *t = m->tree;
  frix_status status = FRIX_OK;
  for (int32_t k = 0; k < t->actuator_count && !status; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    switch (a->transmission) {
      case FRIX_ROBOT_AT_JOINT:
      case FRIX_ROBOT_AT_JOINT_IN_PARENT: include_joint(m, a->object); break;
      case FRIX_ROBOT_AT_TENDON: {
        fx_tree_span from = t->tendon[a->object].dofs;
        for (int32_t n = from.first; n < from.first + from.count; n++) m->in[t->list[n]] = true;
        break;
      }
      case FRIX_ROBOT_AT_CRANK:
      case FRIX_ROBOT_AT_SITE:
        include_body(m, t->site[a->object].body);
        if (a->object2 >= 0) include_body(m, t->site[a->object2].body);
        break;
      case FRIX_ROBOT_AT_BODY: break;
    }
    status = close_span(m, &t->actuator[k].dofs);
  }
  return status;
}

static frix_status make_spans(fx_arena *arena, fx_tree *t) {
  span_maker m = {arena, t, 0, FX_TAKE(arena, bool, t->dof_count)};
  if (!m.in) return FRIX_ERROR_MEMORY;
  t->list = FX_TAKE_RAW(arena, int32_t, 1);
  if (!t->list) return FRIX_ERROR_MEMORY;
  t->list_count = 0;
  frix_status status = tendon_spans(&m);
  return status ? status : actuator_spans(&m);
}

/* ---- at the reference ---- */

/* One frame of an equality is where the other is at the reference. */
static void set_equality(const frix_robot_state *s, fx_tree_equality *e) {
  if (e->of_sites || e->kind > FX_EQUAL_WELD) return;
  int given = e->second_given, other = 1 - given;
  int32_t body[2] = {e->first, e->second};
  frix_pose there = fx_pose_mul(s->pose[body[given]], e->at[given]);
  e->at[other] = fx_pose_mul(fx_pose_inverse(s->pose[body[other]]), there);
  e->at[other].q = fx_quat_unit(e->at[other].q);
}

/* Damping of a servo by its ratio: 2 ratio sqrt(kp m), m the inertia it moves at the reference, as MuJoCo counts it. */
static void set_damping(const frix_robot_state *s, fx_tree_actuator *a) {
  const fx_tree *t = s->tree;
  if (!(a->damp_ratio > 0.0)) return;
  if (a->turn > 1) { /* that of the first axis */
    a->bias[2] = a[1 - a->turn].bias[2];
    return;
  }
  double inertia = 0.0;
  for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++) {
    double square = s->actuator_moment[n] * s->actuator_moment[n];
    if (square > 1e-15) inertia += t->m0[t->list[n]] / square;
  }
  a->bias[2] = -2.0 * a->damp_ratio * sqrt(a->gain[0] * inertia);
}

/* |M^-1 moment|: what a muscle's strength is measured by. */
static void set_acc0(frix_robot_state *s, fx_tree_actuator *a) {
  const fx_tree *t = s->tree;
  double sum = 0.0;
  for (int32_t n = a->dofs.first; n < a->dofs.first + a->dofs.count; n++) s->row[t->list[n]] = s->actuator_moment[n];
  fx_tree_solve(s, s->row);
  for (int32_t i = 0; i < t->dof_count; i++) {
    sum += s->row[i] * s->row[i];
    s->row[i] = 0.0;
  }
  a->acc0 = sqrt(sum);
}

/* A spring and a damper by the time they take: stiffness J / (T z)^2 and damping 2 J / T, 1 / J = (M^-1)_ii. */
static void set_spring(frix_robot_state *s, fx_tree_joint *j) {
  const fx_tree *t = s->tree;
  double time = j->spring_damper[0], ratio = j->spring_damper[1];
  if (!(time > 0.0 && ratio > 0.0) || fx_joint_v_size(j->kind) != 1) return;
  s->row[j->v] = 1.0;
  fx_tree_solve(s, s->row);
  double inertia = 1.0 / s->row[j->v];
  memset(s->row, 0, (size_t)t->dof_count * sizeof *s->row);
  if (!t->no_spring) j->stiffness[0] = inertia / (time * time * ratio * ratio);
  if (!t->no_damper) j->damping[0] = 2.0 * inertia / time;
}

/* Muscles that do not say how long they may be. */
static frix_status find_ranges(frix_context *context, fx_arena *arena, fx_tree *t, frix_robot_state *s) {
  double *room = NULL;
  for (int32_t k = 0; k < t->actuator_count; k++) {
    fx_tree_actuator *a = &t->actuator[k];
    if (!a->wants_range) continue;
    if (!room && !(room = FX_TAKE(arena, double, t->q_count))) return FRIX_ERROR_MEMORY;
    if (!fx_tree_find_length_range(s, k, room, a->length_range))
      return fx_fail(context, FRIX_ERROR_INPUT,
                     "muscle '%s' has no lengthrange, and no ranges of joints bound its length",
                     a->name ? a->name : "");
  }
  return FRIX_OK;
}

static frix_status take_reference(frix_context *context, fx_arena *arena, fx_tree *t) {
  frix_robot_state *s = NULL;
  frix_status status = fx_tree_state(context, t, &s);
  if (status) return status;
  for (int32_t k = 0; k < t->joint_count; k++) /* tendons rest where the springs of joints do */
    memcpy(s->qpos + t->joint[k].q, t->joint[k].spring,
           (size_t)fx_joint_q_size(t->joint[k].kind) * sizeof *t->joint[k].spring);
  fx_tree_evaluate_position(s);
  for (int32_t k = 0; k < t->tendon_count; k++) {
    double *spring = t->tendon[k].spring; /* other negative numbers are lengths that fixed tendons may have */
    if (spring[0] == -1.0 && spring[1] == -1.0) spring[0] = spring[1] = s->tendon_length[k];
  }
  frix_robot_reset(s, -1);
  fx_tree_evaluate_position(s);
  for (int32_t k = 0; k < t->tendon_count; k++) t->tendon[k].length0 = s->tendon_length[k];
  for (int32_t i = 0; i < t->dof_count; i++) t->m0[i] = s->m[t->dof[i].row];
  for (int32_t k = 0; k < t->tendon_count; k++) /* tendons do not count here, as in MuJoCo */
    for (int32_t n = t->tendon[k].dofs.first; n < t->tendon[k].dofs.first + t->tendon[k].dofs.count; n++)
      t->m0[t->list[n]] -= t->tendon[k].armature * s->tendon_moment[n] * s->tendon_moment[n];
  fx_tree_factor(s);
  for (int32_t k = 0; k < t->joint_count; k++) set_spring(s, &t->joint[k]);
  for (int32_t k = 0; k < t->actuator_count; k++) set_damping(s, &t->actuator[k]), set_acc0(s, &t->actuator[k]);
  for (int32_t k = 0; k < t->equality_count; k++) set_equality(s, &t->equality[k]);
  status = find_ranges(context, arena, t, s);
  frix_robot_state_destroy(s);
  return status;
}

/* Rotors of actuators: their inertia and damping count at what they drive, by the square of the gear. The damping comes
 * last: what a joint says of its time constant is without it. */
static void reflect_rotors(fx_tree *t, bool damping) {
  for (int32_t k = 0; k < t->actuator_count; k++) {
    const fx_tree_actuator *a = &t->actuator[k];
    double square = a->gear[0] * a->gear[0], *out = NULL;
    if (a->transmission == FRIX_ROBOT_AT_JOINT || a->transmission == FRIX_ROBOT_AT_JOINT_IN_PARENT)
      out = damping ? t->joint[a->object].damping : &t->joint[a->object].armature;
    if (a->transmission == FRIX_ROBOT_AT_TENDON)
      out = damping ? t->tendon[a->object].damping : &t->tendon[a->object].armature;
    const double *own = damping ? a->damping : &a->armature;
    for (int n = 0; out && n < (damping ? FX_TREE_POLYNOMIAL : 1); n++) out[n] += square * own[n];
  }
}

frix_status fx_tree_finish(frix_context *context, fx_arena *arena, fx_tree *t) {
  reflect_rotors(t, false);
  for (int32_t k = 0; k < t->geom_count; k++)
    if (t->geom[k].ellipsoid) {
      fx_tree_fluid_prepare(&t->geom[k]);
      t->body[t->geom[k].body].ellipsoids = true;
    }
  frix_status status = number_joints(arena, t);
  if (status) return status;
  t->body[0].dof_last = -1, t->body[0].link = t->body[0].root = 0, t->body[0].mocap = -1;
  for (int32_t b = 1; b < t->body_count; b++) number_body(t, b);
  for (int32_t b = 1; b < t->body_count; b++) set_axes(&t->body[b]);
  number_rows(t);
  if ((status = merge(arena, t)) || (status = make_spans(arena, t))) return status;
  if ((status = take_reference(context, arena, t))) return status;
  reflect_rotors(t, true);
  return FRIX_OK;
}
