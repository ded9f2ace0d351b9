/* Limits of structures against an independent limit analysis, both ways of a symmetry; certificates of structures that
 * stand and what falls; and that a world at rest stays where an equilibrium exists. */
#include "limit_structures.h"
#include "problem/statics.h"
#include "solver/equilibrium_internal.h"

/* ---- structures ---- */

/* A triangle of discs, the lowest row on the ground. */
static void pile(structure *s, fx_test *t, int levels, double mu) {
  double r = 0.5;
  structure_begin(s, t, true, mu);
  for (int row = 0; row < levels; row++)
    for (int k = 0; k < levels - row; k++) {
      int at = structure_disc(s, r * (2 * k + row - levels + 1), r * (1 + sqrt(3.0) * row), r);
      if (row == 0) touch_round(s, at, -1, r);
    }
  touch_all_round(s, r);
}

/* Half a ring of mean radius 1, joints along the radii. */
static void arch(structure *s, fx_test *t, int n, double thickness, double mu) {
  structure_begin(s, t, true, mu);
  for (int k = 0; k < n; k++) {
    frix_vec3 corner[4];
    for (int e = 0; e < 4; e++) {
      double angle = acos(-1.0) * (k + (e > 1)) / n, r = 1 + (e == 1 || e == 2 ? 0.5 : -0.5) * thickness;
      corner[e] = vec(r * cos(angle), r * sin(angle), 0);
      if (k + (e > 1) == 0 || k + (e > 1) == n) corner[e].y = 0;
    }
    int at = structure_polygon(s, corner, 4);
    double angle = acos(-1.0) * k / n;
    /* from the joint before, which pushes along the ring */
    touch_edge(s, at, k ? at - 1 : -1, corner[0], corner[1], k ? vec(-sin(angle), cos(angle), 0) : vec(0, 1, 0));
    if (k == n - 1) touch_edge(s, at, -1, corner[2], corner[3], vec(0, 1, 0));
  }
}

/* Blocks of width 1 one upon the other. */
static void tower(structure *s, fx_test *t, int n, double height, double mu) {
  structure_begin(s, t, true, mu);
  for (int k = 0; k < n; k++) {
    int at = structure_rectangle(s, 0, (k + 0.5) * height, 0.5, 0.5 * height);
    touch_edge(s, at, at - 1, vec(-0.5, k * height, 0), vec(0.5, k * height, 0), vec(0, 1, 0));
  }
}

/* Rows of bricks 1 x h in bond with gaps of 1 mm in a row, each row shorter by one. */
static void wall(structure *s, fx_test *t, int rows, int columns, double h, double mu) {
  double pitch = 1.001;
  structure_begin(s, t, true, mu);
  for (int row = 0, below = -1; row < rows; row++) {
    int count = columns - row, first = s->o.body_count;
    for (int k = 0; k < count; k++) {
      double x = pitch * (k - 0.5 * (count - 1)), y = row * h;
      int at = structure_rectangle(s, x, y + 0.5 * h, 0.5, 0.5 * h);
      if (row == 0) touch_edge(s, at, -1, vec(x - 0.5, y, 0), vec(x + 0.5, y, 0), vec(0, 1, 0));
      for (int j = k; row > 0 && j <= k + 1; j++) {
        double other = s->o.body[below + j].center[0];
        touch_edge(s, at, below + j, vec(fmax(x, other) - 0.5, y, 0), vec(fmin(x, other) + 0.5, y, 0), vec(0, 1, 0));
      }
    }
    below = first;
  }
}

/* A beam on two posts. */
static void trilith(structure *s, fx_test *t, double height, double mu) {
  structure_begin(s, t, true, mu);
  for (int side = -1; side <= 1; side += 2) {
    int at = structure_rectangle(s, side, 0.5 * height, 0.2, 0.5 * height);
    touch_edge(s, at, -1, vec(side - 0.2, 0, 0), vec(side + 0.2, 0, 0), vec(0, 1, 0));
  }
  int beam = structure_rectangle(s, 0, height + 0.15, 1.4, 0.15);
  for (int k = 0; k < 2; k++) {
    double x = k ? 1 : -1;
    touch_edge(s, beam, k, vec(x - 0.2, height, 0), vec(x + 0.2, height, 0), vec(0, 1, 0));
  }
}

/* Bricks of length 1, each farther out by part / (2 (n - j)), from the edge of a table at x = 0 that is 1 high. */
static void overhang(structure *s, fx_test *t, int n, double part, double mu) {
  double h = 0.25, x = -0.5;
  structure_begin(s, t, true, mu);
  frix_body_config table = body_at(at(-2, 0.5, 0));
  table.kind = FRIX_BODY_STATIC;
  table.planar = true;
  frix_shape_config top = kind_shape(FRIX_SHAPE_RECTANGLE, 0, 0);
  top.half = vec(2, 0.5, 0);
  world_body(&s->w, table, top);
  for (int j = 0; j < n; j++) {
    double before = j ? x : -10;
    x += part / (2 * (n - j));
    int brick = structure_rectangle(s, x, 1 + (j + 0.5) * h, 0.5, 0.5 * h);
    double right = j ? before + 0.5 : 0;
    touch_edge(s, brick, brick - 1, vec(x - 0.5, 1 + j * h, 0), vec(fmin(right, x + 0.5), 1 + j * h, 0), vec(0, 1, 0));
  }
}

/* ---- in space ---- */

static void boxes(structure *s, fx_test *t, int n, double height, double mu) {
  structure_begin(s, t, false, mu);
  for (int k = 0; k < n; k++) {
    int at = structure_box(s, vec(0, 0, (k + 0.5) * height), vec(0.5, 0.4, 0.5 * height));
    touch_level(s, at, at - 1, -0.5, 0.5, -0.4, 0.4, k * height);
  }
}

/* Logs across each other, two in a layer. */
static void logs(structure *s, fx_test *t, int layers, double mu) {
  structure_begin(s, t, false, mu);
  for (int k = 0; k < layers; k++)
    for (int side = -1; side <= 1; side += 2) {
      bool along = k % 2 == 0;
      double z = 0.2 * k, x = along ? 0 : 0.6 * side, y = along ? 0.6 * side : 0;
      int at = structure_box(s, vec(x, y, z + 0.1), along ? vec(1, 0.1, 0.1) : vec(0.1, 1, 0.1));
      if (k == 0) touch_level(s, at, -1, -1, 1, y - 0.1, y + 0.1, 0);
      for (int j = -1; k > 0 && j <= 1; j += 2) {
        int below = 2 * (k - 1) + (j + 1) / 2;
        double cx = along ? 0.6 * j : x, cy = along ? y : 0.6 * j;
        touch_level(s, at, below, cx - 0.1, cx + 0.1, cy - 0.1, cy + 0.1, z);
      }
    }
}

/* Balls on the ground in a square or in a triangle, and one on top. */
static void cannonballs(structure *s, fx_test *t, int below, double mu) {
  double r = 0.5, d = below == 3 ? 2 * r / sqrt(3.0) : r * sqrt(2.0);
  structure_begin(s, t, false, mu);
  for (int k = 0; k < below; k++) { /* symmetric in x */
    double angle = acos(-1.0) * (below == 3 ? 0.5 + 2.0 * k / 3 : 0.25 + 0.5 * k);
    int at = structure_ball(s, vec(d * cos(angle), d * sin(angle), r), r);
    touch_round(s, at, -1, r);
  }
  structure_ball(s, vec(0, 0, r + sqrt(4 * r * r - d * d)), r);
  touch_all_round(s, r);
}

/* A slab on four posts. */
static void table(structure *s, fx_test *t, double mu) {
  structure_begin(s, t, false, mu);
  for (int k = 0; k < 4; k++) {
    double x = k % 2 ? 0.7 : -0.7, y = k / 2 ? 0.5 : -0.5;
    int at = structure_box(s, vec(x, y, 0.5), vec(0.1, 0.1, 0.5));
    touch_level(s, at, -1, x - 0.1, x + 0.1, y - 0.1, y + 0.1, 0);
  }
  int slab = structure_box(s, vec(0, 0, 1.05), vec(0.9, 0.7, 0.05));
  for (int k = 0; k < 4; k++) {
    double x = k % 2 ? 0.7 : -0.7, y = k / 2 ? 0.5 : -0.5;
    touch_level(s, slab, k, x - 0.1, x + 0.1, y - 0.1, y + 0.1, 1);
  }
}

/* ---- loads ---- */

/* Weight times t along a direction on all bodies, or a force (and a torque) on one. */
typedef struct loading {
  bool tilt;
  int body; /* -1: the last */
  frix_vec3 direction, torque;
} loading;

static loading tilt_to(double x, double y, double z) { return (loading){.tilt = true, .direction = vec(x, y, z)}; }
static loading push_last(double x, double y, double z) { return (loading){.body = -1, .direction = vec(x, y, z)}; }

/* Seen in a mirror, or turned by half a turn about the vertical; torques are about the vertical alone. */
static loading opposite(loading l) {
  l.direction = vec(-l.direction.x, -l.direction.y, -l.direction.z);
  return l;
}

static int loaded_body(const structure *s, const loading *l) { return l->body < 0 ? s->o.body_count - 1 : l->body; }

static void load_oracle(structure *s, const loading *l) {
  for (int k = 0; k < s->o.body_count; k++) {
    oracle_body *b = &s->o.body[k];
    bool on = l->tilt || k == loaded_body(s, l);
    double force = !on ? 0 : l->tilt ? b->mass * gravity_g : 1, torque = on && !l->tilt ? 1 : 0;
    b->load[0] = force * l->direction.x, b->load[1] = force * l->direction.y, b->load[2] = force * l->direction.z;
    b->load_torque[0] = torque * l->torque.x, b->load_torque[1] = torque * l->torque.y;
    b->load_torque[2] = torque * l->torque.z;
  }
}

static frix_vec3 times(double a, frix_vec3 v) { return vec(a * v.x, a * v.y, a * v.z); }

static bool limit_of(structure *s, const loading *l, frix_equilibrium_result *out) {
  frix_load_config config = frix_load_default();
  frix_load on = {s->id[loaded_body(s, l)], l->direction, l->torque};
  frix_equilibrium *e = NULL;
  if (l->tilt)
    config.gravity = times(gravity_g, l->direction);
  else
    config.load = &on, config.load_count = 1;
  MUST(&s->w, frix_sim_equilibrium(s->w.sim, 0.01, &config, &e));
  if (!e) return false;
  frix_equilibrium_view(e, out);
  out->contact = NULL, out->motion = NULL;
  frix_equilibrium_destroy(e);
  return true;
}

/* The farthest a body comes in 20 steps from rest under t times the load, over the free way. */
static double moves(structure *s, const loading *l, double t) {
  double h = 0.01, most = 0, free = 0.5 * gravity_g * (20 * h) * (20 * h);
  frix_vec3 down = s->o.planar ? vec(0, -gravity_g, 0) : vec(0, 0, -gravity_g);
  frix_sim *sim = NULL;
  MUST(&s->w, frix_sim_create(s->w.context, s->w.model, NULL, &sim));
  if (!sim) return NAN;
  if (l->tilt) {
    frix_vec3 g = times(t * gravity_g, l->direction);
    MUST(&s->w, frix_sim_set_gravity(sim, vec(down.x + g.x, down.y + g.y, down.z + g.z)));
  }
  for (int k = 0; k < 20; k++) {
    if (!l->tilt)
      MUST(&s->w, frix_sim_add_force(sim, s->id[loaded_body(s, l)], times(t, l->direction), times(t, l->torque)));
    frix_step_report report = {0};
    MUST(&s->w, frix_sim_step(sim, h, &report));
    CHECK(s->w.t, report.certified);
  }
  for (int k = 0; k < s->o.body_count; k++) {
    frix_body_state state;
    const double *c = s->o.body[k].center;
    MUST(&s->w, frix_sim_body(sim, s->id[k], &state));
    double d = hypot(state.center.x - c[0], hypot(state.center.y - c[1], state.center.z - c[2]));
    if (!(d <= most)) most = d;
  }
  frix_sim_destroy(sim);
  return most / free;
}

/* ---- the comparison ---- */

typedef struct tally {
  int structures, limits;
  double worst, widest, apart; /* from the oracle, of brackets, of the two ways of a symmetry */
} tally;

static double relative(double a, double b) { return fabs(a - b) / fmax(fabs(a), fabs(b)); }

/* One way; the limit, NAN after a failure. */
static double compare_one(structure *s, const char *name, loading l, double exact, tally *y) {
  fx_test *t = s->w.t;
  oracle_answer paper;
  frix_equilibrium_result found = {.size = sizeof found};
  load_oracle(s, &l);
  bool good = oracle_limit(&s->o, &paper) && paper.stands && !paper.unbounded && limit_of(s, &l, &found);
  if (!good || !(paper.imbalance < 1e-9) || !(paper.violation < 1e-8)) {
    fx_test_fail(t, __FILE__, __LINE__, "%s: oracle: stands %d, unbounded %d, imbalance %g, violation %g", name,
                 paper.stands, paper.unbounded, paper.imbalance, paper.violation);
    return NAN;
  }
  if (exact > 0) CHECK_NEAR(t, paper.limit, exact, 1e-9 * exact);
  double off = fmax(relative(found.stands, paper.limit), relative(found.falls, paper.limit));
  if (!(off < 1e-5) || found.standing != FRIX_STANDING_STANDS || !(found.stands <= found.falls))
    fx_test_fail(t, __FILE__, __LINE__, "%s: stands %.10g, falls %.10g, on paper %.10g", name, found.stands,
                 found.falls, paper.limit);
  CHECK(t, found.imbalance <= 1e-9);
  /* what exists is reached */
  double below = moves(s, &l, (1 - 1e-4) * found.stands), above = moves(s, &l, (1 + 1e-2) * found.falls);
  if (!(below < 1e-9) || !(above > 1e-5))
    fx_test_fail(t, __FILE__, __LINE__, "%s: a simulation from rest moves by %g below the limit, by %g above", name,
                 below, above);
  y->limits++;
  y->worst = fmax(y->worst, off);
  y->widest = fmax(y->widest, relative(found.stands, found.falls));
  return found.stands;
}

/* Both ways where the structure is symmetric in the direction of the load. exact: from a closed form, 0: none. */
static void compare(structure *s, const char *name, loading l, bool symmetric, double exact, tally *y) {
  if (!s->w.sim && !world_start(&s->w)) return;
  double one = compare_one(s, name, l, exact, y);
  y->structures++;
  if (!symmetric) return;
  double other = compare_one(s, name, opposite(l), exact, y);
  double apart = relative(one, other);
  if (!(apart < 1e-5)) fx_test_fail(s->w.t, __FILE__, __LINE__, "%s: %.10g one way, %.10g the other", name, one, other);
  y->apart = fmax(y->apart, apart);
}

static void told(fx_test *t, const tally *y) {
  fx_test_note(t, "%d structures, %d limits: off by %.1e, brackets %.1e, two ways apart by %.1e", y->structures,
               y->limits, y->worst, y->widest, y->apart);
}

static const char *named(const char *format, double a, double b) {
  static char name[64];
  snprintf(name, sizeof name, format, a, b);
  return name;
}

/* ---- tests ---- */

static void piles(fx_test *t) {
  tally y = {0};
  structure s;
  static const double mu[3] = {0.5, 0.8, 1.5};
  for (int levels = 2; levels <= 6; levels++)
    for (int k = 0; k < 3; k++) {
      if (levels == 6 && k == 0) continue; /* stands from 0.503 on, which leaves next to nothing to tilt */
      pile(&s, t, levels, mu[k]);
      compare(&s, named("pile of %g rows, mu %g, tilted", levels, mu[k]), tilt_to(1, 0, 0), true, 0, &y);
      if (k == 1) compare(&s, named("pile of %g rows, mu %g, pushed", levels, mu[k]), push_last(1, 0, 0), true, 0, &y);
      structure_end(&s);
    }
  told(t, &y);
}

static void arches(fx_test *t) {
  tally y = {0};
  structure s;
  static const struct {
    int n;
    double thickness, mu;
  } row[] = {{5, 0.2, 0.7}, {7, 0.12, 0.7}, {11, 0.15, 0.6}, {15, 0.15, 0.5}, {21, 0.12, 0.7}, {25, 0.2, 0.4}};
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    arch(&s, t, row[k].n, row[k].thickness, row[k].mu);
    loading crown = push_last(1, 0, 0), down = push_last(0, -1, 0);
    crown.body = down.body = row[k].n / 2;
    compare(&s, named("arch of %g, thickness %g, tilted", row[k].n, row[k].thickness), tilt_to(1, 0, 0), true, 0, &y);
    compare(&s, named("arch of %g, thickness %g, pushed", row[k].n, row[k].thickness), crown, true, 0, &y);
    compare(&s, named("arch of %g, thickness %g, loaded", row[k].n, row[k].thickness), down, false, 0, &y);
    structure_end(&s);
  }
  told(t, &y);
}

static void walls(fx_test *t) {
  tally y = {0};
  structure s;
  for (int n = 1; n <= 4; n++) {
    tower(&s, t, n, 0.7, 0.6);
    compare(&s, named("tower of %g, height %g, tilted", n, 0.7), tilt_to(1, 0, 0), true, fmin(0.6, 1 / (0.7 * n)), &y);
    compare(&s, named("tower of %g, height %g, pushed", n, 0.7), push_last(1, 0, 0), true, 0, &y);
    structure_end(&s);
  }
  for (int rows = 2; rows <= 5; rows++) {
    wall(&s, t, rows, 5, 0.6, 0.9);
    compare(&s, named("wall of %g rows, mu %g, tilted", rows, 0.9), tilt_to(1, 0, 0), true, 0, &y);
    compare(&s, named("wall of %g rows, mu %g, pushed", rows, 0.9), push_last(1, 0, 0), false, 0, &y);
    structure_end(&s);
  }
  for (int k = 0; k < 2; k++) {
    trilith(&s, t, 1 + k, 0.5);
    compare(&s, named("trilith %g high, mu %g, tilted", 1 + k, 0.5), tilt_to(1, 0, 0), true, 0, &y);
    compare(&s, named("trilith %g high, mu %g, pushed", 1 + k, 0.5), push_last(1, 0, 0), true, 0, &y);
    structure_end(&s);
  }
  for (int n = 2; n <= 4; n++) {
    overhang(&s, t, n, 0.9, 0.5);
    compare(&s, named("overhang of %g, %g of the limit, loaded", n, 0.9), push_last(0, -1, 0), false, 0, &y);
    structure_end(&s);
  }
  told(t, &y);
}

static void in_space(fx_test *t) {
  tally y = {0};
  structure s;
  for (int n = 1; n <= 3; n++) {
    boxes(&s, t, n, 0.6, 0.5);
    compare(&s, named("%g boxes, mu %g, tilted in x", n, 0.5), tilt_to(1, 0, 0), true, fmin(0.5, 1 / (0.6 * n)), &y);
    compare(&s, named("%g boxes, mu %g, tilted in y", n, 0.5), tilt_to(0, 1, 0), true, fmin(0.5, 0.8 / (0.6 * n)), &y);
    compare(&s, named("%g boxes, mu %g, tilted across", n, 0.5), tilt_to(0.6, 0.8, 0), true, 0, &y);
    loading twist = push_last(0.3, 0.1, 0);
    twist.torque = vec(0, 0, 1);
    compare(&s, named("%g boxes, mu %g, pushed and turned", n, 0.5), twist, true, 0, &y);
    structure_end(&s);
  }
  for (int below = 3; below <= 4; below++)
    for (int k = 0; k < 2; k++) {
      cannonballs(&s, t, below, k ? 0.9 : 0.5);
      compare(&s, named("ball on %g, mu %g, tilted", below, k ? 0.9 : 0.5), tilt_to(1, 0, 0), true, 0, &y);
      compare(&s, named("ball on %g, mu %g, pushed", below, k ? 0.9 : 0.5), push_last(1, 0, 0), true, 0, &y);
      structure_end(&s);
    }
  logs(&s, t, 3, 0.5);
  compare(&s, named("%g layers of logs, mu %g, tilted", 3, 0.5), tilt_to(1, 0, 0), true, 0, &y);
  compare(&s, named("%g layers of logs, mu %g, pushed", 3, 0.5), push_last(1, 0, 0), true, 0, &y);
  structure_end(&s);
  table(&s, t, 0.6);
  compare(&s, named("slab on %g posts, mu %g, tilted", 4, 0.6), tilt_to(1, 0, 0), true, 0, &y);
  compare(&s, named("slab on %g posts, mu %g, tilted across", 4, 0.6), tilt_to(0.8, 0.6, 0), true, 0, &y);
  structure_end(&s);
  told(t, &y);
}

/* ---- at random ---- */

static double pick(fx_test *t, double least, double most) {
  return least + (most - least) * 0.5 * (1 + fx_test_random(t));
}

/* Bodies held together by points anywhere on them: a normal along an axis now and then, points that repeat, contacts
 * without friction, bodies without weight. */
static void scatter(fx_test *t, oracle *o) {
  memset(o, 0, sizeof *o);
  o->planar = fx_test_random(t) < 0;
  o->body_count = (int)pick(t, 1, 7);
  for (int k = 0; k < o->body_count; k++) {
    oracle_body *b = &o->body[k];
    b->mass = 1;
    for (int e = 0; e < (o->planar ? 2 : 3); e++) {
      b->center[e] = pick(t, -1, 1);
      b->weight[e] = fx_test_random(t) < -0.7 ? 0 : pick(t, -1, 1);
      b->load[e] = pick(t, -1, 1);
    }
  }
  o->contact_count = (int)pick(t, 1, o->planar ? 8 * o->body_count : 12 * o->body_count);
  for (int c = 0; c < o->contact_count; c++) {
    oracle_contact *p = &o->contact[c];
    p->a = (int)pick(t, 0, o->body_count), p->b = (int)pick(t, -2, o->body_count);
    if (p->b == p->a || p->b < 0) p->b = -1;
    double n[3] = {0}, length = 0;
    for (int e = 0; e < (o->planar ? 2 : 3); e++) {
      bool again = c > 0 && fx_test_random(t) < -0.5;
      p->point[e] = again ? o->contact[c - 1].point[e] : o->body[p->a].center[e] + pick(t, -1, 1);
      n[e] = pick(t, -1, 1);
      if (fx_test_random(t) < -0.4) n[e] = e == 1 ? 1 : 0;
      length += n[e] * n[e];
    }
    if (!(length > 1e-3)) n[1] = length = 1;
    for (int e = 0; e < 3; e++) p->normal[e] = n[e] / sqrt(length);
    p->mu = fx_test_random(t) < -0.6 ? 0 : pick(t, 0, 1.5);
  }
}

/* The same as a contact problem; mass 1 everywhere. */
static frix_problem *problem_of(fx_test *t, frix_context *context, const oracle *o, double *force, double *load) {
  int dof = o->planar ? 3 : 6, dim = o->planar ? 2 : 3, n = dof * o->body_count, rows = dim * o->contact_count;
  double *H = calloc((size_t)(n * rows), sizeof *H), *M = calloc((size_t)(n * n), sizeof *M);
  double *w = calloc((size_t)rows, sizeof *w);
  frix_contact contact[ORACLE_CONTACTS];
  for (int k = 0; k < n; k++) M[k * n + k] = 1;
  for (int k = 0; k < o->body_count; k++)
    for (int e = 0; e < (o->planar ? 2 : 3); e++)
      force[k * dof + e] = o->body[k].weight[e], load[k * dof + e] = o->body[k].load[e];
  for (int c = 0; c < o->contact_count; c++) {
    const oracle_contact *p = &o->contact[c];
    frix_vec3 axis[3] = {vec(p->normal[0], p->normal[1], p->normal[2])};
    frix_vec3 up = o->planar ? vec(0, 0, 1) : fabs(axis[0].x) < 0.6 ? vec(1, 0, 0) : vec(0, 1, 0), m = axis[0];
    frix_vec3 s = vec(up.y * m.z - up.z * m.y, up.z * m.x - up.x * m.z, up.x * m.y - up.y * m.x);
    double length = sqrt(s.x * s.x + s.y * s.y + s.z * s.z);
    axis[1] = s = vec(s.x / length, s.y / length, s.z / length);
    axis[2] = vec(m.y * s.z - m.z * s.y, m.z * s.x - m.x * s.z, m.x * s.y - m.y * s.x);
    contact[c] = frix_contact_of_dim(dim, p->mu, 0);
    for (int j = 0; j < dim; j++)
      for (int side = 0; side < 2; side++) {
        int k = side ? p->b : p->a;
        if (k < 0) continue;
        double sign = side ? -1 : 1, *column = H + (size_t)((dim * c + j) * n + k * dof);
        const double *q = o->body[k].center;
        frix_vec3 arm = vec(p->point[0] - q[0], p->point[1] - q[1], p->point[2] - q[2]), d = axis[j];
        frix_vec3 turn = vec(arm.y * d.z - arm.z * d.y, arm.z * d.x - arm.x * d.z, arm.x * d.y - arm.y * d.x);
        double all[6] = {d.x, d.y, d.z, turn.x, turn.y, turn.z};
        if (o->planar) all[2] = turn.z;
        for (int e = 0; e < dof; e++) column[e] += sign * all[e];
      }
  }
  frix_problem_data data = frix_problem_data_default();
  data.form = FRIX_FORM_GLOBAL;
  data.contact_count = o->contact_count;
  data.contact = contact;
  data.M = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = n, .col_count = n, .x = M};
  data.H = (frix_matrix){.format = FRIX_MATRIX_DENSE, .row_count = n, .col_count = rows, .x = H};
  data.dof_count = n;
  data.f = force;
  data.w = w;
  frix_problem *problem = NULL;
  if (frix_problem_create(context, &data, &problem) != FRIX_OK)
    fx_test_fail(t, __FILE__, __LINE__, "%s", frix_error_text(context));
  free(H), free(M), free(w);
  return problem;
}

static bool find(fx_test *t, const oracle *o, fx_equilibrium_goal goal, fx_equilibrium *out) {
  frix_context *context = NULL;
  double force[6 * ORACLE_BODIES] = {0}, load[6 * ORACLE_BODIES] = {0};
  if (frix_context_create(NULL, &context) != FRIX_OK) return false;
  frix_problem *problem = problem_of(t, context, o, force, load);
  fx_arena arena;
  fx_arena_init(&arena, context);
  fx_system system;
  bool good = problem && fx_system_build(&arena, problem, FRIX_FORM_GLOBAL, &system) == FRIX_OK;
  if (good) {
    fx_statics statics = {.s = &system, .force = force, .load = goal == FX_EQUILIBRIUM_LARGEST ? load : NULL};
    uint8_t *kind = FX_TAKE(&arena, uint8_t, system.contact_count);
    memset(kind, FX_STATICS_CONE, (size_t)system.contact_count);
    statics.kind = kind;
    statics.given = FX_TAKE(&arena, double, system.row_count);
    statics.arm = FX_TAKE(&arena, double, system.dof_count);
    fx_statics_arms(&statics);
    good = fx_equilibrium_find(&arena, &statics, goal, 1e-9, INFINITY, out) == FRIX_OK;
  }
  fx_arena_free(&arena);
  frix_problem_destroy(problem);
  frix_context_destroy(context);
  return good;
}

/* Verdicts and limits of problems nobody would build. */
static void at_random(fx_test *t) {
  static oracle o;
  int stands = 0, limits = 0, undecided = 0, lost = 0;
  double worst = 0;
  enum { TRIALS = 500 };
  for (int k = 0; k < TRIALS; k++) {
    oracle_answer paper;
    fx_equilibrium found;
    scatter(t, &o);
    CHECK(t, find(t, &o, FX_EQUILIBRIUM_VERDICT, &found));
    if (!oracle_limit(&o, &paper) || (paper.stands && !(paper.imbalance < 1e-9))) { /* lost to rounding */
      lost++;
      continue;
    }
    stands += paper.stands;
    undecided += found.standing == FRIX_STANDING_UNDECIDED;
    if (found.standing != FRIX_STANDING_UNDECIDED && (found.standing == FRIX_STANDING_STANDS) != paper.stands)
      fx_test_fail(t, __FILE__, __LINE__, "problem %d: %s, on paper %d", k, frix_standing_name(found.standing),
                   paper.stands);
    if (!paper.stands || !(paper.violation < 1e-8)) continue;
    CHECK(t, find(t, &o, FX_EQUILIBRIUM_LARGEST, &found));
    if (paper.unbounded) {
      if (!isinf(found.stands) && found.stands < 1e6)
        fx_test_fail(t, __FILE__, __LINE__, "problem %d: limit %g .. %g, on paper none", k, found.stands, found.falls);
      continue;
    }
    double size = fmax(1, fabs(paper.limit)),
           off = fmax(fabs(found.stands - paper.limit), fabs(found.falls - paper.limit));
    limits++;
    if (found.standing != FRIX_STANDING_STANDS) {
      undecided++;
    } else if (!(off <= 1e-5 * size)) {
      fx_test_fail(t, __FILE__, __LINE__, "problem %d: limit %.10g .. %.10g, on paper %.10g", k, found.stands,
                   found.falls, paper.limit);
    } else {
      worst = fmax(worst, off / size);
    }
  }
  CHECK(t, stands > TRIALS / 4 && limits > TRIALS / 50);
  CHECK(t, undecided <= TRIALS / 100 && lost <= TRIALS / 100);
  fx_test_note(t, "%d problems, %d stand, %d limits: off by %.1e; %d undecided", (int)TRIALS, stands, limits, worst,
               undecided);
}

const fx_test_row test_limits[] = {
    {"limits/piles", piles},       {"limits/arches", arches},       {"limits/walls", walls},
    {"limits/in_space", in_space}, {"limits/at_random", at_random}, {0},
};
