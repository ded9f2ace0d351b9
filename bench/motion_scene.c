/* Reader and writer of moving scenes. */
#include "motion_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  int parameters;
} shapes[] = {[MOTION_PLANE] = {"plane", 0},
              [MOTION_BOX] = {"box", 3},
              [MOTION_SPHERE] = {"sphere", 1},
              [MOTION_CAPSULE] = {"capsule", 2},
              [MOTION_CYLINDER] = {"cylinder", 2}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

motion_scene motion_scene_new(const char *name) {
  motion_scene scene = {.mu = 0.5, .gravity = {0, 0, -9.81}, .time = 4, .h = 0.01, .size = 0.2};
  snprintf(scene.name, sizeof scene.name, "%s", name);
  return scene;
}

void motion_scene_end(motion_scene *scene) {
  free(scene->body);
  free(scene->put);
  free(scene->push);
  *scene = (motion_scene){0};
}

/* ---- growing ---- */

/* Room for one more in a list whose room doubles; NULL without memory, and the list is as it was. */
static void *grown(void *list, int32_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0) return list;
  return realloc(list, (count > 0 ? 2 * (size_t)count : 1) * size);
}

bool motion_add_body(motion_scene *scene, const motion_body *body) {
  motion_body *list = grown(scene->body, scene->body_count, sizeof *list);
  if (!list) return false;
  scene->body = list;
  list[scene->body_count++] = *body;
  scene->dynamic_count += body->dynamic;
  return true;
}

bool motion_add_put(motion_scene *scene, const motion_put *put) {
  motion_put *list = grown(scene->put, scene->put_count, sizeof *list);
  if (!list) return false;
  scene->put = list;
  list[scene->put_count++] = *put;
  return true;
}

bool motion_add_push(motion_scene *scene, const motion_push *push) {
  motion_push *list = grown(scene->push, scene->push_count, sizeof *list);
  if (!list) return false;
  scene->push = list;
  list[scene->push_count++] = *push;
  return true;
}

bool motion_add_walls(motion_scene *scene) {
  double x = scene->container[0], y = scene->container[1], z = 0.5 * scene->container[2], thick = 0.5;
  const double wall[4][5] = {{-x - thick, 0, thick, y + 2 * thick, 0},
                             {0, -y - thick, x + 2 * thick, thick, 0},
                             {x + thick, 0, thick, y + 2 * thick, 0},
                             {0, y + thick, x + 2 * thick, thick, 0}};
  for (int k = 0; k < 4; k++) {
    motion_body body = {.start = {.p = {wall[k][0], wall[k][1], z}, .q = {1, 0, 0, 0}},
                        .shape = MOTION_BOX,
                        .size = {wall[k][2], wall[k][3], z}};
    if (!motion_add_body(scene, &body)) return false;
  }
  return true;
}

/* ---- reading ---- */

typedef struct reader {
  motion_scene *scene;
  char *rest;        /* of the line */
  const char *wrong; /* the first thing that is */
} reader;

static char *word(reader *r) {
  char *text = strtok_r(r->rest, " \t\r\n", &r->rest);
  if (!text) r->wrong = r->wrong ? r->wrong : "too few words";
  return text;
}

static double number(reader *r) {
  char *end = NULL, *text = word(r);
  if (!text) return 0;
  double value = strtod(text, &end);
  if (*end || !isfinite(value)) r->wrong = r->wrong ? r->wrong : "not a finite number";
  return value;
}

static void numbers(reader *r, double *out, int count) {
  for (int k = 0; k < count; k++) out[k] = number(r);
}

static double positive(reader *r) {
  double value = number(r);
  if (!(value > 0) && !r->wrong) r->wrong = "a number above zero is needed";
  return value;
}

static motion_state read_state(reader *r) {
  motion_state s;
  numbers(r, s.p, 3), numbers(r, s.q, 4), numbers(r, s.v, 3), numbers(r, s.w, 3);
  double square = s.q[0] * s.q[0] + s.q[1] * s.q[1] + s.q[2] * s.q[2] + s.q[3] * s.q[3];
  if (!(fabs(square - 1) < 1e-6) && !r->wrong) r->wrong = "the quaternion is not of length 1";
  return s;
}

static void read_body(reader *r) {
  motion_body body = {.dynamic = (word(r), number(r) != 0)};
  body.mass = number(r);
  numbers(r, body.inertia, 3);
  body.start = read_state(r);
  const char *kind = word(r);
  int k = 0;
  while (kind && k < SHAPES && strcmp(kind, shapes[k].name) != 0) k++;
  if (k == SHAPES && !r->wrong) r->wrong = "unknown shape: plane, box, sphere, capsule, cylinder";
  if (r->wrong) return;
  body.shape = (motion_shape)k;
  for (int j = 0; j < shapes[k].parameters; j++) body.size[j] = positive(r);
  if (body.dynamic && !(body.mass > 0 && body.inertia[0] > 0 && body.inertia[1] > 0 && body.inertia[2] > 0) &&
      !r->wrong)
    r->wrong = "a dynamic body needs a mass and an inertia above zero";
  if (body.dynamic && body.shape == MOTION_PLANE && !r->wrong) r->wrong = "a plane cannot be dynamic";
  if (!r->wrong && !motion_add_body(r->scene, &body)) r->wrong = "out of memory";
}

static int32_t read_index(reader *r) {
  double value = number(r);
  if (!(value >= 0 && value < INT32_MAX && value == floor(value)) && !r->wrong) r->wrong = "not the number of a body";
  return r->wrong ? 0 : (int32_t)value;
}

static void read_put(reader *r) {
  motion_put put = {.time = number(r)};
  put.body = read_index(r);
  put.state = read_state(r);
  if (!r->wrong && !motion_add_put(r->scene, &put)) r->wrong = "out of memory";
}

static void read_push(reader *r) {
  motion_push push = {.from = number(r)};
  push.to = number(r);
  push.body = read_index(r);
  numbers(r, push.force, 3);
  if (!r->wrong && !motion_add_push(r->scene, &push)) r->wrong = "out of memory";
}

static void read_line(reader *r) {
  motion_scene *s = r->scene;
  const char *key = strtok_r(r->rest, " \t\r\n", &r->rest), *name;
  if (!key) return;
  if (!strcmp(key, "name") && (name = word(r)))
    snprintf(s->name, sizeof s->name, "%s", name);
  else if (!strcmp(key, "mu"))
    s->mu = number(r);
  else if (!strcmp(key, "gravity"))
    numbers(r, s->gravity, 3);
  else if (!strcmp(key, "T"))
    s->time = positive(r);
  else if (!strcmp(key, "h"))
    s->h = positive(r);
  else if (!strcmp(key, "size"))
    s->size = positive(r);
  else if (!strcmp(key, "container"))
    for (int k = 0; k < 3; k++) s->container[k] = positive(r);
  else if (!strcmp(key, "body"))
    read_body(r);
  else if (!strcmp(key, "at"))
    read_put(r);
  else if (!strcmp(key, "push"))
    read_push(r);
  else
    r->wrong = "unknown item";
  if (!r->wrong && strtok_r(r->rest, " \t\r\n", &r->rest)) r->wrong = "too many words";
}

/* What only the whole file shows. */
static const char *check_scene(motion_scene *s) {
  bool walls = s->container[0] > 0;
  if (s->dynamic_count == 0) return "no dynamic body";
  if (!(s->mu >= 0)) return "mu is negative";
  for (int32_t k = 0; k < s->put_count; k++)
    if (s->put[k].body >= s->dynamic_count) return "'at' names a body that is not there";
  for (int32_t k = 0; k < s->push_count; k++)
    if (s->push[k].body >= s->dynamic_count) return "'push' names a body that is not there";
  for (int32_t k = 0; k < s->body_count; k++) walls &= s->body[k].dynamic || s->body[k].shape != MOTION_BOX;
  return walls && !motion_add_walls(s) ? "out of memory" : NULL;
}

bool motion_scene_read(motion_scene *scene, FILE *file, const char *file_name, char *message, size_t room) {
  char *line = NULL;
  size_t line_room = 0;
  int64_t at = 0;
  reader r = {.scene = scene};
  *scene = motion_scene_new(file_name);
  while (!r.wrong && getline(&line, &line_room, file) >= 0) {
    line[strcspn(line, "#")] = 0;
    r.rest = line;
    at++;
    read_line(&r);
  }
  if (!r.wrong && ferror(file)) r.wrong = "cannot be read";
  if (!r.wrong) r.wrong = check_scene(scene);
  free(line);
  if (!r.wrong) return true;
  snprintf(message, room, "%s:%lld: %s", file_name, (long long)at, r.wrong);
  motion_scene_end(scene);
  return false;
}

/* ---- writing ---- */

static void put_numbers(FILE *file, const double *x, int count) {
  for (int k = 0; k < count; k++) fprintf(file, " %.17g", x[k]);
}

static void put_state(FILE *file, const motion_state *s) {
  put_numbers(file, s->p, 3), put_numbers(file, s->q, 4), put_numbers(file, s->v, 3), put_numbers(file, s->w, 3);
}

bool motion_scene_write(const motion_scene *s, FILE *file) {
  fprintf(file, "name %s\nmu %.17g\ngravity", s->name, s->mu);
  put_numbers(file, s->gravity, 3);
  fprintf(file, "\nT %.17g\nh %.17g\nsize %.17g\n", s->time, s->h, s->size);
  if (s->container[0] > 0)
    fprintf(file, "container %.17g %.17g %.17g\n", s->container[0], s->container[1], s->container[2]);
  for (int32_t k = 0; k < s->put_count; k++) {
    fprintf(file, "at %.17g %d", s->put[k].time, s->put[k].body);
    put_state(file, &s->put[k].state);
    fprintf(file, "\n");
  }
  for (int32_t k = 0; k < s->push_count; k++) {
    fprintf(file, "push %.17g %.17g %d", s->push[k].from, s->push[k].to, s->push[k].body);
    put_numbers(file, s->push[k].force, 3);
    fprintf(file, "\n");
  }
  for (int32_t k = 0; k < s->body_count; k++) {
    const motion_body *b = &s->body[k];
    fprintf(file, "body b%d %d %.17g", k, b->dynamic, b->mass);
    put_numbers(file, b->inertia, 3);
    put_state(file, &b->start);
    fprintf(file, " %s", shapes[b->shape].name);
    put_numbers(file, b->size, shapes[b->shape].parameters);
    fprintf(file, "\n");
  }
  return fflush(file) == 0 && !ferror(file);
}

/* ---- time ---- */

int64_t motion_step_count(const motion_scene *scene) { return (int64_t)(scene->time / scene->h + 0.5); }

bool motion_put_now(const motion_put *put, double time, double h) { return fabs(put->time - time) < 0.5 * h; }

bool motion_push_now(const motion_push *push, double time, double h) {
  return time > push->from - 0.5 * h && time < push->to - 0.5 * h;
}

bool motion_must_stand(const motion_scene *scene) {
  bool struck = strstr(scene->name, "_ball") != NULL;
  return (strstr(scene->name, "pyramid") && !struck) || strstr(scene->name, "_blow0");
}
