/* The tree of bodies unrolled: frames, replicas, attached models and classes resolved; bodies, geoms, joints and sites
 * as flat lists, bodies in the order of the tree. */
#include <stdio.h>
#include <string.h>

#include "base/trig.h"
#include "io/draft.h"
#include "io/mjcf_internal.h"

/* ---- bodies, frames, replicas ---- */

static frix_status child_class(const fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at *at) {
  const char *name = fx_xml_value(e, "childclass");
  return name ? fx_mjcf_class_of(r, e, name, &at->class) : FRIX_OK;
}

/* Models that attach each other grow fast. */
static frix_status check_count(const fx_mjcf_reader *r, const fx_xml_element *e) {
  return (int64_t)r->body_count + r->geom_count <= r->config.max_count
             ? FRIX_OK
             : fx_mjcf_fail(r, e, "asks for more than %lld bodies and geoms", (long long)r->config.max_count);
}

frix_status fx_mjcf_add_body(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_item item = {e, NULL};
  fx_mjcf_body body = {.element = e, .parent = at.body, .inertial_frame = fx_pose_one()};
  frix_pose pose;
  int mocap = 0;
  frix_status status;
  if ((status = fx_mjcf_name_add(r, FX_NAMED_BODY, r->body_count, e, &at, &body.name)) ||
      (status = fx_mjcf_pose(r, &item, &pose)) || (status = fx_mjcf_word(r, &item, "mocap", "false true", &mocap)) ||
      (status = fx_mjcf_real(r, &item, "gravcomp", &body.gravcomp)) || (status = child_class(r, e, &at)) ||
      (status = check_count(r, e)))
    return status;
  if (fx_mjcf_no_passive(r)) body.gravcomp = 0.0;
  if (mocap && at.body != 0) return fx_mjcf_fail(r, e, "a mocap body stands directly in <worldbody>");
  if (!FX_MJCF_ROOM(r, body)) return FRIX_ERROR_MEMORY;
  body.place = fx_pose_mul(at.frame, pose);
  body.place.q = fx_quat_unit(body.place.q);
  body.mocap = mocap;
  if (mocap) body.mocap_place = r->mocap_count++;
  at.body = r->body_count;
  r->body[r->body_count++] = body;
  at.frame = fx_pose_one();
  return fx_mjcf_visit(r, e, at);
}

frix_status fx_mjcf_add_frame(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_item item = {e, NULL};
  frix_pose pose;
  frix_status status = fx_mjcf_pose(r, &item, &pose);
  if (!status) status = child_class(r, e, &at);
  if (status) return status;
  at.frame = fx_pose_mul(at.frame, pose);
  return fx_mjcf_visit(r, e, at);
}

static int digits_of(int32_t count) { return snprintf(NULL, 0, "%d", (int)count); }

/* Each copy stands in the frame of the one before, moved by offset; copy k is turned by k times the angles of euler. */
static frix_status add_replicas(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
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
  frix_pose frame = fx_pose_one();
  if (!separator) separator = "";
  size_t size = strlen(separator) + strlen(at.suffix) + 16;
  const char *outer = at.suffix;
  frix_pose base = at.frame;
  for (int32_t k = 0; k < count && !status; k++) {
    char *suffix = fx_arena_take(&r->arena, size, 1);
    if (!suffix) return FRIX_ERROR_MEMORY;
    snprintf(suffix, size, "%s%0*d%s", separator, digits_of(count), (int)k, outer);
    at.suffix = suffix, at.copy = ++r->copy_count;
    at.frame = fx_pose_mul(base, frame);
    status = fx_mjcf_visit(r, e, at);
    frame.p = fx_pose_point(frame, fx_vec(offset[0], offset[1], offset[2]));
    const double turned[3] = {(k + 1) * euler[0], (k + 1) * euler[1], (k + 1) * euler[2]};
    frame.q = fx_quat_unit(fx_mjcf_euler(fx_mjcf_source_of(e), turned));
  }
  return status;
}

/* ---- what bodies hold ---- */

static frix_status add_geom(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_geom geom = {.body = at.body};
  frix_status status = fx_mjcf_item_of(r, e, at.class, &geom.item);
  if (!status) status = fx_mjcf_geom_read(r, &geom.item, &geom);
  if (!status) status = check_count(r, e);
  if (!status) status = fx_mjcf_name_add(r, FX_NAMED_GEOM, r->geom_count, e, &at, &geom.name);
  if (status) return status;
  if (!FX_MJCF_ROOM(r, geom)) return FRIX_ERROR_MEMORY;
  if (geom.type == FX_GEOM_LEFT_OUT) r->body[at.body].lost = true;
  geom.pose = fx_pose_mul(at.frame, geom.pose);
  geom.pose.q = fx_quat_unit(geom.pose.q);
  r->geom[r->geom_count++] = geom;
  return FRIX_OK;
}

static frix_status add_site(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_item item;
  fx_mjcf_site site = {.body = at.body, .size = {0.005, 0.005, 0.005}};
  double length = -1.0;
  frix_status status = fx_mjcf_item_of(r, e, at.class, &item);
  if (!status) status = fx_mjcf_pose(r, &item, &site.pose);
  if (!status) status = fx_mjcf_ends(r, &item, &site.pose, &length);
  if (!status) status = fx_mjcf_word(r, &item, "type", "sphere capsule ellipsoid cylinder box", &site.kind);
  if (!status) status = fx_mjcf_reals(r, &item, "size", 0, 3, site.size, NULL);
  bool round = site.kind == 1 || site.kind == 3; /* capsule, cylinder */
  if (length > 0.0) site.size[round ? 1 : 2] = 0.5 * length;
  if (length > 0.0 && !round) site.size[1] = site.size[0];
  if (!status) status = fx_mjcf_name_add(r, FX_NAMED_SITE, r->site_count, e, &at, &site.name);
  if (status) return status;
  if (!FX_MJCF_ROOM(r, site)) return FRIX_ERROR_MEMORY;
  site.pose = fx_pose_mul(at.frame, site.pose);
  r->site[r->site_count++] = site;
  return FRIX_OK;
}

/* Focal lengths and the size of the sensor are single numbers in MuJoCo. The axis is that of the picture's middle,
 * wherever the principal point is. */
static frix_status read_lens(const fx_mjcf_reader *r, const fx_mjcf_item *item, fx_mjcf_camera *camera) {
  double fovy = 45.0, resolution[2] = {1, 1}, sensor[2] = {0}, focal[2] = {0}, pixels[2] = {0};
  frix_status status;
  if ((status = fx_mjcf_real(r, item, "fovy", &fovy)) ||
      (status = fx_mjcf_reals(r, item, "resolution", 2, 2, resolution, NULL)) ||
      (status = fx_mjcf_reals(r, item, "sensorsize", 2, 2, sensor, NULL)) ||
      (status = fx_mjcf_reals(r, item, "focal", 2, 2, focal, NULL)) ||
      (status = fx_mjcf_reals(r, item, "focalpixel", 2, 2, pixels, NULL)))
    return status;
  double sine, cosine;
  fx_sincos(fovy * FX_PI / 360.0, &sine, &cosine);
  for (int k = 0; k < 2; k++) {
    camera->center[k] = 0.5 * resolution[k];
    camera->focal[k] = 0.5 * resolution[1] * cosine / sine;
    float width = (float)sensor[k],
          length = (float)(pixels[k] != 0.0 ? pixels[k] * sensor[k] / resolution[k] : focal[k]);
    if (sensor[0] > 0.0 && sensor[1] > 0.0) camera->focal[k] = (double)(length / width * (float)resolution[k]);
  }
  return FRIX_OK;
}

static frix_status add_camera(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_item item;
  fx_mjcf_camera camera = {.body = at.body};
  int mode = 0;
  frix_status status;
  if ((status = fx_mjcf_item_of(r, e, at.class, &item)) || (status = fx_mjcf_pose(r, &item, &camera.pose)) ||
      (status = fx_mjcf_word(r, &item, "mode", "fixed track trackcom targetbody targetbodycom", &mode)) ||
      (status = read_lens(r, &item, &camera)) ||
      (status = fx_mjcf_name_add(r, FX_NAMED_CAMERA, r->camera_count, e, &at, &camera.name)))
    return status;
  if (!FX_MJCF_ROOM(r, camera)) return FRIX_ERROR_MEMORY;
  camera.follows = mode != 0;
  camera.pose = fx_pose_mul(at.frame, camera.pose);
  r->camera[r->camera_count++] = camera;
  return FRIX_OK;
}

static frix_status add_inertial(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at) {
  fx_mjcf_body *body = &r->body[at.body];
  if (at.body == 0) return fx_mjcf_fail(r, e, "the world has no mass");
  if (body->inertial) return fx_mjcf_fail(r, e, "the body has an <inertial> already");
  body->inertial = e;
  body->inertial_frame = at.frame;
  return FRIX_OK;
}

frix_status fx_mjcf_visit(fx_mjcf_reader *r, const fx_xml_element *parent, fx_mjcf_at at) {
  static const struct {
    const char *name;
    frix_status (*add)(fx_mjcf_reader *r, const fx_xml_element *e, fx_mjcf_at at);
  } table[] = {{"body", fx_mjcf_add_body},
               {"frame", fx_mjcf_add_frame},
               {"replicate", add_replicas},
               {"joint", fx_mjcf_add_joint},
               {"freejoint", fx_mjcf_add_joint},
               {"inertial", add_inertial},
               {"geom", add_geom},
               {"site", add_site},
               {"camera", add_camera},
               {"flexcomp", fx_mjcf_add_flex},
               {"attach", fx_mjcf_attach}};
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = parent->first; e && !status; e = e->next)
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
      if (!strcmp(e->name, table[k].name)) {
        status = table[k].add(r, e, at);
        break;
      }
  return status;
}

/* ---- the whole ---- */

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

frix_status fx_mjcf_check_count(const fx_mjcf_reader *r, const fx_mjcf_source *source) {
  const fx_xml_element *worst = NULL;
  if (count_of(r, source->root, &worst) <= r->config.max_count) return FRIX_OK;
  return fx_mjcf_fail(r, worst ? worst : source->root, "asks for more than %lld bodies and geoms",
                      (long long)r->config.max_count);
}

static frix_status visit_world(fx_mjcf_reader *r) {
  frix_status status = FRIX_OK;
  for (const fx_xml_element *e = r->source->root->first; e && !status; e = e->next) {
    fx_mjcf_at at = {.frame = fx_pose_one(), .class = r->source->classes, .suffix = ""};
    if (strcmp(e->name, "worldbody")) continue;
    status = child_class(r, e, &at);
    if (!status) status = fx_mjcf_visit(r, e, at);
  }
  return status;
}

frix_status fx_mjcf_bodies(fx_mjcf_reader *r) {
  static const char world[] = "world";
  fx_mjcf_names *names = &r->names[FX_NAMED_BODY];
  if (!FX_MJCF_ROOM(r, body) || !FX_MJCF_ROOM(r, instance) || !FX_MJCF_ROOM_IN(r, names, name))
    return FRIX_ERROR_MEMORY;
  const fx_xml_element *root = r->source->root;
  r->instance[r->instance_count++] = (fx_mjcf_instance){r->source, "", ""};
  r->body[r->body_count++] =
      (fx_mjcf_body){.element = root, .parent = -1, .place = fx_pose_one(), .inertial_frame = fx_pose_one()};
  names->name[names->name_count++] = (fx_mjcf_name){.full = world, .suffix = world + sizeof world - 1, .element = root};
  frix_status status = visit_world(r);
  if (!status) status = fx_mjcf_place_joints(r);
  for (int kind = 0; kind < FX_NAMED_KINDS && !status; kind++)
    if (kind < FX_NAMED_TENDON) status = fx_mjcf_names_sort(r, (fx_mjcf_named)kind);
  return status;
}
