/* The tree of bodies unrolled: frames, replicas and classes resolved, bodies and geoms as flat lists.
 *
 * A body with a free joint, a mocap body, and a body that stands on the world are bodies of the model; all others are
 * part of the one they are fixed to. */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "io/draft.h"
#include "io/mjcf.h"

/* Where the walk is. */
typedef struct place {
  int32_t body;
  frix_pose frame; /* in the body */
  const fx_mjcf_class *class;
  const char *suffix; /* of replicas */
} place;

static frix_status visit(fx_mjcf_reader *r, const fx_xml_element *parent, place at);

static frix_status name_of(fx_mjcf_reader *r, const fx_xml_element *e, const char *suffix, const char **out) {
  const char *name = fx_xml_value(e, "name");
  *out = NULL;
  if (!name || !*name) return FRIX_OK;
  size_t m = strlen(name), n = strlen(suffix);
  char *text = fx_arena_take(&r->arena, m + n + 1, 1);
  if (!text) return FRIX_ERROR_MEMORY;
  memcpy(text, name, m);
  memcpy(text + m, suffix, n + 1);
  *out = text;
  return FRIX_OK;
}

/* ---- joints ---- */

static frix_status add_free(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_body *body) {
  if (body == r->body) return fx_mjcf_fail(r, e, "the world has no joints");
  if (body->parent != 0)
    return fx_mjcf_fail(r, e, "a free joint belongs to a body that stands directly in <worldbody>");
  if (body->mocap) return fx_mjcf_fail(r, e, "a mocap body has no joints");
  if (body->qpos_size) return fx_mjcf_fail(r, e, "a free joint stands alone: its body has another joint");
  body->free = true;
  body->qpos_size = 7, body->qvel_size = 6;
  return FRIX_OK;
}

static frix_status add_free_joint(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  return add_free(r, e, &r->body[at.body]);
}

static frix_status add_joint(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  static const int32_t qpos[] = {7, 4, 1, 1}, qvel[] = {6, 3, 1, 1};
  fx_mjcf_item item;
  int type = 3;
  frix_status status = fx_mjcf_item_of(r, e, at.class, &item);
  if (!status) status = fx_mjcf_word(r, &item, "type", "free ball slide hinge", &type);
  if (status) return status;
  fx_mjcf_body *body = &r->body[at.body];
  if (type == 0) return add_free(r, e, body);
  if (at.body == 0) return fx_mjcf_fail(r, e, "the world has no joints");
  if (body->free) return fx_mjcf_fail(r, e, "a free joint stands alone: its body has another joint");
  body->qpos_size += qpos[type], body->qvel_size += qvel[type];
  return FRIX_OK;
}

/* ---- bodies, frames, replicas ---- */

static frix_status child_class(const fx_mjcf_reader *r, const fx_xml_element *e, place *at) {
  const char *name = fx_xml_value(e, "childclass");
  return name ? fx_mjcf_class_of(r, e, name, &at->class) : FRIX_OK;
}

static frix_status add_body(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  fx_mjcf_item item = {e, NULL};
  fx_mjcf_body body = {.element = e, .parent = at.body, .inertial_frame = fx_pose_one()};
  frix_pose pose;
  int mocap = 0;
  frix_status status;
  if ((status = name_of(r, e, at.suffix, &body.name)) || (status = fx_mjcf_pose(r, &item, &pose)) ||
      (status = fx_mjcf_word(r, &item, "mocap", "false true", &mocap)) ||
      (status = fx_mjcf_real(r, &item, "gravcomp", &body.gravcomp)) || (status = child_class(r, e, &at)))
    return status;
  if (mocap && at.body != 0) return fx_mjcf_fail(r, e, "a mocap body stands directly in <worldbody>");
  if (!FX_MJCF_ROOM(r, body)) return FRIX_ERROR_MEMORY;
  const fx_mjcf_body *parent = &r->body[at.body];
  frix_pose local = fx_pose_mul(at.frame, pose);
  local.q = fx_quat_unit(local.q);
  body.world = fx_pose_mul(parent->world, local);
  body.mocap = mocap;
  body.top = at.body == 0;
  body.root = body.top ? r->body_count : parent->root;
  body.in_root = body.top ? fx_pose_one() : fx_pose_mul(parent->in_root, local);
  body.part_count = 1;
  if (!body.top) r->body[body.root].part_count++;
  at.body = r->body_count;
  r->body[r->body_count++] = body;
  at.frame = fx_pose_one();
  return visit(r, e, at);
}

static frix_status add_frame(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  fx_mjcf_item item = {e, NULL};
  frix_pose pose;
  frix_status status = fx_mjcf_pose(r, &item, &pose);
  if (!status) status = child_class(r, e, &at);
  if (status) return status;
  at.frame = fx_pose_mul(at.frame, pose);
  return visit(r, e, at);
}

static int digits_of(int32_t count) { return snprintf(NULL, 0, "%d", (int)count); }

/* Each copy stands in the frame of the one before, moved by offset and turned by euler. */
static frix_status add_replicas(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  fx_mjcf_item item = {e, NULL};
  double offset[3] = {0}, euler[3] = {0};
  int32_t count = 0;
  const char *separator = fx_xml_value(e, "sep"), *text;
  frix_status status;
  if ((status = fx_mjcf_need(r, &item, "count", &text)) ||
      (status = fx_mjcf_integer(r, &item, "count", 0, INT32_MAX, &count)) ||
      (status = fx_mjcf_reals(r, &item, "offset", 3, 3, offset, NULL)) ||
      (status = fx_mjcf_reals(r, &item, "euler", 3, 3, euler, NULL)) || (status = child_class(r, e, &at)))
    return status;
  frix_pose step = {{offset[0], offset[1], offset[2]}, fx_mjcf_euler(r, euler)}, frame = fx_pose_one();
  if (!separator) separator = "";
  size_t size = strlen(separator) + strlen(at.suffix) + 16;
  const char *outer = at.suffix;
  frix_pose base = at.frame;
  for (int32_t k = 0; k < count && !status; k++) {
    char *suffix = fx_arena_take(&r->arena, size, 1);
    if (!suffix) return FRIX_ERROR_MEMORY;
    snprintf(suffix, size, "%s%0*d%s", separator, digits_of(count), (int)k, outer);
    at.suffix = suffix;
    at.frame = fx_pose_mul(base, frame);
    status = visit(r, e, at);
    frame = fx_pose_mul(frame, step);
    frame.q = fx_quat_unit(frame.q);
  }
  return status;
}

/* ---- geoms ---- */

static frix_status add_geom(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  fx_mjcf_geom geom = {.body = at.body};
  frix_status status = fx_mjcf_item_of(r, e, at.class, &geom.item);
  if (!status) status = name_of(r, e, at.suffix, &geom.name);
  if (!status) status = fx_mjcf_geom_read(r, &geom.item, &geom);
  if (status) return status;
  if (geom.type == FX_GEOM_SDF) return FRIX_OK;
  if (!FX_MJCF_ROOM(r, geom)) return FRIX_ERROR_MEMORY;
  geom.pose = fx_pose_mul(at.frame, geom.pose);
  geom.pose.q = fx_quat_unit(geom.pose.q);
  r->geom[r->geom_count++] = geom;
  return FRIX_OK;
}

static frix_status add_inertial(fx_mjcf_reader *r, const fx_xml_element *e, place at) {
  fx_mjcf_body *body = &r->body[at.body];
  if (at.body == 0) return fx_mjcf_fail(r, e, "the world has no mass");
  if (body->inertial) return fx_mjcf_fail(r, e, "the body has an <inertial> already");
  body->inertial = e;
  body->inertial_frame = at.frame;
  return FRIX_OK;
}

static frix_status visit(fx_mjcf_reader *r, const fx_xml_element *parent, place at) {
  static const struct {
    const char *name;
    frix_status (*add)(fx_mjcf_reader *r, const fx_xml_element *e, place at);
  } table[] = {{"body", add_body},   {"frame", add_frame},          {"replicate", add_replicas},
               {"joint", add_joint}, {"freejoint", add_free_joint}, {"inertial", add_inertial},
               {"geom", add_geom}};
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next)
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
      if (!strcmp(e->name, table[k].name)) {
        status = table[k].add(r, e, at);
        break;
      }
  return status;
}

/* ---- limits and names ---- */

/* Bodies and geoms after replication, before anything is made; stops counting past the limit. */
static int64_t count_of(const fx_mjcf_reader *r, const fx_xml_element *e, const fx_xml_element **worst) {
  int64_t count = !strcmp(e->name, "body") || !strcmp(e->name, "geom");
  for (const fx_xml_element *c = e->first; c && count <= r->config.max_count; c = c->next)
    count += count_of(r, c, worst);
  if (strcmp(e->name, "replicate")) return count;
  fx_mjcf_item item = {e, NULL};
  int32_t times = 1;
  if (fx_mjcf_integer(r, &item, "count", 0, INT32_MAX, &times)) return count; /* said again, later */
  if ((count + 1) * times > r->config.max_count && !*worst) *worst = e;
  return (count + 1) * times > r->config.max_count ? r->config.max_count + 1 : (count + 1) * times;
}

static int compare_names(int32_t a, int32_t b, const void *user) {
  const char *const *name = user;
  return strcmp(name[a], name[b]);
}

/* The list by name; no two of a kind share one. */
static frix_status sort_names(fx_mjcf_reader *r, bool bodies) {
  int32_t count = bodies ? r->body_count : r->geom_count, named = 0;
  const char **name = FX_TAKE(&r->arena, const char *, count);
  int32_t *order = FX_TAKE(&r->arena, int32_t, count), *scratch = FX_TAKE(&r->arena, int32_t, count);
  if (!name || !order || !scratch) return FRIX_ERROR_MEMORY;
  for (int32_t k = bodies; k < count; k++) {
    name[k] = bodies ? r->body[k].name : r->geom[k].name;
    if (name[k]) order[named++] = k;
  }
  fx_sort_by(order, scratch, (size_t)named, compare_names, name);
  *(bodies ? &r->body_by_name : &r->geom_by_name) = order;
  *(bodies ? &r->named_bodies : &r->named_geoms) = named;
  for (int32_t k = 1; k < named; k++) {
    if (strcmp(name[order[k - 1]], name[order[k]])) continue;
    const fx_xml_element *a = bodies ? r->body[order[k - 1]].element : r->geom[order[k - 1]].item.element;
    const fx_xml_element *b = bodies ? r->body[order[k]].element : r->geom[order[k]].item.element;
    return fx_mjcf_fail(r, b, "a second %s is called '%s'; the first is in line %d", b->name,
                        fx_word_of(name[order[k]], strlen(name[order[k]])).text, (int)a->line);
  }
  return FRIX_OK;
}

/* Keyframes list joints by body. */
static void place_joints(fx_mjcf_reader *r) {
  for (int32_t k = 1; k < r->body_count; k++) {
    fx_mjcf_body *body = &r->body[k];
    body->qpos = r->qpos_count, body->qvel = r->qvel_count;
    r->qpos_count += body->qpos_size, r->qvel_count += body->qvel_size;
    if (body->mocap) body->mocap_place = r->mocap_count++;
  }
}

frix_status fx_mjcf_bodies(fx_mjcf_reader *r) {
  fx_mjcf_body world = {.parent = -1, .top = true, .element = r->root, .part_count = 1};
  world.world = world.in_root = world.inertial_frame = fx_pose_one();
  const fx_xml_element *worst = NULL;
  if (count_of(r, r->root, &worst) > r->config.max_count)
    return fx_mjcf_fail(r, worst ? worst : r->root, "asks for more than %lld bodies and geoms",
                        (long long)r->config.max_count);
  if (!FX_MJCF_ROOM(r, body)) return FRIX_ERROR_MEMORY;
  r->body[r->body_count++] = world;
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = r->root->first; e && !status; e = e->next) {
    place at = {0, fx_pose_one(), r->classes, ""};
    if (strcmp(e->name, "worldbody")) continue;
    status = child_class(r, e, &at);
    if (!status) status = visit(r, e, at);
  }
  place_joints(r);
  if (!status) status = sort_names(r, true);
  return status ? status : sort_names(r, false);
}
