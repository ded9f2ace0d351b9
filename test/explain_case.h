/* Scripted failures: a world, what drives it, what frix_explain is to name; and each remedy, applied to the world by
 * other means than the library's. */
#ifndef FX_TEST_EXPLAIN_CASE_H
#define FX_TEST_EXPLAIN_CASE_H

#include <frix/frix.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* What is changed of a world: friction of the named surface, the load, a force that presses. */
typedef struct world {
  double mu, load, press;
  const struct failure *failure;
  frix_body_id body[8];
  frix_shape_id shape;
  frix_event first; /* where to press */
  bool keep;
  bool pulled_by_joints; /* their work moves the body, and is `other` in its account; set by build */
} world;

typedef struct failure {
  const char *name;
  void (*build)(frix_builder *b, world *w);
  frix_status (*drive)(frix_sim *sim, double h, void *user);
  double mu, time;
  const char *body, *other; /* of the contact; NULL: the world. "a<b": that of a, asked of b */
  frix_failure kind;
  frix_cause cause;
  const char *by; /* the body of the cause */
  bool remedy[FRIX_REMEDY_COUNT];
} failure;

static inline frix_vec3 vec(double x, double y, double z) { return (frix_vec3){x, y, z}; }

/* ---- parts ---- */

static inline frix_material_id material(frix_builder *b, double mu) {
  frix_material_config m = frix_material_default();
  frix_material_id id;
  m.mu = mu;
  frix_builder_add_material(b, &m, &id);
  return id;
}

static inline void floor_of(frix_builder *b, double mu) {
  frix_shape_config s = frix_shape_default();
  s.kind = FRIX_SHAPE_PLANE;
  s.material = material(b, mu);
  frix_builder_add_shape(b, (frix_body_id){0, 0}, &s, NULL);
}

/* A box with its middle at p; mass 0: kinematic, -1: static. */
static inline frix_body_id box_of(frix_builder *b, const char *name, frix_vec3 p, frix_vec3 half, double mass,
                                  frix_material_id surface) {
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  frix_body_id id;
  c.name = name;
  c.pose.p = p;
  c.kind = mass > 0 ? FRIX_BODY_DYNAMIC : mass < 0 ? FRIX_BODY_STATIC : FRIX_BODY_KINEMATIC;
  c.mass = fmax(mass, 0);
  s.kind = FRIX_SHAPE_BOX, s.half = half;
  s.material = surface;
  frix_builder_add_body(b, &c, &id);
  frix_builder_add_shape(b, id, &s, NULL);
  return id;
}

static inline frix_body_id box(frix_builder *b, const char *name, frix_vec3 p, frix_vec3 half, double mass, double mu) {
  return box_of(b, name, p, half, mass, material(b, mu));
}

static inline frix_body_id ball(frix_builder *b, const char *name, frix_vec3 p, double radius, double mass,
                                frix_vec3 velocity) {
  frix_body_config c = frix_body_default();
  frix_shape_config s = frix_shape_default();
  frix_body_id id;
  c.name = name, c.pose.p = p, c.mass = mass, c.velocity = velocity;
  s.kind = FRIX_SHAPE_SPHERE, s.radius = radius;
  s.material = material(b, 0.3);
  frix_builder_add_body(b, &c, &id);
  frix_builder_add_shape(b, id, &s, NULL);
  return id;
}

static inline void push(frix_sim *sim, frix_body_id id, frix_vec3 force, frix_vec3 local) {
  frix_body_state s;
  if (frix_sim_body(sim, id, &s) != FRIX_OK) return;
  frix_vec3 at = vec(s.center.x + local.x, s.center.y + local.y, s.center.z + local.z);
  frix_sim_add_force_at(sim, id, force, at);
}

/* ---- applying a remedy ---- */

static inline frix_model *compile(frix_context *context, world *w) {
  frix_builder *b = NULL;
  frix_model *model = NULL;
  if (frix_builder_create(context, &b) != FRIX_OK) return NULL;
  w->failure->build(b, w);
  frix_builder_compile(b, &model);
  frix_builder_destroy(b);
  return model;
}

static inline frix_vec3 turned(frix_quat q, frix_vec3 v) {
  frix_vec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
  return vec(v.x + q.w * t.x + q.y * t.z - q.z * t.y, v.y + q.w * t.y + q.z * t.x - q.x * t.z,
             v.z + q.w * t.z + q.x * t.y - q.y * t.x);
}

static inline void state_of(const frix_sim *sim, frix_body_id id, frix_body_state *out) {
  memset(out, 0, sizeof *out);
  out->pose.q.w = 1;
  if (id.index && frix_sim_alive(sim, id)) frix_sim_body(sim, id, out);
}

/* The distance of the two bodies' frames, in that of b: it stays where the contact holds. */
static inline double apart(const frix_sim *sim, const world *w, frix_vec3 *place) {
  frix_body_state a, b;
  state_of(sim, w->first.a, &a), state_of(sim, w->first.b, &b);
  frix_quat back = {b.pose.q.w, -b.pose.q.x, -b.pose.q.y, -b.pose.q.z};
  frix_vec3 d = turned(back, vec(a.pose.p.x - b.pose.p.x, a.pose.p.y - b.pose.p.y, a.pose.p.z - b.pose.p.z));
  double x = d.x - place->x, y = d.y - place->y, z = d.z - place->z;
  *place = d;
  return sqrt(x * x + y * y + z * z);
}

/* Where b was when the contact began to fail, without any remedy. */
static inline frix_body_state onset_state(frix_context *context, const world *w) {
  world plain = *w;
  frix_body_state b;
  frix_sim *sim = NULL;
  plain.mu = w->failure->mu, plain.load = 1, plain.press = 0;
  frix_model *model = compile(context, &plain);
  frix_sim_create(context, model, NULL, &sim);
  for (int64_t k = 0; k < w->first.step; k++) {
    if (w->failure->drive) w->failure->drive(sim, 0.005, &plain);
    frix_sim_step(sim, 0.005, NULL);
  }
  state_of(sim, w->first.b, &b);
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  return b;
}

/* How far the bodies of the contact went from each other in a run with what `w` says. */
static inline double wander(frix_context *context, world *w) {
  frix_sim *sim = NULL;
  frix_model *model = compile(context, w);
  frix_vec3 start = {0, 0, 0}, place;
  frix_body_state a, b0, b;
  if (!model || frix_sim_create(context, model, NULL, &sim) != FRIX_OK) return INFINITY;
  apart(sim, w, &start);
  b0 = onset_state(context, w);
  double farthest = 0;
  for (int k = 0; k < (int)(w->failure->time / 0.005 + 0.5); k++) {
    if (w->failure->drive && w->failure->drive(sim, 0.005, w) != FRIX_OK) break;
    if (w->press > 0) {
      frix_vec3 n = w->first.normal, p = w->first.point;
      state_of(sim, w->first.a, &a), state_of(sim, w->first.b, &b);
      frix_quat back = {b0.pose.q.w, -b0.pose.q.x, -b0.pose.q.y, -b0.pose.q.z}; /* it goes with b, and turns with it */
      p = turned(b.pose.q, turned(back, vec(p.x - b0.pose.p.x, p.y - b0.pose.p.y, p.z - b0.pose.p.z)));
      p = vec(p.x + b.pose.p.x, p.y + b.pose.p.y, p.z + b.pose.p.z);
      n = turned(b.pose.q, turned(back, n));
      n = vec(w->press * n.x, w->press * n.y, w->press * n.z);
      frix_sim_add_force_at(sim, w->first.a, vec(-n.x, -n.y, -n.z), p);
      if (w->first.b.index) frix_sim_add_force_at(sim, w->first.b, n, p);
    }
    if (frix_sim_step(sim, 0.005, NULL) != FRIX_OK) break;
    place = start;
    farthest = fmax(farthest, apart(sim, w, &place));
  }
  frix_sim_destroy(sim);
  frix_model_destroy(model);
  return farthest;
}

static inline bool named(const frix_model *model, frix_body_id id, const char *names) {
  frix_body_config c;
  if (!names) return !id.index;
  if (!id.index || frix_model_body(model, id, &c) != FRIX_OK || !c.name) return false;
  const char *at = strstr(names, c.name);
  size_t n = strlen(c.name);
  return at && (at[n] == 0 || at[n] == '|') && (at == names || at[-1] == '|');
}

static inline void check_remedies(fx_test *t, frix_context *context, const failure *f, world *w,
                                  const frix_explanation_result *v) {
  const double allowed = 2e-3; /* m: sizes are tenths of a metre, of which a thousandth counts as leaving */
  for (int k = 0; k < FRIX_REMEDY_COUNT; k++) {
    const frix_remedy *r = &v->remedy[k];
    if (f->remedy[k] && !r->found) fx_test_fail(t, __FILE__, __LINE__, "%s: no remedy %d", f->name, k);
    if (!r->found) continue;
    world changed = *w;
    changed.first = v->first;
    if (k == FRIX_REMEDY_FRICTION) changed.mu = r->holds;
    if (k == FRIX_REMEDY_LOAD) changed.load = r->holds;
    if (k == FRIX_REMEDY_PRESS) changed.press = r->holds;
    if (k == FRIX_REMEDY_KEEP) changed.keep = true;
    /* what carries the load is not always what the test can scale */
    if (k == FRIX_REMEDY_LOAD && !f->remedy[k]) continue;
    if (k == FRIX_REMEDY_FRICTION && !f->remedy[k]) continue;
    double far = wander(context, &changed);
    if (!(far < allowed)) fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d leaves %g m", f->name, k, far);
    if (!r->certified) fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d is not certified", f->name, k);
    if (k != FRIX_REMEDY_KEEP && !(fabs(r->holds - r->fails) <= 1e-2 * fmax(r->holds, r->fails)))
      fx_test_fail(t, __FILE__, __LINE__, "%s: remedy %d in [%g, %g]", f->name, k, r->fails, r->holds);
  }
}

static inline int explain_one(fx_test *t, frix_context *context, const failure *f) {
  world w = {.mu = f->mu, .load = 1, .failure = f};
  frix_model *model = compile(context, &w);
  frix_explanation *e = NULL;
  if (!model) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", f->name, frix_error_text(context));
    return 0;
  }
  frix_explain_config config = frix_explain_default();
  const char *asked = strchr(f->body, '<');
  char body[64];
  snprintf(body, sizeof body, "%.*s", (int)strcspn(f->body, "<"), f->body);
  config.body = frix_model_find_body(model, asked ? asked + 1 : body);
  config.time = f->time, config.step = 0.005;
  config.within = 1e-2;
  config.drive = f->drive, config.user = &w;
  int runs = 0;
  if (frix_explain(context, model, NULL, &config, &e) != FRIX_OK) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: %s", f->name, frix_error_text(context));
  } else {
    frix_explanation_result v;
    frix_explanation_view(e, &v);
    if (v.first.kind != f->kind || v.cause != f->cause || !named(model, v.first.a, body) ||
        !named(model, v.first.b, f->other) || !named(model, v.cause_body, f->by))
      fx_test_fail(t, __FILE__, __LINE__, "%s: %s of %u on %u at %g by %s of %u", f->name,
                   frix_failure_name(v.first.kind), v.first.a.index, v.first.b.index, v.first.time,
                   frix_cause_name(v.cause), v.cause_body.index);
    CHECK(t, v.certified_steps == v.steps);
    const frix_body_energy *q = &v.energy;
    bool balanced = fabs(q->other) <= 0.05 * (fabs(q->weight) + fabs(q->applied) + fabs(q->contacts)) + 1e-6;
    CHECK(t, balanced != w.pulled_by_joints);
    check_remedies(t, context, f, &w, &v);
    for (int k = 0; k < FRIX_REMEDY_COUNT; k++) runs += v.remedy[k].runs;
  }
  frix_explanation_destroy(e);
  frix_model_destroy(model);
  return runs;
}

/* Every `stride`-th of the list, from the first one. */
static inline void explain_scripted(fx_test *t, const failure *list, size_t count, size_t first, size_t stride) {
  frix_context *context = NULL;
  int runs = 0, done = 0;
  REQUIRE(t, frix_context_create(NULL, &context) == FRIX_OK);
  for (size_t k = first; k < count; k += stride, done++) runs += explain_one(t, context, &list[k]);
  fx_test_note(t, "%d failures, %d runs for remedies", done, runs);
  frix_context_destroy(context);
}

#endif
