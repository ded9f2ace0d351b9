/* The model in a replay page:
 *   body.kind, body.mass, body.pose (position, quaternion x y z w), body.names (lines)      in the model's order
 *   shape.body (-1: the world), shape.kind, shape.size (3), shape.geometry (-1: none), shape.pose
 *   geometry.K.points (3 each), geometry.K.triangles (3 each)
 *   soft.first   by body: its first amplitude in a frame, -1: it is rigid
 *   soft.K.shape by body: of each point and direction, what the amplitudes move it by; bodies that share a geometry
 *                share the first one's (soft.like) */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

static void put_pose(float out[7], frix_pose pose) {
  const double value[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.x, pose.q.y, pose.q.z, pose.q.w};
  for (int c = 0; c < 7; c++) out[c] = (float)value[c];
}

int32_t *fx_page_body_map(const frix_model *model, uint32_t *count) {
  int32_t bodies = frix_model_count(model).body_count;
  uint32_t top = 0;
  for (int32_t k = 0; k < bodies; k++)
    if (frix_model_body_at(model, k).index > top) top = frix_model_body_at(model, k).index;
  int32_t *map = fx_grow(NULL, (size_t)top + 1, sizeof *map);
  for (uint32_t k = 0; k <= top; k++) map[k] = -1;
  for (int32_t k = 0; k < bodies; k++) map[frix_model_body_at(model, k).index] = k;
  *count = top + 1;
  return map;
}

/* ---- bodies */

/* Names as lines; what would break a line becomes a blank. */
static void put_names(fx_page_bytes *bytes, const frix_model *model, int32_t count) {
  char *text = NULL;
  size_t used = 0, room = 0;
  for (int32_t k = 0; k < count; k++) {
    frix_body_config body = frix_body_default();
    frix_model_body(model, frix_model_body_at(model, k), &body);
    const char *name = body.name ? body.name : "";
    size_t length = strlen(name);
    if (used + length + 1 > room) text = fx_grow(text, room = 2 * room + length + 1024, 1);
    for (size_t c = 0; c < length; c++) text[used++] = (unsigned char)name[c] < 32 ? ' ' : name[c];
    text[used++] = '\n';
  }
  fx_page_column(bytes, "body.names", FX_U8, text, used > 0 ? (int64_t)used - 1 : 0);
  free(text);
}

static void put_bodies(fx_page_bytes *bytes, const frix_model *model, int32_t count) {
  uint8_t *kind = fx_grow(NULL, (size_t)count + 1, sizeof *kind);
  float *mass = fx_grow(NULL, (size_t)count + 1, sizeof *mass),
        *pose = fx_grow(NULL, 7 * (size_t)count + 1, sizeof *pose);
  for (int32_t k = 0; k < count; k++) {
    frix_body_config body = frix_body_default();
    frix_model_body(model, frix_model_body_at(model, k), &body);
    kind[k] = (uint8_t)body.kind;
    mass[k] = (float)body.mass;
    put_pose(pose + 7 * (size_t)k, body.pose);
  }
  fx_page_column(bytes, "body.kind", FX_U8, kind, count);
  fx_page_column(bytes, "body.mass", FX_F32, mass, count);
  fx_page_column(bytes, "body.pose", FX_F32, pose, 7 * (int64_t)count);
  put_names(bytes, model, count);
  free(kind);
  free(mass);
  free(pose);
}

/* ---- shapes */

void fx_page_shape_size(float out[3], const frix_shape_config *shape) {
  bool round = shape->kind == FRIX_SHAPE_SPHERE || shape->kind == FRIX_SHAPE_CAPSULE ||
               shape->kind == FRIX_SHAPE_CYLINDER || shape->kind == FRIX_SHAPE_DISC;
  out[0] = (float)(round ? shape->radius : shape->half.x);
  out[1] = (float)(round ? shape->half_length : shape->half.y);
  out[2] = (float)(round ? 0 : shape->half.z);
}

static int32_t geometry_index(const frix_model *model, frix_geometry_id id) {
  for (int32_t k = 0; k < frix_model_count(model).geometry_count; k++)
    if (frix_model_geometry_at(model, k).index == id.index) return k;
  return -1;
}

static void put_shapes(fx_page_bytes *bytes, const frix_model *model, int32_t count) {
  size_t room = (size_t)count + 1;
  uint8_t *kind = fx_grow(NULL, room, sizeof *kind);
  int32_t *body = fx_grow(NULL, room, sizeof *body), *geometry = fx_grow(NULL, room, sizeof *geometry);
  float *size = fx_grow(NULL, 3 * room, sizeof *size), *pose = fx_grow(NULL, 7 * room, sizeof *pose);
  uint32_t map_count;
  int32_t *map = fx_page_body_map(model, &map_count);
  for (int32_t k = 0; k < count; k++) {
    frix_shape_config shape = frix_shape_default();
    frix_body_id owner = {0, 0};
    frix_model_shape(model, frix_model_shape_at(model, k), &shape, &owner);
    kind[k] = (uint8_t)shape.kind;
    body[k] = owner.generation && owner.index < map_count ? map[owner.index] : -1;
    geometry[k] = shape.geometry.generation ? geometry_index(model, shape.geometry) : -1;
    fx_page_shape_size(size + 3 * (size_t)k, &shape);
    put_pose(pose + 7 * (size_t)k, shape.pose);
  }
  fx_page_column(bytes, "shape.kind", FX_U8, kind, count);
  fx_page_column(bytes, "shape.body", FX_I32, body, count);
  fx_page_column(bytes, "shape.geometry", FX_I32, geometry, count);
  fx_page_column(bytes, "shape.size", FX_F32, size, 3 * (int64_t)count);
  fx_page_column(bytes, "shape.pose", FX_F32, pose, 7 * (int64_t)count);
  free(kind);
  free(body);
  free(geometry);
  free(size);
  free(pose);
  free(map);
}

/* ---- geometries */

static void put_geometry(fx_page_bytes *bytes, const frix_model *model, int32_t k) {
  frix_geometry_config g = frix_geometry_default();
  frix_model_geometry(model, frix_model_geometry_at(model, k), &g);
  float *point = fx_grow(NULL, 3 * (size_t)g.point_count + 1, sizeof *point);
  for (int32_t i = 0; i < g.point_count; i++) {
    point[3 * i] = (float)g.point[i].x;
    point[3 * i + 1] = (float)g.point[i].y;
    point[3 * i + 2] = (float)g.point[i].z;
  }
  char name[48];
  snprintf(name, sizeof name, "geometry.%d.points", (int)k);
  fx_page_column(bytes, name, FX_F32, point, 3 * (int64_t)g.point_count);
  snprintf(name, sizeof name, "geometry.%d.triangles", (int)k);
  fx_page_column(bytes, name, FX_U32, g.triangle, 3 * (int64_t)g.triangle_count);
  free(point);
}

/* ---- soft bodies */

static void put_shape(fx_page_bytes *bytes, int32_t body, const frix_soft *soft) {
  frix_soft_info info = frix_soft_view(soft);
  size_t count = 3 * (size_t)info.point_count * (size_t)info.coordinates;
  float *shape = fx_grow(NULL, count + 1, sizeof *shape);
  for (size_t k = 0; k < count; k++) shape[k] = (float)info.shape[k];
  char name[48];
  snprintf(name, sizeof name, "soft.%d.shape", (int)body);
  fx_page_column(bytes, name, FX_F32, shape, (int64_t)count);
  free(shape);
}

static void put_softs(fx_page_bytes *bytes, const frix_model *model, int32_t count) {
  int32_t *first = fx_grow(NULL, (size_t)count + 1, sizeof *first),
          *like = fx_grow(NULL, (size_t)count + 1, sizeof *like);
  int32_t amplitudes = 0;
  for (int32_t k = 0; k < count; k++) {
    const frix_soft *soft = frix_model_soft(model, frix_model_body_at(model, k));
    first[k] = soft ? amplitudes : -1, like[k] = k;
    amplitudes += soft ? frix_soft_view(soft).coordinates : 0;
    while (soft && like[k] > 0 && frix_model_soft(model, frix_model_body_at(model, like[k] - 1)) == soft)
      like[k] = like[like[k] - 1];
    if (soft && like[k] == k) put_shape(bytes, k, soft);
  }
  fx_page_column(bytes, "soft.first", FX_I32, first, amplitudes ? count : 0);
  fx_page_column(bytes, "soft.like", FX_I32, like, amplitudes ? count : 0);
  free(first);
  free(like);
}

void fx_page_put_model(fx_page_bytes *bytes, const frix_model *model) {
  frix_model_counts count = frix_model_count(model);
  put_bodies(bytes, model, count.body_count);
  put_shapes(bytes, model, count.shape_count);
  for (int32_t k = 0; k < count.geometry_count; k++) put_geometry(bytes, model, k);
  put_softs(bytes, model, count.body_count);
}
