/* The state of a tree: its memory, and the order in which it is evaluated. */
#include <string.h>

#include "tree/tree.h"

/* ---- memory ---- */

static bool take_numbers(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  fx_arena *a = &s->arena;
  const struct {
    double **list;
    int32_t count;
  } row[] = {{&s->qpos, t->q_count},
             {&s->qvel, t->dof_count},
             {&s->ctrl, t->ctrl_count},
             {&s->act, t->act_count},
             {&s->history, t->history_count},
             {&s->mocap, 7 * t->mocap_count},
             {&s->applied, t->dof_count},
             {&s->m, t->m_count},
             {&s->factor, t->m_count},
             {&s->factor_diagonal, t->dof_count},
             {&s->tendon_length, t->tendon_count},
             {&s->tendon_velocity, t->tendon_count},
             {&s->tendon_force, t->tendon_count},
             {&s->tendon_moment, t->list_count},
             {&s->actuator_moment, t->list_count},
             {&s->actuator_length, t->actuator_count},
             {&s->actuator_velocity, t->actuator_count},
             {&s->actuator_force, t->actuator_count},
             {&s->actuator_beside, t->actuator_count},
             {&s->actuator_torque, t->dof_count},
             {&s->act_rate, t->act_count},
             {&s->bias, t->dof_count},
             {&s->passive, t->dof_count},
             {&s->gravcomp, t->dof_count},
             {&s->smooth, t->dof_count},
             {&s->acceleration, t->dof_count},
             {&s->sensor, t->sensor_size},
             {&s->row, t->dof_count},
             {&s->row2, t->dof_count},
             {&s->turned, t->dof_count},
             {&s->placed, t->q_count + t->dof_count + 7 * t->mocap_count}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++)
    if (!(*row[k].list = FX_TAKE(a, double, row[k].count))) return false;
  return true;
}

static bool take_bodies(frix_robot_state *s) {
  const fx_tree *t = s->tree;
  fx_arena *a = &s->arena;
  return (s->pose = FX_TAKE(a, frix_pose, t->body_count)) && (s->center = FX_TAKE(a, frix_vec3, t->body_count)) &&
         (s->anchor = FX_TAKE(a, frix_vec3, t->joint_count)) && (s->axis = FX_TAKE(a, frix_vec3, t->joint_count)) &&
         (s->motion = FX_TAKE(a, fx_spatial, t->dof_count)) &&
         (s->motion_rate = FX_TAKE(a, fx_spatial, t->dof_count)) &&
         (s->inertia = FX_TAKE(a, fx_inertia, t->body_count)) &&
         (s->composite = FX_TAKE(a, fx_inertia, t->body_count)) &&
         (s->velocity = FX_TAKE(a, fx_spatial, t->body_count)) && (s->turning = FX_TAKE(a, frix_sym3, t->body_count)) &&
         (s->spatial = FX_TAKE(a, fx_spatial, t->body_count)) && (s->spatial2 = FX_TAKE(a, fx_spatial, t->body_count));
}

frix_status fx_tree_state(frix_context *context, const fx_tree *tree, frix_robot_state **out) {
  frix_robot_state *s = FX_NEW(context, frix_robot_state, 1);
  if (!s) return FRIX_ERROR_MEMORY;
  s->context = context, s->tree = tree;
  fx_arena_init(&s->arena, context);
  if (!take_numbers(s) || !take_bodies(s)) {
    frix_robot_state_destroy(s);
    return FRIX_ERROR_MEMORY;
  }
  frix_robot_reset(s, -1);
  *out = s;
  return FRIX_OK;
}

void frix_robot_state_destroy(frix_robot_state *s) {
  if (!s) return;
  fx_arena_free(&s->arena);
  fx_free(s->context, s);
}

frix_status frix_robot_reset(frix_robot_state *s, int32_t key) {
  if (!s || key < -1 || key >= s->tree->key_count) return FRIX_ERROR_INPUT;
  const fx_tree *t = s->tree;
  const fx_tree_key none = {.qpos = t->qpos0}, *k = key < 0 ? &none : &t->key[key];
  const struct {
    double *to;
    const double *from;
    int32_t count;
  } row[] = {{s->qpos, k->qpos, t->q_count},
             {s->qvel, k->qvel, t->dof_count},
             {s->ctrl, k->ctrl, t->ctrl_count},
             {s->act, k->act, t->act_count},
             {s->applied, NULL, t->dof_count}};
  for (size_t n = 0; n < sizeof row / sizeof *row; n++) {
    size_t size = (size_t)row[n].count * sizeof *row[n].to;
    if (row[n].from && row[n].count)
      memcpy(row[n].to, row[n].from, size);
    else
      memset(row[n].to, 0, size);
  }
  for (int32_t b = 1; b < t->body_count; b++) {
    if (t->body[b].mocap < 0) continue;
    double *to = s->mocap + 7 * (size_t)t->body[b].mocap;
    const frix_pose *p = &t->body[b].place;
    const double place[7] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
    memcpy(to, k->mocap ? k->mocap + 7 * (size_t)t->body[b].mocap : place, sizeof place);
  }
  s->time = k->time;
  fx_tree_forget(s);
  s->is_placed = false;
  return FRIX_OK;
}

/* ---- evaluation ---- */

/* Copies the configuration and the velocities, which tendons and actuators have too, to `placed`; true where they stood
 * there already. */
static bool is_same(frix_robot_state *s) {
  const struct {
    const double *list;
    int32_t count;
  } row[] = {{s->qpos, s->tree->q_count}, {s->qvel, s->tree->dof_count}, {s->mocap, 7 * s->tree->mocap_count}};
  bool same = s->is_placed;
  double *at = s->placed;
  for (size_t k = 0; k < sizeof row / sizeof *row; at += row[k++].count) {
    size_t bytes = (size_t)row[k].count * sizeof *at;
    same = same && !memcmp(at, row[k].list, bytes);
    if (!same) memcpy(at, row[k].list, bytes);
  }
  s->is_placed = true;
  return same;
}

/* A step begins where the last one ended: what is known of a state is not found again. */
void fx_tree_evaluate_position(frix_robot_state *s) {
  if (is_same(s)) return;
  fx_tree_kinematics(s); /* which may give quaternions unit length: they are then found again, once */
  fx_tree_tendons(s);
  fx_tree_transmissions(s);
  fx_tree_mass(s);
}

frix_status frix_robot_forward(frix_robot_state *s) {
  if (!s) return FRIX_ERROR_INPUT;
  const fx_tree *t = s->tree;
  fx_tree_evaluate_position(s);
  bool regular = fx_tree_factor(s);
  fx_tree_velocities(s);
  fx_tree_newton_euler(s, NULL, s->bias);
  fx_tree_passive(s);
  fx_tree_actuators(s);
  for (int32_t i = 0; i < t->dof_count; i++)
    s->smooth[i] = s->passive[i] + s->actuator_torque[i] + s->applied[i] - s->bias[i];
  memcpy(s->acceleration, s->smooth, (size_t)t->dof_count * sizeof *s->smooth);
  fx_tree_solve(s, s->acceleration);
  fx_tree_energy(s);
  fx_tree_sensors(s, s->acceleration, NULL);
  if (!regular)
    return fx_fail(s->context, FRIX_ERROR_INPUT,
                   "frix_robot_forward: the mass matrix is singular: joints of one body repeat each other");
  for (int32_t i = 0; i < t->dof_count; i++)
    if (!isfinite(s->acceleration[i]))
      return fx_fail(s->context, FRIX_ERROR_INPUT, "frix_robot_forward: the state has no finite acceleration");
  return FRIX_OK;
}
