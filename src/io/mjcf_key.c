/* Keyframes: states of free bodies from qpos and qvel, of mocap bodies from mpos and mquat.
 *
 * A free joint has seven numbers of qpos (place and quaternion of the body's frame) and six of qvel: the velocity of
 * that frame's origin in the world, then the spin in the body's own axes. frix gives the velocity of the centre of
 * mass:  v_c = v + w x (R c). */
#include <string.h>

#include "io/draft.h"
#include "io/mjcf.h"
#include "model/builder.h"

/* A list of exactly that many numbers, NULL where it is not given. */
static frix_status read_list(fx_mjcf_reader *r, const fx_mjcf_item *item, const char *name, int32_t wanted,
                             double **out) {
  int64_t count;
  frix_status status = fx_mjcf_list(r, item, name, out, &count);
  if (status || !*out) return status;
  if (count != wanted)
    return fx_mjcf_fail(r, item->element, "key %s: %lld numbers, the model has %d", name, (long long)count,
                        (int)wanted);
  return FRIX_OK;
}

static frix_status quat_of(const fx_mjcf_reader *r, const fx_xml_element *e, const double *v, frix_quat *out) {
  frix_quat q = {v[0], v[1], v[2], v[3]};
  double norm = fx_quat_norm2(q);
  if (!(norm > 1e-20) || !isfinite(norm)) return fx_mjcf_fail(r, e, "key: a quaternion has no length");
  *out = fx_quat_unit(q);
  return FRIX_OK;
}

static frix_status state_of(const fx_mjcf_reader *r, const fx_xml_element *e, const fx_mjcf_body *body,
                            double *const list[4], frix_mjcf_state *out) {
  const double *p = body->free ? list[0] : list[2], *q = body->free ? list[0] : list[3], *v = list[1];
  int32_t at = body->free ? body->qpos : 3 * body->mocap_place,
          turn = body->free ? body->qpos + 3 : 4 * body->mocap_place;
  frix_status status = FRIX_OK;
  *out = (frix_mjcf_state){.body = body->id, .pose = body->world};
  if (p) out->pose.p = fx_vec(p[at], p[at + 1], p[at + 2]);
  if (q) status = quat_of(r, e, q + turn, &out->pose.q);
  if (status || !v || !body->free) return status;
  v += body->qvel;
  out->spin = fx_rotate(out->pose.q, fx_vec(v[3], v[4], v[5]));
  out->velocity = fx_add(fx_vec(v[0], v[1], v[2]), fx_cross(out->spin, fx_rotate(out->pose.q, body->mass.center)));
  return FRIX_OK;
}

static frix_status read_key(fx_mjcf_reader *r, const fx_xml_element *e, frix_mjcf_key *key) {
  fx_mjcf_item item = {e, NULL};
  double *list[4];
  frix_status status;
  if ((status = fx_mjcf_real(r, &item, "time", &key->time)) ||
      (status = read_list(r, &item, "qpos", r->qpos_count, &list[0])) ||
      (status = read_list(r, &item, "qvel", r->qvel_count, &list[1])) ||
      (status = read_list(r, &item, "mpos", 3 * r->mocap_count, &list[2])) ||
      (status = read_list(r, &item, "mquat", 4 * r->mocap_count, &list[3])))
    return status;
  const char *name = fx_xml_value(e, "name");
  if (name) {
    char *copy = fx_arena_take(&r->out->arena, strlen(name) + 1, 1);
    if (!copy) return FRIX_ERROR_MEMORY;
    key->name = memcpy(copy, name, strlen(name) + 1);
  }
  frix_mjcf_state *state = FX_TAKE(&r->out->arena, frix_mjcf_state, r->body_count);
  if (!state) return FRIX_ERROR_MEMORY;
  key->state = state;
  for (int32_t k = 1; k < r->body_count && !status; k++)
    if (r->body[k].free || r->body[k].mocap) status = state_of(r, e, &r->body[k], list, &state[key->state_count++]);
  return status;
}

/* The bodies of the builder start at the key; so the model that is compiled next does. */
static frix_status start_at(fx_mjcf_reader *r, const char *name) {
  char names[512] = "";
  for (int32_t k = 0; k < r->key_count; k++) {
    const frix_mjcf_key *key = &r->key[k];
    if (!key->name) continue;
    size_t at = strlen(names);
    if (at + strlen(key->name) + 2 < sizeof names) strcat(strcat(names, " "), key->name);
    if (strcmp(key->name, name)) continue;
    for (int32_t s = 0; s < key->state_count; s++) {
      frix_body_config *body = &r->builder->body[key->state[s].body.index];
      body->pose = key->state[s].pose;
      body->velocity = key->state[s].velocity, body->spin = key->state[s].spin;
    }
    return FRIX_OK;
  }
  return fx_mjcf_fail(r, r->root, "there is no keyframe '%s'%s%s", fx_word_of(name, strlen(name)).text,
                      *names ? "; there are:" : " in the file", names);
}

frix_status fx_mjcf_keys(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = NULL; !status && (e = fx_mjcf_next(r, "keyframe", e));) {
    if (!FX_MJCF_ROOM(r, key)) return FRIX_ERROR_MEMORY;
    r->key[r->key_count] = (frix_mjcf_key){0};
    status = read_key(r, e, &r->key[r->key_count++]);
  }
  return status || !r->config.key ? status : start_at(r, r->config.key);
}
