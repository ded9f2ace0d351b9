/* Robots of files: random MJCF texts of free joints, hinges and slides, read as robots (joints as coordinates) and
 * stepped; the judge reads the same text as bodies with joints, which is other code of the reader and no part of the
 * trees. */
#include "random_world.h"
#include "trials.h"

#include <frix/mjcf.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MOST_TEXT = 1 << 15 };

typedef struct text {
  char at[MOST_TEXT];
  size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(t->at + t->length, MOST_TEXT - t->length, format, list);
  va_end(list);
  if (n > 0 && t->length + (size_t)n < MOST_TEXT) t->length += (size_t)n;
}

static void put_vec(text *t, const char *name, frix_vec3 v) { put(t, " %s='%.17g %.17g %.17g'", name, v.x, v.y, v.z); }

static void put_geom(text *t, world *w, double size, double mu) {
  static const char *const kind[] = {"sphere", "box", "capsule", "cylinder", "ellipsoid"};
  int k = dice(w, 5);
  put(t, "<geom type='%s' friction='%.17g'", kind[k], mu);
  put_vec(t, "size", at(size, size * uniform(w, 0.5, 1), size * uniform(w, 0.5, 1)));
  put(t, "/>");
}

/* A link with its children; what is left of the number of links. */
static int put_link(text *t, world *w, bool root, double size, double mu, int left) {
  double mass = magnitude(w, 0.1, 10), i = 0.4 * mass * size * size;
  frix_vec3 p = root ? at(0, 0, uniform(w, 0.05, 0.6)) : at(uniform(w, -2, 2) * size, uniform(w, -2, 2) * size, 0);
  frix_quat q = rotation(w);
  put(t, "<body");
  put_vec(t, "pos", p);
  put(t, " quat='%.17g %.17g %.17g %.17g'>", q.w, q.x, q.y, q.z);
  put(t, "<inertial mass='%.17g'", mass);
  put_vec(t, "pos", at(uniform(w, -0.3, 0.3) * size, 0, 0));
  put_vec(t, "diaginertia", at(i, i * uniform(w, 0.6, 1), i * uniform(w, 0.6, 1)));
  put(t, "/>");
  if (root && chance(w, 0.6)) {
    put(t, "<freejoint/>");
  } else {
    put(t, "<joint type='%s'", chance(w, 0.8) ? "hinge" : "slide");
    put_vec(t, "axis", direction(w));
    put_vec(t, "pos", at(uniform(w, -1, 1) * size, 0, uniform(w, -1, 1) * size));
    put(t, "/>");
  }
  put_geom(t, w, size, mu);
  for (left--; left > 0 && chance(w, 0.7);) left = put_link(t, w, false, size * uniform(w, 0.7, 1.1), mu, left);
  put(t, "</body>");
  return left;
}

static void write_robots(text *t, world *w) {
  double mu = uniform(w, 0.05, 1.2);
  put(t, "<mujoco><option gravity='0 0 -9.81'/><compiler angle='radian'/><worldbody>");
  put(t, "<geom type='plane' size='5 5 1' friction='%.17g'/>", mu);
  int robots = 1 + dice(w, 2);
  for (int k = 0; k < robots; k++) {
    put(t, "<frame pos='%.17g 0 0'>", 2.0 * k);
    put_link(t, w, true, uniform(w, 0.05, 0.15), mu, 1 + dice(w, 6));
    put(t, "</frame>");
  }
  put(t, "</worldbody></mujoco>");
}

static frix_mjcf *read_as(world *w, const text *t, frix_coordinates coordinates) {
  frix_mjcf_config c = frix_mjcf_default();
  frix_mjcf *out = NULL;
  c.coordinates = coordinates;
  return frix_mjcf_read_memory(w->context, "random.xml", t->at, t->length, &c, &out) == FRIX_OK ? out : NULL;
}

static void run_robots(world *w, tally *t, finding *f, FILE *log) {
  text *file = calloc(1, sizeof *file);
  *f = (finding){.step = -1};
  w->h = magnitude(w, 1e-3, 0.01), w->steps = 4 + dice(w, 12);
  if (chance(w, 0.2)) w->config.integrator = "two_step";
  limit_iterations(w);
  w->promise = w->config.tolerance;
  if (world_tolerance > 0) w->config.tolerance = world_tolerance;
  w->config.coordinates = FRIX_COORDINATES_REDUCED;
  write_robots(file, w);
  if (log) fprintf(log, "%s\n", file->at);
  frix_mjcf *robot = read_as(w, file, FRIX_COORDINATES_REDUCED), *bodies = read_as(w, file, FRIX_COORDINATES_MAXIMAL);
  if (robot && bodies && frix_sim_create(w->context, frix_mjcf_view(robot).model, &w->config, &w->sim) == FRIX_OK) {
    w->model = frix_mjcf_take_model(bodies);
    run_world(w, t, f, log);
  } else {
    t->worlds++, t->refused++;
    if (log) fprintf(log, "  refused: %s\n", frix_error_text(w->context));
  }
  frix_sim_destroy(w->sim);
  w->sim = NULL;
  frix_mjcf_destroy(robot);
  frix_mjcf_destroy(bodies);
  free(file);
}

const world_class robot_classes[] = {
    {"robot_file", "robots of random files", false, NULL, NULL, run_robots, FRIX_CONTACT_KIND_RIGID},
    {"robot_file_stiff", "robots of random files, stiff", false, NULL, NULL, run_robots, FRIX_CONTACT_KIND_STIFF},
    {0},
};
