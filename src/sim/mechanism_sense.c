/* Sensors of a robot that need the impulses of the last step.
 *
 *   touch           sum of the normal forces of contacts of the site's body whose force passes through the site: a ray
 * from the contact along the normal out of the body meets it, as in MuJoCo limit forces    impulse / h of the rows of a
 * joint or tendon force, torque   what the parent gives: contacts, connect and weld act on the bodies beside it
 *
 * All impulses are those of the certified answer. */
#include "sim/coats.h"
#include "sim/mechanism.h"

#include <math.h>

/* ---- a ray and the volume of a site ---- */

/* Where a ray is inside of something convex: from .. to. */
typedef struct span {
  double from, to;
} span;

static span both(span a, span b) { return (span){fx_max(a.from, b.from), fx_min(a.to, b.to)}; }

static bool is_met(span s) { return s.from <= s.to && s.to >= 0.0; }

static span slab(double p, double d, double half) {
  if (fabs(d) < 1e-15) return fabs(p) <= half ? (span){-INFINITY, INFINITY} : (span){1.0, 0.0};
  double a = (-half - p) / d, b = (half - p) / d;
  return (span){fx_min(a, b), fx_max(a, b)};
}

/* |p + t d| <= 1 */
static span ball(frix_vec3 p, frix_vec3 d) {
  double a = fx_norm2(d), b = fx_dot(p, d), c = fx_norm2(p) - 1.0, root = b * b - a * c;
  if (!(a > 0.0)) return c <= 0.0 ? (span){-INFINITY, INFINITY} : (span){1.0, 0.0};
  if (!(root >= 0.0)) return (span){1.0, 0.0};
  return (span){(-b - sqrt(root)) / a, (-b + sqrt(root)) / a};
}

static frix_vec3 over(frix_vec3 v, double x, double y, double z) { return fx_vec(v.x / x, v.y / y, v.z / z); }

static bool meets(const fx_tree_site *site, frix_vec3 p, frix_vec3 d) {
  double a = fx_max(site->size[0], 1e-15), b = fx_max(site->size[1], 1e-15), c = fx_max(site->size[2], 1e-15);
  frix_vec3 flat_p = {p.x / a, p.y / a, 0.0}, flat_d = {d.x / a, d.y / a, 0.0}, end = {0.0, 0.0, b};
  bool round = site->kind == FX_SITE_CAPSULE || site->kind == FX_SITE_CYLINDER;
  bool middle = round && is_met(both(ball(flat_p, flat_d), slab(p.z, d.z, b)));
  switch (site->kind) {
    case FX_SITE_SPHERE: return is_met(ball(over(p, a, a, a), over(d, a, a, a)));
    case FX_SITE_ELLIPSOID: return is_met(ball(over(p, a, b, c), over(d, a, b, c)));
    case FX_SITE_BOX: return is_met(both(both(slab(p.x, d.x, a), slab(p.y, d.y, b)), slab(p.z, d.z, c)));
    case FX_SITE_CYLINDER: return middle;
    case FX_SITE_CAPSULE: break;
  }
  return middle || is_met(ball(over(fx_sub(p, end), a, a, a), over(d, a, a, a))) ||
         is_met(ball(over(fx_add(p, end), a, a, a), over(d, a, a, a)));
}

/* ---- contacts ---- */

/* The body of the robot that a side of a contact belongs to, -1: none. */
static int32_t body_at(const frix_sim *sim, const fx_contact *c, bool second) {
  int32_t slot = second ? c->body_b : c->body_a, shape = second ? c->shape_b : c->shape_a;
  const fx_robot_link *link = &sim->model->robot;
  if (slot >= sim->mechanism->slot_count) return -1; /* spawned */
  if (link->shape_body && shape < sim->model->shape_count) return link->shape_body[sim->model->shape[shape].id];
  return sim->mechanism->body_of_slot[slot];
}

static frix_vec3 middle_of(const fx_contact *c) { return fx_scale(0.5, fx_add(c->point_a, c->point_b)); }

static double touch(const frix_sim *sim, int32_t k) {
  const fx_mechanism *x = sim->mechanism;
  const fx_tree_site *site = &x->tree.site[k];
  frix_pose pose = fx_tree_site_pose(x->state, k);
  double sum = 0.0;
  for (int32_t i = 0; i < sim->state.touching_count; i++) {
    const fx_touching *t = &sim->state.touching[i];
    double force =
        fx_dot(fx_coats_impulse(sim, t), t->contact.normal) / sim->state.last_step; /* the normal points to a */
    for (int side = 0; side < 2 && force > 0.0; side++) {
      if (body_at(sim, &t->contact, side) != site->body) continue;
      frix_vec3 out = side ? t->contact.normal : fx_neg(t->contact.normal);
      if (meets(site, fx_pose_unpoint(pose, middle_of(&t->contact)), fx_unrotate(pose.q, out))) sum += force;
    }
  }
  return sum;
}

/* What contacts and loops do to the bodies of the robot, NULL without memory. */
static fx_spatial *find_pulls(const frix_sim *sim, fx_arena *arena) {
  const fx_mechanism *x = sim->mechanism;
  fx_spatial *pulls = FX_TAKE(arena, fx_spatial, x->tree.body_count);
  double rate = 1.0 / sim->state.last_step;
  for (int32_t i = 0; pulls && i < sim->state.touching_count; i++) {
    const fx_touching *t = &sim->state.touching[i];
    for (int side = 0; side < 2; side++) {
      int32_t b = body_at(sim, &t->contact, side);
      if (b <= 0) continue;
      frix_vec3 force = fx_scale(side ? -rate : rate, fx_coats_impulse(sim, t)),
                turn = fx_scale(side ? -rate : rate, t->roll);
      frix_vec3 arm = fx_sub(middle_of(&t->contact), fx_tree_point_of(x->state, b));
      pulls[b].v = fx_add(pulls[b].v, force);
      pulls[b].w = fx_add(pulls[b].w, fx_add(turn, fx_cross(arm, force)));
    }
  }
  for (int32_t e = 0; pulls && e < x->tree.equality_count; e++) {
    const double *r = sim->state.robot + x->at.equality + FRIX_MAX_DIM * e;
    double force[FRIX_MAX_DIM];
    for (int k = 0; k < FRIX_MAX_DIM; k++) force[k] = rate * r[k];
    fx_tree_equality_pull(x->state, &x->tree.equality[e], force, pulls);
  }
  return pulls;
}

static bool reads(const fx_tree *t, frix_robot_sensor_kind first, frix_robot_sensor_kind last) {
  for (int32_t k = 0; k < t->sensor_count; k++)
    if (t->sensor[k].kind >= first && t->sensor[k].kind <= last) return true;
  return false;
}

frix_status fx_mechanism_sense(frix_sim *sim) {
  const fx_mechanism *x = sim->mechanism;
  const double *impulse = sim->state.robot;
  fx_arena arena;
  fx_arena_init(&arena, sim->context);
  bool pulled = reads(&x->tree, FRIX_SENSOR_FORCE, FRIX_SENSOR_TORQUE);
  fx_spatial *pulls = pulled ? find_pulls(sim, &arena) : NULL;
  fx_tree_sensors(x->state, x->acceleration, pulls);
  fx_arena_free(&arena);
  for (int32_t k = 0; k < x->tree.sensor_count; k++) {
    const fx_tree_sensor *s = &x->tree.sensor[k];
    double *out = x->state->sensor + s->first, value;
    if (s->kind == FRIX_SENSOR_TOUCH) {
      value = touch(sim, s->object);
    } else if (s->kind == FRIX_SENSOR_JOINT_LIMIT_FORCE) {
      int32_t v = x->tree.joint[s->object].v;
      value = (impulse[x->at.lower + v] + impulse[x->at.upper + v]) / sim->state.last_step;
    } else if (s->kind == FRIX_SENSOR_TENDON_LIMIT_FORCE) {
      value =
          (impulse[x->at.tendon_lower + s->object] + impulse[x->at.tendon_upper + s->object]) / sim->state.last_step;
    } else {
      continue;
    }
    *out = s->cutoff > 0.0 ? fx_clamp(value, -s->cutoff, s->cutoff) : value;
  }
  return pulled && !pulls ? FRIX_ERROR_MEMORY : fx_mechanism_look(sim);
}
