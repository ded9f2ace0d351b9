/* Keyframes: their numbers, which of them the model starts at, and the states they mean for its bodies.
 *
 * A keyframe of an attached model has the numbers of its own joints; all others are at their reference. frix gives the
 * velocity of the centre of mass: v_c = v + w x (R c). */
#include <stdio.h>
#include <string.h>

#include "io/draft.h"
#include "io/mjcf_internal.h"

/* ---- numbers ---- */

/* A list of exactly that many numbers, NULL where it is not given. */
static frix_status read_list(fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t wanted,
                             double **out) {
  int64_t count;
  frix_status status = fx_mjcf_list(r, item, name, out, &count);
  if (status || !*out || wanted < 0) return status;
  if (count != wanted)
    return fx_mjcf_fail(r, item->element, "key %s: %lld numbers, the model has %d", name, (long long)count,
                        (int)wanted);
  return FRIX_OK;
}

/* How many numbers a keyframe of the main file has for each list. */
static int32_t count_actuators(const fx_mjcf_reader *r) {
  static const char *const others[] = {"pid", "dcmotor", "orientation", "plugin"}; /* may have several controls */
  int32_t instance = -1, count = 0;
  for (const fx_xml_element *e = NULL; (e = fx_mjcf_next_of_all(r, "actuator", &instance, e)); count++)
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      if (!strcmp(e->name, others[k])) return -1;
  return count;
}

/* All joints at their reference. */
static void fill_reference(const fx_mjcf_reader *r, double *qpos) {
  for (int32_t k = 0; k < r->joint_count; k++) {
    const fx_mjcf_joint *j = &r->joint[k];
    const frix_pose *world = &r->motion[j->body].world;
    double *q = qpos + j->qpos;
    const double free[7] = {world->p.x, world->p.y, world->p.z, world->q.w, world->q.x, world->q.y, world->q.z};
    if (j->type == FX_JOINT_FREE) memcpy(q, free, sizeof free);
    if (j->type == FX_JOINT_BALL) q[0] = 1.0;
    if (j->type == FX_JOINT_SLIDE || j->type == FX_JOINT_HINGE) q[0] = j->ref;
  }
}

/* The numbers of an instance's joints to where they stand in the whole; NULL where they are not as many. */
static double *spread(fx_mjcf_reader *r, int32_t instance, const double *list, int64_t count, bool rates) {
  static const int32_t size[2][4] = {{7, 4, 1, 1}, {6, 3, 1, 1}};
  double *whole = FX_TAKE(&r->arena, double, rates ? r->qvel_count : r->qpos_count);
  int64_t used = 0;
  if (!whole) return NULL;
  if (!rates) fill_reference(r, whole);
  for (int32_t k = 0; k < r->joint_count; k++) {
    const fx_mjcf_joint *j = &r->joint[k];
    if (j->instance != instance) continue;
    int32_t n = size[rates][j->type];
    if (used + n <= count) memcpy(whole + (rates ? j->qvel : j->qpos), list + used, (size_t)n * sizeof *list);
    used += n;
  }
  return used == count ? whole : NULL;
}

static frix_status add_key(fx_mjcf_reader *r, const fx_xml_element *e, int32_t instance, fx_mjcf_numbers n) {
  fx_mjcf_item item = {e, NULL};
  frix_mjcf_key key = {0};
  frix_status status = fx_mjcf_real(r, &item, "time", &key.time);
  const char *name = fx_xml_value(e, "name"), *prefix = r->instance[instance].prefix;
  if (status) return status;
  char number[16]; /* one without a name is called by its number */
  snprintf(number, sizeof number, "%d", (int)r->key_count);
  if (!name || !*name) name = number;
  size_t before = strlen(prefix), size = strlen(name) + 1;
  char *text = fx_arena_take(&r->out->arena, before + size, 1);
  if (!text) return FRIX_ERROR_MEMORY;
  memcpy(text, prefix, before);
  memcpy(text + before, name, size);
  key.name = text;
  if (!FX_MJCF_ROOM(r, key) || !FX_MJCF_ROOM(r, numbers)) return FRIX_ERROR_MEMORY;
  r->key[r->key_count++] = key;
  r->numbers[r->numbers_count++] = n;
  return FRIX_OK;
}

static frix_status read_key(fx_mjcf_reader *r, const fx_xml_element *e, int32_t actuators) {
  fx_mjcf_item item = {e, NULL};
  fx_mjcf_numbers n = {0};
  frix_status status;
  if ((status = read_list(r, &item, "qpos", r->qpos_count, &n.qpos)) ||
      (status = read_list(r, &item, "qvel", r->qvel_count, &n.qvel)) ||
      (status = read_list(r, &item, "mpos", 3 * r->mocap_count, &n.mpos)) ||
      (status = read_list(r, &item, "mquat", 4 * r->mocap_count, &n.mquat)) ||
      (status = read_list(r, &item, "ctrl", actuators, &n.ctrl)) ||
      (status = read_list(r, &item, "act", r->robot ? r->robot_act_count : -1, &n.act)))
    return status;
  if (actuators < 0) n.ctrl = NULL;
  if (r->robot && r->robot_act_count < 0) n.act = NULL;
  return add_key(r, e, 0, n);
}

/* Of an attached model: joints alone; one of a model that was attached in part is dropped. */
static frix_status read_attached(fx_mjcf_reader *r, const fx_xml_element *e, int32_t instance) {
  fx_mjcf_item item = {e, NULL};
  double *qpos, *qvel;
  int64_t counts[2];
  frix_status status;
  if ((status = fx_mjcf_list(r, &item, "qpos", &qpos, &counts[0])) ||
      (status = fx_mjcf_list(r, &item, "qvel", &qvel, &counts[1])))
    return status;
  fx_mjcf_numbers n = {0};
  if (qpos) n.qpos = spread(r, instance, qpos, counts[0], false);
  if (qvel) n.qvel = spread(r, instance, qvel, counts[1], true);
  if ((qpos && !n.qpos) || (qvel && !n.qvel) || *r->instance[instance].suffix) return FRIX_OK;
  return add_key(r, e, instance, n);
}

/* ---- the start ---- */

static frix_status find_start(fx_mjcf_reader *r, const char *name) {
  char names[512] = "";
  for (int32_t k = 0; k < r->key_count; k++) {
    if (!r->key[k].name) continue;
    size_t at = strlen(names);
    if (at + strlen(r->key[k].name) + 2 < sizeof names) strcat(strcat(names, " "), r->key[k].name);
    if (strcmp(r->key[k].name, name)) continue;
    r->start = r->numbers[k];
    fx_mjcf_move(r, &r->start, r->motion);
    return FRIX_OK;
  }
  return fx_mjcf_fail(r, r->source->root, "there is no keyframe '%s'%s%s", fx_word_of(name, strlen(name)).text,
                      *names ? "; there are:" : " in the file", names);
}

frix_status fx_mjcf_keys_read(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  int32_t instance = -1, actuators = r->robot ? r->robot_ctrl_count : count_actuators(r);
  r->motion = FX_TAKE(&r->arena, fx_mjcf_motion, r->body_count);
  if (!r->motion) return FRIX_ERROR_MEMORY;
  fx_mjcf_move(r, &r->start, r->motion);
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next_of_all(r, "keyframe", &instance, e));)
    status = instance ? read_attached(r, e, instance) : read_key(r, e, actuators);
  return status || !r->config.key ? status : find_start(r, r->config.key);
}

/* ---- states ---- */

frix_mjcf_state fx_mjcf_state_of(const fx_mjcf_body *body, const fx_mjcf_motion *m) {
  frix_mjcf_state state = {.body = body->id, .pose = m->world, .velocity = m->velocity, .spin = m->spin};
  state.velocity = fx_add(state.velocity, fx_cross(m->spin, fx_rotate(m->world.q, body->mass.center)));
  return state;
}

frix_status fx_mjcf_keys_finish(fx_mjcf_reader *r) {
  fx_mjcf_motion *motion = FX_TAKE(&r->arena, fx_mjcf_motion, r->body_count);
  if (!motion) return FRIX_ERROR_MEMORY;
  for (int32_t k = 0; k < r->key_count; k++) {
    fx_mjcf_move(r, &r->numbers[k], motion);
    frix_mjcf_state *state = FX_TAKE(&r->out->arena, frix_mjcf_state, r->body_count);
    if (!state) return FRIX_ERROR_MEMORY;
    r->key[k].state = state;
    for (int32_t b = 1; b < r->body_count; b++)
      if (r->body[b].own && (fx_mjcf_moves(&r->body[b]) || r->body[b].mocap))
        state[r->key[k].state_count++] = fx_mjcf_state_of(&r->body[b], &motion[b]);
  }
  return FRIX_OK;
}
