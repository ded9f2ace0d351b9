/* Moving scenes in the engines of bench/peers. */
#include "motion_peers.h"

#include "peers/peer.h"

#include <stdlib.h>
#include <string.h>

typedef struct world {
  const peer *engine;
  void *inner;
  int *index; /* of dynamic bodies */
} world;

static peer_body body_of(const motion_body *b) {
  static const peer_kind kinds[] = {[MOTION_BOX] = PEER_BOX,
                                    [MOTION_SPHERE] = PEER_SPHERE,
                                    [MOTION_CAPSULE] = PEER_CAPSULE,
                                    [MOTION_CYLINDER] = PEER_CYLINDER};
  peer_body out = {.kind = kinds[b->shape], .radius = b->size[0], .half_length = b->size[1]};
  memcpy(out.half, b->size, sizeof out.half);
  memcpy(out.p, b->start.p, sizeof out.p), memcpy(out.q, b->start.q, sizeof out.q);
  memcpy(out.v, b->start.v, sizeof out.v), memcpy(out.w, b->start.w, sizeof out.w);
  if (b->dynamic) out.mass = b->mass, memcpy(out.inertia, b->inertia, sizeof out.inertia);
  return out;
}

/* A plane of the scene: the half space below z = 0 of its frame. */
static void plane_of(const motion_state *s, double out[4]) {
  const double *q = s->q;
  out[0] = 2 * (q[1] * q[3] + q[0] * q[2]), out[1] = 2 * (q[2] * q[3] - q[0] * q[1]);
  out[2] = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
  out[3] = out[0] * s->p[0] + out[1] * s->p[1] + out[2] * s->p[2];
}

static void destroy(void *data) {
  world *w = data;
  if (!w) return;
  if (w->inner) w->engine->destroy(w->inner);
  free(w->index);
  free(w);
}

static void *create(const peer *engine, const motion_scene *scene, const motion_options *options) {
  peer_body *body = calloc((size_t)scene->body_count, sizeof *body);
  peer_scene s = {.body = body, .mu = scene->mu, .h = scene->h};
  memcpy(s.gravity, scene->gravity, sizeof s.gravity);
  world *w = calloc(1, sizeof *w);
  if (w) w->engine = engine, w->index = calloc((size_t)scene->dynamic_count + 1, sizeof *w->index);
  bool good = body && w && w->index;
  for (int32_t k = 0, j = 0; good && k < scene->body_count; k++) {
    const motion_body *b = &scene->body[k];
    if (b->dynamic) w->index[j++] = s.count;
    if (b->shape != MOTION_PLANE)
      body[s.count++] = body_of(b);
    else if ((good = s.plane_count < PEER_PLANES))
      plane_of(&b->start, s.plane[s.plane_count++]);
  }
  if (good && engine->can(&s)) w->inner = engine->create(&s, options->iterations);
  free(body);
  if (good && w->inner) return w;
  fprintf(stderr, "%s: %s cannot do this scene\n", scene->name, engine->name);
  destroy(w);
  return NULL;
}

static bool step(void *data, motion_step *out) {
  world *w = data;
  double processor = motion_processor_seconds(), wall = motion_wall_seconds();
  w->engine->step(w->inner);
  *out = (motion_step){
      .seconds = motion_processor_seconds() - processor, .wall = motion_wall_seconds() - wall, .penetration = -1};
  return true;
}

static void put(void *data, int32_t k, const motion_state *s) {
  world *w = data;
  w->engine->put(w->inner, w->index[k], s->p, s->q, s->v, s->w);
}

static void push(void *data, int32_t k, const double force[3]) {
  world *w = data;
  w->engine->push(w->inner, w->index[k], force);
}

static void look(void *data, int32_t k, motion_state *out) {
  world *w = data;
  w->engine->look(w->inner, w->index[k], out->p, out->q, out->v, out->w);
}

static void *create_bullet(const motion_scene *scene, const motion_options *options) {
  return create(&peer_bullet, scene, options);
}

static void *create_ode(const motion_scene *scene, const motion_options *options) {
  return create(&peer_ode, scene, options);
}

const motion_engine motion_bullet = {"Bullet", create_bullet, step, put, push, look, NULL, destroy};
const motion_engine motion_ode = {"ODE", create_ode, step, put, push, look, NULL, destroy};
