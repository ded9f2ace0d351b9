/* Random sequences of calls on the simulator: create, remove, step, hands, queries with stale and wild ids, null and
 * numbers that are none. Every call returns; no state is ever not a number; nothing is lost (sanitizers watch).
 *
 *   FRIX_API_SEQUENCES=200000 FRIX_API_SEED=1 build/asan/frix_test api/random      the long version */
#include "sim_world.h"

#include <stdint.h>

enum { MOST_IDS = 24 };

typedef struct play {
  fx_test *t;
  uint64_t random;
  frix_context *context;
  frix_builder *builder;
  frix_model *model;
  frix_sim *sim;
  frix_snapshot *snapshot;
  frix_body_id body[MOST_IDS]; /* living, removed and never born */
  int32_t body_count;
  frix_joint_id joint;
  frix_material_id material;
  frix_geometry_id geometry;
  uint64_t seed;
} play;

static uint64_t dice(play *p, uint64_t sides) {
  p->random ^= p->random << 13, p->random ^= p->random >> 7, p->random ^= p->random << 17;
  return (p->random >> 11) % sides;
}

static double real(play *p) { return (double)dice(p, 2000001) * 1e-6 - 1; }

/* Mostly tame, sometimes huge, zero, negative or no number at all. */
static double wild(play *p, double tame) {
  static const double odd[] = {0, -1, 1e-300, 1e300, 1e12, 1e-12};
  uint64_t k = dice(p, p->sim ? 60 : 600);
  return k == 0 ? NAN : k == 1 ? INFINITY : k < 8 ? odd[k - 2] : tame;
}

static frix_vec3 wild_vec(play *p, double size) {
  return vec(wild(p, size * real(p)), wild(p, size * real(p)), wild(p, size * real(p)));
}

static frix_pose wild_pose(play *p) {
  frix_pose pose = at(0.5 * real(p), 0.5 * real(p), 0.3 + 0.5 * real(p));
  double a = real(p);
  if (dice(p, 2)) pose.q = turned(3 * a, 0.6, 0, 0.8);
  if (dice(p, 40) == 0) pose.q = (frix_quat){wild(p, 1), real(p), 0, 0};
  if (dice(p, 40) == 0) pose.p = wild_vec(p, 1);
  return pose;
}

static frix_body_id some_body(play *p) {
  if (p->body_count == 0 || dice(p, 12) == 0) return (frix_body_id){(uint32_t)dice(p, 9), (uint32_t)dice(p, 3)};
  return p->body[dice(p, (uint64_t)p->body_count)];
}

static void keep_body(play *p, frix_body_id id) {
  if (p->body_count < MOST_IDS) p->body[p->body_count++] = id;
}

/* ---- a model ---- */

static void add_body(play *p, bool flat) {
  frix_body_config b = frix_body_default();
  b.kind = dice(p, 6) == 0 ? FRIX_BODY_KINEMATIC : dice(p, 8) == 0 ? FRIX_BODY_STATIC : FRIX_BODY_DYNAMIC;
  b.planar = flat;
  b.pose = flat ? at(0.3 * real(p), 0.3 + 0.3 * real(p), 0) : wild_pose(p);
  b.mass = dice(p, 4) ? 0 : wild(p, 1);
  b.spawn_only = dice(p, 6) == 0;
  b.velocity = dice(p, 4) == 0 ? wild_vec(p, 2) : vec(0, 0, 0);
  frix_body_id id = {0, 0};
  frix_builder_add_body(p->builder, &b, &id);
  keep_body(p, id);
  for (int k = (int)dice(p, 3); k >= 0; k--) {
    frix_shape_config s = frix_shape_default();
    s.kind = flat ? (frix_shape_kind)(FRIX_SHAPE_DISC + dice(p, 3))
                  : (frix_shape_kind)dice(p, dice(p, 20) ? 5 : FRIX_SHAPE_COUNT + 1);
    s.radius = wild(p, 0.1), s.half_length = wild(p, 0.1), s.half = vec(wild(p, 0.1), 0.08, 0.06);
    s.geometry = p->geometry;
    s.material = p->material;
    if (k) s.pose.p = vec(0.1 * real(p), 0.1 * real(p), 0);
    frix_builder_add_shape(p->builder, dice(p, 9) ? id : some_body(p), &s, NULL);
  }
}

static void add_joint(play *p) {
  frix_joint_config j = frix_joint_default((frix_joint_kind)dice(p, FRIX_JOINT_COUNT));
  j.a = some_body(p), j.b = some_body(p);
  j.first = j.second = p->joint;
  j.axis[0].limited = dice(p, 3) == 0, j.axis[0].lower = -1, j.axis[0].upper = wild(p, 1);
  j.axis[0].stiffness = dice(p, 3) == 0 ? wild(p, 10) : 0;
  j.axis[0].motor = (frix_motor_kind)dice(p, 4), j.axis[0].target = wild(p, 1), j.axis[0].max_force = wild(p, 5);
  if (dice(p, 2)) frix_joint_place(p->builder, &j, wild_vec(p, 0.3), vec(0, 0, 1), vec(1, 0, 0), vec(0, 0, 0.1));
  frix_builder_add_joint(p->builder, &j, &p->joint);
}

static void build(play *p) {
  bool flat = dice(p, 5) == 0;
  frix_material_config m = frix_material_default();
  m.mu = wild(p, 0.5), m.restitution = dice(p, 4) == 0 ? wild(p, 0.5) : 0;
  m.rolling = dice(p, 8) == 0 ? wild(p, 0.01) : 0, m.spinning = dice(p, 8) == 0 ? wild(p, 0.01) : 0;
  m.stiffness = dice(p, 6) == 0 ? wild(p, 1e5) : 0;
  if (dice(p, 8) == 0) m.axis = wild_vec(p, 1), m.mu2 = 0.1;
  frix_builder_add_material(p->builder, &m, &p->material);
  if (dice(p, 4) == 0) {
    frix_vec3 point[8];
    frix_geometry_config g = frix_geometry_default();
    g.kind = flat ? FRIX_GEOMETRY_POLYGON : FRIX_GEOMETRY_HULL;
    g.point_count = (int32_t)dice(p, 9), g.point = point;
    for (int k = 0; k < 8; k++) point[k] = wild_vec(p, 0.1);
    frix_builder_add_geometry(p->builder, &g, &p->geometry);
  }
  frix_shape_config ground = frix_shape_default();
  ground.kind = flat ? FRIX_SHAPE_HALF_PLANE : FRIX_SHAPE_PLANE, ground.material = p->material;
  frix_builder_add_shape(p->builder, (frix_body_id){0, 0}, &ground, NULL);
  if (flat) frix_builder_set_gravity(p->builder, vec(0, wild(p, -9.81), 0));
  for (int k = (int)dice(p, 4); k >= 0; k--) add_body(p, flat);
  for (int k = (int)dice(p, 3); k > 0; k--) add_joint(p);
  if (dice(p, 8) == 0) frix_builder_exclude(p->builder, some_body(p), some_body(p));
  frix_builder_compile(p->builder, dice(p, 50) ? &p->model : NULL);
}

/* ---- calls ---- */

static frix_sim_config config_of(play *p) {
  static const char *const integrator[] = {"moreau", "two_step", "variational", "moreau"};
  frix_sim_config c = frix_sim_default();
  c.integrator = integrator[dice(p, 4)];
  c.max_iterations = 60;
  c.polish = dice(p, 2) ? 1e-13 : 0;
  c.seek_rest = dice(p, 2);
  c.policy = dice(p, 4) == 0 ? FRIX_POLICY_STRICT : FRIX_POLICY_REPORT;
  c.restitution = (frix_restitution)dice(p, FRIX_RESTITUTION_BOUNDED + 1);
  c.projections = dice(p, 6) == 0;
  c.sleep = dice(p, 3) == 0, c.sleep_time = 0.02;
  if (dice(p, 30) == 0) c.tolerance = wild(p, 1e-6);
  return c;
}

static bool finite_vec(frix_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

static void check_state(play *p) {
  for (int32_t k = 0; k < frix_sim_body_count(p->sim); k++) {
    frix_body_state s;
    frix_status status = frix_sim_body(p->sim, frix_sim_body_at(p->sim, k), &s);
    if (status != FRIX_OK || !finite_vec(s.center) || !finite_vec(s.velocity) || !finite_vec(s.spin))
      fx_test_fail(p->t, __FILE__, __LINE__, "sequence %llu: a living body is lost or not finite",
                   (unsigned long long)p->seed);
  }
}

static void query(play *p) {
  frix_body_state state;
  frix_body_id id;
  frix_vec3 force, torque;
  frix_contact_report contact;
  frix_joint_state joint;
  frix_axis_config axis;
  frix_problem *problem = NULL;
  uint64_t hash;
  frix_sim_body(p->sim, some_body(p), dice(p, 20) ? &state : NULL);
  frix_sim_pattern(p->sim, some_body(p), &id);
  frix_sim_alive(p->sim, some_body(p));
  frix_sim_pair_force(p->sim, some_body(p), some_body(p), &force, &torque);
  for (int32_t k = -1; k <= frix_sim_contact_count(p->sim); k++) frix_sim_contact(p->sim, k, &contact);
  if (frix_sim_joint(p->sim, p->joint, &joint) == FRIX_OK)
    if (frix_sim_axis(p->sim, p->joint, (int32_t)dice(p, 4) - 1, &axis) == FRIX_OK) {
      axis.target = wild(p, 1);
      frix_sim_set_axis(p->sim, p->joint, 0, &axis);
    }
  frix_sim_hash(p->sim, &hash);
  frix_sim_energy(p->sim);
  if (dice(p, 8) == 0 && frix_sim_problem(p->sim, &problem) == FRIX_OK) frix_problem_destroy(problem);
}

static void act(play *p) {
  frix_body_id id = some_body(p), born = {0, 0};
  frix_sym3 slope = {wild(p, 5), wild(p, 5), 5, 0, 0, 0};
  frix_step_report report;
  double h = wild(p, 0.01);
  switch (dice(p, 15)) {
    case 0:
      if (frix_sim_spawn(p->sim, id, wild_pose(p), wild_vec(p, 1), wild_vec(p, 1), &born) == FRIX_OK)
        keep_body(p, born);
      break;
    case 1: frix_sim_remove(p->sim, id); break;
    case 2: frix_sim_set_pose(p->sim, id, wild_pose(p)); break;
    case 3: frix_sim_set_velocity(p->sim, id, wild_vec(p, 3), wild_vec(p, 3)); break;
    case 4: frix_sim_move_to(p->sim, id, wild_pose(p), h); break;
    case 5: frix_sim_add_force(p->sim, id, wild_vec(p, 20), wild_vec(p, 1)); break;
    case 6: frix_sim_add_force_at(p->sim, id, wild_vec(p, 20), wild_vec(p, 1)); break;
    case 7: frix_sim_add_slope(p->sim, id, slope, slope, slope); break;
    case 8: query(p); break;
    case 9:
      frix_snapshot_destroy(p->snapshot);
      p->snapshot = NULL;
      frix_sim_save(p->sim, &p->snapshot);
      break;
    case 10:
      if (p->snapshot) frix_sim_restore(p->sim, p->snapshot);
      break;
    case 11: frix_sim_step_within(p->sim, h, wild(p, 200), &report); break;
    default: frix_sim_step(p->sim, h, dice(p, 4) ? &report : NULL); break;
  }
  check_state(p);
}

/* Null where a thing is wanted. */
static void nulls(play *p) {
  frix_body_id id = some_body(p);
  frix_sim *sim = NULL;
  frix_sim_step(NULL, 0.01, NULL);
  frix_sim_step_within(NULL, 0.01, 10, NULL);
  frix_sim_body(NULL, id, NULL);
  frix_sim_remove(NULL, id);
  frix_sim_hash(p->sim, NULL);
  frix_sim_save(p->sim, NULL);
  frix_sim_restore(p->sim, NULL);
  frix_sim_contact(NULL, 0, NULL);
  frix_sim_problem(NULL, NULL);
  frix_sim_create(p->context, NULL, NULL, &sim);
  frix_sim_create(NULL, p->model, NULL, &sim);
  frix_sim_create(p->context, p->model, NULL, NULL);
  frix_sim_destroy(NULL);
  frix_snapshot_destroy(NULL);
  frix_model_destroy(NULL);
  frix_builder_add_body(NULL, NULL, NULL);
  frix_builder_add_shape(p->builder, id, NULL, NULL);
  frix_builder_compile(NULL, NULL);
}

static void sequence(fx_test *t, uint64_t seed, int64_t *steps) {
  play p = {.t = t, .random = seed * 0x9e3779b97f4a7c15u | 1, .seed = seed};
  if (frix_context_create(NULL, &p.context) != FRIX_OK) return;
  frix_builder_create(p.context, &p.builder);
  build(&p);
  if (dice(&p, 10) == 0) nulls(&p);
  if (p.model) {
    frix_sim_config config = config_of(&p);
    frix_sim_create(p.context, p.model, &config, &p.sim);
  }
  for (int k = (int)dice(&p, 14); p.sim && k >= 0; k--) act(&p);
  *steps += frix_sim_step_count(p.sim);
  frix_snapshot_destroy(p.snapshot);
  frix_sim_destroy(p.sim);
  frix_model_destroy(p.model);
  frix_builder_destroy(p.builder);
  frix_context_destroy(p.context);
}

static void random_calls(fx_test *t) {
  const char *count = getenv("FRIX_API_SEQUENCES"), *seed = getenv("FRIX_API_SEED");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, total = count ? strtoull(count, NULL, 10) : 600;
  int64_t steps = 0;
  for (uint64_t k = 0; k < total; k++) sequence(t, first + k, &steps);
  fx_test_note(t, "%llu sequences, %lld steps", (unsigned long long)total, (long long)steps);
}

const fx_test_row test_api[] = {
    {"api/random", random_calls},
    {0},
};
