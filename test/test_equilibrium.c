/* Equilibria: limits with a closed form for every cone and joint, certificates added up by hand, rest where it is
 * possible, and what cannot be decided or asked. */
#define WORLD_COORDINATES FRIX_COORDINATES_MAXIMAL /* rows of joints */
#include "limit_structures.h"

static const double pi = 3.14159265358979323846;

/* ---- asking ---- */

typedef struct answer {
  frix_equilibrium *e;
  frix_equilibrium_result r;
} answer;

static answer ask(world *w, const frix_load_config *load) {
  answer a = {0};
  MUST(w, frix_sim_equilibrium(w->sim, 0.01, load, &a.e));
  frix_equilibrium_view(a.e, &a.r);
  return a;
}

static void forget(answer *a) { frix_equilibrium_destroy(a->e); }

/* The largest factor of a force and torque on a body. */
static frix_equilibrium_result pushed(world *w, frix_body_id body, frix_vec3 force, frix_vec3 torque) {
  frix_load on = {body, force, torque};
  frix_load_config config = frix_load_default();
  config.load = &on, config.load_count = 1;
  answer a = ask(w, &config);
  a.r.contact = NULL, a.r.motion = NULL;
  forget(&a);
  return a.r;
}

static void check_limit(fx_test *t, int line, frix_equilibrium_result r, double exact) {
  double size = fmax(1e-3, fabs(exact));
  bool good = r.standing == FRIX_STANDING_STANDS && r.stands <= r.falls && fabs(r.stands - exact) <= 1e-7 * size &&
              fabs(r.falls - exact) <= 1e-7 * size;
  if (!good) fx_test_fail(t, __FILE__, line, "stands %.12g, falls %.12g, exact %.12g", r.stands, r.falls, exact);
}

#define LIMIT(t, result, exact) check_limit((t), __LINE__, (result), (exact))

/* ---- surfaces ---- */

typedef struct lying {
  world w;
  frix_body_id body;
} lying;

/* A body of 2 kg on a plane. */
static lying lie(fx_test *t, frix_material_config material, frix_shape_config shape, double height) {
  lying l = {.w = world_new(t, 0.5, 0)};
  MUST(&l.w, frix_builder_set_gravity(l.w.builder, vec(0, 0, -10)));
  frix_material_id id;
  MUST(&l.w, frix_builder_add_material(l.w.builder, &material, &id));
  l.w.material = id;
  world_plane(&l.w, turned(0, 1, 0, 0));
  frix_body_config b = body_at(at(0, 0, height));
  b.mass = 2;
  l.body = world_body(&l.w, b, shape);
  world_start(&l.w);
  return l;
}

static void surfaces(fx_test *t) {
  frix_vec3 zero = vec(0, 0, 0);
  frix_material_config m = frix_material_default();
  m.mu = 0.4;
  lying l = lie(t, m, box_shape(0.5, 0.5, 0.1), 0.1);
  for (int k = 0; k < 8; k++) /* as much in every direction */
    LIMIT(t, pushed(&l.w, l.body, vec(cos(0.3 + k), sin(0.3 + k), 0), zero), 0.4 * 20);
  LIMIT(t, pushed(&l.w, l.body, vec(0, 0, 1), zero), 20);
  LIMIT(t, pushed(&l.w, l.body, zero, vec(1, 0, 0)), 20 * 0.5);             /* turns over its edge */
  LIMIT(t, pushed(&l.w, l.body, zero, vec(0, 0, 1)), 0.4 * 20 * sqrt(0.5)); /* slips at four corners */
  CHECK(t, isinf(pushed(&l.w, l.body, vec(0, 0, -1), zero).stands));
  world_end(&l.w);

  m.mu = 0; /* nothing holds it */
  l = lie(t, m, box_shape(0.5, 0.5, 0.1), 0.1);
  LIMIT(t, pushed(&l.w, l.body, vec(1, 0, 0), zero), 0);
  LIMIT(t, pushed(&l.w, l.body, zero, vec(0, 1, 0)), 20 * 0.5);
  world_end(&l.w);

  m.mu = 1e6;
  l = lie(t, m, box_shape(0.5, 0.5, 0.5), 0.5);
  LIMIT(t, pushed(&l.w, l.body, vec(1, 0, 0), vec(0, 0, 0)), 20); /* topples: at the centre, half a side high */
  world_end(&l.w);

  m.mu = 0.6, m.rolling = 0.02, m.spinning = 0.03; /* a ball of radius 0.2 */
  l = lie(t, m, sphere_shape(0.2), 0.2);
  LIMIT(t, pushed(&l.w, l.body, vec(1, 0, 0), zero), 20 * 0.02 / 0.2);
  LIMIT(t, pushed(&l.w, l.body, zero, vec(0.6, 0.8, 0)), 20 * 0.02);
  LIMIT(t, pushed(&l.w, l.body, zero, vec(0, 0, 1)), 20 * 0.03);
  world_end(&l.w);

  m.rolling = 0, m.spinning = 0, m.mu2 = 0.2, m.axis = vec(1, 0, 0); /* 0.6 along x, 0.2 across */
  l = lie(t, m, box_shape(1, 1, 0.1), 0.1);
  LIMIT(t, pushed(&l.w, l.body, vec(1, 0, 0), zero), 20 * 0.6);
  LIMIT(t, pushed(&l.w, l.body, vec(0, 1, 0), zero), 20 * 0.2);
  LIMIT(t, pushed(&l.w, l.body, vec(0.6, 0.8, 0), zero), 20 / hypot(0.6 / 0.6, 0.8 / 0.2));
  world_end(&l.w);
}

/* Loads that the friction cannot hold without another: a slope of 18.43 degrees, friction 0.1. */
static void intervals(fx_test *t) {
  frix_vec3 zero = vec(0, 0, 0);
  frix_material_config m = frix_material_default();
  m.mu = 0.1;
  lying l = lie(t, m, box_shape(0.5, 0.5, 0.1), 0.1);
  MUST(&l.w, frix_sim_set_gravity(l.w.sim, vec(3, 0, -9)));
  answer a = ask(&l.w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_FALLS && a.r.power > a.r.resistance && a.r.force_limit > 1e3);
  forget(&a);
  LIMIT(t, pushed(&l.w, l.body, vec(-1, 0, 0), zero), 6 + 1.8); /* from 4.2 N to 7.8 N */
  LIMIT(t, pushed(&l.w, l.body, vec(1, 0, 0), zero), -(6 - 1.8));
  frix_equilibrium_result r = pushed(&l.w, l.body, vec(0, 1, 0), zero); /* across the slope it never stands */
  CHECK(t, r.standing == FRIX_STANDING_FALLS && r.stands == -INFINITY && r.falls == -INFINITY);
  world_end(&l.w);

  /* two boxes one upon the other in the air: no force of theirs reaches their weight */
  world w = world_new(t, 0.5, 0);
  world_body(&w, body_at(at(0, 0, 3)), box_shape(0.1, 0.1, 0.1));
  frix_body_id top = world_body(&w, body_at(at(0, 0, 3.2)), box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  a = ask(&w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_FALLS && a.r.motion_count == 2 && a.r.steps == 0);
  forget(&a);
  CHECK(t, pushed(&w, top, vec(0, 0, -1), zero).falls == -INFINITY);
  world_end(&w);
}

/* ---- joints ---- */

/* A body of 2 kg on an upright slider, with this on its axis; up is positive. */
static lying hang(fx_test *t, frix_axis_config axis) {
  lying l = {.w = world_new(t, 0.5, 0)};
  MUST(&l.w, frix_builder_set_gravity(l.w.builder, vec(0, 0, -10)));
  frix_body_config b = body_at(at(0, 0, 1));
  b.mass = 2;
  l.body = world_body(&l.w, b, box_shape(0.1, 0.1, 0.1));
  frix_joint_config j = frix_joint_default(FRIX_JOINT_SLIDER);
  j.b = l.body;
  j.axis[0] = axis;
  MUST(&l.w, frix_joint_place(l.w.builder, &j, vec(0, 0, 1), vec(0, 0, 1), vec(0, 0, 0), vec(0, 0, 0)));
  MUST(&l.w, frix_builder_add_joint(l.w.builder, &j, NULL));
  world_start(&l.w);
  return l;
}

static void joints(fx_test *t) {
  frix_vec3 zero = vec(0, 0, 0), up = vec(0, 0, 1), down = vec(0, 0, -1);
  frix_axis_config axis = frix_joint_default(FRIX_JOINT_SLIDER).axis[0], plain = axis;
  axis.friction = 50; /* holds 20 N and 30 N more */
  lying l = hang(t, axis);
  LIMIT(t, pushed(&l.w, l.body, down, zero), 30);
  LIMIT(t, pushed(&l.w, l.body, up, zero), 70);
  CHECK(t, isinf(pushed(&l.w, l.body, vec(1, 0, 0), vec(0, 1, 1)).stands)); /* the rail holds anything across */
  world_end(&l.w);

  axis = plain, axis.limited = true, axis.lower = 0, axis.upper = 1; /* stands on its lower limit */
  l = hang(t, axis);
  LIMIT(t, pushed(&l.w, l.body, up, zero), 20);
  CHECK(t, isinf(pushed(&l.w, l.body, down, zero).stands));
  world_end(&l.w);

  axis = plain, axis.stiffness = 200, axis.damping = 5, axis.rest = 0.1; /* stretched by 0.1 m: exactly the weight */
  l = hang(t, axis);
  LIMIT(t, pushed(&l.w, l.body, up, zero), 0);
  answer a = ask(&l.w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_STANDS);
  forget(&a);
  world_end(&l.w);

  axis = plain, axis.motor = FRIX_MOTOR_VELOCITY, axis.target = 0, axis.max_force = 25; /* a brake */
  l = hang(t, axis);
  LIMIT(t, pushed(&l.w, l.body, down, zero), 5);
  world_end(&l.w);

  axis.target = 1; /* pulls up with all it has */
  l = hang(t, axis);
  LIMIT(t, pushed(&l.w, l.body, down, zero), 5);
  a = ask(&l.w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_FALLS && a.r.motion_count == 1);
  CHECK(t, a.r.motion_count == 1 && a.r.motion[0].velocity.z > 0.5);
  forget(&a);
  world_end(&l.w);
}

/* ---- least friction ---- */

static bool stands(structure *s) {
  if (!world_start(&s->w)) return false;
  answer a = ask(&s->w, NULL);
  bool good = a.r.standing == FRIX_STANDING_STANDS;
  forget(&a);
  return good;
}

/* Rows of discs as in the scene cannonball. */
static void discs(structure *s, fx_test *t, int levels, double mu) {
  double r = 1.5;
  structure_begin(s, t, true, mu);
  for (int row = 0; row < levels; row++)
    for (int k = 0; k < levels - row; k++) {
      int disc = structure_disc(s, r * (2 * k + row - levels + 1), r * (1 + sqrt(3.0) * row), r);
      if (row == 0) touch_round(s, disc, -1, r);
    }
  touch_all_round(s, r);
}

static void least_friction(fx_test *t) {
  static const double exact[] = {0, 0, 0.26794919243112270, 0, 0.47295994, 0};
  for (int levels = 2; levels <= 5; levels++) {
    double low = 0.2, high = 0.8, paper[2] = {0.2, 0.8};
    for (int k = 0; k < 30; k++) {
      structure s;
      double middle = 0.5 * (low + high);
      discs(&s, t, levels, middle);
      *(stands(&s) ? &high : &low) = middle;
      structure_end(&s);
      oracle_answer found;
      middle = 0.5 * (paper[0] + paper[1]);
      discs(&s, t, levels, middle);
      CHECK(t, oracle_limit(&s.o, &found));
      paper[found.stands] = middle;
      structure_end(&s);
    }
    if (exact[levels] > 0) CHECK_NEAR(t, high, exact[levels], 1e-7);
    CHECK_NEAR(t, high, paper[1], 1e-6);
    fx_test_note(t, "%d rows: %.8f", levels, high);
  }
}

/* ---- certificates, added up by hand ---- */

static double dot(frix_vec3 a, frix_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static frix_vec3 cross(frix_vec3 a, frix_vec3 b) {
  return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static int index_of(const structure *s, frix_body_id id) {
  for (int k = 0; k < s->o.body_count; k++)
    if (s->id[k].index == id.index) return k;
  return -1;
}

/* Forces in their cones, and each body's sum with its weight. */
static void check_forces(fx_test *t, const structure *s, const frix_equilibrium_result *r) {
  double sum[ORACLE_BODIES][6] = {{0}}, largest = 0;
  for (int k = 0; k < s->o.body_count; k++)
    for (int e = 0; e < 3; e++) sum[k][e] = s->o.body[k].weight[e], largest = fmax(largest, fabs(sum[k][e]));
  for (int c = 0; c < r->contact_count; c++) {
    const frix_contact_report *p = &r->contact[c];
    double n = dot(p->force, p->normal), all = dot(p->force, p->force);
    CHECK(t, n >= 0 && sqrt(fmax(0, all - n * n)) <= s->mu * n * (1 + 1e-9) + 1e-9 * largest);
    for (int side = 0; side < 2; side++) {
      int k = index_of(s, side ? p->b : p->a);
      if (k < 0) continue;
      const double *c0 = s->o.body[k].center;
      double sign = side ? -1 : 1;
      frix_vec3 torque = cross(vec(p->point.x - c0[0], p->point.y - c0[1], p->point.z - c0[2]), p->force);
      double f[6] = {p->force.x, p->force.y, p->force.z, torque.x, torque.y, torque.z};
      for (int e = 0; e < 6; e++) sum[k][e] += sign * f[e];
    }
  }
  for (int k = 0; k < s->o.body_count; k++)
    for (int e = 0; e < 6; e++) CHECK(t, fabs(sum[k][e]) < 1e-9 * largest);
}

/* No point that touches resists, and the weight does work. */
static void check_mechanism(fx_test *t, const structure *s, const frix_equilibrium_result *r) {
  double power = 0;
  frix_vec3 v[ORACLE_BODIES] = {{0}}, w[ORACLE_BODIES] = {{0}};
  for (int k = 0; k < r->motion_count; k++) {
    int b = index_of(s, r->motion[k].body);
    CHECK(t, b >= 0);
    if (b < 0) continue;
    v[b] = r->motion[k].velocity, w[b] = r->motion[k].spin;
    power += s->o.body[b].weight[0] * v[b].x + s->o.body[b].weight[1] * v[b].y + s->o.body[b].weight[2] * v[b].z;
  }
  CHECK(t, power > 0 && fabs(power - r->power) < 1e-9 * power && r->power > r->resistance);
  for (int c = 0; c < s->o.contact_count; c++) {
    const oracle_contact *p = &s->o.contact[c];
    frix_vec3 u = vec(0, 0, 0), n = vec(p->normal[0], p->normal[1], p->normal[2]);
    for (int side = 0; side < 2; side++) {
      int k = side ? p->b : p->a;
      if (k < 0) continue;
      const double *c0 = s->o.body[k].center;
      frix_vec3 turn = cross(w[k], vec(p->point[0] - c0[0], p->point[1] - c0[1], p->point[2] - c0[2]));
      double sign = side ? -1 : 1;
      u.x += sign * (v[k].x + turn.x), u.y += sign * (v[k].y + turn.y), u.z += sign * (v[k].z + turn.z);
    }
    double normal = dot(u, n), slip = sqrt(fmax(0, dot(u, u) - normal * normal));
    CHECK(t, normal >= p->mu * slip - 1e-9);
  }
}

static void certificates(fx_test *t) {
  for (int k = 0; k < 12; k++) {
    structure s;
    double mu = 0.25 + 0.05 * k;
    discs(&s, t, 2 + k % 4, mu);
    if (!world_start(&s.w)) return;
    answer a = ask(&s.w, NULL);
    CHECK(t, a.r.standing != FRIX_STANDING_UNDECIDED);
    if (a.r.standing == FRIX_STANDING_STANDS)
      check_forces(t, &s, &a.r);
    else
      check_mechanism(t, &s, &a.r);
    forget(&a);
    structure_end(&s);
  }
}

/* Of all forces that balance the least: four corners of a box carry the same, a wall is not clamped from the side. */
static void least_forces(fx_test *t) {
  structure s;
  structure_begin(&s, t, false, 0.7);
  structure_box(&s, vec(0, 0, 0.5), vec(0.5, 0.5, 0.5));
  structure_box(&s, vec(1, 0, 0.5), vec(0.5, 0.5, 0.5)); /* they touch */
  REQUIRE(t, world_start(&s.w));
  answer a = ask(&s.w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_STANDS && a.r.contact_count == 12);
  for (int k = 0; k < a.r.contact_count; k++) {
    const frix_contact_report *c = &a.r.contact[k];
    bool floor = fabs(c->normal.z) > 0.5;
    CHECK_NEAR(t, sqrt(dot(c->force, c->force)), floor ? gravity_g / 4 : 0, 1e-6);
  }
  forget(&a);
  structure_end(&s);
}

/* ---- rest ---- */

/* The pile of the reproducer: moved by gravity tilted by so many degrees, after some steps. */
static double pile_moves(fx_test *t, double degrees, double h, double tolerance, int steps, bool slowly) {
  structure s;
  discs(&s, t, 4, 0.8);
  s.w.config.tolerance = tolerance;
  if (!world_start(&s.w)) return NAN;
  for (int k = 1; k <= steps; k++) {
    double angle = degrees * pi / 180 * (slowly ? (double)k / steps : 1);
    MUST(&s.w, frix_sim_set_gravity(s.w.sim, vec(gravity_g * sin(angle), -gravity_g * cos(angle), 0)));
    world_step(&s.w, h);
  }
  CHECK(t, s.w.unsolved == 0);
  double most = 0;
  for (int k = 0; k < s.o.body_count; k++) {
    frix_vec3 c = state_of(&s.w, s.id[k]).center;
    most = fmax(most, hypot(c.x - s.o.body[k].center[0], c.y - s.o.body[k].center[1]));
  }
  structure_end(&s);
  return most;
}

/* Up to 8.3489 degrees there is an equilibrium, both ways and whatever the tolerance. */
static void stays(fx_test *t) {
  static const double tolerance[] = {1e-6, 1e-8, 1e-10, 1e-12}, step[] = {0.05, 0.005};
  for (int sign = -1; sign <= 1; sign += 2)
    for (int k = 0; k < 4; k++)
      for (int j = 0; j < 2; j++) {
        CHECK(t, pile_moves(t, 5.5 * sign, step[j], tolerance[k], 10, false) == 0);
        CHECK(t, pile_moves(t, 8.348 * sign, step[j], tolerance[k], 10, false) == 0);
        CHECK(t, pile_moves(t, 8.6 * sign, step[j], tolerance[k], 20, false) > 1e-5);
      }
  /* contacts that are known since long, loads that change: at rest it stays */
  for (int sign = -1; sign <= 1; sign += 2) CHECK(t, pile_moves(t, 8.3 * sign, 0.05, 1e-8, 40, true) == 0);
}

/* Asking changes nothing: the same bits as without. */
static void asking_is_free(fx_test *t) {
  uint64_t hash[2] = {0, 1};
  for (int asked = 0; asked < 2; asked++) {
    world w = world_new(t, 0.5, 0.2);
    world_plane(&w, turned(0.1, 1, 0, 0));
    for (int k = 0; k < 4; k++)
      world_body(&w, body_at((frix_pose){{0.05 * k, 0.02 * k, 0.3 + 0.3 * k}, turned(0.3 * k, 0, 1, 0)}),
                 box_shape(0.1, 0.12, 0.08));
    REQUIRE(t, world_start(&w));
    for (int k = 0; k < 120; k++) {
      if (asked && k % 7 == 0) {
        answer a = ask(&w, NULL);
        forget(&a);
      }
      world_step(&w, 0.01);
    }
    MUST(&w, frix_sim_hash(w.sim, &hash[asked]));
    world_end(&w);
  }
  CHECK(t, hash[0] == hash[1]);
}

static void misuse(fx_test *t) {
  world w = world_new(t, 0.5, 0);
  world_body(&w, body_at(at(0, 0, 3)), box_shape(0.1, 0.1, 0.1));
  REQUIRE(t, world_start(&w));
  frix_equilibrium *e = NULL;
  CHECK(t, frix_sim_equilibrium(NULL, 0.01, NULL, &e) == FRIX_ERROR_INPUT);
  CHECK(t, frix_sim_equilibrium(w.sim, 0, NULL, &e) == FRIX_ERROR_INPUT && !e);
  CHECK(t, frix_sim_equilibrium(w.sim, NAN, NULL, &e) == FRIX_ERROR_INPUT && !e);
  frix_load on = {{99, 1}, vec(1, 0, 0), vec(0, 0, 0)};
  frix_load_config load = frix_load_default();
  load.load = &on, load.load_count = 1;
  CHECK(t, frix_sim_equilibrium(w.sim, 0.01, &load, &e) == FRIX_ERROR_INPUT && !e);
  load.load_count = 0, load.gravity = vec(NAN, 0, 0);
  CHECK(t, frix_sim_equilibrium(w.sim, 0.01, &load, &e) == FRIX_ERROR_INPUT && !e);
  frix_equilibrium_destroy(NULL);
  frix_equilibrium_view(NULL, NULL);
  /* a body in the air falls; without gravity it stands, and the least load moves it */
  answer a = ask(&w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_FALLS && a.r.motion_count == 1 && a.r.power > 0);
  forget(&a);
  MUST(&w, frix_sim_set_gravity(w.sim, vec(0, 0, 0)));
  a = ask(&w, NULL);
  CHECK(t, a.r.standing == FRIX_STANDING_STANDS);
  forget(&a);
  load.gravity = vec(1, 0, 0);
  a = ask(&w, &load);
  CHECK(t, a.r.stands == 0 && a.r.falls == 0);
  forget(&a);
  world_end(&w);
}

static void joints_in_trees(fx_test *t) { world_in_trees(t, joints); }

const fx_test_row test_equilibrium[] = {
    {"equilibrium/surfaces", surfaces},
    {"equilibrium/intervals", intervals},
    {"equilibrium/joints", joints},
    {"equilibrium/joints_in_trees", joints_in_trees},

    {"equilibrium/least_friction", least_friction},
    {"equilibrium/certificates", certificates},
    {"equilibrium/least_forces", least_forces},
    {"equilibrium/stays", stays},
    {"equilibrium/asking_is_free", asking_is_free},
    {"equilibrium/misuse", misuse},
    {0},
};
