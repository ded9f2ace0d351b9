/* Robots: the public calls over the tree. */
#include <string.h>

#include "tree/tree.h"

void frix_robot_destroy(frix_robot *robot) {
  if (!robot) return;
  fx_arena_free(&robot->arena);
  fx_free(robot->context, robot);
}

frix_robot_info frix_robot_view(const frix_robot *robot) {
  frix_robot_info info = {0};
  if (!robot) return info;
  const fx_tree *t = &robot->tree;
  info = (frix_robot_info){.name = robot->name,
                           .body_count = t->body_count,
                           .joint_count = t->joint_count,
                           .site_count = t->site_count,
                           .tendon_count = t->tendon_count,
                           .actuator_count = t->actuator_count,
                           .sensor_count = t->sensor_count,
                           .equality_count = t->equality_count,
                           .key_count = t->key_count,
                           .mocap_count = t->mocap_count,
                           .q_count = t->q_count,
                           .v_count = t->dof_count,
                           .act_count = t->act_count,
                           .sensor_size = t->sensor_size,
                           .timestep = t->timestep,
                           .gravity = t->gravity,
                           .note_count = robot->note_count,
                           .note = robot->note};
  for (int32_t b = 1; b < t->body_count; b++) info.mass += t->body[b].mass.mass;
  return info;
}

/* ---- parts ---- */

frix_status frix_robot_get_body(const frix_robot *robot, int32_t k, frix_robot_body *out) {
  if (!robot || !out || k < 0 || k >= robot->tree.body_count) return FRIX_ERROR_INPUT;
  const fx_tree_body *b = &robot->tree.body[k];
  *out = (frix_robot_body){b->name,  b->parent,    b->joint_first, b->joint_count,
                           b->mocap, b->mass.mass, b->mass.center, b->mass.inertia};
  return FRIX_OK;
}

frix_status frix_robot_get_joint(const frix_robot *robot, int32_t k, frix_robot_joint *out) {
  if (!robot || !out || k < 0 || k >= robot->tree.joint_count) return FRIX_ERROR_INPUT;
  const fx_tree_joint *j = &robot->tree.joint[k];
  *out = (frix_robot_joint){
      j->name,         j->kind,       j->body,     j->q,       j->v, j->limited, {j->range[0], j->range[1]},
      j->stiffness[0], j->damping[0], j->friction, j->armature};
  return FRIX_OK;
}

static const char *object_name(const fx_tree *t, const fx_tree_actuator *a) {
  switch (a->transmission) {
    case FRIX_ROBOT_AT_JOINT:
    case FRIX_ROBOT_AT_JOINT_IN_PARENT: return t->joint[a->object].name;
    case FRIX_ROBOT_AT_TENDON: return t->tendon[a->object].name;
    case FRIX_ROBOT_AT_BODY: return t->body[a->object].name;
    default: return t->site[a->object].name;
  }
}

frix_status frix_robot_get_actuator(const frix_robot *robot, int32_t k, frix_robot_actuator *out) {
  if (!robot || !out || k < 0 || k >= robot->tree.actuator_count) return FRIX_ERROR_INPUT;
  const fx_tree_actuator *a = &robot->tree.actuator[k];
  *out = (frix_robot_actuator){a->name,
                               a->transmission,
                               object_name(&robot->tree, a),
                               a->act_first,
                               a->act_count,
                               a->ctrl_limited,
                               a->force_limited,
                               {a->ctrl_range[0], a->ctrl_range[1]},
                               {a->force_range[0], a->force_range[1]},
                               a->ctrl_first,
                               a->ctrl_count};
  return FRIX_OK;
}

frix_status frix_robot_get_sensor(const frix_robot *robot, int32_t k, frix_robot_sensor *out) {
  if (!robot || !out || k < 0 || k >= robot->tree.sensor_count) return FRIX_ERROR_INPUT;
  const fx_tree_sensor *x = &robot->tree.sensor[k];
  *out = (frix_robot_sensor){x->name, x->kind, x->first, x->count};
  return FRIX_OK;
}

const char *frix_robot_name(const frix_robot *robot, frix_robot_part part, int32_t k) {
  if (!robot || k < 0) return NULL;
  const fx_tree *t = &robot->tree;
  switch (part) {
    case FRIX_ROBOT_BODY: return k < t->body_count ? t->body[k].name : NULL;
    case FRIX_ROBOT_JOINT: return k < t->joint_count ? t->joint[k].name : NULL;
    case FRIX_ROBOT_SITE: return k < t->site_count ? t->site[k].name : NULL;
    case FRIX_ROBOT_TENDON: return k < t->tendon_count ? t->tendon[k].name : NULL;
    case FRIX_ROBOT_ACTUATOR: return k < t->actuator_count ? t->actuator[k].name : NULL;
    case FRIX_ROBOT_SENSOR: return k < t->sensor_count ? t->sensor[k].name : NULL;
    case FRIX_ROBOT_KEY: return k < t->key_count ? t->key[k].name : NULL;
    case FRIX_ROBOT_EQUALITY: return k < t->equality_count ? t->equality[k].name : NULL;
  }
  return NULL;
}

int32_t frix_robot_find(const frix_robot *robot, frix_robot_part part, const char *name) {
  if (!robot || !name) return -1;
  const fx_tree *t = &robot->tree;
  const int32_t count[] = {t->body_count,     t->joint_count,  t->site_count, t->tendon_count,
                           t->actuator_count, t->sensor_count, t->key_count,  t->equality_count};
  if ((size_t)part >= sizeof count / sizeof *count) return -1;
  for (int32_t k = 0; k < count[part]; k++) {
    const char *own = frix_robot_name(robot, part, k);
    if (own && !strcmp(own, name)) return k;
  }
  return -1;
}

const char *frix_robot_sensor_word(frix_robot_sensor_kind kind) {
  static const char *const word[] = {"accelerometer",
                                     "velocimeter",
                                     "gyro",
                                     "force",
                                     "torque",
                                     "magnetometer",
                                     "jointpos",
                                     "jointvel",
                                     "tendonpos",
                                     "tendonvel",
                                     "actuatorpos",
                                     "actuatorvel",
                                     "actuatorfrc",
                                     "jointactuatorfrc",
                                     "tendonactuatorfrc",
                                     "ballquat",
                                     "ballangvel",
                                     "jointlimitpos",
                                     "jointlimitvel",
                                     "jointlimitfrc",
                                     "tendonlimitpos",
                                     "tendonlimitvel",
                                     "tendonlimitfrc",
                                     "framepos",
                                     "framequat",
                                     "framexaxis",
                                     "frameyaxis",
                                     "framezaxis",
                                     "framelinvel",
                                     "frameangvel",
                                     "framelinacc",
                                     "frameangacc",
                                     "subtreecom",
                                     "subtreelinvel",
                                     "subtreeangmom",
                                     "e_potential",
                                     "e_kinetic",
                                     "clock",
                                     "insidesite",
                                     "camprojection",
                                     "touch",
                                     "contact",
                                     "rangefinder",
                                     "distance",
                                     "normal",
                                     "fromto",
                                     "tactile",
                                     "other"};
  _Static_assert(sizeof word / sizeof *word == FRIX_SENSOR_COUNT, "a word for each kind");
  return (size_t)kind < sizeof word / sizeof *word ? word[kind] : NULL;
}

/* ---- state ---- */

frix_status frix_robot_state_create(const frix_robot *robot, frix_robot_state **out) {
  if (!robot || !out) return FRIX_ERROR_INPUT;
  *out = NULL;
  return fx_tree_state(robot->context, &robot->tree, out);
}

double *frix_robot_data(frix_robot_state *s, frix_robot_array which, int32_t *count) {
  if (!s || (unsigned)which >= FRIX_ROBOT_ARRAY_COUNT) return NULL;
  const fx_tree *t = s->tree;
  const struct {
    double *list;
    int32_t count;
  } row[] = {[FRIX_ROBOT_QPOS] = {s->qpos, t->q_count},
             [FRIX_ROBOT_QVEL] = {s->qvel, t->dof_count},
             [FRIX_ROBOT_CTRL] = {s->ctrl, t->ctrl_count},
             [FRIX_ROBOT_ACT] = {s->act, t->act_count},
             [FRIX_ROBOT_MOCAP] = {s->mocap, 7 * t->mocap_count},
             [FRIX_ROBOT_APPLIED] = {s->applied, t->dof_count},
             [FRIX_ROBOT_BIAS] = {s->bias, t->dof_count},
             [FRIX_ROBOT_PASSIVE] = {s->passive, t->dof_count},
             [FRIX_ROBOT_ACTUATOR_TORQUE] = {s->actuator_torque, t->dof_count},
             [FRIX_ROBOT_ACTUATOR_FORCE] = {s->actuator_force, t->actuator_count},
             [FRIX_ROBOT_ACTUATOR_LENGTH] = {s->actuator_length, t->actuator_count},
             [FRIX_ROBOT_ACTUATOR_VELOCITY] = {s->actuator_velocity, t->actuator_count},
             [FRIX_ROBOT_ACT_RATE] = {s->act_rate, t->act_count},
             [FRIX_ROBOT_TENDON_LENGTH] = {s->tendon_length, t->tendon_count},
             [FRIX_ROBOT_TENDON_VELOCITY] = {s->tendon_velocity, t->tendon_count},
             [FRIX_ROBOT_ACCELERATION] = {s->acceleration, t->dof_count},
             [FRIX_ROBOT_SENSOR_DATA] = {s->sensor, t->sensor_size}};
  if (count) *count = row[which].count;
  return row[which].list;
}

/* ---- of an evaluated state ---- */

frix_pose frix_robot_body_pose(const frix_robot_state *s, int32_t body) {
  return s && body >= 0 && body < s->tree->body_count ? s->pose[body] : fx_pose_one();
}

frix_pose frix_robot_site_pose(const frix_robot_state *s, int32_t site) {
  if (!s || site < 0 || site >= s->tree->site_count) return fx_pose_one();
  frix_pose pose = fx_tree_site_pose(s, site);
  pose.q = fx_quat_unit(pose.q);
  return pose;
}

frix_status frix_robot_jacobian(const frix_robot_state *s, int32_t body, frix_vec3 point, double *translation,
                                double *rotation) {
  if (!s || body < 0 || body >= s->tree->body_count) return FRIX_ERROR_INPUT;
  size_t n = (size_t)s->tree->dof_count;
  for (int k = 0; k < 3; k++) {
    frix_vec3 d = fx_vec(k == 0, k == 1, k == 2);
    if (translation) {
      memset(translation + (size_t)k * n, 0, n * sizeof *translation);
      fx_tree_add_jacobian(s, body, point, d, translation + (size_t)k * n);
    }
    if (rotation) {
      memset(rotation + (size_t)k * n, 0, n * sizeof *rotation);
      fx_tree_add_turn(s, body, d, rotation + (size_t)k * n);
    }
  }
  return FRIX_OK;
}

frix_status frix_robot_site_jacobian(const frix_robot_state *s, int32_t site, double *translation, double *rotation) {
  if (!s || site < 0 || site >= s->tree->site_count) return FRIX_ERROR_INPUT;
  return frix_robot_jacobian(s, s->tree->site[site].body, fx_tree_site_pose(s, site).p, translation, rotation);
}

void frix_robot_mass_matrix(const frix_robot_state *s, double *out) {
  if (!s || !out) return;
  const fx_tree *t = s->tree;
  size_t n = (size_t)t->dof_count;
  memset(out, 0, n * n * sizeof *out);
  for (int32_t i = 0; i < t->dof_count; i++) {
    const double *row = s->m + t->dof[i].row;
    for (int32_t j = i; j >= 0; j = t->dof[j].parent, row++)
      out[(size_t)i * n + (size_t)j] = out[(size_t)j * n + (size_t)i] = *row;
  }
}

void frix_robot_mass_solve(const frix_robot_state *s, double *x) {
  if (s && x) fx_tree_solve(s, x);
}

frix_status frix_robot_inverse(frix_robot_state *s, const double *acceleration, double *out) {
  if (!s || !acceleration || !out) return FRIX_ERROR_INPUT;
  fx_tree_mass_mul(s, acceleration, out);
  for (int32_t i = 0; i < s->tree->dof_count; i++) out[i] += s->bias[i] - s->passive[i] - s->actuator_torque[i];
  return FRIX_OK;
}

static void spread(const frix_robot_state *s, fx_tree_span span, const double *moment, double *out) {
  memset(out, 0, (size_t)s->tree->dof_count * sizeof *out);
  for (int32_t n = span.first; n < span.first + span.count; n++) out[s->tree->list[n]] = moment[n];
}

frix_status frix_robot_tendon_moment(const frix_robot_state *s, int32_t k, double *out) {
  if (!s || !out || k < 0 || k >= s->tree->tendon_count) return FRIX_ERROR_INPUT;
  spread(s, s->tree->tendon[k].dofs, s->tendon_moment, out);
  return FRIX_OK;
}

frix_status frix_robot_actuator_moment(const frix_robot_state *s, int32_t k, double *out) {
  if (!s || !out || k < 0 || k >= s->tree->actuator_count) return FRIX_ERROR_INPUT;
  spread(s, s->tree->actuator[k].dofs, s->actuator_moment, out);
  return FRIX_OK;
}

frix_status frix_robot_get_drive(const frix_robot_state *s, int32_t k, frix_robot_drive *out) {
  if (!s || !out || k < 0 || k >= s->tree->actuator_count) return FRIX_ERROR_INPUT;
  const fx_tree_actuator *a = &s->tree->actuator[k];
  fx_tree_drive d = fx_tree_drive_of(s, k);
  *out = (frix_robot_drive){d.force, d.by_length, d.by_velocity, -INFINITY, INFINITY};
  if (a->force_limited && !a->turn)
    out->lowest = a->force_range[0] + d.beside, out->highest = a->force_range[1] + d.beside;
  return FRIX_OK;
}

frix_status frix_robot_sense(frix_robot_state *s, const double *acceleration) {
  if (!s || !acceleration) return FRIX_ERROR_INPUT;
  fx_tree_sensors(s, acceleration, NULL);
  return FRIX_OK;
}

double frix_robot_potential_energy(const frix_robot_state *s) { return s ? s->potential : 0.0; }
double frix_robot_kinetic_energy(const frix_robot_state *s) { return s ? s->kinetic : 0.0; }

void frix_robot_integrate(const frix_robot *robot, double *qpos, const double *velocity, double h) {
  if (robot && qpos && velocity) fx_tree_integrate(&robot->tree, qpos, velocity, h);
}

void frix_robot_differentiate(const frix_robot *robot, const double *from, const double *to, double h,
                              double *velocity) {
  if (robot && from && to && velocity) fx_tree_differentiate(&robot->tree, from, to, h, velocity);
}
