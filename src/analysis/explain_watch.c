/* Pairs of bodies that touch, over a run: forces of their contacts, and how far the bodies are from the place they had
 * against each other when they first touched,
 *
 *   distance = max(|p_a - p_b - carried|, angle size)
 *
 * p_a, p_b the middle of the first contact points as points of a and of b, angle the turn of a against b, size the
 * radius of the smaller body, carried the way on which belts have taken a while they touched. */
#include "analysis/explain_internal.h"

#include "base/trig.h"
#include "sim/hooks_internal.h"

#include <math.h>
#include <string.h>

static double radius_of(const frix_sim *sim, frix_body_id id) {
  return id.index ? fx_slot_body(sim, (int32_t)id.index)->radius : INFINITY;
}

static frix_material_id material_of(const frix_sim *sim, frix_shape_id shape) {
  frix_shape_config config;
  frix_material_id none = {0, 0};
  return frix_model_shape(frix_sim_model(sim), shape, &config, NULL) == FRIX_OK ? config.material : none;
}

static bool is_round(const frix_sim *sim, frix_shape_id shape) {
  frix_shape_config config;
  if (frix_model_shape(frix_sim_model(sim), shape, &config, NULL) != FRIX_OK) return false;
  switch (config.kind) {
    case FRIX_SHAPE_SPHERE:
    case FRIX_SHAPE_CAPSULE:
    case FRIX_SHAPE_CYLINDER:
    case FRIX_SHAPE_ELLIPSOID:
    case FRIX_SHAPE_DISC:
    case FRIX_SHAPE_ELLIPSE: return true;
    default: return false;
  }
}

/* The pair of a contact, a new one where there is none; contacts come sorted by bodies, so the next pair is mostly the
 * one behind the last. NULL: no memory. */
static fx_meeting *find_touch(fx_watch *w, const frix_sim *sim, const frix_contact_report *c, int32_t *hint) {
  for (int32_t n = 0; n < w->count; n++) {
    int32_t k = (*hint + n) % w->count;
    if (!fx_same_body(w->touch[k].a, c->a) || !fx_same_body(w->touch[k].b, c->b)) continue;
    *hint = k;
    return &w->touch[k];
  }
  if (w->count == w->room) {
    int32_t room = w->room ? 2 * w->room : 64;
    fx_meeting *grown = fx_realloc(sim->context, w->touch, (size_t)w->room, (size_t)room, sizeof *grown);
    if (!grown) return NULL;
    w->touch = grown, w->room = room;
  }
  fx_meeting *t = &w->touch[w->count];
  *t = (fx_meeting){.a = c->a, .b = c->b, .begin = w->done, .removed = -1, .onset = -1, .failed = -1};
  t->sample = FX_TAKE(w->arena, fx_sample, w->steps);
  if (!t->sample) return NULL;
  t->material[0] = material_of(sim, c->shape_a), t->material[1] = material_of(sim, c->shape_b);
  t->round = is_round(sim, c->shape_a) || is_round(sim, c->shape_b);
  t->size = fx_min(radius_of(sim, c->a), radius_of(sim, c->b));
  *hint = w->count++;
  return t;
}

typedef struct sums {
  frix_vec3 point, normal, tangent, belt; /* belt: velocity of a against b without slip */
} sums;

frix_vec3 fx_belt_of(const frix_sim *sim, frix_shape_id shape, frix_body_id body, frix_vec3 point) {
  const frix_model *m = sim->model;
  bool known = shape.index > 0 && shape.index <= (uint32_t)m->shape_id_count && m->shape_of_id[shape.index - 1] >= 0;
  int32_t place = known ? m->shape_of_id[shape.index - 1] : -1;
  return known ? fx_belt_velocity(sim, place, (int32_t)body.index, point) : fx_vec(0, 0, 0);
}

static void add_contact(const frix_sim *sim, const frix_contact_report *c, fx_sample *s, sums *sum) {
  double n = fx_dot(c->force, c->normal);
  sum->point = fx_add(sum->point, c->point);
  sum->normal = fx_add(sum->normal, c->normal);
  sum->tangent = fx_add(sum->tangent, fx_mad(c->force, -n, c->normal));
  frix_vec3 belt = fx_sub(fx_belt_of(sim, c->shape_b, c->b, c->point), fx_belt_of(sim, c->shape_a, c->a, c->point));
  sum->belt = fx_add(sum->belt, fx_mad(belt, -fx_dot(belt, c->normal), c->normal));
  s->normal += (float)n;
  s->mu = s->points ? fx_min(s->mu, c->mu) : c->mu;
  s->points++;
  if (c->state == FRIX_CONTACT_SLIP) s->sliding++;
}

/* Where the bodies touch first is the place they are measured from. */
static void begin_touch(const fx_watch *w, const frix_sim *sim, fx_meeting *t, frix_vec3 point, frix_vec3 normal) {
  frix_body_state a = fx_state_of(sim, t->a), b = fx_state_of(sim, t->b);
  t->point_a = fx_pose_unpoint(a.pose, point);
  t->point_b = fx_pose_unpoint(b.pose, point);
  t->normal = fx_unrotate(b.pose.q, fx_unit(normal));
  t->carried = fx_scale(-w->step, t->belt); /* the place is that at the end of this step */
  t->turn = fx_quat_mul(fx_quat_conj(b.pose.q), a.pose.q);
}

static void measure(const fx_watch *w, const frix_sim *sim, fx_meeting *t, fx_sample *s) {
  frix_body_state a = fx_state_of(sim, t->a), b = fx_state_of(sim, t->b);
  frix_vec3 p = fx_pose_point(a.pose, t->point_a), q = fx_pose_point(b.pose, t->point_b), apart = fx_sub(p, q);
  apart = fx_sub(apart, fx_rotate(b.pose.q, fx_mad(t->carried, w->step, t->belt)));
  frix_quat turn = fx_quat_mul(fx_quat_conj(t->turn), fx_quat_mul(fx_quat_conj(b.pose.q), a.pose.q));
  double sine = sqrt(turn.x * turn.x + turn.y * turn.y + turn.z * turn.z), angle = 2 * fx_atan2(sine, fabs(turn.w));
  double turned = isfinite(t->size) ? angle * t->size : 0, lever = isfinite(t->size) ? t->size : 0;
  frix_vec3 velocity = fx_sub(fx_velocity_at(&a, p), fx_velocity_at(&b, q));
  velocity = fx_sub(velocity, fx_rotate(b.pose.q, t->belt));
  s->distance = (float)fx_max(fx_norm(apart), turned);
  s->turning = (float)(lever * fx_norm(fx_sub(a.spin, b.spin)));
  s->speed = (float)fx_max(fx_norm(velocity), s->turning);
}

frix_status fx_watch_add(fx_watch *w, const frix_sim *sim, const frix_step_report *report) {
  int32_t hint = 0, contacts = frix_sim_contact_count(sim), now = w->done;
  if (now >= w->steps) return FRIX_ERROR_INPUT;
  fx_meeting *open = NULL; /* contacts of a pair stand together */
  for (int32_t k = 0; k < w->count; k++) w->touch[k].belt = fx_vec(0, 0, 0);
  sums sum = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int32_t k = 0; k <= contacts; k++) {
    frix_contact_report c;
    bool end = k == contacts;
    if (!end && (frix_sim_contact(sim, k, &c) != FRIX_OK || c.phase == FRIX_CONTACT_END)) continue;
    if (open && (end || !fx_same_body(open->a, c.a) || !fx_same_body(open->b, c.b))) {
      fx_sample *s = &open->sample[now];
      s->tangent = (float)fx_norm(sum.tangent);
      open->belt = fx_unrotate(fx_state_of(sim, open->b).pose.q, fx_scale(1.0 / s->points, sum.belt));
      if (open->begin == now) begin_touch(w, sim, open, fx_scale(1.0 / s->points, sum.point), sum.normal);
      open = NULL;
    }
    if (end) break;
    if (!open) {
      memset(&sum, 0, sizeof sum);
      open = find_touch(w, sim, &c, &hint);
      if (!open) return FRIX_ERROR_MEMORY;
    }
    add_contact(sim, &c, &open->sample[now], &sum);
    if (open->begin == now) open->overlap = fx_max(open->overlap, -c.gap);
  }
  for (int32_t k = 0; k < w->count; k++) {
    fx_meeting *t = &w->touch[k];
    bool there = (!t->a.index || frix_sim_alive(sim, t->a)) && (!t->b.index || frix_sim_alive(sim, t->b));
    if (!there && t->removed < 0) t->removed = now;
    if (there) measure(w, sim, t, &t->sample[now]);
    t->carried = fx_mad(t->carried, w->step, t->belt);
  }
  w->certified += report->certified;
  w->residual = fx_max(w->residual, report->certificate.residual);
  w->done++;
  return FRIX_OK;
}

void fx_watch_free(fx_watch *w, frix_context *context) {
  fx_free(context, w->touch);
  w->touch = NULL;
}
