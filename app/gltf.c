/* glTF 2.0, binary: a node for every body with its shapes as children, one animation with position and rotation of
 * every body that moves. The root turns z up into glTF's y up. Planes are squares; a body that is not there in a frame
 * stays where it was last. */
#include "gltf.h"

#include "solid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY = 34962, FLOAT = 5126, SEGMENTS = 24 };

typedef struct accessor {
  size_t at, count;
  int width; /* 1, 3 or 4 */
  bool vertex, bounded;
  float low[3], high[3];
} accessor;

/* A body of the run: the world first, then in the order they were met. */
typedef struct actor {
  frix_body_id id, pattern;
  float last[7];
  float *path;     /* position 3, quaternion 4, each frame */
  int place, turn; /* accessors */
} actor;

typedef struct scene {
  const frix_model *model;
  unsigned char *bytes;
  size_t count, room;
  accessor *accessor;
  int accessor_count;
  actor *actor;
  int actor_count;
  int *mesh_place, *mesh_normal; /* accessors by shape of the model, -1: none */
  float *time;
  int frame_count;
} scene;

/* ---- the buffer */

static int add_accessor(scene *s, const float *data, size_t count, int width, bool vertex, bool bounded) {
  size_t size = count * (size_t)width * sizeof *data;
  if (s->count + size > s->room) s->bytes = fx_grow(s->bytes, s->room = 2 * (s->room + size), 1);
  memcpy(s->bytes + s->count, data, size);
  accessor a = {.at = s->count, .count = count, .width = width, .vertex = vertex, .bounded = bounded};
  for (size_t k = 0; bounded && k < count * (size_t)width; k++) {
    int c = (int)(k % (size_t)width);
    if (k < (size_t)width || data[k] < a.low[c]) a.low[c] = data[k];
    if (k < (size_t)width || data[k] > a.high[c]) a.high[c] = data[k];
  }
  s->count += size;
  s->accessor = fx_grow(s->accessor, (size_t)s->accessor_count + 1, sizeof *s->accessor);
  s->accessor[s->accessor_count] = a;
  return s->accessor_count++;
}

/* ---- shapes */

static fx_solid square(double half) {
  fx_solid solid = {.corner_count = 6, .corner = fx_grow(NULL, 6, sizeof *solid.corner)};
  static const int order[6] = {0, 1, 2, 0, 2, 3};
  for (int k = 0; k < 6; k++) {
    int c = order[k];
    solid.corner[k] = (fx_corner){fx_v3_of(c == 1 || c == 2 ? half : -half, c >= 2 ? half : -half, 0), {0, 0, 1}};
  }
  return solid;
}

static fx_solid triangles_of(const frix_model *model, frix_shape_config shape) {
  if (shape.kind == FRIX_SHAPE_PLANE) return square(10);
  if (shape.kind == FRIX_SHAPE_SPHERE) {
    shape.kind = FRIX_SHAPE_ELLIPSOID;
    shape.half = (frix_vec3){shape.radius, shape.radius, shape.radius};
  }
  return fx_solid_of(model, &shape, SEGMENTS);
}

static void add_meshes(scene *s) {
  int32_t count = frix_model_count(s->model).shape_count;
  s->mesh_place = fx_grow(NULL, (size_t)count + 1, sizeof *s->mesh_place);
  s->mesh_normal = fx_grow(NULL, (size_t)count + 1, sizeof *s->mesh_normal);
  for (int32_t k = 0; k < count; k++) {
    frix_shape_config shape;
    s->mesh_place[k] = s->mesh_normal[k] = -1;
    if (frix_model_shape(s->model, frix_model_shape_at(s->model, k), &shape, NULL) != FRIX_OK) continue;
    fx_solid solid = triangles_of(s->model, shape);
    size_t n = (size_t)solid.corner_count;
    float *place = fx_grow(NULL, 3 * n + 1, sizeof *place), *normal = fx_grow(NULL, 3 * n + 1, sizeof *normal);
    for (size_t i = 0; i < n; i++) {
      memcpy(place + 3 * i, &solid.corner[i].place, 3 * sizeof *place);
      memcpy(normal + 3 * i, &solid.corner[i].normal, 3 * sizeof *normal);
    }
    if (n) s->mesh_place[k] = add_accessor(s, place, n, 3, true, true);
    if (n) s->mesh_normal[k] = add_accessor(s, normal, n, 3, true, false);
    free(place);
    free(normal);
    fx_solid_free(&solid);
  }
}

/* ---- bodies and their ways */

static void put_pose(float out[7], frix_pose p) {
  const double value[7] = {p.p.x, p.p.y, p.p.z, p.q.x, p.q.y, p.q.z, p.q.w};
  for (int c = 0; c < 7; c++) out[c] = (float)value[c];
}

static actor *actor_of(scene *s, frix_body_id id, frix_body_id pattern, const frix_pose *pose, int frames) {
  for (int k = 0; k < s->actor_count; k++)
    if (s->actor[k].id.index == id.index && s->actor[k].id.generation == id.generation) return &s->actor[k];
  s->actor = fx_grow(s->actor, (size_t)s->actor_count + 1, sizeof *s->actor);
  actor *a = &s->actor[s->actor_count++];
  *a = (actor){.id = id, .pattern = pattern, .place = -1, .turn = -1};
  put_pose(a->last, *pose);
  if (frames) a->path = fx_grow(NULL, 7 * (size_t)frames, sizeof *a->path);
  for (int k = 0; k < frames; k++) memcpy(a->path + 7 * k, a->last, sizeof a->last);
  return a;
}

/* The world and bodies that do not move. */
static void add_still(scene *s) {
  const frix_pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
  actor_of(s, (frix_body_id){0, 0}, (frix_body_id){0, 0}, &origin, 0);
  for (int32_t k = 0; k < frix_model_count(s->model).body_count; k++) {
    frix_body_id id = frix_model_body_at(s->model, k);
    frix_body_config body;
    if (frix_model_body(s->model, id, &body) == FRIX_OK && body.kind == FRIX_BODY_STATIC)
      actor_of(s, id, id, &body.pose, 0);
  }
}

static bool add_frames(scene *s, frix_context *context, frix_trajectory *run, const frix_export_config *config) {
  int32_t count = frix_trajectory_frame_count(run), last = config->last < 0 ? count - 1 : config->last;
  int most = (int)((last - config->first) / config->every) + 2, guess = 0;
  s->time = fx_grow(NULL, (size_t)most, sizeof *s->time);
  for (int32_t k = config->first; k <= last && k < count; k += config->every) {
    frix_frame frame = {.size = sizeof frame};
    frix_status status = frix_trajectory_frame(run, k, &frame);
    if (status == FRIX_ERROR_FORMAT && config->skipped) {
      ++*config->skipped;
      continue;
    }
    if (status != FRIX_OK) {
      fx_error("%s", frix_error_text(context));
      return false;
    }
    for (int32_t i = 0; i < frame.body_count; i++) {
      const frix_frame_body *b = &frame.body[i];
      /* bodies keep their order, so the next one is mostly the next actor */
      actor *a = ++guess < s->actor_count && s->actor[guess].id.index == b->id.index &&
                         s->actor[guess].id.generation == b->id.generation
                     ? &s->actor[guess]
                     : actor_of(s, b->id, b->pattern, &b->state.pose, most);
      guess = (int)(a - s->actor);
      if (!a->path) continue;
      float now[7], dot = 0;
      put_pose(now, b->state.pose);
      for (int c = 3; c < 7; c++) dot += now[c] * a->last[c];
      for (int c = 3; c < 7 && dot < 0; c++) now[c] = -now[c]; /* the short way */
      memcpy(a->last, now, sizeof now);
      for (int j = s->frame_count; j < most; j++) memcpy(a->path + 7 * j, now, sizeof now);
    }
    s->time[s->frame_count++] = (float)frame.time;
  }
  return s->frame_count > 0;
}

static void add_paths(scene *s) {
  size_t n = (size_t)s->frame_count;
  float *place = fx_grow(NULL, 3 * n, sizeof *place), *turn = fx_grow(NULL, 4 * n, sizeof *turn);
  for (int k = 0; k < s->actor_count; k++) {
    actor *a = &s->actor[k];
    if (!a->path) continue;
    for (size_t j = 0; j < n; j++) {
      memcpy(place + 3 * j, a->path + 7 * j, 3 * sizeof *place);
      memcpy(turn + 4 * j, a->path + 7 * j + 3, 4 * sizeof *turn);
    }
    a->place = add_accessor(s, place, n, 3, false, false);
    a->turn = add_accessor(s, turn, n, 4, false, false);
  }
  free(place);
  free(turn);
}

/* ---- JSON */

static void put_list(fx_json *json, const char *key, const float *value, int count) {
  fx_put_open(json, key, '[');
  for (int k = 0; k < count; k++) fx_put_real(json, NULL, (double)value[k]);
  fx_put_close(json, ']');
}

static bool same_body(frix_body_id a, frix_body_id b) { return a.index == b.index && a.generation == b.generation; }

/* Nodes: the root, then each actor followed by its shapes. Mesh k is shape k's, by its place among those that have one.
 */
static void put_nodes(fx_json *json, const scene *s) {
  int32_t shapes = frix_model_count(s->model).shape_count;
  static const float upright[4] = {-0.70710678f, 0, 0, 0.70710678f};
  frix_vec3 g = frix_model_gravity(s->model);
  int node = 1;
  int *first = fx_grow(NULL, (size_t)s->actor_count + 1, sizeof *first);
  for (int k = 0; k < s->actor_count; k++) {
    first[k] = node++;
    for (int32_t i = 0; i < shapes; i++) {
      frix_shape_config shape;
      frix_body_id body;
      if (s->mesh_place[i] >= 0 &&
          frix_model_shape(s->model, frix_model_shape_at(s->model, i), &shape, &body) == FRIX_OK &&
          same_body(body, s->actor[k].pattern))
        node++;
    }
  }
  fx_put_open(json, "nodes", '[');
  fx_put_open(json, NULL, '{');
  fx_put_text(json, "name", "frix");
  if (fabs(g.z) >= fabs(g.y)) put_list(json, "rotation", upright, 4);
  fx_put_open(json, "children", '[');
  for (int k = 0; k < s->actor_count; k++) fx_put_integer(json, NULL, first[k]);
  fx_put_close(json, ']');
  fx_put_close(json, '}');
  for (int k = 0; k < s->actor_count; k++) {
    const actor *a = &s->actor[k];
    frix_body_config body = frix_body_default();
    int children = (k + 1 < s->actor_count ? first[k + 1] : node) - first[k] - 1;
    fx_put_open(json, NULL, '{');
    fx_put_text(json, "name",
                k && frix_model_body(s->model, a->pattern, &body) == FRIX_OK && body.name ? body.name : "world");
    put_list(json, "translation", a->path ? a->path : a->last, 3);
    put_list(json, "rotation", (a->path ? a->path : a->last) + 3, 4);
    if (children) fx_put_open(json, "children", '[');
    for (int c = 0; c < children; c++) fx_put_integer(json, NULL, first[k] + 1 + c);
    if (children) fx_put_close(json, ']');
    fx_put_close(json, '}');
    for (int32_t i = 0, mesh = -1; i < shapes; i++) {
      frix_shape_config shape;
      frix_body_id owner;
      float pose[7];
      if (s->mesh_place[i] < 0) continue;
      mesh++;
      if (frix_model_shape(s->model, frix_model_shape_at(s->model, i), &shape, &owner) != FRIX_OK ||
          !same_body(owner, a->pattern))
        continue;
      put_pose(pose, shape.pose);
      fx_put_open(json, NULL, '{');
      fx_put_integer(json, "mesh", mesh);
      put_list(json, "translation", pose, 3);
      put_list(json, "rotation", pose + 3, 4);
      fx_put_close(json, '}');
    }
  }
  fx_put_close(json, ']');
  /* channels need the numbers of the nodes */
  int sampler = 0;
  fx_put_open(json, "animations", '[');
  fx_put_open(json, NULL, '{');
  fx_put_text(json, "name", "run");
  fx_put_open(json, "channels", '[');
  for (int k = 0; k < s->actor_count; k++)
    for (int turn = 0; turn < 2 && s->actor[k].path; turn++) {
      fx_put_open(json, NULL, '{');
      fx_put_integer(json, "sampler", sampler++);
      fx_put_open(json, "target", '{');
      fx_put_integer(json, "node", first[k]);
      fx_put_text(json, "path", turn ? "rotation" : "translation");
      fx_put_close(json, '}');
      fx_put_close(json, '}');
    }
  fx_put_close(json, ']');
  fx_put_open(json, "samplers", '[');
  for (int k = 0; k < s->actor_count; k++)
    for (int turn = 0; turn < 2 && s->actor[k].path; turn++) {
      fx_put_open(json, NULL, '{');
      fx_put_integer(json, "input", s->accessor_count - 1); /* times come last */
      fx_put_integer(json, "output", turn ? s->actor[k].turn : s->actor[k].place);
      fx_put_text(json, "interpolation", "LINEAR");
      fx_put_close(json, '}');
    }
  fx_put_close(json, ']');
  fx_put_close(json, '}');
  fx_put_close(json, ']');
  free(first);
}

static void put_meshes(fx_json *json, const scene *s) {
  static const float tone[6][4] = {{.21f, .33f, .52f, 1}, {.58f, .45f, .26f, 1}, {.33f, .45f, .27f, 1},
                                   {.53f, .32f, .29f, 1}, {.40f, .36f, .56f, 1}, {.27f, .45f, .46f, 1}};
  int count = 0;
  fx_put_open(json, "meshes", '[');
  for (int32_t i = 0; i < frix_model_count(s->model).shape_count; i++) {
    if (s->mesh_place[i] < 0) continue;
    fx_put_open(json, NULL, '{');
    fx_put_open(json, "primitives", '[');
    fx_put_open(json, NULL, '{');
    fx_put_open(json, "attributes", '{');
    fx_put_integer(json, "POSITION", s->mesh_place[i]);
    fx_put_integer(json, "NORMAL", s->mesh_normal[i]);
    fx_put_close(json, '}');
    fx_put_integer(json, "material", count++ % 6);
    fx_put_close(json, '}');
    fx_put_close(json, ']');
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_open(json, "materials", '[');
  for (int k = 0; k < 6; k++) {
    fx_put_open(json, NULL, '{');
    fx_put_boolean(json, "doubleSided", true);
    fx_put_open(json, "pbrMetallicRoughness", '{');
    put_list(json, "baseColorFactor", tone[k], 4);
    fx_put_real(json, "metallicFactor", 0);
    fx_put_real(json, "roughnessFactor", 0.7);
    fx_put_close(json, '}');
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
}

static void put_accessors(fx_json *json, const scene *s) {
  static const char *const type[] = {[1] = "SCALAR", [3] = "VEC3", [4] = "VEC4"};
  fx_put_open(json, "accessors", '[');
  for (int k = 0; k < s->accessor_count; k++) {
    const accessor *a = &s->accessor[k];
    fx_put_open(json, NULL, '{');
    fx_put_integer(json, "bufferView", k);
    fx_put_integer(json, "componentType", FLOAT);
    fx_put_integer(json, "count", (int64_t)a->count);
    fx_put_text(json, "type", type[a->width]);
    if (a->bounded) put_list(json, "min", a->low, a->width), put_list(json, "max", a->high, a->width);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_open(json, "bufferViews", '[');
  for (int k = 0; k < s->accessor_count; k++) {
    const accessor *a = &s->accessor[k];
    fx_put_open(json, NULL, '{');
    fx_put_integer(json, "buffer", 0);
    fx_put_integer(json, "byteOffset", (int64_t)a->at);
    fx_put_integer(json, "byteLength", (int64_t)(a->count * (size_t)a->width * sizeof(float)));
    if (a->vertex) fx_put_integer(json, "target", ARRAY);
    fx_put_close(json, '}');
  }
  fx_put_close(json, ']');
  fx_put_open(json, "buffers", '[');
  fx_put_open(json, NULL, '{');
  fx_put_integer(json, "byteLength", (int64_t)s->count);
  fx_put_close(json, '}');
  fx_put_close(json, ']');
}

static char *text_of(const scene *s, size_t *size) {
  char *text = NULL;
  FILE *memory = open_memstream(&text, size);
  if (!memory) return NULL;
  fx_json json = {memory, false};
  fx_put_open(&json, NULL, '{');
  fx_put_open(&json, "asset", '{');
  fx_put_text(&json, "version", "2.0");
  fx_put_text(&json, "generator", "frix " FRIX_VERSION_TEXT);
  fx_put_close(&json, '}');
  fx_put_integer(&json, "scene", 0);
  fx_put_open(&json, "scenes", '[');
  fx_put_open(&json, NULL, '{');
  fx_put_open(&json, "nodes", '[');
  fx_put_integer(&json, NULL, 0);
  fx_put_close(&json, ']');
  fx_put_close(&json, '}');
  fx_put_close(&json, ']');
  put_nodes(&json, s);
  put_meshes(&json, s);
  put_accessors(&json, s);
  fx_put_close(&json, '}');
  while (ftell(memory) % 4) fputc(' ', memory);
  if (fclose(memory) == 0) return text;
  free(text);
  return NULL;
}

/* ---- the file: a head, the text, the bytes */

static void put_word(FILE *file, size_t word) {
  for (int k = 0; k < 4; k++) fputc((int)(word >> 8 * k & 255), file);
}

static bool write_file(frix_context *context, const char *path, const scene *s) {
  size_t size = 0;
  char *text = text_of(s, &size);
  fx_output *output = text ? fx_output_open(context, path) : NULL;
  if (output) {
    fputs("glTF", output->file);
    put_word(output->file, 2);
    put_word(output->file, 12 + 8 + size + 8 + s->count);
    put_word(output->file, size);
    fputs("JSON", output->file);
    fwrite(text, 1, size, output->file);
    put_word(output->file, s->count);
    fwrite("BIN", 1, 4, output->file);
    fwrite(s->bytes, 1, s->count, output->file);
  }
  free(text);
  return output && fx_output_close(output, true);
}

bool fx_gltf_write(frix_context *context, frix_trajectory *run, const char *path, const frix_export_config *config) {
  scene s = {.model = frix_trajectory_model(run)};
  add_still(&s);
  add_meshes(&s);
  bool good = add_frames(&s, context, run, config);
  if (good) {
    add_paths(&s);
    add_accessor(&s, s.time, (size_t)s.frame_count, 1, false, true);
    good = write_file(context, path, &s);
  }
  for (int k = 0; k < s.actor_count; k++) free(s.actor[k].path);
  void *owned[] = {s.bytes, s.accessor, s.actor, s.mesh_place, s.mesh_normal, s.time};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  return good;
}
